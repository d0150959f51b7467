//! Approvals on disk: questions, answers and uses, each a signed file that is written once.
//!
//! ```text
//! approvals/<id>.ask      the question
//! approvals/<id>.answer   the answer; a second one is refused
//! approvals/<id>.change   the approval that replaced a denial; a second one is refused
//! approvals/<id>.used     marks a single-use approval as used; a second one is refused
//! ```

use std::collections::HashMap;
use std::fs;
use std::mem::MaybeUninit;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use serde::{Deserialize, Serialize};

use crate::approval::{Answer, Binding, Covers, Lasts, Question, Reply, UsableBy};
use crate::error::{Error, Result};
use crate::key::Key;
use crate::rule::Rule;
use crate::store::{make_directory, publish, seal, unseal};

/// How long a question waits and a single-use approval can be used.
pub const APPROVAL_LIFETIME_MICROS: u64 = 3600 * 1_000_000;
/// How long an approval for a run holds at most.
const RUN_APPROVAL_LIFETIME_MICROS: u64 = 24 * 3600 * 1_000_000;
/// How long files of what is over are kept.
const RETENTION_MICROS: u64 = 7 * 24 * 3600 * 1_000_000;
/// More open questions than this are not taken: nobody would read them.
const MOST_OPEN_QUESTIONS: usize = 1000;

/// The approvals of a state directory.
#[derive(Clone, Debug)]
pub struct Approvals {
    directory: PathBuf,
    key: Key,
    /// Approvals that were read and verified before; valid while the stamps of their files stay the same.
    known: Arc<Mutex<HashMap<String, Known>>>,
}

#[derive(Clone, Debug)]
struct Known {
    question: Question,
    answer: Option<Answer>,
    stamps: [Option<Stamp>; 3],
}

/// Identifies one version of a file: inode, change time in seconds and nanoseconds, length.
type Stamp = (u64, i64, i64, u64);

/// An approval and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// What was asked.
    pub question: Question,
    /// Its state.
    pub state: ApprovalState,
}

/// The state of an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    /// Nobody has answered.
    Open,
    /// It was answered, and the answer holds.
    Answered(Answer),
    /// It was approved for one time, and that time is over.
    Used(Answer),
    /// Nobody answered in time, or the answer holds no longer.
    Expired,
}

impl ApprovalState {
    /// Its name in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered(Answer { reply: Reply::Approve { .. }, .. }) => "approved",
            Self::Answered(Answer { reply: Reply::Deny { .. }, .. }) => "denied",
            Self::Used(_) => "used",
            Self::Expired => "expired",
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Use {
    at: u64,
}

/// Fewer last characters of an id name no approval.
const SHORTEST_END: usize = 4;

fn is_named(id: &str, wanted: &str) -> bool {
    id.starts_with(wanted) || (wanted.len() >= SHORTEST_END && id.ends_with(wanted))
}

impl Approvals {
    /// The approvals in a state directory, signed with a key.
    pub fn open(state: &Path, key: Key) -> Result<Self> {
        let directory = state.join("approvals");
        make_directory(&directory)?;
        Ok(Self { directory, key, known: Arc::default() })
    }

    /// Stores a question, unless the same one is open. Returns the question to be answered.
    pub fn ask(&self, question: Question, now: u64) -> Result<Question> {
        let listed = self.list(now)?;
        self.ask_beside(listed.iter().flatten(), question)
    }

    /// As [`Approvals::ask`], for a caller that has listed the approvals already.
    pub(crate) fn ask_beside<'a>(
        &self,
        listed: impl Iterator<Item = &'a Approval>,
        question: Question,
    ) -> Result<Question> {
        let open: Vec<&Question> = listed
            .filter(|approval| approval.state == ApprovalState::Open)
            .map(|approval| &approval.question)
            .collect();
        if let Some(same) =
            open.iter().find(|open| open.binding == question.binding && open.run == question.run)
        {
            return Ok((*same).clone());
        }
        let path = self.path(&question.id, "ask");
        if open.len() >= MOST_OPEN_QUESTIONS {
            let problem = format!("{MOST_OPEN_QUESTIONS} questions are open; answer some first");
            return Err(Error::file("write", path)(std::io::Error::other(problem)));
        }
        publish(&path, &seal(&self.key, "question", &path, &question)?)?;
        Ok(question)
    }

    /// All approvals, oldest first. What was tampered with is an error in its place. Files of what
    /// is long over are removed.
    pub fn list(&self, now: u64) -> Result<Vec<Result<Approval>>> {
        let mut ids = self.ids()?;
        ids.sort();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|id, _| ids.binary_search(id).is_ok());
        drop(known);
        let mut found = Vec::with_capacity(ids.len());
        for id in ids {
            match self.look(&id, now) {
                Ok(Some(approval)) if approval.is_long_over(now) => self.forget(&id),
                Ok(Some(approval)) => found.push(Ok(approval)),
                Ok(None) => {}
                Err(error) => found.push(Err(error)),
            }
        }
        Ok(found)
    }

    fn forget(&self, id: &str) {
        // The question first: without it neither an answer nor a use means anything.
        for kind in ["ask", "answer", "change", "used"] {
            let _ = fs::remove_file(self.path(id, kind));
        }
    }

    /// An approval by its id, the beginning of one, or its end.
    pub fn find(&self, id: &str, now: u64) -> Result<Approval> {
        let wanted = id.to_ascii_lowercase();
        let mut matches: Vec<String> =
            self.ids()?.into_iter().filter(|known| is_named(known, &wanted)).collect();
        match (wanted.is_empty(), matches.len()) {
            (false, 1) => {}
            (false, 2..) => {
                matches.sort();
                return Err(Error::AmbiguousApproval { prefix: id.to_owned(), matches });
            }
            _ => return Err(Error::UnknownApproval(id.to_owned())),
        }
        self.look(&matches[0], now)?.ok_or_else(|| Error::UnknownApproval(id.to_owned()))
    }

    /// Answers a question. The first answer counts; later ones are refused.
    pub fn answer(&self, id: &str, reply: Reply, by: &str, now: u64) -> Result<Answer> {
        let Approval { question, state } = self.find(id, now)?;
        match state {
            ApprovalState::Open => self.write_answer("answer", &question, reply, by, now),
            ApprovalState::Expired => Err(Error::Expired(question.id)),
            ApprovalState::Answered(Answer { reply: Reply::Deny { .. }, .. }) => {
                Err(Error::Declined(question.id))
            }
            ApprovalState::Answered(_) | ApprovalState::Used(_) => {
                Err(Error::Answered(question.id))
            }
        }
    }

    /// Replaces a denial that is still in force: the new answer, and the denial it replaced.
    pub fn overturn(&self, id: &str, reply: Reply, by: &str, now: u64) -> Result<(Answer, Answer)> {
        let Approval { question, state } = self.find(id, now)?;
        match state {
            ApprovalState::Answered(no) if matches!(no.reply, Reply::Deny { .. }) => {
                Ok((self.write_answer("change", &question, reply, by, now)?, no))
            }
            ApprovalState::Open => Err(Error::NotDeclined(question.id)),
            ApprovalState::Expired => Err(Error::Expired(question.id)),
            ApprovalState::Answered(_) | ApprovalState::Used(_) => {
                Err(Error::Answered(question.id))
            }
        }
    }

    fn write_answer(
        &self,
        kind: &str,
        question: &Question,
        reply: Reply,
        by: &str,
        now: u64,
    ) -> Result<Answer> {
        let id = question.id.clone();
        let holds_until = match &reply {
            Reply::Approve { covers: Covers::Prefix, .. } if question.prefixes.is_empty() => {
                return Err(Error::NoPrefix(id, "no part of it names what it does safely"));
            }
            Reply::Approve { lasts: Lasts::Run, .. } if question.run.is_none() => {
                return Err(Error::NoPrefix(id, "the caller did not say which run it belongs to"));
            }
            Reply::Approve { lasts: Lasts::Once, .. } => {
                now.saturating_add(APPROVAL_LIFETIME_MICROS)
            }
            Reply::Approve { lasts: Lasts::Run, .. } => {
                now.saturating_add(RUN_APPROVAL_LIFETIME_MICROS)
            }
            Reply::Approve { lasts: Lasts::Until(time), .. } => *time,
            Reply::Deny { .. } => question.expires_at,
        };
        let answer = Answer { reply, by: by.to_owned(), at: now, holds_until };
        let path = self.path(&id, kind);
        match publish(&path, &seal(&self.key, kind, &path, &answer)?) {
            Err(Error::File { source, .. })
                if source.kind() == std::io::ErrorKind::AlreadyExists =>
            {
                Err(Error::Answered(id))
            }
            other => other.map(|()| answer),
        }
    }

    /// The answer in force: the approval that replaced a denial, else the first answer.
    fn answer_to(&self, id: &str) -> Result<Option<Answer>> {
        for kind in ["change", "answer"] {
            if let Some(answer) = unseal(&self.key, kind, &self.path(id, kind))? {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }

    /// Takes an approval for one call; `false` if it was for one time and that is over.
    pub fn take(&self, approval: &Approval, now: u64) -> Result<bool> {
        let ApprovalState::Answered(answer) = &approval.state else { return Ok(false) };
        match &answer.reply {
            Reply::Deny { .. } => Ok(false),
            Reply::Approve { lasts: Lasts::Run | Lasts::Until(_), .. } => Ok(true),
            Reply::Approve { lasts: Lasts::Once, .. } => {
                let path = self.path(&approval.question.id, "used");
                match publish(&path, &seal(&self.key, "use", &path, &Use { at: now })?) {
                    Err(Error::File { source, .. })
                        if source.kind() == std::io::ErrorKind::AlreadyExists =>
                    {
                        Ok(false)
                    }
                    other => other.map(|()| true),
                }
            }
        }
    }

    /// Waits until a question is answered or the deadline passes; sleeps in the kernel.
    pub fn wait(&self, id: &str, deadline: Option<Instant>) -> Result<Option<Answer>> {
        let failed = || Error::file("watch", &self.directory);
        let watch = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)
            .map_err(|error| failed()(error.into()))?;
        // An answer is linked into place, so its name appears only when it is whole.
        inotify::add_watch(&watch, &self.directory, WatchFlags::CREATE | WatchFlags::MOVED_TO)
            .map_err(|error| failed()(error.into()))?;
        loop {
            // Looked at after the watch stands: what comes in between is noticed.
            if let Some(answer) = self.answer_to(id)? {
                return Ok(Some(answer));
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            let timeout = left.and_then(|left| Timespec::try_from(left).ok());
            let mut fds = [PollFd::new(&watch, PollFlags::IN)];
            let _ = poll(&mut fds, timeout.as_ref());
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut reader = inotify::Reader::new(&watch, &mut buffer);
            while reader.next().is_ok() {}
        }
    }

    fn look(&self, id: &str, now: u64) -> Result<Option<Approval>> {
        let Some(Known { question, answer, .. }) = self.read(id)? else { return Ok(None) };
        let used = self.path(id, "used").symlink_metadata().is_ok();
        let state = match answer {
            None if question.expires_at <= now => ApprovalState::Expired,
            None => ApprovalState::Open,
            // Whatever stands in the place of the mark, the approval is not used again.
            Some(answer) if used => ApprovalState::Used(answer),
            Some(answer) if answer.holds_until <= now => ApprovalState::Expired,
            Some(answer) => ApprovalState::Answered(answer),
        };
        Ok(Some(Approval { question, state }))
    }

    /// The question and the answer, verified when they are first seen and when they change.
    fn read(&self, id: &str) -> Result<Option<Known>> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let ask = self.path(id, "ask");
        let stamps = ["ask", "answer", "change"].map(|kind| stamp(&self.path(id, kind)));
        if let Some(known) = lock().get(id).filter(|known| known.stamps == stamps) {
            return Ok(Some(known.clone()));
        }
        let Some(question) = unseal(&self.key, "question", &ask)? else { return Ok(None) };
        let answer = self.answer_to(id)?;
        let known = Known { question, answer, stamps };
        lock().insert(id.to_owned(), known.clone());
        Ok(Some(known))
    }

    fn ids(&self) -> Result<Vec<String>> {
        let entries =
            fs::read_dir(&self.directory).map_err(Error::file("list", &self.directory))?;
        Ok(entries
            .flatten()
            .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".ask")?.to_owned()))
            .collect())
    }

    fn path(&self, id: &str, kind: &str) -> PathBuf {
        self.directory.join(format!("{id}.{kind}"))
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let facts = path.symlink_metadata().ok()?;
    Some((facts.ino(), facts.ctime(), facts.ctime_nsec(), facts.len()))
}

impl Approval {
    fn is_long_over(&self, now: u64) -> bool {
        let over = matches!(self.state, ApprovalState::Expired | ApprovalState::Used(_));
        over && self.question.expires_at.saturating_add(RETENTION_MICROS) < now
    }

    /// Whether it holds for exactly this call.
    pub(crate) fn is_for(&self, binding: &Binding, run: Option<&str>) -> bool {
        self.question.binding == *binding && self.is_for_run(run)
    }

    /// The rules it stands for in these circumstances, if it covers prefixes.
    pub(crate) fn prefixes(&self, binding: &Binding, run: Option<&str>) -> Vec<Rule> {
        let ApprovalState::Answered(Answer {
            reply: Reply::Approve { covers: Covers::Prefix, .. },
            ..
        }) = &self.state
        else {
            return Vec::new();
        };
        if self.question.binding.circumstances != binding.circumstances || !self.is_for_run(run) {
            return Vec::new();
        }
        let name = format!("approval {}", self.question.id);
        let Question { prefixes, shown, .. } = &self.question;
        prefixes.iter().map(|words| Rule::allow_prefix(&name, words, shown.clone())).collect()
    }

    /// Whether an answer holds for a run: for the one that asked, unless the person said that anyone may
    /// use the approval.
    fn is_for_run(&self, run: Option<&str>) -> bool {
        match &self.state {
            ApprovalState::Answered(Answer {
                reply: Reply::Approve { lasts: Lasts::Run, .. },
                ..
            }) => self.question.run.is_some() && self.question.run.as_deref() == run,
            ApprovalState::Answered(Answer {
                reply: Reply::Approve { usable_by: UsableBy::Anyone, .. },
                ..
            }) => true,
            _ => self.question.run.as_deref() == run,
        }
    }
}
