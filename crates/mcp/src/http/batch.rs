//! Several messages in one request, which one revision of the protocol has: each is served as if it had
//! come alone, all at the same time, and their answers are sent together.

use http_body_util::{BodyExt, Collected, Full};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use rmcp::model::{ClientRequest, JsonRpcMessage};
use serde_json::Value;
use tokio::task::JoinSet;
use umbo_server::{Body, Refusal};

use super::McpEndpoint;
use super::endpoint::{SERVER_ERROR, worded};
use crate::wire::{INVALID_REQUEST, PARSE_ERROR, error, parse};

/// So many messages may come together.
const MOST_MESSAGES: usize = 256;

/// Whether a body is meant as a batch.
pub(super) fn is_batch(body: &[u8]) -> bool {
    body.trim_ascii_start().first() == Some(&b'[')
}

impl McpEndpoint {
    /// Serves a batch in the session that `parts` names.
    pub(super) async fn respond_to_batch(
        &self,
        name: Option<&str>,
        parts: &Parts,
        session: &str,
        body: &[u8],
    ) -> Result<Response<Body>, Refusal> {
        let invalid =
            |code, why: &str| Err(Refusal::new(StatusCode::BAD_REQUEST, why).with_code(code));
        if !self.sessions.has_batches(session) {
            return invalid(INVALID_REQUEST, "only a session of revision 2025-03-26 has batches");
        }
        let values: Vec<Value> = match serde_json::from_slice(body) {
            Ok(values) => values,
            Err(problem) => {
                return invalid(PARSE_ERROR, &format!("the body is no JSON: {problem}"));
            }
        };
        if values.is_empty() || values.len() > MOST_MESSAGES {
            let why = format!("a batch has 1 to {MOST_MESSAGES} messages, not {}", values.len());
            return invalid(INVALID_REQUEST, &why);
        }
        let mut answers = Vec::new();
        let mut serving = JoinSet::new();
        for value in values {
            let is_request = match parse(value.to_string().as_bytes()) {
                Ok(JsonRpcMessage::Request(request))
                    if matches!(request.request, ClientRequest::InitializeRequest(_)) =>
                {
                    let why = "`initialize` cannot be part of a batch";
                    answers.push(error(INVALID_REQUEST, why, value.get("id")));
                    continue;
                }
                Ok(message) => matches!(message, JsonRpcMessage::Request(_)),
                Err(unreadable) => {
                    answers.extend(unreadable);
                    continue;
                }
            };
            let text = Full::new(Bytes::from(value.to_string()));
            let request = Request::from_parts(parts.clone(), text);
            let response = self.serve(name.map(str::to_owned), request);
            if is_request {
                let session = session.to_owned();
                serving.spawn(async move { answer(response.await, &session, &value).await });
            } else {
                // What is no request takes effect in its place among the others.
                worded(response.await, Some(session)).await?;
            }
        }
        while let Some(served) = serving.join_next().await {
            answers.extend(served);
        }
        Ok(together(answers))
    }
}

/// The answer to one request of a batch. What else its response says, how the call went on, has no place
/// in an answer that is no stream.
async fn answer(response: Response<Body>, session: &str, request: &Value) -> Value {
    let failed = |why: &str| error(SERVER_ERROR, why, request.get("id"));
    let response = match worded(response, Some(session)).await {
        Ok(response) => response,
        Err(refusal) => return failed(refusal.message()),
    };
    let body = response.into_body().collect().await;
    let body = body.map_or_else(|never| match never {}, Collected::to_bytes);
    let is_answer = |message: &Value| message.get("method").is_none() && message.is_object();
    if let Ok(message) = serde_json::from_slice::<Value>(&body) {
        return message;
    }
    let text = String::from_utf8_lossy(&body);
    let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let mut messages = events.filter_map(|data| serde_json::from_str::<Value>(data.trim()).ok());
    messages.find(is_answer).unwrap_or_else(|| failed("the call ended without an answer"))
}

/// All answers as one response; nothing but a status if there are none.
fn together(answers: Vec<Value>) -> Response<Body> {
    let is_empty = answers.is_empty();
    let body = if is_empty { Bytes::new() } else { Value::Array(answers).to_string().into() };
    let mut response = Response::new(Full::new(body).boxed());
    if is_empty {
        *response.status_mut() = StatusCode::ACCEPTED;
    } else {
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
    }
    response
}
