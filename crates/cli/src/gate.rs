//! Where the gate meets the command line: which rules hold here, whether a command may pass, and
//! whether a person is asking.

use std::io::{BufRead, IsTerminal};
use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::json;
use umbo_command::Shell as Language;
use umbo_engine::Request;
use umbo_gate::{Mode, Premises, Recipe, Refusal, inside_job};
use umbo_ops::{Gatekeeper, NotAdmitted, Permit, Records, show_time};

use crate::context::Context;
use crate::failure::{Failure, OWN_FAILURE};
use crate::output::{self, Format};

/// The time, as the gate counts it.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// The gate's files of this user and this state directory.
pub(crate) fn premises(context: &Context) -> Result<Premises, Failure> {
    let state = context.engine.state_directory();
    Ok(Premises::new(Context::configuration()?, state)
        .home(Context::home())
        .scratch(std::env::temp_dir()))
}

/// A gatekeeper for what this person runs. Without a mode only deny rules hold, and only denials are
/// recorded.
pub(crate) fn keeper(context: &Context, mode: Option<Mode>) -> Result<Gatekeeper, Failure> {
    let records = if mode.is_some() { Records::Everything } else { Records::Refusals };
    Ok(Gatekeeper::new(premises(context)?, mode.unwrap_or(Mode::Open))
        .records(records)
        .run_id(Context::run()))
}

/// Asks the gatekeeper about a request. A refusal is said; the code is what to leave with.
pub(crate) fn pass<'a>(
    context: &Context,
    keeper: &'a Gatekeeper,
    request: &Request,
    recipe: Option<Recipe<'_>>,
) -> Result<Result<Permit<'a>, ExitCode>, Failure> {
    let directory = context.engine.begins_in(request);
    match keeper.admit(request, &directory, recipe, &[], None) {
        Ok(permit) => Ok(Ok(permit)),
        Err(NotAdmitted::Gate(error)) => Err(error.into()),
        Err(NotAdmitted::Refused(refusal)) => refuse(context.format, &refusal).map(Err),
    }
}

fn refuse(format: Format, refusal: &Refusal) -> Result<ExitCode, Failure> {
    match format {
        Format::Json => {
            let mut answer = json!({"error": refusal.code()});
            let details = serde_json::to_value(refusal).map_err(Failure::new)?;
            for (name, value) in details.as_object().into_iter().flatten() {
                answer[name] = value.clone();
            }
            if let Some(time) = refusal.expires_at() {
                answer["expires_at"] = json!(show_time(time));
            }
            if let Some(line) = refusal.answer_with() {
                answer["answer_with"] = json!(line);
            }
            output::json(&answer)?;
        }
        Format::Text => output::talk(format_args!("umbo: {refusal}")),
    }
    Ok(ExitCode::from(OWN_FAILURE))
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
