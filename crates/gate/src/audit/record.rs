//! The records of the audit, and the bytes of one.

use serde::{Deserialize, Serialize};
use umbo_command::Risk;

use crate::decision::Decision;
use crate::digest::Digest;

/// What is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    /// A command was asked for, and the gate decided.
    Verdict {
        /// The command.
        command: String,
        /// Where it would run.
        cwd: String,
        /// The mode.
        mode: String,
        /// The risk there.
        risk: Risk,
        /// What was decided.
        decision: Decision,
        /// The rule or mode that decided.
        by: String,
        /// Why.
        reason: String,
        /// The approval it was let through by, or has to wait for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approval: Option<String>,
        /// A keyed hash of what it would be given on its standard input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<String>,
        /// The profile of the sandbox it would run in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox: Option<String>,
        /// The hash of the rules.
        policy: Digest,
    },
    /// A person confirmed files of the configuration that were changed.
    Confirmed {
        /// The names of the files, with their hashes; `None` for one that is gone.
        files: Vec<(String, Option<Digest>)>,
    },
    /// Somebody answered.
    Answer {
        /// Which question.
        approval: String,
        /// What was said: `approve` or `deny`, what it covers, for how long.
        answer: String,
        /// Who said it.
        by: String,
    },
    /// A command that was let through ended.
    Outcome {
        /// The job.
        job: String,
        /// How it ended.
        state: String,
        /// With which code.
        exit_code: Option<i32>,
        /// The hash of its output.
        log: Option<Digest>,
        /// What its sandbox stopped: operation, target and program of each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        denied: Vec<String>,
        /// The command, if it ran unasked because it was read as one that only reads, and then tried to
        /// change or reach something: the reading is wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        misread: Option<String>,
    },
    /// A command that was let through runs.
    Started {
        /// The job.
        job: String,
        /// The number of the record that let it through.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verdict: Option<u64>,
    },
    /// Files of a project were trusted.
    Trust {
        /// The project.
        project: String,
        /// The files and their hashes.
        files: Vec<(String, Digest)>,
    },
    /// A writer was killed; the part of a record it left was taken away.
    Repaired {
        /// How much.
        bytes: u64,
        /// Its hash.
        dropped: Digest,
    },
    /// Records are missing or changed before this one.
    Gap {
        /// The last record there should be.
        expected: u64,
        /// The last one found in order.
        found: u64,
    },
    /// The head was missing or forged when this was written.
    NoHead {
        /// The last record found in order.
        found: u64,
    },
}

/// A record, as it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its number, from 1.
    pub seq: u64,
    /// When it was written, in microseconds since 1970.
    pub at: u64,
    /// The hash of the record before it.
    pub prev: Digest,
    /// What it says.
    #[serde(flatten)]
    pub event: Event,
    /// Its own hash: of all bytes of its line before this field.
    pub hash: Digest,
}

#[derive(Serialize)]
struct Body<'a> {
    seq: u64,
    at: u64,
    prev: &'a Digest,
    #[serde(flatten)]
    event: &'a Event,
}

/// Adds the line of a record, and returns its hash.
pub(super) fn add_line(
    bytes: &mut Vec<u8>,
    seq: u64,
    at: u64,
    prev: &Digest,
    event: &Event,
) -> serde_json::Result<Digest> {
    let start = bytes.len();
    serde_json::to_writer(&mut *bytes, &Body { seq, at, prev, event })?;
    bytes.pop();
    let hash = Digest::of(&bytes[start..]);
    bytes.extend_from_slice(BEFORE_HASH);
    bytes.extend_from_slice(hash.as_str().as_bytes());
    bytes.extend_from_slice(AFTER_HASH);
    Ok(hash)
}

/// What the line of a record ends in: its hash between these.
const BEFORE_HASH: &[u8] = b",\"hash\":\"";
const AFTER_HASH: &[u8] = b"\"}\n";

/// How many bytes that are.
pub(super) fn tail_bytes(hash: &Digest) -> usize {
    BEFORE_HASH.len() + hash.as_str().len() + AFTER_HASH.len()
}

/// What is in front of the end of a line, if it is the end of a record with this hash.
pub(super) fn has_tail<'l>(line: &'l [u8], hash: &Digest) -> Option<&'l [u8]> {
    let line = line.strip_suffix(AFTER_HASH)?.strip_suffix(hash.as_str().as_bytes())?;
    line.strip_suffix(BEFORE_HASH)
}

/// The record of a line with its newline, if its bytes are what its hash says.
pub(super) fn parse(line: &[u8]) -> Result<Record, &'static str> {
    let record: Record = serde_json::from_slice(line).map_err(|_| "the line is not a record")?;
    let body = has_tail(line, &record.hash).ok_or("the line does not end in its hash")?;
    if Digest::of(body) == record.hash { Ok(record) } else { Err("the record was changed") }
}
