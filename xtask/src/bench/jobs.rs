//! Many jobs alive at once: what they cost to start, to list, to find again, to keep and to stop.

use std::ffi::OsString;
use std::fs;
use std::time::{Duration, Instant};

use umbo_engine::{Command, Engine, Error, Job, Ladder, Scope, Size, Status};

use super::Sample;
use super::flood::supervisor_in;
use crate::failure::{Done, Failure};
use crate::proc::{self, Memory};
use crate::scratch::{Options, Scratch};
use crate::workspace::say;

const STATE: &str = "state";
const JOBS: usize = 500;
const LISTS: usize = 9;
const STOPPERS: usize = 8;
const QUIET: Duration = Duration::from_secs(4);

pub(crate) fn run(words: &[&str]) -> Done {
    let options = Options::parse(words)?;
    let count = options.number(JOBS)?;
    let scratch = Scratch::open(&options)?;
    let open = || scratch.engine(STATE).max_running(count + 1).open().map_err(Failure::at("umbo"));
    let engine = open()?;
    say(format!("{count} live jobs\n\n| what | figure | wanted |\n|---|---|---|"));

    let (jobs, starts) = start(&scratch, &engine, count)?;
    let total: Duration = starts.times.iter().sum();
    row("start all", &milliseconds(total), "");
    row("start one, p50 / p99", &both(&starts), "");
    let tenth = starts.times.len().div_ceil(10).max(1);
    let ends = [starts.times.chunks(tenth).next(), starts.times.rchunks(tenth).next()];
    let ends = ends.map(|part| milliseconds(Sample::of(part.unwrap_or_default()).median()));
    row("start one of the first tenth / of the last, p50", &ends.join(" / "), "the same");

    let lists = list(&engine, count)?;
    row("list them, p50 / max", &both(&lists), "< 200 ms");

    let begin = Instant::now();
    let fresh = open()?;
    let found = adopt(&fresh)?;
    let time = milliseconds(begin.elapsed());
    row(&format!("a new engine lists and asks each of {found}"), &time, "< 2000 ms");

    // A supervisor gives memory back when its job has been quiet for a while.
    std::thread::sleep(QUIET);
    memory(&scratch, &jobs)?;

    let commands = commands(&jobs)?;
    let time = stop(&jobs)?;
    row("stop all", &milliseconds(time), "");
    let alive = commands.iter().filter(|pid| proc::is_alive(**pid)).count();
    row("commands alive after that", &alive.to_string(), "0");
    drop((jobs, fresh, engine));
    say("");
    scratch.prove_empty(STATE)?;
    if alive == 0 { Ok(()) } else { Err(Failure::new("a stopped job left a process")) }
}

fn row(what: &str, figure: &str, wanted: &str) {
    say(format!("| {what} | {figure} | {wanted} |"));
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

fn both(sample: &Sample) -> String {
    let (middle, most) = (sample.median(), sample.percentile(99));
    format!("{} / {}", milliseconds(middle), milliseconds(most))
}

fn start(scratch: &Scratch, engine: &Engine, count: usize) -> Done<(Vec<Job>, Sample)> {
    let words = ["sleep", "1000"].map(OsString::from).to_vec();
    let mut request = scratch.shell("sleep");
    request.command = Command::Argv(words);
    let mut sample = Sample::default();
    let mut jobs = Vec::new();
    for _ in 0..count {
        let begin = Instant::now();
        jobs.push(engine.start(&request).map_err(Failure::at("start"))?);
        sample.add(begin.elapsed());
    }
    Ok((jobs, sample))
}

fn list(engine: &Engine, count: usize) -> Done<Sample> {
    let mut sample = Sample::default();
    for _ in 0..LISTS {
        let begin = Instant::now();
        let jobs = engine.jobs(Scope::Recent).map_err(Failure::at("list"))?;
        sample.add(begin.elapsed());
        let running =
            jobs.iter().filter(|job| matches!(job.status, Status::Started { .. })).count();
        if running != count {
            return Err(Failure::new(format!("{running} of {count} jobs are listed as running")));
        }
    }
    Ok(sample)
}

/// Finds every job and has its supervisor answer: a size for the terminal it has not.
fn adopt(engine: &Engine) -> Done<usize> {
    let jobs = engine.jobs(Scope::Recent).map_err(Failure::at("list"))?;
    for summary in &jobs {
        let job = engine.job(summary.job.as_str()).map_err(Failure::at("find"))?;
        match job.resize(Size::default()) {
            Err(Error::Refused(_)) => {}
            other => return Err(Failure::new(format!("{}: {other:?}", summary.job))),
        }
    }
    Ok(jobs.len())
}

fn memory(scratch: &Scratch, jobs: &[Job]) -> Done {
    let mut supervisors = Vec::new();
    for job in jobs {
        let file = scratch.state(STATE).join("jobs").join(job.id().as_str()).join("request");
        let text = fs::read_to_string(&file).map_err(Failure::at(file.display()))?;
        supervisors.extend(supervisor_in(&text));
    }
    let keepers: Vec<u32> = supervisors.iter().filter_map(|pid| proc::parent(*pid)).collect();
    for (name, pids) in [("supervisor", supervisors), ("keeper", keepers)] {
        let sizes: Vec<Memory> = pids.into_iter().filter_map(proc::memory).collect();
        let column = |part: fn(&Memory) -> u64| {
            let mut values: Vec<u64> = sizes.iter().map(part).collect();
            values.sort_unstable();
            let middle = values.get(values.len() / 2).copied().unwrap_or(0);
            format!("{middle} / {} KiB", values.last().copied().unwrap_or(0))
        };
        let what = |kind: &str| format!("{name} ({}), {kind}, median / max", sizes.len());
        row(&what("resident"), &column(|memory| memory.resident), "≤ 2048 KiB");
        row(&what("proportional"), &column(|memory| memory.proportional), "");
        row(&what("private and written"), &column(|memory| memory.private), "");
    }
    Ok(())
}

/// The processes of the commands.
fn commands(jobs: &[Job]) -> Done<Vec<u32>> {
    jobs.iter()
        .map(|job| match job.status().map_err(Failure::at(job.id()))? {
            Status::Started { pid, .. } => u32::try_from(pid).map_err(Failure::at(pid)),
            other => Err(Failure::new(format!("{} is {}", job.id(), other.name()))),
        })
        .collect()
}

fn stop(jobs: &[Job]) -> Done<Duration> {
    let begin = Instant::now();
    let share = jobs.len().div_ceil(STOPPERS).max(1);
    std::thread::scope(|scope| {
        let stoppers: Vec<_> = jobs
            .chunks(share)
            .map(|jobs| {
                scope.spawn(move || -> Done {
                    for job in jobs {
                        job.stop(Ladder::default()).map_err(Failure::at(job.id()))?;
                    }
                    Ok(())
                })
            })
            .collect();
        stoppers.into_iter().try_for_each(|stopper| {
            stopper.join().unwrap_or_else(|_| Err(Failure::new("a stopper panicked")))
        })
    })?;
    Ok(begin.elapsed())
}
