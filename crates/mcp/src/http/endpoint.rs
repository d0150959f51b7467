//! One request that was let in: who it is and what it says; the rest is rmcp's.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body_util::{BodyExt, Collected, Full};
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderMap};
use hyper::{Method, Request, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use umbo_server::{Body, Refusal, RequestBody, Visit, read_body};

use super::McpEndpoint;
use super::batch::is_batch;
use crate::caller::CallerSlot;
use crate::handler::McpHandler;

/// The longest message, as long as rmcp takes one on a pipe.
const LONGEST_MESSAGE_BYTES: usize = 4 << 20;
/// The header that names a session.
const SESSION: &str = "mcp-session-id";
/// What a client may do here.
const METHODS: &str = "GET, POST, DELETE";
/// The protocol's number for an error of nothing in particular.
pub(super) const SERVER_ERROR: i64 = -32000;

impl McpEndpoint {
    pub(super) async fn respond(
        &self,
        request: Request<RequestBody>,
    ) -> Result<Response<Body>, Refusal> {
        let (parts, body) = request.into_parts();
        let name = name(parts.uri.query())?;
        let session = session(&parts.headers);
        let (body, begins) = match parts.method {
            Method::POST => {
                let body = read_body(body, LONGEST_MESSAGE_BYTES).await?;
                if let Some(id) = session.as_deref().filter(|_| is_batch(&body))
                    && let Some(visit) = self.sessions.visit(id)
                {
                    let response =
                        self.respond_to_batch(name.as_deref(), &parts, id, &body).await?;
                    drop(visit);
                    return Ok(response);
                }
                let begins = self.begins(&body).await?;
                (body, begins)
            }
            Method::GET | Method::DELETE => (Bytes::new(), false),
            _ => return Err(Refusal::method(METHODS)),
        };
        let is_end = parts.method == Method::DELETE;
        if is_end
            && let Some(id) = &session
            && !self.sessions.has(id)
        {
            return Err(Refusal::new(StatusCode::NOT_FOUND, "there is no such session"));
        }
        // There until the last byte of the answer is sent.
        let visit = match &session {
            Some(id) => self.sessions.visit(id),
            None if begins => None,
            None => Some(
                self.callers
                    .visit(name.as_deref())
                    .map_err(|why| Refusal::new(StatusCode::SERVICE_UNAVAILABLE, &why))?,
            ),
        };
        let response = self.serve(name, Request::from_parts(parts, Full::new(body))).await;
        let mut response = worded(response, session.as_deref()).await?;
        if response.status() == StatusCode::ACCEPTED && is_end {
            // It is over, with all that ran in it; some clients take nothing else for that.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        Ok(response.map(|body| Attended { body, _visit: visit }.boxed()))
    }

    /// Whether a message begins a session. It must be one of the protocol, and there must be room.
    async fn begins(&self, body: &[u8]) -> Result<bool, Refusal> {
        let message = match serde_json::from_slice::<ClientJsonRpcMessage>(body) {
            Ok(message) => message,
            Err(error) if error.is_data() => {
                let why = format!("the body is no message of the protocol: {error}");
                return Err(Refusal::new(StatusCode::BAD_REQUEST, &why).with_code(-32600));
            }
            Err(error) => {
                let why = format!("the body is no JSON: {error}");
                return Err(Refusal::new(StatusCode::BAD_REQUEST, &why).with_code(-32700));
            }
        };
        let begins = matches!(
            &message,
            JsonRpcMessage::Request(request)
                if matches!(request.request, ClientRequest::InitializeRequest(_))
        );
        if begins && !self.sessions.make_room().await {
            let why = "all sessions that there may be are in use; end one with DELETE";
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, why));
        }
        Ok(begins)
    }

    pub(super) fn serve(
        &self,
        name: Option<String>,
        request: Request<Full<Bytes>>,
    ) -> impl Future<Output = Response<Body>> + Send + use<> {
        let slot = CallerSlot::open(Arc::clone(&self.callers), name);
        let sessions = self.sessions.with(Arc::clone(&slot));
        let (catalogue, hub) = (Arc::clone(&self.catalogue), Arc::clone(&self.hub));
        let client = self.client;
        let make = move || {
            let (catalogue, hub, slot) =
                (Arc::clone(&catalogue), Arc::clone(&hub), Arc::clone(&slot));
            Ok(McpHandler::of(catalogue, hub, slot, client))
        };
        let service = StreamableHttpService::new(make, sessions, self.config.clone());
        async move { service.handle(request).await }
    }
}

/// A response; one that says no in plain text says it in the protocol's words.
pub(super) async fn worded(
    response: Response<Body>,
    session: Option<&str>,
) -> Result<Response<Body>, Refusal> {
    let status = response.status();
    if status.as_u16() < 400 || response.headers().contains_key(CONTENT_TYPE) {
        return Ok(response);
    }
    if status == StatusCode::METHOD_NOT_ALLOWED {
        return Err(Refusal::method(METHODS));
    }
    if let (StatusCode::NOT_FOUND, Some(id)) = (status, session) {
        let why = format!("there is no session {id:?}: it has ended; begin again with initialize");
        return Err(Refusal::new(status, &why));
    }
    let body = response
        .into_body()
        .collect()
        .await
        .map_or_else(|never| match never {}, Collected::to_bytes);
    Err(Refusal::new(status, &String::from_utf8_lossy(&body)))
}

/// A refusal in the protocol's words: an error that belongs to no request.
pub(super) fn refuse(refusal: Refusal) -> Response<Body> {
    let code = refusal.code().unwrap_or(SERVER_ERROR);
    let error = json!({"code": code, "message": refusal.message()});
    refusal.into_response(&json!({"jsonrpc": "2.0", "id": null, "error": error}))
}

/// What rmcp is told: who may come in is decided here already.
pub(super) fn config() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(LONGEST_MESSAGE_BYTES)
        // A result that nothing comes before needs no stream.
        .with_json_response(true)
}

fn session(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION)?.to_str().ok().map(str::to_owned)
}

/// The name that a caller gives itself: `?owner=NAME`.
fn name(query: Option<&str>) -> Result<Option<String>, Refusal> {
    let mut name = None;
    for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("owner", value)) if is_name(value) => name = Some(value.to_owned()),
            _ => {
                let why = format!(
                    "{pair:?} was given; accepted: owner=NAME, of letters, digits, dots, dashes \
                     and underscores, at most 64"
                );
                return Err(Refusal::new(StatusCode::BAD_REQUEST, &why));
            }
        }
    }
    Ok(name)
}

fn is_name(value: &str) -> bool {
    (1..=64).contains(&value.len())
        && value.starts_with(|first: char| first.is_ascii_alphanumeric())
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// A body that somebody receives.
struct Attended {
    body: Body,
    _visit: Option<Visit>,
}

impl HttpBody for Attended {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
