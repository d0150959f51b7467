//! How calls of tools look in an editor: a title, a kind, the files they are about, and their changes.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::{Map, Value, json};
use umbo_model::ToolCall;

use super::patch::changes_of_patch;

/// As much of a command is in a title.
const LONGEST_TITLE_CHARS: usize = 120;
/// A file that is replaced is shown with what it had, unless that is more than this.
const LARGEST_SHOWN_FILE_BYTES: u64 = 1 << 20;

/// Names of calls that are used once in a session: some vendors count anew with each answer.
#[derive(Default)]
pub(super) struct CallNames(Mutex<Names>);

#[derive(Default)]
struct Names {
    used: HashSet<String>,
    /// By the vendor's name, the one that is used now.
    current: HashMap<String, String>,
}

impl CallNames {
    fn names(&self) -> MutexGuard<'_, Names> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new name for a call that begins.
    pub(super) fn begin(&self, call_id: &str) -> String {
        let mut names = self.names();
        let mut name = call_id.to_owned();
        let mut number = 1;
        while !names.used.insert(name.clone()) {
            number += 1;
            name = format!("{call_id}#{number}");
        }
        names.current.insert(call_id.to_owned(), name.clone());
        name
    }

    /// The name of a call that has begun.
    pub(super) fn name(&self, call_id: &str) -> String {
        let current = self.names().current.get(call_id).cloned();
        current.unwrap_or_else(|| call_id.to_owned())
    }
}

/// How a call looks.
pub(super) struct Look {
    pub(super) title: String,
    pub(super) kind: ToolKind,
    /// Files, and the line of some.
    pub(super) locations: Vec<(PathBuf, Option<u64>)>,
    /// What it would change.
    pub(super) changes: Vec<Change>,
}

/// A change of a file: a part of it, or all.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) path: PathBuf,
    /// Nothing, if the file is new.
    pub(super) old: Option<String>,
    pub(super) new: String,
}

impl Look {
    /// The files, as the protocol has them.
    pub(super) fn locations(&self) -> Vec<Value> {
        let place = |(path, line): &(PathBuf, Option<u64>)| match line {
            Some(line) => json!({"path": path, "line": line}),
            None => json!({"path": path}),
        };
        self.locations.iter().map(place).collect()
    }

    /// The changes, as the protocol has them.
    pub(super) fn content(&self) -> Vec<Value> {
        let shown = |change: &Change| {
            let Change { path, old, new } = change;
            json!({"type": "diff", "path": path, "oldText": old, "newText": new})
        };
        self.changes.iter().map(shown).collect()
    }
}

/// The kind of a tool, as the protocol has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToolKind {
    Read,
    Edit,
    Search,
    Execute,
    Think,
    Fetch,
    Other,
}

/// Whether what files had before can still be read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// The call has not run yet.
    Before,
    /// It is history.
    Past,
}

/// How a call looks in a directory.
pub(super) fn look(call: &ToolCall, directory: &Path, when: When) -> Look {
    let arguments = &call.arguments;
    let kind = kind_of(&call.name);
    let mut changes = match kind {
        ToolKind::Edit => changes(arguments, directory),
        _ => Vec::new(),
    };
    if when == When::Before {
        for change in &mut changes {
            add_old_text(change, arguments);
        }
    }
    let mut locations: Vec<(PathBuf, Option<u64>)> = Vec::new();
    let line = ["offset", "line"].iter().find_map(|name| arguments.get(*name)?.as_u64());
    let line = line.map(|line| line.max(1));
    if let Some(path) = path_of(arguments) {
        locations.push((directory.join(path), line));
    }
    for change in &changes {
        if !locations.iter().any(|(known, _)| *known == change.path) {
            locations.push((change.path.clone(), None));
        }
    }
    let title = title(call, kind, &locations, directory);
    Look { title, kind, locations, changes }
}

/// The kind of a tool, by its name in any dialect.
pub(super) fn kind_of(name: &str) -> ToolKind {
    let name = name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if has(&["todo", "think", "checkpoint", "rewind", "plan"]) {
        ToolKind::Think
    } else if has(&["fetch", "web"]) {
        ToolKind::Fetch
    } else if has(&["edit", "apply_patch", "undo"]) || name == "write" {
        ToolKind::Edit
    } else if has(&["grep", "glob", "search", "find"]) {
        ToolKind::Search
    } else if matches!(name.as_str(), "read" | "ls" | "tree" | "list" | "view") {
        ToolKind::Read
    } else if has(&["bash", "shell", "exec", "command", "recipe", "stdin", "job", "task"])
        || matches!(name.as_str(), "output" | "input" | "wait" | "stop")
    {
        ToolKind::Execute
    } else {
        ToolKind::Other
    }
}

fn text<'a>(arguments: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| arguments.get(*name)?.as_str())
}

fn path_of(arguments: &Map<String, Value>) -> Option<&str> {
    text(arguments, &["file_path", "path", "filePath", "notebook_path"])
        .filter(|path| !path.is_empty() && !path.contains("://"))
}

fn title(
    call: &ToolCall,
    kind: ToolKind,
    locations: &[(PathBuf, Option<u64>)],
    directory: &Path,
) -> String {
    let shown = |path: &Path| path.strip_prefix(directory).unwrap_or(path).display().to_string();
    let long = if let Some(command) = text(&call.arguments, &["command", "cmd"]) {
        format!("`{command}`")
    } else if let Some(pattern) = text(&call.arguments, &["pattern", "query", "regex"]) {
        format!("{} {pattern}", call.name)
    } else if matches!(kind, ToolKind::Edit | ToolKind::Read) && !locations.is_empty() {
        let paths: Vec<String> = locations.iter().map(|(path, _)| shown(path)).collect();
        format!("{} {}", call.name, paths.join(", "))
    } else {
        call.name.clone()
    };
    let line: Vec<&str> = long.split_whitespace().collect();
    let line = line.join(" ");
    if line.chars().count() <= LONGEST_TITLE_CHARS {
        return line;
    }
    let start: String = line.chars().take(LONGEST_TITLE_CHARS - 1).collect();
    format!("{start}…")
}

/// What a call that edits would change, as far as its arguments say.
fn changes(arguments: &Map<String, Value>, directory: &Path) -> Vec<Change> {
    if let Some(patch) = text(arguments, &["patch", "input"]) {
        return changes_of_patch(patch, directory);
    }
    let Some(path) = path_of(arguments).map(|path| directory.join(path)) else { return Vec::new() };
    if let Some(content) = text(arguments, &["content"]) {
        return vec![Change { path, old: None, new: content.to_owned() }];
    }
    let one = |edit: &Map<String, Value>| {
        let old = text(edit, &["old_string", "old", "old_text", "oldText"])?;
        let new = text(edit, &["new_string", "new", "new_text", "newText"])?;
        Some(Change { path: path.clone(), old: Some(old.to_owned()), new: new.to_owned() })
    };
    let edits = arguments.get("edits").and_then(Value::as_array);
    match edits {
        Some(edits) => edits.iter().filter_map(|edit| one(edit.as_object()?)).collect(),
        None => one(arguments).into_iter().collect(),
    }
}

/// Of a file that is replaced whole, what it has now.
fn add_old_text(change: &mut Change, arguments: &Map<String, Value>) {
    let is_whole = arguments.get("content").is_some();
    let is_small = |path: &PathBuf| {
        fs::metadata(path)
            .is_ok_and(|about| about.is_file() && about.len() <= LARGEST_SHOWN_FILE_BYTES)
    };
    if is_whole && is_small(&change.path) {
        change.old = fs::read_to_string(&change.path).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &Value) -> ToolCall {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        serde_json::from_value(json!({"id": "c", "name": name, "arguments": arguments})).unwrap()
    }

    fn change(path: &str, old: Option<&str>, new: &str) -> Change {
        Change { path: path.into(), old: old.map(str::to_owned), new: new.to_owned() }
    }

    fn seen(name: &str, arguments: &Value) -> Look {
        look(&call(name, arguments), Path::new("/p"), When::Past)
    }

    #[test]
    fn a_name_is_used_once_though_the_vendor_uses_it_again() {
        let names = CallNames::default();
        assert_eq!(names.begin("call_0"), "call_0");
        assert_eq!(names.begin("call_0"), "call_0#2");
        assert_eq!(names.name("call_0"), "call_0#2", "the one that runs now");
        assert_eq!(names.name("other"), "other");
    }

    #[test]
    fn a_call_shows_its_command_its_files_and_its_changes_in_every_dialect() {
        let bash = seen("Bash", &json!({"command": "cargo\n  test"}));
        assert_eq!((bash.title.as_str(), bash.kind), ("`cargo test`", ToolKind::Execute));
        let codex = seen("exec_command", &json!({"cmd": "x".repeat(300)}));
        assert_eq!(codex.title.chars().count(), LONGEST_TITLE_CHARS);
        let read = seen("Read", &json!({"file_path": "/p/src/a.rs", "offset": 12}));
        assert_eq!((read.title.as_str(), read.kind), ("Read src/a.rs", ToolKind::Read));
        assert_eq!(read.locations, [(PathBuf::from("/p/src/a.rs"), Some(12))]);
        let edit = json!({"file_path": "/p/a", "old_string": "1", "new_string": "2"});
        let own = json!({"path": "a", "edits": [{"old": "1", "new": "2"}]});
        for (name, arguments) in [("Edit", edit), ("edit", own)] {
            let edit = seen(name, &arguments);
            assert_eq!(edit.changes, [change("/p/a", Some("1"), "2")], "{name}");
            assert_eq!(edit.locations, [(PathBuf::from("/p/a"), None)]);
        }
        let write = seen("Write", &json!({"file_path": "/p/b", "content": "all"}));
        assert_eq!(write.changes, [change("/p/b", None, "all")]);
        let patch = "*** Begin Patch\n*** Add File: c\n+new\n*** End Patch";
        let patched = seen("apply_patch", &json!({"input": patch}));
        assert_eq!(patched.title, "apply_patch c");
        assert_eq!(patched.changes, [change("/p/c", None, "new\n")]);
    }
}
