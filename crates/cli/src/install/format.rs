//! The three formats that clients keep their settings in, behind one door: a text and a table of
//! servers in, an edited text out.

use serde_json::Value;

use super::server::Field;
use super::{json, toml, yaml};

/// How a client's file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json(Grammar),
    Toml,
    Yaml,
}

/// How much more than JSON a client reads. What it would not read itself is not edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grammar {
    /// JSON.
    Strict,
    /// JSON with comments.
    Comments,
    /// JSON with comments and trailing commas.
    Lenient,
}

/// Why a text is not edited.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Counted from 1.
    pub(crate) line: Option<usize>,
    pub(crate) why: String,
}

impl Problem {
    pub(super) fn new(why: impl Into<String>) -> Self {
        Self { line: None, why: why.into() }
    }

    pub(super) fn at(line: usize, why: impl Into<String>) -> Self {
        Self { line: Some(line), why: why.into() }
    }
}

/// Where in a file a server is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) section: &'a str,
    pub(super) name: &'a str,
}

/// What becomes of a table of servers that has lost its last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Emptied {
    Stays,
    Goes,
}

/// The fields of an entry, in their order.
pub(super) type Fields = [(&'static str, Field)];

impl Format {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json(_) => "json",
            Self::Toml => "toml",
            Self::Yaml => "yaml",
        }
    }

    /// All that a text says.
    pub(super) fn read(self, text: &str) -> Result<Value, Problem> {
        match self {
            Self::Json(grammar) => json::read(text, grammar),
            Self::Toml => toml::read(text),
            Self::Yaml => yaml::read(text),
        }
    }

    /// The text with these fields in the server's entry. Other fields of the entry stay.
    pub(super) fn put(
        self,
        text: &str,
        target: Target<'_>,
        fields: &Fields,
    ) -> Result<String, Problem> {
        match self {
            Self::Json(grammar) => json::put(text, grammar, target, fields),
            Self::Toml => toml::put(text, target, fields),
            Self::Yaml => yaml::put(text, target, fields),
        }
    }

    /// The server's entry alone, on a line that fits into a table of servers however that is written.
    pub(super) fn member(self, name: &str, fields: &Fields) -> String {
        match self {
            Self::Json(_) => json::entry(name, fields),
            Self::Toml => toml::entry(name, fields),
            Self::Yaml => yaml::flow(name, fields),
        }
    }

    /// Whether a table of servers in a text takes new ones at the end of that text.
    pub(super) fn is_open(self, text: &str, section: &str) -> bool {
        self == Self::Toml && toml::is_open(text, section)
    }

    /// The text without the server's entry, which is there.
    pub(super) fn remove(
        self,
        text: &str,
        target: Target<'_>,
        emptied: Emptied,
    ) -> Result<String, Problem> {
        match self {
            Self::Json(grammar) => json::remove(text, grammar, target, emptied),
            // A table of servers is there as long as it has one.
            Self::Toml => toml::remove(text, target),
            Self::Yaml => yaml::remove(text, target, emptied),
        }
    }
}

/// The line ending of a text.
pub(super) fn line_ending(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The line of a byte, counted from 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}
