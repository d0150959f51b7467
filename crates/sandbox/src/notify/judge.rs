//! Whether a call that changes files may be made.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD};

use super::call::{Call, Links, Place};
use super::resolve::{Found, Resolver, Target};
use crate::layout::DEVICES;
use crate::plan::{Plan, Rung, Tell, is_below};

/// What is to become of a call.
#[derive(Debug)]
pub(super) enum Verdict {
    /// The kernel does it, or fails it by itself.
    Resume,
    /// It fails so.
    Fail(i32),
    /// We do it, at these paths.
    Perform(Judged),
    /// It is denied, or asked about.
    Deny { judged: Judged, target: PathBuf },
}

/// The paths of a call without links.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    pub(super) first: PathBuf,
    pub(super) second: Option<PathBuf>,
}

/// What may be touched.
pub(super) struct Judge<'a> {
    pub(super) plan: &'a Plan,
    pub(super) rung: Rung,
    pub(super) resolver: &'a Resolver,
    /// What somebody allowed since.
    pub(super) granted: &'a [PathBuf],
    /// What of the paths that may be written was.
    pub(super) wrote: &'a RefCell<BTreeSet<PathBuf>>,
}

impl Judge<'_> {
    /// Judges a call that concerns files.
    pub(super) fn judge(&self, thread: u32, call: &Call) -> Verdict {
        match call {
            Call::Open { at, flags, .. } if Call::is_writing(*flags) => {
                self.open(thread, at, *flags)
            }
            Call::Open { at, flags, .. } => self.read(thread, at, links_of(*flags)),
            Call::MakeDirectory { at, .. }
            | Call::MakeNode { at, .. }
            | Call::Symlink { at, .. } => self.one(thread, at, Links::Stay, Wanted::New),
            Call::Remove { at, .. } => self.one(thread, at, Links::Stay, Wanted::Entry),
            Call::Truncate { at, .. } => self.one(thread, at, Links::Follow, Wanted::Content),
            Call::Change { at, links, .. } => self.one(thread, at, *links, Wanted::Attributes),
            Call::Rename { from, to, .. } => self.two(thread, from, to, Links::Stay),
            Call::Link { from, to, links } => self.two(thread, from, to, *links),
            Call::ChangeOpen { descriptor, .. } => self.change_open(thread, *descriptor),
            Call::Execute { at } => self.execute(thread, at),
            Call::Connect { .. } | Call::Bind { .. } | Call::SendTo { .. } => Verdict::Resume,
        }
    }

    fn open(&self, thread: u32, at: &Place, flags: u32) -> Verdict {
        let has = |flag: i32| flags & flag.cast_unsigned() == flag.cast_unsigned();
        let mut found = match self.resolver.resolve(thread, at, links_of(flags)) {
            Target::At(found) => found,
            other => return self.elsewhere(other),
        };
        let makes_nameless = has(libc::O_TMPFILE);
        let fails_anyway = if makes_nameless {
            !found.is_directory()
        } else if found.exists() {
            found.is_directory() || (has(libc::O_CREAT) && has(libc::O_EXCL))
        } else {
            !has(libc::O_CREAT)
        };
        if fails_anyway {
            return Verdict::Resume;
        }
        if makes_nameless {
            // It is made in the directory, under no name.
            found = Found { path: found.path.join("#"), kind: None };
        }
        let wanted = if found.exists() { Wanted::Content } else { Wanted::New };
        let verdict = self.weigh(&found, wanted);
        match verdict {
            Verdict::Perform(_) if makes_nameless => Verdict::Fail(libc::EOPNOTSUPP),
            verdict => verdict,
        }
    }

    fn read(&self, thread: u32, at: &Place, links: Links) -> Verdict {
        let path = match self.resolver.resolve(thread, at, links) {
            Target::At(found) => found.path,
            Target::Closed(path) => path,
            Target::Special(_) | Target::Missing => return Verdict::Resume,
        };
        if !self.is_hidden(&path) {
            return Verdict::Resume;
        }
        let judged = Judged { first: path.clone(), second: None };
        if self.is_granted(&path) {
            return Verdict::Perform(judged);
        }
        Verdict::Deny { judged, target: path }
    }

    fn one(&self, thread: u32, at: &Place, links: Links, wanted: Wanted) -> Verdict {
        match self.resolver.resolve(thread, at, links) {
            Target::At(found) if found.exists() == (wanted == Wanted::New) => self.unwalled(wanted),
            Target::At(found) => self.weigh(&found, wanted),
            Target::Missing => self.unwalled(wanted),
            Target::Special(path) | Target::Closed(path)
                if self.rung == Rung::Landlock && wanted == Wanted::Attributes =>
            {
                let judged = Judged { first: path.clone(), second: None };
                Verdict::Deny { judged, target: path }
            }
            other => self.elsewhere(other),
        }
    }

    /// Of a call that fails by itself, unless nothing but us stands between it and what it wants.
    fn unwalled(&self, wanted: Wanted) -> Verdict {
        match (self.rung, wanted) {
            (Rung::Landlock, Wanted::Attributes) => Verdict::Fail(libc::ENOENT),
            _ => Verdict::Resume,
        }
    }

    fn two(&self, thread: u32, from: &Place, to: &Place, links: Links) -> Verdict {
        let from = match self.resolver.resolve(thread, from, links) {
            Target::At(found) if found.exists() => found,
            // It has no name yet: a file made under none is given one.
            Target::Special(_) => return self.one(thread, to, Links::Stay, Wanted::New),
            Target::At(_) | Target::Missing => return Verdict::Resume,
            other @ Target::Closed(_) => return self.elsewhere(other),
        };
        let to = match self.resolver.resolve(thread, to, Links::Stay) {
            Target::At(found) => found,
            Target::Missing => return Verdict::Resume,
            other => return self.elsewhere(other),
        };
        let judged = || Judged { first: from.path.clone(), second: Some(to.path.clone()) };
        match (self.weigh(&from, Wanted::Entry), self.weigh(&to, Wanted::Entry)) {
            (Verdict::Deny { target, .. }, _) | (_, Verdict::Deny { target, .. }) => {
                Verdict::Deny { judged: judged(), target }
            }
            (Verdict::Perform(_), _) | (_, Verdict::Perform(_)) => Verdict::Perform(judged()),
            _ => Verdict::Resume,
        }
    }

    fn change_open(&self, thread: u32, descriptor: i32) -> Verdict {
        let link = std::fs::read_link(format!("/proc/{thread}/fd/{descriptor}"));
        let Ok(path) = link else { return Verdict::Fail(libc::EBADF) };
        let judged = Judged { first: path.clone(), second: None };
        let is_file = path.is_absolute()
            && !path.starts_with("/memfd:")
            && !path.to_string_lossy().ends_with(" (deleted)");
        if is_file && !self.may_write(&path) {
            if !self.is_granted(&path) {
                if self.would_fail(&path, Wanted::Attributes) {
                    return Verdict::Fail(libc::EPERM);
                }
                return Verdict::Deny { judged, target: path };
            }
            return Verdict::Perform(judged);
        }
        match self.rung {
            Rung::Landlock => Verdict::Perform(judged),
            Rung::Namespaces | Rung::SharedProcesses => Verdict::Resume,
        }
    }

    fn execute(&self, thread: u32, at: &Place) -> Verdict {
        let (Some(allowed), Target::At(found)) =
            (&self.plan.execute, self.resolver.resolve(thread, at, Links::Follow))
        else {
            return Verdict::Resume;
        };
        if !found.exists() || allowed.iter().any(|above| found.path.starts_with(above)) {
            return Verdict::Resume;
        }
        let judged = Judged { first: found.path.clone(), second: None };
        Verdict::Deny { judged, target: found.path }
    }

    /// A path that leads where we cannot follow.
    fn elsewhere(&self, target: Target) -> Verdict {
        match target {
            Target::Special(path) => {
                // A process may open again what it has open; the walls see what that is.
                let is_own = path.components().any(|part| part.as_os_str() == "fd")
                    || path.starts_with("/dev");
                if is_own || !path.starts_with("/proc") {
                    return Verdict::Resume;
                }
                let judged = Judged { first: path.clone(), second: None };
                Verdict::Deny { judged, target: path }
            }
            Target::Closed(path) if self.is_hidden(&path) => {
                let judged = Judged { first: path.clone(), second: None };
                Verdict::Deny { judged, target: path }
            }
            Target::Missing | Target::At(_) | Target::Closed(_) => Verdict::Resume,
        }
    }

    /// Weighs one path that is there, or could be.
    fn weigh(&self, found: &Found, wanted: Wanted) -> Verdict {
        let path = &found.path;
        let judged = Judged { first: path.clone(), second: None };
        // With a directory goes all that is in it.
        let takes_protected = wanted == Wanted::Entry
            && self.plan.protect.iter().any(|kept| kept != path && kept.starts_with(path));
        if takes_protected && found.is_directory() {
            return Verdict::Deny { judged, target: path.clone() };
        }
        if self.may_write(path) {
            self.note_written(path);
            return if self.is_performed(path) {
                Verdict::Perform(judged)
            } else {
                Verdict::Resume
            };
        }
        if self.is_granted(path) {
            return Verdict::Perform(judged);
        }
        if self.would_fail(path, wanted) {
            // As it would without us, and not as the walls would say it.
            return Verdict::Fail(match wanted {
                Wanted::Attributes => libc::EPERM,
                Wanted::New | Wanted::Content | Wanted::Entry => libc::EACCES,
            });
        }
        Verdict::Deny { judged, target: path.clone() }
    }

    /// Writes down which of the paths that may be written was, if somebody wants to know all.
    fn note_written(&self, path: &Path) {
        if self.plan.tell != Tell::Everything {
            return;
        }
        let root = self.plan.write.iter().find(|above| path.starts_with(above));
        self.wrote.borrow_mut().extend(root.cloned());
    }

    pub(super) fn may_write(&self, path: &Path) -> bool {
        // Pipes and sockets have no path.
        if !path.is_absolute() {
            return true;
        }
        let is_in = |paths: &[PathBuf]| paths.iter().any(|above| is_below(path, above));
        if is_in(&self.plan.write) || is_in(&self.plan.protect) || is_in(&self.plan.show) {
            return self.plan.may_write(path);
        }
        let is_device =
            DEVICES.iter().chain(&["/dev/ptmx"]).any(|device| path == Path::new(device))
                || ["/dev/pts", "/dev/shm"].iter().any(|place| is_below(path, Path::new(place)));
        is_device || self.is_temporary(path)
    }

    fn is_temporary(&self, path: &Path) -> bool {
        match self.rung {
            Rung::Landlock => {
                self.plan.temporary.as_ref().is_some_and(|place| is_below(path, place))
            }
            Rung::Namespaces | Rung::SharedProcesses => {
                ["/tmp", "/var/tmp"].iter().any(|place| is_below(path, Path::new(place)))
            }
        }
    }

    /// Whether we write what may be written, because no wall stands around what may not.
    pub(super) fn is_performed(&self, path: &Path) -> bool {
        self.rung == Rung::Landlock
            && self.plan.write.iter().any(|above| is_below(path, above))
            && !self.is_temporary(path)
    }

    pub(super) fn is_hidden(&self, path: &Path) -> bool {
        self.plan.hides(path)
    }

    fn is_granted(&self, path: &Path) -> bool {
        self.granted.iter().any(|above| path.starts_with(above))
    }

    /// Whether it would fail without any sandbox too: then nobody denied anything.
    fn would_fail(&self, path: &Path, wanted: Wanted) -> bool {
        let has_mounts = self.rung != Rung::Landlock;
        if has_mounts && crate::ruleset::is_private(path) {
            return false;
        }
        let writable = |path: &Path| {
            rustix::fs::accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
        };
        match wanted {
            Wanted::Content => !writable(path),
            Wanted::New | Wanted::Entry => !path.parent().is_some_and(writable),
            Wanted::Attributes => {
                let user = rustix::process::geteuid();
                let owner = rustix::fs::stat(path).map(|stat| stat.st_uid);
                !user.is_root() && owner != Ok(user.as_raw())
            }
        }
    }
}

/// What of a path a call wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// To make it.
    New,
    /// To write it.
    Content,
    /// To change what is known about it.
    Attributes,
    /// To take it out of its directory, or to put something in its place.
    Entry,
}

pub(super) fn links_of(flags: u32) -> Links {
    if flags & libc::O_NOFOLLOW.cast_unsigned() == 0 { Links::Follow } else { Links::Stay }
}
