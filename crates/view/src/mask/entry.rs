//! Secrets that people list: the entries of a `secrets.yml`.
//!
//! Parsing and merging only; the caller reads the files and says how they are called, so that an
//! error can name the file, the entry and the field. Errors never quote a value.

use std::fmt;

use serde::Deserialize;

use super::MaskError;
use super::pattern::Pattern;

/// What becomes of a secret in text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Mode {
    /// A placeholder like `#AB12#`, which [`Masker::restore`](super::Masker::restore) reverses.
    #[default]
    Obfuscate,
    /// One way: characters of the same number, the same ones every time.
    Replace,
    /// One way: this text.
    ReplaceWith(String),
}

/// One listed secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// The value, or the pattern.
    pub(super) content: Content,
    pub(super) mode: Mode,
    /// Where it is listed: file and position.
    pub(super) origin: String,
}

/// What an entry matches.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Content {
    Plain(String),
    Pattern { pattern: String, flags: String },
}

impl Content {
    /// What the file calls `content`, and whether it is a pattern.
    fn text(&self) -> (&str, bool) {
        match self {
            Self::Plain(value) => (value, false),
            Self::Pattern { pattern, .. } => (pattern, true),
        }
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.content {
            Content::Plain(_) => "plain",
            Content::Pattern { .. } => "regex",
        };
        f.debug_struct("Entry")
            .field("origin", &self.origin)
            .field("type", &kind)
            .finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(rename = "type")]
    kind: Option<String>,
    content: Option<String>,
    mode: Option<String>,
    replacement: Option<String>,
    flags: Option<String>,
}

/// Parses a secrets file: a YAML list of entries. `file` is its name in errors.
pub fn parse_secrets(file: &str, text: &str) -> Result<Vec<Entry>, MaskError> {
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Vec::new());
    }
    let raw: Vec<Raw> = serde_saphyr::from_str(text).map_err(|error| {
        // The parser's own message may quote the line, and with it a secret.
        let place = error.location().map_or_else(String::new, |at| {
            format!(" at line {}, column {}", at.line(), at.column())
        });
        MaskError::Yaml { file: file.to_owned(), place }
    })?;
    raw.into_iter().enumerate().map(|(index, raw)| entry(file, index + 1, raw)).collect()
}

fn entry(file: &str, number: usize, raw: Raw) -> Result<Entry, MaskError> {
    let wrong = |field: &'static str, problem: &str| MaskError::Entry {
        file: file.to_owned(),
        entry: number,
        field,
        problem: problem.to_owned(),
    };
    let content = raw.content.ok_or_else(|| wrong("content", "is missing"))?;
    if content.is_empty() {
        return Err(wrong("content", "is empty"));
    }
    let mode = match (raw.mode.as_deref(), raw.replacement) {
        (None | Some("obfuscate"), None) => Mode::Obfuscate,
        (None | Some("obfuscate"), Some(_)) => {
            return Err(wrong("replacement", "needs `mode: replace`"));
        }
        (Some("replace"), None) => Mode::Replace,
        (Some("replace"), Some(text)) if text.contains(&content) => {
            return Err(wrong("replacement", "contains the secret itself"));
        }
        (Some("replace"), Some(text)) => Mode::ReplaceWith(text),
        (Some(_), _) => return Err(wrong("mode", "must be `obfuscate` or `replace`")),
    };
    let content = match raw.kind.as_deref() {
        Some("plain") if raw.flags.is_some() => {
            return Err(wrong("flags", "belongs to `type: regex` only"));
        }
        Some("plain") => Content::Plain(content),
        Some("regex") => {
            let (pattern, flags) = literal(content, raw.flags);
            // Compiled here for the error; the masker compiles it again.
            Pattern::new(&pattern, &flags).map_err(|(field, problem)| wrong(field, &problem))?;
            Content::Pattern { pattern, flags }
        }
        Some(_) => return Err(wrong("type", "must be `plain` or `regex`")),
        None => return Err(wrong("type", "is missing: write `plain` or `regex`")),
    };
    Ok(Entry { content, mode, origin: format!("{file}, entry {number}") })
}

/// Splits `/pattern/flags` into its two halves.
fn literal(content: String, flags: Option<String>) -> (String, String) {
    if let Some(body) = content.strip_prefix('/')
        && let Some(end) = body.rfind('/')
        && end > 0
        && flags.is_none()
        && body[end + 1..].bytes().all(|flag| flag.is_ascii_lowercase())
    {
        return (body[..end].replace("\\/", "/"), body[end + 1..].to_owned());
    }
    (content, flags.unwrap_or_default())
}

/// Joins global and project entries: a project entry replaces the global one with its content.
pub fn merge_secrets(global: Vec<Entry>, project: Vec<Entry>) -> Vec<Entry> {
    let mut merged: Vec<Entry> = global
        .into_iter()
        .filter(|entry| project.iter().all(|other| other.content.text() != entry.content.text()))
        .collect();
    merged.extend(project);
    merged
}
