//! Reading a session file: names and places of all entries, and nothing more.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

use regex::bytes::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::{Damage, Name, Session, SessionError, Slot};
use crate::entry::{EntryKind, Header};
use crate::message::AgentMessage;

/// What is read of every line.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "type", borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(rename = "parentId", borrow, default)]
    parent: Option<Cow<'a, str>>,
}

/// The beginning of a line that is damaged further on.
static HEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"^\{"type":"([a-z_]+)","id":"([^"\\]+)","parentId":(?:null|"([^"\\]+)")"#).ok()
});

pub(super) fn load(path: &Path, mut file: &File) -> Result<Session, SessionError> {
    let failed = |source| SessionError::Io { what: "read", path: path.to_owned(), source };
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(failed)?;
    let mut session = Session::empty(header_from_name(path));
    session.path = Some(path.to_owned());
    session.is_torn = text.last().is_some_and(|&byte| byte != b'\n');
    let mut has_header = false;
    let mut start = 0;
    let mut number = 0;
    while start < text.len() {
        number += 1;
        let end = text[start..].iter().position(|&byte| byte == b'\n').map(|at| start + at);
        let (end, is_last) = end.map_or((text.len(), true), |end| (end, false));
        let range = start..end;
        start = end + 1;
        let line = &text[range.clone()];
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Envelope<'_>>(line) {
            Ok(envelope) if envelope.name == "session" && !has_header => {
                match serde_json::from_slice(line) {
                    Ok(header) => {
                        session.header = header;
                        has_header = true;
                    }
                    Err(error) => session.damaged(number, format!("the header: {error}")),
                }
            }
            // The title of another program, before the header.
            Ok(envelope) if envelope.name == "title" && envelope.id.is_none() => {
                let value: Option<Value> = serde_json::from_slice(line).ok();
                let title = value.and_then(|value| Some(value.get("title")?.as_str()?.to_owned()));
                session.title = title.filter(|title| !title.is_empty());
            }
            Ok(envelope) => {
                let kind = match Name::of(&envelope.name) {
                    Name::Remark => parse(line).1,
                    // Anything that moves the leaf.
                    _ => EntryKind::Damaged,
                };
                let name = Name::of(&envelope.name);
                let id = envelope.id.as_deref();
                session.place(number, id, envelope.parent.as_deref(), name, range, &kind);
            }
            Err(error) => {
                let what = if is_last {
                    "the last line was not written to its end".to_owned()
                } else {
                    format!("not an entry: {error}")
                };
                session.damaged(number, what);
                // A line without its name is lost; what follows it hangs where it hung.
                if let Some(found) = HEAD.as_ref().and_then(|head| head.captures(line)) {
                    let word = |at: usize| {
                        found.get(at).map(|found| String::from_utf8_lossy(found.as_bytes()))
                    };
                    let is_path = word(1).is_some_and(|name| Name::of(&name) != Name::Remark);
                    if let (true, Some(id)) = (is_path, word(2)) {
                        let parent = word(3);
                        let kind = EntryKind::Damaged;
                        let parent = parent.as_deref();
                        session.place(number, Some(&id), parent, Name::Damaged, range, &kind);
                    }
                }
            }
        }
    }
    if !has_header {
        session
            .damaged(1, "there is no header: name and time are taken from the file's name".into());
    }
    session.damage.sort_by_key(|damage| damage.line);
    session.text = text;
    Ok(session)
}

impl Session {
    fn damaged(&mut self, line: usize, what: String) {
        self.damage.push(Damage { line, what });
    }

    fn place(
        &mut self,
        line: usize,
        id: Option<&str>,
        parent: Option<&str>,
        name: Name,
        range: std::ops::Range<usize>,
        kind: &EntryKind,
    ) {
        // The first version had no names: entries followed each other.
        let (id, parent) = match id {
            None => (format!("line-{line}"), self.leaf),
            Some(id) => {
                let at = parent.map(|parent| self.by_id.get(parent).copied());
                let parent = match at {
                    None => None,
                    Some(Some(at)) => Some(at),
                    // Remarks hang beside the path: it does not matter where.
                    Some(None) if name == Name::Remark => None,
                    Some(None) => {
                        // Its line is lost: what was written before that is where it hung.
                        let what = format!("entry {id} follows a lost one: put behind the last");
                        self.damaged(line, what);
                        self.slots.iter().rposition(|slot| slot.name != Name::Remark)
                    }
                };
                (id.to_owned(), parent)
            }
        };
        let id = if self.by_id.contains_key(&id) {
            self.damaged(line, format!("there is another entry {id}"));
            format!("{id}-line-{line}")
        } else {
            id
        };
        self.add(Slot { id, parent, name, range }, kind);
    }
}

/// Time and content of a line.
pub(super) fn parse(line: &[u8]) -> (String, EntryKind) {
    #[derive(Deserialize)]
    struct Time {
        #[serde(default)]
        timestamp: String,
    }
    let timestamp = match message_head(line) {
        Some(head) => String::from_utf8_lossy(head.timestamp).into_owned(),
        None => {
            serde_json::from_slice::<Time>(line).map_or_else(|_| String::new(), |t| t.timestamp)
        }
    };
    (timestamp, parse_kind(line))
}

/// Content of a line.
pub(super) fn parse_kind(line: &[u8]) -> EntryKind {
    if let Some(found) = parse_message(line) {
        return found;
    }
    serde_json::from_slice(line).unwrap_or_else(|_| {
        serde_json::from_slice(line).map_or(EntryKind::Damaged, EntryKind::Unknown)
    })
}

/// The lines that there are most of, on a shorter way: the role is looked up first, so that nothing
/// has to be kept while it is not known yet.
fn parse_message(line: &[u8]) -> Option<EntryKind> {
    #[derive(Deserialize)]
    struct Peek<'a> {
        #[serde(borrow)]
        message: Role<'a>,
    }
    #[derive(Deserialize)]
    struct Role<'a> {
        #[serde(borrow)]
        role: Cow<'a, str>,
    }
    #[derive(Deserialize)]
    struct Typed<T> {
        message: T,
    }
    fn read<T: for<'a> Deserialize<'a>>(
        line: &[u8],
        wrap: impl FnOnce(T) -> AgentMessage,
    ) -> Option<EntryKind> {
        let Typed { message } = serde_json::from_slice(line).ok()?;
        Some(EntryKind::Message { message: wrap(message) })
    }
    if !line.starts_with(br#"{"type":"message""#) {
        return None;
    }
    let wrapped = |role: &[u8]| match role {
        b"user" => read(line, AgentMessage::User),
        b"assistant" => read(line, AgentMessage::Assistant),
        b"toolResult" => read(line, AgentMessage::ToolResult),
        _ => None,
    };
    match message_head(line) {
        Some(head) => wrapped(head.role),
        None => wrapped(serde_json::from_slice::<Peek<'_>>(line).ok()?.message.role.as_bytes()),
    }
}

/// What the beginning of our own lines says of a message.
struct MessageHead<'a> {
    timestamp: &'a [u8],
    role: &'a [u8],
}

/// The beginning of a message, where our own lines have it: name, place, time, role. Nothing in it can
/// have a quote of its own, so what looks like it is it.
fn message_head(line: &[u8]) -> Option<MessageHead<'_>> {
    let rest = line.strip_prefix(br#"{"type":"message","id":"#)?;
    let (_, rest) = plain_word(rest)?;
    let rest = rest.strip_prefix(br#","parentId":"#)?;
    let rest = match rest.strip_prefix(b"null") {
        Some(rest) => rest,
        None => plain_word(rest)?.1,
    };
    let (timestamp, rest) = plain_word(rest.strip_prefix(br#","timestamp":"#)?)?;
    let (role, _) = plain_word(rest.strip_prefix(br#","message":{"role":"#)?)?;
    Some(MessageHead { timestamp, role })
}

/// A word in quotes without an escape in it, and what follows.
fn plain_word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.strip_prefix(b"\"")?;
    let end = text.iter().position(|&byte| byte == b'"' || byte == b'\\')?;
    (text[end] == b'"').then(|| (&text[..end], &text[end + 1..]))
}

/// What the name of a file says: `TIME_ID.jsonl`.
fn header_from_name(path: &Path) -> Header {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let (timestamp, id) = stem.rsplit_once('_').unwrap_or(("", &stem));
    Header {
        version: crate::entry::SESSION_VERSION,
        id: id.to_owned(),
        timestamp: timestamp.to_owned(),
        cwd: String::new(),
        title: None,
        parent_session: None,
    }
}
