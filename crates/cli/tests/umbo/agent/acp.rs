//! Editors: the agent driven by the protocol's official client library.

mod editor;

use std::fs;
use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    AuthenticateRequest, CancelNotification, CloseSessionRequest, ContentBlock,
    DeleteSessionRequest, EmbeddedResource, EmbeddedResourceResource, ListSessionsRequest,
    LoadSessionRequest, NewSessionRequest, PermissionOptionKind, PromptRequest,
    ResumeSessionRequest, SessionUpdate, SetSessionConfigOptionRequest, SetSessionModeRequest,
    StopReason, TextResourceContents, ToolCallContent, ToolCallStatus, ToolKind,
};
use serde_json::json;
use umbo_model::server::{Answer, Gate, Reply, Trouble};

use self::editor::{Chooses, Editor, drive};
use super::{CASES, Case, Scene};

/// The mode in which all that does not only read asks.
const ASKS: [&str; 2] = ["--gate", "default"];

/// A model that runs a command, then says something.
fn runs(case: Case, line: &'static str, then: &'static str) -> Scene {
    let answer = Answer::new().and_thinking("I should run it.", "c2lnbmF0dXJl");
    Scene::new(vec![Reply::answer(case.and_command(answer, "call_1", line)), Reply::text(then)])
}

#[test]
fn a_turn_streams_thoughts_calls_and_text_and_asks_before_it_runs() {
    for case in CASES {
        let scene = runs(case, "touch made", "It is made.");
        drive(&scene, case, &ASKS, vec![Chooses::Option("allow_once")], async |editor| {
            let session = editor.new_session(scene.umbo.path()).await;
            assert_eq!(editor.prompt(&session, "make it").await, StopReason::EndTurn);
            let asked = editor.asked();
            assert_eq!(asked.len(), 1, "{asked:?}");
            let kinds: Vec<_> = asked[0].options.iter().map(|option| option.kind).collect();
            for kind in [
                PermissionOptionKind::AllowOnce,
                PermissionOptionKind::AllowAlways,
                PermissionOptionKind::RejectOnce,
            ] {
                assert!(kinds.contains(&kind), "{kinds:?}");
            }
            let call = editor.call(&asked[0].tool_call.tool_call_id);
            assert_eq!(call.kind, ToolKind::Execute);
            assert_eq!(call.title, "`touch made`");
            assert_eq!(call.raw_input.as_ref().unwrap()[case.field], "touch made");
            let states = editor.states(&call.tool_call_id);
            let expected =
                [ToolCallStatus::Pending, ToolCallStatus::InProgress, ToolCallStatus::Completed];
            assert_eq!(states, expected);
            assert_eq!(editor.said(), "It is made.");
            let is_usage = |update: &SessionUpdate| matches!(update, SessionUpdate::UsageUpdate(_));
            assert!(editor.updates().iter().any(is_usage));
        });
        assert!(scene.umbo.path().join("made").exists());
        scene.check();
    }
}

#[test]
fn thoughts_and_commands_of_the_session_are_told() {
    let case = CASES[0];
    let scene = runs(case, "true", "done");
    drive(&scene, case, &ASKS, Vec::new(), async |editor| {
        let session = editor.new_session(scene.umbo.path()).await;
        editor.prompt(&session, "go").await;
        assert_eq!(editor.thought(), "I should run it.");
        let names = editor.updates().into_iter().find_map(|update| match update {
            SessionUpdate::AvailableCommandsUpdate(known) => Some(known.available_commands),
            _ => None,
        });
        let names: Vec<String> = names.unwrap().into_iter().map(|known| known.name).collect();
        assert_eq!(names, ["compact", "cost"]);
        let before = scene.server.requests().len();
        assert_eq!(editor.prompt(&session, "/cost").await, StopReason::EndTurn);
        assert!(editor.said().contains("tokens read"), "{}", editor.said());
        assert_eq!(scene.server.requests().len(), before, "no model was asked");
    });
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
    let choices = vec![Chooses::Option("reject_once"), Chooses::Option("allow_command")];
    drive(&scene, case, &ASKS, choices, async |editor| {
        let session = editor.new_session(scene.umbo.path()).await;
        editor.prompt(&session, "one").await;
        let refused = editor.call(&editor.asked()[0].tool_call.tool_call_id);
        assert_eq!(refused.status, ToolCallStatus::Failed);
        editor.prompt(&session, "two").await;
        editor.prompt(&session, "three").await;
        assert_eq!(editor.asked().len(), 2, "the third was not asked for");
    });
    assert!(!scene.umbo.path().join("no").exists());
    assert!(scene.umbo.path().join("yes").exists());
    assert!(scene.server.requests()[1].text.contains("the user said no"));
    scene.check();
}

#[test]
fn a_cancelled_turn_ends_as_cancelled_whatever_was_under_way_and_the_next_one_works() {
    for case in CASES {
        let gate = Gate::new();
        let scene = Scene::new(vec![
            // 1: a command that runs.
            Reply::answer(case.command("call_1", "echo began; cat go")),
            // 2: a question that nobody answers.
            Reply::answer(case.command("call_2", "touch asked")),
            // 3: an answer that comes slowly.
            Reply::text("never heard").wait_after(0, &gate),
            Reply::text("Here I am."),
        ]);
        scene.umbo.fifo("go");
        drive(&scene, case, &ASKS, vec![Chooses::Nothing], async |editor| {
            let session = editor.new_session(scene.umbo.path()).await;
            let cancel = || CancelNotification::new(session.clone());
            let running = editor.start_prompt(&session, "run");
            editor
                .until(|update| match update {
                    SessionUpdate::ToolCallUpdate(update) => {
                        format!("{:?}", update.fields.content).contains("began")
                    }
                    _ => false,
                })
                .await;
            editor.agent.send_notification(cancel()).unwrap();
            assert_eq!(running.await.unwrap(), Some(StopReason::Cancelled));

            let asking = editor.start_prompt(&session, "ask");
            editor.until_asked(1).await;
            editor.agent.send_notification(cancel()).unwrap();
            assert_eq!(asking.await.unwrap(), Some(StopReason::Cancelled));

            let answering = editor.start_prompt(&session, "answer");
            while scene.server.requests().len() < 3 {
                tokio::task::yield_now().await;
            }
            editor.agent.send_notification(cancel()).unwrap();
            assert_eq!(answering.await.unwrap(), Some(StopReason::Cancelled));

            // Nothing was cancelled, and that is no error.
            editor.agent.send_notification(cancel()).unwrap();
            assert_eq!(editor.prompt(&session, "still there?").await, StopReason::EndTurn);
            assert!(editor.said().ends_with("Here I am."), "{}", editor.said());
        });
        assert!(!scene.umbo.path().join("asked").exists());
        let states: Vec<_> =
            scene.umbo.jobs().into_iter().map(|job| job["state"].clone()).collect();
        assert!(!states.contains(&json!("started")), "{states:?}");
        scene.check();
    }
}

#[test]
fn a_session_is_loaded_after_a_kill_with_its_past_and_the_command_that_still_runs() {
    for case in CASES {
        let scene = Scene::new(vec![
            Reply::answer(
                case.command("call_1", "echo run >> runs; read line < go; echo got $line"),
            ),
            Reply::text("It ended."),
            Reply::text("Told."),
        ]);
        let go = scene.umbo.fifo("go");
        let runs = scene.umbo.path().join("runs");
        let open = ["--gate", "open"];
        let killed = drive(&scene, case, &open, Vec::new(), async |editor| {
            let session = editor.new_session(scene.umbo.path()).await;
            drop(editor.start_prompt(&session, "the first prompt"));
            while !fs::read_to_string(&runs).is_ok_and(|text| text.ends_with('\n')) {
                tokio::task::yield_now().await;
            }
            editor.kill();
            session
        });
        drive(&scene, case, &open, Vec::new(), async |editor| {
            let listed = ListSessionsRequest::new().cwd(scene.umbo.path().to_owned());
            let listed = editor.agent.send_request(listed).block_task().await.unwrap();
            assert_eq!(listed.sessions.len(), 1);
            assert_eq!(listed.sessions[0].session_id, killed);
            assert_eq!(listed.sessions[0].title.as_deref(), Some("the first prompt"));
            let load = LoadSessionRequest::new(killed.clone(), scene.umbo.path());
            editor.agent.send_request(load).block_task().await.unwrap();
            let past = editor.updates();
            let kinds: Vec<&str> = past.iter().map(editor::kind).collect();
            assert_eq!(
                kinds[..3],
                ["user_message_chunk", "tool_call", "tool_call_update"],
                "{past:?}"
            );
            let shown = format!("{:?}", past[2]);
            assert!(shown.contains("still running"), "{shown}");
            fs::write(&go, "it\n").unwrap();
            assert_eq!(editor.prompt(&killed, "and now?").await, StopReason::EndTurn);
        });
        assert_eq!(fs::read_to_string(&runs).unwrap(), "run\n", "it was run once");
        drive(&scene, case, &open, Vec::new(), async |editor| {
            let resume = ResumeSessionRequest::new(killed.clone(), scene.umbo.path());
            editor.agent.send_request(resume).block_task().await.unwrap();
            let told: Vec<_> = editor.updates();
            let is_past = |update: &SessionUpdate| editor::kind(update) == "user_message_chunk";
            assert!(!told.iter().any(is_past), "resume tells nothing of the past: {told:?}");
        });
        scene.check();
    }
}

#[test]
fn an_edit_is_shown_as_the_change_of_its_file() {
    let case = CASES[0];
    let scene = Scene::scripted({
        let mut number = 0;
        move |_| {
            number += 1;
            let file = json!({"file_path": "a.txt"});
            let edit = json!({"file_path": "a.txt", "old_string": "two", "new_string": "2"});
            match number {
                1 => Reply::answer(Answer::call("call_1", "Read", &file)),
                2 => Reply::answer(Answer::call("call_2", "Edit", &edit)),
                _ => Reply::text("Edited."),
            }
        }
    });
    let file = scene.umbo.path().join("a.txt");
    fs::write(&file, "one\ntwo\n").unwrap();
    drive(&scene, case, &["--gate", "open"], Vec::new(), async |editor| {
        let session = editor.new_session(scene.umbo.path()).await;
        editor.prompt(&session, "edit it").await;
        let calls = editor.calls();
        let [read, edit] = calls.as_slice() else { panic!("{calls:?}") };
        assert_eq!((read.kind, edit.kind), (ToolKind::Read, ToolKind::Edit));
        assert_eq!(read.locations[0].path, file);
        assert_eq!(edit.status, ToolCallStatus::Completed);
        let [ToolCallContent::Diff(diff)] = edit.content.as_slice() else { panic!("{edit:?}") };
        assert_eq!(diff.path, file);
        assert_eq!((diff.old_text.as_deref(), diff.new_text.as_str()), (Some("two"), "2"));
    });
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\n2\n");
    scene.check();
}

#[test]
fn mode_and_model_are_chosen_between_prompts() {
    let scene = Scene::scripted({
        let mut number = 0;
        move |_| {
            number += 1;
            match number {
                1 => Reply::answer(CASES[0].command("call_1", "touch unasked")),
                3 => Reply::answer(CASES[1].command("call_2", "touch other")),
                _ => Reply::text("Done."),
            }
        }
    });
    drive(&scene, CASES[0], &ASKS, Vec::new(), async |editor| {
        let request = NewSessionRequest::new(scene.umbo.path());
        let made = editor.agent.send_request(request).block_task().await.unwrap();
        let session = made.session_id;
        let modes = made.modes.unwrap();
        assert_eq!(&*modes.current_mode_id.0, "default");
        assert_eq!(modes.available_modes.len(), 5);
        let ids: Vec<_> =
            made.config_options.unwrap().into_iter().map(|option| option.id).collect();
        let ids: Vec<&str> = ids.iter().map(|id| &*id.0).collect();
        assert!(ids.contains(&"mode") && ids.contains(&"model"), "{ids:?}");
        let open = SetSessionModeRequest::new(session.clone(), "open");
        editor.agent.send_request(open).block_task().await.unwrap();
        assert_eq!(editor.prompt(&session, "one").await, StopReason::EndTurn);
        let model = CASES[1].model;
        let choice = SetSessionConfigOptionRequest::new(session.clone(), "model", model);
        let chosen = editor.agent.send_request(choice).block_task().await.unwrap();
        assert!(format!("{:?}", chosen.config_options).contains(model));
        assert_eq!(editor.prompt(&session, "two").await, StopReason::EndTurn);
        let wrong = SetSessionModeRequest::new(session.clone(), "no-such-mode");
        let error = editor.agent.send_request(wrong).block_task().await.unwrap_err();
        assert!(error.message.contains("accepted: default"), "{error:?}");
        let wrong = SetSessionConfigOptionRequest::new(session.clone(), "model", "nobody/nothing");
        let error = editor.agent.send_request(wrong).block_task().await.unwrap_err();
        assert!(error.message.contains("nobody"), "{error:?}");
        assert!(editor.asked().is_empty());
    });
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
        Reply::answer(case.command("call_1", "pwd > here; cat AGENTS.md > told"))
    });
    let places = ["first", "second"].map(|name| {
        let place = scene.umbo.path().join(name);
        fs::create_dir(&place).unwrap();
        fs::write(place.join("AGENTS.md"), format!("rules of {name}")).unwrap();
        place
    });
    drive(&scene, case, &["--gate", "open"], Vec::new(), async |editor| {
        let mut turns = Vec::new();
        for place in &places {
            let session = editor.new_session(place).await;
            turns.push(editor.start_prompt(&session, "where?"));
        }
        for turn in turns {
            assert_eq!(turn.await.unwrap(), Some(StopReason::EndTurn));
        }
    });
    for (place, name) in places.iter().zip(["first", "second"]) {
        let here = fs::read_to_string(place.join("here")).unwrap();
        assert_eq!(here.trim_end(), place.to_str().unwrap());
        let rules = format!("rules of {name}");
        let knows = |text: &str| text.contains(&rules) && text.contains(place.to_str().unwrap());
        assert!(scene.server.requests().iter().any(|request| knows(&request.text)), "{name}");
    }
}

#[test]
fn files_of_the_editor_reach_the_model_and_what_no_model_can_read_is_said() {
    let case = CASES[0];
    let scene = Scene::new(vec![Reply::text("Read.")]);
    drive(&scene, case, &[], Vec::new(), async |editor| {
        let session = editor.new_session(scene.umbo.path()).await;
        let text = TextResourceContents::new("unsaved words", "file:///p/a.rs");
        let resource = EmbeddedResourceResource::TextResourceContents(text);
        let prompt = vec![
            ContentBlock::from("look"),
            ContentBlock::Resource(EmbeddedResource::new(resource)),
        ];
        let request = PromptRequest::new(session.clone(), prompt);
        editor.agent.send_request(request).block_task().await.unwrap();
    });
    let body = &scene.server.requests()[0].text;
    assert!(body.contains("unsaved words") && body.contains("/p/a.rs"), "{body}");
}

#[test]
fn what_cannot_be_done_is_said_with_the_reason() {
    let case = CASES[0];
    let scene = Scene::new(vec![Reply::failure(Trouble::Auth)]);
    drive(&scene, case, &[], Vec::new(), async |editor| {
        let agent = &editor.agent;
        let error = agent.send_request(AuthenticateRequest::new("any")).block_task().await;
        assert!(error.unwrap_err().message.contains("ANTHROPIC_API_KEY"));
        let error = agent.send_request(NewSessionRequest::new("relative")).block_task().await;
        assert!(error.unwrap_err().message.contains("absolute"));
        let unknown = PromptRequest::new("no-such-session", vec!["hi".into()]);
        let error = agent.send_request(unknown).block_task().await;
        assert!(error.unwrap_err().message.contains("no-such-session"));
        let unknown = LoadSessionRequest::new("no-such-session", scene.umbo.path());
        agent.send_request(unknown).block_task().await.unwrap_err();
        let session = editor.new_session(scene.umbo.path()).await;
        let failing = PromptRequest::new(session.clone(), vec!["hi".into()]);
        let error = agent.send_request(failing).block_task().await.unwrap_err();
        assert!(!error.message.is_empty(), "{error:?}");
        agent.send_request(CloseSessionRequest::new(session.clone())).block_task().await.unwrap();
        let closed = PromptRequest::new(session.clone(), vec!["hi".into()]);
        agent.send_request(closed).block_task().await.unwrap_err();
        agent.send_request(DeleteSessionRequest::new(session.clone())).block_task().await.unwrap();
        let listed = agent.send_request(ListSessionsRequest::new()).block_task().await.unwrap();
        assert!(listed.sessions.is_empty(), "{listed:?}");
    });
}

#[test]
fn a_session_that_another_process_works_on_is_not_opened_twice() {
    let case = CASES[0];
    let scene = Scene::new(vec![Reply::text("Mine.")]);
    let scene = Arc::new(scene);
    drive(&scene, case, &[], Vec::new(), async |first: &Editor| {
        let session = first.new_session(scene.umbo.path()).await;
        first.prompt(&session, "mine").await;
        let other = Arc::clone(&scene);
        let second = std::thread::spawn(move || {
            drive(&other, case, &[], Vec::new(), async |editor| {
                let load = LoadSessionRequest::new(session.clone(), other.umbo.path());
                let error = editor.agent.send_request(load).block_task().await.unwrap_err();
                assert!(error.message.contains("in use"), "{error:?}");
            });
        });
        tokio::task::spawn_blocking(move || second.join()).await.unwrap().unwrap();
    });
}
