//! Named places at which a process dies when told to, for the crash tests. Without the feature
//! `failpoints` they are nothing.

/// The variable that names the place to die at.
pub(crate) const VARIABLE: &str = "UMBO_FAILPOINT";

/// The named place.
#[cfg(feature = "failpoints")]
static WANTED: std::sync::LazyLock<Option<std::ffi::OsString>> =
    std::sync::LazyLock::new(|| std::env::var_os(VARIABLE));

/// Remembers the named place: this process is about to give up the variables it was started with.
pub(crate) fn remember() {
    #[cfg(feature = "failpoints")]
    std::sync::LazyLock::force(&WANTED);
}

/// Dies here by SIGKILL if this is the named place.
#[cfg(feature = "failpoints")]
pub(crate) fn reach(name: &str) {
    if WANTED.as_ref().is_some_and(|wanted| wanted == name) {
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}

/// Does nothing.
#[cfg(not(feature = "failpoints"))]
pub(crate) fn reach(_name: &str) {}
