//! `umbo tour`: what umbo does, shown on this machine, now. Nothing in it is told that is not
//! done: each step runs for real and fails the tour if it does not hold.

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use umbo_ops::{
    Call, EventsRequest, ExecRequest, JobAnswer, JobsRequest, ListedJob, OneOrMore, Seconds,
    StopRequest, StoppedJob, Ticket, UnknownJobs, WaitAnswer, WaitReason, WaitRequest,
};

use crate::context::{CallerWords, Context};
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
const STEP_TIMEOUT: Duration = Duration::from_mins(1);

pub(crate) fn run(context: &Context) -> Result<ExitCode, Failure> {
    if context.format == Format::Json {
        return Err(Failure::invalid(
            "--json",
            "the tour is for people; every verb it shows takes it",
        ));
    }
    let begun = Instant::now();
    let caller = context.caller(&CallerWords::default())?;
    let ticket = Ticket::alone();
    let call = Call::new(&caller, &ticket);
    exec(&call)?;
    outlive(context, &call)?;
    stop(&call)?;
    wait(&call)?;
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

fn exec(call: &Call<'_>) -> Result<(), Failure> {
    heading(1, "A command, and the truth about it")?;
    let line = "echo to stdout; echo to stderr >&2; exit 3";
    command(&format!("umbo exec '{line}'"))?;
    let answer = umbo_ops::exec(call, &named(line, "tour-exec"))?;
    finding(format_args!(
        "exited {}, {} bytes kept, {}",
        answer.exit_code.unwrap_or(-1),
        answer.total_bytes,
        contained(&answer)
    ))
}

fn named(line: &str, name: &str) -> ExecRequest {
    ExecRequest {
        command: Some(line.to_owned()),
        name: Some(name.to_owned()),
        ..ExecRequest::default()
    }
}

fn contained(answer: &JobAnswer) -> String {
    match answer.contained_by {
        Some(proof) => format!("nothing left running (proven by {proof})"),
        None => "something may be left running".into(),
    }
}

/// Waits for a pattern in what a job writes, or without one for its end.
fn wait_for(call: &Call<'_>, job: &str, pattern: Option<&str>) -> Result<WaitAnswer, Failure> {
    let request = WaitRequest {
        job: job.to_owned(),
        pattern: pattern.map(str::to_owned),
        timeout: Some(Seconds(STEP_TIMEOUT)),
        ..WaitRequest::default()
    };
    let answer = umbo_ops::wait(call, &request)?;
    let wanted = if pattern.is_some() { WaitReason::Match } else { WaitReason::Exit };
    if answer.met == wanted {
        return Ok(answer);
    }
    Err(Failure::new(format!("tour: job {job} did not do what it should")))
}

fn outlive(context: &Context, call: &Call<'_>) -> Result<(), Failure> {
    heading(2, "A job outlives whoever started it")?;
    command(&format!("umbo exec --name tour-ticks '{TICKS}'     # and kill -9 that umbo"))?;
    let own = std::env::current_exe()?;
    let mut server = Command::new(own)
        .args(["exec", "--name", "tour-ticks", TICKS])
        .env("UMBO_STATE_DIR", &context.state)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let job = appeared(call, "tour-ticks")?;
    wait_for(call, &job, Some("tick 2"))?;
    server.kill()?;
    server.wait()?;
    finding("after \"tick 2\" the umbo that waited for it was killed with SIGKILL")?;
    let ended = wait_for(call, &job, None)?.job;
    let output = ended.output.unwrap_or_default();
    finding(format_args!(
        "it wrote on to {:?}, exited {}, and no byte is missing",
        output.lines().last().unwrap_or_default(),
        ended.exit_code.unwrap_or(-1)
    ))
}

/// The id of the job of that name, once it is there: its `started` event is waited for.
fn appeared(call: &Call<'_>, name: &str) -> Result<String, Failure> {
    for event in umbo_ops::events(call, &EventsRequest { after: 0, follow: true })? {
        let event = event?;
        let Some(job) = event.job.filter(|_| event.kind == "started") else { continue };
        let listed = umbo_ops::jobs(call, &JobsRequest::default())?.jobs;
        let is_it = |listed: &ListedJob| listed.job == job && listed.name.as_deref() == Some(name);
        if listed.iter().any(|listed| is_it(listed) && listed.state == "started") {
            return Ok(job);
        }
    }
    Err(Failure::new(format!("tour: job {name} did not appear")))
}

fn stop(call: &Call<'_>) -> Result<(), Failure> {
    heading(3, "Stop means the whole tree, however it hides")?;
    command("umbo start 'setsid sleep … & (double fork) & (deaf to TERM) & (SIGSTOPped) & …'")?;
    let hostile = ExecRequest { background: true, ..named(HOSTILE, "tour-hostile") };
    let job = umbo_ops::exec(call, &hostile)?.job;
    wait_for(call, &job, Some("ready"))?;
    command(&format!("umbo stop --grace 1s {job}"))?;
    let began = Instant::now();
    for stopped in stop_job(call, &job, Duration::from_secs(1))? {
        finding(format_args!(
            "{} after {}, {}",
            stopped.job.state,
            show_duration(began.elapsed()),
            contained(&stopped.job)
        ))?;
    }
    Ok(())
}

fn stop_job(call: &Call<'_>, job: &str, grace: Duration) -> Result<Vec<StoppedJob>, Failure> {
    let request = StopRequest {
        job: OneOrMore::One(job.to_owned()),
        grace: Some(Seconds(grace)),
        kill: grace.is_zero(),
        interrupt: None,
        unknown: UnknownJobs::default(),
    };
    Ok(umbo_ops::stop(call, &request)?.stopped)
}

fn wait(call: &Call<'_>) -> Result<(), Failure> {
    heading(4, "Wait for what you need, not for a while")?;
    let line = "sleep 0.4; echo 'listening on port 4242'; sleep 600";
    command(&format!("umbo start '{line}'"))?;
    let start = ExecRequest { background: true, ..named(line, "tour-wait") };
    let job = umbo_ops::exec(call, &start)?.job;
    command(&format!("umbo wait --match 'port \\d+' {job}"))?;
    let began = Instant::now();
    let met = wait_for(call, &job, Some(r"port \d+"))?;
    finding(format_args!(
        "{:?} at offset {}, after {}; nobody polled",
        met.text.unwrap_or_default(),
        met.offset.unwrap_or_default(),
        show_duration(began.elapsed())
    ))?;
    stop_job(call, &job, Duration::ZERO)?;
    Ok(())
}
