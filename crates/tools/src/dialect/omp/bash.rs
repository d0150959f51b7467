//! `bash`: a command, for at most a minute in the foreground.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Number;
use umbo_command::Shell as Language;
use umbo_engine::{
    Admission, Attendance, JobHandle, OnDisconnect, Outcome, Request, Session, SessionDirectory,
    Size, Status, Stdin, Streams, Summary,
};
use umbo_ops::{Call, ErrorCode, Ran, fresh_name, label_wait, text};
use umbo_view::View;

use super::result::{
    Async, AsyncState, BashDetails, Direction, Meta, Output, ShownRange, TruncatedBy, Truncation,
    answer,
};
use super::urls::{Writing, expand};
use super::{MARK, MOST_BYTES, State, TIMEOUT, artifact, cd, ending, error, jobs, label, view};
use crate::answer::{Answer, ToolError};

const DEFAULT_TIMEOUT_SECS: f64 = 300.0;
const TIMEOUT_BOUNDS_SECS: (f64, f64) = (1.0, 3600.0);
/// The least and the most that `async.maxJobs` can be.
const MAX_JOBS_BOUNDS: (usize, usize) = (1, 100);
/// A timeout that is waited for to its end, for there is no time to be spent in the background.
const SHORT_TIMEOUT: Duration = Duration::from_secs(2);
/// What the climb to SIGKILL and its proof may take beyond a timeout.
const KILL_TIMEOUT: Duration = Duration::from_secs(20);
/// How many tokens of output a background job is announced with.
const PREVIEW_TOKENS: u64 = 1_000;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Shell command text
    command: String,
    /// Extra environment variables
    env: Option<BTreeMap<String, String>>,
    /// Seconds, 300 unless given, within 1 to 3600
    timeout: Option<f64>,
    /// Working directory
    cwd: Option<String>,
    /// Keep only the first lines
    #[schemars(range(min = 1))]
    head: Option<u64>,
    /// Keep only the last lines
    #[schemars(range(min = 1))]
    tail: Option<u64>,
    /// Ask for a terminal; only where a person sits at one
    pty: Option<bool>,
    /// Run as a background job
    r#async: Option<bool>,
}

impl Arguments {
    /// A command and where it runs; the rest is as if it was not given.
    pub(super) fn of_command(command: String, cwd: Option<String>) -> Self {
        Self { command, cwd, ..Self::default() }
    }
}

/// What an answer says beside the output.
struct Told {
    details: BashDetails,
    notice: Option<String>,
}

pub(super) fn run(
    state: &State,
    call: &Call<'_>,
    arguments: Arguments,
) -> Result<Answer<Output<BashDetails>>, ToolError> {
    let mut request = request(state, call, &arguments)?;
    let requested = arguments.timeout.unwrap_or(DEFAULT_TIMEOUT_SECS);
    let seconds = requested.clamp(TIMEOUT_BOUNDS_SECS.0, TIMEOUT_BOUNDS_SECS.1);
    let timeout = Duration::from_secs_f64(seconds);
    request.limits.wall = Some(timeout);
    request.labels.insert(TIMEOUT.to_owned(), seconds.to_string());
    let details = BashDetails { timeout_seconds: number(seconds), ..BashDetails::default() };
    let mut told = Told { details, notice: None };
    if (seconds - requested).abs() > f64::EPSILON {
        told.details.requested_timeout_seconds = number(requested);
        told.notice = Some(format!(
            "Timeout clamped to {seconds}s (requested {requested}s; allowed 1-3600s)"
        ));
    }
    let id = fresh_name(MARK, 6);
    request.name = Some(id.clone());
    if arguments.r#async == Some(true) {
        has_room(state, call)?;
        label_wait(&mut request, Duration::ZERO);
        let job = call.start(&request)?;
        return background(call, &job, &id, told);
    }
    request.on_disconnect = OnDisconnect::Stop;
    let wait = foreground_wait(state, call, &request, timeout);
    label_wait(&mut request, wait);
    match run_in_session(state, call, &request, wait)? {
        Ran::Ended(job, outcome) => ended(call, &arguments, &job, &outcome, told),
        Ran::Running(job) => match job.status() {
            Ok(Status::Ended(outcome)) => {
                call.told(&job);
                ended(call, &arguments, &job, &outcome, told)
            }
            _ if call.ticket.is_cancelled() => Err(error("Command aborted")),
            Ok(_) => background(call, &job, &id, told),
            Err(problem) => Err(problem.into()),
        },
    }
}

/// Runs a command, in the shell that its caller's commands share if they share one. While another command
/// has that, it runs in a shell of its own, as the contract has it.
fn run_in_session(
    state: &State,
    call: &Call<'_>,
    request: &Request,
    wait: Duration,
) -> Result<Ran, ToolError> {
    if state.settings.session && request.terminal.is_none() {
        let owner = call.caller.owner.as_deref().unwrap_or_default();
        let allowed = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
        let name = ["omp-", owner].concat().chars().filter(allowed).collect();
        let directory = SessionDirectory::Change;
        let mut in_session = request.clone();
        in_session.session = Some(Session { name, directory });
        in_session.admission = Admission::Refuse;
        match call.run(&in_session, wait) {
            Err(error) if is_busy(error.code) => {}
            other => return Ok(other?),
        }
    }
    Ok(call.run(request, wait)?)
}

fn is_busy(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::SessionBusy | ErrorCode::TooManyJobs)
}

/// A number as a person writes it: 300, not 300.0.
fn number(number: f64) -> Option<Number> {
    number.to_string().parse().ok()
}

/// Refuses a background job beyond the most that may run.
fn has_room(state: &State, call: &Call<'_>) -> Result<(), ToolError> {
    let most = state.settings.max_jobs.clamp(MAX_JOBS_BOUNDS.0, MAX_JOBS_BOUNDS.1);
    let runs = |job: &Summary| !matches!(job.status, Status::Ended(_));
    if jobs(call)?.iter().filter(|job| runs(job)).count() < most {
        return Ok(());
    }
    let text = format!("Background job limit reached ({most}). Poll or cancel one with `job`.");
    Err(error(text))
}

/// How long a command stays in the foreground.
fn foreground_wait(
    state: &State,
    call: &Call<'_>,
    request: &Request,
    timeout: Duration,
) -> Duration {
    let settings = &state.settings;
    let to_its_end = timeout + KILL_TIMEOUT;
    if !settings.auto_background || request.terminal.is_some() || timeout <= SHORT_TIMEOUT {
        return to_its_end;
    }
    let wait =
        settings.auto_background_threshold.min(timeout.saturating_sub(Duration::from_secs(1)));
    call.allowed_wait(Some(wait))
}

fn request(state: &State, call: &Call<'_>, arguments: &Arguments) -> Result<Request, ToolError> {
    let original = arguments.command.as_str();
    let variables = arguments.env.iter().flatten();
    if let Some((name, _)) = variables.clone().find(|(name, _)| !is_name(name)) {
        return Err(error(format!("Invalid bash env name: {name}")));
    }
    let (mut command, mut directory) = (original, arguments.cwd.clone());
    if directory.is_none()
        && let Some((path, rest)) = cd::split(original)
    {
        directory = Some(path);
        command = rest;
    }
    if state.settings.interceptor {
        intercepted(state, call, original, command)?;
    }
    let mut command = expand(call, command, Writing::Quoted)?;
    if let Some(prefix) = prefix(state, call) {
        command = format!("{prefix} {command}");
    }
    let directory = match directory {
        Some(directory) => Some(expand(call, &directory, Writing::Bare)?),
        None => None,
    };
    let mut request = call.request(&command, None);
    request.cwd = existing(call, directory.as_deref())?;
    for (name, value) in variables {
        request.env.set.push((name.into(), expand(call, value, Writing::Quoted)?.into()));
    }
    request.stdin = Stdin::None;
    request.profile = state.settings.profile;
    request.streams = Streams::Together;
    request.env.attendance = Attendance::UnattendedAlways;
    let may_ask = state.has_terminal && call.variable("PI_NO_PTY").is_none_or(|no| no != "1");
    // A background job has nobody at its terminal.
    if arguments.pty == Some(true) && arguments.r#async != Some(true) && may_ask {
        request.terminal = Some(Size::default());
    }
    Ok(request)
}

/// What stands in front of every command: as it was set, or as the variables of the contract say.
fn prefix(state: &State, call: &Call<'_>) -> Option<String> {
    let variable = |name| call.variable(name).and_then(|value| value.into_string().ok());
    let variables = ["PI_SHELL_PREFIX", "CLAUDE_CODE_SHELL_PREFIX"];
    state.settings.prefix.clone().or_else(|| variables.into_iter().find_map(variable))
}

/// Refuses what another tool of the caller does better, as it was given and without its `cd`.
fn intercepted(
    state: &State,
    call: &Call<'_>,
    original: &str,
    command: &str,
) -> Result<(), ToolError> {
    let known = call.caller.tools().iter().chain(&state.beside);
    let tools: Vec<&str> = known.map(String::as_str).collect();
    for text in [original, command] {
        if let Some(rule) = state.settings.rules.iter().find(|rule| rule.fits(text, &tools)) {
            let message = &rule.message;
            return Err(error(format!("Blocked: {message}\n\nOriginal command: {original}")));
        }
        let reading = umbo_command::read(text, Language::Bash);
        if let Some(blocked) = umbo_gate::intercept(original, &reading, &tools) {
            return Err(error(blocked));
        }
    }
    Ok(())
}

fn existing(call: &Call<'_>, directory: Option<&str>) -> Result<PathBuf, ToolError> {
    let directory = call.directory(directory.map(|given| at_home(call, given)).as_deref());
    if !directory.exists() {
        return Err(error(format!("Working directory does not exist: {}", directory.display())));
    }
    if !directory.is_dir() {
        let text = format!("Working directory is not a directory: {}", directory.display());
        return Err(error(text));
    }
    Ok(directory)
}

/// A directory that begins with `~`, as a shell has it.
fn at_home(call: &Call<'_>, directory: &str) -> String {
    let rest = directory.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (rest, call.variable("HOME").and_then(|home| home.into_string().ok())) {
        (Some(rest), Some(home)) => format!("{home}{rest}"),
        _ => directory.to_owned(),
    }
}

fn is_name(name: &str) -> bool {
    let mut letters = name.bytes();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
}

fn ended(
    call: &Call<'_>,
    arguments: &Arguments,
    job: &JobHandle,
    outcome: &Outcome,
    mut told: Told,
) -> Result<Answer<Output<BashDetails>>, ToolError> {
    let view = view(call, job, arguments.head, MOST_BYTES)?;
    let mut output = last_lines(text(&view), arguments.tail);
    if view.counts.folded_lines > 0 {
        output = format!("{}\n[raw output: artifact://{}]", output.trim_end(), job.id());
    }
    let (mut text, failed) = match ending(call, job, outcome, &output) {
        Ok(text) => (text, false),
        Err(text) => (text, true),
    };
    if let Some(notice) = told.notice {
        text = format!("{text}\n\n{notice}");
    }
    if view.truncated {
        told.details.meta = Some(Meta { truncation: truncation(job, &view) });
        text = format!("{text}\n\n{}", artifact(job));
    }
    if failed { Err(error(text)) } else { Ok(answer(text, told.details).of_job(job)) }
}

/// What is missing at the beginning, and where it is.
fn truncation(job: &JobHandle, view: &View) -> Truncation {
    let counts = view.counts;
    // Lines too many to be counted have no numbers.
    let shown_range = counts
        .total_lines
        .map(|last| ShownRange { start: last.saturating_sub(counts.shown_lines) + 1, end: last });
    Truncation {
        direction: Direction::Tail,
        truncated_by: TruncatedBy::Bytes,
        total_lines: counts.total_lines.and_then(|lines| i64::try_from(lines).ok()),
        total_bytes: counts.total_bytes,
        output_lines: counts.shown_lines,
        output_bytes: counts.shown_bytes,
        shown_range,
        artifact_id: job.id().to_string(),
    }
}

fn last_lines(text: String, most: Option<u64>) -> String {
    let Some(most) = most.and_then(|lines| usize::try_from(lines).ok()) else { return text };
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(most)..].join("\n")
}

fn background(
    call: &Call<'_>,
    job: &JobHandle,
    id: &str,
    told: Told,
) -> Result<Answer<Output<BashDetails>>, ToolError> {
    let command = job.summary().map(|summary| summary.command).unwrap_or_default();
    let mut details = told.details;
    details.r#async = Some(Async::new(AsyncState::Running, id));
    let preview = call.text(job, None, call.budget(Some(PREVIEW_TOKENS)))?;
    let mut parts = vec![preview.trim_end().to_owned()];
    parts.extend(told.notice);
    parts.push(format!(
        "Background job {id} started: {}\n\
         Use `job` with `poll: [\"{id}\"]` to wait for it, or `list: true` to look.",
        label(&command)
    ));
    parts.retain(|part| !part.is_empty());
    Ok(answer(parts.join("\n\n"), details).of_job(job))
}
