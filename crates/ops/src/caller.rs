//! The caller: its directory, environment, rights and jobs. Every operation is done for one.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use umbo_engine::{
    AttachedJob, Backend, Clock, Condition, JobHandle, JobId, Request, Shell, Status,
};
use umbo_gate::{GatePaths, Mode};
use umbo_recipes::{Cache, Options};
use umbo_view::Budget;
use umbo_view::mask::{MaskError, Masker};

use crate::completions::Completions;
use crate::error::{Error, ErrorCode};
use crate::files::{FileSettings, FileState};
use crate::gatekeeper::Gatekeeper;
use crate::job_secrets::JobSecrets;
use crate::project::Folder;
use crate::sandbox::{SandboxSettings, Sandboxes};
use crate::ticket::CANCELLED;

/// How the names of owners begin that did not say who they are.
const NAMELESS: &str = "caller-";

/// Most clients give up on a call after 60 s.
const LONGEST_WAIT: Duration = Duration::from_secs(40);

/// How long jobs may take to end with their caller: as long as one that does not want to.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(7);

/// Why a caller could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The masker cannot be made.
    #[error(transparent)]
    Mask(#[from] MaskError),
    /// Nothing says which of its commands may run.
    #[error("a caller whose jobs run elsewhere needs a gate, or a state directory to keep one in")]
    NoGate,
}

/// Whose jobs a caller's are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// This caller and no other: its jobs are its own while it lives.
    Fresh,
    /// A caller that comes back under the same name, and is then told what ended meanwhile.
    Named(String),
    /// Nobody in particular: all jobs are everybody's.
    Everybody,
}

/// A program or a person that calls operations: its directory, environment, rights and jobs. Calls may
/// come from many threads at once.
pub struct Caller {
    /// Where its jobs run.
    pub backend: Arc<dyn Backend>,
    /// Which of its commands may run.
    pub gate: Gatekeeper,
    /// Which secrets its answers must not show.
    pub masker: Arc<Masker>,
    /// Where its commands run that do not say.
    pub directory: PathBuf,
    /// The environment that its commands start from.
    pub environment: Arc<[(OsString, OsString)]>,
    /// The name its jobs are listed under; none if all jobs are its own.
    pub owner: Option<String>,
    /// How much text an answer may hold.
    pub budget: Budget,
    /// Whether the noise of known tools is folded in answers.
    pub minimize: bool,
    /// The time limit of commands that give none.
    pub timeout: Option<Duration>,
    /// How long an operation may take where its request leaves that open.
    pub longest_wait: Duration,
    /// Which jobs have ended that it does not know of.
    pub completions: Arc<Completions>,
    /// The shell that reads its command lines.
    pub(crate) shell: Shell,
    /// The label that its jobs get, beside the owner.
    pub(crate) dialect: Option<&'static str>,
    /// Reads ids of jobs that its contract writes in another way.
    pub(crate) job_id: fn(&str) -> Option<&str>,
    /// What it has beside the shell, which the gate may point to.
    pub(crate) tools: Vec<String>,
    /// The project that its commands must stay in.
    confinement: Option<PathBuf>,
    /// What was found in its projects.
    recipes: Cache,
    /// What its commands may touch.
    pub(crate) sandboxes: Sandboxes,
    /// What its file operations share.
    pub(crate) files: FileState,
    /// Jobs that end with it.
    held: Mutex<Vec<Held>>,
    /// The secrets of its jobs and of those it reads.
    job_secrets: JobSecrets,
}

/// A job that ends with its caller.
enum Held {
    /// Its supervisor stops it when the connection is gone, however the caller ended.
    Attached(Box<dyn AttachedJob>),
    /// Only a caller that leaves stops it: it outlives one that is killed.
    Job(JobHandle),
}

impl Held {
    fn job(&self) -> JobHandle {
        match self {
            Self::Attached(attached) => attached.job(),
            Self::Job(job) => job.clone(),
        }
    }

    /// Lets it run on.
    fn detach(self) {
        if let Self::Attached(attached) = self {
            attached.detach();
        }
    }
}

/// How a caller is to be.
pub struct CallerBuilder {
    backend: Arc<dyn Backend>,
    state: Option<PathBuf>,
    masker: Option<Arc<Masker>>,
    directory: PathBuf,
    environment: Vec<(OsString, OsString)>,
    owner: Owner,
    budget: Budget,
    minimize: bool,
    timeout: Option<Duration>,
    confinement: Option<PathBuf>,
    longest_wait: Duration,
    gate: Option<Gatekeeper>,
    shell: Shell,
    dialect: Option<&'static str>,
    job_id: fn(&str) -> Option<&str>,
    tools: Vec<String>,
    sandbox: SandboxSettings,
    clock: Option<Clock>,
    files: FileSettings,
}

impl Caller {
    /// Starts building a caller whose jobs run there: an [`Engine`](umbo_engine::Engine), or any
    /// other [`Backend`].
    pub fn builder(backend: impl Into<Arc<dyn Backend>>) -> CallerBuilder {
        CallerBuilder {
            backend: backend.into(),
            state: None,
            masker: None,
            directory: PathBuf::from("."),
            environment: Vec::new(),
            owner: Owner::Fresh,
            budget: Budget::default(),
            minimize: false,
            timeout: None,
            confinement: None,
            longest_wait: LONGEST_WAIT,
            gate: None,
            shell: Shell::Sh,
            dialect: None,
            job_id: |_| None,
            tools: Vec::new(),
            sandbox: SandboxSettings::default(),
            clock: None,
            files: FileSettings::default(),
        }
    }

    /// The tasks of a folder.
    pub fn tasks_of(&self, root: &Path) -> Result<Folder, umbo_recipes::Error> {
        Folder::open(root, &self.recipe_options(), &self.recipes)
    }

    /// The nearest tasks from a folder up to another.
    pub fn tasks_near(&self, start: &Path, top: &Path) -> Result<Folder, umbo_recipes::Error> {
        Folder::find(start, top, &self.recipe_options(), &self.recipes)
    }

    fn recipe_options(&self) -> Options {
        Options::for_environment(self.environment.iter().cloned())
    }

    /// Names of the tools that it has, from here and from elsewhere.
    pub fn tools(&self) -> &[String] {
        &self.tools
    }

    /// A variable of its environment.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        let found = self.environment.iter().find(|(variable, _)| variable == name);
        found.map(|(_, value)| value.as_os_str()).filter(|value| !value.is_empty())
    }

    /// A program, looked for where its commands would.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        program(&self.environment, name)
    }

    /// A text for the caller to read: without secrets, and with everything spelled out that a terminal
    /// would obey or a reader would not see.
    pub fn mask(&self, text: &str) -> String {
        umbo_view::visible(&self.masker.mask_text(text)).into_owned()
    }

    /// The same for a text that may be changed where it is: most have nothing to mask.
    pub fn mask_in_place(&self, text: &mut String) {
        self.masker.mask_in_place(text);
        if let Cow::Owned(visible) = umbo_view::visible(text) {
            *text = visible;
        }
    }

    /// A text in which the secrets stand again that placeholders stand for, also those that this caller was
    /// shown by an earlier process.
    pub fn restore(&self, text: &str) -> String {
        if self.masker.has_unknown_placeholder(text) {
            self.job_secrets.recall_found(self.owner.as_deref(), &self.masker);
        }
        self.masker.restore(text)
    }

    /// Keeps what was found by its shape in what this caller was shown, so that it can use the placeholders
    /// in a later process, too.
    pub fn keep_found_secrets(&self) {
        // A caller without a name of its own does not come back.
        let is_nameless = self.owner.as_ref().is_some_and(|owner| owner.starts_with(NAMELESS));
        if !is_nameless {
            self.job_secrets.keep_found(self.owner.as_deref(), &self.masker);
        }
    }

    /// Masks the secrets of a job from now on, also those that the caller does not have.
    pub fn learn_secrets(&self, labels: &BTreeMap<String, String>) {
        self.job_secrets.learn(labels, &self.masker);
    }

    /// A request with its secrets written on it, for readers who do not have them.
    pub(crate) fn with_secrets<'r>(&self, request: &'r Request) -> Cow<'r, Request> {
        let mut request = Cow::Borrowed(request);
        if let Some((name, label)) = self.job_secrets.label(&request, &self.masker) {
            request.to_mut().labels.insert(name.to_owned(), label);
        }
        request
    }

    /// The project that it has to stay in, if it has to.
    pub(crate) fn confinement(&self) -> Option<&Path> {
        self.confinement.as_deref()
    }

    /// Refuses a request to work outside of the project it has to stay in.
    pub fn confined(&self, request: &Request) -> Result<(), Error> {
        let Some(project) = &self.confinement else { return Ok(()) };
        match umbo_gate::restrict_to_project(&request.cwd, project) {
            Err(error @ umbo_gate::Error::OutsideProject(_)) => {
                Err(Error::new(ErrorCode::OutsideProject, error.to_string()))
            }
            // What else is wrong with it is said when it is used.
            _ => Ok(()),
        }
    }

    /// Lets the jobs run on that would end with this caller.
    pub fn detach(&self) {
        let held = std::mem::take(&mut *self.held());
        for held in held {
            held.detach();
        }
    }

    /// Lets one of them run on.
    pub(crate) fn let_go(&self, job: &JobId) {
        let mut held = self.held();
        if let Some(place) = held.iter().position(|held| held.job().id() == job) {
            let released = held.swap_remove(place);
            drop(held);
            released.detach();
        }
    }

    /// Stops the jobs that end with this caller, and waits for that; not for ever.
    pub fn close(&self) {
        let held = std::mem::take(&mut *self.held());
        let jobs: Vec<JobHandle> = held.iter().map(Held::job).collect();
        std::thread::scope(|scope| {
            for held in &held {
                if let Held::Job(job) = held {
                    scope.spawn(|| job.stop(CANCELLED));
                }
            }
        });
        // Whoever loses its caller stops by itself, all of them at once.
        drop(held);
        let deadline = Instant::now() + CLOSE_TIMEOUT;
        for job in jobs {
            let left = deadline.saturating_duration_since(Instant::now());
            let _ = job.wait(&[Condition::Exit], Some(left));
        }
    }

    /// Keeps a job that ends with this caller.
    pub(crate) fn hold(&self, attached: Box<dyn AttachedJob>) {
        self.held().push(Held::Attached(attached));
    }

    /// Takes over a job that outlives a caller that is killed, and ends with one that leaves: its own,
    /// or one that an earlier process of the same name left running.
    pub fn adopt(&self, job: &JobHandle) {
        self.completions.expect(job.id());
        let mut held = self.held();
        if !held.iter().any(|held| held.job().id() == job.id()) {
            held.push(Held::Job(job.clone()));
        }
    }

    /// Forgets held jobs that are over.
    pub fn release_ended(&self) {
        let runs = |held: &mut Held| match held {
            Held::Attached(attached) => {
                !matches!(attached.wait(Some(Duration::ZERO)), Ok(Some(_)) | Err(_))
            }
            Held::Job(job) => !matches!(job.status(), Ok(Status::Ended(_)) | Err(_)),
        };
        self.held().retain_mut(runs);
    }

    fn held(&self) -> MutexGuard<'_, Vec<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallerBuilder {
    /// Which secrets are masked in every answer; well-known formats only, unless given.
    #[must_use]
    pub fn masker(mut self, masker: impl Into<Arc<Masker>>) -> Self {
        self.masker = Some(masker.into());
        self
    }

    /// Where commands run that do not say; the current directory unless given.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = directory.into();
        self
    }

    /// The environment that commands start from.
    #[must_use]
    pub fn environment(
        mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        self.environment = variables.into_iter().collect();
        self
    }

    /// Whose its jobs are; [`Owner::Fresh`] unless given.
    #[must_use]
    pub fn owner(mut self, owner: Owner) -> Self {
        self.owner = owner;
        self
    }

    /// How much text an answer may hold.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Whether the noise of known tools is folded in answers.
    #[must_use]
    pub fn minimize(mut self, minimize: bool) -> Self {
        self.minimize = minimize;
        self
    }

    /// The time limit of commands that give none.
    #[must_use]
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// A project: no command starts outside of it.
    #[must_use]
    pub fn confine(mut self, project: Option<PathBuf>) -> Self {
        self.confinement = project;
        self
    }

    /// How long an operation may take where its request leaves that open; 40 s unless given.
    #[must_use]
    pub fn longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    /// Where this side keeps what it remembers beside the jobs: which tasks a project has, and the
    /// key and rules of a gate that was not given. That of the engine unless given; a backend whose
    /// jobs are elsewhere has none.
    #[must_use]
    pub fn state(mut self, directory: impl Into<PathBuf>) -> Self {
        self.state = Some(directory.into());
        self
    }

    /// How long an operation may take, as it stands.
    pub fn longest(&self) -> Duration {
        self.longest_wait
    }

    /// Who decides whether a command may run. Unless given, a gatekeeper in mode `guard` whose key
    /// and rules are in the directory `gate` of its state.
    #[must_use]
    pub fn gate(mut self, gate: Gatekeeper) -> Self {
        self.gate = Some(gate);
        self
    }

    /// By which clock its questions and approvals expire; that of the system unless given.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// How ids of jobs are read that contracts write in another way: gives what the operations call the
    /// job, `None` for what is no such id.
    #[must_use]
    pub fn job_ids(mut self, read: fn(&str) -> Option<&str>) -> Self {
        self.job_id = read;
        self
    }

    /// The shell that reads command lines; `sh` unless given.
    #[must_use]
    pub fn shell(mut self, shell: Shell) -> Self {
        self.shell = shell;
        self
    }

    /// Bash, if the caller has it, for lines that are written for it.
    #[must_use]
    pub fn prefer_bash(mut self) -> Self {
        if program(&self.environment, "bash").is_some() {
            self.shell = Shell::Bash;
        }
        self
    }

    /// No call can choose its sandbox, so none is told that it could.
    #[must_use]
    pub fn fixed_sandbox(mut self) -> Self {
        self.sandbox.is_fixed = true;
        self
    }

    /// The dialect the caller speaks: a label of its jobs, by which they are found again.
    #[must_use]
    pub fn dialect(mut self, name: &'static str) -> Self {
        self.dialect = Some(name);
        self
    }

    /// Names of the tools that the caller has: where one does better what a command does, the gate
    /// may point to it.
    #[must_use]
    pub fn tools(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools = names.into_iter().map(Into::into).collect();
        self
    }

    /// What commands may touch if nobody says anything, and which profiles there are.
    #[must_use]
    pub fn sandbox(mut self, settings: SandboxSettings) -> Self {
        self.sandbox = settings;
        self
    }

    /// How its file operations are to be.
    #[must_use]
    pub fn files(mut self, settings: FileSettings) -> Self {
        self.files = settings;
        self
    }

    /// Builds the caller.
    pub fn build(self) -> Result<Caller, BuildError> {
        let masker = match self.masker {
            Some(masker) => masker,
            None => Arc::new(Masker::builder().build()?),
        };
        let comes_back = matches!(self.owner, Owner::Named(_));
        let owner = match self.owner {
            Owner::Fresh => Some(format!("{NAMELESS}{}", JobId::generate())),
            Owner::Named(name) => Some(name),
            Owner::Everybody => None,
        };
        let backend = self.backend;
        let state = self.state.or_else(|| backend.state_directory().map(Path::to_owned));
        let gate = match (self.gate, &state) {
            (Some(gate), _) => gate,
            (None, Some(state)) => {
                Gatekeeper::new(GatePaths::new(state.join("gate"), state), Mode::Guard)
                    .run_id(owner.clone())
            }
            (None, None) => return Err(BuildError::NoGate),
        };
        let job_secrets = JobSecrets::new(state.as_deref());
        let sandboxes = Sandboxes::new(self.sandbox, state.clone(), &self.environment);
        let gate = match self.clock {
            Some(clock) => gate.clock(clock),
            None => gate,
        };
        let recipes = match &state {
            Some(state) => Cache::in_directory(state.join("recipes")),
            None => Cache::in_memory(),
        };
        Ok(Caller {
            job_secrets,
            gate: gate.base(&self.directory),
            recipes,
            completions: Arc::new(Completions::new(Arc::clone(&backend), comes_back)),
            backend,
            masker,
            directory: self.directory,
            environment: self.environment.into(),
            owner,
            budget: self.budget,
            minimize: self.minimize,
            timeout: self.timeout,
            confinement: self.confinement,
            longest_wait: self.longest_wait,
            shell: self.shell,
            dialect: self.dialect,
            job_id: self.job_id,
            tools: self.tools,
            sandboxes,
            files: FileState::new(self.files, state),
            held: Mutex::default(),
        })
    }
}

fn program(environment: &[(OsString, OsString)], name: &str) -> Option<PathBuf> {
    let (_, path) = environment.iter().find(|(variable, _)| variable == "PATH")?;
    env::split_paths(path).map(|directory| directory.join(name)).find(|path| path.is_file())
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.completions.leave(self);
    }
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller").field("owner", &self.owner).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for CallerBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallerBuilder").field("owner", &self.owner).finish_non_exhaustive()
    }
}
