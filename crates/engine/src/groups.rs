//! Which control groups belong to a directory of the state.
//!
//! Each group is written down in the directory's `groups` file before it is made, and the directory
//! stays until all of them are gone. So none is forgotten, whoever dies when, and a group that a
//! descendant was left alive in is removed by whoever sweeps after that one has ended.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::files;
use crate::state::JobDir;
use crate::sys::cgroup;

/// The list: a path a line.
pub(crate) const LIST: &str = "groups";
/// More than this no list has: a job has a few groups.
const MOST_LIST_BYTES: u64 = 1 << 20;

/// Writes down a group that is about to be made.
pub(crate) fn note(list: &File, group: &Path) -> io::Result<()> {
    let mut line = group.as_os_str().as_bytes().to_vec();
    line.push(b'\n');
    (&*list).write_all(&line)
}

/// The groups of a directory: by its list, and by its record should the list be damaged.
pub(crate) fn of(directory: &JobDir) -> Vec<PathBuf> {
    let read = files::read(&directory.file(LIST), MOST_LIST_BYTES);
    let is_listed = read.as_ref().is_ok_and(|list| list.ends_with(b"\n"));
    let list = read.unwrap_or_default();
    let mut groups: Vec<PathBuf> = list
        .split(|byte| *byte == b'\n')
        .map(|line| PathBuf::from(OsStr::from_bytes(line)))
        .filter(|path| path.is_absolute())
        .collect();
    if !is_listed {
        let recorded = directory.record().ok().and_then(|(record, _)| record.supervisor?.cgroup);
        groups.extend(recorded);
    }
    groups.sort();
    groups.dedup();
    groups
}

/// Removes the groups of a directory, waiting for the last processes in them until the deadline.
/// Whether all are gone.
pub(crate) fn remove(directory: &JobDir, deadline: Option<Instant>) -> bool {
    // All are tried, also after one that will not go.
    of(directory).iter().filter(|group| !cgroup::remove_group(group, deadline)).count() == 0
}

/// Deletes a directory and its groups. Of a directory whose groups are still in use the list stays,
/// for a later sweep.
pub(crate) fn discard(path: &Path, deadline: Option<Instant>) -> io::Result<()> {
    let directory = JobDir::at(path.to_owned());
    if remove(&directory, deadline) {
        return match fs::remove_dir_all(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    }
    for entry in fs::read_dir(path)?.flatten() {
        if entry.file_name() != LIST {
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}
