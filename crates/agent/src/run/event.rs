//! What happens while an agent works, for whoever shows it.

use std::time::Duration;

use umbo_model::{Failure, ToolCall};

use crate::message::AgentMessage;
use crate::todo::Phase;

/// Something that a front end may show. All of it is in the session already, except deltas.
#[derive(Clone, Debug)]
pub enum AgentEvent {
    /// The model is asked.
    TurnStart {
        /// Which answer of the run this will be, from 1.
        turn: u32,
    },
    /// A piece of its answer.
    Model(umbo_model::Event),
    /// The pieces so far will not become an answer.
    AnswerLost(Failure),
    /// A message is in the session.
    Message {
        /// Its entry.
        entry: String,
        /// The message.
        message: Box<AgentMessage>,
    },
    /// A tool is about to run.
    ToolStart {
        /// The call.
        call: ToolCall,
        /// The name under which it is done once.
        key: String,
    },
    /// How a tool that runs stands, in the place of what it said before.
    ToolProgress {
        /// The call.
        call_id: String,
        /// The end of what it has written, or where it is.
        text: String,
    },
    /// The model is asked again after a while.
    Retry {
        /// How long that is.
        wait: Duration,
        /// Why.
        failure: Failure,
    },
    /// Another model is asked from now on.
    Fallback {
        /// Its name.
        model: String,
    },
    /// The conversation is being summarised.
    CompactionStart {
        /// Why.
        reason: CompactionReason,
    },
    /// It was not, and is as before.
    CompactionFailed {
        /// Why.
        problem: String,
    },
    /// It was.
    CompactionEnd {
        /// The size before, in tokens.
        before: u64,
        /// The size now.
        after: u64,
    },
    /// The conversation went back to its checkpoint.
    Rewound {
        /// What the model reads of what was found out.
        report: String,
    },
    /// The todo list is another one.
    Todos(Vec<Phase>),
    /// Nothing to do until work in the background ends.
    Sleeping {
        /// How much there is.
        running: usize,
    },
}

/// Why a conversation is summarised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionReason {
    /// It fills most of the window.
    Threshold,
    /// The vendor says that it does not fit.
    Overflow,
    /// Somebody asked for it.
    Asked,
}
