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
const GRACE: Duration = Duration::from_secs(5);

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
pub struct StopAnswer {
    /// One for each that was named, in their order.
    pub stopped: Vec<StoppedJob>,
}

/// How a job ended that was to be stopped.
#[derive(Debug, Clone, Serialize, JsonSchema)]
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
        Self { stopped: self.stopped.into_iter().map(brief).collect() }
    }
}

/// Stops jobs. All are found before any is stopped.
pub fn stop(call: &Call<'_>, request: &StopRequest) -> Result<StopAnswer, Error> {
    let names = request.job.names();
    let jobs = names.iter().map(|name| call.job(name)).collect::<Result<Vec<_>, _>>()?;
    let stopped = stop_each(call, jobs, request).into_iter().collect::<Result<_, _>>()?;
    Ok(StopAnswer { stopped })
}

/// Stops jobs that were found, side by side: the graces of several pass together. What cannot be
/// stopped keeps no other from it.
pub fn stop_each(
    call: &Call<'_>,
    jobs: Vec<JobHandle>,
    request: &StopRequest,
) -> Vec<Result<StoppedJob, Error>> {
    let ladder = if request.kill {
        Ladder::KILL
    } else {
        let grace = request.grace.map_or(GRACE, |grace| grace.0);
        Ladder { interrupt: request.interrupt, terminate: Some(grace) }
    };
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
