//! The loop against the scripted server, in all four formats.

use std::fs;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use umbo_agent::{
    Agent, AgentEvent, AgentMessage, Delivery, EntryKind, InterruptMode, Limit, Limits, Outcome,
    QueueMode, Recovery, Session, ToolOutput,
};
use umbo_model::server::{Answer, Gate, ModelServer, Reply, Trouble};
use umbo_model::{ModelPrice, Part, StopReason, Usage, WireFormat};

use crate::world::{DEADLINE, World, agent, candidate, in_time, prompt, results, setup};

fn server(replies: Vec<Reply>) -> ModelServer {
    ModelServer::scripted(replies).unwrap()
}

fn call(id: &str, name: &str) -> Answer {
    Answer::call(id, name, &json!({}))
}

#[tokio::test]
async fn model_and_tools_take_turns_until_the_model_is_done() {
    for format in WireFormat::ALL {
        let server = server(vec![
            Reply::answer(call("a", "look").and_call("b", "look", &json!({"x": 1}))),
            Reply::answer(call("c", "write")),
            Reply::text("all done"),
        ]);
        let (mut agent, world) = agent(setup(&server, format));
        let (outcome, events) = prompt(&mut agent, "please").await;
        assert_eq!(outcome, Outcome::Done, "{format:?}");
        assert_eq!(world.ran.lock().unwrap().len(), 3);
        let results = results(agent.session());
        assert_eq!(results.len(), 3);
        assert_eq!(results[2], ("c".to_owned(), "written".to_owned()));
        let requests = server.requests();
        assert_eq!(requests.len(), 3);
        assert!(requests[1].text.contains("seen") && requests[2].text.contains("written"));
        let turns = events.iter().filter(|e| matches!(e, AgentEvent::TurnStart { .. })).count();
        assert_eq!(turns, 3);
        assert_eq!(agent.spent(), Usage { input: 75, output: 45, ..Usage::default() });
    }
}

#[tokio::test]
async fn parallel_calls_run_beside_each_other_and_serial_ones_alone_in_order() {
    let answer = call("w1", "write")
        .and_call("m1", "meet", &json!({}))
        .and_call("m2", "meet", &json!({}))
        .and_call("w2", "write", &json!({}))
        .and_call("w3", "write", &json!({}));
    let server = server(vec![Reply::answer(answer), Reply::text("done")]);
    let (mut agent, world) = agent(setup(&server, WireFormat::Anthropic));
    // Two that meet end only if both run.
    assert_eq!(prompt(&mut agent, "go").await.0, Outcome::Done);
    assert_eq!(world.most_writers.load(Ordering::SeqCst), 1);
    let order: Vec<String> = results(agent.session()).into_iter().map(|(id, _)| id).collect();
    assert_eq!((order[0].as_str(), &order[3..]), ("w1", &["w2".to_owned(), "w3".to_owned()][..]));
}

#[tokio::test]
async fn wrong_calls_get_an_answer_and_run_nothing() {
    for format in [WireFormat::Anthropic, WireFormat::Responses, WireFormat::Chat] {
        let mut answer = call("a", "no_such_tool").and_call("b", "look", &json!({"bad": 7}));
        answer.says.push(umbo_model::server::Say::Call {
            id: "c".into(),
            name: "look".into(),
            arguments: "{\"half".into(),
        });
        let server = server(vec![Reply::answer(answer), Reply::text("sorry")]);
        let (mut agent, world) = agent(setup(&server, format));
        assert_eq!(prompt(&mut agent, "go").await.0, Outcome::Done);
        assert_eq!(world.ran.lock().unwrap().len(), 0);
        let results = results(agent.session());
        assert!(results[0].1.contains("There are: look, write"), "{results:?}");
        assert_eq!(results[1].1, "bad: 7 is not allowed");
        assert!(results[2].1.contains("no JSON object"), "{results:?}");
    }
}

#[tokio::test]
async fn steering_skips_the_tools_that_have_not_begun_and_reaches_the_model_next() {
    for format in WireFormat::ALL {
        let answer = call("a", "steer").and_call("b", "write", &json!({}));
        let server = server(vec![Reply::answer(answer), Reply::text("as you wish")]);
        let (mut agent, world) = agent(setup(&server, format));
        assert_eq!(prompt(&mut agent, "go").await.0, Outcome::Done);
        assert_eq!(world.ran.lock().unwrap().len(), 1);
        assert!(results(agent.session())[1].1.starts_with("Not run"));
        assert!(server.requests()[1].text.contains("not like this"));
    }
}

#[tokio::test]
async fn steering_that_waits_lets_all_tools_run_first() {
    let answer = call("a", "steer").and_call("b", "write", &json!({}));
    let server = server(vec![Reply::answer(answer), Reply::text("as you wish")]);
    let (mut agent, world) = agent(setup(&server, WireFormat::Chat));
    agent.queues().set_modes(QueueMode::OneAtATime, QueueMode::OneAtATime, InterruptMode::Wait);
    assert_eq!(prompt(&mut agent, "go").await.0, Outcome::Done);
    assert_eq!(world.ran.lock().unwrap().len(), 2);
    assert!(server.requests()[1].text.contains("not like this"));
}

#[tokio::test]
async fn follow_ups_come_one_at_a_time_or_all_at_once_and_next_turn_with_the_next_prompt() {
    let texts = || (0..9).map(|_| Reply::text("ok")).collect();
    for (mode, expected) in [(QueueMode::OneAtATime, 3), (QueueMode::All, 2)] {
        let server = server(texts());
        let (mut agent, _) = agent(setup(&server, WireFormat::Responses));
        let queues = agent.queues();
        queues.set_modes(QueueMode::OneAtATime, mode, InterruptMode::Immediate);
        queues.push_text(Delivery::FollowUp, "first");
        queues.push_text(Delivery::FollowUp, "second");
        assert_eq!(prompt(&mut agent, "go").await.0, Outcome::Done);
        assert_eq!(server.requests().len(), expected);
        assert!(queues.is_empty());
    }
    let server = server(texts());
    let (mut agent, _) = agent(setup(&server, WireFormat::Gemini));
    prompt(&mut agent, "go").await;
    agent.queues().push_text(Delivery::NextTurn, "by the way");
    assert_eq!(server.requests().len(), 1, "it does not start a turn");
    prompt(&mut agent, "again").await;
    assert!(server.requests()[1].text.contains("by the way"));
    agent.queues().push_text(Delivery::FollowUp, "oops");
    assert_eq!(agent.queues().take_back(Delivery::FollowUp), [vec![Part::text("oops")]]);
}

#[tokio::test]
async fn an_interrupt_ends_the_stream_keeps_what_was_said_and_the_session_goes_on() {
    for format in WireFormat::ALL {
        let gate = Gate::new();
        let first = Answer::text("a first part, and then silence for ever");
        let place = first.bytes(format).len() * 6 / 10;
        let server =
            server(vec![Reply::answer(first).wait_after(place, &gate), Reply::text("here")]);
        let (mut agent, _) = agent(setup(&server, format));
        let queues = agent.queues();
        let mut heard = 0;
        let mut observer = |event| {
            if let AgentEvent::Model(umbo_model::Event::Delta { .. }) = event {
                heard += 1;
                queues.interrupt();
            }
        };
        let run = agent.prompt(vec![Part::text("go")], &mut observer);
        assert_eq!(in_time(run).await.unwrap(), Outcome::Interrupted, "{format:?}");
        assert!(heard > 0);
        let last = agent.session().path_to(None).unwrap().pop().unwrap();
        let EntryKind::Message { message: AgentMessage::Assistant(answer) } = last.kind else {
            unreachable!()
        };
        assert_eq!(answer.stop_reason, StopReason::Aborted);
        assert!(!answer.text().is_empty());
        assert_eq!(prompt(&mut agent, "are you there?").await.0, Outcome::Done);
    }
}

#[tokio::test]
async fn an_interrupt_stops_a_tool_that_runs_and_those_behind_it() {
    let answer = call("a", "hang").and_call("b", "write", &json!({}));
    let server = server(vec![Reply::answer(answer), Reply::text("ok")]);
    let (mut agent, world) = agent(setup(&server, WireFormat::Chat));
    let queues = agent.queues();
    let watch = world.clone();
    let stopper = tokio::spawn(async move {
        watch.hanging.notified().await;
        queues.interrupt();
    });
    assert_eq!(prompt(&mut agent, "go").await.0, Outcome::Interrupted);
    stopper.await.unwrap();
    let results = results(agent.session());
    assert_eq!(results[0], ("a".to_owned(), "stopped in the middle".to_owned()));
    assert!(results[1].1.starts_with("Not run"), "{results:?}");
    assert_eq!(prompt(&mut agent, "go on").await.0, Outcome::Done);
}

#[tokio::test]
async fn failures_are_tried_again_and_then_another_model_is_asked() {
    for format in WireFormat::ALL {
        let cut = Answer::text("lost words of an answer").bytes(format).len() / 2;
        let first = server(vec![
            Reply::failure(Trouble::Overloaded),
            Reply::text("lost words of an answer").cut_after(cut),
            Reply::failure(Trouble::Quota),
        ]);
        let second = server(vec![Reply::text("I am here"), Reply::text("still")]);
        let mut setup = setup(&first, format);
        let mut other = candidate(&second, WireFormat::Chat);
        other.model.id = "other-model".into();
        setup.candidates.push(other);
        let (mut agent, _) = agent(setup);
        let (outcome, events) = prompt(&mut agent, "go").await;
        assert_eq!(outcome, Outcome::Done, "{format:?}");
        assert_eq!((first.requests().len(), second.requests().len()), (3, 1));
        let retries = events.iter().filter(|e| matches!(e, AgentEvent::Retry { .. })).count();
        assert_eq!(retries, 2);
        let asked = second.requests()[0].text.clone();
        assert!(!asked.contains("lost words"), "{asked}");
        prompt(&mut agent, "more").await;
        assert_eq!(second.requests().len(), 2, "it stays with the model that answers");
        let models = umbo_agent::build_context(agent.session(), None).unwrap().models;
        assert_eq!(models["default"], "test/other-model");
    }
}

#[tokio::test]
async fn what_cannot_get_better_fails_at_once_with_the_reason() {
    for trouble in [Trouble::Auth, Trouble::Invalid("no".into()), Trouble::Quota] {
        let server = server(vec![Reply::failure(trouble), Reply::text("never")]);
        let (mut agent, _) = agent(setup(&server, WireFormat::Anthropic));
        assert!(matches!(prompt(&mut agent, "go").await.0, Outcome::Failed(_)));
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn limits_end_a_run_with_their_name() {
    let cases = [
        (Limit::Turns, Limits { turns: Some(2), ..Limits::default() }),
        (Limit::Tokens, Limits { tokens: Some(80), ..Limits::default() }),
        (Limit::Cost, Limits { cost: Some(0.000_07), ..Limits::default() }),
    ];
    for (limit, limits) in cases {
        // Each call needs a name of its own.
        let mut number = 0;
        let server = ModelServer::start(move |_| {
            number += 1;
            Reply::answer(call(&format!("call_{number}"), "look"))
        })
        .unwrap();
        let mut setup = setup(&server, WireFormat::Chat);
        setup.limits = limits;
        setup.candidates[0].price =
            Some(ModelPrice { input: 1.0, output: 1.0, ..ModelPrice::default() });
        let (mut agent, _) = agent(setup);
        assert_eq!(prompt(&mut agent, "go").await.0, Outcome::Limit(limit));
        assert_eq!(server.requests().len(), 2, "{limit:?}");
    }
    let server = server(vec![Reply::answer(call("a", "hang")), Reply::text("ok")]);
    let mut setup = setup(&server, WireFormat::Chat);
    setup.limits.time = Some(Duration::from_secs(2));
    let (mut agent, _) = agent(setup);
    assert_eq!(prompt(&mut agent, "go").await.0, Outcome::Limit(Limit::Time));
    assert_eq!(results(agent.session()).len(), 1, "the call that was dropped has a result");
}

#[tokio::test]
async fn work_that_ends_meanwhile_is_told_at_the_border_once_in_order() {
    for format in WireFormat::ALL {
        let answer = call("a", "start").and_call("b", "start", &json!({}));
        let server = server(vec![
            Reply::answer(answer),
            Reply::text("waiting"),
            Reply::text("both are there"),
            Reply::text("yes"),
        ]);
        let (mut agent, world) = agent(setup(&server, format));
        let watch = world.clone();
        let mut slept = 0;
        let mut observer = |event| {
            if let AgentEvent::Sleeping { running } = event {
                slept += 1;
                assert_eq!(running, 2);
                // Both end before anybody looks.
                watch.end_job("two");
                watch.end_job("one");
            }
        };
        let run = agent.prompt(vec![Part::text("go")], &mut observer);
        assert_eq!(in_time(run).await.unwrap(), Outcome::Done, "{format:?}");
        assert_eq!(slept, 1, "it sleeps, it does not poll");
        let requests = server.requests();
        assert_eq!(requests.len(), 3);
        let text = &requests[2].text;
        let at = |words: &str| text.find(words).unwrap();
        assert!(at("job two ended") < at("job one ended"), "in the order in which they ended");
        assert!(world.ended.lock().unwrap().is_empty(), "acknowledged");
        prompt(&mut agent, "really?").await;
        assert_eq!(server.requests()[3].text.matches("job one ended").count(), 1);
    }
}

#[tokio::test]
async fn a_completion_that_was_told_but_not_acknowledged_is_not_told_again() {
    let server = server(vec![Reply::text("ok"), Reply::text("ok")]);
    let (mut agent, world) = agent(setup(&server, WireFormat::Chat));
    world.jobs.store(1, Ordering::SeqCst);
    world.end_job("x");
    let told = world.ended.lock().unwrap().clone();
    prompt(&mut agent, "one").await;
    // As if the process had died between the two steps.
    *world.ended.lock().unwrap() = told;
    prompt(&mut agent, "two").await;
    assert_eq!(server.requests()[1].text.matches("job x ended").count(), 1);
}

#[tokio::test]
async fn a_sleeping_agent_wakes_for_the_user() {
    let server =
        server(vec![Reply::answer(call("a", "start")), Reply::text("hm"), Reply::text("hi")]);
    let mut setup = setup(&server, WireFormat::Chat);
    setup.limits.turns = Some(3);
    let (mut agent, _) = agent(setup);
    let queues = agent.queues();
    let mut observer = |event| {
        if let AgentEvent::Sleeping { .. } = event {
            queues.push_text(Delivery::Steer, "wake up");
        }
    };
    let run = agent.prompt(vec![Part::text("go")], &mut observer);
    // Behind its answer it would sleep again: the limit comes first only with something to say.
    let outcome = tokio::select! {
        outcome = run => outcome.unwrap(),
        () = wait_for(&server, 3) => Outcome::Done,
    };
    assert_eq!(outcome, Outcome::Done);
    assert!(server.requests()[2].text.contains("wake up"));
}

async fn wait_for(server: &ModelServer, requests: usize) {
    in_time(async {
        while server.requests().len() < requests {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn overflow_is_mended_by_a_summary_and_the_question_is_asked_again() {
    for format in WireFormat::ALL {
        let server = server(vec![
            Reply::text("first answer"),
            Reply::failure(Trouble::Overflow),
            Reply::text("SUMMARY OF ALL"),
            Reply::text("now it fits"),
        ]);
        let mut setup = setup(&server, format);
        setup.compaction.keep_recent_tokens = 10;
        let (mut agent, _) = agent(setup);
        prompt(&mut agent, &"a long question ".repeat(40)).await;
        let (outcome, events) = prompt(&mut agent, "and now?").await;
        assert_eq!(outcome, Outcome::Done, "{format:?}");
        let compacted = events.iter().any(|e| {
            matches!(e, AgentEvent::CompactionEnd { before, after }
            if after < before)
        });
        assert!(compacted, "{events:?}");
        let requests = server.requests();
        assert!(requests[2].text.contains("<conversation>"));
        assert!(requests[3].text.contains("SUMMARY OF ALL"));
        assert!(!requests[3].text.contains("a long question"));
        assert!(requests[3].text.contains("and now?"));
    }
}

#[tokio::test]
async fn a_conversation_that_cannot_get_shorter_ends_and_says_so() {
    let server = ModelServer::start(|received| {
        if received.text.contains("<conversation>") {
            Reply::text("a summary")
        } else {
            Reply::failure(Trouble::Overflow)
        }
    })
    .unwrap();
    let mut setup = setup(&server, WireFormat::Chat);
    setup.compaction.keep_recent_tokens = 10;
    let (mut agent, _) = agent(setup);
    let (outcome, _) = prompt(&mut agent, &"word ".repeat(1000)).await;
    assert!(matches!(outcome, Outcome::TooLong(_)), "{outcome:?}");
    assert!(server.requests().len() < 8, "{} requests", server.requests().len());
}

#[tokio::test]
async fn a_long_conversation_is_summarised_before_it_is_too_long_and_small_windows_do_not_loop() {
    let server = ModelServer::start(|received| {
        let is_summary = received.text.contains("<conversation>");
        Reply::text(if is_summary { "a summary" } else { "an answer" })
    })
    .unwrap();
    let mut setup = setup(&server, WireFormat::Anthropic);
    setup.candidates[0].model.window = 16_384;
    setup.candidates[0].model.max_output = 2_000;
    let (mut agent, _) = agent(setup);
    let text = "words of the user ".repeat(500);
    for _ in 0..20 {
        assert_eq!(prompt(&mut agent, &text).await.0, Outcome::Done);
    }
    let requests = server.requests();
    let summaries = requests.iter().filter(|r| r.text.contains("<conversation>")).count();
    assert!((2..=10).contains(&summaries), "{summaries} summaries");
    let longest = requests.iter().map(|r| r.text.len()).max().unwrap();
    assert!(longest < 16_384 * 4 + 10_000, "{longest} bytes");
}

#[tokio::test]
async fn a_larger_model_is_asked_before_anything_is_summarised() {
    let small = server(vec![Reply::failure(Trouble::Overflow)]);
    let large = server(vec![Reply::text("fits")]);
    let mut setup = setup(&small, WireFormat::Chat);
    let mut promotion = candidate(&large, WireFormat::Gemini);
    promotion.model.window = 1_000_000;
    setup.promotion = Some(promotion);
    let (mut agent, _) = agent(setup);
    assert_eq!(prompt(&mut agent, "go").await.0, Outcome::Done);
    assert_eq!((small.requests().len(), large.requests().len()), (1, 1));
}

#[tokio::test]
async fn refusals_cut_answers_and_pauses_are_told_apart() {
    let cases = [(StopReason::Refusal, true), (StopReason::Length, false)];
    for (reason, is_refusal) in cases {
        let server = server(vec![Reply::answer(Answer::text("no").ends(reason))]);
        let (mut agent, _) = agent(setup(&server, WireFormat::Anthropic));
        let (outcome, _) = prompt(&mut agent, "go").await;
        assert_eq!(matches!(outcome, Outcome::Refused(_)), is_refusal);
        assert_eq!(outcome == Outcome::Length, !is_refusal);
    }
    let pause = Answer::text("thinking on").ends(StopReason::Pause);
    let server = server(vec![Reply::answer(pause), Reply::text("done")]);
    let (mut agent, _) = agent(setup(&server, WireFormat::Anthropic));
    assert_eq!(prompt(&mut agent, "go").await.0, Outcome::Done);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn routing_text_in_arguments_of_a_leaking_model_is_not_run() {
    let leak = json!({"text": "x = 1;】【analysis to=functions.write code เงินไทย"});
    let server = server(vec![Reply::answer(Answer::call("a", "write", &leak)), Reply::text("ok")]);
    let mut setup = setup(&server, WireFormat::Responses);
    setup.candidates[0].model.id = "gpt-5.4".into();
    let (mut agent, world) = agent(setup);
    assert_eq!(prompt(&mut agent, "go").await.0, Outcome::Done);
    assert_eq!(world.ran.lock().unwrap().len(), 0);
    assert!(results(agent.session())[0].1.contains("leaked"));
}

#[tokio::test]
async fn a_handoff_starts_a_new_session_and_leaves_the_old_one_alone() {
    let server = server(vec![Reply::text("ok"), Reply::text("THE DOCUMENT"), Reply::text("on it")]);
    let directory = tempfile::tempdir().unwrap();
    let (mut agent, world) = agent(setup(&server, WireFormat::Anthropic));
    let early = agent.handoff(directory.path(), None, &mut |_| {}).await.unwrap();
    assert_eq!(early.unwrap_err(), "Nothing to hand off (no messages yet)");
    prompt(&mut agent, "go").await;
    let entries = agent.session().len();
    let session =
        agent.handoff(directory.path(), Some("tests"), &mut |_| {}).await.unwrap().unwrap();
    assert_eq!(agent.session().len(), entries);
    let request = &server.requests()[1];
    assert!(request.text.contains("Above all: tests"));
    assert_eq!(request.body["tool_choice"]["type"], "none");
    let mut next = Agent::new(session, world, setup(&server, WireFormat::Anthropic));
    assert_eq!(prompt(&mut next, "go on").await.0, Outcome::Done);
    assert!(server.requests()[2].text.contains("THE DOCUMENT"));
}

#[tokio::test]
async fn a_branch_is_left_with_a_summary_and_the_model_knows_what_was_tried() {
    let server = server(vec![
        Reply::text("one"),
        Reply::text("a dead end"),
        Reply::text("TRIED IT IN VAIN"),
        Reply::text("another way"),
    ]);
    let (mut agent, _) = agent(setup(&server, WireFormat::Gemini));
    prompt(&mut agent, "start").await;
    let fork = agent.session().leaf().unwrap().to_owned();
    prompt(&mut agent, "try this").await;
    let summary = agent.leave_branch(&fork, None).await.unwrap();
    assert_eq!(summary.as_deref(), Some("TRIED IT IN VAIN"));
    prompt(&mut agent, "and now").await;
    let last = &server.requests()[3].text;
    assert!(last.contains("TRIED IT IN VAIN") && !last.contains("a dead end"), "{last}");
}

/// The whole life of a session, in a file.
async fn life(directory: &std::path::Path) -> (std::path::PathBuf, Vec<u8>, Vec<String>) {
    let answer =
        call("a", "look").and_call("b", "look", &json!({})).and_call("c", "write", &json!({}));
    let server =
        server(vec![Reply::answer(answer), Reply::answer(call("d", "write")), Reply::text("done")]);
    let world = World::new();
    let session = Session::create(directory, "/c", None).unwrap();
    let path = session.path().unwrap().to_owned();
    let mut agent = Agent::new(session, world.clone(), setup(&server, WireFormat::Chat));
    assert_eq!(prompt(&mut agent, "go").await.0, Outcome::Done);
    drop(agent);
    let ran = world.ran.lock().unwrap().clone();
    (path.clone(), fs::read(&path).unwrap(), ran)
}

#[tokio::test]
async fn killed_at_any_byte_no_call_is_run_again_and_the_model_learns_what_became_of_each() {
    let directory = tempfile::tempdir().unwrap();
    let (path, bytes, ran) = life(directory.path()).await;
    assert_eq!(ran.len(), 4);
    let server = ModelServer::start(|_| Reply::text("I see")).unwrap();
    let setup = setup(&server, WireFormat::Anthropic);
    // Every place where a line ends, and some inside of each line.
    let ends: Vec<usize> =
        bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1).collect();
    let places = ends.iter().flat_map(|&end| [end - 1, end, end + 1, end + 30, end + 200]);
    let header = ends[0];
    for place in places.filter(|&place| place >= header && place <= bytes.len()) {
        fs::write(&path, &bytes[..place]).unwrap();
        let session = Session::open(&path).unwrap();
        let world = World::new();
        // What began has done its work, or is still at it.
        let text = String::from_utf8_lossy(&bytes[..place]).into_owned();
        for (number, key) in ran.iter().enumerate() {
            let recovery = match number % 3 {
                0 => Recovery::Finished(ToolOutput::text("finished meanwhile")),
                1 => Recovery::Running("job 7".into()),
                _ => Recovery::Unknown,
            };
            world.recoveries.lock().unwrap().insert(key.clone(), recovery);
        }
        let mut agent = Agent::new(session, world.clone(), setup.clone());
        let (outcome, _) = prompt(&mut agent, "what happened?").await;
        assert_eq!(outcome, Outcome::Done, "killed at {place}");
        assert_eq!(world.ran.lock().unwrap().len(), 0, "killed at {place}: something ran again");
        // The server has refused nothing: each call has its result. And those that had begun say so.
        let results = results(agent.session());
        for (id, words) in &results {
            let has_result = text.lines().any(|line| {
                line.contains(&format!("\"toolCallId\":\"{id}\""))
                    && line.contains("toolResult")
                    && serde_json::from_str::<Value>(line).is_ok()
            });
            let has_begun = text.lines().any(|line| {
                line.contains("\"tool_start\"")
                    && line.contains(&format!("\"toolCallId\":\"{id}\""))
                    && serde_json::from_str::<Value>(line).is_ok()
            });
            if !has_result {
                assert_eq!(
                    words.starts_with("Not run"),
                    !has_begun,
                    "killed at {place}: {id} {words}"
                );
            }
        }
    }
}

#[tokio::test]
async fn an_agent_dropped_in_the_middle_of_a_tool_leaves_a_session_that_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let server = server(vec![Reply::answer(call("a", "hang")), Reply::text("ok")]);
    let world = World::new();
    let session = Session::create(directory.path(), "/c", None).unwrap();
    let path = session.path().unwrap().to_owned();
    let mut first = Agent::new(session, world.clone(), setup(&server, WireFormat::Chat));
    let run = tokio::spawn(async move {
        let _ = first.prompt(vec![Part::text("go")], &mut |_| {}).await;
    });
    in_time(world.hanging.notified()).await;
    run.abort();
    let _ = run.await;
    let key = world.ran.lock().unwrap()[0].clone();
    let running = Recovery::Running("job 7 (umbo logs 7)".into());
    world.recoveries.lock().unwrap().insert(key.clone(), running);
    let session = Session::open(&path).unwrap();
    assert_eq!(session.tool_started("a").unwrap().key, key);
    let mut second = Agent::new(session, world.clone(), setup(&server, WireFormat::Chat));
    assert_eq!(in_time(second.resume(&mut |_| {})).await.unwrap(), Outcome::Done);
    assert!(server.requests()[1].text.contains("job 7 (umbo logs 7)"));
    assert_eq!(world.ran.lock().unwrap().len(), 1, "the call is not run again");
    assert!(server.wait_for_requests(2, DEADLINE));
}

#[tokio::test]
async fn nothing_is_done_that_the_session_could_not_keep() {
    let directory = tempfile::tempdir().unwrap();
    let server = server(vec![Reply::answer(call("a", "write"))]);
    let path = Session::create(directory.path(), "/c", None).unwrap().path().unwrap().to_owned();
    let session = Session::open_read_only(&path).unwrap();
    let world = World::new();
    let mut agent = Agent::new(session, world.clone(), setup(&server, WireFormat::Chat));
    assert!(agent.prompt(vec![Part::text("go")], &mut |_| {}).await.is_err());
    assert_eq!(server.requests().len(), 0);
    assert_eq!(world.ran.lock().unwrap().len(), 0);
}
