//! `shell`: a command in the project.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use umbo_engine::{Attendance, Command, End, Login, OnDisconnect, Request, Shell, Stdin};
use umbo_view::Stream;

use super::{MARK, error, failed};
use crate::answer::{Answer, ToolError};
use crate::arguments::{Arguments, whole};
use crate::call::{Call, Ran};

/// Obvious mistakes. Not a boundary: the gate is one.
const BLOCKED: [&str; 4] = ["rm -rf /", "rm -rf ~", "> /dev/sd", "dd if="];
/// What the climb to SIGKILL and its proof may take beyond the timeout.
const SLACK: Duration = Duration::from_secs(20);

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let line = arguments.text("command").unwrap_or_default();
    if let Some(pattern) = BLOCKED.into_iter().find(|pattern| line.contains(pattern)) {
        let message = format!("Command blocked: contains '{pattern}'");
        return Err(error("blocked_command", message));
    }
    let seconds = match arguments.get("timeout_secs") {
        None => call.tools.shell.default_timeout_secs,
        Some(given) => whole(given).ok_or_else(|| {
            let message = format!("timeout_secs: {given} was given; accepted: seconds from 0 up");
            error("invalid_arguments", message)
        })?,
    };
    let request = request(call, arguments, line, seconds)?;
    if arguments.flag("background") {
        return background(call, request, line, seconds);
    }
    let patience = Duration::from_secs(seconds).saturating_add(SLACK);
    let ran = call.run(&request, patience).map_err(|problem| shaped(&problem))?;
    let Ran::Ended(job, outcome) = ran else {
        return Err(error("io_error", "IO error: the call was cancelled"));
    };
    if let End::FailedToStart { why } = &outcome.end {
        return Err(error("io_error", format!("IO error: {why}")));
    }
    let budget = call.budget(None);
    let stdout = call.text(&job, Some(Stream::Stdout), budget)?;
    let stderr = call.text(&job, Some(Stream::Stderr), budget)?;
    let timed_out = matches!(outcome.end, End::TimedOut { .. });
    let code = if timed_out { None } else { outcome.exit_code() };
    let value = json!({
        "exit_code": code,
        "stdout": stdout,
        "stderr": stderr,
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
    request.name = Some(format!("{MARK}{seconds}"));
    request.on_disconnect = OnDisconnect::Detach;
    let job = call.start(&request).map_err(|problem| shaped(&problem))?;
    let value = json!({
        "job_id": format!("job_{}", job.id()),
        "status": "running",
        "message": format!("Command '{line}' started in background"),
    });
    let text = value.to_string();
    Ok(Answer::new(value, text))
}

fn request(
    call: &Call<'_>,
    arguments: &Arguments,
    line: &str,
    seconds: u64,
) -> Result<Request, ToolError> {
    let mut request = call.request(line, None);
    request.cwd = directory(call, arguments.text("working_dir"))?;
    let settings = &call.tools.shell;
    let shell = match (&settings.shell_path, settings.shell.as_str()) {
        (Some(path), _) => Shell::Path(path.clone()),
        // The contract falls back to sh where there is no Nushell.
        (None, "nu") => Shell::NuOrSh,
        (None, name) => Shell::parse(name).map_err(|cause| failed(&cause))?,
    };
    request.command = Command::Shell { text: line.to_owned(), shell, login: Login::No };
    // The full environment, as it is.
    request.env.attendance = Attendance::Attended;
    request.stdin = Stdin::None;
    request.limits.wall = Some(Duration::from_secs(seconds));
    request.on_disconnect = OnDisconnect::Stop;
    Ok(request)
}

/// The directory, which must be inside of the project if the settings say so. Links are resolved
/// first, so that none leads out.
fn directory(call: &Call<'_>, given: Option<&str>) -> Result<PathBuf, ToolError> {
    let settings = &call.tools.shell;
    let root = settings.project_root.clone().unwrap_or_else(|| call.directory(None));
    let missing =
        |path: &str| error("working_dir_not_found", format!("Working directory not found: {path}"));
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
        return Err(error("working_dir_escape", message));
    }
    resolved.ok().filter(|path| path.is_dir()).ok_or_else(|| missing(given))
}

/// A path without `.` and `..`, by its name alone.
fn plain(path: &std::path::Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                plain.pop();
            }
            std::path::Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

fn shaped(problem: &ToolError) -> ToolError {
    match problem.code {
        "no_shell" => {
            let message = "Shell not installed: nu. Install from https://nushell.sh";
            error("shell_not_installed", message)
        }
        "too_many_jobs" => error("too_many_processes", problem.message.clone()),
        _ => error("io_error", format!("IO error: {}", problem.message)),
    }
}
