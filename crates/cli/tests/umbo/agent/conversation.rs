//! Tools about the conversation itself: checkpoints, previews, the todo list, questions.

use std::fs;

use serde_json::{Value, json};
use umbo_model::server::{Answer, Reply};

use super::{CASES, Case, Scene, of};

/// A call that makes a file with the tool that the model knows.
fn and_file(case: &Case, answer: Answer, id: &str, name: &str, scene: &Scene) -> Answer {
    let path = scene.umbo.path().join(name);
    match case.tool {
        "Bash" => answer.and_call(id, "Write", &json!({"file_path": path, "content": "new\n"})),
        "exec_command" => {
            let input = format!("*** Begin Patch\n*** Add File: {name}\n+new\n*** End Patch\n");
            answer.and_call(id, "apply_patch", &json!({"input": input}))
        }
        _ => answer.and_call(id, "write", &json!({"path": path, "content": "new\n"})),
    }
}

fn rewind(id: &str, report: &str, restore_files: bool) -> Answer {
    Answer::call(id, "rewind", &json!({"report": report, "restore_files": restore_files}))
}

fn checkpoint(id: &str) -> Answer {
    Answer::call(id, "checkpoint", &json!({"goal": "find the cause"}))
}

#[test]
fn of_an_investigation_the_report_stays_and_its_files_go_with_every_vendor() {
    for case in CASES {
        let mut scene = Scene::new(Vec::new());
        let noisy = case.command("call_2", "echo much no''ise");
        let noisy = and_file(&case, noisy, "call_3", "made.txt", &scene);
        scene.script(vec![
            // What else is called in the same answer stays, with its result.
            Reply::answer(case.and_command(checkpoint("call_0"), "call_1", "echo be''fore")),
            Reply::answer(noisy),
            Reply::answer(case.command("call_4", "cat made.txt")),
            Reply::answer(rewind("call_5", "the cause is line 7", true)),
            Reply::text("Line 7."),
        ]);
        let events = scene.events(case.model, &["--gate", "open"], "why?");
        let requests = scene.server.requests();
        assert_eq!(requests.len(), 5, "{}: {events:#?}", case.model);
        assert!(requests[3].text.contains("much noise") && requests[3].text.contains("new"));
        let last = &requests[4].text;
        for kept in ["why?", "Checkpoint created.", "before", "the cause is line 7", "Restored: "] {
            assert!(last.contains(kept), "{kept}: {last}");
        }
        assert!(!last.contains("much noise") && !last.contains("Rewind requested"), "{last}");
        scene.check();
        assert!(!scene.umbo.path().join("made.txt").exists(), "{events:#?}");
        let rewound = of(&events, "rewound");
        assert!(rewound[0]["report"].as_str().unwrap().starts_with("the cause is line 7"));
        // Nothing is gone from the session.
        assert!(fs::read_to_string(scene.session_file()).unwrap().contains("much noise"));
    }
}

#[test]
fn a_model_that_forgets_to_rewind_is_reminded_and_wrong_calls_are_answered() {
    let case = CASES[0];
    let scene = Scene::new(vec![
        Reply::answer(rewind("call_0", "nothing", false)),
        Reply::answer(checkpoint("call_1").and_call("call_2", "checkpoint", &json!({"goal": "x"}))),
        Reply::text("I am done."),
        Reply::answer(rewind("call_3", "  ", false)),
        Reply::answer(rewind("call_4", "found", false)),
        Reply::text("Now I am."),
    ]);
    let events = scene.events(case.model, &[], "look");
    let results: Vec<&str> =
        of(&events, "tool_result").iter().map(|event| event["text"].as_str().unwrap()).collect();
    let goal = "Checkpoint created.\nGoal: find the cause\nRun your investigation, then call rewind \
                with a concise report.";
    let asked = "Rewind requested.\nReport captured for context replacement.";
    assert_eq!(
        results,
        [
            "No active checkpoint.",
            goal,
            "Checkpoint already active.",
            "Report cannot be empty.",
            asked
        ]
    );
    let requests = scene.server.requests();
    assert!(requests[3].text.contains("You MUST call rewind"), "{}", requests[3].text);
    assert!(!requests[5].text.contains("You MUST call rewind"), "{}", requests[5].text);
    scene.check();
}

#[test]
fn a_checkpoint_survives_the_process_and_what_the_user_said_survives_the_rewind() {
    let case = CASES[0];
    let scene = Scene::new(vec![
        Reply::answer(checkpoint("call_1")),
        Reply::answer(case.command("call_2", "echo no''ise")),
        Reply::answer(rewind("call_3", "found", false)),
        Reply::text("done"),
    ]);
    scene.agent(case.model, &["--max-turns", "1"], "look").answer().expect_status(3);
    let answer = scene.agent(case.model, &["-c"], "use the blue one").answer();
    assert_eq!((answer.status, answer.text().as_str()), (0, "done\n"), "{answer:?}");
    let last = &scene.server.requests()[3].text;
    assert!(last.contains("found") && last.contains("Meanwhile the user said"), "{last}");
    assert!(last.contains("use the blue one") && !last.contains("noise"), "{last}");
    scene.check();
}

#[test]
fn files_that_somebody_else_changed_since_are_not_overwritten_by_a_rewind() {
    let case = CASES[0];
    let mut scene = Scene::new(Vec::new());
    let file = and_file(&case, Answer::new(), "call_2", "made.txt", &scene);
    scene.script(vec![
        Reply::answer(checkpoint("call_1")),
        Reply::answer(file),
        Reply::answer(case.command("call_3", "echo other > made.txt")),
        Reply::answer(rewind("call_4", "found", true)),
        Reply::answer(rewind("call_5", "found", false)),
        Reply::text("done"),
    ]);
    let events = scene.events(case.model, &["--gate", "open"], "look");
    let refused = of(&events, "tool_result")[3]["text"].as_str().unwrap().to_owned();
    assert!(refused.starts_with("Not rewound: ") && refused.contains("made.txt"), "{refused}");
    assert_eq!(fs::read_to_string(scene.umbo.path().join("made.txt")).unwrap(), "other\n");
    assert_eq!(of(&events, "rewound").len(), 1, "without its files it goes back");
}

/// The tool that a request forces the model to call.
fn forced(body: &Value) -> Option<String> {
    let choice = &body["tool_choice"];
    let gemini = &body["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"][0];
    let name = [&choice["name"], &choice["function"]["name"], gemini];
    name.iter().find_map(|name| name.as_str().map(str::to_owned))
}

#[test]
fn a_preview_must_be_applied_or_discarded_before_anything_else() {
    for case in [CASES[2], CASES[3]] {
        let resolve = |id: &str, action: &str| {
            Reply::answer(Answer::call(id, "resolve", &json!({"action": action, "reason": "so"})))
        };
        let shown = |id: &str, name: &str| {
            let arguments = json!({"path": name, "content": "new\n", "dry_run": true});
            Reply::answer(Answer::call(id, "write", &arguments))
        };
        let scene = Scene::new(vec![
            shown("call_1", "kept.txt"),
            resolve("call_2", "apply"),
            shown("call_3", "dropped.txt"),
            resolve("call_4", "discard"),
            resolve("call_5", "apply"),
            Reply::text("done"),
        ]);
        let events = scene.events(case.model, &["--gate", "open", "--effort", "off"], "write it");
        let requests = scene.server.requests();
        let choices: Vec<Option<String>> =
            requests.iter().map(|request| forced(&request.body)).collect();
        let resolve = Some("resolve".to_owned());
        assert_eq!(choices, [None, resolve.clone(), None, resolve, None, None], "{}", case.model);
        assert!(requests[1].text.contains("This is a preview. Call the resolve tool"));
        let results = of(&events, "tool_result");
        let discarded = "Discarded: write dropped.txt. Reason: so";
        assert_eq!(results[3]["text"], discarded, "{events:#?}");
        let nothing = "No pending action to resolve. Nothing to apply or discard.";
        assert_eq!(results[4]["text"], nothing);
        let path = scene.umbo.path();
        assert_eq!(fs::read_to_string(path.join("kept.txt")).unwrap(), "new\n");
        assert!(!path.join("dropped.txt").exists());
        scene.check();
    }
}

#[test]
fn the_todo_list_is_kept_as_the_model_knows_it() {
    let tasks = |field: &str| json!([{field: "look", "status": "completed"}, {field: "mend", "status": "in_progress"}]);
    let calls = [
        (CASES[0], "TodoWrite", json!({"todos": tasks("content")}), ""),
        (CASES[1], "update_plan", json!({"plan": tasks("step")}), ""),
        (CASES[2], "todo", json!({"phases": [{"name": "Now", "tasks": tasks("content")}]}), "Now"),
    ];
    for (case, tool, arguments, phase) in calls {
        let scene = Scene::new(vec![
            Reply::answer(Answer::call("call_1", tool, &arguments)),
            Reply::answer(Answer::call("call_2", tool, &json!({}))),
            Reply::text("done"),
        ]);
        let events = scene.events(case.model, &[], "plan it");
        let kept = json!([{"name": phase, "tasks": tasks("content")}]);
        let lists = of(&events, "todos");
        assert_eq!(lists.len(), 1, "a wrong list changes nothing: {events:#?}");
        assert_eq!(lists[0]["phases"], kept);
        let results = of(&events, "tool_result");
        let text = results[0]["text"].as_str().unwrap();
        assert!(text.starts_with("Todo: 1 of 2 done") && text.contains("[>] mend"), "{text}");
        assert_eq!(results[1]["is_error"], true);
        scene.check();
    }
}

#[test]
fn a_picture_that_is_read_reaches_the_model() {
    // One pixel.
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\
        \0\0\0\rIDATx\x9cc````\0\0\0\x05\0\x01\xa5\xf6E@\0\0\0\0IEND\xaeB`\x82";
    for (case, tool, field) in
        [(CASES[0], "Read", "file_path"), (CASES[2], "read", "path"), (CASES[3], "read", "path")]
    {
        let mut scene = Scene::new(Vec::new());
        let path = scene.umbo.path().join("pixel.png");
        fs::write(&path, png).unwrap();
        scene.script(vec![
            Reply::answer(Answer::call("call_1", tool, &json!({field: path}))),
            Reply::text("a pixel"),
        ]);
        scene.agent(case.model, &[], "what is it?").answer().expect_status(0);
        let sent = &scene.server.requests()[1].text;
        assert!(sent.contains("iVBORw0KGgo"), "{}: {sent}", case.model);
        scene.check();
    }
}

#[test]
fn without_anybody_to_ask_there_is_no_tool_for_it() {
    let question = json!({"questions": [{"id": "a", "question": "which?", "options": []}]});
    let scene = Scene::new(vec![
        Reply::answer(Answer::call("call_1", "ask", &question)),
        Reply::text("I decided myself."),
    ]);
    let events = scene.events(CASES[0].model, &[], "choose");
    let result = of(&events, "tool_result")[0];
    assert_eq!(result["is_error"], true);
    assert!(result["text"].as_str().unwrap().starts_with("There is no tool \"ask\""), "{result}");
    assert!(!scene.server.requests()[0].body["tools"].to_string().contains("\"ask\""));
}
