//! No secret reaches a model, wherever it comes from; in what a model calls it is itself again.

use std::fs;

use serde_json::{Value, json};
use umbo_model::server::{Answer, Reply};

use super::mcp::script;
use super::rpc::Host;
use super::{CASES, Scene};
use crate::mcp::installed;

const SECRET: &str = "hunter2-very-secret-value-4711";

/// What stands for the secret in a text that a model was sent.
fn placeholder(text: &str) -> String {
    let at = text.find("the token is #").unwrap() + "the token is ".len();
    let end = at + 1 + text[at + 1..].find('#').unwrap();
    text[at..=end].to_owned()
}

#[test]
fn no_request_has_a_secret_and_arguments_have_it_again() {
    for case in CASES {
        let scene = Scene::scripted(move |request| {
            let turns = request.text.matches("call_").count();
            let hidden = placeholder(&request.text);
            match turns {
                0 => Reply::answer(case.command(
                    "call_1",
                    &format!("printf %s {hidden} > got; printenv MY_TOKEN; cat settings AGENTS.md"),
                )),
                _ if request.text.contains("finish") => Reply::text("done"),
                _ => Reply::answer(Answer::text(&format!("it is {hidden}, finish"))),
            }
        });
        let directory = scene.umbo.path();
        fs::write(directory.join("AGENTS.md"), format!("the key of staging is {SECRET}")).unwrap();
        fs::write(directory.join("settings"), format!("MY_TOKEN={SECRET}\n")).unwrap();
        let prompt = format!("the token is {SECRET}, use it");
        let run = |words: &[&str], prompt: &str| {
            let call = scene.agent(case.model, words, prompt).env("MY_TOKEN", SECRET);
            let answer = call.answer();
            assert_eq!(answer.status, 0, "{answer:?}");
            answer
        };
        run(&["--json", "--gate", "open"], &prompt);
        run(&["-c"], &format!("finish with {SECRET}"));
        let requests = scene.server.requests();
        assert!(requests.len() >= 3, "{}", requests.len());
        for request in &requests {
            assert!(!request.text.contains(SECRET), "{}: {}", case.model, request.text);
            for (name, value) in &request.headers {
                assert!(!value.contains(SECRET), "{name}");
            }
        }
        // It was told of at all, so the test means something.
        assert!(requests[1].text.contains("the key of staging is #"), "{}", requests[1].text);
        let got = fs::read_to_string(directory.join("got")).unwrap_or_default();
        assert_eq!(got, SECRET, "{}: {}", case.model, requests[1].text);
    }
}

#[test]
fn a_summary_is_asked_for_without_secrets_too() {
    let case = CASES[0];
    // A window so small that the second prompt does not fit.
    let scene = Scene::scripted(|request| {
        let is_summary = request.body["tools"].as_array().is_none_or(Vec::is_empty);
        let long = "word ".repeat(9_000);
        if is_summary { Reply::text("they talked") } else { Reply::text(&long) }
    });
    let config = scene.umbo.path().join("home/.config/umbo");
    fs::create_dir_all(&config).unwrap();
    let small = "[models.\"anthropic/claude-sonnet-5\"]\nwindow = 24000\nmax_output = 4000\n";
    fs::write(config.join("models.toml"), small).unwrap();
    let run = |words: &[&str], prompt: &str| {
        scene.agent(case.model, words, prompt).env("MY_TOKEN", SECRET).answer().expect_status(0);
    };
    run(&[], &format!("the token is {SECRET}"));
    run(&["-c"], &format!("again {SECRET}"));
    run(&["-c"], &format!("and again {SECRET}"));
    let requests = scene.server.requests();
    let summaries: Vec<&Value> = requests
        .iter()
        .map(|request| &request.body)
        .filter(|body| body["tools"].as_array().is_none_or(Vec::is_empty))
        .collect();
    assert!(!summaries.is_empty(), "nothing was summarised");
    assert!(requests.iter().all(|request| !request.text.contains(SECRET)));
    assert_ne!(summaries[0]["messages"], json!([]));
}

#[test]
fn servers_and_hosts_get_the_secret_that_no_request_has_whatever_is_asked() {
    let case = CASES[0];
    let mut number = 0;
    let scene = Scene::scripted(move |request| {
        number += 1;
        let hidden = || placeholder(&request.text);
        let call = |name: &str, arguments: Value| {
            Reply::answer(Answer::call(&format!("call_{number}"), name, &arguments))
        };
        match number {
            1 => call("echo_host", json!({"message": hidden()})),
            2 => call("Write", json!({"file_path": "db://row", "content": hidden()})),
            3 => call("mcp__peer__greet", json!({"name": hidden()})),
            _ => Reply::text(&"they talked of a token ".repeat(4000)),
        }
    });
    let config = scene.umbo.path().join("home/.config/umbo");
    fs::create_dir_all(&config).unwrap();
    let server = json!({"command": installed("python/bin/python"),
        "args": [script("server.py"), "stdio", scene.umbo.path()]});
    let servers = json!({"mcpServers": {"peer": server}}).to_string();
    fs::write(config.join("mcp.json"), servers).unwrap();
    let mut host = Host::start_with(&scene, case.model, &["--gate", "open"], |mut command| {
        command.env("MY_TOKEN", SECRET);
        command
    });
    let ok = |answer: Value| assert_eq!(answer["success"], true, "{answer}");
    let tool = json!({"name": "echo_host", "description": "", "parameters": {"type": "object"}});
    ok(host.call(json!({"type": "set_host_tools", "tools": [tool]})));
    let schemes = json!([{"scheme": "db", "writable": true}]);
    ok(host.call(json!({"type": "set_host_uri_schemes", "schemes": schemes})));
    ok(host.call(json!({"type": "prompt", "message": format!("the token is {SECRET}, use it")})));
    let asked = host.until_type("host_tool_call");
    assert_eq!(asked["arguments"]["message"], SECRET, "the host gets it");
    let echo = json!({"content": [{"type": "text", "text": format!("you said {SECRET}")}]});
    let result = json!({"type": "host_tool_result", "id": asked["id"], "result": echo});
    host.write(&result.to_string());
    let asked = host.until_type("host_uri_request");
    assert_eq!(asked["content"], SECRET);
    host.write(&json!({"type": "host_uri_result", "id": asked["id"]}).to_string());
    host.until_type("agent_end");
    let greeted = fs::read_to_string(scene.umbo.path().join("greeted")).unwrap();
    assert_eq!(greeted, SECRET, "the server gets it");

    ok(host.call(json!({"type": "bash", "command": format!("echo {SECRET}")})));
    ok(host.call(json!({"type": "set_todos", "phases": [{"name": SECRET, "tasks": []}]})));
    ok(host.call(json!({"type": "prompt", "message": format!("again {SECRET}")})));
    host.until_type("agent_end");
    ok(host.call(json!({"type": "compact", "customInstructions": format!("keep {SECRET}")})));
    let said = host.call(json!({"type": "get_branch_messages"}));
    let first = &said["data"]["messages"][0]["entryId"];
    ok(host.call(json!({"type": "navigate_tree", "entryId": first, "summarize": true,
        "customInstructions": format!("above all {SECRET}")})));
    ok(host.call(json!({"type": "prompt", "message": format!("on with {SECRET}")})));
    host.until_type("agent_end");
    ok(host.call(json!({"type": "handoff", "focus": format!("the use of {SECRET}")})));
    host.close();
    let requests = scene.server.requests();
    assert!(requests.len() >= 8, "{}", requests.len());
    for (at, request) in requests.iter().enumerate() {
        assert!(!request.text.contains(SECRET), "request {at}: {}", request.text);
    }
    scene.check();
}
