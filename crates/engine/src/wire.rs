//! Messages between an engine and a supervisor: a length-prefixed JSON head and a body of raw
//! bytes, so that arguments, environments and input need not be text.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use umbo_sandbox::{Decision, Plan, Question};

use crate::id::JobId;
use crate::outcome::Outcome;
use crate::request::{Admission, Ladder, Leaks, Limits, OnDisconnect, Size, Streams};
use crate::turns::After;

/// The largest message anybody accepts: nobody may make a supervisor swallow the memory.
const LARGEST: usize = 64 << 20;

/// A message.
#[derive(Debug)]
pub(crate) struct Frame<H> {
    pub(crate) head: H,
    pub(crate) body: Vec<u8>,
}

/// From an engine to the supervisor it started.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// A job with this sandbox is expected: it can be built before there is one.
    Expect(Box<Plan>),
    /// The job.
    Assign(Box<Assign>),
}

/// The same, to be sent.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OrderOf<'a> {
    Expect(&'a Plan),
    Assign(&'a Assign),
}

/// A job for a supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Assign {
    pub(crate) job: JobId,
    /// The first line of the `request` file, except what the supervisor adds. It goes there as it is.
    pub(crate) record: Box<RawValue>,
    pub(crate) limits: Limits,
    pub(crate) ladder: Ladder,
    pub(crate) leaks: Leaks,
    pub(crate) on_disconnect: OnDisconnect,
    pub(crate) admission: Admission,
    pub(crate) max_running: usize,
    /// The group it takes turns in, instead of all jobs together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) group: Option<String>,
    /// What must have ended before it begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) after: Vec<After>,
    /// The job it was started inside of.
    pub(crate) parent: Option<JobId>,
    pub(crate) terminal: Option<Size>,
    pub(crate) stdin: StdinKind,
    #[serde(default)]
    pub(crate) streams: Streams,
    pub(crate) session: Option<String>,
    /// Whether it runs where its session is, not in the directory of the request.
    #[serde(default)]
    pub(crate) continues_session: bool,
    /// How many strings of the body are arguments; the rest, after program and directory, is
    /// the environment.
    pub(crate) arguments: usize,
    /// How many bytes of the body, at its end, are standard input.
    pub(crate) stdin_bytes: usize,
    pub(crate) retention: Retention,
    /// Called `news` by the supervisors of earlier versions.
    #[serde(rename = "news")]
    pub(crate) notify_on: NotifyOn,
    /// What it may touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sandbox: Option<Plan>,
    /// What the supervisor does afterwards. Those of earlier versions end.
    #[serde(default)]
    pub(crate) afterwards: Afterwards,
}

/// What a supervisor wants to know of the record of its job.
#[derive(Debug, Deserialize)]
pub(crate) struct Recorded<'a> {
    #[serde(borrow)]
    pub(crate) command: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) owner: Option<Cow<'a, str>>,
}

impl Assign {
    pub(crate) fn recorded(&self) -> io::Result<Recorded<'_>> {
        Ok(serde_json::from_str(self.record.get())?)
    }
}

/// What a supervisor does when its job is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Afterwards {
    /// It ends.
    #[default]
    End,
    /// It gets ready for another job of this caller, if this one left nothing behind.
    Return,
}

/// What the caller wants to hear of a job that goes well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NotifyOn {
    /// That it started, and that it ended.
    Start,
    /// Only that it ended: one wake-up less.
    End,
}

/// How many ended jobs stay on disk.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Retention {
    pub(crate) jobs: usize,
    pub(crate) bytes: u64,
    /// Those that ended longer ago leave, however few they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) age: Option<Duration>,
}

/// Where standard input comes from; the bytes or the path are in the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StdinKind {
    None,
    Bytes,
    File,
    Open,
    /// A descriptor comes after the message.
    Passed,
}

/// From a supervisor to the engine that started it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    /// The job exists but waits for others to end.
    Queued,
    /// The command runs.
    Started { pid: i32 },
    /// A call of the command is held until somebody answers this.
    Asked(Box<Question>),
    /// The job is over, and its record on disk.
    Ended(Box<Outcome>),
    /// The same, and the supervisor gets ready for another job.
    EndedAndFree(Box<Outcome>),
    /// A job with that id exists already.
    Exists,
    /// As many jobs run as may.
    Full { running: usize },
    /// Another job has the session, and this one may not wait for it.
    SessionBusy { holder: String },
    /// Nothing was started.
    Failed { why: String },
}

/// From anybody to a job's supervisor, over the job's socket.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ask {
    /// The body is input.
    Input,
    /// The same, if this many bytes were typed before it.
    InputAfter(u64),
    /// What was typed?
    Typed,
    /// No more input comes.
    Eof,
    /// The terminal has a new size.
    Resize(Size),
    /// Climb the ladder.
    Stop(Ladder),
    /// Hold all of its processes where they are.
    Pause,
    /// Let them go on.
    Resume,
    /// Send a signal.
    Signal { number: i32, reach: Reach },
    /// Run on when the caller ends, whatever the request said.
    Disown,
    /// Send a byte whenever output grows. Not answered otherwise.
    Watch,
    /// Are you there?
    Ping,
    /// Which calls are held until somebody answers?
    Questions,
    /// The answer to one of these.
    Decide { number: u64, decision: Decision },
}

/// Which processes of a job get a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// The process group of its command, as a terminal does it.
    #[default]
    Group,
    /// The first process of its command alone.
    First,
    /// Every process of it.
    All,
}

/// A supervisor's answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// Done.
    Done,
    /// So many bytes were typed; the body is the last of them.
    Typed { total: u64 },
    /// These calls are held.
    Questions(Vec<Question>),
    /// Not done, and why.
    Refused(String),
}

/// The other end of a socket, which may be gone: that is an error, and kills nobody.
pub(crate) struct Peer<'a>(pub(crate) &'a OwnedFd);

impl Read for Peer<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(self.0, buffer)?)
    }
}

impl Write for Peer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self.0, bytes, rustix::net::SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes one message.
pub(crate) fn send<H: Serialize>(mut to: impl Write, head: &H, body: &[u8]) -> io::Result<()> {
    let head = serde_json::to_vec(head)?;
    let mut message = Vec::with_capacity(8 + head.len() + body.len());
    message.extend_from_slice(&length(head.len())?);
    message.extend_from_slice(&length(body.len())?);
    message.extend_from_slice(&head);
    message.extend_from_slice(body);
    to.write_all(&message)
}

fn length(length: usize) -> io::Result<[u8; 4]> {
    match u32::try_from(length) {
        Ok(short) if length <= LARGEST => Ok(short.to_le_bytes()),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "its arguments, environment and input are too large together (64 MiB); \
             pass long input as a file",
        )),
    }
}

/// Reads one message, waiting for it.
pub(crate) fn receive<H: for<'de> Deserialize<'de>>(mut from: impl Read) -> io::Result<Frame<H>> {
    let mut lengths = [0; 8];
    from.read_exact(&mut lengths)?;
    let (head_length, body_length) = split_lengths(lengths)?;
    let mut head = vec![0; head_length + body_length];
    from.read_exact(&mut head)?;
    let body = head.split_off(head_length);
    Ok(Frame { head: serde_json::from_slice(&head)?, body })
}

/// Takes one whole message off the front of `buffer`, if one is there.
pub(crate) fn take<H: for<'de> Deserialize<'de>>(
    buffer: &mut Vec<u8>,
) -> io::Result<Option<Frame<H>>> {
    let Some(lengths) = buffer.first_chunk::<8>() else { return Ok(None) };
    let (head_length, body_length) = split_lengths(*lengths)?;
    let Some(message) = buffer.get(8..8 + head_length + body_length) else { return Ok(None) };
    let (head, body) = message.split_at(head_length);
    let frame = Frame { head: serde_json::from_slice(head)?, body: body.to_vec() };
    buffer.drain(..8 + head_length + body_length);
    Ok(Some(frame))
}

fn split_lengths(lengths: [u8; 8]) -> io::Result<(usize, usize)> {
    let both = u64::from_le_bytes(lengths);
    let half = |bits: u64| usize::try_from(bits & u64::from(u32::MAX)).unwrap_or(usize::MAX);
    let (head, body) = (half(both), half(both >> 32));
    if head > LARGEST || body > LARGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "message too large"));
    }
    Ok((head, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_survives_any_split() {
        let mut bytes = Vec::new();
        send(&mut bytes, &Ask::Input, b"\x00\xff raw").unwrap();
        for cut in 0..bytes.len() {
            let mut buffer = bytes[..cut].to_vec();
            assert!(take::<Ask>(&mut buffer).unwrap().is_none());
            buffer.extend_from_slice(&bytes[cut..]);
            let frame = take::<Ask>(&mut buffer).unwrap().unwrap();
            assert_eq!(frame.body, b"\x00\xff raw");
            assert!(buffer.is_empty());
        }
    }

    #[test]
    fn garbage_is_an_error_and_never_a_huge_allocation() {
        let mut garbage = vec![0xff; 64];
        assert!(take::<Ask>(&mut garbage).is_err());
        assert!(receive::<Ask>(&[0xff; 64][..]).is_err());
    }
}
