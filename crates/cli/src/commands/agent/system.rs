//! What the model is told before all else: who it is, its tools, where it is, and what the project
//! says in its `AGENTS.md` and `CLAUDE.md`.

use std::fs;
use std::path::{Path, PathBuf};

use umbo_gate::{DIRECTORY, Key, Snapshot, Trust, TrustStore, project_of};

use crate::context::Context;

/// The words if there is no `SYSTEM.md`.
const USUAL: &str = include_str!("system.md");
/// The file that replaces them.
const SYSTEM: &str = "SYSTEM.md";
/// The files in which projects tell agents about themselves; of one folder all count.
const CONTEXT_FILES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// As many folders above are looked at, if the project goes so far up.
const MOST_FOLDERS: usize = 20;
/// As much is read of one file.
const LONGEST_FILE_BYTES: usize = 64 << 10;

/// A file that the model is told.
pub(super) struct ContextFile {
    pub(super) path: PathBuf,
    text: String,
}

/// All of it.
pub(super) struct SystemPrompt {
    pub(super) text: String,
    /// The files that are in it.
    pub(super) files: Vec<PathBuf>,
}

impl SystemPrompt {
    /// For a directory and tools that have something to say about themselves.
    pub(super) fn new(directory: &Path, instructions: &str) -> Self {
        let user = Context::configuration().ok();
        let project = project_of(directory);
        let replaced = project_words(&project, user.as_deref()).or_else(|| {
            let path = user.as_ref()?.join(SYSTEM);
            Some(ContextFile { text: read(&path)?, path })
        });
        let mut files = Vec::new();
        let mut text = match replaced {
            Some(file) => {
                files.push(file.path);
                file.text
            }
            None => USUAL.to_owned(),
        };
        if !instructions.is_empty() {
            text = format!("{}\n\n{instructions}", text.trim_end());
        }
        text = format!(
            "{}\n\nDirectory: {}\nSystem: {} {}",
            text.trim_end(),
            directory.display(),
            std::env::consts::OS,
            std::env::consts::ARCH
        );
        for file in context_files(directory, &project, user.as_deref()) {
            text = format!(
                "{text}\n\n<file path=\"{}\">\n{}\n</file>",
                file.path.display(),
                file.text.trim_end()
            );
            files.push(file.path);
        }
        Self { text, files }
    }
}

/// What the project says in place of the usual words, if the user trusts it.
fn project_words(project: &Path, user: Option<&Path>) -> Option<ContextFile> {
    let path = project.join(DIRECTORY).join(SYSTEM);
    path.symlink_metadata().ok()?;
    let user = user?;
    let snapshot = Snapshot::read(project).ok()?;
    let store = TrustStore::open(user, Key::open(user).ok()?);
    let states = store.file_states(project, &snapshot).ok()?;
    match snapshot.file(SYSTEM, &states)? {
        (bytes, Trust::Trusted) => {
            Some(ContextFile { path, text: String::from_utf8_lossy(bytes).into_owned() })
        }
        _ => None,
    }
}

/// The user's own file, then those of the project, the outermost folder first.
fn context_files(directory: &Path, project: &Path, user: Option<&Path>) -> Vec<ContextFile> {
    let is_inside = directory.starts_with(project);
    let mut folders: Vec<&Path> = directory
        .ancestors()
        .take(MOST_FOLDERS)
        .take_while(|folder| !is_inside || folder.starts_with(project))
        .take(if is_inside { MOST_FOLDERS } else { 1 })
        .collect();
    folders.extend(user);
    folders.reverse();
    let mut found: Vec<ContextFile> = Vec::new();
    for folder in folders {
        for name in CONTEXT_FILES {
            let path = folder.join(name);
            let Some(text) = read(&path) else { continue };
            // Many projects have both, and they say the same.
            if !found.iter().any(|known| known.text == text) {
                found.push(ContextFile { path, text });
            }
        }
    }
    found
}

fn read(path: &Path) -> Option<String> {
    let mut bytes = fs::read(path).ok()?;
    let is_cut = bytes.len() > LONGEST_FILE_BYTES;
    bytes.truncate(LONGEST_FILE_BYTES);
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if is_cut {
        text.push_str("\n(The rest of this file is left out here; read it if you need it.)");
    }
    (!text.trim().is_empty()).then_some(text)
}
