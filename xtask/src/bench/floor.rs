//! Servers that do as little as one can: what a call over MCP takes whatever the server is, and what
//! it takes with a job that is kept.

use std::env;
use std::io::BufRead;
use std::path::Path;

use serde_json::{Value, json};
use umbo_engine::{Engine, Environment, Request};

use super::bare_output;
use crate::failure::{Done, Failure};
use crate::workspace::say;

/// Answers calls with what their command wrote: run by this process, or as a job of a state directory.
pub(crate) fn serve(words: &[&str]) -> Done {
    let engine = match words {
        [] => None,
        [umbo, state] => {
            let engine = Engine::builder(*state).supervisor(umbo).open();
            Some(engine.map_err(Failure::at("umbo"))?)
        }
        _ => return Err(Failure::new("usage: cargo xtask bench floor [UMBO STATE]")),
    };
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(Failure::at("standard input"))?;
        let message: Value = serde_json::from_str(&line).map_err(Failure::at("a message"))?;
        let Some(id) = message.get("id") else { continue };
        let result = match message["method"].as_str() {
            Some("tools/call") => {
                let command = message["params"]["arguments"]["command"].as_str();
                let text = run(engine.as_ref(), command.unwrap_or_default())?;
                json!({"content": [{"type": "text", "text": text}]})
            }
            _ => json!({}),
        };
        say(json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }
    Ok(())
}

fn run(engine: Option<&Engine>, line: &str) -> Done<String> {
    let output = match engine {
        None => bare_output(line)?,
        Some(engine) => {
            let mut request = Request::shell(line, Path::new("/"));
            request.env = Environment { base: env::vars_os().collect(), ..Environment::default() };
            let (job, _) = engine.run(&request).map_err(Failure::at("umbo"))?;
            std::fs::read(job.output_path()).map_err(Failure::at(job.id()))?
        }
    };
    Ok(String::from_utf8_lossy(&output).into_owned())
}
