//! `events`: the journal, as it was and as it goes on.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_engine::{EventKind, Item, Subscription};
use umbo_gate::show_time;

use crate::call::Call;
use crate::error::Error;

/// Which events.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventsRequest {
    /// Those after this number.
    #[serde(default)]
    pub after: u64,
    /// Whether more are waited for.
    #[serde(default)]
    pub follow: bool,
}

/// Something that happened to a job, or a gap where events are no longer kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct EventAnswer {
    /// Its number.
    pub seq: u64,
    /// What happened.
    pub kind: &'static str,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// To which job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Up to where it has written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// How many bytes were typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Whether no more input comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<bool>,
    /// How many processes leaked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// The state it ended in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// How many events are no longer kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed: Option<u64>,
}

impl EventAnswer {
    fn new(item: Item) -> Self {
        let event = match item {
            Item::Event(event) => event,
            Item::Gap { seq, missed, .. } => {
                return Self { missed: Some(missed), ..Self::empty(seq, "gap") };
            }
        };
        let mut answer = Self {
            at: Some(show_time(event.at)),
            job: Some(event.job.to_string()),
            ..Self::empty(event.seq, event.kind.name())
        };
        match event.kind {
            EventKind::Output { offset } => answer.offset = Some(offset),
            EventKind::Input { bytes, end } => {
                (answer.bytes, answer.end) = (Some(bytes), Some(end));
            }
            EventKind::Leaked { count } => answer.count = Some(count),
            EventKind::Exited { state, code } => {
                (answer.state, answer.code) = (Some(state), code);
            }
            _ => {}
        }
        answer
    }

    fn empty(seq: u64, kind: &'static str) -> Self {
        Self {
            seq,
            kind,
            at: None,
            job: None,
            offset: None,
            bytes: None,
            end: None,
            count: None,
            state: None,
            code: None,
            missed: None,
        }
    }
}

/// Events, one after the other; endless if more are waited for.
pub struct Events {
    subscription: Subscription,
    follow: bool,
}

/// Reads the journal.
pub fn events(call: &Call<'_>, request: &EventsRequest) -> Result<Events, Error> {
    let subscription = call.caller.backend.subscribe(request.after)?;
    Ok(Events { subscription, follow: request.follow })
}

impl Iterator for Events {
    type Item = Result<EventAnswer, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let timeout = if self.follow { Duration::MAX } else { Duration::ZERO };
        match self.subscription.next(timeout) {
            Ok(item) => Some(Ok(EventAnswer::new(item?))),
            Err(error) => Some(Err(error.into())),
        }
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events")
            .field("cursor", &self.subscription.cursor())
            .finish_non_exhaustive()
    }
}
