//! What was looked at while a plan was made: as long as that is as it was, so is the plan.
//!
//! Whether a path is there, and where its links lead to, is written in the directories on its way, and a
//! directory in which an entry comes, goes or is replaced has another time. So a few directories stand for
//! hundreds of paths that are not there.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;
/// File systems count time in ticks: of a directory that changed less than one ago it is not certain that it did not
/// change again after we looked.
const TICK: Duration = Duration::from_millis(100);
/// The same where times have no fraction of a second.
const COARSE_TICK: Duration = Duration::from_secs(3);

/// The directories that were looked at, and what was in them.
#[derive(Debug)]
pub(crate) struct Seen {
    /// When the first look was.
    begun: SystemTime,
    directories: BTreeMap<PathBuf, Option<Stamp>>,
    entries: HashMap<PathBuf, Entry>,
}

/// What a directory was, and when it changed last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    changed: Duration,
    entries_changed: Duration,
}

#[derive(Debug, Clone)]
enum Entry {
    Missing,
    Link(PathBuf),
    Directory,
    Other,
}

impl Stamp {
    fn of(directory: &Path) -> Option<Self> {
        let metadata = fs::metadata(directory).ok()?;
        let time = |seconds: i64, nanoseconds: i64| {
            let seconds = u64::try_from(seconds).unwrap_or(0);
            Duration::new(seconds, u32::try_from(nanoseconds).unwrap_or(0))
        };
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            changed: time(metadata.ctime(), metadata.ctime_nsec()),
            entries_changed: time(metadata.mtime(), metadata.mtime_nsec()),
        })
    }

    /// Whether every change after that moment gives another stamp.
    fn is_older_than(&self, moment: Duration) -> bool {
        [self.changed, self.entries_changed].into_iter().all(|last| {
            let tick = if last.subsec_nanos() == 0 { COARSE_TICK } else { TICK };
            last + tick < moment
        })
    }
}

impl Seen {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        let (directories, entries) = (BTreeMap::new(), HashMap::new());
        Self { begun: SystemTime::now(), directories, entries }
    }

    /// Where a path leads to, with its links followed; none if nothing is there or it cannot be reached.
    pub(crate) fn resolve(&mut self, path: &Path) -> Option<PathBuf> {
        let parts = |path: &Path| -> Vec<OsString> {
            let named = |part: Component<'_>| match part {
                Component::Normal(name) => Some(name.to_owned()),
                Component::ParentDir => Some("..".into()),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
            };
            path.components().rev().filter_map(named).collect()
        };
        let mut left = parts(&std::path::absolute(path).ok()?);
        let mut done = PathBuf::from("/");
        let mut links = 0;
        while let Some(name) = left.pop() {
            if name == ".." {
                done.pop();
                continue;
            }
            let next = done.join(name);
            match self.entry(&done, &next) {
                Entry::Missing => return None,
                Entry::Directory => done = next,
                Entry::Other => return left.is_empty().then_some(next),
                Entry::Link(target) => {
                    links += 1;
                    if links > MOST_LINKS {
                        return None;
                    }
                    if target.is_absolute() {
                        done = PathBuf::from("/");
                    }
                    left.extend(parts(&target));
                }
            }
        }
        Some(done)
    }

    /// What is at a path in a directory. The directory is looked at first, so that no change is missed.
    fn entry(&mut self, directory: &Path, path: &Path) -> Entry {
        if let Some(entry) = self.entries.get(path) {
            return entry.clone();
        }
        if !self.directories.contains_key(directory) {
            self.directories.insert(directory.to_owned(), Stamp::of(directory));
        }
        let entry = match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => {
                fs::read_link(path).map_or(Entry::Missing, Entry::Link)
            }
            Ok(metadata) if metadata.is_dir() => Entry::Directory,
            Ok(_) => Entry::Other,
            Err(_) => Entry::Missing,
        };
        self.entries.insert(path.to_owned(), entry.clone());
        entry
    }

    /// Forgets what is at a path, which was made.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.entries.retain(|known, _| !path.starts_with(known));
    }

    /// What is left of it when everything is known; none if something changed just before.
    pub(crate) fn settled(self) -> Option<Settled> {
        let begun = self.begun.duration_since(UNIX_EPOCH).unwrap_or_default();
        let directories: Vec<_> = self.directories.into_iter().collect();
        let mut stamps = directories.iter().filter_map(|(_, stamp)| *stamp);
        stamps.all(|stamp| stamp.is_older_than(begun)).then_some(Settled { directories })
    }
}

/// Directories that did not change while they were looked at.
#[derive(Debug)]
pub(crate) struct Settled {
    directories: Vec<(PathBuf, Option<Stamp>)>,
}

impl Settled {
    /// Whether nothing changed since.
    pub(crate) fn holds(&self) -> bool {
        self.directories.iter().all(|(path, stamp)| Stamp::of(path) == *stamp)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;

    /// Makes a directory look as if nothing had happened in it lately.
    fn age(directory: &Path) {
        let then = SystemTime::now() - Duration::from_mins(1);
        fs::File::open(directory).unwrap().set_modified(then).unwrap();
    }

    #[test]
    fn what_changed_just_now_is_not_taken_for_settled() {
        let place = tempfile::tempdir().unwrap();
        let mut seen = Seen::new();
        assert_eq!(seen.resolve(&place.path().join("missing")), None);
        assert!(seen.settled().is_none());
    }

    #[test]
    fn a_change_within_a_tick_of_the_first_look_could_come_again_unseen() {
        let stamp =
            |last: Duration| Stamp { device: 1, inode: 1, changed: last, entries_changed: last };
        let at = Duration::from_millis;
        assert!(!stamp(at(10_450)).is_older_than(at(10_500)));
        assert!(stamp(at(10_250)).is_older_than(at(10_500)));
        assert!(!stamp(at(10_000)).is_older_than(at(10_500)), "all of that second looks the same");
        assert!(stamp(at(7_000)).is_older_than(at(10_500)));
        assert!(
            !stamp(at(11_001)).is_older_than(at(10_500)),
            "a clock that went back says nothing"
        );
    }

    #[test]
    fn every_change_on_the_way_of_a_path_is_noticed() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let at = |name: &str| place.join(name);
        for name in ["real/deep", "other/deep", "links"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        // A link to a link to a directory, each in a directory of its own.
        symlink("links/second", at("first")).unwrap();
        symlink("../real", at("links/second")).unwrap();
        let changes: [(&str, &dyn Fn()); 4] = [
            ("what was missing comes", &|| fs::write(at("real/deep/file"), "").unwrap()),
            ("what was there goes", &|| fs::remove_file(at("real/deep/file")).unwrap()),
            ("a link in the middle leads elsewhere", &|| {
                fs::remove_file(at("links/second")).unwrap();
                symlink("../other", at("links/second")).unwrap();
            }),
            ("a directory is another", &|| {
                fs::rename(at("other"), at("gone")).unwrap();
                fs::create_dir_all(at("other/deep")).unwrap();
            }),
        ];
        for (name, change) in changes {
            let mut seen = Seen::new();
            let _ = seen.resolve(&at("first/deep/file"));
            // Only the clock of the test is too fast, so what is settled is taken as it is.
            let settled = Settled { directories: seen.directories.into_iter().collect() };
            assert!(settled.holds(), "{name}");
            for directory in ["", "real", "real/deep", "other", "other/deep", "links"] {
                let _ = fs::metadata(at(directory)).map(|_| age(&at(directory)));
            }
            let mut seen = Seen::new();
            let _ = seen.resolve(&at("first/deep/file"));
            let settled = Settled { directories: seen.directories.into_iter().collect() };
            change();
            assert!(!settled.holds(), "{name}");
        }
    }

    proptest! {
        #[test]
        fn a_path_is_resolved_as_the_system_does(
            links in prop::collection::vec(("[ab]{1,2}", "(\\.\\./){0,2}[abc]{1,2}(/[abc])?"), 0..4),
            path in "[abc]{1,2}(/(\\.\\.|[abc]{1,2})){0,3}",
        ) {
            let place = tempfile::tempdir().unwrap();
            let place = place.path().canonicalize().unwrap();
            let place = place.join("root");
            for name in ["a/b/c", "b/c", "c"] {
                fs::create_dir_all(place.join(name)).unwrap();
            }
            fs::write(place.join("c/a"), "").unwrap();
            fs::write(place.with_file_name("a"), "").unwrap();
            for (name, target) in links {
                let _ = symlink(target, place.join("a").join(name));
            }
            // A path that is not absolute begins where the process is.
            prop_assert_eq!(Seen::new().resolve(Path::new(&path)), Path::new(&path).canonicalize().ok());
            let path = place.join("a").join(path);
            prop_assert_eq!(Seen::new().resolve(&path), path.canonicalize().ok());
        }
    }
}
