//! The shapes of answers in JSON, the same at the command line and in tools. Field names are
//! promises: people and programs rely on them.

use serde::Serialize;
use umbo_engine::{
    Containment, Drained, End, Fate, Leaked, Limit, LostReason, Outcome, Stage, Status, StoppedBy,
    Summary, Usage, sandbox,
};

use umbo_gate::show_time;

/// How a job ended, without its output.
#[derive(Debug, Serialize)]
pub struct Ended<'a> {
    /// The job.
    pub job: &'a str,
    /// Its state.
    pub state: &'static str,
    /// The exit code, if it has one.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// From start to end.
    pub duration_ms: u128,
    /// Bytes it wrote.
    pub total_bytes: u64,
    /// Bytes that are not in the answer.
    pub omitted_bytes: u64,
    /// Bytes of these that nobody has: they were beyond the job's output limit.
    pub lost_bytes: u64,
    /// Descendants that outlived the command; the first of them, if many.
    pub leaked: &'a [Leaked],
    /// How many they were.
    pub leaked_count: usize,
    /// What proved that nothing is left.
    pub contained_by: Option<&'static str>,
    /// The limit that struck.
    pub limit: Option<&'static str>,
    /// Who stopped it.
    pub stopped_by: Option<&'static str>,
    /// How far the ladder went.
    pub stage: Option<&'static str>,
    /// Why it was lost or never ran.
    pub reason: Option<String>,
    /// `complete`, or `unknown` after a kill by force.
    pub effects: &'static str,
    /// Whether all output was read.
    pub drained: &'static str,
    /// When it started.
    pub started_at: Option<String>,
    /// When it was over.
    pub ended_at: String,
    /// What it used.
    pub usage: Usage,
    /// What its sandbox was; absent if it had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<&'a sandbox::Report>,
    /// What its sandbox stopped; the first of it, if much.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub denied: &'a [sandbox::Denied],
    /// How many more calls it stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_denied: Option<u64>,
    /// What else there is to know.
    pub notes: &'a [String],
}

impl<'a> Ended<'a> {
    /// Told from what the engine knows.
    pub fn new(outcome: &'a Outcome) -> Self {
        let (stopped_by, stage, reason) = match &outcome.end {
            End::TimedOut { stage, .. } => (None, Some(*stage), None),
            End::Stopped { by, stage, .. } => (Some(stopped_by_name(*by)), Some(*stage), None),
            End::Lost { reason } => (None, None, Some(lost_reason(*reason).to_owned())),
            End::FailedToStart { why } => (None, None, Some(why.clone())),
            End::Exited { .. } | End::Signaled { .. } => (None, None, None),
        };
        Self {
            job: outcome.job.as_str(),
            state: outcome.end.name(),
            exit_code: outcome.exit_code(),
            signal: outcome.signal(),
            duration_ms: outcome.duration().as_millis(),
            total_bytes: outcome.total_bytes,
            omitted_bytes: outcome.omitted_bytes,
            lost_bytes: outcome.omitted_bytes,
            leaked: &outcome.leaked,
            leaked_count: outcome.leaked_count(),
            contained_by: outcome.contained_by.map(containment_name),
            limit: outcome.limit.map(limit_name),
            stopped_by,
            stage: stage.map(stage_name),
            reason,
            effects: if outcome.effects_unknown() { "unknown" } else { "complete" },
            drained: drained_name(outcome.drained),
            started_at: outcome.started_at.map(show_time),
            ended_at: show_time(outcome.ended_at),
            usage: outcome.usage,
            sandbox: outcome.sandbox.as_ref(),
            denied: &outcome.denied,
            more_denied: Some(outcome.more_denied).filter(|more| *more > 0),
            notes: &outcome.notes,
        }
    }
}

/// A job in a list.
#[derive(Debug, Serialize)]
pub struct Listed<'a> {
    /// The job.
    pub job: &'a str,
    /// Its state.
    pub state: &'static str,
    /// What it runs.
    pub command: &'a str,
    /// Where.
    pub cwd: &'a str,
    /// Its name.
    pub name: Option<&'a str>,
    /// Its session.
    pub session: Option<&'a str>,
    /// Who asked for it.
    pub owner: Option<&'a str>,
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
    pub parent: Option<&'a str>,
    /// Its place in line, while it waits for its turn.
    pub queue_position: Option<usize>,
    /// When it was asked for.
    pub created_at: String,
    /// When it started.
    pub started_at: Option<String>,
    /// When it was over.
    pub ended_at: Option<String>,
}

impl<'a> Listed<'a> {
    /// Told from what the engine knows.
    pub fn new(summary: &'a Summary) -> Self {
        let (pid, outcome) = match &summary.status {
            Status::Created => (None, None),
            Status::Started { pid, .. } => (Some(*pid), None),
            Status::Ended(outcome) => (None, Some(outcome)),
        };
        Self {
            job: summary.job.as_str(),
            state: summary.status.name(),
            command: &summary.command,
            cwd: &summary.cwd,
            name: summary.name.as_deref(),
            session: summary.session.as_deref(),
            owner: summary.owner.as_deref(),
            pty: summary.terminal.is_some(),
            pid,
            exit_code: outcome.and_then(|outcome| outcome.exit_code()),
            signal: outcome.and_then(|outcome| outcome.signal()),
            total_bytes: summary.total_bytes,
            parent: summary.parent.as_ref().map(umbo_engine::JobId::as_str),
            queue_position: summary.queue_position,
            created_at: show_time(summary.created_at),
            started_at: summary.started_at().map(show_time),
            ended_at: outcome.map(|outcome| show_time(outcome.ended_at)),
        }
    }
}

/// The word for it.
pub fn containment_name(containment: Containment) -> &'static str {
    match containment {
        Containment::Cgroup => "cgroup",
        Containment::Subreaper => "subreaper",
        Containment::Tag => "tag",
        Containment::Namespace => "namespace",
    }
}

/// The word for it.
pub fn limit_name(limit: Limit) -> &'static str {
    match limit {
        Limit::Wall => "wall",
        Limit::Idle => "idle",
        Limit::Output => "output",
        Limit::Memory => "memory",
        Limit::Processes => "processes",
    }
}

/// The word for it.
pub fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Int => "int",
        Stage::Term => "term",
        Stage::Kill => "kill",
    }
}

/// The word for it.
pub fn fate_name(fate: Fate) -> &'static str {
    match fate {
        Fate::Killed => "killed",
        Fate::Left => "left",
    }
}

/// The word for it.
pub fn lost_reason(reason: LostReason) -> &'static str {
    match reason {
        LostReason::SupervisorKilled => "supervisor_killed",
        LostReason::Reboot => "reboot",
        LostReason::Damaged => "damaged",
    }
}

fn stopped_by_name(by: StoppedBy) -> &'static str {
    match by {
        StoppedBy::Request => "request",
        StoppedBy::Limit => "limit",
        StoppedBy::Disconnect => "disconnect",
        StoppedBy::Signal => "signal",
    }
}

fn drained_name(drained: Drained) -> &'static str {
    match drained {
        Drained::Eof => "eof",
        Drained::Quiet => "quiet",
        Drained::Cut => "cut",
        Drained::Unknown => "unknown",
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
