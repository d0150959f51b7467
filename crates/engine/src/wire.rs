//! Messages between an engine and a supervisor: a length-prefixed head and a body of raw bytes, so that
//! arguments, environments and input need not be text. A head is JSON, but for the two that each job costs:
//! the job itself ([`packed`]) and its end, which is its exit record as it is on disk.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use umbo_sandbox::{Decision, Plan, Question};

use crate::exit_record;
use crate::id::JobId;
use crate::outcome::Outcome;
use crate::request::{Admission, Ladder, Leaks, Limits, OnDisconnect, Size, Streams};
use crate::turns::After;

mod packed;

use packed::Packed;

/// The largest message anybody accepts: nobody may make a supervisor swallow the memory.
const LARGEST: usize = 64 << 20;

/// A message.
#[derive(Debug)]
pub(crate) struct Frame<H> {
    pub(crate) head: H,
    pub(crate) body: Vec<u8>,
}

/// The head of a message to be sent.
pub(crate) trait Encode {
    /// Appends it.
    fn encode(&self, to: &mut Vec<u8>) -> io::Result<()>;
}

/// The head of a message that came.
pub(crate) trait Decode: Sized {
    /// Reads it.
    fn decode(head: &[u8]) -> io::Result<Self>;
}

/// The first byte of a head that is no JSON says what it is.
const ASSIGN: u8 = 1;
const ENDED: u8 = 2;
const ENDED_AND_FREE: u8 = 3;

/// From an engine to the supervisor it started.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// A job with this sandbox is expected: it can be built before there is one.
    Expect(Box<Plan>),
    /// The job.
    #[serde(skip)]
    Assign(Box<Assign>),
}

impl Decode for Order {
    fn decode(head: &[u8]) -> io::Result<Self> {
        match head.split_first() {
            Some((&ASSIGN, mut job)) => Assign::unpack(&mut job)
                .map(|assign| Self::Assign(Box::new(assign)))
                .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no job is like this")),
            _ => Ok(serde_json::from_slice(head)?),
        }
    }
}

/// The same, to be sent.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OrderOf<'a> {
    Expect(&'a Plan),
    #[serde(skip)]
    Assign(&'a Assign),
}

impl Encode for OrderOf<'_> {
    fn encode(&self, to: &mut Vec<u8>) -> io::Result<()> {
        if let Self::Assign(assign) = self {
            to.push(ASSIGN);
            assign.pack(to);
            return Ok(());
        }
        Ok(serde_json::to_writer(to, self)?)
    }
}

/// A job for a supervisor.
#[cfg_attr(test, derive(PartialEq))]
#[derive(Debug)]
pub(crate) struct Assign {
    pub(crate) job: JobId,
    /// The first line of the `request` file, except what the supervisor adds. It goes there as it is.
    pub(crate) record: Vec<u8>,
    /// What it is called, and whose it is: the record has both, too.
    pub(crate) name: Option<String>,
    pub(crate) owner: Option<String>,
    pub(crate) limits: Limits,
    pub(crate) ladder: Ladder,
    pub(crate) leaks: Leaks,
    pub(crate) on_disconnect: OnDisconnect,
    pub(crate) admission: Admission,
    pub(crate) max_running: usize,
    /// The group it takes turns in, instead of all jobs together.
    pub(crate) group: Option<String>,
    /// What must have ended before it begins.
    pub(crate) after: Vec<After>,
    /// The job it was started inside of.
    pub(crate) parent: Option<JobId>,
    pub(crate) terminal: Option<Size>,
    pub(crate) stdin: StdinKind,
    pub(crate) streams: Streams,
    pub(crate) session: Option<String>,
    /// Whether it runs where its session is, not in the directory of the request.
    pub(crate) continues_session: bool,
    /// How many strings of the body are arguments; the rest, after program and directory, is
    /// the environment.
    pub(crate) arguments: usize,
    /// How many bytes of the body, at its end, are standard input.
    pub(crate) stdin_bytes: usize,
    pub(crate) retention: Retention,
    pub(crate) notify_on: NotifyOn,
    /// What it may touch.
    pub(crate) sandbox: Option<Plan>,
    /// What the supervisor does afterwards.
    pub(crate) afterwards: Afterwards,
}

impl Assign {
    /// The command, as its record has it.
    pub(crate) fn command(&self) -> io::Result<Cow<'_, str>> {
        #[derive(Deserialize)]
        struct Recorded<'a> {
            #[serde(borrow)]
            command: Cow<'a, str>,
        }
        Ok(serde_json::from_slice::<Recorded<'_>>(&self.record)?.command)
    }
}

/// What a supervisor does when its job is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Afterwards {
    /// It ends.
    #[default]
    End,
    /// It gets ready for another job of this caller, if this one left nothing behind.
    Return,
}

/// What the caller wants to hear of a job that goes well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotifyOn {
    /// That it started, and that it ended.
    Start,
    /// Only that it ended: one wake-up less.
    End,
}

/// How many ended jobs stay on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Retention {
    pub(crate) jobs: usize,
    pub(crate) bytes: u64,
    /// Those that ended longer ago leave, however few they are.
    pub(crate) age: Option<Duration>,
}

/// Where standard input comes from; the bytes or the path are in the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    #[serde(skip)]
    Ended(Box<Outcome>),
    /// The same, and the supervisor gets ready for another job.
    #[serde(skip)]
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

impl Decode for Report {
    fn decode(head: &[u8]) -> io::Result<Self> {
        let ended = |record| exit_record::parse(record).map(Box::new);
        Ok(match head.split_first() {
            Some((&ENDED, record)) => Self::Ended(ended(record)?),
            Some((&ENDED_AND_FREE, record)) => Self::EndedAndFree(ended(record)?),
            _ => serde_json::from_slice(head)?,
        })
    }
}

/// The end of a job to be sent, as the record on disk has it.
pub(crate) struct EndOf<'a> {
    pub(crate) record: &'a [u8],
    /// What the supervisor does now.
    pub(crate) afterwards: Afterwards,
}

impl Encode for EndOf<'_> {
    fn encode(&self, to: &mut Vec<u8>) -> io::Result<()> {
        to.push(match self.afterwards {
            Afterwards::End => ENDED,
            Afterwards::Return => ENDED_AND_FREE,
        });
        to.extend_from_slice(self.record);
        Ok(())
    }
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

/// Heads that are JSON.
macro_rules! json {
    (write $($sent:ty),+; read $($received:ty),+) => {
        $(impl Encode for $sent {
            fn encode(&self, to: &mut Vec<u8>) -> io::Result<()> {
                Ok(serde_json::to_writer(to, self)?)
            }
        })+
        $(impl Decode for $received {
            fn decode(head: &[u8]) -> io::Result<Self> {
                Ok(serde_json::from_slice(head)?)
            }
        })+
    };
}

json! { write Report, Ask, Answer; read Ask, Answer }

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

/// A head takes this much, usually.
const USUAL_HEAD_BYTES: usize = 1 << 10;

/// Writes one message.
pub(crate) fn send(mut to: impl Write, head: &impl Encode, body: &[u8]) -> io::Result<()> {
    let mut message = Vec::with_capacity(8 + USUAL_HEAD_BYTES + body.len());
    message.extend_from_slice(&[0; 8]);
    head.encode(&mut message)?;
    let lengths = [length(message.len() - 8)?, length(body.len())?];
    message[..8].copy_from_slice(lengths.as_flattened());
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
pub(crate) fn receive<H: Decode>(mut from: impl Read) -> io::Result<Frame<H>> {
    let mut lengths = [0; 8];
    from.read_exact(&mut lengths)?;
    let (head_length, body_length) = split_lengths(lengths)?;
    let mut message = vec![0; head_length + body_length];
    from.read_exact(&mut message)?;
    let head = H::decode(&message[..head_length])?;
    message.drain(..head_length);
    Ok(Frame { head, body: message })
}

/// Takes one whole message off the front of `buffer`, if one is there.
pub(crate) fn take<H: Decode>(buffer: &mut Vec<u8>) -> io::Result<Option<Frame<H>>> {
    let Some(lengths) = buffer.first_chunk::<8>() else { return Ok(None) };
    let (head_length, body_length) = split_lengths(*lengths)?;
    let Some(message) = buffer.get(8..8 + head_length + body_length) else { return Ok(None) };
    let (head, body) = message.split_at(head_length);
    let frame = Frame { head: H::decode(head)?, body: body.to_vec() };
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
