//! `shell.bash`: a line for bash.

use serde_json::json;
use umbo_recipes::select::project_recipe as select;

use super::{TIMEOUT, execute, invalid};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let directory = select::directory(&call.tools.directory, arguments.text("cwd"))
        .map_err(|error| invalid("cwd", error.to_string()))?;
    let timeout = arguments.seconds("timeout").or(call.tools.timeout).unwrap_or(TIMEOUT);
    let line = arguments.text("command").unwrap_or_default();
    let ended = execute(call, line, &directory, timeout)?;
    let value = json!({
        "stdout": ended.stdout,
        "stderr": "",
        "exit_code": ended.exit_code,
        "timed_out": ended.timed_out,
    });
    Ok(Answer::new(value, ended.text()))
}
