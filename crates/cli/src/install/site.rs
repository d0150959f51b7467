//! A client's file on this machine: where it is, what it says, and how it is replaced.
//!
//! A link is followed, and the file it leads to is replaced by rename, whole or not at all, with its
//! mode and its owner. In a project no link may lead outside. What was found is walked again link by
//! link when it is written, so nobody can put a link in the way in between.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Uid};
use rustix::io::Errno;

use super::{Client, find, server};
use crate::context::Context;
use crate::failure::Failure;

/// No settings are longer.
const LONGEST_FILE_BYTES: u64 = 64 << 20;

/// Whose settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    User,
    Project,
}

impl Scope {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// A client's file.
#[derive(Debug)]
pub(crate) struct Site {
    /// Where the client looks for it.
    pub(crate) path: PathBuf,
    /// Where it is, without links.
    pub(crate) real: PathBuf,
    /// What it says; `None` if it is not there.
    pub(crate) text: Option<String>,
    scope: Scope,
    facts: Option<Facts>,
}

#[derive(Debug, Clone, Copy)]
struct Facts {
    mode: u32,
    owner: u32,
    group: u32,
}

/// Whether a client is on this machine.
pub(crate) fn is_here(client: &Client) -> bool {
    has_program(client)
        || home(client).is_ok_and(|home| {
            let is_own = Context::home().is_none_or(|own| own != home) && home.is_dir();
            is_own || client.user.iter().any(|file| home.join(file).exists())
        })
}

/// Whether a client's program is found where programs are.
pub(crate) fn has_program(client: &Client) -> bool {
    let search_path = Context::search_path();
    client.programs.iter().any(|name| server::found(&search_path, name).is_some())
}

/// The file that a client's server is in, or would go into.
pub(crate) fn choose(client: &Client, scope: Scope, name: &str) -> Result<Site, Failure> {
    let (root, files) = match scope {
        Scope::User => (home(client)?, client.user),
        Scope::Project if client.project.is_empty() => {
            return Err(Failure::new(format!(
                "{} has no settings of a project; without --project umbo goes into yours",
                client.title
            )));
        }
        Scope::Project => (umbo_gate::project_of(&Context::directory()?), client.project),
    };
    let mut first = None;
    for file in files {
        let site = Site::open(&root, file, scope)?;
        let text = site.text.as_deref();
        if text.is_some_and(|text| matches!(find(client, text, name), Ok(Some(_)))) {
            return Ok(site);
        }
        let is_better = first.as_ref().is_none_or(|old: &Site| old.text.is_none());
        if first.is_none() || (is_better && site.text.is_some()) {
            first = Some(site);
        }
    }
    first.ok_or_else(|| Failure::new(format!("{} has no file of settings", client.title)))
}

/// The directory of a person's own files of a client.
fn home(client: &Client) -> Result<PathBuf, Failure> {
    let place = client.homes.iter().find_map(|place| expand(place));
    let place = place.ok_or_else(|| Failure::new("cannot tell your home directory: set HOME"))?;
    Ok(Context::directory()?.join(place))
}

fn expand(place: &str) -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let (head, rest) = place.split_once('/').unwrap_or((place, ""));
    let base = match head {
        "~" => Context::home()?,
        "~config" => set("XDG_CONFIG_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| Some(Context::home()?.join(".config")))?,
        variable => set(variable.strip_prefix('$')?)?,
    };
    Some(if rest.is_empty() { base } else { base.join(rest) })
}

impl Site {
    /// Looks at a file below a directory.
    fn open(root: &Path, file: &str, scope: Scope) -> Result<Self, Failure> {
        let path = root.join(file);
        let real = resolve(&path)?;
        if scope == Scope::Project {
            let root = root.canonicalize().map_err(|error| cannot("find", root, &error))?;
            if !real.starts_with(&root) {
                return Err(Failure::new(format!(
                    "{} leads out of the project, to {}: nothing was changed",
                    path.display(),
                    real.display()
                )));
            }
        }
        let mut site = Self { path, real, text: None, scope, facts: None };
        if let Some((bytes, facts)) = site.read()? {
            let text = String::from_utf8(bytes)
                .map_err(|_| Failure::new(format!("{} is not UTF-8", site.path.display())))?;
            (site.text, site.facts) = (Some(text), Some(facts));
        }
        Ok(site)
    }

    /// Why this file is not to be changed, if it is not.
    pub(crate) fn forbids(&self) -> Option<String> {
        let facts = self.facts.filter(|facts| facts.mode & 0o222 == 0)?;
        Some(format!("it is read-only (mode {:04o})", facts.mode & 0o7777))
    }

    /// Replaces the file, which must say what it said before. Directories that had to be made.
    pub(crate) fn write(&self, text: &str) -> Result<Vec<PathBuf>, Failure> {
        let failed = |error: io::Error| cannot("write", &self.real, &error);
        let mut made = Vec::new();
        let directory = walk(self.parent(), Some(&mut made)).map_err(failed)?;
        self.is_unchanged(&directory)?;
        let draft = draft_name();
        let written = self.replace(&directory, &draft, text.as_bytes());
        if written.is_err() {
            let _ = rustix::fs::unlinkat(&directory, &draft, AtFlags::empty());
        }
        written.map_err(failed)?;
        Ok(made)
    }

    fn replace(&self, directory: &OwnedFd, draft: &OsStr, bytes: &[u8]) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = match (self.facts, self.scope) {
            // A person's settings may hold keys; a project's are for everybody in it.
            (Some(_), _) | (None, Scope::User) => 0o600,
            (None, Scope::Project) => 0o666,
        };
        let mut file = File::from(rustix::fs::openat(directory, draft, flags, Mode::from(mode))?);
        file.write_all(bytes)?;
        if let Some(facts) = self.facts {
            // Who is not root cannot give a file away, and need not.
            let (owner, group) = (Uid::from_raw(facts.owner), Gid::from_raw(facts.group));
            let _ = rustix::fs::fchown(&file, Some(owner), Some(group));
            file.set_permissions(fs::Permissions::from_mode(facts.mode & 0o7777))?;
        }
        file.sync_all()?;
        if self.facts.is_some() {
            rustix::fs::renameat(directory, draft, directory, self.name())?;
        } else {
            let only_new = RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(directory, draft, directory, self.name(), only_new) {
                // Not every file system can promise that.
                Err(Errno::INVAL | Errno::NOSYS) => {
                    rustix::fs::renameat(directory, draft, directory, self.name())?;
                }
                other => other?,
            }
        }
        Ok(())
    }

    /// Deletes the file, which must say what it said before, and then those of the directories that
    /// are empty.
    pub(crate) fn delete(&self, directories: &[PathBuf]) -> Result<(), Failure> {
        let failed = |error: io::Error| cannot("delete", &self.real, &error);
        let directory = walk(self.parent(), None).map_err(failed)?;
        self.is_unchanged(&directory)?;
        rustix::fs::unlinkat(&directory, self.name(), AtFlags::empty())
            .map_err(|error| failed(error.into()))?;
        for directory in directories.iter().rev() {
            let _ = fs::remove_dir(directory);
        }
        Ok(())
    }

    fn is_unchanged(&self, directory: &OwnedFd) -> Result<(), Failure> {
        let now =
            read_in(directory, self.name()).map_err(|error| cannot("read", &self.real, &error))?;
        if now.as_ref().map(|(bytes, _)| bytes.as_slice())
            == self.text.as_deref().map(str::as_bytes)
        {
            return Ok(());
        }
        Err(Failure::new(format!(
            "{} was changed by somebody else in the meantime; nothing was written, try again",
            self.path.display()
        )))
    }

    fn read(&self) -> Result<Option<(Vec<u8>, Facts)>, Failure> {
        let directory = match walk(self.parent(), None) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|error| cannot("read", &self.path, &error))?,
        };
        read_in(&directory, self.name()).map_err(|error| cannot("read", &self.path, &error))
    }

    fn parent(&self) -> &Path {
        self.real.parent().unwrap_or(Path::new("/"))
    }

    fn name(&self) -> &OsStr {
        self.real.file_name().unwrap_or_default()
    }
}

fn cannot(verb: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("cannot {verb} {}: {error}", path.display()))
}

fn draft_name() -> OsString {
    OsString::from(format!(".umbo-{}-{}.tmp", std::process::id(), umbo_ops::now()))
}

/// The path without links; what is not there yet is as it is written.
fn resolve(path: &Path) -> Result<PathBuf, Failure> {
    match path.canonicalize() {
        Ok(real) => return Ok(real),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(cannot("read", path, &error));
        }
        Err(_) => {}
    }
    if let Ok(target) = path.read_link() {
        return Err(Failure::new(format!(
            "{} is a link to {}, where nothing is: nothing was changed",
            path.display(),
            target.display()
        )));
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(resolve(parent)?.join(name)),
        _ => Ok(path.to_owned()),
    }
}

/// Opens a directory by a path without links, link by link; makes what is missing if asked to.
fn walk(path: &Path, mut made: Option<&mut Vec<PathBuf>>) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut here = rustix::fs::open("/", flags, Mode::empty())?;
    let mut place = PathBuf::from("/");
    for part in path.components() {
        let Component::Normal(name) = part else { continue };
        place.push(name);
        let opened = match rustix::fs::openat(&here, name, flags, Mode::empty()) {
            Err(Errno::NOENT) if made.is_some() => {
                match rustix::fs::mkdirat(&here, name, Mode::from(0o777)) {
                    Ok(()) => made.iter_mut().for_each(|made| made.push(place.clone())),
                    Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                rustix::fs::openat(&here, name, flags, Mode::empty())
            }
            other => other,
        };
        here = opened?;
    }
    Ok(here)
}

fn read_in(directory: &OwnedFd, name: &OsStr) -> io::Result<Option<(Vec<u8>, Facts)>> {
    // Opening a pipe must not wait for its writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(directory.as_fd(), name, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        other => File::from(other?),
    };
    let facts = file.metadata()?;
    if !facts.is_file() {
        return Err(io::Error::other("it is not a plain file"));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST_FILE_BYTES {
        return Err(io::Error::other("it is longer than 64 MiB"));
    }
    let facts = Facts { mode: facts.mode(), owner: facts.uid(), group: facts.gid() };
    Ok(Some((bytes, facts)))
}
