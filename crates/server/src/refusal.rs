//! A request that is not answered, and why: in the status, and in words that a client can show.

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

use crate::body::Body;

/// Why a request is refused.
#[derive(Debug)]
pub struct Refusal {
    status: StatusCode,
    message: String,
    /// The error's number in the protocol of what is mounted, where that has numbers.
    code: Option<i64>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Refusal {
    /// A refusal with a status and a sentence.
    #[must_use]
    pub fn new(status: StatusCode, message: &str) -> Self {
        Self { status, message: message.to_owned(), code: None, headers: Vec::new() }
    }

    /// The same, with the error's number in the mounted protocol.
    #[must_use]
    pub fn with_code(self, code: i64) -> Self {
        Self { code: Some(code), ..self }
    }

    /// The method is none of those accepted.
    #[must_use]
    pub fn method(accepted: &'static str) -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, &format!("accepted: {accepted}"))
            .with(ALLOW, HeaderValue::from_static(accepted))
    }

    /// The connection cannot be used for another request.
    #[must_use]
    pub fn closing(self) -> Self {
        self.with(CONNECTION, HeaderValue::from_static("close"))
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

    fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Its status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Why, in words.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The error's number in the mounted protocol, if it has one.
    pub fn code(&self) -> Option<i64> {
        self.code
    }

    /// The refusal as a response whose body is `value`.
    pub fn into_response(self, value: &Value) -> Response<Body> {
        let mut response = Response::new(Full::new(Bytes::from(value.to_string())).boxed());
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.extend(self.headers);
        response
    }

    /// The refusal as a response for a path where nothing with words of its own is mounted.
    pub(crate) fn into_plain_response(self) -> Response<Body> {
        let value = json!({"error": {"message": self.message}});
        self.into_response(&value)
    }
}
