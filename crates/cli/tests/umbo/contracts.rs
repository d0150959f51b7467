//! The contracts of the dialects, as data: `crates/tools/contracts/DIALECT/TOOL.yaml` has calls and
//! what they must answer, so that a reader can hold them against the document they come from.
//!
//! A case is a list of steps over one toolset, in a project of its `files` with the task runners that
//! `programs` names. A step calls a tool (`call`, `with`) and states its
//! structured result exactly (`is`) or in part (`has`), its text (`text`) and whether it `fails`.
//! `keep` remembers parts of the result, which later steps write as `$name`. In expectations a
//! string `re:…` is a pattern that must match, `any` is anything, and `$nap` a command that sleeps longer than a test.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use regex::Regex;
use serde::Deserialize;
use serde_json::{Value, json};
use umbo_tools::{ShellSettings, Ticket, Toolset};

use crate::harness::Umbo;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contract {
    /// Where it is written.
    #[serde(rename = "source")]
    _source: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// The project it is about.
    files: Option<BTreeMap<String, String>>,
    /// The task runners there are beside make; all that this machine has, unless given.
    programs: Option<Vec<String>>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    call: String,
    #[serde(default)]
    with: Option<Value>,
    is: Option<Value>,
    has: Option<Value>,
    text: Option<String>,
    #[serde(default)]
    fails: bool,
    #[serde(default)]
    keep: BTreeMap<String, String>,
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
fn omp_is_as_its_documents_say() {
    hold("omp");
}

#[test]
fn recipe_is_as_its_specification_says() {
    hold("recipe");
}

#[test]
fn the_recipes_of_umbo_are_as_promised() {
    hold("umbo");
}

#[test]
fn a_task_is_in_the_store_from_its_start_to_its_end() {
    let umbo = Umbo::new();
    let tools = Toolset::builder()
        .engine(umbo.engine())
        .dialect("tasks")
        .directory(umbo.path())
        .environment(std::env::vars_os())
        .build()
        .unwrap();
    let (sender, changes) = std::sync::mpsc::channel();
    let sender = std::sync::Mutex::new(sender);
    tools.tasks().observe(move |change| {
        let _ = sender.lock().unwrap().send((change.op, change.task.output.clone()));
    });
    let with = json!({"command": "echo hi", "run_in_background": true});
    let result = tools.call("Bash", with, &Ticket::default());
    let id = result.structured["task_id"].as_str().unwrap();
    assert_eq!(changes.recv().unwrap(), ("started", String::new()));
    assert_eq!(changes.recv().unwrap(), ("completed", "hi\n".to_owned()));
    assert!(tools.tasks().has_pending());
    assert_eq!(tools.tasks().drain_completed()[0].id, id);
    assert_eq!(changes.recv().unwrap().0, "removed");
    let with = json!({"command": umbo.nap(), "run_in_background": true});
    let result = tools.call("Bash", with, &Ticket::default());
    let id = result.structured["task_id"].as_str().unwrap();
    assert_eq!(changes.recv().unwrap().0, "started");
    assert!(tools.tasks().stop(id).is_some());
    assert_eq!(changes.recv().unwrap().0, "killed");
}

#[test]
fn meerkat_is_off_until_it_is_turned_on() {
    let umbo = Umbo::new();
    let words = ["call", "--dialect", "meerkat", "shell", r#"{"command": "echo hi"}"#];
    assert_eq!(umbo.call(words).status(1).json()["error"], "shell_disabled");
    let on = umbo.call(words).env("UMBO_TOOLS_SHELL_ENABLED", "true").json();
    assert_eq!(on["exit_code"], 0);
    umbo.call(words).env("UMBO_TOOLS_SHELL_ENABLED", "maybe").refused();
}

#[test]
fn the_end_of_a_meerkat_job_is_an_event() {
    let umbo = Umbo::new();
    let tools = Toolset::builder()
        .engine(umbo.engine())
        .dialect("meerkat")
        .directory(umbo.path())
        .environment(std::env::vars_os())
        .shell_settings(ShellSettings {
            enabled: true,
            shell: "sh".into(),
            ..ShellSettings::default()
        })
        .build()
        .unwrap();
    let ticket = Ticket::default();
    let call = |tool: &str, with: Value| tools.call(tool, with, &ticket);
    let line = "until test -e go; do sleep 0.02; done; echo hi";
    let started = call("shell", json!({"command": line, "background": true}));
    let id = started.structured["job_id"].as_str().unwrap().to_owned();
    fs::write(umbo.path().join("go"), "").unwrap();
    umbo.outcome(&id[4..]);
    let result = call("shell_jobs", json!({}));
    let event = &result.completed[0].event;
    assert_eq!(event["event_type"], "shell_job_completed");
    assert_eq!((&event["data"]["job_id"], &event["data"]["command"]), (&json!(id), &json!(line)));
    assert_eq!(event["data"]["result"]["status"], "completed");
    assert_eq!(event["data"]["result"]["stdout"], "hi\n");
    assert!(call("shell_jobs", json!({})).completed.is_empty());
}

#[test]
fn guidance_mentions_a_tool_only_if_it_can_be_called() {
    let umbo = Umbo::new();
    let build = || Toolset::builder().engine(umbo.engine()).dialect("lash");
    let whole = build().build().unwrap().guidance();
    assert_eq!(whole.len(), 2);
    assert_eq!((whole[0].title, whole[1].title), ("Command Execution", "Git Safety"));
    assert!(whole[0].text.contains("`shell.write`"));
    let part = build().without("write_stdin").build().unwrap();
    assert!(!part.guidance()[0].text.contains("`shell.write`"));
    assert!(part.tool("write_stdin").is_none());
}

#[track_caller]
fn hold(dialect: &str) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/contracts").join(dialect);
    let mut files: Vec<_> =
        fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let contract: Contract = serde_saphyr::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for case in &contract.cases {
            let name = format!("{} {}", file.file_name().unwrap().display(), case.name);
            run(dialect, &name, case);
        }
    }
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

fn run(dialect: &str, name: &str, case: &Case) {
    let umbo = Umbo::new();
    let directory = project(&umbo, case);
    let path = ("PATH".into(), search_path(&umbo, case));
    let others = std::env::vars_os().filter(|(name, _)| name != "PATH");
    let tools = Toolset::builder()
        .engine(umbo.engine())
        .dialect(dialect)
        .directory(&directory)
        .environment(others.chain([path]))
        .shell_settings(ShellSettings {
            enabled: true,
            // Lines that every shell reads the same; the fallback has a test of its own.
            shell: "sh".into(),
            ..ShellSettings::default()
        })
        .build()
        .unwrap();
    let mut kept = BTreeMap::from([
        ("nap".to_owned(), umbo.nap()),
        ("dir".to_owned(), directory.display().to_string()),
    ]);
    for (number, step) in case.steps.iter().enumerate() {
        let at = format!("{dialect}/{name}, step {}", number + 1);
        let mut with = step.with.clone().unwrap_or_default();
        fill(&mut with, &kept);
        let result = tools.call(&step.call, with, &Ticket::default());
        let told = format!("{at}: {}\n{}", result.structured, result.text);
        assert_eq!(result.is_error, step.fails, "{told}");
        for (expected, whole) in [(&step.is, true), (&step.has, false)] {
            let Some(mut expected) = expected.clone() else { continue };
            fill(&mut expected, &kept);
            if let Err(place) = fits(&expected, &result.structured, whole, "") {
                panic!("{told}\nat {place}: expected {expected}");
            }
        }
        if let Some(text) = &step.text {
            let mut expected = Value::String(text.clone());
            fill(&mut expected, &kept);
            let actual = Value::String(result.text.clone());
            assert!(fits(&expected, &actual, true, "").is_ok(), "{told}\nexpected {expected}");
        }
        for (name, pointer) in &step.keep {
            let value = result.structured.pointer(pointer).unwrap_or_else(|| panic!("{told}"));
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            kept.insert(name.clone(), text);
        }
    }
    tools.close();
}

/// Writes what was kept in the place of its names; a whole string that is a number becomes one.
fn fill(value: &mut Value, kept: &BTreeMap<String, String>) {
    match value {
        Value::String(text) if text.contains('$') => {
            let was_name = kept.contains_key(text.trim_start_matches('$'));
            for (name, replacement) in kept {
                *text = text.replace(&format!("${name}"), replacement);
            }
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
        _ if expected.is_number() && expected.as_f64() == actual.as_f64() => Ok(()),
        _ => Err(place.to_owned()),
    }
}
