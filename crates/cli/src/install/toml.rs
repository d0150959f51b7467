//! TOML, read by `toml_edit` and edited as text where it says something is: writing a whole document
//! back would change its line endings.

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{Document, InlineTable, Item, Table, Value as Toml};

use super::format::{Fields, Problem, Target, line_ending, line_of};
use super::server::Field;

fn parse(text: &str) -> Result<Document<&str>, Problem> {
    Document::parse(text).map_err(|error| Problem {
        line: error.span().map(|span| line_of(text, span.start)),
        why: format!("this is not TOML: {}", error.message().trim().replace('\n', ", ")),
    })
}

pub(super) fn read(text: &str) -> Result<Value, Problem> {
    Ok(table(parse(text)?.as_table()))
}

fn table(table: &Table) -> Value {
    Value::Object(table.iter().map(|(key, inner)| (key.to_owned(), item(inner))).collect())
}

fn item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(inner) => value(inner),
        Item::Table(inner) => table(inner),
        Item::ArrayOfTables(tables) => Value::Array(tables.iter().map(table).collect()),
    }
}

fn value(value: &Toml) -> Value {
    match value {
        Toml::String(text) => Value::from(text.value().as_str()),
        Toml::Integer(number) => Value::from(*number.value()),
        Toml::Float(number) => Value::from(number.value().to_string()),
        Toml::Boolean(flag) => Value::from(*flag.value()),
        Toml::Datetime(moment) => Value::from(moment.value().to_string()),
        Toml::Array(items) => Value::Array(items.iter().map(self::value).collect()),
        Toml::InlineTable(inner) => inline(inner),
    }
}

fn inline(table: &InlineTable) -> Value {
    let members = table.iter().map(|(key, inner)| (key.to_owned(), value(inner)));
    Value::Object(members.collect::<Map<_, _>>())
}

pub(super) fn put(text: &str, target: Target<'_>, fields: &Fields) -> Result<String, Problem> {
    let document = parse(text)?;
    let entry = match document.get(target.section) {
        None => None,
        Some(Item::Table(servers)) => servers.get(target.name),
        Some(other) => return Err(unfit(text, target, other)),
    };
    match entry {
        None => Ok(append(text, target, fields)),
        Some(entry) => update(text, target, entry, fields),
    }
}

fn unfit(text: &str, target: Target<'_>, item: &Item) -> Problem {
    let why = format!("`{}` is not a table with a header of its own", target.section);
    Problem { line: item.span().map(|span| line_of(text, span.start)), why }
}

/// A table of its own at the end, where it changes the meaning of nothing.
fn append(text: &str, target: Target<'_>, fields: &Fields) -> String {
    let ending = line_ending(text);
    let mut edited = text.to_owned();
    if !text.is_empty() {
        if !text.ends_with('\n') {
            edited.push_str(ending);
        }
        edited.push_str(ending);
    }
    let lines = fields.iter().map(|(key, field)| format!("{key} = {}{ending}", literal(field)));
    let header = format!("[{}.{}]{ending}", target.section, target.name);
    edited.extend(std::iter::once(header).chain(lines));
    edited
}

/// An entry on one line.
pub(super) fn entry(name: &str, fields: &Fields) -> String {
    let pairs = fields.iter().map(|(key, field)| format!("{key} = {}", literal(field)));
    format!("{name} = {{ {} }}", pairs.collect::<Vec<_>>().join(", "))
}

/// Whether a table may have headers for what is in it.
pub(super) fn is_open(text: &str, section: &str) -> bool {
    parse(text).is_ok_and(|document| document.get(section).is_some_and(Item::is_table))
}

/// Changes what differs in an entry and nothing else of it.
fn update(
    text: &str,
    target: Target<'_>,
    entry: &Item,
    fields: &Fields,
) -> Result<String, Problem> {
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (key, field) in fields {
        let old = entry.get(key);
        if old.is_some_and(|old| item(old) == field.json()) {
            continue;
        }
        match (old, entry) {
            (Some(old), _) => {
                let span = old.span().ok_or_else(|| unfit(text, target, entry))?;
                edits.push((span, literal(field)));
            }
            (None, Item::Table(inner)) if !inner.is_implicit() && !inner.is_dotted() => {
                let header = inner.span().ok_or_else(|| unfit(text, target, entry))?;
                let at = end_of_line(text, header.end);
                edits.push((at..at, format!("{key} = {}{}", literal(field), line_ending(text))));
            }
            _ => return Err(unfit(text, target, entry)),
        }
    }
    edits.sort_by_key(|(span, _)| span.start);
    let mut edited = text.to_owned();
    for (span, new) in edits.into_iter().rev() {
        edited.replace_range(span, &new);
    }
    Ok(edited)
}

pub(super) fn remove(text: &str, target: Target<'_>) -> Result<String, Problem> {
    let document = parse(text)?;
    let entry = document.get(target.section).and_then(|servers| servers.get(target.name));
    let Some(Item::Table(entry)) = entry else {
        return Err(Problem::new(format!("`{}` has no header of its own", target.name)));
    };
    let header = entry.span().filter(|_| !entry.is_implicit() && !entry.is_dotted());
    let header = header
        .ok_or_else(|| Problem::new(format!("`{}` is written with dotted keys", target.name)))?;
    let mut start = text[..header.start].rfind('\n').map_or(0, |at| at + 1);
    let end = end_of_line(text, last_byte(entry).max(header.end));
    // The empty line before it came with it.
    let before = text[..start].trim_end_matches(['\r', '\n']).len();
    let gap = &text[before..start];
    if gap.matches('\n').count() > 1 {
        start -= if gap.ends_with("\r\n") { 2 } else { 1 };
    }
    Ok(format!("{}{}", &text[..start], &text[end..]))
}

/// The end of all that a table says, its tables included.
fn last_byte(table: &Table) -> usize {
    let ends = table.iter().map(|(_, inner)| match inner {
        Item::Table(below) => last_byte(below).max(below.span().map_or(0, |span| span.end)),
        other => other.span().map_or(0, |span| span.end),
    });
    ends.max().unwrap_or(0)
}

/// Where the next line begins.
fn end_of_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |ahead| at + ahead + 1)
}

fn literal(field: &Field) -> String {
    match field {
        Field::Text(text) => string(text),
        Field::List(items) => {
            format!("[{}]", items.iter().map(|item| string(item)).collect::<Vec<_>>().join(", "))
        }
        Field::Flag(flag) => flag.to_string(),
        Field::Number(number) => number.to_string(),
    }
}

fn string(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}
