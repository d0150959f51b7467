//! Jobs whose processes live though their files are gone: somebody deleted the state directory, or
//! put another one in its place. They are found by their supervisors, which name the state directory
//! among their words and hold the job's directory open, by control group and by the tag in the
//! environment of every process of a job; so they can be listed and stopped.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::clock;
use crate::id::JobId;
use crate::job::{FoundBy, Status, Summary};
use crate::kill_tree::kill_tree_of_others;
use crate::outcome::{Containment, Drained, End, Outcome, Stage, StoppedBy, Usage};
use crate::state::{FORMAT, State};
use crate::supervisor::{ARGUMENT, NURSERY, TAG};
use crate::sys::cgroup::{self, Cgroup};
use crate::sys::procfs;

/// How long what was killed may take to be gone.
const LAST_PROCESSES: Duration = Duration::from_secs(10);
/// How often it is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A job without files.
#[derive(Debug, Clone)]
pub(crate) struct Stray {
    job: JobId,
    supervisors: Vec<Pid>,
}

/// The jobs of a state directory that have living processes and no directory.
pub(crate) fn find_all(state: &State) -> Vec<Stray> {
    let mut found: BTreeMap<JobId, Vec<Pid>> = BTreeMap::new();
    for pid in procfs::processes() {
        if is_supervisor(state, pid)
            && let Some(job) = held_job(state, pid)
        {
            found.entry(job).or_default().push(pid);
        }
    }
    for (job, _) in groups(state) {
        found.entry(job).or_default();
    }
    found.retain(|job, _| !state.job(job).exists());
    found.into_iter().map(|(job, supervisors)| Stray { job, supervisors }).collect()
}

/// Whether a process is a supervisor or keeper of a state directory, by the words it was started
/// with.
fn is_supervisor(state: &State, pid: Pid) -> bool {
    let words = procfs::words(pid);
    let mut words = words.split(|byte| *byte == 0).skip(1);
    let is_ours =
        words.next().is_some_and(|role| role == ARGUMENT.as_bytes() || role == NURSERY.as_bytes());
    is_ours && words.next() == Some(state.root().as_os_str().as_bytes())
}

/// The job whose directory a supervisor holds open.
fn held_job(state: &State, pid: Pid) -> Option<JobId> {
    let jobs = state.jobs();
    let open = fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())).ok()?;
    open.flatten().filter_map(|entry| fs::read_link(entry.path()).ok()).find_map(|target| {
        // The kernel adds a word to the name of what was deleted.
        let below = target.strip_prefix(&jobs).ok()?.to_str()?;
        let name = below.split(['/', ' ']).next()?;
        name.parse().ok()
    })
}

/// The control groups of a state directory beside this process's own that somebody is in, each with
/// the job that its processes say they are of. A group has the name of a spare, not of its job.
fn groups(state: &State) -> Vec<(JobId, Cgroup)> {
    let Ok(own) = cgroup::own_v2() else { return Vec::new() };
    let mark = state.group_name("");
    let Ok(groups) = fs::read_dir(own) else { return Vec::new() };
    groups
        .flatten()
        .filter(|group| group.file_name().as_encoded_bytes().starts_with(mark.as_bytes()))
        .filter_map(|group| {
            let group = Cgroup::open(group.path()).ok()?;
            let tag = group.processes().into_iter().find_map(|pid| procfs::variable(pid, TAG))?;
            Some((tag.parse().ok()?, group))
        })
        .collect()
}

impl Stray {
    /// The job with this id, if it has living processes.
    pub(crate) fn find(state: &State, name: &str) -> Option<Self> {
        JobId::beginning_with(name)?;
        let lower = name.to_ascii_lowercase();
        let mut all = find_all(state);
        all.retain(|stray| !lower.is_empty() && stray.job.as_str().starts_with(&lower));
        if all.len() == 1 {
            return all.pop();
        }
        // Who names the whole id means it, whichever state directory it was of.
        let job: JobId = lower.parse().ok()?;
        let is_alive = !procfs::tagged(TAG, job.as_str()).is_empty();
        (is_alive && !state.job(&job).exists()).then(|| Self { job, supervisors: Vec::new() })
    }

    pub(crate) fn id(&self) -> &JobId {
        &self.job
    }

    /// The processes of its command.
    fn processes(&self) -> Vec<Pid> {
        procfs::tagged(TAG, self.job.as_str())
    }

    /// Where it is in its life; `None` once nothing of it is alive.
    pub(crate) fn status(&self) -> Option<Status> {
        let pid = self.processes().into_iter().min_by_key(|pid| pid.as_raw_nonzero())?;
        let at = self.job.made_at_ms() * 1000;
        Some(Status::Started { pid: pid.as_raw_nonzero().get(), at })
    }

    /// What a list says about it.
    pub(crate) fn summary(&self) -> Option<Summary> {
        let status = self.status()?;
        let first = self.processes().into_iter().min_by_key(|pid| pid.as_raw_nonzero());
        let command = first.map(|pid| procfs::command_line(pid, &procfs::words(pid)));
        let cwd = first.and_then(procfs::directory);
        Some(Summary {
            job: self.job.clone(),
            status,
            command: command.unwrap_or_default(),
            cwd: cwd.map_or_else(String::new, |cwd| cwd.display().to_string()),
            name: None,
            owner: None,
            labels: BTreeMap::new(),
            session: None,
            terminal: None,
            created_at: self.job.made_at_ms() * 1000,
            total_bytes: 0,
            parent: None,
            queue_position: None,
            waits_for: None,
            group: None,
            is_paused: false,
            found_by: FoundBy::Processes,
        })
    }

    /// Kills all of it, its command first. `None` if something does not die.
    pub(crate) fn kill(&self, state: &State) -> Option<Outcome> {
        let deadline = Instant::now() + LAST_PROCESSES;
        let groups: Vec<Cgroup> = groups(state)
            .into_iter()
            .filter_map(|(job, group)| (job == self.job).then_some(group))
            .collect();
        while Instant::now() < deadline {
            for group in &groups {
                let _ = group.kill();
            }
            let living = self.processes();
            kill_tree_of_others(&living);
            let supervised = self.supervisors.iter().filter(|pid| is_supervisor(state, **pid));
            let supervised: Vec<Pid> = supervised.copied().collect();
            if living.is_empty() {
                // Its supervisor and keeper, which have nothing left to do.
                for pid in &supervised {
                    kill_proven(state, *pid);
                }
            }
            if living.is_empty() && supervised.is_empty() {
                groups.iter().for_each(Cgroup::remove);
                return Some(self.outcome(!groups.is_empty()));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        None
    }

    fn outcome(&self, is_grouped: bool) -> Outcome {
        let contained_by = if is_grouped { Containment::Cgroup } else { Containment::Tag };
        Outcome {
            v: FORMAT,
            job: self.job.clone(),
            end: End::Stopped { by: StoppedBy::Request, stage: Stage::Kill, process: None },
            limit: None,
            drained: Drained::Unknown,
            started_at: None,
            ended_at: clock::now_us(),
            leaked: Vec::new(),
            more_leaked: 0,
            contained_by: Some(contained_by),
            usage: Usage::default(),
            total_bytes: 0,
            omitted_bytes: 0,
            dropped_bytes: 0,
            sandbox: None,
            denied: Vec::new(),
            more_denied: 0,
            notes: vec!["its files were deleted while it ran: no record of it is kept".into()],
        }
    }
}

/// Kills a process that is proven to be a supervisor of this state directory.
fn kill_proven(state: &State, pid: Pid) {
    if let Ok(fd) = pidfd_open(pid, PidfdFlags::empty())
        && is_supervisor(state, pid)
    {
        let _ = pidfd_send_signal(&fd, Signal::KILL);
    }
}
