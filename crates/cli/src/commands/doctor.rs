//! `umbo doctor`: what this machine allows, and what of the configuration counts.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use umbo_engine::doctor;
use umbo_gate::{DIRECTORY, FileState, Layer, Snapshot, TrustStore, project_of};

use super::rules;
use crate::config::{Config, Source, Standing};
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::output::{self, Format};

/// How a person makes a project count.
const TRUST: &str = "look at it, then run `umbo trust` there in a terminal of your own";

pub(crate) fn run(context: &Context) -> Result<ExitCode, Failure> {
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
            let state = context.engine.state_directory().display();
            output::line(format_args!("state in {state}\n"))?;
            output::table(&rows(machine), None)?;
            output::line("\nconfiguration\n")?;
            output::table(&rows(settings), None)?;
        }
    }
    Ok(ExitCode::SUCCESS)
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

fn rows(findings: Vec<Found>) -> Vec<Vec<String>> {
    let row = |found: Found| {
        let mark = if found.works { "yes" } else { "no" };
        vec![mark.into(), found.name, found.detail, found.meaning]
    };
    findings.into_iter().map(row).collect()
}

/// Which files are read, what of them is ignored, and why.
fn configuration(context: &Context) -> Vec<Found> {
    let config = &context.config;
    let mut findings: Vec<Found> =
        config.sources.iter().map(|source| settings(config, source)).collect();
    let broken = config.problems.iter().map(|problem| {
        let meaning = "until this is right no command is started";
        Found::new("configuration", problem.to_string(), meaning).broken()
    });
    findings.extend(broken);
    match rules::examine(context) {
        Ok(checked) => {
            findings.extend(checked.files.iter().filter_map(rule_file));
            findings.extend(checked.errors.iter().map(|error| wrong_rules(error)));
        }
        Err(failure) => findings.push(wrong_rules(&failure.to_string())),
    }
    findings.extend(trust());
    findings
}

fn settings(config: &Config, source: &Source) -> Found {
    let name = match source.layer {
        Layer::Project => "project config",
        _ => "user config",
    };
    let path = source.path.display().to_string();
    let ignored: Vec<String> = config
        .layers
        .iter()
        .flat_map(|setting| {
            setting
                .ignored
                .iter()
                .map(|ignored| format!("{} ({})", setting.key.name, ignored.origin.spot()))
        })
        .collect();
    match source.standing {
        Standing::Absent => Found::new(name, format!("there is no {path}"), source.meaning),
        Standing::Counts => Found::new(name, path, source.meaning),
        Standing::Unfit => Found::new(name, format!("{path} is not read"), source.meaning).broken(),
        Standing::Untrusted if ignored.is_empty() => {
            Found::new(name, path, "nobody trusted it, but it only tightens, so all of it counts")
        }
        Standing::Untrusted => {
            let detail = format!("{path} is not trusted; ignored: {}", ignored.join(", "));
            Found::new(name, detail, format!("only what tightens counts; {TRUST}")).broken()
        }
    }
}

fn rule_file(file: &rules::RuleFile) -> Option<Found> {
    if file.layer == Layer::Builtin.to_string() {
        return None;
    }
    let name = format!("{} rules", file.layer);
    let path = &file.path;
    Some(match file.ignored {
        0 => Found::new(name, format!("{path}: {} rules", file.rules), "all of them count"),
        count => {
            let detail = format!("{path} is not trusted; ignored: {count} rules that allow");
            Found::new(name, detail, format!("the others count; {TRUST}")).broken()
        }
    })
}

fn wrong_rules(error: &str) -> Found {
    Found::new("rules", error, "until this is right no command is started").broken()
}

/// The project's files that are not as somebody trusted them.
fn trust() -> Vec<Found> {
    let standing = || -> Result<Vec<umbo_gate::FileTrust>, Failure> {
        let project = project_of(&Context::directory()?);
        let snapshot = Snapshot::read(&project)?;
        if snapshot.digests().next().is_none() {
            return Ok(Vec::new());
        }
        let store = TrustStore::open(&Context::configuration()?, gate::key()?);
        Ok(store.standing(&project, &snapshot)?)
    };
    match standing() {
        Ok(files) => files
            .into_iter()
            .map(|file| {
                let path = Path::new(DIRECTORY).join(&file.file).display().to_string();
                let found = Found::new("trust", path, file.meaning);
                if file.state == FileState::Trusted { found } else { found.broken() }
            })
            .collect(),
        Err(failure) => {
            let meaning = "nothing of the project is trusted";
            vec![Found::new("trust", failure.to_string(), meaning).broken()]
        }
    }
}
