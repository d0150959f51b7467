//! `screen`: what a job's terminal shows; `attach`: a person at it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_engine::{JobHandle, Status};

use crate::call::Call;
use crate::caller::Caller;
use crate::error::{Error, ErrorCode};
use crate::ticket::Ticket;

/// How often keys are judged anew because somebody else typed at the same moment.
const MOST_TRIES: usize = 8;

/// Which terminal.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScreenRequest {
    /// Which job.
    pub job: String,
}

/// What a terminal shows.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ScreenAnswer {
    /// The job.
    pub job: String,
    /// How wide it is.
    pub columns: u16,
    /// How high it is.
    pub rows: u16,
    /// The cursor's column and row, from 0; none while it is hidden.
    pub cursor: Option<(u16, u16)>,
    /// Its rows, without trailing blanks.
    pub lines: Vec<String>,
}

/// Tells what a job's terminal shows.
pub fn screen(call: &Call<'_>, request: &ScreenRequest) -> Result<ScreenAnswer, Error> {
    let job = call.job(&request.job)?;
    let screen = job.screen()?;
    Ok(ScreenAnswer {
        job: job.id().to_string(),
        columns: screen.size.columns,
        rows: screen.size.rows,
        cursor: screen.cursor,
        lines: screen.rows.iter().map(|row| call.caller.mask(row)).collect(),
    })
}

/// A person at a job's terminal. What is typed there passes the gate, as everything that is typed
/// into a job does.
#[derive(Debug)]
pub struct Attachment {
    caller: Arc<Caller>,
    ticket: Ticket,
    job: JobHandle,
}

/// Sits down at a job's terminal.
pub fn attach(
    caller: Arc<Caller>,
    ticket: Ticket,
    request: &ScreenRequest,
) -> Result<Attachment, Error> {
    let job = Call::new(&caller, &ticket).job(&request.job)?;
    match job.status()? {
        Status::Ended(_) => Err(umbo_engine::Error::Ended(job.id().to_string()).into()),
        Status::Created | Status::Started { .. } => Ok(Attachment { caller, ticket, job }),
    }
}

impl Attachment {
    /// The job.
    pub fn job(&self) -> &JobHandle {
        &self.job
    }

    /// Sends keys, if the gate has nothing against the line that they complete. Refused keys are not
    /// sent; what was typed before them stays where it is.
    pub fn send(&self, keys: &[u8]) -> Result<(), Error> {
        let call = Call::new(&self.caller, &self.ticket);
        let mut tries = 0;
        loop {
            tries += 1;
            match call.input(&self.job, "", keys) {
                // Somebody else typed between the question and the answer: nobody has judged the
                // line as it is now.
                Err(error) if error.code == ErrorCode::Refused && tries < MOST_TRIES => {}
                result => return result,
            }
        }
    }
}
