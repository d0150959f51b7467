//! A store of background tasks, as an agent loop keeps one: tasks are added when they start,
//! completed when they end, and drained into the conversation once. Observers hear every change, in
//! the order of the changes.
//!
//! The store knows nothing of processes: whoever adds a task says how to cancel it. The tools of
//! the dialect fill its own store ([`Tasks::store`](super::Tasks::store)). An agent loop drains that
//! one, or goes by what results tell (`completed`): what was drained, results do not tell.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schemars::JsonSchema;
use serde::Serialize;
use umbo_engine::JobId;
use umbo_ops::now;

/// The domain of every [`TaskChange`].
pub const TASK_DOMAIN: &str = "bg_tasks";

/// Where a task is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// It runs.
    Running,
    /// It ended with code 0.
    Completed,
    /// It ended with another code.
    Failed,
    /// It was stopped.
    Killed,
}

impl TaskStatus {
    /// The status as a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Killed => "killed",
        }
    }
}

/// One task, as it was at one moment. Times are microseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskSnapshot {
    /// Its id: `b` and eight characters of base 36.
    pub id: String,
    /// What it runs.
    pub command: String,
    /// What its caller said it does.
    pub description: String,
    /// Where it is in its life.
    pub status: TaskStatus,
    /// The exit code, once it has ended.
    pub exit_code: i32,
    /// What it wrote, once it has ended.
    pub output: String,
    /// When it started.
    pub started_at: u64,
    /// When it ended; 0 while it runs.
    pub completed_at: u64,
    /// Whose it is.
    pub agent_id: String,
}

impl TaskSnapshot {
    /// A task that starts now, under a fresh id.
    pub fn new(command: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            id: generate_id(),
            command: command.into(),
            description: description.into(),
            status: TaskStatus::Running,
            exit_code: 0,
            output: String::new(),
            started_at: now(),
            completed_at: 0,
            agent_id: String::new(),
        }
    }
}

/// What happened to a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskChange {
    /// Always [`TASK_DOMAIN`].
    pub domain: &'static str,
    /// `started`, the status it ended in, or `removed`.
    pub op: &'static str,
    /// The task, as it is now.
    pub task: TaskSnapshot,
}

/// `b` and eight random characters of base 36.
pub fn generate_id() -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    /// The letters of job ids, which leave out i, l, o and u.
    const BASE_32: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    // The end of a job's id is 80 random bits; eight of these characters are 41 of them.
    let job = JobId::generate();
    let random = job.as_str().bytes().rev().take(16);
    let value = |byte| BASE_32.iter().position(|digit| *digit == byte).unwrap_or_default() as u128;
    let mut random = random.fold(0_u128, |number, byte| number * 32 + value(byte));
    let mut id = "b".to_owned();
    for _ in 0..8 {
        let place = usize::try_from(random % 36).unwrap_or_default();
        id.push(char::from(DIGITS[place]));
        random /= 36;
    }
    id
}

type Observer = Arc<dyn Fn(&TaskChange) + Send + Sync>;
type Callback = Box<dyn FnOnce() + Send>;

/// The store. Clones are the same store.
#[derive(Clone, Default)]
pub struct TaskStore {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    tasks: HashMap<String, Task>,
    observers: Vec<Observer>,
    /// Counts ends, so that tasks are drained in the order they ended in.
    ends: u64,
    /// What happened and is not told yet.
    changes: VecDeque<TaskChange>,
    /// Whether a thread tells it: then that one tells what comes meanwhile, too.
    is_telling: bool,
}

struct Task {
    snapshot: TaskSnapshot,
    cancel: Option<Callback>,
    /// Called when it is drained.
    drained: Option<Callback>,
    end: u64,
}

impl Inner {
    fn changed(&mut self, op: &'static str, task: TaskSnapshot) {
        self.changes.push_back(TaskChange { domain: TASK_DOMAIN, op, task });
    }

    /// Takes out a task that has ended.
    fn remove(&mut self, id: &str) -> Option<Task> {
        let task = self.tasks.remove(id)?;
        self.changed("removed", task.snapshot.clone());
        Some(task)
    }

    /// The ids of the tasks that have ended, in the order they ended in.
    fn ended(&self) -> Vec<String> {
        let is_over = |task: &&Task| task.snapshot.status != TaskStatus::Running;
        let mut ended: Vec<&Task> = self.tasks.values().filter(is_over).collect();
        ended.sort_by_key(|task| task.end);
        ended.into_iter().map(|task| task.snapshot.id.clone()).collect()
    }
}

impl TaskStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// The domain of its changes.
    pub fn domain(&self) -> &'static str {
        TASK_DOMAIN
    }

    /// Calls `observer` at every change from now on, one change at a time. It may ask the store, and
    /// change it.
    pub fn observe(&self, observer: impl Fn(&TaskChange) + Send + Sync + 'static) {
        self.lock().observers.push(Arc::new(observer));
    }

    /// Adds a task that has just started, and so runs. `cancel` ends its process.
    pub fn add(&self, snapshot: TaskSnapshot, cancel: impl FnOnce() + Send + 'static) {
        self.insert(snapshot, Box::new(cancel), None);
    }

    /// The same, for who wants to know when it is drained.
    pub(crate) fn add_until(
        &self,
        snapshot: TaskSnapshot,
        cancel: impl FnOnce() + Send + 'static,
        drained: impl FnOnce() + Send + 'static,
    ) {
        self.insert(snapshot, Box::new(cancel), Some(Box::new(drained)));
    }

    fn insert(&self, mut snapshot: TaskSnapshot, cancel: Callback, drained: Option<Callback>) {
        snapshot.status = TaskStatus::Running;
        let task = Task { snapshot: snapshot.clone(), cancel: Some(cancel), drained, end: 0 };
        let mut inner = self.lock();
        inner.tasks.insert(snapshot.id.clone(), task);
        inner.changed("started", snapshot);
        drop(inner);
        self.tell();
    }

    /// A task has ended. Unknown ids and tasks that had ended already are left as they are.
    pub fn complete(&self, id: &str, status: TaskStatus, exit_code: i32, output: String) {
        let mut inner = self.lock();
        let end = inner.ends + 1;
        let Some(task) = inner.tasks.get_mut(id) else { return };
        if task.snapshot.status != TaskStatus::Running || status == TaskStatus::Running {
            return;
        }
        task.cancel = None;
        task.end = end;
        task.snapshot.status = status;
        task.snapshot.exit_code = exit_code;
        task.snapshot.output = output;
        task.snapshot.completed_at = now();
        let snapshot = task.snapshot.clone();
        inner.ends = end;
        inner.changed(status.as_str(), snapshot);
        drop(inner);
        self.tell();
    }

    /// Cancels a running task. `None` if it is unknown or has ended, for which there is nothing to
    /// do. Its end comes by [`TaskStore::complete`]; until then, stopping it again changes nothing.
    pub fn stop(&self, id: &str) -> Option<TaskSnapshot> {
        let mut inner = self.lock();
        let task = inner.tasks.get_mut(id)?;
        if task.snapshot.status != TaskStatus::Running {
            return None;
        }
        let cancel = task.cancel.take();
        let snapshot = task.snapshot.clone();
        drop(inner);
        if let Some(cancel) = cancel {
            cancel();
        }
        Some(snapshot)
    }

    /// One task.
    pub fn get(&self, id: &str) -> Option<TaskSnapshot> {
        self.lock().tasks.get(id).map(|task| task.snapshot.clone())
    }

    /// Takes out the tasks that have ended, in the order they ended in. Those that run stay.
    pub fn drain_completed(&self) -> Vec<TaskSnapshot> {
        let mut inner = self.lock();
        let mut drained: Vec<Task> =
            inner.ended().iter().filter_map(|id| inner.remove(id)).collect();
        drop(inner);
        for callback in drained.iter_mut().filter_map(|task| task.drained.take()) {
            callback();
        }
        self.tell();
        drained.into_iter().map(|task| task.snapshot).collect()
    }

    /// Takes out what ended first, if more than so many have ended and nobody drains them.
    pub(crate) fn keep(&self, most: usize) {
        let mut inner = self.lock();
        let ended = inner.ended();
        for id in &ended[..ended.len().saturating_sub(most)] {
            inner.remove(id);
        }
        drop(inner);
        self.tell();
    }

    /// Whether a task has ended that was not drained.
    pub fn has_pending(&self) -> bool {
        self.lock().tasks.values().any(|task| task.snapshot.status != TaskStatus::Running)
    }

    /// All tasks, in the order they started in.
    pub fn snapshot(&self) -> Vec<TaskSnapshot> {
        let mut tasks: Vec<TaskSnapshot> =
            self.lock().tasks.values().map(|task| task.snapshot.clone()).collect();
        tasks
            .sort_by(|left, right| (left.started_at, &left.id).cmp(&(right.started_at, &right.id)));
        tasks
    }

    /// Tells what happened. Not under the lock: an observer may ask the store.
    fn tell(&self) {
        if mem::replace(&mut self.lock().is_telling, true) {
            return;
        }
        let mut telling = Telling { store: self, is_over: false };
        while let Some((change, observers)) = telling.next() {
            for observer in observers {
                observer(&change);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The turn to tell, until nothing is left or an observer panics.
struct Telling<'a> {
    store: &'a TaskStore,
    is_over: bool,
}

impl Telling<'_> {
    fn next(&mut self) -> Option<(TaskChange, Vec<Observer>)> {
        let mut inner = self.store.lock();
        let change = inner.changes.pop_front();
        // Given back under the same lock: a change that comes now finds nobody telling.
        self.is_over = change.is_none();
        inner.is_telling = change.is_some();
        change.map(|change| (change, inner.observers.clone()))
    }
}

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.store.lock().is_telling = false;
        }
    }
}

impl fmt::Debug for TaskStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskStore").field("tasks", &self.lock().tasks.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn heard(store: &TaskStore) -> Arc<Mutex<Vec<(String, String)>>> {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hearing = Arc::clone(&heard);
        store.observe(move |change| {
            assert_eq!(change.domain, "bg_tasks");
            hearing.lock().unwrap().push((change.op.to_owned(), change.task.command.clone()));
        });
        heard
    }

    #[test]
    fn an_id_is_a_b_and_eight_characters_of_base_36() {
        let id = generate_id();
        assert_eq!(id.len(), 9);
        assert!(id.starts_with('b'));
        assert!(id.chars().all(|c| c.is_ascii_digit() || c.is_ascii_lowercase()));
        assert_ne!(id, generate_id());
        let seen: std::collections::BTreeSet<char> =
            (0..500).flat_map(|_| generate_id()[1..].chars().collect::<Vec<_>>()).collect();
        assert_eq!(seen.len(), 36, "4000 random characters have every one of 36: {seen:?}");
    }

    #[test]
    fn what_ended_is_drained_once_in_the_order_it_ended_in() {
        let store = TaskStore::new();
        let heard = heard(&store);
        let ids: Vec<String> = ["a", "b", "c"]
            .into_iter()
            .map(|command| {
                let task = TaskSnapshot::new(command, "");
                let id = task.id.clone();
                store.add(task, || {});
                id
            })
            .collect();
        assert!(!store.has_pending());
        store.complete(&ids[2], TaskStatus::Failed, 3, "no".into());
        store.complete(&ids[0], TaskStatus::Completed, 0, "yes".into());
        assert!(store.has_pending());
        let drained: Vec<_> = store
            .drain_completed()
            .into_iter()
            .map(|task| (task.command, task.exit_code))
            .collect();
        assert_eq!(drained, [("c".to_owned(), 3), ("a".to_owned(), 0)]);
        assert!(store.drain_completed().is_empty() && !store.has_pending());
        assert_eq!(store.snapshot().len(), 1);
        assert!(store.get(&ids[0]).is_none());
        let ops: Vec<String> = heard.lock().unwrap().iter().map(|(op, _)| op.clone()).collect();
        let expected =
            ["started", "started", "started", "failed", "completed", "removed", "removed"];
        assert_eq!(ops, expected);
    }

    #[test]
    fn stopping_cancels_once_and_only_what_runs() {
        let store = TaskStore::new();
        let cancelled = Arc::new(AtomicUsize::new(0));
        let counting = Arc::clone(&cancelled);
        let task = TaskSnapshot::new("nap", "");
        let id = task.id.clone();
        store.add(task, move || {
            counting.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(store.stop(&id).unwrap().status, TaskStatus::Running);
        assert_eq!(store.stop(&id).unwrap().status, TaskStatus::Running, "it still runs");
        assert!(store.stop("bnone").is_none());
        store.complete(&id, TaskStatus::Killed, -1, String::new());
        store.complete(&id, TaskStatus::Completed, 0, String::new());
        assert_eq!(store.get(&id).unwrap().status, TaskStatus::Killed);
        assert!(store.stop(&id).is_none());
        assert_eq!(cancelled.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn changes_are_told_in_their_order_also_those_that_an_observer_makes() {
        let store = TaskStore::new();
        let draining = store.clone();
        store.observe(move |change| {
            if change.op == "completed" {
                assert_eq!(draining.drain_completed().len(), 1);
            }
        });
        let heard = heard(&store);
        let task = TaskSnapshot::new("a", "");
        let id = task.id.clone();
        store.add(task, || {});
        store.complete(&id, TaskStatus::Completed, 0, String::new());
        let ops: Vec<String> = heard.lock().unwrap().iter().map(|(op, _)| op.clone()).collect();
        assert_eq!(ops, ["started", "completed", "removed"]);
    }

    #[test]
    fn an_end_is_told_before_its_removal_whoever_drains() {
        let store = TaskStore::new();
        let heard = heard(&store);
        let ids: Vec<String> = (0..500)
            .map(|number| {
                let task = TaskSnapshot::new(number.to_string(), "");
                let id = task.id.clone();
                store.add(task, || {});
                id
            })
            .collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for id in &ids {
                    store.complete(id, TaskStatus::Completed, 0, String::new());
                }
            });
            scope.spawn(|| {
                let mut left = ids.len();
                while left > 0 {
                    left -= store.drain_completed().len();
                }
            });
        });
        let heard = heard.lock().unwrap();
        for number in 0..500 {
            let command = number.to_string();
            let own = heard.iter().filter(|(_, of)| *of == command);
            let ops: Vec<&str> = own.map(|(op, _)| op.as_str()).collect();
            assert_eq!(ops, ["started", "completed", "removed"], "{number}");
        }
    }

    #[test]
    fn an_observer_that_panics_silences_nobody_for_ever() {
        let store = TaskStore::new();
        let heard = heard(&store);
        store.observe(|change| assert_ne!(change.task.command, "bad"));
        let adding = store.clone();
        let panicked = std::thread::spawn(move || adding.add(TaskSnapshot::new("bad", ""), || {}));
        assert!(panicked.join().is_err());
        store.add(TaskSnapshot::new("good", ""), || {});
        assert_eq!(heard.lock().unwrap().len(), 2);
    }

    #[test]
    fn of_what_nobody_drains_the_newest_are_kept() {
        let store = TaskStore::new();
        let heard = heard(&store);
        for command in ["a", "b", "c", "d"] {
            let task = TaskSnapshot::new(command, "");
            let id = task.id.clone();
            store.add(task, || {});
            if command != "a" {
                store.complete(&id, TaskStatus::Completed, 0, String::new());
            }
        }
        store.keep(3);
        assert_eq!(store.snapshot().len(), 4);
        store.keep(1);
        let kept = store.snapshot();
        assert_eq!(kept.iter().map(|task| task.command.as_str()).collect::<String>(), "ad");
        let heard = heard.lock().unwrap();
        let removed = heard.iter().filter(|(op, _)| op == "removed");
        assert_eq!(removed.map(|(_, command)| command.as_str()).collect::<String>(), "bc");
    }
}
