//! Mirrors background tasks into a [`TaskStore`]: each is added when it starts and completed when its
//! job has ended. One thread reads the stream of ends for all of them, while there are any.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use umbo_engine::{Backend, CompletionStream, Ended, JobHandle, JobId, Ladder, Status};
use umbo_ops::{Call, Completions, JobLog, text};
use umbo_view::mask::Masker;
use umbo_view::{Reader, ViewOptions};

use super::ended;
use super::store::{TaskSnapshot, TaskStatus, TaskStore};
use crate::denied::with_denials;

/// More ends than this are not kept for an agent loop that may never drain them.
const MOST_UNDRAINED: usize = 1000;
/// How long it is waited where there is no journal to read.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);

/// A store, and the tasks in it that run.
#[derive(Debug, Default)]
pub(super) struct Mirror {
    store: TaskStore,
    watched: Arc<Mutex<Watched>>,
}

/// The tasks that run, and whether a thread watches them.
#[derive(Debug, Default)]
struct Watched {
    jobs: HashMap<JobId, Task>,
    has_thread: bool,
}

/// A task that runs.
#[derive(Debug, Clone)]
struct Task {
    id: String,
    job: JobHandle,
    masker: Arc<Masker>,
}

impl Mirror {
    pub(super) fn store(&self) -> &TaskStore {
        &self.store
    }

    /// Puts a task into the store, and completes it there when its job ends.
    pub(super) fn add(&self, call: &Call<'_>, task: TaskSnapshot, job: &JobHandle) {
        let id = task.id.clone();
        let stopping = job.clone();
        let cancel = move || {
            // The climb takes its time; who stops a task does not wait for it.
            thread::spawn(move || stopping.stop(Ladder::default()));
        };
        let completions: Arc<Completions> = Arc::clone(&call.caller.completions);
        let drained = job.id().clone();
        self.store.add_until(task, cancel, move || completions.told(&drained));
        let task = Task { id, job: job.clone(), masker: Arc::clone(&call.caller.masker) };
        let mut watched = self.lock();
        watched.jobs.insert(job.id().clone(), task);
        let has_thread = std::mem::replace(&mut watched.has_thread, true);
        drop(watched);
        if !has_thread {
            let (store, watched) = (self.store.clone(), Arc::clone(&self.watched));
            let backend = Arc::clone(&call.caller.backend);
            thread::spawn(move || watch(&store, &watched, &backend));
        }
        // It may have ended before it was watched.
        if !is_running(job) {
            complete(&self.store, &self.watched, job.id());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Watched> {
        lock(&self.watched)
    }
}

fn lock(watched: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    watched.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Completes tasks as their jobs end, until none is left.
fn watch(store: &TaskStore, watched: &Mutex<Watched>, backend: &Arc<dyn Backend>) {
    let mut ends = CompletionStream::new(Arc::clone(backend), backend.newest_event().unwrap_or(0));
    // They may have ended before the stream begins.
    complete_all(store, watched);
    loop {
        let mut held = lock(watched);
        if held.jobs.is_empty() {
            held.has_thread = false;
            return;
        }
        drop(held);
        match ends.next(Duration::MAX) {
            Ok(Some(Ended::Job(end))) => complete(store, watched, &end.job),
            Ok(Some(Ended::Missed(_)) | None) => complete_all(store, watched),
            Err(_) => {
                // Without a journal there is still the clock.
                thread::sleep(RETRY_INTERVAL);
                complete_all(store, watched);
            }
        }
    }
}

/// Completes the tasks whose jobs do not run.
fn complete_all(store: &TaskStore, watched: &Mutex<Watched>) {
    let jobs: Vec<JobHandle> = lock(watched).jobs.values().map(|task| task.job.clone()).collect();
    for job in jobs.iter().filter(|job| !is_running(job)) {
        complete(store, watched, job.id());
    }
}

fn is_running(job: &JobHandle) -> bool {
    matches!(job.status(), Ok(Status::Created | Status::Started { .. }))
}

/// Completes the task of a job that has ended, once.
fn complete(store: &TaskStore, watched: &Mutex<Watched>, job: &JobId) {
    let Some(task) = lock(watched).jobs.remove(job) else { return };
    let output = output(&task).unwrap_or_default();
    let (status, code, output) = match task.job.status() {
        Ok(Status::Ended(outcome)) => {
            let (status, code) = ended(&outcome);
            (status, code, with_denials(output, &outcome))
        }
        // Its files are gone.
        _ => (TaskStatus::Failed, -1, output),
    };
    store.complete(&task.id, status, code, output);
    store.keep(MOST_UNDRAINED);
}

/// The output of a task as its snapshot keeps it.
fn output(task: &Task) -> Option<String> {
    let reader = Reader::new(JobLog::open(&task.job).ok()?).mask(&task.masker);
    Some(text(&reader.view(&ViewOptions::default()).ok()?))
}
