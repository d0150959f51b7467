//! `umbo shells`: the persistent shells of `--session`.

use std::process::ExitCode;

use serde::Serialize;
use umbo_engine::{Clearing, Ladder};
use umbo_ops::show_time;

use super::jobs::{age, since};
use crate::args::{ShellNames, Shells, ShellsAction};
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::output::{self, Cell, Format, Tone};

pub(crate) fn run(context: &Context, args: &Shells) -> Result<ExitCode, Failure> {
    match &args.action {
        None | Some(ShellsAction::List) => list(context)?,
        Some(ShellsAction::Reset(names)) => clear(context, names, Clearing::State)?,
        Some(ShellsAction::End(names)) => clear(context, names, Clearing::Session)?,
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Listed {
    name: String,
    directory: Option<String>,
    used_at: Option<String>,
    bytes: u64,
    job: Option<String>,
}

fn list(context: &Context) -> Result<(), Failure> {
    let shells = context.backend.shell_sessions()?;
    let listed: Vec<Listed> = shells
        .iter()
        .map(|shell| Listed {
            name: shell.name.clone(),
            directory: shell.directory.as_ref().map(|place| place.display().to_string()),
            used_at: shell.used_at.map(show_time),
            bytes: shell.bytes,
            job: shell.holder.as_ref().map(ToString::to_string),
        })
        .collect();
    gate::answer(context.format, &listed, || {
        if listed.is_empty() {
            output::talk("no shells; `umbo exec --session NAME COMMAND` makes one");
            return Ok(());
        }
        let head = ["SHELL", "STATE", "USED", "DIRECTORY"];
        let mut rows = vec![head.map(|head| Cell::toned(head, Tone::Faint)).to_vec()];
        rows.extend(shells.iter().zip(&listed).map(|(shell, listed)| {
            let state = match &shell.holder {
                Some(job) => Cell::toned(format!("busy {}", job.short()), Tone::Busy),
                None => "free".into(),
            };
            let used = shell.used_at.map_or_else(|| "-".to_owned(), |at| age(since(at)));
            let directory = listed.directory.clone().unwrap_or_else(|| "-".to_owned());
            vec![listed.name.clone().into(), state, used.into(), directory.into()]
        }));
        output::table(&rows, output::width())
    })
}

#[derive(Serialize)]
struct Cleared<'a> {
    cleared: &'a [String],
}

fn clear(context: &Context, args: &ShellNames, clearing: Clearing) -> Result<(), Failure> {
    let shells = context.backend.shell_sessions()?;
    for name in &args.names {
        let holder = shells.iter().find(|shell| shell.name == *name);
        if let Some(job) = holder.and_then(|shell| shell.holder.as_ref()).filter(|_| args.stop) {
            context.backend.job(job.as_str())?.stop(Ladder::default())?;
        }
        let cleared = context.backend.clear_session(name, clearing);
        cleared.map_err(|error| Failure::about(error, "session", "NAME"))?;
    }
    match context.format {
        Format::Json => output::json(&Cleared { cleared: &args.names }),
        Format::Text => args.names.iter().try_for_each(|name| {
            let done = match clearing {
                Clearing::State => "begins anew",
                Clearing::Session => "is gone",
            };
            output::line(format_args!("{name} {done}"))
        }),
    }
}
