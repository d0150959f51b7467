//! `exec`: a command, for as long as its caller waits.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::Value;
use umbo_engine::{
    Command, Login, OnDisconnect, OutputLimit, OutputPolicy, Request, Session, SessionDirectory,
    Shell, Size, Stdin,
};

use super::{ended, running};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::{Call, Ran};

/// How long an answer may take; most clients give up on a call after 60 s.
pub(super) const YIELD: Duration = Duration::from_secs(40);

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let request = request(call, arguments)?;
    let ran = if arguments.flag("background") {
        Ran::Running(call.start(&request)?)
    } else {
        call.run(&request, arguments.seconds("yield").unwrap_or(YIELD))?
    };
    answer(call, arguments, &ran)
}

/// What became of a command, with its output.
pub(super) fn answer(
    call: &Call<'_>,
    arguments: &Arguments,
    ran: &Ran,
) -> Result<Answer, ToolError> {
    let budget = call.budget(arguments.count("max_output_tokens"));
    Ok(match ran {
        Ran::Ended(job, outcome) => ended(call, job, outcome, &call.whole_view(job, budget)?),
        Ran::Running(job) => {
            let view = call.view(job, 0, None, budget)?;
            match job.status()? {
                umbo_engine::Status::Ended(outcome) => ended(call, job, &outcome, &view),
                status => running(job, &status, &view),
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
    limits(&mut request, arguments.get("limits"))?;
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

/// What may be limited, and the numbers it takes. The schema only has the names: a model pays for
/// every byte of it.
const LIMITS: [(&str, RangeInclusive<i64>); 5] = [
    ("memory_bytes", 1..=i64::MAX),
    ("processes", 1..=i64::MAX),
    ("cpu_percent", 1..=u32::MAX as i64),
    ("nice", -20..=19),
    ("output_bytes", 1..=i64::MAX),
];

/// Takes the limits that a caller gives.
pub(super) fn limits(request: &mut Request, given: Option<&Value>) -> Result<(), ToolError> {
    let limits = &mut request.limits;
    for (name, value) in given.and_then(Value::as_object).into_iter().flatten() {
        let field = format!("limits.{name}");
        let Some((_, accepted)) = LIMITS.iter().find(|(known, _)| known == name) else {
            let names = LIMITS.map(|(name, _)| name).join(" ");
            let message = format!("an unknown field was given; accepted: {names}");
            return Err(ToolError::argument(&field, message));
        };
        let (least, most) = (accepted.start(), accepted.end());
        let number = integer(value).filter(|number| accepted.contains(number));
        let number = number.ok_or_else(|| {
            let range =
                if *most >= i64::from(u32::MAX) { "up".into() } else { format!("to {most}") };
            let message =
                format!("{value} was given; accepted: a whole number from {least} {range}");
            ToolError::argument(&field, message)
        })?;
        let count = u64::try_from(number).unwrap_or(0);
        match name.as_str() {
            "memory_bytes" => limits.memory_bytes = Some(count),
            "processes" => limits.processes = Some(count),
            "cpu_percent" => limits.cpu_percent = u32::try_from(number).ok(),
            "nice" => limits.nice = i32::try_from(number).ok(),
            _ => {
                let policy = OutputPolicy::KeepEnds;
                limits.output = Some(OutputLimit { bytes: count, policy });
            }
        }
    }
    Ok(())
}

/// A whole number, also if it was written as -3.0.
fn integer(value: &Value) -> Option<i64> {
    let written = || value.as_f64().filter(|number| number.fract() == 0.0);
    value.as_i64().or_else(|| format!("{:.0}", written()?).parse().ok())
}
