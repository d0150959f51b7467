//! How a file operation passes the gate.
//!
//! The library asks its guard about every path, after the path is open. The guard here lets it look
//! and writes down what it touched. What was seen is given away, and what is to be changed is changed,
//! only after the gate has let all of it through in one decision: so a person is asked once, about
//! what would happen, and a batch never waits for one answer after the other.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use umbo_files::{Access, AccessKind, Decision, Guard, Place, Session, Stop};
use umbo_gate::{FileEffect, Unreadable};
use umbo_view::mask::Masker;

use crate::call::{Call, fresh_name};
use crate::error::{Error, ErrorCode};
use crate::gatekeeper::FileRequest;

/// A path, and what is done with it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Touched {
    kind: AccessKind,
    path: PathBuf,
    is_inside: bool,
}

/// Writes down what is touched, or allows only what was granted.
struct FileGuard {
    masker: Arc<Masker>,
    unreadable: Unreadable,
    granted: Option<Vec<Touched>>,
    touched: Mutex<Vec<Touched>>,
    /// Where jobs keep what they wrote.
    jobs: Option<PathBuf>,
}

impl FileGuard {
    fn touched(&self) -> Vec<Touched> {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Guard for FileGuard {
    fn access(&self, access: &Access<'_>) -> Decision {
        let is_inside = matches!(access.place, Place::Inside(_));
        let touched = Touched { kind: access.kind, path: access.path.to_owned(), is_inside };
        if let Some(granted) = &self.granted {
            return if granted.contains(&touched) {
                Decision::Allow
            } else {
                Decision::Deny("its path led elsewhere a moment ago; try again".to_owned())
            };
        }
        let mut all = self.touched.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains(&touched) {
            all.push(touched);
        }
        Decision::Allow
    }

    fn may_see(&self, path: &Path) -> bool {
        !self.unreadable.covers(path)
    }

    fn mask(&self, path: &Path, text: String) -> String {
        // What a job wrote may have anything in it; a file is shown as it is.
        if is_below(path, self.jobs.as_deref()) {
            let clean = |line| umbo_view::sanitize::sanitize(line);
            let lines: Vec<String> =
                text.split('\n').map(|line| clean(line.as_bytes()).replace('\n', " ")).collect();
            return self.masker.mask_text(&lines.join("\n"));
        }
        self.masker.mask_text(&text)
    }

    fn restore(&self, _path: &Path, text: String) -> Result<String, String> {
        Ok(self.masker.restore(&text))
    }
}

/// What an operation is called where it is asked about and recorded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<'a> {
    /// Its verb.
    pub(super) verb: &'a str,
    /// The paths, as the caller wrote them.
    pub(super) paths: &'a [String],
    /// What else an approval holds to: all that would be written.
    pub(super) content: &'a str,
}

impl Named<'_> {
    fn text(&self) -> String {
        [&[self.verb.to_owned()], self.paths].concat().join(" ")
    }
}

/// An operation that only looks.
pub(super) fn look<T>(
    call: &Call<'_>,
    named: Named<'_>,
    work: impl FnOnce(&Session, &umbo_files::Call) -> Result<T, umbo_files::Error>,
) -> Result<T, Error> {
    let (session, guard) = session(call, None)?;
    let result = work(&session, &library_call(call));
    let touched = guard.touched();
    if let Err(refused) = admit(call, named, &touched, "") {
        // What is not given away was not read either.
        for each in &touched {
            session.seen().forget(&each.path);
        }
        return Err(refused);
    }
    result.map_err(|error| denied(call, named, error))
}

/// An operation that changes files. `work` is done twice: first without making the change; `diff` says what
/// that would be, for whoever is asked about it.
pub(super) fn change<T>(
    call: &Call<'_>,
    named: Named<'_>,
    diff: impl Fn(&T) -> String,
    work: impl Fn(&Session, &umbo_files::Call, DryRun) -> Result<T, umbo_files::Error>,
) -> Result<T, Error> {
    let (probe, guard) = session(call, None)?;
    let library_call = library_call(call);
    let tried = work(&probe, &library_call, DryRun(true));
    let touched = guard.touched();
    let diff =
        tried.as_ref().map(|tried| short(&call.caller.mask(&diff(tried)))).unwrap_or_default();
    admit(call, named, &touched, &diff)?;
    tried.map_err(|error| denied(call, named, error))?;
    let (session, _) = session(call, Some(touched))?;
    Ok(work(&session, &library_call, DryRun(false))?)
}

/// As much of a diff as somebody reads who is asked about it.
fn short(diff: &str) -> String {
    const MOST_LINES: usize = 40;
    const LONGEST_LINE_CHARS: usize = 200;
    let mut lines = diff.lines();
    let cut = |line: &str| line.chars().take(LONGEST_LINE_CHARS).collect::<String>();
    let mut shown: Vec<String> = lines.by_ref().take(MOST_LINES).map(cut).collect();
    let left = lines.count();
    if left > 0 {
        shown.push(format!("… {left} more lines of difference"));
    }
    shown.join("\n")
}

/// Whether a change is only tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DryRun(pub(super) bool);

/// Asks the gate about a web page before it is fetched.
pub(super) fn admit_fetch(call: &Call<'_>, named: Named<'_>, url: &str) -> Result<(), Error> {
    let effects = [FileEffect::Fetch(url.to_owned())];
    gate(call, named, &effects, "")
}

fn session(
    call: &Call<'_>,
    granted: Option<Vec<Touched>>,
) -> Result<(Session, Arc<FileGuard>), Error> {
    let caller = call.caller;
    let session = caller.files.session(caller)?;
    let guard = Arc::new(FileGuard {
        masker: Arc::clone(&caller.masker),
        unreadable: caller.gate.unreadable(session.workspace().cwd())?,
        granted,
        touched: Mutex::default(),
        jobs: jobs_directory(call),
    });
    let session = session.with_guard(Arc::clone(&guard) as Arc<dyn Guard>);
    Ok((session, guard))
}

/// Where the jobs of this machine keep what they wrote.
fn jobs_directory(call: &Call<'_>) -> Option<PathBuf> {
    call.caller.backend.state_directory().map(|state| state.join("jobs"))
}

fn is_below(path: &Path, directory: Option<&Path>) -> bool {
    directory.is_some_and(|directory| path.starts_with(directory))
}

fn library_call(call: &Call<'_>) -> umbo_files::Call {
    let ticket = call.ticket.clone();
    let stop = Stop::when(move || ticket.is_cancelled()).at_most(call.caller.longest_wait);
    let id = call.ticket.id().map_or_else(|| fresh_name("call_", 10), str::to_owned);
    let job = call.caller.variable("UMBO_JOB");
    let job = job.map(|job| job.to_string_lossy().into_owned());
    umbo_files::Call { stop, id, job, owner: call.caller.owner.clone() }
}

/// Asks the gate about all that was touched.
fn admit(call: &Call<'_>, named: Named<'_>, touched: &[Touched], diff: &str) -> Result<(), Error> {
    // A path that turned out to be a file and a selector was also looked for as a whole.
    let exists = |each: &&Touched| each.path.symlink_metadata().is_ok();
    let changes = |each: &&Touched| matches!(each.kind, AccessKind::Write | AccessKind::Delete);
    let mut meant: Vec<&Touched> =
        touched.iter().filter(|each| changes(each) || exists(each)).collect();
    if meant.is_empty() {
        meant = touched.iter().collect();
    }
    if meant.is_empty() {
        return Ok(());
    }
    let jobs = jobs_directory(call);
    if let Some(project) = call.caller.confinement() {
        let project = umbo_gate::resolve(project);
        let is_own = |path: &Path| path.starts_with(&project) || is_below(path, jobs.as_deref());
        if let Some(outside) = meant.iter().find(|each| !is_own(&each.path)) {
            let message = format!(
                "{} is outside of the project {}, which its caller has to stay in",
                outside.path.display(),
                project.display()
            );
            return Err(Error::new(ErrorCode::OutsideProject, message));
        }
    }
    let effects: Vec<FileEffect> = meant
        .iter()
        .map(|each| match each.kind {
            AccessKind::Write => FileEffect::Write(each.path.clone()),
            AccessKind::Delete => FileEffect::Delete(each.path.clone()),
            AccessKind::List | AccessKind::Read
                if each.is_inside || is_below(&each.path, jobs.as_deref()) =>
            {
                FileEffect::Read(each.path.clone())
            }
            AccessKind::List | AccessKind::Read => FileEffect::ReadOutside(each.path.clone()),
        })
        .collect();
    gate(call, named, &effects, diff)
}

/// An error as it is told; a denial of what hides and protects files is recorded like any other.
fn denied(call: &Call<'_>, named: Named<'_>, error: umbo_files::Error) -> Error {
    if let umbo_files::Error::Denied { path, reason } = &error {
        let caller = call.caller;
        let effects = [FileEffect::Read(caller.directory.join(path))];
        let text = caller.mask(&named.text());
        let (directory, content) = (&caller.directory, named.content);
        let request = FileRequest { text: &text, effects: &effects, directory, content, diff: "" };
        // What cannot be recorded is denied all the same.
        let _ = caller.gate.record_denial(&request, reason);
    }
    error.into()
}

fn gate(
    call: &Call<'_>,
    named: Named<'_>,
    effects: &[FileEffect],
    diff: &str,
) -> Result<(), Error> {
    let caller = call.caller;
    let text = caller.mask(&named.text());
    let directory = &caller.directory;
    let request = FileRequest { text: &text, effects, directory, content: named.content, diff };
    Ok(caller.gate.admit_files(&request, call.ticket.approver())?)
}
