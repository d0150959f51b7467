//! The tools over the Model Context Protocol. The only crate that knows rmcp and its runtime.
//!
//! [`serve_stdio`] speaks to one client on standard input and output until the client closes its
//! end. Calls block on threads of their own, so that nothing waits for anything else; a
//! `notifications/cancelled` stops the command of its call with all its descendants, and the end of
//! the input stops every command that was not started in the background.

mod hangup;
mod server;

use std::future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use tokio::runtime;
use umbo_tools::Toolset;

use crate::server::Server;

/// How long calls may take to end after the client has gone.
const FAREWELL: Duration = Duration::from_secs(10);

/// How long answers may wait to be read after the client has closed its end.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Why the server could not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The runtime cannot be started.
    #[error("cannot start the server: {0}")]
    Runtime(#[from] io::Error),
    /// The client spoke no protocol that is spoken here.
    #[error("the client did not begin as the protocol says: {0}")]
    Client(String),
}

/// Serves `tools` on standard input and output until the client closes it.
pub fn serve_stdio(tools: Toolset) -> Result<(), Error> {
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(512)
        .enable_all()
        .build()?;
    let tools = Arc::new(tools);
    let server = Server::new(Arc::clone(&tools));
    let calls = server.calls();
    let serving = async move {
        match server.serve(stdio_pipes()).await {
            Ok(running) => {
                let _ = running.waiting().await;
                Ok(())
            }
            // Gone before it said anything: nothing was asked, nothing is wrong.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(Error::Client(error.to_string())),
        }
    };
    let result = runtime.block_on(async move {
        tokio::select! {
            result = serving => result,
            () = unheard() => Ok(()),
        }
    });
    // The client is gone: what it was waiting for is stopped, and so is what it left running in
    // the foreground.
    calls.cancel_all();
    tools.close();
    runtime.shutdown_timeout(FAREWELL);
    result
}

/// Ends some time after the client has closed its end. Serving ends by itself then, but not while
/// it waits for a client that does not read to read its answers.
async fn unheard() {
    match hangup::of_stdin().await {
        Ok(()) => tokio::time::sleep(LAST_WORDS).await,
        Err(_) => future::pending().await,
    }
}
