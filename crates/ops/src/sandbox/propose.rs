//! Which sandbox a command needs, as far as its text says.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use umbo_command::{Effect, Kind, Reading, Risk};
use umbo_engine::sandbox::Profile;
use umbo_gate::host_of;

use super::words::SandboxWords;

/// A sandbox, and why it is proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Proposal {
    /// The sandbox.
    #[serde(flatten)]
    pub words: SandboxWords,
    /// What of the command decided it.
    pub because: String,
}

/// The smallest sandbox that a command needs by its reading, in a project. `resolve` makes a target a path.
pub(crate) fn propose(
    reading: &Reading,
    project: &Path,
    resolve: impl Fn(&str) -> Option<PathBuf>,
) -> Proposal {
    if let Some(effect) = reading.effects.iter().find(|effect| leaves_any(effect.kind)) {
        let because = format!("`{}` works on the machine itself", effect.program);
        return Proposal { words: SandboxWords::profile(Profile::Off.name()), because };
    }
    let network = || reading.effects.iter().filter(|effect| is_network(effect.kind));
    let changes = |effect: &&Effect| {
        effect.risk > Risk::ReadOnly && (!is_network(effect.kind) || keeps_what_it_fetches(effect))
    };
    let change = reading.effects.iter().find(changes);
    let profile = match (change, network().next()) {
        _ if !reading.exact && reading.effects.is_empty() => Profile::WorkspaceNet,
        (None, _) => Profile::ReadOnly,
        (Some(_), None) if !reading.effects.iter().any(|effect| may_fetch(effect.kind)) => {
            Profile::Workspace
        }
        (Some(_), _) => Profile::WorkspaceNet,
    };
    let mut words = SandboxWords::profile(profile.name());
    // A list is only smaller than all if it is whole.
    let hosts: Option<Vec<String>> = network().map(host).collect();
    match (hosts, profile) {
        (Some(hosts), _) => words.allow_host = hosts,
        (None, Profile::ReadOnly) => words.profile = Some(Profile::WorkspaceNet.name().to_owned()),
        (None, _) => {}
    }
    let writes = reading.effects.iter().filter(|effect| {
        matches!(effect.kind, Kind::Write | Kind::Delete | Kind::Overwrite)
            && effect.risk > Risk::ReadOnly
    });
    let outside = writes
        .filter_map(|effect| resolve(effect.target.as_deref()?))
        .filter(|path| !path.starts_with(project) && !path.starts_with("/tmp"))
        .filter(|path| !path.starts_with("/dev"));
    words.allow_write = outside.collect();
    words.allow_write.sort();
    words.allow_write.dedup();
    words.allow_host.sort();
    words.allow_host.dedup();
    let because = match (change, network().next()) {
        (Some(effect), _) => format!("`{}` changes or runs something", effect.program),
        (None, Some(effect)) => format!("`{}` reaches another machine", effect.program),
        (None, None) => "it only reads".to_owned(),
    };
    Proposal { words, because }
}

/// Whether something may be fetched though no host is named: packages, or what code of the project needs.
fn may_fetch(kind: Kind) -> bool {
    matches!(kind, Kind::Install | Kind::Execute | Kind::Unknown)
}

/// Whether what comes from another machine is written into the project.
fn keeps_what_it_fetches(effect: &Effect) -> bool {
    effect.kind == Kind::Network && effect.program.starts_with("git ")
}

/// What no sandbox lets do.
fn leaves_any(kind: Kind) -> bool {
    matches!(kind, Kind::Privilege | Kind::Service | Kind::Device)
}

pub(super) fn is_network(kind: Kind) -> bool {
    matches!(kind, Kind::Network | Kind::Publish)
}

/// Programs that reach other machines through a proxy if they are told to.
const PROXIED: [&str; 20] = [
    "curl", "wget", "git", "npm", "npx", "pnpm", "yarn", "bun", "pip", "pip3", "uv", "poetry",
    "cargo", "go", "gh", "glab", "http", "https", "xh", "gem",
];

/// Whether the program of an effect goes through a proxy.
pub(super) fn is_proxied(effect: &Effect) -> bool {
    effect.program.split_ascii_whitespace().next().is_some_and(|name| PROXIED.contains(&name))
}

/// The host that an effect names.
pub(super) fn host(effect: &Effect) -> Option<String> {
    let host = host_of(effect.target.as_deref()?);
    let is_host = host.contains('.') || host == "localhost";
    (is_host && !host.contains(['*', '$', ' '])).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use umbo_command::{Shell, read};

    use super::*;

    fn proposed(line: &str) -> SandboxWords {
        let resolve = |text: &str| Some(Path::new("/p").join(text));
        propose(&read(line, Shell::Bash), Path::new("/p"), resolve).words
    }

    #[test]
    fn the_smallest_profile_is_proposed() {
        for (line, profile) in [
            ("ls -la && cat README.md", "read-only"),
            ("touch x", "workspace"),
            ("mkdir -p a/b && cp c a/b", "workspace"),
            ("make test", "workspace+net"),
            ("touch x && make test", "workspace+net"),
            ("npm install left-pad", "workspace+net"),
            ("pip install requests", "workspace+net"),
            ("git clone https://a.example/b", "workspace+net"),
            ("sudo apt-get install x", "off"),
            ("systemctl restart nginx", "off"),
        ] {
            assert_eq!(proposed(line).profile.as_deref(), Some(profile), "{line}");
        }
    }

    #[test]
    fn hosts_and_paths_that_are_named_are_granted_one_by_one() {
        let fetch = proposed("curl -s https://a.example/x");
        assert_eq!(fetch.allow_host, ["a.example"], "{fetch:?}");
        assert_eq!(proposed("touch /data/y").allow_write, [PathBuf::from("/data/y")]);
        assert!(proposed("echo x > y").allow_write.is_empty());
    }
}
