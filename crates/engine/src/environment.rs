//! The variables of commands, as the kernel gets them. Most requests of a caller begin with the same base and add
//! nothing: what is made of it once serves them all.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use umbo_sandbox::Plan;

use crate::error::{Error, Result};
use crate::id::JobId;
use crate::request::{Attendance, Request};
use crate::shell;
use crate::supervisor::TAG;

/// What tells programs that nobody is there to answer or to scroll.
const UNATTENDED: &[(&str, &str)] = &[
    // Pagers print.
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("AWS_PAGER", ""),
    // Editors leave the text as it is.
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    // Prompts fail instead of waiting.
    ("GIT_TERMINAL_PROMPT", "0"),
    ("SSH_ASKPASS", "/usr/bin/false"),
    ("GH_PROMPT_DISABLED", "1"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("PIP_NO_INPUT", "1"),
    ("npm_config_yes", "true"),
    ("COMPOSER_NO_INTERACTION", "1"),
    ("CI", "1"),
];

/// What every job has for itself: where it runs, and its tag.
const OWN: [&str; 2] = ["PWD", TAG];

/// The variables of commands that differ only in where they run.
#[derive(Debug)]
pub(crate) struct Block {
    /// Each `NAME=VALUE` with its NUL.
    text: Vec<u8>,
    /// Where in it the values go that every job has for itself, in the order of [`OWN`].
    places: [usize; 2],
    /// Where programs are looked for.
    pub(crate) path: OsString,
    /// The job that the caller is a command of, or was.
    pub(crate) parent: Option<JobId>,
}

impl Block {
    fn of(request: &Request) -> Result<Self> {
        let variables = variables(request);
        let parent = shell::lookup(&request.env.base, TAG).and_then(OsStr::to_str);
        let mut block = Self {
            text: Vec::with_capacity(USUAL_BYTES),
            places: [0; 2],
            path: shell::search_path(&variables),
            parent: parent.and_then(|tag| tag.parse().ok()),
        };
        let proxied = request.sandbox.as_ref().map(Plan::variables).unwrap_or_default();
        for (name, value) in &variables {
            match proxied.iter().find(|(own, _)| *name == OsStr::new(own)) {
                None => block.add(name, value)?,
                // Options are added to those that are there.
                Some((own, added)) if own.ends_with("_OPTS") => {
                    let mut value = value.to_os_string();
                    value.push(" ");
                    value.push(added);
                    block.add(name, &value)?;
                }
                Some((_, ours)) => block.add(name, OsStr::new(ours))?,
            }
        }
        for (name, value) in &proxied {
            if shell::lookup(&variables, name).is_none() {
                block.add(OsStr::new(name), OsStr::new(value))?;
            }
        }
        Ok(block)
    }

    fn add(&mut self, name: &OsStr, value: &OsStr) -> Result<()> {
        let start = self.text.len();
        for part in [name.as_bytes(), b"=", value.as_bytes()] {
            self.text.extend_from_slice(part);
        }
        if self.text[start..].contains(&0) {
            return Err(Error::invalid("env", "it contains a NUL byte, which no argument can"));
        }
        if let Some(own) = OWN.iter().position(|own| name == OsStr::new(own)) {
            self.places[own] = self.text.len();
        }
        self.text.push(0);
        Ok(())
    }

    /// Appends them all, as a job has them.
    pub(crate) fn write(&self, directory: &Path, job: &JobId, to: &mut Vec<u8>) {
        let [pwd, tag] = self.places;
        let directory = (pwd, directory.as_os_str().as_bytes());
        let tag = (tag, job.as_str().as_bytes());
        let own = if directory < tag { [directory, tag] } else { [tag, directory] };
        let mut done = 0;
        for (place, value) in own {
            to.extend_from_slice(&self.text[done..place]);
            to.extend_from_slice(value);
            done = place;
        }
        to.extend_from_slice(&self.text[done..]);
    }
}

/// The variables of a caller usually have room in this.
const USUAL_BYTES: usize = 4 << 10;

/// What was made last, for the next request that is like that one.
#[derive(Debug, Default)]
pub(crate) struct LastBlock(Mutex<Option<(Key, Arc<Block>)>>);

/// What the variables are made of in a request that sets none and has no sandbox. The base is held: another one
/// cannot come to lie where it lies.
#[derive(Debug)]
struct Key {
    base: Arc<[(OsString, OsString)]>,
    attendance: Attendance,
    has_terminal: bool,
}

impl Key {
    fn of(request: &Request) -> Option<Self> {
        let is_usual = request.env.set.is_empty() && request.sandbox.is_none();
        is_usual.then(|| Self {
            base: Arc::clone(&request.env.base),
            attendance: request.env.attendance,
            has_terminal: request.terminal.is_some(),
        })
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.base, &other.base)
            && self.attendance == other.attendance
            && self.has_terminal == other.has_terminal
    }
}

impl LastBlock {
    /// The variables of a request.
    pub(crate) fn of(&self, request: &Request) -> Result<Arc<Block>> {
        let Some(key) = Key::of(request) else { return Ok(Arc::new(Block::of(request)?)) };
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, block)) = &*last
            && *known == key
        {
            return Ok(Arc::clone(block));
        }
        let block = Arc::new(Block::of(request)?);
        *last = Some((key, Arc::clone(&block)));
        Ok(block)
    }
}

/// The variables that commands of a request get, later ones winning: the unattended defaults, the base (or the
/// other way round, if they hold in any case), what the request sets, and what umbo itself must say, here
/// without values.
fn variables(request: &Request) -> Vec<(&OsStr, &OsStr)> {
    let is_kept = |name: &OsStr| {
        request.sandbox.as_ref().is_none_or(|plan| !plan.drops(&name.to_string_lossy()))
    };
    let base = request.env.base.iter().filter(|(name, _)| is_kept(name));
    let mut variables: Vec<_> =
        base.map(|(name, value)| (name.as_os_str(), value.as_os_str())).collect();
    let mut set = |name, value| match variables.iter_mut().find(|(known, _)| *known == name) {
        Some((_, old)) => *old = value,
        None => variables.push((name, value)),
    };
    let holds = |name: &str| match request.env.attendance {
        Attendance::Attended => false,
        Attendance::Unattended => shell::lookup(&request.env.base, name).is_none(),
        Attendance::UnattendedAlways => true,
    };
    for (name, value) in UNATTENDED.iter().filter(|(name, _)| holds(name)) {
        set(OsStr::new(name), OsStr::new(value));
    }
    if request.terminal.is_some() {
        set(OsStr::new("TERM"), OsStr::new("xterm-256color"));
    }
    for (name, value) in &request.env.set {
        set(name, value);
    }
    for name in OWN {
        set(OsStr::new(name), OsStr::new(""));
    }
    variables
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Environment, Size};

    fn written(last: &LastBlock, request: &Request) -> Vec<String> {
        let job = JobId::from_number(7);
        let mut bytes = Vec::new();
        last.of(request).unwrap().write(Path::new("/there"), &job, &mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        text.split_terminator('\0').map(str::to_owned).collect()
    }

    fn request(base: &[(&str, &str)]) -> Request {
        let base = base.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let env = Environment { base, ..Environment::default() };
        Request::shell("true", "/").env(env.attended())
    }

    #[test]
    fn every_job_has_its_own_directory_and_tag_wherever_they_stand() {
        let tag = format!("{TAG}={}", JobId::from_number(7));
        let last = LastBlock::default();
        for (base, expected) in [
            (&[("A", "1")][..], ["A=1", "PWD=/there", &tag]),
            (&[("PWD", "/x"), ("A", "1")], ["PWD=/there", "A=1", &tag]),
            (&[(TAG, "x"), ("A", "1"), ("PWD", "")], [&tag, "A=1", "PWD=/there"]),
        ] {
            let request = request(base);
            for _ in 0..2 {
                assert_eq!(written(&last, &request), expected);
            }
        }
    }

    #[test]
    fn what_was_made_for_one_request_is_not_given_to_one_that_differs() {
        let last = LastBlock::default();
        let usual = request(&[("A", "1")]);
        let variables = [
            written(&last, &usual),
            written(&last, &request(&[("A", "2")])),
            written(&last, &usual.clone().terminal(Size::default())),
            written(&last, &usual.clone().env(usual.env.clone().var("B", "2"))),
            written(&last, &{
                let mut unattended = usual.clone();
                unattended.env.attendance = Attendance::Unattended;
                unattended
            }),
        ];
        for (number, one) in variables.iter().enumerate() {
            assert!(!variables[..number].contains(one), "{one:?}");
        }
        assert_eq!(written(&last, &usual), variables[0]);
    }

    #[test]
    fn a_variable_with_a_nul_is_refused() {
        assert!(LastBlock::default().of(&request(&[("A", "1\0")])).is_err());
    }
}
