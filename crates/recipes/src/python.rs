//! `pyproject.toml` and Python task files, shared by the Python runners. Functions are found by
//! reading lines, never by importing: a task file is code of the project.

use std::sync::Arc;

use crate::{
    detect::{Found, Scene},
    project::Problem,
    task::{Kind, Language, Task},
    tree::{Format, Node},
};

/// The manifest all Python tools share.
pub(crate) const PYPROJECT: &str = "pyproject.toml";

/// What a script runs in: its programs may be the project's, and may be installed first.
pub(crate) const ENVIRONMENT: &str = "a virtual environment with the project and what it needs";

/// The manifest, when it is there.
pub(crate) fn pyproject(scene: &Scene<'_>) -> Result<Option<Arc<Node>>, Problem> {
    scene.folder.tree(PYPROJECT, Format::Toml)
}

/// A broken manifest belongs to the runner whose lock file or table it has; the text tells.
pub(crate) fn broken_but_mentions(scene: &Scene<'_>, mark: &str) -> bool {
    let text = scene.folder.text(PYPROJECT).ok().flatten();
    text.is_some_and(|text| text.contains(mark))
}

/// The entry points `name = "module:function"` under a path of keys.
pub(crate) fn entry_points(
    manifest: &Node,
    file: &str,
    path: &[&str],
    kind: Kind,
    prefix: &[&str],
) -> Vec<Task> {
    let entries = manifest.entries_at(path).iter();
    let tasks = entries.filter_map(|entry| {
        let name = entry.key.as_str();
        // Poetry also writes an entry point as a table.
        let text = entry.node.text().or_else(|| entry.node.text_at(&["reference"]))?;
        let mut argv = prefix.to_vec();
        argv.push(name);
        let task = Task::new(name, kind, &argv).source(file, entry.line);
        Some(task.script(Language::Python, text))
    });
    tasks.collect()
}

/// Adds a problem for a manifest that cannot be read.
pub(crate) fn broken(problem: Problem) -> Found {
    let mut found = Found::by(PYPROJECT);
    found.problems.push(problem);
    found
}

/// A decorated function of a task file.
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: usize,
    /// The text in the decorator's parentheses.
    pub(crate) decoration: String,
    pub(crate) doc: Option<String>,
    /// The parameters as written, without the first.
    pub(crate) parameters: Vec<String>,
    pub(crate) body: String,
}

/// The functions that carry one of these decorators, in order.
pub(crate) fn decorated(text: &str, decorators: &[&str]) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    let mut functions = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let decorator = lines[at].strip_prefix('@').and_then(|text| {
            let name = text.split(['(', ' ', '#']).next()?.trim();
            decorators.contains(&name).then(|| text[name.len()..].trim())
        });
        let Some(decorator) = decorator else {
            at += 1;
            continue;
        };
        let (decoration, after) = parenthesised(&lines, at, decorator);
        // Other decorators may stand between this one and the function.
        let start = (after..lines.len().min(after + 20)).find(|line| {
            lines[*line].starts_with("def ") || lines[*line].starts_with("async def ")
        });
        let Some(start) = start else {
            at += 1;
            continue;
        };
        functions.extend(function(&lines, start, decoration));
        at = start + 1;
    }
    functions
}

/// The text of a parenthesis that opens on this line, and the line after its end.
fn parenthesised(lines: &[&str], at: usize, first: &str) -> (String, usize) {
    if !first.starts_with('(') {
        return (String::new(), at + 1);
    }
    let mut text = String::new();
    let mut depth = 0_i32;
    for (offset, line) in lines[at..].iter().take(100).enumerate() {
        let line = if offset == 0 { first } else { line };
        for c in line.chars() {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
            text.push(c);
            if depth == 0 {
                return (text, at + offset + 1);
            }
        }
        text.push(' ');
    }
    (text, at + 1)
}

fn function(lines: &[&str], start: usize, decoration: String) -> Option<Function> {
    let head = lines[start].trim_start_matches("async ").strip_prefix("def ")?;
    let name: String = head.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let (parameters, after) = parenthesised(lines, start, head[name.len()..].trim_start());
    let inner = parameters.trim_start_matches('(').trim_end_matches(')');
    let parameters = top_level(inner).into_iter().skip(1).collect();
    let body: Vec<&str> = lines[after..]
        .iter()
        .take_while(|line| line.trim().is_empty() || line.starts_with([' ', '\t']))
        .copied()
        .collect();
    let doc =
        body.iter().find(|line| !line.trim().is_empty()).and_then(|line| docstring(line, &body));
    let body = body.join("\n").trim_end().to_owned();
    Some(Function { name, line: start + 1, decoration, doc, parameters, body })
}

/// The parts between commas that stand in no brackets.
fn top_level(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_i32;
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

fn docstring(first: &str, body: &[&str]) -> Option<String> {
    let first = first.trim();
    for quote in ["\"\"\"", "'''", "\"", "'"] {
        let Some(rest) = first.strip_prefix(quote) else { continue };
        let rest = rest.split(quote).next().unwrap_or(rest).trim();
        if !rest.is_empty() {
            return Some(rest.to_owned());
        }
        let mut lines =
            body.iter().map(|line| line.trim()).skip_while(|line| *line != first).skip(1);
        return lines.find(|line| !line.is_empty()).map(str::to_owned);
    }
    None
}
