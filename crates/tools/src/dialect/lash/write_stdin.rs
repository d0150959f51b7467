//! `write_stdin`: typing into a process.

use serde_json::json;

use super::process;
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let (id, job) = process(call, arguments)?;
    let chars = arguments.text("chars").unwrap_or_default();
    if !chars.is_empty() {
        call.input(&job, chars, &[])?;
    }
    if arguments.flag("close_stdin") {
        job.end_input()?;
    }
    let sequence = call.tools.next_signal();
    let value = json!({"process_id": id, "status": "signalled", "sequence": sequence});
    Ok(Answer::new(value, format!("{id}: signalled")))
}
