//! HTTPS between encoders and decoders.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fmt, str};

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use tokio::task::JoinHandle;

use crate::buffer::{EventReader, EventWriter, event_buffer};
use crate::decode::Decoder;
use crate::encode::{EncodeError, encode};
use crate::event::Event;
use crate::failure::{Failure, FailureClass, failure_from_response};
use crate::message::WireFormat;
use crate::request::Request;

/// The most that is read of the body of an error.
const LONGEST_ERROR_BYTES: usize = 64 << 10;

/// Something that must not be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Where a model is served, and the key to it.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Where it is: `https://api.anthropic.com`, `https://api.openai.com/v1`,
    /// `https://generativelanguage.googleapis.com`, or another server of the same format.
    pub base_url: String,
    /// The key; servers on one's own machine need none.
    pub key: Option<Secret>,
    /// Headers that are sent besides those of the format.
    pub headers: Vec<(String, Secret)>,
}

impl Endpoint {
    /// Where the vendor who made a format serves it.
    pub fn vendor_url(format: WireFormat) -> &'static str {
        match format {
            WireFormat::Anthropic => "https://api.anthropic.com",
            WireFormat::Responses | WireFormat::Chat => "https://api.openai.com/v1",
            WireFormat::Gemini => "https://generativelanguage.googleapis.com",
        }
    }

    /// The address that a request is sent to.
    fn url(&self, format: WireFormat, model: &str) -> String {
        let base = self.base_url.trim_end_matches('/');
        match format {
            WireFormat::Anthropic if base.ends_with("/v1") => format!("{base}/messages"),
            WireFormat::Anthropic => format!("{base}/v1/messages"),
            WireFormat::Responses => format!("{base}/responses"),
            WireFormat::Chat => format!("{base}/chat/completions"),
            WireFormat::Gemini => {
                let version = base.rsplit('/').next().unwrap_or_default();
                let has_version = matches!(version, "v1" | "v1beta" | "v1alpha");
                let base = if has_version { base.to_owned() } else { format!("{base}/v1beta") };
                let model = model.strip_prefix("models/").unwrap_or(model);
                format!("{base}/models/{model}:streamGenerateContent?alt=sse")
            }
        }
    }

    fn headers(&self, format: WireFormat) -> Result<HeaderMap, Failure> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut put = |name: &str, value: &str| -> Result<(), Failure> {
            let wrong = || {
                let what =
                    format!("header {name:?} has a name or a value that HTTP does not allow");
                Failure::new(FailureClass::InvalidRequest, what)
            };
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
            value.set_sensitive(true);
            headers.insert(name, value);
            Ok(())
        };
        if format == WireFormat::Anthropic {
            put("anthropic-version", "2023-06-01")?;
        }
        if let Some(Secret(key)) = &self.key {
            match format {
                WireFormat::Anthropic => put("x-api-key", key)?,
                WireFormat::Gemini => put("x-goog-api-key", key)?,
                _ => put("authorization", &format!("Bearer {key}"))?,
            }
        }
        for (name, Secret(value)) in &self.headers {
            put(name, value)?;
        }
        Ok(headers)
    }
}

/// How a client waits.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// The longest time to reach a server.
    pub connect_timeout: Duration,
    /// The longest silence of a server that was reached: before it answers, and while it does.
    pub idle_timeout: Duration,
    /// A proxy for all requests. The environment is not looked at.
    pub proxy: Option<String>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_mins(5),
            proxy: None,
        }
    }
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The proxy is no address of one.
    #[error("proxy {url:?} is no address of a proxy; it looks like http://host:port")]
    Proxy {
        /// The address.
        url: String,
        /// What is wrong with it.
        #[source]
        source: reqwest::Error,
    },
    /// TLS could not be set up, for example because the system has no certificates.
    #[error("could not set up HTTPS")]
    Tls(#[source] reqwest::Error),
}

/// Sends requests. Cheap to clone; connections are shared.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    idle_timeout: Duration,
    count: Arc<AtomicU64>,
}

impl Client {
    /// A client with its own connections.
    pub fn new(options: &ClientOptions) -> Result<Self, ClientError> {
        // Another provider that the program chose before is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .no_proxy()
            .connect_timeout(options.connect_timeout)
            .redirect(reqwest::redirect::Policy::none())
            .tcp_nodelay(true);
        if let Some(url) = &options.proxy {
            let proxy = reqwest::Proxy::all(url)
                .map_err(|source| ClientError::Proxy { url: url.clone(), source })?;
            builder = builder.proxy(proxy);
        }
        let http = builder.build().map_err(ClientError::Tls)?;
        Ok(Self { http, idle_timeout: options.idle_timeout, count: Arc::default() })
    }

    /// Sends a request and gives the events of its answer, of which the last is an end or an error.
    /// Dropping the stream ends the request at once. Must be called inside a tokio runtime.
    pub fn stream(
        &self,
        endpoint: &Endpoint,
        request: &Request,
    ) -> Result<EventStream, EncodeError> {
        let body = encode(request)?;
        let (writer, reader) = event_buffer();
        let call = Call {
            http: self.http.clone(),
            idle_timeout: self.idle_timeout,
            format: request.model.api,
            url: endpoint.url(request.model.api, &request.model.id),
            headers: endpoint.headers(request.model.api),
            body: body.to_string(),
            id_prefix: self.id_prefix(),
        };
        let task = tokio::spawn(call.run(writer));
        Ok(EventStream { reader, task })
    }

    /// Another one for each answer, in this process and in others.
    fn id_prefix(&self) -> String {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        format!("{:x}{count:x}", time.as_micros())
    }
}

/// The events of one answer.
#[derive(Debug)]
pub struct EventStream {
    reader: EventReader,
    task: JoinHandle<()>,
}

impl EventStream {
    /// The next event; `None` behind the last one.
    pub async fn next(&mut self) -> Option<Event> {
        self.reader.next().await
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One request under way.
struct Call {
    http: reqwest::Client,
    idle_timeout: Duration,
    format: WireFormat,
    url: String,
    headers: Result<HeaderMap, Failure>,
    body: String,
    id_prefix: String,
}

impl Call {
    async fn run(self, writer: EventWriter) {
        if let Err(failure) = self.talk(&writer).await {
            writer.send(Event::Error(failure)).await;
        }
    }

    async fn talk(self, writer: &EventWriter) -> Result<(), Failure> {
        let request = self.http.post(&self.url).headers(self.headers?).body(self.body);
        let idle = self.idle_timeout;
        let mut response = match tokio::time::timeout(idle, request.send()).await {
            Ok(response) => {
                response.map_err(|error| broken("could not reach the model", &error))?
            }
            Err(_) => return Err(silent(idle)),
        };
        let status = response.status().as_u16();
        if !response.status().is_success() {
            let body = error_body(&mut response, idle).await;
            let headers = response.headers();
            let header = |name: &str| headers.get(name)?.to_str().ok();
            return Err(failure_from_response(status, header, &body, SystemTime::now()));
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let is_stream = kind.is_none_or(|kind| kind.starts_with("text/event-stream"));
        if !is_stream {
            let kind = kind.unwrap_or_default().to_owned();
            let body = error_body(&mut response, idle).await;
            return Err(no_stream(status, &kind, &body));
        }
        let mut decoder = Decoder::new(self.format, self.id_prefix);
        loop {
            let (events, is_over) = match tokio::time::timeout(idle, response.chunk()).await {
                Ok(Ok(Some(bytes))) => (decoder.feed(&bytes), decoder.is_done()),
                Ok(Ok(None)) => (decoder.finish(), true),
                // All was said, and only the end of the connection was not heard.
                Ok(Err(_)) | Err(_) if decoder.may_end() => (decoder.finish(), true),
                Ok(Err(error)) => return Err(broken("the answer was cut", &error)),
                Err(_) => return Err(silent(idle)),
            };
            for event in events {
                if !writer.send(event).await {
                    return Ok(());
                }
            }
            if is_over {
                return Ok(());
            }
        }
    }
}

async fn error_body(response: &mut reqwest::Response, idle: Duration) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < LONGEST_ERROR_BYTES
        && let Ok(Ok(Some(bytes))) = tokio::time::timeout(idle, response.chunk()).await
    {
        body.extend_from_slice(&bytes[..bytes.len().min(LONGEST_ERROR_BYTES - body.len())]);
    }
    body
}

fn silent(idle: Duration) -> Failure {
    let what = format!("the model was silent for {} s", idle.as_secs_f64());
    Failure::new(FailureClass::Transient, what)
}

/// An error of the transport with its causes, and without the address: it may have a key in it.
fn broken(what: &str, error: &reqwest::Error) -> Failure {
    let mut message = what.to_owned();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = cause {
        message = format!("{message}: {error}");
        cause = error.source();
    }
    let class =
        if error.is_builder() { FailureClass::InvalidRequest } else { FailureClass::Transient };
    Failure::new(class, message)
}

/// A success that is no stream: an error of a proxy, or a server that does not stream.
fn no_stream(status: u16, kind: &str, body: &[u8]) -> Failure {
    let text = String::from_utf8_lossy(body);
    let value = serde_json::from_slice::<serde_json::Value>(body).ok();
    if let Some(value) = value.filter(|value| value.get("error").is_some_and(|e| !e.is_null())) {
        return Failure::from_json(None, &value);
    }
    let start: String = text.chars().take(200).collect();
    let what = format!("expected an event stream, got {kind:?} with status {status}: {start}");
    Failure::new(FailureClass::Protocol, what)
}
