//! `input`: typing into a job.

use std::time::Duration;

use serde_json::json;
use umbo_engine::{Condition, Status};

use super::closed;
use umbo_ops::ErrorCode;

use crate::answer::{Answer, ToolError, compact};
use crate::arguments::Arguments;
use crate::call::{Call, text};

/// Silence after which an answer to the input is taken to be whole.
const SETTLED: Duration = Duration::from_millis(300);

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let keys = arguments.texts("keys").unwrap_or_default();
    let eof = arguments.flag("eof");
    let text_given = arguments.text("text").unwrap_or_default();
    let mut pressed = Vec::new();
    for name in &keys {
        let wrong = |error: umbo_engine::Error| ToolError::argument("keys", error.problem());
        pressed.extend(umbo_engine::key(name).map_err(wrong)?);
    }
    let sent = text_given.len() + pressed.len();
    if sent == 0 && !eof {
        return Err(ToolError::argument("text", "nothing was given; accepted: text, keys or eof"));
    }
    let job = call.job(arguments.text("job").unwrap_or_default())?;
    let before = job.log()?.length()?;
    if sent > 0 {
        call.input(&job, text_given, &pressed)?;
    }
    if eof {
        job.end_input()?;
    }
    let mut value = json!({"job": job.id().as_str(), "bytes": sent, "eof": eof});
    let mut output = String::new();
    if let Some(patience) = arguments.seconds("wait") {
        let answered = regex::bytes::Regex::new("(?s).")
            .map_err(|error| ToolError::new(ErrorCode::Internal, error.to_string()))?;
        let news = vec![Condition::Match { pattern: answered, from: before }, Condition::Exit];
        call.wait(&job, news, patience)?;
        call.wait(&job, vec![Condition::Quiet(SETTLED), Condition::Exit], patience)?;
        let view = call.view(&job, before, None, call.budget(None))?;
        output = text(&view);
        value["output"] = json!(output);
        value["next_offset"] = json!(view.parts.last().map_or(before, |part| part.offset().end));
    }
    let status = job.status()?;
    value["state"] = json!(status.name());
    if let Status::Ended(outcome) = &status {
        call.told(&job);
        value["exit_code"] = json!(outcome.exit_code());
    }
    let line = format!("{}: {} bytes sent, {}", job.id(), sent, status.name());
    Ok(Answer::new(compact(value), closed(output, &line)))
}
