//! `input`: typing into a job. What is typed passes the gate.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_engine::{Condition, Outcome, Size};

use crate::call::{Call, text};
use crate::error::{Error, ErrorCode};
use crate::values::Seconds;

/// Silence after which an answer to the input is taken to be whole.
const QUIET: Duration = Duration::from_millis(300);

/// What to type, and into which job.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputRequest {
    /// Which job.
    #[schemars(description = "")]
    pub job: String,
    /// A text, as it is typed.
    #[schemars(description = "As typed; a line end is enter")]
    pub text: Option<String>,
    /// Keys after the text, by their names.
    #[schemars(description = "")]
    pub keys: Option<Vec<String>>,
    /// Whether no more input comes.
    #[serde(default)]
    #[schemars(description = "")]
    pub eof: bool,
    /// How long to wait for what the job says to it; the answer has that, if it is given.
    #[schemars(description = "", range(max = 3600))]
    pub wait: Option<Seconds>,
    /// A new size for the job's terminal, set before anything is typed.
    #[serde(skip)]
    #[schemars(skip)]
    pub resize: Option<Size>,
}

/// What was typed, and what the job said.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct InputAnswer {
    /// The job.
    pub job: String,
    /// How many bytes were sent.
    pub bytes: usize,
    /// Whether it was told that no more comes.
    pub eof: bool,
    /// Its state.
    pub state: &'static str,
    /// The exit code, if it has one.
    pub exit_code: Option<i32>,
    /// What it wrote since, if that was waited for.
    pub output: Option<String>,
    /// Where to read on.
    pub next_offset: Option<u64>,
}

/// Types into a job, if the gate has nothing against it.
pub fn input(call: &Call<'_>, request: &InputRequest) -> Result<InputAnswer, Error> {
    let mut pressed = Vec::new();
    for name in request.keys.iter().flatten() {
        let wrong = |error: umbo_engine::Error| Error::argument("keys", error.problem());
        pressed.extend(umbo_engine::key(name).map_err(wrong)?);
    }
    let typed = request.text.as_deref().unwrap_or_default();
    let bytes = typed.len() + pressed.len();
    if bytes == 0 && !request.eof && request.resize.is_none() {
        return Err(Error::argument("text", "nothing was given; accepted: text, keys or eof"));
    }
    let job = call.job(&request.job)?;
    let before = job.log()?.length()?;
    if let Some(size) = request.resize {
        job.resize(size)?;
    }
    if bytes > 0 {
        call.input(&job, typed, &pressed)?;
    }
    if request.eof {
        job.end_input()?;
    }
    let (mut output, mut next_offset) = (None, None);
    if let Some(wait) = request.wait {
        let anything = regex::bytes::Regex::new("(?s).")
            .map_err(|error| Error::new(ErrorCode::Internal, error.to_string()))?;
        let answered = vec![Condition::Match { pattern: anything, from: before }, Condition::Exit];
        call.wait(&job, answered, wait.0)?;
        call.wait(&job, vec![Condition::Quiet(QUIET), Condition::Exit], wait.0)?;
        let view = call.view(&job, before, None, call.budget(None))?;
        output = Some(text(&view));
        next_offset = Some(view.parts.last().map_or(before, |part| part.offset().end));
    }
    let status = job.status()?;
    let exit_code = call.ended(&job, &status).and_then(Outcome::exit_code);
    Ok(InputAnswer {
        job: job.id().to_string(),
        bytes,
        eof: request.eof,
        state: status.name(),
        exit_code,
        output,
        next_offset,
    })
}
