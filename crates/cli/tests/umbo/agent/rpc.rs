//! Programs that drive the agent: every command of the protocol, its events, and what a host lends.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};

use serde_json::{Value, json};
use umbo_model::server::{Answer, Gate, Reply, Trouble};

use super::{CASES, DEADLINE, Scene};

/// A host that talks to the agent of a scene.
pub(super) struct Host {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// All frames so far.
    pub(super) seen: Vec<Value>,
    count: u32,
}

impl Host {
    fn start(scene: &Scene, model: &str, words: &[&str]) -> Self {
        Self::start_with(scene, model, words, |command| command)
    }

    /// With something else about its process.
    pub(super) fn start_with(
        scene: &Scene,
        model: &str,
        words: &[&str],
        prepare: impl Fn(Command) -> Command,
    ) -> Self {
        let words = [&["agent", "--mode", "rpc", "--model", model], words].concat();
        let mut host = Self::of(prepare(scene.call(&words).into_command()));
        assert_eq!(host.next(), json!({"type": "ready"}), "the first frame");
        host
    }

    /// A host of any program that speaks the protocol.
    pub(super) fn of(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let frame = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
                if sender.send(frame).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, seen: Vec::new(), count: 0 }
    }

    /// `kill -9`.
    #[cfg(feature = "oh-my-pi")]
    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn next(&mut self) -> Value {
        let frame =
            self.lines.recv_timeout(DEADLINE).unwrap_or_else(|_| panic!("{:#?}", self.seen));
        self.seen.push(frame.clone());
        frame
    }

    pub(super) fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let frame = self.next();
            if is_it(&frame) {
                return frame;
            }
        }
    }

    pub(super) fn until_type(&mut self, kind: &str) -> Value {
        self.until(|frame| frame["type"] == kind)
    }

    pub(super) fn write(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(super) fn send(&mut self, mut command: Value) -> String {
        self.count += 1;
        let id = format!("req_{}", self.count);
        command["id"] = json!(id);
        self.write(&command.to_string());
        id
    }

    /// The response to a command.
    pub(super) fn call(&mut self, command: Value) -> Value {
        let id = self.send(command);
        self.until(|frame| frame["type"] == "response" && frame["id"] == id.as_str())
    }

    /// Its data; it must have succeeded.
    fn data(&mut self, command: Value) -> Value {
        let response = self.call(command);
        assert_eq!(response["success"], true, "{response}");
        response["data"].clone()
    }

    fn error(&mut self, command: Value) -> String {
        let response = self.call(command);
        assert_eq!(response["success"], false, "{response}");
        response["error"].as_str().unwrap().to_owned()
    }

    /// Closes its end; the agent ends with status 0.
    pub(super) fn close(mut self) -> Vec<Value> {
        self.stdin = None;
        assert!(self.child.wait().unwrap().success());
        self.seen.extend(self.lines.iter());
        self.seen
    }
}

#[test]
fn a_prompt_is_acknowledged_at_once_and_its_events_come_in_the_order_that_hosts_know() {
    for case in CASES {
        let scene = Scene::new(vec![
            Reply::answer(case.command("call_1", "echo hi")),
            Reply::text("It says hi."),
        ]);
        let mut host = Host::start(&scene, case.model, &[]);
        host.send(json!({"type": "prompt", "message": "what does it say?"}));
        host.until_type("agent_end");
        let kinds: Vec<String> = host.seen[1..]
            .iter()
            .filter(|frame| frame["type"] != "message_update")
            .map(|frame| frame["type"].as_str().unwrap().to_owned())
            .collect();
        // As the transcripts of the original have it.
        assert_eq!(
            kinds,
            [
                "response",
                "agent_start",
                "turn_start",
                "message_start",
                "message_end",
                "message_start",
                "message_end",
                "tool_execution_start",
                "tool_execution_end",
                "message_start",
                "message_end",
                "turn_end",
                "turn_start",
                "message_start",
                "message_end",
                "turn_end",
                "agent_end"
            ],
            "{}",
            case.model
        );
        let deltas: String = host
            .seen
            .iter()
            .map(|frame| &frame["assistantMessageEvent"])
            .filter(|event| event["type"] == "text_delta")
            .map(|event| event["delta"].as_str().unwrap())
            .collect();
        assert_eq!(deltas, "It says hi.");
        let end = host.seen.last().unwrap();
        assert_eq!(end["messages"].as_array().unwrap().len(), 4, "{end}");
        let call = host.seen.iter().find(|frame| frame["type"] == "tool_execution_end").unwrap();
        assert!(call["result"]["content"][0]["text"].as_str().unwrap().contains("hi"), "{call}");
        host.close();
        scene.check();
    }
}

#[test]
fn state_modes_models_sessions_and_messages_are_asked_and_changed() {
    let scene =
        Scene::new(vec![Reply::text("one"), Reply::text("two"), Reply::text("what was tried")]);
    let mut host = Host::start(&scene, CASES[0].model, &[]);
    let state = host.data(json!({"type": "get_state"}));
    assert_eq!(state["model"], json!({"provider": "anthropic", "id": "claude-sonnet-5"}));
    for (name, value) in [
        ("thinkingLevel", json!("medium")),
        ("isStreaming", json!(false)),
        ("isCompacting", json!(false)),
        ("steeringMode", json!("one-at-a-time")),
        ("followUpMode", json!("one-at-a-time")),
        ("interruptMode", json!("immediate")),
        ("autoCompactionEnabled", json!(true)),
        ("messageCount", json!(0)),
        ("queuedMessageCount", json!(0)),
        ("todoPhases", json!([])),
    ] {
        assert_eq!(state[name], value, "{name}");
    }
    assert!(state["dumpTools"][0]["parameters"].is_object() && state["systemPrompt"].is_string());
    for (command, mode) in [("steering", "all"), ("follow_up", "all"), ("interrupt", "wait")] {
        host.data(json!({"type": format!("set_{command}_mode"), "mode": mode}));
    }
    host.error(json!({"type": "set_interrupt_mode", "mode": "never"}));
    host.data(json!({"type": "set_thinking_level", "level": "high"}));
    assert_eq!(host.data(json!({"type": "cycle_thinking_level"}))["level"], "xhigh");
    host.data(json!({"type": "set_auto_compaction", "enabled": false}));
    host.data(json!({"type": "set_auto_retry", "enabled": false}));
    host.data(json!({"type": "abort_retry"}));
    let phases = json!([{"id": "p", "name": "Plan", "tasks": [
        {"id": "t", "content": "do it", "status": "pending"}]}]);
    let kept = phases.clone();
    let data = host.data(json!({"type": "set_todos", "phases": phases}));
    assert_eq!(data, json!({"todoPhases": kept}));
    let state = host.data(json!({"type": "get_state"}));
    let shown = ["steeringMode", "followUpMode", "interruptMode", "thinkingLevel"];
    assert_eq!(
        shown.map(|name| state[name].clone()),
        ["all", "all", "wait", "xhigh"].map(|word| json!(word))
    );
    assert_eq!((&state["autoCompactionEnabled"], &state["todoPhases"]), (&json!(false), &kept));

    let models = host.data(json!({"type": "get_available_models"}));
    assert!(models["models"].as_array().unwrap().len() > 10);
    let wrong = host.error(json!({"type": "set_model", "provider": "x", "modelId": "y"}));
    assert_eq!(wrong, "Model not found: x/y");
    host.data(json!({"type": "set_model", "provider": "openai", "modelId": "gpt-5.5"}));
    let state = host.data(json!({"type": "get_state"}));
    let has = |name: &str| state["dumpTools"].to_string().contains(name);
    assert!(has("exec_command"), "the tools follow the model");
    assert!(host.data(json!({"type": "cycle_model"}))["model"]["id"].is_string());
    host.data(json!({"type": "set_model", "provider": "anthropic", "modelId": "claude-sonnet-5"}));

    for text in ["the first", "the second"] {
        host.data(json!({"type": "prompt", "message": text}));
        host.until_type("agent_end");
    }
    assert_eq!(host.data(json!({"type": "get_last_assistant_text"})), json!({"text": "two"}));
    let counts = host.data(json!({"type": "get_session_stats"}));
    assert_eq!((&counts["userMessages"], &counts["assistantMessages"]), (&json!(2), &json!(2)));
    assert!(counts["cost"].as_f64().unwrap() > 0.0, "the price of this model is known: {counts}");
    let messages = host.data(json!({"type": "get_messages"}));
    assert_eq!(messages["messages"].as_array().unwrap().len(), 4);
    let branch = host.data(json!({"type": "get_branch_messages"}))["messages"].clone();
    assert_eq!(branch[1]["text"], "the second");
    let ran = host.data(json!({"type": "bash", "command": "echo from the host"}));
    assert_eq!((&ran["exitCode"], &ran["output"]), (&json!(0), &json!("from the host\n")));
    host.data(json!({"type": "abort_bash"}));
    assert_eq!(
        host.error(json!({"type": "set_session_name", "name": " "})),
        "Session name cannot be empty"
    );
    host.data(json!({"type": "set_session_name", "name": "mine"}));
    let first = host.data(json!({"type": "get_state"}));
    assert_eq!(first["sessionName"], "mine");
    let page = scene.umbo.path().join("page.html");
    host.data(json!({"type": "export_html", "outputPath": page}));
    assert!(std::fs::read_to_string(&page).unwrap().contains("the second"));
    let tree = host.data(json!({"type": "get_tree"}));
    assert!(tree["entries"].as_array().unwrap().len() >= 4 && tree["leafId"].is_string());
    let went = host.data(json!({"type": "branch", "entryId": branch[1]["entryId"]}));
    assert_eq!(went, json!({"text": "the second", "cancelled": false}));
    assert_eq!(host.data(json!({"type": "get_state"}))["messageCount"], 2);
    host.data(json!({"type": "switch_session", "sessionPath": first["sessionFile"]}));
    assert_eq!(host.data(json!({"type": "get_state"}))["sessionId"], first["sessionId"]);
    host.data(json!({"type": "navigate_tree", "entryId": branch[0]["entryId"]}));
    assert_eq!(host.data(json!({"type": "get_state"}))["messageCount"], 1);
    let last = branch[1]["entryId"].clone();
    host.data(json!({"type": "navigate_tree", "entryId": last}));
    let first_entry = branch[0]["entryId"].clone();
    let left =
        host.data(json!({"type": "navigate_tree", "entryId": first_entry, "summarize": true}));
    assert!(left["summary"].as_str().unwrap().contains("what was tried"), "{left}");
    host.error(json!({"type": "compact"}));
    host.data(json!({"type": "new_session"}));
    assert_eq!(host.error(json!({"type": "handoff"})), "Nothing to hand off (no messages yet)");
    assert!(host.data(json!({"type": "list_sessions"}))["sessions"].as_array().unwrap().len() >= 3);
    host.close();
}

#[test]
fn what_is_no_command_is_answered_and_the_next_one_is_heard() {
    let scene = Scene::new(Vec::new());
    let mut host = Host::start(&scene, CASES[0].model, &[]);
    host.write("{\"id\": \"x\", ");
    let wrong = host.next();
    assert_eq!((&wrong["command"], &wrong["success"]), (&json!("parse"), &json!(false)), "{wrong}");
    assert!(wrong.get("id").is_none());
    host.write("{\"id\":\"y\",\"type\":\"nosuch\"}");
    assert_eq!(
        host.next(),
        json!({"type": "response", "command": "nosuch", "success": false,
            "error": "Unknown command: nosuch"})
    );
    host.write("{\"type\":\"extension_ui_response\",\"id\":\"nobody\",\"confirmed\":true}");
    assert_eq!(host.data(json!({"type": "get_state"}))["isStreaming"], false);
    host.error(json!({"type": "set_host_tools", "tools": 5}));
    host.close();
}

#[test]
fn a_host_steers_queues_aborts_and_looks_while_the_agent_works() {
    let gate = Gate::new();
    let scene = Scene::new(vec![
        Reply::answer(CASES[0].command("call_1", "echo one")).wait_after(0, &gate),
        Reply::text("steered"),
        Reply::text("followed"),
        Reply::text("never").wait_after(0, &Gate::new()),
        Reply::text("instead"),
    ]);
    let mut host = Host::start(&scene, CASES[0].model, &[]);
    host.data(json!({"type": "prompt", "message": "start"}));
    assert!(scene.server.wait_for_requests(1, DEADLINE));
    assert_eq!(host.data(json!({"type": "get_state"}))["isStreaming"], true);
    host.error(json!({"type": "prompt", "message": "what of this?"}));
    host.data(json!({"type": "steer", "message": "like this"}));
    host.data(json!({"type": "prompt", "message": "later", "streamingBehavior": "followUp"}));
    assert_eq!(host.data(json!({"type": "get_state"}))["queuedMessageCount"], 2);
    assert_eq!(host.data(json!({"type": "get_messages"}))["messages"].as_array().unwrap().len(), 1);
    gate.open();
    host.until_type("agent_end");
    assert_eq!(host.data(json!({"type": "get_last_assistant_text"}))["text"], "followed");
    host.data(json!({"type": "prompt", "message": "hang"}));
    assert!(scene.server.wait_for_requests(4, DEADLINE));
    host.data(json!({"type": "abort_and_prompt", "message": "do this"}));
    for _ in 0..2 {
        host.until_type("agent_end");
    }
    assert_eq!(host.data(json!({"type": "get_last_assistant_text"}))["text"], "instead");
    host.close();
    scene.check();
}

#[test]
fn tools_and_addresses_of_the_host_are_called_and_questions_are_put_to_it() {
    let case = CASES[0];
    let call =
        |id: &str, name: &str, arguments: Value| Reply::answer(Answer::call(id, name, &arguments));
    let scene = Scene::new(vec![
        call("c1", "echo_host", json!({"message": "hello"})),
        call("c2", "echo_host", json!({"wrong": 1})),
        call("c3", "Read", json!({"file_path": "DB://users/42"})),
        call("c4", "Write", json!({"file_path": "db://users/42", "content": "name=Bob"})),
        Reply::answer(case.command("c5", "rm -rf precious")),
        Reply::text("all done"),
        call("c6", "echo_host", json!({"message": "hang"})),
    ]);
    std::fs::create_dir(scene.umbo.path().join("precious")).unwrap();
    let mut host = Host::start(&scene, case.model, &["--gate", "default"]);
    let parameters = json!({"type": "object", "properties": {"message": {"type": "string"}},
        "required": ["message"], "additionalProperties": false});
    let tool = json!({"name": "echo_host", "label": "Echo", "description": "Echo", "parameters": parameters});
    let data = host.data(json!({"type": "set_host_tools", "tools": [tool]}));
    assert_eq!(data, json!({"toolNames": ["echo_host"]}));
    let scheme = json!({"scheme": "DB", "description": "rows", "writable": true});
    let data = host.data(json!({"type": "set_host_uri_schemes", "schemes": [scheme]}));
    assert_eq!(data, json!({"schemes": ["db"]}));
    host.data(json!({"type": "prompt", "message": "go"}));

    let asked = host.until_type("host_tool_call");
    assert_eq!((&asked["toolCallId"], &asked["toolName"]), (&json!("c1"), &json!("echo_host")));
    let content = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    let update =
        json!({"type": "host_tool_update", "id": asked["id"], "partialResult": content("working")});
    host.write(&update.to_string());
    let shown = host.until_type("tool_execution_update");
    assert_eq!(shown["partialResult"], content("working"));
    let result =
        json!({"type": "host_tool_result", "id": asked["id"], "result": content("from the host")});
    host.write(&result.to_string());

    let read = host.until_type("host_uri_request");
    assert_eq!((&read["operation"], &read["url"]), (&json!("read"), &json!("DB://users/42")));
    let result = json!({"type": "host_uri_result", "id": read["id"], "content": "name=Alice\n",
        "notes": ["fresh from cache"]});
    host.write(&result.to_string());
    let write = host.until_type("host_uri_request");
    assert_eq!((&write["operation"], &write["content"]), (&json!("write"), &json!("name=Bob")));
    let result = json!({"type": "host_uri_result", "id": write["id"], "isError": true, "error": "read only"});
    host.write(&result.to_string());

    let dialog = host.until_type("extension_ui_request");
    assert_eq!(dialog["method"], "confirm");
    assert!(dialog["message"].as_str().unwrap().contains("rm -rf precious"));
    let answer = json!({"type": "extension_ui_response", "id": dialog["id"], "confirmed": true});
    host.write(&answer.to_string());
    host.until_type("agent_end");
    assert!(!scene.umbo.path().join("precious").exists());
    let requests = scene.server.requests();
    let told = |at: usize, text: &str| {
        let body = requests[at].body["messages"].to_string();
        assert!(body.contains(text), "{text}: {body}");
    };
    told(1, "from the host");
    told(2, "accepted");
    told(3, "name=Alice");
    told(3, "fresh from cache");
    told(4, "read only");

    host.data(json!({"type": "prompt", "message": "again"}));
    let asked = host.until_type("host_tool_call");
    host.data(json!({"type": "abort"}));
    let cancel = host.until_type("host_tool_cancel");
    assert_eq!(cancel["targetId"], asked["id"]);
    host.until_type("agent_end");
    host.close();
    scene.check();
}

/// The call of a model that asks.
fn ask(id: &str, questions: &Value) -> Reply {
    Reply::answer(Answer::call(id, "ask", &json!({"questions": questions})))
}

#[test]
fn questions_of_the_model_are_dialogs_of_the_host() {
    let options = json!([{"label": "red"}, {"label": "blue"}]);
    let one = json!([{"id": "c", "question": "Which?", "options": options, "recommended": 1}]);
    let two = json!([
        {"id": "many", "question": "Which ones?", "options": options, "multi": true},
        {"id": "own", "question": "And?", "options": options},
    ]);
    for case in CASES {
        let scene = Scene::new(vec![
            ask("call_1", &one),
            ask("call_2", &two),
            ask("call_3", &one),
            Reply::text("never"),
        ]);
        let mut host = Host::start(&scene, case.model, &[]);
        host.send(json!({"type": "prompt", "message": "go"}));
        let choose = |host: &mut Host, method: &str, shown: Option<Value>, value: &str| {
            let frame = host.until_type("extension_ui_request");
            assert_eq!(frame["method"], method, "{frame}");
            if let Some(shown) = shown {
                assert_eq!(frame["options"], shown);
            }
            let answer = json!({
                "type": "extension_ui_response", "id": frame["id"], "value": value,
            });
            host.write(&answer.to_string());
            frame
        };
        let other = "Other (type your own)";
        let shown = json!(["red", "blue (Recommended)", other]);
        let frame = choose(&mut host, "select", Some(shown), "blue (Recommended)");
        assert_eq!((&frame["title"], &frame["timeout"]), (&json!("Which?"), &json!(30000)));
        let shown = json!(["[ ] red", "[ ] blue", "Done selecting", other]);
        choose(&mut host, "select", Some(shown), "[ ] blue");
        let shown = json!(["[ ] red", "[x] blue", "Done selecting", other]);
        let frame = choose(&mut host, "select", Some(shown), "[ ] red");
        assert!(frame.get("timeout").is_none(), "who has begun is there: {frame}");
        choose(&mut host, "select", None, "Done selecting");
        choose(&mut host, "select", None, other);
        choose(&mut host, "editor", None, "green");
        // The third is not answered: the run ends.
        let frame = host.until_type("extension_ui_request");
        let no = json!({"type": "extension_ui_response", "id": frame["id"], "cancelled": true});
        host.write(&no.to_string());
        host.until_type("agent_end");
        let results: Vec<String> = host
            .seen
            .iter()
            .filter(|frame| frame["type"] == "tool_execution_end")
            .map(|frame| frame["result"]["content"][0]["text"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(
            results,
            [
                "User selected: blue",
                "User answers:\nmany: blue, red\nown: \"green\"",
                "Ask tool was cancelled by the user"
            ]
        );
        assert_eq!(scene.server.requests().len(), 3);
        scene.check();
        host.close();
    }
}

#[test]
fn a_question_that_nobody_answers_is_answered_as_recommended_and_one_that_is_aborted_goes_away() {
    let options = json!([{"label": "red"}, {"label": "blue"}]);
    let one = json!([{"id": "c", "question": "Which?", "options": options, "recommended": 1}]);
    let scene = Scene::new(vec![ask("call_1", &one), ask("call_2", &one), Reply::text("never")]);
    let mut host = Host::start(&scene, CASES[0].model, &[]);
    host.send(json!({"type": "prompt", "message": "go"}));
    let frame = host.until_type("extension_ui_request");
    let late = json!({
        "type": "extension_ui_response", "id": frame["id"], "cancelled": true, "timedOut": true,
    });
    host.write(&late.to_string());
    let frame = host.until_type("extension_ui_request");
    host.send(json!({"type": "abort"}));
    let taken = host.until(|frame| frame["method"] == "cancel");
    assert_eq!(taken["targetId"], frame["id"]);
    host.until_type("agent_end");
    let sent = &scene.server.requests()[1].text;
    assert!(sent.contains("User selected: blue"), "{sent}");
    host.close();
}

#[test]
fn the_todo_list_of_the_model_is_the_one_of_the_host_and_lives_in_the_session() {
    let list = json!({"todos": [{"content": "mend", "status": "in_progress"}]});
    let task = json!({"id": "task-1", "content": "mend", "status": "in_progress"});
    let kept = json!([{"id": "phase-1", "name": "", "tasks": [task]}]);
    let scene = Scene::new(vec![
        Reply::answer(Answer::call("call_1", "TodoWrite", &list)),
        Reply::text("done"),
    ]);
    let mut host = Host::start(&scene, CASES[0].model, &[]);
    host.send(json!({"type": "prompt", "message": "go"}));
    let update = host.until_type("todo_update");
    assert_eq!(update["todoPhases"], kept);
    host.until_type("agent_end");
    assert_eq!(host.data(json!({"type": "get_state"}))["todoPhases"], kept);
    let wrong = host.error(json!({"type": "set_todos", "phases": [{"tasks": 7}]}));
    assert!(wrong.starts_with("phases: "), "{wrong}");
    host.close();
    let mut host = Host::start(&scene, CASES[0].model, &["-c"]);
    assert_eq!(host.data(json!({"type": "get_state"}))["todoPhases"], kept);
    host.close();
}

#[test]
fn a_session_that_goes_on_thinks_as_much_as_was_chosen_in_it() {
    let scene = Scene::new(Vec::new());
    for level in ["high", "off"] {
        let mut host = Host::start(&scene, CASES[0].model, &[]);
        host.data(json!({"type": "set_thinking_level", "level": level}));
        let file = host.data(json!({"type": "get_state"}))["sessionFile"].clone();
        host.close();
        let mut host = Host::start(&scene, CASES[0].model, &["--resume", file.as_str().unwrap()]);
        assert_eq!(host.data(json!({"type": "get_state"}))["thinkingLevel"], level);
        host.close();
        let words = ["--resume", file.as_str().unwrap(), "--effort", "low"];
        let mut host = Host::start(&scene, CASES[0].model, &words);
        assert_eq!(host.data(json!({"type": "get_state"}))["thinkingLevel"], "low", "said now");
        host.close();
    }
}

#[test]
fn an_abort_right_behind_its_prompt_is_heard() {
    // Whichever is heard first, the command never runs to its end.
    for _ in 0..8 {
        let scene = Scene::new(vec![Reply::answer(CASES[0].command("call_1", "cat never"))]);
        scene.umbo.fifo("never");
        let mut host = Host::start(&scene, CASES[0].model, &["--gate", "open"]);
        let (go, stop) = (json!({"type": "prompt", "message": "go"}), json!({"type": "abort"}));
        host.write(&format!("{go}\n{stop}"));
        host.until(|frame| frame["type"] == "agent_end");
        host.close();
    }
}

/// Waits until a command has begun and left its mark.
fn until_made(scene: &Scene, name: &str) {
    while !scene.umbo.path().join(name).exists() {
        std::thread::yield_now();
    }
}

#[test]
fn commands_of_the_host_run_beside_the_agent_and_are_aborted_alone() {
    let gate = Gate::new();
    let scene =
        Scene::new(vec![Reply::text("first").wait_after(0, &gate), Reply::text("I have seen it.")]);
    scene.umbo.fifo("never");
    let mut host = Host::start(&scene, CASES[0].model, &["--gate", "open"]);
    host.data(json!({"type": "prompt", "message": "think"}));
    assert!(scene.server.wait_for_requests(1, DEADLINE));
    let ran = host.data(json!({"type": "bash", "command": "echo be''side"}));
    assert_eq!((&ran["output"], &ran["cancelled"]), (&json!("beside\n"), &json!(false)));
    let hanging = host.send(json!({"type": "bash", "command": "echo began > mark; cat never"}));
    until_made(&scene, "mark");
    assert!(host.data(json!({"type": "get_available_models"}))["models"].is_array());
    let page = scene.umbo.path().join("page.html");
    host.data(json!({"type": "export_html", "outputPath": page}));
    assert!(page.exists(), "while the agent works");
    host.data(json!({"type": "abort_bash"}));
    let ended = host.until(|frame| frame["id"] == hanging.as_str());
    assert_eq!(
        (&ended["data"]["cancelled"], &ended["data"]["exitCode"]),
        (&json!(true), &Value::Null),
        "{ended}"
    );
    assert_eq!(host.data(json!({"type": "get_state"}))["isStreaming"], true, "the agent goes on");
    gate.open();
    host.until_type("agent_end");
    host.data(json!({"type": "prompt", "message": "and now?"}));
    host.until_type("agent_end");
    let told = &scene.server.requests()[1].text;
    assert!(told.contains("The user ran `echo be''side`"), "{told}");
    assert!(told.contains("and stopped it"), "{told}");
    host.close();
    scene.check();
}

#[test]
fn retries_other_models_and_summaries_are_told_and_a_wait_is_aborted() {
    let mut number = 0;
    let scene = Scene::scripted(move |request| {
        number += 1;
        match number {
            // Asked again, and it works.
            1 => Reply::failure(Trouble::RateLimit(Some(0))),
            // A wait that nobody wants to sit through.
            3 => Reply::failure(Trouble::RateLimit(Some(60))),
            // Another model has to help.
            4 => Reply::failure(Trouble::Auth),
            // It does not fit any more.
            6 => Reply::failure(Trouble::Overflow),
            _ if request.text.contains("<conversation>") => Reply::text("a summary"),
            _ => Reply::text(&"some words ".repeat(4000)),
        }
    });
    let words = ["--fallback", CASES[1].model];
    let mut host = Host::start(&scene, CASES[0].model, &words);
    let prompt = |text: &str| json!({"type": "prompt", "message": text});
    host.data(prompt("one"));
    let start = host.until_type("auto_retry_start");
    assert_eq!((&start["attempt"], start["maxAttempts"].is_u64()), (&json!(1), true), "{start}");
    assert!(start["delayMs"].is_u64() && start["errorMessage"].is_string(), "{start}");
    assert_eq!(host.until_type("auto_retry_end")["success"], true);
    host.until_type("agent_end");

    host.data(prompt("two"));
    assert!(host.until_type("auto_retry_start")["delayMs"].as_u64().unwrap() > 30_000);
    host.data(json!({"type": "abort_retry"}));
    let end = host.until_type("auto_retry_end");
    assert_eq!((&end["success"], &end["attempt"]), (&json!(false), &json!(1)), "{end}");
    assert!(end["finalError"].is_string(), "{end}");
    host.until_type("agent_end");

    host.data(prompt("three"));
    assert_eq!(host.until_type("retry_fallback_applied")["model"], CASES[1].model);
    assert_eq!(host.until_type("retry_fallback_succeeded")["model"], CASES[1].model);
    host.until_type("agent_end");

    host.data(prompt("four"));
    assert_eq!(host.until_type("auto_compaction_start")["reason"], "overflow");
    let end = host.until_type("auto_compaction_end");
    assert_eq!((&end["aborted"], &end["willRetry"]), (&json!(false), &json!(false)), "{end}");
    host.until_type("agent_end");
    host.close();
}

#[test]
fn what_the_host_is_asked_is_taken_back_when_nobody_waits_for_it() {
    let case = CASES[0];
    let read = json!({"file_path": "db://users/42"});
    let write = json!({"file_path": "db://users/42", "content": "name=Bob"});
    let scene = Scene::new(vec![
        Reply::answer(case.command("c1", "rm -rf precious")),
        Reply::answer(Answer::call("c2", "Read", &read)),
        Reply::answer(Answer::call("c3", "Write", &write)),
        Reply::answer(Answer::call("c4", "Read", &read)),
    ]);
    std::fs::create_dir(scene.umbo.path().join("precious")).unwrap();
    let mut host = Host::start(&scene, case.model, &["--gate", "default"]);
    let schemes = json!([{"scheme": "db"}]);
    host.data(json!({"type": "set_host_uri_schemes", "schemes": schemes}));
    let go = json!({"type": "prompt", "message": "go"});

    host.data(go.clone());
    let dialog = host.until(|frame| frame["method"] == "confirm");
    host.data(json!({"type": "abort"}));
    let taken = host.until(|frame| frame["method"] == "cancel");
    assert_eq!(taken["targetId"], dialog["id"]);
    host.until_type("agent_end");
    assert!(scene.umbo.path().join("precious").exists());

    host.data(go.clone());
    let asked = host.until_type("host_uri_request");
    host.data(json!({"type": "abort"}));
    assert_eq!(host.until_type("host_uri_cancel")["targetId"], asked["id"]);
    host.until_type("agent_end");

    host.data(go);
    let refused = host.until_type("tool_execution_end");
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(refused.to_string().contains("can only be read"), "{refused}");
    host.until_type("host_uri_request");
    // A host that leaves owes no answer any more, and the process ends well.
    host.close();
}
