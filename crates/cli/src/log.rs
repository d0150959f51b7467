//! What umbo writes down of its own work: nothing, unless it is asked to. To standard error or to a
//! file, never to standard output, which belongs to answers.

use std::env;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::{Layer as Lines, MakeWriter};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::Registry;

use crate::failure::Failure;
use crate::output::LogLines;

/// The variable that says how much.
const FILTER: &str = "UMBO_LOG";
/// How much, if only a file was named: every call, and what goes wrong beneath.
const USUAL: &str = "umbo_tools=info,umbo_mcp=info,warn";

/// Starts the log, if there is to be one.
pub(crate) fn start(file: Option<&Path>) -> Result<(), Failure> {
    let asked = env::var(FILTER).ok().filter(|filter| !filter.is_empty());
    let Some(filter) = asked.or_else(|| file.map(|_| USUAL.to_owned())) else { return Ok(()) };
    // `umbo=debug` means all of umbo, as a person would think.
    let all: Vec<String> = filter.split(',').flat_map(meant).collect();
    let targets: Targets = all.join(",").parse().map_err(|error| {
        Failure::new(format!(
            "{FILTER}: {filter:?} was given ({error}); accepted: a level (error warn info debug \
             trace), or TARGET=LEVEL, with commas between them"
        ))
    })?;
    match file {
        None => write(targets, || LogLines),
        Some(path) => {
            let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
            let file = opened.map_err(|error| {
                Failure::new(format!("--log-file: cannot write {}: {error}", path.display()))
            })?;
            write(targets, Mutex::new(file))
        }
    }
}

fn meant(directive: &str) -> Vec<String> {
    match directive.trim().strip_prefix("umbo=") {
        Some(level) => {
            ["umbo_tools", "umbo_mcp", "umbo"].map(|room| format!("{room}={level}")).into()
        }
        None => vec![directive.trim().to_owned()],
    }
}

fn write<W>(targets: Targets, writer: W) -> Result<(), Failure>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = Lines::<Registry>::new().with_writer(writer).with_filter(targets);
    tracing::subscriber::set_global_default(Registry::default().with(lines)).map_err(Failure::new)
}
