//! Clients that others wrote: the official SDKs, the Inspector, and the suite that tells whether a
//! server conforms.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::Value;

use super::web::{Server, TOKEN};
use crate::harness::{UMBO, Umbo};

/// What `cargo xtask setup` installed.
fn tools() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::var_os("UMBO_TEST_TOOLS")
        .map_or_else(|| workspace.join("target/test-tools"), PathBuf::from)
}

pub(crate) fn installed(path: &str) -> PathBuf {
    let path = tools().join(path);
    assert!(path.exists(), "{} is not there; run `cargo xtask setup`", path.display());
    path
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcp/tests").join(name)
}

/// A program that finds the umbo of this test as umbo finds it.
fn program(umbo: &Umbo, program: &Path) -> Command {
    let model = umbo.call([""; 0]).into_command();
    let mut command = Command::new(program);
    for (name, value) in model.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("UMBO_TEST_TOOLS", tools()).env("UMBO_MCP_TOKEN", TOKEN).current_dir(umbo.path());
    command
}

fn node(umbo: &Umbo) -> Command {
    program(umbo, &installed("mcp/node"))
}

#[track_caller]
pub(super) fn finished(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{said}\n{error}", output.status);
    said
}

/// Runs a script on standard input and output and over HTTP; looks at what it left.
fn drive(client: &dyn Fn(&Umbo) -> Command, prefix: &str) {
    let umbo = Umbo::with_deadline(Duration::from_mins(2));
    let mut command = client(&umbo);
    let said = finished(&command.args(["stdio", UMBO]).arg(umbo.nap()).output().unwrap());
    assert!(said.ends_with("done\n"), "{said}");
    let server = Server::start(&umbo, &[]);
    let mut command = client(&umbo);
    let said = finished(&command.args(["http", &server.url]).arg(umbo.nap()).output().unwrap());
    assert!(said.ends_with("done\n"), "{said}");
    // A caller without a session goes with the server.
    server.interrupt();
    for transport in ["stdio", "http"] {
        for revision in ["2025-11-25", "2026-07-28"] {
            let label = format!("{prefix}{transport}-{revision}");
            let goes = umbo.outcome(&umbo.listed_by_name(&format!("goes-{label}")));
            assert_eq!(goes["state"], "stopped", "{label}");
            let stays = umbo.listed_by_name(&format!("stays-{label}"));
            assert_eq!(umbo.listed(&stays)["state"], "started", "{label}");
        }
    }
}

#[test]
fn the_official_python_client_is_served_in_both_ways_of_the_protocol() {
    let python = |umbo: &Umbo| {
        let mut command = program(umbo, &installed("python/bin/python"));
        command.args(["-W", "ignore"]).arg(script("client.py"));
        command
    };
    drive(&python, "");
}

#[test]
fn the_official_python_client_reads_edits_and_undoes() {
    let umbo = Umbo::with_deadline(Duration::from_mins(2));
    let mut command = program(&umbo, &installed("python/bin/python"));
    command.args(["-W", "ignore"]).arg(script("files.py")).arg(UMBO);
    let said = finished(&command.output().unwrap());
    assert!(said.ends_with("done\n"), "{said}");
}

/// What the document of a dialect says, line by line, held against what the official client gets.
fn documented(dialect: &str, least: u32) {
    let umbo = Umbo::with_deadline(Duration::from_mins(4));
    let mut command = program(&umbo, &installed("python/bin/python"));
    command.args(["-W", "ignore"]).arg(script("documents/checks.py")).args([UMBO, dialect]);
    let said = finished(&command.output().unwrap());
    let (_, rest) = said.split_once(&format!("{dialect}: ")).unwrap();
    let made: u32 = rest.split(' ').next().unwrap().parse().unwrap();
    assert!(made >= least && rest.ends_with(", 0 do not hold\n"), "{said}");
}

#[test]
fn what_the_document_of_recipe_says_holds_for_the_official_python_client() {
    documented("recipe", 110);
}

#[test]
fn what_the_document_of_tasks_says_holds_for_the_official_python_client() {
    documented("tasks", 70);
}

#[test]
fn what_the_document_of_lash_says_holds_for_the_official_python_client() {
    documented("lash", 120);
}

#[test]
fn what_the_document_of_meerkat_says_holds_for_the_official_python_client() {
    documented("meerkat", 80);
}

#[test]
fn what_the_documents_of_omp_say_hold_for_the_official_python_client() {
    documented("omp", 230);
}

#[test]
fn the_official_typescript_client_is_served_in_both_ways_of_the_protocol() {
    let typescript = |umbo: &Umbo| {
        let mut command = node(umbo);
        command.arg(script("client.mjs"));
        command
    };
    drive(&typescript, "ts-");
}

#[test]
fn the_inspector_lists_and_calls() {
    let umbo = Umbo::with_deadline(Duration::from_mins(1));
    let server = Server::start(&umbo, &[]);
    let inspector =
        "mcp/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
    let token = format!("Authorization: Bearer {TOKEN}");
    let state = format!("UMBO_STATE_DIR={}", umbo.state().display());
    let targets: [&[&str]; 2] = [&[UMBO, "mcp", "-e", &state], &[&server.url, "--header", &token]];
    for target in targets {
        let inspect = |words: &[&str]| -> Value {
            let mut command = node(&umbo);
            command.arg(installed(inspector)).arg("--cli").args(target).args(words);
            serde_json::from_str(&finished(&command.output().unwrap())).unwrap()
        };
        // Strict: a schema that some model's provider refuses is an error.
        let listed = inspect(&["--method", "tools/list", "--strict"]);
        assert_eq!(listed["tools"][0]["name"], "exec");
        let command = ["--tool-name", "exec", "--tool-arg", "command=echo hi"];
        let result = inspect(&[&["--method", "tools/call"], &command[..]].concat());
        assert_eq!(result["structuredContent"]["output"], "hi\n");
        let job = umbo.jobs().last().unwrap()["job"].as_str().unwrap().to_owned();
        let uri = format!("umbo://jobs/{job}/output");
        let read = inspect(&["--method", "resources/read", "--uri", &uri]);
        assert_eq!(read["contents"][0]["text"], "hi\n");
    }
}

/// Each revision of the protocol, as the suite is told of it; and all scenarios there are, drafts too.
const REVISIONS: [[&str; 2]; 5] = [
    ["--spec-version", "2025-03-26"],
    ["--spec-version", "2025-06-18"],
    ["--requirements", "2025-11-25"],
    ["--requirements", "2026-07-28"],
    ["--suite", "all"],
];

/// Scenarios that cannot apply, by how their names begin, and why. The suite asks for tools of its own
/// by name; those that a command can stand for are mapped (`proxy.mjs`).
const CANNOT_APPLY: &[(&str, &str)] = &[
    ("prompts-", "there are no prompts, and none are declared"),
    ("completion-complete", "it completes the argument of a prompt"),
    ("resources-read-", "it reads a resource of its own; ours are outputs of jobs"),
    ("resources-templates-read", "the same"),
    ("resources-subscribe", "the same"),
    ("resources-unsubscribe", "the same"),
    ("tools-call-audio", "no tool answers with sounds"),
    ("tools-call-image", "no tool answers with pictures"),
    ("tools-call-mixed-content", "the same"),
    ("tools-call-embedded-resource", "a result names a resource, it has none in it"),
    ("tools-call-sampling", "nobody is asked to run a model"),
    ("tools-call-with-logging", "a call writes no log messages to the client"),
    ("elicitation-sep1034", "it wants a form with fields of its own; ours asks for a decision"),
    ("elicitation-sep1330", "the same"),
    ("json-schema", "it wants a tool whose schema has definitions and references"),
    ("http-custom-header", "no tool has an argument that is a header"),
    (
        "input-required-result-basic-",
        "it wants questions of its own, not whether a command may run",
    ),
    ("input-required-result-capability-check", "it wants to be asked to run a model"),
    ("input-required-result-ignore-extra-params", "its answer to our question is no decision"),
    ("input-required-result-multi-round", "a command is asked about once"),
    ("input-required-result-multiple-input-requests", "the same"),
    ("input-required-result-non-tool-request", "it asks for a prompt"),
    ("input-required-result-request-state", "its answer to our question is no decision"),
    ("server-sse-polling", "it wants a tool that closes the stream of its own call"),
    ("tasks-", "it wants tools that become tasks at once; ours do after some seconds"),
];

/// Checks in scenarios that apply which ask for a tool that only a server made for this suite has, or
/// for prompts.
const NOT_TESTABLE: [&str; 5] = [
    "sep-2549-prompts-list-caching-hints",
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
];

#[test]
fn the_conformance_suite_finds_nothing_wrong_in_any_revision() {
    let umbo = Umbo::with_deadline(Duration::from_mins(9));
    let server = Server::start(&umbo, &[]);
    // The suite has no token to send.
    let mut proxy = node(&umbo);
    let proxy = proxy.arg(script("proxy.mjs")).arg(&server.url);
    let mut proxy = super::web::Listening::start(proxy);
    let url = proxy.line();
    let suite = "mcp/node_modules/@modelcontextprotocol/conformance/dist/index.js";
    let (mut passed, mut excused, mut valid) = (BTreeSet::new(), BTreeSet::new(), 0);
    for revision in REVISIONS {
        let results = umbo.path().join(revision[1]);
        let mut command = node(&umbo);
        command.arg(installed(suite)).arg("server").args(revision).args(["--url", &url, "-o"]);
        let output = command.arg(&results).output().unwrap();
        for (scenario, found) in checks(&results) {
            let is_ours = |check: &&Value| !NOT_TESTABLE.contains(&check["id"].as_str().unwrap());
            let failed: Vec<&Value> =
                found.iter().filter(|check| is_failure(check)).filter(is_ours).collect();
            let excuse = CANNOT_APPLY.iter().find(|(begins, _)| scenario.starts_with(begins));
            // Whatever a scenario is about, every message is as the specification's schema has it.
            let schema = |check: &&Value| check["id"] == "wire-schema-valid";
            assert!(!failed.iter().any(&schema), "{scenario}: {failed:#?}");
            valid += found.iter().filter(schema).count();
            match (failed.is_empty(), excuse) {
                (true, _) => drop(passed.insert(scenario)),
                (false, Some((begins, _))) => drop(excused.insert(*begins)),
                (false, None) => panic!("{revision:?} {scenario}: {failed:#?}"),
            }
        }
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(!passed.is_empty(), "{revision:?} ran nothing\n{said}");
    }
    assert!(valid > 60, "{valid} messages were held against the schema");
    for scenario in ["tools-call-simple-text", "input-required-result-tampered-state", "caching"] {
        assert!(passed.contains(scenario), "{scenario} is among {passed:?}");
    }
    let unused: Vec<_> =
        CANNOT_APPLY.iter().filter(|(begins, _)| !excused.contains(begins)).collect();
    assert!(unused.is_empty(), "these apply by now: {unused:?}");
}

fn is_failure(check: &Value) -> bool {
    !matches!(check["status"].as_str(), Some("SUCCESS" | "INFO" | "SKIPPED"))
}

/// What each scenario found: `server-NAME-TIME/checks.json`.
fn checks(results: &Path) -> BTreeMap<String, Vec<Value>> {
    let directories = fs::read_dir(results).unwrap().map(|entry| entry.unwrap());
    directories
        .map(|directory| {
            let name = directory.file_name().into_string().unwrap();
            let scenario = name.strip_prefix("server-").unwrap();
            let (scenario, _time) = scenario.split_at(scenario.find("-20").unwrap());
            let text = fs::read(directory.path().join("checks.json")).unwrap();
            (scenario.to_owned(), serde_json::from_slice(&text).unwrap())
        })
        .collect()
}
