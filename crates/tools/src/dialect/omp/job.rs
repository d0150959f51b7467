//! `job`: waits for background jobs, cancels them, lists them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use umbo_engine::{Job, Ladder, Scope, Status, Summary};

use super::{answer, ending, error, is_job, label, status};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::{Call, Whose, now};

/// How long a poll waits for the first job to end.
const POLL: Duration = Duration::from_secs(30);
/// How often it looks up.
const BEAT: Duration = Duration::from_millis(500);

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let poll = arguments.texts("poll");
    let cancel = arguments.texts("cancel");
    if arguments.flag("list") {
        if poll.is_some() || cancel.is_some() {
            return Err(error("`list` cannot be combined with `poll` or `cancel`."));
        }
        return build(call, &mine(call)?, None);
    }
    let cancelled = cancel.as_deref().map(|ids| cancel_all(call, ids)).transpose()?;
    let watched: Vec<Job> = match (&poll, &cancelled) {
        (Some(ids), _) => ids.iter().filter_map(|id| call.named(id)).collect(),
        (None, None) => running(call)?,
        (None, Some(_)) => Vec::new(),
    };
    if watched.is_empty() {
        if let Some(cancelled) = cancelled {
            let ids = cancel.unwrap_or_default();
            let jobs: Vec<Job> = ids.iter().filter_map(|id| call.named(id)).collect();
            return build(call, &jobs, Some(&cancelled));
        }
        let text = match poll {
            Some(ids) => format!("No matching jobs found for IDs: {}", ids.join(", ")),
            None => "No running background jobs to wait for.".to_owned(),
        };
        return Ok(answer(text, &json!({"jobs": []})));
    }
    wait(call, &watched)?;
    build(call, &watched, cancelled.as_deref())
}

fn mine(call: &Call<'_>) -> Result<Vec<Job>, ToolError> {
    let jobs = call.jobs(Whose::Mine, Scope::Recent)?;
    let names = jobs.iter().filter(|summary| is_job(summary));
    Ok(names.filter_map(|summary| call.tools.engine.job(summary.job.as_str()).ok()).collect())
}

fn running(call: &Call<'_>) -> Result<Vec<Job>, ToolError> {
    let mut jobs = mine(call)?;
    jobs.retain(|job| !is_over(job));
    Ok(jobs)
}

fn is_over(job: &Job) -> bool {
    !matches!(job.status(), Ok(Status::Created | Status::Started { .. }))
}

/// Cancels; what became of each id.
fn cancel_all(call: &Call<'_>, ids: &[String]) -> Result<Vec<(String, &'static str)>, ToolError> {
    let mut outcomes = Vec::new();
    for id in ids {
        let outcome = match call.named(id) {
            None => "not_found",
            Some(job) if is_over(&job) => "already_completed",
            Some(job) => {
                job.stop(Ladder::default())?;
                "cancelled"
            }
        };
        outcomes.push((id.clone(), outcome));
    }
    Ok(outcomes)
}

/// Waits until the first of those that run has ended. If all have, there is nothing to wait for.
fn wait(call: &Call<'_>, jobs: &[Job]) -> Result<(), ToolError> {
    let deadline = Instant::now() + POLL;
    let mut seen = call.tools.engine.newest_event()?;
    let before = jobs.iter().filter(|job| is_over(job)).count();
    while before < jobs.len() && !call.ticket.is_cancelled() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || jobs.iter().filter(|job| is_over(job)).count() > before {
            break;
        }
        if let Some(event) = call.tools.engine.wait_event_after("exited", seen, left.min(BEAT))? {
            seen = event.seq;
        }
    }
    Ok(())
}

fn build(
    call: &Call<'_>,
    jobs: &[Job],
    cancelled: Option<&[(String, &'static str)]>,
) -> Result<Answer, ToolError> {
    let mut details = json!({});
    let mut sections = Vec::new();
    if let Some(cancelled) = cancelled {
        details["cancelled"] =
            cancelled.iter().map(|(id, status)| json!({"id": id, "status": status})).collect();
        let lines: Vec<String> =
            cancelled.iter().map(|(id, status)| format!("- {id}: {status}")).collect();
        sections.push(format!("## Cancelled ({})\n{}", lines.len(), lines.join("\n")));
    }
    let (mut snapshots, mut completed, mut running) = (Vec::new(), Vec::new(), Vec::new());
    for job in jobs {
        let Some(summary) = job.summary() else { continue };
        let snapshot = snapshot(call, job, &summary)?;
        let text = |name: &str| snapshot[name].as_str().unwrap_or_default();
        let line = format!("{} [bash] {}: {}", text("id"), text("status"), text("label"));
        if text("status") == "running" {
            running.push(format!("- {line}"));
        } else {
            call.told(job);
            let said = format!("{}{}", text("resultText"), text("errorText"));
            completed.push(format!("### {line}\n{said}"));
        }
        snapshots.push(snapshot);
    }
    if !completed.is_empty() {
        sections.push(format!("## Completed ({})\n{}", completed.len(), completed.join("\n\n")));
    }
    if !running.is_empty() {
        sections.push(format!("## Still Running ({})\n{}", running.len(), running.join("\n")));
    }
    if sections.is_empty() {
        sections.push("No background jobs.".to_owned());
    }
    details["jobs"] = Value::Array(snapshots);
    Ok(answer(sections.join("\n\n"), &details))
}

fn snapshot(call: &Call<'_>, job: &Job, summary: &Summary) -> Result<Value, ToolError> {
    let started = summary.started_at().unwrap_or(summary.created_at);
    let end = match &summary.status {
        Status::Ended(outcome) => outcome.ended_at,
        Status::Created | Status::Started { .. } => now(),
    };
    let mut value = json!({
        "id": summary.name,
        "type": "bash",
        "status": status(&summary.status),
        "label": label(&summary.command),
        "durationMs": end.saturating_sub(started) / 1000,
    });
    if let Status::Ended(outcome) = &summary.status {
        match ending(call, job, outcome)? {
            Ok(text) => value["resultText"] = json!(text),
            Err(text) => value["errorText"] = json!(text),
        }
    }
    Ok(value)
}
