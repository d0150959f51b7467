//! What the supervisor of a job is told about its sandbox: plain data, made by [`crate::Policy`] in the
//! process that asks for the job, and sent with the request.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::hosts::HostRule;

/// A sandbox, ready to be built. Every path is absolute, resolved, and was there when it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The name of the profile it came from.
    pub profile: String,
    /// Directories and files that may be written, with all below them.
    pub write: Vec<PathBuf>,
    /// What stays read-only inside of these.
    pub protect: Vec<PathBuf>,
    /// What can be neither read nor listed, but for what is shown or may be written below it.
    pub hide: Vec<PathBuf>,
    /// What stays visible though it lies below something hidden, or in a place that the job has one of its own
    /// of, as `/tmp`.
    pub show: Vec<PathBuf>,
    /// The directory that the job sees as `/tmp`; without one it gets an empty one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporary: Option<PathBuf>,
    /// Directories and files from which programs may be started; without a list, all that can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute: Option<Vec<PathBuf>>,
    /// What it can reach.
    pub network: Network,
    /// Sockets of the machine's services that it may connect to, or directories of them, wherever they lie.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connect: Vec<PathBuf>,
    /// Variables that are taken out of its environment; a name, or one with `*` at an end.
    pub drop_variables: Vec<String>,
    /// Those that are kept all the same, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep_variables: Vec<String>,
    /// What is asked about instead of denied, and how long an answer may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<Ask>,
    /// Which calls the supervisor is told of.
    pub tell: Tell,
    /// The ways of enforcing it that are good enough, the best first.
    pub rungs: Vec<Rung>,
}

/// What a job can reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// Nothing but itself.
    Off,
    /// These hosts, through the proxy.
    Hosts(Vec<HostRule>),
    /// Every host with a public address, through the proxy.
    Public,
    /// Whatever its user can.
    On,
}

impl Network {
    /// Whether there is a proxy.
    pub fn is_proxied(&self) -> bool {
        matches!(self, Self::Hosts(_) | Self::Public)
    }
}

/// Which calls the supervisor is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tell {
    /// Those that could change something, and connections.
    #[default]
    Writes,
    /// Every opening of a file as well. Builds take noticeably longer.
    Everything,
}

/// What is asked about instead of denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Writes outside of what may be written.
    pub writes: bool,
    /// Hosts that are not listed.
    pub hosts: bool,
    /// After how long without an answer it is denied, in milliseconds.
    pub deadline_ms: u64,
}

/// A way to enforce a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// Namespaces of its own (users, mounts, processes, IPC, network), with Landlock and seccomp inside.
    Namespaces,
    /// The same, but it sees the machine's processes: where a container masks parts of `/proc`.
    SharedProcesses,
    /// Landlock and seccomp alone: where user namespaces are forbidden.
    Landlock,
}

impl Rung {
    /// All, the best first.
    pub const ALL: [Self; 3] = [Self::Namespaces, Self::SharedProcesses, Self::Landlock];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::SharedProcesses => "shared_processes",
            Self::Landlock => "landlock",
        }
    }
}

/// The port of the proxy, on the job's own loopback.
pub(crate) const PROXY_PORT: u16 = 3128;

impl Plan {
    /// Whether a variable of the caller's environment is kept from the job.
    pub fn drops(&self, name: &str) -> bool {
        let is_kept = self.keep_variables.iter().any(|kept| kept == name);
        !is_kept && self.drop_variables.iter().any(|pattern| matches(pattern, name))
    }

    /// Variables that make ordinary tools use the proxy, if there is one, and do without what they could not
    /// write anyway.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let mut variables = Vec::new();
        if self.write.is_empty() {
            variables.push(("GIT_OPTIONAL_LOCKS", "0".to_owned()));
        }
        if self.network.is_proxied() {
            variables.extend(proxy_variables());
        }
        variables
    }

    /// Whether a path may be written: the nearest of the paths above it decides.
    pub(crate) fn may_write(&self, path: &Path) -> bool {
        nearest(path, &self.write) > nearest(path, &self.protect)
    }

    /// Whether a path is hidden: the nearest of the paths above it decides.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        let shown = nearest(path, &self.show).max(nearest(path, &self.write));
        nearest(path, &self.hide) > shown
    }

    /// What can be seen below something hidden.
    pub(crate) fn shown_inside(&self) -> impl Iterator<Item = &Path> {
        let is_inside = |path: &&PathBuf| {
            self.hide.iter().any(|hidden| is_below(path, hidden) && hidden != *path)
        };
        let seen = self.write.iter().chain(&self.show);
        seen.filter(is_inside).map(PathBuf::as_path)
    }
}

/// How long the nearest of the paths above another one is, if there is one: of two above the same path the longer
/// is the nearer.
fn nearest(path: &Path, paths: &[PathBuf]) -> Option<usize> {
    let above = paths.iter().filter(|above| is_below(path, above));
    above.map(|above| above.as_os_str().len()).max()
}

/// Whether a path is another one or lies below it. Both are absolute and have no `.`, `..` or empty parts; then
/// comparing bytes gives what [`Path::starts_with`] gives, in a fraction of its time.
pub(crate) fn is_below(path: &Path, above: &Path) -> bool {
    let (path, above) = (path.as_os_str().as_bytes(), above.as_os_str().as_bytes());
    path.strip_prefix(above)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || above.ends_with(b"/"))
}

/// Variables that make ordinary tools use the proxy.
fn proxy_variables() -> Vec<(&'static str, String)> {
    let http = format!("http://127.0.0.1:{PROXY_PORT}");
    let socks = format!("socks5h://127.0.0.1:{PROXY_PORT}");
    let local = "localhost,127.0.0.1,::1";
    let mut variables: Vec<_> = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"]
        .into_iter()
        .map(|name| (name, http.clone()))
        .collect();
    variables.extend(["all_proxy", "ALL_PROXY"].map(|name| (name, socks.clone())));
    variables.extend(["no_proxy", "NO_PROXY"].map(|name| (name, local.to_owned())));
    variables.push(("NODE_USE_ENV_PROXY", "1".to_owned()));
    let java = ["http", "https"]
        .map(|scheme| format!("-D{scheme}.proxyHost=127.0.0.1 -D{scheme}.proxyPort={PROXY_PORT}"))
        .join(" ");
    variables.extend(["MAVEN_OPTS", "GRADLE_OPTS", "SBT_OPTS"].map(|name| (name, java.clone())));
    variables
}

fn matches(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path() -> impl Strategy<Value = PathBuf> {
        let part = prop_oneof![Just("a"), Just("ab"), Just("b"), Just("a b"), Just(".a")];
        prop::collection::vec(part, 0..4).prop_map(|parts| Path::new("/").join(parts.join("/")))
    }

    proptest! {
        #[test]
        fn what_lies_below_a_path_is_what_starts_with_its_parts(path in path(), above in path()) {
            prop_assert_eq!(is_below(&path, &above), path.starts_with(&above));
        }
    }
}
