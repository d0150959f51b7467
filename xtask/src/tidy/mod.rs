//! What the compiler and clippy do not guard: the length of files and functions, words that must
//! not stay, paths of one machine, the number of dependencies and the directions between crates.

mod manifest;
mod source;

use std::fmt;
use std::path::Path;

use crate::failure::{Done, Failure};
use crate::workspace::{files, read, say};

const LOCK_BUDGET: &str = "xtask/lock-budget.txt";

/// What is against a rule by name, each with the reason why that is harmless.
const ALLOWED: &[Allowed] = &[Allowed {
    file: "crates/cli/tests/umbo/library.rs",
    what: What::Word(concat!("#[ig", "nore")),
    reason: "no test, but a process that tests start",
}];

/// Places in which paths like those of a build machine are data.
const PATHS_ARE_DATA: &[(&str, &str)] = &[
    ("crates/command/", "commands that people type are what it reads"),
    ("crates/gate/", "rules and commands about such paths are what it decides on"),
    ("crates/view/fixtures/", "what real programs printed, wherever that was"),
];

/// Something that would be a finding.
struct Allowed {
    file: &'static str,
    what: What<'static>,
    /// Why it is harmless.
    reason: &'static str,
}

#[derive(Debug, PartialEq, Eq)]
enum What<'a> {
    /// The file is long.
    File,
    /// A function in it is long.
    Function(&'a str),
    /// It has a word that others must not have.
    Word(&'a str),
}

/// Something that is not as it should be.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    file: String,
    /// Counted from 1; 0 is the whole file.
    line: usize,
    what: String,
}

impl Finding {
    fn new(file: &str, line: usize, what: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.what),
            line => write!(f, "{}:{line}: {}", self.file, self.what),
        }
    }
}

/// Looks at every file of the project.
pub(crate) fn run() -> Done {
    let mut findings = Vec::new();
    let files = files()?;
    let mut sources = 0;
    for file in &files {
        if is_text(file) {
            let text = read(file)?;
            if !PATHS_ARE_DATA.iter().any(|(place, _)| file.starts_with(place)) {
                findings.extend(source::machine_paths(file, &text));
            }
            if extension(file) == Some("rs") {
                sources += 1;
                findings.extend(source::check(file, &text, ALLOWED));
            } else if file.ends_with("Cargo.toml") {
                findings.extend(manifest::check(file, &text));
            }
        }
    }
    findings.extend(stale(ALLOWED, &files));
    let budget = read(LOCK_BUDGET)?;
    findings.extend(manifest::lock_growth(&read("Cargo.lock")?, &budget, LOCK_BUDGET));
    for finding in &findings {
        say(finding);
    }
    match findings.len() {
        0 => {
            say(format!("tidy: {sources} sources of {} files are in order", files.len()));
            Ok(())
        }
        count => Err(Failure::new(format!("tidy: {count} to mend"))),
    }
}

/// Entries that allow nothing, or give no reason.
fn stale(allowed: &[Allowed], files: &[String]) -> Vec<Finding> {
    let is_stale =
        |entry: &&Allowed| entry.reason.is_empty() || !files.iter().any(|file| file == entry.file);
    let what = "allowed something, but there is no such file, or no reason";
    allowed.iter().filter(is_stale).map(|entry| Finding::new(entry.file, 0, what)).collect()
}

fn is_text(file: &str) -> bool {
    let known = ["rs", "md", "toml", "sh", "yaml", "yml", "json", "txt"];
    file.starts_with(".ci/") || extension(file).is_some_and(|own| known.contains(&own))
}

fn extension(file: &str) -> Option<&str> {
    Path::new(file).extension()?.to_str()
}
