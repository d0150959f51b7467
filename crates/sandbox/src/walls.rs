//! The walls around one job, in the hands of its supervisor: made before there is a command, entered by
//! the command between fork and exec, and answered for afterwards.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::filter::{self, Instruction};
use crate::layout::{Failed, Processes};
use crate::namespace::{Namespace, receive_fd, socket_pair};
use crate::plan::{Network, Plan, Rung, Tell};
use crate::ruleset;
use crate::sys::namespace::close_on_exec;
use crate::sys::seccomp::{self, Listener};
use crate::sys::socket::send_fd;

/// Why no wall could be built. A command that was to be in a sandbox does not run without one.
#[derive(Debug, thiserror::Error)]
#[error("no sandbox can be made here: {}", tried.join("; "))]
pub struct Refusal {
    /// Each way that was tried, and what failed.
    pub tried: Vec<String>,
}

/// The steps that a command takes between fork and exec, for the one that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Giving up capabilities.
    Capabilities,
    /// Giving up what other programs would gain by exec.
    NoNewPrivileges,
    /// Entering the Landlock ruleset.
    Landlock,
    /// Installing the filter.
    Filter,
    /// Handing its listener to the supervisor.
    Listener,
}

impl Step {
    /// What it does, in words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Capabilities => "cannot give up capabilities",
            Self::NoNewPrivileges => "cannot give up new privileges",
            Self::Landlock => "cannot enter the Landlock ruleset",
            Self::Filter => "cannot install the seccomp filter",
            Self::Listener => "cannot hand over the seccomp listener",
        }
    }
}

/// The walls around one job.
#[derive(Debug)]
pub(crate) struct Walls {
    plan: Plan,
    rung: Rung,
    namespace: Option<Namespace>,
    ruleset: OwnedFd,
    filter: Vec<Instruction>,
    /// Through the first the command hands over its listener; the second is the supervisor's.
    handover: (OwnedFd, OwnedFd),
    is_root: bool,
}

impl Walls {
    /// Builds the walls of a plan, in the best way that this machine allows and the plan accepts. The
    /// caller must be single-threaded.
    pub(crate) fn build(plan: Plan) -> Result<Self, Refusal> {
        let mut tried = Vec::new();
        for rung in plan.rungs.clone() {
            match Self::build_as(&plan, rung) {
                Ok((namespace, ruleset)) => match socket_pair() {
                    Ok(handover) => {
                        let is_root = rustix::process::geteuid().is_root();
                        let filter = Vec::new();
                        return Ok(Self {
                            plan,
                            rung,
                            namespace,
                            ruleset,
                            filter,
                            handover,
                            is_root,
                        });
                    }
                    Err(error) => tried.push(error.to_string()),
                },
                Err(problem) => tried.push(format!("{}: {problem}", rung.name())),
            }
        }
        Err(Refusal { tried })
    }

    fn build_as(plan: &Plan, rung: Rung) -> Result<(Option<Namespace>, OwnedFd), String> {
        let make = |processes| Namespace::make(plan, processes).map_err(|e: Failed| e.to_string());
        let namespace = match rung {
            Rung::Namespaces => Some(make(Processes::Own)?),
            Rung::SharedProcesses => Some(make(Processes::Shared)?),
            Rung::Landlock => None,
        };
        let root = namespace.as_ref().map_or_else(|| PathBuf::from("/"), Namespace::root);
        let ruleset = ruleset::build(plan, rung, &root)?;
        Ok((namespace, ruleset))
    }

    /// The plan they were built for.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The way they were built.
    pub(crate) fn rung(&self) -> Rung {
        self.rung
    }

    /// Makes the filter. `program` is the path that the command's `execve` is called with, whose place
    /// in memory tells that call from all others.
    pub(crate) fn arm(&mut self, program: &std::ffi::CStr) {
        // Looks at what is hidden are told by what covers it, or else by asking about every file.
        let is_heard = self.plan.hide.is_empty()
            || self.namespace.as_ref().is_some_and(Namespace::hears_looks);
        let tell = if is_heard { self.plan.tell } else { Tell::Everything };
        self.filter = filter::build(&self.plan, tell, self.rung, program.as_ptr() as u64);
    }

    /// In a process between the supervisor and the command: joins the namespaces. Allocates nothing.
    pub(crate) fn join(&self) -> io::Result<()> {
        self.namespace.as_ref().map_or(Ok(()), Namespace::join)
    }

    /// In the command, last thing before exec: no way back. Allocates nothing.
    pub(crate) fn enter(&self) -> Result<(), (Step, io::Error)> {
        let at = |step: Step| move |error: rustix::io::Errno| (step, io::Error::from(error));
        close_on_exec();
        self.drop_capabilities().map_err(at(Step::Capabilities))?;
        rustix::thread::set_no_new_privs(true).map_err(at(Step::NoNewPrivileges))?;
        seccomp::restrict(self.ruleset.as_fd()).map_err(|error| (Step::Landlock, error))?;
        let listener = seccomp::install(&self.filter).map_err(|error| (Step::Filter, error))?;
        send_fd(self.handover.0.as_fd(), listener.as_fd())
            .map_err(|error| (Step::Listener, error))?;
        // Until exec: closing it here would be one more call, and it closes itself.
        std::mem::forget(listener);
        Ok(())
    }

    fn drop_capabilities(&self) -> rustix::io::Result<()> {
        // What root needs to work on files of others; nothing that has power over the machine.
        let kept = if self.is_root {
            CapabilitySet::CHOWN
                | CapabilitySet::DAC_OVERRIDE
                | CapabilitySet::FOWNER
                | CapabilitySet::FSETID
                | CapabilitySet::SETGID
                | CapabilitySet::SETUID
                | CapabilitySet::NET_BIND_SERVICE
        } else {
            CapabilitySet::empty()
        };
        let _ = rustix::thread::clear_ambient_capability_set();
        let held = rustix::thread::capabilities(None)?;
        let kept = kept & held.permitted;
        let sets = CapabilitySets {
            effective: kept,
            permitted: kept,
            inheritable: CapabilitySet::empty(),
        };
        rustix::thread::set_capabilities(None, sets)
    }

    /// Takes the listener that the command handed over.
    pub(crate) fn listener(&self) -> io::Result<Listener> {
        receive_fd(&self.handover.1).map(Listener::new)
    }

    /// The controlling side of a new terminal that is one inside as well.
    pub(crate) fn open_terminal(&self) -> Option<io::Result<OwnedFd>> {
        use rustix::fs::{Mode, OFlags};
        let root = self.namespace.as_ref()?.root();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        Some(rustix::fs::open(root.join("dev/pts/ptmx"), flags, Mode::empty()).map_err(Into::into))
    }

    /// Lets the command open its own terminal by name, where it has no terminals of its own kind.
    pub(crate) fn admit_terminal(&self, terminal: BorrowedFd<'_>) -> io::Result<()> {
        match self.rung {
            Rung::Landlock => seccomp::add_terminal(self.ruleset.as_fd(), terminal),
            Rung::Namespaces | Rung::SharedProcesses => Ok(()),
        }
    }

    /// Variables that the command needs to find its way here.
    pub(crate) fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        match (&self.plan.temporary, self.rung) {
            (Some(path), Rung::Landlock) => vec![("TMPDIR", path.clone())],
            _ => Vec::new(),
        }
    }

    /// What this way of building them does not keep, for a reader to know.
    pub(crate) fn weaknesses(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.rung == Rung::SharedProcesses {
            found.push("the machine's other processes can be seen".to_owned());
        }
        if self.rung == Rung::Landlock {
            found.push("names of hidden files and the machine's processes can be seen".to_owned());
        }
        if self.plan.network == Network::On {
            found.push("the network is open".to_owned());
        }
        found
    }

    pub(crate) fn namespace(&self) -> Option<&Namespace> {
        self.namespace.as_ref()
    }

    pub(crate) fn namespace_mut(&mut self) -> Option<&mut Namespace> {
        self.namespace.as_mut()
    }

    /// Where the job's root directory is seen from here.
    pub(crate) fn root(&self) -> PathBuf {
        self.namespace.as_ref().map_or_else(|| Path::new("/").to_owned(), Namespace::root)
    }
}
