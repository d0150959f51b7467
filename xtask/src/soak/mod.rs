//! Long runs that look for what no test thinks of.
//!
//! `soak` runs jobs of many kinds while every kind of process is killed and the disk fills up, and
//! holds what happened against a model of what may happen. `soak bytes` runs short commands by the
//! hundred thousand. A run prints its seed; the same seed makes the same choices again.

mod bytes;
mod chaos;
mod disk;
mod model;
mod report;
mod seed;

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use umbo_engine::{Engine, Item, Scope, Warmth};

use crate::failure::{Done, Failure};
use crate::scratch::{Options, Scratch};
use crate::workspace::say;
use chaos::Chaos;
use disk::Disk;
use model::{Job, Kind, Model};
use report::Report;
pub(crate) use seed::Seed;

const STATE: &str = "state";
const MINUTES: usize = 30;
const AT_ONCE: usize = 6;
/// The disk of a run: small enough to be filled in a moment.
const DISK: &str = "96m";
/// How long what killed spares left may take to be swept away.
const SWEEPING: Duration = Duration::from_secs(30);
/// How often it says how far it is.
const NEWS: Duration = Duration::from_secs(20);

pub(crate) fn run(words: &[&str]) -> Done {
    if let ["bytes", rest @ ..] = words {
        return bytes::run(rest);
    }
    let options = Options::parse(words)?;
    let minutes = options.number(MINUTES)?;
    let seed = options.seed()?.unwrap_or_else(Seed::now);
    let scratch = Scratch::open(&options)?;
    say(format!("seed {seed}: `cargo xtask soak {minutes} --seed {seed}` chooses the same again"));
    let disk = Disk::mount(&scratch.state(STATE), DISK);
    if disk.is_none() {
        say("no disk of its own can be mounted: the disk will not be full in this run");
    }
    let engine = open(&scratch, Warmth::Warm)?;
    let model = Model::new(scratch.directory())?;
    let chaos = Chaos::new(&scratch.state(STATE), disk.as_ref());
    let start = Instant::now();
    let end = start + Duration::from_secs(60 * minutes as u64);
    work(&scratch, &engine, &model, &chaos, (seed, end));
    let report = judge(&engine, &model, &chaos, seed)?;
    drop(engine);
    sweep(&scratch)?;
    report.print(start.elapsed());
    let left = scratch.prove_empty(STATE);
    drop(disk);
    left?;
    report.verdict()
}

/// Jobs and kills, until the end.
fn work(
    scratch: &Scratch,
    engine: &Engine,
    model: &Model,
    chaos: &Chaos<'_>,
    (seed, end): (Seed, Instant),
) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE)
            .map(|number| {
                let mut seed = seed.fork(number as u64);
                scope.spawn(move || {
                    while Instant::now() < end {
                        one(scratch, engine, (model, chaos), &mut seed);
                    }
                })
            })
            .collect();
        let is_over = &is_over;
        scope.spawn(move || chaos.rage(seed.fork(1000), is_over));
        scope.spawn(move || {
            let mut told = Instant::now();
            while !is_over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(100));
                if told.elapsed() >= NEWS {
                    told = Instant::now();
                    say(format!("{} jobs, {} kills", model.count(), chaos.kills()));
                }
            }
        });
        for worker in workers {
            let _ = worker.join();
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

/// One job, from its choice to what its caller was told.
fn one(scratch: &Scratch, engine: &Engine, (model, chaos): (&Model, &Chaos<'_>), seed: &mut Seed) {
    let kind = Kind::choose(seed);
    let job = model.begin(kind);
    if kind == Kind::Client {
        return model.end_client(&job, model::client(scratch, STATE, &job, seed));
    }
    let request = scratch.shell(&job.line());
    match engine.run(&request) {
        Ok((handle, outcome)) => model.end(&job, &handle, outcome, chaos),
        Err(error) => model.failed(&job, &error),
    }
}

/// Holds all that is on disk against the model.
fn judge(engine: &Engine, model: &Model, chaos: &Chaos<'_>, seed: Seed) -> Done<Report> {
    chaos.calm();
    let mut report = Report::new(seed, chaos.tally());
    let jobs = engine.jobs(Scope::All).map_err(Failure::at("jobs"))?;
    let mut ends = std::collections::HashMap::new();
    let mut after = 0;
    loop {
        let items = engine.events(after, 10_000).map_err(Failure::at("events"))?;
        let Some(last) = items.last() else { break };
        after = last.seq();
        for item in items {
            match item {
                Item::Event(event) if event.kind.name() == "exited" => {
                    *ends.entry(event.job.to_string()).or_insert(0) += 1;
                }
                Item::Event(_) => {}
                Item::Gap { missed, .. } => report.missed += missed,
            }
        }
    }
    for summary in &jobs {
        report.look_at(summary, ends.get(summary.job.as_str()).copied().unwrap_or(0));
    }
    model.judge(&mut report, chaos);
    Ok(report)
}

fn open(scratch: &Scratch, warmth: Warmth) -> Done<Engine> {
    let builder = scratch.engine(STATE).warmth(warmth).max_running(64);
    builder.retention(100_000, 1 << 40).open().map_err(Failure::at("umbo"))
}

/// Waits until what killed spares left is old enough to be swept away, and has it swept.
fn sweep(scratch: &Scratch) -> Done {
    let engine = open(scratch, Warmth::Cold)?;
    let spares = scratch.state(STATE).join("spares");
    let deadline = Instant::now() + SWEEPING;
    let is_left = || fs::read_dir(&spares).is_ok_and(|left| left.count() > 0);
    while is_left() && Instant::now() < deadline {
        engine.prune(None).map_err(Failure::at("prune"))?;
        thread::sleep(Duration::from_millis(500));
    }
    Ok(())
}

/// Whether a job was touched by what the chaos did.
fn is_excused(job: &Job, chaos: &Chaos<'_>) -> bool {
    job.is_hit() || chaos.was_full(job.time())
}
