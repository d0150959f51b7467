//! `recipe`: the tasks of the project, listed or run.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_engine::{Condition, Limits, Request, Size, Stdin};
use umbo_recipes::select::{Selection, umbo as select};
use umbo_recipes::{Lifetime, Task, Visibility};
use umbo_text::quote;

use crate::answer::JobAnswer;
use crate::call::{Call, Ran};
use crate::error::{Error, ErrorCode};
use crate::exec::{self, LimitsArgument, OnDisconnect, OutputWanted};
use crate::project::{Folder, Risks, RunnerAnswer, Runs, TaskAnswer};
use crate::sandbox::SandboxArgument;
use crate::values::Seconds;
use crate::wait::{WaitReason, pattern_of};

/// Which tasks to list, or which one to run.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecipeRequest {
    /// The task to run, and its arguments. Without it, tasks are listed.
    #[schemars(description = "Task and arguments: test, pkg-a/test --watch, make:all")]
    pub op: Option<String>,
    /// More arguments.
    #[schemars(description = "")]
    pub args: Option<Vec<String>>,
    /// What the names or docs of listed tasks have.
    #[schemars(description = "What listed names or docs have")]
    pub filter: Option<String>,
    /// Where to look for tasks.
    #[schemars(description = "")]
    pub cwd: Option<PathBuf>,
    /// When the task is stopped.
    #[schemars(description = "")]
    pub timeout: Option<Seconds>,
    /// How long to wait for its end, or until it is ready.
    #[serde(rename = "yield")]
    #[schemars(description = "", range(max = 3600))]
    pub wait: Option<Seconds>,
    /// What it may use at most.
    #[schemars(description = "")]
    pub limits: Option<LimitsArgument>,
    /// Whether nobody waits for it.
    #[schemars(description = "")]
    pub background: Option<bool>,
    /// A pattern in its output that says that it is ready.
    #[schemars(description = "Regex: in background, answer when output matches")]
    pub ready: Option<String>,
    /// What it may touch, instead of what is usual; whoever wants more is asked about.
    #[schemars(description = "")]
    pub sandbox: Option<SandboxArgument>,
    /// What a tool call cannot say.
    #[serde(skip)]
    #[schemars(skip)]
    pub options: RecipeOptions,
}

/// How tasks are listed or run, as far as only a command line or a program can say it.
#[derive(Debug, Default)]
pub struct RecipeOptions {
    /// Whether tasks are looked for above the caller's project, too.
    pub anywhere: bool,
    /// Whether tasks that their runner hides are listed.
    pub all: bool,
    /// How many tasks are listed at most.
    pub most: Option<usize>,
    /// Whether it gets a terminal.
    pub pty: bool,
    /// What it may use at most, instead of [`RecipeRequest::limits`].
    pub limits: Option<Limits>,
    /// What becomes of it when its caller goes away.
    pub on_disconnect: Option<OnDisconnect>,
    /// What of its output the answer has.
    pub output: OutputWanted,
}

/// A list of tasks, or what became of one.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RecipeAnswer {
    /// The tasks.
    List(RecipesAnswer),
    /// The run.
    Run(Box<RunAnswer>),
}

/// The tasks of a project.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct RecipesAnswer {
    /// Where they are.
    pub root: String,
    /// The runners.
    pub runners: Vec<RunnerAnswer>,
    /// The tasks, runner by runner.
    pub tasks: Vec<TaskAnswer>,
    /// How many more there are.
    pub omitted: Option<usize>,
}

/// What became of a task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct RunAnswer {
    /// Where its job stands; where it was to get ready, `reason` is the condition that was met.
    #[serde(flatten)]
    pub job: JobAnswer,
    /// The runner.
    pub runner: String,
    /// The task.
    pub task: String,
    /// What ran.
    pub command: String,
    /// What the wait until it is ready came to.
    #[serde(skip)]
    #[schemars(skip)]
    pub ready: Option<WaitReason>,
}

/// What would run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct PlanAnswer {
    /// The runner.
    pub runner: String,
    /// The task, if it is one.
    pub task: Option<String>,
    /// What would run.
    pub command: String,
    /// Where.
    pub directory: String,
    /// Whether it looks like a server or a watcher.
    #[serde(skip)]
    #[schemars(skip)]
    pub long_lived: bool,
}

impl RecipeAnswer {
    /// What a model needs of it.
    #[must_use]
    pub fn brief(self) -> Self {
        match self {
            Self::List(list) => Self::List(list.brief()),
            Self::Run(run) => Self::Run(Box::new(RunAnswer { job: run.job.brief(), ..*run })),
        }
    }
}

impl RecipesAnswer {
    /// What a model needs of it: where a task runs only if that is elsewhere, and of its runner what
    /// is wrong.
    #[must_use]
    pub fn brief(mut self) -> Self {
        for task in &mut self.tasks {
            task.directory = task.directory.take().filter(|directory| *directory != self.root);
            task.long_lived = task.long_lived.filter(|long| *long);
        }
        for runner in &mut self.runners {
            (runner.label, runner.program) = (None, None);
            runner.evidence.clear();
            runner.alternatives.clear();
        }
        self
    }
}

/// What only a run needs.
impl RecipeRequest {
    fn given_for_a_run(&self) -> Option<&'static str> {
        let given = [
            ("args", self.args.is_some()),
            ("timeout", self.timeout.is_some()),
            ("yield", self.wait.is_some()),
            ("limits", self.limits.is_some()),
            ("background", self.background.is_some()),
            ("ready", self.ready.is_some()),
        ];
        given.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }
}

/// Lists tasks, or runs one.
pub fn recipe(call: &Call<'_>, request: &RecipeRequest) -> Result<RecipeAnswer, Error> {
    if request.op.is_some() {
        return run(call, request).map(|answer| RecipeAnswer::Run(Box::new(answer)));
    }
    if let Some(field) = request.given_for_a_run() {
        let message = "it was given without `op`; accepted: an `op` that names the task beside it";
        return Err(Error::argument(field, message));
    }
    recipes(call, request).map(RecipeAnswer::List)
}

/// Lists tasks.
pub fn recipes(call: &Call<'_>, request: &RecipeRequest) -> Result<RecipesAnswer, Error> {
    let folder = folder(call, request)?;
    let wanted = request.filter.as_deref().map(str::to_lowercase);
    let is_wanted = |task: &&Task| match &wanted {
        None => request.options.all || task.visibility == Visibility::Listed,
        Some(wanted) => {
            let doc = task.doc.as_deref().unwrap_or_default();
            let text = format!("{}:{} {doc}", task.runner, task.name).to_lowercase();
            text.contains(wanted.as_str())
        }
    };
    let (risks, runs) = (Risks::of(&folder), Runs::of(&*call.caller.backend)?);
    let mut tasks: Vec<TaskAnswer> = folder
        .project
        .tasks()
        .filter(is_wanted)
        .map(|task| TaskAnswer::new(&folder, &risks, &runs, task))
        .collect();
    let omitted = tasks.len().saturating_sub(request.options.most.unwrap_or(usize::MAX));
    tasks.truncate(tasks.len() - omitted);
    Ok(RecipesAnswer {
        root: folder.root.display().to_string(),
        runners: folder.project.runners.iter().map(RunnerAnswer::new).collect(),
        tasks,
        omitted: Some(omitted).filter(|omitted| *omitted > 0),
    })
}

/// Where tasks are looked for: in the project of the caller, and nowhere else unless it may.
pub fn folder(call: &Call<'_>, request: &RecipeRequest) -> Result<Folder, Error> {
    let wrong = |error: &dyn std::fmt::Display| Error::argument("cwd", error);
    let here = std::path::absolute(&call.caller.directory).map_err(|error| wrong(&error))?;
    let place = request.cwd.as_ref().map_or_else(|| here.clone(), |cwd| here.join(cwd));
    if request.options.anywhere {
        return call.caller.tasks_near(&place, Path::new("/")).map_err(|error| wrong(&error));
    }
    let project = umbo_gate::project_of(&here);
    let place = umbo_gate::restrict_to_project(&place, &project).map_err(|error| wrong(&error))?;
    call.caller.tasks_near(&place, &project).map_err(|error| wrong(&error))
}

/// Runs a task.
pub fn run(call: &Call<'_>, request: &RecipeRequest) -> Result<RunAnswer, Error> {
    if request.filter.is_some() {
        let message = "it was given beside `op`; accepted: `filter` to list, or `op` to run";
        return Err(Error::argument("filter", message));
    }
    let folder = folder(call, request)?;
    let selection = request.select(&folder)?;
    if let Some(message) = folder.missing(&selection) {
        return Err(Error::new(ErrorCode::NoRunner, message));
    }
    let ready = request.ready.as_ref().map(|pattern| pattern_of("ready", pattern)).transpose()?;
    let background = request.background == Some(true) || ready.is_some();
    let wanted = request.prepare(call, &folder, &selection, background)?;
    let name = selection.task.as_ref().map_or("", |task| task.name.as_str());
    let scripts = folder.scripts_of(&selection);
    let words = request.sandbox.as_ref().map(SandboxArgument::words).transpose()?;
    let gated = call.for_recipe(name, selection.task.as_ref(), &scripts).sandboxed(words.as_ref());
    let wait = call.allowed_wait(request.wait.map(|wait| wait.0));
    let mut reason = None;
    let ran = if background {
        let job = gated.start(&wanted)?;
        if let Some(pattern) = ready {
            let conditions = vec![Condition::Match { pattern, from: 0 }, Condition::Exit];
            reason = Some(WaitReason::from(&call.wait(&job, conditions, wait)?));
        }
        Ran::Running(job)
    } else {
        gated.run(&wanted, wait)?
    };
    exec::hand_over(call, &ran, request.options.on_disconnect);
    let mut job = exec::answer(call, &ran, None, request.options.output)?;
    if let Some(reason) = reason {
        job.reason = Some(reason.as_str().to_owned());
    }
    Ok(RunAnswer {
        job,
        runner: selection.runner.clone(),
        task: name.to_owned(),
        command: selection.command.clone(),
        ready: reason,
    })
}

/// Says what would run, and where.
pub fn plan(call: &Call<'_>, request: &RecipeRequest) -> Result<PlanAnswer, Error> {
    let folder = folder(call, request)?;
    let selection = request.select(&folder)?;
    let wanted = request.prepare(call, &folder, &selection, request.background == Some(true))?;
    let task = selection.task.as_ref();
    Ok(PlanAnswer {
        long_lived: task.is_some_and(|task| task.lifetime == Lifetime::LongLived),
        task: task.map(|task| task.name.clone()),
        runner: selection.runner,
        command: selection.command,
        directory: wanted.cwd.display().to_string(),
    })
}

impl RecipeRequest {
    fn select(&self, folder: &Folder) -> Result<Selection, Error> {
        let op = self.op.as_deref().unwrap_or_default();
        let words = quote::split(op).ok_or_else(|| {
            Error::argument("op", format!("a quote is left open in {op:?}; close it"))
        })?;
        let mut words = words.into_iter();
        let selector = words.next().unwrap_or_default();
        let words: Vec<String> = words.chain(self.args.iter().flatten().cloned()).collect();
        select::resolve_words(&folder.project, &selector, &words)
            .map_err(|error| Error::argument("op", error))
    }

    fn prepare(
        &self,
        call: &Call<'_>,
        folder: &Folder,
        selection: &Selection,
        background: bool,
    ) -> Result<Request, Error> {
        let mut request = folder.request(selection);
        let usual = call.request("", None);
        request.env = usual.env;
        request.owner = usual.owner;
        if let Some(limits) = &self.options.limits {
            request.limits = limits.clone();
        }
        request.limits.wall = self.timeout.map_or(call.caller.timeout, Seconds::limit);
        if let Some(limits) = &self.limits {
            limits.apply(&mut request.limits)?;
        }
        request.terminal = self.options.pty.then(Size::default);
        let usual = if background { OnDisconnect::Detach } else { OnDisconnect::Stop };
        request.on_disconnect = self.options.on_disconnect.unwrap_or(usual).into();
        // What runs on its own can be given input later.
        request.stdin = if background { Stdin::Open } else { Stdin::None };
        Ok(request)
    }
}
