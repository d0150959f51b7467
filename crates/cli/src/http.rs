//! `umbo mcp --http`: the token, where to listen, and who is told of it.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use umbo_mcp::{MCP_PATH, McpEndpoint, McpOptions};
use umbo_server::{Door, Exposure, Guard, HttpServer};
use umbo_tools::{Owner, Toolset};

use crate::args::Http;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{self, Format};

/// The variable that can hold the token.
pub(crate) const TOKEN: &str = "UMBO_MCP_TOKEN";
/// The file that keeps the token where nobody gave one.
const KEPT: &str = "mcp-token";

/// Serves until it is interrupted.
pub(crate) fn serve(
    context: &Context,
    args: &Http,
    owner: Option<String>,
    make: impl Fn(Owner) -> Result<Toolset, Failure> + Send + Sync + 'static,
) -> Result<(), Failure> {
    let Some(address) = args.address else { return Err(Failure::new("--http: no address")) };
    let may_be_reached = args.allow_remote && args.behind_proxy;
    if !address.ip().is_loopback() && !may_be_reached {
        return Err(Failure::new(format!(
            "--http {address}: other machines can reach it, and the token would travel in the \
             clear; listen on 127.0.0.1, or put a proxy with TLS before it and say so: \
             --allow-remote --behind-proxy"
        )));
    }
    let (token, file) = token(args.token_file.as_deref())?;
    let exposure = if args.behind_proxy { Exposure::Proxied } else { Exposure::Loopback };
    let mut hosts = args.allow_host.clone();
    if !address.ip().is_unspecified() {
        hosts.push(address.ip().to_string());
    }
    let guard = Guard::new(&token, &hosts, &args.allow_origin).map_err(Failure::new)?;
    let mut options = McpOptions::default();
    options.idle_timeout = args.idle_timeout;
    options.owner = owner;
    options.client = context.settings.tools.client;
    let make = move |owner| make(owner).map_err(|failure| failure.to_string());
    let endpoint = McpEndpoint::new(&options, make).map_err(Failure::new)?;
    let door = Door::builder(guard).mount(MCP_PATH, Arc::new(endpoint)).build();
    let server = HttpServer::bind(address, exposure).map_err(Failure::new)?;
    let stopper = server.stopper();
    let _ = ctrlc::set_handler(move || stopper.stop());
    let url = format!("http://{}{MCP_PATH}", server.address());
    announce(context.format, &url, file.as_deref());
    server.serve(&door);
    Ok(())
}

/// Says where the server is, in one line that programs can read.
fn announce(format: Format, url: &str, file: Option<&Path>) {
    match (format, file) {
        (Format::Json, file) => output::talk(json!({"url": url, "token_file": file})),
        (Format::Text, Some(file)) => {
            output::talk(format_args!("umbo: listening on {url} token-file {}", file.display()));
        }
        (Format::Text, None) => output::talk(format_args!("umbo: listening on {url}")),
    }
}

/// The token, and the file it is in.
fn token(given: Option<&Path>) -> Result<(String, Option<PathBuf>), Failure> {
    if let Some(file) = given {
        return Ok((read(file)?, Some(file.to_owned())));
    }
    if let Ok(token) = std::env::var(TOKEN) {
        return Ok((token, None));
    }
    let directory = Context::configuration()?;
    let file = directory.join(KEPT);
    if !file.exists() {
        let mut maker = fs::DirBuilder::new();
        let made = maker.recursive(true).mode(0o700).create(&directory);
        made.map_err(failed("make", &directory))?;
        create(&file)?;
    }
    Ok((read(&file)?, Some(file)))
}

/// No token is longer; a device that never ends is not read for ever.
const LONGEST_TOKEN_BYTES: u64 = 64 << 10;

/// Reads a token that nobody else can read.
fn read(file: &Path) -> Result<String, Failure> {
    let opened = File::open(file).map_err(failed("read", file))?;
    let metadata = opened.metadata().map_err(failed("read", file))?;
    if metadata.is_dir() {
        let message =
            format!("{}: it is a directory; give the file with the token", file.display());
        return Err(Failure::new(message));
    }
    let mode = metadata.mode();
    if mode & 0o077 != 0 {
        return Err(Failure::new(format!(
            "{}: others can read or change this token (mode {:o}); run: chmod 600 {0}",
            file.display(),
            mode & 0o777
        )));
    }
    let mut token = String::new();
    opened.take(LONGEST_TOKEN_BYTES).read_to_string(&mut token).map_err(failed("read", file))?;
    Ok(token.trim().to_owned())
}

/// Makes a token of 256 random bits. The file appears whole, and once: of two servers that start at
/// the same moment, both use the one that is there.
fn create(file: &Path) -> Result<(), Failure> {
    let mut bits = [0_u8; 32];
    rustix::rand::getrandom(&mut bits, rustix::rand::GetRandomFlags::empty())
        .map_err(io::Error::from)?;
    let mut token = String::new();
    for byte in bits {
        let _ = write!(token, "{byte:02x}");
    }
    let draft = file.with_extension(std::process::id().to_string());
    let _ = fs::remove_file(&draft);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut opened| writeln!(opened, "{token}"))
        .and_then(|()| match fs::hard_link(&draft, file) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        });
    let _ = fs::remove_file(&draft);
    written.map_err(failed("write", file))
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Failure {
    move |error| Failure::new(format!("cannot {action} {}: {error}", path.display()))
}
