//! What history costs: the same calls with none, some and very many ended jobs on disk, and with none,
//! some and many alive beside them. Each row is one call; what counts is its last cell against its
//! first.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use umbo_engine::{Engine, JobId, Ladder, Scope};

use super::mcp::{Client, umbo_server};
use super::{Sample, ratio};
use crate::failure::{Done, Failure};
use crate::scratch::{Options, Scratch};
use crate::workspace::say;

/// How many jobs have ended, and how many are alive.
struct Sizes {
    ended: &'static [usize],
    live: &'static [usize],
    rounds: usize,
    pruned: usize,
}

const FULL: Sizes = Sizes {
    ended: &[0, 2_000, 20_000, 200_000],
    live: &[0, 10, 50, 500],
    rounds: 21,
    pruned: 20_000,
};
const QUICK: Sizes = Sizes { ended: &[0, 500, 5_000], live: &[0, 10], rounds: 11, pruned: 5_000 };

/// The most jobs that may run: more than are alive here.
const MAX_RUNNING: usize = 600;
/// How long ago the jobs of the past ended, in microseconds: longer than lists reach back.
const LONG_AGO: u64 = 3_600_000_000;
/// The length of an event in the journal.
const EVENT: usize = 128;
/// A file has at most so many names.
const MOST_LINKS: usize = 30_000;
/// Files of a job that are the same in all of them.
const SHARED: [&str; 2] = ["output", "index"];

/// One row of the table: what is called, and how long it takes in each column.
struct Row {
    name: &'static str,
    cells: Vec<Duration>,
}

pub(crate) fn run(words: &[&str]) -> Done {
    let sizes = if words.contains(&"--quick") { QUICK } else { FULL };
    let words: Vec<&str> = words.iter().copied().filter(|word| *word != "--quick").collect();
    let options = Options::parse(&words)?;
    let scratch = Scratch::open(&options)?;
    say(format!(
        "p50 of {} calls, ms; with the same number alive in a row, and more ended from left to right\n",
        sizes.rounds
    ));
    let heads: Vec<String> = sizes.ended.iter().map(|ended| format!("{ended} ended")).collect();
    say(format!("| call | alive | {} | last / first |", heads.join(" | ")));
    say(format!("|---|---|{}---|", "---|".repeat(heads.len())));
    for live in sizes.live {
        let mut rows: Vec<Row> = Vec::new();
        for ended in sizes.ended {
            let cells = cell(&scratch, *ended, *live, sizes.rounds)?;
            for (name, time) in cells {
                match rows.iter_mut().find(|row| row.name == name) {
                    Some(row) => row.cells.push(time),
                    None => rows.push(Row { name, cells: vec![time] }),
                }
            }
        }
        for row in rows {
            let times: Vec<String> = row.cells.iter().copied().map(milliseconds).collect();
            let (first, last) = (row.cells.first().copied(), row.cells.last().copied());
            let grown = ratio(last.unwrap_or_default(), first.unwrap_or_default());
            say(format!("| {} | {live} | {} | {grown:.2} |", row.name, times.join(" | ")));
        }
    }
    say("");
    prune(&scratch, sizes.pruned)
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e3)
}

fn name_of(ended: usize, live: usize) -> String {
    format!("state-{ended}-{live}")
}

/// All calls with so many jobs.
fn cell(
    scratch: &Scratch,
    ended: usize,
    live: usize,
    rounds: usize,
) -> Done<Vec<(&'static str, Duration)>> {
    let name = name_of(ended, live);
    let engine = past(scratch, &name, ended)?;
    let mut server = umbo_server(scratch, &name);
    server.variables.push(("UMBO_MAX_RUNNING", MAX_RUNNING.to_string()));
    let mut client = Client::start(&server)?;
    for _ in 0..live {
        let arguments = json!({"command": "sleep 1000", "background": true});
        client.request("tools/call", &json!({"name": "exec", "arguments": arguments}))?;
    }
    let known = scratch.shell("true").name("known");
    engine.run(&known).map_err(Failure::at("umbo"))?;
    let state = scratch.state(&name);
    let verb = |words: &'static [&'static str]| {
        let state = &state;
        move || command_line(scratch, state, words)
    };
    let exec = json!({"name": "exec", "arguments": {"command": "echo hi"}});
    let jobs = json!({"name": "jobs", "arguments": {}});
    let request = scratch.shell("echo hi");
    let mut cells = vec![
        ("exec from the library", time(rounds, || run_job(&engine, &request))?),
        ("exec over MCP", time(rounds, || ask(&mut client, "tools/call", &exec))?),
        ("list over MCP", time(rounds, || ask(&mut client, "tools/call", &jobs))?),
        ("resources/list", time(rounds, || ask(&mut client, "resources/list", &json!({})))?),
        ("list from the library", time(rounds, || list(&engine))?),
        ("a name, from the library", time(rounds, || find(&engine, "known", true))?),
        (
            "an unknown name, from the library",
            time(rounds, || find(&engine, "no-such-job", false))?,
        ),
    ];
    cells.push(("`umbo jobs`", time(rounds, verb(&["jobs"]))?));
    cells.push(("`umbo output NAME`", time(rounds, verb(&["output", "known"]))?));
    for summary in engine.jobs(Scope::Recent).map_err(Failure::at("jobs"))? {
        if summary.status.name() == "started" {
            let job = engine.job(summary.job.as_str()).map_err(Failure::at("job"))?;
            job.stop(Ladder::KILL).map_err(Failure::at("stop"))?;
        }
    }
    client.leave()?;
    drop(engine);
    scratch.prove_gone(&name)?;
    fs::remove_dir_all(scratch.state(&name)).map_err(Failure::at(&name))?;
    Ok(cells)
}

fn time(rounds: usize, mut call: impl FnMut() -> Done) -> Done<Duration> {
    let mut sample = Sample::default();
    call()?;
    for _ in 0..rounds {
        let start = Instant::now();
        call()?;
        sample.add(start.elapsed());
    }
    Ok(sample.median())
}

fn ask(client: &mut Client, method: &str, params: &Value) -> Done {
    let answer = client.request(method, params)?;
    if answer.get("error").is_some() || answer["result"]["isError"] == json!(true) {
        return Err(Failure::new(format!("{method}: {answer}")));
    }
    Ok(())
}

fn run_job(engine: &Engine, request: &umbo_engine::Request) -> Done {
    let (_, outcome) = engine.run(request).map_err(Failure::at("umbo"))?;
    if outcome.exit_code() == Some(0) { Ok(()) } else { Err(Failure::new("`echo hi` failed")) }
}

fn list(engine: &Engine) -> Done {
    engine.jobs(Scope::Recent).map(drop).map_err(Failure::at("jobs"))
}

fn find(engine: &Engine, name: &str, is_known: bool) -> Done {
    match engine.job(name) {
        found if found.is_ok() == is_known => Ok(()),
        other => Err(Failure::new(format!("{name}: {other:?}"))),
    }
}

fn command_line(scratch: &Scratch, state: &Path, words: &[&str]) -> Done {
    let mut command = Command::new(scratch.umbo());
    command.arg("--state-dir").arg(state).args(words);
    let output = command.stdin(Stdio::null()).output().map_err(Failure::at("umbo"))?;
    if output.status.success() { Ok(()) } else { Err(Failure::of("umbo", output.status)) }
}

/// A state directory in which so many jobs have ended long ago, as if each had run.
fn past(scratch: &Scratch, name: &str, ended: usize) -> Done<Engine> {
    let open = || {
        let builder = scratch.engine(name).max_running(MAX_RUNNING).retention(1 << 30, 1 << 50);
        builder.open().map_err(Failure::at("umbo"))
    };
    if ended > 0 {
        let engine = open()?;
        let (job, _) = engine.run(&scratch.shell("echo hi")).map_err(Failure::at("umbo"))?;
        let id = job.id().to_string();
        drop(engine);
        copy_job(&scratch.state(name), &id, ended)?;
    }
    open()
}

/// Makes the directory of a job that ended into very many, with their events.
fn copy_job(state: &Path, id: &str, count: usize) -> Done {
    let from = state.join("jobs").join(id);
    let read = |name: &str| {
        let path = from.join(name);
        fs::read_to_string(&path).map_err(Failure::at(path.display()))
    };
    let (request, outcome) = (read("request")?, read("outcome")?);
    let ended_at = serde_json::from_str::<Value>(&outcome).map_err(Failure::at("outcome"))?;
    let ended_at = ended_at["ended_at"].as_u64().unwrap_or(0);
    let long_ago = ended_at.saturating_sub(LONG_AGO);
    let outcome = outcome.replace(&ended_at.to_string(), &long_ago.to_string());
    let mut shared: Vec<PathBuf> = SHARED.iter().map(|name| from.join(name)).collect();
    let journal = state.join("events");
    let file = fs::OpenOptions::new().append(true).open(&journal);
    let mut events = std::io::BufWriter::new(file.map_err(Failure::at(journal.display()))?);
    for number in 0..count {
        let new = JobId::generate().to_string();
        let to = state.join("jobs").join(&new);
        let made = |path: &Path| Failure::at(path.display().to_string());
        fs::create_dir(&to).map_err(made(&to))?;
        fs::write(to.join("request"), request.replace(id, &new)).map_err(made(&to))?;
        fs::write(to.join("outcome"), outcome.replace(id, &new)).map_err(made(&to))?;
        for (name, source) in SHARED.iter().zip(&mut shared) {
            if number % MOST_LINKS == 0 {
                fs::copy(&*source, to.join(name)).map_err(made(&to))?;
                *source = to.join(name);
            } else {
                fs::hard_link(&*source, to.join(name)).map_err(made(&to))?;
            }
        }
        for kind in [r#""created""#, r#""started""#, r#""exited","state":"exited","code":0"#] {
            let event = format!(r#"{{"at":{long_ago},"job":"{new}","kind":{kind}}}"#);
            let width = EVENT - 1;
            writeln!(events, "{event:<width$}").map_err(made(&journal))?;
        }
    }
    // It is made anew from the directories.
    let _ = fs::remove_file(state.join("catalog"));
    events.flush().map_err(Failure::at("events"))
}

/// How long very many jobs take to be deleted, and what a call costs meanwhile.
fn prune(scratch: &Scratch, count: usize) -> Done {
    let name = "pruned";
    let engine = past(scratch, name, count)?;
    let request = scratch.shell("echo hi");
    let before = time(50, || run_job(&engine, &request))?;
    let mut beside = Sample::default();
    let (took, removed) = std::thread::scope(|scope| -> Done<(Duration, usize)> {
        let pruning = scope.spawn(|| {
            let start = Instant::now();
            let removed = engine.prune(Some(Duration::from_mins(30)));
            (start.elapsed(), removed)
        });
        while !pruning.is_finished() {
            let start = Instant::now();
            run_job(&engine, &request)?;
            beside.add(start.elapsed());
        }
        let (took, removed) = pruning.join().map_err(|_| Failure::new("deleting panicked"))?;
        Ok((took, removed.map_err(Failure::at("prune"))?.len()))
    })?;
    say(format!(
        "{removed} jobs deleted in {} ms (wanted: 20000 in 2000); a call beside it {} ms, before it {} ms",
        milliseconds(took),
        milliseconds(beside.median()),
        milliseconds(before)
    ));
    if removed < count {
        return Err(Failure::new(format!("only {removed} of {count} jobs were deleted")));
    }
    drop(engine);
    scratch.prove_empty(name)
}
