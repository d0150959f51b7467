//! Whose turn it is: calls of one caller that must not overlap come one after the other, in the
//! order in which they were made.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use umbo_ops::Ticket;

/// How often who waits looks up: whether its call was cancelled.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// The calls that have the turn or wait for it, in order.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    queue: Mutex<Queue>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    next: u64,
    waiting: VecDeque<u64>,
}

/// The turn, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    number: u64,
}

impl Turns {
    /// Waits for the turn. `None` if the call is cancelled before it comes.
    pub(crate) fn take(&self, ticket: &Ticket) -> Option<Turn<'_>> {
        let mut queue = self.queue();
        let number = queue.next;
        queue.next += 1;
        queue.waiting.push_back(number);
        // Leaves the queue however this ends.
        let turn = Turn { turns: self, number };
        while queue.waiting.front() != Some(&number) && !ticket.is_over() {
            ticket.takes_time();
            let woken = self.moved.wait_timeout(queue, LOOK_INTERVAL);
            (queue, _) = woken.unwrap_or_else(PoisonError::into_inner);
        }
        drop(queue);
        (!ticket.is_over()).then_some(turn)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.queue().waiting.retain(|number| *number != self.number);
        self.turns.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn turns_come_in_the_order_they_were_asked_for() {
        let turns = Turns::default();
        let ticket = Ticket::default();
        let first = turns.take(&ticket).unwrap();
        let (came, order) = mpsc::channel();
        thread::scope(|scope| {
            for number in 1..=5 {
                let (came, turns, ticket) = (came.clone(), &turns, &ticket);
                scope.spawn(move || {
                    let _turn = turns.take(ticket);
                    came.send(number).unwrap();
                });
                while turns.queue().waiting.len() <= number {
                    thread::yield_now();
                }
            }
            drop(first);
        });
        assert_eq!(order.try_iter().collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        assert!(turns.queue().waiting.is_empty());
    }

    #[test]
    fn a_cancelled_call_leaves_the_queue_without_a_turn() {
        let turns = Turns::default();
        let (has_it, cancelled) = (Ticket::default(), Ticket::default());
        let held = turns.take(&has_it).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| turns.take(&cancelled).is_none());
            cancelled.cancel();
            assert!(waiting.join().unwrap());
        });
        drop(held);
        assert!(turns.take(&Ticket::default()).is_some());
        assert!(turns.take(&cancelled).is_none(), "nothing runs for who has gone");
    }
}
