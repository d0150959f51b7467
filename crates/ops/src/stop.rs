//! `stop`: the whole tree, to the last process.

use std::thread;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_engine::{JobHandle, Ladder, Status};

use crate::answer::JobAnswer;
use crate::call::Call;
use crate::error::{Error, ErrorCode};
use crate::values::Seconds;

/// How long a job may take to end by itself.
const DEFAULT_GRACE: Duration = Duration::from_secs(5);

/// Which jobs to stop, and how.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopRequest {
    /// Which jobs.
    #[schemars(description = "")]
    pub job: OneOrMore,
    /// How long they may take to end after SIGTERM.
    #[schemars(description = "[5]", range(max = 600))]
    pub grace: Option<Seconds>,
    /// Whether they are killed at once.
    #[serde(default)]
    #[schemars(description = "SIGKILL at once")]
    pub kill: bool,
    /// How long they may take to end after SIGINT, which then comes first.
    #[serde(skip)]
    #[schemars(skip)]
    pub interrupt: Option<Duration>,
    /// What happens if one of them is not there.
    #[serde(skip)]
    #[schemars(skip)]
    pub unknown: UnknownJobs,
}

/// What happens if one of several jobs is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownJobs {
    /// None is stopped: all are found before any is.
    #[default]
    StopNone,
    /// The others are stopped.
    StopOthers,
}

/// One job or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline, description = "")]
pub enum OneOrMore {
    /// One.
    #[schemars(description = "")]
    One(String),
    /// Several.
    #[schemars(description = "")]
    Several(#[schemars(length(min = 1))] Vec<String>),
}

impl OneOrMore {
    fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }
}

/// The jobs that were stopped.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct StopAnswer {
    /// One for each that was named and stopped, in their order.
    pub stopped: Vec<StoppedJob>,
    /// Why the others were not, if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Error>,
}

/// How a job ended that was to be stopped.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct StoppedJob {
    /// How it ended.
    #[serde(flatten)]
    pub job: JobAnswer,
    /// Whether it had ended before.
    pub already_ended: Option<bool>,
}

impl StopAnswer {
    /// What a model needs of it.
    #[must_use]
    pub fn brief(self) -> Self {
        let brief = |stopped: StoppedJob| StoppedJob { job: stopped.job.brief(), ..stopped };
        Self { stopped: self.stopped.into_iter().map(brief).collect(), ..self }
    }
}

/// Stops jobs, side by side: the graces of several pass together. What cannot be stopped keeps no
/// other from it; it is an error only if none could be.
pub fn stop(call: &Call<'_>, request: &StopRequest) -> Result<StopAnswer, Error> {
    let (mut jobs, mut failed) = (Vec::new(), Vec::new());
    for name in request.job.names() {
        match call.job(name) {
            Ok(job) => jobs.push(job),
            Err(error) if request.unknown == UnknownJobs::StopNone => return Err(error),
            Err(error) => failed.push((name.clone(), error)),
        }
    }
    let mut stopped = Vec::new();
    let ids: Vec<String> = jobs.iter().map(|job| job.id().to_string()).collect();
    for (id, result) in ids.into_iter().zip(stop_each(call, jobs, request)) {
        match result {
            Ok(job) => stopped.push(job),
            Err(error) => failed.push((id, error)),
        }
    }
    if stopped.is_empty() && !failed.is_empty() {
        return Err(failed.swap_remove(0).1);
    }
    let failed = failed.into_iter().map(|(job, error)| about(job, error)).collect();
    Ok(StopAnswer { stopped, failed })
}

/// An error that says which of several jobs it is about.
fn about(job: String, mut error: Error) -> Error {
    error.job.get_or_insert(job);
    error
}

fn stop_each(
    call: &Call<'_>,
    jobs: Vec<JobHandle>,
    request: &StopRequest,
) -> Vec<Result<StoppedJob, Error>> {
    let ladder = if request.kill {
        Ladder::KILL
    } else {
        let grace = request.grace.map_or(DEFAULT_GRACE, |grace| grace.0);
        Ladder { interrupt: request.interrupt, terminate: Some(grace) }
    };
    let completions = &call.caller.completions;
    let _awaiting: Vec<_> = jobs.iter().map(|job| completions.awaiting(job.id())).collect();
    let climbs: Vec<_> = jobs
        .into_iter()
        .map(|job| {
            thread::spawn(move || {
                let already_ended = matches!(job.status(), Ok(Status::Ended(_)));
                (already_ended, job.stop(ladder), job)
            })
        })
        .collect();
    let ended = |climb: thread::JoinHandle<_>| {
        let (already_ended, result, job) = climb
            .join()
            .map_err(|_| Error::new(ErrorCode::Internal, "a stop did not come to its end"))?;
        let outcome = result?;
        call.told(&job);
        let already_ended = Some(already_ended).filter(|already| *already);
        Ok(StoppedJob { job: JobAnswer::ended(&outcome), already_ended })
    };
    climbs.into_iter().map(ended).collect()
}
