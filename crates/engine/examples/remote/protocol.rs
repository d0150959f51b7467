//! What client and server say to each other: a line of JSON for a call, a line for its answer.

use std::io::{self, BufRead, Write};
use std::ops::Range;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use umbo_engine::{Condition, ErrorKind, JobId, Ladder, Request, Scope, Size};

/// What a client asks for.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Call {
    Start(Box<Request>),
    /// The connection stays: lines of [`Attachment`] follow, and its end is a disconnection.
    Spawn(Box<Request>),
    Find {
        owner: Option<String>,
        name: String,
    },
    FindKey(String),
    Jobs(Scope),
    NewestEvent,
    Events {
        after: u64,
        most: usize,
    },
    AwaitEvent {
        after: u64,
        timeout: Duration,
    },
    Completed {
        consumer: String,
        owner: Option<String>,
    },
    Pending {
        consumer: String,
        owner: Option<String>,
    },
    BeginsIn(Box<Request>),
    Prune(Option<Duration>),
    Of(JobId, JobCall),
}

/// What a client asks of one job.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum JobCall {
    Status,
    Summary,
    Path,
    Url,
    Length,
    Omitted,
    Read {
        offset: u64,
        most: usize,
    },
    Runs(Range<u64>),
    /// The connection stays, and has an empty line whenever the job may have news.
    Watch,
    Input(Vec<u8>),
    Typed,
    InputAfter(u64, Vec<u8>),
    EndInput,
    RecordInput {
        bytes: u64,
        end: bool,
    },
    Resize(Size),
    Stop(Ladder),
    Wait {
        conditions: Vec<Condition>,
        timeout: Option<Duration>,
    },
    /// The connection stays: lines with the offset to advance to follow.
    Bookmark(String),
}

/// What a client that is attached to a job says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Attachment {
    Wait(Option<Duration>),
    Detach,
}

/// An error on its way.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Problem {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
    pub(crate) field: Option<String>,
    pub(crate) job: Option<String>,
}

pub(crate) fn send(mut to: impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    to.write_all(&line)
}

pub(crate) fn receive<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<T> {
    let mut line = String::new();
    if from.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_str(&line)?)
}
