//! The stop ladder: INT, TERM, KILL, each with its grace, until the tree is empty.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::tree::Tree;
use crate::outcome::{Limit, Stage, StoppedBy};
use crate::request::Ladder;

/// How often a kill is repeated while processes keep appearing.
const AGAIN: Duration = Duration::from_millis(10);
/// After this long a process that does not die is in the kernel's hands, not ours.
const GIVE_UP: Duration = Duration::from_secs(10);

/// Why a job is being stopped.
#[derive(Clone, Copy)]
pub(super) enum Cause {
    /// Somebody or something asked.
    Asked(StoppedBy),
    /// A limit struck.
    Limit(Limit),
    /// The command ended by itself; what outlived it is killed.
    Leaks,
}

/// A ladder being climbed.
pub(super) struct Climb {
    pub(super) cause: Cause,
    graces: Ladder,
    /// The stage reached.
    pub(super) stage: Stage,
    next: Instant,
    /// When killing began.
    killing: Option<Instant>,
}

impl Climb {
    /// Sends the first signal.
    pub(super) fn begin(
        cause: Cause,
        graces: Ladder,
        tree: &Tree,
        foreground: Option<Pid>,
        now: Instant,
    ) -> Self {
        let mut climb = Self { cause, graces, stage: Stage::Int, next: now, killing: None };
        match graces.interrupt {
            Some(grace) => {
                tree.interrupt(foreground);
                climb.next = now + grace;
            }
            None => climb.terminate(tree, now),
        }
        climb
    }

    /// A second request can only hasten the first.
    pub(super) fn hasten(&mut self, graces: Ladder, tree: &Tree, now: Instant) {
        let grace = match self.stage {
            Stage::Int => graces.interrupt,
            Stage::Term => graces.terminate,
            Stage::Kill => return,
        };
        let sooner = now + grace.unwrap_or_default();
        self.graces.terminate = match (self.graces.terminate, graces.terminate) {
            (Some(old), Some(new)) => Some(old.min(new)),
            _ => None,
        };
        self.next = self.next.min(sooner);
        self.advance(tree, now);
    }

    fn terminate(&mut self, tree: &Tree, now: Instant) {
        match self.graces.terminate {
            Some(grace) => {
                self.stage = Stage::Term;
                tree.signal(Signal::TERM);
                self.next = now + grace;
            }
            None => self.kill(tree, now),
        }
    }

    fn kill(&mut self, tree: &Tree, now: Instant) {
        self.stage = Stage::Kill;
        self.killing.get_or_insert(now);
        tree.kill();
        self.next = now + AGAIN;
    }

    /// Goes one up if the grace is over.
    pub(super) fn advance(&mut self, tree: &Tree, now: Instant) {
        if now < self.next || tree.is_empty {
            return;
        }
        match self.stage {
            Stage::Int => self.terminate(tree, now),
            Stage::Term | Stage::Kill => self.kill(tree, now),
        }
    }

    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Whether killing has gone on for so long that it will not help.
    pub(super) fn is_hopeless(&self, now: Instant) -> bool {
        self.killing.is_some_and(|since| now > since + GIVE_UP)
    }
}
