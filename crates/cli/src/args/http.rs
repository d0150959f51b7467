//! How `umbo mcp` listens, where it does, and what it writes down.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::time::parse_duration;

/// Serving many clients over HTTP.
#[derive(Debug, Args)]
#[command(next_help_heading = "Over HTTP")]
pub(crate) struct Http {
    /// Serve many clients over HTTP instead: 127.0.0.1:PORT; port 0 is any that is free
    #[arg(long = "http", id = "http", value_name = "ADDRESS", value_parser = parse_address)]
    pub(crate) address: Option<SocketAddr>,
    #[arg(
        long,
        value_name = "FILE",
        requires = "http",
        help = "The file with the token that clients must send [default: $UMBO_MCP_TOKEN, or one \
                that is made and kept]"
    )]
    pub(crate) token_file: Option<PathBuf>,
    /// Listen on an address that other machines can reach; needs --behind-proxy
    #[arg(long, requires = "http", requires = "behind_proxy")]
    pub(crate) allow_remote: bool,
    /// Say that a proxy stands before it and encrypts: umbo itself does not
    #[arg(long, requires = "http")]
    pub(crate) behind_proxy: bool,
    /// Take requests for this name too, as that of the proxy; may be repeated
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) allow_host: Vec<String>,
    #[arg(
        long,
        value_name = "ORIGIN",
        requires = "http",
        help = "Take requests of pages from there too, as https://app.example; may be repeated"
    )]
    pub(crate) allow_origin: Vec<String>,
    /// How long a client may be silent before its session and its foreground end
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "30m",
        value_parser = parse_duration,
        requires = "http"
    )]
    pub(crate) idle_timeout: Duration,
}

/// Where the log goes.
#[derive(Debug, Args)]
pub(crate) struct Log {
    #[arg(
        long,
        value_name = "FILE",
        help = "Write a log of all calls to this file; UMBO_LOG says how much, as `umbo=debug`"
    )]
    pub(crate) log_file: Option<PathBuf>,
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let local = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':'));
    let address = match local {
        Some(port) => port.parse().ok().map(|port| (IpAddr::V4(Ipv4Addr::LOCALHOST), port).into()),
        None => text.parse().ok(),
    };
    address.ok_or_else(|| "accepted: ADDRESS:PORT, as 127.0.0.1:8391 or [::1]:0".to_owned())
}
