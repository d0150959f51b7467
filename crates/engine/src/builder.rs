//! How an engine is made: where its state is, who supervises, what it keeps.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::ahead::Ahead;
use crate::clock::Clock;
use crate::engine::{Engine, Listed};
use crate::error::{Error, Result};
use crate::shell;
use crate::spare::{OWN_PROGRAM, Spares, Warmth};
use crate::state::State;
use crate::wire::Retention;

/// Whether `init` was called.
static INITIALISED: AtomicBool = AtomicBool::new(false);

/// Notes that this program can become a supervisor.
pub(crate) fn initialised() {
    INITIALISED.store(true, Ordering::Relaxed);
}

/// Whether this program can become a supervisor.
pub(crate) fn is_initialised() -> bool {
    INITIALISED.load(Ordering::Relaxed)
}

/// How an engine is to be.
#[derive(Debug)]
pub struct Builder {
    state: PathBuf,
    supervisor: Option<Named>,
    warmth: Warmth,
    ahead: Option<Ahead>,
    max_running: usize,
    retention: Retention,
    listed: Listed,
    clock: Clock,
}

/// The executable that supervises.
#[derive(Debug)]
enum Named {
    Path(PathBuf),
    /// To be looked for in the search path of this process.
    OnPath(String),
}

impl Named {
    fn find(self) -> Result<PathBuf> {
        match self {
            Self::Path(path) => Ok(path),
            Self::OnPath(name) => {
                let searched = std::env::var_os("PATH").unwrap_or_default();
                shell::search(OsStr::new(&name), &searched).ok_or_else(|| Error::NoSupervisor {
                    name,
                    searched: searched.to_string_lossy().into_owned(),
                })
            }
        }
    }
}

impl Builder {
    pub(crate) fn new(state: PathBuf) -> Self {
        Self {
            state,
            supervisor: None,
            warmth: Warmth::Warm,
            ahead: None,
            max_running: 10,
            retention: Retention { jobs: 2000, bytes: 4 << 30, age: None },
            listed: Listed::default(),
            clock: Clock::SYSTEM,
        }
    }

    /// The executable whose supervisors are used, instead of this program itself: an `umbo`, or
    /// any program that calls [`init`](crate::init) first. For libraries that do not own `main`: a
    /// test, a plugin, a `cdylib`.
    #[must_use]
    pub fn supervisor(mut self, program: impl Into<PathBuf>) -> Self {
        self.supervisor = Some(Named::Path(program.into()));
        self
    }

    /// As [`Builder::supervisor`], looked for by its name (`umbo`) in the `PATH` of this process.
    #[must_use]
    pub fn supervisor_on_path(mut self, name: impl Into<String>) -> Self {
        self.supervisor = Some(Named::OnPath(name.into()));
        self
    }

    /// Whether a supervisor is kept waiting for the next job.
    #[must_use]
    pub fn warmth(mut self, warmth: Warmth) -> Self {
        self.warmth = warmth;
        self
    }

    /// With a supervisor that was begun before, for the only job; no other is kept waiting. One that was begun
    /// for another state directory is not used.
    #[must_use]
    pub fn ahead(mut self, ahead: Ahead) -> Self {
        self.warmth = Warmth::Cold;
        self.ahead = Some(ahead);
        self
    }

    /// How many jobs of the state directory may run at once; and how many at once inside of each of
    /// them, which are not counted among these. 10 unless said otherwise.
    #[must_use]
    pub fn max_running(mut self, most: usize) -> Self {
        self.max_running = most;
        self
    }

    /// How many ended jobs stay on disk, and how many bytes they may take.
    #[must_use]
    pub fn retention(mut self, jobs: usize, bytes: u64) -> Self {
        self.retention = Retention { jobs, bytes, ..self.retention };
        self
    }

    /// How long ended jobs stay on disk at most. For ever unless said otherwise.
    #[must_use]
    pub fn retention_age(mut self, age: Option<Duration>) -> Self {
        self.retention.age = age;
        self
    }

    /// Which ended jobs are listed.
    #[must_use]
    pub fn listed(mut self, listed: Listed) -> Self {
        self.listed = listed;
        self
    }

    /// By which clock ended jobs get too old to be listed or, when [`Engine::prune`] is called, to be
    /// kept; the system's unless given. What a supervisor, a process of its own, writes down or deletes
    /// after its job goes by the system's in any case.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Opens the engine.
    pub fn open(self) -> Result<Engine> {
        let program = match self.supervisor {
            Some(named) => named.find()?,
            None if INITIALISED.load(Ordering::Relaxed) => PathBuf::from(OWN_PROGRAM),
            None => return Err(Error::NotInitialised),
        };
        let state =
            State::open(&std::path::absolute(&self.state).map_err(Error::state(&self.state))?)?;
        let spares = Spares::new(program, state.root().to_owned(), self.warmth, self.ahead);
        spares.refill();
        Ok(Engine::new(state, spares, self.max_running, self.retention, self.listed, self.clock))
    }
}
