//! Starts a job, waits for a line of its output, talks to it, reads on, and stops it.
#![expect(clippy::print_stdout, reason = "an example has something to show")]

use std::time::Duration;

use regex::bytes::Regex;
use umbo_engine::{Condition, Engine, Environment, Followed, Ladder, Met, Request, Stdin};

const SERVER: &str = "echo listening; while read line; do echo \"you said $line\"; done";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    umbo_engine::init();
    let state = std::env::args().nth(1).ok_or("usage: background_job STATE_DIRECTORY")?;
    let engine = Engine::builder(state).open()?;

    let request =
        Request::shell(SERVER, "/").env(Environment::inherit()).stdin(Stdin::Open).name("server");
    let job = engine.start(&request)?;

    // The job has its own supervisor: this program could end now, and another find it by its name.
    let ready = Condition::Match { pattern: Regex::new("listening")?, from: 0 };
    let met = job.wait(&[ready, Condition::Exit], Some(Duration::from_mins(1)))?;
    println!("ready: {}", matches!(met, Met::Match { .. }));

    job.input(b"hello\n")?;
    let mut said = Vec::new();
    for chunk in job.follow(0)? {
        if let Followed::Bytes { bytes, .. } = chunk? {
            said.extend(bytes);
        }
        if said.ends_with(b"hello\n") {
            break;
        }
    }
    print!("{}", String::from_utf8_lossy(&said));

    let outcome = job.stop(Ladder::default())?;
    println!("{}, nothing left: {}", outcome.end.name(), outcome.contained_by.is_some());
    Ok(())
}
