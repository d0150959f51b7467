//! A request that is not answered, and why: in the status, and in words that a client can show.

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use serde_json::json;

/// What is sent.
pub(crate) type Body = BoxBody<Bytes, std::convert::Infallible>;

#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    /// The error's number in the protocol.
    code: i64,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: &str) -> Self {
        Self { status, message: message.to_owned(), code: -32000, headers: Vec::new() }
    }

    /// For a message that the protocol does not know.
    pub(crate) fn of_message(code: i64, message: &str) -> Self {
        Self { code, ..Self::new(StatusCode::BAD_REQUEST, message) }
    }

    pub(crate) fn unauthorized(message: &str, error: Option<&'static str>) -> Self {
        let challenge = match error {
            Some("invalid_token") => r#"Bearer realm="umbo", error="invalid_token""#,
            Some(_) => r#"Bearer realm="umbo", error="invalid_request""#,
            None => r#"Bearer realm="umbo""#,
        };
        Self::new(StatusCode::UNAUTHORIZED, message)
            .with(WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
    }

    pub(crate) fn method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "accepted: POST, GET and DELETE")
            .with(ALLOW, HeaderValue::from_static("GET, POST, DELETE"))
    }

    /// The connection cannot be used for another request.
    pub(crate) fn closing(self) -> Self {
        self.with(CONNECTION, HeaderValue::from_static("close"))
    }

    fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// As the protocol has it: an error of nothing in particular.
    pub(crate) fn into_response(self) -> Response<Body> {
        let error = json!({"code": self.code, "message": self.message});
        let body = json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string();
        let mut response = Response::new(Full::new(Bytes::from(body)).boxed());
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.extend(self.headers);
        response
    }
}
