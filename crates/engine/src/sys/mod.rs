//! Everything that is Linux: the only place with `unsafe` and the only place that names an
//! operating system. Each file wraps one kernel facility in a safe call that says what it does.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "umbo-engine supervises processes with Linux facilities; other systems have none of them yet"
);

pub(crate) mod cgroup;
pub(crate) mod lock;
pub(crate) mod process;
pub(crate) mod procfs;
pub(crate) mod pty;
#[cfg(feature = "tokio")]
pub(crate) mod reactor;
pub(crate) mod socket;
pub(crate) mod terminal;
pub(crate) mod watch;
