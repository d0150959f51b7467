//! A dialect of one's own, outside of the crate: two tools with typed arguments and answers, a state
//! that they share, and errors in a shape of their own.
//!
//! ```sh
//! cargo run -p umbo-tools --example custom_dialect
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use umbo_engine::Engine;
use umbo_ops::{ErrorCode, Ran};
use umbo_tools::{Annotations, Answer, Call, Caller, Dialect, Ticket, Tool, ToolError, Toolset};

/// The contract: `run_line` runs a line and numbers it, `lines_run` says how many there were.
struct Numbered {
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    lines: AtomicU64,
}

/// What a model gives to `run_line`; it reads the comments of the fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Line {
    /// The line for the shell
    #[schemars(length(min = 1))]
    line: String,
    /// Seconds until it is stopped
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 600))]
    seconds: u64,
}

fn ten() -> u64 {
    10
}

#[derive(Serialize, JsonSchema)]
struct Numbering {
    number: u64,
    exit_code: Option<i32>,
    output: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Serialize, JsonSchema)]
struct Count {
    lines: u64,
}

impl Dialect for Numbered {
    fn name(&self) -> &'static str {
        "numbered"
    }

    fn tools(&self) -> Vec<Tool> {
        let state = &self.state;
        vec![
            Tool::with_state(state, "run_line", "Runs a line, and numbers it.", run_line).serial(),
            Tool::with_state(state, "lines_run", "How many lines there were.", lines_run)
                .hints(Annotations::READS),
        ]
    }

    fn instructions(&self) -> String {
        "Lines are numbered in the order in which they were run.".to_owned()
    }

    fn prefers_bash(&self) -> bool {
        true
    }

    /// Where the operations say `command`, this contract says `line`.
    fn fields(&self) -> &[(&'static str, &'static str)] {
        &[("command", "line")]
    }

    fn shape(&self, error: &ToolError) -> Value {
        json!({"failed": error.code, "why": error.message})
    }
}

fn run_line(
    state: &State,
    call: &Call<'_>,
    arguments: Line,
) -> Result<Answer<Numbering>, ToolError> {
    let Line { line, seconds } = arguments;
    let mut request = call.request(&line, None);
    let limit = Duration::from_secs(seconds);
    request.limits.wall = Some(limit);
    // The gate is asked in here, the job is kept and audited, and cancelling the call stops it.
    let Ran::Ended(job, outcome) = call.run(&request, limit + Duration::from_secs(20))? else {
        return Err(ToolError::new(ErrorCode::Cancelled, "nobody waits any more"));
    };
    let number = state.lines.fetch_add(1, Ordering::Relaxed) + 1;
    let output = call.text(&job, None, call.budget(None))?;
    let text = format!("line {number}: {output}");
    let result = Numbering { number, exit_code: outcome.exit_code(), output };
    Ok(Answer::new(result, text).of_job(&job))
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of every tool's function")]
fn lines_run(state: &State, _: &Call<'_>, _: Nothing) -> Result<Answer<Count>, ToolError> {
    let lines = state.lines.load(Ordering::Relaxed);
    Ok(Answer::new(Count { lines }, format!("{lines} lines")))
}

fn main() -> Result<(), Box<dyn Error>> {
    umbo_engine::init();
    let place = tempfile::tempdir()?;
    let caller = Caller::builder(Engine::builder(place.path().join("state")).open()?)
        .directory(place.path())
        .environment(std::env::vars_os());
    let numbered = Numbered { state: Arc::default() };
    let tools = Toolset::builder(caller).with_dialect(numbered).build()?;
    for tool in tools.tools() {
        println!("{} {}", tool.name, tool.input_schema);
    }
    let call = |name: &str, arguments| tools.call(name, arguments, &Ticket::default());
    let ran = call("run_line", json!({"line": "echo hello"}));
    println!("{}", ran.text);
    assert_eq!(ran.structured, json!({"number": 1, "exit_code": 0, "output": "hello\n"}));
    let refused = call("run_line", json!({"line": "echo hello", "second": 3}));
    println!("{}", refused.structured);
    assert_eq!(refused.structured["failed"], "invalid_argument");
    assert!(refused.text.contains("`seconds`"), "{}", refused.text);
    assert_eq!(call("lines_run", json!({})).structured, json!({"lines": 1}));
    // Its jobs carry its name.
    let (numbered, state) = (tools.dialect_as::<Numbered>(), tools.caller());
    assert!(numbered.is_some_and(|numbered| numbered.state.lines.load(Ordering::Relaxed) == 1));
    assert_eq!(state.backend.jobs(umbo_engine::Scope::All)?.len(), 1);
    Ok(())
}
