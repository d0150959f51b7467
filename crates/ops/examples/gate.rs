//! Prints what the gate costs: the decision alone, and all of it as tools meet it, with files of
//! rules, approvals and the audit. `gate [ROUNDS]`.

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use umbo_command::{Shell, read};
use umbo_engine::{Environment, Request};
use umbo_gate::{Audit, Event, GatePaths, Mode, Policy, Roots, Subject, Trust, decide};
use umbo_ops::{AdmissionRequest, Gatekeeper, NotAdmitted, Records};

const COMMANDS: [&str; 12] = [
    "ls -la",
    "git status",
    "git log --oneline -20 | head",
    "cargo test -p umbo-gate 2>&1 | tail -50",
    "rg -n 'fn main' src | head -20",
    "cd crates && cargo build --release",
    "npm run build && npm test",
    "cat Cargo.toml | grep version",
    "find . -name '*.rs' -not -path './target/*' | xargs wc -l",
    "mkdir -p a/b && touch a/b/c && echo done > a/b/d",
    "git add -A && git commit -m 'message' && git push origin main",
    "for f in *.txt; do sed -n 1p \"$f\" | tr a-z A-Z; done",
];

const RULES: &str = r#"
[[rule]]
decision = "allow"
reason = "builds are fine"
argv = ["cargo", ["build", "test", "check"]]
[[rule]]
decision = "ask"
reason = "publishing is looked at"
effect = "publish"
[[rule]]
decision = "deny"
reason = "no secrets"
path = ["secrets/**", "~/.ssh/**"]
[[rule]]
decision = "deny"
reason = "no such text"
regex = "(?i)drop\\s+table"
"#;

type Done<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Done {
    let rounds = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(400);
    let place = Place::new()?;
    decisions(&place.project, rounds)?;
    as_tools_meet_it(&place, rounds)?;
    questions(&place, rounds)?;
    records(&place, rounds)?;
    fs::remove_dir_all(&place.root)?;
    Ok(())
}

/// A user and a project, both with rules.
struct Place {
    root: PathBuf,
    project: PathBuf,
    gate_paths: GatePaths,
}

impl Place {
    fn new() -> Done<Self> {
        let root = std::env::temp_dir().join(format!("umbo-bench-gate-{}", std::process::id()));
        let (project, config) = (root.join("home/project"), root.join("config"));
        for (directory, rules) in [(project.join(".umbo"), RULES), (config.clone(), RULES)] {
            fs::create_dir_all(&directory)?;
            fs::write(directory.join("rules.toml"), rules)?;
        }
        let home = Some(root.join("home"));
        let gate_paths = GatePaths::new(config, root.join("state")).home(home);
        Ok(Self { root, project, gate_paths })
    }

    fn request(&self, command: &str) -> Request {
        let base: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let mut request = Request::shell(command, &self.project);
        request.env = Environment { base: base.into(), ..Environment::default() };
        request
    }
}

/// Reading, effects, rules, mode.
fn decisions(project: &Path, rounds: usize) -> Done {
    let load = Instant::now();
    let roots = Roots::new(project).home(project.parent());
    let policy = Policy::new(roots).user(Path::new("rules.toml"), RULES, Trust::Trusted)?;
    println!("rules compiled in {:.0} µs", micros(load.elapsed()));
    let mut all = Vec::new();
    for command in COMMANDS {
        let times = measure(rounds, |_| {
            let reading = read(command, Shell::Bash);
            let subject = Subject::new(command, &reading, project, policy.roots());
            std::hint::black_box(decide(&subject, &policy, Mode::Default, &[]));
            Ok(())
        })?;
        println!("{:>8.1} µs  {command}", micros(times[times.len() / 2]));
        all.extend(times);
    }
    report("the decision (goal: p50 at most 200 µs)", all);
    Ok(())
}

/// What a tool call pays for: files of rules looked at, a decision, and a record of it.
fn as_tools_meet_it(place: &Place, rounds: usize) -> Done {
    for (records, name) in [
        (Records::Refusals, "a request through the gatekeeper, unrecorded"),
        (Records::Everything, "a request through the gatekeeper, with its record"),
    ] {
        let keeper = Gatekeeper::new(place.gate_paths.clone(), Mode::Open).records(records);
        let requests = COMMANDS.map(|command| place.request(command));
        drop(keeper.admit(&AdmissionRequest::new(&requests[0]))?);
        let times = measure(rounds * 4, |round| {
            let request = &requests[round % requests.len()];
            drop(keeper.admit(&AdmissionRequest::new(request))?);
            Ok(())
        })?;
        report(name, times);
    }
    Ok(())
}

/// What asking costs, when others wait for an answer too.
fn questions(place: &Place, rounds: usize) -> Done {
    let keeper = Gatekeeper::new(place.gate_paths.clone(), Mode::Default);
    let mut asked = 0;
    for waiting in [0, 100, 900] {
        while asked < waiting {
            ask(&keeper, &place.request(&format!("touch {asked}")))?;
            asked += 1;
        }
        let request = place.request("touch again");
        let times = measure(rounds.min(100), |_| ask(&keeper, &request))?;
        report(&format!("a question while {waiting} others wait"), times);
    }
    Ok(())
}

fn ask(keeper: &Gatekeeper, request: &Request) -> Done {
    match keeper.admit(&AdmissionRequest::new(request)) {
        Err(NotAdmitted::Refused(_)) => Ok(()),
        Err(NotAdmitted::Gate(error)) => Err(error.into()),
        Ok(_) => Err("it was let through".into()),
    }
}

/// One record of the audit by itself.
fn records(place: &Place, rounds: usize) -> Done {
    let audit: Audit = place.gate_paths.audit()?;
    let event = Event::Started { job: "01".to_owned(), verdict: Some(1) };
    let times = measure(rounds, |_| Ok(audit.append(&event, 1).map(drop)?))?;
    report("a record of the audit", times);
    Ok(())
}

fn measure(rounds: usize, mut work: impl FnMut(usize) -> Done) -> Done<Vec<Duration>> {
    let mut times = Vec::with_capacity(rounds);
    for round in 0..rounds {
        let start = Instant::now();
        work(round)?;
        times.push(start.elapsed());
    }
    times.sort();
    Ok(times)
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: usize| micros(times[(times.len() - 1) * share / 100]);
    println!("p50 {:>7.1} µs, p95 {:>7.1} µs, p99 {:>7.1} µs  {what}", at(50), at(95), at(99));
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
