//! A session that is loaded: all that was said and done, in its order, before the answer to the request.

use serde_json::Value;
use umbo_agent::{EntryKind, Session, SessionError};

use super::updates::Updates;

/// The updates of a session's past, from its beginning to where it goes on; what a summary replaced is
/// among them.
pub(super) fn past(session: &Session, updates: &mut Updates) -> Result<Vec<Value>, SessionError> {
    let mut past = Vec::new();
    for entry in session.path_to(None)? {
        if let EntryKind::Message { .. } | EntryKind::CustomMessage { .. } = &entry.kind
            && let Some(message) = entry.kind.message()
        {
            past.extend(updates.message(&message));
        }
    }
    Ok(past)
}
