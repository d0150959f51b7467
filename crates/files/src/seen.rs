//! The lines a caller has been shown: the base on which stale anchors are recovered, and what tells
//! that a file changed since it was read. No cache: nothing is read from here instead of a file.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::Stat;

/// How many files are remembered; the one not used for longest is forgotten first.
const MOST_FILES: usize = 30;

/// What one caller has seen. Shared by its calls.
#[derive(Debug, Default)]
pub struct Seen {
    files: Mutex<Files>,
}

#[derive(Debug, Default)]
struct Files {
    by_path: HashMap<PathBuf, SeenFile>,
    clock: u64,
}

/// One file as it was shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeenFile {
    /// By number, from 1.
    lines: BTreeMap<usize, String>,
    /// How many lines there were, and whether the last one ended; known when the end was shown.
    end: Option<(usize, bool)>,
    stamp: Option<SeenStamp>,
    used: u64,
}

/// By what a file is taken as unchanged without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeenStamp {
    inode: u64,
    size: i64,
    modified: (i64, u64),
}

impl SeenStamp {
    pub(crate) fn of(stat: &Stat) -> Self {
        let modified = (stat.st_mtime, stat.st_mtime_nsec);
        Self { inode: stat.st_ino, size: stat.st_size, modified }
    }
}

impl SeenFile {
    /// A line as it was shown.
    pub(crate) fn line(&self, number: usize) -> Option<&str> {
        self.lines.get(&number).map(String::as_str)
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines.iter().map(|(number, text)| (*number, text.as_str()))
    }

    pub(crate) fn stamp(&self) -> Option<SeenStamp> {
        self.stamp
    }

    /// The whole text, if all of it was shown.
    pub(crate) fn whole(&self) -> Option<String> {
        let (count, ended) = self.end?;
        if self.lines.len() != count {
            return None;
        }
        let mut text = self.lines.values().map(String::as_str).collect::<Vec<_>>().join("\n");
        if ended && count > 0 {
            text.push('\n');
        }
        Some(text)
    }
}

impl Seen {
    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers lines. Where they contradict what is remembered, that is forgotten.
    pub(crate) fn record<'a>(
        &self,
        path: &Path,
        lines: impl IntoIterator<Item = (usize, &'a str)>,
        end: Option<(usize, bool)>,
        stamp: SeenStamp,
    ) {
        let new: Vec<(usize, &str)> = lines.into_iter().collect();
        if new.is_empty() && end.is_none() {
            return;
        }
        let mut files = self.files();
        files.clock += 1;
        let clock = files.clock;
        let file = files.by_path.entry(path.to_path_buf()).or_default();
        let agrees = new.iter().all(|(n, text)| file.line(*n).is_none_or(|own| own == *text))
            && (end.is_none() || file.end.is_none() || file.end == end);
        if !agrees {
            *file = SeenFile::default();
        }
        file.lines.extend(new.into_iter().map(|(number, text)| (number, text.to_owned())));
        file.end = end.or(file.end);
        file.stamp = Some(stamp);
        file.used = clock;
        if files.by_path.len() > MOST_FILES {
            let oldest = files.by_path.iter().min_by_key(|(_, file)| file.used);
            if let Some(oldest) = oldest.map(|(path, _)| path.clone()) {
                files.by_path.remove(&oldest);
            }
        }
    }

    /// Remembers all of a file, in place of what was remembered.
    pub(crate) fn record_whole(&self, path: &Path, text: &str, stamp: SeenStamp) {
        self.forget(path);
        let lines = crate::text::lines(text);
        let end = Some((lines.len(), text.ends_with('\n')));
        self.record(
            path,
            lines.into_iter().enumerate().map(|(at, line)| (at + 1, line)),
            end,
            stamp,
        );
    }

    pub(crate) fn get(&self, path: &Path) -> Option<SeenFile> {
        self.files().by_path.get(path).cloned()
    }

    /// Forgets a file.
    pub fn forget(&self, path: &Path) {
        self.files().by_path.remove(path);
    }

    /// Whether any line of this file was shown.
    pub fn has(&self, path: &Path) -> bool {
        self.files().by_path.contains_key(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: SeenStamp = SeenStamp { inode: 1, size: 1, modified: (1, 1) };

    #[test]
    fn lines_that_contradict_replace_all_that_was_seen() {
        let seen = Seen::default();
        let path = Path::new("/a");
        seen.record(path, [(1, "one"), (2, "two")], None, STAMP);
        seen.record(path, [(3, "three")], Some((3, true)), STAMP);
        assert_eq!(seen.get(path).unwrap().whole().unwrap(), "one\ntwo\nthree\n");
        seen.record(path, [(2, "TWO")], None, STAMP);
        let file = seen.get(path).unwrap();
        assert_eq!(file.lines().collect::<Vec<_>>(), [(2, "TWO")]);
        assert_eq!(file.whole(), None);
    }

    #[test]
    fn only_the_latest_files_are_remembered() {
        let seen = Seen::default();
        for number in 0..40 {
            seen.record(Path::new(&format!("/{number}")), [(1, "x")], None, STAMP);
        }
        assert!(!seen.has(Path::new("/9")));
        assert!(seen.has(Path::new("/10")) && seen.has(Path::new("/39")));
    }
}
