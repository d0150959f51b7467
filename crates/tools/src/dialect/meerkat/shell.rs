//! `shell`: a command in the project.

use std::path::{Component, Path, PathBuf};
use std::sync::PoisonError;
use std::time::Duration;

use serde_json::json;
use umbo_command::Shell as Language;
use umbo_engine::{Attendance, Command, End, Login, OnDisconnect, Request, Shell, Status, Stdin};
use umbo_view::Stream;

use super::{TIMEOUT, blocked, failed, io_error, lost, output};
use umbo_ops::ErrorCode;

use crate::answer::{Answer, ToolError};
use crate::arguments::{Arguments, whole};
use crate::call::{Call, Ran};

/// What the climb to SIGKILL and its proof may take beyond the timeout.
const SLACK: Duration = Duration::from_secs(20);

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let line = arguments.text("command").unwrap_or_default();
    let seconds = match arguments.get("timeout_secs") {
        None => call.tools.shell.default_timeout_secs,
        Some(given) => whole(given).ok_or_else(|| {
            let message = format!("timeout_secs: {given} was given; accepted: seconds from 0 up");
            ToolError::new(ErrorCode::InvalidArguments, message)
        })?,
    };
    let directory = directory(call, arguments.text("working_dir"))?;
    let shell = shell(call)?;
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
    request.limits.wall = Some(Duration::from_secs(seconds));
    request.on_disconnect = OnDisconnect::Stop;
    if arguments.flag("background") {
        background(call, request, line, seconds)
    } else {
        foreground(call, &request, seconds)
    }
}

fn foreground(call: &Call<'_>, request: &Request, seconds: u64) -> Result<Answer, ToolError> {
    let _place = Place::take(call)?;
    let patience = Duration::from_secs(seconds).saturating_add(SLACK);
    let Ran::Ended(job, outcome) =
        call.run(request, patience).map_err(|problem| refused(request, problem.into()))?
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
    let value = json!({
        "exit_code": if timed_out { None } else { outcome.exit_code() },
        "stdout": output(Stream::Stdout)?,
        "stderr": output(Stream::Stderr)?,
        "timed_out": timed_out,
        "duration_secs": outcome.duration().as_secs_f64(),
    });
    let text = value.to_string();
    Ok(Answer::new(value, text))
}

fn background(
    call: &Call<'_>,
    mut request: Request,
    line: &str,
    seconds: u64,
) -> Result<Answer, ToolError> {
    request.labels.insert(TIMEOUT.to_owned(), seconds.to_string());
    request.on_disconnect = OnDisconnect::Detach;
    let place = Place::take(call)?;
    let job = call.start(&request).map_err(|problem| refused(&request, problem.into()))?;
    // From here on it is counted as the job it is.
    drop(place);
    let value = json!({
        "job_id": format!("job_{}", job.id()),
        "status": "running",
        "message": format!("Command '{line}' started in background"),
    });
    let text = value.to_string();
    Ok(Answer::new(value, text))
}

/// One of the commands that may run at once.
struct Place<'a> {
    call: &'a Call<'a>,
}

impl<'a> Place<'a> {
    fn take(call: &'a Call<'a>) -> Result<Self, ToolError> {
        let most = call.tools.shell.max_concurrent_processes;
        let mut busy = call.tools.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let jobs = super::jobs(call)?;
        let runs = |status: &Status| !matches!(status, Status::Ended(_));
        let running = jobs.iter().filter(|job| runs(&job.status)).count();
        if *busy + running >= most {
            let message = format!("{most} processes run already; wait for one, or cancel one");
            return Err(ToolError::new(ErrorCode::TooManyProcesses, message));
        }
        *busy += 1;
        Ok(Self { call })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.call.tools.busy.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}

/// The shell that the settings name, which must be there.
fn shell(call: &Call<'_>) -> Result<Shell, ToolError> {
    let settings = &call.tools.shell;
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
        name => match call.tools.program(name) {
            Some(_) => Ok(call.shell_named(name)?),
            None => Err(missing(name)),
        },
    }
}

/// The error of a request that could not be run.
fn refused(request: &Request, problem: ToolError) -> ToolError {
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
        Shell::NuOrSh if call.tools.program("nu").is_some() => "nu".into(),
        Shell::Path(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        other => other.name(),
    };
    Language::named(&name).unwrap_or(Language::Posix)
}

/// The directory, which must be inside of the project if the settings say so. Links are resolved
/// first, so that none leads out.
fn directory(call: &Call<'_>, given: Option<&str>) -> Result<PathBuf, ToolError> {
    let settings = &call.tools.shell;
    let root = settings.project_root.clone().unwrap_or_else(|| call.directory(None));
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
    if settings.restrict_to_project && !judged.starts_with(&root) {
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
