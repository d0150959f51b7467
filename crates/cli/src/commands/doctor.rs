//! `umbo doctor`: what this machine allows, and what of the configuration counts.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use umbo_engine::doctor;
use umbo_gate::{DIRECTORY, FileState, FileTrust, Layer, Snapshot, project_of};

use super::{install, rules};
use crate::args::Doctor;
use crate::config::{Config, FILE, Source, Standing};
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::install::site::{self, Scope};
use crate::install::{Client, check, serves};
use crate::output::{self, Cell, Format, Tone};
use crate::spinner::Working;

pub(crate) fn run(context: &Context, args: &Doctor) -> Result<ExitCode, Failure> {
    if let Some(client) = args.client {
        return about(context, client);
    }
    let machine = doctor::examine(&Context::search_path()).into_iter().map(|finding| Found {
        name: finding.name.to_owned(),
        works: finding.works,
        detail: finding.detail,
        meaning: finding.meaning,
    });
    let machine: Vec<Found> = machine.collect();
    let settings = configuration(context);
    match context.format {
        Format::Json => output::json(&machine.iter().chain(&settings).collect::<Vec<_>>())?,
        Format::Text => {
            let state = format!("state in {}", context.state.display());
            output::file(&state, &context.state)?;
            output::line("")?;
            list(machine)?;
            output::text("\nconfiguration\n\n")?;
            list(settings)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Why a client sees umbo, or does not: its program, its settings, and what it starts.
fn about(context: &Context, client: &Client) -> Result<ExitCode, Failure> {
    let mut findings = vec![program(client)];
    let places = [("your settings", Scope::User), ("project settings", Scope::Project)];
    let mut words = Vec::new();
    for (name, scope) in places {
        let Some(place) = install::look(client, scope, "umbo") else { continue };
        if place.installed && words.is_empty() {
            words.clone_from(&place.words);
        }
        findings.push(setting(client, name, place, scope));
    }
    let is_there = !words.is_empty();
    // One of the two is enough.
    if is_there {
        for found in findings[1..].iter_mut().filter(|found| !found.works) {
            found.works = true;
            "umbo is not in it, and need not be".clone_into(&mut found.meaning);
        }
    }
    if is_there && client.starter.is_some() && findings[0].works {
        let _working = Working::on(format!("starting {}", client.title));
        findings.extend(started(client, &check::check(client, &context.state)?));
    } else if is_there {
        findings.push(serving(serves::tools(&words, std::env::vars_os())));
    }
    let is_well = is_there && findings.iter().all(|found| found.works);
    match context.format {
        Format::Json => output::json(&findings)?,
        Format::Text => list(findings)?,
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn program(client: &Client) -> Found {
    let names = client.programs.join(" or ");
    if site::has_program(client) {
        Found::new("program", names, format!("{} is here", client.title))
    } else {
        let meaning = format!("{} is not where programs are searched (PATH)", client.title);
        Found::new("program", names, meaning).broken()
    }
}

fn setting(client: &Client, name: &str, place: install::Place, scope: Scope) -> Found {
    let path = place.file.display().to_string();
    if let Some(error) = place.error {
        return Found::new(name, path, error).broken();
    }
    if place.installed {
        let note = if scope == Scope::Project { client.project_note } else { "" };
        return Found::new(name, path, format!("umbo is in it. {note}").trim_end());
    }
    let option = if scope == Scope::Project { " --project" } else { "" };
    let way = format!("umbo is not in it; `umbo install {}{option}` puts it there", client.name);
    Found::new(name, path, way).broken()
}

/// What the client itself started.
fn started(client: &Client, found: &check::Found) -> Vec<Found> {
    if !found.started {
        let meaning = "it may ask you first, be switched off there, or name another program; look at its own list";
        let detail = format!("{} started no server of this umbo", client.title);
        return vec![Found::new("start", detail, meaning).broken()];
    }
    let command = found.command.join(" ");
    let state = found.state.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
    let (state, path) = (
        if found.same_state {
            Found::new("state", state, "your `umbo jobs` and `umbo approvals` show what it does")
        } else {
            let way = "not yours: set the same UMBO_STATE_DIR there, or install with --state-dir";
            Found::new("state", state, way).broken()
        },
        if found.same_path {
            Found::new("PATH", "as yours", "its commands find the programs that you find")
        } else {
            Found::new("PATH", "not yours", "its commands may not find the programs that you find")
        },
    );
    let tools = match &found.error {
        None => Ok(found.tools.clone()),
        Some(why) => Err(why.clone()),
    };
    vec![
        Found::new("start", command, format!("{} starts it", client.title)),
        state,
        path,
        serving(tools),
    ]
}

fn serving(tools: Result<Vec<String>, String>) -> Found {
    match tools {
        Ok(tools) => Found::new("tools", tools.join(" "), "the agent has these"),
        Err(why) => Found::new("tools", why, "started by hand it does not serve either").broken(),
    }
}

#[derive(Serialize)]
struct Found {
    name: String,
    works: bool,
    detail: String,
    meaning: String,
}

impl Found {
    fn new(name: impl Into<String>, detail: impl Into<String>, meaning: impl Into<String>) -> Self {
        Self { name: name.into(), works: true, detail: detail.into(), meaning: meaning.into() }
    }

    fn broken(self) -> Self {
        Self { works: false, ..self }
    }
}

/// Each with what it means: beside it where no person reads, below it on a terminal.
fn list(findings: Vec<Found>) -> Result<(), Failure> {
    let is_wide = output::width().is_none();
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for found in findings {
        let (mark, tone) = if found.works { ("yes", Tone::Good) } else { ("no", Tone::Bad) };
        let mut row = vec![Cell::toned(mark, tone), found.name.into(), found.detail.into()];
        if is_wide {
            row.push(found.meaning.into());
            rows.push(row);
        } else {
            rows.push(row);
            rows.push(vec!["".into(), "".into(), Cell::toned(found.meaning, Tone::Faint)]);
        }
    }
    output::wrapped(&rows)
}

/// Which files are read, what of them is ignored, and why.
fn configuration(context: &Context) -> Vec<Found> {
    let config = &context.config;
    let mut findings: Vec<Found> =
        config.sources.iter().map(|source| settings(config, source)).collect();
    findings.extend(config.problems.iter().map(|problem| wrong("configuration", problem)));
    let files = standing(context).unwrap_or_else(|failure| {
        findings.push(wrong("trust", &failure));
        Vec::new()
    });
    match rules::examine(context) {
        Ok(checked) => {
            findings.extend(checked.files.iter().filter_map(|file| rule_file(file, &files)));
            findings.extend(checked.errors.iter().map(|error| wrong("rules", error)));
        }
        Err(failure) => findings.push(wrong("rules", &failure)),
    }
    let others = files.iter().filter(|file| ![FILE, "rules.toml"].contains(&file.file.as_str()));
    findings.extend(others.map(|file| {
        let path = Path::new(DIRECTORY).join(&file.file).display().to_string();
        let found = Found::new("project file", path, file.meaning);
        if file.state == FileState::Trusted { found } else { found.broken() }
    }));
    findings
}

/// Something that has to be right first.
fn wrong(name: &str, what: &impl ToString) -> Found {
    Found::new(name, what.to_string(), "until this is right no command is started").broken()
}

fn settings(config: &Config, source: &Source) -> Found {
    let name = format!("{} config", source.layer);
    let path = source.path.display().to_string();
    let ignored: Vec<String> = config
        .layers
        .iter()
        .flat_map(|setting| setting.ignored.iter().map(move |ignored| (setting, ignored)))
        .map(|(setting, ignored)| format!("{} ({})", setting.key.name, ignored.origin.place()))
        .collect();
    match source.standing {
        Standing::Untrusted if ignored.is_empty() => {
            Found::new(name, path, "nobody trusted it, but it only tightens, so all of it counts")
        }
        Standing::Untrusted => {
            Found::new(name, path, untrusted(source.meaning, &ignored.join(", "))).broken()
        }
        Standing::Wrong | Standing::Unfit => Found::new(name, path, source.meaning).broken(),
        Standing::Absent | Standing::Counts => Found::new(name, path, source.meaning),
    }
}

fn rule_file(file: &rules::RuleFile, standing: &[FileTrust]) -> Option<Found> {
    if file.layer == Layer::Builtin.to_string() {
        return None;
    }
    let name = format!("{} rules", file.layer);
    if file.ignored == 0 {
        let meaning = format!("{} rules, and all count", file.rules);
        return Some(Found::new(name, &file.path, meaning));
    }
    let why = standing.iter().find(|trust| trust.file == "rules.toml");
    let why = why.map_or("it is not trusted", |trust| trust.meaning);
    let ignored = format!("rules that allow: {}", file.ignored);
    Some(Found::new(name, &file.path, untrusted(why, &ignored)).broken())
}

/// Why something of a project does not count, what does not, and what would change that.
fn untrusted(why: &str, ignored: &str) -> String {
    let why = why.split(';').next().unwrap_or(why);
    format!(
        "{why}; ignored: {ignored}; look at it, then run `umbo trust` there in a terminal of your own"
    )
}

/// How the project's files stand.
fn standing(context: &Context) -> Result<Vec<FileTrust>, Failure> {
    let project = project_of(&Context::directory()?);
    let snapshot = Snapshot::read(&project)?;
    if snapshot.digests().next().is_none() {
        return Ok(Vec::new());
    }
    Ok(gate::paths(context)?.trust()?.file_states(&project, &snapshot)?)
}
