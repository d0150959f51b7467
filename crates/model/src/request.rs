//! What an agent asks a model: the same for all vendors.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::{Message, WireFormat};

/// One request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The model that is asked.
    pub model: Model,
    /// What it is told before all else; may be empty.
    pub system: String,
    /// The conversation.
    pub messages: Vec<Message>,
    /// The tools it may call.
    pub tools: Vec<ToolSpec>,
    /// Whether it may, must or must not call one.
    pub tool_choice: ToolChoice,
    /// The most tokens it may answer with; the model's own limit if not said.
    pub max_output: Option<u64>,
    /// How much it shall think; `None` is not at all, where the model allows it.
    pub effort: Option<Effort>,
    /// Randomness, where the model allows it.
    pub temperature: Option<f64>,
    /// How long the vendor shall keep the beginning of the conversation.
    pub cache: CacheLife,
    /// A name of the conversation by which the vendor finds its cache.
    pub cache_key: Option<String>,
}

impl Request {
    /// A request with nothing but a model and a conversation.
    pub fn new(model: Model, messages: Vec<Message>) -> Self {
        Self {
            model,
            system: String::new(),
            messages,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            max_output: None,
            effort: None,
            temperature: None,
            cache: CacheLife::Short,
            cache_key: None,
        }
    }
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What it takes.
    pub input: ToolInput,
}

/// What a tool takes.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolInput {
    /// An object of this JSON Schema.
    Schema(Value),
    /// A text. Where the format knows no such tools, it is an object with the one property `input`.
    Raw {
        /// The grammar of the text in Lark's syntax, where the format can enforce one.
        grammar: Option<String>,
    },
}

/// Whether a tool is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// As the model likes.
    #[default]
    Auto,
    /// None.
    Never,
    /// At least one.
    Required,
    /// This one.
    Tool(String),
}

/// How much a model shall think.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// As little as it can.
    Minimal,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// As much as it can.
    Max,
}

impl Effort {
    /// The word for it in requests and settings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The tokens of thinking that it stands for, with models that want a number.
    pub fn budget(self) -> u64 {
        match self {
            Self::Minimal => 1_024,
            Self::Low => 4_096,
            Self::Medium => 10_240,
            Self::High => 20_480,
            Self::Xhigh => 28_672,
            Self::Max => 32_768,
        }
    }
}

/// How long a vendor keeps the beginning of a conversation to read it again at a lower price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheLife {
    /// Not at all, where it can be chosen.
    Off,
    /// Some minutes.
    #[default]
    Short,
    /// An hour or more.
    Long,
}

/// A model: what a request to it needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The name of who serves it, as in `PROVIDER/NAME`.
    pub provider: String,
    /// The name by which it is asked for.
    pub id: String,
    /// The wire format it is spoken to in.
    pub api: WireFormat,
    /// The most tokens that input and output may have together.
    pub window: u64,
    /// The most tokens of one answer.
    pub max_output: u64,
    /// How it is told to think.
    #[serde(default)]
    pub thinking: ThinkingStyle,
    /// The efforts it knows; all, if none is listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub efforts: Vec<Effort>,
    /// Whether it reads images.
    #[serde(default)]
    pub images: bool,
    /// Whether it takes a temperature.
    #[serde(default)]
    pub temperature: bool,
    /// How its server deviates from the Chat Completions of the vendor who made the format.
    #[serde(default)]
    pub quirks: ChatQuirks,
}

impl Model {
    /// A model of which only the least is known.
    pub fn new(api: WireFormat, provider: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            id: id.into(),
            api,
            window: 128_000,
            max_output: 16_384,
            thinking: ThinkingStyle::None,
            efforts: Vec::new(),
            images: true,
            temperature: true,
            quirks: ChatQuirks::default(),
        }
    }

    /// The effort it knows that is nearest to the one that is wanted, rather below than above.
    pub fn nearest_effort(&self, wanted: Effort) -> Effort {
        let below = self.efforts.iter().filter(|&&known| known <= wanted).max();
        below.or_else(|| self.efforts.iter().min()).copied().unwrap_or(wanted)
    }
}

/// How a model is told to think.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingStyle {
    /// It does not think.
    #[default]
    None,
    /// By a word.
    Effort,
    /// By a number of tokens.
    Budget,
}

/// How servers of Chat Completions deviate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChatQuirks {
    /// The field for the limit of output; `max_tokens` is what most servers know.
    pub max_tokens_field: String,
    /// The role of the system prompt: `system`, or `developer`.
    pub system_role: String,
    /// Whether `stream_options` may be sent, without which there are no counts of tokens.
    pub stream_options: bool,
    /// Whether results need the name of their tool.
    pub tool_result_name: bool,
    /// Whether a cache is found by `prompt_cache_key`.
    pub prompt_cache_key: bool,
    /// The field in which thinking must be sent back with calls, for models that demand it.
    pub thinking_field: Option<String>,
}

impl Default for ChatQuirks {
    fn default() -> Self {
        Self {
            max_tokens_field: "max_tokens".to_owned(),
            system_role: "system".to_owned(),
            stream_options: true,
            tool_result_name: false,
            prompt_cache_key: false,
            thinking_field: None,
        }
    }
}

impl ChatQuirks {
    /// Those of the vendor who made the format.
    pub fn openai() -> Self {
        Self {
            max_tokens_field: "max_completion_tokens".to_owned(),
            system_role: "developer".to_owned(),
            prompt_cache_key: true,
            ..Self::default()
        }
    }
}
