//! Jobs in the background: their ends are delivered at the border of a turn, once, in order, and
//! nobody polls. The end-to-end scenarios of the contract `meerkat` are among them.

use std::fs;
use std::sync::mpsc;

use serde_json::{Value, json};
use umbo_model::server::{Answer, Gate, Reply};

use super::{CASES, DEADLINE, Scene, of};

/// The words of a call that starts a command in the background, by dialect.
fn background(tool: &str, line: &str) -> Value {
    match tool {
        "Bash" => json!({"command": line, "run_in_background": true}),
        "exec_command" => json!({"cmd": line, "yield_time_ms": 1}),
        _ => json!({"command": line, "background": true}),
    }
}

#[test]
fn a_job_that_ends_while_the_model_thinks_is_told_at_the_border_of_the_turn_once() {
    for case in CASES {
        let gate = Gate::new();
        let (thinking, gated) = (gate.clone(), Answer::text("thinking about it"));
        let mut number = 0;
        let scene = Scene::scripted(move |_| {
            number += 1;
            match number {
                1 => Reply::answer(Answer::call(
                    "call_1",
                    case.tool,
                    &background(case.tool, "read line < go; echo ended as $line"),
                )),
                // While it says this, the job ends.
                2 => Reply::answer(case.and_command(gated.clone(), "call_2", "echo meanwhile"))
                    .wait_after(0, &thinking),
                3 => Reply::text("I see."),
                _ => Reply::text("too much"),
            }
        });
        let go = scene.umbo.fifo("go");
        let client = scene.agent(case.model, &["--json"], "start it").spawn();
        assert!(scene.server.wait_for_requests(2, DEADLINE));
        fs::write(go, "planned\n").unwrap();
        let job = scene.umbo.jobs()[0]["job"].as_str().unwrap().to_owned();
        scene.umbo.outcome(&job);
        gate.open();
        let answer = client.answer();
        answer.expect_status(0);
        let events: Vec<Value> =
            answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let notes = of(&events, "note");
        assert_eq!(notes.len(), 1, "{}: {notes:?}", case.model);
        assert_eq!(notes[0]["job"], job.as_str());
        // Behind the results of the turn, before the next answer.
        let place = |what: &dyn Fn(&Value) -> bool| events.iter().position(what).unwrap();
        let note = place(&|event| event["type"] == "note");
        assert!(place(&|event| event["id"] == "call_2" && event["type"] == "tool_result") < note);
        assert!(note < place(&|event| event["text"] == "I see."));
        let requests = scene.server.requests();
        assert_eq!(requests.len(), 3, "{}", case.model);
        assert_eq!(requests[2].text.matches("Background job ended").count(), 1);
        scene.check();
    }
}

#[test]
fn an_agent_with_nothing_to_say_sleeps_until_a_job_ends_and_asks_the_model_once() {
    for case in CASES {
        let mut number = 0;
        let scene = Scene::scripted(move |_| {
            number += 1;
            match number {
                1 => {
                    let (first, second) = ("read line < go; echo first", "cat < later");
                    let call = |answer: Answer, id: &str, line: &str| {
                        answer.and_call(id, case.tool, &background(case.tool, line))
                    };
                    Reply::answer(call(call(Answer::new(), "call_1", first), "call_2", second))
                }
                2 => Reply::text("Both run; I wait."),
                3 => Reply::text("One ended."),
                4 => Reply::text("All ended."),
                _ => Reply::text("too much"),
            }
        });
        let (go, later) = (scene.umbo.fifo("go"), scene.umbo.fifo("later"));
        let mut client = scene.agent(case.model, &["--json"], "start both").spawn();
        let mut until = |what: &str| loop {
            let line = client.line();
            assert!(!line.is_empty(), "it ended before {what}");
            if line.contains(what) {
                return serde_json::from_str::<Value>(&line).unwrap();
            }
        };
        assert_eq!(until("sleeping")["running"], 2, "{}", case.model);
        fs::write(go, "\n").unwrap();
        assert_eq!(until("sleeping")["running"], 1);
        assert_eq!(scene.server.requests().len(), 3);
        fs::write(later, "enough\n").unwrap();
        let end = until("\"type\":\"end\"");
        assert_eq!((&end["text"], &end["running_jobs"]), (&json!("All ended."), &json!(0)));
        client.answer().expect_status(0);
        // Not one request more than there was something to say.
        assert_eq!(scene.server.requests().len(), 4);
        scene.check();
    }
}

#[test]
fn ends_are_told_in_the_order_in_which_they_came() {
    let case = CASES[2];
    let gate = Gate::new();
    let thinking = gate.clone();
    let mut number = 0;
    let scene = Scene::scripted(move |_| {
        number += 1;
        match number {
            1 => ["a", "b", "c", "d"].iter().fold(Answer::new(), |answer, name| {
                let line = format!("read line < {name}");
                let call =
                    json!({"command": line, "background": true, "name": format!("job-{name}")});
                answer.and_call(&format!("call_{name}"), "exec", &call)
            }),
            2 => return Reply::text("waiting").wait_after(0, &thinking),
            _ => Answer::text("done"),
        }
        .into()
    });
    let fifos: Vec<_> = ["a", "b", "c", "d"].map(|name| scene.umbo.fifo(name)).into();
    let client = scene.agent(case.model, &["--json"], "start").spawn();
    assert!(scene.server.wait_for_requests(2, DEADLINE));
    for (fifo, name) in [(2, "c"), (0, "a"), (3, "d"), (1, "b")] {
        fs::write(&fifos[fifo], "\n").unwrap();
        let job = scene.umbo.listed_by_name(&format!("job-{name}"));
        scene.umbo.outcome(&job);
    }
    gate.open();
    client.answer().expect_status(0);
    let text = &scene.server.requests()[2].text;
    let ends = text[text.find("waiting").unwrap()..].to_owned();
    let mut places: Vec<(usize, &str)> = ["a", "b", "c", "d"]
        .map(|name| (ends.find(&format!("(job-{name})")).unwrap(), name))
        .into();
    places.sort_unstable();
    let order: Vec<&str> = places.into_iter().map(|(_, name)| name).collect();
    assert_eq!(order, ["c", "a", "d", "b"], "{ends}");
}

/// The settings that contract needs: it is off by default, and its own shell is not everywhere.
fn meerkat(scene: &Scene) {
    let config = scene.umbo.path().join("home/.config/umbo");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "[tools.shell]\nenabled = true\nshell = \"sh\"\n")
        .unwrap();
}

#[test]
fn meerkat_an_agent_runs_a_shell_command_and_sees_its_output() {
    for case in CASES {
        let scene = Scene::new(vec![
            Reply::answer(Answer::call("call_1", "shell", &json!({"command": "echo hello"}))),
            Reply::text("It said hello."),
        ]);
        meerkat(&scene);
        let events = scene.events(case.model, &["--dialect", "meerkat"], "say hello");
        let result = of(&events, "tool_result")[0];
        assert!(result["text"].as_str().unwrap().contains("hello"), "{result}");
        assert!(scene.server.requests()[1].text.contains("hello"));
        scene.check();
    }
}

#[test]
fn meerkat_an_agent_runs_background_jobs_beside_each_other_and_receives_each_completion_event() {
    for case in CASES {
        let mut number = 0;
        let scene = Scene::scripted(move |_| {
            number += 1;
            match number {
                1 => (1..=3).fold(Answer::new(), |answer, n| {
                    let call =
                        json!({"command": format!("read x < f{n}; echo {n}"), "background": true});
                    answer.and_call(&format!("call_{n}"), "shell", &call)
                }),
                _ => Answer::text("ok"),
            }
            .into()
        });
        meerkat(&scene);
        let fifos: Vec<_> = ["f1", "f2", "f3"].map(|name| scene.umbo.fifo(name)).into();
        let mut client = scene.agent(case.model, &["--json", "--dialect", "meerkat"], "go").spawn();
        let (sender, lines) = mpsc::channel();
        let reader = std::thread::spawn(move || {
            loop {
                let line = client.line();
                if line.is_empty() || sender.send(line).is_err() {
                    return client.answer();
                }
            }
        });
        let mut events: Vec<Value> = Vec::new();
        for (left, fifo) in [(3, Some(1)), (2, Some(0)), (1, Some(2)), (0, None)] {
            let what = if left > 0 { "sleeping" } else { "end" };
            loop {
                let event: Value =
                    serde_json::from_str(&lines.recv_timeout(DEADLINE).unwrap()).unwrap();
                events.push(event);
                if events.last().unwrap()["type"] == what {
                    break;
                }
            }
            if let Some(fifo) = fifo {
                assert_eq!(events.last().unwrap()["running"], left);
                fs::write(&fifos[fifo], "\n").unwrap();
            }
        }
        reader.join().unwrap().expect_status(0);
        let told: Vec<Value> = of(&events, "note")
            .iter()
            .map(|note| serde_json::from_str(note["text"].as_str().unwrap()).unwrap())
            .collect();
        assert_eq!(told.len(), 3, "{told:?}");
        for (event, n) in told.iter().zip([2, 1, 3]) {
            assert_eq!(event["type"], "background_job_completed");
            assert_eq!(event["data"]["result"]["status"], "completed", "{event}");
            assert_eq!(event["data"]["result"]["stdout"], format!("{n}\n"), "{event}");
        }
        scene.check();
    }
}

#[test]
fn meerkat_a_job_is_cancelled_mid_execution() {
    for case in CASES {
        let scene = Scene::scripted(move |request| {
            let text = &request.text;
            if !text.contains("call_1") {
                let call = json!({"command": "echo up; sleep 600", "background": true});
                return Answer::call("call_1", "shell", &call).into();
            }
            if text.contains("call_2") {
                return Answer::text("It is cancelled.").into();
            }
            // The beginning of a time that is not over for a while.
            let at = text.find("job_01").unwrap();
            let id = &text[at..at + "job_".len() + 26];
            Answer::call("call_2", "shell_job_cancel", &json!({"job_id": id})).into()
        });
        meerkat(&scene);
        let events = scene.events(case.model, &["--dialect", "meerkat"], "start and cancel");
        assert_eq!(events.last().unwrap()["text"], "It is cancelled.", "{events:?}");
        let job = &scene.umbo.jobs()[0];
        assert_eq!(job["state"], "stopped", "{job}");
        scene.check();
    }
}
