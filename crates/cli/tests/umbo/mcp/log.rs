//! The log: nothing unless it is asked for, and never on standard output.

use std::fs;

use serde_json::json;

use super::Client;
use crate::harness::Umbo;

#[test]
fn every_call_is_a_line_with_where_it_belongs() {
    let umbo = Umbo::new();
    let mut client = Client::start(&umbo, &["--owner", "me", "--log-file", "log"]);
    client.initialize("2025-11-25");
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let params = json!({
        "name": "exec", "arguments": {"command": "echo hi"}, "_meta": {"traceparent": traceparent},
    });
    let job = client.request("tools/call", &params)["result"]["structuredContent"]["job"].clone();
    client.tool("exec", &json!({"comand": "x"}));
    client.close();
    let log = fs::read_to_string(umbo.path().join("log")).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    for part in [
        format!("traceparent=\"{traceparent}\""),
        format!("call{{tool=\"exec\" dialect=\"umbo\" owner=\"me\" job={job}}}"),
        "answered milliseconds=".to_owned(),
    ] {
        assert!(lines[0].contains(&part), "{part} in {log}");
    }
    assert!(lines[1].contains("error=\"invalid_argument\""), "{log}");
    assert_eq!(lines.len(), 2, "{log}");
}

#[test]
fn the_variable_says_how_much_and_a_call_can_be_followed_too() {
    let umbo = Umbo::new();
    let arguments = r#"{"command": "echo hi"}"#;
    let silent = umbo.call(["call", "exec", arguments]).answer();
    assert!(silent.stderr.is_empty(), "{silent:?}");
    let told = umbo.call(["call", "exec", arguments]).env("UMBO_LOG", "umbo=info").answer();
    assert!(String::from_utf8_lossy(&told.stderr).contains("tool=\"exec\""), "{told:?}");
    assert!(serde_json::from_slice::<serde_json::Value>(&told.stdout).is_ok(), "{told:?}");
    let said = umbo.call(["call", "exec", arguments]).env("UMBO_LOG", "umbo=loud").refused();
    assert!(said.contains("UMBO_LOG") && said.contains("error warn info debug trace"), "{said}");
    let said = umbo.call(["mcp", "--log-file", "/nowhere/log"]).refused();
    assert!(said.contains("--log-file") && said.contains("/nowhere/log"), "{said}");
}
