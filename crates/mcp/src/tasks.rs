//! The Tasks extension, for clients that declare it: a call that takes long is answered with a task,
//! whose state and result the client asks for when it likes.

use std::future;
use std::time::Duration;

use rmcp::model::{CallToolResponse, CreateTaskResult};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskExit, TaskOptions};
use rmcp::{ErrorData, RoleServer};

use crate::invocation::{Invocation, Waited};

/// What takes longer becomes a task. Most commands do not.
const TIME_TO_TASK: Duration = Duration::from_secs(3);
/// How long a task may take, and its result is kept after that.
const KEPT: Duration = Duration::from_hours(6);
/// How often a client should ask.
const INTERVAL: Duration = Duration::from_secs(1);

/// Answers a call at once, or else with a task.
pub(crate) async fn call(
    mut invocation: Invocation,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    match invocation.wait(tokio::time::sleep(TIME_TO_TASK), context.ct.cancelled()).await {
        Waited::Over(result) => return result.map(|result| invocation.response(result)),
        Waited::Cancelled => {
            return invocation.cancelled().await;
        }
        Waited::Late => {}
    }
    let tasks = invocation.caller().tasks.clone();
    let options = TaskOptions::new()
        .with_ttl_ms(millis(KEPT))
        .with_poll_interval_ms(millis(INTERVAL))
        .with_status_message("running");
    let task = tasks.spawn(options, |task| {
        invocation.become_task(task.clone());
        Box::pin(async move {
            match invocation.wait(future::pending(), task.cancelled()).await {
                Waited::Over(result) => {
                    task.set_status_message("over");
                    Ok(invocation.answer(result?))
                }
                Waited::Late | Waited::Cancelled => {
                    let _ = invocation.stop().await;
                    task.set_status_message("cancelled");
                    Err(TaskExit::Cancelled)
                }
            }
        })
    });
    Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
