//! Prints what a decision costs: reading, effects, rules and gate, for everyday commands.

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::path::Path;
use std::time::{Duration, Instant};

use umbo_command::{Shell, read};
use umbo_gate::{Mode, Policy, Roots, Subject, decide};

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

fn main() -> umbo_gate::Result<()> {
    let project = std::env::current_dir().unwrap_or_else(|_| "/".into());
    let load = Instant::now();
    let policy = Policy::new(Roots::new(&project).home(Some(Path::new("/root"))))?
        .user(Path::new("rules.toml"), RULES)?;
    println!("rules loaded in {:?}", load.elapsed());
    let again = Instant::now();
    std::hint::black_box(Policy::new(Roots::new(&project))?);
    println!("built-in rules alone, warm, in {:?}", again.elapsed());
    let mut all = Vec::new();
    for command in COMMANDS {
        let mut times: Vec<Duration> = (0..400)
            .map(|_| {
                let start = Instant::now();
                let reading = read(command, Shell::Bash);
                let subject = Subject::new(command, &reading, &project, policy.roots());
                let explained = decide(&subject, &policy, Mode::Default, &[], &[]);
                std::hint::black_box(explained);
                start.elapsed()
            })
            .collect();
        times.sort();
        println!("{:>8.1} µs  {command}", micros(times[times.len() / 2]));
        all.extend(times);
    }
    all.sort();
    let at = |share: usize| micros(all[(all.len() - 1) * share / 100]);
    println!(
        "p50 {:.1} µs, p95 {:.1} µs, p99 {:.1} µs (goal: p50 at most 200)",
        at(50),
        at(95),
        at(99)
    );
    Ok(())
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
