//! Opening files of the state directory: never through a symbolic link, never waiting (a named pipe
//! would), and only regular files of this user that nobody else can write.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// The mode of what is created.
const PRIVATE: u32 = 0o600;
/// The permission of everybody else to write.
const OTHERS_WRITE: u32 = 0o002;
/// The permission of a group to write.
const GROUP_WRITE: u32 = 0o020;

/// Opens a file to read it.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path)
}

/// Opens a file to read and write it, making it where it is missing.
pub(crate) fn open_or_create(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().create(true).truncate(false).read(true).write(true), path)
}

/// Opens a file as `options` say.
pub(crate) fn open_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    let opened = options.custom_flags(flags).mode(PRIVATE).open(path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => foreign("it is a symbolic link".into()),
        Some(libc::ENXIO | libc::ENODEV) => foreign("it is not a regular file".into()),
        _ => error,
    })?;
    check(&file)?;
    Ok(file)
}

/// All bytes of a file that has at most `most` of them.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    if length > most {
        return Err(foreign(format!("it is larger than {most} bytes")));
    }
    // Room for one byte more: the end is seen without another look.
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0) + 64);
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Refuses what is not a file of this user.
fn check(file: &File) -> io::Result<()> {
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(foreign("it is not a regular file".into()));
    }
    owned(&meta)
}

/// Refuses what is not a directory of this user that nobody else can write.
pub(crate) fn owned_directory(meta: &std::fs::Metadata) -> io::Result<()> {
    if !meta.is_dir() {
        return Err(foreign("it is not a directory".into()));
    }
    owned(meta)?;
    if meta.mode() & GROUP_WRITE != 0 {
        return Err(foreign("its group can write it (mode 700 is right)".into()));
    }
    Ok(())
}

/// Refuses what another user owns or everybody can write.
fn owned(meta: &std::fs::Metadata) -> io::Result<()> {
    let own = rustix::process::geteuid().as_raw();
    if meta.uid() != own {
        let owner = meta.uid();
        return Err(foreign(format!("user {owner} owns it, and this is user {own}")));
    }
    if meta.mode() & OTHERS_WRITE != 0 {
        return Err(foreign("every user can write it".into()));
    }
    Ok(())
}

fn foreign(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
