//! Messages: what was said, in one shape for all vendors.
//!
//! The JSON form is the one that session files have.

mod read;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::event::{StopReason, Usage};

/// The wire formats that this crate speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WireFormat {
    /// Anthropic Messages.
    #[serde(rename = "anthropic-messages")]
    Anthropic,
    /// `OpenAI` Responses.
    #[serde(rename = "openai-responses")]
    Responses,
    /// `OpenAI` Chat Completions, and all who speak it.
    #[serde(rename = "openai-completions")]
    Chat,
    /// Gemini `streamGenerateContent`.
    #[serde(rename = "google-generative-ai")]
    Gemini,
}

impl WireFormat {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::Responses, Self::Chat, Self::Gemini];

    /// The word that chooses it in `--model WORD/NAME`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Responses => "openai",
            Self::Chat => "openai-chat",
            Self::Gemini => "gemini",
        }
    }

    /// The format that a word chooses.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.word() == word)
    }
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "camelCase")]
pub enum Message {
    /// From the user, or from the agent in the user's place.
    User(UserMessage),
    /// From the model.
    Assistant(AssistantMessage),
    /// What a tool answered.
    ToolResult(ToolResult),
}

impl Message {
    /// A user's message that is one text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(UserMessage { content: vec![Part::text(text)] })
    }
}

/// What the user said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// Texts and images, in order.
    #[serde(deserialize_with = "read::parts")]
    pub content: Vec<Part>,
}

/// A piece of what a user or a tool says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", try_from = "read::FlatPart")]
pub enum Part {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    #[serde(rename_all = "camelCase")]
    Image {
        /// Its bytes, in base64.
        data: String,
        /// Its kind, such as `image/png`.
        mime_type: String,
    },
}

impl Part {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::Image { .. } => None,
        }
    }
}

/// What the model said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssistantMessage {
    /// The blocks, in the order in which they began.
    #[serde(default)]
    pub content: Vec<Block>,
    /// The format it came in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<WireFormat>,
    /// The name of the provider it came from.
    #[serde(default)]
    pub provider: String,
    /// The model that was asked.
    #[serde(default)]
    pub model: String,
    /// The tokens it cost.
    #[serde(default)]
    pub usage: Usage,
    /// Why it ended.
    #[serde(default = "stop")]
    pub stop_reason: StopReason,
    /// What went wrong, where it ended with an error or was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// The vendor's name of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
}

fn stop() -> StopReason {
    StopReason::Stop
}

impl AssistantMessage {
    /// The calls in it, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// All of its text.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            Block::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Whether it came from this model in this format, so that it may have its opaque values back.
    pub fn is_from(&self, api: WireFormat, provider: &str, model: &str) -> bool {
        self.api == Some(api) && self.provider == provider && self.model == model
    }

    /// Whether it ended before its end, so that only its text is worth sending again.
    pub fn is_broken(&self) -> bool {
        matches!(self.stop_reason, StopReason::Error | StopReason::Aborted)
    }
}

/// A piece of what a model says.
///
/// `opaque` is what the vendor wants back unchanged with the block; see the encoders for its shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", try_from = "read::FlatBlock")]
pub enum Block {
    /// Text for the user.
    Text {
        /// The text.
        text: String,
        /// Whether the model says here that it will not do it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        refusal: bool,
        /// What the vendor wants back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Value>,
    },
    /// Thinking, as far as the vendor shows it.
    Thinking {
        /// The text; may be empty where only a signature is shown.
        thinking: String,
        /// What the vendor wants back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Value>,
    },
    /// A call of a tool.
    ToolCall(ToolCall),
    /// A block of the vendor's own that is kept for the vendor.
    Opaque {
        /// The block as it came.
        value: Value,
    },
}

impl Block {
    /// Text without anything to give back.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), refusal: false, opaque: None }
    }
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Its name among all calls of the conversation.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments: an object. A tool with raw input has it in `input`.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// The arguments as they came, if they are no JSON object; then nothing must be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
    /// What the vendor wants back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
}

/// What a tool answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call it answers.
    pub tool_call_id: String,
    /// The tool.
    #[serde(default)]
    pub tool_name: String,
    /// Texts and images, in order.
    #[serde(default, deserialize_with = "read::parts")]
    pub content: Vec<Part>,
    /// Whether the call failed.
    #[serde(default)]
    pub is_error: bool,
    /// What a front end shows beside the text; models do not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl ToolResult {
    /// All of its text.
    pub fn text(&self) -> String {
        self.content.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n")
    }
}
