//! The same on tokio: several commands at once, output as a stream, and a job that is stopped
//! because nobody wants it any more.
#![expect(clippy::print_stdout, reason = "an example has something to show")]

use std::time::Duration;

use umbo_engine::{Engine, Environment, Followed, Request};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Before the runtime: a supervisor has none.
    umbo_engine::init();
    let state = std::env::args().nth(1).ok_or("usage: async_run STATE_DIRECTORY")?;
    let engine = Engine::builder(state).open()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(work(&engine))
}

async fn work(engine: &Engine) -> Result<(), Box<dyn std::error::Error>> {
    let shell = |line: &str| Request::shell(line, "/").env(Environment::inherit());

    let (one, other) = (shell("echo one"), shell("echo other"));
    let (one, other) = tokio::join!(engine.read_async(&one), engine.read_async(&other));
    println!("{} and {}", one?, other?);

    let job = engine.start_async(&shell("echo first; echo second")).await?;
    let mut output = job.follow_async(0)?;
    while let Some(chunk) = output.next().await {
        if let Followed::Bytes { bytes, .. } = chunk? {
            print!("{}", String::from_utf8_lossy(&bytes));
        }
    }

    // Dropping the future stops the job, and all it started.
    let long = shell("sleep 600");
    let waited = tokio::time::timeout(Duration::from_millis(100), engine.run_async(&long)).await;
    println!("given up: {}", waited.is_err());
    Ok(())
}
