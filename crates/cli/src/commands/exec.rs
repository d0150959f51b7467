//! `umbo exec`: a job somebody waits for.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use umbo_engine::{Followed, Job, Ladder, Outcome, Request, Stdin};
use umbo_ops::report::Ended;
use umbo_ops::{JobLog, Permit};
use umbo_view::{Budget, Part, Reader, Stream, View, ViewOptions};

use super::{exit_code, remark, start};
use crate::args::Start;
use crate::budget::Room;
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::output::{self, Format};
use crate::secrets;
use crate::spinner::Spinner;

/// How a person's ctrl-c climbs.
const CTRL_C: Ladder =
    Ladder { interrupt: Some(Duration::from_secs(3)), terminate: Some(Duration::from_secs(2)) };

/// How long a second ctrl-c waits for the end of what it killed.
const LEAVING: Duration = Duration::from_secs(3);
/// The exit code of a command that ctrl-c ended.
const INTERRUPTED: i32 = 130;

pub(crate) fn run(context: &Context, args: Start) -> Result<ExitCode, Failure> {
    let mode = args.mode.or(context.settings.exec.mode);
    let budget = Room::or(args.budget, context.settings.output);
    let request = start::request(context, args, Stdin::None)?;
    let keeper = gate::keeper(context, mode)?;
    match gate::pass(context, &keeper, &request, None)? {
        Ok(permit) => execute(context, &request, budget, &permit),
        Err(code) => Ok(code),
    }
}

/// Runs a request the gate has passed, shows what it writes, and returns its exit code.
pub(super) fn execute(
    context: &Context,
    request: &Request,
    budget: Budget,
    permit: &Permit<'_>,
) -> Result<ExitCode, Failure> {
    let mut attached = context.engine.spawn(request)?;
    let job = attached.job().clone();
    permit.started(&job);
    stop_on_ctrl_c(&job);
    start::tell_of_queue(&job);
    if context.format == Format::Text {
        match pass_on(&job) {
            // Nobody reads any more: the job goes the way of a command in a pipeline.
            Err(Failure::BrokenPipe) => return Ok(exit_code(&job.stop(Ladder::default())?)),
            other => other?,
        }
    }
    // With --json nothing is shown until the end; a person gets a sign of life.
    let spinner = match context.format {
        Format::Json => Some(Spinner::start(&job)),
        Format::Text => None,
    };
    let outcome = attached
        .wait(None)?
        .ok_or_else(|| Failure::new(format!("job {job} has no outcome", job = job.id())))?;
    drop(spinner);
    permit.ended(&job, &outcome);
    match context.format {
        Format::Json => {
            let terminal = request.terminal.is_some();
            let minimize = context.settings.minimize;
            let options = ViewOptions { budget, minimize, ..ViewOptions::default() };
            output::json(&Executed::new(&job, terminal, &outcome, &options)?)?;
        }
        Format::Text => {
            if let Some(remark) = remark(&outcome) {
                output::talk(format_args!("umbo: {remark} (job {})", job.id()));
            }
        }
    }
    Ok(exit_code(&outcome))
}

/// Prints a job's output as it comes, each stream to its own.
fn pass_on(job: &Job) -> Result<(), Failure> {
    let mut follower = job.follow(0)?;
    loop {
        match follower.next(None)? {
            Followed::Bytes { stream: umbo_engine::Stream::Stderr, bytes, .. } => {
                output::error_bytes(&bytes)?;
            }
            Followed::Bytes { bytes, .. } => output::bytes(&bytes)?,
            Followed::Omitted(range) => output::talk(format_args!(
                "umbo: {} bytes were not kept (offsets {} to {})",
                range.end - range.start,
                range.start,
                range.end
            )),
            Followed::Nothing => {}
            Followed::Ended => return Ok(()),
        }
    }
}

/// A first ctrl-c interrupts the job, and umbo waits for its end. A second one kills it, and umbo
/// leaves with it, or soon, whatever becomes of it. A third leaves at once.
fn stop_on_ctrl_c(job: &Job) {
    let job = job.clone();
    let mut presses = 0;
    let _ = ctrlc::set_handler(move || {
        let job = job.clone();
        presses += 1;
        // Waiting here would keep the next ctrl-c waiting.
        match presses {
            1 => thread::spawn(move || {
                if let Err(error) = job.stop(CTRL_C) {
                    output::talk(format_args!("umbo: {error}; ctrl-c once more leaves it"));
                }
            }),
            2 => {
                let last = job.clone();
                thread::spawn(move || last.stop(Ladder::KILL));
                thread::spawn(move || {
                    thread::sleep(LEAVING);
                    leave(&job)
                })
            }
            _ => leave(&job),
        };
    });
}

/// Ends this process though its job has not ended.
fn leave(job: &Job) -> ! {
    output::talk(format_args!("umbo: left job {0}; `umbo stop --kill {0}` ends it", job.id()));
    std::process::exit(INTERRUPTED)
}

#[derive(Serialize)]
struct Executed<'a> {
    #[serde(flatten)]
    ended: Ended<'a>,
    stdout: String,
    stderr: String,
    output: String,
    truncated: bool,
    /// Where all of it can be read, if this is not all.
    artifact: Option<String>,
    full_output_path: String,
    tokens: u64,
    original_token_count: u64,
}

impl<'a> Executed<'a> {
    fn new(
        job: &Job,
        terminal: bool,
        outcome: &'a Outcome,
        options: &ViewOptions,
    ) -> Result<Self, Failure> {
        let masker = secrets::masker()?;
        let reader = || Ok::<_, Failure>(Reader::new(JobLog::open(job)?).mask(&masker));
        let all = reader()?.view(options)?;
        let (stdout, stderr) = if terminal {
            (text(&all), String::new())
        } else {
            let only = |stream| Ok::<_, Failure>(text(&reader()?.stream(stream).view(options)?));
            (only(Stream::Stdout)?, only(Stream::Stderr)?)
        };
        let mut ended = Ended::new(outcome);
        ended.lost_bytes = all.counts.lost_bytes;
        ended.omitted_bytes = all.counts.omitted_bytes + all.counts.lost_bytes;
        let output = text(&all);
        Ok(Self {
            ended,
            stdout,
            stderr,
            tokens: if output.is_empty() { 0 } else { all.tokens },
            output,
            truncated: all.truncated,
            artifact: all.truncated.then(|| format!("artifact://{}", job.id())),
            full_output_path: job.output_path().display().to_string(),
            original_token_count: all.original_tokens,
        })
    }
}

/// A view's text; the marker of an empty one is for people.
fn text(view: &View) -> String {
    let is_empty =
        view.parts.iter().all(|part| matches!(part, Part::Text { text, .. } if text.is_empty()));
    if is_empty { String::new() } else { view.to_text() }
}
