//! Entries: the lines of a session file.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::{AgentMessage, Content};

/// The version of the file format that is written.
pub const SESSION_VERSION: u32 = 3;

/// The first line of a session file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// The version of the format; the first had none.
    #[serde(default = "first_version")]
    pub version: u32,
    /// The name of the session.
    pub id: String,
    /// When it began.
    #[serde(default)]
    pub timestamp: String,
    /// The directory it is about.
    #[serde(default)]
    pub cwd: String,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The session it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
}

fn first_version() -> u32 {
    1
}

/// One entry: what it is, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its name in the session.
    pub id: String,
    /// The entry before it; `None` for a first one.
    pub parent: Option<String>,
    /// When it was written.
    pub timestamp: String,
    /// What it is.
    pub kind: EntryKind,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum EntryKind {
    /// A message.
    Message {
        /// The message.
        message: AgentMessage,
    },
    /// Another model.
    ModelChange {
        /// `PROVIDER/NAME`.
        model: String,
        /// What it is used for; nothing is the conversation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
    },
    /// More or less thinking.
    ThinkingLevelChange {
        /// The level; nothing is none.
        #[serde(default)]
        thinking_level: Option<String>,
    },
    /// Another class of service.
    ServiceTierChange {
        /// The class.
        #[serde(default)]
        service_tier: Option<String>,
    },
    /// A summary in place of what came before.
    Compaction {
        /// The summary.
        summary: String,
        /// A line for the user.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        short_summary: Option<String>,
        /// The first entry that is kept.
        first_kept_entry_id: String,
        /// The size of the conversation before.
        #[serde(default)]
        tokens_before: u64,
        /// The files that were read and changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
        /// What extensions keep.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        preserve_data: Option<Value>,
        /// Whether an extension made it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from_extension: Option<bool>,
    },
    /// A summary of a branch that was left.
    BranchSummary {
        /// Where the branch began, or `root`.
        from_id: String,
        /// The summary.
        summary: String,
        /// The leaf that was left.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        left_id: Option<String>,
        /// The files that were read and changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
        /// Whether an extension made it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from_extension: Option<bool>,
    },
    /// State of an extension; models do not see it.
    Custom {
        /// Which one.
        custom_type: String,
        /// Its state.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// A message of an extension.
    CustomMessage {
        /// Which one.
        custom_type: String,
        /// What it says.
        content: Content,
        /// Whether the user sees it.
        #[serde(default)]
        display: bool,
        /// What it keeps for itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
        /// Who is behind it: `user` or `agent`.
        #[serde(default)]
        attribution: String,
    },
    /// A name for an entry.
    Label {
        /// The entry.
        target_id: String,
        /// The name; nothing takes it away.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
    },
    /// Rules that interrupted the model.
    TtsrInjection {
        /// Their names.
        injected_rules: Vec<String>,
    },
    /// Tools of MCP servers that were chosen.
    McpToolSelection {
        /// Their names.
        selected_tool_names: Vec<String>,
    },
    /// How an agent inside the agent was started.
    SessionInit {
        /// What it was told.
        system_prompt: String,
        /// What it shall do.
        task: String,
        /// Its tools.
        tools: Vec<String>,
        /// What its answer looks like.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output_schema: Option<Value>,
    },
    /// Another mode.
    ModeChange {
        /// The mode.
        mode: String,
        /// What it needs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// The conversation goes on behind another entry.
    Leaf {
        /// The entry; nothing is the beginning.
        target_id: Option<String>,
    },
    /// What the session is called from now on.
    Title {
        /// The name.
        title: String,
    },
    /// A tool is about to be called.
    ToolStart {
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
        /// The name under which the tool does this once.
        key: String,
    },
    /// The output of a tool is left out of the conversation from now on; the entry keeps it.
    ToolPruned {
        /// The entry of the result.
        target_id: String,
        /// The tokens that this saves.
        tokens: u64,
    },
    /// A line that could not be read, of which name and place are known.
    #[serde(skip)]
    Damaged,
    /// An entry that this version does not know.
    #[serde(skip)]
    Unknown(Value),
}

impl EntryKind {
    /// The word for it in the file.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Message { .. } => "message",
            Self::ModelChange { .. } => "model_change",
            Self::ThinkingLevelChange { .. } => "thinking_level_change",
            Self::ServiceTierChange { .. } => "service_tier_change",
            Self::Compaction { .. } => "compaction",
            Self::BranchSummary { .. } => "branch_summary",
            Self::Custom { .. } => "custom",
            Self::CustomMessage { .. } => "custom_message",
            Self::Label { .. } => "label",
            Self::TtsrInjection { .. } => "ttsr_injection",
            Self::McpToolSelection { .. } => "mcp_tool_selection",
            Self::SessionInit { .. } => "session_init",
            Self::ModeChange { .. } => "mode_change",
            Self::Leaf { .. } => "leaf",
            Self::Title { .. } => "title",
            Self::ToolStart { .. } => "tool_start",
            Self::ToolPruned { .. } => "tool_pruned",
            Self::Damaged => "damaged",
            Self::Unknown(_) => "unknown",
        }
    }

    /// A message of the user.
    pub fn user(text: &str) -> Self {
        let content = vec![umbo_model::Part::text(text)];
        Self::Message { message: AgentMessage::User(umbo_model::UserMessage { content }) }
    }

    /// The message that a model reads of it.
    pub fn message(&self) -> Option<AgentMessage> {
        match self {
            Self::Message { .. } | Self::CustomMessage { .. } | Self::BranchSummary { .. } => {
                self.clone().into_message()
            }
            _ => None,
        }
    }

    /// The same, where nobody needs the entry any more.
    pub(crate) fn into_message(self) -> Option<AgentMessage> {
        match self {
            Self::Message { message } => Some(message),
            Self::CustomMessage { custom_type, content, display, details, .. } => {
                Some(AgentMessage::Custom { custom_type, content, display, details })
            }
            Self::BranchSummary { summary, from_id, .. } => {
                Some(AgentMessage::BranchSummary { summary, from_id })
            }
            _ => None,
        }
    }

    /// Whether losing it in a power cut would make the agent do something twice, or forget what the
    /// user said.
    pub(crate) fn must_reach_disk(&self) -> bool {
        match self {
            Self::Message { message: AgentMessage::Assistant(answer) } => {
                answer.tool_calls().next().is_some()
            }
            Self::Message { message: AgentMessage::User(_) } | Self::ToolStart { .. } => true,
            _ => false,
        }
    }
}

/// Whether the conversation goes on behind entries of this kind. The others are remarks about
/// entries and hang beside the path.
pub(crate) fn moves_leaf(name: &str) -> bool {
    !matches!(name, "label" | "leaf" | "title" | "tool_start" | "tool_pruned")
}

/// The line of an entry. Name and place come first: a line that is damaged further on still has them.
pub(crate) fn line(entry: &Entry) -> Result<String, serde_json::Error> {
    let body = serde_json::to_string(&entry.kind)?;
    let tag = format!("{{\"type\":\"{}\"", entry.kind.name());
    let rest = body.strip_prefix(&tag).unwrap_or("}");
    let word = |text: &str| Value::from(text).to_string();
    let parent = entry.parent.as_deref().map_or_else(|| "null".to_owned(), word);
    let head = format!(
        "{{\"type\":{},\"id\":{},\"parentId\":{parent},\"timestamp\":{}",
        word(entry.kind.name()),
        word(&entry.id),
        word(&entry.timestamp)
    );
    Ok(format!("{head}{rest}\n"))
}

/// Now, as the file writes it.
pub(crate) fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}
