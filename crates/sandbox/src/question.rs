//! A call that is held while somebody is asked about it.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::denial::Operation;

/// What a process waits for, in words for whoever decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Names it in the answer.
    pub number: u64,
    /// What the process wants to do.
    pub operation: Operation,
    /// With exactly which path or host.
    pub target: String,
    /// Its command line.
    pub program: String,
    /// The process.
    pub pid: u32,
    /// How long an answer may still take, in milliseconds; then it is denied.
    pub left_ms: u64,
    /// What could be granted, the smallest first.
    pub grants: Vec<Grant>,
}

/// The questions that nobody has answered yet, each with what waits for its answer.
#[derive(Debug)]
pub(crate) struct OpenQuestions<T> {
    open: Vec<OpenQuestion<T>>,
    last_number: u64,
}

/// A question that nobody has answered yet.
#[derive(Debug)]
pub(crate) struct OpenQuestion<T> {
    pub(crate) question: Question,
    deadline: Instant,
    pub(crate) waiting: T,
}

impl<T> OpenQuestions<T> {
    /// None so far; their numbers come after this one.
    pub(crate) fn after(number: u64) -> Self {
        Self { open: Vec::new(), last_number: number }
    }

    /// Asks. The question gets its number here.
    pub(crate) fn ask(&mut self, question: Question, timeout: Duration, waiting: T) {
        self.last_number += 1;
        let question = Question { number: self.last_number, ..question };
        self.open.push(OpenQuestion { question, deadline: Instant::now() + timeout, waiting });
    }

    /// All of them, with the time that is left for an answer.
    pub(crate) fn list(&self) -> Vec<Question> {
        let now = Instant::now();
        let left = |deadline: Instant| deadline.saturating_duration_since(now).as_millis();
        let asked = |open: &OpenQuestion<T>| {
            let left_ms = u64::try_from(left(open.deadline)).unwrap_or(u64::MAX);
            Question { left_ms, ..open.question.clone() }
        };
        self.open.iter().map(asked).collect()
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.open.iter().map(|open| open.deadline).min()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &OpenQuestion<T>> {
        self.open.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut OpenQuestion<T>> {
        self.open.iter_mut()
    }

    /// Takes the one with this number.
    pub(crate) fn take(&mut self, number: u64) -> Option<OpenQuestion<T>> {
        let index = self.open.iter().position(|open| open.question.number == number)?;
        Some(self.open.swap_remove(index))
    }

    /// Takes those that are meant.
    pub(crate) fn take_if(
        &mut self,
        is_meant: impl Fn(&OpenQuestion<T>) -> bool,
    ) -> Vec<OpenQuestion<T>> {
        let (taken, rest) = std::mem::take(&mut self.open).into_iter().partition(is_meant);
        self.open = rest;
        taken
    }

    /// Takes those that nobody answered in time.
    pub(crate) fn take_expired(&mut self) -> Vec<OpenQuestion<T>> {
        let now = Instant::now();
        self.take_if(|open| open.deadline <= now)
    }
}

/// What an answer may grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// This call and no other.
    Once,
    /// This path, for as long as the job runs.
    Path(PathBuf),
    /// This directory and all below it, for as long as the job runs.
    Directory(PathBuf),
    /// This host, for as long as the job runs.
    Host(String),
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Once => f.write_str("this time"),
            Self::Path(path) => write!(f, "{} while it runs", path.display()),
            Self::Directory(path) => write!(f, "all in {} while it runs", path.display()),
            Self::Host(host) => write!(f, "{host} while it runs"),
        }
    }
}

/// Somebody's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It may.
    Allow(Grant),
    /// It may not.
    Deny,
}
