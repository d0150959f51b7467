//! The end of a job: when it is over, what is said about it, and in which order.
//!
//! The exit record is on disk before the journal has the event, and the journal has it before
//! anybody is told.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::Shutdown;
use rustix::process::Pid;
use umbo_sandbox::Sandbox;

use super::Next;
use super::connections::Connections;
use super::ladder::{Cause, Climb};
use super::prepared::NextPlace;
use super::supervision::{Supervision, Verdict};
use super::tree::Tree;
use crate::clock;
use crate::event::EventKind;
use crate::exit_record;
use crate::failpoint;
use crate::log::Slack;
use crate::outcome::{
    Drained, End, Fate, Leaked, Limit, Outcome, ProcessEnd, Stage, StoppedBy, Usage,
};
use crate::prune;
use crate::request::{Ladder, Leaks};
use crate::state::FORMAT;
use crate::sys::cgroup::{Cgroup, Enforcer};
use crate::sys::procfs;
use crate::wire::{self, Afterwards, EndOf, Peer};

/// The kernel counts the memory of a process on each processor, and may be off by as much.
const MEMORY_COUNT: u64 = 1 << 20;
/// How long output may be silent, after the command has ended, while a descendant holds a stream.
const QUIET: Duration = Duration::from_millis(250);
/// How long reading goes on at most after the command has ended.
const DRAIN: Duration = Duration::from_secs(1);
/// How long a command that has ended waits for room on a full disk for its last output.
const DISK_FULL: Duration = Duration::from_secs(30);
/// How often an exit record that the disk refuses is tried again, and how many times.
const RECORD_RETRY: (Duration, u32) = (Duration::from_millis(250), 40);
/// As long as whoever got the answer may take to pass it on.
const AFTER_YOU: Timespec = Timespec { tv_sec: 0, tv_nsec: 300_000 };
/// After more output than this a supervisor takes no other job: it has touched much memory.
const MOST_BYTES_BEFORE_ANOTHER: u64 = 1 << 20;
/// A command line is cut at this many characters.
const LONGEST_COMMAND: usize = 200;
/// Of a leak of more processes than this the rest is counted, not listed.
const MOST_LISTED: usize = 20;

impl Supervision<'_> {
    pub(super) fn tree_is_empty(&self) -> bool {
        self.tree.as_ref().is_none_or(|tree| tree.is_empty)
    }

    /// Whether somebody or a limit ended it.
    fn is_stopped(&self) -> bool {
        let cause = self.climb.as_ref().map(|climb| climb.cause);
        matches!(cause, Some(Cause::Asked(_) | Cause::Limit(_)))
    }

    /// When waiting for the last output ends, once the command has ended.
    pub(super) fn drain_deadline(&self) -> Option<Instant> {
        let ended = self.ended?;
        if self.climb.is_some() && !self.tree_is_empty() {
            return None;
        }
        if self.capture.stalled.is_some() {
            // Room on the disk is waited for, but not by a job that was told to stop, and by one with
            // a time limit no longer than that.
            let longest = if self.is_stopped() { DRAIN } else { DISK_FULL };
            let limit = self
                .started
                .zip(self.assign.limits.wall)
                .map(|((at, _), wall)| clock::after(at, wall));
            let limit = limit.map_or(ended + longest, |limit| limit.min(ended + longest));
            return Some(limit.max(ended + DRAIN));
        }
        let quiet = self.capture.last_output.max(ended) + QUIET;
        Some(quiet.min(ended + DRAIN))
    }

    /// Climbs the ladder where one is climbed, and decides whether the job is over.
    pub(super) fn advance(&mut self, now: Instant) {
        let Some(tree) = &self.tree else { return };
        if let Some(climb) = &mut self.climb {
            climb.advance(tree, now);
            if climb.is_hopeless(now) {
                self.list_leaks(Fate::Left);
                self.verdict = Some(Verdict::Over(Drained::Cut));
                return;
            }
        }
        if self.ended.is_none() {
            return;
        }
        if self.tree_is_empty() && self.capture.sources.is_empty() && self.capture.stalled.is_none()
        {
            self.verdict = Some(Verdict::Over(Drained::Eof));
            return;
        }
        if self.drain_deadline().is_some_and(|deadline| now >= deadline) {
            self.finish_draining(now);
        }
    }

    /// The command has ended and its output is quiet, but something is still there.
    fn finish_draining(&mut self, now: Instant) {
        let is_cut = self.capture.stalled.is_some() || now < self.capture.last_output + QUIET;
        let drained = if is_cut { Drained::Cut } else { Drained::Quiet };
        if self.tree_is_empty() {
            self.verdict = Some(Verdict::Over(drained));
            return;
        }
        match self.assign.leaks {
            Leaks::Leave => {
                self.list_leaks(Fate::Left);
                self.verdict = Some(Verdict::Over(drained));
            }
            Leaks::Kill => {
                self.list_leaks(Fate::Killed);
                if let Some(tree) = &self.tree {
                    self.climb = Some(Climb::begin(Cause::Leaks, Ladder::KILL, tree, None, now));
                }
                // What the killed wrote last is still to be read: the quiet begins anew.
                self.ended = Some(now);
            }
        }
    }

    fn list_leaks(&mut self, fate: Fate) {
        let Some(tree) = &self.tree else { return };
        let living = tree.living();
        self.findings.more_leaked = living.len().saturating_sub(MOST_LISTED);
        self.findings.leaked = living
            .into_iter()
            .take(MOST_LISTED)
            .map(|pid| Leaked {
                pid: pid.as_raw_nonzero().get(),
                command: self.command_of(pid),
                fate,
            })
            .collect();
    }

    /// What a process runs, for a person to recognise it by. A copy of the command's own shell is
    /// what the person asked for, not how a session makes bash do it.
    fn command_of(&self, pid: Pid) -> String {
        let words = procfs::words(pid);
        let text = match self.assign.command() {
            Ok(command) if words == self.program.words() => command.into_owned(),
            _ => procfs::command_line(pid, &words),
        };
        text.chars().take(LONGEST_COMMAND).collect()
    }

    /// Writes the exit record, tells everybody, cleans up, and gets ready for another job if this one
    /// left nothing behind.
    pub(super) fn conclude(mut self) -> Next {
        self.drop_stalled();
        self.capture.log.omit(Slack::None);
        self.check_session();
        let outcome = self.outcome();
        failpoint::reach("before_outcome");
        let Some(record) = self.write_record(&outcome) else { return Next::Exit(1) };
        failpoint::reach("after_outcome");
        let mut news = Vec::new();
        if self.capture.log.length() > self.capture.told.1 {
            news.push(EventKind::Output { offset: self.capture.log.length() });
        }
        if !outcome.leaked.is_empty() {
            news.push(EventKind::Leaked { count: outcome.leaked_count() });
        }
        news.push(EventKind::Exited {
            state: outcome.end.name().to_owned(),
            code: outcome.exit_code(),
        });
        let journaled = self.prepared.journal.append(self.job(), &news).is_ok();
        failpoint::reach("after_event");
        // Whoever hears of the end may start the next: its place and its session are free by then.
        self.release();
        let is_free = journaled && self.left_nothing_behind(&outcome);
        if let Some(caller) = self.caller {
            let afterwards = if is_free { Afterwards::Return } else { Afterwards::End };
            let end = EndOf { record: &record, afterwards };
            let _ = wire::send(Peer(caller), &end, &self.capture.log.short());
            self.give_way(caller);
        }
        let next = is_free.then(|| self.prepared.leave(self.state, self.job()).ok()).flatten();
        if journaled && next.is_none() {
            self.prepared.remove_socket(self.state, self.job());
        }
        // Whoever waits on a line hears of the end now, not after the cleaning.
        self.connections = Connections::default();
        self.clean_up(next)
    }

    /// Sleeps until whoever was told of the end has passed it on, or has another job. The kernel puts who is
    /// woken by a message on the processor of the sender, for most who send one sleep then: without sleep
    /// it would wait there until all is cleaned up.
    fn give_way(&self, caller: &OwnedFd) {
        // Others wait for the end as well.
        if self.connections.sockets().next().is_none() {
            let of = [caller, self.prepared.listener()];
            let _ = poll(&mut of.map(|fd| PollFd::new(fd, PollFlags::IN)), Some(&AFTER_YOU));
        }
    }

    /// Whether nothing of this job could be met by another one under the same supervisor.
    fn left_nothing_behind(&self, outcome: &Outcome) -> bool {
        let is_usual = matches!(outcome.end, End::Exited { .. } | End::Signaled { .. })
            && outcome.contained_by.is_some()
            && outcome.leaked.is_empty()
            && outcome.notes.is_empty()
            && outcome.drained == Drained::Eof;
        let is_plain = self.enforcer.is_none()
            && self.sandbox.is_none()
            && self.prepared.sandbox.is_none()
            && self.assign.session.is_none()
            && self.climb.is_none()
            && outcome.total_bytes <= MOST_BYTES_BEFORE_ANOTHER;
        let is_wanted = self.assign.afterwards == Afterwards::Return && self.caller.is_some();
        is_usual && is_plain && is_wanted && self.prepared.may_serve_again()
    }

    /// The text of the record, once it is on disk.
    fn write_record(&self, outcome: &Outcome) -> Option<Vec<u8>> {
        let text = exit_record::text(outcome).ok()?;
        let (pause, times) = RECORD_RETRY;
        for _ in 0..times {
            if self.prepared.conclude(&text).is_ok() {
                return Some(text);
            }
            std::thread::sleep(pause);
        }
        None
    }

    fn clean_up(self, next: Option<NextPlace>) -> Next {
        let Self { state, mut prepared, caller, assign, mut tree, enforcer, .. } = self;
        let mut is_free = next.is_some();
        let mut group = tree.as_mut().filter(|_| is_free).and_then(Tree::take_clean_cgroup);
        if let Some(tree) = &tree {
            tree.remove_cgroup();
        }
        if let Some(cgroup) = &prepared.cgroup {
            cgroup.remove();
        }
        if let Some(enforcer) = &enforcer {
            enforcer.remove();
        }
        is_free &= tree.as_ref().and_then(Tree::cgroup).is_none_or(Cgroup::is_gone);
        let bytes = if is_free { prepared.disk_use() } else { prune::disk_use(&prepared.path) };
        prune::after_job(state, &mut prepared.retained, bytes, assign.retention, || {
            // Making room takes longer than a job may wait: the caller sees that nobody takes it.
            is_free = false;
            if let Some(caller) = caller {
                let _ = rustix::net::shutdown(caller, Shutdown::Both);
            }
            if let Some(group) = group.take() {
                group.remove();
            }
        });
        match next {
            Some(next) if is_free => prepared
                .renew(state, next, group)
                .map_or(Next::Exit(0), |renewed| Next::Job(Box::new(renewed))),
            next => {
                if let Some(next) = next {
                    next.discard();
                }
                Next::Exit(0)
            }
        }
    }

    fn outcome(&mut self) -> Outcome {
        let usage = self.tree.as_ref().map(|tree| tree.usage).unwrap_or_default();
        let ended_at = clock::now_us();
        let (end, drained, limit) = self.end(ended_at);
        let limit = limit.or_else(|| self.struck_limit());
        let (denied, more_denied) = self.sandbox.as_mut().map(Sandbox::denied).unwrap_or_default();
        Outcome {
            v: FORMAT,
            job: self.job().clone(),
            end,
            limit,
            drained,
            started_at: self.started.map(|(_, at)| at),
            ended_at,
            contained_by: self.tree.as_ref().and_then(Tree::proof),
            leaked: std::mem::take(&mut self.findings.leaked),
            more_leaked: self.findings.more_leaked,
            usage: Usage {
                user_us: usage.user_us,
                system_us: usage.system_us,
                // The child was this process until it became the command, and is counted as such.
                peak_bytes: Some(usage.peak_bytes)
                    .filter(|peak| *peak > self.own_peak + MEMORY_COUNT),
                tree_peak_bytes: self.tree_peak(),
            },
            total_bytes: self.capture.log.length(),
            omitted_bytes: self.capture.log.omitted(),
            dropped_bytes: self.capture.dropped,
            sandbox: self.sandbox.as_mut().map(Sandbox::report),
            denied,
            more_denied,
            notes: std::mem::take(&mut self.findings.notes),
        }
    }

    fn end(&mut self, ended_at: u64) -> (End, Drained, Option<Limit>) {
        let process = self.tree.as_ref().and_then(|tree| tree.main_end);
        let drained = match self.verdict.take() {
            Some(Verdict::NeverStarted(why)) => {
                return (End::FailedToStart { why }, Drained::Eof, None);
            }
            Some(Verdict::StoppedInQueue(by)) => {
                let end = End::Stopped { by, stage: Stage::Int, process: None };
                return (end, Drained::Eof, None);
            }
            Some(Verdict::Over(drained)) => drained,
            None => Drained::Unknown,
        };
        let climb = self.climb.as_ref().map(|climb| (climb.cause, climb.stage));
        let (end, limit) = match (climb, process) {
            (Some((Cause::Limit(limit @ (Limit::Wall | Limit::Idle)), stage)), process) => {
                let began = self.started.map_or(ended_at, |(_, at)| at);
                let after_ms = ended_at.saturating_sub(began) / 1000;
                (End::TimedOut { after_ms, stage, process }, Some(limit))
            }
            (Some((Cause::Limit(limit), stage)), process) => {
                (End::Stopped { by: StoppedBy::Limit, stage, process }, Some(limit))
            }
            (Some((Cause::Asked(by), stage)), process) => {
                (End::Stopped { by, stage, process }, None)
            }
            (_, Some(ProcessEnd::Exited(code))) => (End::Exited { code }, None),
            (_, Some(ProcessEnd::Signaled { signal, core })) => {
                (End::Signaled { signal, core }, None)
            }
            (_, None) => {
                (End::Stopped { by: StoppedBy::Request, stage: Stage::Kill, process: None }, None)
            }
        };
        (end, drained, limit)
    }

    /// What the control groups counted at the most.
    fn tree_peak(&self) -> Option<u64> {
        let own = self.tree.as_ref().and_then(Tree::cgroup);
        self.enforcer.as_ref().and_then(Enforcer::memory_peak).or_else(|| own?.memory_peak())
    }

    /// A limit the kernel enforced, whatever the command made of it.
    fn struck_limit(&self) -> Option<Limit> {
        let enforcer = self.enforcer.as_ref()?;
        if enforcer.memory_struck() {
            Some(Limit::Memory)
        } else if enforcer.processes_struck() {
            Some(Limit::Processes)
        } else {
            None
        }
    }
}
