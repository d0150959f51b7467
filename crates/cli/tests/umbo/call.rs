//! `umbo call` and `umbo tools`: the tools as an agent has them, one call at a time.

use std::fs;

use serde_json::{Value, json};

use crate::harness::Umbo;

/// A call that must succeed as a tool.
#[track_caller]
fn call(umbo: &Umbo, tool: &str, arguments: &Value) -> Value {
    umbo.call(["call", tool, &arguments.to_string()]).json()
}

/// A call that must fail as a tool; its error.
#[track_caller]
fn fails(umbo: &Umbo, tool: &str, arguments: &Value) -> Value {
    let answer = umbo.call(["call", tool, &arguments.to_string()]).status(1).json();
    answer["error"].clone()
}

#[test]
fn a_command_answers_with_its_outcome_and_output() {
    let umbo = Umbo::new();
    let answer = call(&umbo, "exec", &json!({"command": "echo out; echo err >&2; exit 3"}));
    assert_eq!(answer["state"], "exited");
    assert_eq!(answer["exit_code"], 3);
    assert_eq!(answer["output"], "out\nerr\n");
    assert_eq!(answer["truncated"], false);
    let answer = call(&umbo, "exec", &json!({"argv": ["printf", "%s", "$HOME; x"]}));
    assert_eq!(answer["output"], "$HOME; x");
}

#[test]
fn every_field_of_exec_does_what_it_says() {
    let umbo = Umbo::new();
    std::fs::create_dir(umbo.path().join("below")).unwrap();
    let answer = call(
        &umbo,
        "exec",
        &json!({
            "command": "pwd; echo $COLOUR; cat; test -t 1 || echo no terminal",
            "cwd": "below", "env": {"COLOUR": "red"}, "stdin": "given\n", "name": "all",
        }),
    );
    let output = answer["output"].as_str().unwrap();
    assert!(output.ends_with("/below\nred\ngiven\nno terminal\n"), "{output}");
    let answer = call(&umbo, "exec", &json!({"command": "test -t 1 && echo tty", "pty": true}));
    assert_eq!(answer["output"], "tty\n");
    let answer = call(&umbo, "exec", &json!({"command": umbo.nap(), "timeout": 0.1}));
    assert_eq!((&answer["state"], &answer["limit"]), (&json!("timed_out"), &json!("wall")));
    let answer = call(&umbo, "exec", &json!({"command": umbo.nap(), "idle_timeout": 0.1}));
    assert_eq!((&answer["state"], &answer["limit"]), (&json!("timed_out"), &json!("idle")));
    for _ in 0..2 {
        let arguments = json!({"command": "echo x >> once", "idempotency_key": "k"});
        call(&umbo, "exec", &arguments);
    }
    assert_eq!(std::fs::read(umbo.path().join("once")).unwrap(), b"x\n");
    call(&umbo, "exec", &json!({"command": "cd below; v=1", "session": "s"}));
    let answer = call(&umbo, "exec", &json!({"command": "basename $PWD; echo $v", "session": "s"}));
    assert_eq!(answer["output"], "below\n1\n");
}

#[test]
fn a_yield_of_no_time_is_a_job_that_runs() {
    let umbo = Umbo::new();
    for wait in [0.0, 0.001, 0.01] {
        let answer = call(&umbo, "exec", &json!({"command": umbo.nap(), "yield": wait}));
        assert_eq!(answer["state"], "started", "{answer}");
        call(&umbo, "stop", &json!({"job": answer["job"]}));
    }
}

#[test]
fn a_command_that_outlasts_its_yield_runs_on_as_a_job() {
    let umbo = Umbo::new();
    let line = format!("echo first; {}", umbo.nap());
    let answer = call(&umbo, "exec", &json!({"command": line, "yield": 2}));
    assert_eq!((&answer["state"], &answer["output"]), (&json!("started"), &json!("first\n")));
    let job = answer["job"].as_str().unwrap();
    assert_eq!(umbo.nappers().len(), 1);
    let stopped = call(&umbo, "stop", &json!({"job": job}));
    assert_eq!(stopped["stopped"][0]["state"], "stopped");
    assert!(umbo.nappers().is_empty());
    let again = call(&umbo, "stop", &json!({"job": [job]}));
    assert_eq!(again["stopped"][0]["already_ended"], true);
}

#[test]
fn a_background_job_is_typed_into_waited_for_and_read_in_pages() {
    let umbo = Umbo::new();
    let line = "echo ready; read x; echo got $x; seq 1 20000";
    let answer = call(&umbo, "exec", &json!({"command": line, "background": true, "name": "b"}));
    assert_eq!(answer["state"], "started");
    let met = call(&umbo, "wait", &json!({"job": "b", "match": "read."}));
    assert_eq!((&met["reason"], &met["text"]), (&json!("match"), &json!("ready")));
    let late = call(&umbo, "wait", &json!({"job": "b", "timeout": 0.1}));
    assert_eq!((&late["reason"], &late["state"]), (&json!("timeout"), &json!("started")));
    assert_eq!(call(&umbo, "input", &json!({"job": "b", "text": "tea\n"}))["bytes"], 4);
    let met = call(&umbo, "wait", &json!({"job": "b", "from": 6}));
    assert_eq!((&met["reason"], &met["exit_code"]), (&json!("exit"), &json!(0)));
    assert!(met["output"].as_str().unwrap().starts_with("got tea\n1\n2\n"));
    assert_eq!(met["truncated"], true);
    let mut text = String::new();
    let mut from = 0;
    loop {
        let page = call(&umbo, "output", &json!({"job": "b", "from": from}));
        text.push_str(page["output"].as_str().unwrap());
        from = page["next_offset"].as_u64().unwrap();
        if page["at_end"] == true {
            break;
        }
    }
    assert_eq!(text.as_bytes(), umbo.output(answer["job"].as_str().unwrap()));
    let lines = call(&umbo, "output", &json!({"job": "b", "lines": "3-4"}));
    assert_eq!(lines["output"], "1\n2\n");
    let tail = call(&umbo, "output", &json!({"job": "b", "tail": 1}));
    assert_eq!(tail["output"], "20000\n");
    let found = call(&umbo, "output", &json!({"job": "b", "grep": "^1999[89]$"}));
    assert_eq!(found["matches"], 2);
    let jobs = call(&umbo, "jobs", &json!({}));
    assert_eq!(jobs["jobs"][0]["name"], "b");
}

#[test]
fn a_wrong_argument_is_named_and_nothing_runs() {
    let umbo = Umbo::new();
    for (arguments, field) in [
        (json!({"command": "touch ran", "timout": 3}), "timout"),
        (json!({"command": "touch ran", "timeout": "3"}), "timeout"),
        (json!({"command": "touch ran", "argv": ["touch", "ran"]}), "argv"),
        (json!({"command": "touch ran", "limits": {"memory": 1}}), "limits.memory"),
        (json!({"command": "touch ran", "cwd": "nowhere"}), "cwd"),
        (json!({"command": "touch ran", "env": {"A=B": "x"}}), "env"),
        (json!({"command": "touch ran", "on_disconnect": "what"}), "on_disconnect"),
        (json!({"command": ""}), "command"),
        (json!({}), "command"),
    ] {
        let error = fails(&umbo, "exec", &arguments);
        assert_eq!((&error["code"], &error["field"]), (&json!("invalid_argument"), &json!(field)));
    }
    assert!(!umbo.path().join("ran").exists());
    assert_eq!(fails(&umbo, "output", &json!({"job": "none"}))["code"], "unknown_job");
    assert_eq!(fails(&umbo, "exce", &json!({}))["code"], "unknown_tool");
    umbo.call(["call", "exec", "{"]).refused();
    umbo.call(["call", "--dialect", "klingon", "exec", "{}"]).refused();
    assert!(umbo.jobs().is_empty());
}

#[test]
fn an_error_speaks_of_tools_and_says_nothing_twice() {
    let umbo = Umbo::new();
    let message = |tool: &str, arguments: &Value| -> String {
        fails(&umbo, tool, arguments)["message"].as_str().unwrap().to_owned()
    };
    let none = message("output", &json!({"job": "none"}));
    assert_eq!(none, r#"no job "none"; `jobs` with `scope: "all", ended: "all"` lists all"#);
    let started = call(&umbo, "exec", &json!({"command": "true", "background": true}));
    let job = started["job"].as_str().unwrap();
    umbo.wait(job, &[]);
    let screen = message("output", &json!({"job": job, "screen": true}));
    assert_eq!(screen, format!("job: {job} has no terminal; start it with one (pty)"));
    let key = message("input", &json!({"job": job, "keys": ["foo"]}));
    assert!(key.starts_with(r#"keys: "foo" is no key"#), "{key}");
    let meant = message("exec", &json!({"cmd": "ls"}));
    assert!(meant.contains("accepted: `command`"), "{meant}");
}

#[test]
fn a_screen_ends_with_its_last_text() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--pty"], r"printf 'one\n\nthree\n'");
    umbo.wait(&job, &[]);
    let shown = call(&umbo, "output", &json!({"job": job, "screen": true}));
    assert_eq!(shown["output"], "one\n\nthree");
    let blank = umbo.start_with(&["--pty"], "true");
    umbo.wait(&blank, &[]);
    assert_eq!(call(&umbo, "output", &json!({"job": blank, "screen": true}))["output"], "");
}

#[test]
fn a_secret_is_masked_on_the_way_out_and_restored_on_the_way_in() {
    let umbo = Umbo::new();
    let secret = "correct-horse-battery";
    let run = |line: &str| {
        let arguments = json!({"command": line}).to_string();
        umbo.call(["call", "exec", &arguments]).env("DB_PASSWORD", secret).json()
    };
    let shown = run("echo $DB_PASSWORD");
    let placeholder = shown["output"].as_str().unwrap().trim_end().to_owned();
    assert!(placeholder.starts_with('#') && !shown.to_string().contains(secret), "{shown}");
    let same = run(&format!("test '{placeholder}' = $DB_PASSWORD && echo same"));
    assert_eq!(same["output"], "same\n");
    let arguments = json!({"job": "@last", "lines": secret}).to_string();
    let error =
        umbo.call(["call", "output", &arguments]).env("DB_PASSWORD", secret).status(1).json();
    assert!(!error.to_string().contains(secret), "{error}");
}

#[test]
fn a_placeholder_survives_into_the_next_process_of_its_owner_alone() {
    let umbo = Umbo::new();
    // Nobody listed it: it is known by its shape alone.
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    fs::write(umbo.path().join("token"), &token).unwrap();
    let run = |owner: &str, line: &str| {
        let arguments = json!({"command": line}).to_string();
        umbo.call(["call", "--owner", owner, "exec", &arguments]).json()
    };
    let shown = run("ann", "cat token");
    let placeholder = shown["output"].as_str().unwrap().trim_end().to_owned();
    assert!(placeholder.starts_with('#') && !shown.to_string().contains(&token), "{shown}");
    let compare = format!("test '{placeholder}' = $(cat token) && echo same || echo other");
    assert_eq!(run("ann", &compare)["output"], "same\n");
    assert_eq!(run("bob", &compare)["output"], "other\n", "it is not for everybody");
    // What is kept for that cannot be read by who finds the file.
    let kept = fs::read(umbo.state().join("masking/found")).unwrap();
    assert!(!kept.is_empty() && !kept.windows(token.len()).any(|part| part == token.as_bytes()));
    let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    run("ann", "cat token");
    let again = fs::read(umbo.state().join("masking/found")).unwrap();
    assert_eq!(lines(&again), lines(&kept), "the same secret is kept once");
}

#[test]
fn a_named_caller_is_told_once_what_ended_while_it_was_away() {
    let umbo = Umbo::new();
    let as_owner = |tool: &str, arguments: Value| {
        umbo.call(["call", "--owner", "me", tool, &arguments.to_string()]).json()
    };
    as_owner("jobs", json!({}));
    as_owner("exec", json!({"command": "read x", "background": true, "name": "late"}));
    umbo.call(["call", "input", r#"{"job": "late", "eof": true}"#]).answer().expect_status(0);
    umbo.outcome(&umbo.listed_by_name("late"));
    let told = as_owner("jobs", json!({}));
    assert_eq!(told["completed"][0]["name"], "late", "{told}");
    assert!(as_owner("jobs", json!({})).get("completed").is_none());
}

#[test]
fn the_list_of_tools_is_small_and_stable() {
    let umbo = Umbo::new();
    let answer = umbo.call(["tools", "--json"]).answer();
    let tools: Vec<Value> = serde_json::from_slice(&answer.stdout).unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["exec", "output", "input", "wait", "stop", "jobs", "recipe"]);
    assert!(answer.stdout.len() <= 6 * 1024, "{} bytes", answer.stdout.len());
    for tool in &tools {
        assert!(tool["description"].as_str().unwrap().len() < 2048);
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        assert_eq!(tool["outputSchema"]["type"], "object");
    }
    assert!(umbo.call(["tools"]).answer().text().starts_with("exec "));
}
