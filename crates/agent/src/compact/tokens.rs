//! How big a conversation is.

use umbo_model::{Block, Part};

use crate::context::ContextMessage;
use crate::message::AgentMessage;

/// Bytes of a token, about.
const TOKEN_BYTES: u64 = 4;
/// Tokens of an image, about.
const IMAGE_TOKENS: u64 = 1_200;

/// The tokens of a text, about.
pub fn estimate_text(text: &str) -> u64 {
    (text.len() as u64).div_ceil(TOKEN_BYTES)
}

fn parts(parts: &[Part]) -> u64 {
    let part = |part: &Part| match part {
        Part::Text { text } => estimate_text(text),
        Part::Image { .. } => IMAGE_TOKENS,
    };
    parts.iter().map(part).sum()
}

/// The tokens of a message, about.
pub fn estimate_message(message: &AgentMessage) -> u64 {
    match message {
        AgentMessage::User(user) | AgentMessage::Developer(user) => parts(&user.content),
        AgentMessage::ToolResult(result) => parts(&result.content),
        AgentMessage::Custom { content, .. } => parts(&content.clone().into_parts()),
        AgentMessage::BranchSummary { summary, .. }
        | AgentMessage::CompactionSummary { summary, .. } => estimate_text(summary),
        AgentMessage::BashExecution { command, output, .. } => {
            estimate_text(command) + estimate_text(output)
        }
        AgentMessage::Assistant(answer) => answer
            .content
            .iter()
            .map(|block| match block {
                Block::Text { text, .. } => estimate_text(text),
                Block::Thinking { thinking, .. } => estimate_text(thinking),
                Block::ToolCall(call) => {
                    let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
                    estimate_text(&call.name) + estimate_text(&arguments)
                }
                Block::Opaque { value } => estimate_text(&value.to_string()),
            })
            .sum(),
    }
}

/// The size of a conversation: what the vendor counted last, and an estimate of what came after. A
/// count that is far too small is not believed: some servers cut what they read, or count wrongly.
pub fn context_tokens(messages: &[ContextMessage]) -> u64 {
    let estimate = |messages: &[ContextMessage]| -> u64 {
        messages.iter().map(|message| estimate_message(&message.message)).sum()
    };
    let all = estimate(messages);
    let counted =
        messages.iter().enumerate().rev().find_map(|(at, message)| match &message.message {
            AgentMessage::Assistant(answer)
                if !answer.is_broken() && answer.usage.context() > 0 =>
            {
                Some((at, answer.usage.context()))
            }
            _ => None,
        });
    // A summary at the beginning is younger than what was counted before it was made.
    let is_compacted = matches!(
        messages.first().map(|m| &m.message),
        Some(AgentMessage::CompactionSummary { .. })
    );
    match counted {
        Some((at, tokens)) if !is_compacted || all >= tokens => {
            let sum = tokens + estimate(&messages[at + 1..]);
            if sum.saturating_mul(2) < all { all } else { sum }
        }
        _ => all,
    }
}
