//! The same with futures and streams, on a tokio runtime with I/O and time enabled.
//!
//! The kernel wakes the task: the descriptors are those on which the blocking calls sleep, and no
//! thread waits. What blocks for longer than a short read (starting a supervisor, trying a port)
//! is done on tokio's threads for that.

use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use futures_core::Stream;
use tokio::io::unix::AsyncFd;
use tokio::time::{Sleep, sleep_until};

use crate::attached::Attached;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::event::Item;
use crate::follow::{Followed, Follower};
use crate::job::{Job, Status};
use crate::line::{LOOK_AGAIN, Line};
use crate::outcome::Outcome;
use crate::output::Output;
use crate::request::{Ladder, OnDisconnect, Request};
use crate::subscription::{JournalSource, Subscription};
use crate::sys::reactor;
use crate::wait::{Condition, Met, Waiting};

/// Does blocking work elsewhere. If the future is dropped the work goes on, and its result is
/// dropped.
async fn elsewhere<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Error::SupervisorGone(error.to_string()))
}

fn waker(fd: impl AsFd) -> Result<AsyncFd<OwnedFd>> {
    reactor::register(fd).map_err(Error::file("wait on", "socket"))
}

impl Engine {
    /// As [`Engine::start`].
    pub async fn start_async(&self, request: &Request) -> Result<Job> {
        let (engine, request) = (self.clone(), request.clone());
        elsewhere(move || engine.start(&request)).await?
    }

    /// As [`Engine::run`]; the job is stopped if the future is dropped before its end.
    pub async fn run_async(&self, request: &Request) -> Result<(Job, Outcome)> {
        let (engine, mut request) = (self.clone(), request.clone());
        request.on_disconnect = OnDisconnect::Stop;
        let mut attached = elsewhere(move || engine.spawn(&request)).await??;
        let outcome = attached.wait_async().await?;
        Ok((attached.detach(), outcome))
    }

    /// As [`Engine::output`]; the job is stopped if the future is dropped before its end.
    pub async fn output_async(&self, request: &Request) -> Result<Output> {
        let (job, outcome) = self.run_async(request).await?;
        elsewhere(move || Output::of(job, outcome)).await?
    }

    /// As [`Engine::read`]; the job is stopped if the future is dropped before its end.
    pub async fn read_async(&self, request: &Request) -> Result<String> {
        let output = self.output_async(request).await?.checked(request)?;
        Ok(output.text().trim_end_matches('\n').to_owned())
    }

    /// As [`Engine::subscribe`]. To be called within a runtime.
    pub fn subscribe_async(&self, after: u64) -> Result<EventStream> {
        let source = JournalSource::open(self)?;
        let wakeups = waker(source.watch())?;
        Ok(EventStream { subscription: Subscription::new(source, after), wakeups })
    }
}

impl Attached {
    /// As [`Attached::wait`], without a deadline.
    pub async fn wait_async(&mut self) -> Result<Outcome> {
        if let Some(socket) = self.socket() {
            let wakeups = waker(socket)?;
            while self.socket().is_some() {
                let failed = Error::file("wait on", "socket");
                let mut guard = wakeups.readable().await.map_err(failed)?;
                if let Some(outcome) = self.wait(Some(Duration::ZERO))? {
                    return Ok(outcome);
                }
                guard.clear_ready();
            }
        }
        let job = self.job().clone();
        job.wait_async(&[Condition::Exit], None).await?;
        match job.status()? {
            Status::Ended(outcome) => Ok(*outcome),
            _ => Err(Error::SupervisorGone("it sent no outcome".into())),
        }
    }
}

impl Job {
    /// As [`Job::wait`].
    pub async fn wait_async(
        &self,
        conditions: &[Condition],
        timeout: Option<Duration>,
    ) -> Result<Met> {
        let mut waiting = Waiting::new(self, conditions, timeout)?;
        let line = waiting.line().descriptor().map(waker).transpose()?;
        let files = waiting.watch().map(waker).transpose()?;
        loop {
            let met;
            if waiting.tries_ports() {
                (waiting, met) = elsewhere(move || {
                    let met = waiting.look();
                    (waiting, met)
                })
                .await?;
            } else {
                met = waiting.look();
            }
            if let Some(met) = met? {
                return Ok(met);
            }
            let line = line.as_ref().filter(|_| waiting.line().descriptor().is_some());
            let again = line.is_none().then(|| Instant::now() + LOOK_AGAIN);
            let next = waiting.next_time().into_iter().chain(again).min();
            tokio::select! {
                () = readable(line) => {}
                () = readable(files.as_ref()) => {}
                () = at(next) => {}
            }
            waiting.take_wakeups();
        }
    }

    /// As [`Job::stop`].
    pub async fn stop_async(&self, ladder: Ladder) -> Result<Outcome> {
        let job = self.clone();
        elsewhere(move || job.stop(ladder)).await?
    }

    /// As [`Job::follow`]. To be called within a runtime.
    pub fn follow_async(&self, offset: u64) -> Result<OutputStream> {
        let line = Line::open(self);
        let wakeups = line.descriptor().map(waker).transpose()?;
        let follower = Follower::new(std::sync::Arc::new(self.clone()), offset)?;
        Ok(OutputStream { follower, line, wakeups, again: None })
    }
}

/// Ready when a descriptor is; never for none.
async fn readable(fd: Option<&AsyncFd<OwnedFd>>) {
    match fd {
        Some(fd) => {
            if let Ok(mut guard) = fd.readable().await {
                guard.clear_ready();
            }
        }
        None => std::future::pending().await,
    }
}

/// Ready at a time; never for none.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time.into()).await,
        None => std::future::pending().await,
    }
}

/// A job's output as it grows. It ends with the job, and never has [`Followed::Nothing`] or
/// [`Followed::Ended`].
#[derive(Debug)]
pub struct OutputStream {
    follower: Follower,
    line: Line,
    wakeups: Option<AsyncFd<OwnedFd>>,
    again: Option<Pin<Box<Sleep>>>,
}

impl OutputStream {
    /// The offset of the next byte.
    pub fn position(&self) -> u64 {
        self.follower.position()
    }

    /// The next bytes, or `None` once the job is over and all was read.
    pub async fn next(&mut self) -> Option<Result<Followed>> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Ready when it is time to look again.
    fn poll_wakeup(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(wakeups) = &mut self.wakeups {
            if let Ok(mut guard) = ready!(wakeups.poll_read_ready(context)) {
                guard.clear_ready();
            }
            self.line.take_wakeups();
            if self.line.descriptor().is_none() {
                self.wakeups = None;
            }
            return Poll::Ready(());
        }
        let wake = || Box::pin(tokio::time::sleep(LOOK_AGAIN));
        ready!(self.again.get_or_insert_with(wake).as_mut().poll(context));
        self.again = None;
        Poll::Ready(())
    }
}

impl Stream for OutputStream {
    type Item = Result<Followed>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match self.follower.look() {
                Ok(Some(Followed::Ended)) => return Poll::Ready(None),
                Ok(Some(found)) => return Poll::Ready(Some(Ok(found))),
                Err(error) => return Poll::Ready(Some(Err(error))),
                Ok(None) => ready!(self.poll_wakeup(context)),
            }
        }
    }
}

/// Events as they happen. It never ends by itself.
#[derive(Debug)]
pub struct EventStream {
    subscription: Subscription,
    wakeups: AsyncFd<OwnedFd>,
}

impl EventStream {
    /// The number of the last event it has returned.
    pub fn cursor(&self) -> u64 {
        self.subscription.cursor()
    }

    /// The next item.
    pub async fn next(&mut self) -> Option<Result<Item>> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl Stream for EventStream {
    type Item = Result<Item>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(found) = self.subscription.look().transpose() {
                return Poll::Ready(Some(found));
            }
            if let Ok(mut guard) = ready!(self.wakeups.poll_read_ready(context)) {
                guard.clear_ready();
            }
            // Takes the notices, so that the next one is about what comes after.
            self.subscription.sleep_until(Instant::now());
        }
    }
}
