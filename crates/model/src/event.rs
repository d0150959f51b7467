//! Events: what is heard of an answer while it comes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::Failure;

/// Something that happened in the stream of an answer.
///
/// Blocks are numbered from 0 in the order in which they begin; several may be open at a time. The
/// last event is [`Event::End`] or [`Event::Error`], and there is one of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The vendor has begun to answer.
    Start {
        /// The vendor's name of the answer.
        id: Option<String>,
        /// The model that answers, as the vendor calls it.
        model: Option<String>,
    },
    /// A block begins.
    BlockStart {
        /// Its number.
        index: usize,
        /// What it is.
        block: BlockStart,
    },
    /// More of a block: text, thinking, or the JSON text of arguments.
    Delta {
        /// Its number.
        index: usize,
        /// What is added. Never empty.
        text: String,
    },
    /// A block is complete. A call without this event must not be run.
    BlockEnd {
        /// Its number.
        index: usize,
        /// What the vendor wants back with it.
        opaque: Option<Value>,
    },
    /// The tokens so far; the last one counts.
    Usage(Usage),
    /// The answer ended.
    End {
        /// Why.
        reason: StopReason,
        /// What the vendor said about it.
        detail: Option<String>,
    },
    /// The answer failed.
    Error(Failure),
}

impl Event {
    /// Whether nothing comes after it.
    pub fn is_last(&self) -> bool {
        matches!(self, Self::End { .. } | Self::Error(_))
    }
}

/// What begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockStart {
    /// Text for the user.
    Text {
        /// Whether it says that the model will not do it.
        refusal: bool,
    },
    /// Thinking.
    Thinking,
    /// A call of a tool.
    ToolCall {
        /// Its name among all calls of the conversation.
        id: String,
        /// The tool.
        name: String,
        /// Whether the deltas are the input itself and not JSON.
        raw: bool,
    },
    /// A block of the vendor's own; it comes whole with its end.
    Opaque,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// The model has said what it wanted to say.
    Stop,
    /// It wants tools to be called.
    ToolUse,
    /// The limit of output was reached.
    Length,
    /// The context window is full, seen while answering.
    Overflow,
    /// The vendor pauses a long turn: send the answer back unchanged and ask again.
    Pause,
    /// The model, or a filter of the vendor, will not answer.
    Refusal,
    /// The model made a call that the vendor could not read; asking again may help.
    ModelFault,
    /// The stream failed.
    Error,
    /// Somebody here stopped it.
    Aborted,
}

/// Tokens of an answer, and what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, into = "WrittenUsage")]
pub struct Usage {
    /// Input that was neither read from a cache nor written to one.
    pub input: u64,
    /// Input that came from a cache.
    pub cache_read: u64,
    /// Input that was written to a cache.
    pub cache_write: u64,
    /// Output, thinking included.
    pub output: u64,
    /// The part of the output that was thinking, where the vendor says so.
    pub reasoning: u64,
    /// What it cost; nothing where the price is not known. No vendor says so: whoever knows the
    /// price adds it ([`ModelPrice::cost`](crate::ModelPrice::cost)).
    pub cost: Cost,
}

/// Dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Cost {
    /// For input that no cache had.
    pub input: f64,
    /// For output, thinking included.
    pub output: f64,
    /// For input that came from a cache.
    pub cache_read: f64,
    /// For input that was written to a cache.
    pub cache_write: f64,
    /// For all of it.
    pub total: f64,
}

/// A usage as session files have it: with the sum that other programs read there.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenUsage {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    total_tokens: u64,
    #[serde(skip_serializing_if = "is_zero")]
    reasoning: u64,
    cost: Cost,
}

impl From<Usage> for WrittenUsage {
    fn from(usage: Usage) -> Self {
        let Usage { input, cache_read, cache_write, output, reasoning, cost } = usage;
        let total_tokens = usage.context();
        Self { input, output, cache_read, cache_write, total_tokens, reasoning, cost }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Usage {
    /// What the model read, wherever it came from.
    pub fn all_input(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// The size of the conversation after this answer.
    pub fn context(&self) -> u64 {
        self.all_input().saturating_add(self.output)
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            cost: Cost {
                input: self.cost.input + other.cost.input,
                output: self.cost.output + other.cost.output,
                cache_read: self.cost.cache_read + other.cost.cache_read,
                cache_write: self.cost.cache_write + other.cost.cache_write,
                total: self.cost.total + other.cost.total,
            },
        }
    }
}
