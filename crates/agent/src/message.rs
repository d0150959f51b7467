//! Messages of a session: those of a conversation, and those that only the agent knows.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use umbo_model::{AssistantMessage, Message, Part, ToolResult, UserMessage};

/// A message as a session keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "camelCase")]
pub enum AgentMessage {
    /// From the user.
    User(UserMessage),
    /// From the agent itself, in the place of the user.
    Developer(UserMessage),
    /// From the model.
    Assistant(AssistantMessage),
    /// What a tool answered.
    ToolResult(ToolResult),
    /// A command that the user ran beside the conversation.
    #[serde(rename_all = "camelCase")]
    BashExecution {
        /// The command.
        command: String,
        /// What it printed.
        #[serde(default)]
        output: String,
        /// How it ended, if it did.
        #[serde(default)]
        exit_code: Option<i32>,
        /// Whether somebody stopped it.
        #[serde(default)]
        cancelled: bool,
        /// Whether output is missing.
        #[serde(default)]
        truncated: bool,
    },
    /// From an extension.
    #[serde(rename_all = "camelCase", alias = "hookMessage")]
    Custom {
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
    },
    /// What happened on a branch that was left.
    #[serde(rename_all = "camelCase")]
    BranchSummary {
        /// The summary.
        summary: String,
        /// Where the branch began.
        #[serde(default)]
        from_id: String,
    },
    /// What happened before what is kept.
    #[serde(rename_all = "camelCase")]
    CompactionSummary {
        /// The summary.
        summary: String,
        /// The size of the conversation before.
        #[serde(default)]
        tokens_before: u64,
    },
}

/// A text, or texts and images.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// One text.
    Text(String),
    /// Texts and images.
    Parts(Vec<Part>),
}

impl Content {
    /// As parts.
    pub fn into_parts(self) -> Vec<Part> {
        match self {
            Self::Text(text) => vec![Part::Text { text }],
            Self::Parts(parts) => parts,
        }
    }
}

const BRANCH_CONTEXT: &str = include_str!("prompts/branch-context.md");
const COMPACTION_CONTEXT: &str = include_str!("prompts/compaction-context.md");

/// A template with its one hole filled.
pub(crate) fn fill(template: &str, hole: &str, text: &str) -> String {
    template.trim_end().replace(hole, text)
}

impl AgentMessage {
    /// What a model reads of it.
    pub fn to_model(&self) -> Message {
        match self {
            Self::User(user) | Self::Developer(user) => Message::User(user.clone()),
            Self::Assistant(answer) => Message::Assistant(answer.clone()),
            Self::ToolResult(result) => Message::ToolResult(result.clone()),
            Self::BashExecution { command, output, exit_code, cancelled, truncated } => {
                let mut text = format!("The user ran `{command}`");
                match exit_code {
                    _ if *cancelled => text.push_str(" and stopped it"),
                    Some(0) | None => {}
                    Some(code) => text = format!("{text} (exit code {code})"),
                }
                let cut = if *truncated { "\n(Output is missing here.)" } else { "" };
                Message::user(format!("{text}:\n```\n{output}\n```{cut}"))
            }
            Self::Custom { content, .. } => {
                Message::User(UserMessage { content: content.clone().into_parts() })
            }
            Self::BranchSummary { summary, .. } => {
                Message::user(fill(BRANCH_CONTEXT, "{summary}", summary))
            }
            Self::CompactionSummary { summary, .. } => {
                Message::user(fill(COMPACTION_CONTEXT, "{summary}", summary))
            }
        }
    }

    /// Whether a turn of the user begins with it.
    pub fn starts_turn(&self) -> bool {
        !matches!(self, Self::Assistant(_) | Self::ToolResult(_))
    }
}
