//! Where a value comes from, and what is wrong where.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use umbo_gate::Layer;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nobody said anything.
    Default,
    /// Nobody said anything, so that another setting counts.
    As(&'static str),
    /// A line of a file.
    File { layer: Layer, path: PathBuf, line: usize },
    /// A variable.
    Variable(String),
    /// Two of them together: the second added to what the first said.
    Joined(Box<Origin>, Box<Origin>),
}

impl Origin {
    /// Whether somebody said it.
    pub(crate) fn is_said(&self) -> bool {
        !matches!(self, Self::Default | Self::As(_))
    }

    /// Whether this file said it, or a part of it.
    pub(crate) fn is_file(&self, file: &Path) -> bool {
        match self {
            Self::File { path, .. } => path == file,
            Self::Joined(first, second) => first.is_file(file) || second.is_file(file),
            _ => false,
        }
    }

    /// Its place within its source.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::File { line, .. } => format!("line {line}"),
            other => other.to_string(),
        }
    }

    /// For programs.
    pub(crate) fn to_json(&self) -> Place<'_> {
        let empty = Place { origin: "default", file: None, line: None, variable: None };
        match self {
            Self::Default | Self::As(_) => empty,
            Self::File { layer, path, line } => Place {
                origin: if *layer == Layer::Project { "project" } else { "user" },
                file: Some(path),
                line: Some(*line),
                ..empty
            },
            Self::Variable(name) => Place { origin: "variable", variable: Some(name), ..empty },
            Self::Joined(_, second) => second.to_json(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::As(name) => write!(f, "default: {name}"),
            Self::File { path, line, .. } => write!(f, "{}:{line}", path.display()),
            Self::Variable(name) => f.write_str(name),
            Self::Joined(first, second) => write!(f, "{first} and {second}"),
        }
    }
}

/// An origin, for programs.
#[derive(Debug, Serialize)]
pub(crate) struct Place<'a> {
    origin: &'static str,
    file: Option<&'a Path>,
    line: Option<usize>,
    variable: Option<&'a str>,
}

/// Something that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// A file, a line of one, or a variable.
    pub(crate) place: String,
    /// What is wrong there, and what would be right.
    pub(crate) what: String,
}

impl Problem {
    pub(crate) fn new(place: impl fmt::Display, what: impl Into<String>) -> Self {
        Self { place: place.to_string(), what: what.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}
