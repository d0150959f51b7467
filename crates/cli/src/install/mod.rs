//! Umbo in other programs' settings: put in, changed, taken out.
//!
//! `clients.rs` says where each client reads of its servers and in which words. An edit is a text made
//! from a text (`json.rs`, `toml.rs`, `yaml.rs`); here both are read again, and an edit that changed
//! anything but the entry is not made. `site.rs` is the file, `receipt.rs` what umbo remembers of it.

pub(crate) mod check;
pub(crate) mod clients;
pub(crate) mod diff;
mod format;
mod json;
pub(crate) mod receipt;
pub(crate) mod server;
pub(crate) mod serves;
pub(crate) mod site;
#[cfg(test)]
mod tests;
mod toml;
mod yaml;

use serde_json::{Map, Value};

pub(crate) use clients::Client;
pub(crate) use format::{Emptied, Problem};
pub(crate) use server::Server;

use format::Target;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// What putting a server into a text comes to.
#[derive(Debug)]
pub(crate) enum Put {
    /// It is there, as it should be.
    Same,
    /// It is new. Whether its table is, too.
    Added { text: String, made_section: bool },
    /// It was there, and different.
    Changed { text: String },
    /// There is a server of that name which is not umbo, and what it starts.
    Foreign { words: String },
}

/// What taking a server out of a text comes to.
#[derive(Debug)]
pub(crate) enum Removal {
    /// It is not there.
    Absent,
    Removed {
        text: String,
    },
    /// There is a server of that name which is not umbo, and what it starts.
    Foreign {
        words: String,
    },
}

/// Puts a server into a client's file.
pub(crate) fn put(client: &Client, text: &str, server: &Server) -> Result<Put, Problem> {
    let (mark, body) = without_mark(text);
    let before = client.format.read(body)?;
    let fields = (client.shape)(server);
    let target = Target { section: client.section, name: &server.name };
    let old = entry(&before, target);
    if let Some(old) = old {
        if fields.iter().all(|(key, field)| old.get(key) == Some(&field.json())) {
            return Ok(Put::Same);
        }
        if !server::is_umbo(old) {
            return Ok(Put::Foreign { words: server::summary(old) });
        }
    }
    let is_new = old.is_none();
    let made_section = section(&before, client).is_none();
    let edited = client.format.put(body, target, &fields)?;
    let mut meant = before;
    let place = member(member(&mut meant, client.section)?, &server.name)?;
    for (key, field) in &fields {
        *member(place, key)? = field.json();
    }
    is_as_meant(client, meant, client.format.read(&edited))?;
    let text = format!("{mark}{edited}");
    Ok(if is_new { Put::Added { text, made_section } } else { Put::Changed { text } })
}

/// Takes a server out of a client's file.
pub(crate) fn remove(
    client: &Client,
    text: &str,
    name: &str,
    emptied: Emptied,
) -> Result<Removal, Problem> {
    let (mark, body) = without_mark(text);
    let before = client.format.read(body)?;
    let target = Target { section: client.section, name };
    let Some(old) = entry(&before, target) else { return Ok(Removal::Absent) };
    if !server::is_umbo(old) {
        return Ok(Removal::Foreign { words: server::summary(old) });
    }
    let edited = client.format.remove(body, target, emptied)?;
    let mut meant = before;
    if let Some(Value::Object(servers)) = meant.get_mut(client.section) {
        servers.remove(name);
    }
    is_as_meant(client, meant, client.format.read(&edited))?;
    Ok(Removal::Removed { text: format!("{mark}{edited}") })
}

/// The entry of a server in a client's file, if it has one.
pub(crate) fn find(client: &Client, text: &str, name: &str) -> Result<Option<Value>, Problem> {
    let said = client.format.read(without_mark(text).1)?;
    Ok(entry(&said, Target { section: client.section, name }).cloned())
}

/// What to paste into a client's file by hand.
pub(crate) fn snippet(client: &Client, server: &Server) -> Result<String, Problem> {
    let fields = (client.shape)(server);
    client.format.put("", Target { section: client.section, name: &server.name }, &fields)
}

/// What is missing in a text that is not edited.
pub(crate) enum Missing {
    /// This, as lines of their own.
    Lines(String),
    /// This, in the table of servers; and whether that has an entry which it takes the place of.
    Entry { line: String, replaces: bool },
}

/// What somebody has to do by hand to get a server into a client's file.
pub(crate) fn missing(client: &Client, text: &str, server: &Server) -> Result<Missing, Problem> {
    let body = without_mark(text).1;
    let said = client.format.read(body).unwrap_or_default();
    let replaces = entry(&said, Target { section: client.section, name: &server.name }).is_some();
    // A second table of the same name would break the file.
    let has_table =
        section(&said, client).is_some_and(|table| table.is_object() || table.is_null());
    if has_table && (replaces || !client.format.is_open(body, client.section)) {
        let line = client.format.member(&server.name, &(client.shape)(server));
        return Ok(Missing::Entry { line, replaces });
    }
    snippet(client, server).map(Missing::Lines)
}

/// Whether a text has nothing left to say.
pub(crate) fn is_blank(text: &str) -> bool {
    matches!(without_mark(text).1.trim(), "" | "{}")
}

fn without_mark(text: &str) -> (&str, &str) {
    let at = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
    text.split_at(at)
}

fn section<'a>(said: &'a Value, client: &Client) -> Option<&'a Value> {
    said.get(client.section)
}

fn entry<'a>(said: &'a Value, target: Target<'_>) -> Option<&'a Value> {
    said.get(target.section)?.get(target.name)
}

/// The member of a table, made if it is missing; an empty text has a table too.
fn member<'a>(value: &'a mut Value, key: &str) -> Result<&'a mut Value, Problem> {
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(members) => Ok(members.entry(key).or_insert(Value::Null)),
        _ => Err(Problem::new(format!("what should hold `{key}` is not a table"))),
    }
}

/// Compares what an edit was to do with what it did. An empty table of servers is none.
fn is_as_meant(client: &Client, meant: Value, came: Result<Value, Problem>) -> Result<(), Problem> {
    let tidy = |mut value: Value| {
        let is_empty =
            |servers: &Value| servers.is_null() || servers.as_object().is_some_and(Map::is_empty);
        if section(&value, client).is_some_and(is_empty)
            && let Some(members) = value.as_object_mut()
        {
            members.remove(client.section);
        }
        if is_empty(&value) { Value::Null } else { value }
    };
    match came {
        Ok(came) if tidy(came.clone()) == tidy(meant) => Ok(()),
        _ => Err(Problem::new("it is written in a way that umbo cannot edit for certain")),
    }
}
