//! `umbo start`: a job in the background; and what `exec` and `start` have in common.

use std::ffi::OsString;
use std::io::{IsTerminal, Read};
use std::os::unix::fs::MetadataExt;
use std::process::ExitCode;
use std::sync::Arc;

use umbo_engine::{
    Admission, AfterEnd, Attendance, End, JobHandle, Leaks, Login, NameUse, OutputLimit,
    OutputPolicy, Profile, Shell, Stdin, WaitsFor,
};
use umbo_gate::Mode;
use umbo_ops::{Call, Caller, ErrorCode, ExecOptions, ExecRequest, OnDisconnect, Seconds, Ticket};

use super::{exit_code, order, remark};
use crate::args::{Limits, OnLeak, OnMaxOutput, Start, StartInBackground, Surroundings};
use crate::attach;
use crate::context::{CallerWords, Context, Masking};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::secrets;
use crate::time::ordinal;

pub(crate) fn run(context: &Context, args: StartInBackground) -> Result<ExitCode, Failure> {
    let StartInBackground { attach: is_attached, start: mut args } = args;
    if is_attached {
        if !attach::is_at_terminal() || context.format == Format::Json {
            let way_out = "it needs a terminal; without one, use `umbo input` and `umbo screen`";
            return Err(Failure::invalid("--attach", way_out));
        }
        args.surroundings.pty = true;
    }
    let caller = Arc::new(context.caller(&CallerWords {
        mode: args.mode,
        budget: args.budget,
        timeout: args.limits.timeout,
        masking: context.masking(),
    })?);
    let notify = notification(context, &args)?;
    let mut request = request(context, args, true)?;
    if is_attached {
        request.options.size = request.options.size.or_else(attach::window);
        request.options.attendance = Attendance::Attended;
    }
    let ticket = Ticket::alone();
    let answer = umbo_ops::exec(&Call::new(&caller, &ticket), &request)?;
    if let Ok(job) = context.backend.job(&answer.job) {
        notify.start(&job);
        if is_attached {
            return sit_down(&caller, &job);
        }
    }
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

/// Joins the person's terminal to the one of a job that was just started.
fn sit_down(caller: &Arc<Caller>, job: &JobHandle) -> Result<ExitCode, Failure> {
    tell_of_queue(job);
    super::exec::sit_down(caller, job)?;
    let Some(outcome) = job.outcome()? else { return Ok(ExitCode::SUCCESS) };
    if let Some(remark) = remark(&outcome) {
        output::talk(format_args!("umbo: {remark} (job {})", job.id()));
    }
    Ok(exit_code(&outcome))
}

/// What is to run when a job has ended: a job of its own, which waits for that end and so needs nobody
/// who waits with it.
pub(super) struct Notification {
    context: Context,
    line: Option<String>,
    mode: Option<Mode>,
}

pub(super) fn notification(context: &Context, args: &Start) -> Result<Notification, Failure> {
    let line = args.turn.notify.clone().map(secrets::restored).transpose()?;
    if line.as_deref().is_some_and(|line| line.trim().is_empty()) {
        return Err(Failure::invalid(
            "--notify",
            "it is empty; give a line to run, or leave it out",
        ));
    }
    Ok(Notification { context: context.clone(), line, mode: args.mode })
}

impl Notification {
    /// Starts it. The job runs in any case: what goes wrong here is told, and no more.
    pub(super) fn start(&self, job: &JobHandle) {
        if let Err(failure) = self.try_start(job) {
            output::talk(format_args!("umbo: --notify: {failure}"));
        }
    }

    fn try_start(&self, job: &JobHandle) -> Result<(), Failure> {
        let Some(line) = &self.line else { return Ok(()) };
        let words =
            CallerWords { mode: self.mode, masking: Masking::Nothing, ..CallerWords::default() };
        let caller = self.context.caller(&words)?;
        let ticket = Ticket::alone();
        let labels = [(NOTIFIES_OF.to_owned(), job.id().to_string())];
        let options = ExecOptions {
            after: vec![(job.id().to_string(), AfterEnd::Any)],
            labels: labels.into(),
            ..ExecOptions::default()
        };
        let request = ExecRequest {
            command: Some(line.clone()),
            background: true,
            on_disconnect: Some(OnDisconnect::Detach),
            options,
            ..ExecRequest::default()
        };
        umbo_ops::exec(&Call::new(&caller, &ticket), &request)?;
        Ok(())
    }
}

/// The label of a job that tells of the end of another one.
const NOTIFIES_OF: &str = "notifies_of";

/// Tells a person at a terminal that a job waits for its turn; what looks like a hang is none.
pub(super) fn tell_of_queue(job: &JobHandle) {
    if !output::is_error_terminal() {
        return;
    }
    if let Some(summary) = job.summary()
        && let Some(why) = &summary.waits_for
    {
        let allow = match why {
            WaitsFor::Slot => " (UMBO_MAX_RUNNING)".to_owned(),
            WaitsFor::Group { name } => format!(" (`umbo groups {name} --limit N`)"),
            _ => String::new(),
        };
        let place = summary.queue_position.map(|place| format!(", {} in line", ordinal(place)));
        let place = place.unwrap_or_default();
        output::talk(format_args!("umbo: {why}{allow}: job {} waits{place}", job.id()));
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
    for (name, value) in variables(&args.env)? {
        request.env.get_or_insert_default().insert(name, value);
    }
    let Surroundings { shell, login, profile, pty, size, attended } = args.surroundings;
    request.options = ExecOptions {
        stdin: stdin(args.stdin.as_deref(), pty, background)?,
        size,
        shell: shell.as_deref().map(Shell::parse).transpose()?,
        login: if login { Login::Yes } else { Login::No },
        profile: if profile { Profile::Snapshot } else { Profile::None },
        leaks: match args.leaks {
            OnLeak::Kill => Leaks::Kill,
            OnLeak::Leave => Leaks::Leave,
        },
        admission: if args.turn.no_queue { Admission::Refuse } else { Admission::Queue },
        attendance: if attended { Attendance::Attended } else { Attendance::default() },
        limits: Some(limits(&args.limits)),
        after: args.turn.after.iter().map(|word| after(context, word)).collect::<Result<_, _>>()?,
        group: args.turn.group,
        name_use: if args.replace { NameUse::Replace } else { NameUse::Unique },
        ..ExecOptions::default()
    };
    request.sandbox = args.sandbox.argument();
    request.cwd = args.cwd;
    request.pty = pty;
    request.idle_timeout = args.limits.idle_timeout.map(Seconds);
    request.session = args.session;
    request.name = args.name;
    request.idempotency_key = args.idempotency_key;
    request.on_disconnect = Some(OnDisconnect::Detach);
    Ok(request)
}

/// Variables, as NAME=VALUE.
pub(super) fn variables(words: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let variable = |word: &String| {
        let (name, value) = word.split_once('=').ok_or_else(|| {
            Failure::invalid("--env", format_args!("{word:?} has no '='; write NAME=VALUE"))
        })?;
        Ok((name.to_owned(), secrets::restored(value.into())?))
    };
    words.iter().map(variable).collect()
}

/// A job to wait for, and how it must have ended.
fn after(context: &Context, word: &str) -> Result<(String, AfterEnd), Failure> {
    if let Some(job) = word.strip_suffix(":ok") {
        return Ok((job.to_owned(), AfterEnd::Ok));
    }
    // A name may have a colon of its own.
    if let Some((job, how)) = word.rsplit_once(':')
        && context.backend.job(word).is_err()
    {
        let way_out = format!("write {job}:ok to start only if it ends well, or {job} for any end");
        return Err(Failure::invalid("--after", format_args!("no job ends {how:?}; {way_out}")));
    }
    Ok((word.to_owned(), AfterEnd::Any))
}

/// One word is a line for a shell; several are a program and its arguments, unless a shell is
/// named.
fn command(args: &Start) -> Result<(Option<String>, Option<Vec<OsString>>), Failure> {
    order::check(&["exec"], &args.command)?;
    let Surroundings { shell, login, profile, .. } = &args.surroundings;
    let needs_shell = shell.is_some() || *login || args.session.is_some() || *profile;
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
