//! Where the gate meets the command line: which rules hold here, and whether a person is asking.

use std::io::{BufRead, IsTerminal};
use std::path::Path;

use serde::Serialize;
use umbo_gate::{GatePaths, Mode, inside_job};
use umbo_ops::{Gatekeeper, Records};

use crate::context::Context;
use crate::failure::Failure;
use crate::output::{self, Format};

/// The gate's files of this user and this state directory.
pub(crate) fn paths(context: &Context) -> Result<GatePaths, Failure> {
    let state = &context.state;
    Ok(GatePaths::new(Context::configuration()?, state)
        .home(Context::home())
        .scratch(std::env::temp_dir())
        .audit_budget(context.settings.retention.audit_bytes))
}

/// A gatekeeper for what this person runs. Without a mode only deny rules hold, and only denials are
/// recorded.
pub(crate) fn keeper(context: &Context, mode: Option<Mode>) -> Result<Gatekeeper, Failure> {
    let records = if mode.is_some() { Records::Everything } else { Records::Refusals };
    Ok(Gatekeeper::new(paths(context)?, mode.unwrap_or(Mode::Open))
        .records(records)
        .run_id(Context::run()))
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
    let name = if user.is_empty() { format!("uid {uid}") } else { format!("{user} (uid {uid})") };
    format!("{name} at {terminal}")
}

/// Prints a list of facts: a name and a value each.
pub(crate) fn facts(facts: &[(&str, String)]) -> Result<(), Failure> {
    let rows: Vec<Vec<String>> =
        facts.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]).collect();
    output::wrapped(&rows)
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
