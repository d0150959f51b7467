//! Searching and finding beside `rg` and `fd`, in turns, in one run: the ratio is what counts.
//! A directory may be given; else a tree of sources is made.

#![expect(clippy::print_stdout, reason = "a measurement prints what it measured")]
#![expect(clippy::unwrap_used, reason = "a measurement that fails has nothing to say")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use umbo_files::{
    Call, FindRequest, ListRequest, ReadRequest, SearchRequest, Session, TreeRequest, Workspace,
};

const ROUNDS: usize = 15;

fn main() {
    let made = tempfile::TempDir::new().unwrap();
    let root = env::args().nth(1).map_or_else(|| make(made.path()), PathBuf::from);
    let files = count(&root);
    println!("{files} files");
    let session = Session::new(Workspace::new(&root).unwrap());
    let call = Call::default();
    for pattern in ["fn ", r"\w+Error\b", "no_such_word_anywhere", "e"] {
        let request = SearchRequest { pattern: pattern.to_owned(), ..SearchRequest::default() };
        let ours = || {
            umbo_files::search(&session, &request, &call).unwrap();
        };
        let flags = ["-n", "-B1", "-A3", "--hidden", "-g", "!.git", "--no-messages", pattern, "./"];
        compare(&format!("search {pattern:?}"), ours, || run(&root, "rg", &flags));
    }
    let fd = if has("fd") { "fd" } else { "fdfind" };
    for glob in ["*.rs", "*", "no_such_file*"] {
        let paths = vec![glob.to_owned()];
        let request = FindRequest { paths, timeout_ms: 60_000, ..FindRequest::default() };
        let ours = || {
            umbo_files::find(&session, &request, &call).unwrap();
        };
        let flags = ["--hidden", "--exclude", ".git", "--type", "f", "--glob", glob];
        compare(&format!("find {glob:?}, newest first; fd unsorted"), ours, || {
            run(&root, fd, &flags);
        });
        // What fd itself does to look at every file's time.
        let flags = [
            "--hidden",
            "--exclude",
            ".git",
            "--changed-within",
            "100years",
            "--type",
            "f",
            "--glob",
            glob,
        ];
        compare(&format!("find {glob:?}; fd that looks at times"), ours, || run(&root, fd, &flags));
    }
    let ours = || {
        umbo_files::list(&session, &ListRequest::default(), &call).unwrap();
    };
    compare("list; `sh -c 'ls -la'`", ours, || run(&root, "sh", &["-c", "ls -la"]));
    let ours = || {
        umbo_files::tree(&session, &TreeRequest::default(), &call).unwrap();
    };
    compare("tree; `sh -c 'find . -maxdepth 2 -ls'`", ours, || {
        run(&root, "sh", &["-c", "find . -maxdepth 2 -ls"]);
    });
    let large = made.path().join("large.txt");
    fs::write(&large, "a line of text that is read\n".repeat(4_000_000)).unwrap();
    let session = Session::new(Workspace::new(made.path()).unwrap());
    let path = "large.txt:3999990-4000000".to_owned();
    let request = ReadRequest { path, ..ReadRequest::default() };
    let ours = || {
        umbo_files::read(&session, &request, &call).unwrap();
    };
    compare("read the end of 112 MB; `sed -n`", ours, || {
        run(made.path(), "sed", &["-n", "3999990,4000000p", "large.txt"]);
    });
}

/// Both in turns; the medians and how many times as long ours takes.
fn compare(what: &str, ours: impl Fn(), other: impl Fn()) {
    let (mut own, mut their) = (Vec::new(), Vec::new());
    ours();
    other();
    for _ in 0..ROUNDS {
        own.push(time(&ours));
        their.push(time(&other));
    }
    own.sort();
    their.sort();
    let (own, their) = (own[ROUNDS / 2], their[ROUNDS / 2]);
    let ratio = own.as_secs_f64() / their.as_secs_f64();
    println!("{what}: {:.1} ms, the other {:.1} ms: {ratio:.2} x", ms(own), ms(their));
}

fn time(work: &impl Fn()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn run(directory: &Path, program: &str, words: &[&str]) {
    let mut command = Command::new(program);
    command.args(words).current_dir(directory).stdin(Stdio::null()).stderr(Stdio::null());
    // Read to the end, as somebody who wants the answer does.
    let ran = command.output().map_err(|error| format!("{program}, to measure against: {error}"));
    ran.unwrap();
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok()
}

fn count(root: &Path) -> u64 {
    let session = Session::new(Workspace::new(root).unwrap());
    let request = FindRequest { timeout_ms: 60_000, ..FindRequest::default() };
    umbo_files::find(&session, &request, &Call::default()).unwrap().total
}

/// Copies of the project's own sources, many times.
fn make(directory: &Path) -> PathBuf {
    const COPIES: usize = 60;
    let root = directory.join("tree");
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for copy in 0..COPIES {
        let target = root.join(format!("copy{copy}"));
        fs::create_dir_all(&target).unwrap();
        let status = Command::new("cp").arg("-r").arg(crates).arg(&target).status().unwrap();
        assert!(status.success());
    }
    fs::create_dir(root.join(".git")).unwrap();
    fs::write(root.join(".gitignore"), "target/\n*.log\n").unwrap();
    root
}
