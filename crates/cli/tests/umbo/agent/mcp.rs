//! Tools of MCP servers: umbo itself, and servers of the official SDKs for Python and TypeScript.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use umbo_model::server::{Answer, Reply};

use super::rpc::Host;
use super::{CASES, Scene, of};
use crate::gate::person;
use crate::harness::{UMBO, is_alive, pid};
use crate::mcp::installed;

pub(super) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcp/tests").join(name)
}

/// The server of the Python SDK, as a client is configured for it.
fn python(scene: &Scene) -> Value {
    let words = [script("server.py").display().to_string(), "stdio".to_owned()];
    let directory = scene.umbo.path().display().to_string();
    json!({
        "command": installed("python/bin/python"),
        "args": [words[0], words[1], directory],
        "env": {"WORD": "${GREETING:-Nice day.}"},
    })
}

impl Scene {
    /// Writes the user's servers.
    fn servers(&self, servers: &Value) {
        let directory = self.umbo.path().join("home/.config/umbo");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("mcp.json"), json!({"mcpServers": servers}).to_string()).unwrap();
    }

    /// The tools that a request has.
    fn offered(&self, request: usize) -> String {
        self.server.requests()[request].body["tools"].to_string()
    }
}

fn texts(events: &[Value]) -> Vec<String> {
    let text = |event: &&Value| event["text"].as_str().unwrap().to_owned();
    of(events, "tool_result").iter().map(text).collect()
}

#[test]
fn tools_of_servers_are_tools_of_every_model() {
    for case in CASES {
        let scene = Scene::new(vec![
            Reply::answer(
                Answer::call("call_1", "mcp__peer__greet", &json!({"name": "Ada"}))
                    .and_call("call_2", "mcp__self__exec", &json!({"command": "echo in''side"}))
                    .and_call("call_3", "mcp__peer__fail", &json!({}))
                    .and_call("call_4", "mcp__peer__Do_it__now_", &json!({}))
                    .and_call("call_5", "mcp__peer__picture", &json!({})),
            ),
            Reply::text("done"),
        ]);
        let own = json!({"command": UMBO, "args": ["mcp", "--dialect", "umbo"]});
        scene.servers(&json!({"peer": python(&scene), "self": own}));
        let events = scene.events(case.model, &["--gate", "open"], "greet");
        let mut results = texts(&events);
        results.sort();
        assert!(results.iter().any(|text| text == "Hello, Ada! Nice day."), "{results:?}");
        assert!(results.iter().any(|text| text.contains("inside")), "{results:?}");
        assert!(
            results.iter().any(|text| text.contains("Error executing tool fail")),
            "{results:?}"
        );
        assert!(results.iter().any(|text| text == "done it"), "{results:?}");
        let failed = of(&events, "tool_result").iter().filter(|r| r["is_error"] == true).count();
        assert_eq!(failed, 1, "{events:#?}");
        assert!(scene.server.requests()[1].text.contains("iVBORw0KGgo"), "the picture is sent");
        scene.check();
    }
}

#[test]
fn a_call_passes_the_gate_whatever_the_server_says_of_its_tool() {
    let case = CASES[0];
    let replies = || {
        vec![
            Reply::answer(Answer::call("call_1", "mcp__peer__greet", &json!({"name": "Ada"}))),
            Reply::text("done"),
        ]
    };
    let scene = Scene::new(replies());
    scene.servers(&json!({"peer": python(&scene)}));
    let words = ["--gate", "default"];
    let refused = texts(&scene.events(case.model, &words, "greet")).remove(0);
    assert!(refused.contains("approv"), "{refused}");
    assert!(!scene.umbo.path().join("greeted").exists());
    // With a rule for just this tool it runs.
    let rule = "[[rule]]\nname='greet'\ndecision='allow'\nreason='harmless'\n\
                argv=['mcp:peer','greet']\n";
    let scene = Scene::new(replies());
    scene.servers(&json!({"peer": python(&scene)}));
    fs::write(scene.umbo.path().join("home/.config/umbo/rules.toml"), rule).unwrap();
    let allowed = texts(&scene.events(case.model, &words, "greet")).remove(0);
    assert_eq!(allowed, "Hello, Ada! Nice day.");
    let audit = scene.umbo.call(["audit", "show", "--json"]).answer().text();
    assert!(audit.contains("mcp:peer greet"), "{audit}");
}

#[test]
fn servers_of_a_project_are_not_started_before_somebody_trusts_its_file() {
    let scene = Scene::new(vec![Reply::text("without"), Reply::text("with")]);
    let project = scene.umbo.path();
    fs::create_dir_all(project.join(".umbo")).unwrap();
    fs::create_dir_all(project.join(".git")).unwrap();
    let file = json!({"mcpServers": {"peer": python(&scene)}});
    fs::write(project.join(".umbo/mcp.json"), file.to_string()).unwrap();
    let answer = scene.agent(CASES[0].model, &[], "hi").answer();
    assert!(answer.said().contains("(peer): `umbo trust` lets"), "{answer:?}");
    assert!(!project.join("started").exists() && !scene.offered(0).contains("mcp__"));
    let trusted = person(&scene.umbo, project, &["trust"], "y\n");
    assert!(trusted.status.success(), "{trusted:?}");
    scene.agent(CASES[0].model, &[], "hi").answer().expect_status(0);
    assert!(project.join("started").exists() && scene.offered(1).contains("mcp__peer__greet"));
}

#[test]
fn a_server_that_dies_is_said_and_started_again_and_one_that_learns_is_heard() {
    let case = CASES[0];
    let scene = Scene::new(vec![
        Reply::answer(Answer::call("call_1", "mcp__peer__learn", &json!({}))),
        Reply::answer(Answer::call("call_2", "mcp__peer__learned", &json!({}))),
        Reply::answer(Answer::call("call_3", "mcp__peer__die", &json!({}))),
        Reply::answer(Answer::call("call_4", "mcp__peer__greet", &json!({"name": "Ada"}))),
        Reply::text("done"),
    ]);
    scene.servers(&json!({"peer": python(&scene)}));
    let call = scene.agent(case.model, &["--json", "--gate", "open"], "live");
    let answer = call.answer();
    let said = answer.said();
    let events: Vec<Value> =
        answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let results = texts(&events);
    assert_eq!(results[..2], ["ok", "I have learned this"], "{results:?}");
    assert!(results[2].starts_with("the MCP server peer went away during this call"));
    assert_eq!(results[3], "Hello, Ada! Nice day.");
    let told = "umbo: MCP server peer: it ended with exit status: 7: I cannot go on; it is started \
                again in 1 s\n";
    assert_eq!(said, told);
    let started = fs::read_to_string(scene.umbo.path().join("started")).unwrap();
    let processes: Vec<i64> = started.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(processes.len(), 2, "{started}");
    assert!(processes.iter().all(|&process| !is_alive(pid(process))), "all end with the agent");
}

#[test]
fn servers_that_cannot_be_used_are_said_and_the_others_work() {
    let scene = Scene::new(vec![Reply::text("hello")]);
    scene.servers(&json!({
        "peer": python(&scene),
        "gone": {"command": "/no/such/program"},
        "mute": {"command": "sleep", "args": ["1000"], "timeout": 50},
        "nobody": {"type": "http", "url": "http://127.0.0.1:9/mcp"},
        "bad name": {"command": "x"},
        "both": {"command": "x", "url": "http://x"},
        "forgot": {"url": "http://x"},
        "off": {"command": "/no/such/program", "enabled": false},
        "needs": {"command": "${NO_SUCH_VARIABLE}"},
    }));
    let answer = scene.agent(CASES[0].model, &[], "hi").answer();
    answer.expect_status(0);
    let said = answer.said();
    for told in [
        "MCP server gone: /no/such/program cannot be started: ",
        "MCP server mute: it was not ready after 0.05 s; it is not started again",
        "MCP server nobody: ",
        "server \"bad name\": a name has 1 to 100 of the characters",
        "server \"both\": both \"command\" and \"url\" are set",
        "server \"forgot\": stdio server requires \"command\" field",
        "server \"needs\": the variable NO_SUCH_VARIABLE is not set",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
    assert_eq!(said.lines().count(), 7, "{said}");
    assert!(scene.offered(0).contains("mcp__peer__greet"));
}

/// The server of the TypeScript SDK; ends with this.
pub(super) struct NodeServer(Child, pub(super) String);

impl NodeServer {
    pub(super) fn start(directory: &Path) -> Self {
        let node = installed("mcp/node");
        let tools = node.parent().unwrap().parent().unwrap().to_owned();
        let mut command = Command::new(node);
        command.arg(script("server.mjs")).arg(directory).env("UMBO_TEST_TOOLS", tools);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Self(child, format!("http://127.0.0.1:{}/mcp", port.trim()))
    }
}

impl Drop for NodeServer {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn an_abort_reaches_the_server_over_pipes_and_over_http() {
    let scene = Scene::new(vec![
        Reply::answer(Answer::call("call_1", "mcp__web__count", &json!({}))),
        Reply::answer(Answer::call("call_2", "mcp__web__hang", &json!({}))),
        Reply::answer(Answer::call("call_3", "mcp__peer__hang", &json!({}))),
        Reply::text("never"),
    ]);
    let path = scene.umbo.path();
    let node = NodeServer::start(path);
    let web = json!({"type": "http", "url": node.1, "headers": {"x-key": "KEY_OF_THE_SERVER"}});
    scene.servers(&json!({"peer": python(&scene), "web": web}));
    let words = ["--gate", "open"];
    let call = |command: Command| {
        let mut command = command;
        command.env("KEY_OF_THE_SERVER", "open sesame");
        command
    };
    let mut host = Host::start_with(&scene, CASES[0].model, &words, call);
    for prompt in ["count and hang", "hang here"] {
        host.send(json!({"type": "prompt", "message": prompt}));
        while !path.join("hanging").exists() {
            std::thread::yield_now();
        }
        if prompt == "hang here" {
            let shown = host.until_type("tool_execution_update").to_string();
            assert!(shown.contains("half way"), "{shown}");
        }
        host.send(json!({"type": "abort"}));
        host.until_type("agent_end");
        while !path.join("cancelled").exists() {
            std::thread::yield_now();
        }
        fs::remove_file(path.join("hanging")).unwrap();
        fs::remove_file(path.join("cancelled")).unwrap();
    }
    let shown = |wanted: &str| host.seen.iter().any(|frame| frame.to_string().contains(wanted));
    assert!(shown("one two three"), "{:#?}", host.seen);
    host.close();
}

#[test]
fn what_a_server_asks_is_asked_of_the_person_and_declined_where_there_is_none() {
    let call = || Reply::answer(Answer::call("call_1", "mcp__peer__book", &json!({})));
    let scene = Scene::new(vec![call(), Reply::text("done"), call(), Reply::text("done")]);
    scene.servers(&json!({"peer": python(&scene)}));
    let prepare = |command| command;
    let mut host = Host::start_with(&scene, CASES[0].model, &["--gate", "open"], prepare);
    host.send(json!({"type": "prompt", "message": "book"}));
    let is_dialog = |frame: &Value| {
        frame["type"] == "extension_ui_request"
            && (frame["method"] == "select" || frame["method"] == "editor")
    };
    let mut titles = Vec::new();
    // A number that is none is asked for again.
    for value in ["Other (type your own)", "many", "Other (type your own)", "4", "Yes"] {
        let asked = host.until(is_dialog);
        titles.push(asked["title"].as_str().unwrap().to_owned());
        let answer = json!({"type": "extension_ui_response", "id": asked["id"], "value": value});
        host.write(&answer.to_string());
    }
    host.until_type("agent_end");
    let seen = host.close();
    assert!(titles[0].contains("MCP server peer asks: Book a table?"), "{titles:?}");
    assert!(titles[2].contains("\"many\" is not a whole number"), "{titles:?}");
    assert!(titles[4].contains("At the window?"), "{titles:?}");
    let all = json!(seen).to_string();
    assert!(all.contains("booked for 4, window True"), "{all}");
    // A script has nobody to ask, and the server is told so before it asks.
    let results = texts(&scene.events(CASES[0].model, &["--gate", "open"], "book"));
    assert!(!results[0].contains("booked for"), "{results:?}");
}
