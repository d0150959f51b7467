//! Whether this process runs inside a job: an agent must not answer for the person.
//!
//! Three signs, each enough: the tag in the environment of the process or an ancestor, a control group
//! of a job, a supervisor among the ancestors. Code of the same user can still leave them all behind,
//! for example through a service manager or another terminal; only an OS sandbox prevents that.

use std::fmt;
use std::fs;
use std::path::Path;

/// The variable every job has.
const JOB_VARIABLE: &[u8] = b"UMBO_JOB=";
/// How supervisors are started.
const SUPERVISOR_ARGUMENTS: [&[u8]; 2] = [b"--umbo-supervisor", b"--umbo-nursery"];
/// Where the walk over ancestors ends in any case.
const MOST_ANCESTORS: usize = 4096;

/// What shows that a process belongs to a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The process, or an ancestor, has the tag.
    Tag {
        /// Which.
        pid: u32,
    },
    /// The process, or an ancestor, is in a job's control group.
    ControlGroup {
        /// Its path.
        path: String,
    },
    /// An ancestor supervises a job.
    Supervisor {
        /// Which.
        pid: u32,
    },
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag { pid } => write!(f, "process {pid} has UMBO_JOB in its environment"),
            Self::ControlGroup { path } => write!(f, "it is in the control group {path}"),
            Self::Supervisor { pid } => write!(f, "process {pid} supervises a job"),
        }
    }
}

/// Looks for signs of a job around a process, in a `/proc`.
pub fn inside_job(proc: &Path, pid: u32) -> Option<Evidence> {
    let mut current = pid;
    for _ in 0..MOST_ANCESTORS {
        let directory = proc.join(current.to_string());
        let parts = |name: &str| {
            let bytes = fs::read(directory.join(name)).unwrap_or_default();
            bytes.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect::<Vec<_>>()
        };
        if parts("environ").iter().any(|variable| variable.starts_with(JOB_VARIABLE)) {
            return Some(Evidence::Tag { pid: current });
        }
        if parts("cmdline")
            .iter()
            .skip(1)
            .take(1)
            .any(|word| SUPERVISOR_ARGUMENTS.contains(&word.as_slice()))
        {
            return Some(Evidence::Supervisor { pid: current });
        }
        if let Some(path) = job_group(&directory) {
            return Some(Evidence::ControlGroup { path });
        }
        match parent(&directory) {
            Some(parent) if parent > 0 && parent != current => current = parent,
            _ => return None,
        }
    }
    None
}

fn job_group(process: &Path) -> Option<String> {
    let groups = fs::read_to_string(process.join("cgroup")).ok()?;
    groups.lines().find_map(|line| {
        let path = line.splitn(3, ':').nth(2)?;
        path.split('/').any(|name| name.starts_with("umbo-")).then(|| path.to_owned())
    })
}

fn parent(process: &Path) -> Option<u32> {
    let status = fs::read_to_string(process.join("status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(proc: &Path, pid: u32, parent: u32, environ: &str, cmdline: &str, cgroup: &str) {
        let directory = proc.join(pid.to_string());
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("status"), format!("Name:\tx\nPPid:\t{parent}\n")).unwrap();
        fs::write(directory.join("environ"), environ).unwrap();
        fs::write(directory.join("cmdline"), cmdline).unwrap();
        fs::write(directory.join("cgroup"), cgroup).unwrap();
    }

    #[test]
    fn each_sign_is_enough_and_none_is_needed() {
        let proc = tempfile::tempdir().unwrap();
        let proc = proc.path();
        process(proc, 1, 0, "", "init", "0::/init.scope");
        process(proc, 10, 1, "HOME=/\0", "sh\0", "0::/user.slice");
        process(proc, 11, 10, "HOME=/\0", "umbo\0approve\0", "0::/user.slice");
        assert_eq!(inside_job(proc, 11), None);
        process(proc, 20, 1, "A=b\0UMBO_JOB=x\0", "sh\0", "0::/");
        process(proc, 21, 20, "", "umbo\0", "0::/");
        assert_eq!(inside_job(proc, 21), Some(Evidence::Tag { pid: 20 }));
        process(proc, 30, 1, "", "umbo\0--umbo-supervisor\0/state\0", "0::/");
        process(proc, 31, 30, "", "umbo\0", "0::/");
        assert_eq!(inside_job(proc, 31), Some(Evidence::Supervisor { pid: 30 }));
        process(proc, 40, 1, "", "umbo\0", "4:memory:/a/umbo-01abc/b\n0::/");
        let path = "/a/umbo-01abc/b".to_owned();
        assert_eq!(inside_job(proc, 40), Some(Evidence::ControlGroup { path }));
    }
}
