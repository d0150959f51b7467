//! The file tools of `claude-code`: `Read`, `Write`, `Edit`, `MultiEdit`, `Glob`, `Grep` and `LS`.

mod edit;
mod glob;
mod grep;
mod ls;
mod read;
mod write;

use umbo_ops::ErrorCode;

use crate::answer::ToolError;
use crate::tool::{Annotations, Tool};

/// The tools, in the order in which they are listed.
pub(super) fn tools() -> Vec<Tool> {
    let reads = |tool: Tool| tool.hints(Annotations::READS).for_files();
    let changes = |tool: Tool| tool.hints(Annotations::CHANGES).serial().for_files();
    vec![
        reads(Tool::new("Read", include_str!("read.md"), read::run)),
        changes(Tool::new("Write", include_str!("write.md"), write::run)),
        changes(Tool::new("Edit", include_str!("edit.md"), edit::run)),
        changes(Tool::new("MultiEdit", include_str!("multi_edit.md"), edit::run_many)),
        reads(Tool::new("Glob", include_str!("glob.md"), glob::run)),
        reads(Tool::new("Grep", include_str!("grep.md"), grep::run)),
        reads(Tool::new("LS", include_str!("ls.md"), ls::run)),
    ]
}

/// An error as these models know it.
fn told(error: umbo_ops::Error) -> ToolError {
    let message = match error.code {
        ErrorCode::NotFound => Some("File does not exist.".to_owned()),
        ErrorCode::NotRead => {
            Some("File has not been read yet. Read it first before writing to it.".to_owned())
        }
        ErrorCode::FileChanged => Some(format!(
            "File has been modified since it was read. Read it again before writing to it. {}",
            error.message
        )),
        _ => None,
    };
    let message = message.unwrap_or_else(|| error.message.clone());
    ToolError { message, ..ToolError::from(error) }
}
