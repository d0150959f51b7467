//! What a model reads: always derived anew, from the beginning of the session to the leaf.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use umbo_model::{Message, Part};

use crate::checkpoint::{CHECKPOINT, Checkpoint};
use crate::entry::EntryKind;
use crate::message::AgentMessage;
use crate::session::{Session, SessionError};
use crate::todo::{self, Phase, TODOS};

/// What a model reads, and how it is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// The conversation.
    pub messages: Vec<ContextMessage>,
    /// The models, by what they are used for; `default` is the conversation.
    pub models: BTreeMap<String, String>,
    /// How much the model shall think, `off` for not at all; nothing if nobody chose.
    pub thinking_level: Option<String>,
    /// The class of service.
    pub service_tier: Option<String>,
    /// The mode; `none` if there is none.
    pub mode: String,
    /// What the mode needs.
    pub mode_data: Option<Value>,
    /// Rules that have interrupted the model already.
    pub injected_rules: BTreeSet<String>,
    /// Tools of MCP servers that were chosen.
    pub selected_tools: Vec<String>,
    /// The checkpoint to which the conversation can go back.
    pub checkpoint: Option<Checkpoint>,
    /// The todo list.
    pub todos: Vec<Phase>,
}

/// A message, and the entry it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextMessage {
    /// The entry.
    pub entry: String,
    /// The message.
    pub message: AgentMessage,
}

impl Context {
    /// The conversation as a request has it.
    pub fn to_model(&self) -> Vec<Message> {
        self.messages.iter().map(|message| message.message.to_model()).collect()
    }
}

/// The context at an entry, or at the leaf.
pub fn build_context(session: &Session, leaf: Option<&str>) -> Result<Context, SessionError> {
    let entries = match leaf {
        None => session.recent(),
        Some(leaf) => session.contents_to(leaf)?,
    };
    let mut context = from_entries(session, entries);
    // Without a choice, the model that answered last is the one that is asked.
    if !context.models.contains_key("default")
        && let Some(name) = session.last_model(leaf)?
    {
        context.models.insert("default".to_owned(), name);
    }
    Ok(context)
}

/// Adds what was appended behind a context since it was derived. `false` if that is not enough: a
/// jump, a compaction or an output that is left out changes what is already there.
pub(crate) fn extend_context(session: &Session, context: &mut Context, from: usize) -> bool {
    let Some(new) = session.appended(from) else { return false };
    for (entry, kind) in new {
        read_state(context, &entry, &kind);
        if let EntryKind::Message { message: AgentMessage::Assistant(answer) } = &kind
            && !context.models.contains_key("default")
        {
            let name = format!("{}/{}", answer.provider, answer.model);
            context.models.insert("default".to_owned(), name);
        }
        if let Some(message) = kind.into_message() {
            context.messages.push(ContextMessage { entry, message });
        }
    }
    true
}

fn from_entries(session: &Session, entries: Vec<(String, EntryKind)>) -> Context {
    let mut context = Context { mode: "none".to_owned(), ..Context::default() };
    for (entry, kind) in &entries {
        read_state(&mut context, entry, kind);
    }
    let is_compaction = |(_, kind): &(_, EntryKind)| matches!(kind, EntryKind::Compaction { .. });
    let last = entries.iter().rposition(is_compaction);
    let mut first = 0;
    if let Some(last) = last
        && let (id, EntryKind::Compaction { summary, first_kept_entry_id, tokens_before, .. }) =
            &entries[last]
    {
        let summary = summary.clone();
        let message = AgentMessage::CompactionSummary { summary, tokens_before: *tokens_before };
        context.messages.push(ContextMessage { entry: id.clone(), message });
        // An entry that is gone keeps nothing: the summary is all there is.
        let kept = entries.iter().position(|(entry, _)| entry == first_kept_entry_id);
        first = kept.unwrap_or(last).min(last);
    }
    for (entry, kind) in entries.into_iter().skip(first) {
        if let Some(mut message) = kind.into_message() {
            leave_out(session, &entry, &mut message);
            context.messages.push(ContextMessage { entry, message });
        }
    }
    context
}

fn read_state(context: &mut Context, entry: &str, kind: &EntryKind) {
    match kind {
        EntryKind::Custom { custom_type, data } if custom_type == CHECKPOINT => {
            context.checkpoint = Checkpoint::read(entry, data.as_ref());
        }
        EntryKind::Custom { custom_type, data } if custom_type == TODOS => {
            context.todos = todo::read(data.as_ref());
        }
        EntryKind::ModelChange { model, role } => {
            let role = role.clone().unwrap_or_else(|| "default".to_owned());
            context.models.insert(role, model.clone());
        }
        EntryKind::ThinkingLevelChange { thinking_level } => {
            context.thinking_level =
                Some(thinking_level.clone().unwrap_or_else(|| "off".to_owned()));
        }
        EntryKind::ServiceTierChange { service_tier } => {
            context.service_tier.clone_from(service_tier);
        }
        EntryKind::ModeChange { mode, data } => {
            context.mode.clone_from(mode);
            context.mode_data.clone_from(data);
        }
        EntryKind::TtsrInjection { injected_rules } => {
            context.injected_rules.extend(injected_rules.iter().cloned());
        }
        EntryKind::McpToolSelection { selected_tool_names } => {
            context.selected_tools.clone_from(selected_tool_names);
        }
        _ => {}
    }
}

/// Puts a note in the place of an output that was left out.
fn leave_out(session: &Session, id: &str, message: &mut AgentMessage) {
    if let AgentMessage::ToolResult(result) = message
        && let Some(tokens) = session.pruned(id)
    {
        let note = format!("[Output truncated - {tokens} tokens; all of it: artifact://{id}]");
        result.content = vec![Part::text(note)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_that_grows_is_the_context_derived_anew() {
        let mut session = Session::in_memory("/c");
        let first = session.append(EntryKind::user("one")).unwrap();
        let mut context = build_context(&session, None).unwrap();
        let mut from = session.len();
        let mut grow = |session: &Session, context: &mut Context| {
            let is_enough = extend_context(session, context, from);
            from = session.len();
            is_enough
        };
        session.append(EntryKind::ModelChange { model: "a/b".into(), role: None }).unwrap();
        session.append(EntryKind::user("two")).unwrap();
        session.set_label(&first, Some("here")).unwrap();
        session.append(EntryKind::user("three")).unwrap();
        assert!(grow(&session, &mut context));
        assert_eq!(context, build_context(&session, None).unwrap());
        session.branch(&first).unwrap();
        assert!(!grow(&session, &mut context), "a jump is not growth");
        context = build_context(&session, None).unwrap();
        session.append(EntryKind::user("four")).unwrap();
        assert!(grow(&session, &mut context));
        assert_eq!(context, build_context(&session, None).unwrap());
    }
}
