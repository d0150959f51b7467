//! `Ls`, `Grep` and `Tree`: looking at files without a round trip through a shell.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_ops::files::{
    self, EntryKind, ListRequest, Paths, SearchOptions, SearchRequest, TreeRequest, WantedOrder,
    render,
};
use umbo_ops::{Call, Count};

use crate::answer::{Answer, ToolError};
use crate::tool::{Annotations, Tool};

/// As many matches as an answer has.
const MOST_MATCHES: u64 = 100;
/// How deep a tree is unless it is told.
const DEPTH: u64 = 3;

/// The tools, in the order in which they are listed.
pub(super) fn tools() -> [Tool; 3] {
    [
        Tool::new("Ls", include_str!("ls.md"), ls),
        Tool::new("Grep", include_str!("grep.md"), grep),
        Tool::new("Tree", include_str!("tree.md"), tree),
    ]
    .map(|tool| tool.hints(Annotations::READS).for_files())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LsArguments {
    /// The directory; the working directory unless given
    path: Option<String>,
    /// Newest first
    newest: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Listing {
    path: String,
    entries: Vec<Entry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    #[schemars(with = "String")]
    kind: EntryKind,
    size: u64,
    modified: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
}

fn ls(call: &Call<'_>, arguments: LsArguments) -> Result<Answer<Listing>, ToolError> {
    let request = ListRequest {
        path: arguments.path,
        order: (arguments.newest == Some(true)).then_some(WantedOrder::Newest),
        ..ListRequest::default()
    };
    let found = files::list(call, &request)?;
    let mut text = String::new();
    for entry in &found.entries {
        let _ = match (entry.kind, &entry.target) {
            (EntryKind::Directory, _) => writeln!(text, "{}/", entry.name),
            (_, Some(target)) => writeln!(text, "{} -> {target}", entry.name),
            _ => writeln!(text, "{}  {}", entry.name, render::size(entry.size)),
        };
    }
    if found.entries.is_empty() {
        text.push_str("(empty directory)\n");
    }
    if found.left_out > 0 {
        let _ = writeln!(text, "… {} more", found.left_out);
    }
    let entries = found.entries.into_iter().map(|entry| Entry {
        name: entry.name,
        kind: entry.kind,
        size: entry.size,
        modified: entry.modified,
        target: entry.target,
    });
    let left_out = Some(found.left_out).filter(|count| *count > 0);
    let listing = Listing { path: found.path, entries: entries.collect(), left_out };
    Ok(Answer::new(listing, text.trim_end()))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GrepArguments {
    /// The regular expression
    #[schemars(length(min = 1))]
    pattern: String,
    /// File or directory; the working directory unless given
    path: Option<String>,
    /// Only files that match this glob, as "*.go"
    include: Option<String>,
    /// Upper and lower case are the same
    ignore_case: Option<bool>,
    /// Lines around each match
    #[schemars(range(min = 0))]
    context: Option<Count>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Found {
    output: String,
    matches: u64,
    files: u64,
    truncated: bool,
}

fn grep(call: &Call<'_>, arguments: GrepArguments) -> Result<Answer<Found>, ToolError> {
    let request = SearchRequest {
        pattern: arguments.pattern,
        paths: Paths(arguments.path.into_iter().collect()),
        ignore_case: arguments.ignore_case == Some(true),
        context: Some(arguments.context.unwrap_or(Count(0))),
        limit: Some(Count(MOST_MATCHES)),
        options: SearchOptions {
            globs: arguments.include.into_iter().collect(),
            ..SearchOptions::default()
        },
        ..SearchRequest::default()
    };
    let found = files::search(call, &request)?;
    let mut output = String::new();
    for file in &found.files {
        for line in &file.lines {
            let mark = if line.is_match { ':' } else { '-' };
            let _ = writeln!(output, "{}{mark}{}{mark}{}", file.path, line.number, line.text);
        }
    }
    let truncated = found.next_skip.is_some() || found.stopped.is_some();
    let mut text = output.trim_end().to_owned();
    if text.is_empty() {
        text.push_str("no matches");
    }
    if truncated {
        let _ = write!(text, "\n… {} of {} matches", found.shown, found.total_matches);
    }
    let (matches, files) = (found.total_matches, found.total_files);
    Ok(Answer::new(Found { output, matches, files, truncated }, text))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TreeArguments {
    /// The directory; the working directory unless given
    path: Option<String>,
    /// How deep (default 3)
    #[schemars(range(min = 1))]
    depth: Option<Count>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Drawn {
    path: String,
    tree: String,
    shown: usize,
}

fn tree(call: &Call<'_>, arguments: TreeArguments) -> Result<Answer<Drawn>, ToolError> {
    let request = TreeRequest {
        path: arguments.path,
        depth: Some(arguments.depth.unwrap_or(Count(DEPTH))),
        order: Some(WantedOrder::Name),
        ..TreeRequest::default()
    };
    let found = files::tree(call, &request)?;
    let text = found.text.trim_end().to_owned();
    Ok(Answer::new(Drawn { path: found.path, tree: found.text, shown: found.shown }, text))
}
