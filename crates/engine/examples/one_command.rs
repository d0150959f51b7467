//! Runs one command and prints what it printed.
#![expect(clippy::print_stdout, reason = "an example has something to show")]

use std::time::Duration;

use umbo_engine::{Engine, Environment, Request, Warmth};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    umbo_engine::init();
    let state = std::env::args().nth(1).ok_or("usage: one_command STATE_DIRECTORY")?;
    let engine = Engine::builder(state).warmth(Warmth::Cold).open()?;

    let request = Request::shell("echo hello from $PWD; echo oh >&2", "/")
        .env(Environment::inherit())
        .timeout(Duration::from_mins(1));
    println!("{}", engine.read(&request)?);

    // The same, with all there is to know.
    let output = engine.output(&request)?;
    println!("stderr: {}", output.error_text().trim_end());
    println!("code {:?} after {:?}", output.outcome.exit_code(), output.outcome.duration());

    // A command that fails is an error that says so.
    let failing = Request::program("ls", ["/no/such/place"], "/").env(Environment::inherit());
    if let Err(error) = engine.read(&failing) {
        println!("failed: {error}");
    }
    Ok(())
}
