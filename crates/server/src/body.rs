//! Bodies of requests and responses, and reading one within its limits.

use std::convert::Infallible;
use std::error::Error;
use std::time::Duration;

use http_body_util::BodyExt;
use http_body_util::combinators::{BoxBody, UnsyncBoxBody};
use hyper::StatusCode;
use hyper::body::Bytes;
use tokio::time::timeout;

use crate::refusal::Refusal;

/// What is sent.
pub type Body = BoxBody<Bytes, Infallible>;

/// What is received, whichever server received it.
pub type RequestBody = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

/// As much of a body that is too long is read and dropped, so that its sender gets the refusal.
const LONGEST_DROPPED_BYTES: usize = 64 << 20;
/// How long a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Reads a whole body of at most `most` bytes.
pub async fn read_body(mut body: RequestBody, most: usize) -> Result<Bytes, Refusal> {
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
            if length <= most {
                message.extend_from_slice(&data);
            } else if length > LONGEST_DROPPED_BYTES {
                break;
            }
        }
        if length > most {
            let why = format!("the body is longer than {most} bytes");
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, &why).closing());
        }
        Ok(Bytes::from(message))
    };
    timeout(BODY_TIMEOUT, reading).await.unwrap_or_else(|_| {
        let why = format!("the body did not arrive within {} s", BODY_TIMEOUT.as_secs());
        Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, &why).closing())
    })
}
