//! The parent of a supervisor. It waits. Should the supervisor be killed, it is the one the orphans
//! come to: it ends them and writes the exit record that the supervisor no longer can. Should the
//! supervisor be stopped, it wakes it: a job that stops its supervisor has its limits all the same.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, wait, waitpid,
};

use super::TAG;
use super::berth::Kept;
use crate::clock;
use crate::event::{EventKind, Journal};
use crate::groups;
use crate::id::JobId;
use crate::log::Log;
use crate::outcome::{Containment, Drained, End, LostReason, Outcome, Usage};
use crate::state::{FORMAT, JobDir, State};
use crate::sys::cgroup::Cgroup;
use crate::sys::{process, procfs};

/// A job that lives longer than this is not a short one.
pub(super) const IDLE: Duration = Duration::from_millis(100);
/// A supervisor that is stopped twice within this time is stopped on purpose.
const CALM: Duration = Duration::from_secs(1);
/// How long it then has to work.
const BREATH: Duration = Duration::from_millis(20);
/// What an exit record that cannot be read is called.
const DAMAGED: &str = "outcome.damaged";
/// How long the dead are waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waits for the supervisor and cleans up after it if it must. Never returns.
pub(super) fn keep(state: &State, kept: &Kept, supervisor: Pid) -> ! {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    rest_when_idle(supervisor);
    let mut woken = None;
    let status = loop {
        match waitpid(Some(supervisor), WaitOptions::UNTRACED) {
            Ok(Some((_, status))) if status.stopped() => {
                wake(kept, supervisor, woken.replace(Instant::now()));
            }
            Ok(Some((_, status))) => break Some(status),
            Err(rustix::io::Errno::INTR) => {}
            Ok(None) | Err(_) => break None,
        }
    };
    if status.is_none_or(|status| status.exit_status() != Some(0)) {
        clean_up(state, kept);
    }
    // What a supervisor has beside its job, as the first process of a sandbox, is this one's child.
    while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {}
    process::exit_now(0)
}

/// Gives memory back once it is clear that this is not one of the many jobs that end at once.
fn rest_when_idle(supervisor: Pid) {
    let Ok(fd) = pidfd_open(supervisor, PidfdFlags::empty()) else { return };
    let timeout = clock::until(Instant::now() + IDLE);
    if poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&timeout)) == Ok(0) {
        process::rest();
    }
}

/// Wakes a supervisor that somebody stopped. A job that does it again and again is held for a moment
/// each time, in which the supervisor gets to its work: otherwise it would be stopped by the next
/// signal before it had done anything.
fn wake(kept: &Kept, supervisor: Pid, before: Option<Instant>) {
    if before.is_none_or(|before| before.elapsed() > CALM) {
        let _ = kill_process(supervisor, Signal::CONT);
        return;
    }
    let breathe = || {
        let _ = kill_process(supervisor, Signal::CONT);
        if let Ok(fd) = pidfd_open(supervisor, PidfdFlags::empty()) {
            let breath = clock::until(Instant::now() + BREATH);
            let _ = poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&breath));
        }
    };
    let tell = |pids: &[Pid], signal| {
        for pid in pids {
            let _ = kill_process(*pid, signal);
        }
    };
    if let Some(group) = &kept.cgroup {
        group.freeze(Instant::now() + BREATH);
        breathe();
        group.thaw();
        return;
    }
    // Those that stand still already are to stand still afterwards.
    let mut held = procfs::descendants(supervisor);
    held.retain(|pid| !procfs::is_stopped(*pid));
    tell(&held, Signal::STOP);
    breathe();
    tell(&held, Signal::CONT);
}

fn clean_up(state: &State, kept: &Kept) {
    if let Some(cgroup) = &kept.cgroup {
        let _ = cgroup.kill();
    }
    let proof = end_children(kept.cgroup.as_ref());
    // The directory may be a job's by now: it knows its own name.
    let Some(path) = own_path(kept) else { return };
    let job = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
    match job {
        Some(job) if path.starts_with(state.jobs()) => {
            let _ = bury(state, &job, LostReason::SupervisorKilled, proof);
        }
        _ => {
            let _ = groups::discard(&path, None);
        }
    }
}

fn own_path(kept: &Kept) -> Option<std::path::PathBuf> {
    use std::os::fd::AsRawFd;
    fs::read_link(format!("/proc/self/fd/{}", kept.directory.as_raw_fd())).ok()
}

/// Kills whoever was orphaned to this process until nobody is left.
fn end_children(cgroup: Option<&Cgroup>) -> Option<Containment> {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        for pid in procfs::descendants(rustix::process::getpid()) {
            let _ = kill_process(pid, Signal::KILL);
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => break,
                Err(_) => {
                    return match cgroup {
                        Some(group) if group.is_populated() => None,
                        Some(_) => Some(Containment::Cgroup),
                        None => Some(Containment::Subreaper),
                    };
                }
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}

/// Writes the exit record of a job whose supervisor is dead, and announces it, exactly once.
///
/// The caller has seen to its processes, or names no proof: then they are looked for here, by
/// control group and by tag, never by a recorded pid.
pub(crate) fn bury(
    state: &State,
    job: &JobId,
    reason: LostReason,
    proof: Option<Containment>,
) -> io::Result<()> {
    let directory = state.job(job);
    if directory.outcome().is_none() {
        let proof = match (proof, reason) {
            (Some(proof), _) => Some(proof),
            // Nothing of another boot is alive.
            (None, LostReason::Reboot) => Some(Containment::Tag),
            (None, _) => hunt(&directory, job),
        };
        groups::remove(&directory, proof.map(|_| Instant::now() + PATIENCE));
        let mut notes = Vec::new();
        if mend_index(&directory)? {
            notes.push("the end of the index was torn; it was repaired".to_owned());
        }
        if keep_damaged(&directory) {
            notes.push(format!("its exit record was damaged; it is kept as {DAMAGED}"));
        }
        if proof == Some(Containment::Tag) && reason != LostReason::Reboot {
            notes.push(
                "its processes were looked for by their environment: one that cleared it would \
                 not have been found"
                    .to_owned(),
            );
        }
        let outcome = lost(&directory, job, reason, proof, notes);
        write_once(&directory, &outcome)?;
    }
    announce(state, job, &directory)
}

/// What is known about a job whose supervisor is dead.
pub(crate) fn lost(
    directory: &JobDir,
    job: &JobId,
    reason: LostReason,
    proof: Option<Containment>,
    notes: Vec<String>,
) -> Outcome {
    let log = Log::open(directory.path()).ok();
    let total_bytes = log.as_ref().and_then(|log| log.length().ok()).unwrap_or(0);
    let omitted = log.as_ref().and_then(Log::omitted).map_or(0, |range| range.end - range.start);
    let started = directory.record().ok().and_then(|(_, started)| started);
    Outcome {
        v: FORMAT,
        job: job.clone(),
        end: End::Lost { reason },
        limit: None,
        drained: Drained::Unknown,
        started_at: started.map(|started| started.at),
        ended_at: clock::now_us(),
        leaked: Vec::new(),
        more_leaked: 0,
        contained_by: proof,
        usage: Usage::default(),
        total_bytes,
        omitted_bytes: omitted,
        sandbox: None,
        denied: Vec::new(),
        more_denied: 0,
        notes,
    }
}

/// Ends what is left of a job that nobody supervises any more.
fn hunt(directory: &JobDir, job: &JobId) -> Option<Containment> {
    let groups: Vec<Cgroup> = groups::of(directory)
        .into_iter()
        .filter_map(|path| Cgroup::open(path).ok().filter(Cgroup::can_kill))
        .collect();
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        for group in &groups {
            let _ = group.kill();
        }
        let tagged = procfs::tagged(TAG, job.as_str());
        for pid in &tagged {
            let _ = kill_process(*pid, Signal::KILL);
        }
        if tagged.is_empty() && !groups.iter().any(Cgroup::is_populated) {
            let is_grouped = !groups.is_empty();
            return Some(if is_grouped { Containment::Cgroup } else { Containment::Tag });
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}

/// Cuts a half-written record off the index. Whether there was one.
fn mend_index(directory: &JobDir) -> io::Result<bool> {
    let path = directory.file(crate::log::INDEX);
    let Ok(file) = OpenOptions::new().write(true).open(path) else { return Ok(false) };
    let length = file.metadata()?.len();
    let whole = length / 24 * 24;
    if whole != length {
        file.set_len(whole)?;
    }
    Ok(whole != length)
}

/// Puts an exit record that cannot be read aside. Whether there was one.
fn keep_damaged(directory: &JobDir) -> bool {
    let record = directory.file("outcome");
    fs::exists(&record).unwrap_or(false) && fs::rename(record, directory.file(DAMAGED)).is_ok()
}

fn write_once(directory: &JobDir, outcome: &Outcome) -> io::Result<()> {
    let draft = directory.file(&format!("outcome.{}", rustix::process::getpid().as_raw_nonzero()));
    let mut file = fs::File::create(&draft)?;
    file.write_all(&serde_json::to_vec(outcome)?)?;
    let here = rustix::fs::CWD;
    let target = directory.file("outcome");
    let flags = rustix::fs::RenameFlags::NOREPLACE;
    match rustix::fs::renameat_with(here, &draft, here, &target, flags) {
        Ok(()) => Ok(()),
        Err(_) if directory.outcome().is_some() => fs::remove_file(draft),
        // A record is there that can neither be read nor put aside: this one is better.
        Err(_) => fs::rename(draft, target),
    }
}

/// Appends the job's last event if the journal lacks it. The caller holds the job's lock.
pub(crate) fn announce(state: &State, job: &JobId, directory: &JobDir) -> io::Result<()> {
    if directory.is_announced() {
        return Ok(());
    }
    let Some(outcome) = directory.outcome() else { return Ok(()) };
    // Whoever could not announce it could not clean up behind it either.
    groups::remove(directory, None);
    let journal = Journal::open(&state.events())?;
    if !journal.has_exited(job)? {
        let state = outcome.end.name().to_owned();
        journal.append(job, &[EventKind::Exited { state, code: outcome.exit_code() }])?;
    }
    fs::remove_file(directory.file("sock"))
}
