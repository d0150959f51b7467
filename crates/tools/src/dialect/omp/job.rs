//! `job`: waits for background jobs, cancels them, lists them.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_engine::{CompletionStream, End, Ended, JobHandle, Ladder, Status, Summary};
use umbo_ops::{Call, now, text};
use umbo_view::Tick;

use super::result::{JobState, Output, answer};
use super::{MOST_BYTES, State, artifact, ending, error, jobs, label, view};
use crate::answer::{Answer, ToolError};

/// How often a poll tells how the jobs stand.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);
/// How many bytes a job is told with, however many there are.
const LEAST_BYTES: u64 = 1024;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Job ids to wait for
    poll: Option<Vec<String>>,
    /// Job ids to cancel
    cancel: Option<Vec<String>>,
    /// All jobs, now
    list: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Details {
    jobs: Vec<Snapshot>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled: Option<Vec<CancelledJob>>,
}

/// A job at one moment.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Snapshot {
    id: String,
    r#type: JobType,
    pub(super) status: JobState,
    pub(super) label: String,
    duration_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_text: Option<String>,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum JobType {
    Bash,
    #[expect(dead_code, reason = "the contract knows it; no tool here starts one")]
    Task,
}

/// What became of an id that was to be cancelled.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CancelledJob {
    id: String,
    status: Cancellation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Cancellation {
    Cancelled,
    NotFound,
    AlreadyCompleted,
}

impl Cancellation {
    fn as_str(self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::NotFound => "not_found",
            Self::AlreadyCompleted => "already_completed",
        }
    }
}

impl Snapshot {
    /// A job as it is, with so many bytes of its text at most.
    pub(super) fn of(
        call: &Call<'_>,
        job: &JobHandle,
        summary: &Summary,
        bytes: u64,
    ) -> Result<Self, ToolError> {
        let started = summary.started_at().unwrap_or(summary.created_at);
        let end = match &summary.status {
            Status::Ended(outcome) => outcome.ended_at,
            Status::Created | Status::Started { .. } => now(),
        };
        let mut snapshot = Self {
            id: summary.name.clone().unwrap_or_default(),
            r#type: JobType::Bash,
            status: JobState::of(&summary.status),
            label: label(&summary.command),
            duration_ms: end.saturating_sub(started) / 1000,
            result_text: None,
            error_text: None,
        };
        if let Status::Ended(outcome) = &summary.status {
            let view = view(call, job, None, bytes)?;
            // What is not in the text is where its artifact is.
            let rest = view.truncated.then(|| format!("\n\n{}", artifact(job)));
            let rest = rest.unwrap_or_default();
            match ending(call, job, outcome, &text(&view)) {
                Ok(text) => snapshot.result_text = Some(text + &rest),
                Err(text) => snapshot.error_text = Some(text + &rest),
            }
        }
        Ok(snapshot)
    }

    /// What it told, once it has ended.
    pub(super) fn said(&self) -> &str {
        self.result_text.as_deref().or(self.error_text.as_deref()).unwrap_or_default()
    }
}

pub(super) fn run(
    state: &State,
    call: &Call<'_>,
    arguments: Arguments,
) -> Result<Answer<Output<Details>>, ToolError> {
    let Arguments { poll, cancel, list } = arguments;
    if list == Some(true) {
        if poll.is_some() || cancel.is_some() {
            return Err(error("`list` cannot be combined with `poll` or `cancel`."));
        }
        return build(call, &known(call, None)?, None);
    }
    // Nobody to cancel is no cancellation: what runs is watched.
    let cancel = cancel.filter(|ids| !ids.is_empty());
    let cancelled = cancel.as_deref().map(|ids| cancel_all(call, ids)).transpose()?;
    let watched: Vec<JobHandle> = match (&poll, &cancelled) {
        (Some(ids), _) => known(call, Some(ids))?,
        (None, None) => known(call, None)?.into_iter().filter(|job| !is_over(job)).collect(),
        (None, Some(_)) => Vec::new(),
    };
    if watched.is_empty() {
        if cancelled.is_some() {
            return build(call, &known(call, cancel.as_deref())?, cancelled);
        }
        let text = match poll {
            Some(ids) if ids.is_empty() => "No matching jobs found for IDs: none given".to_owned(),
            Some(ids) => format!("No matching jobs found for IDs: {}", ids.join(", ")),
            None => "No running background jobs to wait for.".to_owned(),
        };
        return Ok(answer(text, Details { jobs: Vec::new(), cancelled: None }));
    }
    // Whoever watches a job hears of its end here, and not otherwise.
    let completions = &call.caller.completions;
    let _awaiting: Vec<_> = watched.iter().map(|job| completions.awaiting(job.id())).collect();
    wait(call, &watched, call.allowed_wait(Some(state.settings.poll_wait)))?;
    build(call, &watched, cancelled)
}

/// The jobs there are with these ids, in that order and each once; all of them without.
fn known(call: &Call<'_>, ids: Option<&[String]>) -> Result<Vec<JobHandle>, ToolError> {
    let all = jobs(call)?;
    let job = |summary: &Summary| call.caller.backend.job(summary.job.as_str()).ok();
    let Some(ids) = ids else { return Ok(all.iter().filter_map(job).collect()) };
    let mut found: Vec<&Summary> = Vec::new();
    for id in ids {
        let named = all.iter().find(|summary| summary.name.as_ref() == Some(id));
        found.extend(named.filter(|named| found.iter().all(|other| other.job != named.job)));
    }
    Ok(found.into_iter().filter_map(job).collect())
}

fn is_over(job: &JobHandle) -> bool {
    !matches!(job.status(), Ok(Status::Created | Status::Started { .. }))
}

/// Cancels, all at once; what became of each id. One that comes again is over by then.
fn cancel_all(call: &Call<'_>, ids: &[String]) -> Result<Vec<CancelledJob>, ToolError> {
    let all = jobs(call)?;
    let cancel = |id: &String, is_again: bool| -> Result<Cancellation, ToolError> {
        let Some(named) = all.iter().find(|summary| summary.name.as_ref() == Some(id)) else {
            return Ok(Cancellation::NotFound);
        };
        let job = call.caller.backend.job(named.job.as_str())?;
        if is_again || is_over(&job) {
            return Ok(Cancellation::AlreadyCompleted);
        }
        Ok(match job.stop(Ladder::default())?.end {
            End::Stopped { .. } | End::Lost { .. } => Cancellation::Cancelled,
            // It was faster.
            _ => Cancellation::AlreadyCompleted,
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
            Ok(outcome) => Ok(CancelledJob { id, status: outcome? }),
            Err(_) => Err(error(format!("{id} could not be cancelled"))),
        });
        joined.collect()
    })
}

/// Waits until the first of those that run has ended. If all have, there is nothing to wait for.
fn wait(call: &Call<'_>, jobs: &[JobHandle], timeout: Duration) -> Result<(), ToolError> {
    let start = Instant::now();
    let backend = &call.caller.backend;
    let mut ends = CompletionStream::new(Arc::clone(backend), backend.newest_event()?);
    if jobs.iter().all(is_over) {
        return Ok(());
    }
    while !call.ticket.is_cancelled() {
        let left = timeout.saturating_sub(start.elapsed());
        if left.is_zero() {
            break;
        }
        tell(call, jobs, start);
        match ends.next(left.min(PROGRESS_INTERVAL))? {
            Some(Ended::Job(end)) if jobs.iter().any(|job| *job.id() == end.job) => break,
            Some(Ended::Missed(_)) if jobs.iter().any(is_over) => break,
            _ => {}
        }
    }
    Ok(())
}

/// Tells whoever waits how the jobs stand.
fn tell(call: &Call<'_>, jobs: &[JobHandle], start: Instant) {
    if !call.ticket.wants_progress() {
        return;
    }
    let summaries: Vec<Summary> = jobs.iter().filter_map(|job| job.summary()).collect();
    let line = |summary: &Summary| {
        let id = summary.name.as_deref().unwrap_or_default();
        format!("{id} {}", JobState::of(&summary.status).as_str())
    };
    call.ticket.tell(&Tick {
        lines: summaries.iter().map(line).collect(),
        bytes: summaries.iter().map(|summary| summary.total_bytes).sum(),
        elapsed: u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX).max(1),
    });
}

fn build(
    call: &Call<'_>,
    jobs: &[JobHandle],
    cancelled: Option<Vec<CancelledJob>>,
) -> Result<Answer<Output<Details>>, ToolError> {
    let mut sections = Vec::new();
    if let Some(cancelled) = &cancelled {
        let line = |job: &CancelledJob| format!("- {}: {}", job.id, job.status.as_str());
        let lines: Vec<String> = cancelled.iter().map(line).collect();
        sections.push(format!("## Cancelled ({})\n{}", lines.len(), lines.join("\n")));
    }
    let (mut snapshots, mut completed, mut running) = (Vec::new(), Vec::new(), Vec::new());
    // They share the room of one result; each has its last lines in any case.
    let ended = u64::try_from(jobs.iter().filter(|job| is_over(job)).count()).unwrap_or(u64::MAX);
    let room = (MOST_BYTES / ended.max(1)).max(LEAST_BYTES);
    for job in jobs {
        let Some(summary) = job.summary() else { continue };
        let snapshot = Snapshot::of(call, job, &summary, room)?;
        let Snapshot { id, status, label, .. } = &snapshot;
        let line = format!("{id} [bash] {}: {label}", status.as_str());
        if *status == JobState::Running {
            running.push(format!("- {line}"));
        } else {
            // Who reads it here is not told again.
            call.told(job);
            completed.push(format!("### {line}\n{}", snapshot.said()));
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
    Ok(answer(sections.join("\n\n"), Details { jobs: snapshots, cancelled }))
}
