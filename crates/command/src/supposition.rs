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
}
