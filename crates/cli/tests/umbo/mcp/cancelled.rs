//! Clients that do not wait for an answer: because a person changed their mind, or because their own
//! time was over.

use serde_json::{Value, json};

use super::Client;
use crate::harness::Umbo;

fn cancel(client: &mut Client, id: u64, reason: &Value) {
    let params = json!({"requestId": id, "reason": reason});
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params,
    }));
}

/// Starts a command that does not end, and waits until it runs.
fn ask_long(client: &mut Client, umbo: &Umbo, name: &str) -> u64 {
    let arguments = json!({"command": format!("echo begun; {}", umbo.nap()), "name": name});
    let params = json!({"name": "exec", "arguments": arguments, "_meta": {"progressToken": name}});
    let id = client.ask("tools/call", &params);
    let told = client.hear("notifications/progress");
    assert!(told["params"]["message"].as_str().unwrap().ends_with("begun"), "{told}");
    id
}

/// The texts of results until one has `words`.
fn texts_until(client: &mut Client, words: &str) -> String {
    loop {
        let result = client.tool("jobs", &json!({}));
        let blocks = result["content"].as_array().unwrap();
        let text: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        let text = text.join("\n");
        if text.contains(words) {
            return text;
        }
    }
}

#[test]
fn a_client_whose_own_time_was_over_finds_its_command_as_a_job() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let id = ask_long(&mut client, &umbo, "late");
    cancel(&mut client, id, &json!("McpError: MCP error -32001: Request timed out"));
    let told = texts_until(&mut client, "gave up");
    assert!(told.contains("begun\n") && told.contains("still running"), "{told}");
    assert_eq!(umbo.nappers().len(), 1);
    let again = client.tool("jobs", &json!({}));
    assert!(!again.to_string().contains("gave up"), "once: {again}");
    // It is a job like any other: told when it ends, and it outlives the connection.
    client.call("stop", &json!({"job": "late", "kill": true}));
    let id = ask_long(&mut client, &umbo, "stays");
    cancel(&mut client, id, &json!("request timeout"));
    texts_until(&mut client, "gave up");
    client.close();
    assert_eq!(umbo.listed(&umbo.listed_by_name("stays"))["state"], "started");
    umbo.stop("stays", &["--kill"]);
}

#[test]
fn a_setting_says_what_becomes_of_a_cancelled_command() {
    let umbo = Umbo::new();
    for (setting, reason, state) in [
        ("stop", json!("Request timed out"), "stopped"),
        ("keep", json!("changed my mind"), "started"),
        ("reason", json!("changed my mind"), "stopped"),
        ("reason", Value::Null, "stopped"),
    ] {
        let mut command = umbo.call(["mcp"]).env("UMBO_MCP_ON_CANCEL", setting).into_command();
        let mut client = Client::of(&mut command);
        client.initialize("2025-11-25");
        let name = format!("{setting}-{}", reason.is_null());
        let id = ask_long(&mut client, &umbo, &name);
        cancel(&mut client, id, &reason);
        if state == "stopped" {
            umbo.outcome(&umbo.listed_by_name(&name));
        } else {
            texts_until(&mut client, "gave up");
        }
        let job = umbo.listed_by_name(&name);
        assert_eq!(umbo.listed(&job)["state"], state, "{setting} {reason}");
        if state == "started" {
            umbo.stop(&job, &["--kill"]);
        }
        client.close();
    }
}

#[test]
fn a_client_that_gives_up_soon_is_answered_sooner() {
    let umbo = Umbo::new();
    let mut client = Client::start(&umbo, &[]);
    // What the Python SDK calls itself; frameworks upon it give up after 5 s.
    client.initialize_as("mcp", "2025-11-25", &json!({}));
    let result = client.tool("exec", &json!({"command": umbo.nap(), "name": "long"}));
    assert_eq!(result["structuredContent"]["state"], "started", "{result}");
    let result = client.tool("exec", &json!({"command": umbo.nap(), "yield": 30}));
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("waited 4 s, not 30"), "{text}");
    let waited = client.call("wait", &json!({"job": "long", "timeout": 30}));
    assert_eq!((&waited["state"], &waited["reason"]), (&json!("started"), &json!("timeout")));
    client.close();
}

#[test]
fn the_usual_wait_is_a_setting() {
    let umbo = Umbo::new();
    let mut command = umbo.call(["mcp"]).env("UMBO_TOOLS_YIELD_SECS", "1").into_command();
    let mut client = Client::of(&mut command);
    client.initialize("2025-11-25");
    let result = client.call("exec", &json!({"command": umbo.nap()}));
    assert_eq!(result["state"], "started", "{result}");
    client.close();
}
