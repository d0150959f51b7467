//! The short way to an answer.
//!
//! Nearly every call that is asked about changes what may be changed. For these it is enough to know just that:
//! the path of the call is read and compared, one look proves that no link is on the way, and nothing is allocated.
//! Whatever is not that plain (a link, `..`, a path that may not be written, a call that is rare) is judged in full.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::CWD;

use super::call::Links;
use super::judge::{Judge, Judged, Verdict, links_of};
use crate::filter::WRITING;
use crate::plan::{Rung, Tell, is_below};
use crate::sys::calls::{self, old};
use crate::sys::memory::{LONGEST_PATH, read_path_into};
use crate::sys::seccomp::Notification;

/// Which arguments of a call say where a path is.
#[derive(Clone, Copy)]
struct At {
    /// The directory that it starts from; none: the working directory.
    directory: Option<usize>,
    path: usize,
}

/// What a call changes.
enum Changed {
    /// What is at a path, or is made there.
    Path(At, Links),
    /// The entry of a directory.
    Entry(At),
    /// Two entries; whether a link at the first is followed.
    Entries(At, Links, At),
    /// What a descriptor holds, by its argument.
    Open(usize),
}

impl Judge<'_> {
    /// The verdict about a call that is plainly allowed; none if it has to be judged in full.
    pub(super) fn quickly(&self, asked: &Notification) -> Option<Verdict> {
        // Somebody wants to know which paths were written.
        if self.plan.tell == Tell::Everything {
            return None;
        }
        match changed(asked)? {
            Changed::Path(at, links) => {
                let mut text = Text::new();
                Some(self.allow(self.plain(asked, at, links, &mut text)?))
            }
            Changed::Entry(at) => {
                let mut text = Text::new();
                let path = self.plain(asked, at, Links::Stay, &mut text)?;
                (!self.holds_protected(path)).then(|| self.allow(path))
            }
            Changed::Entries(from, links, to) => self.allow_two(asked, from, links, to),
            Changed::Open(descriptor) => self.allow_open(asked, descriptor),
        }
    }

    fn allow(&self, path: &Path) -> Verdict {
        if self.is_performed(path) {
            Verdict::Perform(Judged { first: path.to_owned(), second: None })
        } else {
            Verdict::Resume
        }
    }

    fn allow_two(&self, asked: &Notification, from: At, links: Links, to: At) -> Option<Verdict> {
        let (mut one, mut other) = (Text::new(), Text::new());
        let first = self.plain(asked, from, links, &mut one)?;
        let second = self.plain(asked, to, Links::Stay, &mut other)?;
        if self.holds_protected(first) || self.holds_protected(second) {
            return None;
        }
        if self.is_performed(first) || self.is_performed(second) {
            let (first, second) = (first.to_owned(), Some(second.to_owned()));
            return Some(Verdict::Perform(Judged { first, second }));
        }
        Some(Verdict::Resume)
    }

    fn allow_open(&self, asked: &Notification, descriptor: usize) -> Option<Verdict> {
        let mut text = Text::new();
        text.follow(asked.thread, Some(asked.int(descriptor)))?;
        let path = text.path();
        if !path.is_absolute() || !self.may_write(path) {
            return None;
        }
        Some(match self.rung {
            Rung::Landlock => Verdict::Perform(Judged { first: path.to_owned(), second: None }),
            Rung::Namespaces | Rung::SharedProcesses => Verdict::Resume,
        })
    }

    /// Whether something protected would go or come with a path.
    fn holds_protected(&self, path: &Path) -> bool {
        self.plan.protect.iter().any(|kept| is_below(kept, path))
    }

    /// The path of a call, if it may be written and is the path that the kernel will get to.
    fn plain<'text>(
        &self,
        asked: &Notification,
        at: At,
        links: Links,
        text: &'text mut Text,
    ) -> Option<&'text Path> {
        let mut buffer = [0; LONGEST_PATH];
        let given = read_path_into(asked.thread, asked.long(at.path), &mut buffer)?;
        if !given.starts_with(b"/") {
            let directory = at.directory.map(|argument| asked.int(argument));
            text.follow(asked.thread, directory.filter(|number| *number != libc::AT_FDCWD))?;
        }
        text.push(given)?;
        let is_plain = self.may_write(text.path())
            && (text.path() == Path::new("/dev/null")
                || self.resolver.is_plain(text.path(), links));
        is_plain.then(|| text.path())
    }
}

/// What a call changes, if it is one of those that are frequent.
fn changed(asked: &Notification) -> Option<Changed> {
    let here = |path: usize| At { directory: None, path };
    let at = |directory: usize, path: usize| At { directory: Some(directory), path };
    let open = |at: At, flags: u32| {
        let nameless = libc::O_TMPFILE.cast_unsigned();
        let is_plain = flags & WRITING != 0 && flags & nameless != nameless;
        is_plain.then(|| Changed::Path(at, links_of(flags)))
    };
    let follow = |flags: u32| {
        let stays = flags & libc::AT_SYMLINK_NOFOLLOW.cast_unsigned() != 0;
        if stays { Links::Stay } else { Links::Follow }
    };
    Some(match asked.number() {
        old::OPEN => open(here(0), asked.word(1))?,
        calls::SYS_openat => open(at(0, 1), asked.word(2))?,
        old::CREAT | calls::SYS_truncate | old::CHMOD | old::CHOWN | old::UTIME | old::UTIMES => {
            Changed::Path(here(0), Links::Follow)
        }
        old::LCHOWN | old::MKDIR | old::MKNOD => Changed::Path(here(0), Links::Stay),
        calls::SYS_mkdirat | calls::SYS_mknodat => Changed::Path(at(0, 1), Links::Stay),
        old::SYMLINK => Changed::Path(here(1), Links::Stay),
        calls::SYS_symlinkat => Changed::Path(at(1, 2), Links::Stay),
        calls::SYS_fchmodat => Changed::Path(at(0, 1), Links::Follow),
        calls::SYS_fchownat => Changed::Path(at(0, 1), follow(asked.word(4))),
        calls::SYS_utimensat if asked.long(1) == 0 => Changed::Open(0),
        calls::SYS_utimensat | calls::SYS_FCHMODAT2 => {
            Changed::Path(at(0, 1), follow(asked.word(3)))
        }
        old::UNLINK | old::RMDIR => Changed::Entry(here(0)),
        calls::SYS_unlinkat => Changed::Entry(at(0, 1)),
        old::RENAME | old::LINK => Changed::Entries(here(0), Links::Stay, here(1)),
        calls::SYS_renameat | calls::SYS_renameat2 => {
            Changed::Entries(at(0, 1), Links::Stay, at(2, 3))
        }
        calls::SYS_linkat => {
            let is_followed = asked.word(4) & libc::AT_SYMLINK_FOLLOW.cast_unsigned() != 0;
            let links = if is_followed { Links::Follow } else { Links::Stay };
            Changed::Entries(at(0, 1), links, at(2, 3))
        }
        calls::SYS_fchmod | calls::SYS_fchown | calls::SYS_fsetxattr | calls::SYS_fremovexattr => {
            Changed::Open(0)
        }
        _ => return None,
    })
}

/// The text of an absolute path without `.`, `..` or empty parts, in a place of its own.
struct Text {
    bytes: [u8; LONGEST_PATH],
    length: usize,
}

impl Text {
    fn new() -> Self {
        Self { bytes: [0; LONGEST_PATH], length: 0 }
    }

    fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(self.bytes.get(..self.length).unwrap_or_default()))
    }

    /// Becomes the path of what a thread has open, or of its working directory.
    fn follow(&mut self, thread: u32, descriptor: Option<i32>) -> Option<()> {
        /// Room for two numbers.
        const LONGEST_NAME: usize = 48;
        let mut name = [0; LONGEST_NAME];
        let mut left = &mut name[..];
        match descriptor {
            Some(number) => write!(left, "/proc/{thread}/fd/{number}").ok()?,
            None => write!(left, "/proc/{thread}/cwd").ok()?,
        }
        let left = left.len();
        let name = name.get(..LONGEST_NAME - left)?;
        self.length = rustix::fs::readlinkat_raw(CWD, name, &mut self.bytes[..]).ok()?;
        // One that is as long as the place for it may be cut.
        (self.length < LONGEST_PATH).then_some(())
    }

    /// Adds what a process gave, which may be absolute; none if the text alone does not tell where it leads.
    fn push(&mut self, given: &[u8]) -> Option<()> {
        if given.is_empty() || given.ends_with(b"/") {
            return None;
        }
        if given.starts_with(b"/") || self.path() == Path::new("/") {
            self.length = 0;
        }
        for part in given.split(|byte| *byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => return None,
                name => {
                    let end = self.length + 1 + name.len();
                    let (slash, rest) = self.bytes.get_mut(self.length..end)?.split_first_mut()?;
                    *slash = b'/';
                    rest.copy_from_slice(name);
                    self.length = end;
                }
            }
        }
        // A path that ends in `.` means the directory before it.
        let is_named = self.length > 0 && !given.ends_with(b"/.") && given != b".";
        is_named.then_some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pushed(base: &str, given: &str) -> Option<String> {
        let mut text = Text::new();
        text.bytes[..base.len()].copy_from_slice(base.as_bytes());
        text.length = base.len();
        text.push(given.as_bytes())?;
        Some(text.path().to_str().unwrap().to_owned())
    }

    #[test]
    fn only_a_path_whose_text_tells_where_it_leads_is_plain() {
        for (base, given, expected) in [
            ("", "/a//b/./c", Some("/a/b/c")),
            ("/w", "x", Some("/w/x")),
            ("/", "x", Some("/x")),
            ("/w", "./x", Some("/w/x")),
            ("/w", "../x", None),
            ("/w", "a/../x", None),
            ("/w", "x/", None),
            ("/w", ".", None),
            ("/w", "x/.", None),
            ("/w", "", None),
            ("", "/", None),
            ("/w", "..x/...", Some("/w/..x/...")),
        ] {
            assert_eq!(pushed(base, given).as_deref(), expected, "{base:?} {given:?}");
        }
        let long = "x".repeat(LONGEST_PATH);
        assert_eq!(pushed("/w", &long), None);
    }

    proptest! {
        #[test]
        fn a_plain_path_is_what_the_standard_library_makes_of_it(given in "[a./]{1,12}") {
            if let Some(text) = pushed("/w", &given) {
                let joined = if given.starts_with('/') { String::new() } else { "/w".to_owned() };
                let own: std::path::PathBuf = Path::new(&format!("{joined}/{given}")).components().collect();
                prop_assert_eq!(Path::new(&text).as_os_str(), own.as_os_str());
            }
        }
    }
}
