//! `umbo mcp --http`: who comes in, whose jobs are whose, and what ends when.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Stdio;
use std::thread;

use serde_json::{Value, json};

use super::web::{Events, Response, Server, TOKEN};
use crate::harness::Umbo;

fn list() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
}

#[test]
fn who_does_not_come_in_hears_why() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &[]);
    let refused = |headers: &[(&str, &str)]| server.post(headers, &list());
    let none = refused(&[("authorization", "-")]);
    assert_eq!(
        (none.status, none.header("www-authenticate")),
        (401, Some("Bearer realm=\"umbo\""))
    );
    assert!(none.error().contains("Authorization: Bearer TOKEN"), "{none:?}");
    let wrong = refused(&[("authorization", "Bearer a-token-for-the-tests-0123456788")]);
    assert_eq!(wrong.status, 401);
    assert!(wrong.header("www-authenticate").unwrap().contains("invalid_token"), "{wrong:?}");
    // A page elsewhere whose name was made to lead here (DNS rebinding).
    let rebound = refused(&[("host", "evil.example")]);
    assert_eq!(rebound.status, 403);
    assert!(rebound.error().contains("\"evil.example\""), "{rebound:?}");
    let page = refused(&[("origin", "http://evil.example")]);
    assert_eq!(page.status, 403);
    assert!(page.error().contains("--allow-origin"), "{page:?}");
    let own = refused(&[("origin", "http://localhost:3000"), ("host", "localhost")]);
    assert_eq!(own.status, 400, "it comes in, and has no session: {own:?}");
    assert!(own.error().contains("Session ID is required"), "{own:?}");
}

#[test]
fn what_is_wrong_with_a_request_is_said() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &[]);
    let elsewhere = server.request("POST", "/", &[], b"{}");
    assert_eq!((elsewhere.status, elsewhere.error().contains("/mcp")), (404, true));
    let method = server.request("PUT", "/mcp", &[], b"{}");
    assert_eq!((method.status, method.header("allow")), (405, Some("GET, POST, DELETE")));
    let nonsense = server.request("POST", "/mcp", &[], b"this is no JSON");
    assert_eq!((nonsense.status, &nonsense.message()["error"]["code"]), (400, &json!(-32700)));
    let message = server.request("POST", "/mcp", &[], b"{\"jsonrpc\": \"2.0\"}");
    assert_eq!((message.status, &message.message()["error"]["code"]), (400, &json!(-32600)));
    let owner = server.request("POST", "/mcp?owner=../x", &[], list().to_string().as_bytes());
    assert_eq!((owner.status, owner.error().contains("owner=NAME")), (400, true));
    let unknown = server.post(&[("mcp-session-id", "nobody")], &list());
    assert_eq!((unknown.status, unknown.error().contains("begin again")), (404, true));
    let gone = server.request("DELETE", "/mcp", &[("mcp-session-id", "nobody")], b"");
    assert_eq!(gone.status, 404, "{gone:?}");
    for megabytes in [5, 50] {
        let long = server.request("POST", "/mcp", &[], &vec![b'x'; megabytes << 20]);
        assert_eq!((long.status, long.error().contains("4194304 bytes")), (413, true));
    }
    // It is there for the next one.
    assert_eq!(server.session().call("exec", &json!({"command": "echo hi"}))["output"], "hi\n");
}

#[test]
fn every_session_has_jobs_of_its_own() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &[]);
    let (one, other) = (server.session(), server.session());
    assert_ne!(one.id, other.id);
    one.call("exec", &json!({"command": "echo one", "name": "one"}));
    other.call("exec", &json!({"command": "echo other", "name": "other"}));
    let names = |jobs: &Value| -> Vec<String> {
        let jobs = jobs["jobs"].as_array().unwrap().iter();
        jobs.map(|job| job["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&one.call("jobs", &json!({}))), ["one"]);
    assert_eq!(names(&other.call("jobs", &json!({}))), ["other"]);
    assert_eq!(names(&one.call("jobs", &json!({"scope": "all"}))), ["one", "other"]);
    let listed = one.request("resources/list", &json!({}));
    assert_eq!(listed["result"]["resources"][0]["name"], "one");
    assert_eq!(listed["result"]["resources"].as_array().unwrap().len(), 1);
}

#[test]
fn callers_without_a_session_go_by_their_name() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &[]);
    for owner in ["a", "b"] {
        let path = format!("/mcp?owner={owner}");
        server.call(&path, "exec", &json!({"command": format!("echo {owner}")}));
    }
    server.call("/mcp", "exec", &json!({"command": "echo nobody"}));
    for (path, command) in
        [("/mcp?owner=a", "echo a"), ("/mcp?owner=b", "echo b"), ("/mcp", "echo nobody")]
    {
        let jobs = server.call(path, "jobs", &json!({}))["jobs"].clone();
        let commands: Vec<&Value> =
            jobs.as_array().unwrap().iter().map(|job| &job["command"]).collect();
        assert_eq!(commands, [command], "{path}");
    }
    // A session of the same name is the same caller.
    let jobs = server.session_at("/mcp?owner=a").call("jobs", &json!({}));
    assert_eq!(jobs["jobs"][0]["command"], "echo a");
}

#[test]
fn the_end_of_a_session_ends_its_foreground_and_leaves_its_background() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &[]);
    let session = server.session();
    let nap = umbo.nap();
    session.call("exec", &json!({"command": nap, "background": true, "name": "stays"}));
    session.call(
        "exec",
        &json!({"command": nap, "yield": 0.1, "on_disconnect": "stop", "name": "yielded"}),
    );
    let waited = session.ask(
        "tools/call",
        &json!({"name": "exec", "arguments": {"command": nap, "name": "waited"}}),
    );
    umbo.wait_nappers(3);
    let id = session.id.clone();
    assert_eq!(session.end().status, 204);
    // When the answer is there, so is the end.
    assert_eq!(umbo.nappers().len(), 1);
    for name in ["yielded", "waited"] {
        assert_eq!(umbo.outcome(&umbo.listed_by_name(name))["state"], "stopped", "{name}");
    }
    assert_eq!(server.post(&[("mcp-session-id", &id)], &list()).status, 404);
    drop(waited);
    umbo.stop(&umbo.listed_by_name("stays"), &["--kill"]);
}

#[test]
fn a_silent_session_ends_and_one_that_listens_does_not() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &["--idle-timeout", "1.5"]);
    let (silent, listening) = (server.session(), server.session());
    let mut events = listening.listen();
    listening.call(
        "exec",
        &json!({"command": umbo.nap(), "yield": 0.1, "on_disconnect": "stop", "name": "kept"}),
    );
    listening.request("logging/setLevel", &json!({"level": "info"}));
    silent.call(
        "exec",
        &json!({"command": umbo.nap(), "yield": 0.1, "on_disconnect": "stop", "name": "gone"}),
    );
    let gone = umbo.outcome(&umbo.listed_by_name("gone"));
    assert_eq!((&gone["state"], &gone["by"]), (&json!("stopped"), &json!("disconnect")));
    assert_eq!(server.post(&[("mcp-session-id", &silent.id)], &list()).status, 404);
    // Much later than the other: it still is there, and is told.
    let kept = umbo.listed_by_name("kept");
    umbo.stop(&kept, &[]);
    let told = events.hear("notifications/message");
    assert_eq!(told["params"]["data"]["completed"]["name"], "kept");
    // The newest revision has no session, but silence all the same.
    server.call(
        "/mcp",
        "exec",
        &json!({"command": umbo.nap(), "yield": 0.1, "on_disconnect": "stop", "name": "left"}),
    );
    assert_eq!(umbo.outcome(&umbo.listed_by_name("left"))["state"], "stopped");
}

#[test]
fn who_closes_the_stream_of_the_newest_revision_cancels_the_call() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &[]);
    let line = format!("setsid {0} & {0} & wait", umbo.nap());
    let params = json!({"name": "exec", "arguments": {"command": line, "name": "left"}});
    let stream = server.ask("/mcp", "tools/call", &params);
    umbo.wait_nappers(2);
    drop(stream);
    assert_eq!(umbo.outcome(&umbo.listed_by_name("left"))["state"], "stopped");
    assert!(umbo.nappers().is_empty());
    // In older ones a broken stream is a broken stream; only a word cancels.
    let session = server.session();
    let params = json!({"name": "exec", "arguments": {"command": umbo.nap(), "name": "kept"}});
    let stream = session.ask("tools/call", &params);
    let asked = session.last.get();
    umbo.wait_nappers(1);
    drop(stream);
    session.call("exec", &json!({"command": "echo hi"}));
    assert_eq!(umbo.nappers().len(), 1);
    let cancelled = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": asked},
    });
    assert_eq!(server.post(&[("mcp-session-id", &session.id)], &cancelled).status, 202);
    assert_eq!(umbo.outcome(&umbo.listed_by_name("kept"))["state"], "stopped");
}

#[test]
fn a_session_is_told_on_its_stream() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &[]);
    let session = server.session();
    let mut events = session.listen();
    let job = session.call("exec", &json!({"command": "read x; echo $x", "background": true}));
    let uri = format!("umbo://jobs/{}/output", job["job"].as_str().unwrap());
    session.request("resources/subscribe", &json!({"uri": uri}));
    session.request("resources/list", &json!({}));
    session.call("input", &json!({"job": job["job"], "text": "news\n"}));
    assert_eq!(events.hear("notifications/resources/updated")["params"]["uri"], uri);
    session.call("exec", &json!({"command": "echo another"}));
    events.hear("notifications/resources/list_changed");
    // The newest revision has a request for that.
    let filter =
        json!({"notifications": {"resourceSubscriptions": [uri], "toolsListChanged": true}});
    let mut listening = Events::new(server.ask("/mcp", "subscriptions/listen", &filter));
    let honored = listening.hear("notifications/subscriptions/acknowledged");
    assert_eq!(honored["params"]["notifications"], json!({"resourceSubscriptions": [uri]}));
}

#[test]
fn an_interrupt_ends_the_server_with_its_foreground() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &[]);
    let session = server.session();
    session.call("exec", &json!({"command": umbo.nap(), "background": true, "name": "stays"}));
    session.call("exec", &json!({"command": umbo.nap(), "yield": 0.1, "on_disconnect": "stop"}));
    server.call(
        "/mcp",
        "exec",
        &json!({"command": umbo.nap(), "yield": 0.1, "on_disconnect": "stop"}),
    );
    umbo.wait_nappers(3);
    assert!(server.interrupt().success());
    assert_eq!(umbo.nappers().len(), 1);
    umbo.stop(&umbo.listed_by_name("stays"), &["--kill"]);
}

#[test]
fn the_token_is_made_once_kept_and_never_shown() {
    let umbo = Umbo::new();
    let file = umbo.path().join("home/.config/umbo/mcp-token");
    let start = || Server::of(umbo.call(["mcp", "--http", "127.0.0.1:0"]).into_command());
    let server = start();
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    let token = fs::read_to_string(&file).unwrap();
    let said = server.said().join("\n");
    assert!(said.ends_with(&format!("/mcp token-file {}", file.display())), "{said}");
    assert!(!said.contains(token.trim()), "{said}");
    assert_eq!(token.trim().len(), 64);
    let bearer = format!("Bearer {}", token.trim());
    assert_eq!(server.post(&[("authorization", &bearer)], &list()).status, 400);
    drop(server);
    // Another server, the same token.
    let server = start();
    assert_eq!(server.post(&[("authorization", &bearer)], &list()).status, 400);
    assert_eq!(fs::read_to_string(&file).unwrap(), token);
    drop(server);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let said = umbo.call(["mcp", "--http", "127.0.0.1:0"]).refused();
    assert!(said.contains("chmod 600"), "{said}");
    let mine = umbo.path().join("mine");
    fs::write(&mine, "short\n").unwrap();
    fs::set_permissions(&mine, fs::Permissions::from_mode(0o600)).unwrap();
    let said = umbo.call(["mcp", "--http", "127.0.0.1:0", "--token-file", "mine"]).refused();
    assert!(said.contains("16 to 1024"), "{said}");
    let said = umbo.call(["mcp", "--http", "127.0.0.1:0", "--token-file", "/etc"]).refused();
    assert!(said.contains("/etc: it is a directory"), "{said}");
}

#[test]
fn programs_are_told_in_json_where_it_listens() {
    let umbo = Umbo::new();
    let words = ["mcp", "--json", "--http", "localhost:0"];
    let mut child = umbo.call(words).into_command().stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    assert!(told["url"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{told}");
    assert!(told["token_file"].as_str().unwrap().ends_with("/mcp-token"), "{told}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn no_command_gets_the_token() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &[]);
    let answer = server.session().call("exec", &json!({"command": "env"}));
    let output = answer["output"].as_str().unwrap();
    assert!(output.contains("HOME=") && !output.contains("UMBO_MCP_TOKEN"), "{output}");
}

#[test]
fn other_machines_reach_it_only_through_a_proxy_that_was_named() {
    let umbo = Umbo::new();
    for words in [&["--http", "0.0.0.0:0"][..], &["--http", "0.0.0.0:0", "--behind-proxy"]] {
        let said = umbo.call([&["mcp"], words].concat()).env("UMBO_MCP_TOKEN", TOKEN).refused();
        assert!(said.contains("--allow-remote --behind-proxy"), "{said}");
    }
    let said = umbo.call(["mcp", "--http", "0.0.0.0:0", "--allow-remote"]).refused();
    assert!(said.contains("--behind-proxy"), "{said}");
    let said = umbo.call(["mcp", "--http", "everywhere"]).refused();
    assert!(said.contains("127.0.0.1:8391"), "{said}");
    let words = ["mcp", "--http", "0.0.0.0:0", "--allow-remote", "--behind-proxy"];
    let words = [&words[..], &["--allow-host", "umbo.example"]].concat();
    let mut server = Server::of(umbo.call(words).env("UMBO_MCP_TOKEN", TOKEN).into_command());
    server.address = ([127, 0, 0, 1], server.address.port()).into();
    assert_eq!(server.post(&[("host", "umbo.example")], &list()).status, 400, "it comes in");
    assert_eq!(server.post(&[("host", "other.example")], &list()).status, 403);
}

#[test]
fn hostile_clients_hurt_nobody_else() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &[]);
    let garbage: [&[u8]; 4] = [
        b"\x00\xff\xfe garbage\r\n\r\n",
        b"GET",
        b"POST /mcp HTTP/1.1\r\nhost: x\r\n",
        b"\r\n\r\n",
    ];
    let held: Vec<TcpStream> = garbage.iter().map(|bytes| server.connect(bytes)).collect();
    // Half a message, and then nothing more.
    let half = server.begin("POST", "/mcp", &[("content-length", "1000")], b"{\"jsonrpc\"");
    // Answers that nobody reads.
    let session = server.session();
    let flood = json!({"name": "exec", "arguments": {"command": "seq 1 20000"}});
    let unread: Vec<TcpStream> = (0..40).map(|_| session.ask("tools/call", &flood)).collect();
    // Clients that are killed amid their call.
    for _ in 0..20 {
        drop(server.ask("/mcp", "tools/call", &flood));
    }
    let nonsense = json!({"name": "no such tool", "arguments": {}});
    let answer = session.request("tools/call", &nonsense);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(session.request("no/such/method", &json!({}))["error"]["code"], -32601);
    let other = server.session();
    assert_eq!(other.call("exec", &json!({"command": "echo hi"}))["output"], "hi\n");
    drop((held, half, unread));
    assert_eq!(session.call("exec", &json!({"command": "echo ho"}))["output"], "ho\n");
}

#[test]
fn two_hundred_calls_at_once_over_http_are_all_answered() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &[]);
    let session = server.session();
    let streams: Vec<TcpStream> = (0..200)
        .map(|number| {
            let arguments = json!({"command": format!("echo {number}")});
            let message = json!({
                "jsonrpc": "2.0", "id": number + 1, "method": "tools/call",
                "params": {"name": "exec", "arguments": arguments},
            });
            let headers = [("mcp-session-id", session.id.as_str())];
            server.begin("POST", "/mcp", &headers, message.to_string().as_bytes())
        })
        .collect();
    let readers: Vec<_> = streams
        .into_iter()
        .map(|stream| thread::spawn(move || Response::read(stream).message()))
        .collect();
    for (number, reader) in readers.into_iter().enumerate() {
        let message = reader.join().unwrap();
        assert_eq!(message["id"], number + 1);
        assert_eq!(message["result"]["structuredContent"]["output"], format!("{number}\n"));
    }
}

#[test]
fn a_connection_serves_one_request_after_the_other() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &[]);
    let body = list().to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n\
         accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n",
        body.len()
    );
    let mut stream = server.connect(format!("{request}\r\n{body}").as_bytes());
    stream.write_all(format!("{request}connection: close\r\n\r\n{body}").as_bytes()).unwrap();
    let mut all = String::new();
    std::io::Read::read_to_string(&mut stream, &mut all).unwrap();
    assert_eq!(all.matches("HTTP/1.1 400").count(), 2, "{all}");
}

#[test]
fn who_loses_the_stream_of_a_call_gets_what_it_missed_once() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &[]);
    let session = server.session();
    let (go, going) = (umbo.path().join("go"), "until test -e go; do :; done; echo done");
    let arguments = json!({"command": going, "cwd": umbo.path()});
    let params = json!({"name": "exec", "arguments": arguments, "_meta": {"progressToken": "p"}});
    let mut events = Events::new(session.ask("tools/call", &params));
    let (seen, progress) = events.next().expect("it is told how the call stands");
    assert_eq!(progress["method"], "notifications/progress");
    drop(events);
    fs::write(go, "").unwrap();
    let resume = |id: &str| {
        let headers = [("mcp-session-id", session.id.as_str()), ("last-event-id", id)];
        Events::new(server.begin("GET", "/mcp", &headers, b"")).collect::<Vec<_>>()
    };
    let missed = resume(&seen);
    assert!(missed.iter().all(|(id, _)| *id != seen), "{missed:?}");
    let (last, answer) = missed.last().expect("the answer at least");
    assert_eq!(answer["id"], session.last.get(), "{answer}");
    assert_eq!(answer["result"]["structuredContent"]["output"], "done\n", "{answer}");
    assert_eq!(resume(last), [], "it has seen everything");
    // What another session was told is not for this one.
    let other = server.session();
    let headers = [("mcp-session-id", other.id.as_str()), ("last-event-id", seen.as_str())];
    let stolen: Vec<_> = Events::new(server.begin("GET", "/mcp", &headers, b"")).collect();
    assert_eq!(stolen, []);
}

#[test]
fn a_page_of_an_allowed_origin_may_ask_and_read() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &["--allow-origin", "https://app.example"]);
    let ask = |origin: &str| {
        let headers = [
            ("origin", origin),
            ("authorization", "-"),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "authorization, mcp-session-id"),
        ];
        server.request("OPTIONS", "/mcp", &headers, b"")
    };
    let allowed = ask("https://app.example");
    assert_eq!(allowed.status, 204, "{allowed:?}");
    assert_eq!(allowed.header("access-control-allow-origin"), Some("https://app.example"));
    let headers = allowed.header("access-control-allow-headers").unwrap();
    assert!(headers.contains("mcp-session-id"), "{allowed:?}");
    let other = ask("https://evil.example");
    assert_eq!((other.status, other.header("access-control-allow-origin")), (403, None));
    let posted = server.post(&[("origin", "https://app.example")], &list());
    assert_eq!(posted.header("access-control-allow-origin"), Some("https://app.example"));
    // Without the token nothing can be read, not even that it is missing.
    let stranger =
        server.post(&[("origin", "https://app.example"), ("authorization", "-")], &list());
    assert_eq!((stranger.status, stranger.header("access-control-allow-origin")), (401, None));
}

#[test]
fn sessions_that_nobody_deleted_lock_nobody_out() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &[]);
    let first = server.session();
    let listening = first.listen();
    for _ in 0..300 {
        server.session();
    }
    assert_eq!(server.session().call("exec", &json!({"command": "echo hi"}))["output"], "hi\n");
    // The one that somebody listens in is still there.
    assert_eq!(first.call("exec", &json!({"command": "echo ho"}))["output"], "ho\n");
    drop(listening);
}

#[test]
fn connections_without_a_token_lock_nobody_out() {
    let umbo = Umbo::new();
    let server = Server::start(&umbo, &[]);
    let held: Vec<TcpStream> =
        (0..600).map(|_| server.connect(b"POST /mcp HTTP/1.1\r\n")).collect();
    assert_eq!(server.session().call("exec", &json!({"command": "echo hi"}))["output"], "hi\n");
    drop(held);
}
