//! What this machine allows, found out by trying it.

use std::ffi::OsStr;
use std::path::PathBuf;

use umbo_sandbox::Rung;

use crate::request::{Shell, Size};
use crate::sys::cgroup::{self, Bounds, Cgroup, Enforcer};
use crate::sys::pty;

/// One thing tried.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What.
    pub name: &'static str,
    /// Whether it works.
    pub works: bool,
    /// What was found.
    pub detail: String,
    /// What that means for jobs.
    pub meaning: String,
}

/// Tries all that jobs rely on. `path` is where shells are looked for.
pub fn examine(path: &OsStr) -> Vec<Finding> {
    let mut findings = vec![containment(), subreaper(), terminal(), sandbox()];
    findings.extend(limits());
    findings.extend(shells(path));
    findings
}

fn containment() -> Finding {
    let name = format!("umbo-doctor-{}", rustix::process::getpid().as_raw_nonzero());
    match Cgroup::create(&name, |_| Ok(())) {
        Ok(group) => {
            let detail = group.path().parent().map(|path| path.display().to_string());
            group.remove();
            Finding {
                name: "cgroup",
                works: true,
                detail: format!("groups can be made in {}", detail.unwrap_or_default()),
                meaning: "a stop empties even a fork storm in milliseconds".into(),
            }
        }
        Err(error) => Finding {
            name: "cgroup",
            works: false,
            detail: match cgroup::own_v2() {
                Ok(path) => format!("no group can be made in {}: {error}", path.display()),
                Err(error) => error.to_string(),
            },
            meaning: "a stop still reaches every descendant through the subreaper, but a fork \
                      storm takes seconds"
                .into(),
        },
    }
}

fn sandbox() -> Finding {
    let mut failed = Vec::new();
    for rung in Rung::ALL {
        match umbo_sandbox::probe(rung) {
            Ok(()) => {
                let meaning = match rung {
                    Rung::Namespaces => {
                        "a sandboxed command sees no other process, no secret and no network"
                    }
                    Rung::SharedProcesses => {
                        "a sandboxed command sees the machine's processes, but no secret and no network"
                    }
                    Rung::Landlock => {
                        "a sandboxed command sees names of hidden files and the machine's processes"
                    }
                };
                failed.insert(0, format!("enforced by {}", rung.name()));
                let detail = failed.join("; ");
                return Finding { name: "sandbox", works: true, detail, meaning: meaning.into() };
            }
            Err(why) => failed.push(why),
        }
    }
    Finding {
        name: "sandbox",
        works: false,
        detail: failed.join("; "),
        meaning: "a command that is to run in a sandbox is refused; user namespaces or Landlock (Linux 5.13) \
                  would allow it"
            .into(),
    }
}

fn subreaper() -> Finding {
    let own = rustix::process::getpid();
    let works = rustix::process::child_subreaper().is_ok();
    let children = PathBuf::from(format!("/proc/{0}/task/{0}/children", own.as_raw_nonzero()));
    Finding {
        name: "subreaper",
        works: works && children.exists(),
        detail: if children.exists() {
            "orphans return to their supervisor".into()
        } else {
            "the kernel does not list children (CONFIG_PROC_CHILDREN)".into()
        },
        meaning: "a detached descendant is found and stopped".into(),
    }
}

fn terminal() -> Finding {
    let result = pty::open(Size::default());
    Finding {
        name: "pty",
        works: result.is_ok(),
        detail: match &result {
            Ok(_) => "terminals can be opened".into(),
            Err(error) => error.to_string(),
        },
        meaning: "interactive programs run with --pty".into(),
    }
}

fn limits() -> Vec<Finding> {
    let bounds =
        Bounds { memory_bytes: Some(1 << 30), processes: Some(100), cpu_percent: Some(100) };
    let name = format!("umbo-doctor-{}", rustix::process::getpid().as_raw_nonzero());
    let group = Cgroup::create(&name, |_| Ok(())).ok();
    let enforcer = Enforcer::new(bounds, group.as_ref(), &name, &|_| Ok(()));
    let findings = ["memory", "pids", "cpu"].map(|controller| {
        let works = !enforcer.missing.contains(&controller);
        Finding {
            name: match controller {
                "memory" => "limit memory",
                "pids" => "limit processes",
                _ => "limit cpu",
            },
            works,
            detail: if works {
                format!("the {controller} controller can be used")
            } else {
                format!("no {controller} control group can be made by this user")
            },
            meaning: if works {
                "the kernel enforces it for the whole tree".into()
            } else {
                "the limit is not enforced, and the outcome says so".into()
            },
        }
    });
    enforcer.remove();
    if let Some(group) = group {
        group.remove();
    }
    findings.into()
}

fn shells(path: &OsStr) -> Vec<Finding> {
    let shells = [
        ("shell sh", Shell::Sh),
        ("shell bash", Shell::Bash),
        ("shell zsh", Shell::Zsh),
        ("shell fish", Shell::Fish),
        ("shell nu", Shell::Nu),
    ];
    let find = |(name, shell): (&'static str, Shell)| match shell.find(path) {
        Ok(found) => Finding {
            name,
            works: true,
            detail: found.display().to_string(),
            meaning: format!("--shell {} works", shell.name()),
        },
        Err(error) => Finding {
            name,
            works: false,
            detail: error.to_string(),
            meaning: format!("--shell {} is refused", shell.name()),
        },
    };
    shells.into_iter().map(find).collect()
}
