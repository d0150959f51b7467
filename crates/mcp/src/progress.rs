//! Progress of a call, for the client that waits for it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use rmcp::task_manager::TaskContext;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use umbo_tools::Tick;

/// Tells how a call stands, if its caller gave a token for that or can look at a task.
pub(crate) fn teller(
    peer: &Peer<RoleServer>,
    token: Option<ProgressToken>,
    task: Option<Arc<OnceLock<TaskContext>>>,
    runtime: Handle,
) -> impl Fn(&Tick) + Send + Sync + 'static {
    let peer = peer.clone();
    // Most calls are over before there is anything to tell.
    let sender: OnceLock<mpsc::Sender<ProgressNotificationParam>> = OnceLock::new();
    move |tick: &Tick| {
        let seconds = Duration::from_micros(tick.elapsed).as_secs_f64();
        let tail = tick.lines.join("\n");
        let tail = if tail.is_empty() { tail } else { format!("\n{tail}") };
        let message = format!("{seconds:.0} s, {} bytes{tail}", tick.bytes);
        if let Some(task) = task.as_ref().and_then(|task| task.get()) {
            task.set_status_message(message.clone());
        }
        if let Some(token) = &token {
            let tick = ProgressNotificationParam::new(token.clone(), seconds).with_message(message);
            let sender = sender.get_or_init(|| pass_on(peer.clone(), &runtime));
            // A client that does not read misses ticks, not answers.
            let _ = sender.try_send(tick);
        }
    }
}

/// Notifies the client of what is sent, one after the other.
fn pass_on(peer: Peer<RoleServer>, runtime: &Handle) -> mpsc::Sender<ProgressNotificationParam> {
    let (sender, mut ticks) = mpsc::channel(1);
    runtime.spawn(async move {
        while let Some(tick) = ticks.recv().await {
            if peer.notify_progress(tick).await.is_err() {
                break;
            }
        }
    });
    sender
}
