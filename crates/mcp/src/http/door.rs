//! One request: who it is, whether it may come in, and what it says; the rest is rmcp's.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::{BodyExt, Collected, Full};
use hyper::body::{Body as HttpBody, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderMap};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::time::timeout;

use super::callers::Callers;
use super::guard::Guard;
use super::presence::Visit;
use super::refusal::{Body, Refusal};
use super::sessions::Sessions;
use crate::answer::Catalogue;
use crate::caller::Seat;
use crate::hub::Hub;
use crate::server::Server;

/// Where the server is.
pub(crate) const PATH: &str = "/mcp";
/// The longest message, as long as rmcp takes one on a pipe.
const LONGEST: usize = 4 << 20;
/// As much of a message that is too long is read and dropped, so that its sender hears why.
const DROPPED: usize = 64 << 20;
/// How long a message may take to arrive.
const SLOWEST: Duration = Duration::from_secs(30);
/// More sessions than this are not begun.
const MOST_SESSIONS: usize = 256;
/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// What all requests share.
pub(crate) struct Door {
    pub(crate) guard: Guard,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) callers: Arc<Callers>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) config: StreamableHttpServerConfig,
}

impl Door {
    /// Answers a request, one way or the other.
    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let what = format!("{} {}", parts.method, parts.uri.path());
        let result = self.admit(parts, body).await;
        result.unwrap_or_else(|refusal| {
            let status = refusal.status.as_u16();
            tracing::warn!(request = what, status, reason = refusal.message, "refused");
            refusal.into_response()
        })
    }

    async fn admit(&self, parts: Parts, body: Incoming) -> Result<Response<Body>, Refusal> {
        self.guard.check(&parts)?;
        if parts.uri.path() != PATH {
            let why =
                format!("there is nothing at {:?}; the server is at {PATH}", parts.uri.path());
            return Err(Refusal::new(StatusCode::NOT_FOUND, &why));
        }
        let name = name(parts.uri.query())?;
        let (body, begins) = match parts.method {
            Method::POST => {
                let body = read(body).await?;
                let begins = self.begins(&body)?;
                (body, begins)
            }
            Method::GET | Method::DELETE => (Bytes::new(), false),
            _ => return Err(Refusal::method()),
        };
        let session = session(&parts.headers);
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
    fn begins(&self, body: &[u8]) -> Result<bool, Refusal> {
        let message = match serde_json::from_slice::<ClientJsonRpcMessage>(body) {
            Ok(message) => message,
            Err(error) if error.is_data() => {
                let why = format!("the body is no message of the protocol: {error}");
                return Err(Refusal::of_message(-32600, &why));
            }
            Err(error) => {
                return Err(Refusal::of_message(-32700, &format!("the body is no JSON: {error}")));
            }
        };
        let begins = matches!(
            &message,
            JsonRpcMessage::Request(request)
                if matches!(request.request, ClientRequest::InitializeRequest(_))
        );
        if begins && self.sessions.count() >= MOST_SESSIONS {
            let why = format!("{MOST_SESSIONS} sessions are open; end one with DELETE");
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, &why));
        }
        Ok(begins)
    }

    async fn serve(&self, name: Option<String>, request: Request<Full<Bytes>>) -> Response<Body> {
        let seat = Seat::free(Arc::clone(&self.callers), name);
        let sessions = self.sessions.with(Arc::clone(&seat));
        let (catalogue, hub) = (Arc::clone(&self.catalogue), Arc::clone(&self.hub));
        let make =
            move || Ok(Server::new(Arc::clone(&catalogue), Arc::clone(&hub), Arc::clone(&seat)));
        StreamableHttpService::new(make, sessions, self.config.clone()).handle(request).await
    }
}

/// A response; one that says no in plain text says it in the protocol's words.
async fn worded(
    response: Response<Body>,
    session: Option<&str>,
) -> Result<Response<Body>, Refusal> {
    let status = response.status();
    if status.as_u16() < 400 || response.headers().contains_key(CONTENT_TYPE) {
        return Ok(response);
    }
    if status == StatusCode::METHOD_NOT_ALLOWED {
        return Err(Refusal::method());
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

/// What rmcp is told: who may come in is decided here already.
pub(crate) fn config() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(LONGEST)
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

/// Reads a message.
async fn read(mut body: Incoming) -> Result<Bytes, Refusal> {
    let reading = async {
        let mut message = Vec::new();
        let mut length = 0_usize;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                let why = format!("the body broke off: {error}");
                Refusal::new(StatusCode::BAD_REQUEST, &why).closing()
            })?;
            let Ok(data) = frame.into_data() else { continue };
            length = length.saturating_add(data.len());
            if length <= LONGEST {
                message.extend_from_slice(&data);
            } else if length > DROPPED {
                break;
            }
        }
        if length > LONGEST {
            let why = format!("the body is longer than {LONGEST} bytes");
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, &why).closing());
        }
        Ok(Bytes::from(message))
    };
    timeout(SLOWEST, reading).await.unwrap_or_else(|_| {
        let why = format!("the body did not arrive within {} s", SLOWEST.as_secs());
        Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, &why).closing())
    })
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
