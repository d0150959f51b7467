//! What a short command costs: through umbo, and without it.

use std::fs;
use std::hint::black_box;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use umbo_engine::{Engine, Request, Size, Warmth};

use super::{Sample, bare, microseconds, ratio};
use crate::dist;
use crate::failure::{Done, Failure};
use crate::scratch::{Options, Scratch};
use crate::workspace::say;

const ROUNDS: usize = 300;
const STATE: &str = "state";
/// Memory that the benching process has touched in the second run.
const BALLAST: usize = 512 << 20;
/// As long as nothing may happen to the spares before they are at rest.
const REST: Duration = Duration::from_millis(6);
/// So many calls at a time.
pub(super) const OUTSTANDING: [usize; 4] = [1, 2, 4, 8];
/// Bare and umbo take turns so often.
pub(super) const TURNS: usize = 3;
/// As long as what follows an answer may take.
const AFTERWARDS: Duration = Duration::from_millis(50);
/// The row that the others are compared with.
const BASE: &str = "bare `sh -c true`, output read to its end";

pub(crate) fn run(words: &[&str]) -> Done {
    if let ["many", rest @ ..] = words {
        let options = Options::parse(rest)?;
        let calls = options.number(ROUNDS * 4)?;
        let scratch = Scratch::open(&options)?;
        throughput(&scratch, calls)?;
        return scratch.prove_empty(STATE);
    }
    let options = Options::parse(words)?;
    let rounds = options.number(ROUNDS)?;
    let shipped = dist::build()?;
    let scratch = Scratch::open(&options)?;
    say(format!("{rounds} rounds, one call of each kind per round, at rest before each call\n"));
    say(table(&rows(&scratch, &shipped, rounds, Pace::AtRest)?));
    let ballast = black_box(vec![1_u8; BALLAST]);
    say(format!(
        "\nthe same with {} MiB more memory in the calling process\n",
        ballast.len() >> 20
    ));
    say(table(&rows(&scratch, &shipped, rounds.div_ceil(2), Pace::AtRest)?));
    drop(black_box(ballast));
    say("\nback to back: each call right after the one before, 20 of a kind in turns\n");
    say(table(&rows(&scratch, &shipped, rounds, Pace::BackToBack)?));
    say("\nmany calls: `echo hi` with so many outstanding, output read to its end\n");
    throughput(&scratch, rounds * 4)?;
    say("");
    scratch.prove_empty(STATE)
}

/// How many calls a second, and what one costs all processors together.
fn throughput(scratch: &Scratch, calls: usize) -> Done {
    let engine = scratch.engine(STATE).open().map_err(Failure::at("umbo"))?;
    let request = scratch.shell("echo hi");
    say("| outstanding | bare / s | umbo / s | share | bare, µs of processor | umbo | × |");
    say("|---|---|---|---|---|---|---|");
    for outstanding in OUTSTANDING {
        let (mut bares, mut umbos) = (Load::default(), Load::default());
        for _ in 0..TURNS {
            let part = calls.div_ceil(TURNS);
            bares.add(scratch, part, || many(outstanding, part, || bare("echo hi", b"hi\n")))?;
            let call = || umbo(&engine, &request, b"hi\n");
            umbos.add(scratch, part, || many(outstanding, part, call))?;
        }
        let share = umbos.rate() / bares.rate();
        let (bare, umbo) = (bares.processor_us(), umbos.processor_us());
        say(format!(
            "| {outstanding} | {:.0} | {:.0} | {share:.2} | {bare:.0} | {umbo:.0} | {:.2} |",
            bares.rate(),
            umbos.rate(),
            umbo / bare,
        ));
    }
    Ok(())
}

/// Calls, the time they took, and the time of all processors.
#[derive(Default)]
pub(super) struct Load {
    calls: f64,
    time: Duration,
    processor: Duration,
}

impl Load {
    pub(super) fn add(
        &mut self,
        scratch: &Scratch,
        calls: usize,
        work: impl FnOnce() -> Done,
    ) -> Done {
        let (start, before) = (Instant::now(), scratch.processor_time());
        work()?;
        self.time += start.elapsed();
        // What a call leaves to be done after its answer is part of its price.
        std::thread::sleep(AFTERWARDS);
        self.processor += scratch.processor_time().saturating_sub(before);
        self.calls += f64::from(u32::try_from(calls).unwrap_or(u32::MAX));
        Ok(())
    }

    pub(super) fn rate(&self) -> f64 {
        self.calls / self.time.as_secs_f64()
    }

    pub(super) fn processor_us(&self) -> f64 {
        self.processor.as_secs_f64() * 1e6 / self.calls
    }
}

/// Makes calls, `outstanding` of them at a time.
pub(super) fn many(outstanding: usize, calls: usize, call: impl Fn() -> Done + Sync) -> Done {
    let left = AtomicUsize::new(calls);
    let take =
        || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..outstanding)
            .map(|_| {
                scope.spawn(|| -> Done {
                    while take().is_ok() {
                        call()?;
                    }
                    Ok(())
                })
            })
            .collect();
        callers.into_iter().try_for_each(|caller| {
            caller.join().unwrap_or_else(|_| Err(Failure::new("a caller panicked")))
        })
    })
}

/// What comes between two calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// Enough time for a spare to be ready, as between the calls of an agent.
    AtRest,
    /// Nothing.
    BackToBack,
}

/// One kind of call, and how long it took each time.
struct Row<'a> {
    name: &'static str,
    call: Box<dyn FnMut() -> Done + 'a>,
    sample: Sample,
}

fn rows(
    scratch: &Scratch,
    shipped: &Path,
    rounds: usize,
    pace: Pace,
) -> Done<Vec<(&'static str, Sample)>> {
    let warm = scratch.engine(STATE).open().map_err(Failure::at("umbo"))?;
    let cold = scratch.engine(STATE).warmth(Warmth::Cold).open().map_err(Failure::at("umbo"))?;
    let mut rows = calls(scratch, shipped, &warm, &cold);
    let spares = scratch.state(STATE).join("spares");
    for row in &mut rows {
        (row.call)()?;
    }
    let turn = if pace == Pace::AtRest { 1 } else { 20 };
    for round in 0..rounds.div_ceil(turn) {
        let count = rows.len();
        for place in 0..count {
            // Each kind follows another one each time.
            let row = &mut rows[(place * 7 + round) % count];
            await_spares(&spares)?;
            for _ in 0..turn {
                if pace == Pace::AtRest {
                    await_spares(&spares)?;
                }
                let start = Instant::now();
                (row.call)()?;
                row.sample.add(start.elapsed());
            }
        }
    }
    Ok(rows.into_iter().map(|row| (row.name, row.sample)).collect())
}

fn calls<'a>(
    scratch: &'a Scratch,
    shipped: &'a Path,
    warm: &'a Engine,
    cold: &'a Engine,
) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    let mut add = |name, call: Box<dyn FnMut() -> Done + 'a>| {
        rows.push(Row { name, call, sample: Sample::default() });
    };
    let umbo = |engine: &'a Engine, request: Request, wanted: &'static [u8]| {
        Box::new(move || umbo(engine, &request, wanted))
    };
    let terminal = |line| scratch.shell(line).terminal(Size::default());
    add("`posix_spawn` of `/bin/true`", Box::new(|| spawn(&mut Command::new("/bin/true"))));
    add(BASE, Box::new(|| bare("true", b"")));
    add("bare `sh -c 'echo hi'`, output read to its end", Box::new(|| bare("echo hi", b"hi\n")));
    add("umbo library, `true`", umbo(warm, scratch.shell("true"), b""));
    add("umbo library, `echo hi`, output read back", umbo(warm, scratch.shell("echo hi"), b"hi\n"));
    add("umbo library, `echo hi` in a PTY", umbo(warm, terminal("echo hi"), b"hi\r\n"));
    add("umbo library without a warm spare, `true`", umbo(cold, scratch.shell("true"), b""));
    let built = scratch.umbo();
    add("`umbo exec true`, the command line", Box::new(|| command_line(scratch, built)));
    add("`umbo exec true`, the static program", Box::new(|| command_line(scratch, shipped)));
    rows
}

/// The time from the call until the caller has the exit code and the bytes.
fn umbo(engine: &Engine, request: &Request, wanted: &[u8]) -> Done {
    let (job, outcome) = engine.run(request).map_err(Failure::at("umbo"))?;
    let output = if wanted.is_empty() {
        Vec::new()
    } else {
        fs::read(job.output_path()).map_err(Failure::at(job.id()))?
    };
    if outcome.exit_code() == Some(0) && output == wanted {
        return Ok(());
    }
    Err(Failure::new(format!("{}: {:?}, {output:?}", job.id(), outcome.end)))
}

fn spawn(command: &mut Command) -> Done {
    let status = command.stdin(Stdio::null()).status().map_err(Failure::at("posix_spawn"))?;
    if status.success() { Ok(()) } else { Err(Failure::of("posix_spawn", status)) }
}

fn command_line(scratch: &Scratch, program: &Path) -> Done {
    let mut command = Command::new(program);
    command.arg("--state-dir").arg(scratch.state(STATE)).args(["exec", "true"]);
    let output = command.stdin(Stdio::null()).output().map_err(Failure::at("umbo exec"))?;
    if output.status.success() { Ok(()) } else { Err(Failure::of("umbo exec", output.status)) }
}

/// Waits until spares are ready and none is on its way in or out.
fn await_spares(spares: &Path) -> Done {
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut before = Vec::new();
    while Instant::now() < deadline {
        let now = contents(spares).map_err(Failure::at(spares.display()))?;
        if !now.is_empty() && now == before {
            return Ok(());
        }
        before = now;
        std::thread::sleep(REST);
    }
    Err(Failure::new(format!("no spare became ready: {before:?}")))
}

/// The directories in this one, and how many files each has.
fn contents(directory: &Path) -> io::Result<Vec<(PathBuf, usize)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)?.flatten() {
        let files = fs::read_dir(entry.path()).map_or(0, Iterator::count);
        found.push((entry.path(), files));
    }
    found.sort();
    Ok(found)
}

fn table(rows: &[(&'static str, Sample)]) -> String {
    let base = rows.iter().find(|(name, _)| *name == BASE).map(|(_, sample)| sample.median());
    let base = base.unwrap_or_default();
    let mut lines = vec![
        "| call | n | p50 µs | p99 µs | × bare `sh -c true` |".to_owned(),
        "|---|---|---|---|---|".to_owned(),
    ];
    lines.extend(rows.iter().map(|(name, sample)| {
        format!(
            "| {name} | {} | {} | {} | {:.2} |",
            sample.times.len(),
            microseconds(sample.median()),
            microseconds(sample.percentile(99)),
            ratio(sample.median(), base)
        )
    }));
    lines.join("\n")
}
