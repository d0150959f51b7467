//! Web pages, for callers that may fetch them. Never from an address that is not public, unless the
//! caller allows that: names are resolved here, and the address that was checked is the one that is
//! connected to, also behind every redirection.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, ResponseExt};

use crate::{Call, Error};

/// How pages may be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebPolicy {
    /// Also from private, local and link-local addresses.
    pub private_addresses: bool,
    /// At most so much of a page.
    pub max_bytes: u64,
    /// At most so long for all of it.
    pub timeout: Duration,
}

impl Default for WebPolicy {
    fn default() -> Self {
        Self { private_addresses: false, max_bytes: 8 << 20, timeout: Duration::from_secs(20) }
    }
}

const MOST_REDIRECTIONS: u32 = 5;
const CACHED_PAGES: usize = 8;
const USER_AGENT: &str = concat!("umbo/", env!("CARGO_PKG_VERSION"));

/// What was fetched.
#[derive(Clone, Debug)]
pub(crate) struct Fetched {
    /// Where it came from in the end.
    pub(crate) url: String,
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) body: Vec<u8>,
}

/// A client, and the pages it fetched last, so that reading on does not fetch again.
pub(crate) struct Web {
    policy: WebPolicy,
    pages: Mutex<VecDeque<(String, Fetched)>>,
}

impl Web {
    pub(crate) fn new(policy: WebPolicy) -> Self {
        Self { policy, pages: Mutex::default() }
    }

    /// A page; `again` takes the one that was fetched before, if it is still here.
    pub(crate) fn fetch(&self, url: &str, again: bool, call: &Call) -> Result<Fetched, Error> {
        call.stop.check()?;
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let known = pages.iter().find(|(own, _)| own == url).map(|(_, page)| page.clone());
        if let (true, Some(page)) = (again, known) {
            return Ok(page);
        }
        drop(pages);
        let page = self.get(url)?;
        call.stop.check()?;
        pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|(own, _)| own != url);
        pages.push_front((url.to_owned(), page.clone()));
        pages.truncate(CACHED_PAGES);
        Ok(page)
    }

    fn get(&self, url: &str) -> Result<Fetched, Error> {
        let failed = |error: ureq::Error| Error::Unreadable {
            path: url.to_owned(),
            problem: problem(&error),
        };
        let config = Config::builder()
            .proxy(None)
            .http_status_as_error(false)
            .max_redirects(MOST_REDIRECTIONS)
            .timeout_global(Some(self.policy.timeout))
            .user_agent(USER_AGENT)
            .build();
        let resolver = PublicResolver {
            inner: DefaultResolver::default(),
            private_addresses: self.policy.private_addresses,
        };
        let agent = Agent::with_parts(config, DefaultConnector::default(), resolver);
        let accept = "text/markdown, text/html;q=0.9, */*;q=0.5";
        let mut response = agent.get(url).header("accept", accept).call().map_err(failed)?;
        let content_type = response.body().mime_type().unwrap_or_default().to_ascii_lowercase();
        let status = response.status().as_u16();
        let url = response.get_uri().to_string();
        let limit = self.policy.max_bytes;
        let body = response.body_mut().with_config().limit(limit).read_to_vec().map_err(failed)?;
        Ok(Fetched { url, status, content_type, body })
    }
}

/// What the library says, and what that means.
fn problem(error: &ureq::Error) -> String {
    match error {
        ureq::Error::HostNotFound => {
            "its host is not known, or has no public address (private ones are not allowed)"
                .to_owned()
        }
        ureq::Error::BodyExceedsLimit(limit) => {
            format!("it is larger than {}", crate::render::size(*limit))
        }
        other => other.to_string(),
    }
}

/// Resolves names to public addresses only.
#[derive(Debug)]
struct PublicResolver {
    inner: DefaultResolver,
    private_addresses: bool,
}

impl Resolver for PublicResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let all = self.inner.resolve(uri, config, timeout)?;
        if self.private_addresses {
            return Ok(all);
        }
        let mut public = self.empty();
        for address in all.iter().filter(|address| is_public(address.ip())) {
            public.push(*address);
        }
        if public.is_empty() { Err(ureq::Error::HostNotFound) } else { Ok(public) }
    }
}

/// Whether an address is one of the whole Internet.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b)))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let [.., high, low] = parts;
    let inner = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // An address of version 4 inside one of version 6.
        [0, 0, 0, 0, 0, 0xffff, ..]
        | [0, 0, 0, 0, 0xffff, 0, ..]
        | [0x64, 0xff9b, 0, 0, 0, 0, ..] => inner(high, low),
        [0x2002, high, low, ..] => inner(high, low),
        // For documentation, and for tunnels and tests.
        [0x2001, 0x0db8 | 0..=0x01ff, ..] => false,
        // Of the rest only 2000::/3 is given out.
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_not_public_are_known() {
        let private = [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "198.18.0.1",
            "192.0.0.8",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "::127.0.0.1",
            "2001::1",
        ];
        for address in private {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in
            ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1", "172.32.0.1"]
        {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }
}
