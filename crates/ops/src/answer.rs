//! What operations answer about jobs: the same fields at every entry point. Field names are promises:
//! people and programs rely on them.
//!
//! An answer tells everything. [`JobAnswer::brief`] is the projection for models, who pay for every
//! field: it leaves out what they seldom need.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use umbo_engine::{
    Containment, End, JobHandle, Leaked, Limit, Outcome, Stage, Status, Summary, Usage, sandbox,
};
use umbo_gate::show_time;
use umbo_view::View;

use crate::call::{Call, text};
use crate::values::Time;

/// Where a job stands: how it ended, or that it runs on; and what it wrote.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct JobAnswer {
    /// The job.
    pub job: String,
    /// `queued`, `started`, `exited`, `signaled`, `timed_out`, `stopped`, `lost` or `failed_to_start`.
    pub state: &'static str,
    /// Its process, while it runs.
    pub pid: Option<i32>,
    /// The exit code, if it has one.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// From start to end.
    pub duration_ms: Option<u64>,
    /// Bytes it wrote.
    pub total_bytes: u64,
    /// Where its output goes on, while it runs.
    pub next_offset: Option<u64>,
    /// Bytes that are not in the answer.
    pub omitted_bytes: Option<u64>,
    /// Bytes of these that nobody has: they were beyond the job's output limit.
    pub lost_bytes: Option<u64>,
    /// Descendants that outlived the command; the first of them, if many.
    pub leaked: Vec<LeakedProcess>,
    /// How many they were.
    pub leaked_count: Option<usize>,
    /// What proved that nothing is left.
    pub contained_by: Option<&'static str>,
    /// The limit that struck.
    pub limit: Option<&'static str>,
    /// Who stopped it.
    pub stopped_by: Option<&'static str>,
    /// How far the ladder went.
    pub stage: Option<&'static str>,
    /// Its place in line, while it waits for its turn.
    pub queue_position: Option<usize>,
    /// Why it was lost, never ran, or waits for its turn; after a wait, which condition was met.
    pub reason: Option<String>,
    /// `complete`, or `unknown` after a kill by force.
    pub effects: Option<&'static str>,
    /// Whether all output was read.
    pub drained: Option<&'static str>,
    /// When it started.
    #[schemars(with = "Option<String>")]
    pub started_at: Option<Time>,
    /// When it was over.
    #[schemars(with = "Option<String>")]
    pub ended_at: Option<Time>,
    /// What it used.
    pub usage: Option<JobUsage>,
    /// What its sandbox was; absent if it had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub sandbox: Option<sandbox::Report>,
    /// What its sandbox stopped; the first of it, if much.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub denied: Vec<sandbox::Denied>,
    /// How many more calls it stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_denied: Option<u64>,
    /// What else there is to know.
    pub notes: Vec<String>,
    /// What it wrote to standard output, or to its terminal.
    pub stdout: Option<String>,
    /// What it wrote to standard error.
    pub stderr: Option<String>,
    /// What it wrote, in the order it came.
    pub output: Option<String>,
    /// Whether something of that is left out.
    pub truncated: Option<bool>,
    /// The handle by which all of it can be read, if this is not all.
    pub artifact: Option<String>,
    /// The file with the exact bytes.
    pub full_output_path: Option<String>,
    /// The size of `output` for a model.
    pub tokens: Option<u64>,
    /// The size of all that it wrote.
    pub original_token_count: Option<u64>,
    /// What the engine knows of its end, for whoever says it in words.
    #[serde(skip)]
    #[schemars(skip)]
    pub outcome: Option<Box<Outcome>>,
}

/// A process that outlived the command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct LeakedProcess {
    /// Its process id.
    pub pid: i32,
    /// Its command line.
    pub command: String,
    /// What was done about it: `killed` or `left`.
    pub fate: &'static str,
}

/// What a job used, with all its descendants that were waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct JobUsage {
    /// Processor time in user mode, in microseconds.
    pub user_us: u64,
    /// Processor time in the kernel, in microseconds.
    pub system_us: u64,
    /// The largest resident size of any of its processes, in bytes.
    pub peak_bytes: Option<u64>,
    /// The most memory that all its processes had at once.
    pub tree_peak_bytes: Option<u64>,
}

impl JobAnswer {
    /// How a job ended, without its output.
    pub fn ended(outcome: &Outcome) -> Self {
        let (stopped_by, stage, reason) = match &outcome.end {
            End::TimedOut { stage, .. } => (None, Some(*stage), None),
            End::Stopped { by, stage, .. } => (Some(by.name()), Some(*stage), None),
            End::Lost { reason } => (None, None, Some(reason.name().to_owned())),
            End::FailedToStart { why } => (None, None, Some(why.clone())),
            End::Exited { .. } | End::Signaled { .. } => (None, None, None),
        };
        Self {
            job: outcome.job.to_string(),
            state: outcome.end.name(),
            exit_code: outcome.exit_code(),
            signal: outcome.signal(),
            duration_ms: Some(millis(outcome)),
            total_bytes: outcome.total_bytes,
            omitted_bytes: Some(outcome.omitted_bytes),
            lost_bytes: Some(outcome.omitted_bytes),
            leaked: outcome.leaked.iter().map(LeakedProcess::new).collect(),
            leaked_count: Some(outcome.leaked_count()),
            contained_by: outcome.contained_by.map(Containment::name),
            limit: outcome.limit.map(Limit::name),
            stopped_by,
            stage: stage.map(Stage::name),
            reason,
            effects: Some(if outcome.effects_unknown() { "unknown" } else { "complete" }),
            drained: Some(outcome.drained.name()),
            started_at: outcome.started_at.map(Time),
            ended_at: Some(Time(outcome.ended_at)),
            usage: Some(JobUsage::new(&outcome.usage)),
            sandbox: outcome.sandbox.clone(),
            denied: outcome.denied.clone(),
            more_denied: Some(outcome.more_denied).filter(|more| *more > 0),
            notes: outcome.notes.clone(),
            outcome: Some(Box::new(outcome.clone())),
            ..Self::default()
        }
    }

    /// A job that runs on, or waits for its turn, without its output.
    fn running(job: &JobHandle, status: &Status) -> Self {
        let (pid, started_at) = match status {
            Status::Started { pid, at } => (Some(*pid), Some(Time(*at))),
            _ => (None, None),
        };
        let queued = matches!(status, Status::Created).then(|| job.summary()).flatten();
        Self {
            job: job.id().to_string(),
            state: status.name(),
            pid,
            started_at,
            queue_position: queued.as_ref().and_then(|summary| summary.queue_position),
            reason: queued.and_then(|summary| Some(summary.waits_for?.to_string())),
            ..Self::default()
        }
    }

    /// Where a job stands, without its output.
    pub fn standing(job: &JobHandle, status: &Status) -> Self {
        match status {
            Status::Ended(outcome) => Self::ended(outcome),
            running => Self::running(job, running),
        }
    }

    /// The same with what it wrote.
    #[must_use]
    pub(crate) fn with_output(mut self, call: &Call<'_>, job: &JobHandle, view: &View) -> Self {
        let output = text(view);
        if self.outcome.is_some() {
            self.lost_bytes = Some(view.counts.lost_bytes);
            self.omitted_bytes = Some(view.counts.omitted_bytes + view.counts.lost_bytes);
        } else {
            let end = view.parts.last().map(|part| part.offset().end);
            let end = end.or_else(|| job.log().ok()?.length().ok()).unwrap_or(0);
            self.total_bytes = end;
            self.next_offset = Some(end);
        }
        self.tokens = Some(if output.is_empty() { 0 } else { view.tokens });
        self.original_token_count = Some(view.original_tokens);
        self.output = Some(output);
        self.truncated = Some(view.truncated);
        self.artifact = view.truncated.then(|| format!("artifact://{}", job.id()));
        let file = if view.truncated { call.output_file(job) } else { job.output_path() };
        self.full_output_path = Some(shown_path(file));
        self
    }

    /// What a model needs of it: no times, no usage, the streams not apart, and of what was left out
    /// only what there is.
    #[must_use]
    pub fn brief(mut self) -> Self {
        let is_whole = self.lost_bytes == Some(0) && self.omitted_bytes == Some(0);
        if is_whole {
            (self.lost_bytes, self.omitted_bytes) = (None, None);
        }
        if self.truncated != Some(true) {
            (self.full_output_path, self.original_token_count) = (None, None);
        }
        Self {
            usage: None,
            started_at: None,
            ended_at: None,
            drained: None,
            stdout: None,
            stderr: None,
            tokens: None,
            ..self
        }
    }
}

/// A path as `display` shows it, made of its own text where that can be shown.
fn shown_path(path: PathBuf) -> String {
    let text = path.into_os_string().into_string();
    text.unwrap_or_else(|other| other.to_string_lossy().into_owned())
}

fn millis(outcome: &Outcome) -> u64 {
    u64::try_from(outcome.duration().as_millis()).unwrap_or(u64::MAX)
}

impl LeakedProcess {
    fn new(leaked: &Leaked) -> Self {
        let Leaked { pid, command, fate } = leaked;
        Self { pid: *pid, command: command.clone(), fate: fate.name() }
    }
}

impl JobUsage {
    fn new(usage: &Usage) -> Self {
        let Usage { user_us, system_us, peak_bytes, tree_peak_bytes } = *usage;
        Self { user_us, system_us, peak_bytes, tree_peak_bytes }
    }
}

/// A job in a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ListedJob {
    /// The job.
    pub job: String,
    /// Its state.
    pub state: &'static str,
    /// What it runs.
    pub command: String,
    /// Where.
    pub cwd: String,
    /// Its name.
    pub name: Option<String>,
    /// Its session.
    pub session: Option<String>,
    /// The owner: the caller that asked for it.
    pub owner: Option<String>,
    /// Whether it has a terminal.
    pub pty: bool,
    /// Its process, while it runs.
    pub pid: Option<i32>,
    /// The exit code, if it has one.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Bytes it wrote.
    pub total_bytes: u64,
    /// The job inside of which it was started.
    pub parent: Option<String>,
    /// Its place in line, while it waits for its turn.
    pub queue_position: Option<usize>,
    /// What it waits for, while it does; `paused` if somebody holds it still.
    pub reason: Option<String>,
    /// When it was asked for.
    pub created_at: String,
    /// When it started.
    pub started_at: Option<String>,
    /// When it was over.
    pub ended_at: Option<String>,
}

impl ListedJob {
    /// Told from what the engine knows.
    pub fn new(summary: &Summary) -> Self {
        let (pid, outcome) = match &summary.status {
            Status::Created => (None, None),
            Status::Started { pid, .. } => (Some(*pid), None),
            Status::Ended(outcome) => (None, Some(outcome)),
        };
        Self {
            job: summary.job.to_string(),
            state: summary.status.name(),
            command: summary.command.clone(),
            cwd: summary.cwd.clone(),
            name: summary.name.clone(),
            session: summary.session.clone(),
            owner: summary.owner.clone(),
            pty: summary.terminal.is_some(),
            pid,
            exit_code: outcome.and_then(|outcome| outcome.exit_code()),
            signal: outcome.and_then(|outcome| outcome.signal()),
            total_bytes: summary.total_bytes,
            parent: summary.parent.as_ref().map(ToString::to_string),
            queue_position: summary.queue_position,
            reason: match &summary.waits_for {
                Some(waits_for) => Some(waits_for.to_string()),
                None => summary.is_paused.then(|| "paused".to_owned()),
            },
            created_at: show_time(summary.created_at),
            started_at: summary.started_at().map(show_time),
            ended_at: outcome.map(|outcome| show_time(outcome.ended_at)),
        }
    }
}

/// What a sandbox stopped, in one line; nothing if nothing was.
pub fn denials(outcome: &Outcome) -> Option<String> {
    const SHOWN: usize = 3;
    if outcome.denied.is_empty() {
        return None;
    }
    let one = |denied: &sandbox::Denied| {
        let times =
            if denied.count > 1 { format!(" ({} times)", denied.count) } else { String::new() };
        let program = denied.program.split_ascii_whitespace().next().unwrap_or("a process");
        let program = program.rsplit('/').next().unwrap_or(program);
        format!("{program} may not {} {}{times}", denied.operation.name(), denied.target)
    };
    let shown: Vec<String> = outcome.denied.iter().take(SHOWN).map(one).collect();
    let rest = outcome.denied.len().saturating_sub(SHOWN);
    let more = if rest > 0 { format!(", and {rest} more") } else { String::new() };
    Some(format!("the sandbox denied: {}{more}", shown.join("; ")))
}
