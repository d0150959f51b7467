//! Messages on a pipe, one a line. What cannot be read as one is answered with the protocol's error,
//! and the connection lives on: bad JSON, bad UTF-8, a line that is too long or too deep.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequest, CallToolRequestMethod, CallToolRequestParams, ClientJsonRpcMessage,
    ClientRequest, JsonRpcMessage, JsonRpcRequest, JsonRpcVersion2_0, ProtocolVersion, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::pipe::{LONGEST_LINE_BYTES, Line, Output};

pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;

/// What of the lines of a client is for rmcp, and the way back.
pub(crate) struct LineTransport {
    lines: UnboundedReceiver<Line>,
    /// Messages of a batch that were not handed on yet, the last one first.
    waiting: Vec<ClientJsonRpcMessage>,
    /// Before its first request a client has nothing to notify anybody of.
    has_begun: bool,
    sending: Arc<Mutex<Sending>>,
}

struct Sending {
    output: Arc<Output>,
    /// Whether the client speaks the one revision that has batches.
    has_batches: bool,
    batches: Vec<Batch>,
}

/// Requests that came together and are answered together.
struct Batch {
    open: Vec<RequestId>,
    answers: Vec<Value>,
}

/// A line that is no message: the error to answer it with, if it is to be answered.
pub(crate) type Unreadable = Option<Value>;

impl LineTransport {
    pub(crate) fn new(lines: UnboundedReceiver<Line>, output: Arc<Output>) -> Self {
        let sending = Sending { output, has_batches: false, batches: Vec::new() };
        Self {
            lines,
            waiting: Vec::new(),
            has_begun: false,
            sending: Arc::new(Mutex::new(sending)),
        }
    }

    /// The messages of a line, the last one first.
    async fn messages(&mut self, line: &[u8]) -> Result<Vec<ClientJsonRpcMessage>, Unreadable> {
        let line = text(line);
        if line.is_empty() {
            return Ok(Vec::new());
        }
        if line.first() != Some(&b'[') {
            return Ok(vec![parse(line)?]);
        }
        let mut sending = self.sending.lock().await;
        if !sending.has_batches {
            let why = "several messages in one line are a batch, which this revision does not have";
            return Err(Some(error(INVALID_REQUEST, why, None)));
        }
        let values: Vec<Value> = serde_json::from_slice(line).map_err(|e| Some(syntax(&e)))?;
        let mut batch = Batch { open: Vec::new(), answers: Vec::new() };
        let mut messages = Vec::new();
        for value in values {
            match parse(value.to_string().as_bytes()) {
                Ok(message) => messages.push(message),
                Err(unreadable) => batch.answers.extend(unreadable),
            }
        }
        batch.open.extend(messages.iter().filter_map(|message| match message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        }));
        if batch.open.is_empty() && batch.answers.is_empty() && messages.is_empty() {
            return Err(Some(error(INVALID_REQUEST, "an empty batch asks for nothing", None)));
        }
        if batch.open.is_empty() && !batch.answers.is_empty() {
            return Err(Some(Value::Array(batch.answers)));
        }
        if !batch.open.is_empty() {
            sending.batches.push(batch);
        }
        messages.reverse();
        Ok(messages)
    }

    /// Whether a message may be handed on: a client begins with a request.
    fn is_in_order(&mut self, message: &ClientJsonRpcMessage) -> bool {
        self.has_begun |= matches!(message, JsonRpcMessage::Request(_));
        self.has_begun
    }
}

impl Sending {
    async fn send(&mut self, message: &ServerJsonRpcMessage) -> io::Result<()> {
        self.has_batches |= agrees_on_batches(message);
        if !self.batches.is_empty()
            && let Some(id) = answered(message)
            && let Some(place) = self.batches.iter().position(|batch| batch.open.contains(id))
        {
            let batch = &mut self.batches[place];
            batch.open.retain(|open| open != id);
            batch.answers.push(serde_json::to_value(message)?);
            if !batch.open.is_empty() {
                return Ok(());
            }
            let batch = self.batches.remove(place);
            return self.write(&Value::Array(batch.answers)).await;
        }
        self.write(message).await
    }

    async fn write(&mut self, message: &impl serde::Serialize) -> io::Result<()> {
        self.output.send_whole(line(message)?).await
    }
}

impl Transport<RoleServer> for LineTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let sending = Arc::clone(&self.sending);
        async move { sending.lock().await.send(&message).await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            while let Some(message) = self.waiting.pop() {
                if self.is_in_order(&message) {
                    return Some(message);
                }
            }
            let unreadable = match self.lines.recv().await? {
                Line::Whole(line) => match self.messages(&line).await {
                    Ok(messages) => {
                        self.waiting = messages;
                        continue;
                    }
                    Err(unreadable) => unreadable,
                },
                Line::TooLong => {
                    let why = format!("a message is at most {LONGEST_LINE_BYTES} bytes long");
                    Some(error(INVALID_REQUEST, &why, None))
                }
            };
            if let Some(answer) = unreadable {
                self.sending.lock().await.write(&answer).await.ok()?;
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.sending.lock().await.output.close();
        Ok(())
    }
}

/// A call of a tool, as most messages are.
#[derive(Deserialize)]
struct ToolCall {
    #[serde(rename = "jsonrpc")]
    _version: JsonRpcVersion2_0,
    id: RequestId,
    #[serde(rename = "method")]
    _method: CallToolRequestMethod,
    params: CallToolRequestParams,
}

/// Reads a message as a call of a tool, which takes a fraction of trying it as each kind in turn.
pub(crate) fn read_call(line: &[u8]) -> Option<(RequestId, CallToolRequestParams)> {
    let ToolCall { id, params, .. } = serde_json::from_slice(line).ok()?;
    Some((id, params))
}

fn parse_call(line: &[u8]) -> Option<ClientJsonRpcMessage> {
    let (id, mut params) = read_call(line)?;
    let meta = params.meta.take();
    let mut request = CallToolRequest::new(params);
    if let Some(meta) = meta {
        request.extensions.insert(meta);
    }
    let request = ClientRequest::CallToolRequest(request);
    Some(JsonRpcMessage::Request(JsonRpcRequest::new(id, request)))
}

/// What a line says, without what may stand around it.
pub(crate) fn text(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii();
    line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line)
}

/// A message as a line.
pub(crate) fn line(message: &impl serde::Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// A message, or what there is to answer to what is none.
pub(crate) fn parse(line: &[u8]) -> Result<ClientJsonRpcMessage, Unreadable> {
    parse_call(line).map_or_else(|| parse_any(line), Ok)
}

fn parse_any(line: &[u8]) -> Result<ClientJsonRpcMessage, Unreadable> {
    serde_json::from_slice::<ClientJsonRpcMessage>(line).map_err(|problem| {
        if !problem.is_data() {
            return Some(syntax(&problem));
        }
        let value: Value = match serde_json::from_slice(line) {
            Ok(value) => value,
            Err(problem) => return Some(syntax(&problem)),
        };
        // A notification is never answered, and an answer to nothing is nobody's request.
        if value.is_object() && value.get("id").is_none_or(Value::is_null) {
            let is_notification = value.get("method").is_some_and(Value::is_string);
            if is_notification || value.get("error").is_some() {
                return None;
            }
        }
        let why = format!("this is no message of the protocol: {problem}");
        Some(error(INVALID_REQUEST, &why, value.get("id")))
    })
}

fn syntax(problem: &serde_json::Error) -> Value {
    error(PARSE_ERROR, &format!("this is no JSON: {problem}"), None)
}

/// An error of the protocol, for the request with this id if there is one.
pub(crate) fn error(code: i64, message: &str, id: Option<&Value>) -> Value {
    let id = id.filter(|id| id.is_string() || id.is_number());
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// Whether a message ends the handshake with the one revision that has batches.
pub(crate) fn agrees_on_batches(message: &ServerJsonRpcMessage) -> bool {
    let JsonRpcMessage::Response(response) = message else { return false };
    let ServerResult::InitializeResult(result) = &response.result else { return false };
    result.protocol_version == ProtocolVersion::V_2025_03_26
}

/// The request that a message answers.
fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way to spell and to break a call.
    fn calls() -> Vec<String> {
        let ids = ["1", "-7", "\"a\"", "1.5", "null", "{}"];
        let versions = ["\"2.0\"", "\"1.0\"", "2"];
        let methods = ["tools/call", "tools\\/call", "tools/list", "ping", "tools/calls"];
        let params = [
            r#"{"name":"exec","arguments":{"command":"echo hi","n":[1,2.5,null,{"a":"\u00e9"}]}}"#,
            r#"{"name":"exec"}"#,
            r#"{"name":"exec","arguments":null,"_meta":null}"#,
            r#"{"_meta":{"progressToken":"t","x/y":[1]},"name":"exec","arguments":{}}"#,
            r#"{"_meta":{"progressToken":7},"name":"\u0065xec","requestState":"s","more":1}"#,
            r#"{"name":"exec","inputResponses":{"q":{"action":"accept","content":{"a":1}}}}"#,
            r#"{"name":"exec","task":{"ttl":1}}"#,
            r#"{"name":3}"#,
            r#"{"name":"exec","arguments":[]}"#,
            r#"{"name":"exec","name":"twice"}"#,
            r#"{"name":"exec","_meta":3}"#,
            "[]",
        ];
        let mut lines = Vec::new();
        for version in versions {
            for id in ids {
                for method in methods {
                    for params in params {
                        let rest = format!("\"method\":\"{method}\",\"params\":{params}");
                        lines.push(format!("{{\"jsonrpc\":{version},\"id\":{id},{rest}}}"));
                        lines.push(format!("{{{rest},\"id\":{id},\"x\":1,\"jsonrpc\":{version}}}"));
                        lines.push(format!("{{\"jsonrpc\":{version},{rest},\"result\":{{}}}}"));
                    }
                }
            }
        }
        lines
    }

    #[test]
    fn a_call_is_read_as_it_is_when_it_is_tried_as_each_kind_in_turn() {
        let mut read = 0;
        for line in calls() {
            let line = line.as_bytes();
            // What is in it, and what it was taken for.
            let said = |parsed: Result<ClientJsonRpcMessage, Unreadable>| {
                parsed.map(|message| {
                    (serde_json::to_value(&message).unwrap(), format!("{message:?}"))
                })
            };
            read += usize::from(parse_call(line).is_some());
            assert_eq!(
                said(parse(line)),
                said(parse_any(line)),
                "{}",
                String::from_utf8_lossy(line)
            );
        }
        assert!(read > 50, "{read} were read as calls");
    }
}
