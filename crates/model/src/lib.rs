//! Models: one stream of events from four vendors' wire formats.
//!
//! A [`Request`] is what an agent wants to say; [`encode`] makes the JSON body of it that a vendor
//! documents. What comes back is a stream of bytes; a [`Decoder`] makes [`Event`]s of it, the same
//! ones however the bytes were cut into pieces. Both are pure functions. [`Client`] puts HTTPS
//! between them: it sends, classifies failures ([`Failure`]), and hands the events to a reader
//! through a bounded buffer in which the deltas of a slow reader grow together. [`Assembler`] makes
//! one [`AssistantMessage`] of the events; what a vendor wants back verbatim (signatures of
//! thinking, encrypted items) stays with its block and is sent only to where it came from.
//!
//! Nothing here reads the environment, prints or keeps state on disk: keys, base URLs and proxies
//! are passed in. With the feature `server` there is a scripted model server on loopback
//! (`umbo_model::server`) that speaks the four formats, for tests.
//!
//! ```
//! use umbo_model::{Assembler, Decoder, WireFormat};
//!
//! let stream = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n\
//!     data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
//!     data: [DONE]\n\n";
//! let mut decoder = Decoder::new(WireFormat::Chat, "made-up-id");
//! let mut answer = Assembler::new();
//! for event in decoder.feed(stream) {
//!     answer.push(&event);
//! }
//! assert_eq!(answer.text(), "hi");
//! ```

mod assemble;
mod buffer;
mod catalogue;
mod client;
mod decode;
mod encode;
mod event;
mod failure;
mod message;
mod partial;
mod request;
mod retry;
mod sse;

#[cfg(feature = "server")]
pub mod server;

pub use assemble::Assembler;
pub use buffer::{EventReader, EventWriter, event_buffer};
pub use catalogue::{Catalogue, CatalogueError, ModelPrice, SNAPSHOT_DATE};
pub use client::{Client, ClientError, ClientOptions, Endpoint, EventStream, Secret};
pub use decode::{Decoder, LONGEST_ANSWER_BYTES};
pub use encode::{EncodeError, encode, pair_calls};
pub use event::{BlockStart, Cost, Event, StopReason, Usage};
pub use failure::{Failure, FailureClass, failure_from_response, retry_after};
pub use message::{
    AssistantMessage, Block, Message, Part, ToolCall, ToolResult, UserMessage, WireFormat,
};
pub use partial::complete_json;
pub use request::{
    CacheLife, ChatQuirks, Effort, Model, Request, ThinkingStyle, ToolChoice, ToolInput, ToolSpec,
};
pub use retry::RetryPolicy;
pub use sse::{LONGEST_EVENT_BYTES, LONGEST_LINE_BYTES, SseEvent, SseSplitter, SseTooLong};
