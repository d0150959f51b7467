//! `umbo sessions`: the conversations with agents, as they are on disk.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use jiff::Timestamp;
use serde_json::{Value, json};
use umbo_agent::{
    AgentMessage, Entry, EntryKind, Session, SessionInfo, session_directory, to_html, to_markdown,
};
use umbo_model::Block;

use super::agent;
use crate::args::{Agent, ExportFormat, Sessions, SessionsAction};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::sessions::{self, failure, find};

/// As much of an entry is shown in a list.
const SHOWN_TEXT: usize = 70;
/// As much of an id is shown in a list; it is enough to name a session.
const SHOWN_ID: usize = 14;

pub(crate) fn run(context: &Context, words: &Sessions) -> Result<ExitCode, Failure> {
    let session_of = |name: &str| Session::open_read_only(&find(context, name)?).map_err(failure);
    match words.action.as_ref().unwrap_or(&SessionsAction::List) {
        SessionsAction::List => list(context, &known(context, words.all)?)?,
        SessionsAction::Search { text } => search(context, &known(context, words.all)?, text)?,
        SessionsAction::Show(words) => show(context, &session_of(&words.session)?)?,
        SessionsAction::Resume(words) => {
            let words = Agent { resume: Some(words.session.clone()), ..Agent::default() };
            return agent::run(context, words);
        }
        SessionsAction::Fork { session, at } => {
            fork(context, &session_of(&session.session)?, at.as_deref())?;
        }
        SessionsAction::Tree(words) => tree(context, &session_of(&words.session)?)?,
        SessionsAction::Label { session, name, entry } => {
            let mut session = Session::open(&find(context, &session.session)?).map_err(failure)?;
            label(&mut session, name.as_deref(), entry.as_deref())?;
        }
        SessionsAction::Export { session, format } => {
            let session = session_of(&session.session)?;
            let text = match format {
                ExportFormat::Md => to_markdown(&session),
                ExportFormat::Html => to_html(&session),
            };
            output::text(text)?;
        }
        SessionsAction::Delete { sessions } => {
            for name in sessions {
                delete(context, &find(context, name)?)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn known(context: &Context, all: bool) -> Result<Vec<SessionInfo>, Failure> {
    if all { sessions::everywhere(context) } else { sessions::here(context) }
}

fn list(context: &Context, found: &[SessionInfo]) -> Result<(), Failure> {
    if context.format == Format::Json {
        return found.iter().try_for_each(|info| output::json(&to_json(info)));
    }
    if found.is_empty() {
        output::talk("no conversations here; `umbo agent` begins one, --all has other folders");
    }
    let row = |info: &SessionInfo| {
        let name = info.title.as_ref().or(info.first_prompt.as_ref());
        let name = name.map(|name| shown(name)).unwrap_or_default();
        vec![short(&info.id), when(info), info.cwd.clone(), name]
    };
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    output::table(&rows, output::width())
}

fn short(id: &str) -> String {
    id.chars().take(SHOWN_ID).collect()
}

fn when(info: &SessionInfo) -> String {
    Timestamp::try_from(info.modified)
        .map(|time| time.strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_default()
}

fn to_json(info: &SessionInfo) -> Value {
    json!({
        "id": info.id, "path": info.path, "cwd": info.cwd, "title": info.title,
        "first_prompt": info.first_prompt, "bytes": info.bytes,
        "modified": Timestamp::try_from(info.modified).ok().map(|time| time.to_string()),
    })
}

/// A text in one line of a list.
fn shown(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    output::cut(&line.join(" "), SHOWN_TEXT)
}

fn search(context: &Context, found: &[SessionInfo], wanted: &str) -> Result<(), Failure> {
    let wanted = wanted.to_lowercase();
    for info in found {
        // One that is damaged is searched as far as it can be read.
        let Ok(session) = Session::open_read_only(&info.path) else { continue };
        for entry in session.entries() {
            let text = text_of(&entry.kind);
            let Some(line) = text.lines().find(|line| line.to_lowercase().contains(&wanted)) else {
                continue;
            };
            match context.format {
                Format::Json => output::json(&json!({
                    "session": info.id, "entry": entry.id, "line": line,
                }))?,
                Format::Text => {
                    output::line(format_args!(
                        "{}  {}  {}",
                        short(&info.id),
                        entry.id,
                        shown(line)
                    ))?;
                }
            }
        }
    }
    Ok(())
}

/// What an entry says.
fn text_of(kind: &EntryKind) -> String {
    match kind {
        EntryKind::Message { message } => match message {
            AgentMessage::User(user) | AgentMessage::Developer(user) => {
                let texts: Vec<&str> =
                    user.content.iter().filter_map(|part| part.as_text()).collect();
                texts.join("\n")
            }
            AgentMessage::Assistant(answer) => {
                let calls = answer.content.iter().filter_map(|block| match block {
                    Block::ToolCall(call) => {
                        let arguments = Value::Object(call.arguments.clone());
                        Some(format!("→ {} {arguments}", call.name))
                    }
                    _ => None,
                });
                let text = Some(answer.text()).filter(|text| !text.is_empty());
                text.into_iter().chain(calls).collect::<Vec<_>>().join("\n")
            }
            AgentMessage::ToolResult(result) => result.text(),
            AgentMessage::BashExecution { command, output, .. } => format!("$ {command}\n{output}"),
            _ => String::new(),
        },
        EntryKind::Compaction { summary, .. } | EntryKind::BranchSummary { summary, .. } => {
            summary.clone()
        }
        EntryKind::CustomMessage { content, .. } => {
            let parts = content.clone().into_parts();
            parts.iter().filter_map(|part| part.as_text()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn show(context: &Context, session: &Session) -> Result<(), Failure> {
    for damage in session.damage() {
        output::talk(format_args!("umbo: line {}: {}", damage.line, damage.what));
    }
    if context.format == Format::Text {
        return output::text(to_markdown(session));
    }
    for entry in session.path_to(None).map_err(failure)? {
        output::json(&entry_json(session, &entry))?;
    }
    Ok(())
}

fn entry_json(session: &Session, entry: &Entry) -> Value {
    json!({
        "id": entry.id, "parent": entry.parent, "timestamp": entry.timestamp,
        "label": session.label(&entry.id), "is_leaf": session.leaf() == Some(&entry.id),
        "entry": entry.kind,
    })
}

fn fork(context: &Context, session: &Session, at: Option<&str>) -> Result<(), Failure> {
    let place = session_directory(&sessions::root(context), &session.header().cwd);
    sessions::make_private(&place)?;
    let copy = session.fork(&place, at).map_err(failure)?;
    match context.format {
        Format::Json => output::json(&json!({"id": copy.header().id, "path": copy.path()})),
        Format::Text => output::line(&copy.header().id),
    }
}

fn tree(context: &Context, session: &Session) -> Result<(), Failure> {
    if context.format == Format::Json {
        return session.entries().try_for_each(|entry| output::json(&entry_json(session, &entry)));
    }
    tree_lines(session).iter().try_for_each(output::line)
}

/// The branches of a session, a line for each entry; the leaf has a star.
pub(crate) fn tree_lines(session: &Session) -> Vec<String> {
    let entries: Vec<Entry> = session.entries().collect();
    let mut below: BTreeMap<Option<&str>, Vec<&Entry>> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| is_on_path(&entry.kind)) {
        below.entry(entry.parent.as_deref()).or_default().push(entry);
    }
    // Deep trees are the rule: no recursion.
    let roots = below.get(&None).into_iter().flatten().rev();
    let mut waiting: Vec<(&Entry, usize)> = roots.map(|entry| (*entry, 0)).collect();
    let mut lines = Vec::new();
    while let Some((entry, depth)) = waiting.pop() {
        let mark = if session.leaf() == Some(&entry.id) { "*" } else { " " };
        let label = session.label(&entry.id).map(|label| format!("[{label}] ")).unwrap_or_default();
        let (indent, what) = ("  ".repeat(depth), describe(&entry.kind));
        lines.push(format!("{mark} {}  {indent}{label}{what}", entry.id));
        let children = below.get(&Some(entry.id.as_str())).map_or(&[][..], Vec::as_slice);
        // Only where ways part, a way is moved to the right.
        let deeper = depth + usize::from(children.len() > 1);
        waiting.extend(children.iter().rev().map(|child| (*child, deeper)));
    }
    lines
}

/// Whether others can stand behind an entry.
fn is_on_path(kind: &EntryKind) -> bool {
    !matches!(
        kind,
        EntryKind::Leaf { .. }
            | EntryKind::Label { .. }
            | EntryKind::Title { .. }
            | EntryKind::ToolStart { .. }
            | EntryKind::ToolPruned { .. }
    )
}

fn describe(kind: &EntryKind) -> String {
    let who = match kind {
        EntryKind::Message { message } => match message {
            AgentMessage::User(_) | AgentMessage::Developer(_) => "user",
            AgentMessage::Assistant(_) => "model",
            AgentMessage::ToolResult(_) => "result",
            _ => "note",
        },
        EntryKind::Compaction { .. } => "summary",
        EntryKind::BranchSummary { .. } => "branch",
        EntryKind::CustomMessage { .. } => "note",
        EntryKind::ModelChange { model, .. } => return format!("model is now {}", shown(model)),
        _ => "state",
    };
    format!("{who}: {}", shown(&text_of(kind)))
}

fn label(session: &mut Session, name: Option<&str>, entry: Option<&str>) -> Result<(), Failure> {
    if let Some(entry) = entry {
        return session.set_label(entry, name).map_err(failure);
    }
    let title = name.unwrap_or_default().to_owned();
    session.append(EntryKind::Title { title }).map(drop).map_err(failure)
}

fn delete(context: &Context, path: &Path) -> Result<(), Failure> {
    let id = sessions::remove(path)?;
    match context.format {
        Format::Json => output::json(&json!({"deleted": id})),
        Format::Text => output::line(format_args!("deleted {id}")),
    }
}
