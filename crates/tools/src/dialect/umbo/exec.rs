//! `exec`: a command, for as long as its caller waits.

use std::ffi::OsString;
use std::time::Duration;

use serde_json::Value;
use umbo_engine::{
    Command, Login, OnDisconnect, OutputLimit, OutputPolicy, Request, Session, SessionDirectory,
    Shell, Size, Stdin,
};

use super::{ended, running};
use crate::answer::{Answer, ToolError};
use crate::arguments::{Arguments, whole};
use crate::call::{Call, Ran};

/// How long an answer may take; most clients give up on a call after 60 s.
const YIELD: Duration = Duration::from_secs(40);

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let request = request(call, arguments)?;
    let ran = if arguments.flag("background") {
        Ran::Running(call.start(&request)?)
    } else {
        call.run(&request, arguments.seconds("yield").unwrap_or(YIELD))?
    };
    let budget = call.budget(arguments.count("max_output_tokens"));
    Ok(match ran {
        Ran::Ended(job, outcome) => {
            let view = call.view(&job, 0, None, budget)?;
            ended(call, &job, &outcome, &view)
        }
        Ran::Running(job) => {
            let view = call.view(&job, 0, None, budget)?;
            match job.status()? {
                umbo_engine::Status::Ended(outcome) => ended(call, &job, &outcome, &view),
                status => running(&job, &status, &view),
            }
        }
    })
}

fn request(call: &Call<'_>, arguments: &Arguments) -> Result<Request, ToolError> {
    let cwd = arguments.text("cwd");
    let mut request = call.request("", cwd);
    request.command = command(call, arguments)?;
    for (name, value) in arguments.pairs("env") {
        request.env.set.push((name.into(), value.into()));
    }
    let background = arguments.flag("background");
    request.stdin = match arguments.text("stdin") {
        Some(text) => Stdin::Bytes(text.as_bytes().to_vec()),
        // What runs on its own can be given input later.
        None if background => Stdin::Open,
        None => Stdin::None,
    };
    request.terminal = arguments.flag("pty").then(Size::default);
    request.limits.wall = arguments.seconds("timeout").or(call.tools.timeout);
    request.limits.idle = arguments.seconds("idle_timeout");
    limits(&mut request, arguments.get("limits"));
    let directory =
        if cwd.is_some() { SessionDirectory::Change } else { SessionDirectory::Continue };
    request.session =
        arguments.text("session").map(|name| Session { name: name.to_owned(), directory });
    request.name = arguments.text("name").map(str::to_owned);
    request.idempotency_key = arguments.text("idempotency_key").map(str::to_owned);
    request.on_disconnect = match arguments.text("on_disconnect") {
        Some("stop") => OnDisconnect::Stop,
        Some(_) => OnDisconnect::Detach,
        None if background => OnDisconnect::Detach,
        None => OnDisconnect::Stop,
    };
    Ok(request)
}

fn command(call: &Call<'_>, arguments: &Arguments) -> Result<Command, ToolError> {
    let session = arguments.text("session").is_some();
    match (arguments.text("command"), arguments.texts("argv")) {
        (Some(line), None) => {
            let Command::Shell { text, shell, .. } = call.request(line, None).command else {
                return Err(ToolError::argument("command", "it needs a shell"));
            };
            // Only bash can be left and come back to.
            let shell = if session { Shell::Bash } else { shell };
            Ok(Command::Shell { text, shell, login: Login::No })
        }
        (None, Some(_)) if session => Err(ToolError::argument(
            "session",
            "it was given with argv; accepted: a session with `command`, which its shell reads",
        )),
        (None, Some(words)) => Ok(Command::Argv(words.into_iter().map(OsString::from).collect())),
        (None, None) => Err(ToolError::argument(
            "command",
            "nothing was given; accepted: `command`, a line for the shell, or `argv`, a list",
        )),
        (Some(_), Some(_)) => Err(ToolError::argument(
            "argv",
            "it was given beside `command`; accepted: one of the two",
        )),
    }
}

fn limits(request: &mut Request, given: Option<&Value>) {
    let number = |name: &str| given.and_then(|limits| limits.get(name)).and_then(whole);
    request.limits.memory_bytes = number("memory_bytes");
    request.limits.processes = number("processes");
    request.limits.cpu_percent =
        number("cpu_percent").map(|percent| u32::try_from(percent).unwrap_or(u32::MAX));
    request.limits.nice = given
        .and_then(|limits| limits.get("nice"))
        .and_then(Value::as_i64)
        .and_then(|nice| i32::try_from(nice).ok());
    if let Some(bytes) = number("output_bytes") {
        request.limits.output = Some(OutputLimit { bytes, policy: OutputPolicy::KeepEnds });
    }
}
