//! YAML, edited by lines. Only what goose and people write is understood: a mapping in block style
//! with the servers' entries under one key. Anything else is left alone, and the caller, who reads
//! the text before and after, refuses what came out differently than meant.

use std::ops::Range;

use serde_json::Value;

use super::format::{Emptied, Fields, Problem, Target, line_ending};
use super::server::Field;

/// How much deeper an entry is than its table, where nothing tells.
const STEP: usize = 2;

pub(super) fn read(text: &str) -> Result<Value, Problem> {
    serde_saphyr::from_str(text).map_err(|error| {
        let line = error.location().and_then(|at| usize::try_from(at.line()).ok());
        let message = error.to_string();
        let first = message.lines().next().unwrap_or_default().trim_start_matches("error: ");
        // `line 3 column 4: ` is told beside the message.
        let placed = first.split_once(": ").filter(|(head, _)| head.starts_with("line "));
        let why = placed.map_or(first, |(_, rest)| rest);
        Problem { line: line.filter(|line| *line > 0), why: format!("this is not YAML: {why}") }
    })
}

pub(super) fn put(text: &str, target: Target<'_>, fields: &Fields) -> Result<String, Problem> {
    let mut page = Page::new(text);
    if let Some(at) = page.lines.iter().position(|line| line.trim_end().contains('\r')) {
        return Err(Problem::at(at + 1, "a carriage return alone ends a line here"));
    }
    let Some(table) = page.block(0..page.lines.len(), target.section, 0) else {
        let at = page.lines.len();
        page.insert(at, 0, vec![format!("{}:", target.section)]);
        page.insert(at + 1, STEP, entry(target.name, fields));
        return Ok(page.text());
    };
    let first = table.start;
    match page.value(first) {
        "" if page.depth(&table).is_some() => {}
        "" | "{}" => {
            page.lines[first] = page.lines[first].replacen("{}", "", 1);
            page.trim(first);
            page.insert(first + 1, STEP, entry(target.name, fields));
            return Ok(page.text());
        }
        _ => return Err(unfit(first, target.section)),
    }
    let depth = page.depth(&table).unwrap_or(STEP);
    match page.block(table.start + 1..table.end, target.name, depth) {
        None => page.insert(table.end, depth, entry(target.name, fields)),
        Some(old) => update(&mut page, old.start, target, depth, fields)?,
    }
    Ok(page.text())
}

/// Changes what differs in the entry on line `first`, and nothing else of it.
fn update(
    page: &mut Page,
    first: usize,
    target: Target<'_>,
    depth: usize,
    fields: &Fields,
) -> Result<(), Problem> {
    let said = read(&page.text())?;
    for (key, field) in fields {
        if said[target.section][target.name][*key] == field.json() {
            continue;
        }
        let old = page.block(first..page.lines.len(), target.name, depth);
        let old = old.ok_or_else(|| unfit(first, target.name))?;
        let inner = page.depth(&old).filter(|_| page.value(first).is_empty());
        let inner = inner.ok_or_else(|| unfit(first, target.name))?;
        let at = match page.block(old.start + 1..old.end, key, inner) {
            Some(line) => page.remove(line),
            None => old.start + 1,
        };
        page.insert(at, inner, pair(key, field));
    }
    Ok(())
}

pub(super) fn remove(text: &str, target: Target<'_>, emptied: Emptied) -> Result<String, Problem> {
    let mut page = Page::new(text);
    let gone = || Problem::new(format!("`{}` is not where it is looked for", target.name));
    let table = page.block(0..page.lines.len(), target.section, 0).ok_or_else(gone)?;
    let depth = page.depth(&table).ok_or_else(gone)?;
    let entry = page.block(table.start + 1..table.end, target.name, depth).ok_or_else(gone)?;
    let others = page.lines[table.start + 1..entry.start]
        .iter()
        .chain(&page.lines[entry.end..table.end])
        .any(|line| !is_idle(line));
    let comments =
        page.lines[table.start + 1..entry.start].iter().any(|line| !line.trim().is_empty());
    page.remove(entry);
    if !others {
        if emptied == Emptied::Goes && !comments {
            page.remove(table.start..table.start + 1);
        } else {
            page.lines[table.start] = page.lines[table.start].replacen(':', ": {}", 1);
        }
    }
    Ok(page.text())
}

fn entry(name: &str, fields: &Fields) -> Vec<String> {
    let mut lines = vec![format!("{}:", scalar(name))];
    for (key, field) in fields {
        lines.extend(pair(key, field).into_iter().map(|line| format!("{:STEP$}{line}", "")));
    }
    lines
}

/// An entry on one line.
pub(super) fn flow(name: &str, fields: &Fields) -> String {
    let pairs = fields.iter().map(|(key, field)| match field {
        Field::List(items) => {
            let items: Vec<String> = items.iter().map(|item| scalar(item)).collect();
            format!("{key}: [{}]", items.join(", "))
        }
        single => pair(key, single).concat(),
    });
    format!("{}: {{{}}}", scalar(name), pairs.collect::<Vec<_>>().join(", "))
}

fn pair(key: &str, field: &Field) -> Vec<String> {
    match field {
        Field::Text(text) => vec![format!("{key}: {}", scalar(text))],
        Field::Flag(flag) => vec![format!("{key}: {flag}")],
        Field::Number(number) => vec![format!("{key}: {number}")],
        Field::List(items) => {
            let items = items.iter().map(|item| format!("- {}", scalar(item)));
            std::iter::once(format!("{key}:")).chain(items).collect()
        }
    }
}

/// A text as YAML: as it is if nothing could take it for something else.
fn scalar(text: &str) -> String {
    const WORDS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_./-".contains(c))
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    // A string of JSON is one of YAML.
    if is_plain { text.to_owned() } else { Value::from(text).to_string() }
}

fn unfit(at: usize, key: &str) -> Problem {
    Problem::at(at + 1, format!("`{key}` is not written as a block of lines"))
}

/// Whether a line says nothing: it is empty, or a comment.
fn is_idle(line: &str) -> bool {
    let content = line.trim();
    content.is_empty() || content.starts_with('#')
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// What is after `key:` in a line, if that is what it begins with.
fn after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let content = line.trim();
    let forms = [key.to_owned(), format!("\"{key}\""), format!("'{key}'")];
    let rest = forms.iter().find_map(|form| content.strip_prefix(form.as_str())?.strip_prefix(':'));
    rest.filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// A text as lines, each with its ending.
struct Page {
    lines: Vec<String>,
    ending: &'static str,
}

impl Page {
    fn new(text: &str) -> Self {
        let lines = text.split_inclusive('\n').map(str::to_owned).collect();
        Self { lines, ending: line_ending(text) }
    }

    fn text(&self) -> String {
        self.lines.concat()
    }

    /// The lines of a key at an indentation and of all below it.
    fn block(&self, within: Range<usize>, key: &str, depth: usize) -> Option<Range<usize>> {
        let is_key = |at: &usize| {
            indent(&self.lines[*at]) == depth && after(&self.lines[*at], key).is_some()
        };
        let start = within.clone().find(is_key)?;
        let mut end = start + 1;
        for at in start + 1..within.end {
            let line = &self.lines[at];
            // The items of a list may be as deep as its key.
            let is_item = indent(line) == depth && line.trim_start().starts_with('-');
            match () {
                () if is_idle(line) => {}
                () if indent(line) > depth || is_item => end = at + 1,
                () => break,
            }
        }
        Some(start..end)
    }

    /// The indentation of what is below the first line of a block.
    fn depth(&self, block: &Range<usize>) -> Option<usize> {
        let inner = self.lines[block.start + 1..block.end].iter();
        inner.map(String::as_str).find(|line| !is_idle(line)).map(indent)
    }

    /// What stands beside a key, without a comment.
    fn value(&self, at: usize) -> &str {
        let rest = self.lines[at].split_once(':').map_or("", |(_, rest)| rest);
        let end = rest.find(" #").unwrap_or(rest.len());
        rest[..end].trim()
    }

    /// Takes blanks from the end of a line.
    fn trim(&mut self, at: usize) {
        let line = &self.lines[at];
        if let Some(content) = line.strip_suffix(self.ending) {
            self.lines[at] = format!("{}{}", content.trim_end(), self.ending);
        }
    }

    fn insert(&mut self, at: usize, depth: usize, lines: Vec<String>) {
        if let Some(last) = at.checked_sub(1).and_then(|before| self.lines.get_mut(before))
            && !last.ends_with('\n')
        {
            last.push_str(self.ending);
        }
        let lines: Vec<String> =
            lines.into_iter().map(|line| format!("{:depth$}{line}{}", "", self.ending)).collect();
        self.lines.splice(at..at, lines);
    }

    /// Removes lines; where they began.
    fn remove(&mut self, lines: Range<usize>) -> usize {
        let start = lines.start;
        self.lines.drain(lines);
        start
    }
}
