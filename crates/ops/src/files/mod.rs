//! Files: `list`, `tree`, `search`, `find`, `read`, `write`, `edit` and `undo`.
//!
//! Each operation passes the gate once, as a subject of paths: what it touches is collected while it
//! looks, the gate decides about all of it together, and only then its answer is given away or its
//! change is made (`access`). Text is masked on its way out and restored on its way in.

mod access;
mod edit;
mod find;
mod list;
mod places;
mod read;
mod search;
mod session;
mod tree;
mod undo;
mod urls;
mod write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use edit::{EditAnswer, EditRequest, EditedFile, Replacement, edit};
pub use find::{FindAnswer, FindRequest, WantedKind, find};
pub use list::{ListAnswer, ListRequest, ListedEntry, WantedOrder, list};
pub use read::{ReadAnswer, ReadOptions, ReadRequest, read};
pub use search::{FileMatches, SearchAnswer, SearchOptions, SearchRequest, WantedOutput, search};
pub use session::FileSettings;
pub use tree::{TreeAnswer, TreeRequest, tree};
pub use umbo_files::paths::FoundBy;
pub use umbo_files::{
    ChangeKind, Content, EntryKind, FindKind, FoundFile, ImageContent, LineStyle, Order, Overwrite,
    SearchOutput, TextPage, TreeNode, WebPolicy, anchor, render,
};
pub use undo::{
    ListedChange, UndoAnswer, UndoRequest, UndoneFile, newest_change, restore_after, undo,
};
pub use write::{WantedOverwrite, WriteAnswer, WriteRequest, write};

pub(crate) use session::FileState;

use umbo_files::StopReason;

use crate::error::{Error, ErrorCode};

/// A point in time as answers show it.
pub fn time(seconds: i64) -> String {
    let micros = u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000);
    umbo_gate::show_time(micros)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Why work ended before everything was looked at.
fn stopped(reason: Option<StopReason>) -> Option<&'static str> {
    reason.map(|reason| match reason {
        StopReason::Cancelled => "cancelled",
        StopReason::Deadline => "deadline",
    })
}

/// Paths, globs among them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Paths(pub Vec<String>);

impl JsonSchema for Paths {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Paths".into()
    }

    fn json_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "array", "items": {"type": "string"}})
    }
}

impl Paths {
    /// The paths; the working directory if there are none.
    fn or_here(&self) -> Vec<String> {
        if self.0.is_empty() { vec![".".to_owned()] } else { self.0.clone() }
    }
}

impl From<umbo_files::Error> for Error {
    fn from(error: umbo_files::Error) -> Self {
        use umbo_files::Error as Files;
        let message = error.to_string();
        let code = match &error {
            Files::BadRequest { field, .. } => {
                let field = Some((*field).to_owned());
                return Self { field, ..Self::new(ErrorCode::InvalidArgument, message) };
            }
            Files::NotFound { .. } => ErrorCode::NotFound,
            Files::Denied { .. } => ErrorCode::Denied,
            Files::WrongKind { .. } => ErrorCode::WrongKind,
            Files::TooLarge { .. } => ErrorCode::TooLarge,
            Files::Unreadable { .. } => ErrorCode::Unreadable,
            Files::BadEdit { .. } => ErrorCode::BadEdit,
            Files::StaleAnchors { .. } | Files::ChangedSinceRead { .. } => ErrorCode::FileChanged,
            Files::NoMatch { .. } => ErrorCode::NoMatch,
            Files::NoChange { .. } => ErrorCode::NoChange,
            Files::Exists { .. } => ErrorCode::Exists,
            Files::NotRead { .. } => ErrorCode::NotRead,
            Files::NoSuchChange { .. } => ErrorCode::UnknownChange,
            Files::Stopped { reason: StopReason::Cancelled } => ErrorCode::Cancelled,
            Files::Stopped { reason: StopReason::Deadline } => ErrorCode::TimedOut,
            _ => ErrorCode::IoError,
        };
        Self::new(code, message)
    }
}
