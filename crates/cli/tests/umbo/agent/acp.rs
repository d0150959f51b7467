//! Editors: the agent driven by the official client library of the Agent Client Protocol, which checks
//! all that it reads.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use umbo_model::server::{Answer, Gate, Reply, Trouble};

use super::editor::{Editor, Questions};
use super::mcp::{NodeServer, script};
use super::{CASES, Case, Scene};
use crate::mcp::{Server, TOKEN, installed};

/// The mode in which all that does not only read asks.
const ASKS: [&str; 2] = ["--gate", "default"];
const OPEN: [&str; 2] = ["--gate", "open"];

/// A model that runs a command, then says something.
fn runs(case: Case, line: &'static str, then: &'static str) -> Scene {
    let answer = Answer::new().and_thinking("I should run it.", "c2lnbmF0dXJl");
    Scene::new(vec![Reply::answer(case.and_command(answer, "call_1", line)), Reply::text(then)])
}

#[test]
fn a_turn_streams_thoughts_calls_and_text_and_asks_before_it_runs() {
    for case in CASES {
        let scene = runs(case, "touch made", "It is made.");
        let mut editor = Editor::start(&scene, case, &ASKS, &json!(["allow_once"]));
        let session = editor.new_session(scene.umbo.path());
        assert_eq!(editor.prompt(&session, "make it"), "end_turn");
        assert_eq!(editor.asked.len(), 1, "{:?}", editor.asked);
        let options = editor.asked[0]["options"].as_array().unwrap();
        let kinds: Vec<&str> = options.iter().map(|one| one["kind"].as_str().unwrap()).collect();
        for kind in ["allow_once", "allow_always", "reject_once"] {
            assert!(kinds.contains(&kind), "{kinds:?}");
        }
        let calls = editor.calls();
        let [call] = calls.as_slice() else { panic!("{calls:?}") };
        assert_eq!(call["toolCallId"], editor.asked[0]["toolCall"]["toolCallId"]);
        assert_eq!((&call["kind"], &call["title"]), (&json!("execute"), &json!("`touch made`")));
        assert_eq!(call["rawInput"][case.field], "touch made");
        assert_eq!(call["states"], json!(["pending", "in_progress", "completed"]));
        assert_eq!(editor.text("agent_message_chunk"), "It is made.");
        assert!(!editor.of("usage_update").is_empty());
        editor.close();
        assert!(scene.umbo.path().join("made").exists());
        scene.check();
    }
}

#[test]
fn thoughts_and_commands_of_the_session_are_told() {
    let case = CASES[0];
    let scene = runs(case, "true", "done");
    let mut editor = Editor::start(&scene, case, &ASKS, &json!([]));
    let session = editor.new_session(scene.umbo.path());
    editor.prompt(&session, "go");
    assert_eq!(editor.text("agent_thought_chunk"), "I should run it.");
    editor.until(|editor| !editor.of("available_commands_update").is_empty());
    let told = editor.of("available_commands_update")[0]["availableCommands"].clone();
    assert_eq!((&told[0]["name"], &told[1]["name"]), (&json!("compact"), &json!("cost")));
    let before = scene.server.requests().len();
    assert_eq!(editor.prompt(&session, "/cost"), "end_turn");
    assert!(editor.text("agent_message_chunk").contains("tokens read"));
    assert_eq!(scene.server.requests().len(), before, "no model was asked");
    editor.close();
}

#[test]
fn what_is_rejected_does_not_run_and_what_is_allowed_for_the_session_is_asked_once() {
    let case = CASES[0];
    let scene = Scene::new(vec![
        Reply::answer(case.command("call_1", "touch no")),
        Reply::text("Not done."),
        Reply::answer(case.command("call_2", "touch yes")),
        Reply::text("Done."),
        Reply::answer(case.command("call_3", "touch yes")),
        Reply::text("Done again."),
    ]);
    let choices = json!(["reject_once", "allow_command"]);
    let mut editor = Editor::start(&scene, case, &ASKS, &choices);
    let session = editor.new_session(scene.umbo.path());
    editor.prompt(&session, "one");
    assert_eq!(editor.calls()[0]["status"], "failed");
    editor.prompt(&session, "two");
    editor.prompt(&session, "three");
    assert_eq!(editor.asked.len(), 2, "the third was not asked for");
    editor.close();
    assert!(!scene.umbo.path().join("no").exists());
    assert!(scene.umbo.path().join("yes").exists());
    assert!(scene.server.requests()[1].text.contains("the user said no"));
    scene.check();
}

#[test]
fn a_cancelled_turn_ends_as_cancelled_whatever_was_under_way_and_the_next_one_works() {
    for case in [CASES[0], CASES[1]] {
        let gate = Gate::new();
        let scene = Scene::new(vec![
            // A command that runs, a question that nobody answers, an answer that comes slowly.
            Reply::answer(case.command("call_1", "echo began; cat go")),
            Reply::answer(case.command("call_2", "touch asked")),
            Reply::text("never heard").wait_after(0, &gate),
            Reply::text("Here I am."),
        ]);
        scene.umbo.fifo("go");
        let mut editor = Editor::start(&scene, case, &ASKS, &json!([null]));
        let session = editor.new_session(scene.umbo.path());

        let running = editor.start_prompt(&session, "run");
        let has_begun = |call: &Value| call["content"].to_string().contains("began");
        editor.until(|editor| editor.calls().iter().any(has_begun));
        editor.cancel(&session);
        assert_eq!(editor.stop(running), "cancelled");

        let asking = editor.start_prompt(&session, "ask");
        editor.until(|editor| editor.asked.len() == 1);
        editor.cancel(&session);
        assert_eq!(editor.stop(asking), "cancelled");

        let answering = editor.start_prompt(&session, "answer");
        assert!(scene.server.wait_for_requests(3, super::DEADLINE));
        editor.cancel(&session);
        assert_eq!(editor.stop(answering), "cancelled");

        // Where there is nothing to cancel, that is no error.
        editor.cancel(&session);
        assert_eq!(editor.prompt(&session, "still there?"), "end_turn");
        assert!(editor.text("agent_message_chunk").ends_with("Here I am."));
        editor.close();
        assert!(!scene.umbo.path().join("asked").exists());
        let jobs = scene.umbo.jobs();
        assert!(jobs.iter().all(|job| job["state"] != "started"), "{jobs:?}");
        scene.check();
    }
}

#[test]
fn a_session_is_loaded_after_a_kill_with_its_past_and_the_command_that_still_runs() {
    for case in [CASES[0], CASES[1]] {
        let line = "echo run >> runs; read line < go; echo got $line";
        let scene = Scene::new(vec![
            Reply::answer(case.command("call_1", line)),
            Reply::text("It ended."),
            Reply::text("Told."),
        ]);
        let go = scene.umbo.fifo("go");
        let runs = scene.umbo.path().join("runs");
        let mut editor = Editor::start(&scene, case, &OPEN, &json!([]));
        let session = editor.new_session(scene.umbo.path());
        editor.start_prompt(&session, "the first prompt");
        while !fs::read_to_string(&runs).is_ok_and(|text| text.ends_with('\n')) {
            std::thread::yield_now();
        }
        editor.kill();

        let mut editor = Editor::start(&scene, case, &OPEN, &json!([]));
        let here = json!({"cwd": scene.umbo.path()});
        let listed = editor.call("list_sessions", &here).unwrap();
        let [found] = listed["sessions"].as_array().unwrap().as_slice() else { panic!("{listed}") };
        assert_eq!(
            (&found["sessionId"], &found["title"]),
            (&json!(session), &json!("the first prompt"))
        );
        let load = json!({"cwd": scene.umbo.path(), "session_id": session});
        editor.call("load_session", &load).unwrap();
        editor.until(|editor| !editor.of("tool_call_update").is_empty());
        assert_eq!(editor.text("user_message_chunk"), "the first prompt");
        let past = editor.calls();
        assert_eq!(past.len(), 1, "{past:?}");
        assert!(past[0]["content"].to_string().contains("still running"), "{past:?}");
        fs::write(&go, "it\n").unwrap();
        assert_eq!(editor.prompt(&session, "and now?"), "end_turn");
        editor.close();
        assert_eq!(fs::read_to_string(&runs).unwrap(), "run\n", "it was run once");

        let mut editor = Editor::start(&scene, case, &OPEN, &json!([]));
        editor.call("resume_session", &load).unwrap();
        editor.until(|editor| !editor.of("available_commands_update").is_empty());
        assert!(editor.of("user_message_chunk").is_empty(), "resume tells nothing of the past");
        editor.close();
        scene.check();
    }
}

#[test]
fn an_edit_is_shown_as_the_change_of_its_file() {
    let case = CASES[0];
    let edit = json!({"file_path": "a.txt", "old_string": "two", "new_string": "2"});
    let scene = Scene::new(vec![
        Reply::answer(Answer::call("call_1", "Read", &json!({"file_path": "a.txt"}))),
        Reply::answer(Answer::call("call_2", "Edit", &edit)),
        Reply::text("Edited."),
    ]);
    let file = scene.umbo.path().join("a.txt");
    fs::write(&file, "one\ntwo\n").unwrap();
    let mut editor = Editor::start(&scene, case, &OPEN, &json!([]));
    let session = editor.new_session(scene.umbo.path());
    editor.prompt(&session, "edit it");
    let calls = editor.calls();
    let [read, edit] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!((&read["kind"], &edit["kind"]), (&json!("read"), &json!("edit")));
    assert_eq!(read["locations"][0]["path"], json!(file));
    assert_eq!(edit["status"], "completed");
    let change = json!([{"type": "diff", "path": file, "oldText": "two", "newText": "2"}]);
    assert_eq!(edit["content"], change);
    editor.close();
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\n2\n");
    scene.check();
}

#[test]
fn mode_and_model_are_chosen_between_prompts() {
    let scene = Scene::new(vec![
        Reply::answer(CASES[0].command("call_1", "touch unasked")),
        Reply::text("Done."),
        Reply::answer(CASES[1].command("call_2", "touch other")),
        Reply::text("Done."),
    ]);
    let mut editor = Editor::start(&scene, CASES[0], &ASKS, &json!([]));
    let made = editor.call("new_session", &json!({"cwd": scene.umbo.path()})).unwrap();
    let session = made["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(made["modes"]["currentModeId"], "default");
    assert_eq!(made["modes"]["availableModes"].as_array().unwrap().len(), 5);
    let ids: Vec<&Value> =
        made["configOptions"].as_array().unwrap().iter().map(|option| &option["id"]).collect();
    assert_eq!(ids[..2], ["mode", "model"]);
    let choose = |mode: &str| json!({"session_id": session, "mode_id": mode});
    editor.call("set_session_mode", &choose("open")).unwrap();
    assert_eq!(editor.prompt(&session, "one"), "end_turn");
    let option = |value: &str| json!({"session_id": session, "config_id": "model", "value": value});
    let chosen = editor.call("set_config_option", &option(CASES[1].model)).unwrap();
    assert_eq!(chosen["configOptions"][1]["currentValue"], CASES[1].model);
    assert_eq!(editor.prompt(&session, "two"), "end_turn");
    let problem = editor.call("set_session_mode", &choose("no-such-mode")).unwrap_err();
    assert!(problem.contains("accepted: default"), "{problem}");
    let problem = editor.call("set_config_option", &option("nobody/nothing")).unwrap_err();
    assert!(problem.contains("nobody"), "{problem}");
    assert!(editor.asked.is_empty());
    editor.close();
    assert!(scene.umbo.path().join("unasked").exists());
    assert!(scene.umbo.path().join("other").exists(), "with the tools that the new model knows");
    scene.check();
}

#[test]
fn each_session_works_in_its_own_directory_beside_the_others() {
    let case = CASES[0];
    let scene = Scene::scripted(move |request| {
        if request.text.contains("tool_result") {
            return Reply::text("Done.");
        }
        Reply::answer(case.command("call_1", "pwd > here"))
    });
    let places = ["first", "second"].map(|name| {
        let place = scene.umbo.path().join(name);
        fs::create_dir(&place).unwrap();
        fs::write(place.join("AGENTS.md"), format!("rules of {name}")).unwrap();
        place
    });
    let mut editor = Editor::start(&scene, case, &OPEN, &json!([]));
    let turns: Vec<u64> = places
        .iter()
        .map(|place| {
            let session = editor.new_session(place);
            editor.start_prompt(&session, "where?")
        })
        .collect();
    for turn in turns {
        assert_eq!(editor.stop(turn), "end_turn");
    }
    editor.close();
    for (place, name) in places.iter().zip(["first", "second"]) {
        let here = fs::read_to_string(place.join("here")).unwrap();
        assert_eq!(here.trim_end(), place.to_str().unwrap());
        let rules = format!("rules of {name}");
        let knows = |text: &str| text.contains(&rules) && text.contains(place.to_str().unwrap());
        assert!(scene.server.requests().iter().any(|request| knows(&request.text)), "{name}");
    }
}

#[test]
fn servers_that_the_editor_lends_are_tools_and_one_that_does_not_start_is_named() {
    let case = CASES[0];
    let scene = Scene::new(vec![
        Reply::answer(Answer::call("call_1", "mcp__My_peer__greet", &json!({"name": "Ada"}))),
        Reply::text("Greeted."),
    ]);
    let mut editor = Editor::start(&scene, case, &ASKS, &json!(["allow_once"]));
    let words = [script("server.py"), PathBuf::from("stdio"), scene.umbo.path().to_owned()];
    let env = [json!({"name": "WORD", "value": "From the editor."})];
    let python = installed("python/bin/python");
    let peer = json!({"name": "My peer", "command": python, "args": words, "env": env});
    let broken = json!({"name": "broken", "command": "/bin/false", "args": [], "env": []});
    let request = json!({"cwd": scene.umbo.path(), "mcp_servers": [peer, broken]});
    let made = editor.call("new_session", &request).unwrap();
    let states = made["_meta"]["umbo"]["mcpServers"].to_string();
    assert!(states.contains("My_peer  ready") && states.contains("broken  "), "{states}");
    let session = made["sessionId"].as_str().unwrap();
    assert_eq!(editor.prompt(session, "greet Ada"), "end_turn");
    let asked = editor.asked[0]["toolCall"]["title"].as_str().unwrap();
    assert!(asked.starts_with("`mcp:My_peer greet"), "{asked}");
    let call = &editor.calls()[0];
    assert_eq!(call["status"], "completed", "{call}");
    assert!(call["content"].to_string().contains("Hello, Ada! From the editor."), "{call}");
    editor.close();
    scene.check();
}

#[test]
fn the_todo_list_is_the_plan_of_the_session_also_when_it_is_loaded() {
    let case = CASES[0];
    let todos = json!([
        {"content": "Read it", "status": "completed", "activeForm": "Reading"},
        {"content": "Change it", "status": "in_progress", "activeForm": "Changing"},
    ]);
    let scene = Scene::new(vec![
        Reply::answer(Answer::call("call_1", "TodoWrite", &json!({"todos": todos}))),
        Reply::text("Planned."),
    ]);
    let mut editor = Editor::start(&scene, case, &[], &json!([]));
    let session = editor.new_session(scene.umbo.path());
    editor.prompt(&session, "plan it");
    let plan = |editor: &Editor| {
        let last = editor.of("plan").last().unwrap()["entries"].clone();
        let entry = |entry: &Value| (entry["content"].clone(), entry["status"].clone());
        last.as_array().unwrap().iter().map(entry).collect::<Vec<_>>()
    };
    let expected =
        [(json!("Read it"), json!("completed")), (json!("Change it"), json!("in_progress"))];
    assert_eq!(plan(&editor), expected);
    editor.kill();
    let mut editor = Editor::start(&scene, case, &[], &json!([]));
    let load = json!({"cwd": scene.umbo.path(), "session_id": session});
    editor.call("load_session", &load).unwrap();
    assert_eq!(plan(&editor), expected);
    editor.close();
}

#[test]
fn files_of_the_editor_reach_the_model() {
    let case = CASES[0];
    let scene = Scene::new(vec![Reply::text("Read.")]);
    let mut editor = Editor::start(&scene, case, &[], &json!([]));
    let session = editor.new_session(scene.umbo.path());
    let resource = json!({"uri": "file:///p/a.rs", "text": "unsaved words"});
    let link = json!({"type": "resource_link", "name": "b.rs", "uri": "file:///p/b.rs"});
    let prompt = json!([
        {"type": "text", "text": "look"}, {"type": "resource", "resource": resource}, link,
    ]);
    editor.call("prompt", &json!({"session_id": session, "prompt": prompt})).unwrap();
    editor.close();
    let body = &scene.server.requests()[0].text;
    for word in ["unsaved words", "/p/a.rs", "[@b.rs](/p/b.rs)"] {
        assert!(body.contains(word), "{word}: {body}");
    }
}

#[test]
fn what_cannot_be_done_is_said_with_the_reason() {
    let case = CASES[0];
    let scene = Scene::new(vec![Reply::failure(Trouble::Auth)]);
    let mut editor = Editor::start(&scene, case, &[], &json!([]));
    let here = scene.umbo.path();
    let mut problem = |call: &str, words: Value| editor.call(call, &words).unwrap_err();
    assert!(problem("authenticate", json!({"method_id": "any"})).contains("ANTHROPIC_API_KEY"));
    assert!(problem("new_session", json!({"cwd": "relative"})).contains("absolute"));
    let hi = json!([{"type": "text", "text": "hi"}]);
    let unknown = json!({"session_id": "no-such-session", "prompt": hi});
    assert!(problem("prompt", unknown).contains("no-such-session"));
    let unknown = json!({"session_id": "no-such-session", "cwd": here});
    assert!(problem("load_session", unknown).contains("no-such-session"));
    assert!(problem("session/no_such", json!({})).contains("no_such"));
    let session = editor.new_session(here);
    let words = json!({"session_id": session, "prompt": hi});
    editor.call("prompt", &words).unwrap_err();
    editor.call("close_session", &json!({"session_id": session})).unwrap();
    editor.call("prompt", &words).unwrap_err();
    editor.call("session/delete", &json!({"sessionId": session})).unwrap();
    let listed = editor.call("list_sessions", &json!({})).unwrap();
    assert_eq!(listed["sessions"], json!([]));
    editor.close();
}

#[test]
fn a_session_that_another_process_works_on_is_not_opened_twice() {
    let case = CASES[0];
    let scene = Scene::new(vec![Reply::text("Mine.")]);
    let mut first = Editor::start(&scene, case, &[], &json!([]));
    let session = first.new_session(scene.umbo.path());
    first.prompt(&session, "mine");
    let mut second = Editor::start(&scene, case, &[], &json!([]));
    let load = json!({"cwd": scene.umbo.path(), "session_id": session});
    let problem = second.call("load_session", &load).unwrap_err();
    assert!(problem.contains("in use"), "{problem}");
    second.close();
    first.close();
}

#[test]
fn what_is_no_message_is_answered_and_the_next_one_is_heard() {
    let scene = Scene::new(Vec::new());
    let words = ["agent", "--mode", "acp", "--model", CASES[0].model];
    let mut command: Command = scene.call(&words).into_command();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"method\": \"\xff\"}\n").unwrap();
    for line in [
        "{bad",
        "[]",
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"no/such","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":"a","method":"no/such"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":1}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":7}}"#,
    ] {
        writeln!(stdin, "{line}").unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let seen: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answers: Vec<(&Value, &Value)> =
        seen.iter().map(|answer| (&answer["id"], &answer["error"]["code"])).collect();
    let (none, code) = (Value::Null, |code: i32| json!(code));
    assert_eq!(
        answers,
        [
            (&none, &code(-32700)),
            (&none, &code(-32700)),
            (&none, &code(-32600)),
            (&json!("a"), &code(-32601)),
            (&json!(1), &code(-32602)),
            (&json!(2), &none),
        ]
    );
    assert_eq!(seen[5]["result"]["protocolVersion"], 1, "the version that umbo speaks");
}

/// The call of a model that asks.
fn asks(id: &str, questions: &Value) -> Reply {
    Reply::answer(Answer::call(id, "ask", &json!({"questions": questions})))
}

#[test]
fn the_model_asks_and_the_person_chooses_what_the_editor_shows() {
    let options = json!([{"label": "red"}, {"label": "blue"}]);
    let one = json!([{"id": "c", "question": "Which?", "options": options, "recommended": 1}]);
    let many = json!([{"id": "m", "question": "Which ones?", "options": options, "multi": true}]);
    let typed = json!([{"id": "t", "question": "What name?", "options": []}]);
    for case in CASES {
        let scene = Scene::new(vec![
            asks("call_1", &one),
            asks("call_2", &many),
            asks("call_3", &typed),
            Reply::text("I know now."),
            asks("call_4", &one),
        ]);
        let choices = json!(["option_1", "option_1", "option_0", "option_1", "done", "no_answer"]);
        let mut editor = Editor::start(&scene, case, &[], &choices);
        let session = editor.new_session(scene.umbo.path());
        assert_eq!(editor.prompt(&session, "paint"), "end_turn");
        assert_eq!(editor.prompt(&session, "again"), "cancelled", "who does not answer ends it");
        let names = |at: usize| -> Vec<String> {
            let options = editor.asked[at]["options"].as_array().unwrap().iter();
            options.map(|option| option["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names(0), ["red", "blue (Recommended)", "Do not answer"]);
        assert_eq!(names(3), ["[x] red", "[x] blue", "Done selecting", "Do not answer"]);
        assert_eq!(editor.asked[0]["toolCall"]["title"], "Which?");
        let calls = editor.calls();
        assert_eq!(editor.asked[0]["toolCall"]["toolCallId"], calls[0]["toolCallId"]);
        editor.close();
        let requests = scene.server.requests();
        assert!(requests[1].text.contains("User selected: blue"), "{}", requests[1].text);
        assert!(requests[2].text.contains("User selected: red"), "{}", requests[2].text);
        let why = "no place for a typed answer";
        assert!(requests[3].text.contains(why), "{}", requests[3].text);
        scene.check();
    }
}

#[test]
fn an_editor_with_forms_shows_all_questions_of_a_call_in_one() {
    let case = CASES[0];
    let options = json!([{"label": "red"}, {"label": "blue"}]);
    let questions = json!([
        {"id": "c", "question": "Which?", "options": options},
        {"id": "m", "question": "Which ones?", "options": options, "multi": true},
        {"id": "t", "question": "What name?", "options": []},
    ]);
    let scene = Scene::new(vec![asks("call_1", &questions), Reply::text("I know now.")]);
    let content = json!({"c": "blue", "m": ["red", "blue"], "m_other": "green", "t": "Ada"});
    let choices = json!([{"action": "accept", "content": content}]);
    let mut editor = Editor::start_with(&scene, case, &[], &choices, Questions::Forms);
    let session = editor.new_session(scene.umbo.path());
    assert_eq!(editor.prompt(&session, "paint"), "end_turn");
    let fields = &editor.asked[0]["form"]["requestedSchema"]["properties"];
    assert_eq!(fields["c"]["enum"], json!(["red", "blue"]), "{fields}");
    assert_eq!(fields["m"]["items"]["enum"], json!(["red", "blue"]), "{fields}");
    editor.close();
    let told = &scene.server.requests()[1].text;
    for answer in ["c: blue", "m: red, blue, ", "green", "t: ", "Ada"] {
        assert!(told.contains(answer), "{answer}: {told}");
    }
    scene.check();
}

#[test]
fn what_a_server_asks_is_asked_in_the_editor_or_declined() {
    let call = || Reply::answer(Answer::call("call_1", "mcp__peer__book", &json!({})));
    let accept = |content: Value| json!({"action": "accept", "content": content});
    let forms = json!([accept(json!({"people": "4"})), accept(json!({"window": "Yes"})),]);
    for (questions, choices, wanted) in [
        (Questions::Forms, forms, "booked for 4, window True"),
        // A number is typed, and there is no place for that.
        (Questions::Choices, json!([]), "not booked: decline"),
    ] {
        let scene = Scene::new(vec![call(), Reply::text("done")]);
        let mut editor = Editor::start_with(&scene, CASES[0], &OPEN, &choices, questions);
        let words = [script("server.py"), PathBuf::from("stdio"), scene.umbo.path().to_owned()];
        let python = installed("python/bin/python");
        let peer = json!({"name": "peer", "command": python, "args": words, "env": []});
        let request = json!({"cwd": scene.umbo.path(), "mcp_servers": [peer]});
        let made = editor.call("new_session", &request).unwrap();
        let session = made["sessionId"].as_str().unwrap().to_owned();
        assert_eq!(editor.prompt(&session, "book"), "end_turn");
        let told = scene.server.requests()[1].text.clone();
        assert!(told.contains(wanted), "{wanted}: {told}");
        editor.close();
    }
}

#[test]
fn servers_over_http_are_lent_with_their_headers_and_what_is_not_spoken_is_refused() {
    let scene = Scene::new(vec![
        Reply::answer(Answer::call("call_1", "mcp__web__count", &json!({}))),
        Reply::text("Counted."),
        Reply::answer(Answer::call(
            "call_2",
            "mcp__umbo__exec",
            &json!({"command": "echo o''ver"}),
        )),
        Reply::text("Run."),
    ]);
    let node = NodeServer::start(scene.umbo.path());
    let headers = [json!({"name": "x-key", "value": "open sesame"})];
    let web = json!({"type": "http", "name": "web", "url": node.1, "headers": headers});
    let own = Server::start(&scene.umbo, &["--dialect", "umbo"]);
    let token = [json!({"name": "Authorization", "value": format!("Bearer {TOKEN}")})];
    let umbo = json!({"type": "http", "name": "umbo", "url": own.url, "headers": token});
    let mut editor = Editor::start(&scene, CASES[0], &OPEN, &json!([]));
    let request = json!({"cwd": scene.umbo.path(), "mcp_servers": [web, umbo]});
    let made = editor.call("new_session", &request).unwrap();
    let states = made["_meta"]["umbo"]["mcpServers"].to_string();
    assert!(states.contains("web  ready") && states.contains("umbo  ready"), "{states}");
    let session = made["sessionId"].as_str().unwrap().to_owned();
    for (prompt, wanted) in [("count", "one two three"), ("run", "over")] {
        assert_eq!(editor.prompt(&session, prompt), "end_turn");
        let last = editor.calls().pop().unwrap();
        assert_eq!(last["status"], "completed", "{last}");
        assert!(last["content"].to_string().contains(wanted), "{last}");
    }
    let old = json!({"type": "sse", "name": "old", "url": node.1, "headers": []});
    let request = json!({"cwd": scene.umbo.path(), "mcp_servers": [old]});
    let problem = editor.call("new_session", &request).unwrap_err();
    assert!(problem.contains("accepted: stdio, http"), "{problem}");
    editor.close();
    scene.check();
}
