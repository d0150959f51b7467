//! Where a conversation is cut.

use std::collections::HashMap;

use super::tokens::estimate_message;
use crate::context::ContextMessage;
use crate::message::AgentMessage;

/// A place to cut: what is before it becomes a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The first message that is kept.
    pub first_kept: usize,
    /// Where the turn begins that the cut goes through, if it goes through one.
    pub split_turn: Option<usize>,
}

/// The place that keeps the newest messages up to a number of tokens; nothing, if there is none that
/// would leave anything out.
///
/// A cut is legal where every call before it has its result before it as well, and never at a
/// result. If even the shortest legal rest is too long, that is the cut.
pub fn find_cut(messages: &[ContextMessage], keep_tokens: u64) -> Option<Cut> {
    let legal = legal_places(messages);
    let mut tokens = 0;
    let mut best = None;
    for at in (1..messages.len()).rev() {
        tokens += estimate_message(&messages[at].message);
        if tokens > keep_tokens && best.is_some() {
            break;
        }
        if legal[at] {
            best = Some(at);
        }
    }
    // What is before the cut must be more than the summary of an earlier cut.
    let is_summary = |message: &ContextMessage| {
        matches!(message.message, AgentMessage::CompactionSummary { .. })
    };
    let first_kept = best.filter(|&at| !messages[..at].iter().all(is_summary))?;
    let split_turn = if messages[first_kept].message.starts_turn() {
        None
    } else {
        messages[..first_kept]
            .iter()
            .rposition(|message| message.message.starts_turn() && !is_summary(message))
    };
    Some(Cut { first_kept, split_turn })
}

/// For each message, whether a conversation may begin with it.
fn legal_places(messages: &[ContextMessage]) -> Vec<bool> {
    // The last place of a result, by the name of its call.
    let mut results: HashMap<&str, usize> = HashMap::new();
    for (at, message) in messages.iter().enumerate() {
        if let AgentMessage::ToolResult(result) = &message.message {
            results.insert(&result.tool_call_id, at);
        }
    }
    let mut legal = Vec::with_capacity(messages.len());
    // The last result of all calls so far.
    let mut open_until = None;
    for (at, message) in messages.iter().enumerate() {
        let is_result = matches!(message.message, AgentMessage::ToolResult(_));
        legal.push(!is_result && open_until.is_none_or(|last| last < at));
        if let AgentMessage::Assistant(answer) = &message.message {
            let last = answer.tool_calls().filter_map(|call| results.get(call.id.as_str())).max();
            open_until = open_until.max(last.copied());
        }
    }
    legal
}
