//! One client, on standard input and output or on any other transport that rmcp has.

use std::future;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rmcp::service::{RunningService, ServerInitializeError};
use rmcp::transport::IntoTransport;
use rmcp::{RoleServer, ServiceExt};
use tokio::sync::oneshot;
use umbo_tools::Toolset;

use crate::caller::Caller;
use crate::client::ClientOptions;
use crate::handler::McpHandler;
use crate::pipe::{Pipe, Session};
use crate::wire::LineTransport;
use crate::{Error, SHUTDOWN_TIMEOUT, runtime, stdin_closed};

type Running = RunningService<RoleServer, McpHandler>;

/// How long answers may wait to be read after the client has closed its end.
const UNREAD_ANSWERS_TIMEOUT: Duration = Duration::from_secs(2);

/// Serves `tools` on standard input and output until the client closes it, with a runtime of its own.
pub fn serve_stdio(tools: Toolset, options: ClientOptions) -> Result<(), Error> {
    let runtime = runtime()?;
    let result = runtime.block_on(async move {
        let handler = McpHandler::new(tools).options(options);
        let caller = handler.caller().map_err(|error| Error::Tools(error.to_string()))?;
        // What it took to get here is not needed again.
        umbo_tools::release_memory();
        let (pipe, others) = Pipe::open()?;
        let transport = LineTransport::new(others, Arc::clone(&pipe.output));
        let begin = |running: &Running| {
            if let Some(session) = Session::of(running.peer(), running.service()) {
                pipe.begin(session);
            }
        };
        let result = tokio::select! {
            result = serving(handler, transport, begin) => result,
            () = unread_too_long() => Ok(()),
        };
        end(caller).await;
        result
    });
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    result
}

/// Serves `tools` to one client on any transport of rmcp, on the runtime that calls, until the client
/// is gone.
pub async fn serve<T, E, A>(tools: Toolset, transport: T) -> Result<(), Error>
where
    T: IntoTransport<RoleServer, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let handler = McpHandler::new(tools);
    let caller = handler.caller().map_err(|error| Error::Tools(error.to_string()))?;
    let result = serving(handler, transport, |_| ()).await;
    end(caller).await;
    result
}

/// The client is gone: so is its caller. On a thread of its own, for calls that wait may have all the others.
async fn end(caller: Arc<Caller>) {
    let (ended, end) = oneshot::channel();
    let work = move || {
        caller.end();
        let _ = ended.send(());
    };
    if thread::Builder::new().spawn(work).is_ok() {
        let _ = end.await;
    }
}

/// Serves a client until it is gone. `begin` is called after the handshake.
async fn serving<T, E, A>(
    handler: McpHandler,
    transport: T,
    begin: impl FnOnce(&Running),
) -> Result<(), Error>
where
    T: IntoTransport<RoleServer, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    match handler.serve(transport).await {
        Ok(running) => {
            begin(&running);
            let _ = running.waiting().await;
            Ok(())
        }
        // Gone before it said anything: nothing was asked, nothing is wrong.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(Error::Client(error.to_string())),
    }
}

/// Ends some time after the client has closed its end. Serving ends by itself then, but not while
/// it waits for a client that does not read to read its answers.
async fn unread_too_long() {
    match stdin_closed::of_stdin().await {
        Ok(()) => tokio::time::sleep(UNREAD_ANSWERS_TIMEOUT).await,
        Err(_) => future::pending().await,
    }
}
