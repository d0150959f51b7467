//! What must hold before a change is merged. CI runs this and nothing else.

use std::process::Command;
use std::time::Instant;

use crate::failure::Done;
use crate::workspace::{cargo, display, execute, has_program, say};
use crate::{documents, fuzz, setup, tidy};

const NEXTEST: &str = "0.9.143";

/// Examples that show how the libraries are used, and check that it is so.
const EXAMPLES: [(&str, &str); 6] = [
    ("umbo-engine", "one_command"),
    ("umbo-engine", "background_job"),
    ("umbo-tools", "agent_loop"),
    ("umbo-tools", "approvals"),
    ("umbo-tools", "custom_dialect"),
    ("umbo-agent", "twenty_lines"),
];

/// All of it.
pub(crate) fn full() -> Done {
    let start = Instant::now();
    let prepared = step("setup", setup::run);
    if let Err(failure) = &prepared {
        say(format!("{}\nThe tests that need it will say so.", failure.message()));
    }
    step("tidy", tidy::run)?;
    step_of(&mut format())?;
    step_of(&mut clippy())?;
    step("cargo-nextest is there", have_nextest)?;
    step_of(&mut tests())?;
    step_of(&mut exact_tokens())?;
    step_of(&mut async_engine())?;
    step_of(&mut cargo(&["run", "--quiet", "--package", "xtask", "--", "soak", "2", "--debug"]))?;
    step_of(&mut cargo(&["test", "--doc", "--workspace", "--all-features"]))?;
    step("examples", examples)?;
    step("packages", documents::packages)?;
    step_of(&mut docs())?;
    step("a minute of fuzzing for each target", fuzz::same_minute)?;
    say(format!("\n== all well after {:.0} s", start.elapsed().as_secs_f64()));
    Ok(())
}

/// Runs the examples; each may keep its jobs in a directory that goes with it.
pub(crate) fn examples() -> Done {
    for (package, example) in EXAMPLES {
        let state = std::env::temp_dir().join(format!("umbo-{example}-{}", std::process::id()));
        let mut run = cargo(&["run", "--quiet", "--package", package, "--example", example, "--"]);
        let done = execute(run.arg(&state));
        let _ = std::fs::remove_dir_all(&state);
        done?;
    }
    Ok(())
}

/// What takes seconds.
pub(crate) fn quick() -> Done {
    step("tidy", tidy::run)?;
    step_of(&mut format())?;
    step_of(&mut clippy())
}

fn format() -> Command {
    cargo(&["fmt", "--all", "--check"])
}

fn clippy() -> Command {
    let words =
        ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
    cargo(&words)
}

fn tests() -> Command {
    let mut command = suite();
    command.env(setup::VARIABLE, setup::directory());
    command
}

/// The tests of all crates.
pub(crate) fn suite() -> Command {
    let words = ["nextest", "run", "--profile", "ci", "--workspace", "--features"];
    cargo(&[&words[..], &["umbo/failpoints"]].concat())
}

/// What counts tokens, once more with a real tokenizer: a feature that nothing else turns on.
fn exact_tokens() -> Command {
    let words = ["nextest", "run", "--profile", "ci", "-p", "umbo-view", "--features"];
    cargo(
        &[&words[..], &["umbo-view/exact-tokens", "-E", "binary(tokens) or binary(view)"]].concat(),
    )
}

/// The engine's futures and streams: another feature that nothing else turns on.
fn async_engine() -> Command {
    let words = ["nextest", "run", "--profile", "ci", "-p", "umbo-engine", "--features"];
    cargo(&[&words[..], &["tokio,failpoints", "-E", "test(embed::) | test(examples::)"]].concat())
}

fn docs() -> Command {
    let mut command = cargo(&["doc", "--workspace", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    command
}

/// Installs the test runner where it is missing.
pub(crate) fn have_nextest() -> Done {
    if has_program("cargo-nextest") {
        return Ok(());
    }
    execute(&mut cargo(&["install", "cargo-nextest", "--locked", "--version", NEXTEST]))
}

fn step_of(command: &mut Command) -> Done {
    step(&display(command), || execute(command))
}

/// Does one thing under a heading, and says how long it took.
fn step(name: &str, work: impl FnOnce() -> Done) -> Done {
    let start = Instant::now();
    say(format!("\n== {name}"));
    let done = work();
    let verdict = if done.is_ok() { "ok" } else { "failed" };
    say(format!("== {name}: {verdict} after {:.1} s", start.elapsed().as_secs_f64()));
    done
}
