//! Approvals by the person in front of the client.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Client, newest};
use crate::gate::person;
use crate::harness::Umbo;

/// A directory, and the command that deletes it.
fn victim(umbo: &Umbo, name: &str) -> (PathBuf, Value) {
    let path = umbo.path().join(name);
    fs::create_dir(&path).unwrap();
    (path, json!({"command": format!("rm -rf {name}")}))
}

/// A client whose user can be asked, in a server that belongs to a run.
fn client(umbo: &Umbo) -> Client {
    asked(umbo.call(["mcp"]).env("UMBO_RUN", "a run").into_command())
}

fn asked(mut command: std::process::Command) -> Client {
    let mut client = Client::of(&mut command);
    client.initialize_with("2025-11-25", &json!({"elicitation": {}}));
    client
}

/// Answers the next form.
fn fill_in(client: &mut Client, result: &Value) -> Value {
    let asked = client.hear("elicitation/create");
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
    asked["params"].clone()
}

fn accept(decision: &str) -> Value {
    json!({"action": "accept", "content": {"decision": decision}})
}

#[test]
fn the_form_shows_what_a_command_is_given_and_where_text_is_typed() {
    let umbo = Umbo::new();
    let mut client = client(&umbo);
    let (path, _) = victim(&umbo, "build");
    let fed = json!({"command": "sh", "stdin": "rm -rf build", "env": {"WHY": "secret"}});
    let id = client.ask_tool("exec", &fed);
    let form = fill_in(&mut client, &accept("deny"));
    let message = form["message"].as_str().unwrap();
    for part in ["runs what it is given, 12 bytes", "rm -rf build", "setting WHY"] {
        assert!(message.contains(part), "{part} in {message}");
    }
    assert!(!message.contains("secret"), "{message}");
    client.answer(id);
    let shell = json!({"command": "sh", "pty": true, "background": true, "name": "sh"});
    client.tool("exec", &shell);
    let id = client.ask_tool("input", &json!({"job": "sh", "text": "rm -rf build\n"}));
    let form = fill_in(&mut client, &accept("deny"));
    assert!(form["message"].as_str().unwrap().contains("typed into job "), "{form}");
    client.answer(id);
    assert!(path.exists());
}

#[test]
fn the_form_says_what_would_run_and_what_can_be_answered() {
    let umbo = Umbo::new();
    let mut client = client(&umbo);
    let (path, arguments) = victim(&umbo, "build");
    let id = client.ask_tool("exec", &arguments);
    let form = fill_in(&mut client, &accept("once"));
    let message = form["message"].as_str().unwrap();
    for part in ["rm -rf build", &umbo.path().display().to_string(), "risk: dangerous", "why: "] {
        assert!(message.contains(part), "{part} in {message}");
    }
    let decision = &form["requestedSchema"]["properties"]["decision"];
    let choices = decision["enum"].as_array().unwrap();
    assert_eq!((choices.first(), choices.last()), (Some(&json!("once")), Some(&json!("deny"))));
    assert_eq!(decision["enumNames"].as_array().unwrap().len(), choices.len());
    assert_eq!(form["requestedSchema"]["required"], json!(["decision"]));
    assert_eq!(decision["default"], "once", "yes takes one key, and one more to send it");
    // A field of free text would have to be left before the form can be sent.
    assert_eq!(form["requestedSchema"]["properties"].as_object().unwrap().len(), 1);
    assert_eq!(client.answer(id)["result"]["structuredContent"]["exit_code"], 0);
    assert!(!path.exists());
    // Once is once.
    fs::create_dir(&path).unwrap();
    let id = client.ask_tool("exec", &arguments);
    fill_in(&mut client, &accept("deny"));
    let error = client.answer(id)["result"]["structuredContent"]["error"].clone();
    assert_eq!(error["code"], "denied");
    assert!(path.exists());
    client.close();
}

#[test]
fn a_no_is_not_asked_about_again_but_another_client_may_ask() {
    let umbo = Umbo::new();
    let lone = || asked(umbo.call(["mcp"]).into_command());
    let mut told_no = lone();
    let (path, arguments) = victim(&umbo, "build");
    let call = told_no.ask_tool("exec", &arguments);
    fill_in(&mut told_no, &accept("deny"));
    let error = told_no.answer(call)["result"]["structuredContent"]["error"].clone();
    let id = error["id"].as_str().unwrap();
    assert_eq!(error["answer_with"], format!("umbo approve --overturn {id}"), "{error}");
    assert!(error["expires_at"].as_str().unwrap().ends_with('Z'), "{error}");
    let again = told_no.tool("exec", &arguments)["structuredContent"]["error"].clone();
    assert_eq!((&again["code"], &again["id"]), (&json!("denied"), &error["id"]));
    let mut other = lone();
    let call = other.ask_tool("exec", &arguments);
    fill_in(&mut other, &accept("once"));
    assert_eq!(other.answer(call)["result"]["structuredContent"]["exit_code"], 0);
    assert!(!path.exists());
    other.close();
    // The first one is still told no, until a person takes that back.
    let still = told_no.tool("exec", &arguments)["structuredContent"]["error"].clone();
    assert_eq!(still["code"], "denied");
    let said = person(&umbo, umbo.path(), &["approve", "--overturn", id], "y\n");
    assert!(said.status.success(), "{said:?}");
    assert_eq!(told_no.call("exec", &arguments)["exit_code"], 0);
    told_no.close();
}

#[test]
fn a_client_that_declines_by_itself_has_not_said_no() {
    let umbo = Umbo::new();
    let mut client = client(&umbo);
    let (_, arguments) = victim(&umbo, "at-once");
    let asked_at = Instant::now();
    let id = client.ask_tool("exec", &arguments);
    fill_in(&mut client, &json!({"action": "decline"}));
    let error = client.answer(id)["result"]["structuredContent"]["error"].clone();
    // On a machine so busy that this took as long as a person takes, nobody can tell.
    if asked_at.elapsed() < Duration::from_secs(1) {
        assert_eq!(error["code"], "approval_required", "{error}");
    }
    // A person, who takes the time that a person takes, has.
    let (path, arguments) = victim(&umbo, "build");
    let id = client.ask_tool("exec", &arguments);
    let asked = client.hear("elicitation/create");
    client.call("exec", &json!({"command": "sleep 1.1"}));
    let declined = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}});
    client.send(&declined);
    let error = client.answer(id)["result"]["structuredContent"]["error"].clone();
    assert_eq!(error["code"], "denied", "{error}");
    assert!(path.exists());
    client.close();
}

#[test]
fn a_prefix_can_be_allowed_for_the_run() {
    let umbo = Umbo::new();
    let mut client = client(&umbo);
    let line = "git push --force nowhere main";
    let id = client.ask_tool("exec", &json!({"command": line}));
    let form = fill_in(&mut client, &accept("run"));
    let decision = &form["requestedSchema"]["properties"]["decision"];
    assert_eq!(decision["enum"], json!(["once", "run", "deny"]), "{form}");
    assert!(decision["enumNames"][1].as_str().unwrap().contains("git push"), "{decision}");
    assert_eq!(client.answer(id)["result"]["isError"], false);
    // What begins with the same words is not asked about again.
    let again = client.call("exec", &json!({"command": "git push --force elsewhere main"}));
    assert_eq!(again["state"], "exited");
    assert!(client.heard.iter().all(|message| message["method"] != "elicitation/create"));
    client.close();
}

#[test]
fn who_closes_the_form_has_not_answered_and_who_cannot_be_asked_is_told_how() {
    let umbo = Umbo::new();
    let mut asked = client(&umbo);
    let (path, arguments) = victim(&umbo, "build");
    let id = asked.ask_tool("exec", &arguments);
    fill_in(&mut asked, &json!({"action": "cancel"}));
    let error = asked.answer(id)["result"]["structuredContent"]["error"].clone();
    assert_eq!(error["code"], "approval_required");
    asked.close();
    let mut other = Client::new(&umbo);
    let error = other.tool("exec", &arguments)["structuredContent"]["error"].clone();
    assert_eq!(error["code"], "approval_required");
    assert!(path.exists());
    // A person answers elsewhere; the same call then runs, once.
    let id = error["id"].as_str().unwrap();
    let said = person(&umbo, umbo.path(), &["approve", id], "y\n");
    assert!(said.status.success(), "{said:?}");
    assert_eq!(other.call("exec", &arguments)["exit_code"], 0);
    assert!(!path.exists());
    let error = other.tool("exec", &arguments)["structuredContent"]["error"].clone();
    assert_eq!(error["code"], "approval_required");
    other.close();
}

#[test]
fn a_call_that_is_cancelled_while_somebody_is_asked_runs_nothing() {
    let umbo = Umbo::new();
    let mut client = client(&umbo);
    let (path, arguments) = victim(&umbo, "build");
    let id = client.ask_tool("exec", &arguments);
    let asked = client.hear("elicitation/create");
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id},
    }));
    let closed = client.hear("notifications/cancelled");
    assert_eq!(closed["params"]["requestId"], asked["id"], "the form is closed");
    // Too late.
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": accept("once")}));
    assert_eq!(client.call("exec", &json!({"command": "echo ho"}))["output"], "ho\n");
    assert!(path.exists());
    // And one whose client leaves.
    client.ask_tool("exec", &arguments);
    client.hear("elicitation/create");
    client.close();
    assert!(path.exists());
}

#[test]
fn the_time_that_somebody_takes_is_not_the_commands() {
    let umbo = Umbo::new();
    let mut client = client(&umbo);
    let (_, mut arguments) = victim(&umbo, "build");
    arguments["timeout"] = json!(0.3);
    arguments["yield"] = json!(0.3);
    let id = client.ask_tool("exec", &arguments);
    let asked = client.hear("elicitation/create");
    client.call("exec", &json!({"command": "sleep 0.5"}));
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": accept("once")}));
    let result = client.answer(id)["result"]["structuredContent"].clone();
    assert_eq!((&result["state"], &result["exit_code"]), (&json!("exited"), &json!(0)), "{result}");
    client.close();
}

#[test]
fn in_the_newest_revision_the_call_comes_again_with_the_answer() {
    let umbo = Umbo::new();
    let mut client = Client::start(&umbo, &[]);
    let meta = newest(&json!({"elicitation": {"form": {}}}));
    let (path, arguments) = victim(&umbo, "build");
    let mut params = json!({"name": "exec", "arguments": arguments, "_meta": meta});
    let first = client.request("tools/call", &params)["result"].clone();
    assert_eq!(first["resultType"], "input_required", "{first}");
    let (key, request) = first["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create");
    assert!(request["params"]["message"].as_str().unwrap().contains("rm -rf build"));
    assert!(path.exists());
    // An answer to another command is none.
    let (other, arguments) = victim(&umbo, "other");
    let mut elsewhere = json!({"name": "exec", "arguments": arguments, "_meta": meta});
    elsewhere["requestState"] = first["requestState"].clone();
    elsewhere["inputResponses"] = json!({key: accept("once")});
    let second = client.request("tools/call", &elsewhere)["result"].clone();
    assert_eq!(second["resultType"], "input_required", "{second}");
    assert_ne!(second["requestState"], first["requestState"]);
    assert!(other.exists());
    // Nor is one that says nothing.
    params["requestState"] = first["requestState"].clone();
    params["inputResponses"] = json!({key: {"action": "accept", "content": {}}});
    let again = client.request("tools/call", &params)["result"].clone();
    assert_eq!(again["requestState"], first["requestState"], "{again}");
    params["inputResponses"] = json!({key: accept("once")});
    let result = client.request("tools/call", &params)["result"].clone();
    assert_eq!(result["resultType"], "complete", "{result}");
    assert_eq!(result["structuredContent"]["exit_code"], 0);
    assert!(!path.exists());
    // Single use: the same answer again is a new question.
    fs::create_dir(&path).unwrap();
    let replayed = client.request("tools/call", &params)["result"].clone();
    assert_eq!(replayed["resultType"], "input_required", "{replayed}");
    assert_ne!(replayed["requestState"], first["requestState"]);
    assert!(path.exists());
    client.close();
}

#[test]
fn a_request_state_that_nobody_gave_is_an_error_of_the_protocol() {
    let umbo = Umbo::new();
    let mut client = Client::start(&umbo, &[]);
    let meta = newest(&json!({"elicitation": {"form": {}}}));
    let (path, arguments) = victim(&umbo, "build");
    let mut params = json!({"name": "exec", "arguments": arguments, "_meta": meta});
    let first = client.request("tools/call", &params)["result"].clone();
    let given = first["requestState"].as_str().unwrap().to_owned();
    let last = if given.ends_with('0') { '1' } else { '0' };
    let forged = format!("{}{last}", &given[..given.len() - 1]);
    for state in [forged.as_str(), &given[..given.len() - 1], "", "../../x", "{}"] {
        params["requestState"] = json!(state);
        params["inputResponses"] = json!({state: accept("once")});
        let answer = client.request("tools/call", &params);
        assert_eq!(answer["error"]["code"], -32602, "{state:?}: {answer}");
        assert_eq!(answer["error"]["data"]["field"], "requestState");
    }
    // Beside a command that needs nobody's answer, too.
    let params = json!({
        "name": "exec", "arguments": {"command": "touch ran"}, "_meta": params["_meta"],
        "requestState": forged,
    });
    assert_eq!(client.request("tools/call", &params)["error"]["code"], -32602);
    assert!(path.exists() && !umbo.path().join("ran").exists());
    client.close();
}

#[test]
fn who_switches_forms_off_is_not_asked_by_one() {
    let umbo = Umbo::new();
    let mut command = umbo.call(["mcp"]).env("UMBO_MCP_ELICITATION", "false").into_command();
    let mut client = Client::of(&mut command);
    client.initialize_with("2025-11-25", &json!({"elicitation": {}}));
    let (path, arguments) = victim(&umbo, "build");
    let result = client.tool("exec", &arguments);
    assert_eq!(result["structuredContent"]["error"]["code"], "approval_required", "{result}");
    assert!(path.exists() && client.heard.is_empty());
    client.close();
}
