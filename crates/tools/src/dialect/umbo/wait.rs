//! `wait`: until one thing is true.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use regex::bytes::Regex;
use serde_json::{Value, json};
use umbo_engine::{Condition, Met, Status};

use super::{ended, reason, running};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

/// How long an answer may take; most clients give up on a call after 60 s.
const PATIENCE: Duration = Duration::from_secs(40);

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let conditions = conditions(call, arguments)?;
    let job = call.job(arguments.text("job").unwrap_or_default())?;
    let patience = arguments.seconds("timeout").unwrap_or(PATIENCE);
    let met = call.wait(&job, conditions, patience)?;
    let budget = call.budget(arguments.count("max_output_tokens"));
    let view = call.view(&job, arguments.count("from").unwrap_or(0), None, budget)?;
    let mut answer = match job.status()? {
        Status::Ended(outcome) => ended(call, &job, &outcome, &view),
        status => running(&job, &status, &view),
    };
    answer.structured["reason"] = json!(reason(&met));
    if let Met::Match { offset, text } = met {
        answer.structured["offset"] = json!(offset);
        answer.structured["text"] = json!(String::from_utf8_lossy(&text));
    }
    Ok(answer)
}

fn conditions(call: &Call<'_>, arguments: &Arguments) -> Result<Vec<Condition>, ToolError> {
    let mut conditions = Vec::new();
    if let Some(pattern) = arguments.text("match") {
        let pattern = Regex::new(pattern).map_err(|error| {
            ToolError::argument("match", format!("{pattern:?} is no pattern: {error}"))
        })?;
        conditions.push(Condition::Match { pattern, from: arguments.count("from").unwrap_or(0) });
    }
    if let Some(port) = arguments.get("port") {
        conditions.push(Condition::Port(address(port)?));
    }
    if let Some(file) = arguments.text("file") {
        let path = std::path::absolute(call.directory(Some(file)))?;
        conditions.push(Condition::File(path));
    }
    if let Some(quiet) = arguments.seconds("quiet") {
        conditions.push(Condition::Quiet(quiet));
    }
    if conditions.is_empty() {
        conditions.push(Condition::Exit);
    }
    Ok(conditions)
}

fn address(given: &Value) -> Result<SocketAddr, ToolError> {
    let text = given.as_str().map_or_else(|| given.to_string(), str::to_owned);
    text.parse::<u16>()
        .map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port))
        .or_else(|_| text.parse())
        .map_err(|_| {
            ToolError::argument(
                "port",
                format!("{given} was given; accepted: a port, as 8080 or \"127.0.0.1:8080\""),
            )
        })
}
