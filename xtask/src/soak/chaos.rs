//! What goes wrong on purpose: kills of every kind of process, stops, and a full disk. Each is
//! written down, so that what a job suffered is known when its outcome is judged.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::disk::Disk;
use super::seed::Seed;
use crate::proc;

/// The longest pause between two of them.
const LONGEST_PAUSE_MS: u64 = 60;
/// How long the disk stays full.
const FULL: Duration = Duration::from_millis(300);
/// How often, of so many, the disk is filled.
const DISK_OF: u64 = 40;

/// A kind of process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Victim {
    Supervisor,
    Keeper,
    Spare,
    Nursery,
    Client,
    /// A supervisor that is only stopped: its keeper wakes it.
    Stopped,
}

const VICTIMS: [Victim; 6] = [
    Victim::Supervisor,
    Victim::Keeper,
    Victim::Spare,
    Victim::Nursery,
    Victim::Client,
    Victim::Stopped,
];

/// The one who does it.
pub(super) struct Chaos<'a> {
    state: PathBuf,
    disk: Option<&'a Disk>,
    kills: AtomicU64,
    tally: Mutex<BTreeMap<String, u64>>,
    /// Processes that were killed or stopped, with their start times.
    killed: Mutex<HashSet<(u64, u64)>>,
    /// When the disk was full.
    full: Mutex<Vec<(Instant, Instant)>>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Chaos<'a> {
    pub(super) fn new(state: &Path, disk: Option<&'a Disk>) -> Self {
        Self {
            state: state.to_owned(),
            disk,
            kills: AtomicU64::new(0),
            tally: Mutex::default(),
            killed: Mutex::default(),
            full: Mutex::default(),
        }
    }

    pub(super) fn kills(&self) -> u64 {
        self.kills.load(Ordering::Relaxed)
    }

    pub(super) fn tally(&self) -> BTreeMap<String, u64> {
        lock(&self.tally).clone()
    }

    /// Whether the supervisor of a job was killed or stopped.
    pub(super) fn has_killed(&self, job: &str) -> bool {
        let process = self.supervisor_of(job).map(|identity| process(&identity));
        process.flatten().is_some_and(|process| lock(&self.killed).contains(&process))
    }

    /// What a job's record says about its supervisor.
    fn supervisor_of(&self, job: &str) -> Option<Value> {
        let text = fs::read_to_string(self.state.join("jobs").join(job).join("request")).ok()?;
        let mut record: Value = serde_json::from_str(text.lines().next()?).ok()?;
        Some(record["supervisor"].take())
    }

    /// Whether the disk was full at some moment of a time.
    pub(super) fn was_full(&self, (from, to): (Instant, Instant)) -> bool {
        // What was refused then may be tried again a little later.
        let late = Duration::from_secs(1);
        lock(&self.full).iter().any(|(begin, end)| *begin <= to && from <= *end + late)
    }

    /// Goes on until it is told that all is over.
    pub(super) fn rage(&self, mut seed: Seed, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1 + seed.below(LONGEST_PAUSE_MS)));
            match self.disk {
                Some(disk) if seed.below(DISK_OF) == 0 => self.fill(disk, seed.below(64 << 10)),
                _ => {
                    if let Some(victim) = seed.of(&VICTIMS) {
                        self.kill(victim, &mut seed);
                    }
                }
            }
        }
        self.calm();
    }

    /// Leaves a machine on which all can end.
    pub(super) fn calm(&self) {
        if let Some(disk) = self.disk {
            disk.free();
        }
    }

    fn note(&self, what: &str) {
        self.kills.fetch_add(1, Ordering::Relaxed);
        *lock(&self.tally).entry(what.to_owned()).or_default() += 1;
    }

    fn fill(&self, disk: &Disk, left: u64) {
        let begin = Instant::now();
        disk.fill_but(left);
        thread::sleep(FULL);
        disk.free();
        lock(&self.full).push((begin, Instant::now()));
        self.note("full disk");
    }

    fn kill(&self, victim: Victim, seed: &mut Seed) {
        let Some(pid) = seed.of(&self.find(victim)) else { return };
        // Before it happens: the caller may be told before this thread goes on.
        if let Some(start) = proc::start_time(pid) {
            lock(&self.killed).insert((pid.into(), start));
        }
        let signal = if victim == Victim::Stopped { Signal::STOP } else { Signal::KILL };
        let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
        if raw.is_some_and(|raw| kill_process(raw, signal).is_ok()) {
            self.note(match victim {
                Victim::Supervisor => "supervisor killed",
                Victim::Keeper => "keeper killed",
                Victim::Spare => "spare killed",
                Victim::Nursery => "nursery killed",
                Victim::Client => "client killed",
                Victim::Stopped => "supervisor stopped",
            });
        }
    }

    /// The processes of a kind.
    fn find(&self, victim: Victim) -> Vec<u32> {
        if victim == Victim::Client {
            return proc::clients(&self.state);
        }
        let all = proc::supervisors(&self.state);
        let is_nursery = |pid: &u32| proc::parent(*pid) == Some(std::process::id());
        let is_wanted = |pid: &u32| match (victim, self.job_of(*pid)) {
            (Victim::Nursery, _) => is_nursery(pid),
            (Victim::Spare, None) => !is_nursery(pid),
            (Victim::Supervisor | Victim::Stopped | Victim::Keeper, Some(job)) => {
                let Some(identity) = self.supervisor_of(&job) else { return false };
                let named = if victim == Victim::Keeper { &identity["keeper"] } else { &identity };
                process(named).is_some_and(|(named, _)| named == u64::from(*pid))
            }
            _ => false,
        };
        // Looked at again: a child of a supervisor has become the command of a job meanwhile.
        let is_still_ours = |pid: &u32| proc::is_supervisor(*pid, &self.state);
        all.into_iter().filter(is_wanted).filter(is_still_ours).collect()
    }

    /// The job whose directory a process holds open.
    fn job_of(&self, pid: u32) -> Option<String> {
        let jobs = self.state.join("jobs");
        let open = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
        open.flatten().filter_map(|entry| fs::read_link(entry.path()).ok()).find_map(|target| {
            let below = target.strip_prefix(&jobs).ok()?.to_str()?;
            Some(below.split(['/', ' ']).next()?.to_owned())
        })
    }
}

/// A process of a record.
fn process(identity: &Value) -> Option<(u64, u64)> {
    Some((identity["pid"].as_u64()?, identity["start_time"].as_u64()?))
}
