//! How a job ended. One type for pipe and terminal, and it covers the whole space: there is no
//! combination of fields that contradicts the state.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::clock;
use crate::id::JobId;

/// The exit record of a job, as written to its `outcome` file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Outcome {
    /// The format of this record.
    pub v: u32,
    /// The job.
    pub job: JobId,
    /// How it ended.
    #[serde(flatten)]
    pub end: End,
    /// The limit that struck, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// Whether all output was read.
    pub drained: Drained,
    /// When the command was started, in microseconds since 1970; absent if it never was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<u64>,
    /// When the job was over, in microseconds since 1970.
    pub ended_at: u64,
    /// Descendants that were alive when the command itself had ended; the first of them, if many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaked: Vec<Leaked>,
    /// How many more of them there were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_leaked: usize,
    /// What proved that no process of the job is left; absent if something was left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contained_by: Option<Containment>,
    /// What it used.
    #[serde(default)]
    pub usage: Usage,
    /// Bytes it wrote.
    pub total_bytes: u64,
    /// Bytes of these that were not kept.
    #[serde(default)]
    pub omitted_bytes: u64,
    /// Bytes that a full disk did not take. They are not among those above.
    #[serde(default, skip_serializing_if = "is_zero_u64")]
    pub dropped_bytes: u64,
    /// What its sandbox was; absent if it had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<umbo_sandbox::Report>,
    /// What its sandbox stopped, each with its count; the first of them, if many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<umbo_sandbox::Denied>,
    /// How many more calls were denied.
    #[serde(default, skip_serializing_if = "is_zero_u64")]
    pub more_denied: u64,
    /// What else a reader should know: a limit nobody could enforce, a stalled disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How a job ended. There are no other ways: a reader may match them all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum End {
    /// The command ended by itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// A signal that was not ours ended the command.
    Signaled {
        /// The signal's number.
        signal: i32,
        /// Whether it dumped core.
        core: bool,
    },
    /// A time limit ended it.
    TimedOut {
        /// After how long, in milliseconds.
        after_ms: u64,
        /// How far the ladder went.
        stage: Stage,
        /// How its process ended.
        process: Option<ProcessEnd>,
    },
    /// Somebody stopped it.
    Stopped {
        /// Who.
        by: StoppedBy,
        /// How far the ladder went.
        stage: Stage,
        /// How its process ended.
        process: Option<ProcessEnd>,
    },
    /// What became of it is not known.
    Lost {
        /// Why not.
        reason: LostReason,
    },
    /// It never ran.
    FailedToStart {
        /// Why not.
        why: String,
    },
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessEnd {
    /// With an exit code.
    Exited(i32),
    /// By a signal.
    Signaled {
        /// The signal's number.
        signal: i32,
        /// Whether it dumped core.
        core: bool,
    },
}

/// A limit of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// Time from start to end.
    Wall,
    /// Time without output.
    Idle,
    /// Bytes of output.
    Output,
    /// Memory.
    Memory,
    /// Number of processes.
    Processes,
}

/// A rung of the stop ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// SIGINT was enough.
    Int,
    /// SIGTERM was enough.
    Term,
    /// It took SIGKILL: what the job was doing may be half done.
    Kill,
}

/// Who stopped a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StoppedBy {
    /// A stop request.
    Request,
    /// The limit that the outcome names.
    Limit,
    /// Its caller ended, and the request said to stop then.
    Disconnect,
    /// A signal to its supervisor, as at shutdown.
    Signal,
}

/// Why it is not known how a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LostReason {
    /// Its supervisor was killed; its processes were then ended.
    SupervisorKilled,
    /// The machine was restarted under it.
    Reboot,
    /// Its files are damaged: its exit record, or what was asked for.
    Damaged,
}

/// Whether all output was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Drained {
    /// To the end of every stream.
    Eof,
    /// Until it was quiet; a descendant that was left alive still holds a stream.
    Quiet,
    /// Reading was cut short: a descendant kept writing, or the disk stayed full.
    Cut,
    /// It is not known.
    Unknown,
}

/// Gives each variant its name, as records and answers write it.
macro_rules! names {
    ($type:ident: $($variant:ident $name:literal),+) => {
        impl $type {
            /// Its name, as records and answers write it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$variant),+];
        }
    };
}

names!(Limit: Wall "wall", Idle "idle", Output "output", Memory "memory", Processes "processes");
names!(Stage: Int "int", Term "term", Kill "kill");
names!(StoppedBy: Request "request", Limit "limit", Disconnect "disconnect", Signal "signal");
names!(LostReason: SupervisorKilled "supervisor_killed", Reboot "reboot", Damaged "damaged");
names!(Drained: Eof "eof", Quiet "quiet", Cut "cut", Unknown "unknown");
names!(Fate: Killed "killed", Left "left");
names!(Containment: Cgroup "cgroup", Subreaper "subreaper", Tag "tag", Namespace "namespace");

/// A descendant that outlived its command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaked {
    /// Its process id.
    pub pid: i32,
    /// Its command line.
    pub command: String,
    /// What was done about it.
    pub fate: Fate,
}

/// What was done about a leaked process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It was killed.
    Killed,
    /// It was left running, as the request said.
    Left,
}

/// What proved that a job's tree is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Containment {
    /// Its control group has no process left.
    Cgroup,
    /// Its supervisor, to which every orphan of the tree returns, has no child left.
    Subreaper,
    /// No process carries the job's tag in its environment.
    Tag,
    /// Its own process namespace has no process left.
    Namespace,
}

/// What a job used, with all its descendants that were waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Processor time in user mode, in microseconds.
    pub user_us: u64,
    /// Processor time in the kernel, in microseconds.
    pub system_us: u64,
    /// The largest resident size of any of its processes, in bytes. Absent if none was larger than
    /// its supervisor: the kernel counts a process's memory from before it became the command.
    #[serde(default)]
    pub peak_bytes: Option<u64>,
    /// The most memory that all its processes had at once, caches included, where a control group
    /// counts it.
    #[serde(default)]
    pub tree_peak_bytes: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde calls")]
fn is_zero_u64(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde calls")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Outcome {
    /// The exit code, if the command ended with one, whoever caused it.
    pub fn exit_code(&self) -> Option<i32> {
        match self.process()? {
            ProcessEnd::Exited(code) => Some(code),
            ProcessEnd::Signaled { .. } => None,
        }
    }

    /// The signal that ended the command, if one did, whoever sent it.
    pub fn signal(&self) -> Option<i32> {
        match self.process()? {
            ProcessEnd::Signaled { signal, .. } => Some(signal),
            ProcessEnd::Exited(_) => None,
        }
    }

    fn process(&self) -> Option<ProcessEnd> {
        match self.end {
            End::Exited { code } => Some(ProcessEnd::Exited(code)),
            End::Signaled { signal, core } => Some(ProcessEnd::Signaled { signal, core }),
            End::TimedOut { process, .. } | End::Stopped { process, .. } => process,
            End::Lost { .. } | End::FailedToStart { .. } => None,
        }
    }

    /// How many descendants were alive when the command itself had ended.
    pub fn leaked_count(&self) -> usize {
        self.leaked.len() + self.more_leaked
    }

    /// Whether the command ended by itself with code 0.
    pub fn success(&self) -> bool {
        self.end == End::Exited { code: 0 }
    }

    /// Whether it was killed by force, so that what it was doing may be half done.
    pub fn effects_unknown(&self) -> bool {
        match self.end {
            End::TimedOut { stage, .. } | End::Stopped { stage, .. } => stage == Stage::Kill,
            End::Lost { .. } => true,
            End::Exited { .. } | End::Signaled { .. } | End::FailedToStart { .. } => false,
        }
    }

    /// When the command was started; `None` if it never was.
    pub fn started(&self) -> Option<SystemTime> {
        self.started_at.map(clock::time)
    }

    /// When the job was over.
    pub fn ended(&self) -> SystemTime {
        clock::time(self.ended_at)
    }

    /// From start to end.
    pub fn duration(&self) -> Duration {
        let start = self.started_at.unwrap_or(self.ended_at);
        Duration::from_micros(self.ended_at.saturating_sub(start))
    }
}

impl End {
    /// The state's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Exited { .. } => "exited",
            Self::Signaled { .. } => "signaled",
            Self::TimedOut { .. } => "timed_out",
            Self::Stopped { .. } => "stopped",
            Self::Lost { .. } => "lost",
            Self::FailedToStart { .. } => "failed_to_start",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written<T: Serialize>(all: &[T]) -> Vec<String> {
        let text = |each| serde_json::to_string(each).unwrap_or_default();
        all.iter().map(|each| text(each).trim_matches('"').to_owned()).collect()
    }

    #[test]
    fn a_name_is_what_records_write() {
        macro_rules! check {
            ($($type:ident)+) => {
                $(
                    let names: Vec<&str> = $type::ALL.iter().map(|each| each.name()).collect();
                    assert_eq!(names, written($type::ALL));
                )+
            };
        }
        check!(Limit Stage StoppedBy LostReason Drained Fate Containment);
    }
}
