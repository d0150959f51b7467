//! One client at the other end of two pipes. The thread that reads a call of a tool answers it, and goes on
//! listening while it waits for the command: most commands are over before the client says anything else, and
//! then no other thread had to be woken, neither for the call nor for the answer. If the client does say something
//! meanwhile, or the call is about to wait where it cannot listen, another thread reads on.
//!
//! Everything but calls of tools, and calls that need more of the protocol than an answer, goes to rmcp, which knows
//! nothing of the others.

mod call;
mod input;
mod output;

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use umbo_tools::Beside;

pub(crate) use self::call::Session;
pub(crate) use self::input::{LONGEST_LINE_BYTES, Line};
use self::input::{Lines, Stdin};
pub(crate) use self::output::Output;

/// So many calls are answered by the thread that read them at the same time; rmcp has the others.
const MOST_CALLS: usize = 64;
/// How long a thread waits for something to read.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// The client.
pub(crate) struct Pipe {
    pub(crate) output: Arc<Output>,
    /// Who the client is, once it has said so.
    session: OnceLock<Session>,
    state: Mutex<State>,
    /// There is something to read, or a call is over.
    changed: Condvar,
}

struct State {
    /// What there is to read, while nobody does.
    input: Option<Lines<Stdin>>,
    /// Where rmcp reads; nowhere at the end.
    others: Option<UnboundedSender<Line>>,
    /// Threads that would read.
    idle: usize,
    /// Calls in progress.
    calls: usize,
}

impl Pipe {
    /// Standard input and output, and what of it is for rmcp.
    #[expect(clippy::disallowed_methods, reason = "what is written is for a program")]
    pub(crate) fn open() -> io::Result<(Arc<Self>, UnboundedReceiver<Line>)> {
        let (others, received) = unbounded_channel();
        let input = Some(Lines::new(Stdin));
        let state = State { input, others: Some(others), idle: 0, calls: 0 };
        let pipe = Arc::new(Self {
            output: Output::new(io::stdout().as_fd().try_clone_to_owned()?),
            session: OnceLock::new(),
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let reader = Arc::clone(&pipe);
        thread::Builder::new().spawn(move || reader.read())?;
        Ok((pipe, received))
    }

    /// From here on calls are answered by the thread that reads them.
    pub(crate) fn begin(&self, session: Session) {
        let _ = self.session.set(session);
    }

    /// The life of a thread that reads.
    fn read(self: Arc<Self>) {
        let mut next = self.take();
        while let Some(mut input) = next {
            let line = match input.next() {
                Ok(Some(line)) => line,
                Ok(None) => return self.end(),
                Err(error) => {
                    tracing::warn!(%error, "cannot read from the client");
                    return self.end();
                }
            };
            let session = self.session.get();
            let call = session.and_then(|session| Some((session, session.call(&line)?)));
            let (Some((session, call)), true) = (call, self.enter()) else {
                self.pass_on(line);
                next = Some(input);
                continue;
            };
            let reading = Arc::new(Reading { pipe: Arc::clone(&self), input: Mutex::new(None) });
            if input.has_next() {
                self.hand_over(input);
            } else {
                *reading.input() = Some(input);
            }
            session.answer(call, &reading, &self.output);
            self.leave();
            next = reading.input().take();
            if next.is_none() {
                next = self.take();
            }
        }
    }

    /// Whether one call more may be answered here.
    fn enter(&self) -> bool {
        let mut state = self.state();
        let has_room = state.calls < MOST_CALLS;
        state.calls += usize::from(has_room);
        has_room
    }

    fn leave(&self) {
        let mut state = self.state();
        state.calls -= 1;
        if state.calls == 0 {
            self.changed.notify_all();
        }
    }

    /// Something for rmcp.
    fn pass_on(&self, line: Line) {
        if let Some(others) = &self.state().others {
            let _ = others.send(line);
        }
    }

    /// The client sends no more: rmcp hears of it when what was called before is answered.
    fn end(&self) {
        let mut state = self.state();
        while state.calls > 0 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.others = None;
        self.changed.notify_all();
    }

    /// What there is to read, waited for; nothing when there was nothing for a while, or never will be.
    fn take(&self) -> Option<Lines<Stdin>> {
        let mut state = self.state();
        state.idle += 1;
        loop {
            if let Some(input) = state.input.take() {
                state.idle -= 1;
                return Some(input);
            }
            let waited = self.changed.wait_timeout(state, IDLE_TIMEOUT);
            let (waited, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = waited;
            if (timeout.timed_out() && state.input.is_none()) || state.others.is_none() {
                state.idle -= 1;
                return None;
            }
        }
    }

    /// Has another thread read on.
    fn hand_over(self: &Arc<Self>, input: Lines<Stdin>) {
        let mut state = self.state();
        state.input = Some(input);
        if state.idle > 0 {
            drop(state);
            self.changed.notify_one();
            return;
        }
        drop(state);
        let reader = Arc::clone(self);
        // Without a thread more, the next one that is through with its call reads on.
        let _ = thread::Builder::new().spawn(move || reader.read());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// That the thread of a call is the one that listens to the client, as long as it is.
pub(crate) struct Reading {
    pipe: Arc<Pipe>,
    input: Mutex<Option<Lines<Stdin>>>,
}

impl Reading {
    fn input(&self) -> MutexGuard<'_, Option<Lines<Stdin>>> {
        self.input.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Beside for Reading {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.input().is_some().then(rustix::stdio::stdin)
    }

    fn ready(&self) {
        if let Some(input) = self.input().take() {
            self.pipe.hand_over(input);
        }
    }
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").field("listens", &self.input().is_some()).finish()
    }
}
