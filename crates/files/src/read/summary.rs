//! Source code without the bodies of its functions: which lines can be left out.

use std::path::Path;

use tree_sitter::{Language, Node, Parser};

use crate::select::LineRange;

/// The largest file that is summarised.
pub(super) const SUMMARY_BYTES: u64 = 2 << 20;
pub(super) const SUMMARY_LINES: usize = 20_000;
/// A body of fewer lines is shown.
const SHORTEST_FOLDED: usize = 4;

/// The grammar of a file, by its name.
fn language(path: &Path) -> Option<Language> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    let grammar = match ending.as_str() {
        "rs" => tree_sitter_rust::LANGUAGE,
        "py" | "pyi" => tree_sitter_python::LANGUAGE,
        "js" | "mjs" | "cjs" | "jsx" => tree_sitter_javascript::LANGUAGE,
        "ts" | "mts" | "cts" => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        "tsx" => tree_sitter_typescript::LANGUAGE_TSX,
        "go" => tree_sitter_go::LANGUAGE,
        "java" => tree_sitter_java::LANGUAGE,
        "c" | "h" => tree_sitter_c::LANGUAGE,
        "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => tree_sitter_cpp::LANGUAGE,
        "sh" | "bash" => tree_sitter_bash::LANGUAGE,
        "rb" => tree_sitter_ruby::LANGUAGE,
        _ => return None,
    };
    Some(grammar.into())
}

/// Lines (from 1) that a summary of this file leaves out; `None` if there is nothing to leave out.
pub(super) fn folded(path: &Path, text: &str) -> Option<Vec<LineRange>> {
    let mut parser = Parser::new();
    parser.set_language(&language(path)?).ok()?;
    let tree = parser.parse(text, None)?;
    let mut ranges = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let body = body(cursor.node());
        ranges.extend(body);
        // What is in a body that is left out is not looked at.
        if body.is_none() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return (!ranges.is_empty()).then_some(ranges);
            }
        }
    }
}

/// The lines inside the body of a function: without the line it begins on and, if that closes it,
/// the line it ends on.
fn body(node: Node<'_>) -> Option<LineRange> {
    let is_function = ["function", "method", "constructor", "func_literal"]
        .iter()
        .any(|word| node.kind().contains(word));
    let body = if is_function { node.child_by_field_name("body")? } else { return None };
    let (start, end) = (body.start_position().row, body.end_position().row);
    let head = node.start_position().row;
    let is_braced = body.child(0).is_some_and(|first| first.kind() == "{");
    // From 0; a block without braces begins on the line behind the head.
    let first = if is_braced || start == head { start + 1 } else { start };
    let last = if is_braced { end.checked_sub(1)? } else { end };
    if last < first || last - first + 1 < SHORTEST_FOLDED {
        return None;
    }
    Some(LineRange { start: first as u64 + 1, end: Some(last as u64 + 1) })
}
