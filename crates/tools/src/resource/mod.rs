//! Jobs as resources: what a caller can list, read page by page, and be told of.
//!
//! A resource is the output of a job under an address of its own ([`Address`]). Its text is a view
//! like any other: sanitised, masked, bounded. The whole of a long output is therefore its beginning,
//! its end and what looks like errors; a range of it leaves nothing out, and says where the next one
//! begins.

mod address;

use serde_json::{Value, json};
use umbo_engine::{JobHandle, JobId, Scope, Status, Summary};
use umbo_view::{Budget, Reader, visible_line};

pub use address::{Address, Part};

use crate::answer::compact;
use crate::toolset::Toolset;
use umbo_ops::JobLog;
use umbo_ops::Ticket;
use umbo_ops::first_line;
use umbo_ops::{Call, Whose, text};

/// What all outputs are.
pub const MIME_TYPE: &str = "text/plain";
/// As many resources as one list has.
const PAGE: usize = 100;

/// A resource in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its address.
    pub uri: String,
    /// The job's name, or else its id.
    pub name: String,
    /// What the job runs, and where it stands.
    pub description: String,
    /// Bytes it has written.
    pub size: u64,
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceList {
    /// The newest job first.
    pub resources: Vec<Resource>,
    /// Where the next page begins; none on the last.
    pub next: Option<String>,
}

/// A resource that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceText {
    /// The text.
    pub text: String,
    /// The job, its state, and where to go on reading.
    pub about: Value,
}

/// A kind of address that a client can fill in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceTemplate {
    /// The address, with braces where something is to be filled in.
    pub uri: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub description: &'static str,
}

/// All kinds of addresses.
pub const TEMPLATES: [ResourceTemplate; 3] = [
    ResourceTemplate {
        uri: "umbo://jobs/{job}/output{?stream}",
        name: "output",
        description: "What a job wrote: beginning, end, and what looks like errors between them",
    },
    ResourceTemplate {
        uri: "umbo://jobs/{job}/output{?offset,limit,stream}",
        name: "output-range",
        description: "What a job wrote from a byte offset on, at most limit bytes (1 to 1048576)",
    },
    ResourceTemplate {
        uri: "umbo://jobs/{job}/output{?lines,tail,stream}",
        name: "output-lines",
        description: "Lines of what a job wrote: lines=10-20, or tail=20 for the last ones",
    },
];

/// Why there is nothing to read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResourceError {
    /// Nothing has this address.
    #[error("there is no {uri}: {why}")]
    Unknown {
        /// The address that was given.
        uri: String,
        /// Why it leads nowhere.
        why: String,
    },
    /// The address, or the place in a list, is wrong.
    #[error("{field}: {given:?} was given; accepted: {accepted}")]
    Invalid {
        /// Which part of it.
        field: &'static str,
        /// What was given.
        given: String,
        /// What would be right.
        accepted: &'static str,
    },
    /// It is there and cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

impl Toolset {
    /// The outputs of the caller's jobs, the newest first, from a place in the list on.
    pub fn resources(&self, from: Option<&str>) -> Result<ResourceList, ResourceError> {
        let first: Option<JobId> = match from {
            None => None,
            Some(from) => Some(from.parse().map_err(|_| ResourceError::Invalid {
                field: "cursor",
                given: from.to_owned(),
                accepted: "the nextCursor of the page before, or none",
            })?),
        };
        // By id, which is by age, so that a place in the list stays one.
        let jobs = self.backend.newest(self.owner.as_deref(), first.as_ref(), PAGE + 1);
        let jobs = jobs.map_err(|error| unreadable(error.into()))?;
        Ok(ResourceList {
            resources: jobs.iter().take(PAGE).map(|summary| self.resource(summary)).collect(),
            next: jobs.get(PAGE).map(|summary| summary.job.to_string()),
        })
    }

    fn resource(&self, summary: &Summary) -> Resource {
        let code = match &summary.status {
            Status::Ended(outcome) => outcome.exit_code(),
            _ => None,
        };
        let code = code.map(|code| format!(" {code}")).unwrap_or_default();
        let command = first_line(&summary.command);
        let name = summary.name.clone().unwrap_or_else(|| summary.job.to_string());
        Resource {
            uri: Address::of(&summary.job).to_string(),
            name: self.mask(&visible_line(&name)),
            description: self.mask(&format!("{}{code}: {command}", summary.status.name())),
            size: summary.total_bytes,
        }
    }

    /// What could be filled into a template: the values for `name` that begin with `typed`.
    pub fn complete_resource(&self, name: &str, typed: &str) -> Result<Vec<String>, ResourceError> {
        let values: Vec<String> = match name {
            "job" => {
                let ticket = Ticket::default();
                let jobs = Call::new(self, &ticket).jobs(Whose::Mine, Scope::Recent);
                let jobs = jobs.map_err(unreadable)?;
                let names = jobs.iter().rev().filter_map(|summary| summary.name.clone());
                let ids = jobs.iter().rev().map(|summary| summary.job.to_string());
                names.chain(ids).map(|value| self.mask(&value)).collect()
            }
            "stream" => vec!["stdout".to_owned(), "stderr".to_owned()],
            _ => Vec::new(),
        };
        let mut found: Vec<String> = Vec::new();
        for value in values.into_iter().filter(|value| value.starts_with(typed)) {
            if found.len() < PAGE && !found.contains(&value) {
                found.push(value);
            }
        }
        Ok(found)
    }

    /// Reads a resource.
    pub fn read_resource(&self, uri: &str) -> Result<ResourceText, ResourceError> {
        let address: Address = uri.parse()?;
        let ticket = Ticket::default();
        let call = Call::new(self, &ticket);
        let job = self.job_at(&address)?;
        let failed = |error: &dyn std::fmt::Display| ResourceError::Unreadable(error.to_string());
        let status = job.status().map_err(|error| failed(&error))?;
        let mut about = json!({"job": job.id().as_str(), "state": status.name()});
        if let Status::Ended(outcome) = &status {
            about["exit_code"] = json!(outcome.exit_code());
        }
        let budget = match address.part {
            Part::From { limit: Some(limit), .. } => Budget { bytes: limit, ..Budget::UNLIMITED },
            _ => self.budget,
        };
        let stream = address.stream.filter(|_| {
            // A terminal has one stream, whatever is asked for.
            job.summary().is_some_and(|summary| summary.terminal.is_none())
        });
        let text = if let Part::Whole = address.part {
            let view = call.view(&job, 0, stream, budget).map_err(unreadable)?;
            about["truncated"] = json!(view.truncated);
            about["total_bytes"] = json!(view.counts.total_bytes);
            about["next_offset"] = json!(view.parts.last().map_or(0, |part| part.offset().end));
            text(&view)
        } else {
            let log = JobLog::open(&job).map_err(|error| failed(&error))?;
            let mut reader = Reader::new(log).mask(&self.masker);
            if let Some(stream) = stream {
                reader = reader.stream(stream);
            }
            let page = match &address.part {
                Part::Whole => reader.page(0, &budget),
                Part::From { offset, .. } => reader.page(*offset, &budget),
                Part::Lines(lines) => reader.lines(lines.clone(), &budget),
                Part::Tail(lines) => reader.tail(*lines, &budget),
            };
            let page = page.map_err(|error| failed(&error))?;
            about["at_end"] = json!(page.at_end);
            about["next_offset"] = json!(page.next_offset);
            if !page.at_end {
                about["next"] = json!(address.from(job.id(), page.next_offset).to_string());
            }
            page.to_text()
        };
        Ok(ResourceText { text, about: compact(about) })
    }

    /// The id of the job whose output has this address.
    pub fn job_of(&self, uri: &str) -> Result<String, ResourceError> {
        Ok(self.job_at(&uri.parse()?)?.id().to_string())
    }

    fn job_at(&self, address: &Address) -> Result<JobHandle, ResourceError> {
        let ticket = Ticket::default();
        let call = Call::new(self, &ticket);
        call.job(&address.job).map_err(|error| match error.code {
            umbo_ops::ErrorCode::UnknownJob => {
                ResourceError::Unknown { uri: address.to_string(), why: error.message }
            }
            _ => unreadable(error),
        })
    }
}

fn unreadable(error: umbo_ops::Error) -> ResourceError {
    ResourceError::Unreadable(error.message)
}
