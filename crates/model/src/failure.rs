//! Failures: what went wrong with a request, in classes that say what to do about it.
//!
//! Vendors say it by status, by a code in the body, by a header or only in words. All of that is
//! read here and nowhere else.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What to do about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The conversation is too long for the model: make it shorter.
    Overflow,
    /// Too many requests: wait.
    RateLimit,
    /// Nothing is left to spend: another key, another model, or later.
    Quota,
    /// The vendor is overloaded: wait, or take another model.
    Overloaded,
    /// The network or the vendor stumbled: try again.
    Transient,
    /// The key is not accepted.
    Auth,
    /// The vendor will not answer this.
    Refused,
    /// The request is wrong: sending it again changes nothing.
    InvalidRequest,
    /// What came back is not what the vendor documents.
    Protocol,
}

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What to do about it.
    pub class: FailureClass,
    /// What the vendor said, or what happened.
    pub message: String,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
    /// The vendor's code for it.
    pub code: Option<String>,
    /// How long the vendor asks to wait.
    pub retry_after: Option<Duration>,
    /// Whether the vendor said that trying again helps, or that it does not.
    pub should_retry: Option<bool>,
}

impl Failure {
    /// A failure that only has words.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { class, message, status: None, code: None, retry_after: None, should_retry: None }
    }

    /// Whether sending the same request again may help.
    pub fn is_retryable(&self) -> bool {
        self.should_retry.unwrap_or(matches!(
            self.class,
            FailureClass::RateLimit
                | FailureClass::Overloaded
                | FailureClass::Transient
                | FailureClass::Protocol
        ))
    }

    /// What an error object of a body or of a stream says.
    pub(crate) fn from_json(status: Option<u16>, body: &Value) -> Self {
        // Gemini answers with a list of one; vLLM and proxies leave the inner object out.
        let body = body.get(0).unwrap_or(body);
        let error = match body.get("error") {
            Some(error) if error.is_object() || error.is_string() => error,
            _ => body,
        };
        let word = |key: &str| error.get(key).and_then(Value::as_str).filter(|w| !w.is_empty());
        let number = error.get("code").and_then(Value::as_u64);
        let status = status.or_else(|| number.and_then(|code| u16::try_from(code).ok()));
        let code = word("code").or_else(|| word("status")).or_else(|| word("type"));
        let message = word("message").or_else(|| error.as_str()).map_or_else(
            || format!("the vendor reported an error without a message: {}", clip(body)),
            str::to_owned,
        );
        let kinds = [word("code"), word("status"), word("type")];
        let class = classify(status, &kinds, &message);
        let retry_after = retry_delay(error).or_else(|| said_delay(&message));
        Self {
            class,
            status,
            code: code.map(str::to_owned),
            retry_after,
            message,
            should_retry: None,
        }
    }
}

fn clip(value: &Value) -> String {
    let text = value.to_string();
    text.chars().take(300).collect()
}

/// The failure that a response with an error status is.
pub fn failure_from_response<'a>(
    status: u16,
    header: impl Fn(&str) -> Option<&'a str>,
    body: &[u8],
    now: SystemTime,
) -> Failure {
    let text = String::from_utf8_lossy(body);
    let mut failure = match serde_json::from_slice::<Value>(body) {
        Ok(value) if value.is_object() || value.is_array() => {
            Failure::from_json(Some(status), &value)
        }
        _ => {
            let start = text.trim_start().to_ascii_lowercase();
            let is_page = start.starts_with("<!doctype") || start.starts_with("<html");
            let words = match text.trim() {
                "" => format!("HTTP status {status} without a body"),
                _ if is_page => format!("HTTP status {status} with a web page: a gateway answered"),
                some => {
                    format!("HTTP status {status}: {}", some.chars().take(300).collect::<String>())
                }
            };
            let class = classify(Some(status), &[], &text);
            let retry_after = said_delay(&text);
            Failure { status: Some(status), retry_after, ..Failure::new(class, words) }
        }
    };
    failure.status = Some(status);
    failure.retry_after = retry_after(&header, now).or(failure.retry_after);
    failure.should_retry = match header("x-should-retry") {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    };
    failure
}

const OVERFLOW_CODES: [&str; 4] = [
    "context_length_exceeded",
    "request_too_large",
    "model_context_window_exceeded",
    "exceed_context_size_error",
];
const QUOTA_CODES: [&str; 6] = [
    "insufficient_quota",
    "usage_limit_reached",
    "usage_not_included",
    "billing_error",
    "billing_hard_limit_reached",
    "insufficient_credits",
];
const RATE_CODES: [&str; 5] = [
    "rate_limit_error",
    "rate_limit_exceeded",
    "resource_exhausted",
    "too_many_requests",
    "tokens",
];
const OVERLOADED_CODES: [&str; 5] =
    ["overloaded_error", "server_is_overloaded", "slow_down", "unavailable", "overloaded"];
const AUTH_CODES: [&str; 5] = [
    "authentication_error",
    "permission_error",
    "invalid_api_key",
    "unauthenticated",
    "permission_denied",
];
const REFUSED_CODES: [&str; 6] = [
    "invalid_prompt",
    "cyber_policy",
    "bio_policy",
    "misalignment_policy_violation",
    "content_filter",
    "content_policy_violation",
];
const INVALID_CODES: [&str; 5] = [
    "invalid_request_error",
    "not_found_error",
    "invalid_argument",
    "failed_precondition",
    "not_found",
];

/// Two pieces that a message has, one behind the other, if the conversation was too long.
const OVERFLOW_WORDS: [(&str, &str); 18] = [
    ("prompt is too long", ""),
    ("exceeds the context window", ""),
    ("input token count", "exceeds the maximum"),
    ("input length", "exceeds"),
    ("maximum context length is", ""),
    ("maximum prompt length is", ""),
    ("reduce the length of the messages", ""),
    ("exceeds the available context size", ""),
    ("greater than the context length", ""),
    ("exceeds the limit of", ""),
    ("context window exceeds limit", ""),
    ("exceeded model token limit", ""),
    ("too large for model with", ""),
    ("context length exceeded", ""),
    ("context window", "too small"),
    ("input is too long", ""),
    ("longer than the model's context length", ""),
    ("context size has been exceeded", ""),
];

const RATE_WORDS: [&str; 4] = ["rate limit", "rate-limit", "too many requests", "throttl"];
const QUOTA_WORDS: [&str; 4] = [
    "credit balance is too low",
    "spend limit",
    "usage limits. you will regain",
    "insufficient credits",
];

fn classify(status: Option<u16>, kinds: &[Option<&str>], message: &str) -> FailureClass {
    let kinds: Vec<String> = kinds.iter().flatten().map(|kind| kind.to_ascii_lowercase()).collect();
    let is = |codes: &[&str]| kinds.iter().any(|kind| codes.contains(&kind.as_str()));
    let words = message.to_ascii_lowercase();
    let says = |list: &[&str]| list.iter().any(|piece| words.contains(piece));
    let too_long = |(first, then): &(&str, &str)| {
        words.find(first).is_some_and(|at| words[at + first.len()..].contains(then))
    };
    if is(&QUOTA_CODES) || status == Some(402) || says(&QUOTA_WORDS) {
        FailureClass::Quota
    } else if status == Some(429) || is(&RATE_CODES) || says(&RATE_WORDS) {
        // Before the words for overflow: "request too large … tokens per minute" is a rate limit.
        FailureClass::RateLimit
    } else if is(&OVERFLOW_CODES) || status == Some(413) || OVERFLOW_WORDS.iter().any(too_long) {
        FailureClass::Overflow
    } else if matches!(status, Some(401 | 403)) || is(&AUTH_CODES) {
        FailureClass::Auth
    } else if is(&REFUSED_CODES) {
        FailureClass::Refused
    } else if matches!(status, Some(503 | 529)) || is(&OVERLOADED_CODES) {
        FailureClass::Overloaded
    } else if matches!(status, Some(408 | 409 | 500..)) {
        FailureClass::Transient
    } else if status.is_some() || is(&INVALID_CODES) {
        FailureClass::InvalidRequest
    } else {
        // In the middle of a stream, without a code that is known: the vendor stumbled.
        FailureClass::Transient
    }
}

/// How long the headers of a response ask to wait.
pub fn retry_after<'a>(
    header: impl Fn(&str) -> Option<&'a str>,
    now: SystemTime,
) -> Option<Duration> {
    let number = |name: &str| header(name).and_then(|text| text.trim().parse::<f64>().ok());
    if let Some(wait) = number("retry-after-ms").and_then(|ms| seconds(ms / 1000.0)) {
        return Some(wait);
    }
    if let Some(text) = header("retry-after") {
        if let Some(wait) = text.trim().parse().ok().and_then(seconds) {
            return Some(wait);
        }
        if let Ok(date) = httpdate::parse_http_date(text.trim()) {
            return Some(date.duration_since(now).unwrap_or_default());
        }
    }
    if let Some(wait) = number("x-ratelimit-reset-ms").and_then(|ms| seconds(ms / 1000.0)) {
        return Some(wait);
    }
    let reset = number("x-ratelimit-reset")?;
    // Some send seconds to wait, some a time since 1970.
    let since_epoch = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    if reset > 1e11 {
        seconds((reset / 1000.0 - since_epoch).max(0.0))
    } else if reset > 1e9 {
        seconds((reset - since_epoch).max(0.0))
    } else {
        seconds(reset)
    }
}

/// At most a month; nothing for what is no time.
fn seconds(number: f64) -> Option<Duration> {
    const MONTH: f64 = 31.0 * 24.0 * 3600.0;
    (number.is_finite() && number >= 0.0).then(|| Duration::from_secs_f64(number.min(MONTH)))
}

/// Gemini's `RetryInfo`, or the seconds that some put beside the message.
fn retry_delay(error: &Value) -> Option<Duration> {
    if let Some(wait) = error.get("resets_in_seconds").and_then(Value::as_f64) {
        return seconds(wait);
    }
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    delay.strip_suffix('s')?.parse().ok().and_then(seconds)
}

/// "Please try again in 1.2s", "in 350ms", "in 2 seconds", "in 1m3.5s".
fn said_delay(message: &str) -> Option<Duration> {
    let words = message.to_ascii_lowercase();
    let at = words.find("try again in ").map(|at| at + "try again in ".len());
    let at = at.or_else(|| words.find("retry in ").map(|at| at + "retry in ".len()))?;
    let mut rest = &words[at..];
    let mut total = 0.0;
    let mut has_unit = false;
    loop {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let Ok(number) = rest[..end].parse::<f64>() else { break };
        rest = rest[end..].trim_start();
        let unit = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let factor = match &rest[..unit] {
            "ms" | "millisecond" | "milliseconds" => 0.001,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            _ => break,
        };
        total += number * factor;
        has_unit = true;
        rest = &rest[unit..];
    }
    if has_unit { seconds(total) } else { None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn no_header(_: &str) -> Option<&'static str> {
        None
    }

    fn class_of(status: u16, body: &str) -> FailureClass {
        failure_from_response(status, no_header, body.as_bytes(), SystemTime::UNIX_EPOCH).class
    }

    #[test]
    fn bodies_as_vendors_document_them_have_their_class() {
        let overflow = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}"#;
        assert_eq!(class_of(400, overflow), FailureClass::Overflow);
        let overflow = r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 9000.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#;
        assert_eq!(class_of(400, overflow), FailureClass::Overflow);
        let overflow = r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#;
        assert_eq!(class_of(400, overflow), FailureClass::Overflow);
        assert_eq!(class_of(413, ""), FailureClass::Overflow);
        let rate = r#"{"error":{"message":"Rate limit reached for tokens per min. Your request exceeds the limit of 30000.","type":"tokens","code":"rate_limit_exceeded"}}"#;
        assert_eq!(class_of(429, rate), FailureClass::RateLimit);
        let quota = r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#;
        assert_eq!(class_of(429, quota), FailureClass::Quota);
        let quota = r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#;
        assert_eq!(class_of(400, quota), FailureClass::Quota);
        let busy = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
        assert_eq!(class_of(529, busy), FailureClass::Overloaded);
        assert_eq!(class_of(500, "<html>oops"), FailureClass::Transient);
        assert_eq!(class_of(401, "{}"), FailureClass::Auth);
        assert_eq!(class_of(404, "{}"), FailureClass::InvalidRequest);
        let refused = r#"{"error":{"code":"invalid_prompt","message":"no"}}"#;
        assert_eq!(class_of(400, refused), FailureClass::Refused);
    }

    #[test]
    fn gemini_says_in_its_details_how_long_to_wait() {
        let body = json!([{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"quota",
            "details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"38.5s"}]}}]);
        let failure = Failure::from_json(Some(429), &body);
        assert_eq!(failure.class, FailureClass::RateLimit);
        assert_eq!(failure.retry_after, Some(Duration::from_millis(38_500)));
        assert_eq!(failure.code.as_deref(), Some("RESOURCE_EXHAUSTED"));
    }

    #[test]
    fn every_way_to_say_how_long_to_wait_is_read() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_445_412_470);
        let wait = |name: &str, value: &'static str| {
            retry_after(|header: &str| (header == name).then_some(value), now)
        };
        assert_eq!(wait("retry-after-ms", "1500"), Some(Duration::from_millis(1500)));
        assert_eq!(wait("retry-after", "2.5"), Some(Duration::from_millis(2500)));
        let date = "Wed, 21 Oct 2015 07:28:00 GMT";
        assert_eq!(wait("retry-after", date), Some(Duration::from_secs(10)));
        assert_eq!(wait("retry-after", "-4"), None);
        assert_eq!(wait("retry-after", "nan"), None);
        assert_eq!(wait("x-ratelimit-reset", "1445412475"), Some(Duration::from_secs(5)));
        assert_eq!(wait("x-ratelimit-reset", "7"), Some(Duration::from_secs(7)));
        assert_eq!(wait("x-ratelimit-reset-ms", "250"), Some(Duration::from_millis(250)));
        let said = |text: &str| Failure::from_json(None, &json!({"message": text})).retry_after;
        assert_eq!(said("Please try again in 1.2s. Visit"), Some(Duration::from_millis(1200)));
        assert_eq!(said("try again in 350ms."), Some(Duration::from_millis(350)));
        assert_eq!(said("Please retry in 2 seconds"), Some(Duration::from_secs(2)));
        assert_eq!(said("try again in 1m3.5s"), Some(Duration::from_millis(63_500)));
        assert_eq!(said("try again in a moment"), None);
    }

    #[test]
    fn a_header_of_the_vendor_decides_whether_to_try_again() {
        let header =
            |value: &'static str| move |name: &str| (name == "x-should-retry").then_some(value);
        let now = SystemTime::UNIX_EPOCH;
        assert!(!failure_from_response(500, header("false"), b"", now).is_retryable());
        assert!(failure_from_response(400, header("true"), b"", now).is_retryable());
        assert!(failure_from_response(500, header("?"), b"", now).is_retryable());
    }
}
