//! Manifests as trees: JSON, TOML and YAML read into one shape that knows the line of every key.
//! Runners read this and never a format's own types, so a problem always has its line.

mod json;
mod toml;
mod yaml;

/// A value and the line it starts on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) value: Value,
}

/// The values the three formats share. Numbers and dates keep their text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// One key of a map; its line is where the key stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) line: usize,
    pub(crate) node: Node,
}

/// Why a text is no tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Broken {
    pub(crate) line: Option<usize>,
    pub(crate) message: String,
}

/// How a manifest is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Format {
    Json,
    /// JSON with comments and trailing commas.
    Jsonc,
    Toml,
    Yaml,
}

/// Deeper than this, a manifest is an attack.
const MAX_DEPTH: usize = 100;

/// Reads a text in its format.
pub(crate) fn parse(text: &str, format: Format) -> Result<Node, Broken> {
    match format {
        Format::Json => json::parse(text, json::Grammar::Strict),
        Format::Jsonc => json::parse(text, json::Grammar::Relaxed),
        Format::Toml => toml::parse(text),
        Format::Yaml => yaml::parse(text),
    }
}

impl Node {
    /// The value under a key; of two equal keys the last counts.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().rfind(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The value under a path of keys.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The entries under a path of keys, none if there is no map.
    pub(crate) fn entries_at(&self, path: &[&str]) -> &[Entry] {
        self.at(path).map_or(&[], Node::entries)
    }

    pub(crate) fn list(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn text_at(&self, path: &[&str]) -> Option<&str> {
        self.at(path).and_then(Node::text)
    }

    pub(crate) fn is_true(&self) -> bool {
        self.value == Value::Bool(true)
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self.value, Value::Map(_))
    }

    /// A text as one item, a list as its texts.
    pub(crate) fn texts(&self) -> Vec<String> {
        match &self.value {
            Value::Text(text) => vec![text.clone()],
            Value::List(items) => items.iter().filter_map(Node::text).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    }
}

/// The line of a byte offset, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    let head = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    head.split(|byte| *byte == b'\n').count()
}

/// Turns growing byte offsets into lines without counting from the start each time.
struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    fn new(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self { starts: std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect() }
    }

    fn of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).max(1)
    }
}
