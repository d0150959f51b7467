//! How fast a flood of output is captured, and in how much memory.

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use umbo_engine::{Attached, Engine};

use super::{Sample, ratio};
use crate::failure::{Done, Failure};
use crate::proc;
use crate::scratch::{Options, Scratch};
use crate::workspace::{execute, say};

const STATE: &str = "state";
const ROUNDS: usize = 5;
const WANTED: &str = "wanted: ratio ≥ 0.7, peak ≤ 64 MB";

pub(crate) fn run(words: &[&str]) -> Done {
    let options = Options::parse(words)?;
    let bytes = parse_size(options.amount.unwrap_or("1G"))?;
    let scratch = Scratch::open(&options)?;
    let engine = scratch.engine(STATE).open().map_err(Failure::at("umbo"))?;
    say(format!("{} MiB, {ROUNDS} rounds in turns\n", bytes >> 20));
    say("| writer | `cat > file` MB/s | umbo MB/s | ratio of medians | supervisor's peak |");
    say("|---|---|---|---|---|");
    let blocks = bytes >> 16;
    let dd = format!("dd if=/dev/zero bs=64k count={blocks} status=none");
    let head = format!("head -c {bytes} /dev/zero");
    let both = format!("head -c {0} /dev/zero; head -c {0} /dev/zero >&2", bytes / 2);
    for (name, line, length) in [
        ("64 KiB writes (`dd`)", &dd, blocks << 16),
        ("`head -c`", &head, bytes),
        ("`head -c`, half to stderr", &both, bytes / 2 * 2),
    ] {
        compare(&scratch, &engine, name, line, length)?;
    }
    say(format!("\n{WANTED}"));
    drop(engine);
    scratch.prove_empty(STATE)
}

fn compare(scratch: &Scratch, engine: &Engine, name: &str, line: &str, bytes: u64) -> Done {
    let (mut plain, mut umbo) = (Sample::default(), Sample::default());
    let mut peak = 0;
    for _ in 0..ROUNDS {
        plain.add(cat(scratch, line)?);
        let (time, most) = capture(scratch, engine, line, bytes)?;
        umbo.add(time);
        peak = peak.max(most);
    }
    let rate = |sample: &Sample| {
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let megabytes = bytes as f64 / 1e6;
        megabytes / sample.median().as_secs_f64()
    };
    let ratio = ratio(plain.median(), umbo.median());
    say(format!(
        "| {name} | {:.0} | {:.0} | {ratio:.2} | {}.{} MB |",
        rate(&plain),
        rate(&umbo),
        peak >> 10,
        (peak & 1023) * 10 / 1024
    ));
    Ok(())
}

/// What a shell does: the writer, a pipe, `cat` and a file on the same disk.
fn cat(scratch: &Scratch, line: &str) -> Done<Duration> {
    let file = scratch.directory().join("plain");
    let line = format!("{{ {line}; }} 2>&1 | cat > '{}'", file.display());
    let start = Instant::now();
    execute(Command::new("/bin/sh").args(["-c", &line]))?;
    let time = start.elapsed();
    fs::remove_file(&file).map_err(Failure::at(file.display()))?;
    Ok(time)
}

/// The same through umbo, and the most memory its supervisor had, in KiB.
fn capture(scratch: &Scratch, engine: &Engine, line: &str, bytes: u64) -> Done<(Duration, u64)> {
    let start = Instant::now();
    let mut job = engine.spawn(&scratch.shell(line)).map_err(Failure::at("umbo"))?;
    let supervisor = supervisor_of(scratch, &job)?;
    let over = AtomicBool::new(false);
    let (outcome, time, peak) = thread::scope(|scope| {
        let watch = scope.spawn(|| watch_peak(supervisor, &over));
        let outcome = job.wait(None);
        let time = start.elapsed();
        over.store(true, Ordering::Relaxed);
        (outcome, time, watch.join().unwrap_or(0))
    });
    match outcome.map_err(Failure::at("umbo"))? {
        Some(outcome) if outcome.total_bytes == bytes && outcome.exit_code() == Some(0) => {}
        other => return Err(Failure::new(format!("not all was captured: {other:?}"))),
    }
    engine.prune(Some(Duration::ZERO)).map_err(Failure::at("prune"))?;
    Ok((time, peak))
}

/// The process that supervises a job, by the job's own record, and it must look like one.
fn supervisor_of(scratch: &Scratch, job: &Attached) -> Done<u32> {
    let file = scratch.state(STATE).join("jobs").join(job.job().id().as_str()).join("request");
    let text = fs::read_to_string(&file).map_err(Failure::at(file.display()))?;
    let pid = supervisor_in(&text).ok_or_else(|| Failure::new("no supervisor in the record"))?;
    if proc::supervisors(&scratch.state(STATE)).contains(&pid) {
        return Ok(pid);
    }
    Err(Failure::new(format!("process {pid} is no supervisor: {}", proc::command_line(pid))))
}

pub(super) fn supervisor_in(request: &str) -> Option<u32> {
    let record: serde_json::Value = serde_json::from_str(request.lines().next()?).ok()?;
    record["supervisor"]["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok())
}

/// The kernel keeps the peak; it has to be asked before the process ends.
fn watch_peak(pid: u32, over: &AtomicBool) -> u64 {
    let mut peak = 0;
    while !over.load(Ordering::Relaxed) {
        peak = proc::peak_kib(pid).map_or(peak, |now| now.max(peak));
        thread::sleep(Duration::from_millis(10));
    }
    peak
}

/// A number of bytes, as `4G`, `512M` or `65536`.
fn parse_size(text: &str) -> Done<u64> {
    let shift = match text.chars().next_back() {
        Some('G' | 'g') => 30,
        Some('M' | 'm') => 20,
        Some('K' | 'k') => 10,
        _ => 0,
    };
    let digits = if shift > 0 { &text[..text.len() - 1] } else { text };
    let number: Option<u64> = digits.parse().ok();
    number
        .and_then(|number| number.checked_mul(1 << shift))
        .filter(|bytes| *bytes >= 1 << 16)
        .ok_or_else(|| {
            Failure::new(format!("{text:?} is no size; write 4G, 512M or bytes from 65536"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_like_those_of_head() -> Done {
        assert_eq!(parse_size("4G")?, 4 << 30);
        assert_eq!(parse_size("64k")?, 1 << 16);
        assert!(["", "G", "x", "1", "99999999999G"].iter().all(|text| parse_size(text).is_err()));
        Ok(())
    }

    #[test]
    fn a_record_names_its_supervisor() {
        assert_eq!(supervisor_in("{\"supervisor\":{\"pid\":7}}\n{}\n"), Some(7));
        assert_eq!(supervisor_in("{}"), None);
    }
}
