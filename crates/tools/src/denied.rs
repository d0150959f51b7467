//! What a sandbox denied a job, in the contracts that have no field for it: one line of ours after its output.

use std::fmt::Write as _;

use umbo_engine::Outcome;

/// The output of a job that ended, and after it what its sandbox denied, if it denied anything.
pub(crate) fn with_denials(mut output: String, outcome: &Outcome) -> String {
    if let Some(denied) = umbo_ops::denials(outcome) {
        if !output.is_empty() && !output.ends_with('\n') {
            output.push('\n');
        }
        let _ = writeln!(output, "[umbo: {denied}]");
    }
    output
}
