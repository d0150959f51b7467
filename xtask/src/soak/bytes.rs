//! Short commands by the hundred thousand, each checked byte for byte.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use umbo_engine::{Engine, Job, Mark, Outcome, Stream};

use crate::failure::{Done, Failure};
use crate::scratch::{Options, Scratch};
use crate::workspace::say;

const STATE: &str = "state";
const COMMANDS: usize = 100_000;
const AT_ONCE: usize = 4;
const BURST: usize = 70 << 10;
/// Wrong results that are shown; the rest is counted.
const SHOWN: usize = 10;
const NEWS: Duration = Duration::from_secs(20);

pub(crate) fn run(words: &[&str]) -> Done {
    let options = Options::parse(words)?;
    let count = options.number(COMMANDS)?;
    let scratch = Scratch::open(&options)?;
    let builder = scratch.engine(STATE).retention(500, 1 << 30);
    let engine = builder.open().map_err(Failure::at("umbo"))?;
    let tally = Tally::default();
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| work(&scratch, &engine, count, &tally));
        }
        scope.spawn(|| tell(count, start, &tally));
    });
    let seconds = start.elapsed().as_secs_f64();
    let done = tally.done.load(Ordering::Relaxed);
    say(format!("{done} commands, {AT_ONCE} at a time, {seconds:.0} s"));
    say(format!("rate: {:.0} a second", f64::from(u32::try_from(done).unwrap_or(0)) / seconds));
    say(format!("lost bytes: {}", tally.bytes.load(Ordering::Relaxed)));
    say(format!("lost jobs: {}", tally.jobs.load(Ordering::Relaxed)));
    let wrong = tally.wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
    for line in wrong.iter().take(SHOWN) {
        say(format!("wrong: {line}"));
    }
    drop(engine);
    scratch.prove_empty(STATE)?;
    match wrong.len() {
        0 => Ok(()),
        count => Err(Failure::new(format!("{count} commands were not as they should be"))),
    }
}

/// What has been seen so far.
#[derive(Default)]
struct Tally {
    next: AtomicUsize,
    done: AtomicUsize,
    bytes: AtomicUsize,
    jobs: AtomicUsize,
    wrong: Mutex<Vec<String>>,
}

impl Tally {
    fn wrong(&self, what: String) {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }
}

fn work(scratch: &Scratch, engine: &Engine, count: usize, tally: &Tally) {
    loop {
        let number = tally.next.fetch_add(1, Ordering::Relaxed);
        if number >= count {
            return;
        }
        let case = Case::new(number);
        match engine.run(&scratch.shell(&case.line)) {
            Ok((job, outcome)) => examine(&case, &job, &outcome, tally),
            Err(error) => {
                tally.jobs.fetch_add(1, Ordering::Relaxed);
                tally.wrong(format!("{number} ({}): {error}", case.line));
            }
        }
        tally.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// Says how far it is, now and then.
fn tell(count: usize, start: Instant, tally: &Tally) {
    let mut told = start;
    while tally.done.load(Ordering::Relaxed) < count {
        thread::sleep(Duration::from_millis(50));
        if told.elapsed() >= NEWS {
            told = Instant::now();
            let done = tally.done.load(Ordering::Relaxed);
            say(format!("{done} of {count} after {:.0} s", start.elapsed().as_secs_f64()));
        }
    }
}

/// A command and all that it must give.
#[derive(Debug, PartialEq, Eq)]
struct Case {
    line: String,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    code: i32,
}

impl Case {
    const KINDS: usize = 9;

    fn new(number: usize) -> Self {
        let text = |words: String| words.into_bytes();
        let (line, stdout, stderr, code) = match number % Self::KINDS {
            0 => ("printf x".into(), text("x".into()), Vec::new(), 0),
            1 => (format!("echo {number} >&2"), Vec::new(), text(format!("{number}\n")), 0),
            2 => (
                format!("printf 'no newline {number}'"),
                text(format!("no newline {number}")),
                Vec::new(),
                0,
            ),
            3 => (
                format!("echo out {number}; echo err {number} >&2"),
                text(format!("out {number}\n")),
                text(format!("err {number}\n")),
                0,
            ),
            4 => ("true".into(), Vec::new(), Vec::new(), 0),
            5 => {
                let code = number / Self::KINDS % 256;
                (format!("exit {code}"), Vec::new(), Vec::new(), i32::try_from(code).unwrap_or(0))
            }
            6 => (format!("echo {number}; exit 3"), text(format!("{number}\n")), Vec::new(), 3),
            7 => (
                format!("head -c {BURST} /dev/zero; printf end >&2"),
                vec![0; BURST],
                text("end".into()),
                0,
            ),
            _ => (
                format!("echo first; (sleep 0.02; echo late {number}) &"),
                text(format!("first\nlate {number}\n")),
                Vec::new(),
                0,
            ),
        };
        Self { line, stdout, stderr, code }
    }
}

fn examine(case: &Case, job: &Job, outcome: &Outcome, tally: &Tally) {
    let (stdout, stderr) = match streams(job) {
        Ok(streams) => streams,
        Err(failure) => {
            tally.jobs.fetch_add(1, Ordering::Relaxed);
            return tally.wrong(format!("{} ({}): {}", job.id(), case.line, failure.message()));
        }
    };
    let lost = case.stdout.len().abs_diff(stdout.len()) + case.stderr.len().abs_diff(stderr.len());
    tally.bytes.fetch_add(lost, Ordering::Relaxed);
    if outcome.exit_code().is_none() {
        tally.jobs.fetch_add(1, Ordering::Relaxed);
    }
    let written = u64::try_from(stdout.len() + stderr.len()).unwrap_or(u64::MAX);
    let as_wanted = outcome.exit_code() == Some(case.code)
        && stdout == case.stdout
        && stderr == case.stderr
        && outcome.total_bytes == written
        && outcome.leaked.is_empty();
    if !as_wanted {
        tally.wrong(format!(
            "{} ({}): {:?}, {} bytes of stdout, {} of stderr, leaked {:?}",
            job.id(),
            case.line,
            outcome.end,
            stdout.len(),
            stderr.len(),
            outcome.leaked
        ));
    }
}

/// What a job wrote, taken apart by its index.
fn streams(job: &Job) -> Done<(Vec<u8>, Vec<u8>)> {
    let log = job.log().map_err(Failure::at("log"))?;
    let length = log.length().map_err(Failure::at("length"))?;
    let mut bytes = vec![0; usize::try_from(length).map_err(Failure::at("length"))?];
    let mut read = 0;
    while read < bytes.len() {
        let (_, count) =
            log.read_at(read as u64, &mut bytes[read..]).map_err(Failure::at("read"))?;
        if count == 0 {
            return Err(Failure::new(format!("output ends at {read} of {length}")));
        }
        read += count;
    }
    let runs = log.runs(0..length).map_err(Failure::at("index"))?;
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    for (number, run) in runs.iter().enumerate() {
        let end = runs.get(number + 1).map_or(length, |next| next.start);
        let part = usize::try_from(run.start).ok().zip(usize::try_from(end).ok());
        let part = part.and_then(|(start, end)| bytes.get(start..end)).unwrap_or_default();
        match run.mark {
            Mark::Bytes(Stream::Stderr) => stderr.extend_from_slice(part),
            _ => stdout.extend_from_slice(part),
        }
    }
    Ok((stdout, stderr))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_what_a_bare_shell_gives() -> Done {
        for number in 0..Case::KINDS * 2 {
            let case = Case::new(number);
            let output = std::process::Command::new("/bin/sh")
                .args(["-c", &case.line])
                .output()
                .map_err(Failure::at(&case.line))?;
            assert_eq!(output.stdout, case.stdout, "{}", case.line);
            assert_eq!(output.stderr, case.stderr, "{}", case.line);
            assert_eq!(output.status.code(), Some(case.code), "{}", case.line);
        }
        Ok(())
    }
}
