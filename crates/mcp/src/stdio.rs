//! One client, on standard input and output.

use std::future;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;
use umbo_tools::Toolset;

use crate::answer::Catalogue;
use crate::caller::{Caller, Seat};
use crate::server::Server;
use crate::{Error, FAREWELL, hangup, runtime};

/// How long answers may wait to be read after the client has closed its end.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Serves `tools` on standard input and output until the client closes it.
pub fn serve_stdio(tools: Toolset) -> Result<(), Error> {
    let runtime = runtime()?;
    let catalogue = Arc::new(Catalogue::new(&tools));
    let caller = Caller::new(tools);
    let server = Server::new(catalogue, Arc::default(), Seat::taken(Arc::clone(&caller)));
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
    caller.end();
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
