//! What a sandbox costs: at the start of a command, and while it works.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use umbo_engine::sandbox::{Plan, Policy, Profile, Rung, Surroundings};
use umbo_engine::{Engine, Request};

use super::{Sample, microseconds, ratio};
use crate::failure::{Done, Failure};
use crate::proc;
use crate::scratch::{Options, Scratch};
use crate::workspace::say;

const ROUNDS: usize = 200;
/// A build is measured so many times.
const BUILDS: usize = 7;
/// How long a spare supervisor has to build the sandbox that is expected.
const REST: Duration = Duration::from_millis(25);
/// How many files the work opens.
const FILES: usize = 10_000;
/// The row that the others are compared with.
const BASE: &str = "no sandbox";

pub(crate) fn run(words: &[&str]) -> Done {
    let options = Options::parse(words)?;
    let rounds = options.number(ROUNDS)?;
    let scratch = Scratch::open(&options)?;
    let project = scratch.directory().join("project");
    fs::create_dir_all(&project).map_err(Failure::at(project.display()))?;
    let rows = [
        Row::new(&scratch, "plain", BASE, None)?,
        Row::new(&scratch, "again", "no sandbox, again", None)?,
        Row::new(
            &scratch,
            "spaces",
            "workspace",
            Some(plan(&project, Rung::Namespaces, Profile::Workspace)?),
        )?,
        Row::new(
            &scratch,
            "net",
            "workspace+net",
            Some(plan(&project, Rung::Namespaces, Profile::WorkspaceNet)?),
        )?,
        Row::new(
            &scratch,
            "rules",
            "workspace, Landlock alone",
            Some(plan(&project, Rung::Landlock, Profile::Workspace)?),
        )?,
    ];
    say(format!("`true`, {rounds} rounds, one call of each kind per round\n"));
    start(&scratch, &rows, rounds)?;
    work(&scratch, &rows, &project)?;
    let (resident, proportional) = memory(&scratch, &rows)?;
    say(format!(
        "\na supervisor of a sandboxed job: at most {resident} KiB resident, of which {proportional} KiB \
         are its share"
    ));
    let states: Vec<_> = rows.iter().map(|row| row.state).collect();
    drop(rows);
    states.into_iter().try_for_each(|state| scratch.prove_empty(state))
}

struct Row {
    state: &'static str,
    name: &'static str,
    engine: Engine,
    plan: Option<Plan>,
}

impl Row {
    fn new(
        scratch: &Scratch,
        state: &'static str,
        name: &'static str,
        plan: Option<Plan>,
    ) -> Done<Self> {
        let engine = scratch.engine(state).open().map_err(Failure::at("umbo"))?;
        Ok(Self { state, name, engine, plan })
    }

    fn run(&self, request: Request) -> Done {
        let mut request = request;
        request.sandbox.clone_from(&self.plan);
        let (job, outcome) = self.engine.run(&request).map_err(Failure::at("umbo"))?;
        if outcome.success() && outcome.denied.is_empty() {
            return Ok(());
        }
        let output = fs::read_to_string(job.output_path()).unwrap_or_default();
        Err(Failure::new(format!("{}: {:?} {:?} {output}", self.name, outcome.end, outcome.denied)))
    }
}

fn plan(project: &Path, rung: Rung, profile: Profile) -> Done<Plan> {
    let temporary = project.with_file_name("temporary");
    fs::create_dir_all(&temporary).map_err(Failure::at(temporary.display()))?;
    let around = Surroundings {
        project: project.to_owned(),
        home: std::env::var_os("HOME").map(Into::into),
        temporary: Some(temporary),
        ..Surroundings::default()
    };
    let policy = Policy::of(profile, &around).map_err(Failure::at("a policy"))?;
    let mut plan =
        policy.ok_or_else(|| Failure::new("no policy"))?.plan().map_err(Failure::at("a plan"))?;
    plan.rungs = vec![rung];
    Ok(plan)
}

fn start(scratch: &Scratch, rows: &[Row], rounds: usize) -> Done {
    let mut samples: Vec<Measured> = rows.iter().map(|_| Measured::default()).collect();
    for row in rows {
        row.run(scratch.shell("true"))?;
    }
    for round in 0..rounds {
        for place in 0..rows.len() {
            let index = (place + round) % rows.len();
            thread::sleep(REST);
            samples[index].add(scratch, || rows[index].run(scratch.shell("true")))?;
        }
    }
    table(rows, &samples);
    Ok(())
}

/// Work on many files: each is written once, then all are read, listed and compared.
fn work(scratch: &Scratch, rows: &[Row], project: &Path) -> Done {
    let directory = project.display();
    let lines = [
        ("10,000 files read by one process", format!("cd {directory} && tar cf /dev/null files")),
        (
            "10,000 files written by one process",
            format!("cd {directory} && rm -rf copy && mkdir copy && tar xf files.tar -C copy"),
        ),
        (
            "300 processes",
            format!(
                "cd {directory} && for i in $(seq 100); do /bin/true; /bin/true; /bin/true; done"
            ),
        ),
        ("`make -j2`, 40 C files", format!("cd {directory}/c && make -s clean && make -s -j2")),
        (
            "`cargo build` of a workspace of four crates",
            format!(
                "cd {directory}/rust && rm -rf target && CARGO_TARGET_DIR=target cargo build -q --offline"
            ),
        ),
    ];
    prepare(project)?;
    for (name, line) in lines {
        let mut samples: Vec<Measured> = rows.iter().map(|_| Measured::default()).collect();
        for round in 0..BUILDS {
            for place in 0..rows.len() {
                let index = (place + round) % rows.len();
                samples[index].add(scratch, || rows[index].run(scratch.shell(&line)))?;
            }
        }
        say(format!("\n{name}, {BUILDS} rounds\n"));
        table(rows, &samples);
    }
    Ok(())
}

fn prepare(project: &Path) -> Done {
    let files = project.join("files");
    let sources = project.join("c");
    let failed = |path: &Path| Failure::at(path.display().to_string());
    for number in 0..FILES {
        let directory = files.join(format!("{}", number / 100));
        fs::create_dir_all(&directory).map_err(failed(&directory))?;
        let file = directory.join(format!("{number}"));
        fs::write(&file, format!("{number}\n")).map_err(failed(&file))?;
    }
    fs::create_dir_all(&sources).map_err(failed(&sources))?;
    for number in 0..40 {
        let text = format!(
            "#include <stdio.h>\n#include <stdlib.h>\nint f{number}(int x) {{ return x * {number}; }}\n"
        );
        let file = sources.join(format!("f{number}.c"));
        fs::write(&file, text).map_err(failed(&file))?;
    }
    let make = "o := $(patsubst %.c,%.o,$(wildcard *.c))\nall: $(o)\n\tar rcs all.a $(o)\nclean:\n\trm -f *.o all.a\n";
    fs::write(sources.join("Makefile"), make).map_err(failed(&sources))?;
    let rust = project.join("rust");
    let members = ["a", "b", "c", "d"];
    let workspace = format!("[workspace]\nresolver = \"2\"\nmembers = {members:?}\n");
    for member in members {
        let source = rust.join(member).join("src");
        fs::create_dir_all(&source).map_err(failed(&source))?;
        let manifest = format!(
            "[package]\nname = \"bench-{member}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"
        );
        let text = "pub fn all(n: u32) -> std::collections::BTreeMap<u32, String> {\n    (0..n).map(|i| (i, i.to_string())).collect()\n}\n";
        fs::write(source.with_file_name("Cargo.toml"), manifest).map_err(failed(&source))?;
        fs::write(source.join("lib.rs"), text).map_err(failed(&source))?;
    }
    fs::write(rust.join("Cargo.toml"), workspace).map_err(failed(&rust))?;
    let mut tar = std::process::Command::new("tar");
    tar.current_dir(project).args(["cf", "files.tar", "files"]);
    let status = tar.status().map_err(Failure::at("tar"))?;
    if status.success() { Ok(()) } else { Err(Failure::of("tar", status)) }
}

/// How long it took, and what it used of the processors: all of its processes, and the supervisor. The second
/// says what it costs where others keep the machine busy.
#[derive(Default)]
struct Measured {
    wall: Sample,
    processor: Sample,
}

impl Measured {
    fn add(&mut self, scratch: &Scratch, work: impl FnOnce() -> Done) -> Done {
        let (began, used) = (Instant::now(), scratch.processor_time());
        work()?;
        self.wall.add(began.elapsed());
        self.processor.add(scratch.processor_time().saturating_sub(used));
        Ok(())
    }
}

/// The largest resident and the largest proportional size of a supervisor whose job runs in a sandbox.
fn memory(scratch: &Scratch, rows: &[Row]) -> Done<(u64, u64)> {
    let mut most = (0, 0);
    for row in rows.iter().filter(|row| row.plan.is_some()) {
        let mut request = scratch.shell("sleep 60");
        request.sandbox.clone_from(&row.plan);
        let job = row.engine.start(&request).map_err(Failure::at("umbo"))?;
        thread::sleep(Duration::from_millis(500));
        for pid in proc::supervisors(&scratch.state(row.state)) {
            let sizes = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
            let size = |name: &str| {
                let line = sizes.lines().find_map(|line| line.strip_prefix(name));
                let number = line.and_then(|text| text.split_ascii_whitespace().next());
                number.and_then(|text| text.parse().ok()).unwrap_or(0_u64)
            };
            most = (most.0.max(size("Rss:")), most.1.max(size("Pss:")));
        }
        job.stop(umbo_engine::Ladder::KILL).map_err(Failure::at("umbo"))?;
    }
    Ok(most)
}

fn table(rows: &[Row], samples: &[Measured]) {
    let base = |part: fn(&Measured) -> Duration| samples.first().map(part).unwrap_or_default();
    let quarter = |measured: &Measured| measured.wall.percentile(25);
    let bases = (
        base(|measured| measured.wall.median()),
        base(quarter),
        base(|measured| measured.processor.median()),
    );
    say("| what | n | p25 µs | p50 µs | p90 µs | p50 × no sandbox | p25 × | processor time × |\n\
         |---|---|---|---|---|---|---|---|");
    for (row, measured) in rows.iter().zip(samples) {
        let wall = &measured.wall;
        say(format!(
            "| {} | {} | {} | {} | {} | {:.2} | {:.2} | {:.2} |",
            row.name,
            wall.times.len(),
            microseconds(wall.percentile(25)),
            microseconds(wall.median()),
            microseconds(wall.percentile(90)),
            ratio(wall.median(), bases.0),
            ratio(wall.percentile(25), bases.1),
            ratio(measured.processor.median(), bases.2),
        ));
    }
}
