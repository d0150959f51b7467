//! A call that is held while somebody is asked about it.

use std::fmt;
use std::path::PathBuf;
use std::time::Instant;

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

impl Question {
    /// The same, with the time that is left for an answer.
    pub(crate) fn asked_at(&self, now: Instant, deadline: Instant) -> Self {
        let left = deadline.saturating_duration_since(now).as_millis();
        Self { left_ms: u64::try_from(left).unwrap_or(u64::MAX), ..self.clone() }
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
