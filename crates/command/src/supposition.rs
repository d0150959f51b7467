//! What a verdict supposes of the directory a command is run in.
//!
//! Some commands that only read run code or settings that the directory has: git runs the helpers of a
//! repository's settings, cargo those of `.cargo/config.toml`, Python imports modules that lie beside
//! it. This crate has no directory; it says what it supposes, and who has one looks.

use serde::{Deserialize, Serialize};

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
