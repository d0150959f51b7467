//! `bash`: a command, for at most a minute in the foreground.

use std::time::Duration;

use serde_json::{Value, json};
use umbo_engine::{Job, OnDisconnect, Outcome, Request, Status, Stdin};

use super::{MARK, answer, cd, ending, error, label};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::{Call, Ran, fresh_name};

const TIMEOUT: f64 = 300.0;
const BOUNDS: (f64, f64) = (1.0, 3600.0);
/// When a command in the foreground becomes one in the background.
const AUTO_BACKGROUND: Duration = Duration::from_mins(1);
/// A timeout that is waited for to its end, for there is no time to be spent in the background.
const SHORT: Duration = Duration::from_secs(2);
/// What the climb to SIGKILL and its proof may take beyond a timeout.
const CLIMB: Duration = Duration::from_secs(20);

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let requested = arguments.number("timeout").unwrap_or(TIMEOUT);
    let seconds = requested.clamp(BOUNDS.0, BOUNDS.1);
    let mut request = request(call, arguments)?;
    let timeout = Duration::from_secs_f64(seconds);
    request.limits.wall = Some(timeout);
    let id = fresh_name(MARK, 6);
    request.name = Some(id.clone());
    let mut details = json!({"timeoutSeconds": seconds});
    let mut notice = None;
    if (seconds - requested).abs() > f64::EPSILON {
        details["requestedTimeoutSeconds"] = json!(requested);
        notice = Some(format!(
            "Timeout clamped to {seconds}s (requested {requested}s; allowed 1-3600s)"
        ));
    }
    if arguments.flag("async") {
        let job = call.start(&request)?;
        return background(call, &job, &id, details, notice.as_deref());
    }
    request.on_disconnect = OnDisconnect::Stop;
    let short = timeout <= SHORT;
    let patience = AUTO_BACKGROUND.min(timeout.saturating_sub(Duration::from_secs(1)));
    let patience = if short { timeout + CLIMB } else { patience };
    match call.run(&request, patience)? {
        Ran::Ended(job, outcome) => {
            ended(call, arguments, &job, &outcome, details, notice.as_deref())
        }
        Ran::Running(job) => match job.status()? {
            Status::Ended(outcome) => {
                call.told(&job);
                ended(call, arguments, &job, &outcome, details, notice.as_deref())
            }
            _ => background(call, &job, &id, details, notice.as_deref()),
        },
    }
}

fn request(call: &Call<'_>, arguments: &Arguments) -> Result<Request, ToolError> {
    let mut command = arguments.text("command").unwrap_or_default();
    let mut directory = arguments.text("cwd").map(str::to_owned);
    if directory.is_none()
        && let Some((path, rest)) = cd::split(command)
    {
        directory = Some(path);
        command = rest;
    }
    let resolved = call.directory(directory.as_deref());
    if !resolved.exists() {
        return Err(error(format!("Working directory does not exist: {}", resolved.display())));
    }
    if !resolved.is_dir() {
        return Err(error(format!("Working directory is not a directory: {}", resolved.display())));
    }
    let mut request = call.request(command, directory.as_deref());
    for (name, value) in arguments.pairs("env") {
        if !is_name(&name) {
            return Err(error(format!("Invalid bash env name: {name}")));
        }
        request.env.set.push((name.into(), value.into()));
    }
    request.stdin = Stdin::None;
    Ok(request)
}

fn is_name(name: &str) -> bool {
    let mut letters = name.bytes();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
}

fn ended(
    call: &Call<'_>,
    arguments: &Arguments,
    job: &Job,
    outcome: &Outcome,
    mut details: Value,
    notice: Option<&str>,
) -> Result<Answer, ToolError> {
    let (text, failed) = match ending(call, job, outcome)? {
        Ok(text) => (text, false),
        Err(text) => (text, true),
    };
    let mut text = if failed { text } else { filtered(arguments, text) };
    if let Some(notice) = notice {
        text = format!("{text}\n\n{notice}");
    }
    if failed {
        return Err(error(text));
    }
    let view = call.view(job, 0, None, call.budget(None))?;
    if view.truncated {
        let counts = view.counts;
        details["meta"] = json!({"truncation": {
            "truncatedBy": "bytes",
            "totalLines": counts.total_lines,
            "totalBytes": counts.total_bytes,
            "outputLines": counts.shown_lines,
            "outputBytes": counts.shown_bytes,
            "artifactId": job.id().as_str(),
        }});
        text = format!("{text}\n\nFull: artifact://{}", job.id());
    }
    Ok(answer(text, &details))
}

/// The first lines of a text, then the last of these.
fn filtered(arguments: &Arguments, text: String) -> String {
    let count = |name: &str| arguments.count(name).and_then(|lines| usize::try_from(lines).ok());
    let (head, tail) = (count("head"), count("tail"));
    if head.is_none() && tail.is_none() {
        return text;
    }
    let lines: Vec<&str> = text.lines().take(head.unwrap_or(usize::MAX)).collect();
    lines[lines.len().saturating_sub(tail.unwrap_or(usize::MAX))..].join("\n")
}

fn background(
    call: &Call<'_>,
    job: &Job,
    id: &str,
    mut details: Value,
    notice: Option<&str>,
) -> Result<Answer, ToolError> {
    let command = job.summary().map(|summary| summary.command).unwrap_or_default();
    details["async"] = json!({"state": "running", "jobId": id, "type": "bash"});
    let mut parts = Vec::new();
    let preview = call.text(job, None, call.budget(Some(1_000)))?;
    if !preview.is_empty() {
        parts.push(preview.trim_end().to_owned());
    }
    parts.extend(notice.map(str::to_owned));
    parts.push(format!(
        "Background job {id} started: {}\n\
         Use `job` with `poll: [\"{id}\"]` to wait for it, or `list: true` to look.",
        label(&command)
    ));
    Ok(answer(parts.join("\n\n"), &details))
}
