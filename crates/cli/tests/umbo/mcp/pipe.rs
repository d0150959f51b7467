//! Calls at a pipe, which the thread that reads them answers, and all else, which goes another way.

use serde_json::{Value, json};

use super::{Client, Umbo};

/// An answer without what differs from job to job.
fn plain(answer: &Value) -> Value {
    let job = answer["structuredContent"]["job"].as_str().unwrap_or("no job");
    let short = &job[job.len() - 6..];
    let said = answer.to_string().replace(job, "JOB").replace(short, "SHORT");
    let mut answer: Value = serde_json::from_str(&said).unwrap();
    if let Some(fields) = answer["structuredContent"].as_object_mut() {
        for field in ["job", "duration_ms", "started_at", "ended_at", "usage"] {
            fields.remove(field);
        }
    }
    for content in answer["content"].as_array_mut().into_iter().flatten() {
        // The line about the job begins with the end of its id and ends with how long it took.
        let text = content["text"].as_str().unwrap_or_default();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("[umbo: ")).collect();
        content["text"] = json!(lines);
    }
    answer
}

#[test]
fn a_call_is_answered_as_one_that_goes_the_other_way() {
    let umbo = Umbo::new();
    let mut client = Client::start(&umbo, &["--tools", "shell,files"]);
    client.initialize("2025-03-26");
    std::fs::write(umbo.path().join("a.txt"), "one\ntwo\n").unwrap();
    for (tool, arguments) in [
        ("exec", json!({"command": "echo hi"})),
        ("exec", json!({"command": "echo hi; echo no >&2; exit 3"})),
        ("exec", json!({"command": "seq 100000"})),
        ("exec", json!({"command": "printf '\\377\\033[31mred'"})),
        ("exec", json!({"comand": "echo hi"})),
        ("exec", json!({"command": ""})),
        ("exec", json!({"command": "echo hi", "cwd": "/no/such/place"})),
        ("exec", json!(null)),
        ("wait", json!({"job": "nobody"})),
        ("read", json!({"path": "a.txt"})),
        ("read", json!({"path": "missing"})),
        ("no_such_tool", json!({})),
    ] {
        let params = json!({"name": tool, "arguments": arguments});
        let direct = client.request("tools/call", &params);
        let call = json!({"jsonrpc": "2.0", "id": 999, "method": "tools/call", "params": params});
        client.send(&json!([call]));
        let batched = client.read()[0].clone();
        assert_eq!(direct["error"], batched["error"], "{tool} {arguments}");
        assert_eq!(plain(&direct["result"]), plain(&batched["result"]), "{tool} {arguments}");
    }
    client.close();
}

#[test]
fn whatever_comes_while_a_command_runs_is_heard() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let until =
        |file: &str| json!({"command": format!("while ! test -e {file}; do :; done; echo {file}")});
    let first = client.ask_tool("exec", &until("first"));
    client.request("ping", &json!({}));
    let second = client.ask_tool("exec", &until("second"));
    assert_eq!(client.call("exec", &json!({"command": "echo third"}))["output"], "third\n");
    client.call("exec", &json!({"command": "touch second"}));
    assert_eq!(client.answer(second)["result"]["structuredContent"]["output"], "second\n");
    client.request("ping", &json!({}));
    client.call("exec", &json!({"command": "touch first"}));
    assert_eq!(client.answer(first)["result"]["structuredContent"]["output"], "first\n");
    client.close();
}

#[test]
fn what_was_called_before_the_end_of_the_input_is_answered() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let calls: Vec<(u64, String)> = (0..20)
        .map(|number| {
            let word = format!("number-{number}");
            (client.ask_tool("exec", &json!({"command": format!("echo {word}")})), word)
        })
        .collect();
    client.stdin = None;
    for (id, word) in calls {
        let answer = client.answer(id);
        assert_eq!(answer["result"]["structuredContent"]["output"], format!("{word}\n"));
    }
    client.close();
}

#[test]
fn a_client_with_sockets_is_served_as_one_with_pipes_and_may_read_late() {
    let umbo = Umbo::new();
    for sockets in [true, false] {
        let mut command = umbo.call(["mcp"]).into_command();
        let mut client =
            if sockets { Client::of_sockets(&mut command) } else { Client::of(&mut command) };
        client.initialize("2025-11-25");
        assert_eq!(client.call("exec", &json!({"command": "echo hi"}))["output"], "hi\n");
        // More than a pipe and a socket hold together: nobody waits for this client to read.
        let arguments = json!({"command": "seq 1000000 1012000", "max_output_tokens": 100_000});
        let large: Vec<u64> = (0..10).map(|_| client.ask_tool("exec", &arguments)).collect();
        client.call("exec", &json!({"command": "touch through"}));
        for id in large {
            let answer = client.answer(id)["result"]["structuredContent"].clone();
            let output = answer["output"].as_str().unwrap();
            assert!(output.ends_with("\n1012000\n"), "{} bytes", output.len());
        }
        client.close();
    }
}
