//! What the caller decides: accesses, and the text that passes between files and a reader.

use std::path::Path;

/// What is about to be done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// Its entries are listed, or everything below it is walked through.
    List,
    /// Its content is read.
    Read,
    /// It is created or its content is changed.
    Write,
    /// It is removed.
    Delete,
}

/// Where a path lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// In a root of the workspace; its name.
    Inside(&'a str),
    /// In none.
    Outside,
}

/// An access to decide about. The path is resolved: it has no links, and it is that of the file
/// which is already open, so nobody can exchange it after the decision.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// What is about to be done.
    pub kind: AccessKind,
    /// Where, resolved and absolute.
    pub path: &'a Path,
    /// In which root.
    pub place: Place<'a>,
}

/// The caller's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Go on.
    Allow,
    /// Refuse, for this reason.
    Deny(String),
}

/// Decides about accesses and passes text. Asked from several threads at once.
pub trait Guard: Send + Sync {
    /// Asked before anything is read, listed, written or deleted, inside and outside the roots.
    fn access(&self, access: &Access<'_>) -> Decision;

    /// Asked before a web page is fetched, where the session may fetch at all.
    fn fetch(&self, url: &str) -> Decision {
        let _ = url;
        Decision::Allow
    }

    /// Whether an entry below a walked directory may be named and searched. Asked for every entry,
    /// so it must be quick.
    fn may_see(&self, path: &Path) -> bool {
        let _ = path;
        true
    }

    /// Hides secrets in text on its way to the reader. It must keep the number of lines: text that
    /// comes back with another number of lines is withheld.
    fn mask(&self, path: &Path, text: String) -> String {
        let _ = path;
        text
    }

    /// Puts back what `mask` hid, in text on its way into a file.
    ///
    /// # Errors
    /// Why the text cannot be written, for example because it has a placeholder nobody can resolve.
    fn restore(&self, path: &Path, text: String) -> Result<String, String> {
        let _ = path;
        Ok(text)
    }
}

/// Allows everything inside the roots and nothing outside; hides no text.
#[derive(Clone, Copy, Debug, Default)]
pub struct InsideOnly;

impl Guard for InsideOnly {
    fn access(&self, access: &Access<'_>) -> Decision {
        match access.place {
            Place::Inside(_) => Decision::Allow,
            Place::Outside => Decision::Deny("it lies outside the project".to_owned()),
        }
    }
}
