//! Umbo's calls block, so they are made on threads. They are no threads of tokio: a runtime that shuts
//! down would wait for those, and with them for commands that run for ever.

use std::time::Duration;

use tokio::sync::oneshot;
use umbo_engine::{Condition, JobHandle, Met};

/// How often somebody who waits for a job looks whether its end is still wanted.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// What work on a thread of its own comes to; `None` if there is no thread to be had.
pub(crate) async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (send, receive) = oneshot::channel();
    let thread = std::thread::Builder::new().name("umbo".to_owned());
    thread.spawn(move || drop(send.send(work()))).ok()?;
    receive.await.ok()
}

/// Waits for the end of a job. The job goes on if nobody waits for it any more.
pub(crate) async fn ended(job: JobHandle) -> Option<umbo_engine::Result<()>> {
    let (send, receive) = oneshot::channel();
    let wait = move || {
        while !send.is_closed() {
            match job.wait(&[Condition::Exit], Some(LOOK_INTERVAL)) {
                Ok(Met::Deadline) => {}
                Ok(_) => return drop(send.send(Ok(()))),
                Err(error) => return drop(send.send(Err(error))),
            }
        }
    };
    std::thread::Builder::new().name("umbo-wait".to_owned()).spawn(wait).ok()?;
    receive.await.ok()
}
