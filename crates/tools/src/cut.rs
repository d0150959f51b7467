//! Texts that end with where the rest is, if there is a rest.

use umbo_engine::JobHandle;
use umbo_ops::{Call, text};
use umbo_view::{Budget, Stream};

use crate::answer::ToolError;

/// What a job told, with a last line that says where all of it is, if that is too much to be told.
pub(crate) fn with_rest(
    call: &Call<'_>,
    job: &JobHandle,
    stream: Option<Stream>,
    where_it_is: &str,
) -> Result<String, ToolError> {
    let budget = call.budget(None);
    let view = call.view(job, 0, stream, budget)?;
    let notice = format!("\n[umbo: {where_it_is}]\n");
    let length = notice.len() as u64;
    let has_room = budget.tokens.min(budget.bytes) > 8 * length && budget.lines > 8;
    if !view.truncated || !has_room {
        return Ok(text(&view));
    }
    let (tokens, bytes) = (budget.tokens - length, budget.bytes - length);
    let less = Budget { tokens, bytes, lines: budget.lines - 1, ..budget };
    let shown = text(&call.view(job, 0, stream, less)?);
    Ok(format!("{}{notice}", shown.strip_suffix('\n').unwrap_or(&shown)))
}
