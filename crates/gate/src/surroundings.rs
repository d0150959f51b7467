//! What is in the directory a command would run in, as far as a verdict depends on it.
//!
//! Reading a command is pure: the reading lists what it supposes of the directory and which files it would
//! run as scripts. This module checks both on disk. A check can only raise the risk.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use umbo_command::{Given, Reading, Risk, Shell, Supposition, Tool, read_given};

/// More of a file than this is not read.
const LONGEST_FILE_BYTES: u64 = 128 * 1024;
/// More scripts than this are not read.
const MOST_SCRIPTS: usize = 16;

/// Reads a command for a directory: as [`read_given`], and with a look at what the directory has.
///
/// `home` is the user's, whose own settings count as looked at.
pub fn read_in(
    command: &str,
    shell: Shell,
    given: Given<'_>,
    cwd: &Path,
    home: Option<&Path>,
) -> Reading {
    let mut reading = read_given(command, shell, given);
    if !reading.scripts.is_empty() && reading.risk < Risk::Dangerous {
        let files = scripts(&reading.scripts, cwd);
        if !files.is_empty() {
            let files: Vec<(String, String)> = given.files.iter().cloned().chain(files).collect();
            reading = read_given(command, shell, Given { files: &files, ..given });
        }
    }
    if reading.risk == Risk::ReadOnly {
        let found =
            reading.supposes.clone().into_iter().find_map(|it| broken_supposition(it, cwd, home));
        if let Some(reason) = found {
            reading.distrust(&reason);
        }
    }
    reading
}

/// The texts of those of the files that are scripts of a shell.
fn scripts(names: &[String], cwd: &Path) -> Vec<(String, String)> {
    let plain = names.iter().take(MOST_SCRIPTS).filter(|name| !name.contains(['$', '`', '*']));
    plain.filter_map(|name| Some((name.clone(), shell_script(&cwd.join(name))?))).collect()
}

fn shell_script(path: &Path) -> Option<String> {
    let text = text_of(path)?;
    let first = text.lines().next().unwrap_or_default();
    let interpreter = first.strip_prefix("#!").and_then(|rest| {
        let words: Vec<&str> = rest.split_whitespace().collect();
        words
            .iter()
            .rev()
            .find(|word| !word.starts_with('-'))
            .map(|word| base_name(word).to_owned())
    });
    let is_shell = interpreter.is_none_or(|name| Shell::named(&name).is_some());
    is_shell.then_some(text)
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// All of the text of a plain file, if that is not too long: what is only in part in sight says nothing.
/// Opening anything else, a FIFO for example, could block.
pub(crate) fn text_of(path: &Path) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(LONGEST_FILE_BYTES + 1).read_to_string(&mut text).ok()?;
    (text.len() as u64 <= LONGEST_FILE_BYTES).then_some(text)
}

/// Why a supposition does not hold in a directory, if it does not.
fn broken_supposition(supposition: Supposition, cwd: &Path, home: Option<&Path>) -> Option<String> {
    match supposition {
        Supposition::GitHasNoHelpers => crate::repository::helper(cwd),
        Supposition::CargoHasNoConfig => cargo_setting(cwd, home),
        Supposition::PythonHasNoModules => python_module(cwd),
        Supposition::ProjectBringsNo(tool) => brought_tool(tool, cwd),
    }
}

/// A setting for cargo that names a program.
fn cargo_setting(cwd: &Path, home: Option<&Path>) -> Option<String> {
    const RUNS: [&str; 10] = [
        "rustc",
        "rustdoc",
        "wrapper",
        "runner",
        "linker",
        "credential",
        "[env",
        "env.",
        "include",
        "paths",
    ];
    let above = cwd.ancestors().filter(|above| Some(*above) != home);
    let mut files = above
        .flat_map(|above| ["config.toml", "config"].map(|name| above.join(".cargo").join(name)));
    files.find_map(|file| {
        let Some(text) = text_of(&file) else {
            return file.exists().then(|| format!("{} cannot be read", file.display()));
        };
        let told = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        let runs =
            told.flat_map(|line| RUNS.iter().filter(move |word| line.contains(**word))).next()?;
        Some(format!("{} has a setting ({runs}) that cargo may run", file.display()))
    })
}

/// A file of the project, here or above, that says which program runs in the place of a tool.
fn brought_tool(tool: Tool, cwd: &Path) -> Option<String> {
    // A file, and what it must say.
    let files: &[(&str, &str)] = match tool {
        Tool::Rust => &[("rust-toolchain.toml", "path"), ("rust-toolchain", "path")],
        Tool::Yarn => {
            &[(".yarnrc.yml", "yarnPath"), (".yarnrc.yml", "plugins"), (".yarnrc", "yarn-path")]
        }
        Tool::Maven => {
            &[(".mvn/jvm.config", ""), (".mvn/maven.config", ""), (".mvn/extensions.xml", "")]
        }
        Tool::Bazel => &[("tools/bazel", "")],
        Tool::Terraform => &[(".terraform/providers", ""), (".terraform/plugins", "")],
    };
    cwd.ancestors().find_map(|above| {
        let says = |(name, word): &&(&str, &str)| {
            let file = above.join(name);
            file.exists() && (word.is_empty() || text_of(&file).is_none_or(|it| it.contains(word)))
        };
        let (name, _) = files.iter().find(says)?;
        Some(format!("{} says what runs in the place of the program", above.join(name).display()))
    })
}

/// A module beside the command that Python would import instead of its own.
fn python_module(cwd: &Path) -> Option<String> {
    const IMPORTED: &str = "json sys re math datetime time collections itertools functools operator statistics string textwrap decimal fractions random uuid hashlib base64 struct platform argparse os io abc codecs copy copyreg enum heapq keyword locale numbers reprlib types warnings weakref contextlib typing bisect calendar tokenize token ast tabnanny site sysconfig this binascii traceback linecache signal subprocess shutil tempfile pathlib stat genericpath posixpath runpy importlib pkgutil encodings";
    let name = IMPORTED.split(' ').find(|name| {
        cwd.join(format!("{name}.py")).exists() || cwd.join(name).join("__init__.py").exists()
    })?;
    Some(format!("a module {name} lies beside it, which Python would import"))
}
