//! The harness: a state directory of its own for each test, the real binary run over it, and a
//! look at the machine afterwards.
//!
//! Every test has a deadline. When it passes, everything known is printed and everything the test
//! started is killed. When a test ends, its jobs are stopped through umbo, and a process, a
//! supervisor or a control group that is left makes it fail.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::ops::RangeInclusive;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};
use serde_json::Value;
use tempfile::TempDir;
use umbo_engine::{Builder, Engine, Warmth};
use umbo_ops::{Caller, CallerBuilder};

/// The binary under test.
pub(crate) const UMBO: &str = env!("CARGO_BIN_EXE_umbo");
/// How long a test may take.
const DEADLINE: Duration = Duration::from_secs(100);
/// How long what must end may take to end.
pub(crate) const TIMEOUT: Duration = Duration::from_mins(1);
/// The user `nobody`, who may make no control group.
const NOBODY: u32 = 65534;

static TESTS: AtomicU32 = AtomicU32::new(0);

/// A state directory, and the umbo that works over it.
pub(crate) struct Umbo {
    directory: TempDir,
    state: PathBuf,
    program: Vec<OsString>,
    nap: String,
    ended: Option<Sender<()>>,
    late: Arc<AtomicBool>,
}

/// Puts the binary somewhere else: as another name of the same file where that can be, for it is large.
pub(crate) fn copy_of_umbo(to: &Path) {
    if fs::hard_link(UMBO, to).is_err() {
        fs::copy(UMBO, to).unwrap();
    }
}

impl Umbo {
    /// A fresh one.
    pub(crate) fn new() -> Self {
        Self::with_deadline(DEADLINE)
    }

    /// A fresh one for a test that needs longer than most.
    pub(crate) fn with_deadline(deadline: Duration) -> Self {
        let directory = tempfile::Builder::new().prefix("umbo-test-").tempdir().unwrap();
        let state = directory.path().join("state");
        Self::over(directory, state, vec![UMBO.into()], deadline)
    }

    /// One in a given directory.
    pub(crate) fn within(directory: TempDir, wrapper: &[&str]) -> Self {
        let state = directory.path().join("state");
        let mut program: Vec<OsString> = wrapper.iter().map(Into::into).collect();
        program.push(UMBO.into());
        Self::over(directory, state, program, DEADLINE * 3)
    }

    /// One whose state is at a given place.
    pub(crate) fn at(state: PathBuf) -> Self {
        let directory = tempfile::Builder::new().prefix("umbo-test-").tempdir().unwrap();
        Self::over(directory, state, vec![UMBO.into()], DEADLINE)
    }

    /// One run by a user who may make no control group, so that the subreaper must do.
    pub(crate) fn unprivileged() -> Self {
        let directory = tempfile::Builder::new().prefix("umbo-test-").tempdir().unwrap();
        Self::unprivileged_within(directory, &[])
    }

    /// The same in a given directory, and started by another program.
    pub(crate) fn unprivileged_within(directory: TempDir, wrapper: &[&str]) -> Self {
        let state = directory.path().join("state");
        if !rustix::process::geteuid().is_root() {
            return Self::within(directory, wrapper);
        }
        // The build directory may be closed to others: the binary goes where they can run it.
        let binary = directory.path().join("umbo");
        copy_of_umbo(&binary);
        fs::create_dir_all(state.join("home")).unwrap();
        for path in [directory.path(), &state, &state.join("home")] {
            std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
        let mut program: Vec<OsString> = user.iter().chain(wrapper).map(Into::into).collect();
        program.push(binary.into());
        Self::over(directory, state, program, DEADLINE * 3)
    }

    fn over(
        directory: TempDir,
        state: PathBuf,
        program: Vec<OsString>,
        deadline: Duration,
    ) -> Self {
        let number = TESTS.fetch_add(1, Ordering::Relaxed);
        // A duration nobody else sleeps for: it finds the processes of this test without any tag.
        let nap = format!("{}{:07}{:03}", 4, std::process::id(), number);
        fs::create_dir_all(directory.path().join("home")).unwrap();
        let (ended, ending) = mpsc::channel();
        let late = Arc::new(AtomicBool::new(false));
        let (watched, is_late) = ((state.clone(), nap.clone()), Arc::clone(&late));
        let test = thread::current().name().unwrap_or("a test").to_owned();
        thread::spawn(move || {
            if ending.recv_timeout(deadline) == Err(RecvTimeoutError::Timeout) {
                is_late.store(true, Ordering::Relaxed);
                overdue(&test, &watched.0, &watched.1, deadline);
                // The test gets no further answer now, and so to its end.
                if ending.recv_timeout(TIMEOUT) == Err(RecvTimeoutError::Timeout) {
                    eprintln!("{test}: stuck even though all it started was killed");
                    std::process::abort();
                }
            }
        });
        Self { directory, state, program, nap, ended: Some(ended), late }
    }

    /// A directory of this test, beside the state.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A pipe with a name, beside the state: who opens one end waits for who opens the other.
    pub(crate) fn fifo(&self, name: &str) -> PathBuf {
        let path = self.path().join(name);
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        path
    }

    /// The state directory.
    pub(crate) fn state(&self) -> &Path {
        &self.state
    }

    /// A command that sleeps longer than any test, and whose processes can be told from all others.
    pub(crate) fn nap(&self) -> String {
        format!("sleep {}", self.nap)
    }

    /// The processes that sleep so.
    pub(crate) fn nappers(&self) -> Vec<Pid> {
        processes().filter(|pid| words(*pid).contains(&self.nap)).collect()
    }

    /// Goes on when so many processes sleep so: what a shell has begun takes a moment to be there.
    pub(crate) fn wait_nappers(&self, count: usize) {
        let deadline = Instant::now() + TIMEOUT;
        while self.nappers().len() != count {
            assert!(Instant::now() < deadline, "{:?}, not {count}", self.nappers());
            thread::yield_now();
        }
    }

    /// A call of umbo.
    pub(crate) fn call<I>(&self, words: I) -> Call<'_>
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        let mut command = Command::new(&self.program[0]);
        command.args(&self.program[1..]);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("UMBO_") {
                command.env_remove(name);
            }
        }
        command
            .env("UMBO_STATE_DIR", &self.state)
            .env("HOME", self.path().join("home"))
            .env_remove("XDG_CONFIG_HOME")
            .env("NAP", self.nap())
            .current_dir(self.path())
            .args(words.into_iter().map(|word| word.as_ref().to_owned()));
        Call { command, stdin: None, stdout: Vec::new(), stderr: Vec::new(), status: 0 }
    }

    /// Types a text, then keys, into a job's terminal.
    pub(crate) fn type_into(&self, job: &str, text: &str, keys: &[&str]) {
        let mut words = vec!["input", job];
        if !text.is_empty() {
            words.push(text);
        }
        for key in keys {
            words.extend(["--key", key]);
        }
        self.call(words).run();
    }

    /// The verbs of umbo, from its own help.
    pub(crate) fn verbs(&self) -> BTreeSet<String> {
        let help = self.call(["--help"]).answer().text();
        let listed = help.lines().take_while(|line| *line != "Options:").filter_map(|line| {
            let (name, _) = line.strip_prefix("  ")?.split_once(' ')?;
            let is_verb = name.starts_with(|c: char| c.is_ascii_lowercase()) && name != "help";
            is_verb.then(|| name.to_owned())
        });
        listed.collect()
    }

    /// `umbo exec LINE`.
    pub(crate) fn exec(&self, line: &str) -> Call<'_> {
        self.call(["exec", line])
    }

    /// `umbo exec --json OPTIONS LINE`, whatever its exit status.
    pub(crate) fn exec_json(&self, options: &[&str], line: &str) -> Value {
        let answer = self.call([&["exec", "--json"], options, &[line]].concat()).answer();
        serde_json::from_slice(&answer.stdout).unwrap_or_else(|_| panic!("no JSON: {answer:?}"))
    }

    /// Starts a job; its id.
    pub(crate) fn start(&self, line: &str) -> String {
        self.start_with(&[], line)
    }

    /// Starts a job with options; its id.
    pub(crate) fn start_with(&self, options: &[&str], line: &str) -> String {
        let answer = self.call([&["start"], options, &[line]].concat()).answer();
        assert!(answer.status == 0 && answer.stderr.is_empty(), "start: {answer:?}");
        answer.text().trim_end().to_owned()
    }

    /// Waits for something about a job; what was met.
    pub(crate) fn wait(&self, job: &str, conditions: &[&str]) -> Value {
        let answer = self.call([&["wait", "--json", job], conditions].concat()).answer();
        serde_json::from_slice(&answer.stdout).unwrap_or_else(|_| panic!("no JSON: {answer:?}"))
    }

    /// Waits until a job has printed a text.
    pub(crate) fn wait_for(&self, job: &str, text: &str) {
        let met = self.wait(job, &["--match", &regex::escape(text)]);
        assert_eq!(met["reason"], "match", "waiting for {text:?}: {met}");
    }

    /// Waits for a job's end, and for its news, which come after the record; its exit record.
    pub(crate) fn outcome(&self, job: &str) -> Value {
        let met = self.wait(job, &[]);
        assert_eq!(met["reason"], "exit", "{met}");
        let mut events = self.call(["events", "--follow", "--json"]).spawn();
        loop {
            let event: Value = serde_json::from_str(&events.line()).unwrap();
            if event["job"] == job && event["kind"] == "exited" {
                break;
            }
        }
        events.kill();
        self.record(job, "outcome")
    }

    /// A JSON file of a job; its first line if it has several.
    pub(crate) fn record(&self, job: &str, file: &str) -> Value {
        let path = self.job(job).join(file);
        let text =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_str(text.lines().next().unwrap_or_default()).unwrap()
    }

    /// Stops a job; how it ended.
    pub(crate) fn stop(&self, job: &str, options: &[&str]) -> Value {
        self.call([&["stop", "--json", job], options].concat()).json()["stopped"][0].take()
    }

    /// The directory of a job.
    pub(crate) fn job(&self, job: &str) -> PathBuf {
        self.state.join("jobs").join(job)
    }

    /// The exact bytes a job has written.
    pub(crate) fn output(&self, job: &str) -> Vec<u8> {
        fs::read(self.job(job).join("output")).unwrap()
    }

    /// The supervisor of a job.
    pub(crate) fn supervisor(&self, job: &str) -> Pid {
        let request = self.record(job, "request");
        pid(request["supervisor"]["pid"].as_i64().unwrap())
    }

    /// The parent of a job's supervisor.
    pub(crate) fn keeper(&self, job: &str) -> Pid {
        parent(self.supervisor(job)).unwrap()
    }

    /// Makes processes hang so that no signal but SIGKILL reaches them, until the result is dropped.
    pub(crate) fn hang(&self, pids: &[Pid]) -> Hung {
        let home = own_groups().find(|group| group.join("cgroup.controllers").exists());
        let home = home.expect("this test freezes processes: run the suite where cgroup v2 is");
        let group = home.join(format!("test-of-umbo-{}", self.nap));
        fs::create_dir(&group).expect("run the suite as a user who may make control groups");
        for pid in pids {
            fs::write(group.join("cgroup.procs"), pid.as_raw_nonzero().to_string()).unwrap();
        }
        fs::write(group.join("cgroup.freeze"), "1").unwrap();
        let deadline = Instant::now() + TIMEOUT;
        while !fs::read_to_string(group.join("cgroup.events")).unwrap().contains("frozen 1") {
            assert!(Instant::now() < deadline, "{} does not freeze", group.display());
            thread::yield_now();
        }
        Hung { group, home }
    }

    /// All jobs on disk.
    pub(crate) fn jobs(&self) -> Vec<Value> {
        match self.call(["jobs", "--all", "--json"]).json()["jobs"].take() {
            Value::Array(jobs) => jobs,
            other => panic!("{other} is no list"),
        }
    }

    /// One of them.
    pub(crate) fn listed(&self, job: &str) -> Value {
        self.jobs().into_iter().find(|listed| listed["job"] == job).unwrap()
    }

    /// The id of a job by its name.
    pub(crate) fn listed_by_name(&self, name: &str) -> String {
        let jobs = self.jobs();
        let job = jobs.iter().find(|job| job["name"] == name).unwrap();
        job["job"].as_str().unwrap().to_owned()
    }

    /// The journal after an event.
    pub(crate) fn events(&self, after: u64) -> Vec<Value> {
        let after = after.to_string();
        self.call(["events", "--json", "--after", &after]).json_lines()
    }

    /// The kinds of a job's events, without those that only say its output grew.
    pub(crate) fn story(&self, job: &str) -> Vec<String> {
        self.events(0)
            .iter()
            .filter(|event| event["job"] == job && event["kind"] != "output")
            .map(|event| event["kind"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The library over the same state.
    pub(crate) fn library(&self) -> Builder {
        Engine::builder(&self.state).supervisor(UMBO).warmth(Warmth::Cold)
    }

    /// An engine of that library.
    pub(crate) fn engine(&self) -> Engine {
        self.library().open().unwrap()
    }

    /// Somebody in its folder, with this process's environment, whose jobs that engine runs.
    pub(crate) fn caller(&self) -> CallerBuilder {
        self.caller_on(self.engine())
    }

    /// The same on an engine of one's own.
    pub(crate) fn caller_on(&self, engine: Engine) -> CallerBuilder {
        Caller::builder(engine).directory(self.path()).environment(std::env::vars_os())
    }

    /// Control groups of this state directory, whoever made them and for which job: they are marked
    /// with a hash of its path.
    pub(crate) fn control_groups(&self) -> Vec<PathBuf> {
        let path = self.state.as_os_str().as_encoded_bytes();
        let hash = path.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mark = format!("umbo-{hash:016x}-");
        let mut groups: Vec<PathBuf> = Vec::new();
        let mut places: Vec<PathBuf> = own_groups().collect();
        while let Some(place) = places.pop() {
            let entries = fs::read_dir(&place).into_iter().flatten().flatten();
            for entry in entries.filter(|entry| entry.path().is_dir()) {
                let name = entry.file_name();
                if name.as_encoded_bytes().starts_with(mark.as_bytes()) {
                    groups.push(entry.path());
                }
                if name.as_encoded_bytes().starts_with(b"umbo-") {
                    places.push(entry.path());
                }
            }
        }
        groups
    }

    /// Processes that belong to this test: supervisors, clients, jobs.
    fn processes(&self) -> Vec<Pid> {
        owned(&self.state, &self.nap)
    }

    /// For a test that failed: leaves the machine as it was.
    fn kill_everything(&self) {
        let deadline = Instant::now() + TIMEOUT;
        let mut left = self.processes();
        while !left.is_empty() && Instant::now() < deadline {
            kill_all(&left);
            for pid in left {
                dies_until(pid, deadline);
            }
            left = self.processes();
        }
        for group in self.control_groups() {
            let _ = fs::remove_dir(group);
        }
    }

    /// The control group of a job, by its record.
    pub(crate) fn control_group(&self, job: &str) -> Option<PathBuf> {
        self.record(job, "request")["supervisor"]["cgroup"].as_str().map(PathBuf::from)
    }

    /// Stops what still runs, as a user would, and looks whether anything is left.
    fn close(&self) {
        let answer = self.call(["jobs", "--all", "--json"]).answer();
        let listed: Value = serde_json::from_slice(&answer.stdout).unwrap_or_default();
        let jobs = listed["jobs"].as_array().into_iter().flatten();
        let running = |job: &&Value| matches!(job["state"].as_str(), Some("queued" | "started"));
        let names: Vec<&str> = jobs.filter(running).filter_map(|job| job["job"].as_str()).collect();
        if !names.is_empty() {
            self.call([&["stop", "--kill"], &names[..]].concat()).answer();
        }
        let deadline = Instant::now() + TIMEOUT;
        let mut left = self.processes();
        while !left.is_empty() && Instant::now() < deadline {
            for pid in &left {
                dies_until(*pid, deadline);
            }
            left = self.processes();
        }
        let list: Vec<String> = left.iter().map(|pid| describe(*pid)).collect();
        kill_all(&left);
        assert!(list.is_empty(), "processes were left:\n{}", list.join("\n"));
        let groups = self.control_groups();
        assert!(groups.is_empty(), "control groups were left: {groups:?}");
    }
}

impl Drop for Umbo {
    fn drop(&mut self) {
        if thread::panicking() {
            tell(&self.state, &self.nap);
            self.kill_everything();
            self.ended.take();
        } else {
            let late = self.late.load(Ordering::Relaxed);
            if late {
                self.kill_everything();
            } else {
                self.close();
            }
            self.ended.take();
            assert!(!late, "the test took longer than its deadline");
        }
    }
}

/// Processes that hang.
pub(crate) struct Hung {
    group: PathBuf,
    home: PathBuf,
}

impl Drop for Hung {
    fn drop(&mut self) {
        let _ = fs::write(self.group.join("cgroup.freeze"), "0");
        let left = fs::read_to_string(self.group.join("cgroup.procs")).unwrap_or_default();
        for pid in left.lines() {
            let _ = fs::write(self.home.join("cgroup.procs"), pid);
        }
        let _ = fs::remove_dir(&self.group);
    }
}

/// One call of umbo and what it must answer: nothing on either stream and status 0, unless said.
pub(crate) struct Call<'a> {
    command: Command,
    stdin: Option<&'a [u8]>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    status: i32,
}

impl<'a> Call<'a> {
    /// Sets a variable.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Unsets a variable that the tests themselves may have got.
    pub(crate) fn without_env(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Runs it elsewhere.
    pub(crate) fn current_dir(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// What umbo itself reads.
    pub(crate) fn stdin(mut self, bytes: &'a [u8]) -> Self {
        self.stdin = Some(bytes);
        self
    }

    /// What it must print.
    pub(crate) fn stdout(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.stdout = bytes.as_ref().to_vec();
        self
    }

    /// What it must say.
    pub(crate) fn stderr(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.stderr = bytes.as_ref().to_vec();
        self
    }

    /// The status it must exit with.
    pub(crate) fn status(mut self, status: i32) -> Self {
        self.status = status;
        self
    }

    /// Runs it and compares stdout, stderr and status.
    #[track_caller]
    pub(crate) fn run(self) {
        let expected = Answer {
            status: self.status,
            stdout: self.stdout.clone(),
            stderr: self.stderr.clone(),
        };
        let answer = self.answer();
        assert_eq!(answer, expected);
    }

    /// Runs it, whatever comes.
    pub(crate) fn answer(self) -> Answer {
        self.spawn().answer()
    }

    /// Runs it; it must succeed, say nothing, and print JSON.
    #[track_caller]
    pub(crate) fn json(self) -> Value {
        let status = self.status;
        let answer = self.answer();
        assert!(answer.status == status && answer.stderr.is_empty(), "{answer:?}");
        serde_json::from_slice(&answer.stdout).unwrap_or_else(|_| panic!("no JSON: {answer:?}"))
    }

    /// The same for an answer of several lines.
    #[track_caller]
    pub(crate) fn json_lines(self) -> Vec<Value> {
        let answer = self.answer();
        assert!(answer.status == 0 && answer.stderr.is_empty(), "{answer:?}");
        answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Fails with umbo's own status; what it says.
    #[track_caller]
    pub(crate) fn refused(self) -> String {
        let answer = self.answer();
        assert!(answer.status == 125 && answer.stdout.is_empty(), "{answer:?}");
        let said = String::from_utf8(answer.stderr).unwrap();
        assert!(!said.contains("panicked"), "{said}");
        said
    }

    /// The call as a command, for a test that holds all its ends.
    pub(crate) fn into_command(self) -> Command {
        self.command
    }

    /// Starts it beside the test.
    pub(crate) fn spawn(mut self) -> Client {
        let stdin = if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() };
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        if let (Some(bytes), Some(mut pipe)) = (self.stdin, child.stdin.take()) {
            let bytes = bytes.to_vec();
            thread::spawn(move || pipe.write_all(&bytes));
        }
        Client { stdout: child.stdout.take().map(BufReader::new), child }
    }
}

/// An umbo that runs beside the test.
pub(crate) struct Client {
    child: Child,
    stdout: Option<BufReader<ChildStdout>>,
}

impl Client {
    /// Its process.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// The next line it prints.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.as_mut().unwrap().read_line(&mut line).unwrap();
        line
    }

    /// Stops reading what it prints.
    pub(crate) fn close_stdout(&mut self) {
        self.stdout = None;
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits for its end.
    pub(crate) fn answer(mut self) -> Answer {
        let stdout = self.stdout.take();
        let stdout = thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut stdout) = stdout {
                std::io::Read::read_to_end(&mut stdout, &mut bytes).unwrap();
            }
            bytes
        });
        let output = self.child.wait_with_output().unwrap();
        Answer {
            status: code(output.status),
            stdout: stdout.join().unwrap(),
            stderr: output.stderr,
        }
    }
}

fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| -status.signal().unwrap_or(0))
}

/// What a call answered. A status below 0 is the signal that ended umbo.
#[derive(PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Answer {
    /// What it printed.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.stdout.clone()).unwrap()
    }

    /// It must have exited with a status.
    #[track_caller]
    pub(crate) fn expect_status(&self, status: i32) {
        assert_eq!(self.status, status, "{self:?}");
    }

    /// What it said.
    pub(crate) fn said(&self) -> String {
        String::from_utf8(self.stderr.clone()).unwrap()
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cut =
            |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(4000)]).into_owned();
        write!(
            f,
            "status {}\nstdout {:?}\nstderr {:?}",
            self.status,
            cut(&self.stdout),
            cut(&self.stderr)
        )
    }
}

/// Numbers, each on a line of its own behind a prefix.
pub(crate) fn numbered(prefix: &str, numbers: RangeInclusive<u32>) -> String {
    numbers.fold(String::new(), |text, number| text + prefix + &number.to_string() + "\n")
}

/// A process id from a record.
pub(crate) fn pid(number: i64) -> Pid {
    Pid::from_raw(i32::try_from(number).unwrap()).unwrap()
}

/// Sends a signal.
pub(crate) fn signal(pid: Pid, signal: Signal) {
    kill_process(pid, signal).unwrap();
}

/// Whether a process is there, and no zombie.
pub(crate) fn is_alive(pid: Pid) -> bool {
    state(pid).is_some_and(|state| state != 'Z' && state != 'X')
}

/// Waits for a process to die. Whether it did in time.
pub(crate) fn dies(pid: Pid) -> bool {
    dies_until(pid, Instant::now() + TIMEOUT)
}

/// Waits for a process to die. Whether it did within a span.
pub(crate) fn dies_within(pid: Pid, span: Duration) -> bool {
    dies_until(pid, Instant::now() + span)
}

fn dies_until(pid: Pid, deadline: Instant) -> bool {
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
    let left = deadline.saturating_duration_since(Instant::now());
    let timeout = Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap(),
        tv_nsec: i64::from(left.subsec_nanos()),
    };
    matches!(poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&timeout)), Ok(ready) if ready > 0)
}

/// The parent of a process.
pub(crate) fn parent(pid: Pid) -> Option<Pid> {
    stat(pid)?.get(1)?.parse().ok().and_then(Pid::from_raw)
}

/// The one-letter state of a process.
pub(crate) fn state(pid: Pid) -> Option<char> {
    stat(pid)?.first()?.chars().next()
}

/// The fields of `/proc/PID/stat` after the name.
pub(crate) fn stat(pid: Pid) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    Some(text.rsplit_once(')')?.1.split_ascii_whitespace().map(str::to_owned).collect())
}

/// The command line of a process.
pub(crate) fn words(pid: Pid) -> Vec<String> {
    let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
    line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// All living processes.
pub(crate) fn processes() -> impl Iterator<Item = Pid> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw))
        .filter(|pid| is_alive(*pid))
}

fn owned(state: &Path, nap: &str) -> Vec<Pid> {
    let state = state.to_string_lossy().into_owned();
    let variable = format!("UMBO_STATE_DIR={state}");
    let own = rustix::process::getpid();
    let is_ours = |pid: &Pid| {
        let words = words(*pid);
        let environment =
            fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
        words.iter().any(|word| *word == state || *word == nap)
            || environment.split(|byte| *byte == 0).any(|set| set == variable.as_bytes())
    };
    processes().filter(|pid| *pid != own && is_ours(pid)).collect()
}

fn describe(pid: Pid) -> String {
    let state = state(pid).unwrap_or('?');
    format!("{} {state} {}", pid.as_raw_nonzero(), words(pid).join(" "))
}

fn kill_all(pids: &[Pid]) {
    for pid in pids {
        let _ = kill_process(*pid, Signal::KILL);
    }
}

/// The control group of this process in each hierarchy, below which its jobs have theirs.
fn own_groups() -> impl Iterator<Item = PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap();
    let mut found = Vec::new();
    for line in mounts.lines().filter(|line| line.contains(" - cgroup")) {
        let (place, kind) = line.split_once(" - ").unwrap();
        let point = PathBuf::from(place.split(' ').nth(4).unwrap());
        let options = kind.rsplit(' ').next().unwrap();
        let is_v2 = kind.starts_with("cgroup2");
        let wanted = |names: &str| {
            let is_named = options.split(',').any(|o| names.split(',').any(|name| name == o));
            if is_v2 { names.is_empty() } else { !names.is_empty() && is_named }
        };
        for group in groups.lines() {
            let mut fields = group.splitn(3, ':').skip(1);
            let (names, path) = (fields.next().unwrap(), fields.next().unwrap());
            if wanted(names) {
                found.push(point.join(path.trim_start_matches('/')));
            }
        }
    }
    found.into_iter()
}

fn overdue(test: &str, state: &Path, nap: &str, deadline: Duration) {
    eprintln!("{test}: not done after {} s", deadline.as_secs());
    tell(state, nap);
    let until = Instant::now() + TIMEOUT;
    loop {
        let left = owned(state, nap);
        if left.is_empty() || Instant::now() > until {
            break;
        }
        kill_all(&left);
        for pid in left {
            dies_until(pid, until);
        }
    }
}

/// Everything known about a state directory.
fn tell(state: &Path, nap: &str) {
    eprintln!("processes:");
    for pid in owned(state, nap) {
        eprintln!("  {}", describe(pid));
    }
    let jobs = fs::read_dir(state.join("jobs")).into_iter().flatten().flatten();
    for job in jobs.take(20) {
        eprintln!("job {}:", job.file_name().display());
        for file in ["request", "outcome"] {
            if let Ok(text) = fs::read_to_string(job.path().join(file)) {
                eprintln!("  {file}: {}", text.trim_end());
            }
        }
        let output = fs::read(job.path().join("output")).unwrap_or_default();
        let tail = &output[output.len().saturating_sub(500)..];
        eprintln!("  output: {:?} ({} bytes)", String::from_utf8_lossy(tail), output.len());
    }
    let events = fs::read(state.join("events")).unwrap_or_default();
    let slots: Vec<_> = events.chunks(128).collect();
    for slot in &slots[slots.len().saturating_sub(30)..] {
        eprintln!("  event {}", String::from_utf8_lossy(slot).trim_end());
    }
}

/// Runs a command with all three streams at one terminal, of so many columns if it has a size; what the
/// terminal got.
pub(crate) fn at_terminal(mut command: Command, columns: Option<u16>, typed: &str) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let open =
        || fs::OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let terminal = open();
    if let Some(columns) = columns {
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal, size).unwrap();
    }
    // Bytes as they are written: no line ends made, nothing echoed.
    let mut raw = tcgetattr(&terminal).unwrap();
    raw.make_raw();
    tcsetattr(&terminal, OptionalActions::Now, &raw).unwrap();
    let [input, output, errors] = [terminal, open(), open()].map(Stdio::from);
    let mut child = command.stdin(input).stdout(output).stderr(errors).spawn().unwrap();
    drop(command);
    let mut keyboard = fs::File::from(master);
    let mut screen = keyboard.try_clone().unwrap();
    keyboard.write_all(typed.as_bytes()).unwrap();
    let reading = thread::spawn(move || {
        let (mut all, mut chunk) = (Vec::new(), vec![0; 65536]);
        // The last one to close the terminal ends this with an error.
        while let Ok(count @ 1..) = screen.read(&mut chunk) {
            all.extend_from_slice(&chunk[..count]);
        }
        all
    });
    child.wait().unwrap();
    String::from_utf8_lossy(&reading.join().unwrap()).into_owned()
}
