//! Where the workspace is, its files, and how programs are run in it.

use std::fmt::Display;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::{Done, Failure};

/// Prints a line. Nobody reading is no error.
#[expect(clippy::disallowed_methods, reason = "a tool of developers, with texts of its own")]
pub(crate) fn say(line: impl Display) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}

/// The directory with the workspace's `Cargo.toml`.
pub(crate) fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_owned()
}

/// A cargo that builds this workspace.
pub(crate) fn cargo(words: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words).current_dir(root());
    command
}

/// Runs a program to its end; anything but success is a failure.
pub(crate) fn execute(command: &mut Command) -> Done {
    let what = display(command);
    let status = command.status().map_err(Failure::at(&what))?;
    if status.success() { Ok(()) } else { Err(Failure::of(&what, status)) }
}

/// The command line, as one would type it.
pub(crate) fn display(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    let program =
        Path::new(&*words[0]).file_name().map_or(words[0].clone(), |n| n.to_string_lossy());
    std::iter::once(program).chain(words[1..].iter().cloned()).collect::<Vec<_>>().join(" ")
}

/// Whether a program can be found.
pub(crate) fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(name).is_file())
}

/// The project's files, as paths from the root: those in git and those about to be.
pub(crate) fn files() -> Done<Vec<String>> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .map_err(Failure::at("git ls-files"))?;
    if !listed.status.success() {
        return Err(Failure::of("git ls-files", listed.status));
    }
    let mut files: Vec<String> =
        String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect();
    files.retain(|file| root().join(file).is_file());
    files.sort();
    files.dedup();
    Ok(files)
}

/// The text of a file of the project.
pub(crate) fn read(file: &str) -> Done<String> {
    fs::read_to_string(root().join(file)).map_err(Failure::at(file))
}
