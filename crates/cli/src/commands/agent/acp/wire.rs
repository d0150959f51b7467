//! The connection: JSON-RPC 2.0, a message a line.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::output;

/// What went wrong with a request.
#[derive(Debug)]
pub(super) struct RpcError {
    code: i32,
    message: String,
}

/// What a request is answered with.
pub(super) type Answered = Result<Value, RpcError>;

/// A request that cannot be done as it is.
pub(super) fn invalid(message: impl Into<String>) -> RpcError {
    RpcError { code: -32602, message: message.into() }
}

/// A request that could not be done.
pub(super) fn failed(failure: impl std::fmt::Display) -> RpcError {
    RpcError { code: -32603, message: failure.to_string() }
}

/// Something that is not there.
pub(super) fn not_found(what: impl Into<String>) -> RpcError {
    RpcError { code: -32002, message: what.into() }
}

/// What a request says. To say nothing is to leave all out.
pub(super) fn params<T: DeserializeOwned>(params: Value) -> Result<T, RpcError> {
    let params = if params.is_null() { json!({}) } else { params };
    serde_json::from_value(params).map_err(|error| invalid(error.to_string()))
}

type Waiting = Box<dyn FnOnce(Option<Value>) + Send>;

/// The editor at the other end.
#[derive(Default)]
pub(super) struct Editor {
    /// Who waits for an answer of the editor, by the number of the request.
    waiting: Mutex<HashMap<u64, Waiting>>,
    count: AtomicU64,
}

/// A message of the editor.
pub(super) enum Message {
    Request { id: Value, method: String, params: Value },
    Notification { method: String, params: Value },
}

impl Editor {
    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a line. Answers to requests of ours go to who waits for them, and what is no message is
    /// answered here.
    pub(super) fn read(&self, line: &[u8]) -> Option<Message> {
        if line.trim_ascii().is_empty() {
            return None;
        }
        let mut message: Value = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(error) => {
                let message = format!("not JSON: {error}");
                respond(&Value::Null, Err(RpcError { code: -32700, message }));
                return None;
            }
        };
        let params = message.get_mut("params").map(Value::take).unwrap_or_default();
        let method = message.get("method").and_then(Value::as_str);
        match (method, message.get("id")) {
            (Some(method), Some(id)) => {
                Some(Message::Request { id: id.clone(), method: method.to_owned(), params })
            }
            (Some(method), None) => {
                Some(Message::Notification { method: method.to_owned(), params })
            }
            (None, Some(id))
                if message.get("result").is_some() || message.get("error").is_some() =>
            {
                let waiting = id.as_u64().and_then(|id| self.waiting().remove(&id));
                if let Some(waiting) = waiting {
                    waiting(message.get("result").cloned());
                }
                None
            }
            _ => {
                let message = "a request, a notification or an answer is needed".to_owned();
                respond(&Value::Null, Err(RpcError { code: -32600, message }));
                None
            }
        }
    }

    /// Asks the editor. Whoever waits gets nothing if the editor fails or leaves.
    pub(super) fn ask(
        &self,
        method: &str,
        params: &Value,
        waiting: impl FnOnce(Option<Value>) + Send + 'static,
    ) {
        let id = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        self.waiting().insert(id, Box::new(waiting));
        output::message(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    /// The editor is gone: nobody answers any more.
    pub(super) fn close(&self) {
        let all: Vec<Waiting> = self.waiting().drain().map(|(_, waiting)| waiting).collect();
        for waiting in all {
            waiting(None);
        }
    }
}

/// Answers a request.
pub(super) fn respond(id: &Value, answered: Answered) {
    let mut message = json!({"jsonrpc": "2.0", "id": id});
    match answered {
        Ok(result) => message["result"] = result,
        Err(RpcError { code, message: why }) => {
            message["error"] = json!({"code": code, "message": why});
        }
    }
    output::message(&message);
}

/// There is no such method.
pub(super) fn refuse(id: &Value, method: &str) {
    let message = format!("there is no method {method:?}");
    respond(id, Err(RpcError { code: -32601, message }));
}

/// Tells of a session.
pub(super) fn update(session: &str, update: &Value) {
    output::message(&json!({
        "jsonrpc": "2.0", "method": "session/update",
        "params": {"sessionId": session, "update": update},
    }));
}
