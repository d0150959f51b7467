//! `shell`: a command in the project.

use std::path::{Component, Path, PathBuf};
use std::sync::PoisonError;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_command::Shell as Language;
use umbo_engine::{Attendance, Command, End, Login, OnDisconnect, Request, Shell, Status, Stdin};
use umbo_ops::{Call, ErrorCode, Ran};
use umbo_view::Stream;

use super::{JobId, State, TIMEOUT, blocked, failed, io_error, lost, output};
use crate::answer::{Answer, ToolError};
use crate::denied::with_denials;
use crate::dialect::Running;
use crate::time::{limit, wait_for};

/// What the climb to SIGKILL and its proof may take beyond the timeout.
const KILL_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    /// The command to execute (Nushell syntax)
    command: String,
    /// Working directory (relative to project root)
    working_dir: Option<String>,
    /// Timeout in seconds (uses config default if not specified)
    timeout_secs: Option<i64>,
    /// If true, run in background and return job ID immediately
    #[serde(default)]
    background: bool,
}

/// What a command that was waited for told, or the job that it is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Output {
    Finished(Finished),
    Started(Started),
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Finished {
    exit_code: Option<i32>,
    stdout: String,
    stderr: String,
    timed_out: bool,
    #[schemars(range(min = 0))]
    duration_secs: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Started {
    job_id: JobId,
    status: Running,
    message: String,
}

pub(super) fn run(
    state: &State,
    call: &Call<'_>,
    arguments: Arguments,
) -> Result<Answer<Output>, ToolError> {
    let line = arguments.command.as_str();
    let seconds = match arguments.timeout_secs {
        None => state.config.default_timeout_secs,
        Some(given) => u64::try_from(given).map_err(|_| {
            let message = format!("timeout_secs: {given} was given; accepted: seconds from 0 up");
            ToolError::new(ErrorCode::InvalidArguments, message)
        })?,
    };
    let working_dir = arguments.working_dir.as_deref();
    if arguments.background {
        let job_id = spawn(state, call, line, working_dir, seconds)?;
        let message = format!("Command '{line}' started in background");
        let started = Started { job_id, status: Running::Running, message };
        return Ok(Answer::json(Output::Started(started)));
    }
    let request = request(state, call, line, working_dir, seconds)?;
    foreground(state, call, &request)
}

/// Starts a command that nobody waits for.
pub(super) fn spawn(
    state: &State,
    call: &Call<'_>,
    line: &str,
    working_dir: Option<&str>,
    seconds: u64,
) -> Result<JobId, ToolError> {
    let mut request = request(state, call, line, working_dir, seconds)?;
    request.labels.insert(TIMEOUT.to_owned(), seconds.to_string());
    request.on_disconnect = OnDisconnect::Detach;
    let place = Place::take(state, call)?;
    let job = call.start(&request).map_err(|problem| refused(&request, problem))?;
    // From here on it is counted as the job it is.
    drop(place);
    Ok(JobId::of(job.id()))
}

/// A request that keeps to the project, and is no obvious mistake.
fn request(
    state: &State,
    call: &Call<'_>,
    line: &str,
    working_dir: Option<&str>,
    seconds: u64,
) -> Result<Request, ToolError> {
    let directory = directory(state, call, working_dir)?;
    let shell = shell(state, call)?;
    let home = call.variable("HOME").map(PathBuf::from);
    let language = language(call, &shell);
    if let Some(pattern) = blocked::pattern(line, language, &directory, home.as_deref())? {
        let message = format!("Command blocked: contains '{pattern}'");
        return Err(ToolError::new(ErrorCode::BlockedCommand, message));
    }
    let mut request = call.request(line, None);
    request.cwd = directory;
    request.command = Command::Shell { text: line.to_owned(), shell, login: Login::No };
    // The full environment, as it is.
    request.env.attendance = Attendance::Attended;
    request.stdin = Stdin::None;
    request.limits.wall = limit(Duration::from_secs(seconds));
    request.on_disconnect = OnDisconnect::Stop;
    Ok(request)
}

fn foreground(
    state: &State,
    call: &Call<'_>,
    request: &Request,
) -> Result<Answer<Output>, ToolError> {
    let _place = Place::take(state, call)?;
    let wait = wait_for(request.limits.wall, KILL_TIMEOUT);
    let Ran::Ended(job, outcome) =
        call.run(request, wait).map_err(|problem| refused(request, problem))?
    else {
        return Err(io_error("the call was cancelled"));
    };
    match &outcome.end {
        End::FailedToStart { why } => return Err(io_error(why)),
        End::Lost { reason } => return Err(io_error(lost(*reason))),
        _ => {}
    }
    let output = |stream| output(call, &job, stream);
    let timed_out = matches!(outcome.end, End::TimedOut { .. });
    let finished = Finished {
        exit_code: if timed_out { None } else { outcome.exit_code() },
        stdout: output(Stream::Stdout)?,
        stderr: with_denials(output(Stream::Stderr)?, &outcome),
        timed_out,
        duration_secs: outcome.duration().as_secs_f64(),
    };
    Ok(Answer::json(Output::Finished(finished)).of_job(&job))
}

/// One of the commands that may run at once.
struct Place<'a> {
    state: &'a State,
}

impl<'a> Place<'a> {
    fn take(state: &'a State, call: &Call<'_>) -> Result<Self, ToolError> {
        let most = state.config.max_concurrent_processes;
        let mut busy = state.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let jobs = state.jobs(call)?;
        let runs = |status: &Status| !matches!(status, Status::Ended(_));
        let running = jobs.iter().filter(|job| runs(&job.status)).count();
        if *busy + running >= most {
            let message = format!("{most} processes run already; wait for one, or cancel one");
            return Err(ToolError::new(ErrorCode::TooManyProcesses, message));
        }
        *busy += 1;
        Ok(Self { state })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.state.busy.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}

/// The shell that the settings name, which must be there.
fn shell(state: &State, call: &Call<'_>) -> Result<Shell, ToolError> {
    let settings = &state.config;
    let at = |path: &Path| {
        let shell = path.is_file().then(|| Shell::Path(path.to_owned()));
        shell.ok_or_else(|| missing(&path.display().to_string()))
    };
    if let Some(path) = &settings.shell_path {
        return at(path);
    }
    match settings.shell.as_str() {
        // The contract falls back to sh where there is no Nushell.
        "nu" | "nushell" | "nu|sh" => Ok(Shell::NuOrSh),
        "sh" => Ok(Shell::Sh),
        name if name.contains('/') => at(Path::new(name)),
        name => match call.caller.program(name) {
            Some(_) => Ok(call.shell_named(name)?),
            None => Err(missing(name)),
        },
    }
}

/// The error of a request that could not be run.
fn refused(request: &Request, problem: umbo_ops::Error) -> ToolError {
    match &request.command {
        // It is a file, and no program.
        Command::Shell { shell, .. } if problem.code == ErrorCode::NoShell => {
            missing(&shell.name())
        }
        _ => failed(problem),
    }
}

fn missing(shell: &str) -> ToolError {
    let message = format!("Shell not installed: {shell}. Install from https://nushell.sh");
    ToolError::new(ErrorCode::ShellNotInstalled, message)
}

/// The language that the line is written in.
fn language(call: &Call<'_>, shell: &Shell) -> Language {
    let name = match shell {
        Shell::NuOrSh if call.caller.program("nu").is_some() => "nu".into(),
        Shell::Path(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        other => other.name(),
    };
    Language::named(&name).unwrap_or(Language::Posix)
}

/// The directory, which must be inside of the project if the settings say so. Links are resolved
/// first, so that none leads out.
fn directory(state: &State, call: &Call<'_>, given: Option<&str>) -> Result<PathBuf, ToolError> {
    let root = state.project.clone().unwrap_or_else(|| call.directory(None));
    let missing = |path: &str| {
        ToolError::new(
            ErrorCode::WorkingDirNotFound,
            format!("Working directory not found: {path}"),
        )
    };
    let root = root.canonicalize().map_err(|_| missing(&root.display().to_string()))?;
    let Some(given) = given else { return Ok(root) };
    let wanted = root.join(given);
    let resolved = wanted.canonicalize();
    let judged = match &resolved {
        Ok(path) => path.clone(),
        // It does not exist; whether it would be inside is told from its name.
        Err(_) => plain(&wanted),
    };
    if state.config.restrict_to_project && !judged.starts_with(&root) {
        let message = format!("Working directory '{given}' is outside project root");
        return Err(ToolError::new(ErrorCode::WorkingDirEscape, message));
    }
    resolved.ok().filter(|path| path.is_dir()).ok_or_else(|| missing(given))
}

/// A path without `.` and `..`, by its name alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}
