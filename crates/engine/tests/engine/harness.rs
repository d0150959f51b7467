//! A place for one test: a state directory, a supervisor executable, a deadline, and a look at what
//! is left when the test ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use umbo_engine::{Builder, Engine, Environment, Ladder, Request, Scope, Status, Warmth};

/// How long a test may take, on a machine that has much else to do.
const DEADLINE: Duration = Duration::from_secs(100);
/// How long what must come may take to come.
pub(crate) const TIMEOUT: Duration = Duration::from_mins(1);

/// How soon it is looked for again.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// The place.
pub(crate) struct Place {
    directory: TempDir,
    state: PathBuf,
    _ended: Sender<()>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("umbo-engine-").tempdir().unwrap();
        let state = directory.path().join("state");
        Self::with_state(directory, state)
    }

    /// One whose state directory is somewhere else.
    pub(crate) fn with_state(directory: TempDir, state: PathBuf) -> Self {
        let (ended, ending) = mpsc::channel::<()>();
        let test = thread::current().name().unwrap_or("a test").to_owned();
        let root = directory.path().to_owned();
        thread::spawn(move || {
            if ending.recv_timeout(DEADLINE) == Err(RecvTimeoutError::Timeout) {
                eprintln!("{test}: not at its end after {DEADLINE:?}");
                for pid in processes_of(&root) {
                    eprintln!("  {} {}", pid.as_raw_nonzero(), command_line(pid));
                    let _ = kill_process(pid, Signal::KILL);
                }
                std::process::abort();
            }
        });
        Self { directory, state, _ended: ended }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn state(&self) -> &Path {
        &self.state
    }

    pub(crate) fn builder(&self) -> Builder {
        Engine::builder(&self.state).supervisor(example(crate::SUPERVISOR)).warmth(Warmth::Cold)
    }

    pub(crate) fn engine(&self) -> Engine {
        self.builder().open().unwrap()
    }

    /// A line of `sh`, run in this place.
    pub(crate) fn shell(&self, line: &str) -> Request {
        Request::shell(line, self.path()).env(Environment::inherit())
    }

    /// The processes that were started for this place, and the commands of its jobs.
    pub(crate) fn processes(&self) -> Vec<Pid> {
        processes_of(self.path())
    }

    /// Its supervisors, keepers, spares and nurseries.
    pub(crate) fn supervisors(&self) -> Vec<Pid> {
        let is_ours = |pid: &Pid| command_line(*pid).contains("--umbo-");
        self.processes().into_iter().filter(is_ours).collect()
    }

    fn close(&self) {
        if let Ok(engine) = self.builder().open() {
            for summary in engine.jobs(Scope::All).unwrap_or_default() {
                if !matches!(summary.status, Status::Ended(_))
                    && let Ok(job) = engine.job(summary.job.as_str())
                {
                    let _ = job.stop(Ladder::KILL);
                }
            }
        }
        let left = until(|| Some(self.processes()).filter(Vec::is_empty)).is_none();
        if left {
            let list: Vec<String> = self.processes().into_iter().map(command_line).collect();
            self.kill_all();
            panic!("processes were left: {list:#?}");
        }
    }

    fn kill_all(&self) {
        let _ = until(|| {
            let left = self.processes();
            for pid in &left {
                let _ = kill_process(*pid, Signal::KILL);
            }
            left.is_empty().then_some(())
        });
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if thread::panicking() {
            self.kill_all();
        } else {
            self.close();
        }
    }
}

/// An example of this crate: built with the tests of all targets.
pub(crate) fn example(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.parent().and_then(Path::parent).unwrap().join("examples").join(name);
    assert!(path.exists(), "{} is not built: run the tests with --examples", path.display());
    path
}

/// Looks again and again until there is something, for as long as what must come may take.
#[must_use]
pub(crate) fn until<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() >= deadline {
            return None;
        }
        // Nobody tells of what is looked for here; a spin would take the processor from it.
        thread::park_timeout(LOOK_AGAIN);
    }
}

/// Processes with a path of this directory in their words or their environment.
fn processes_of(directory: &Path) -> Vec<Pid> {
    let needle = directory.as_os_str().as_encoded_bytes();
    let has = |bytes: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    let own = rustix::process::getpid();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(pid) = pid.and_then(Pid::from_raw).filter(|pid| *pid != own) else { continue };
        let read = |file: &str| fs::read(entry.path().join(file)).unwrap_or_default();
        if has(&read("cmdline")) || has(&read("environ")) {
            found.push(pid);
        }
    }
    found
}

pub(crate) fn command_line(pid: Pid) -> String {
    let words = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
    String::from_utf8_lossy(&words).replace('\0', " ")
}

/// A process of a test that ends with it.
pub(crate) struct Helper(pub(crate) Child);

impl Helper {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
