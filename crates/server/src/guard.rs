//! Who may come in: the request must be meant for this server (DNS rebinding), not be made by a
//! page of somewhere else, and carry the token.

use std::net::IpAddr;

use hmac::{Hmac, KeyInit, Mac};
use http_body_util::{BodyExt, Empty};
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, HOST, HeaderMap, HeaderValue, ORIGIN, VARY,
};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::{Method, Response, StatusCode, Uri};
use sha2::Sha256;

use crate::Error;
use crate::body::Body;
use crate::refusal::Refusal;

/// Who may come in.
pub struct Guard {
    token: Token,
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Guard {
    /// `hosts` are the names that requests may be addressed to, and pages may come from; `origins`
    /// are further places that pages may come from.
    pub fn new(token: &str, hosts: &[String], origins: &[String]) -> Result<Self, Error> {
        let mut names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        for host in hosts {
            // With or without a port: which one is no matter, it is the name that is forged.
            let name = match host.parse::<IpAddr>() {
                Ok(address) => Ok(address.to_string()),
                Err(_) => host.parse::<Authority>().map(|authority| bare(authority.host())),
            };
            names.push(name.map_err(|_| Error::Host(host.clone()))?);
        }
        let origins = origins.iter().map(|origin| origin.to_ascii_lowercase()).collect();
        Ok(Self { token: Token::new(token)?, hosts: names, origins })
    }

    /// Lets a request in, or says why not.
    pub fn check(&self, request: &Parts) -> Result<(), Refusal> {
        self.check_host(request)?;
        self.check_origin(&request.headers)?;
        self.check_token(&request.headers)
    }

    /// The answer to a browser that asks, before a page's request, whether the page may make it. The
    /// question itself carries no token.
    pub(crate) fn preflight(&self, request: &Parts) -> Option<Result<Response<Body>, Refusal>> {
        let asked = request.headers.get(ACCESS_CONTROL_REQUEST_METHOD);
        if request.method != Method::OPTIONS || asked.is_none() {
            return None;
        }
        let allowed =
            self.check_host(request).and_then(|()| self.check_origin(&request.headers)).map(|()| {
                let mut response = Response::new(Empty::new().boxed());
                *response.status_mut() = StatusCode::NO_CONTENT;
                let headers = response.headers_mut();
                let methods = HeaderValue::from_static("GET, POST, DELETE");
                headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
                headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
                if let Some(asked) = request.headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
                    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, asked.clone());
                }
                share(request.headers.get(ORIGIN), headers);
                response
            });
        Some(allowed)
    }

    fn check_host(&self, request: &Parts) -> Result<(), Refusal> {
        let bad = |why: &str| Refusal::new(StatusCode::BAD_REQUEST, why);
        let mut named = request.headers.get_all(HOST).iter();
        let authority = match (named.next(), named.next()) {
            (Some(_), Some(_)) => return Err(bad("the request has several Host headers")),
            (Some(host), None) => {
                let text = host.to_str().ok();
                text.and_then(|text| text.parse::<Authority>().ok())
                    .ok_or_else(|| bad("the Host header is no host"))?
            }
            (None, _) => return Err(bad("the request has no Host header")),
        };
        if self.is_ours(authority.host()) {
            return Ok(());
        }
        let why = format!(
            "this server is not {:?}; allow that name with --allow-host where it is meant",
            authority.host()
        );
        Err(Refusal::new(StatusCode::FORBIDDEN, &why))
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        for origin in headers.get_all(ORIGIN) {
            let text = origin.to_str().unwrap_or_default();
            let is_ours = text.parse::<Uri>().ok().is_some_and(|uri| {
                matches!(uri.scheme_str(), Some("http" | "https"))
                    && uri.host().is_some_and(|host| self.is_ours(host))
            });
            if !is_ours && !self.origins.contains(&text.to_ascii_lowercase()) {
                let why = format!(
                    "pages of {text:?} may not speak to this server; allow them with \
                     --allow-origin where they should"
                );
                return Err(Refusal::new(StatusCode::FORBIDDEN, &why));
            }
        }
        Ok(())
    }

    fn is_ours(&self, host: &str) -> bool {
        self.hosts.contains(&bare(host))
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let Some(given) = headers.get(AUTHORIZATION) else {
            return Err(Refusal::unauthorized(
                "send the token of this server: Authorization: Bearer TOKEN",
                None,
            ));
        };
        let given = given.as_bytes();
        let token = match given.split_at_checked("Bearer ".len()) {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"Bearer ") => token.trim_ascii(),
            _ => {
                return Err(Refusal::unauthorized(
                    "the Authorization header is no bearer token: send Bearer TOKEN",
                    Some("invalid_request"),
                ));
            }
        };
        if self.token.is(token) {
            Ok(())
        } else {
            Err(Refusal::unauthorized("that is not this server's token", Some("invalid_token")))
        }
    }
}

/// Lets the page that a request came from, which was found allowed, read the response.
pub(crate) fn share(origin: Option<&HeaderValue>, response: &mut HeaderMap) {
    if let Some(origin) = origin {
        response.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        let exposed = HeaderValue::from_static("mcp-session-id, www-authenticate");
        response.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        response.append(VARY, HeaderValue::from_static("origin"));
    }
}

/// A host as names are compared: in lower case, without the brackets of an address.
fn bare(host: &str) -> String {
    host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase()
}

/// The secret that lets in. Only a keyed hash of it is kept, and compared in constant time: how long
/// a refusal takes says nothing of how near a guess was.
struct Token {
    expected: Hmac<Sha256>,
    key: [u8; 32],
}

impl Token {
    fn new(token: &str) -> Result<Self, Error> {
        let is_good =
            (16..=1024).contains(&token.len()) && token.bytes().all(|b| b.is_ascii_graphic());
        if !is_good {
            return Err(Error::Token(token.len()));
        }
        let mut key = [0; 32];
        rustix::rand::getrandom(&mut key, rustix::rand::GetRandomFlags::empty())
            .map_err(std::io::Error::from)?;
        Ok(Self { expected: tag(key, token.as_bytes())?, key })
    }

    fn is(&self, given: &[u8]) -> bool {
        let expected = self.expected.clone().finalize().into_bytes();
        tag(self.key, given).is_ok_and(|tag| tag.verify(&expected).is_ok())
    }
}

fn tag(key: [u8; 32], token: &[u8]) -> Result<Hmac<Sha256>, Error> {
    let mut tag = Hmac::<Sha256>::new_from_slice(&key)
        .map_err(|error| std::io::Error::other(error.to_string()))?;
    tag.update(token);
    Ok(tag)
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    /// Headers, the status, and words of the reason.
    type Case<'a> = (&'a [(&'a str, &'a str)], u16, &'a str);

    fn verdict(headers: &[(&str, &str)]) -> Result<(), (u16, String)> {
        let hosts = ["Umbo.Example:443".to_owned(), "10.0.0.1".to_owned(), "fe80::1".to_owned()];
        let origins = ["https://app.example:8443".to_owned()];
        let guard = Guard::new(TOKEN, &hosts, &origins).unwrap();
        let mut request = Request::builder();
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        guard
            .check(&parts)
            .map_err(|refusal| (refusal.status().as_u16(), refusal.message().to_owned()))
    }

    #[test]
    fn who_is_meant_and_has_the_token_comes_in() {
        let token = format!("Bearer {TOKEN}");
        for host in [
            "localhost",
            "127.0.0.1:81",
            "[::1]:99",
            "LOCALHOST:1",
            "umbo.example",
            "10.0.0.1:80",
            "[fe80::1]",
        ] {
            assert_eq!(verdict(&[("host", host), ("authorization", &token)]), Ok(()), "{host}");
        }
        for origin in ["http://localhost:3000", "https://[::1]", "https://APP.example:8443"] {
            let headers = [("host", "localhost"), ("origin", origin), ("authorization", &*token)];
            assert_eq!(verdict(&headers), Ok(()), "{origin}");
        }
        let lower = format!("bearer  {TOKEN} ");
        assert_eq!(verdict(&[("host", "localhost"), ("authorization", &lower)]), Ok(()));
    }

    #[test]
    fn others_hear_why_they_do_not() {
        let token = format!("Bearer {TOKEN}");
        let almost = format!("Bearer {}", &TOKEN[1..]);
        let longer = format!("Bearer {TOKEN}0");
        let basic = format!("Basic {TOKEN}");
        let cases: [Case<'_>; 14] = [
            (&[("authorization", &token)], 400, "no Host"),
            (&[("host", "a b"), ("authorization", &token)], 400, "no host"),
            (&[("host", "localhost"), ("host", "evil")], 400, "several"),
            (&[("host", "evil.example"), ("authorization", &token)], 403, "--allow-host"),
            (&[("host", "localhost.evil.example")], 403, "not \"localhost.evil.example\""),
            (&[("host", "evil@localhost")], 401, "send the token"),
            (&[("host", "localhost"), ("origin", "null")], 403, "pages of \"null\""),
            (&[("host", "localhost"), ("origin", "http://evil.example")], 403, "--allow-origin"),
            (&[("host", "localhost"), ("origin", "file://localhost")], 403, "pages of"),
            (&[("host", "localhost"), ("origin", "https://app.example")], 403, "pages of"),
            (&[("host", "localhost")], 401, "Authorization: Bearer"),
            (&[("host", "localhost"), ("authorization", &basic)], 401, "no bearer token"),
            (&[("host", "localhost"), ("authorization", &almost)], 401, "not this server's"),
            (&[("host", "localhost"), ("authorization", &longer)], 401, "not this server's"),
        ];
        for (headers, status, words) in cases {
            let (given, message) = verdict(headers).unwrap_err();
            assert_eq!(given, status, "{headers:?}");
            assert!(message.contains(words), "{headers:?}: {message}");
        }
    }

    #[test]
    fn a_token_that_can_be_guessed_is_refused() {
        for token in
            ["", "short", "with a space in the middle", "sixteen\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}"]
        {
            assert!(Token::new(token).is_err(), "{token}");
        }
    }
}
