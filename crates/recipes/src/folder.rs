//! The project's folder as detection sees it. Every look (a file's content, whether a file is
//! there, a directory's names, a program on the path) goes through here and is noted, so that a
//! cached answer can later be checked against the same looks. Reads are memoised and bounded, and
//! never block: only regular files are read.
//!
//! Paths are relative to the project, with `/`; the empty path and `.` are the project itself.

use std::{
    collections::{BTreeMap, HashMap},
    fs::{File, OpenOptions},
    io::Read,
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    options::Options,
    project::{Problem, is_unsafe_to_show},
    tree::{self, Format, Node},
};

/// Something that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Look {
    /// The content of a file.
    Content(String),
    /// Whether a file is there.
    Presence(String),
    /// The names in a directory.
    Names(String),
    /// A program on the search path.
    Program(String),
}

type Shared<T> = Arc<OnceLock<T>>;
type Content = Result<Option<Arc<str>>, String>;
type Parsed = Result<Option<Arc<Node>>, Problem>;

/// The folder, with what was seen in it.
pub(crate) struct Folder<'a> {
    root: &'a Path,
    /// The root without symbolic links: nothing outside it is a package.
    real: PathBuf,
    options: &'a Options,
    seen: Mutex<BTreeMap<Look, String>>,
    contents: Mutex<HashMap<String, Shared<Content>>>,
    trees: Mutex<HashMap<(String, Format), Shared<Parsed>>>,
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) is_directory: bool,
}

impl<'a> Folder<'a> {
    pub(crate) fn open(root: &'a Path, options: &'a Options) -> std::io::Result<Self> {
        let real = root.canonicalize()?;
        // Listing proves that it is a directory we may look into.
        std::fs::read_dir(&real)?;
        Ok(Self {
            root,
            real,
            options,
            seen: Mutex::default(),
            contents: Mutex::default(),
            trees: Mutex::default(),
        })
    }

    pub(crate) fn real_root(&self) -> &Path {
        &self.real
    }

    /// A path as a runner gave it, relative to the project; `None` when it lies outside.
    pub(crate) fn relative(&self, absolute: &Path) -> Option<String> {
        let inside =
            absolute.strip_prefix(&self.real).or_else(|_| absolute.strip_prefix(self.root));
        inside.ok().and_then(Path::to_str).map(str::to_owned)
    }

    fn path(&self, relative: &str) -> PathBuf {
        if relative.is_empty() || relative == "." {
            self.real.clone()
        } else {
            self.real.join(relative)
        }
    }

    fn note(&self, look: Look, state: String) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(look, state);
    }

    /// Everything that was looked at, with its state.
    pub(crate) fn into_looks(self) -> Vec<(Look, String)> {
        self.seen.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect()
    }

    /// Looks again at one thing; the answer equals the noted one while nothing changed.
    pub(crate) fn state(&self, look: &Look) -> String {
        match look {
            Look::Content(file) => digest_of_content(&self.bytes(file)),
            Look::Presence(file) => presence(self.path(file).is_file()),
            Look::Names(directory) => digest_of_names(self.names(directory).as_deref()),
            Look::Program(name) => stamp(self.lookup(name).as_deref()),
        }
    }

    /// Whether a regular file is there.
    pub(crate) fn has(&self, file: &str) -> bool {
        let is_there = self.path(file).is_file();
        self.note(Look::Presence(file.to_owned()), presence(is_there));
        is_there
    }

    /// The first of these files that is there.
    pub(crate) fn first(&self, files: &[&str]) -> Option<String> {
        files.iter().find(|file| self.has(file)).map(ToString::to_string)
    }

    /// The text of a file; bytes that are no UTF-8 are read as Latin-1. `None` when it is absent.
    pub(crate) fn text(&self, file: &str) -> Result<Option<Arc<str>>, Problem> {
        let cell = Arc::clone(
            self.contents
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .entry(file.to_owned())
                .or_default(),
        );
        let content = cell.get_or_init(|| {
            let bytes = self.bytes(file);
            self.note(Look::Content(file.to_owned()), digest_of_content(&bytes));
            Ok(bytes?.map(|bytes| decode(bytes).into()))
        });
        content.clone().map_err(|message| Problem::new(file, None, message))
    }

    /// A file read as a tree. `None` when it is absent.
    pub(crate) fn tree(&self, file: &str, format: Format) -> Result<Option<Arc<Node>>, Problem> {
        let cell = Arc::clone(
            self.trees
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .entry((file.to_owned(), format))
                .or_default(),
        );
        cell.get_or_init(|| {
            let Some(text) = self.text(file)? else { return Ok(None) };
            match tree::parse(&text, format) {
                Ok(node) => Ok(Some(Arc::new(node))),
                Err(broken) => Err(Problem::new(file, broken.line, broken.message)),
            }
        })
        .clone()
    }

    /// The names in a directory, sorted; none when it cannot be listed. Names that are no UTF-8 or
    /// hold control characters are left out.
    pub(crate) fn list(&self, directory: &str) -> Vec<Name> {
        let names = self.names(directory);
        self.note(Look::Names(directory.to_owned()), digest_of_names(names.as_deref()));
        names.unwrap_or_default()
    }

    /// The path without symbolic links, if it is a directory of this project.
    pub(crate) fn real_directory(&self, directory: &str) -> Option<PathBuf> {
        let real = self.path(directory).canonicalize().ok()?;
        (real.starts_with(&self.real) && real.is_dir()).then_some(real)
    }

    /// Where a program is on the search path.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let found = self.lookup(name);
        self.note(Look::Program(name.to_owned()), stamp(found.as_deref()));
        found
    }

    fn lookup(&self, name: &str) -> Option<PathBuf> {
        // A name with a slash is a file of the project, such as a wrapper script.
        let candidates: Vec<PathBuf> = if name.contains('/') {
            vec![self.path(name)]
        } else {
            // A relative entry would find programs in whatever directory the caller is in.
            let directories = self.options.path.iter().filter(|path| path.is_absolute());
            directories.map(|directory| directory.join(name)).collect()
        };
        candidates.into_iter().find(|path| {
            path.metadata()
                .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        })
    }

    fn names(&self, directory: &str) -> Option<Vec<Name>> {
        let entries = std::fs::read_dir(self.path(directory)).ok()?;
        let mut names = Vec::new();
        for entry in entries.flatten() {
            let Ok(text) = entry.file_name().into_string() else { continue };
            if text.chars().any(is_unsafe_to_show) {
                continue;
            }
            let is_directory = match entry.file_type() {
                Ok(kind) if kind.is_symlink() => entry.path().is_dir(),
                Ok(kind) => kind.is_dir(),
                Err(_) => false,
            };
            names.push(Name { text, is_directory });
        }
        names.sort_by(|a, b| a.text.cmp(&b.text));
        Some(names)
    }

    fn bytes(&self, file: &str) -> Result<Option<Vec<u8>>, String> {
        let limit = self.options.limits.file_bytes;
        let opened = open_without_blocking(&self.path(file));
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(format!("cannot be opened: {error}")),
        };
        let meta = opened.metadata().map_err(|error| format!("cannot be examined: {error}"))?;
        if !meta.is_file() {
            return Err(String::from("is not a regular file"));
        }
        if meta.len() > limit {
            return Err(format!("is larger than {limit} bytes and was not read"));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0));
        // The file may grow while it is read.
        opened
            .take(limit)
            .read_to_end(&mut bytes)
            .map_err(|error| format!("cannot be read: {error}"))?;
        Ok(Some(bytes))
    }
}

/// Opens a file for reading without waiting: a pipe named like a manifest must not hang us.
fn open_without_blocking(path: &Path) -> std::io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

fn is_absence(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

fn decode(mut bytes: Vec<u8>) -> String {
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes)
        .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect())
}

fn presence(is_there: bool) -> String {
    String::from(if is_there { "there" } else { "absent" })
}

fn digest_of_content(content: &Result<Option<Vec<u8>>, String>) -> String {
    match content {
        Ok(Some(bytes)) => hex(&Sha256::digest(bytes)),
        Ok(None) => String::from("absent"),
        Err(message) => message.clone(),
    }
}

fn digest_of_names(names: Option<&[Name]>) -> String {
    let Some(names) = names else { return String::from("absent") };
    let mut hasher = Sha256::new();
    for name in names {
        hasher.update(name.text.as_bytes());
        hasher.update(if name.is_directory { b"/\n" } else { b".\n" });
    }
    hex(&hasher.finalize())
}

/// A program's identity: hashing a compiler on every look would cost more than it tells.
fn stamp(program: Option<&Path>) -> String {
    let Some(path) = program else { return String::from("absent") };
    let meta = path.metadata().map(|meta| (meta.len(), meta.mtime(), meta.mtime_nsec()));
    format!("{} {:?}", path.display(), meta.ok())
}

/// Lower-case hexadecimal digits of a digest.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
