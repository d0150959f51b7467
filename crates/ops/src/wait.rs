//! `wait`: until one thing is true.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use regex::bytes::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_engine::{Condition, Met};

use crate::answer::JobAnswer;
use crate::call::Call;
use crate::error::Error;
use crate::exec::standing;
use crate::values::{Count, Seconds};

/// Which job to wait for, and until when.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitRequest {
    /// Which job.
    #[schemars(description = "")]
    pub job: String,
    /// Until its output matches.
    #[serde(rename = "match")]
    #[schemars(description = "Regex")]
    pub pattern: Option<String>,
    /// Where to look for a match, and what the answer begins with.
    #[schemars(description = "Offset to search and show from")]
    pub from: Option<Count>,
    /// Until this port accepts.
    #[schemars(description = "8080 or 127.0.0.1:8080")]
    pub port: Option<Port>,
    /// Until this file exists.
    #[schemars(description = "")]
    pub file: Option<PathBuf>,
    /// Until it has written nothing for so long.
    #[schemars(description = "Seconds without output")]
    pub quiet: Option<Seconds>,
    /// How long to wait; as long as an operation may take, unless given.
    #[schemars(description = "[40]", range(max = 3600))]
    pub timeout: Option<Seconds>,
    /// How much output the answer may hold.
    #[schemars(description = "", range(min = 1))]
    pub max_output_tokens: Option<Count>,
    /// Whether the answer is to have no output: reading a long one takes its time.
    #[serde(skip)]
    #[schemars(skip)]
    pub without_output: bool,
}

/// A port of this machine, or an address with one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline, description = "")]
pub enum Port {
    /// The port.
    #[schemars(description = "")]
    Number(i64),
    /// The port, or address and port.
    #[schemars(description = "")]
    Text(String),
}

/// Which condition ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitReason {
    /// The job ended, whether that was waited for or not.
    Exit,
    /// Its output matched.
    Match,
    /// The port accepts.
    Port,
    /// The file exists.
    File,
    /// It was silent for long enough.
    Quiet,
    /// The time is up.
    Timeout,
}

impl WaitReason {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exit => "exit",
            Self::Match => "match",
            Self::Port => "port",
            Self::File => "file",
            Self::Quiet => "quiet",
            Self::Timeout => "timeout",
        }
    }
}

impl From<&Met> for WaitReason {
    fn from(met: &Met) -> Self {
        match met {
            Met::Exit | Met::Ended => Self::Exit,
            Met::Match { .. } => Self::Match,
            Met::Port(_) => Self::Port,
            Met::File(_) => Self::File,
            Met::Quiet => Self::Quiet,
            // Conditions of other kinds were not asked for.
            _ => Self::Timeout,
        }
    }
}

/// What a wait came to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct WaitAnswer {
    /// Where the job stands; its `reason` is the condition that was met.
    #[serde(flatten)]
    pub job: JobAnswer,
    /// Where the match begins.
    pub offset: Option<u64>,
    /// What matched.
    pub text: Option<String>,
    /// Which condition was met.
    #[serde(skip)]
    #[schemars(skip)]
    pub met: WaitReason,
}

impl WaitAnswer {
    /// What a model needs of it.
    #[must_use]
    pub fn brief(self) -> Self {
        Self { job: self.job.brief(), ..self }
    }
}

/// Waits for a job.
pub fn wait(call: &Call<'_>, request: &WaitRequest) -> Result<WaitAnswer, Error> {
    let conditions = request.conditions(call)?;
    let job = call.job(&request.job)?;
    let timeout = call.allowed_wait(request.timeout.map(|timeout| timeout.0));
    let met = call.wait(&job, conditions, timeout)?;
    let reason = WaitReason::from(&met);
    let mut answer = if request.without_output {
        JobAnswer::standing(&job, &job.status()?)
    } else {
        standing(call, &job, request.from.map_or(0, |from| from.0), request.max_output_tokens)?
    };
    answer.reason = Some(reason.as_str().to_owned());
    let (offset, text) = match met {
        Met::Match { offset, text } => {
            (Some(offset), Some(String::from_utf8_lossy(&text).into_owned()))
        }
        _ => (None, None),
    };
    Ok(WaitAnswer { job: answer, offset, text, met: reason })
}

impl WaitRequest {
    fn conditions(&self, call: &Call<'_>) -> Result<Vec<Condition>, Error> {
        let mut conditions = Vec::new();
        if let Some(pattern) = &self.pattern {
            let from = self.from.map_or(0, |from| from.0);
            conditions.push(Condition::Match { pattern: pattern_of("match", pattern)?, from });
        }
        if let Some(port) = &self.port {
            conditions.push(Condition::Port(port.address()?));
        }
        if let Some(file) = &self.file {
            let path = std::path::absolute(call.caller.directory.join(file))?;
            conditions.push(Condition::File(path));
        }
        if let Some(quiet) = self.quiet {
            conditions.push(Condition::Quiet(quiet.0));
        }
        if conditions.is_empty() {
            conditions.push(Condition::Exit);
        }
        Ok(conditions)
    }

    /// Whether it waits for the end of the job and nothing else.
    pub fn is_for_the_end(&self) -> bool {
        self.pattern.is_none() && self.port.is_none() && self.file.is_none() && self.quiet.is_none()
    }
}

pub(crate) fn pattern_of(field: &str, pattern: &str) -> Result<Regex, Error> {
    Regex::new(pattern).map_err(|error| Error::argument(field, error))
}

impl Port {
    fn address(&self) -> Result<SocketAddr, Error> {
        let (text, given) = match self {
            Self::Number(number) => (number.to_string(), number.to_string()),
            Self::Text(text) => (text.clone(), format!("{text:?}")),
        };
        text.parse::<u16>()
            .map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port))
            .or_else(|_| text.parse())
            .map_err(|_| {
                let accepted = "accepted: a port, as 8080 or \"127.0.0.1:8080\"";
                Error::argument("port", format!("{given} was given; {accepted}"))
            })
    }
}
