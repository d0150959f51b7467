//! `umbo mcp`: the tools, for an agent at the other end of standard input and output, or for many
//! over HTTP.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use umbo_engine::JobId;
use umbo_gate::Mode;
use umbo_tools::Owner;

use super::install::Words;
use super::tools;
use crate::args::Mcp;
use crate::context::{Context, WorksFor};
use crate::failure::Failure;
use crate::gate;
use crate::install::site::{self, Scope};
use crate::install::{self, Client};
use crate::output;
use crate::{http, log};

pub(crate) fn run(context: &Context, args: &Mcp) -> Result<ExitCode, Failure> {
    if let Some(client) = args.print_config {
        return print_config(context, args, client);
    }
    log::start(args.log.log_file.as_deref())?;
    let mode = args.mode.unwrap_or(context.settings.tools.mode);
    let sets = tools::sets(context, &args.sets)?;
    if args.http.address.is_some() {
        let (owned, dialect) = (context.clone(), args.dialect.clone());
        let make = move |owner| {
            let run = run_of(&owner);
            let sets = Some(sets.clone());
            tools::toolset_of(&owned, dialect.as_deref(), sets, owner, agent(mode, run))
        };
        http::serve(context, &args.http, args.owner.clone(), make)?;
        return Ok(ExitCode::SUCCESS);
    }
    let owner = args.owner.clone().map_or(Owner::Fresh, Owner::Named);
    let run = Context::declared_run().unwrap_or_else(|| run_of(&owner));
    let dialect = args.dialect.as_deref();
    let toolset = tools::toolset_of(context, dialect, Some(sets), owner, agent(mode, run))?;
    if std::io::stdin().is_terminal() {
        output::talk(
            "umbo: this speaks the Model Context Protocol, and waits for an agent to write JSON lines; \
             `umbo install` lets an agent start it, ctrl-d ends it",
        );
    }
    umbo_mcp::serve_stdio(toolset, context.settings.tools.client).map_err(Failure::new)?;
    Ok(ExitCode::SUCCESS)
}

fn agent(mode: Mode, run: String) -> tools::Caller {
    tools::Caller { mode: Some(mode), run: Some(run), works_for: WorksFor::Agent }
}

/// The run of a client: what is answered for a run is answered for one client, not for all of them.
fn run_of(owner: &Owner) -> String {
    match owner {
        Owner::Named(name) => format!("mcp {name}"),
        _ => format!("mcp {}", JobId::generate()),
    }
}

/// What a client's settings need to start this server.
#[derive(Serialize)]
struct Pasted {
    client: &'static str,
    format: &'static str,
    /// Where it goes; unknown for a client that umbo does not know.
    file: Option<PathBuf>,
    snippet: String,
}

fn print_config(context: &Context, args: &Mcp, client: &Client) -> Result<ExitCode, Failure> {
    tools::sets(context, &args.sets)?;
    let words =
        Words { name: "umbo", dialect: args.dialect.as_deref(), sets: &args.sets, mode: args.mode };
    let server = words.describe(context, client, Scope::User)?;
    let file = site::choose(client, Scope::User, &server.name).ok().map(|site| site.path);
    let text = install::snippet(client, &server).map_err(|problem| Failure::new(problem.why))?;
    let format = client.format.name();
    let pasted = Pasted { client: client.name, format, file, snippet: text };
    gate::answer(context.format, &pasted, || {
        output::text(&pasted.snippet)?;
        if let Some(file) = &pasted.file {
            output::talk(format_args!("This goes into {}.", file.display()));
        }
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}
