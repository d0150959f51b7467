//! The threads on which calls block. One that has nothing to do is handed the next call, the one that ended
//! its last call latest first: what it needs is still in its processor's cache.
//!
//! The runtime's own threads for this would do, but whoever hands work to one of them wakes it while holding
//! the lock that the woken one needs first: two changes of process more for each call.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rmcp::ErrorData;
use tokio::sync::oneshot;

/// So many calls block at the same time; more wait until one is over.
const MOST_THREADS: usize = 512;
/// How long a thread waits for its next call.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

type Work = Box<dyn FnOnce() + Send>;

/// How a call ended that panicked: what it said.
pub(crate) type Panic = Box<dyn Any + Send>;

/// The threads of this process.
static THREADS: Threads = Threads::new(MOST_THREADS, IDLE_TIMEOUT);

/// Runs `work` on a thread that may block.
pub(crate) fn run<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> oneshot::Receiver<Result<T, Panic>> {
    THREADS.run(work)
}

struct Threads {
    most: usize,
    idle_timeout: Duration,
    state: Mutex<State>,
}

struct State {
    /// How many there are.
    count: usize,
    /// Names the next one.
    next: u64,
    /// Those that wait for work, and how to hand it to them.
    idle: Vec<(u64, Sender<Work>)>,
    /// Work for which there was no thread.
    waiting: VecDeque<Work>,
}

impl Threads {
    const fn new(most: usize, idle_timeout: Duration) -> Self {
        let state = State { count: 0, next: 0, idle: Vec::new(), waiting: VecDeque::new() };
        Self { most, idle_timeout, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run<T: Send + 'static>(
        &'static self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> oneshot::Receiver<Result<T, Panic>> {
        let (tell, told) = oneshot::channel();
        self.hand_over(Box::new(move || {
            let _ = tell.send(catch_unwind(AssertUnwindSafe(work)));
        }));
        told
    }

    fn hand_over(&'static self, work: Work) {
        let mut state = self.state();
        if let Some((_, thread)) = state.idle.pop() {
            drop(state);
            // It is not idle any more, so it waits for this however long it takes.
            let _ = thread.send(work);
            return;
        }
        state.waiting.push_back(work);
        if state.count == self.most {
            return;
        }
        state.count += 1;
        state.next += 1;
        let number = state.next;
        drop(state);
        if thread::Builder::new().spawn(move || self.serve(number)).is_err() {
            let mut state = self.state();
            state.count -= 1;
            // Those that there are do it. Without any, whoever waits is told that it did not run.
            if state.count == 0 {
                state.waiting.clear();
            }
        }
    }

    /// The life of a thread.
    fn serve(&self, number: u64) {
        let (give, given) = channel::<Work>();
        while let Some(work) = self.next(number, &give, &given) {
            work();
        }
    }

    /// What a thread does next; nothing when it was idle for too long.
    fn next(&self, number: u64, give: &Sender<Work>, given: &Receiver<Work>) -> Option<Work> {
        let mut state = self.state();
        if let Some(work) = state.waiting.pop_front() {
            return Some(work);
        }
        state.idle.push((number, give.clone()));
        drop(state);
        match given.recv_timeout(self.idle_timeout) {
            Ok(work) => Some(work),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                let mut state = self.state();
                let Some(place) = state.idle.iter().position(|(idle, _)| *idle == number) else {
                    // Somebody chose it in this moment.
                    drop(state);
                    return given.recv().ok();
                };
                state.idle.remove(place);
                state.count -= 1;
                None
            }
        }
    }
}

/// The error of a call that broke.
pub(crate) fn broken(why: &str) -> ErrorData {
    ErrorData::internal_error(format!("the call broke: {why}"), None)
}

/// What a panic said.
pub(crate) fn said(panic: &Panic) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it panicked")
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier};

    use super::*;

    /// Threads of a test's own.
    fn threads(most: usize, idle_timeout: Duration) -> &'static Threads {
        Box::leak(Box::new(Threads::new(most, idle_timeout)))
    }

    #[test]
    fn as_many_calls_as_there_may_be_threads_block_at_once_and_the_rest_follows() {
        let threads = threads(4, IDLE_TIMEOUT);
        let together = Arc::new(Barrier::new(4));
        let calls: Vec<_> = (0..40)
            .map(|number| {
                let together = Arc::clone(&together);
                threads.run(move || {
                    together.wait();
                    number
                })
            })
            .collect();
        let ended: Vec<i32> =
            calls.into_iter().map(|call| call.blocking_recv().unwrap().unwrap()).collect();
        assert_eq!(ended, (0..40).collect::<Vec<_>>());
        assert_eq!(threads.state().count, 4);
    }

    #[test]
    fn a_call_that_panics_says_what_it_said_and_its_thread_lives() {
        let threads = threads(1, IDLE_TIMEOUT);
        let broken = threads.run(|| panic!("number {}", 7)).blocking_recv().unwrap();
        let broken: Panic = broken.map(|(): ()| ()).unwrap_err();
        assert_eq!(said(&broken), "number 7");
        assert_eq!(threads.run(|| 8).blocking_recv().unwrap().unwrap(), 8);
        assert_eq!(threads.state().next, 1);
    }

    #[test]
    fn threads_that_nobody_needs_end_and_no_work_is_lost_while_they_do() {
        let threads = threads(8, Duration::from_micros(50));
        for round in 0..2_000 {
            let call = threads.run(move || round);
            assert_eq!(call.blocking_recv().unwrap().unwrap(), round);
        }
        let deadline = std::time::Instant::now() + Duration::from_mins(1);
        while threads.state().count > 0 {
            assert!(std::time::Instant::now() < deadline, "{} threads stay", threads.state().count);
            thread::yield_now();
        }
    }
}
