//! `LS`: a directory, as a list of what is in it.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_ops::files::{self, EntryKind, TreeNode, TreeRequest, WantedOrder};
use umbo_ops::{Call, Count};

use super::told;
use crate::answer::{Answer, ToolError};

const MOST_ENTRIES: u64 = 1000;
const DEPTH: u64 = 3;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The absolute path to the directory to list
    #[schemars(length(min = 1))]
    path: String,
    /// Names of entries to leave out, `*` for any letters
    ignore: Option<Vec<String>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Output {
    path: String,
    listing: String,
}

pub(super) fn run(call: &Call<'_>, arguments: Arguments) -> Result<Answer<Output>, ToolError> {
    let request = TreeRequest {
        path: Some(arguments.path.clone()),
        depth: Some(Count(DEPTH)),
        per_directory: Some(Count(MOST_ENTRIES)),
        limit: Some(Count(MOST_ENTRIES)),
        order: Some(WantedOrder::Name),
        no_hidden: true,
        ..TreeRequest::default()
    };
    let tree = files::tree(call, &request).map_err(told)?;
    let ignored = arguments.ignore.unwrap_or_default();
    let path = call.caller.directory.join(&arguments.path).display().to_string();
    let mut listing = format!("- {}/\n", path.trim_end_matches('/'));
    push(&mut listing, &tree.children, 1, &ignored);
    if tree.left_out > 0 {
        let _ = writeln!(listing, "  … {} more", tree.left_out);
    }
    let text = listing.trim_end().to_owned();
    Ok(Answer::new(Output { path, listing: text.clone() }, text))
}

fn push(text: &mut String, nodes: &[TreeNode], depth: usize, ignored: &[String]) {
    let indent = "  ".repeat(depth);
    for node in nodes.iter().filter(|node| !ignored.iter().any(|glob| fits(glob, &node.entry.name)))
    {
        let end = if node.entry.kind == EntryKind::Directory { "/" } else { "" };
        let _ = writeln!(text, "{indent}- {}{end}", node.entry.name);
        push(text, &node.children, depth + 1, ignored);
        if let Some(more) = node.left_out {
            let _ = writeln!(text, "{indent}  … {more} more");
        }
    }
}

/// Whether a name is as a pattern says, in which `*` is any letters.
fn fits(glob: &str, name: &str) -> bool {
    let glob = glob.trim_start_matches("**/").trim_end_matches("/**").trim_end_matches('/');
    match glob.split_once('*') {
        None => glob == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            let mut ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.any(|at| fits(rest, &name[at..]) || (rest.is_empty() && at == name.len()))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_is_any_letters() {
        assert!(fits("*.log", "a.log") && fits("node_modules", "node_modules"));
        assert!(fits("**/target/**", "target") && fits("a*c*e", "abcde") && fits("*", "x"));
        assert!(!fits("*.log", "a.logs") && !fits("b", "ab"));
    }
}
