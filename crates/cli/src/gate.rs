//! Where the gate meets the command line: which rules hold here, whether a command may pass, and
//! whether a person is asking.

use std::ffi::OsString;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::json;
use umbo_command::Shell as Language;
use umbo_engine::{Command, Job, Outcome, Profile, Request, Shell};
use umbo_gate::{
    Admission, Approvals, Audit, Call, DIRECTORY, Decision, Digest, Event, Gate, Key, Mode, Policy,
    Roots, ShellState, Snapshot, TrustStore, inside_job, project_of,
};
use umbo_tools::show_time;

use crate::context::Context;
use crate::failure::{Failure, OWN_FAILURE};
use crate::output::{self, Format};

/// The time, as the gate counts it.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// The key of this user.
pub(crate) fn key() -> Result<Key, Failure> {
    Ok(Key::open(&Context::configuration()?)?)
}

/// The approvals of this state directory.
pub(crate) fn approvals(context: &Context) -> Result<Approvals, Failure> {
    Ok(Approvals::open(context.engine.state_directory(), key()?)?)
}

/// The audit of this state directory.
pub(crate) fn audit(context: &Context) -> Result<Audit, Failure> {
    Ok(Audit::new(context.engine.state_directory(), key()?))
}

/// What of a project's rules holds.
pub(crate) struct ProjectRules {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) trust: umbo_gate::Trust,
}

/// The user's rule file, if there is one: its path and text.
pub(crate) fn user_rules() -> Result<Option<(PathBuf, String)>, Failure> {
    let path = Context::configuration()?.join("rules.toml");
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some((path, text))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::new(format!("cannot read {}: {error}", path.display()))),
    }
}

/// The project's rule file, if there is one, and whether it is trusted.
pub(crate) fn project_rules(project: &Path) -> Result<Option<ProjectRules>, Failure> {
    let snapshot = Snapshot::read(project)?;
    if snapshot.digests().next().is_none() {
        return Ok(None);
    }
    let store = TrustStore::open(&Context::configuration()?, key()?);
    let standing = store.standing(project, &snapshot)?;
    let Some((bytes, trust)) = snapshot.file("rules.toml", &standing) else { return Ok(None) };
    let path = project.join(DIRECTORY).join("rules.toml");
    let text = String::from_utf8(bytes.to_vec())
        .map_err(|_| Failure::new(format!("{}: it is not UTF-8", path.display())))?;
    Ok(Some(ProjectRules { path, text, trust }))
}

/// The directories that decisions in `project` depend on.
pub(crate) fn roots(context: &Context, project: &Path) -> Result<Roots, Failure> {
    let config = Context::configuration()?;
    Ok(Roots::new(project)
        .home(Context::home().as_deref())
        .umbo(&config, context.engine.state_directory())
        .scratch(&std::env::temp_dir()))
}

/// All rules that hold in a directory.
pub(crate) fn policy(context: &Context, directory: &Path) -> Result<Policy, Failure> {
    let project = project_of(directory);
    let mut policy = Policy::new(roots(context, &project)?)?;
    if let Some((path, text)) = user_rules()? {
        policy = policy.user(&path, &text)?;
    }
    if let Some(rules) = project_rules(&project)? {
        policy = policy.project(&rules.path, &rules.text, rules.trust)?;
    }
    Ok(policy)
}

/// Whether a request may run.
pub(crate) enum Passage {
    /// It may. With the audit, if the caller chose a mode.
    Open(Option<Audit>),
    /// It may not; that was said.
    Closed(ExitCode),
}

/// Asks the gate about a request. Without a mode only deny rules hold, and only denials are recorded.
pub(crate) fn pass(
    context: &Context,
    request: &Request,
    mode: Option<Mode>,
    recipe: Option<&str>,
) -> Result<Passage, Failure> {
    let policy = policy(context, &request.cwd)?;
    let asked = Asked::new(request);
    let environment: Vec<(OsString, OsString)> =
        request.env.base.iter().chain(&request.env.set).cloned().collect();
    let run = Context::run();
    let call = Call {
        command: &asked.text,
        shell: asked.language,
        cwd: &request.cwd,
        environment: &environment,
        set: &request.env.set,
        shell_state: asked.state,
        recipe,
        run: run.as_deref(),
        tools: &[],
    };
    if mode.is_none() {
        let reading = call.reading();
        let subject = umbo_gate::Subject::new(call.command, &reading, call.cwd, policy.roots())
            .recipe(recipe);
        let explained = umbo_gate::decide(&subject, &policy, Mode::Open, &[], &[]);
        if explained.verdict.decision() == Decision::Allow {
            return Ok(Passage::Open(None));
        }
    }
    let state = context.engine.state_directory();
    let gate = Gate::open(policy, mode.unwrap_or(Mode::Open), state, key()?)?;
    match gate.admit(&call, now())? {
        Admission::Admitted { .. } => Ok(Passage::Open(Some(gate.audit().clone()))),
        refused => refuse(context.format, &refused).map(Passage::Closed),
    }
}

fn refuse(format: Format, refused: &Admission) -> Result<ExitCode, Failure> {
    let (answer, text) = match refused {
        Admission::ApprovalRequired { id, why, risk, expires_at, prefixes } => (
            json!({
                "error": "approval_required", "id": id, "why": why, "risk": risk,
                "expires_at": show_time(*expires_at), "prefixes": prefixes,
                "answer_with": format!("umbo approve {id}"),
            }),
            format!(
                "approval required: {why}\n\
                 Somebody has to run `umbo approve {id}` (or `umbo deny {id}`) in a terminal of \
                 their own; then run the same command again."
            ),
        ),
        Admission::Denied { by, reason } => (
            json!({ "error": "denied", "by": by, "reason": reason }),
            format!("denied by {by}: {reason}"),
        ),
        Admission::Expired { id } => (
            json!({ "error": "expired", "id": id }),
            format!("approval {id} has expired; run the command again to ask anew"),
        ),
        Admission::Admitted { .. } => (json!({}), String::new()),
    };
    match format {
        Format::Json => output::json(&answer)?,
        Format::Text => output::talk(format_args!("umbo: {text}")),
    }
    Ok(ExitCode::from(OWN_FAILURE))
}

/// What a request asks to run, as text.
struct Asked {
    text: String,
    language: Language,
    state: ShellState,
}

impl Asked {
    fn new(request: &Request) -> Self {
        let carried = request.session.is_some() || request.profile != Profile::None;
        let fresh = if carried { ShellState::Carried } else { ShellState::Fresh };
        match &request.command {
            Command::Shell { text, shell, login } => {
                let (language, known) = language(shell);
                let login = *login != umbo_engine::Login::No;
                let state = if login || !known { ShellState::Carried } else { fresh };
                Self { text: text.clone(), language, state }
            }
            Command::Argv(words) => {
                let exact = words.iter().all(|word| word.to_str().is_some());
                let text: Vec<String> =
                    words.iter().map(|word| quote(&word.to_string_lossy())).collect();
                let state = if exact { fresh } else { ShellState::Carried };
                Self { text: text.join(" "), language: Language::Posix, state }
            }
        }
    }
}

/// The language a shell reads, and whether that is certain.
fn language(shell: &Shell) -> (Language, bool) {
    match shell {
        Shell::Sh => (Language::Posix, true),
        Shell::Bash => (Language::Bash, true),
        Shell::Zsh => (Language::Zsh, true),
        Shell::Fish => (Language::Fish, true),
        Shell::Nu => (Language::Nu, true),
        // Which of the two it will be is found out only when it starts.
        Shell::NuOrSh => (Language::Posix, false),
        Shell::Path(path) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            Language::named(&name).map_or((Language::Posix, false), |language| (language, true))
        }
    }
}

/// A word as a shell has to be given it.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Records that a job which passed runs in the background.
pub(crate) fn record_start(audit: Option<&Audit>, job: &Job) -> Result<(), Failure> {
    if let Some(audit) = audit {
        audit.append(&Event::Started { job: job.id().to_string() }, now())?;
    }
    Ok(())
}

/// Records how a job that passed ended.
pub(crate) fn record_end(
    audit: Option<&Audit>,
    job: &Job,
    outcome: &Outcome,
) -> Result<(), Failure> {
    let Some(audit) = audit else { return Ok(()) };
    let log = std::fs::File::open(job.output_path()).and_then(Digest::of_reader).ok();
    let event = Event::Outcome {
        job: job.id().to_string(),
        state: outcome.end.name().to_owned(),
        exit_code: outcome.exit_code(),
        log,
    };
    audit.append(&event, now())?;
    Ok(())
}

/// Refuses to go on inside a job: an agent does not answer for the person.
pub(crate) fn only_outside_jobs(verb: &str) -> Result<(), Failure> {
    match inside_job(Path::new("/proc"), std::process::id()) {
        None => Ok(()),
        Some(evidence) => Err(Failure::new(format!(
            "`umbo {verb}` does not run inside a job ({evidence}); run it in a terminal of your own"
        ))),
    }
}

/// Refuses to go on without a person at a terminal, outside of any job.
pub(crate) fn only_for_a_person(verb: &str) -> Result<(), Failure> {
    only_outside_jobs(verb)?;
    if std::io::stdin().is_terminal() {
        return Ok(());
    }
    Err(Failure::new(format!("`umbo {verb}` needs a person: its standard input is no terminal")))
}

/// Asks the person a question; whether they said yes.
pub(crate) fn confirm(question: &str) -> Result<bool, Failure> {
    output::talk(format_args!("{question} [y/N]"));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// The person, as the audit names them.
pub(crate) fn person() -> String {
    let user = std::env::var("USER").unwrap_or_default();
    let uid = rustix::process::getuid().as_raw();
    let terminal = rustix::termios::ttyname(std::io::stdin(), Vec::new())
        .map_or_else(|_| "no terminal".to_owned(), |name| name.to_string_lossy().into_owned());
    format!("{user} (uid {uid}) at {terminal}")
}

/// The language named on the command line.
pub(crate) fn named_language(name: &str) -> Result<Language, Failure> {
    Language::named(name).ok_or_else(|| {
        Failure::new(format!("--shell: {name:?} is not known; use sh, bash, zsh, fish, nu or pwsh"))
    })
}

/// Prints a list of facts: a name and a value each.
pub(crate) fn facts(facts: &[(&str, String)]) -> Result<(), Failure> {
    let rows: Vec<Vec<String>> =
        facts.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]).collect();
    output::table(&rows, None)
}

/// Prints a value as JSON or calls for its text.
pub(crate) fn answer(
    format: Format,
    value: &impl Serialize,
    text: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    match format {
        Format::Json => output::json(value),
        Format::Text => text(),
    }
}
