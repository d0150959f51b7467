//! The loop of a supervisor: waits for whatever happens next and deals with it. Bytes go from the
//! pipes into the log here, and nowhere else.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::Pid;
use umbo_sandbox::Sandbox;

use super::ladder::{Cause, Climb};
use super::supervision::{Flow, Source, Supervision, Verdict};
use crate::clock;
use crate::event::EventKind;
use crate::failpoint;
use crate::log::Stream;
use crate::outcome::{Limit, StoppedBy};
use crate::request::{Ladder, OnDisconnect};
use crate::sys::{process, pty};
use crate::wire::{Answer, Ask, Frame};

/// How often the journal hears of growing output.
const NEWS: Duration = Duration::from_millis(250);
/// How soon a full disk is tried again.
const RETRY: Duration = Duration::from_millis(100);
/// As much as one read takes; memory that is touched only by commands which write that much.
pub(super) const CHUNK: usize = 256 << 10;
/// A stream that fills a pipe of the usual size is a flood and gets a larger one. Not before:
/// the kernel allows a user only so many large pipes.
const USUAL_PIPE: usize = 64 << 10;
const LARGE_PIPE: usize = 1 << 20;

/// Output that nobody can keep is counted up to here, for each stream.
const MOST_COUNTED: u64 = 64 << 20;

/// For so long after the start of a command nobody is woken by its standard output alone: of most it is a few
/// lines, and their end follows at once, which then wakes for both.
const SHORT: Duration = Duration::from_millis(2);

/// What a job may still write when it is stopped for writing too much.
const LAST_WORDS: u64 = 1 << 20;

/// What woke the loop.
#[derive(Clone, Copy)]
enum Token {
    Signals,
    Caller,
    Listener,
    Connection(usize),
    Source(usize),
    Input,
    Sandbox,
    /// A call of a sandboxed job.
    Call,
    Also,
}

impl Supervision<'_> {
    /// Runs until there is a verdict.
    pub(super) fn pump(&mut self) {
        let mut buffer = std::mem::take(&mut self.prepared.buffer);
        while self.verdict.is_none() {
            self.poll_once(None, &mut buffer);
            let now = Instant::now();
            self.enforce_limits(now);
            self.advance(now);
            self.tell_growth(now);
        }
        self.prepared.buffer = buffer;
    }

    /// Waits for the next thing to happen and deals with it.
    pub(super) fn poll_once(&mut self, also: Option<BorrowedFd<'_>>, buffer: &mut [u8]) {
        let deadline = self.next_deadline();
        let length = self.capture.log.length();
        let ready = self.ready(also, deadline);
        if self.lets_output_lie().is_some() {
            self.wake_output(&ready, buffer);
        }
        for token in ready {
            match token {
                Token::Signals => {
                    if self.take_signals() {
                        self.read_last(buffer);
                    }
                }
                Token::Caller => self.lose_caller(),
                Token::Listener => self.connections.accept(self.prepared.listener()),
                Token::Connection(number) => self.answer(number),
                Token::Source(number) => self.read_source(number, buffer),
                Token::Input => self.input.pump(None),
                Token::Sandbox | Token::Call | Token::Also => {}
            }
        }
        self.serve_sandbox();
        self.retry_stalled();
        self.capture.sources.retain(|source| source.flow != Flow::Ended);
        self.connections.sweep();
        if self.capture.log.length() > length {
            self.connections.tell_growth();
        }
        if self.rest_at.is_some_and(|at| Instant::now() >= at) {
            self.rest_at = None;
            process::rest();
        }
    }

    fn ready(&self, also: Option<BorrowedFd<'_>>, deadline: Option<Instant>) -> Vec<Token> {
        let mut fds = Vec::with_capacity(8);
        let mut tokens = Vec::with_capacity(8);
        let mut add = |fd, flags, token| {
            fds.push(PollFd::from_borrowed_fd(fd, flags));
            tokens.push(token);
        };
        if let Some(also) = also {
            add(also, PollFlags::IN, Token::Also);
        }
        if let Some(calls) = self.sandbox.as_ref().and_then(Sandbox::calls) {
            add(calls, PollFlags::IN, Token::Call);
        }
        for (fd, flags) in self.sandbox.iter().flat_map(Sandbox::fds) {
            add(fd, flags, Token::Sandbox);
        }
        // Output before signals: what a command wrote is read before its death is noticed.
        if self.capture.stalled.is_none() && !self.is_held_back() {
            let lies = self.lets_output_lie().is_some_and(|until| Instant::now() < until);
            let first = usize::from(lies);
            for (number, source) in self.capture.sources.iter().enumerate().skip(first) {
                if let Some(deserted) = &source.deserted {
                    add(deserted.as_fd(), PollFlags::IN, Token::Source(number));
                    continue;
                }
                let typing = source.stream == Stream::Pty && self.input.has_keys();
                let flags = if typing { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
                add(source.fd.as_fd(), flags, Token::Source(number));
            }
        }
        if let Some(pipe) = self.input.wants_room() {
            add(pipe, PollFlags::OUT, Token::Input);
        }
        add(self.prepared.signals.as_fd(), PollFlags::IN, Token::Signals);
        if let Some(caller) = self.caller {
            add(caller.as_fd(), PollFlags::IN, Token::Caller);
        }
        add(self.prepared.listener().as_fd(), PollFlags::IN, Token::Listener);
        for (number, socket) in self.connections.sockets().enumerate() {
            add(socket.as_fd(), PollFlags::IN, Token::Connection(number));
        }
        loop {
            match poll(&mut fds, deadline.map(clock::until).as_ref()) {
                // A build makes thousands of calls that are allowed, and waits for each answer: while nothing
                // else happens there is nothing else to do.
                Ok(1) if self.answers_call(&fds, &tokens) => {}
                Ok(0) | Err(_) => return Vec::new(),
                Ok(_) => {
                    let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
                    let ready = fds.iter().zip(tokens).filter(|(fd, _)| is_ready(fd));
                    return ready.map(|(_, token)| token).collect();
                }
            }
        }
    }

    /// Whether what is ready is a call that could be answered at once.
    fn answers_call(&self, fds: &[PollFd<'_>], tokens: &[Token]) -> bool {
        let is_call = |(fd, token): (&PollFd<'_>, &Token)| {
            matches!(token, Token::Call) && fd.revents().contains(PollFlags::IN)
        };
        fds.iter().zip(tokens).any(is_call)
            && self.sandbox.as_ref().is_some_and(Sandbox::answer_quickly)
    }

    /// Until when standard output, the first of the sources, may lie in its pipe. What comes from another source, or
    /// from anybody, ends that: nobody is there who would wait for it.
    fn lets_output_lie(&self) -> Option<Instant> {
        let lies = self.capture.lies
            && self.ended.is_none()
            && self.connections.sockets().next().is_none();
        let (started, _) = self.started.filter(|_| lies)?;
        Some(started + SHORT)
    }

    /// Whether a job that is stopped for writing too much wrote far more since: it is no longer read
    /// then, and so can write no further. Its last words have room before that.
    fn is_held_back(&self) -> bool {
        let is_stopped = self
            .climb
            .as_ref()
            .is_some_and(|climb| matches!(climb.cause, Cause::Limit(Limit::Output)));
        let bound = self.assign.limits.output.map_or(u64::MAX, |limit| limit.bytes);
        let most = bound.saturating_mul(2).saturating_add(LAST_WORDS);
        is_stopped && !self.tree_is_empty() && self.capture.log.length() > most
    }

    /// When the loop must wake though nothing happens.
    fn next_deadline(&self) -> Option<Instant> {
        let limits = &self.assign.limits;
        let running = self.climb.is_none() && self.ended.is_none();
        let running = running && !self.questions.is_open() && !self.pause.is_on();
        let waited = self.waited(Instant::now());
        let wall = self
            .started
            .and_then(|(at, _)| Some(clock::after(at, limits.wall?) + waited))
            .filter(|_| running);
        let idle = self
            .started
            .and(limits.idle)
            .map(|idle| clock::after(self.capture.last_output, idle))
            .filter(|_| running);
        let question = self.sandbox.as_ref().and_then(Sandbox::next_deadline);
        let climb = self.climb.as_ref().filter(|_| !self.tree_is_empty()).map(Climb::next);
        let news = (self.capture.log.length() > self.capture.told.1 && self.ended.is_none())
            .then(|| self.capture.told.0 + NEWS);
        let retry = self.capture.stalled.as_ref().map(|_| Instant::now() + RETRY);
        let rest = self.rest_at;
        [
            wall,
            idle,
            climb,
            news,
            retry,
            rest,
            question,
            self.drain_deadline(),
            self.lets_output_lie(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Whether the command has ended by now, and had not before.
    fn take_signals(&mut self) -> bool {
        for signal in process::next_signals(self.prepared.signals.as_fd()) {
            match signal {
                libc::SIGCHLD | libc::SIGHUP => {}
                _ => self.stop(Cause::Asked(StoppedBy::Signal), self.assign.ladder),
            }
        }
        if let Some(tree) = &mut self.tree {
            tree.reap();
        }
        self.settle_tree();
        let has_ended = self.tree.as_ref().is_some_and(|tree| tree.main_end.is_some());
        let ends_now = has_ended && self.ended.is_none();
        if ends_now {
            self.ended = Some(Instant::now());
            // Nobody is left to hang up on.
            self.capture.sources.iter_mut().for_each(|source| source.deserted = None);
            self.capture.write_ends.clear();
            failpoint::reach("after_exit");
        }
        ends_now
    }

    /// Ends the time in which standard output may lie, unless the end of the command is all there is. What lies
    /// there was written before what is on standard error now.
    fn wake_output(&mut self, ready: &[Token], buffer: &mut [u8]) {
        if !matches!(ready, [Token::Signals]) {
            self.capture.lies = false;
            if ready.iter().any(|token| matches!(token, Token::Source(_))) {
                self.read_source(0, buffer);
            }
        }
    }

    /// Reads what there is in each stream when the command has ended; most are at their end then.
    fn read_last(&mut self, buffer: &mut [u8]) {
        for number in 0..self.capture.sources.len() {
            for _ in 0..2 {
                let is_over = |source: &Source| source.flow == Flow::Ended;
                if self.capture.sources.get(number).is_none_or(is_over)
                    || self.capture.stalled.is_some()
                    || self.is_held_back()
                {
                    break;
                }
                self.read_source(number, buffer);
            }
        }
    }

    /// The caller's end of the socket is closed, or it sends what it should not: it is gone.
    fn lose_caller(&mut self) {
        self.caller = None;
        if self.assign.on_disconnect == OnDisconnect::Stop {
            self.stop(Cause::Asked(StoppedBy::Disconnect), self.assign.ladder);
        }
    }

    /// Reads one stream into the log.
    fn read_source(&mut self, number: usize, buffer: &mut [u8]) {
        let Some(source) = self.capture.sources.get_mut(number) else { return };
        let stream = source.stream;
        if let Some(deserted) = &source.deserted {
            deserted.drain();
        }
        match rustix::io::read(&source.fd, &mut *buffer) {
            Ok(0) => source.flow = Flow::Ended,
            Ok(count) => {
                source.deserted = None;
                if count >= USUAL_PIPE && source.flow == Flow::Usual {
                    source.flow = Flow::Flood;
                    let _ = rustix::pipe::fcntl_setpipe_size(&source.fd, LARGE_PIPE);
                }
                self.capture.last_output = Instant::now();
                self.keep(stream, &buffer[..count]);
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            // A terminal that nobody has open answers with an error.
            Err(_) if stream == Stream::Pty && self.ended.is_none() => source.desert(),
            Err(_) => source.flow = Flow::Ended,
        }
        if stream == Stream::Pty && self.input.has_keys() {
            let terminal = self.capture.sources.get(number).map(|source| &source.fd);
            self.input.pump(terminal);
        }
    }

    /// Puts bytes in the log; what a full disk does not take waits, and the command with it.
    fn keep(&mut self, stream: Stream, bytes: &[u8]) {
        let (done, result) = self.capture.log.append(stream, bytes, clock::now_us());
        failpoint::reach("after_append");
        if result.is_ok() {
            return;
        }
        let note = "the disk was full: the job waited until there was room";
        if !self.findings.notes.iter().any(|known| known == note) {
            self.findings.notes.push(note.into());
            let _ = self.prepared.journal.append(self.job(), &[EventKind::Stalled]);
        }
        self.capture.stalled = Some((stream, bytes[done..].to_vec()));
    }

    /// Tries again to keep what a full disk did not take. Once it has, what the command wrote since is
    /// still to be read: the silence was not the command's.
    fn retry_stalled(&mut self) {
        let Some((stream, bytes)) = self.capture.stalled.take() else { return };
        self.keep(stream, &bytes);
        if self.capture.stalled.is_none() {
            let now = Instant::now();
            self.capture.last_output = now;
            self.ended = self.ended.map(|_| now);
        }
    }

    /// Gives up on output that a full disk does not take: it is counted and let go, together with
    /// what the pipes still hold.
    pub(super) fn drop_stalled(&mut self) {
        let Some((_, bytes)) = self.capture.stalled.take() else { return };
        self.capture.dropped += bytes.len() as u64;
        let mut buffer = vec![0; CHUNK];
        for source in &self.capture.sources {
            let mut dropped = 0;
            while let Ok(count @ 1..) = rustix::io::read(&source.fd, &mut *buffer) {
                dropped += count as u64;
                if dropped > MOST_COUNTED {
                    break;
                }
            }
            self.capture.dropped += dropped;
        }
        let note =
            format!("the disk stayed full: {} bytes of output were not kept", self.capture.dropped);
        self.findings.notes.push(note);
    }

    /// Deals with the questions of one connection.
    fn answer(&mut self, number: usize) {
        for Frame { head, body } in self.connections.read(number) {
            let result = match head {
                Ask::Watch => {
                    self.connections.watch(number);
                    continue;
                }
                Ask::Ping => Ok(()),
                Ask::Disown => {
                    self.assign.on_disconnect = OnDisconnect::Detach;
                    Ok(())
                }
                Ask::Input => self.input.push(&body),
                Ask::InputAfter(total) => self.input.push_after(total, &body),
                Ask::Typed => {
                    let typed = self.input.typed();
                    let answer = Answer::Typed { total: typed.total };
                    self.connections.answer(number, &answer, &typed.tail);
                    continue;
                }
                Ask::Eof => self.input.end(),
                Ask::Resize(size) => self.resize(size),
                Ask::Questions => {
                    let answer = Answer::Questions(self.open_questions());
                    self.connections.answer(number, &answer, &[]);
                    continue;
                }
                Ask::Decide { number: question, decision } => self.decide(question, &decision),
                Ask::Pause => self.pause(),
                Ask::Resume => self.resume(),
                Ask::Signal { number: signal, reach } => self.signal(signal, reach),
                Ask::Stop(ladder) => {
                    self.stop(Cause::Asked(StoppedBy::Request), ladder);
                    Ok(())
                }
            };
            let terminal = self.capture.sources.iter().find(|source| source.stream == Stream::Pty);
            self.input.pump(terminal.map(|source| &source.fd));
            let answer = match result {
                Ok(()) => Answer::Done,
                Err(why) => Answer::Refused(why),
            };
            self.connections.answer(number, &answer, &[]);
        }
    }

    fn resize(&mut self, size: crate::request::Size) -> Result<(), String> {
        let Some(terminal) = self.terminal() else {
            return Err("it has no terminal; start it with one (pty)".into());
        };
        pty::resize(terminal, size).map_err(|error| error.to_string())?;
        let _ = self.capture.log.resized(size, clock::now_us());
        Ok(())
    }

    /// Begins to stop the job, or hastens a stop that has begun.
    pub(super) fn stop(&mut self, cause: Cause, ladder: Ladder) {
        let now = Instant::now();
        let foreground = self.foreground();
        match (&self.tree, &mut self.climb) {
            (None, _) => {
                if let (Cause::Asked(by), None) = (cause, &self.verdict) {
                    self.verdict = Some(Verdict::StoppedInQueue(by));
                }
            }
            (Some(tree), Some(climb)) => {
                climb.take_over(cause, now);
                climb.hasten(ladder, tree, now);
            }
            (Some(tree), None) => {
                self.climb = Some(Climb::begin(cause, ladder, tree, foreground, now));
            }
        }
        // Who stands still would sleep through the signal.
        let _ = self.resume();
    }

    /// The process group a terminal would interrupt.
    fn foreground(&self) -> Option<Pid> {
        rustix::termios::tcgetpgrp(self.terminal()?).ok()
    }

    /// For how long others kept the command from going on.
    fn waited(&self, now: Instant) -> Duration {
        self.questions.waited(now) + self.pause.waited(now)
    }

    fn enforce_limits(&mut self, now: Instant) {
        let Some((started, _)) = self.started else { return };
        let is_held = self.questions.is_open() || self.pause.is_on();
        if self.climb.is_some() || self.ended.is_some() || is_held {
            return;
        }
        let limits = &self.assign.limits;
        let waited = self.waited(now);
        let struck = if limits.wall.is_some_and(|wall| now >= clock::after(started, wall) + waited)
        {
            Limit::Wall
        } else if limits
            .idle
            .is_some_and(|idle| now >= clock::after(self.capture.last_output, idle))
        {
            Limit::Idle
        } else if self.capture.log.is_over() {
            Limit::Output
        } else {
            return;
        };
        self.stop(Cause::Limit(struck), self.assign.ladder);
    }

    /// Tells the journal that output grew, now and then.
    fn tell_growth(&mut self, now: Instant) {
        let length = self.capture.log.length();
        if length > self.capture.told.1
            && now >= self.capture.told.0 + NEWS
            && self.verdict.is_none()
        {
            let _ =
                self.prepared.journal.append(self.job(), &[EventKind::Output { offset: length }]);
            self.capture.told = (now, length);
        }
    }
}
