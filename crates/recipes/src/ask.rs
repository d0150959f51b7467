//! Asking a runner's own tool for its list. The tool runs in its own process group with no input;
//! both its outputs are drained by one poll loop that also watches the deadline, so neither a
//! flood, nor a closed pipe, nor a grandchild that keeps a pipe open can hold the caller.

use std::{
    ffi::OsStr,
    io::{ErrorKind, Read},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::process::CommandExt,
    },
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, Signal, kill_process_group},
};

use crate::options::Options;

/// How long one poll waits before the child's own end is looked at again.
const TICK: Duration = Duration::from_millis(10);

/// How long outputs may stay open after the tool itself has ended.
const GRACE: Duration = Duration::from_millis(200);

/// Variables that keep a tool from doing more than answering.
const QUIET: [(&str, &str); 4] = [
    // A missing toolchain must not be downloaded to answer a question.
    ("RUSTUP_AUTO_INSTALL", "0"),
    ("CARGO_NET_OFFLINE", "true"),
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
];

/// What a tool answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) is_success: bool,
}

/// Runs `program args` in `directory` and returns what it said, or why it said nothing.
pub(crate) fn ask<S: AsRef<OsStr>>(
    options: &Options,
    within: Duration,
    directory: &Path,
    program: &Path,
    args: &[S],
) -> Result<Answer, String> {
    let deadline = Instant::now() + within;
    let mut command = Command::new(program);
    command.args(args).current_dir(directory).env_clear();
    command.envs(options.environment.iter().map(|(name, value)| (name, value)));
    if let Ok(path) = std::env::join_paths(&options.path) {
        command.env("PATH", path);
    }
    command.envs(QUIET).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("could not be started: {error}"))?;
    let drained = drain(&mut child, deadline, options.limits.answer_bytes);
    // Whatever is left of the group ends here, also after a good answer.
    if let Some(group) = Pid::from_raw(i32::try_from(child.id()).unwrap_or(0)) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let status = child.wait().map_err(|error| format!("could not be waited for: {error}"))?;
    match drained? {
        Drained::Whole { stdout, stderr } => Ok(Answer {
            stdout,
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
            is_success: status.success(),
        }),
        Drained::Late => Err(format!("did not answer within {} ms", within.as_millis())),
        Drained::Flood => Err(String::from("answered with too much text")),
    }
}

enum Drained {
    Whole { stdout: Vec<u8>, stderr: Vec<u8> },
    Late,
    Flood,
}

fn drain(child: &mut Child, deadline: Instant, limit: usize) -> Result<Drained, String> {
    let (Some(mut out), Some(mut err)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(String::from("gave no pipes"));
    };
    for pipe in [out.as_fd(), err.as_fd()] {
        rustix::io::ioctl_fionbio(pipe, true)
            .map_err(|error| format!("could not be read: {error}"))?;
    }
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let (mut out_open, mut err_open) = (true, true);
    let mut ended: Option<Instant> = None;
    loop {
        let has_ended = child.try_wait().map_err(|error| format!("was lost: {error}"))?.is_some();
        // Read after the look at the child: what it wrote before its end is in the pipe by now.
        out_open = out_open && read_available(&mut out, &mut stdout, limit)?;
        err_open = err_open && read_available(&mut err, &mut stderr, limit)?;
        if stdout.len().max(stderr.len()) >= limit {
            return Ok(Drained::Flood);
        }
        let now = Instant::now();
        if has_ended {
            let since = *ended.get_or_insert(now);
            if (!out_open && !err_open) || now >= since + GRACE {
                return Ok(Drained::Whole { stdout, stderr });
            }
        }
        if now >= deadline {
            return Ok(Drained::Late);
        }
        let mut waiting: Vec<BorrowedFd<'_>> = Vec::new();
        waiting.extend(out_open.then(|| out.as_fd()));
        waiting.extend(err_open.then(|| err.as_fd()));
        wait_for(&waiting, TICK.min(deadline - now));
    }
}

fn wait_for(pipes: &[BorrowedFd<'_>], time: Duration) {
    let mut polled: Vec<PollFd<'_>> =
        pipes.iter().map(|pipe| PollFd::from_borrowed_fd(*pipe, PollFlags::IN)).collect();
    let time = Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(0),
        tv_nsec: i64::from(time.subsec_nanos()),
    };
    // An interrupted or refused poll only makes the loop look again sooner.
    let _ = poll(&mut polled, Some(&time));
}

/// Takes what is in the pipe; false once it is closed.
fn read_available(pipe: &mut impl Read, into: &mut Vec<u8>, limit: usize) -> Result<bool, String> {
    let mut chunk = [0; 16384];
    while into.len() < limit {
        match pipe.read(&mut chunk) {
            Ok(0) => return Ok(false),
            Ok(length) => into.extend_from_slice(&chunk[..length]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(format!("could not be read: {error}")),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, within: Duration) -> Result<Answer, String> {
        let options =
            Options { path: vec!["/usr/bin".into(), "/bin".into()], ..Options::default() };
        ask(&options, within, Path::new("/"), Path::new("/bin/sh"), &["-c", script])
    }

    #[test]
    fn a_flood_on_both_pipes_is_drained_whole() {
        let script = "head -c 3000000 /dev/zero >&2; head -c 3000000 /dev/zero";
        let answer = sh(script, Duration::from_secs(20)).unwrap();
        assert!(answer.is_success);
        assert_eq!((answer.stdout.len(), answer.stderr.len()), (3_000_000, 3_000_000));
    }

    #[test]
    fn a_deadline_ends_the_whole_group_even_when_a_grandchild_holds_the_pipe() {
        let start = Instant::now();
        let error = sh("sleep 60 & sleep 60", Duration::from_millis(100)).unwrap_err();
        assert_eq!(error, "did not answer within 100 ms");
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_runaway_in_another_session_does_not_hold_the_answer() {
        let start = Instant::now();
        let answer = sh("setsid sleep 5 & echo done", Duration::from_secs(20)).unwrap();
        assert_eq!(answer.stdout, b"done\n");
        assert!(start.elapsed() < Duration::from_secs(4));
    }

    #[test]
    fn closed_pipes_do_not_end_the_wait_for_the_status() {
        let answer = sh("exec >&- 2>&-; sleep 0.1; exit 3", Duration::from_secs(20)).unwrap();
        assert!(!answer.is_success);
    }

    #[test]
    fn the_environment_is_only_what_was_given() {
        let answer = sh("env", Duration::from_secs(20)).unwrap();
        let text = String::from_utf8(answer.stdout).unwrap();
        assert!(!text.contains("HOME="), "{text}");
        assert!(text.contains("PATH=/usr/bin:/bin"), "{text}");
    }
}
