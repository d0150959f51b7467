//! `umbo install`: puts umbo into a client's settings, or lists the clients.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use umbo_gate::Mode;
use umbo_view::visible_line;

use crate::args::Install;
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::install::check;
use crate::install::clients::CLIENTS;
use crate::install::receipt::{self, Made, Receipt};
use crate::install::server::Naming;
use crate::install::site::{self, Scope, Site};
use crate::install::{self, Client, Missing, Problem, Put, Server, diff, server};
use crate::output::{self, Format};
use crate::secrets;
use crate::spinner::Working;

/// What became of a server in a client's file.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    pub(super) client: &'static str,
    pub(super) scope: &'static str,
    pub(super) file: &'a std::path::Path,
    pub(super) name: &'a str,
    /// `added`, `changed` or `present`; `removed` or `absent`.
    pub(super) state: &'static str,
    /// Whether the file was changed; with `--print` it never is.
    pub(super) written: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) diff: Option<String>,
    /// Where the file is as it was before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) backup: Option<PathBuf>,
}

impl<'a> Report<'a> {
    pub(super) fn new(client: &Client, scope: Scope, site: &'a Site, name: &'a str) -> Self {
        Self {
            client: client.name,
            scope: scope.name(),
            file: &site.path,
            name,
            state: "present",
            written: false,
            diff: None,
            backup: None,
        }
    }
}

pub(crate) fn run(context: &Context, args: &Install) -> Result<ExitCode, Failure> {
    let Some(client) = args.client else { return list(context, &args.name) };
    if args.check {
        return checked(context, client);
    }
    if !args.print {
        gate::only_outside_jobs("install")?;
    }
    let scope = if args.project { Scope::Project } else { Scope::User };
    let words =
        Words { name: &args.name, dialect: args.dialect.as_deref(), sets: &[], mode: args.mode };
    let server = words.describe(context, client, scope)?;
    let site = site::choose(client, scope, &server.name)?;
    let mut report = Report::new(client, scope, &site, &server.name);
    let before = site.text.as_deref();
    let put = install::put(client, before.unwrap_or_default(), &server)
        .map_err(|problem| by_hand(client, &site, &server, &problem))?;
    let (text, state, made_section) = match put {
        Put::Added { text, made_section } => (text, "added", made_section),
        Put::Changed { text } => (text, "changed", false),
        Put::Foreign { words } => {
            return Err(Failure::new(format!(
                "{} has another server called `{}` ({words}); choose a name with --name",
                site.path.display(),
                server.name
            )));
        }
        Put::Same => {
            gate::answer(context.format, &report, || {
                output::line(format_args!(
                    "`{}` is in {} already",
                    server.name,
                    site.path.display()
                ))
            })?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    report.state = state;
    if let Some(why) = site.forbids().filter(|_| !args.print) {
        return Err(by_hand(client, &site, &server, &Problem { line: None, why }));
    }
    let diff = diff::unified(&site.path, before, Some(&text));
    if !consent(context, &mut report, diff, &Asked::new(args.print, args.yes))? {
        return Ok(ExitCode::SUCCESS);
    }
    report.backup = receipt::back_up(context, client.name, &site)?;
    let directories = site.write(&text)?;
    report.written = true;
    let name = &server.name;
    let receipt = if state == "added" {
        let made = Made { file: before.is_none(), section: made_section, directories };
        Receipt::added(&site, name, &text, made, report.backup.clone())
    } else {
        Receipt::changed(Receipt::load(context, &site, name), &site, name, &text)
    };
    receipt.save(context, &site);
    gate::answer(context.format, &report, || {
        let to = if state == "added" { "to" } else { "in" };
        output::line(format_args!("{state} `{name}` {to} {}", site.path.display()))
    })?;
    if context.format == Format::Text {
        follow_up(client, scope, &report);
        return try_it(context, client, scope);
    }
    Ok(ExitCode::SUCCESS)
}

/// The client's own start of what was just put into its settings, where that can be had.
fn try_it(context: &Context, client: &Client, scope: Scope) -> Result<ExitCode, Failure> {
    // A project's server is not started before a person said yes in the client itself.
    if scope == Scope::User && client.starter.is_some() && site::has_program(client) {
        output::talk(format_args!("Asking {} to start it …", client.title));
        let found = {
            let _working = Working::on(format!("waiting for {}", client.title));
            check::check(client, &context.state)?
        };
        show_found(client, &found)?;
    } else {
        output::talk(format_args!("`umbo doctor --client {}` says whether it works.", client.name));
    }
    Ok(ExitCode::SUCCESS)
}

/// Lets a client start its servers, and says what umbo's gets.
fn checked(context: &Context, client: &Client) -> Result<ExitCode, Failure> {
    let found = {
        let _working = Working::on(format!("waiting for {}", client.title));
        check::check(client, &context.state)?
    };
    gate::answer(context.format, &found, || show_found(client, &found))?;
    Ok(if found.is_well() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What was seen of a client's server.
fn show_found(client: &Client, found: &check::Found) -> Result<(), Failure> {
    let title = client.title;
    if !found.started {
        return output::line(format_args!(
            "{title} started no server of this umbo; `umbo install {}` puts it there",
            client.name
        ));
    }
    output::line(format_args!("{title} starts {}", found.command.join(" ")))?;
    let state = found.state.as_deref().map(|state| state.display().to_string());
    let state = state.unwrap_or_else(|| "nowhere".to_owned());
    let same = if found.same_state { "yours" } else { "not yours: you do not see its jobs" };
    output::line(format_args!("its state is in {state}, {same}"))?;
    let path = if found.same_path { "your" } else { "another" };
    output::line(format_args!("it has {path} PATH"))?;
    match found.missing.len() {
        0 => output::line("it has all of your variables")?,
        count => output::line(format_args!(
            "it lacks {count} of your variables: {}",
            found.missing.join(" ")
        ))?,
    }
    match &found.error {
        None => output::line(format_args!("it has the tools {}", found.tools.join(" "))),
        Some(why) => output::line(format_args!("its tools cannot be listed: {why}")),
    }
}

/// What a person says of the server.
pub(super) struct Words<'a> {
    pub(super) name: &'a str,
    pub(super) dialect: Option<&'a str>,
    /// Which sets of tools; those of the settings if there are none.
    pub(super) sets: &'a [String],
    pub(super) mode: Option<Mode>,
}

impl Words<'_> {
    /// The server as it is written down.
    pub(super) fn describe(
        &self,
        context: &Context,
        client: &Client,
        scope: Scope,
    ) -> Result<Server, Failure> {
        let mut arguments = Vec::new();
        if let Some(state) = &context.named_state {
            let text = state.to_str().ok_or_else(|| {
                let why = format!("{} is not UTF-8, and no client could say it", state.display());
                Failure::invalid("--state-dir", why)
            })?;
            arguments.extend(["--state-dir".to_owned(), text.to_owned()]);
        }
        arguments.push("mcp".to_owned());
        if let Some(dialect) = self.dialect {
            let known = umbo_tools::dialects();
            if !known.contains(&dialect) {
                let known = known.join(" ");
                return Err(Failure::new(format!(
                    "--dialect: there is no {dialect:?}; there are: {known}"
                )));
            }
            arguments.extend(["--dialect".to_owned(), dialect.to_owned()]);
        }
        if !self.sets.is_empty() {
            arguments.extend(["--tools".to_owned(), self.sets.join(",")]);
        }
        if let Some(mode) = self.mode {
            arguments.extend(["--mode".to_owned(), mode.to_string()]);
        }
        let naming = match scope {
            Scope::User if client.is_desktop => Naming::Path,
            _ => Naming::Short,
        };
        let command = server::command(&Context::search_path(), naming)?;
        Ok(Server { name: self.name.to_owned(), command, arguments })
    }
}

/// A file that is not edited, and what to do instead.
fn by_hand(client: &Client, site: &Site, server: &Server, problem: &Problem) -> Failure {
    let place = visible_line(&located(site, problem)).into_owned();
    let advice = match install::missing(client, site.text.as_deref().unwrap_or_default(), server) {
        Ok(Missing::Lines(lines)) => format!(" By hand, it would have to say:\n\n{lines}"),
        Ok(Missing::Entry { line, replaces }) => {
            let instead =
                if replaces { format!(" instead of its `{}`", server.name) } else { String::new() };
            format!(
                " By hand, this would have to go into the `{}` that it has{instead}:\n\n{line}",
                client.section
            )
        }
        Err(_) => String::new(),
    };
    Failure::laid_out(format!("{place}; nothing was changed.{advice}"))
}

pub(super) fn located(site: &Site, problem: &Problem) -> String {
    let line = problem.line.map_or_else(String::new, |line| format!(":{line}"));
    format!("{}{line}: {}", site.path.display(), problem.why)
}

/// Whether and how a person is asked.
pub(super) enum Asked {
    /// They only want to see it.
    Print,
    /// They said yes before.
    Yes,
    AtTheTerminal,
}

impl Asked {
    pub(super) fn new(print: bool, yes: bool) -> Self {
        match (print, yes) {
            (true, _) => Self::Print,
            (false, true) => Self::Yes,
            (false, false) => Self::AtTheTerminal,
        }
    }
}

/// Shows a change; whether it is to be made.
pub(super) fn consent(
    context: &Context,
    report: &mut Report<'_>,
    diff: String,
    asked: &Asked,
) -> Result<bool, Failure> {
    let shown = secrets::shared()?.mask_text(&diff);
    report.diff = Some(diff);
    match asked {
        Asked::Print => {
            gate::answer(context.format, report, || output::text(&shown))?;
            return Ok(false);
        }
        Asked::Yes => {}
        Asked::AtTheTerminal => {
            if !io::stdin().is_terminal() {
                return Err(Failure::new(
                    "there is nobody to ask, as standard input is no terminal: --yes does it, \
                     --print only shows it",
                ));
            }
        }
    }
    let asks = matches!(asked, Asked::AtTheTerminal);
    if asks || context.format == Format::Text {
        output::talk_lines(shown.trim_end());
    }
    if asks && !gate::confirm(&format!("Change {}?", report.file.display()))? {
        return Err(Failure::new("nothing was changed"));
    }
    Ok(true)
}

fn follow_up(client: &Client, scope: Scope, report: &Report<'_>) {
    if let Some(backup) = &report.backup {
        output::talk(format_args!("As it was before: {}", backup.display()));
    }
    let note = if scope == Scope::Project { client.project_note } else { "" };
    let text = format!("{} sees it when it starts next. {note}", client.title);
    output::talk(text.trim_end());
}

/// A client, and how umbo stands with it.
#[derive(Serialize)]
struct Standing {
    client: &'static str,
    title: &'static str,
    /// Whether its program or its settings are on this machine.
    found: bool,
    user: Option<Place>,
    project: Option<Place>,
}

/// A file of a client.
#[derive(Serialize)]
pub(super) struct Place {
    pub(super) file: PathBuf,
    pub(super) exists: bool,
    /// Whether umbo is in it.
    pub(super) installed: bool,
    /// Why that cannot be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    /// The command line that is in it.
    #[serde(skip)]
    pub(super) words: Vec<String>,
}

fn list(context: &Context, name: &str) -> Result<ExitCode, Failure> {
    let standings: Vec<Standing> = CLIENTS
        .iter()
        .map(|client| Standing {
            client: client.name,
            title: client.title,
            found: site::is_here(client),
            user: look(client, Scope::User, name),
            project: look(client, Scope::Project, name),
        })
        .collect();
    gate::answer(context.format, &standings, || show(&standings))?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn look(client: &Client, scope: Scope, name: &str) -> Option<Place> {
    let files = if scope == Scope::User { client.user } else { client.project };
    let first = files.first()?;
    let site = match site::choose(client, scope, name) {
        Ok(site) => site,
        Err(Failure::BrokenPipe) => return None,
        Err(failure) => {
            let (file, error) = (PathBuf::from(first), Some(failure.to_string()));
            return Some(Place { file, exists: true, installed: false, error, words: Vec::new() });
        }
    };
    let entry = install::find(client, site.text.as_deref().unwrap_or_default(), name);
    let error = entry.as_ref().err().map(|problem| located(&site, problem));
    let entry = entry.ok().flatten().filter(server::is_umbo);
    let words = entry.as_ref().map(server::words).unwrap_or_default();
    let (exists, installed) = (site.text.is_some(), entry.is_some());
    Some(Place { file: site.path, exists, installed, error, words })
}

fn show(standings: &[Standing]) -> Result<(), Failure> {
    let state = |place: &Option<Place>| match place {
        None => "",
        Some(place) if place.error.is_some() => "?",
        Some(place) if place.installed => "yes",
        Some(_) => "no",
    };
    let head =
        ["CLIENT", "FOUND", "IN YOURS", "IN PROJECT", "YOUR SETTINGS"].map(str::to_owned).to_vec();
    let rows = standings.iter().map(|standing| {
        let here = if standing.found { "yes" } else { "no" };
        let file = standing.user.as_ref().map(|place| place.file.display().to_string());
        let cells = [standing.client, here, state(&standing.user), state(&standing.project)];
        cells.map(str::to_owned).into_iter().chain(file).collect()
    });
    output::wrapped(&std::iter::once(head).chain(rows).collect::<Vec<Vec<String>>>())?;
    let places = standings.iter().flat_map(|standing| [&standing.user, &standing.project]);
    for error in places.flatten().filter_map(|place| place.error.as_ref()) {
        output::talk(error);
    }
    output::talk("`umbo install CLIENT` shows the change, asks, and makes it");
    Ok(())
}
