//! What a client's server really gets: the client is asked to start its servers, as it does every day,
//! and the process it starts is looked at.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;

use super::clients::Client;
use super::serves;
use crate::failure::Failure;

/// How long a client may take to start its servers. Some download something first.
const START_TIMEOUT: Duration = Duration::from_mins(1);
/// How often the processes of a client are looked at: nobody tells of them.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// How a client is made to start its servers, without a model.
#[derive(Debug)]
pub(crate) struct Starter {
    /// Its program and what it is told.
    pub(crate) words: &'static [&'static str],
    /// What it reads then, line by line.
    pub(crate) input: &'static [&'static str],
}

/// What was found.
#[derive(Debug, Serialize)]
pub(crate) struct Found {
    pub(crate) client: &'static str,
    /// Whether it started a server of this umbo.
    pub(crate) started: bool,
    /// The command line of that server.
    pub(crate) command: Vec<String>,
    /// The state directory that the server has: jobs and approvals are there.
    pub(crate) state: Option<PathBuf>,
    /// Whether that is the caller's own, in which `umbo jobs` and `umbo approvals` look.
    pub(crate) same_state: bool,
    /// Whether it finds programs where the caller does.
    pub(crate) same_path: bool,
    /// Variables of the caller that it does not have.
    pub(crate) missing: Vec<String>,
    /// The tools that a server with these words and variables has.
    pub(crate) tools: Vec<String>,
    /// Why those cannot be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

impl Found {
    /// Whether the agent has its tools, and its person sees what it does.
    pub(crate) fn is_well(&self) -> bool {
        self.started && self.same_state && self.error.is_none()
    }
}

/// Lets a client start its servers, and looks at the one of this umbo.
pub(crate) fn check(client: &Client, own_state: &Path) -> Result<Found, Failure> {
    let Some(starter) = &client.starter else {
        return Err(Failure::new(format!(
            "{} starts servers only when somebody uses it; `umbo jobs` shows what it ran",
            client.title
        )));
    };
    let mut running = Running::start(starter)?;
    let server = running.server();
    drop(running);
    let Some((command, variables)) = server else {
        return Ok(Found {
            client: client.name,
            started: false,
            command: Vec::new(),
            state: None,
            same_state: false,
            same_path: false,
            missing: Vec::new(),
            tools: Vec::new(),
            error: None,
        });
    };
    let state = state_of(&command, &variables);
    let missing = std::env::vars_os()
        .filter(|(name, _)| !variables.contains_key(name))
        .map(|(name, _)| name.to_string_lossy().into_owned());
    let missing = missing.collect();
    let same_path = variables.get(OsStr::new("PATH")) == std::env::var_os("PATH").as_ref();
    let (tools, error) = match serves::tools(&command, variables) {
        Ok(tools) => (tools, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    Ok(Found {
        client: client.name,
        started: true,
        same_state: state.as_deref() == Some(own_state),
        state,
        same_path,
        missing,
        command,
        tools,
        error,
    })
}

/// Where a server with these words and variables keeps its state.
fn state_of(words: &[String], variables: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
    let named = words.iter().position(|word| word == "--state-dir");
    let set = |name: &str| {
        let value = variables.get(OsStr::new(name)).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    };
    named
        .and_then(|at| Some(PathBuf::from(words.get(at + 1)?)))
        .or_else(|| set("UMBO_STATE_DIR"))
        .or_else(|| Some(set("XDG_STATE_HOME")?.join("umbo")))
        .or_else(|| Some(set("HOME")?.join(".local/state/umbo")))
}

/// A client that starts its servers. It ends with this.
struct Running {
    child: Child,
}

impl Running {
    fn start(starter: &Starter) -> Result<Self, Failure> {
        let (program, words) = starter.words.split_first().unwrap_or((&"", &[]));
        let mut child = Command::new(program)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|error| Failure::new(format!("cannot start {program}: {error}")))?;
        if let Some(stdin) = &mut child.stdin {
            for line in starter.input {
                // One that does not read ends by itself, or in time.
                let _ = writeln!(stdin, "{line}");
            }
        }
        if starter.input.is_empty() {
            child.stdin = None;
        }
        Ok(Self { child })
    }

    /// The words and the variables of the server it starts; none if it does not.
    fn server(&mut self) -> Option<(Vec<String>, BTreeMap<OsString, OsString>)> {
        let own = std::env::current_exe().ok()?.canonicalize().ok()?;
        let deadline = Instant::now() + START_TIMEOUT;
        while Instant::now() < deadline {
            let is_over = matches!(self.child.try_wait(), Ok(Some(_)) | Err(_));
            let family = descendants(self.child.id());
            if let Some(found) = family.iter().find_map(|pid| server(*pid, &own)) {
                return Some(found);
            }
            if is_over {
                return None;
            }
            thread::sleep(LOOK_INTERVAL);
        }
        None
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::TERM);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process and all that it started, as far as they still belong to it.
fn descendants(root: u32) -> Vec<u32> {
    let mut family = vec![root];
    let mut next = 0;
    while let Some(parent) = family.get(next).copied() {
        next += 1;
        let tasks = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
        for task in tasks {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            family.extend(
                children.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()),
            );
        }
    }
    family
}

/// The words and the variables of a process, if it is a server of this umbo.
fn server(pid: u32, own: &Path) -> Option<(Vec<String>, BTreeMap<OsString, OsString>)> {
    let place = PathBuf::from(format!("/proc/{pid}"));
    if fs::read_link(place.join("exe")).ok()? != own {
        return None;
    }
    let strings = |file: &str| -> Option<Vec<OsString>> {
        let bytes = fs::read(place.join(file)).ok()?;
        let texts = bytes.split(|byte| *byte == 0).filter(|text| !text.is_empty());
        Some(texts.map(|text| OsString::from_vec(text.to_vec())).collect())
    };
    let words: Vec<String> =
        strings("cmdline")?.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if !words.iter().any(|word| word == "mcp") {
        return None;
    }
    let variables = strings("environ")?.into_iter().filter_map(|variable| {
        let bytes = variable.into_vec();
        let at = bytes.iter().position(|byte| *byte == b'=')?;
        let (name, value) = bytes.split_at(at);
        Some((OsString::from_vec(name.to_vec()), OsString::from_vec(value[1..].to_vec())))
    });
    Some((words, variables.collect()))
}
