//! Keeps one server: connects, learns its tools, and starts it again when it dies.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceError;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::connection::{Connection, connect};
use super::process::Processes;
use super::{Notice, ServerState, Slot};

/// How long it waits before a server that died is started again; twice as long each time.
const FIRST_BACKOFF: Duration = Duration::from_secs(1);
const LONGEST_BACKOFF: Duration = Duration::from_mins(1);
/// A server that lived so long has recovered.
const RECOVERED_AFTER: Duration = Duration::from_mins(1);
/// A server that dies so often in a row is not started again.
const MOST_RESTARTS: u32 = 6;
/// How long a server may take to say that it is still there.
const PING_TIMEOUT: Duration = Duration::from_secs(10);
/// How long its process may take to end when its connection did.
const END_GRACE: Duration = Duration::from_secs(1);

/// Keeps a server until it is told to stop.
pub(super) async fn keep(
    slot: Arc<Slot>,
    processes: Arc<Processes>,
    notice: Notice,
    stop: CancellationToken,
) {
    let mut deaths = 0;
    let mut was_ready = false;
    loop {
        let began = Instant::now();
        let ended = tokio::select! {
            ended = live(&slot, &processes, &mut was_ready) => ended,
            () = stop.cancelled() => return,
        };
        slot.shared().connected = None;
        deaths = if began.elapsed() >= RECOVERED_AFTER { 1 } else { deaths + 1 };
        let name = &slot.config.name;
        // One that never answered is not as it was configured: that does not mend itself.
        if !was_ready || deaths > MOST_RESTARTS {
            notice(&format!("MCP server {name}: {ended}; it is not started again"));
            slot.shared().tools.clear();
            slot.state.send_replace(ServerState::Failed(ended));
            return;
        }
        let wait = FIRST_BACKOFF.saturating_mul(1 << (deaths - 1)).min(LONGEST_BACKOFF);
        let seconds = wait.as_secs();
        notice(&format!("MCP server {name}: {ended}; it is started again in {seconds} s"));
        slot.state.send_replace(ServerState::Down(ended));
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = stop.cancelled() => return,
        }
    }
}

/// One life of a server; how it ended.
async fn live(slot: &Slot, processes: &Processes, was_ready: &mut bool) -> String {
    let timeout = slot.config.timeout;
    let late = || format!("it was not ready after {} s", timeout.as_secs_f32());
    let started = async {
        let connection = connect(&slot.config, slot.answer.clone(), processes).await?;
        let tools = connection.service.list_all_tools().await;
        Ok::<_, String>((tools.map_err(|error| format!("it lists no tools: {error}"))?, connection))
    };
    let (tools, mut connection) = match tokio::time::timeout(timeout, started).await {
        Ok(Ok(started)) => started,
        Ok(Err(problem)) => return problem,
        Err(_) => return late(),
    };
    if let Some(starting) = &mut connection.process {
        starting.is_ready = true;
    }
    let connected = connection.connected();
    let doubt = Arc::clone(&connected.doubt);
    {
        let mut shared = slot.shared();
        shared.tools = tools;
        shared.connected = Some(connected.clone());
    }
    *was_ready = true;
    slot.state.send_replace(ServerState::Ready);
    let Connection { service, tools_changed, process, .. } = connection;
    let peer = connected.peer;
    let closed = service.waiting();
    tokio::pin!(closed);
    loop {
        tokio::select! {
            _ = &mut closed => break,
            () = tools_changed.notified() => {
                if let Ok(tools) = peer.list_all_tools().await {
                    slot.shared().tools = tools;
                }
            }
            () = doubt.notified() => {
                let pinged = tokio::time::timeout(PING_TIMEOUT, peer.list_all_tools()).await;
                if !matches!(pinged, Ok(Ok(_) | Err(ServiceError::McpError(_)))) {
                    break;
                }
            }
        }
    }
    match process {
        Some(started) => {
            let process = Arc::clone(&started.process);
            let ended = tokio::task::spawn_blocking(move || process.finish(END_GRACE)).await;
            ended.unwrap_or_else(|error| error.to_string())
        }
        None => "the connection was lost".to_owned(),
    }
}
