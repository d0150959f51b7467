//! `umbo tour`: what umbo does, shown on this machine, now. Nothing in it is told that is not
//! done: each step runs for real and fails the tour if it does not hold.

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use regex::bytes::Regex;
use umbo_engine::{Condition, Job, Ladder, Met, Request};
use umbo_ops::containment_name;

use crate::context::Context;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::time::show_duration;

/// A tree that hides: its own session, a double fork, a child deaf to SIGTERM, one that is
/// stopped.
const HOSTILE: &str = "setsid sleep 600 & (sleep 601 &) & (trap '' TERM; sleep 602; sleep 602) & \
                       sleep 603 & kill -STOP $!; echo ready; wait";
/// A job with something to say, long enough to be left alone in the middle.
const TICKS: &str = "for n in 1 2 3 4 5 6; do echo tick $n; sleep 0.3; done; exit 7";
/// Longer than any step takes.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn run(context: &Context) -> Result<ExitCode, Failure> {
    if context.format == Format::Json {
        return Err(Failure::invalid(
            "--json",
            "the tour is for people; every verb it shows takes it",
        ));
    }
    let begun = Instant::now();
    exec(context)?;
    outlive(context)?;
    stop(context)?;
    wait(context)?;
    output::text(format_args!(
        "\nThat took {}. `umbo jobs --all` lists what ran, `umbo --help` says what else there is.\n",
        show_duration(begun.elapsed())
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn heading(number: u32, text: &str) -> Result<(), Failure> {
    output::text(format_args!("\n{number}. {text}\n"))
}

fn command(text: &str) -> Result<(), Failure> {
    output::line(format_args!("   $ {text}"))
}

fn finding(text: impl std::fmt::Display) -> Result<(), Failure> {
    output::line(format_args!("     {text}"))
}

fn request(context: &Context, text: &str, name: &str) -> Result<Request, Failure> {
    let mut request = Request::shell(text, Context::directory()?);
    request.env = context.environment();
    request.name = Some(name.into());
    Ok(request)
}

fn exec(context: &Context) -> Result<(), Failure> {
    heading(1, "A command, and the truth about it")?;
    let line = "echo to stdout; echo to stderr >&2; exit 3";
    command(&format!("umbo exec '{line}'"))?;
    let (job, outcome) = context.engine.run(&request(context, line, "tour-exec")?)?;
    let runs = job.log()?.runs(0..outcome.total_bytes)?;
    finding(format_args!(
        "exited {}, {} bytes kept in {} runs, {}",
        outcome.exit_code().unwrap_or(-1),
        outcome.total_bytes,
        runs.len(),
        contained(outcome.contained_by)
    ))
}

fn contained(proof: Option<umbo_engine::Containment>) -> String {
    match proof {
        Some(proof) => {
            format!("nothing left running (proven by {})", containment_name(proof))
        }
        None => "something may be left running".into(),
    }
}

fn outlive(context: &Context) -> Result<(), Failure> {
    heading(2, "A job outlives whoever started it")?;
    command(&format!("umbo exec --name tour-ticks '{TICKS}'     # and kill -9 that umbo"))?;
    let own = std::env::current_exe()?;
    let mut server = Command::new(own)
        .args(["exec", "--name", "tour-ticks", TICKS])
        .env("UMBO_STATE_DIR", context.engine.state_directory())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let job = appeared(context, "tour-ticks")?;
    expect(&job, &matching("tick 2")?)?;
    server.kill()?;
    server.wait()?;
    finding("after \"tick 2\" the umbo that waited for it was killed with SIGKILL")?;
    expect(&job, &Condition::Exit)?;
    let outcome = job.outcome()?.ok_or_else(|| Failure::new("tour: the job has no outcome"))?;
    let text = std::fs::read_to_string(job.output_path())?;
    let last = text.lines().last().unwrap_or_default();
    finding(format_args!(
        "it wrote on to {last:?}, exited {}, and no byte is missing",
        outcome.exit_code().unwrap_or(-1)
    ))
}

/// The job of that name, once it is there: its `created` event is waited for.
fn appeared(context: &Context, name: &str) -> Result<Job, Failure> {
    let deadline = Instant::now() + PATIENCE;
    let mut events = context.engine.subscribe(0)?;
    while let Some(item) = events.next(deadline.saturating_duration_since(Instant::now()))? {
        if let umbo_engine::Item::Event(event) = item
            && event.kind == umbo_engine::EventKind::Started
            && let Ok(job) = context.engine.job(event.job.as_str())
            && job.summary().is_some_and(|summary| {
                summary.name.as_deref() == Some(name)
                    && matches!(summary.status, umbo_engine::Status::Started { .. })
            })
        {
            return Ok(job);
        }
    }
    Err(Failure::new(format!("tour: job {name} did not appear")))
}

fn matching(pattern: &str) -> Result<Condition, Failure> {
    let pattern = Regex::new(pattern).map_err(Failure::new)?;
    Ok(Condition::Match { pattern, from: 0 })
}

fn expect(job: &Job, condition: &Condition) -> Result<Met, Failure> {
    match job.wait(std::slice::from_ref(condition), Some(PATIENCE))? {
        Met::Deadline | Met::Ended => {
            Err(Failure::new(format!("tour: job {} did not do what it should", job.id())))
        }
        met => Ok(met),
    }
}

fn stop(context: &Context) -> Result<(), Failure> {
    heading(3, "Stop means the whole tree, however it hides")?;
    command("umbo start 'setsid sleep … & (double fork) & (deaf to TERM) & (SIGSTOPped) & …'")?;
    let job = context.engine.start(&request(context, HOSTILE, "tour-hostile")?)?;
    expect(&job, &matching("ready")?)?;
    command(&format!("umbo stop --grace 1s {}", job.id()))?;
    let began = Instant::now();
    let ladder = Ladder { interrupt: None, terminate: Some(Duration::from_secs(1)) };
    let outcome = job.stop(ladder)?;
    finding(format_args!(
        "{} after {}, {}",
        outcome.end.name(),
        show_duration(began.elapsed()),
        contained(outcome.contained_by)
    ))
}

fn wait(context: &Context) -> Result<(), Failure> {
    heading(4, "Wait for what you need, not for a while")?;
    let line = "sleep 0.4; echo 'listening on port 4242'; sleep 600";
    command(&format!("umbo start '{line}'"))?;
    let job = context.engine.start(&request(context, line, "tour-wait")?)?;
    command(&format!("umbo wait --match 'port \\d+' {}", job.id()))?;
    let began = Instant::now();
    let met = expect(&job, &matching(r"port \d+")?)?;
    if let Met::Match { offset, text } = met {
        finding(format_args!(
            "{:?} at offset {offset}, after {}; nobody polled",
            String::from_utf8_lossy(&text),
            show_duration(began.elapsed())
        ))?;
    }
    job.stop(Ladder::KILL)?;
    Ok(())
}
