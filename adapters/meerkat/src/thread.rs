//! Umbo's calls block, so they are made on threads. They are no threads of tokio: a runtime that shuts
//! down would wait for those, and with them for commands that run for ever.

use tokio::sync::oneshot;
use umbo_tools::Ticket;

/// What work on a thread of its own comes to; `None` if there is no thread to be had.
pub(crate) async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (send, receive) = oneshot::channel();
    let thread = std::thread::Builder::new().name("umbo".to_owned());
    thread.spawn(move || drop(send.send(work()))).ok()?;
    receive.await.ok()
}

/// A command dies with the call that waits for it: that is how Meerkat cancels, and how its deadlines
/// strike.
pub(crate) struct CancelOnDrop(Option<Ticket>);

impl CancelOnDrop {
    pub(crate) fn new(ticket: Ticket) -> Self {
        Self(Some(ticket))
    }

    pub(crate) fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(ticket) = self.0.take() {
            // It waits for the end of the command; who drops a call does not.
            let _ = std::thread::Builder::new().spawn(move || ticket.cancel());
        }
    }
}
