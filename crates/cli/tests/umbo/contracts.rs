//! The contracts of the dialects, as data: `crates/tools/contracts/DIALECT/TOOL.yaml` has calls and
//! what they must answer, so that a reader can hold them against the document they come from.
//!
//! A file states its tool (`tool`: schemas without their descriptions, overlap, binding), says by the
//! lines of its source where it `differs`, and why, and has cases. A case is a list of steps over one
//! toolset, which `set` says more about, in a project of its `files` with the task runners that
//! `programs` names. A step calls a tool (`call`, `with`) and states its structured result exactly
//! (`is`) or in part (`has`), its text (`text`), whether it `fails`, and which events of other jobs ride
//! on it (`told`). `keep` remembers parts of the result, which later steps write as `$name`. Other steps
//! wait until a job `ends` or `prints` something, let it pass `$held` or `$later` (`release`;
//! `meanwhile` a call waits), or make a new toolset of the same caller (`reopen`). In expectations a
//! string `re:…` is a pattern that must match, `ge:…` a number that must be reached, and `any` is
//! anything; `$nap` is a command that sleeps longer than a test.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use regex::Regex;
use serde::Deserialize;
use serde_json::{Value, json};
use umbo_engine::{Condition, Engine, Job, Met};
use umbo_gate::GatePaths;
use umbo_tools::{
    Gatekeeper, Overlap, Owner, SettingValue, Ticket, Tool, ToolSet, Toolset, output_schema,
};

use crate::harness::{TIMEOUT, Umbo};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contract {
    /// Where it is written.
    #[serde(rename = "source")]
    _source: String,
    /// Where the tool is not as its source says, or more than that, and why; by its lines.
    #[serde(rename = "differs", default)]
    _differs: BTreeMap<String, String>,
    tool: Option<Stated>,
    cases: Vec<Case>,
}

/// A tool as its document has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    input: Value,
    output: Option<Value>,
    #[serde(default)]
    overlap: Overlap,
    binding: Option<Value>,
    #[serde(default)]
    examples: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// The project it is about.
    files: Option<BTreeMap<String, String>>,
    /// The task runners there are beside make; all that this machine has, unless given.
    programs: Option<Vec<String>>,
    #[serde(default)]
    set: Set,
    steps: Vec<Step>,
}

/// What a case wants to be otherwise: beside these, settings of dialects by their keys.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Set {
    /// The mode of its gate.
    mode: Option<String>,
    has_terminal: bool,
    longest_wait_ms: Option<u64>,
    minimize: bool,
    env: BTreeMap<String, String>,
    without: Vec<String>,
    beside: Vec<String>,
    #[serde(flatten)]
    settings: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    call: Option<String>,
    with: Option<Value>,
    /// What the caller calls this call.
    id: Option<String>,
    is: Option<Value>,
    has: Option<Value>,
    text: Option<String>,
    #[serde(default)]
    fails: bool,
    told: Option<Vec<Value>>,
    #[serde(default)]
    keep: BTreeMap<String, String>,
    ends: Option<String>,
    prints: Option<Prints>,
    release: Option<String>,
    /// Lets it pass as soon as the call waits.
    #[serde(default)]
    meanwhile: bool,
    #[serde(default)]
    reopen: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prints {
    job: String,
    text: String,
}

#[test]
fn claude_code_is_as_its_models_know_it() {
    hold("claude-code");
}

#[test]
fn codex_is_as_its_models_know_it() {
    hold("codex");
}

#[test]
fn lash_is_as_its_plugin_says() {
    hold("lash");
}

#[test]
fn meerkat_is_as_its_specification_says() {
    hold("meerkat");
}

#[test]
fn tasks_are_as_their_package_says() {
    hold("tasks");
}

#[test]
fn commands_of_omp_are_as_its_document_says() {
    hold_tools("omp", |tool| tool == "bash");
}

#[test]
fn jobs_of_omp_are_as_its_document_says() {
    hold_tools("omp", |tool| tool == "job");
}

#[test]
fn tasks_of_omp_are_as_its_document_says() {
    hold_tools("omp", |tool| tool == "recipe");
}

#[test]
fn all_else_of_omp_is_as_its_documents_say() {
    hold_tools("omp", |tool| !matches!(tool, "bash" | "job" | "recipe"));
}

#[test]
fn recipe_is_as_its_specification_says() {
    hold("recipe");
}

#[test]
fn umbo_is_as_promised() {
    hold("umbo");
}

#[test]
fn every_tool_has_a_contract_and_every_schema_is_checked_whole() {
    let umbo = Umbo::new();
    for dialect in umbo_tools::dialects() {
        let tools = whole(&umbo, dialect);
        let tools: BTreeSet<&str> = tools.tools().iter().map(|tool| tool.name).collect();
        let files = files(dialect);
        let files: BTreeSet<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(tools, files, "{dialect}");
    }
    for dialect in umbo_tools::dialects() {
        let tools = whole(&umbo, dialect);
        for tool in tools.tools() {
            for schema in
                [Some(&tool.input_schema), tool.output_schema.as_ref()].into_iter().flatten()
            {
                // Clients know only objects here.
                assert_eq!(schema["type"], "object", "{dialect} {}", tool.name);
                keywords(schema, &format!("{dialect} {}", tool.name));
            }
        }
    }
}

/// Every word of a schema is one that the checker knows.
fn keywords(schema: &Value, place: &str) {
    const KNOWN: &str = "type enum properties required additionalProperties items minItems \
                         minLength minimum maximum minProperties description default";
    for (word, value) in schema.as_object().unwrap() {
        assert!(KNOWN.split(' ').any(|known| known == word), "{place}: {word}");
        match word.as_str() {
            "properties" => {
                value.as_object().unwrap().values().for_each(|below| keywords(below, place));
            }
            "items" => keywords(value, place),
            "additionalProperties" if value.is_object() => keywords(value, place),
            _ => {}
        }
    }
}

/// The contracts of a dialect, by the names of their tools.
fn files(dialect: &str) -> Vec<(String, Contract)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/contracts").join(dialect);
    let mut files: Vec<_> = fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let contract = serde_saphyr::from_str(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), contract)
        })
        .collect();
    files.sort_by(|left, right| left.0.cmp(&right.0));
    assert!(!files.is_empty());
    files
}

#[track_caller]
fn hold(dialect: &str) {
    hold_tools(dialect, |_| true);
}

/// Holds some of the tools to their contracts.
#[track_caller]
fn hold_tools(dialect: &str, which: impl Fn(&str) -> bool) {
    for (name, contract) in files(dialect).into_iter().filter(|(name, _)| which(name)) {
        if let Some(stated) = &contract.tool {
            let umbo = Umbo::new();
            state(stated, whole(&umbo, dialect).tool(&name).unwrap());
        }
        let sets = sets(&Umbo::new(), dialect, &name);
        for case in &contract.cases {
            run(dialect, &name, case, &sets);
        }
    }
}

/// All tools of a dialect, in a project with a task: some are only there where there is one.
fn whole(umbo: &Umbo, dialect: &str) -> Toolset {
    fs::write(umbo.path().join("Makefile"), "all:\n\ttrue\n").unwrap();
    let builder = Toolset::builder(umbo.caller()).dialect(dialect);
    builder.setting("tools.shell.enabled", true).build().unwrap()
}

/// The whole schema of what a tool of ours answers, by its type: no field is there that the type does
/// not have. What says nothing is left out, so no field must be there.
fn typed(tool: &str, is_error: bool) -> Value {
    let mut schema = match (is_error, tool) {
        (true, _) => {
            json!({"type": "object", "properties": {"error": output_schema::<umbo_ops::Error>()}})
        }
        (_, "exec") => output_schema::<umbo_ops::JobAnswer>(),
        (_, "output") => output_schema::<umbo_ops::OutputAnswer>(),
        (_, "input") => output_schema::<umbo_ops::InputAnswer>(),
        (_, "wait") => output_schema::<umbo_ops::WaitAnswer>(),
        (_, "stop") => output_schema::<umbo_ops::StopAnswer>(),
        (_, "jobs") => output_schema::<umbo_ops::JobsAnswer>(),
        (_, "recipe") => output_schema::<umbo_ops::RecipeAnswer>(),
        (_, "read") => output_schema::<umbo_ops::files::ReadAnswer>(),
        (_, "search") => output_schema::<umbo_ops::files::SearchAnswer>(),
        (_, "find") => output_schema::<umbo_ops::files::FindAnswer>(),
        (_, "tree") => output_schema::<umbo_ops::files::TreeAnswer>(),
        (_, "write") => output_schema::<umbo_ops::files::WriteAnswer>(),
        (_, "edit") => output_schema::<umbo_ops::files::EditAnswer>(),
        (_, "undo") => output_schema::<umbo_ops::files::UndoAnswer>(),
        (_, other) => panic!("there is no type for {other}"),
    };
    close(&mut schema);
    // What ended meanwhile rides on any answer.
    if !is_error {
        schema["properties"]["completed"] = json!({"type": "array", "items": {"type": "object"}});
    }
    schema
}

/// Takes no field beyond those that are known, and misses none.
fn close(schema: &mut Value) {
    let Value::Object(words) = schema else { return };
    words.remove("required");
    if let Some(Value::Object(properties)) = words.get_mut("properties") {
        properties.values_mut().for_each(close);
        words.insert("additionalProperties".to_owned(), json!(false));
    }
    if let Some(items) = words.get_mut("items") {
        close(items);
    }
}

/// Holds a tool against what its document says.
fn state(stated: &Stated, tool: &Tool) {
    let said = |schema: &Value| {
        let mut schema = schema.clone();
        plain(&mut schema);
        schema
    };
    assert_eq!(said(&tool.input_schema), said(&stated.input), "{}", tool.name);
    let stated_output = stated.output.as_ref().map(said);
    assert_eq!(tool.output_schema.as_ref().map(said), stated_output, "{}", tool.name);
    assert_eq!(tool.overlap, stated.overlap, "{}", tool.name);
    let binding = tool.binding.as_ref().map(|binding| serde_json::to_value(binding).unwrap());
    assert_eq!(binding, stated.binding, "{}", tool.name);
    assert_eq!(tool.examples, stated.examples, "{}", tool.name);
}

/// A schema by what it means: without descriptions, with lists of names in one order, and without
/// saying that nothing is required.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.retain(|name, value| name != "description" || !value.is_string());
            map.retain(|name, value| name != "required" || *value != json!([]));
            map.values_mut().for_each(plain);
            for name in ["required", "enum"] {
                if let Some(Value::Array(names)) = map.get_mut(name) {
                    names.sort_by_key(ToString::to_string);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

/// Where the commands of a case run.
struct Place {
    directory: PathBuf,
    search_path: OsString,
}

/// A project of the case's files, if it has any.
fn project(umbo: &Umbo, case: &Case) -> PathBuf {
    let Some(files) = &case.files else { return umbo.path().to_owned() };
    let project = fs::canonicalize(umbo.path()).unwrap().join("project");
    fs::create_dir(&project).unwrap();
    for (file, text) in files {
        let path = project.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace("$nap", &umbo.nap())).unwrap();
    }
    project
}

/// A search path with `make`, what recipes here need, and of other task runners only the case's: they
/// say their name and their words.
fn search_path(umbo: &Umbo, case: &Case) -> OsString {
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let Some(runners) = &case.programs else { return inherited };
    let programs = umbo.path().join("programs");
    fs::create_dir(&programs).unwrap();
    for name in "bash echo ln ls make mkdir pwd rm sh sleep touch true".split(' ') {
        let found = std::env::split_paths(&inherited).map(|place| place.join(name));
        let found =
            found.into_iter().find(|path| path.is_file()).unwrap_or_else(|| panic!("{name}"));
        symlink(found, programs.join(name)).unwrap();
    }
    for name in runners {
        let path = programs.join(name);
        fs::write(&path, "#!/bin/sh\necho \"${0##*/} $*\"\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    programs.into()
}

fn toolset(umbo: &Umbo, dialect: &str, place: &Place, set: &Set, sets: &[ToolSet]) -> Toolset {
    let mut caller = umbo
        .caller()
        .directory(&place.directory)
        .owner(Owner::Named("tester".into()))
        .minimize(set.minimize)
        .environment(
            std::env::vars_os()
                .filter(|(name, _)| name != "PATH")
                .chain([("PATH".into(), place.search_path.clone())])
                .filter(|(name, _)| name.to_str().is_none_or(|name| !set.env.contains_key(name)))
                .chain(set.env.iter().map(|(name, value)| (name.into(), value.into()))),
        );
    if let Some(wait) = set.longest_wait_ms {
        caller = caller.longest_wait(Duration::from_millis(wait));
    }
    if let Some(mode) = &set.mode {
        let state = umbo.state();
        let files = GatePaths::new(state.join("gate"), state);
        caller = caller.gate(Gatekeeper::new(files, mode.parse().unwrap()));
    }
    let mut builder = Toolset::builder(caller)
        .dialect(dialect)
        .sets(sets.iter().copied())
        // Lines that every shell reads the same; the fallback has a case of its own.
        .setting("tools.shell.enabled", true)
        .setting("tools.shell.shell", "sh")
        .settings(set.settings.iter().map(|(key, value)| (key.clone(), setting(value))))
        .has_terminal(set.has_terminal)
        .beside(set.beside.clone());
    for tool in &set.without {
        builder = builder.without(tool);
    }
    builder.build().unwrap()
}

fn setting(value: &Value) -> SettingValue {
    match value {
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => number.as_u64().unwrap().into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(list) => {
            list.iter().map(|text| text.as_str().unwrap().to_owned()).collect::<Vec<_>>().into()
        }
        other => panic!("{other} is no value of a setting"),
    }
}

/// A case about a tool of a set has the tools of that set, and those of the shell: where there are
/// better tools than a command, some contracts refuse the command.
fn sets(umbo: &Umbo, dialect: &str, tool: &str) -> Vec<ToolSet> {
    let own = whole(umbo, dialect).tool(tool).map(|tool| tool.set);
    [ToolSet::Shell].into_iter().chain(own.filter(|set| *set != ToolSet::Shell)).collect()
}

fn run(dialect: &str, tool: &str, case: &Case, sets: &[ToolSet]) {
    let name = &format!("{dialect}/{tool} {}", case.name);
    let umbo = Umbo::new();
    let engine = umbo.engine();
    let (held, later) = (umbo.fifo("held"), umbo.fifo("later"));
    let place = Place { directory: project(&umbo, case), search_path: search_path(&umbo, case) };
    let mut tools = toolset(&umbo, dialect, &place, &case.set, sets);
    let mut kept = BTreeMap::from([
        ("nap".to_owned(), umbo.nap()),
        ("dir".to_owned(), place.directory.display().to_string()),
        ("held".to_owned(), format!("read go < {}", held.display())),
        ("later".to_owned(), format!("read go < {}", later.display())),
    ]);
    for (number, step) in case.steps.iter().enumerate() {
        let at = format!("{name}, step {}", number + 1);
        if step.reopen {
            tools.detach();
            tools = toolset(&umbo, dialect, &place, &case.set, sets);
        }
        if let Some(gate) = &step.release {
            // Waits until somebody stands at it.
            fs::write(umbo.path().join(gate), "\n").unwrap();
        }
        if let Some(job) = &step.ends {
            let job = find(&engine, &filled(job, &kept), &at);
            assert_eq!(job.wait(&[Condition::Exit], Some(TIMEOUT)).unwrap(), Met::Exit, "{at}");
        }
        if let Some(Prints { job, text }) = &step.prints {
            let job = find(&engine, &filled(job, &kept), &at);
            let pattern = regex::bytes::Regex::new(&regex::escape(text)).unwrap();
            let met = job.wait(&[Condition::Match { pattern, from: 0 }], Some(TIMEOUT)).unwrap();
            assert!(matches!(met, Met::Match { .. }), "{at}: {met:?}");
        }
        if let Some(tool) = &step.call {
            call(&tools, tool, step, &held, &mut kept, &at);
        }
    }
    tools.close();
}

fn call(
    tools: &Toolset,
    tool: &str,
    step: &Step,
    gate: &Path,
    kept: &mut BTreeMap<String, String>,
    at: &str,
) {
    let mut with = step.with.clone().unwrap_or_default();
    fill(&mut with, kept);
    let mut ticket = Ticket::builder().id(step.id.clone().unwrap_or_default());
    if step.meanwhile {
        let (gate, once) = (gate.to_owned(), Once::new());
        ticket = ticket.progress(move |_| once.call_once(|| fs::write(&gate, "\n").unwrap()));
    }
    let ticket = ticket.build();
    let result = tools.call(tool, with, &ticket);
    let events: Vec<&Value> = result.completed.iter().map(|told| &told.event).collect();
    let told = format!("{at}: {}\n{}\ntold: {events:?}", result.structured, result.text);
    assert_eq!(result.is_error, step.fails, "{told}");
    let schema = tools.tool(tool).and_then(|tool| tool.output_schema.as_ref());
    // Of our own contract, errors too are what the schema says.
    if let Some(schema) = schema.filter(|_| !result.is_error || tools.dialect() == "umbo")
        && let Err(problem) = umbo_tools::check(schema, &result.structured)
    {
        panic!("{told}\nis not what its schema says: {problem}");
    }
    if tools.dialect() == "umbo"
        && let Err(problem) = umbo_tools::check(&typed(tool, result.is_error), &result.structured)
    {
        panic!("{told}\nis not what its type says: {problem}");
    }
    for (expected, whole) in [(&step.is, true), (&step.has, false)] {
        let Some(mut expected) = expected.clone() else { continue };
        fill(&mut expected, kept);
        if let Err(place) = fits(&expected, &result.structured, whole, "") {
            panic!("{told}\nat {place}: expected {expected}");
        }
    }
    if let Some(text) = &step.text {
        let expected = Value::String(filled(text, kept));
        let actual = Value::String(result.text.clone());
        assert!(fits(&expected, &actual, true, "").is_ok(), "{told}\nexpected {expected}");
    }
    if let Some(expected) = &step.told {
        let mut expected = json!(expected);
        fill(&mut expected, kept);
        if let Err(place) = fits(&expected, &json!(events), false, "") {
            panic!("{told}\nat {place}: expected to be told {expected}");
        }
    }
    for (name, pointer) in &step.keep {
        let value = result.structured.pointer(pointer).unwrap_or_else(|| panic!("{told}"));
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        kept.insert(name.clone(), text);
    }
}

/// The job that a dialect's id means.
fn find(engine: &Engine, id: &str, at: &str) -> Job {
    let names = [id.to_owned(), id.trim_start_matches("job_").to_owned(), format!("codex-{id}")];
    let mut found = names.iter().filter_map(|name| engine.job(name).ok());
    found.next().unwrap_or_else(|| panic!("{at}: no job {id}"))
}

fn filled(text: &str, kept: &BTreeMap<String, String>) -> String {
    kept.iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${name}"), value))
}

/// Writes what was kept in the place of its names; a whole string that is a number becomes one.
fn fill(value: &mut Value, kept: &BTreeMap<String, String>) {
    match value {
        Value::String(text) if text.contains('$') => {
            let was_name = kept.contains_key(text.trim_start_matches('$'));
            *text = filled(text, kept);
            if was_name && let Ok(number) = text.parse::<i64>() {
                *value = number.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, kept)),
        Value::Object(map) => map.values_mut().for_each(|item| fill(item, kept)),
        _ => {}
    }
}

/// Whether a value is as expected; the place where it is not.
fn fits(expected: &Value, actual: &Value, whole: bool, place: &str) -> Result<(), String> {
    match (expected, actual) {
        (Value::String(pattern), Value::String(text)) if pattern.starts_with("re:") => {
            let pattern = Regex::new(&format!("(?s)^(?:{})$", &pattern[3..])).unwrap();
            if pattern.is_match(text) { Ok(()) } else { Err(place.to_owned()) }
        }
        (Value::String(least), Value::Number(number)) if least.starts_with("ge:") => {
            let least: f64 = least[3..].parse().unwrap();
            if number.as_f64() >= Some(least) { Ok(()) } else { Err(place.to_owned()) }
        }
        (Value::Object(expected), Value::Object(actual)) => {
            if whole && let Some(name) = actual.keys().find(|name| !expected.contains_key(*name)) {
                return Err(format!("{place}/{name} (not expected)"));
            }
            for (name, value) in expected {
                let place = format!("{place}/{name}");
                let actual = actual.get(name).ok_or_else(|| format!("{place} (missing)"))?;
                fits(value, actual, whole, &place)?;
            }
            Ok(())
        }
        (Value::Array(expected), Value::Array(actual)) if expected.len() == actual.len() => {
            for (index, (expected, actual)) in expected.iter().zip(actual).enumerate() {
                fits(expected, actual, whole, &format!("{place}/{index}"))?;
            }
            Ok(())
        }
        _ if expected == "any" || expected == actual => Ok(()),
        _ => Err(place.to_owned()),
    }
}
