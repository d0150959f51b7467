//! `umbo exec`: a job somebody waits for.

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use umbo_engine::{Attendance, Followed, Follower, HeldKeys, JobHandle, Ladder, Stdin};
use umbo_ops::{Call, Caller, ErrorCode, JobAnswer, OutputWanted, ScreenRequest, Ticket};

use super::{exit_code, remark, start};
use crate::args::Start;
use crate::attach::{self, Left};
use crate::context::{CallerWords, Context};
use crate::failure::Failure;
use crate::keyboard;
use crate::output::{self, Format};
use crate::spinner::Spinner;

/// What is over by then needs nobody who listens to the keyboard, or follows: to get ready for either takes
/// longer than most commands. What is pressed meanwhile is heard afterwards.
const FIRST_MOMENT: Duration = Duration::from_millis(10);

/// The key that leaves a terminal to itself.
const DETACH_KEY: &str = "ctrl-\\";

pub(crate) fn run(context: &Context, args: Start) -> Result<ExitCode, Failure> {
    let caller = Arc::new(context.caller(&CallerWords {
        mode: args.mode,
        budget: args.budget,
        timeout: args.limits.timeout,
        masking: context.masking(),
    })?);
    // A person who gives a command a terminal, and has one, sits at it.
    let sits = args.surroundings.pty && args.stdin.is_none() && context.format == Format::Text;
    let seated = (sits && attach::is_at_terminal()).then(|| Arc::clone(&caller));
    let size = args.surroundings.size;
    let notify = start::notification(context, &args)?;
    let mut request = start::request(context, args, false)?;
    request.options.output = wanted_output(context);
    if seated.is_some() {
        request.options.stdin = Some(Stdin::Open);
        request.options.size = size.or_else(attach::window);
        request.options.attendance = Attendance::Attended;
    }
    foreground(
        context,
        &caller,
        seated,
        move |job| notify.start(job),
        |call| umbo_ops::exec(call, &request),
        |answer: &JobAnswer| answer,
    )
}

/// What of the output an answer has: as text it was passed on as it came.
pub(super) fn wanted_output(context: &Context) -> OutputWanted {
    match context.format {
        Format::Json => OutputWanted::Apart,
        Format::Text => OutputWanted::Nothing,
    }
}

/// Runs an operation that waits for a job: shows what the job writes, stops it at ctrl-c, prints how
/// it ended, and returns its exit code. Who is `seated` sits at the job's terminal.
pub(super) fn foreground<Answer: Serialize>(
    context: &Context,
    caller: &Caller,
    seated: Option<Arc<Caller>>,
    started: impl Fn(&JobHandle) + Send + Sync + 'static,
    operation: impl FnOnce(&Call<'_>) -> Result<Answer, umbo_ops::Error>,
    job_of: impl Fn(&Answer) -> &JobAnswer,
) -> Result<ExitCode, Failure> {
    let format = context.format;
    // With --json nothing is shown until the end; a person gets a sign of life.
    let spinner: Arc<Mutex<Option<Spinner>>> = Arc::default();
    let failure: Arc<Mutex<Option<Failure>>> = Arc::default();
    let held: Arc<Mutex<Option<HeldKeys>>> = Arc::default();
    let (spinning, failing) = (Arc::clone(&spinner), Arc::clone(&failure));
    let (holding, releasing) = (Arc::clone(&held), Arc::clone(&held));
    let ticket = Ticket::builder()
        .alone()
        .on_start(move |job| {
            *lock(&holding) = Some(HeldKeys::hold());
            started(job);
        })
        .on_wait(FIRST_MOMENT, move |job, outcome| {
            let is_over = outcome.is_some();
            if !is_over {
                keyboard::stop_on_ctrl_c(job);
                if seated.is_none() {
                    keyboard::pass_on_keys(job);
                }
                start::tell_of_queue(job);
            }
            match lock(&releasing).take() {
                // What was pressed was meant for the job, and that is over.
                Some(held) if is_over => held.forget(),
                held => drop(held),
            }
            match format {
                Format::Json if is_over => {}
                Format::Json => *lock(&spinning) = Some(Spinner::start(job)),
                Format::Text => {
                    let passed = match &seated {
                        Some(caller) if !is_over => sit_down(caller, job),
                        _ if is_over => Follower::of_ended(job.clone(), 0)
                            .map_err(Failure::from)
                            .and_then(pass_on_from),
                        _ => pass_on(job),
                    };
                    // Nobody reads any more: the job goes the way of a command in a pipeline.
                    if matches!(passed, Err(Failure::BrokenPipe)) {
                        let _ = job.stop(Ladder::default());
                    }
                    *lock(&failing) = passed.err();
                }
            }
        })
        .build();
    let answer = operation(&Call::new(caller, &ticket));
    drop(lock(&held).take());
    drop(lock(&spinner).take());
    let reader_left = match lock(&failure).take() {
        None => false,
        Some(Failure::BrokenPipe) => true,
        Some(failure) => return Err(failure),
    };
    let answer = answer?;
    let job = job_of(&answer);
    let outcome = job
        .outcome
        .as_ref()
        .ok_or_else(|| Failure::new(format!("job {} has no outcome", job.job)))?;
    match format {
        Format::Json => output::json(&answer)?,
        Format::Text if reader_left => {}
        Format::Text => {
            if let Some(remark) = remark(outcome) {
                output::talk(format_args!("umbo: {remark} (job {})", job.job));
            }
        }
    }
    Ok(exit_code(outcome))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Joins the person's terminal to the job's, until the job ends or they leave it.
pub(super) fn sit_down(caller: &Arc<Caller>, job: &JobHandle) -> Result<(), Failure> {
    let request = ScreenRequest { job: job.id().to_string() };
    let attachment = match umbo_ops::attach(Arc::clone(caller), Ticket::alone(), &request) {
        Err(error) if error.code == ErrorCode::JobEnded => return pass_on(job),
        attachment => Arc::new(attachment?),
    };
    match attach::sit_down(&attachment, &umbo_engine::key(DETACH_KEY)?)? {
        Left::Ended => Ok(()),
        Left::Detached => {
            output::talk(format_args!("umbo: left job {0} running; `umbo attach {0}`", job.id()));
            std::process::exit(0)
        }
    }
}

/// Prints a job's output as it comes, each stream to its own.
pub(super) fn pass_on(job: &JobHandle) -> Result<(), Failure> {
    pass_on_from(job.follow(0)?)
}

fn pass_on_from(mut follower: Follower) -> Result<(), Failure> {
    loop {
        match follower.next(None)? {
            Followed::Bytes { stream: umbo_engine::Stream::Stderr, bytes, .. } => {
                output::job_bytes(output::Stream::Errors, &bytes)?;
            }
            Followed::Bytes { bytes, .. } => output::job_bytes(output::Stream::Output, &bytes)?,
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
