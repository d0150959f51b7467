//! What a model is asked for a summary, and what becomes of its answer.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use umbo_model::{Block, Message, Part};

use super::cut::Cut;
use crate::context::ContextMessage;
use crate::message::{AgentMessage, fill};

/// What the model that summarises is told before all else.
pub const SUMMARY_SYSTEM: &str = include_str!("../prompts/summary-system.md");
/// What is asked for a handover.
pub const HANDOFF_PROMPT: &str = include_str!("../prompts/handoff.md");
const FIRST: &str = include_str!("../prompts/summary.md");
const UPDATE: &str = include_str!("../prompts/summary-update.md");
const TURN_PREFIX: &str = include_str!("../prompts/turn-prefix.md");
const BRANCH: &str = include_str!("../prompts/branch.md");
const HANDOFF_CONTEXT: &str = include_str!("../prompts/handoff-context.md");

/// The most of a result that goes into a summary.
const LONGEST_RESULT_CHARS: usize = 2_000;

/// The files that a conversation was about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FileLists {
    /// Read and not changed.
    pub read_files: BTreeSet<String>,
    /// Changed.
    pub modified_files: BTreeSet<String>,
}

/// What is asked, and what is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// The entry that is the first to be kept.
    pub first_kept_entry: String,
    /// What to ask for a summary of all before it; nothing, if all of that is one turn.
    pub history_prompt: Option<String>,
    /// What to ask for the beginning of the turn that was cut.
    pub turn_prompt: Option<String>,
    /// The files that the conversation was about so far.
    pub files: FileLists,
}

/// Makes the prompts for a cut. `earlier` is what the last compaction knew of files.
pub fn prepare(
    messages: &[ContextMessage],
    cut: Cut,
    earlier: FileLists,
    instructions: Option<&str>,
) -> Prepared {
    let end = cut.split_turn.unwrap_or(cut.first_kept);
    let (mut previous, mut history) = (None, &messages[..end]);
    if let Some((first, rest)) = history.split_first()
        && let AgentMessage::CompactionSummary { summary, .. } = &first.message
    {
        previous = Some(summary.as_str());
        history = rest;
    }
    let files = file_lists(&messages[..cut.first_kept], earlier);
    let is_asked = previous.is_some() || !history.is_empty();
    let history_prompt = is_asked.then(|| {
        let mut prompt = conversation(history);
        if let Some(previous) = previous {
            let _ = write!(prompt, "\n\n<previous-summary>\n{previous}\n</previous-summary>");
        }
        let ask = if previous.is_some() { UPDATE } else { FIRST };
        let _ = write!(prompt, "\n\n{}", ask.trim_end());
        if let Some(instructions) = instructions {
            let _ = write!(prompt, "\n\nThe user asks for this in particular: {instructions}");
        }
        prompt
    });
    let turn_prompt = cut.split_turn.map(|start| {
        let text = conversation(&messages[start..cut.first_kept]);
        format!("{text}\n\n{}", TURN_PREFIX.trim_end())
    });
    let first_kept_entry = messages[cut.first_kept].entry.clone();
    Prepared { first_kept_entry, history_prompt, turn_prompt, files }
}

/// What is asked about a branch that is left.
pub fn branch_prompt(messages: &[ContextMessage], instructions: Option<&str>) -> String {
    format!("{}\n\n{}", conversation(messages), instructions.unwrap_or(BRANCH).trim_end())
}

/// The first message of a session that takes over.
pub fn handoff_message(document: &str) -> String {
    fill(HANDOFF_CONTEXT, "{document}", document.trim())
}

/// The summary that is kept: of the history, of the beginning of the turn, and the files.
pub fn join_summaries(history: Option<&str>, turn: Option<&str>, files: &FileLists) -> String {
    let mut text = history.unwrap_or("No earlier history.").trim().to_owned();
    if let Some(turn) = turn {
        let _ = write!(text, "\n\n---\n\n**Turn Context (split turn):**\n\n{}", turn.trim());
    }
    for (tag, files) in
        [("read-files", &files.read_files), ("modified-files", &files.modified_files)]
    {
        if !files.is_empty() {
            let list = files.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
            let _ = write!(text, "\n\n<{tag}>\n{list}\n</{tag}>");
        }
    }
    text
}

fn conversation(messages: &[ContextMessage]) -> String {
    format!("<conversation>\n{}</conversation>", serialize_conversation(messages))
}

/// A conversation as one text. Long results are shortened in the middle.
pub fn serialize_conversation(messages: &[ContextMessage]) -> String {
    let mut text = String::new();
    for message in messages {
        match message.message.to_model() {
            Message::User(user) => {
                let _ = writeln!(text, "[User]: {}", words(&user.content));
            }
            Message::Assistant(answer) => {
                for block in &answer.content {
                    let _ = match block {
                        Block::Text { text: said, .. } => writeln!(text, "[Assistant]: {said}"),
                        Block::Thinking { thinking, .. } if !thinking.is_empty() => {
                            writeln!(text, "[Assistant thinking]: {thinking}")
                        }
                        Block::ToolCall(call) => {
                            let arguments = Value::Object(call.arguments.clone());
                            writeln!(text, "[Tool call]: {}({arguments})", call.name)
                        }
                        _ => Ok(()),
                    };
                }
            }
            Message::ToolResult(result) => {
                let what = if result.is_error { "Tool error" } else { "Tool result" };
                let _ = writeln!(text, "[{what}]: {}", shorten(&words(&result.content)));
            }
        }
    }
    text
}

fn words(parts: &[Part]) -> String {
    let word = |part: &Part| part.as_text().unwrap_or("(an image)").to_owned();
    parts.iter().map(word).collect::<Vec<_>>().join("\n")
}

fn shorten(text: &str) -> String {
    let count = text.chars().count();
    if count <= LONGEST_RESULT_CHARS {
        return text.to_owned();
    }
    let half = LONGEST_RESULT_CHARS / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count - half).collect();
    format!("{start}\n[… {} characters …]\n{end}", count - LONGEST_RESULT_CHARS)
}

/// The files that calls of tools name, added to those that are known.
pub fn file_lists(messages: &[ContextMessage], mut files: FileLists) -> FileLists {
    for message in messages {
        let AgentMessage::Assistant(answer) = &message.message else { continue };
        for call in answer.tool_calls() {
            let path =
                ["path", "file_path"].iter().find_map(|key| call.arguments.get(*key)?.as_str());
            let Some(path) = path else { continue };
            match call.name.to_lowercase().as_str() {
                "read" => files.read_files.insert(path.to_owned()),
                "write" | "edit" => files.modified_files.insert(path.to_owned()),
                _ => continue,
            };
        }
    }
    files.read_files = files.read_files.difference(&files.modified_files).cloned().collect();
    files
}
