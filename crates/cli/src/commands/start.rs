//! `umbo start`: a job in the background; and what `exec` and `start` have in common.

use std::ffi::OsString;
use std::io::{IsTerminal, Read};
use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use umbo_engine::{
    Admission, Attendance, Command, Job, Leaks, Login, OutputLimit, OutputPolicy, Profile, Request,
    Session, SessionDirectory, Shell, Status, Stdin,
};

use super::order;
use crate::args::{Limits, OnLeak, OnMaxOutput, Start};
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::output::{self, Format};
use crate::sandbox;
use crate::secrets;
use crate::time::{TimeLimit, ordinal};

pub(crate) fn run(context: &Context, args: Start) -> Result<ExitCode, Failure> {
    let mode = args.mode.or(context.settings.exec.mode);
    let request = request(context, args, Stdin::Open)?;
    let keeper = gate::keeper(context, mode)?;
    let passage = match gate::pass(context, &keeper, &request, None)? {
        Ok(passage) => passage,
        Err(code) => return Ok(code),
    };
    let job = context.engine.start(&request)?;
    passage.started(&job);
    tell_of_queue(&job);
    let status = job.status()?;
    if let Status::Ended(outcome) = &status
        && let umbo_engine::End::FailedToStart { why } = &outcome.end
    {
        return Err(Failure::new(format!("job {} failed to start: {why}", job.id())));
    }
    match context.format {
        Format::Json => output::json(&Started { job: job.id().as_str(), state: status.name() })?,
        Format::Text => output::line(job.id())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Tells a person at a terminal that a job waits for its turn; what looks like a hang is none.
pub(super) fn tell_of_queue(job: &Job) {
    if !std::io::stderr().is_terminal() {
        return;
    }
    if let Some(place) = job.summary().and_then(|summary| summary.queue_position) {
        output::talk(format_args!(
            "umbo: as many jobs run as may (UMBO_MAX_RUNNING): job {} waits, {} in line",
            job.id(),
            ordinal(place)
        ));
    }
}

#[derive(Serialize)]
struct Started<'a> {
    job: &'a str,
    state: &'a str,
}

/// The request that the words of `exec` and `start` make.
pub(super) fn request(
    context: &Context,
    args: Start,
    default_stdin: Stdin,
) -> Result<Request, Failure> {
    let settings = &context.settings;
    let directory = match &args.cwd {
        Some(cwd) => Context::directory()?.join(cwd),
        None => Context::directory()?,
    };
    if let Some(confinement) = &settings.confinement {
        confinement.check(&directory, args.cwd.as_deref().unwrap_or(&directory))?;
    }
    let plan = sandbox::plan(context, &args.sandbox, &directory)?;
    let mut request = Request::new(command(&args, &settings.exec.shell)?, directory);
    request.sandbox = plan;
    request.env = context.environment();
    for variable in &args.env {
        let (name, value) = variable.split_once('=').ok_or_else(|| {
            Failure::invalid("--env", format_args!("{variable:?} has no '='; write NAME=VALUE"))
        })?;
        request.env.set.push((name.into(), secrets::restored(value.into())?.into()));
    }
    if args.attended {
        request.env.attendance = Attendance::Attended;
    }
    request.terminal = args.pty.then(|| args.size.unwrap_or_default());
    request.stdin = stdin(args.stdin.as_deref(), default_stdin, args.pty)?;
    limits(&mut request, &args.limits, settings.exec.timeout);
    request.leaks = match args.leaks {
        OnLeak::Kill => Leaks::Kill,
        OnLeak::Leave => Leaks::Leave,
    };
    request.admission = if args.no_queue { Admission::Refuse } else { Admission::Queue };
    request.profile = if args.profile { Profile::Snapshot } else { Profile::None };
    let directory = match args.cwd {
        Some(_) => SessionDirectory::Change,
        None => SessionDirectory::Continue,
    };
    request.session = args.session.map(|name| Session { name, directory });
    request.name = args.name;
    request.idempotency_key = args.idempotency_key;
    Ok(request)
}

/// One word is a line for a shell; several are a program and its arguments, unless a shell is
/// named.
fn command(args: &Start, usual: &Shell) -> Result<Command, Failure> {
    order::check(&["exec"], &args.command)?;
    let needs_shell = args.shell.is_some() || args.login || args.session.is_some() || args.profile;
    if args.command.len() > 1 && !needs_shell {
        let words = args.command.iter().map(|word| match word.to_str() {
            Some(text) => Ok(secrets::restored(text.to_owned())?.into()),
            None => Ok(word.clone()),
        });
        return Ok(Command::Argv(words.collect::<Result<_, Failure>>()?));
    }
    let line = args.command.join(&OsString::from(" "));
    let text = line.into_string().map_err(|line| {
        let problem = format!("{} is not UTF-8; give it as separate words", line.display());
        Failure::invalid("COMMAND", problem)
    })?;
    let text = secrets::restored(text)?;
    let shell = match &args.shell {
        Some(name) => Shell::parse(name)?,
        None if args.session.is_some() || args.profile => Shell::Bash,
        None => usual.clone(),
    };
    let login = if args.login { Login::Yes } else { Login::No };
    Ok(Command::Shell { text, shell, login })
}

fn stdin(word: Option<&str>, default: Stdin, pty: bool) -> Result<Stdin, Failure> {
    match word {
        None => Ok(default),
        Some("-") => {
            // A terminal of its own is typed at; and a job in the background cannot share the
            // person's terminal with the shell. Both get what was read to its end.
            let in_background = default == Stdin::Open;
            if pty || (in_background && std::io::stdin().is_terminal()) {
                let mut bytes = Vec::new();
                std::io::stdin().lock().read_to_end(&mut bytes)?;
                return Ok(Stdin::Bytes(bytes));
            }
            Ok(Stdin::Inherited)
        }
        Some(text) => Ok(match text.strip_prefix('@') {
            Some(path) => Stdin::File(Context::directory()?.join(path)),
            None => Stdin::Bytes(secrets::restored(text.into())?.into_bytes()),
        }),
    }
}

/// What the words of a command line allow a job; `usual` is how long it may take that they do not say.
pub(super) fn limits(request: &mut Request, given: &Limits, usual: Option<Duration>) {
    request.limits.wall = TimeLimit::or(given.timeout, usual);
    request.limits.idle = given.idle_timeout;
    request.limits.memory_bytes = given.memory;
    request.limits.processes = given.pids;
    request.limits.cpu_percent = given.cpu;
    request.limits.nice = given.nice;
    if let Some(bytes) = given.max_output {
        let policy = match given.on_max_output {
            OnMaxOutput::KeepEnds => OutputPolicy::KeepEnds,
            OnMaxOutput::Stop => OutputPolicy::Stop,
        };
        request.limits.output = Some(OutputLimit { bytes, policy });
    }
}
