//! What `/proc` says about processes: identity, parentage, environment.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::process::Pid;

/// How much of a file of `/proc` is read at once.
const CHUNK: usize = 8 << 10;

/// The text of a file of `/proc`. None of them says how long it is, and what is read in small pieces, the
/// kernel makes anew for each.
pub(crate) fn text(path: impl AsRef<Path>) -> io::Result<String> {
    let file = fs::File::open(path)?;
    let mut bytes = Vec::with_capacity(CHUNK);
    while rustix::io::read(&file, spare_capacity(&mut bytes))? > 0 {
        // Most of them are short: what is left is enough to see that nothing follows.
        if bytes.capacity() - bytes.len() < CHUNK / 2 {
            bytes.reserve(CHUNK);
        }
    }
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// This boot of the machine. A pid means nothing in another one. `None` if the kernel does not say,
/// as when no more files can be opened.
pub(crate) fn boot_id() -> Option<String> {
    let id = text("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}

/// When a process started, in clock ticks since boot: with the pid and the boot it is an identity.
pub(crate) fn start_time(pid: Pid) -> Option<u64> {
    stat_field(pid, 22)?.parse().ok()
}

/// Field `number` (1-based, as in proc(5)) of `/proc/PID/stat`; only fields after the name.
fn stat_field(pid: Pid, number: usize) -> Option<String> {
    let stat = text(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The name may contain spaces and parentheses; what follows the last one is plain.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(number.checked_sub(3)?).map(str::to_owned)
}

/// Whether a process is a zombie: dead, not yet waited for.
pub(crate) fn is_zombie(pid: Pid) -> bool {
    stat_field(pid, 3).is_some_and(|state| state == "Z" || state == "X")
}

/// Whether somebody stopped a process.
pub(crate) fn is_stopped(pid: Pid) -> bool {
    stat_field(pid, 3).is_some_and(|state| state == "T")
}

/// The variables a process was started with, each ended by NUL; nothing if they cannot be read.
pub(crate) fn environment(pid: i32) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/environ")).unwrap_or_default()
}

/// All living descendants of a process, parents before children.
pub(crate) fn descendants(root: Pid) -> Vec<Pid> {
    let mut found = Vec::new();
    let mut queue = vec![root];
    while let Some(parent) = queue.pop() {
        for child in children(parent) {
            if !is_zombie(child) {
                found.push(child);
            }
            queue.push(child);
        }
    }
    found
}

/// The children of a process.
pub(crate) fn children(parent: Pid) -> Vec<Pid> {
    let raw = parent.as_raw_nonzero();
    let Ok(tasks) = fs::read_dir(format!("/proc/{raw}/task")) else { return Vec::new() };
    tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|list| list.split_ascii_whitespace().filter_map(parse_pid).collect::<Vec<_>>())
        .collect()
}

fn parse_pid(text: &str) -> Option<Pid> {
    text.parse().ok().and_then(Pid::from_raw)
}

/// All processes.
pub(crate) fn processes() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str().and_then(parse_pid))
}

/// The directory a process is in.
pub(crate) fn directory(pid: Pid) -> Option<std::path::PathBuf> {
    fs::read_link(format!("/proc/{}/cwd", pid.as_raw_nonzero())).ok()
}

/// The words of a process's command line, each with its end, as the kernel has them.
pub(crate) fn words(pid: Pid) -> Vec<u8> {
    fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default()
}

/// A command line for a person to read; the name of a process that has none.
pub(crate) fn command_line(pid: Pid, words: &[u8]) -> String {
    let words: Vec<_> = words
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .map(String::from_utf8_lossy)
        .collect();
    if words.is_empty() {
        let name = fs::read_to_string(format!("/proc/{}/comm", pid.as_raw_nonzero()));
        return name.unwrap_or_default().trim().to_owned();
    }
    words.join(" ")
}

/// A variable in the environment that a process was started with.
pub(crate) fn variable(pid: Pid, name: &str) -> Option<String> {
    let environ = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).ok()?;
    environ.split(|byte| *byte == 0).find_map(|variable| {
        let value = variable.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(String::from_utf8_lossy(value).into_owned())
    })
}

/// Living processes whose environment carries `NAME=VALUE`, found by reading all of `/proc`.
///
/// The last resort: it finds what left every group we made, unless it cleared its environment.
pub(crate) fn tagged(name: &str, value: &str) -> Vec<Pid> {
    let needle = format!("{name}={value}").into_bytes();
    let mut found = Vec::new();
    for pid in processes() {
        let mut environ = Vec::new();
        let read = fs::File::open(format!("/proc/{}/environ", pid.as_raw_nonzero()))
            .and_then(|mut file| file.read_to_end(&mut environ));
        if read.is_ok()
            && environ.split(|byte| *byte == 0).any(|variable| variable == needle)
            && !is_zombie(pid)
        {
            found.push(pid);
        }
    }
    found
}

/// Whether something listens on a TCP port in the network of a process; `None` if that is this process's
/// network too.
pub(crate) fn listens_in_own_network(pid: i32, port: u16) -> Option<bool> {
    let network = |who: &str| std::fs::read_link(format!("/proc/{who}/ns/net")).ok();
    if network(&pid.to_string())? == network("self")? {
        return None;
    }
    let listens = |table: &str| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        text.lines().any(|line| is_listener(line, port))
    };
    Some(["tcp", "tcp6"].into_iter().any(listens))
}

/// Whether a line of the kernel's list of sockets is one that listens on a port.
fn is_listener(line: &str, port: u16) -> bool {
    const LISTEN: &str = "0A";
    let mut fields = line.split_ascii_whitespace().skip(1);
    let (local, state) = (fields.next(), fields.nth(1));
    let local = local.and_then(|address| address.rsplit_once(':'));
    let is_port = local.is_some_and(|(_, hex)| u16::from_str_radix(hex, 16) == Ok(port));
    is_port && state == Some(LISTEN)
}

#[cfg(test)]
mod network_tests {
    use super::is_listener;

    #[test]
    fn a_listener_is_told_from_a_connection() {
        let listening =
            "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000";
        let connected =
            "   1: 0100007F:1F90 0100007F:A0B2 01 00000000:00000000 00:00000000 00000000";
        assert!(is_listener(listening, 8080));
        assert!(!is_listener(listening, 8081) && !is_listener(connected, 8080));
        assert!(!is_listener("  sl  local_address rem_address   st", 8080));
    }
}
