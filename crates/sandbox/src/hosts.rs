//! Which hosts a job may reach: names, addresses and networks, each with or without a port.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::policy::Error;

/// A host that may be reached, or many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRule {
    host: Host,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    /// This name.
    Name(String),
    /// Every name that ends so, but not the end alone.
    Below(String),
    /// Addresses whose first so many bits are these.
    Network(IpAddr, u8),
}

impl HostRule {
    /// Whether a name, as somebody wrote it, is meant.
    pub(crate) fn names(&self, host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let is_host = match &self.host {
            Host::Name(name) => *name == host,
            Host::Below(end) => host
                .strip_suffix(end.as_str())
                .is_some_and(|start| start.len() > 1 && start.ends_with('.')),
            Host::Network(..) => host.parse().is_ok_and(|address| self.covers(address)),
        };
        is_host && self.port.is_none_or(|own| own == port)
    }

    /// Whether an address is meant as such.
    pub(crate) fn lists(&self, address: IpAddr, port: u16) -> bool {
        self.covers(address) && self.port.is_none_or(|own| own == port)
    }

    fn covers(&self, address: IpAddr) -> bool {
        let Host::Network(network, bits) = self.host else { return false };
        let (own, other, length) = match (network, plain(address)) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (u128::from(u32::from(own)) << 96, u128::from(u32::from(other)) << 96, bits)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => (u128::from(own), u128::from(other), bits),
            _ => return false,
        };
        length == 0 || (own ^ other) >> (128 - u32::from(length)) == 0
    }
}

/// An address without the ways to write a version 4 one as version 6.
fn plain(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(six) => six.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// Whether an address is not of the public network: of this machine, its neighbours or its owner.
pub(crate) fn is_private(address: IpAddr) -> bool {
    match plain(address) {
        IpAddr::V4(four) => is_private_v4(four),
        IpAddr::V6(six) => is_private_v6(six),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let is_shared = first == 100 && second & 0xc0 == 64;
    let is_protocol = first == 192 && second == 0 && third == 0;
    let is_benchmark = first == 198 && second & 0xfe == 18;
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || first == 0
        || first >= 240
        || is_shared
        || is_protocol
        || is_benchmark
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let [first, ..] = segments;
    // Addresses that carry one of version 4 in them lead where that one does.
    let carried = match segments {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..]
        | [0, 0, 0, 0, 0, 0, high, low] => {
            let [a, b] = high.to_be_bytes();
            let [c, d] = low.to_be_bytes();
            Some(Ipv4Addr::new(a, b, c, d))
        }
        _ => None,
    };
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || first & 0xfe00 == 0xfc00
        || first & 0xffc0 == 0xfe80
        || first & 0xffc0 == 0xfec0
        || (first == 0x64 && segments[1] == 0xff9b && segments[2] == 1)
        || carried.is_some_and(is_private_v4)
}

impl FromStr for HostRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::Host(text.to_owned());
        let (host, port) = split_port(text).ok_or_else(wrong)?;
        if let Some((address, bits)) = host.split_once('/') {
            let address: IpAddr = address.parse().map_err(|_| wrong())?;
            let most = if address.is_ipv4() { 32 } else { 128 };
            let bits = bits.parse().ok().filter(|bits| *bits <= most).ok_or_else(wrong)?;
            return Ok(Self { host: Host::Network(address, bits), port });
        }
        if let Ok(address) = host.parse::<IpAddr>() {
            let address = plain(address);
            let bits = if address.is_ipv4() { 32 } else { 128 };
            return Ok(Self { host: Host::Network(address, bits), port });
        }
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let (name, is_below) = match host.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (host.as_str(), false),
        };
        let is_label = |label: &str| {
            !label.is_empty()
                && label.len() < 64
                && label.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        };
        // What looks like a number is a mistyped address, not a name.
        let is_number = name.split('.').next_back().is_some_and(|end| end.parse::<u64>().is_ok());
        if name.len() > 253 || !name.split('.').all(is_label) || is_number {
            return Err(wrong());
        }
        let name = name.to_owned();
        Ok(Self { host: if is_below { Host::Below(name) } else { Host::Name(name) }, port })
    }
}

/// A host and its port; an address of version 6 that has a port is in brackets.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, port) = rest.split_once(']')?;
        return match port.strip_prefix(':') {
            Some(port) => Some((host, Some(port.parse().ok()?))),
            None => port.is_empty().then_some((host, None)),
        };
    }
    match text.rsplit_once(':') {
        Some((host, _)) if host.contains(':') => Some((text, None)),
        Some((host, port)) => Some((host, Some(port.parse().ok()?))),
        None => Some((text, None)),
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = match &self.host {
            Host::Name(name) => name.clone(),
            Host::Below(name) => format!("*.{name}"),
            Host::Network(address, bits) => format!("{address}/{bits}"),
        };
        match self.port {
            Some(port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Some(port) => write!(f, "{host}:{port}"),
            None => f.write_str(&host),
        }
    }
}

impl Serialize for HostRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HostRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
