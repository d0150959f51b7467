//! Applies patches of an envelope in scenarios somebody else wrote: directories with `patch.txt`,
//! `input/` and `expected/`. Prints those whose outcome differs.

#![expect(clippy::print_stdout, reason = "it prints what it found")]
#![expect(clippy::unwrap_used, reason = "it ends where the scenarios cannot be read")]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use umbo_files::{Call, Edit, EditRequest, Session, Workspace};

fn main() {
    let root = PathBuf::from(env::args().nth(1).unwrap());
    let (mut same, mut all) = (0, 0);
    let mut scenarios: Vec<PathBuf> =
        fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    scenarios.sort();
    for scenario in scenarios.iter().filter(|path| path.join("patch.txt").exists()) {
        all += 1;
        let directory = tempfile::TempDir::new().unwrap();
        copy(&scenario.join("input"), directory.path());
        let session = Session::new(Workspace::new(directory.path()).unwrap());
        let patch = fs::read_to_string(scenario.join("patch.txt")).unwrap();
        let request = EditRequest {
            edit: Edit::Patch { patch, strip: None },
            dry_run: false,
            if_read: false,
        };
        let outcome = umbo_files::edit(&session, &request, &Call::default());
        let (mut expected, mut found) = (BTreeMap::new(), BTreeMap::new());
        collect(&scenario.join("expected"), Path::new(""), &mut expected);
        collect(directory.path(), Path::new(""), &mut found);
        if expected == found {
            same += 1;
        } else {
            println!("{}: {:?}", scenario.display(), outcome.err().map(|e| e.to_string()));
        }
    }
    println!("{same} of {all} scenarios end as expected");
}

fn copy(from: &Path, to: &Path) {
    let mut files = BTreeMap::new();
    collect(from, Path::new(""), &mut files);
    for (path, bytes) in files {
        let target = to.join(path);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(target, bytes).unwrap();
    }
}

fn collect(directory: &Path, below: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), below.join(entry.file_name()));
        if path.is_dir() {
            collect(&path, &name, all);
        } else {
            all.insert(name, fs::read(&path).unwrap());
        }
    }
}
