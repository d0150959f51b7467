//! MCP servers that an editor lends to a session.

use std::ffi::OsString;
use std::path::Path;

use serde::Deserialize;
use umbo_mcp::remote::{RemoteServer, RemoteTransport};

use crate::context::Context;
use crate::mcp_servers::START_TIMEOUT;

/// A server, as `session/new` has it. One without a type is a program.
#[derive(Debug, Deserialize)]
pub(super) struct LentServer {
    name: String,
    r#type: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Vec<Pair>,
    url: Option<String>,
    #[serde(default)]
    headers: Vec<Pair>,
}

#[derive(Debug, Deserialize)]
struct Pair {
    name: String,
    value: String,
}

/// The servers of a session; what is wrong with them.
pub(super) fn servers(
    lent: Vec<LentServer>,
    context: &Context,
    directory: &Path,
) -> Result<Vec<RemoteServer>, String> {
    let mut servers: Vec<RemoteServer> = Vec::new();
    for (at, server) in lent.into_iter().enumerate() {
        let wrong = |problem: String| format!("mcpServers[{at}] ({}): {problem}", server.name);
        let name = usable_name(&server.name, |name| servers.iter().any(|one| one.name == name));
        let transport = match (server.r#type.as_deref(), server.command, server.url) {
            (None | Some("stdio"), Some(command), _) => {
                let mut environment = context.variables();
                for Pair { name, value } in server.env {
                    environment.retain(|(known, _)| known.to_str() != Some(&name));
                    environment.push((OsString::from(name), OsString::from(value)));
                }
                let (args, directory) = (server.args, directory.to_owned());
                RemoteTransport::Stdio { command, args, environment, directory }
            }
            (None | Some("stdio"), None, _) => {
                return Err(wrong("a program needs \"command\"".to_owned()));
            }
            (Some("http"), _, Some(url)) => {
                let pair = |pair: Pair| (pair.name, pair.value);
                RemoteTransport::Http {
                    url,
                    headers: server.headers.into_iter().map(pair).collect(),
                }
            }
            (Some("http"), _, None) => return Err(wrong("http needs \"url\"".to_owned())),
            (Some(other), ..) => {
                return Err(wrong(format!("type {other:?} was given; accepted: stdio, http")));
            }
        };
        servers.push(RemoteServer { name, transport, timeout: START_TIMEOUT });
    }
    Ok(servers)
}

/// A name that tools can have in theirs: editors allow any text.
fn usable_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let good = |c: char| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' };
    let mut usable: String = name.chars().map(good).take(90).collect();
    if usable.is_empty() {
        usable.push_str("server");
    }
    let mut candidate = usable.clone();
    let mut number = 2;
    while is_taken(&candidate) {
        candidate = format!("{usable}-{number}");
        number += 1;
    }
    candidate
}

#[cfg(test)]
mod tests {
    use super::usable_name;

    #[test]
    fn any_name_becomes_one_that_tools_can_have_and_no_two_are_alike() {
        assert_eq!(usable_name("files", |_| false), "files");
        assert_eq!(usable_name("My files!", |_| false), "My_files_");
        assert_eq!(usable_name("", |_| false), "server");
        assert_eq!(usable_name("a", |name| name == "a" || name == "a-2"), "a-3");
    }
}
