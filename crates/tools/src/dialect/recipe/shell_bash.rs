//! `shell.bash`: a line for bash.

use schemars::JsonSchema;
use serde::Deserialize;
use umbo_ops::Call;

use super::{DEFAULT_TIMEOUT, Ended, State, execute};
use crate::answer::{Answer, ToolError};
use crate::time::seconds;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The line
    #[schemars(length(min = 1))]
    command: String,
    /// Working directory, relative to the project root; the root unless given
    cwd: Option<String>,
    /// Seconds, 300 unless given
    #[schemars(range(min = 0, max = 3600))]
    timeout: Option<f64>,
}

pub(super) fn run(
    state: &State,
    call: &Call<'_>,
    arguments: Arguments,
) -> Result<Answer<Ended>, ToolError> {
    let directory = state.directory(call, arguments.cwd.as_deref())?;
    let timeout = arguments.timeout.map_or(DEFAULT_TIMEOUT, seconds);
    let ended = execute(call, &arguments.command, &directory, timeout)?;
    let text = ended.text();
    Ok(Answer::new(ended, text))
}
