//! Files that appear whole or not at all, and signed ones.
//!
//! A signed file has two lines: a JSON value, and the signature of exactly those bytes, of the file's
//! purpose and of its name.

use std::borrow::Cow;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::key::{Key, open_plainly};

/// No file of ours is longer; what is longer is not read.
const LONGEST_FILE_BYTES: u64 = 1 << 20;
/// The same for one that stays open.
const LONGEST_OPEN_BYTES: usize = 4 << 10;
/// Most are shorter.
const USUAL_OPEN_BYTES: usize = 512;

/// Makes a directory that only its owner may enter.
pub(crate) fn make_directory(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(Error::file("make", path))
}

/// Writes a file that must not exist yet: whole, for its owner only, or not at all.
pub(crate) fn publish(path: &Path, bytes: &[u8]) -> Result<()> {
    let draft = draft(path, bytes)?;
    let published = fs::hard_link(&draft, path);
    let _ = fs::remove_file(&draft);
    published.map_err(Error::file("write", path))
}

/// Replaces a file by another, whole, for its owner only.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let draft = draft(path, bytes)?;
    fs::rename(&draft, path).map_err(Error::file("write", path))
}

/// Writes over a file in place, for its owner only: much cheaper than replacing it. To be called by
/// one at a time. A killed writer leaves the old bytes or the new ones; only a power cut may leave a
/// mixture, which no signature fits.
/// `old` is how long it is, where that is known.
pub(crate) fn overwrite(file: &File, path: &Path, bytes: &[u8], old: Option<usize>) -> Result<()> {
    let write = || {
        file.write_all_at(bytes, 0)?;
        let length = bytes.len() as u64;
        let old = match old {
            Some(old) => old as u64,
            None => file.metadata()?.len(),
        };
        if old > length { file.set_len(length) } else { Ok(()) }
    };
    write().map_err(Error::file("write", path))
}

/// Opens a file for [`overwrite`] and [`read_open`], making it where it is missing.
pub(crate) fn open_to_overwrite(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.open(path).map_err(Error::file("write", path))
}

/// Writes a temporary file beside `path`, with a unique name.
fn draft(path: &Path, bytes: &[u8]) -> Result<PathBuf> {
    let name = format!(".{}.tmp", ulid::Ulid::generate());
    let draft = path.with_file_name(name);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut file| file.write_all(bytes));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written.map_err(Error::file("write", &draft))?;
    Ok(draft)
}

/// Reads a file that is no link and not longer than any of ours.
pub(crate) fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let file = open_plainly(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(std::io::Error::other("it is not a plain file"));
    }
    // One more, so that a read finds the end without having to grow it.
    let length = usize::try_from(metadata.len().min(LONGEST_FILE_BYTES)).unwrap_or(0) + 1;
    let mut bytes = Vec::with_capacity(length);
    file.take(LONGEST_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST_FILE_BYTES {
        return Err(std::io::Error::other("it is longer than 1 MiB"));
    }
    Ok(bytes)
}

/// Reads a short file from its beginning, which stays open.
pub(crate) fn read_open(file: &File) -> std::io::Result<Vec<u8>> {
    let mut few = [0; USUAL_OPEN_BYTES];
    let length = file.read_at(&mut few, 0)?;
    if let Some(all) = few.get(..length).filter(|_| length < few.len()) {
        return Ok(all.to_vec());
    }
    let mut bytes = vec![0; LONGEST_OPEN_BYTES];
    let length = file.read_at(&mut bytes, 0)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// The two lines of a signed file.
pub(crate) fn seal(
    key: &Key,
    purpose: &str,
    path: &Path,
    value: &impl Serialize,
) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(USUAL_OPEN_BYTES);
    serde_json::to_writer(&mut bytes, value)
        .map_err(|error| Error::file("write", path)(std::io::Error::other(error)))?;
    let signature = key.sign(purpose, &[name(path).as_bytes(), &bytes]);
    bytes.push(b'\n');
    bytes.extend_from_slice(signature.as_bytes());
    bytes.push(b'\n');
    Ok(bytes)
}

/// The value of a signed file; `None` if there is no such file.
pub(crate) fn unseal<T: DeserializeOwned>(
    key: &Key,
    purpose: &str,
    path: &Path,
) -> Result<Option<T>> {
    let bytes = match read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::file("read", path)(error)),
    };
    unseal_bytes(key, purpose, path, &bytes).map(Some)
}

/// The value of a signed file that was read.
pub(crate) fn unseal_bytes<T: DeserializeOwned>(
    key: &Key,
    purpose: &str,
    path: &Path,
    bytes: &[u8],
) -> Result<T> {
    let tampered = || Error::Tampered { path: path.to_owned() };
    let text = str::from_utf8(bytes).map_err(|_| tampered())?;
    let (value, signature) = text.split_once('\n').ok_or_else(tampered)?;
    let signature = signature.strip_suffix('\n').ok_or_else(tampered)?;
    if !key.verify(purpose, &[name(path).as_bytes(), value.as_bytes()], signature) {
        return Err(tampered());
    }
    serde_json::from_str(value).map_err(|_| tampered())
}

fn name(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}
