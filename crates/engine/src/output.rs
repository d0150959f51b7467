//! Running a command for what it prints.

use std::borrow::Cow;
use std::io::Read;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::job::Job;
use crate::log::Stream;
use crate::outcome::{End, Outcome};
use crate::request::{Command, Request};

/// As much of standard error is quoted in an error.
const QUOTED_BYTES: usize = 2000;

/// A job that ran to its end, and what it wrote.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Output {
    /// The job.
    pub job: Job,
    /// How it ended.
    pub outcome: Outcome,
    /// What it wrote to standard output, or to its terminal.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
}

impl Output {
    /// Reads what an ended job wrote.
    pub(crate) fn of(job: Job, outcome: Outcome) -> Result<Self> {
        let read = |stream| -> Result<Vec<u8>> {
            let mut bytes = Vec::new();
            let mut log = job.log()?.only(stream);
            log.read_to_end(&mut bytes).map_err(Error::file("read", "output"))?;
            Ok(bytes)
        };
        let has_terminal = job.summary().is_some_and(|summary| summary.terminal.is_some());
        let stdout = read(if has_terminal { Stream::Pty } else { Stream::Stdout })?;
        let stderr = if has_terminal { Vec::new() } else { read(Stream::Stderr)? };
        Ok(Self { job, outcome, stdout, stderr })
    }

    /// Whether the command ended by itself with code 0.
    pub fn success(&self) -> bool {
        self.outcome.success()
    }

    /// Standard output as text; bytes that are no text are replaced.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stdout)
    }

    /// Standard error as text.
    pub fn error_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stderr)
    }

    /// Itself if the command ended by itself with code 0, else an error that says how it ended and
    /// quotes the end of what it complained about.
    pub fn checked(self, request: &Request) -> Result<Self> {
        if self.success() {
            return Ok(self);
        }
        let command = match &request.command {
            Command::Shell { text, .. } => text.clone(),
            Command::Argv(words) => {
                let words = words.iter().map(|word| word.to_string_lossy());
                words.collect::<Vec<_>>().join(" ")
            }
        };
        let tail = &self.stderr[self.stderr.len().saturating_sub(QUOTED_BYTES)..];
        let stderr = String::from_utf8_lossy(tail).into_owned();
        Err(Error::Failed { command, how: in_words(&self.outcome), stderr })
    }
}

/// How a job ended that did not end well.
fn in_words(outcome: &Outcome) -> String {
    match &outcome.end {
        End::Exited { code } => format!("exited with code {code}"),
        End::Signaled { signal, .. } => format!("was ended by signal {signal}"),
        End::TimedOut { after_ms, .. } => format!("was stopped after {after_ms} ms"),
        End::Stopped { .. } => "was stopped".into(),
        End::Lost { .. } => "was lost".into(),
        End::FailedToStart { why } => format!("did not start: {why}"),
    }
}

impl Engine {
    /// Runs a job to its end and gives what it wrote, however it ended.
    pub fn output(&self, request: &Request) -> Result<Output> {
        let (job, outcome) = self.run(request)?;
        Output::of(job, outcome)
    }

    /// Runs a job to its end and gives its standard output as text, without the newlines at its
    /// end. A command that does not end with code 0 is an error, which quotes standard error.
    pub fn read(&self, request: &Request) -> Result<String> {
        let output = self.output(request)?.checked(request)?;
        Ok(output.text().trim_end_matches('\n').to_owned())
    }
}
