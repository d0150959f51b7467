//! Walking through directories with ripgrep's walker: `.gitignore` by choice, hidden files by
//! choice, `.git` and links never.

use std::path::{Path, PathBuf};

use ignore::overrides::Override;
use ignore::types::Types;
use ignore::{DirEntry, WalkBuilder};

use crate::Session;
use crate::call::{Stop, StopReason};

/// More gain nothing on a disk that is cached.
const MOST_THREADS: usize = 12;

/// How to walk.
pub(crate) struct Walk {
    root: PathBuf,
    pub(crate) hidden: bool,
    pub(crate) gitignore: bool,
    pub(crate) depth: Option<usize>,
    /// Names of directories that are not entered.
    pub(crate) prune: Vec<String>,
    pub(crate) overrides: Option<Override>,
    pub(crate) types: Option<Types>,
    /// With `.git`, where only names are shown.
    pub(crate) git_directory: bool,
}

/// Something that was come across.
pub(crate) struct Walked<'a> {
    entry: &'a DirEntry,
}

impl Walked<'_> {
    pub(crate) fn path(&self) -> &Path {
        self.entry.path()
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.entry.file_type().is_some_and(|kind| kind.is_dir())
    }
}

impl Walk {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
            hidden: true,
            gitignore: true,
            depth: None,
            prune: Vec::new(),
            overrides: None,
            types: None,
            git_directory: false,
        }
    }

    pub(crate) fn builder(&self) -> WalkBuilder {
        let mut builder = WalkBuilder::new(&self.root);
        builder
            .hidden(!self.hidden)
            .parents(self.gitignore)
            .ignore(self.gitignore)
            .git_ignore(self.gitignore)
            .git_exclude(self.gitignore)
            .git_global(false)
            .require_git(false)
            .follow_links(false)
            .max_depth(self.depth);
        if let Some(overrides) = &self.overrides {
            builder.overrides(overrides.clone());
        }
        if let Some(types) = &self.types {
            builder.types(types.clone());
        }
        let mut prune = self.prune.clone();
        if !self.git_directory {
            prune.push(".git".to_owned());
        }
        builder.filter_entry(move |entry| entry.depth() == 0 || !is_pruned(entry, &prune));
        builder
    }

    /// One entry after the other, in no order. Gives why it ended early.
    pub(crate) fn each(
        &self,
        session: &Session,
        stop: &Stop,
        visit: &mut dyn FnMut(&Walked<'_>),
    ) -> Option<StopReason> {
        for entry in self.builder().build().flatten() {
            if let Some(reason) = stop.reason() {
                return Some(reason);
            }
            if entry.depth() > 0 && session.may_see(entry.path()) {
                visit(&Walked { entry: &entry });
            }
        }
        None
    }
}

/// `.git` may also be a file, which is of no more use.
fn is_pruned(entry: &DirEntry, prune: &[String]) -> bool {
    let name = entry.file_name();
    let is_directory = || entry.file_type().is_some_and(|kind| kind.is_dir());
    prune.iter().any(|own| name == own.as_str()) && (name == ".git" || is_directory())
}

/// How many threads walk.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS)
}
