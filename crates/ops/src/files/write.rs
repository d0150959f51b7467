//! `write`: a file with a content.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_files::{FileOp, Overwrite};

use super::access::{self, DryRun, Named};
use crate::call::Call;
use crate::error::Error;

/// What to write.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteRequest {
    /// The file.
    #[schemars(description = "", length(min = 1))]
    pub path: String,
    /// Its content, written as it is.
    #[schemars(description = "")]
    pub content: String,
    /// What happens to a file that exists: unless given, it is replaced if its caller read it and
    /// nobody changed it since.
    #[schemars(description = "A file that exists [if_read]")]
    pub overwrite: Option<WantedOverwrite>,
    /// Makes it executable, or not; unless given, as it was.
    #[schemars(description = "")]
    pub executable: Option<bool>,
    /// Only says what would change.
    #[serde(default)]
    #[schemars(description = "")]
    pub dry_run: bool,
    /// Does not make directories that are missing.
    #[serde(skip)]
    #[schemars(skip)]
    pub no_parents: bool,
}

/// What happens to a file that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, description = "")]
pub enum WantedOverwrite {
    /// It stays.
    #[schemars(description = "")]
    Never,
    /// It is replaced if its caller read it, and it is still as it was read.
    #[schemars(description = "")]
    IfRead,
    /// It is replaced, unless its caller read it and somebody changed it since.
    #[schemars(description = "")]
    UnlessChanged,
    /// It is replaced.
    #[schemars(description = "")]
    Always,
}

impl From<WantedOverwrite> for Overwrite {
    fn from(wanted: WantedOverwrite) -> Self {
        match wanted {
            WantedOverwrite::Never => Self::Never,
            WantedOverwrite::IfRead => Self::IfRead,
            WantedOverwrite::UnlessChanged => Self::UnlessChanged,
            WantedOverwrite::Always => Self::Always,
        }
    }
}

/// What a write did.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WriteAnswer {
    /// The file.
    pub path: String,
    /// `create` or `update`.
    pub op: &'static str,
    /// How many bytes it has.
    pub bytes: u64,
    /// How many lines it has.
    pub lines: usize,
    /// What changed, as a unified diff; of a new file nothing.
    pub diff: String,
    /// Nothing was written: this is what would be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// What the caller should know.
    pub warnings: Vec<String>,
    /// The name of the change, to undo it by.
    pub change: Option<String>,
}

/// Writes a file.
pub fn write(call: &Call<'_>, request: &WriteRequest) -> Result<WriteAnswer, Error> {
    let wanted = |dry_run| umbo_files::WriteRequest {
        path: request.path.clone(),
        content: request.content.clone(),
        create_parents: !request.no_parents,
        overwrite: request.overwrite.map_or(Overwrite::IfRead, Overwrite::from),
        executable: request.executable,
        dry_run,
    };
    let paths = [request.path.clone()];
    let named = Named { verb: "write", paths: &paths, content: &request.content };
    let done = access::change(
        call,
        named,
        |done: &umbo_files::WriteAnswer| match done.op {
            // All of it is new, and whoever is asked wants to see it.
            FileOp::Create => request.content.lines().flat_map(|line| ["+", line, "\n"]).collect(),
            _ => done.diff.clone(),
        },
        |session, call, DryRun(dry)| {
            umbo_files::write(session, &wanted(dry || request.dry_run), call)
        },
    )?;
    Ok(WriteAnswer {
        path: done.path,
        op: if done.op == FileOp::Create { "create" } else { "update" },
        bytes: done.bytes,
        lines: done.lines,
        diff: done.diff,
        dry_run: request.dry_run,
        warnings: done.warnings,
        change: done.change,
    })
}
