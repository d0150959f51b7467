//! What a client sends that is no message: an error of the protocol, and the connection lives.

use serde_json::{Value, json};

use super::Client;
use super::web::Server;
use crate::harness::Umbo;

fn works(client: &mut Client) {
    assert_eq!(client.call("exec", &json!({"command": "echo hi"}))["output"], "hi\n");
}

#[test]
fn what_is_no_message_is_answered_and_the_connection_lives() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let deep = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": 0}})
        .to_string()
        .replace(":0}", &format!(":{deep}}}"));
    let cases: [(&[u8], i64); 6] = [
        (b"this is no JSON", -32700),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 7, ", -32700),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 7, \"method\": \"\xff\xfe\"}", -32700),
        (deep.as_bytes(), -32700),
        (b"[]", -32600),
        (b"42", -32600),
    ];
    for (bytes, code) in cases {
        client.send_bytes(bytes);
        client.send_bytes(b"\n");
        let answer = client.read();
        let sent = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]);
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(code), &Value::Null),
            "{sent}"
        );
        works(&mut client);
    }
    client.send(&json!({"jsonrpc": "2.0", "id": "seven", "method": 7}));
    assert_eq!(client.read()["id"], "seven", "the sender finds its request again");
    // Empty lines and unknown notifications are nothing to answer.
    client.send_bytes(b"\n \r\n");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/no-such", "params": 7}));
    works(&mut client);
    client.close();
}

#[test]
fn a_line_that_is_too_long_is_refused_and_skipped() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let line = vec![b'x'; 20 << 20];
    client.send_bytes(&line);
    client.send_bytes(b"\n");
    let answer = client.read();
    assert_eq!(answer["error"]["code"], -32600);
    assert!(answer["error"]["message"].as_str().unwrap().contains("16777216 bytes"), "{answer}");
    works(&mut client);
    client.close();
}

#[test]
fn a_notification_before_the_handshake_is_no_end() {
    let umbo = Umbo::new();
    let mut client = Client::start(&umbo, &[]);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    client.send(&json!({"jsonrpc": "2.0", "id": 9, "result": {}}));
    client.initialize("2025-11-25");
    works(&mut client);
    client.close();
}

#[test]
fn the_revision_that_has_batches_answers_them_together() {
    let umbo = Umbo::new();
    let mut client = Client::start(&umbo, &[]);
    client.initialize("2025-03-26");
    let call = |id: u64, word: &str| {
        let arguments = json!({"command": format!("echo {word}")});
        json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "exec", "arguments": arguments},
        })
    };
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    client.send(&json!([call(11, "one"), note, call(12, "two"), {"jsonrpc": "2.0", "id": 13}]));
    let mut answers = client.read().as_array().expect("a batch").clone();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers[0]["result"]["structuredContent"]["output"], "one\n");
    assert_eq!(answers[1]["result"]["structuredContent"]["output"], "two\n");
    assert_eq!((&answers[2]["id"], &answers[2]["error"]["code"]), (&json!(13), &json!(-32600)));
    client.send(&json!([note]));
    works(&mut client);
    client.close();
}

#[test]
fn a_cursor_that_nobody_gave_is_refused() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    for method in ["tools/list", "resources/list", "resources/templates/list"] {
        let answer = client.request(method, &json!({"cursor": "bogus"}));
        assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("cursor"), "{answer}");
    }
    client.close();
}

fn exec(id: u64, command: &str) -> Value {
    let params = json!({"name": "exec", "arguments": {"command": command}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

#[test]
fn a_batch_over_http_is_answered_together() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &[]);
    let session = server.session_of("/mcp", "2025-03-26");
    let post = |body: &Value| server.post(&[("mcp-session-id", &session.id)], body);
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    // The second ends the wait of the first: they run at the same time.
    let first = format!("until test -e {0}/go; do :; done; echo one", umbo.path().display());
    let second = format!("echo two > {}/go; echo two", umbo.path().display());
    let mut shown = exec(11, &first);
    shown["params"]["_meta"] = json!({"progressToken": "p"});
    let begin = json!({"jsonrpc": "2.0", "id": 14, "method": "initialize", "params": {
        "protocolVersion": "2025-03-26", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    let mixed = json!([shown, note, exec(12, &second), {"jsonrpc": "2.0", "id": 13}, begin]);
    let response = post(&mixed);
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
    let mut answers: Vec<Value> = serde_json::from_str(&response.body).unwrap();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    let ids: Vec<u64> = answers.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [11, 12, 13, 14], "each once: {answers:?}");
    assert_eq!(answers[0]["result"]["structuredContent"]["output"], "one\n");
    assert_eq!(answers[1]["result"]["structuredContent"]["output"], "two\n");
    assert_eq!(answers[2]["error"]["code"], -32600);
    assert!(answers[3]["error"]["message"].as_str().unwrap().contains("initialize"));
    let noted = post(&json!([note, note]));
    assert_eq!((noted.status, noted.body.as_str()), (202, ""), "nothing to answer");
    let empty = post(&json!([]));
    assert_eq!((empty.status, &empty.message()["error"]["code"]), (400, &json!(-32600)));
    // Revisions without batches refuse them, and so does a session that has ended.
    let newer = server.session();
    let refused = server.post(&[("mcp-session-id", &newer.id)], &json!([exec(1, "echo hi")]));
    assert_eq!(refused.status, 400);
    assert!(refused.error().contains("2025-03-26"), "{refused:?}");
    let id = session.id.clone();
    assert_eq!(session.end().status, 204);
    let late = server.post(&[("mcp-session-id", &id)], &json!([exec(1, "echo hi")]));
    assert!(late.status == 400 || late.status == 404, "{late:?}");
}

#[test]
fn what_is_no_message_over_http_is_answered_in_the_words_of_the_protocol() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &[]);
    let session = server.session();
    let headers = [("mcp-session-id", session.id.as_str())];
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let deep =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{{\"x\":{deep}}}}}");
    let cases: [(&[u8], i64); 6] = [
        (b"this is no JSON", -32700),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 7, ", -32700),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 7, \"method\": \"\xff\xfe\"}", -32700),
        (deep.as_bytes(), -32700),
        (b"42", -32600),
        (b"", -32700),
    ];
    for (body, code) in cases {
        let answer = server.request("POST", "/mcp", &headers, body);
        let sent = String::from_utf8_lossy(&body[..body.len().min(60)]);
        assert_eq!(answer.status, 400, "{sent}: {answer:?}");
        let message = answer.message();
        assert_eq!((&message["error"]["code"], &message["id"]), (&json!(code), &Value::Null));
        assert_eq!(session.call("exec", &json!({"command": "echo hi"}))["output"], "hi\n");
    }
    // 20 MB are read and dropped, so that their sender hears why.
    let answer = server.request("POST", "/mcp", &headers, &vec![b'x'; 20 << 20]);
    assert_eq!(answer.status, 413, "{answer:?}");
    assert!(answer.error().contains("4194304 bytes"), "{answer:?}");
    assert_eq!(session.call("exec", &json!({"command": "echo hi"}))["output"], "hi\n");
    for method in ["tools/list", "resources/list", "resources/templates/list"] {
        let answer = session.request(method, &json!({"cursor": "bogus"}));
        assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
    }
    // A notification that comes before everything else is no end of anything.
    let early = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert!(server.post(&[], &early).status < 500);
    assert_eq!(server.session().call("exec", &json!({"command": "echo hi"}))["output"], "hi\n");
}

#[test]
fn a_name_never_reaches_the_job_of_another_session() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &[]);
    let (one, other) = (server.session(), server.session());
    let nap = json!({"command": umbo.nap(), "background": true, "name": "web"});
    let job = one.call("exec", &nap)["job"].clone();
    umbo.wait_nappers(1);
    for (tool, arguments) in [
        ("output", json!({"job": "web"})),
        ("input", json!({"job": "web", "text": "x"})),
        ("wait", json!({"job": "web", "timeout": 0.1})),
        ("stop", json!({"job": "web"})),
    ] {
        let params = json!({"name": tool, "arguments": arguments});
        let answer = other.request("tools/call", &params);
        assert_eq!(answer["result"]["isError"], true, "{tool}: {answer}");
        let code = &answer["result"]["structuredContent"]["error"]["code"];
        assert_eq!(code, "unknown_job", "{tool}: {answer}");
    }
    assert_eq!(umbo.nappers().len(), 1, "it was not stopped");
    assert_eq!(one.call("stop", &json!({"job": "web"}))["stopped"][0]["job"], job);
}
