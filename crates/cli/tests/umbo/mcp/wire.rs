//! What a client sends that is no message: an error of the protocol, and the connection lives.

use serde_json::{Value, json};

use super::Client;
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
