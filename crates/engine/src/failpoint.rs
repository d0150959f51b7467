//! Named places at which a process dies when told to, for the crash tests. Without the feature
//! `failpoints` they are nothing.

/// The variable that names the place to die at.
pub(crate) const VARIABLE: &str = "UMBO_FAILPOINT";

/// Dies here by SIGKILL if this is the named place.
#[cfg(feature = "failpoints")]
pub(crate) fn reach(name: &str) {
    if std::env::var_os(VARIABLE).is_some_and(|wanted| wanted == name) {
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}

/// Does nothing.
#[cfg(not(feature = "failpoints"))]
pub(crate) fn reach(_name: &str) {}
