//! oh-my-pi, whose session files and RPC ours are, beside ours on the same script: `cargo xtask oracle
//! agent` installs it and runs these. Each difference is one that `docs/agent.md` declares.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use umbo_model::server::{Answer, Gate, Received, Reply};

use super::rpc::Host;
use super::{DEADLINE, Scene};

/// A model of the format that both speak with the same names of tools.
const MODEL: &str = "openai-chat/mock-chat";

fn installed() -> PathBuf {
    let place = std::env::var_os("UMBO_OH_MY_PI").expect("`cargo xtask oracle agent` sets it");
    PathBuf::from(place)
}

/// oh-my-pi with the models of a scene, in the scene's directory and with a home of its own.
fn theirs(scene: &Scene, words: &[&str]) -> Command {
    let home = scene.umbo.path().join("home-of-omp");
    let settings = home.join(".omp/agent");
    fs::create_dir_all(&settings).unwrap();
    let models = json!({"providers": {"openai-chat": {
        "baseUrl": format!("{}/v1", scene.server.url()), "apiKey": "sk-test",
        "api": "openai-completions",
        "models": [{"id": "mock-chat", "name": "Mock", "reasoning": false, "input": ["text"],
            "contextWindow": 200_000, "maxTokens": 4000,
            "cost": {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0}}],
    }}});
    fs::write(settings.join("models.yml"), models.to_string()).unwrap();
    let mut command = Command::new(installed().join(".bin/bun"));
    command
        .arg(installed().join("@oh-my-pi/pi-coding-agent/dist/cli.js"))
        .args(["--mode", "rpc", "--model", MODEL, "--no-lsp", "--no-extensions"])
        .args(words)
        .current_dir(scene.umbo.path())
        .env("HOME", &home)
        .stderr(std::process::Stdio::null());
    command
}

/// Ours, with the tools of its dialect.
fn ours(scene: &Scene, words: &[&str]) -> Command {
    let agent = ["agent", "--mode", "rpc", "--model", MODEL, "--dialect", "omp", "--gate", "open"];
    scene.call(&[&agent, words].concat()).into_command()
}

type Start = fn(&Scene, &[&str]) -> Command;
const BOTH: [(&str, Start); 2] = [("ours", ours), ("theirs", theirs)];

/// A conversation with a call in it.
fn script(request: &Received) -> Reply {
    if request.text.contains("\"role\":\"tool\"") {
        return Reply::text("It says: some words.");
    }
    Reply::answer(Answer::call("call_1", "bash", &json!({"command": "sort a.txt"})))
}

fn scene() -> Scene {
    let scene = Scene::scripted(script);
    fs::write(scene.umbo.path().join("a.txt"), "some words\n").unwrap();
    scene
}

/// Works on a prompt to its end; the file of the session.
fn converse(host: &mut Host) -> PathBuf {
    let answer = host.call(json!({"type": "prompt", "message": "Say what a.txt says"}));
    assert_eq!(answer["success"], true, "{answer}");
    host.until_type("agent_end");
    session_file(host)
}

fn session_file(host: &mut Host) -> PathBuf {
    let state = host.call(json!({"type": "get_state"}));
    PathBuf::from(state["data"]["sessionFile"].as_str().unwrap())
}

fn entries(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What a message is, without what differs from run to run.
fn shape(entry: &Value) -> Value {
    let message = &entry["message"];
    let blocks = message["content"].as_array().into_iter().flatten();
    let kinds: Vec<&Value> = blocks.map(|block| &block["type"]).collect();
    json!([message["role"], kinds, message["stopReason"], message["toolName"], message["isError"]])
}

fn kinds(entries: &[Value]) -> BTreeSet<String> {
    entries.iter().map(|entry| entry["type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_same_conversation_makes_the_same_messages_and_each_opens_the_files_of_the_other() {
    let mut files = Vec::new();
    let scenes = [scene(), scene()];
    for ((name, start), scene) in BOTH.iter().zip(&scenes) {
        let mut host = Host::of(start(scene, &[]));
        let file = converse(&mut host);
        host.close();
        files.push((name, entries(&file), file));
    }
    let messages = |entries: &[Value]| -> Vec<Value> {
        entries.iter().filter(|entry| entry["type"] == "message").map(shape).collect()
    };
    let [(_, ours_said, ours_file), (_, theirs_said, theirs_file)] = &files[..] else { panic!() };
    assert_eq!(messages(ours_said), messages(theirs_said));
    // Declared: each writes down when a call begins, in its own words; models and levels only when
    // they change; the title where it stands.
    let only_ours: Vec<String> =
        kinds(ours_said).difference(&kinds(theirs_said)).cloned().collect();
    let only_theirs: Vec<String> =
        kinds(theirs_said).difference(&kinds(ours_said)).cloned().collect();
    assert_eq!(only_ours, ["tool_start"]);
    for kind in &only_theirs {
        let declared = ["custom", "model_change", "model_usage", "thinking_level_change", "title"];
        assert!(declared.contains(&kind.as_str()), "{kind}");
    }

    // Their file in our hands: nothing is damaged, and the conversation goes on.
    let shown = scenes[0].call(&["sessions", "show", theirs_file.to_str().unwrap()]).answer();
    assert_eq!(shown.status, 0, "{shown:?}");
    assert!(shown.text().contains("Say what a.txt says"), "{shown:?}");
    let mut host = Host::of(ours(&scenes[0], &["--resume", theirs_file.to_str().unwrap()]));
    let heard = host.call(json!({"type": "get_messages"}));
    assert_eq!(heard["data"]["messages"].as_array().unwrap().len(), 4, "{heard}");
    host.close();

    // Ours in theirs, in the directory that it is about: theirs leaves sessions of others alone.
    let mut host = Host::of(theirs(&scenes[0], &[]));
    let path = json!({"type": "switch_session", "sessionPath": ours_file});
    let went = host.call(path);
    assert_eq!((&went["success"], &went["data"]["cancelled"]), (&json!(true), &json!(false)));
    let heard = host.call(json!({"type": "get_messages"}));
    assert_eq!(heard["data"]["messages"].as_array().unwrap().len(), 4, "{heard}");
    host.close();
}

/// The fields of an answer.
fn fields(answer: &Value) -> BTreeSet<String> {
    answer["data"].as_object().map(|data| data.keys().cloned().collect()).unwrap_or_default()
}

#[test]
fn commands_of_the_protocol_are_answered_alike() {
    let commands = [
        json!({"type": "get_state"}),
        json!({"type": "get_session_stats"}),
        json!({"type": "get_last_assistant_text"}),
        json!({"type": "get_branch_messages"}),
        json!({"type": "get_messages"}),
        json!({"type": "set_session_name", "name": "mine"}),
        json!({"type": "set_session_name", "name": ""}),
        json!({"type": "bash", "command": "echo hi"}),
        json!({"type": "set_host_uri_schemes", "schemes": [{"scheme": "Mem"}]}),
        json!({"type": "set_todos", "phases": [{"id": "p", "name": "P", "tasks": [
            {"id": "t", "content": "do it", "status": "pending"}]}]}),
        json!({"type": "compact"}),
        json!({"type": "set_thinking_level", "level": "high"}),
        json!({"type": "set_steering_mode", "mode": "all"}),
        json!({"type": "set_follow_up_mode", "mode": "all"}),
        json!({"type": "set_interrupt_mode", "mode": "wait"}),
        json!({"type": "set_auto_compaction", "enabled": false}),
        json!({"type": "set_auto_retry", "enabled": false}),
        json!({"type": "abort_retry"}),
        json!({"type": "abort_bash"}),
        json!({"type": "get_available_models"}),
        json!({"type": "set_model", "provider": "x", "modelId": "y"}),
        json!({"type": "abort"}),
        json!({"type": "new_session"}),
    ];
    // What later versions of theirs added, and our document does not have.
    let added = [
        "contextUsage",
        "fastModeActive",
        "fastModeEnabled",
        "premiumRequests",
        "tokensPerSecond",
        "totalLines",
    ];
    // What ours says though it is nothing.
    let always = ["sessionName", "thinkingLevel"];
    let mut answers = Vec::new();
    for (_, start) in BOTH {
        let scene = scene();
        let mut host = Host::of(start(&scene, &[]));
        converse(&mut host);
        answers.push(commands.clone().map(|command| host.call(command)));
        let frames: BTreeSet<String> = host
            .seen
            .iter()
            .filter_map(|frame| frame["type"].as_str())
            .map(str::to_owned)
            .collect();
        for kind in [
            "ready",
            "agent_start",
            "turn_start",
            "message_start",
            "message_update",
            "message_end",
            "tool_execution_start",
            "tool_execution_end",
            "turn_end",
            "agent_end",
            "response",
        ] {
            assert!(frames.contains(kind), "{kind}: {frames:?}");
        }
        host.close();
    }
    let mut problems = Vec::new();
    for ((command, ours), theirs) in commands.iter().zip(&answers[0]).zip(&answers[1]) {
        if ours["success"] != theirs["success"] {
            problems.push(format!("{command}: {ours} and {theirs}"));
        }
        let (own, other) = (fields(ours), fields(theirs));
        let lacks = other.difference(&own).filter(|name| !added.contains(&name.as_str()));
        let more = own.difference(&other).filter(|name| !always.contains(&name.as_str()));
        problems.extend(lacks.map(|name| format!("{command}: ours lacks {name}")));
        problems.extend(more.map(|name| format!("{command}: theirs lacks {name}")));
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn what_they_lose_in_a_kill_and_to_a_second_process_is_not_lost_here() {
    let mut kept = Vec::new();
    for (_, start) in BOTH {
        let gate = Gate::new();
        let held = gate.clone();
        let scene = Scene::scripted(move |_| Reply::text("never").wait_after(0, &held));
        let mut host = Host::of(start(&scene, &[]));
        let file = session_file(&mut host);
        host.call(json!({"type": "prompt", "message": "the very first prompt"}));
        assert!(scene.server.wait_for_requests(1, DEADLINE));
        host.kill();
        gate.open();
        let text = fs::read_to_string(&file).unwrap_or_default();
        kept.push(text.contains("the very first prompt"));
    }
    assert_eq!(kept, [true, false], "ours keeps it; theirs, when it does, is no longer declared");

    let mut second = Vec::new();
    for (_, start) in BOTH {
        let scene = scene();
        let mut first = Host::of(start(&scene, &[]));
        let file = converse(&mut first);
        let mut other = Host::of(start(&scene, &[]));
        let went = other.call(json!({"type": "switch_session", "sessionPath": file}));
        second.push(went["success"] == false && went["error"].to_string().contains("in use"));
        other.close();
        first.close();
    }
    assert_eq!(second, [true, false], "ours says that another process works on it");
}
