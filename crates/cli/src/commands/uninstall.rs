//! `umbo uninstall`: takes umbo out of a client's settings.

use std::process::ExitCode;

use super::install::{Asked, Report, consent, located};
use crate::args::Uninstall;
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::install::receipt::{self, Receipt};
use crate::install::site::{self, Scope, Site};
use crate::install::{self, Client, Emptied, Problem, Removal, diff};
use crate::output::{self, Format};

pub(crate) fn run(context: &Context, args: &Uninstall) -> Result<ExitCode, Failure> {
    if !args.print {
        gate::only_outside_jobs("uninstall")?;
    }
    let (client, name) = (args.client, args.name.as_str());
    let scope = if args.project { Scope::Project } else { Scope::User };
    let site = site::choose(client, scope, name)?;
    let mut report = Report::new(client, scope, &site, name);
    let receipt = Receipt::load(context, &site, name);
    let after = match without(client, &site, name, receipt.as_ref())? {
        Left::Text(text) => Some(text),
        Left::NoFile => None,
        Left::All => {
            report.state = "absent";
            gate::answer(context.format, &report, || {
                output::line(format_args!("`{name}` is not in {}", site.path.display()))
            })?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    report.state = "removed";
    if let Some(why) = site.forbids().filter(|_| !args.print) {
        return Err(by_hand(client, &site, name, &Problem { line: None, why }));
    }
    let diff = diff::unified(&site.path, site.text.as_deref(), after.as_deref());
    if !consent(context, &mut report, diff, &Asked::new(args.print, args.yes))? {
        return Ok(ExitCode::SUCCESS);
    }
    report.backup = receipt::back_up(context, client.name, &site)?;
    if let Some(text) = after {
        site.write(&text)?;
    } else {
        let made = receipt.map(|receipt| receipt.made).unwrap_or_default();
        site.delete(&made.directories)?;
    }
    report.written = true;
    Receipt::forget(context, &site, name);
    gate::answer(context.format, &report, || {
        output::line(format_args!("removed `{name}` from {}", site.path.display()))
    })?;
    if let (Some(backup), Format::Text) = (&report.backup, context.format) {
        output::talk(format_args!("As it was before: {}", backup.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// What is left of a file without the server.
enum Left {
    /// The server is not in it.
    All,
    Text(String),
    /// The file was made for the server, and goes with it.
    NoFile,
}

fn without(
    client: &Client,
    site: &Site,
    name: &str,
    receipt: Option<&Receipt>,
) -> Result<Left, Failure> {
    let Some(text) = &site.text else { return Ok(Left::All) };
    let emptied = match receipt {
        Some(receipt) if receipt.made.section => Emptied::Goes,
        _ => Emptied::Stays,
    };
    let removal = install::remove(client, text, name, emptied)
        .map_err(|problem| by_hand(client, site, name, &problem))?;
    let text = match removal {
        Removal::Absent => return Ok(Left::All),
        Removal::Foreign { words } => {
            return Err(Failure::new(format!(
                "the server `{name}` in {} is not umbo ({words}): nothing was changed",
                site.path.display()
            )));
        }
        Removal::Removed { text } => text,
    };
    let Some(receipt) = receipt else { return Ok(Left::Text(text)) };
    if receipt.made.file && install::is_blank(&text) {
        return Ok(Left::NoFile);
    }
    // Nobody else has changed it since: then it is again what it was, to the byte.
    let original = receipt.is_untouched(site).then(|| receipt.original()).flatten();
    Ok(Left::Text(original.unwrap_or(text)))
}

/// A file that is not edited, and what to do instead.
fn by_hand(client: &Client, site: &Site, name: &str, problem: &Problem) -> Failure {
    Failure::new(format!(
        "{}; nothing was changed. By hand, `{name}` would have to leave `{}`",
        located(site, problem),
        client.section
    ))
}
