//! `umbo config`: which settings hold, who said so, and changing one's own.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use umbo_gate::{DIRECTORY, Digest, Event, Layer, UserFile};

use crate::args::{Config as Words, ConfigPath, ConfigSet, ConfigShow, ConfigUnset};
use crate::config::key::{self, KEYS, Key};
use crate::config::layers::Setting;
use crate::config::value::{Kind, Value, is_name};
use crate::config::{self, Config, FILE, Problem, Source, Standing, did_you_mean, edit};
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::install::diff;
use crate::output::{self, Format};
use crate::secrets;

/// Variables that are no settings.
const OTHERS: [&str; 6] =
    ["UMBO_CONFIG_DIR", "UMBO_FAILPOINT", "UMBO_JOB", "UMBO_OWNER", "UMBO_RUN", "UMBO_STATE_DIR"];

pub(crate) fn run(context: &Context, words: &Words) -> Result<ExitCode, Failure> {
    gate::only_outside_jobs("config")?;
    match words {
        Words::Set(args) => set(context, args),
        Words::Unset(args) => unset(context, args),
        Words::Show(args) => show(context, args),
        Words::Path(args) => path(context, args),
        Words::Check => check(context),
        Words::Confirm => confirm(context),
    }
}

#[derive(Serialize)]
struct Shown<'a> {
    project: Option<&'a Path>,
    files: Vec<File<'a>>,
    settings: Vec<Entry<'a>>,
    problems: Vec<String>,
}

#[derive(Serialize)]
struct File<'a> {
    layer: Layer,
    path: &'a Path,
    standing: Standing,
    meaning: &'static str,
}

impl<'a> File<'a> {
    fn new(source: &'a Source) -> Self {
        let Source { layer, path, standing, meaning } = source;
        Self { layer: *layer, path, standing: *standing, meaning }
    }
}

#[derive(Serialize)]
struct Entry<'a> {
    key: &'static str,
    value: Option<serde_json::Value>,
    #[serde(flatten)]
    place: config::Place<'a>,
    ignored: Vec<Ignored<'a>>,
    meaning: &'static str,
}

#[derive(Serialize)]
struct Ignored<'a> {
    value: serde_json::Value,
    #[serde(flatten)]
    place: config::Place<'a>,
    why: &'static str,
}

fn show(context: &Context, args: &ConfigShow) -> Result<ExitCode, Failure> {
    let config = &context.config;
    let shown: Vec<&Setting> = match &args.key {
        None => config.layers.iter().collect(),
        Some(name) => named(config, name)?,
    };
    match context.format {
        Format::Json => output::json(&Shown {
            project: config.project.as_deref(),
            files: files(config),
            settings: shown.iter().map(|setting| entry(config, setting)).collect(),
            problems: config.problems.iter().map(ToString::to_string).collect(),
        })?,
        Format::Text => {
            print(config, &shown, args.origin)?;
            tell(&config.problems);
        }
    }
    Ok(if config.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The setting of a name, or those of a table.
fn named<'a>(config: &'a Config, name: &str) -> Result<Vec<&'a Setting>, Failure> {
    let table = format!("{name}.");
    let found: Vec<&Setting> = config
        .layers
        .iter()
        .filter(|setting| setting.key.name == name || setting.key.name.starts_with(&table))
        .collect();
    if found.is_empty() { Err(unknown(name)) } else { Ok(found) }
}

fn unknown(name: &str) -> Failure {
    Failure::new(format!("there is no setting `{name}`{}", did_you_mean(name)))
}

fn files(config: &Config) -> Vec<File<'_>> {
    config.sources.iter().map(File::new).collect()
}

fn entry<'a>(config: &'a Config, setting: &'a Setting) -> Entry<'a> {
    let ignored = setting.ignored.iter().map(|ignored| Ignored {
        value: ignored.value.to_json(),
        place: ignored.origin.to_json(),
        why: ignored.why.as_str(),
    });
    Entry {
        key: setting.key.name,
        value: config.layers.value(setting.key.name).map(Value::to_json),
        place: setting.origin.to_json(),
        ignored: ignored.collect(),
        meaning: setting.key.meaning,
    }
}

/// Prints settings as a file could have them.
fn print(config: &Config, settings: &[&Setting], with_origin: bool) -> Result<(), Failure> {
    let masker = secrets::shared()?;
    let statement = |setting: &Setting| match config.layers.value(setting.key.name) {
        Some(value) => format!("{} = {}", setting.key.name, setting.key.kind.to_toml(value)),
        None => format!("# {} is not set", setting.key.name),
    };
    let lines: Vec<String> =
        settings.iter().map(|setting| masker.mask_text(&statement(setting))).collect();
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0).min(60);
    for (setting, line) in settings.iter().zip(lines) {
        if with_origin {
            output::line(format_args!("{line:width$}  # {}", setting.origin))?;
        } else {
            output::line(line)?;
        }
        for ignored in &setting.ignored {
            let said = masker.mask_text(&setting.key.kind.to_toml(&ignored.value).to_string());
            let why = ignored.why.as_str();
            output::line(format_args!("# {} says {said}: ignored, {why}", ignored.origin))?;
        }
    }
    Ok(())
}

fn tell(problems: &[Problem]) {
    for problem in problems {
        output::talk(format_args!("umbo: {problem}"));
    }
}

#[derive(Serialize)]
struct Paths {
    user: PathBuf,
    project: PathBuf,
}

fn path(context: &Context, args: &ConfigPath) -> Result<ExitCode, Failure> {
    let project = umbo_gate::project_of(&Context::directory()?).join(DIRECTORY).join(FILE);
    let paths = Paths { user: own_file()?, project };
    gate::answer(context.format, &paths, || {
        output::line(if args.project { &paths.project } else { &paths.user }.display())
    })?;
    Ok(ExitCode::SUCCESS)
}

fn own_file() -> Result<PathBuf, Failure> {
    Ok(Context::configuration()?.join(FILE))
}

#[derive(Serialize)]
struct Checked<'a> {
    ok: bool,
    files: Vec<File<'a>>,
    errors: Vec<String>,
}

fn check(context: &Context) -> Result<ExitCode, Failure> {
    let config = &context.config;
    let strays = env::vars_os().filter_map(|(name, _)| stray(name.to_str()?));
    let problems: Vec<Problem> = config.problems.iter().cloned().chain(strays).collect();
    let checked = Checked {
        ok: problems.is_empty(),
        files: files(config),
        errors: problems.iter().map(ToString::to_string).collect(),
    };
    gate::answer(context.format, &checked, || {
        let rows: Vec<Vec<String>> = config
            .sources
            .iter()
            .map(|source| {
                let path = source.path.display().to_string();
                vec![source.layer.to_string(), path, source.meaning.to_owned()]
            })
            .collect();
        output::wrapped(&rows)?;
        tell(&problems);
        Ok(())
    })?;
    Ok(if checked.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A variable that looks like one of umbo's and is none.
fn stray(name: &str) -> Option<Problem> {
    let known: Vec<String> = KEYS.iter().filter_map(Key::variable).collect();
    if !name.starts_with("UMBO_") || OTHERS.contains(&name) || known.iter().any(|key| key == name) {
        return None;
    }
    let near = umbo_text::nearest(name, known.iter().map(String::as_str).chain(OTHERS));
    let meant = umbo_text::did_you_mean([near.first()?]);
    Some(Problem::new(name, format!("there is no such variable{meant}")))
}

#[derive(Serialize)]
struct Edited<'a> {
    file: &'a Path,
    key: &'a str,
    value: Option<serde_json::Value>,
}

fn set(context: &Context, args: &ConfigSet) -> Result<ExitCode, Failure> {
    let (name, text) = (args.key.as_str(), args.value.as_str());
    let target = Target::find(name)?;
    let (kind, value) = match &target {
        Target::Setting(key) if key.kind == Kind::Variables => {
            let hint = format!("umbo config set {name}.NAME VALUE");
            return Err(Failure::new(format!("`{name}` is a table; `{hint}` sets one of it")));
        }
        Target::Setting(key) => {
            let refused = || config::refusal(key.kind, &format!("{text:?}"));
            let value = key.kind.read_text(text);
            (key.kind, value.ok_or_else(|| Failure::new(format!("{name}: {}", refused())))?)
        }
        Target::Variable(_) => (Kind::Variables, Value::Text(text.to_owned())),
    };
    let file = own_file()?;
    if !args.yes {
        only_for_a_person("config set", &file)?;
    }
    refuse_unconfirmed(context)?;
    let toml = kind.to_toml(&value);
    let changed = edit::set(&own_text(&file)?, &target.place(), &toml)
        .map_err(|problem| Failure::new(format!("{}: {problem}", file.display())))?;
    save(context, &file, &changed)?;
    // A variable may be a secret, which is not repeated.
    let is_shown = matches!(target, Target::Setting(_));
    let edited = Edited { file: &file, key: name, value: is_shown.then(|| value.to_json()) };
    gate::answer(context.format, &edited, || {
        let said = if is_shown { format!("{name} = {toml}") } else { format!("{name} is set") };
        output::line(format_args!("{}: {said}", file.display()))
    })?;
    say_who_wins(&target, &file);
    Ok(ExitCode::SUCCESS)
}

fn unset(context: &Context, args: &ConfigUnset) -> Result<ExitCode, Failure> {
    let name = args.key.as_str();
    let target = Target::find(name)?;
    let file = own_file()?;
    if !args.yes {
        only_for_a_person("config unset", &file)?;
    }
    refuse_unconfirmed(context)?;
    let changed = edit::unset(&own_text(&file)?, &target.place())
        .map_err(|problem| Failure::new(format!("{}: {problem}", file.display())))?
        .ok_or_else(|| Failure::new(format!("{} does not set `{name}`", file.display())))?;
    save(context, &file, &changed)?;
    let edited = Edited { file: &file, key: name, value: None };
    gate::answer(context.format, &edited, || {
        output::line(format_args!("{}: {name} is not set any more", file.display()))
    })?;
    say_who_wins(&target, &file);
    Ok(ExitCode::SUCCESS)
}

/// Refuses to change a file without a person at a terminal, who may have an editor instead.
fn only_for_a_person(verb: &str, file: &Path) -> Result<(), Failure> {
    gate::only_for_a_person(verb).map_err(|refusal| {
        Failure::new(format!("{refusal}; run it in one, give --yes, or edit {}", file.display()))
    })
}

/// What is to be changed.
enum Target {
    Setting(&'static Key),
    /// One variable of a table of them.
    Variable(String),
}

/// The table of variables.
const VARIABLES: &str = "environment.set";

impl Target {
    fn find(name: &str) -> Result<Self, Failure> {
        let variable = name.strip_prefix(VARIABLES).and_then(|rest| rest.strip_prefix('.'));
        match (variable, key::find(name)) {
            (Some(variable), _) if is_name(variable) => Ok(Self::Variable(variable.to_owned())),
            (Some(_), _) => Err(Failure::new(format!(
                "{name}: no variable is called so; write {VARIABLES}.NAME"
            ))),
            (None, Some(key)) => Ok(Self::Setting(key)),
            (None, None) => Err(unknown(name)),
        }
    }

    /// Where it is in a file.
    fn place(&self) -> Vec<&str> {
        match self {
            Self::Setting(key) => key.name.split('.').collect(),
            Self::Variable(name) => VARIABLES.split('.').chain([name.as_str()]).collect(),
        }
    }

    fn key(&self) -> Option<&'static Key> {
        match self {
            Self::Setting(key) => Some(key),
            Self::Variable(_) => key::find(VARIABLES),
        }
    }
}

pub(super) fn own_text(file: &Path) -> Result<String, Failure> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Failure::new(format!("cannot read {}: {error}", file.display()))),
    }
}

/// Writes the file, and confirms it: a person did.
pub(super) fn save(context: &Context, file: &Path, text: &str) -> Result<(), Failure> {
    edit::save(file, text)
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", file.display())))?;
    let written = UserFile::read(&Context::configuration()?, FILE)?;
    Ok(gate::paths(context)?.confirm_file(&written, umbo_ops::now())?)
}

/// Refuses to change a file that somebody else has changed: what they wrote would count with it.
pub(super) fn refuse_unconfirmed(context: &Context) -> Result<(), Failure> {
    let files = gate::paths(context)?.unconfirmed_files()?;
    let settings = files.iter().find(|file| file.path.ends_with(FILE));
    settings.and_then(UserFile::warning).map_or(Ok(()), |warning| Err(Failure::new(warning)))
}

#[derive(Serialize)]
struct Confirmed {
    files: Vec<PathBuf>,
}

/// Shows what was changed, and lets it count if the person says so.
fn confirm(context: &Context) -> Result<ExitCode, Failure> {
    gate::only_for_a_person("config confirm")?;
    let gate_paths = gate::paths(context)?;
    let files = gate_paths.unconfirmed_files()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for file in &files {
        let (before, after) = (file.confirmed.as_deref().map(text), file.current().map(text));
        let diff = diff::unified(&file.path, before.as_deref(), after.as_deref());
        output::talk_lines(diff.trim_end());
    }
    if !files.is_empty() {
        if !gate::confirm("Let these changes count?")? {
            return Err(Failure::new("nothing was confirmed"));
        }
        let now = umbo_ops::now();
        for file in &files {
            gate_paths.confirm_file(file, now)?;
        }
        let named = |file: &UserFile| {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, file.current().map(Digest::of))
        };
        let event = Event::Confirmed { files: files.iter().map(named).collect() };
        gate_paths.audit()?.append(&event, now)?;
    }
    let confirmed = Confirmed { files: files.into_iter().map(|file| file.path).collect() };
    gate::answer(context.format, &confirmed, || {
        if confirmed.files.is_empty() {
            return output::line("nothing was changed that is not confirmed");
        }
        confirmed
            .files
            .iter()
            .try_for_each(|file| output::line(format_args!("confirmed {}", file.display())))
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Says so if another source counts here all the same, or if the file is wrong elsewhere.
fn say_who_wins(target: &Target, file: &Path) {
    let config = Context::read_configuration();
    tell(&config.problems);
    let Some(setting) = target.key().and_then(|key| config.layers.setting(key.name)) else {
        return;
    };
    if setting.origin.is_said() && !setting.origin.is_file(file) {
        output::talk(format_args!(
            "umbo: {} is said by {} here, which counts more",
            setting.key.name, setting.origin
        ));
    }
}
