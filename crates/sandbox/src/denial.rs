//! What a sandbox stopped: facts, each counted.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// So many different denials are listed; the rest is counted.
const MOST_LISTED: usize = 50;
/// A command line or a target is cut at this many characters.
const LONGEST_TEXT: usize = 300;

/// Something a job tried, and was not let do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denied {
    /// What it tried.
    pub operation: Operation,
    /// With which path, or which address.
    pub target: String,
    /// The command line of the process that tried.
    pub program: String,
    /// The process, at the first time.
    pub pid: u32,
    /// How often.
    pub count: u64,
    /// When first, in microseconds since 1970.
    pub at: u64,
    /// Whether somebody was asked, and what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
}

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// Somebody refused.
    Refused,
    /// Nobody answered in time.
    Unanswered,
}

/// What a process wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Read a file, or list a directory.
    Read,
    /// Write a file that exists.
    Write,
    /// Make a file, a directory, a link or a socket.
    Create,
    /// Remove one.
    Delete,
    /// Give one another name, or take its place.
    Rename,
    /// Change its mode, owner, times or attributes.
    Change,
    /// Start a program.
    Execute,
    /// Reach an address or a socket.
    Connect,
}

impl Operation {
    /// Its name, as a verb.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Create => "create",
            Self::Delete => "delete",
            Self::Rename => "rename",
            Self::Change => "change",
            Self::Execute => "execute",
            Self::Connect => "connect",
        }
    }
}

/// The denials of a job.
#[derive(Debug, Default)]
pub(crate) struct Denials {
    listed: Vec<Denied>,
    more: u64,
}

impl Denials {
    pub(crate) fn add(
        &mut self,
        operation: Operation,
        target: &str,
        (pid, program): (u32, &str),
        asked: Option<Asked>,
    ) {
        let (target, program) = (cut(target), cut(program));
        let same = |denied: &&mut Denied| {
            denied.operation == operation
                && denied.target == target
                && denied.program == program
                && denied.asked == asked
        };
        if let Some(known) = self.listed.iter_mut().find(same) {
            known.count += 1;
        } else if self.listed.len() < MOST_LISTED {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let at = u64::try_from(now.as_micros()).unwrap_or(u64::MAX);
            self.listed.push(Denied { operation, target, program, pid, count: 1, at, asked });
        } else {
            self.more += 1;
        }
    }

    /// Some more were denied that nobody knows more of.
    pub(crate) fn miss(&mut self, count: u64) {
        self.more += count;
    }

    /// Those that are listed, and how many more calls were denied.
    pub(crate) fn take(&mut self) -> (Vec<Denied>, u64) {
        (std::mem::take(&mut self.listed), self.more)
    }
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).collect()
}
