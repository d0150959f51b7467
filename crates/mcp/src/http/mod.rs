//! Many clients over HTTP, as the protocol's streamable transport has it.
//!
//! A client of a revision with sessions has one, with jobs of its own, from its handshake until it
//! deletes it or is silent for long. Clients of the newest revision have no session; those that give
//! themselves a name (`?owner=NAME`) have jobs under that name, the others share theirs. Who may
//! come in at all is the server's to decide, which this is mounted on.

mod batch;
pub(crate) mod callers;
mod endpoint;
mod replay;
mod sessions;

use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::StreamableHttpServerConfig;
use umbo_server::{Answering, Body, Mount, Refusal, RequestBody};
use umbo_tools::{Owner, Toolset};

use self::callers::Callers;
use self::sessions::Sessions;
use crate::Error;
use crate::answer::Catalogue;
use crate::client::ClientOptions;

/// Where the protocol is usually mounted.
pub const MCP_PATH: &str = "/mcp";

/// Whose jobs are whose over HTTP, and how long they wait for their caller.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct McpOptions {
    /// How long a client may be silent before what it runs in the foreground is stopped, and its
    /// session ends.
    pub idle_timeout: Duration,
    /// The name of callers that give none; each has its own jobs if there is none.
    pub owner: Option<String>,
    /// How clients are treated.
    pub client: ClientOptions,
}

impl Default for McpOptions {
    fn default() -> Self {
        Self { idle_timeout: Duration::from_mins(5), owner: None, client: ClientOptions::default() }
    }
}

/// The protocol over HTTP, to be mounted on an [`umbo_server::Door`] at [`MCP_PATH`].
pub struct McpEndpoint {
    catalogue: Arc<Catalogue>,
    hub: Arc<crate::listener::Hub>,
    callers: Arc<Callers>,
    sessions: Arc<Sessions>,
    config: StreamableHttpServerConfig,
    client: ClientOptions,
}

impl McpEndpoint {
    /// Serves the tools that `make` makes for each caller. Must be answered from within a runtime.
    pub fn new(
        options: &McpOptions,
        make: impl Fn(Owner) -> Result<Toolset, String> + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        // Made once before anybody calls: what cannot be made is said at once.
        let catalogue = Catalogue::new(&make(Owner::Everybody).map_err(Error::Tools)?);
        let idle = options.idle_timeout;
        Ok(Self {
            catalogue: Arc::new(catalogue),
            hub: Arc::default(),
            callers: Callers::new(Box::new(make), options.owner.clone(), idle),
            sessions: Sessions::new(idle),
            config: endpoint::config(),
            client: options.client,
        })
    }
}

impl Mount for McpEndpoint {
    fn answer(&self, request: hyper::Request<RequestBody>) -> Answering<'_> {
        Box::pin(self.respond(request))
    }

    fn refuse(&self, refusal: Refusal) -> hyper::Response<Body> {
        endpoint::refuse(refusal)
    }

    fn close(&self) {
        self.config.cancellation_token.cancel();
        self.sessions.end_all();
        self.callers.end();
    }
}

impl std::fmt::Debug for McpEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpEndpoint").finish_non_exhaustive()
    }
}
