//! What a shell can complete: verbs and options by clap, and beside them jobs with their commands,
//! the tasks of the project, questions that wait for an answer, settings and dialects. The shell
//! calls this program with `UMBO_COMPLETE` set; the script that makes it do so is printed by
//! `umbo completions`.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use clap::builder::StyledStr;
use clap::{Command, CommandFactory};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate, complete};
use clap_complete::env::{Bash, EnvCompleter, Fish, Shells, Zsh};
use serde_json::json;
use umbo_engine::{Listed, Warmth};
use umbo_gate::{Approval, ApprovalState};
use umbo_ops::project::Folder;
use umbo_ops::{Call, RecipeOptions, RecipeRequest, Ticket};

use crate::args::{Args, Global};
use crate::config::KEYS;
use crate::context::{CallerWords, Context, Masking, WorksFor};
use crate::gate;
use crate::output;
use crate::secrets;

/// The variable that a shell sets when it asks.
const VARIABLE: &str = "UMBO_COMPLETE";
/// As much of a command is shown beside its job.
const SHOWN_COMMAND: usize = 60;
/// How many jobs that ended are offered.
const OFFERED_ENDED: usize = 200;

const SHELLS: Shells<'static> = Shells(&[&Bash, &Zsh, &Fish, &Nushell]);

/// Answers a shell that asks what could come next; whether it did.
pub(crate) fn answer() -> bool {
    let here = env::current_dir().ok();
    let words = env::args_os();
    CompleteEnv::with_factory(Args::command)
        .var(VARIABLE)
        .bin("umbo")
        .shells(SHELLS)
        .try_complete(words, here.as_deref())
        // Nobody reads an error in the middle of a line that is typed.
        .unwrap_or(true)
}

/// The script that makes a shell ask.
pub(crate) fn script(shell: &str) -> Option<String> {
    let mut script = Vec::new();
    SHELLS
        .completer(shell)?
        .write_registration(VARIABLE, "umbo", "umbo", "umbo", &mut script)
        .ok()?;
    String::from_utf8(script).ok()
}

/// Jobs: those that run, and the newest of those that ended.
pub(crate) fn jobs() -> ArgValueCandidates {
    ArgValueCandidates::new(|| listed(OFFERED_ENDED))
}

/// Jobs that are not over.
pub(crate) fn running_jobs() -> ArgValueCandidates {
    ArgValueCandidates::new(|| listed(0))
}

/// The tasks of the project.
pub(crate) fn tasks() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let Some(folder) = context().and_then(|context| folder(&context)) else {
            return Vec::new();
        };
        let tasks = folder.project.runners.iter().flat_map(umbo_recipes::Runner::listed);
        tasks
            .filter(|task| is_plain(&task.name))
            .map(|task| candidate(&task.name, task.doc.as_deref().unwrap_or(&task.command())))
            .collect()
    })
}

/// The project of the person.
fn folder(context: &Context) -> Option<Folder> {
    let words = CallerWords { masking: Masking::Nothing, ..CallerWords::default() };
    let caller = context.observer(&words).ok()?;
    let ticket = Ticket::alone();
    let options = RecipeOptions { anywhere: true, ..RecipeOptions::default() };
    let request = RecipeRequest { options, ..RecipeRequest::default() };
    umbo_ops::folder(&Call::new(&caller, &ticket), &request).ok()
}

/// Groups of jobs.
pub(crate) fn groups() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let groups =
            context().and_then(|context| context.backend.groups().ok()).unwrap_or_default();
        let offered = |group: umbo_engine::JobGroup| {
            candidate(&group.name, &format!("{} at once", group.limit))
        };
        groups.into_iter().map(offered).collect()
    })
}

/// Persistent shells.
pub(crate) fn shells() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let shells = context().and_then(|context| context.backend.shell_sessions().ok());
        let offered = |shell: umbo_engine::ShellSession| {
            let place = shell.directory.map(|place| place.display().to_string());
            candidate(&shell.name, &place.unwrap_or_default())
        };
        shells.unwrap_or_default().into_iter().map(offered).collect()
    })
}

/// Questions that wait for a person.
pub(crate) fn questions() -> ArgValueCandidates {
    ArgValueCandidates::new(|| open_questions().unwrap_or_default())
}

/// Settings.
pub(crate) fn settings() -> ArgValueCandidates {
    ArgValueCandidates::new(|| KEYS.iter().map(|key| candidate(key.name, key.meaning)).collect())
}

/// Dialects.
pub(crate) fn dialects() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        umbo_tools::dialects().into_iter().map(CompletionCandidate::new).collect()
    })
}

fn context() -> Option<Context> {
    let global = Global { json: false, state_dir: None, help: None };
    Context::from_environment(global, WorksFor::Person, Warmth::Cold, None).ok()
}

fn listed(ended: usize) -> Vec<CompletionCandidate> {
    let Some(context) = context() else { return Vec::new() };
    let offered = Listed { jobs: ended, age: Duration::MAX };
    let jobs = context.backend.recent(offered, &mut |_| true).unwrap_or_default();
    let newest = candidate("@last", "the newest job");
    let mut candidates = vec![newest.display_order(Some(0))];
    for (place, summary) in jobs.iter().rev().enumerate() {
        let command = masked(summary.command.lines().next().unwrap_or_default());
        let help = format!("{}: {}", summary.status.name(), output::cut(&command, SHOWN_COMMAND));
        let name = summary.name.as_deref().filter(|name| is_plain(name));
        let words = name.into_iter().chain([summary.job.as_str()]);
        candidates.extend(words.map(|word| candidate(word, &help).display_order(Some(place + 1))));
    }
    candidates
}

fn open_questions() -> Option<Vec<CompletionCandidate>> {
    let approvals = gate::paths(&context()?).ok()?.approvals().ok()?;
    let open = |approval: &Approval| matches!(approval.state, ApprovalState::Open);
    let listed = approvals.list(umbo_ops::now()).ok()?.into_iter().filter_map(Result::ok);
    Some(
        listed
            .filter(open)
            .map(|approval| candidate(&approval.question.id, &masked(&approval.question.command)))
            .collect(),
    )
}

fn masked(text: &str) -> String {
    secrets::shared().map_or_else(|_| String::new(), |masker| masker.mask_text(text))
}

fn candidate(word: &str, help: &str) -> CompletionCandidate {
    // One line: it is shown on a person's terminal.
    let help = umbo_view::visible_line(help.lines().next().unwrap_or_default()).into_owned();
    CompletionCandidate::new(word).help(Some(StyledStr::from(help)))
}

/// Whether a shell takes a word as it is. A project chooses the names of its tasks, and shells put
/// what they are offered into the line unquoted: nothing of it may be expanded there.
fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    !word.is_empty() && !word.starts_with('-') && word.chars().all(plain)
}

/// Nushell, which asks external completers for records.
struct Nushell;

impl EnvCompleter for Nushell {
    fn name(&self) -> &'static str {
        "nu"
    }

    fn is(&self, name: &str) -> bool {
        matches!(name, "nu" | "nushell")
    }

    fn write_registration(
        &self,
        var: &str,
        _name: &str,
        bin: &str,
        completer: &str,
        buffer: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(
            buffer,
            "let umbo_next_completer = $env.config.completions.external.completer?
$env.config.completions.external.completer = {{|spans|
  if $spans.0 == '{bin}' {{
    with-env {{{var}: 'nu'}} {{ ^{completer} -- ...$spans | from json }}
  }} else if $umbo_next_completer != null {{
    do $umbo_next_completer $spans
  }}
}}"
        )
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        directory: Option<&Path>,
        buffer: &mut dyn Write,
    ) -> io::Result<()> {
        let last = words.len().saturating_sub(1);
        let candidates: Vec<_> = complete(command, words, last, directory)?
            .iter()
            .map(|candidate| {
                let help = candidate.get_help().map(ToString::to_string);
                json!({"value": candidate.get_value().to_string_lossy(), "description": help})
            })
            .collect();
        writeln!(buffer, "{}", json!(candidates))
    }
}
