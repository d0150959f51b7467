//! What is written into a client's configuration: how to start umbo's server.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::failure::Failure;

/// A server as clients know it.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    /// The key it has in the client's table.
    pub(crate) name: String,
    pub(crate) command: String,
    pub(crate) arguments: Vec<String>,
}

/// A value in an entry. No client needs more than these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Field {
    Text(String),
    List(Vec<String>),
    Flag(bool),
    Number(u64),
}

impl Field {
    /// The same as JSON.
    pub(crate) fn json(&self) -> Value {
        match self {
            Self::Text(text) => Value::from(text.as_str()),
            Self::List(items) => Value::from(items.as_slice()),
            Self::Flag(flag) => Value::from(*flag),
            Self::Number(number) => Value::from(*number),
        }
    }
}

/// A name that every client takes for a server.
pub(crate) fn parse_name(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if text.is_empty() || text.len() > 64 || !text.chars().all(fits) {
        return Err("a server's name has 1 to 64 letters, digits, `_` and `-`".to_owned());
    }
    Ok(text.to_owned())
}

/// How a program is written down that a search finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// By its name, for who searches as this shell does, and for files that others get too.
    Short,
    /// By where it was found, for who searches elsewhere.
    Path,
}

/// How to start the umbo that runs now: as `naming` says if that is what a search finds, else by its
/// own path.
pub(crate) fn command(search_path: &OsStr, naming: Naming) -> Result<String, Failure> {
    let cannot = |why: &dyn std::fmt::Display| {
        Failure::new(format!("cannot tell where this umbo is, so nobody could start it: {why}"))
    };
    let mut own = own().map_err(|error| cannot(&error))?;
    let on_path = entry(search_path, "umbo");
    if let Some(path) = on_path.filter(|path| path.canonicalize().is_ok_and(|path| path == own)) {
        match naming {
            Naming::Short => return Ok("umbo".to_owned()),
            // A link stays where it is when what it leads to is replaced by a newer one.
            Naming::Path => own = path,
        }
    }
    own.to_str().map(str::to_owned).ok_or_else(|| {
        cannot(&format_args!("{} is not UTF-8; move it, or put it on PATH", own.display()))
    })
}

/// The program that runs now, without links.
fn own() -> io::Result<PathBuf> {
    env::current_exe()?.canonicalize()
}

/// The program of that name on a search path, without links.
pub(crate) fn found(search_path: &OsStr, name: &str) -> Option<PathBuf> {
    entry(search_path, name)?.canonicalize().ok()
}

/// The program of that name on a search path, as it is found there.
fn entry(search_path: &OsStr, name: &str) -> Option<PathBuf> {
    // Where a relative entry leads depends on who asks from where.
    env::split_paths(search_path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

/// Whether an entry starts a server of umbo: of any program called so, or of the one that runs now.
pub(crate) fn is_umbo(entry: &Value) -> bool {
    let words = words(entry);
    let Some(program) = words.first().map(Path::new) else { return false };
    let is_called_so = program.file_name().is_some_and(|name| name == "umbo");
    (is_called_so || own().is_ok_and(|own| own == program))
        && words.iter().any(|word| word == "mcp")
}

/// The command line in an entry, whatever the client calls its parts.
pub(crate) fn words(entry: &Value) -> Vec<String> {
    let texts = |value: &Value| -> Vec<String> {
        match value {
            Value::String(text) => vec![text.clone()],
            Value::Array(items) => {
                items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
            }
            _ => Vec::new(),
        }
    };
    ["command", "cmd", "args"].iter().flat_map(|key| texts(&entry[*key])).collect()
}

/// What an entry that is not umbo's starts, in words.
pub(super) fn summary(entry: &Value) -> String {
    let words = words(entry);
    if words.is_empty() { "it starts no program".to_owned() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_of_umbo_is_told_from_others_in_every_shape() {
        for entry in [
            json!({"command": "umbo", "args": ["mcp"]}),
            json!({"command": ["/opt/umbo", "mcp", "--dialect", "codex"]}),
            json!({"cmd": "/x/umbo", "args": ["--state-dir", "/s", "mcp"]}),
        ] {
            assert!(is_umbo(&entry), "{entry}");
        }
        for entry in [
            json!({"command": "npx", "args": ["umbo", "mcp"]}),
            json!({"url": "https://a.example/mcp"}),
            json!({"command": "umbo", "args": ["exec", "x"]}),
            json!({}),
        ] {
            assert!(!is_umbo(&entry), "{entry}");
        }
    }

    #[test]
    fn names_are_what_every_client_takes() {
        assert_eq!(parse_name("umbo-2_x").as_deref(), Ok("umbo-2_x"));
        for name in ["", "a b", "a.b", "\"", "ü", &"x".repeat(65)] {
            assert!(parse_name(name).is_err(), "{name:?}");
        }
    }
}
