//! The MCP servers of the configuration: `mcp.json` of the user, and `.umbo/mcp.json` of the project,
//! which counts once somebody trusts it. Their form is the one that other clients have.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use umbo_gate::{DIRECTORY, Key, Snapshot, Trust, TrustStore, project_of};
use umbo_mcp::remote::{RemoteServer, RemoteTransport, is_server_name};

use crate::context::Context;

const FILE: &str = "mcp.json";
/// How long a server may take to be ready, unless it says something else.
pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(30);

/// What there is.
#[derive(Default)]
pub(crate) struct Found {
    /// Servers that the user wants.
    pub(crate) servers: Vec<RemoteServer>,
    /// Servers that the project wants, in a file that nobody trusts.
    pub(crate) untrusted: Vec<RemoteServer>,
    /// That file.
    pub(crate) untrusted_file: PathBuf,
    /// What is wrong with the files.
    pub(crate) problems: Vec<String>,
}

/// A file, as it is written.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    #[serde(default)]
    mcp_servers: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    disabled_servers: Vec<String>,
}

#[derive(Deserialize)]
struct Entry {
    r#type: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<PathBuf>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    enabled: Option<bool>,
    /// In milliseconds.
    timeout: Option<u64>,
}

/// Looks for servers, for somebody who works in a directory.
pub(crate) fn find(context: &Context, directory: &Path) -> Found {
    let mut found = Found::default();
    let user = Context::configuration().ok();
    let mut disabled = Vec::new();
    if let Some(path) = user.as_ref().map(|user| user.join(FILE))
        && let Ok(bytes) = fs::read(&path)
    {
        let reader = Reader { context, path: &path, directory };
        if let Some(file) = reader.file(&bytes, &mut found.problems) {
            disabled.clone_from(&file.disabled_servers);
            found.servers = reader.servers(file, &mut found.problems);
        }
    }
    let project = project_of(directory);
    if let Some((bytes, trust)) = project_file(&project, user.as_deref()) {
        let path = project.join(DIRECTORY).join(FILE);
        let reader = Reader { context, path: &path, directory: &project };
        let file = reader.file(&bytes, &mut found.problems);
        let mut servers =
            file.map(|file| reader.servers(file, &mut found.problems)).unwrap_or_default();
        // What the user says of a name counts.
        servers.retain(|server| !found.servers.iter().any(|known| known.name == server.name));
        match trust {
            Trust::Trusted => found.servers.extend(servers),
            Trust::Untrusted => found.untrusted = servers,
        }
        found.untrusted_file = path;
    }
    found.servers.retain(|server| !disabled.contains(&server.name));
    found.untrusted.retain(|server| !disabled.contains(&server.name));
    found
}

/// The project's file as it was read once, and whether the user trusts it.
fn project_file(project: &Path, user: Option<&Path>) -> Option<(Vec<u8>, Trust)> {
    project.join(DIRECTORY).join(FILE).symlink_metadata().ok()?;
    let snapshot = Snapshot::read(project).ok()?;
    let states = user
        .and_then(|user| {
            TrustStore::open(user, Key::open(user).ok()?).file_states(project, &snapshot).ok()
        })
        .unwrap_or_default();
    let (bytes, trust) = snapshot.file(FILE, &states)?;
    Some((bytes.to_vec(), trust))
}

/// Reads one file.
struct Reader<'a> {
    context: &'a Context,
    path: &'a Path,
    /// Where its servers run.
    directory: &'a Path,
}

impl Reader<'_> {
    fn file(&self, bytes: &[u8], problems: &mut Vec<String>) -> Option<File> {
        match serde_json::from_slice(bytes) {
            Ok(file) => Some(file),
            Err(error) => {
                problems.push(format!("{}: {error}", self.path.display()));
                None
            }
        }
    }

    fn servers(&self, file: File, problems: &mut Vec<String>) -> Vec<RemoteServer> {
        let mut servers = Vec::new();
        for (name, value) in file.mcp_servers {
            let read = serde_json::from_value::<Entry>(value).map_err(|error| error.to_string());
            match read.and_then(|entry| self.server(&name, entry)) {
                Ok(server) => servers.extend(server),
                Err(problem) => {
                    problems.push(format!("{}: server {name:?}: {problem}", self.path.display()));
                }
            }
        }
        servers
    }

    /// A server; nothing if it is switched off.
    fn server(&self, name: &str, entry: Entry) -> Result<Option<RemoteServer>, String> {
        if !is_server_name(name) {
            return Err("a name has 1 to 100 of the characters a-z A-Z 0-9 _ . -".to_owned());
        }
        if entry.enabled == Some(false) {
            return Ok(None);
        }
        let timeout = entry.timeout.map_or(START_TIMEOUT, Duration::from_millis);
        let transport = match (entry.r#type.as_deref(), entry.command, entry.url) {
            (_, Some(_), Some(_)) => {
                return Err("both \"command\" and \"url\" are set; accepted: one".to_owned());
            }
            (None | Some("stdio"), Some(command), None) => {
                let mut environment = self.context.variables();
                for (name, value) in entry.env {
                    let value = resolve(&value)?;
                    environment.retain(|(known, _)| known.to_str() != Some(&name));
                    environment.push((OsString::from(name), OsString::from(value)));
                }
                let directory =
                    entry.cwd.map_or_else(|| self.directory.into(), |cwd| self.directory.join(cwd));
                let args = entry.args.iter().map(|word| expand(word)).collect::<Result<_, _>>()?;
                RemoteTransport::Stdio { command: expand(&command)?, args, environment, directory }
            }
            (None | Some("stdio"), None, _) => {
                let hint = "stdio server requires \"command\" field; a server with an address has \
                            \"type\": \"http\"";
                return Err(hint.to_owned());
            }
            (Some("http" | "streamable-http"), None, Some(url)) => {
                let header = |(name, value): (String, String)| Ok((name, resolve(&value)?));
                let headers =
                    entry.headers.into_iter().map(header).collect::<Result<_, String>>()?;
                RemoteTransport::Http { url: expand(&url)?, headers }
            }
            (Some("http" | "streamable-http"), ..) => {
                return Err("http server requires \"url\" field".to_owned());
            }
            (Some("sse"), ..) => {
                let hint = "type \"sse\" is the old transport; accepted: stdio, http";
                return Err(hint.to_owned());
            }
            (Some(other), ..) => {
                return Err(format!("type {other:?} was given; accepted: stdio, http"));
            }
        };
        Ok(Some(RemoteServer { name: name.to_owned(), transport, timeout }))
    }
}

/// A value of `env` or `headers`: the name of a variable that is set, or a text.
fn resolve(value: &str) -> Result<String, String> {
    if value.starts_with('!') {
        return Err("a value that is a command (`!…`) is not run; name a variable".to_owned());
    }
    let is_name = value.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && value.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    match env::var(value) {
        Ok(held) if is_name && !held.is_empty() => Ok(held),
        _ => expand(value),
    }
}

/// A text with `${NAME}` and `${NAME:-default}` filled in.
fn expand(text: &str) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        filled.push_str(&rest[..start]);
        let Some(end) = rest[start..].find('}') else { break };
        let inner = &rest[start + 2..start + end];
        let (name, preset) = match inner.split_once(":-") {
            Some((name, preset)) => (name, Some(preset)),
            None => (inner, None),
        };
        match (env::var(name).ok().filter(|held| !held.is_empty()), preset) {
            (Some(held), _) => filled.push_str(&held),
            (None, Some(preset)) => filled.push_str(preset),
            (None, None) => return Err(format!("the variable {name} is not set")),
        }
        rest = &rest[start + end + 1..];
    }
    filled.push_str(rest);
    Ok(filled)
}
