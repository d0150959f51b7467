//! `restart`: the same once more, in the place of what runs.

use std::ffi::OsString;
use std::sync::Arc;

use serde::Serialize;
use umbo_engine::{Ladder, NameUse, OnDisconnect, Repeated, Status, Stdin};

use crate::answer::JobAnswer;
use crate::call::{Call, SANDBOX};
use crate::error::{Error, ErrorCode};
use crate::sandbox::{SandboxArgument, SandboxWords};

/// Which job is to run again.
#[derive(Debug, Default)]
pub struct RestartRequest {
    /// The job, by whatever finds it.
    pub job: String,
    /// Variables to set: those that were set for it have no values in its record.
    pub env: Vec<(String, String)>,
    /// What it reads, if it was given something.
    pub stdin: Option<Stdin>,
    /// How it is stopped if it runs.
    pub ladder: Ladder,
}

/// What a restart came to.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct RestartAnswer {
    /// Where the new job stands.
    #[serde(flatten)]
    pub job: JobAnswer,
    /// The job that it is a repetition of.
    pub repeats: String,
    /// How that one ended, if it ran and was stopped.
    pub stopped: Option<&'static str>,
}

/// Starts the command of a job once more, with the same directory, name, limits, terminal, session and
/// sandbox, and the environment of whoever asks. If it runs, it is stopped, but not before the gate has
/// let the new one through.
pub fn restart(call: &Call<'_>, request: &RestartRequest) -> Result<RestartAnswer, Error> {
    let old = call.job(&request.job)?;
    let Repeated { request: mut wanted, mut lost_variables, has_lost_stdin, .. } = old.repeat()?;
    wanted.env.base = Arc::clone(&call.caller.environment);
    for (name, value) in &request.env {
        lost_variables.retain(|lost| lost != name);
        wanted.env.set.push((OsString::from(name), OsString::from(value)));
    }
    if let Some(name) = lost_variables.first() {
        let message = format!(
            "{name} was set for job {}, and no record has its value; accepted: {name}=VALUE",
            old.id()
        );
        return Err(Error::argument("env", message));
    }
    match &request.stdin {
        Some(stdin) => wanted.stdin = stdin.clone(),
        None if has_lost_stdin => {
            let message =
                format!("job {} was given something to read, which is not kept", old.id());
            return Err(Error::argument("stdin", message));
        }
        None => {}
    }
    if wanted.name.is_some() {
        wanted.name_use = NameUse::Unique;
    }
    wanted.on_disconnect = OnDisconnect::Detach;
    let words = wanted.labels.remove(SANDBOX);
    let words = words.as_deref().map(said_of_sandbox).transpose()?;
    let call = &call.sandboxed(words.as_ref());
    let mut stopped = None;
    // Its end is this answer's to tell.
    let _awaiting = call.caller.completions.awaiting(old.id());
    let job = call.start_when(&wanted, || {
        if !matches!(old.status()?, Status::Ended(_)) {
            stopped = Some(old.stop(request.ladder)?.end.name());
            call.told(&old);
        }
        Ok(())
    })?;
    let answer = JobAnswer::standing(&job, &job.status()?);
    Ok(RestartAnswer { job: answer, repeats: old.id().to_string(), stopped })
}

/// What was said about its sandbox.
fn said_of_sandbox(label: &str) -> Result<SandboxWords, Error> {
    let value = serde_json::from_str(label).map_err(|error| {
        let message = format!("what its record says about its sandbox is damaged: {error}");
        Error::new(ErrorCode::Failed, message)
    })?;
    SandboxArgument(value).words()
}
