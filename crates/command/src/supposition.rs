//! What a verdict supposes of the directory a command is run in.
//!
//! Some commands that only read run code or settings that the directory has: git runs the helpers of a
//! repository's settings, cargo those of `.cargo/config.toml`, Python imports modules that lie beside
//! it. This crate has no directory; it says what it supposes, and who has one looks.

use serde::{Deserialize, Serialize};

use crate::word::Word;

/// One thing that a verdict supposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Supposition {
    /// The settings of the git repository name no program.
    GitHasNoHelpers,
    /// No `.cargo/config.toml` is above the directory or in it.
    CargoHasNoConfig,
    /// No module of the directory has the name of one that Python would import.
    PythonHasNoModules,
    /// The project does not say that another program is to run in the place of this one.
    ProjectBringsNo(Tool),
}

/// The directory that a program is told to go to before it begins: `git -C DIR`, `terraform -chdir=DIR`.
pub(crate) fn directory_named(program: &str, args: &[Word]) -> Option<String> {
    let options: &[&str] = match program {
        "git" | "cargo" => &["-C"],
        "terraform" | "tofu" => &["-chdir", "--chdir"],
        "yarn" => &["--cwd"],
        "mvn" => &["-f", "--file"],
        _ => return None,
    };
    let mut directory = String::new();
    let mut words = args.iter().map(Word::likely);
    while let Some(word) = words.next() {
        // What comes after the sub-command is its own: `git log -C`.
        if !word.starts_with('-') && program != "mvn" {
            break;
        }
        let named = options.iter().find_map(|option| match word.strip_prefix(option)? {
            "" => words.clone().next(),
            rest => rest.strip_prefix('='),
        });
        if let Some(named) = named {
            let goes_on = !directory.is_empty() && !named.starts_with(['/', '~', '$']);
            directory = if goes_on { format!("{directory}/{named}") } else { named.to_owned() };
        }
        if options.contains(&word) || (program == "git" && TAKES_NEXT.contains(&word)) {
            words.next();
        }
    }
    (!directory.is_empty()).then_some(directory)
}

/// Options of git before its sub-command that take the next word.
const TAKES_NEXT: [&str; 6] =
    ["-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source"];

/// A supposition, and the directory that it is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Supposed {
    /// What is supposed.
    pub what: Supposition,
    /// Where: from the directory in which the command begins, as the text names it; empty for that one.
    /// What only a shell could fill in (`$DIR`) is left as it stands.
    pub directory: String,
}

/// A program that a project can bring itself: whoever runs it runs the project's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// `cargo`, `rustc` and their like: `rust-toolchain.toml` may name a directory of the project.
    Rust,
    /// `yarn`: `.yarnrc.yml` may name a script of the project.
    Yarn,
    /// `mvn`: `.mvn` may name agents and extensions.
    Maven,
    /// `bazel`: `tools/bazel` is run in its place.
    Bazel,
    /// `terraform` and `tofu`: the providers are in `.terraform`.
    Terraform,
}

impl Tool {
    /// The tool that a program, or a program with its sub-commands, is one of.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let mut words = name.split(' ');
        match words.next()? {
            "cargo" | "rustc" | "rustdoc" | "rustfmt" | "clippy-driver" => Some(Self::Rust),
            "yarn" => Some(Self::Yarn),
            "mvn" => Some(Self::Maven),
            "bazel" | "bazelisk" => Some(Self::Bazel),
            // Asking for the version starts no provider.
            "terraform" | "tofu" => {
                words.next().is_some_and(|sub| sub != "version").then_some(Self::Terraform)
            }
            _ => None,
        }
    }
}
