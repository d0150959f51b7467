//! What the user says while the agent works.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio_util::sync::CancellationToken;
use umbo_model::Part;

/// When a message is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// As soon as possible: between tools, or before the model is asked again.
    Steer,
    /// When the agent has nothing left to do.
    FollowUp,
    /// With the next prompt.
    NextTurn,
}

/// How many messages are delivered at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueMode {
    /// One.
    #[default]
    OneAtATime,
    /// All.
    All,
}

/// When steering is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InterruptMode {
    /// Between tools; those that have not begun are not run.
    #[default]
    Immediate,
    /// When all tools of the turn have run.
    Wait,
}

/// The queues of one agent, and the way to interrupt it. Shared with whoever talks to the user.
#[derive(Debug, Default)]
pub struct Queues {
    state: Mutex<State>,
    changed: Notify,
    retry_aborted: Notify,
}

#[derive(Debug, Default)]
struct State {
    steering: VecDeque<Vec<Part>>,
    follow_up: VecDeque<Vec<Part>>,
    next_turn: VecDeque<Vec<Part>>,
    steering_mode: QueueMode,
    follow_up_mode: QueueMode,
    interrupt_mode: InterruptMode,
    cancel: CancellationToken,
    /// The run that `cancel` belongs to has been announced, and has not begun.
    is_announced: bool,
}

impl Queues {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a message in.
    pub fn push(&self, delivery: Delivery, content: Vec<Part>) {
        let mut state = self.state();
        match delivery {
            Delivery::Steer => state.steering.push_back(content),
            Delivery::FollowUp => state.follow_up.push_back(content),
            Delivery::NextTurn => state.next_turn.push_back(content),
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Puts a text in.
    pub fn push_text(&self, delivery: Delivery, text: &str) {
        self.push(delivery, vec![Part::text(text)]);
    }

    /// Takes out all that was not delivered, to be edited or dropped.
    pub fn take_back(&self, delivery: Delivery) -> Vec<Vec<Part>> {
        let mut state = self.state();
        let queue = match delivery {
            Delivery::Steer => &mut state.steering,
            Delivery::FollowUp => &mut state.follow_up,
            Delivery::NextTurn => &mut state.next_turn,
        };
        queue.drain(..).collect()
    }

    /// How many messages wait.
    pub fn len(&self) -> usize {
        let state = self.state();
        state.steering.len() + state.follow_up.len() + state.next_turn.len()
    }

    /// Whether no message waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Chooses how the queues behave.
    pub fn set_modes(&self, steering: QueueMode, follow_up: QueueMode, interrupt: InterruptMode) {
        let mut state = self.state();
        state.steering_mode = steering;
        state.follow_up_mode = follow_up;
        state.interrupt_mode = interrupt;
    }

    /// How the queues behave.
    pub fn modes(&self) -> (QueueMode, QueueMode, InterruptMode) {
        let state = self.state();
        (state.steering_mode, state.follow_up_mode, state.interrupt_mode)
    }

    /// Ends the run that is under way.
    pub fn interrupt(&self) {
        self.state().cancel.cancel();
    }

    /// Ends the wait before a model is asked again: the run fails with what is known.
    pub fn abort_retry(&self) {
        self.retry_aborted.notify_waiters();
    }

    /// Ends with the next [`Queues::abort_retry`].
    pub(crate) fn retry_aborted(&self) -> Notified<'_> {
        self.retry_aborted.notified()
    }

    /// A run will begin: an interruption from now on is one of it, however long it takes to begin.
    pub fn announce_run(&self) {
        let mut state = self.state();
        state.cancel = CancellationToken::new();
        state.is_announced = true;
    }

    /// Whether tools that have not begun shall not run, because the user said something.
    pub(crate) fn wants_interrupt(&self) -> bool {
        let state = self.state();
        state.interrupt_mode == InterruptMode::Immediate && !state.steering.is_empty()
    }

    pub(crate) fn has_steering(&self) -> bool {
        !self.state().steering.is_empty()
    }

    /// A new run: the interruption of the last one is over.
    pub(crate) fn begin(&self) -> CancellationToken {
        let mut state = self.state();
        if !std::mem::take(&mut state.is_announced) {
            state.cancel = CancellationToken::new();
        }
        state.cancel.clone()
    }

    pub(crate) fn take_steering(&self) -> Vec<Vec<Part>> {
        let mut state = self.state();
        let mode = state.steering_mode;
        take(&mut state.steering, mode)
    }

    pub(crate) fn take_follow_up(&self) -> Vec<Vec<Part>> {
        let mut state = self.state();
        let mode = state.follow_up_mode;
        take(&mut state.follow_up, mode)
    }

    pub(crate) fn take_next_turn(&self) -> Vec<Vec<Part>> {
        take(&mut self.state().next_turn, QueueMode::All)
    }

    /// Waits until something is to be delivered to an agent that has nothing to do.
    pub(crate) async fn wait(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            {
                let state = self.state();
                if !state.steering.is_empty() || !state.follow_up.is_empty() {
                    return;
                }
            }
            changed.await;
        }
    }
}

fn take(queue: &mut VecDeque<Vec<Part>>, mode: QueueMode) -> Vec<Vec<Part>> {
    match mode {
        QueueMode::OneAtATime => queue.pop_front().into_iter().collect(),
        QueueMode::All => queue.drain(..).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interruption_before_an_announced_run_begins_is_one_of_that_run_and_of_no_other() {
        let queues = Queues::default();
        queues.interrupt();
        assert!(!queues.begin().is_cancelled(), "the run before is over");
        queues.announce_run();
        queues.interrupt();
        assert!(queues.begin().is_cancelled());
        assert!(!queues.begin().is_cancelled());
    }
}
