//! What detection may use. The library reads no environment of its own: the search path, the
//! environment of the tools it asks and its limits all come in here.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
    time::Duration,
};

/// How to detect.
#[derive(Clone)]
pub struct Options {
    /// Directories in which programs are looked for, in order.
    pub path: Vec<PathBuf>,
    /// The environment given to a runner's tool when it is asked for its list. Nothing else is
    /// passed on, except `PATH`, which is made from `path`.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether tools may be asked at all.
    pub asking: Asking,
    /// How much is read before detection gives up on a file or a tree.
    pub limits: Limits,
}

/// Whether a runner's own tool may be asked for its list. No tool is ever asked in a way that
/// runs code of the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// Ask `just`, `cargo` and `task`, each with this deadline.
    Within(Duration),
    /// Only read files.
    Never,
}

/// Bounds on what a hostile folder can cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest manifest that is read, in bytes.
    pub file_bytes: u64,
    /// The most output of an asked tool that is kept, in bytes.
    pub answer_bytes: usize,
    /// The most directories that are looked into for the packages of one workspace.
    pub directories: usize,
    /// The most packages of one workspace.
    pub packages: usize,
    /// The most tasks of one runner.
    pub tasks: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 64 << 20,
            answer_bytes: 32 << 20,
            directories: 20_000,
            packages: 2_000,
            tasks: 20_000,
        }
    }
}

impl Options {
    /// The usual options for a caller with this environment: its search path, and of its variables
    /// those that an asked tool listens to.
    pub fn for_environment(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut options = Self::default();
        for (name, value) in variables {
            if name == "PATH" {
                options.path = std::env::split_paths(&value).collect();
            } else if matters(&name) {
                options.environment.push((name, value));
            }
        }
        options
    }
}

/// Whether an asked tool listens to a variable. The others differ from call to call and change
/// nothing.
pub(crate) fn matters(name: &OsStr) -> bool {
    let prefixes =
        ["HOME", "XDG_CONFIG_", "XDG_DATA_", "CARGO_HOME", "RUSTUP_", "JUST_UNSTABLE", "TASK_X_"];
    name.to_str().is_some_and(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
}

impl Default for Options {
    /// No search path, no environment, tools asked within five seconds.
    fn default() -> Self {
        Self {
            path: Vec::new(),
            environment: Vec::new(),
            asking: Asking::Within(Duration::from_secs(5)),
            limits: Limits::default(),
        }
    }
}

impl std::fmt::Debug for Options {
    /// The environment may hold secrets, so only its size is shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("path", &self.path)
            .field("environment", &format_args!("{} variables", self.environment.len()))
            .field("asking", &self.asking)
            .field("limits", &self.limits)
            .finish()
    }
}
