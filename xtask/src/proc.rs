//! What `/proc` says about processes.

use std::fs;
use std::path::{Path, PathBuf};

/// The arguments that make a process supervise, or fork those that do.
const ARGUMENTS: [&str; 2] = ["--umbo-supervisor", "--umbo-nursery"];

/// The supervisors, keepers, spares and nurseries of a state directory.
pub(crate) fn supervisors(state: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| is_supervisor(*pid, state)).collect()
}

/// Whether a process is one of them, by the words it was started with.
pub(crate) fn is_supervisor(pid: u32, state: &Path) -> bool {
    let words = words(pid);
    words.get(1).is_some_and(|word| ARGUMENTS.contains(&word.as_str()))
        && words.get(2).is_some_and(|word| *word == state.to_string_lossy())
}

/// The clients of a state directory: processes of umbo that name it and are no supervisors.
pub(crate) fn clients(state: &Path) -> Vec<u32> {
    let state = state.to_string_lossy();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        let words = words(*pid);
        words.iter().any(|word| word == "exec") && words.iter().any(|word| *word == state)
    })
    .collect()
}

/// The words a process was started with.
fn words(pid: u32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.split_terminator('\0').map(str::to_owned).collect()
}

pub(crate) fn command_line(pid: u32) -> String {
    words(pid).join(" ")
}

/// Whether there is such a process, dead and unburied ones aside.
pub(crate) fn is_alive(pid: u32) -> bool {
    field(&format!("/proc/{pid}/status"), "State:").is_some_and(|state| !state.starts_with('Z'))
}

pub(crate) fn parent(pid: u32) -> Option<u32> {
    field(&format!("/proc/{pid}/status"), "PPid:")?.parse().ok()
}

/// When a process started, in clock ticks since boot: with its number it is that process.
pub(crate) fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// The most memory a process ever had resident, in KiB.
pub(crate) fn peak_kib(pid: u32) -> Option<u64> {
    kib(&field(&format!("/proc/{pid}/status"), "VmHWM:")?)
}

/// Memory of a process, in KiB.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// All that is mapped and present.
    pub(crate) resident: u64,
    /// The same, with what is shared divided among those who share it.
    pub(crate) proportional: u64,
    /// Its own and written to: what one more process of the kind costs.
    pub(crate) private: u64,
}

pub(crate) fn memory(pid: u32) -> Option<Memory> {
    memory_of(&fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?)
}

fn memory_of(rollup: &str) -> Option<Memory> {
    let value = |key| kib(&field_of(rollup, key)?);
    Some(Memory {
        resident: value("Rss:")?,
        proportional: value("Pss:")?,
        private: value("Private_Dirty:")?,
    })
}

/// How many processes wanted to run in the last minute, on average: with more than there are
/// processors, a measurement says little.
pub(crate) fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    format!("load {} on {processors} processors", text.split(' ').next().unwrap_or_default())
}

fn kib(text: &str) -> Option<u64> {
    text.split(' ').next()?.parse().ok()
}

fn field(file: &str, key: &str) -> Option<String> {
    field_of(&fs::read_to_string(file).ok()?, key)
}

fn field_of(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix(key)).map(|value| value.trim().to_owned())
}

/// The directory of this process's own version 2 control group.
pub(crate) fn own_group() -> Option<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    group_in(&own, &mounts)
}

fn group_in(own: &str, mounts: &str) -> Option<PathBuf> {
    let relative = Path::new(own.lines().find_map(|line| line.strip_prefix("0::"))?);
    mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let (root, point) = (left.next()?, left.next()?);
        let below = relative.strip_prefix(root).ok()?;
        right.starts_with("cgroup2 ").then(|| Path::new(point).join(below))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_from_a_rollup() {
        let rollup =
            "5600-7ff [rollup]\nRss:    1540 kB\nPss:     200 kB\nPrivate_Dirty:   96 kB\n";
        let memory = Memory { resident: 1540, proportional: 200, private: 96 };
        assert_eq!(memory_of(rollup), Some(memory));
    }

    #[test]
    fn the_own_group_is_found_by_its_mount() {
        let mounts = "30 25 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
                      42 30 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup rw\n";
        let found = group_in("4:pids:/x\n0::/a/b\n", mounts);
        assert_eq!(found, Some(PathBuf::from("/sys/fs/cgroup/unified/a/b")));
        assert_eq!(group_in("4:pids:/x\n", mounts), None);
    }

    #[test]
    fn this_process_is_alive_and_no_supervisor() {
        assert!(is_alive(std::process::id()));
        assert!(parent(std::process::id()).is_some());
        assert_eq!(supervisors(Path::new("nowhere")), [0; 0]);
    }
}
