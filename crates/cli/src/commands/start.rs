//! `umbo start`: a job in the background; and what `exec` and `start` have in common.

use std::ffi::OsString;
use std::io::{IsTerminal, Read};
use std::os::unix::fs::MetadataExt;
use std::process::ExitCode;

use umbo_engine::{
    Admission, Attendance, End, JobHandle, Leaks, Login, OutputLimit, OutputPolicy, Profile, Shell,
    Stdin, WaitsFor,
};
use umbo_ops::{Call, ErrorCode, ExecOptions, ExecRequest, OnDisconnect, Seconds, Ticket};

use super::order;
use crate::args::{Limits, OnLeak, OnMaxOutput, Start};
use crate::context::{CallerWords, Context};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::secrets;
use crate::time::ordinal;

pub(crate) fn run(context: &Context, args: Start) -> Result<ExitCode, Failure> {
    let caller = context.caller(&CallerWords {
        mode: args.mode,
        budget: args.budget,
        timeout: args.limits.timeout,
        masking: context.masking(),
    })?;
    let request = request(context, args, true)?;
    let ticket = Ticket::alone();
    let answer = umbo_ops::exec(&Call::new(&caller, &ticket), &request)?;
    if let Ok(job) = context.backend.job(&answer.job) {
        tell_of_queue(&job);
    }
    if let Some(outcome) = &answer.outcome
        && let End::FailedToStart { why } = &outcome.end
    {
        let message = format!("job {} failed to start: {why}", answer.job);
        return Err(Failure::coded(ErrorCode::FailedToStart, None, message));
    }
    match context.format {
        Format::Json => output::json(&answer)?,
        Format::Text => output::line(&answer.job)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Tells a person at a terminal that a job waits for its turn; what looks like a hang is none.
pub(super) fn tell_of_queue(job: &JobHandle) {
    if !output::is_error_terminal() {
        return;
    }
    if let Some(summary) = job.summary()
        && let (Some(place), Some(why)) = (summary.queue_position, &summary.waits_for)
    {
        let allow = match why {
            WaitsFor::Slot => " (UMBO_MAX_RUNNING)",
            _ => "",
        };
        output::talk(format_args!(
            "umbo: {why}{allow}: job {} waits, {} in line",
            job.id(),
            ordinal(place)
        ));
    }
}

/// The request that the words of `exec` and `start` make.
pub(super) fn request(
    context: &Context,
    args: Start,
    background: bool,
) -> Result<ExecRequest, Failure> {
    let here = Context::directory()?;
    let directory = args.cwd.as_ref().map_or_else(|| here.clone(), |cwd| here.join(cwd));
    if let Some(confinement) = &context.settings.confinement {
        confinement.check(&directory, args.cwd.as_deref().unwrap_or(&directory))?;
    }
    let (command, words) = command(&args)?;
    let mut request = ExecRequest { command, argv: words, background, ..ExecRequest::default() };
    for variable in &args.env {
        let (name, value) = variable.split_once('=').ok_or_else(|| {
            Failure::invalid("--env", format_args!("{variable:?} has no '='; write NAME=VALUE"))
        })?;
        let value = secrets::restored(value.into())?;
        request.env.get_or_insert_default().insert(name.to_owned(), value);
    }
    request.options = ExecOptions {
        stdin: stdin(args.stdin.as_deref(), args.pty, background)?,
        size: args.size,
        shell: args.shell.as_deref().map(Shell::parse).transpose()?,
        login: if args.login { Login::Yes } else { Login::No },
        profile: if args.profile { Profile::Snapshot } else { Profile::None },
        leaks: match args.leaks {
            OnLeak::Kill => Leaks::Kill,
            OnLeak::Leave => Leaks::Leave,
        },
        admission: if args.no_queue { Admission::Refuse } else { Admission::Queue },
        attendance: if args.attended { Attendance::Attended } else { Attendance::default() },
        limits: Some(limits(&args.limits)),
        ..ExecOptions::default()
    };
    request.sandbox = args.sandbox.argument();
    request.cwd = args.cwd;
    request.pty = args.pty;
    request.idle_timeout = args.limits.idle_timeout.map(Seconds);
    request.session = args.session;
    request.name = args.name;
    request.idempotency_key = args.idempotency_key;
    request.on_disconnect = Some(OnDisconnect::Detach);
    Ok(request)
}

/// One word is a line for a shell; several are a program and its arguments, unless a shell is
/// named.
fn command(args: &Start) -> Result<(Option<String>, Option<Vec<OsString>>), Failure> {
    order::check(&["exec"], &args.command)?;
    let needs_shell = args.shell.is_some() || args.login || args.session.is_some() || args.profile;
    if args.command.len() > 1 && !needs_shell {
        let words = args.command.iter().map(|word| match word.to_str() {
            Some(text) => Ok(secrets::restored(text.to_owned())?.into()),
            None => Ok(word.clone()),
        });
        return Ok((None, Some(words.collect::<Result<_, Failure>>()?)));
    }
    let line = args.command.join(&OsString::from(" "));
    let text = line.into_string().map_err(|line| {
        let problem = format!("{} is not UTF-8; give it as separate words", line.display());
        Failure::invalid("COMMAND", problem)
    })?;
    Ok((Some(secrets::restored(text)?), None))
}

/// What it reads, if the words say it.
fn stdin(word: Option<&str>, pty: bool, background: bool) -> Result<Option<Stdin>, Failure> {
    Ok(match word {
        // As a shell has it. A terminal cannot be shared with the job, which has a session of its own.
        None if !background && !pty && is_piped() => Some(Stdin::Inherited),
        None => None,
        Some("-") => {
            // A terminal of its own is typed at; and a job in the background cannot share the
            // person's terminal with the shell. Both get what was read to its end.
            if pty || (background && std::io::stdin().is_terminal()) {
                let mut bytes = Vec::new();
                std::io::stdin().lock().read_to_end(&mut bytes)?;
                return Ok(Some(Stdin::Bytes(bytes)));
            }
            Some(Stdin::Inherited)
        }
        Some(text) => Some(match text.strip_prefix('@') {
            Some(path) => Stdin::File(Context::directory()?.join(path)),
            None => Stdin::Bytes(secrets::restored(text.into())?.into_bytes()),
        }),
    })
}

/// Whether standard input is something to read that is no terminal.
fn is_piped() -> bool {
    let null = std::fs::metadata("/dev/null").map(|null| null.rdev()).ok();
    let input = rustix::fs::fstat(rustix::stdio::stdin()).map(|stat| stat.st_rdev).ok();
    !std::io::stdin().is_terminal() && input.is_some() && input != null
}

/// What the words of a command line allow a job, but for its time.
pub(super) fn limits(given: &Limits) -> umbo_engine::Limits {
    let policy = match given.on_max_output {
        OnMaxOutput::KeepEnds => OutputPolicy::KeepEnds,
        OnMaxOutput::Stop => OutputPolicy::Stop,
    };
    let mut limits = umbo_engine::Limits {
        idle: given.idle_timeout.filter(|idle| !idle.is_zero()),
        memory_bytes: given.memory,
        processes: given.pids,
        cpu_percent: given.cpu,
        nice: given.nice,
        ..umbo_engine::Limits::default()
    };
    if let Some(bytes) = given.max_output {
        limits.output = Some(OutputLimit { bytes, policy });
    }
    limits
}
