//! Processes of servers: each the leader of a group, which ends with it.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::RemoteTransport;

/// How long a server may take to end after its standard input was closed.
const END_GRACE: Duration = Duration::from_secs(2);
/// How long its last words are waited for after it has ended: something that left its group may keep
/// standard error open.
const LAST_WORDS_GRACE: Duration = Duration::from_secs(1);
/// As much is kept of what a server said on standard error.
const KEPT_ERROR_BYTES: usize = 2000;

/// The processes that were started and may be alive.
#[derive(Default)]
pub(super) struct Processes(Mutex<Vec<Arc<Process>>>);

/// One process of a server.
pub(super) struct Process {
    group: Pid,
    state: Mutex<State>,
    has_ended: Condvar,
}

#[derive(Default)]
struct State {
    /// How it ended; from then on its number may be another's.
    end: Option<String>,
    /// The end of what it said on standard error.
    said: Vec<u8>,
    /// That was all.
    is_heard: bool,
}

impl Processes {
    fn list(&self) -> MutexGuard<'_, Vec<Arc<Process>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the process of a server.
    pub(super) fn start(
        &self,
        transport: &RemoteTransport,
    ) -> io::Result<(Arc<Process>, ChildStdin, ChildStdout)> {
        let RemoteTransport::Stdio { command, args, environment, directory } = transport else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no process"));
        };
        let mut child = spawn(command, args, environment, directory)?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let (Some(group), Some(stdin), Some(stdout), Some(stderr)) =
            (group, child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("the process has no pipes"));
        };
        let state = Mutex::default();
        let process = Arc::new(Process { group, state, has_ended: Condvar::new() });
        let listener = Arc::clone(&process);
        std::thread::spawn(move || listener.hear(stderr));
        let waiter = Arc::clone(&process);
        std::thread::spawn(move || waiter.wait(child));
        let mut list = self.list();
        list.retain(|known| known.end().is_none());
        list.push(Arc::clone(&process));
        Ok((process, stdin, stdout))
    }

    /// Ends what has not ended by itself.
    pub(super) fn end_all(&self) {
        let deadline = Instant::now() + END_GRACE;
        for process in self.list().drain(..) {
            process.finish(deadline.saturating_duration_since(Instant::now()));
        }
    }
}

fn spawn(
    command: &str,
    args: &[String],
    environment: &[(std::ffi::OsString, std::ffi::OsString)],
    directory: &Path,
) -> io::Result<Child> {
    Command::new(command)
        .args(args)
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
}

impl Process {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How it ended.
    pub(super) fn end(&self) -> Option<String> {
        self.state().end.clone()
    }

    /// Waits until it has ended, and kills it if that takes too long. How it ended.
    pub(super) fn finish(&self, grace: Duration) -> String {
        let wait = |time: Duration| {
            let state = self.state();
            let waited =
                self.has_ended.wait_timeout_while(state, time, |state| state.end.is_none());
            waited.unwrap_or_else(PoisonError::into_inner).0.end.clone()
        };
        if let Some(end) = wait(grace) {
            return end;
        }
        self.kill();
        wait(END_GRACE).unwrap_or_else(|| "it does not end".to_owned())
    }

    pub(super) fn kill(&self) {
        let state = self.state();
        if state.end.is_none() {
            // It may have ended meanwhile, but nobody has taken its number.
            let _ = kill_process_group(self.group, Signal::KILL);
        }
    }

    fn wait(&self, mut child: Child) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(self.group), options) {}
        // Before its number is free: what it left behind goes too.
        let _ = kill_process_group(self.group, Signal::KILL);
        let status = child.wait();
        let state = self.state();
        let heard =
            self.has_ended.wait_timeout_while(state, LAST_WORDS_GRACE, |state| !state.is_heard);
        let mut state = heard.unwrap_or_else(PoisonError::into_inner).0;
        let end = match status {
            Ok(status) => format!("it ended with {status}"),
            Err(error) => format!("nobody knows how it ended: {error}"),
        };
        let said = String::from_utf8_lossy(&state.said);
        let last = said.trim().lines().next_back().unwrap_or_default();
        state.end = Some(match umbo_tools::visible_line(last) {
            last if last.is_empty() => end,
            last => format!("{end}: {last}"),
        });
        self.has_ended.notify_all();
    }

    fn hear(&self, mut stderr: impl Read) {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stderr.read(&mut buffer) {
            let said = &mut self.state().said;
            said.extend_from_slice(&buffer[..count]);
            let excess = said.len().saturating_sub(KEPT_ERROR_BYTES);
            said.drain(..excess);
        }
        self.state().is_heard = true;
        self.has_ended.notify_all();
    }
}
