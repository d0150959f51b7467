//! `kill -9` of the agent at any instant of a turn, then resume: nothing runs twice, nothing that was
//! said is lost, and a command that was under way is a job that is still there.

use std::fs;

use umbo_model::server::{Gate, Reply};

use super::{CASES, DEADLINE, Scene, of};

#[test]
fn a_command_under_way_when_the_agent_is_killed_runs_on_and_the_model_is_told() {
    for case in CASES {
        let mut number = 0;
        let scene = Scene::scripted(move |_| {
            number += 1;
            match number {
                1 => Reply::answer(
                    case.command("call_1", "echo run >> runs; read line < go; echo got $line"),
                ),
                2 => Reply::text("It still runs; I wait."),
                3 => Reply::text("It ended."),
                _ => Reply::text("too much"),
            }
        });
        let go = scene.umbo.fifo("go");
        let runs = scene.umbo.path().join("runs");
        let mut client = scene.agent(case.model, &["--json"], "run it").spawn();
        while !client.line().contains("tool_call") {}
        while !fs::read_to_string(&runs).is_ok_and(|text| text.ends_with('\n')) {
            std::thread::yield_now();
        }
        client.kill();
        let job = scene.umbo.jobs()[0]["job"].as_str().unwrap().to_owned();
        assert_eq!(scene.umbo.listed(&job)["state"], "started", "it is still there");

        let mut client = scene.call(&["agent", "-c", "--json", "-p", "go on"]).spawn();
        let mut events = Vec::new();
        loop {
            let line = client.line();
            assert!(!line.is_empty(), "{events:?}");
            events.push(serde_json::from_str(&line).unwrap());
            if line.contains("\"sleeping\"") {
                break;
            }
        }
        let result = of(&events, "tool_result")[0];
        let text = result["text"].as_str().unwrap();
        assert!(text.contains("still running") && text.contains(&job), "{text}");
        fs::write(&go, "the rest\n").unwrap();
        client.answer().expect_status(0);
        let requests = scene.server.requests();
        assert_eq!(requests.len(), 3);
        assert!(requests[2].text.contains("Background job ended"), "{}", requests[2].text);
        assert_eq!(fs::read_to_string(&runs).unwrap(), "run\n", "it was run once");
        assert_eq!(scene.umbo.jobs().len(), 1);
        assert_eq!(scene.umbo.output(&job), b"got the rest\n");
        scene.check();
    }
}

#[test]
fn a_command_that_ended_while_the_agent_was_dead_gives_its_output() {
    for case in CASES {
        let scene = Scene::scripted(move |request| {
            if request.text.contains("call_1") {
                return Reply::text("I know.");
            }
            Reply::answer(case.command("call_1", "read line < go; echo got $line; exit 4"))
        });
        let go = scene.umbo.fifo("go");
        let mut client = scene.agent(case.model, &["--json"], "run it").spawn();
        while !client.line().contains("tool_call") {}
        while scene.umbo.jobs().is_empty() {
            std::thread::yield_now();
        }
        client.kill();
        fs::write(&go, "it\n").unwrap();
        let job = scene.umbo.jobs()[0]["job"].as_str().unwrap().to_owned();
        scene.umbo.outcome(&job);
        let answer = scene.call(&["agent", "-c", "-p", "go on"]).answer();
        assert_eq!((answer.status, answer.text().as_str()), (0, "I know.\n"), "{answer:?}");
        let last = scene.server.requests().pop().unwrap();
        assert!(last.text.contains("got it") && last.text.contains("with code 4"), "{}", last.text);
        assert!(!last.text.contains("Background job ended"), "told twice: {}", last.text);
        assert_eq!(scene.umbo.jobs().len(), 1);
        scene.check();
    }
}

#[test]
fn the_first_prompt_is_kept_though_the_agent_is_killed_before_the_model_answers() {
    let gate = Gate::new();
    let scene = Scene::new(vec![Reply::text("never").wait_after(0, &gate), Reply::text("now")]);
    let client = scene.agent(CASES[0].model, &["--json"], "the very first prompt").spawn();
    assert!(scene.server.wait_for_requests(1, DEADLINE));
    client.kill();
    assert!(fs::read_to_string(scene.session_file()).unwrap().contains("the very first prompt"));
    scene.call(&["agent", "-c", "-p", "still there?"]).stdout("now\n").run();
    assert!(scene.server.requests()[1].text.contains("the very first prompt"));
}

#[test]
fn killed_at_many_instants_no_call_runs_twice_and_each_has_one_result() {
    let case = CASES[0];
    let scene = Scene::scripted({
        let mut number = 0;
        move |request| {
            number += 1;
            if request.text.contains("that is enough") {
                return Reply::text("all right");
            }
            let call =
                |n: u32| (format!("call_{number}_{n}"), format!("echo {number}.{n} >> done"));
            let (first, second) = (call(1), call(2));
            let answer = case.command(&first.0, &first.1);
            Reply::answer(case.and_command(answer, &second.0, &second.1))
        }
    });
    for round in 0..6 {
        let words: &[&str] = if round == 0 { &["--json"] } else { &["--json", "-c"] };
        let client = scene.agent(case.model, words, "note all you can").spawn();
        // A different instant each time: some requests later, or in the middle of a turn.
        let asked = scene.server.requests().len() + 1 + round % 3;
        assert!(scene.server.wait_for_requests(asked, DEADLINE), "round {round}");
        if round % 2 == 1 {
            let before = fs::read_to_string(scene.umbo.path().join("done")).unwrap_or_default();
            while fs::read_to_string(scene.umbo.path().join("done")).unwrap_or_default() == before {
                std::thread::yield_now();
            }
        }
        client.kill();
    }
    let answer = scene.call(&["agent", "-c", "-p", "that is enough"]).answer();
    assert_eq!((answer.status, answer.text().as_str()), (0, "all right\n"), "{answer:?}");
    let done = fs::read_to_string(scene.umbo.path().join("done")).unwrap();
    let mut once: Vec<&str> = done.lines().collect();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), done.lines().count(), "something was done twice: {done}");
    assert!(once.len() >= 6, "{done}");
    // What is said not to have run has not.
    let mut not_run = 0;
    for entry in scene.call(&["sessions", "show", "--json"]).json_lines() {
        let message = &entry["entry"]["message"];
        if message["role"] == "toolResult" && message.to_string().contains("Not run") {
            let call = message["toolCallId"].as_str().unwrap().trim_start_matches("call_");
            assert!(!once.contains(&call.replace('_', ".").as_str()), "{call} has run: {done}");
            not_run += 1;
        }
    }
    let calls = scene.server.requests().len() - 1;
    assert!(once.len() + not_run <= calls * 2, "{done}");
    // The server refuses a request in which a call has no result, or a result no call.
    scene.check();
    let last = scene.server.requests().pop().unwrap().text;
    assert!(!last.contains("Background job ended"), "what a result told is told again: {last}");
}
