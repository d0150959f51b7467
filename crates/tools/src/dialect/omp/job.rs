//! `job`: waits for background jobs, cancels them, lists them.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use umbo_engine::{End, Job, Ladder, Status, Summary};
use umbo_view::Tick;

use super::{BYTES, answer, error, jobs, snapshot};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

/// How often a poll tells how the jobs stand.
const BEAT: Duration = Duration::from_millis(500);
/// How many bytes a job is told with, however many there are.
const LEAST: u64 = 1024;

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let poll = arguments.texts("poll");
    let cancel = arguments.texts("cancel");
    if arguments.flag("list") {
        if poll.is_some() || cancel.is_some() {
            return Err(error("`list` cannot be combined with `poll` or `cancel`."));
        }
        return build(call, &known(call, None)?, None);
    }
    // Nobody to cancel is no cancellation: what runs is watched.
    let cancel = cancel.filter(|ids| !ids.is_empty());
    let cancelled = cancel.as_deref().map(|ids| cancel_all(call, ids)).transpose()?;
    let watched: Vec<Job> = match (&poll, &cancelled) {
        (Some(ids), _) => known(call, Some(ids))?,
        (None, None) => known(call, None)?.into_iter().filter(|job| !is_over(job)).collect(),
        (None, Some(_)) => Vec::new(),
    };
    if watched.is_empty() {
        if let Some(cancelled) = cancelled {
            return build(call, &known(call, cancel.as_deref())?, Some(&cancelled));
        }
        let text = match poll {
            Some(ids) if ids.is_empty() => "No matching jobs found for IDs: none given".to_owned(),
            Some(ids) => format!("No matching jobs found for IDs: {}", ids.join(", ")),
            None => "No running background jobs to wait for.".to_owned(),
        };
        return Ok(answer(text, &json!({"jobs": []})));
    }
    // Whoever watches a job hears of its end here, and not otherwise.
    let _awaiting: Vec<_> =
        watched.iter().map(|job| call.tools.completions.awaiting(job.id())).collect();
    wait(call, &watched)?;
    build(call, &watched, cancelled.as_deref())
}

/// The jobs there are with these ids, in that order and each once; all of them without.
fn known(call: &Call<'_>, ids: Option<&[String]>) -> Result<Vec<Job>, ToolError> {
    let all = jobs(call)?;
    let job = |summary: &Summary| call.tools.engine.job(summary.job.as_str()).ok();
    let Some(ids) = ids else { return Ok(all.iter().filter_map(job).collect()) };
    let mut found: Vec<&Summary> = Vec::new();
    for id in ids {
        let named = all.iter().find(|summary| summary.name.as_ref() == Some(id));
        found.extend(named.filter(|named| found.iter().all(|other| other.job != named.job)));
    }
    Ok(found.into_iter().filter_map(job).collect())
}

fn is_over(job: &Job) -> bool {
    !matches!(job.status(), Ok(Status::Created | Status::Started { .. }))
}

/// Cancels, all at once; what became of each id. One that comes again is over by then.
fn cancel_all(call: &Call<'_>, ids: &[String]) -> Result<Vec<(String, &'static str)>, ToolError> {
    let all = jobs(call)?;
    let cancel = |id: &String, is_again: bool| -> Result<&'static str, ToolError> {
        let Some(named) = all.iter().find(|summary| summary.name.as_ref() == Some(id)) else {
            return Ok("not_found");
        };
        let job = call.tools.engine.job(named.job.as_str())?;
        if is_again || is_over(&job) {
            return Ok("already_completed");
        }
        Ok(match job.stop(Ladder::default())?.end {
            End::Stopped { .. } | End::Lost { .. } => "cancelled",
            // It was faster.
            _ => "already_completed",
        })
    };
    let cancel = &cancel;
    thread::scope(|scope| {
        let stop = |(place, id): (usize, &'_ String)| {
            let is_again = ids[..place].contains(id);
            let id = id.clone();
            (id.clone(), scope.spawn(move || cancel(&id, is_again)))
        };
        let stops: Vec<_> = ids.iter().enumerate().map(stop).collect();
        let joined = stops.into_iter().map(|(id, stop)| match stop.join() {
            Ok(outcome) => Ok((id, outcome?)),
            Err(_) => Err(error(format!("{id} could not be cancelled"))),
        });
        joined.collect()
    })
}

/// Waits until the first of those that run has ended. If all have, there is nothing to wait for.
fn wait(call: &Call<'_>, jobs: &[Job]) -> Result<(), ToolError> {
    let start = Instant::now();
    let patience = call.tools.omp.poll_wait;
    let mut seen = call.tools.engine.newest_event()?;
    let over = || jobs.iter().filter(|job| is_over(job)).count();
    let before = over();
    while before < jobs.len() && !call.ticket.is_cancelled() {
        let left = patience.saturating_sub(start.elapsed());
        if left.is_zero() || over() > before {
            break;
        }
        tell(call, jobs, start);
        if let Some(event) = call.tools.engine.wait_event_after("exited", seen, left.min(BEAT))? {
            seen = event.seq;
        }
    }
    Ok(())
}

/// Tells whoever waits how the jobs stand.
fn tell(call: &Call<'_>, jobs: &[Job], start: Instant) {
    if !call.ticket.wants_progress() {
        return;
    }
    let summaries: Vec<Summary> = jobs.iter().filter_map(Job::summary).collect();
    let line = |summary: &Summary| {
        let id = summary.name.as_deref().unwrap_or_default();
        format!("{id} {}", super::status(&summary.status))
    };
    call.ticket.tell(&Tick {
        lines: summaries.iter().map(line).collect(),
        bytes: summaries.iter().map(|summary| summary.total_bytes).sum(),
        elapsed: u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX).max(1),
    });
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
    // They share the room of one result; each has its last lines in any case.
    let ended = u64::try_from(jobs.iter().filter(|job| is_over(job)).count()).unwrap_or(u64::MAX);
    let room = (BYTES / ended.max(1)).max(LEAST);
    for job in jobs {
        let Some(summary) = job.summary() else { continue };
        let snapshot = snapshot(call, job, &summary, room)?;
        let text = |name: &str| snapshot[name].as_str().unwrap_or_default();
        let line = format!("{} [bash] {}: {}", text("id"), text("status"), text("label"));
        if text("status") == "running" {
            running.push(format!("- {line}"));
        } else {
            // Who reads it here is not told again.
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
