//! Persistent shell sessions, and snapshots of the user's own shell.
//!
//! A session is a file, not a process. Each command in it is a job like any other, with its own
//! supervisor, log, limits and containment, run by a bash that first reads what the one before left
//! behind (directory, variables, functions, aliases, options, umask) and writes it again when the
//! command ends. So a command that hangs or is killed costs nothing but itself, and a session
//! survives anything, even a reboot. A profile snapshot is such a file too: the state of the user's
//! interactive login shell, read once.
//!
//! Such a file holds the values of the shell's variables, exported ones included: it is readable by
//! its owner alone. Values that a request sets reach the shell in its environment, not in its words,
//! which every user of the machine can read.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use umbo_sandbox::Plan;

use crate::clock;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files;
use crate::hash::Fnv;
use crate::id::JobId;
use crate::request::{Command, Login, Profile, Request, Session, SessionDirectory, Shell};
use crate::shell::{self, Invocation};
use crate::state::State;
use crate::supervisor;
use crate::sys::lock;

/// The bash program that loads a session, and what saves it. It lies in a file, so that lists of
/// processes show the command and not this.
const SCRIPT: &str = include_str!("session.sh");
/// What bash is told to do. The command is on the first line, as its messages say.
const RUN: &str =
    r#". "$1"; eval "$__umbo_text"; (__umbo_leave) 2>/dev/null {BASH_XTRACEFD}>/dev/null"#;
/// A session that is larger than this is not read.
const MOST_STATE_BYTES: u64 = 64 << 20;
/// A login shell reads `.bashrc` only if the user's own login files say so; where there are none, nobody
/// could have said so.
const START_UP: &str = "[ -e ~/.bash_profile ] || [ -e ~/.bash_login ] || [ -e ~/.profile ] || \
     ! [ -e ~/.bashrc ] || . ~/.bashrc";
/// How long the user's start-up files may take.
const PROFILE_TIMEOUT: Duration = Duration::from_secs(10);

/// What a session's name may be: it becomes a directory.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > 64 || name.starts_with('.') || !name.chars().all(is_plain) {
        let rule = "use up to 64 letters, digits, '-', '_' or '.', not starting with '.'";
        return Err(Error::invalid("session", format!("{name:?} is no session name; {rule}")));
    }
    Ok(())
}

/// The words that run a request's line in a session or with the user's profile.
pub(crate) fn invoke(
    engine: &Engine,
    request: &Request,
    line: &str,
    shell: &Shell,
    directory: &Path,
) -> Result<Invocation> {
    if !matches!(shell, Shell::Bash | Shell::Sh) {
        let problem = format!("sessions and profiles are kept by bash, not by {}", shell.name());
        return Err(Error::invalid("shell", problem));
    }
    let path = shell::search_path(&request.env.base);
    let (state, change) = match &request.session {
        Some(session) => session_state(engine, session, directory)?,
        None => (None, None),
    };
    let profile = match request.profile {
        Profile::Snapshot => Some(profile(engine, request)?),
        Profile::None => None,
    };
    let text = |path: Option<PathBuf>| path.map(PathBuf::into_os_string).unwrap_or_default();
    let program = Shell::Bash.find(&path)?;
    let mut arguments: Vec<OsString> = vec![
        program.clone().into_os_string(),
        "-c".into(),
        RUN.into(),
        "umbo".into(),
        script(engine)?.into_os_string(),
        text(state.clone()),
        text(profile),
        text(state),
        text(change),
        line.into(),
    ];
    arguments.extend(request.env.set.iter().map(|(name, _)| name.clone()));
    Ok(Invocation { program, arguments })
}

/// Where the script is; written there if it is not yet, or was damaged.
fn script(engine: &Engine) -> Result<PathBuf> {
    let file = engine.state().sessions().join(format!(".load-{}.sh", Fnv::of(SCRIPT.as_bytes())));
    if files::read(&file, MOST_STATE_BYTES).is_ok_and(|text| text == SCRIPT.as_bytes()) {
        return Ok(file);
    }
    let draft = file.with_extension(JobId::generate().to_string());
    fs::write(&draft, SCRIPT)
        .and_then(|()| fs::rename(&draft, &file))
        .map_err(Error::state(file.clone()))?;
    Ok(file)
}

/// What tells one state of a session from the next: every save makes a new file.
pub(crate) fn version(state: &State, session: &str) -> Option<(u64, i64, i64)> {
    let meta = fs::metadata(state_file(state, session)).ok()?;
    Some((meta.ino(), meta.ctime(), meta.ctime_nsec()))
}

fn state_file(state: &State, session: &str) -> PathBuf {
    state.sessions().join(session).join("state.sh")
}

/// Where a session's state is, and the directory to change to. Whether there is such a state yet
/// is seen by the command itself, when it is its turn.
fn session_state(
    engine: &Engine,
    session: &Session,
    directory: &Path,
) -> Result<(Option<PathBuf>, Option<PathBuf>)> {
    check_name(&session.name)?;
    let state = state_file(engine.state(), &session.name);
    let change = match session.directory {
        SessionDirectory::Continue => None,
        SessionDirectory::Change => Some(directory.to_owned()),
    };
    Ok((Some(state), change))
}

impl Engine {
    /// The directory that the command of a request begins in: its own, or that in which the last
    /// command of its session left it. Another one may still change that.
    pub fn begins_in(&self, request: &Request) -> PathBuf {
        let left = match &request.session {
            Some(Session { name, directory: SessionDirectory::Continue }) => {
                place(self.state(), name)
            }
            _ => None,
        };
        left.unwrap_or_else(|| request.cwd.clone())
    }
}

/// A persistent shell session, as it is between two commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShellSession {
    /// Its name.
    pub name: String,
    /// Where its last command left it; none if no command has ended well in it.
    pub directory: Option<PathBuf>,
    /// When its last command left it, in microseconds since 1970.
    pub used_at: Option<u64>,
    /// How many bytes of variables, functions and options it keeps.
    pub bytes: u64,
    /// The job that runs in it now.
    pub holder: Option<JobId>,
}

/// What of a session is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clearing {
    /// What its commands left behind: the next one begins anew.
    State,
    /// The session itself as well.
    Session,
}

impl Engine {
    /// The persistent shell sessions, by name.
    pub fn shell_sessions(&self) -> Result<Vec<ShellSession>> {
        let path = self.state().sessions();
        let entries = fs::read_dir(&path).map_err(Error::state(path))?;
        let names = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| check_name(name).is_ok());
        let mut sessions: Vec<ShellSession> = names.map(|name| self.shell_session(name)).collect();
        sessions.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(sessions)
    }

    fn shell_session(&self, name: String) -> ShellSession {
        let directory = self.state().sessions().join(&name);
        let meta = fs::metadata(state_file(self.state(), &name)).ok();
        let used_at = meta.as_ref().and_then(|meta| meta.modified().ok()).map(clock::micros);
        let is_held = files::open(&directory.join("lock")).and_then(lock::is_held).unwrap_or(false);
        let holder = is_held.then(|| supervisor::session_holder(&directory)).flatten();
        let bytes = meta.map_or(0, |meta| meta.len());
        ShellSession { directory: place(self.state(), &name), used_at, bytes, holder, name }
    }

    /// Forgets what the commands of a session left behind, and the session too if it is to end. Not while
    /// a job runs in it.
    pub fn clear_session(&self, name: &str, clearing: Clearing) -> Result<()> {
        check_name(name)?;
        let directory = self.state().sessions().join(name);
        if !directory.is_dir() {
            return Err(Error::invalid("session", format!("there is no session {name:?}")));
        }
        let failed = || Error::state(directory.clone());
        let held = files::open_or_create(&directory.join("lock")).map_err(failed())?;
        if !lock::try_exclusive(&held).map_err(failed())? {
            let holder = supervisor::session_holder(&directory);
            let holder = holder.map(|holder| holder.to_string()).unwrap_or_default();
            return Err(Error::SessionBusy { holder });
        }
        let removed = match clearing {
            Clearing::State => fs::remove_file(state_file(self.state(), name)),
            Clearing::Session => fs::remove_dir_all(&directory),
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed()(error)),
            _ => Ok(()),
        }
    }
}

/// Where a session is, as its state says.
pub(crate) fn place(state: &State, session: &str) -> Option<PathBuf> {
    let bytes = files::read(&state_file(state, session), MOST_STATE_BYTES).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    // The last one: functions of the user's come before it, with whatever text.
    let word = text.lines().rev().find_map(|line| line.strip_prefix("__umbo_place="))?;
    // A name that cannot be read is somewhere.
    Some(unquoted(word).filter(|path| path.starts_with('/')).unwrap_or_else(|| "/".into()).into())
}

/// A word as `printf %q` writes it; nothing if it has unprintable characters.
fn unquoted(word: &str) -> Option<String> {
    if word.starts_with("$'") {
        return None;
    }
    let mut chars = word.chars();
    let mut plain = String::new();
    while let Some(c) = chars.next() {
        plain.push(if c == '\\' { chars.next()? } else { c });
    }
    Some(plain)
}

/// The snapshot of the user's shell, made now if there is none or its sources have changed.
fn profile(engine: &Engine, request: &Request) -> Result<PathBuf> {
    let home = shell::lookup(&request.env.base, "HOME").unwrap_or(OsStr::new("/"));
    let file = engine.state().sessions().join(format!(".profile-{}.sh", fingerprint(home)));
    if file.exists() {
        return Ok(file);
    }
    let bash = Shell::Bash.find(&shell::search_path(&request.env.base))?;
    let mut words: Vec<OsString> = vec![bash.into(), "-l".into(), "-i".into(), "-c".into()];
    words.extend([
        RUN.into(),
        "umbo".into(),
        script(engine)?.into_os_string(),
        "".into(),
        "".into(),
        file.clone().into(),
        "".into(),
        START_UP.into(),
    ]);
    let mut snapshot = Request::new(Command::Argv(words), "/");
    snapshot.env = request.env.clone();
    snapshot.limits.wall = Some(PROFILE_TIMEOUT);
    snapshot.name = Some("profile snapshot".into());
    let (job, outcome) = engine.run(&snapshot)?;
    if file.exists() {
        Ok(file)
    } else {
        Err(Error::invalid(
            "profile",
            format!(
                "the start-up files of bash ended as {:?} (job {} has their output)",
                outcome.end.name(),
                job.id()
            ),
        ))
    }
}

/// Changes when a start-up file does.
fn fingerprint(home: &OsStr) -> String {
    let mut hash = Fnv::new();
    hash.add(home.as_bytes());
    let own = [".bashrc", ".bash_profile", ".bash_login", ".profile", ".bash_aliases"];
    let own = own.iter().map(|name| Path::new(home).join(name));
    let system = ["/etc/profile", "/etc/bash.bashrc", "/etc/bashrc"].iter().map(PathBuf::from);
    for path in own.chain(system) {
        if let Ok(meta) = fs::metadata(&path) {
            let (size, seconds, nanoseconds) = (meta.len(), meta.mtime(), meta.mtime_nsec());
            hash.add(format!("\0{size} {seconds} {nanoseconds}").as_bytes());
        }
    }
    hash.hex()
}

/// Whether a request needs bash to load something first.
pub(crate) fn is_wanted(request: &Request) -> bool {
    request.session.is_some() || request.profile == Profile::Snapshot
}

/// The sandbox of a request, in which the files of its session can be reached.
pub(crate) fn in_sandbox(engine: &Engine, request: &Request) -> Option<Plan> {
    let mut plan = request.sandbox.clone()?;
    if !is_wanted(request) {
        return Some(plan);
    }
    let sessions = engine.state().sessions();
    plan.show.push(sessions.clone());
    let own = request.session.as_ref().map(|session| sessions.join(&session.name));
    let others = fs::read_dir(&sessions).into_iter().flatten().flatten().filter(|entry| {
        // What loads a session lies beside all of them, and begins with a dot.
        !entry.file_name().as_encoded_bytes().starts_with(b".") && Some(entry.path()) != own
    });
    plan.hide.extend(others.map(|entry| entry.path()));
    if let Some(directory) = own {
        // The command writes there, and it must be there to be let in.
        let _ = fs::create_dir_all(&directory);
        plan.write.push(directory);
    }
    Some(plan)
}

/// Login shells read the user's files anyway.
pub(crate) fn check_login(login: Login) -> Result<()> {
    match login {
        Login::No => Ok(()),
        Login::Yes => {
            Err(Error::invalid("login", "a session or profile cannot also be a login shell"))
        }
    }
}
