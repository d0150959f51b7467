//! Where to look: the files, directories and globs of a search.

use std::path::Path;

use globset::GlobMatcher;

use crate::glob::{self, GlobPath};
use crate::guard::AccessKind;
use crate::paths::Located;
use crate::{Error, Session};

/// A place to look, and what to look for there.
pub(crate) struct Scope {
    pub(crate) located: Located,
    /// Relative to the place; `None` is everything.
    glob: Option<GlobMatcher>,
}

pub(crate) struct Scopes {
    pub(crate) found: Vec<Scope>,
    pub(crate) missing: Vec<String>,
}

impl Scopes {
    /// The places that paths mean. One missing of several is left out and said.
    pub(crate) fn new(
        session: &Session,
        paths: &[String],
        kind: AccessKind,
    ) -> Result<Self, Error> {
        if paths.is_empty() || paths.iter().any(|path| path.trim().is_empty()) {
            let problem = "`paths` must contain non-empty paths or globs";
            return Err(Error::bad("paths", &paths.join(", "), problem));
        }
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for path in paths {
            match Scope::new(session, path, kind) {
                Ok(scope) => found.push(scope),
                Err(Error::NotFound { .. }) if paths.len() > 1 => missing.push(path.clone()),
                Err(error) => return Err(error),
            }
        }
        if found.is_empty() {
            return Err(Error::NotFound { path: missing.join(", "), nearest: Vec::new() });
        }
        Ok(Self { found, missing })
    }

    /// Whether a path in this scope is in none before it, so that nothing counts twice.
    pub(crate) fn is_first(&self, scope: &Scope, path: &Path) -> bool {
        let before = self.found.iter().take_while(|other| !std::ptr::eq(*other, scope));
        !before.into_iter().any(|other| path.starts_with(other.base()) && other.matches(path))
    }
}

impl Scope {
    fn new(session: &Session, path: &str, kind: AccessKind) -> Result<Self, Error> {
        // A file may be called like a glob.
        let (located, split) = match session.locate(path, kind) {
            Ok(located) => (located, GlobPath { base: path.to_owned(), glob: None }),
            Err(Error::NotFound { .. }) if glob::has_glob(path) => {
                let split = glob::split(path);
                (session.locate(&split.base, kind)?, split)
            }
            Err(error) => return Err(error),
        };
        let pattern = split.glob.map(|pattern| {
            // In the first part of a path a glob holds at any depth.
            let is_first = split.base == "." && !path.trim().starts_with("./");
            if is_first && !pattern.starts_with("**/") { format!("**/{pattern}") } else { pattern }
        });
        let glob = pattern.map(|pattern| glob::compile("paths", &pattern)).transpose()?;
        Ok(Self { located, glob: glob.map(|glob| glob.compile_matcher()) })
    }

    pub(crate) fn base(&self) -> &Path {
        &self.located.real
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.located.is_directory()
    }

    pub(crate) fn matches(&self, path: &Path) -> bool {
        let Some(glob) = &self.glob else { return true };
        path.strip_prefix(self.base()).is_ok_and(|relative| glob.is_match(relative))
    }
}
