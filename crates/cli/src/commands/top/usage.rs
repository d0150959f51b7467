//! What the processes of jobs use now, as the kernel counts it.

use std::collections::HashMap;
use std::fs;
use std::time::Instant;

/// What a job uses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Used {
    /// Of one processor; unknown at the first look.
    pub(super) percent: Option<f64>,
    /// Bytes in memory, those that processes share counted for each.
    pub(super) memory: u64,
    pub(super) processes: usize,
}

/// One process.
struct Process {
    parent: i32,
    ticks: u64,
    pages: u64,
}

/// Looks again and again.
#[derive(Default)]
pub(super) struct Usage {
    before: HashMap<String, (u64, Instant)>,
}

impl Usage {
    /// What each of these jobs uses, told by its first process.
    pub(super) fn look(&mut self, jobs: &[(String, i32)]) -> HashMap<String, Used> {
        let processes = processes();
        let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
        for (pid, process) in &processes {
            children.entry(process.parent).or_default().push(*pid);
        }
        let now = Instant::now();
        let mut found = HashMap::new();
        let mut after = HashMap::new();
        for (job, pid) in jobs {
            // Orphans of a job go to its supervisor, which is the parent of its first process.
            let Some(supervisor) = processes.get(pid).map(|process| process.parent) else {
                continue;
            };
            let (mut ticks, mut used) = (0, Used::default());
            let mut queue = children.get(&supervisor).cloned().unwrap_or_default();
            while let Some(pid) = queue.pop() {
                if let Some(process) = processes.get(&pid) {
                    ticks += process.ticks;
                    used.memory += process.pages * rustix::param::page_size() as u64;
                    used.processes += 1;
                }
                queue.extend(children.get(&pid).into_iter().flatten());
            }
            used.percent =
                self.before.get(job).map(|(before, at)| share(ticks, *before, now - *at));
            after.insert(job.clone(), (ticks, now));
            found.insert(job.clone(), used);
        }
        self.before = after;
        found
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rough number for a person")]
fn share(ticks: u64, before: u64, passed: std::time::Duration) -> f64 {
    let seconds =
        ticks.saturating_sub(before) as f64 / rustix::param::clock_ticks_per_second() as f64;
    if passed.is_zero() { 0.0 } else { 100.0 * seconds / passed.as_secs_f64() }
}

/// All processes of this machine.
fn processes() -> HashMap<i32, Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return HashMap::new() };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            Some((pid, process(&stat)?))
        })
        .collect()
}

/// A process by the text of its `stat`.
fn process(stat: &str) -> Option<Process> {
    // The name may contain anything; what follows the last parenthesis begins with field 3.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let parent = fields.get(1)?.parse().ok()?;
    Some(Process { parent, ticks: number(14)? + number(15)?, pages: number(24)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_process_is_seen_to_be_busy() {
        let mut child =
            std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let jobs = [("job".to_owned(), pid)];
        let mut usage = Usage::default();
        let first = usage.look(&jobs);
        assert_eq!(first["job"].percent, None);
        assert!(first["job"].memory > 0 && first["job"].processes > 0);
        let deadline = Instant::now() + std::time::Duration::from_mins(1);
        while usage.look(&jobs)["job"].percent.unwrap_or(0.0) <= 0.0 {
            assert!(Instant::now() < deadline);
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
