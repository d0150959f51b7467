//! The same operation by both entry points: what `--json` prints is what the tool of the dialect
//! `umbo` answers, less what a model can do without. Every operation that both have is here.

use std::collections::BTreeSet;
use std::fs;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use umbo_ops::{Call, Owner, Ticket};

use crate::harness::Umbo;

/// What a model is not told of a job: times, usage, the streams apart, and of an output that is
/// whole, how large it is and where.
const OF_A_JOB: [&str; 11] = [
    "started_at",
    "ended_at",
    "drained",
    "usage",
    "stdout",
    "stderr",
    "tokens",
    "original_token_count",
    "full_output_path",
    "omitted_bytes",
    "lost_bytes",
];

/// What is different whenever a command runs.
const VARYING: [&str; 6] =
    ["job", "pid", "duration_ms", "artifact", "full_output_path", "last_duration_ms"];

/// What umbo prints for words, whatever its status.
fn printed(umbo: &Umbo, words: &[&str]) -> Value {
    let words = [&[words[0], "--json"], &words[1..]].concat();
    let answer = umbo.call(words).answer();
    serde_json::from_slice(&answer.stdout).unwrap_or_else(|_| panic!("no JSON: {answer:?}"))
}

/// What a tool answers.
fn told(umbo: &Umbo, tool: &str, arguments: &Value) -> Value {
    let answer = umbo.call(["call", tool, &arguments.to_string()]).answer();
    serde_json::from_slice(&answer.stdout).unwrap_or_else(|_| panic!("no JSON: {answer:?}"))
}

/// The fields of a value that say something.
fn said(value: &Value) -> Map<String, Value> {
    let says = |value: &Value| !value.is_null() && *value != json!([]);
    let fields = value.as_object().unwrap_or_else(|| panic!("no object: {value}"));
    fields.iter().filter(|(_, value)| says(value)).map(|(n, v)| (n.clone(), v.clone())).collect()
}

/// Holds an answer of a tool against what the command line prints: no field is the tool's alone, what
/// it leaves out is `left_out`, and what both have is the same, or of the same kind if it varies.
#[track_caller]
fn same(printed: &Value, told: &Value, left_out: &[&str], is_same_job: bool) {
    let (all, some) = (fields(printed), fields(told));
    let (printed, told) = (said(printed), said(told));
    let alone: Vec<_> = some.difference(&all).collect();
    assert!(alone.is_empty(), "only the tool tells {alone:?}\n{told:?}\n{printed:?}");
    for name in all.difference(&some) {
        assert!(left_out.contains(&name.as_str()), "the tool leaves out {name}: {told:?}");
    }
    for (name, value) in &told {
        let other = &printed[name];
        if VARYING.contains(&name.as_str()) && !is_same_job {
            assert_eq!(kind(value), kind(other), "{name}: {value} and {other}");
        } else {
            assert_eq!(value, other, "{name}");
        }
    }
}

/// The names of the fields that say something.
fn fields(value: &Value) -> BTreeSet<String> {
    said(value).keys().cloned().collect()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[test]
fn a_command_is_told_the_same_by_both_entry_points() {
    let umbo = Umbo::new();
    for line in ["echo out; echo err >&2; exit 3", "true", "kill -TERM $$", "exec /no/such/file"] {
        let tool = told(&umbo, "exec", &json!({"command": line}));
        same(&printed(&umbo, &["exec", line]), &tool, &OF_A_JOB, false);
    }
    let limited = json!({"command": umbo.nap(), "timeout": 0.2});
    let words = ["exec", "--timeout", "0.2", &umbo.nap()];
    same(&printed(&umbo, &words), &told(&umbo, "exec", &limited), &OF_A_JOB, false);
    let long = json!({"command": "seq 100000", "max_output_tokens": 200});
    let tool = told(&umbo, "exec", &long);
    assert_eq!(tool["truncated"], true);
    // A budget of the command line is not that of a tool: only the fields are compared.
    let cli = printed(&umbo, &["exec", "--budget", "200t", "seq 100000"]);
    assert!(fields(&tool).is_subset(&fields(&cli)), "{tool}\n{cli}");
}

#[test]
fn a_job_in_the_background_is_told_the_same_by_both_entry_points() {
    let umbo = Umbo::new();
    let cli = printed(&umbo, &["start", &umbo.nap()]);
    let tool = told(&umbo, "exec", &json!({"command": umbo.nap(), "background": true}));
    same(&cli, &tool, &OF_A_JOB, false);
    let stopped = printed(&umbo, &["stop", "--kill", cli["job"].as_str().unwrap()]);
    let answer = told(&umbo, "stop", &json!({"job": tool["job"], "kill": true}));
    same(&stopped["stopped"][0], &answer["stopped"][0], &OF_A_JOB, false);
    assert_eq!(fields(&stopped), fields(&answer));
    let again = printed(&umbo, &["stop", cli["job"].as_str().unwrap()]);
    let answer = told(&umbo, "stop", &json!({"job": cli["job"]}));
    same(&again["stopped"][0], &answer["stopped"][0], &OF_A_JOB, true);
    assert_eq!(again["stopped"][0]["already_ended"], true);
}

#[test]
fn an_output_is_read_the_same_by_both_entry_points() {
    let umbo = Umbo::new();
    let job = umbo.start("seq 50; echo error: bad >&2");
    umbo.outcome(&job);
    let left_out = ["artifact", "lost_bytes"];
    for (words, arguments) in [
        (&[][..], json!({})),
        (&["--lines", "3-5"], json!({"lines": "3-5"})),
        (&["--tail", "2"], json!({"tail": 2})),
        (&["--from", "4"], json!({"from": 4})),
        (&["--grep", "^4"], json!({"grep": "^4"})),
        (&["--grep", "^4", "--tail", "2"], json!({"grep": "^4", "tail": 2})),
        (&["--errors"], json!({"errors": true})),
        (&["--stream", "stderr"], json!({"stream": "stderr"})),
    ] {
        let mut asked = arguments;
        asked["job"] = json!(job);
        let cli = printed(&umbo, &[&["output", &job], words].concat());
        same(&cli, &told(&umbo, "output", &asked), &left_out, true);
    }
}

#[test]
fn a_wait_is_told_the_same_by_both_entry_points_and_an_end_has_one_name() {
    let umbo = Umbo::new();
    let job = umbo.start("echo ready; read line; exit 4");
    let left_out = &OF_A_JOB;
    let met = printed(&umbo, &["wait", &job, "--match", "ready"]);
    same(&met, &told(&umbo, "wait", &json!({"job": job, "match": "ready"})), left_out, true);
    let late = printed(&umbo, &["wait", &job, "--timeout", "0.05"]);
    same(&late, &told(&umbo, "wait", &json!({"job": job, "timeout": 0.05})), left_out, true);
    let typed = printed(&umbo, &["input", &job, "x\n"]);
    assert_eq!(
        (&typed["job"], &typed["bytes"], &typed["eof"]),
        (&json!(job), &json!(2), &json!(false))
    );
    umbo.outcome(&job);
    for words in [&[][..], &["--match", "never"]] {
        let cli = printed(&umbo, &[&["wait", &job], words].concat());
        let mut asked = json!({"job": job});
        if let [_, pattern] = words {
            asked["match"] = json!(pattern);
        }
        let tool = told(&umbo, "wait", &asked);
        assert_eq!((&cli["reason"], &tool["reason"]), (&json!("exit"), &json!("exit")));
        same(&cli, &tool, left_out, true);
    }
}

#[test]
fn input_is_told_the_same_by_both_entry_points() {
    let umbo = Umbo::new();
    let job = umbo.start("cat");
    let cli = printed(&umbo, &["input", &job, "one\n"]);
    same(&cli, &told(&umbo, "input", &json!({"job": job, "text": "one\n"})), &[], true);
    umbo.stop(&job, &["--kill"]);
}

#[test]
fn jobs_and_tasks_are_listed_the_same_by_both_entry_points() {
    let umbo = Umbo::new();
    umbo.exec("echo one").stdout("one\n").run();
    let job = umbo.start_with(&["--name", "later"], "$NAP");
    let cli = printed(&umbo, &["jobs"]);
    let tool = told(&umbo, "jobs", &json!({"scope": "all"}));
    assert_eq!(fields(&cli), fields(&tool));
    let (cli, tool) = (cli["jobs"].as_array().unwrap(), tool["jobs"].as_array().unwrap());
    assert_eq!((cli.len(), tool.len()), (2, 2));
    for (cli, tool) in cli.iter().zip(tool) {
        same(cli, tool, &[], true);
    }
    umbo.stop(&job, &["--kill"]);

    fs::write(umbo.path().join("Makefile"), "hi: ## Greet\n\t@echo hi\nbad:\n\t@exit 2\n").unwrap();
    let cli = printed(&umbo, &["run", "hi"]);
    let tool = told(&umbo, "recipe", &json!({"op": "hi"}));
    same(&cli, &tool, &OF_A_JOB, false);
    let (cli, tool) = (printed(&umbo, &["recipes"]), told(&umbo, "recipe", &json!({})));
    assert_eq!((&cli["root"], cli["tasks"].as_array().unwrap().len()), (&tool["root"], 2));
    for (cli, tool) in
        cli["tasks"].as_array().unwrap().iter().zip(tool["tasks"].as_array().unwrap())
    {
        same(cli, tool, &["directory", "long_lived"], true);
    }
    let of_a_runner = ["label", "program", "evidence", "alternatives"];
    same(&cli["runners"][0], &tool["runners"][0], &of_a_runner, true);
}

#[test]
fn a_terminal_shows_the_same_to_both_entry_points() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--pty"], "printf 'one\\ntwo'; $NAP");
    umbo.wait_for(&job, "two");
    let screen = printed(&umbo, &["screen", &job]);
    let tool = told(&umbo, "output", &json!({"job": job, "screen": true}));
    let lines = screen["lines"].as_array().unwrap();
    assert_eq!((&lines[0], &lines[1]), (&json!("one"), &json!("two")));
    assert_eq!(tool["output"], "one\ntwo");
    umbo.stop(&job, &["--kill"]);
}

#[test]
fn files_are_looked_at_the_same_by_both_entry_points() {
    let umbo = Umbo::new();
    let at = |name: &str| umbo.path().join(name);
    fs::create_dir_all(at("src/deep")).unwrap();
    fs::write(at("src/a.rs"), "fn one() {}\nfn two() {}\n").unwrap();
    fs::write(at("src/deep/b.rs"), "fn one() {}\n").unwrap();
    for (words, tool, arguments) in [
        (&["read", "src/a.rs"][..], "read", json!({"path": "src/a.rs"})),
        (&["read", "src/a.rs:2-2"], "read", json!({"path": "src/a.rs:2-2"})),
        (&["read", "src"], "read", json!({"path": "src"})),
        (&["read", "--hex", "src/a.rs"], "read", json!({"path": "src/a.rs", "hex": true})),
        (&["search", "one"], "search", json!({"pattern": "one"})),
        (
            &["search", "-l", "one", "src"],
            "search",
            json!({"pattern": "one", "paths": ["src"], "output": "files"}),
        ),
        (
            &["search", "-C", "0", "--limit", "1", "fn"],
            "search",
            json!({"pattern": "fn", "context": 0, "limit": 1}),
        ),
        (&["find", "*.rs"], "find", json!({"paths": ["*.rs"]})),
        (
            &["find", "--directories", "src"],
            "find",
            json!({"paths": ["src"], "kind": "directories"}),
        ),
        (&["tree", "--order", "name", "src"], "tree", json!({"path": "src", "order": "name"})),
    ] {
        same(&printed(&umbo, words), &told(&umbo, tool, &arguments), &[], true);
    }
}

#[test]
fn files_are_changed_the_same_by_both_entry_points() {
    let umbo = Umbo::new();
    let file = umbo.path().join("a.txt");
    let left_out = ["dry_run"];
    let vary = |value: Value| {
        let mut value = value;
        value.as_object_mut().unwrap().remove("change");
        value
    };
    let patch = umbo.path().join("p.diff");
    fs::write(&patch, "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n").unwrap();
    let patched = fs::read_to_string(&patch).unwrap();
    let patch = patch.display().to_string();
    for (words, tool, arguments) in [
        (
            &["edit", "a.txt", "--old", "one", "--new", "two"][..],
            "edit",
            json!({"path": "a.txt", "edits": [{"old": "one", "new": "two"}]}),
        ),
        (&["edit", "--patch", &patch], "edit", json!({"patch": patched})),
        (
            &["write", "a.txt", "--force", "--from", &patch],
            "write",
            json!({"path": "a.txt", "content": patched, "overwrite": "always"}),
        ),
    ] {
        fs::write(&file, "one\n").unwrap();
        let cli = vary(printed(&umbo, words));
        let by_words = fs::read(&file).unwrap();
        fs::write(&file, "one\n").unwrap();
        same(&cli, &vary(told(&umbo, tool, &arguments)), &left_out, true);
        assert_eq!(fs::read(&file).unwrap(), by_words, "{words:?}");
        assert_ne!(by_words, b"one\n", "{words:?}");
    }
    let (cli, tool) =
        (printed(&umbo, &["undo", "--list"]), told(&umbo, "undo", &json!({"list": true})));
    assert_eq!(cli["total"], 6);
    assert_eq!(cli["total"], tool["total"]);
    same(&cli["changes"][0], &tool["changes"][0], &[], true);
    let undone = printed(&umbo, &["undo"]);
    assert_eq!(undone["files"][0]["path"], "a.txt", "{undone}");
    assert_eq!(fs::read(&file).unwrap(), b"one\n");
    let again = told(&umbo, "undo", &json!({"change": undone["change"]}));
    let names = |value: &Value| said(value).keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&undone), names(&again));
    assert_eq!(fs::read_to_string(&file).unwrap(), patched, "an undo is undone, too");
}

#[test]
fn an_error_has_one_shape_at_both_entry_points() {
    let umbo = Umbo::new();
    let job = umbo.start("true");
    umbo.outcome(&job);
    let denied = "rm -rf / --no-preserve-root --help";
    for (words, tool, arguments) in [
        (&["exec", denied][..], "exec", json!({"command": denied})),
        (&["start", denied], "exec", json!({"command": denied, "background": true})),
        (&["output", "nobody"], "output", json!({"job": "nobody"})),
        (&["output", &job, "--lines", "x"], "output", json!({"job": job, "lines": "x"})),
        (&["output", &job, "--lines", ""], "output", json!({"job": job, "lines": ""})),
        (&["output", &job, "--grep", "("], "output", json!({"job": job, "grep": "("})),
        (&["wait", &job, "--match", "("], "wait", json!({"job": job, "match": "("})),
        (&["wait", &job, "--port", "x"], "wait", json!({"job": job, "port": "x"})),
        (&["input", &job, "x"], "input", json!({"job": job, "text": "x"})),
        (&["stop", "nobody"], "stop", json!({"job": "nobody"})),
        (&["run", "nothing"], "recipe", json!({"op": "nothing"})),
        (&["read", "nowhere"], "read", json!({"path": "nowhere"})),
        (&["read", "/etc/shadow"], "read", json!({"path": "/etc/shadow"})),
        (&["search", "[z-a]"], "search", json!({"pattern": "[z-a]"})),
        (&["edit", "--input", "/dev/null"], "edit", json!({"input": ""})),
        (&["undo", "nothing"], "undo", json!({"change": "nothing"})),
    ] {
        let (cli, tool) = (printed(&umbo, words), told(&umbo, tool, &arguments));
        for name in ["code", "field", "by", "reason"] {
            assert_eq!(cli["error"][name], tool["error"][name], "{words:?}: {cli}\n{tool}");
        }
        assert!(cli["error"]["message"].is_string() && tool["error"]["message"].is_string());
        assert_eq!(fields(&cli["error"]), fields(&tool["error"]), "{words:?}: {cli}\n{tool}");
        assert_eq!(cli.as_object().unwrap().len(), 1, "{cli}");
        assert_eq!(tool.as_object().unwrap().len(), 1, "{tool}");
    }
}

#[test]
fn a_question_to_a_person_has_one_shape_at_both_entry_points() {
    let umbo = Umbo::new();
    fs::write(umbo.path().join("Makefile"), "made:\n\ttouch made\n").unwrap();
    let job = umbo.start("sh");
    let asked = "rm -r build";
    for (words, tool, arguments) in [
        (&["exec", "--mode", "default", asked][..], "exec", json!({"command": asked})),
        (
            &["start", "--mode", "default", asked],
            "exec",
            json!({"command": asked, "background": true}),
        ),
        (&["run", "--mode", "default", "made"], "recipe", json!({"op": "made"})),
        (
            &["input", "--mode", "default", &job, "rm -r build\n"],
            "input",
            json!({"job": job, "text": "rm -r build\n"}),
        ),
    ] {
        let cli = printed(&umbo, words);
        let call = ["call", "--mode", "default", tool, &arguments.to_string()];
        let tool: Value = serde_json::from_slice(&umbo.call(call).answer().stdout).unwrap();
        for name in ["code", "why", "risk", "prefixes", "id"] {
            assert_eq!(cli["error"][name], tool["error"][name], "{words:?}: {cli}\n{tool}");
        }
        assert_eq!(cli["error"]["code"], "approval_required", "{cli}");
        assert_eq!(fields(&cli["error"]), fields(&tool["error"]), "{words:?}: {cli}\n{tool}");
    }
    umbo.stop(&job, &["--kill"]);
}

/// What an operation answers to a Rust program, as JSON.
fn answered<R: DeserializeOwned, A: Serialize>(
    umbo: &Umbo,
    operation: impl FnOnce(&Call<'_>, &R) -> Result<A, umbo_ops::Error>,
    request: Value,
) -> Value {
    let caller = umbo.caller().owner(Owner::Everybody).build().unwrap();
    let ticket = Ticket::default();
    let request = serde_json::from_value(request).unwrap();
    match operation(&Call::new(&caller, &ticket), &request) {
        Ok(answer) => serde_json::to_value(answer).unwrap(),
        Err(error) => json!({"error": error}),
    }
}

/// No tool has these: the other entry point is the library.
#[test]
fn what_only_the_command_line_has_is_told_to_programs_with_the_same_fields() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--pty"], "printf 'one\\ntwo'; $NAP");
    umbo.wait_for(&job, "two");
    let screen = answered(&umbo, umbo_ops::screen, json!({"job": job}));
    assert_eq!(printed(&umbo, &["screen", &job]), screen);
    umbo.stop(&job, &["--kill"]);

    let lines = umbo.call(["events", "--json"]).answer().text();
    let printed_events: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let events = answered(
        &umbo,
        |call, request: &umbo_ops::EventsRequest| {
            umbo_ops::events(call, request)?.collect::<Result<Vec<_>, _>>()
        },
        json!({}),
    );
    assert_eq!(Value::from(printed_events), events);

    fs::write(umbo.path().join("Makefile"), "hi:\n\t@echo hi\n").unwrap();
    let plan = answered(&umbo, umbo_ops::plan, json!({"op": "hi"}));
    assert_eq!(printed(&umbo, &["run", "--dry-run", "hi"]), plan);

    let line = "rm -r build; ls";
    let classified = |call: &Call<'_>, request: &umbo_ops::ClassifyRequest| {
        let home = std::env::var_os("HOME").map(std::path::PathBuf::from);
        umbo_ops::classify(request, &call.caller.directory, home.as_deref())
    };
    let answer = answered(&umbo, classified, json!({"command": line}));
    assert_eq!(printed(&umbo, &["classify", line]), answer);
    // What the type says of itself holds for what it answers.
    let schema = umbo_tools::output_schema::<umbo_ops::ClassifyAnswer>();
    umbo_tools::check(&schema, &answer).unwrap();
    assert_eq!(schema["properties"]["risk"]["enum"].as_array().unwrap().len(), 4, "{schema}");

    for (words, refused) in [
        (&["screen", "nobody"][..], answered(&umbo, umbo_ops::screen, json!({"job": "nobody"}))),
        (
            &["classify", "--shell", "cmd", "dir"],
            answered(&umbo, classified, json!({"command": "dir", "shell": "cmd"})),
        ),
        (&["run", "--dry-run", "x"], answered(&umbo, umbo_ops::plan, json!({"op": "x"}))),
    ] {
        let cli = printed(&umbo, words);
        assert_eq!(cli["error"]["code"], refused["error"]["code"], "{cli}");
        assert_eq!(fields(&cli["error"]), fields(&refused["error"]), "{cli} {refused}");
    }

    let gone = printed(&umbo, &["prune", "--older-than", "0s"]);
    assert_eq!(gone["removed"], json!([job]));
    assert_eq!(fields(&gone), BTreeSet::from(["removed".to_owned()]));
    let again = answered(&umbo, umbo_ops::prune, json!({}));
    assert_eq!(printed(&umbo, &["prune", "--older-than", "0s"]), again);
}

#[test]
fn a_restart_and_a_pause_are_told_to_programs_with_the_same_fields() {
    let umbo = Umbo::new();
    let job = umbo.start("$NAP");
    let restart = |call: &Call<'_>, request: &umbo_ops::ScreenRequest| {
        let job = request.job.clone();
        umbo_ops::restart(call, &umbo_ops::RestartRequest { job, ..Default::default() })
    };
    let first = answered(&umbo, restart, json!({"job": job}));
    assert_eq!((&first["repeats"], &first["stopped"]), (&json!(job), &json!("stopped")));
    let second = printed(&umbo, &["restart", first["job"].as_str().unwrap()]);
    assert_eq!(fields(&second), fields(&first));
    let pause = |call: &Call<'_>, request: &umbo_ops::ScreenRequest| {
        let (jobs, control) = (vec![request.job.clone()], umbo_ops::Control::Pause);
        umbo_ops::control(call, &umbo_ops::ControlRequest { jobs, control })
    };
    let held = answered(&umbo, pause, json!({"job": second["job"]}));
    assert_eq!(printed(&umbo, &["pause", second["job"].as_str().unwrap()]), held);
    let refused = answered(&umbo, pause, json!({"job": job}));
    assert_eq!(printed(&umbo, &["pause", &job])["error"]["code"], refused["error"]["code"]);
}

#[test]
fn a_directory_and_a_sandbox_are_told_to_programs_with_the_same_fields() {
    let umbo = Umbo::new();
    fs::create_dir(umbo.path().join("src")).unwrap();
    fs::write(umbo.path().join("src/a.rs"), "fn one() {}\n").unwrap();
    let listed = answered(&umbo, umbo_ops::files::list, json!({"path": "src"}));
    assert_eq!(printed(&umbo, &["ls", "src"]), listed);
    let refused = answered(&umbo, umbo_ops::files::list, json!({"path": "nowhere"}));
    let cli = printed(&umbo, &["ls", "nowhere"]);
    assert_eq!(cli["error"]["code"], refused["error"]["code"], "{cli}");
    assert_eq!(fields(&cli["error"]), fields(&refused["error"]), "{cli} {refused}");

    // The home of these tests is below their directory: what is sandboxed works beside it.
    let project = umbo.path().join("src");
    let words = |words: &[&str]| -> Value {
        let answer = umbo.call(words).current_dir(&project).answer();
        serde_json::from_slice(&answer.stdout).unwrap_or_else(|_| panic!("no JSON: {answer:?}"))
    };
    let asked = json!({"command": "touch x", "cwd": project, "sandbox": "workspace"});
    let explained = answered(&umbo, umbo_ops::sandbox_explain, asked);
    let cli = words(&["sandbox", "explain", "--json", "--sandbox", "workspace", "touch x"]);
    for name in ["decision", "profile", "by", "network", "drop_variables", "proposal"] {
        assert_eq!(cli[name], explained[name], "{name}: {cli}\n{explained}");
    }
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&cli), names(&explained));

    // Where no sandbox is possible, `umbo_ops::sandbox_try` says so in the shape of all errors.
    let tried = words(&["sandbox", "try", "--json", "cat a.rs"]);
    let run = words(&["exec", "--json", "cat a.rs"]);
    if let Some(error) = tried.get("error") {
        assert!(error["code"].is_string() && error["message"].is_string(), "{tried}");
        return;
    }
    assert_eq!((&tried["state"], &tried["stdout"]), (&run["state"], &run["stdout"]));
    let more: Vec<String> = fields(&tried).difference(&fields(&run)).cloned().collect();
    let known = ["cannot", "needs", "notes", "rule", "sandbox"];
    assert!(more.contains(&"needs".to_owned()), "{tried}");
    assert!(more.iter().all(|name| known.contains(&name.as_str())), "{more:?}");
}

/// Whoever adds an operation adds it to this file: an operation is a public function of a call and a
/// request, in whatever file.
#[test]
fn every_operation_is_compared_here() {
    let here = include_str!("entry_points.rs");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../ops/src");
    let mut folders = vec![root];
    let mut operations = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let found = text.split("\npub fn ").skip(1).filter_map(|rest| {
                let (name, arguments) = rest.split_once('(')?;
                let is_one = arguments.trim_start().starts_with("call: &Call<'_>")
                    && arguments.split('{').next()?.contains("request: &");
                is_one.then(|| name.to_owned())
            });
            operations.extend(found);
        }
    }
    assert!(operations.len() >= 22, "{operations:?}");
    // Tells where tasks are, to operations and completions: no answer of its own.
    operations.remove("folder");
    for operation in operations {
        let compared = [
            format!("\"{operation}\""),
            format!("umbo_ops::{operation}"),
            format!("umbo_ops::files::{operation}"),
        ];
        assert!(compared.iter().any(|name| here.contains(name)), "{operation} is not compared");
    }
}
