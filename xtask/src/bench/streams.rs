//! Followers of a job that writes 100,000 lines a second: how far behind they are, one alone and one
//! among many. And what a view of a long log takes of memory.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use umbo_engine::{Engine, Followed, Job};

use super::{Sample, microseconds, ratio};
use crate::failure::{Done, Failure};
use crate::proc;
use crate::scratch::{Options, Scratch};
use crate::workspace::say;

const STATE: &str = "state";
const SECONDS: usize = 3;
const OTHERS: usize = 50;
/// Lines that are written at once, each millisecond.
const LINES: usize = 100;
const LENGTHS: [u64; 3] = [1 << 20, 64 << 20, 1 << 30];

pub(crate) fn run(words: &[&str]) -> Done {
    if let ["write", seconds] = words {
        source(seconds.parse().unwrap_or(0));
        return Ok(());
    }
    let options = Options::parse(words)?;
    let seconds = options.number(SECONDS)?;
    let scratch = Scratch::open(&options)?;
    let engine = scratch.engine(STATE).open().map_err(Failure::at("umbo"))?;
    say(format!(
        "a job writes {} lines a second for {seconds} s; a follower is behind by the age of the last line \
         it has\n",
        LINES * 1000
    ));
    say(
        "| followers | pieces | behind p50 µs | p99 µs | p50 × alone | after the end, ms | until it has all, × alone |",
    );
    say("|---|---|---|---|---|---|---|");
    let length = Duration::from_secs(seconds as u64);
    let alone = followed(&scratch, &engine, seconds, 0)?;
    let among = followed(&scratch, &engine, seconds, OTHERS)?;
    for (count, (sample, last)) in [(1, &alone), (1 + OTHERS, &among)] {
        say(format!(
            "| {count} | {} | {} | {} | {:.2} | {:.1} | {:.3} |",
            sample.times.len(),
            microseconds(sample.median()),
            microseconds(sample.percentile(99)),
            ratio(sample.median(), alone.0.median()),
            last.as_secs_f64() * 1e3,
            ratio(length + *last, length + alone.1),
        ));
    }
    say("");
    views(&scratch, &engine)?;
    drop(engine);
    scratch.prove_empty(STATE)
}

/// Writes lines that say when they were written.
fn source(seconds: usize) {
    let start = Instant::now();
    for tick in 0..seconds * 1000 {
        let due = start + Duration::from_millis(tick as u64);
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let piece: Vec<String> =
            (0..LINES).map(|_| format!("{:020} a line of a log", now())).collect();
        say(piece.join("\n"));
    }
}

/// The same clock for all processes, in nanoseconds.
fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    u64::try_from(time.tv_sec * 1_000_000_000 + time.tv_nsec).unwrap_or(0)
}

/// How far behind a follower is among others, and when it had everything after the end.
fn followed(
    scratch: &Scratch,
    engine: &Engine,
    seconds: usize,
    others: usize,
) -> Done<(Sample, Duration)> {
    let own = std::env::current_exe().map_err(Failure::at("this program"))?;
    let line = format!("exec {} bench streams write {seconds}", own.display());
    let job = engine.start(&scratch.shell(&line)).map_err(Failure::at("start"))?;
    let wanted = seconds * 1000 * LINES;
    let followers: Vec<_> = (0..=others)
        .map(|_| {
            let job = job.clone();
            thread::spawn(move || follow(&job, wanted))
        })
        .collect();
    let mut found = followers.into_iter().map(|follower| {
        follower.join().unwrap_or_else(|_| Err(Failure::new("a follower panicked")))
    });
    let first = found.next().unwrap_or_else(|| Err(Failure::new("no follower")));
    found.try_for_each(|other| other.map(drop))?;
    first
}

fn follow(job: &Job, wanted: usize) -> Done<(Sample, Duration)> {
    let mut follower = job.follow(0).map_err(Failure::at("follow"))?;
    let (mut sample, mut lines, mut written) = (Sample::default(), 0, 0);
    while let Followed::Bytes { bytes, .. } = follower.next(None).map_err(Failure::at("follow"))? {
        let seen = now();
        lines += bytes.split(|byte| *byte == b'\n').count() - 1;
        let stamps = bytes.split(|byte| *byte == b'\n').rev().filter_map(|line| {
            let stamp = std::str::from_utf8(line.get(..20)?).ok()?;
            stamp.parse::<u64>().ok()
        });
        if let Some(stamp) = stamps.max() {
            written = stamp;
            sample.add(Duration::from_nanos(seen.saturating_sub(stamp)));
        }
    }
    if lines != wanted {
        return Err(Failure::new(format!("{lines} of {wanted} lines were followed")));
    }
    Ok((sample, Duration::from_nanos(now().saturating_sub(written))))
}

/// The most memory that `umbo output` takes for a bounded view of logs of several lengths.
fn views(scratch: &Scratch, engine: &Engine) -> Done {
    say("| a view of a log of | most memory, KiB | ms |\n|---|---|---|");
    for length in LENGTHS {
        let line = format!("yes 'a line of a log that goes on and on' | head -c {length}");
        let (job, _) = engine.run(&scratch.shell(&line)).map_err(Failure::at("umbo"))?;
        let mut command = Command::new(scratch.umbo());
        command.arg("--state-dir").arg(scratch.state(STATE));
        command.args(["output", job.id().as_str(), "--json"]);
        let out = scratch.directory().join("view");
        let out = fs::File::create(&out).map_err(Failure::at(out.display()))?;
        let began = Instant::now();
        let mut child = command.stdout(Stdio::from(out)).spawn().map_err(Failure::at("umbo"))?;
        let mut peak = 0;
        let status = loop {
            peak = peak.max(proc::peak_kib(child.id()).unwrap_or(0));
            if let Some(status) = child.try_wait().map_err(Failure::at("umbo"))? {
                break status;
            }
        };
        if !status.success() {
            return Err(Failure::of("umbo output", status));
        }
        let took = began.elapsed().as_millis();
        say(format!("| {} MiB | {peak} | {took} |", length >> 20));
    }
    say("");
    Ok(())
}
