//! One call, held from outside: its holder can cancel it and hears how it stands.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use umbo_engine::{Beside, JobHandle, Ladder, Outcome};
use umbo_gate::Approver;
use umbo_view::Tick;

/// How a cancelled command is stopped: nobody waits for what it has to say.
pub(crate) const CANCELLED: Ladder =
    Ladder { interrupt: None, terminate: Some(Duration::from_secs(2)) };

type Listener = dyn Fn(&Tick) + Send + Sync;
type StartListener = dyn Fn(&JobHandle) + Send + Sync;
type WaitListener = dyn Fn(&JobHandle, Option<&Outcome>) + Send + Sync;

/// A handle to a call in progress. Clones are the same ticket.
#[derive(Clone, Default)]
pub struct Ticket {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    is_cancelled: AtomicBool,
    /// Whether its holder went away and lets the command run on.
    is_abandoned: AtomicBool,
    /// The command that dies with the call.
    job: Mutex<Option<JobHandle>>,
    listener: Option<Box<Listener>>,
    on_start: Option<Box<StartListener>>,
    on_wait: Option<(Duration, Box<WaitListener>)>,
    approver: Option<Box<dyn Approver + Send + Sync>>,
    /// What the caller calls this call.
    id: Option<String>,
    /// The name under which its jobs are started once, and how many there are.
    once: Option<String>,
    jobs: AtomicU32,
    /// Whether nobody cancels the call, or wants to hear how it stands.
    is_alone: bool,
    /// How long its holder waits for the answer.
    longest_wait: Option<Duration>,
    /// What its caller has to know beside the answer.
    notes: Mutex<Vec<String>>,
    /// What the thread of the call listens to besides.
    beside: Option<Arc<dyn Beside>>,
}

/// How a ticket is to be.
#[derive(Default)]
pub struct TicketBuilder {
    inner: Inner,
}

impl TicketBuilder {
    /// Its holder hears how the call stands.
    #[must_use]
    pub fn progress(mut self, listener: impl Fn(&Tick) + Send + Sync + 'static) -> Self {
        self.inner.listener = Some(Box::new(listener));
        self
    }

    /// Its holder hears which job the call waits for, as soon as that is there. The call waits until
    /// the listener returns, so that who follows the output of a job can do it there.
    #[must_use]
    pub fn on_start(mut self, listener: impl Fn(&JobHandle) + Send + Sync + 'static) -> Self {
        self.inner.on_start = Some(Box::new(listener));
        self
    }

    /// The same, after a moment: when the job has ended, and how, or when this time is over. Most commands are
    /// through by then, and who follows their output reads all of it at once.
    #[must_use]
    pub fn on_wait(
        mut self,
        patience: Duration,
        listener: impl Fn(&JobHandle, Option<&Outcome>) + Send + Sync + 'static,
    ) -> Self {
        self.inner.on_wait = Some((patience, Box::new(listener)));
        self
    }

    /// Its holder can be asked whether a command may run. The call waits for the answer.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + Send + Sync + 'static) -> Self {
        self.inner.approver = Some(Box::new(approver));
        self
    }

    /// The id that the caller gave to this call: where a contract says so, what is started is named
    /// by it, and a call that comes again under its id starts nothing new.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.inner.id = Some(id.into()).filter(|id| !id.is_empty());
        self
    }

    /// Its jobs are started once under this name, however often the call is made, and are found by
    /// it ([`Engine::job_by_key`](umbo_engine::Engine::job_by_key)); the second one of a call has
    /// `.2` behind the name. They outlive a caller that is killed, and end with one that leaves.
    #[must_use]
    pub fn once(mut self, name: impl Into<String>) -> Self {
        self.inner.once = Some(name.into()).filter(|name| !name.is_empty());
        self
    }

    /// Its holder waits no longer than this: the call answers before, whatever it was asked for.
    #[must_use]
    pub fn longest_wait(mut self, wait: Option<Duration>) -> Self {
        self.inner.longest_wait = wait;
        self
    }

    /// Nobody cancels the call, or wants to hear how it stands: it sleeps until what it waits for is
    /// there.
    #[must_use]
    pub fn alone(mut self) -> Self {
        self.inner.is_alone = true;
        self
    }

    /// The thread of the call listens to something else while it waits for a command. Where it cannot, another
    /// one is told to.
    #[must_use]
    pub fn beside(mut self, beside: Arc<dyn Beside>) -> Self {
        self.inner.beside = Some(beside);
        self
    }

    /// The ticket.
    pub fn build(self) -> Ticket {
        Ticket { inner: Arc::new(self.inner) }
    }
}

impl fmt::Debug for TicketBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TicketBuilder").finish_non_exhaustive()
    }
}

impl Ticket {
    /// Starts building one.
    pub fn builder() -> TicketBuilder {
        TicketBuilder::default()
    }

    /// A ticket that nobody holds ([`TicketBuilder::alone`]).
    pub fn alone() -> Self {
        Self::builder().alone().build()
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.inner.is_alone
    }

    /// Nobody wants the answer any more: the command that the call waits for is stopped with all
    /// its descendants. Returns when it is gone.
    pub fn cancel(&self) {
        self.mark_cancelled();
        let job = self.job().take();
        if let Some(job) = job {
            let _ = job.stop(CANCELLED);
        }
    }

    /// The same without waiting: the call sees it within a moment, and what it waits for ends with it.
    pub fn mark_cancelled(&self) {
        self.inner.is_cancelled.store(true, Ordering::SeqCst);
    }

    /// Nobody waits for the answer any more, but what it is about goes on: the call answers soon, and
    /// a command that it waits for runs on as a job.
    pub fn abandon(&self) {
        self.unbind();
        self.inner.is_abandoned.store(true, Ordering::SeqCst);
    }

    /// Whether the call was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.inner.is_cancelled.load(Ordering::SeqCst)
    }

    /// Whether nobody waits for the answer any more.
    pub fn is_over(&self) -> bool {
        self.is_cancelled() || self.inner.is_abandoned.load(Ordering::SeqCst)
    }

    /// How long its holder waits for the answer, if that is known.
    pub fn longest_wait(&self) -> Option<Duration> {
        self.inner.longest_wait
    }

    /// From here on the job dies if the call is cancelled.
    pub(crate) fn bind(&self, job: &JobHandle) {
        *self.job() = Some(job.clone());
        // It may have been cancelled while the job was being started.
        if self.is_cancelled() {
            self.cancel();
        }
    }

    /// From here on it does not.
    pub(crate) fn unbind(&self) {
        *self.job() = None;
    }

    /// Who can be asked whether a command may run.
    pub fn approver(&self) -> Option<&dyn Approver> {
        self.inner.approver.as_deref().map(|approver| approver as &dyn Approver)
    }

    /// The id that the caller gave to this call.
    pub fn id(&self) -> Option<&str> {
        self.inner.id.as_deref()
    }

    /// Whether its jobs are started once.
    pub(crate) fn is_made_once(&self) -> bool {
        self.inner.once.is_some()
    }

    /// The name under which its next job is started once.
    pub(crate) fn next_key(&self) -> Option<String> {
        let name = self.inner.once.as_ref()?;
        match self.inner.jobs.fetch_add(1, Ordering::SeqCst) + 1 {
            1 => Some(name.clone()),
            number => Some(format!("{name}.{number}")),
        }
    }

    /// Whether its holder hears how the call stands.
    pub fn wants_progress(&self) -> bool {
        self.inner.listener.is_some()
    }

    /// Whether its holder hears which job the call waits for.
    pub(crate) fn wants_start(&self) -> bool {
        self.inner.on_start.is_some() || self.inner.on_wait.is_some()
    }

    /// Tells its holder which job the call waits for.
    pub(crate) fn tell_start(&self, job: &JobHandle) {
        if let Some(listener) = &self.inner.on_start {
            listener(job);
        }
    }

    /// How long its holder waits before it wants to hear of a job that has not ended.
    pub(crate) fn patience(&self) -> Option<Duration> {
        self.inner.on_wait.as_ref().map(|(patience, _)| *patience)
    }

    /// Tells its holder that the job has ended, or that its patience is over.
    pub(crate) fn tell_wait(&self, job: &JobHandle, outcome: Option<&Outcome>) {
        if let Some((_, listener)) = &self.inner.on_wait {
            listener(job, outcome);
        }
    }

    /// Tells its holder how the call stands.
    pub fn tell(&self, tick: &Tick) {
        if let Some(listener) = &self.inner.listener {
            listener(tick);
        }
    }

    /// What the thread of the call listens to while it waits for a command.
    pub(crate) fn beside(&self) -> Option<&Arc<dyn Beside>> {
        self.inner.beside.as_ref()
    }

    /// The call may take its time from here on, and listens to nothing else meanwhile: another thread does.
    pub fn takes_time(&self) {
        if let Some(beside) = &self.inner.beside {
            beside.ready();
        }
    }

    /// Adds what its caller has to know beside the answer.
    pub(crate) fn note(&self, notes: &[String]) {
        self.notes().extend_from_slice(notes);
    }

    /// What its caller has to know beside the answer, for a contract that has no field for it.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes())
    }

    fn notes(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.inner.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn job(&self) -> std::sync::MutexGuard<'_, Option<JobHandle>> {
        self.inner.job.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").field("is_cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}
