//! Commands in a sandbox: what they can do, what they cannot, and that the outcome says so exactly. As root
//! and as an ordinary user, with namespaces and without.

mod attempts;
mod denials;
mod judged;
mod network;
mod questions;
mod work;
mod workspace;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use umbo_engine::sandbox::{Ask, Plan, Policy, Profile, Rung, Surroundings};
use umbo_engine::{Environment, Request};

use crate::harness::Umbo;

/// The user `nobody`.
const NOBODY: u32 = 65534;

/// Who runs umbo.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    /// Whoever runs the tests.
    Tester,
    /// A user without any power over the machine.
    Ordinary,
}

/// What the machine allows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Machine {
    /// Namespaces.
    Usual,
    /// No user namespaces, as where a distribution or a container forbids them.
    WithoutNamespaces,
    /// A `/proc` of which parts are covered, as in a container: no other one can be mounted then.
    CoveredProcesses,
}

/// Starts a program where a part of `/proc` is covered.
const COVERED_PROCESSES: [&str; 9] = [
    "unshare",
    "--user",
    "--map-current-user",
    "--keep-caps",
    "--mount",
    "sh",
    "-c",
    "mount -t tmpfs none /proc/tty && exec \"$@\"",
    "sh",
];

/// Starts a program where no user namespace can be made.
const WITHOUT_NAMESPACES: [&str; 8] = [
    "unshare",
    "--user",
    "--map-current-user",
    "--keep-caps",
    "sh",
    "-c",
    "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"",
    "sh",
];

/// A project, a home with a secret in it, and a place that is nobody's business; none of it in `/tmp`, of
/// which a sandboxed command has its own.
struct Yard {
    umbo: Umbo,
    who: Who,
}

impl Yard {
    fn new(who: Who, machine: Machine) -> Self {
        let is_root = rustix::process::geteuid().is_root();
        let parent = if is_root { "/var/lib" } else { env!("CARGO_TARGET_TMPDIR") };
        let directory = tempfile::Builder::new().prefix("umbo-test-").tempdir_in(parent).unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let wrapper: &[&str] = match machine {
            Machine::Usual => &[],
            Machine::WithoutNamespaces => &WITHOUT_NAMESPACES,
            Machine::CoveredProcesses => &COVERED_PROCESSES,
        };
        make(&directory);
        let umbo = match who {
            Who::Tester => Umbo::within(directory, wrapper),
            Who::Ordinary => Umbo::unprivileged_within(directory, wrapper),
        };
        let yard = Self { umbo, who };
        yard.give(yard.umbo.path());
        yard
    }

    /// Makes all in a directory the user's who runs umbo.
    fn give(&self, directory: &Path) {
        if self.who == Who::Ordinary && rustix::process::geteuid().is_root() {
            std::os::unix::fs::lchown(directory, Some(NOBODY), Some(NOBODY)).unwrap();
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    self.give(&entry.path());
                } else {
                    std::os::unix::fs::lchown(entry.path(), Some(NOBODY), Some(NOBODY)).unwrap();
                }
            }
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.umbo.path().join(name)
    }

    fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// `umbo exec --json --sandbox PROFILE OPTIONS LINE` in the project.
    fn exec(&self, profile: &str, options: &[&str], line: &str) -> Value {
        let words = [&["exec", "--json", "--sandbox", profile], options, &[line]].concat();
        let answer = self.umbo.call(words).current_dir(&self.project()).answer();
        serde_json::from_slice(&answer.stdout).unwrap_or_else(|_| panic!("no JSON: {answer:?}"))
    }

    /// The plan of a profile, for the library.
    fn plan(&self, profile: Profile) -> Plan {
        let around = Surroundings {
            project: self.project(),
            home: Some(self.path("home")),
            own: vec![self.umbo.state().to_owned()],
            ..Surroundings::default()
        };
        Policy::of(profile, &around).unwrap().unwrap().plan().unwrap()
    }

    /// A request for a line in the project, in a sandbox.
    fn request(&self, plan: Plan, line: &str) -> Request {
        let mut request = Request::shell(line, self.project());
        let home = ("HOME".into(), self.path("home").into());
        let path = ("PATH".into(), std::env::var_os("PATH").unwrap_or_default());
        request.env = Environment { base: [home, path].into(), ..Environment::default() };
        request.sandbox = Some(plan);
        request
    }
}

fn make(directory: &TempDir) {
    for name in ["project", "home/.ssh", "outside/dir"] {
        fs::create_dir_all(directory.path().join(name)).unwrap();
    }
    fs::write(directory.path().join("home/.ssh/id"), "secret\n").unwrap();
    fs::write(directory.path().join("outside/file"), "original").unwrap();
}

/// The ways to enforce a sandbox that this machine must have for these tests to mean something.
fn every_rung() -> [Rung; 2] {
    [Rung::Namespaces, Rung::Landlock]
}

/// What was denied, as `operation target`.
fn denied(outcome: &Value) -> Vec<String> {
    let list = outcome["denied"].as_array().cloned().unwrap_or_default();
    list.iter()
        .map(|one| {
            format!("{} {}", one["operation"].as_str().unwrap(), one["target"].as_str().unwrap())
        })
        .collect()
}

/// Everything is asked about, for so long.
fn ask(deadline_ms: u64) -> Ask {
    Ask { writes: true, hosts: true, deadline_ms }
}
