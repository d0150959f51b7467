//! Progress of a call, for the client that waits for it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use rmcp::task_manager::TaskContext;
use tokio::sync::mpsc;
use umbo_tools::Tick;

/// Tells how a call stands, if its caller gave a token for that or can look at a task.
pub(crate) fn teller(
    context: &RequestContext<RoleServer>,
    task: &Arc<OnceLock<TaskContext>>,
) -> Option<impl Fn(&Tick) + Send + Sync + 'static> {
    let token = context.meta.get_progress_token();
    let has_tasks = context.client_capabilities().is_some_and(|all| all.supports_tasks());
    if token.is_none() && !has_tasks {
        return None;
    }
    let (sender, mut ticks) = mpsc::channel::<ProgressNotificationParam>(1);
    let peer = context.peer.clone();
    tokio::spawn(async move {
        while let Some(tick) = ticks.recv().await {
            if peer.notify_progress(tick).await.is_err() {
                break;
            }
        }
    });
    let task = Arc::clone(task);
    Some(move |tick: &Tick| {
        let seconds = Duration::from_micros(tick.elapsed).as_secs_f64();
        let tail = tick.lines.join("\n");
        let tail = if tail.is_empty() { tail } else { format!("\n{tail}") };
        let message = format!("{seconds:.0} s, {} bytes{tail}", tick.bytes);
        if let Some(task) = task.get() {
            task.set_status_message(message.clone());
        }
        if let Some(token) = &token {
            let tick = ProgressNotificationParam::new(token.clone(), seconds).with_message(message);
            // A client that does not read misses ticks, not answers.
            let _ = sender.try_send(tick);
        }
    })
}
