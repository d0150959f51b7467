//! The stop ladder: INT, TERM, KILL, each with its grace, until the tree is empty.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::tree::Tree;
use crate::clock;
use crate::outcome::{Limit, Stage, StoppedBy};
use crate::request::Ladder;

/// How often a kill is repeated while processes keep appearing.
const AGAIN: Duration = Duration::from_millis(10);
/// Processes that do not die for this long, always the same, are in the kernel's hands, not ours.
const UNKILLABLE: Duration = Duration::from_secs(10);

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
    /// Those that were alive at the last kill, and since when they are the same.
    remaining: Option<(HashSet<Pid>, Instant)>,
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
        let mut climb = Self { cause, graces, stage: Stage::Int, next: now, remaining: None };
        match graces.interrupt {
            Some(grace) => {
                tree.interrupt(foreground);
                climb.next = clock::after(now, grace);
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
        let sooner = clock::after(now, grace.unwrap_or_default());
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
                self.next = clock::after(now, grace);
            }
            None => self.kill(tree, now),
        }
    }

    fn kill(&mut self, tree: &Tree, now: Instant) {
        self.stage = Stage::Kill;
        let living = tree.kill();
        if !matches!(&self.remaining, Some((before, _)) if *before == living) {
            self.remaining = Some((living, now));
        }
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

    /// Whether those that are left do not die, and somebody waits for the end: then it is said who
    /// is left. A command that ended by itself has not ended before its descendants have, whatever
    /// that takes.
    pub(super) fn is_hopeless(&self, now: Instant) -> bool {
        let is_asked = !matches!(self.cause, Cause::Leaks);
        let since = self.remaining.as_ref().map(|(_, since)| *since);
        is_asked && since.is_some_and(|since| now > since + UNKILLABLE)
    }

    /// Somebody wants the end of a job whose command had ended by itself.
    pub(super) fn take_over(&mut self, cause: Cause, now: Instant) {
        if matches!(self.cause, Cause::Leaks) {
            self.cause = cause;
            if let Some((_, since)) = &mut self.remaining {
                *since = now;
            }
        }
    }
}
