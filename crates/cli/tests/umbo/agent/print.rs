//! One prompt, for scripts.

use std::fs;

use rustix::process::Signal;
use serde_json::json;
use umbo_model::server::{Answer, Gate, ModelServer, Reply, Trouble};
use umbo_model::{StopReason, Usage};

use super::{CASES, DEADLINE, Scene, of};
use crate::harness::signal;

#[test]
fn an_agent_runs_a_command_sees_its_output_and_answers_with_every_vendor() {
    for case in CASES {
        let scene = Scene::new(vec![
            Reply::answer(case.command("call_1", "echo the $((40 + 2)) answer")),
            Reply::text("It says 42."),
        ]);
        let answer = scene.agent(case.model, &[], "what does it say?").answer();
        assert_eq!((answer.status, answer.text().as_str()), (0, "It says 42.\n"), "{answer:?}");
        assert!(answer.said().contains(case.tool), "{answer:?}");
        let requests = scene.server.requests();
        assert_eq!(requests.len(), 2, "{}", case.model);
        assert!(requests[0].text.contains("what does it say?"));
        assert!(requests[1].text.contains("the 42 answer"), "{}", requests[1].text);
        scene.check();
        // The job is one of the session, found by anybody.
        let jobs = scene.umbo.jobs();
        assert_eq!(jobs.len(), 1);
        assert_eq!(jobs[0]["exit_code"], 0);
    }
}

#[test]
fn the_tools_are_those_that_the_model_knows_unless_somebody_chooses() {
    let names = |dialect: &[&str], model: &str| {
        let scene = Scene::new(vec![Reply::text("hello")]);
        scene.agent(model, dialect, "hi").answer().expect_status(0);
        let body = scene.server.requests()[0].body.clone();
        let tools = body["tools"].as_array().cloned().unwrap_or_default();
        let name = |tool: &serde_json::Value| {
            let name = tool["name"].as_str().or_else(|| tool["function"]["name"].as_str());
            name.unwrap_or_default().to_owned()
        };
        tools.iter().map(name).collect::<Vec<_>>()
    };
    assert!(names(&[], "anthropic/claude-sonnet-5").contains(&"Bash".to_owned()));
    assert!(names(&[], "openai/gpt-5.5").contains(&"write_stdin".to_owned()));
    assert!(names(&[], "openai-chat/llama").contains(&"exec".to_owned()));
    let omp = names(&["--dialect", "omp"], "anthropic/claude-sonnet-5");
    assert!(omp.contains(&"bash".to_owned()), "{omp:?}");
    // Dots in a contract's names are none in a model's.
    let recipe = names(&["--dialect", "recipe"], "anthropic/claude-sonnet-5");
    assert!(recipe.contains(&"project_recipe".to_owned()), "{recipe:?}");
}

#[test]
fn with_json_every_event_is_a_line() {
    for case in CASES {
        let answer = Answer::new().and_text("I look.");
        let scene = Scene::new(vec![
            Reply::answer(case.and_command(answer, "call_1", "echo hi; exit 3")),
            Reply::text("It failed."),
        ]);
        let events = scene.events(case.model, &[], "look");
        let session = &of(&events, "session")[0];
        assert_eq!(session["model"], case.model);
        assert_eq!(of(&events, "turn").len(), 2);
        let said: String =
            of(&events, "text").iter().map(|event| event["delta"].as_str().unwrap()).collect();
        assert_eq!(said, "I look.It failed.");
        assert_eq!(of(&events, "tool_call")[0]["name"], case.tool);
        let result = of(&events, "tool_result")[0];
        assert!(result["text"].as_str().unwrap().contains("hi"), "{result}");
        let job = scene.umbo.listed(result["job"].as_str().unwrap());
        assert_eq!(job["exit_code"], 3);
        let end = events.last().unwrap();
        assert_eq!((&end["type"], &end["outcome"]), (&json!("end"), &json!("done")), "{end}");
        assert_eq!(end["text"], "It failed.");
        assert_eq!(end["session"], session["id"]);
        assert_eq!(end["usage"]["output"], 30, "{end}");
    }
}

#[test]
fn the_exit_status_says_the_outcome() {
    let model = CASES[0].model;
    let outcome = |replies: Vec<Reply>, words: &[&str]| {
        let scene = Scene::new(replies);
        let answer = scene.agent(model, &[&["--json"], words].concat(), "go").answer();
        let last: serde_json::Value =
            serde_json::from_str(answer.text().lines().last().unwrap()).unwrap();
        (answer.status, last["outcome"].as_str().unwrap().to_owned(), last["reason"].clone())
    };
    let (status, word, reason) = outcome(vec![Reply::failure(Trouble::Auth)], &[]);
    assert_eq!((status, word.as_str()), (1, "failed"), "{reason}");
    let refusal = Answer::text("no").ends(StopReason::Refusal);
    let (status, word, _) = outcome(vec![Reply::answer(refusal)], &[]);
    assert_eq!((status, word.as_str()), (2, "refused"));
    let call = || Reply::answer(CASES[0].command("a", "echo hi"));
    let (status, word, reason) = outcome(vec![call(), call(), call()], &["--max-turns", "2"]);
    assert_eq!((status, word.as_str()), (3, "limit"), "{reason}");
    assert_eq!(reason, "the limit of answers was reached");
    let dear = Answer::new().costs(Usage { input: 9_000_000, output: 5, ..Usage::default() });
    let dear = Reply::answer(CASES[0].and_command(dear, "a", "echo hi"));
    let (status, _, reason) = outcome(vec![dear.clone(), call()], &["--max-cost", "1"]);
    assert_eq!((status, reason), (3, json!("the limit of cost was reached")));
    let (status, _, reason) = outcome(vec![dear, call()], &["--max-tokens", "1000000"]);
    assert_eq!((status, reason), (3, json!("the limit of tokens was reached")));
    let overflow = Reply::failure(Trouble::Overflow);
    let (status, word, _) = outcome(vec![overflow.clone(), overflow], &[]);
    assert_eq!((status, word.as_str()), (4, "too_long"));
    let sleeping = Reply::answer(CASES[0].command("a", "sleep 600"));
    let (status, _, reason) = outcome(vec![sleeping], &["--timeout", "2s"]);
    assert_eq!((status, reason), (124, json!("the time limit was reached")));
}

#[test]
fn an_interrupt_ends_the_run_with_the_command_that_runs() {
    let case = CASES[0];
    let call = case.command("call_1", "echo begun; sleep 600");
    let scene = Scene::scripted(move |_| call.clone().into());
    let mut client = scene.agent(case.model, &["--json"], "sleep").spawn();
    while !client.line().contains("tool_call") {}
    let job = loop {
        match scene.umbo.jobs().first() {
            Some(job) => break job["job"].as_str().unwrap().to_owned(),
            None => std::thread::yield_now(),
        }
    };
    scene.umbo.wait_for(&job, "begun");
    signal(client.pid(), Signal::INT);
    let answer = client.answer();
    answer.expect_status(130);
    assert_eq!(scene.umbo.listed(&job)["state"], "stopped");
}

#[test]
fn an_answer_of_a_schema_is_printed_as_it_is_and_one_that_is_not_is_asked_for_again() {
    let model = CASES[1].model;
    let scene = Scene::new(vec![
        Reply::text("There are three."),
        Reply::text("```json\n{\"count\": \"three\"}\n```"),
        Reply::text("```json\n{\"count\": 3}\n```"),
    ]);
    let schema = scene.umbo.path().join("schema.json");
    let text = json!({"type": "object", "properties": {"count": {"$ref": "#/$defs/n"}},
        "required": ["count"], "$defs": {"n": {"type": "integer", "oneOf": [{"minimum": 3}]}}});
    fs::write(&schema, text.to_string()).unwrap();
    let schema = schema.to_str().unwrap();
    let answer = scene.agent(model, &["--schema", schema], "how many?").answer();
    assert_eq!((answer.status, answer.text().as_str()), (0, "{\"count\":3}\n"), "{answer:?}");
    assert_eq!(scene.server.requests().len(), 3);
    assert!(scene.server.requests()[0].text.contains("JSON Schema"));

    let wrong = Scene::new(vec![Reply::text("{}"), Reply::text("[]"), Reply::text("no")]);
    wrong.agent(model, &["--schema", schema], "how many?").answer().expect_status(5);
    fs::write(schema, "{\"type\": 5}").unwrap();
    let refused = wrong.agent(model, &["--schema", schema], "?").refused();
    assert!(refused.contains("--schema"), "{refused}");
}

#[test]
fn what_the_project_and_the_user_say_is_told_to_the_model() {
    let scene = Scene::new(vec![Reply::text("ok"), Reply::text("ok")]);
    let project = scene.umbo.path().join("project");
    let inner = project.join("a/b");
    fs::create_dir_all(inner.join(".git")).unwrap();
    fs::remove_dir(inner.join(".git")).unwrap();
    fs::create_dir_all(project.join(".git")).unwrap();
    fs::write(scene.umbo.path().join("AGENTS.md"), "outside of the project").unwrap();
    fs::write(project.join("AGENTS.md"), "use tabs, says the project").unwrap();
    fs::write(inner.join("CLAUDE.md"), "use spaces, says the folder").unwrap();
    scene.agent(CASES[0].model, &[], "hi").current_dir(&inner).answer().expect_status(0);
    let body = &scene.server.requests()[0].text;
    let place = |text: &str| body.find(text).unwrap_or_else(|| panic!("{text}: {body}"));
    assert!(place("use tabs, says the project") < place("use spaces, says the folder"));
    assert!(!body.contains("outside of the project"), "{body}");

    // The user's own words replace ours; a project's only if they are trusted.
    let config = scene.umbo.path().join("home/.config/umbo");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("SYSTEM.md"), "you are the user's own").unwrap();
    fs::create_dir_all(project.join(".umbo")).unwrap();
    fs::write(project.join(".umbo/SYSTEM.md"), "you obey the project").unwrap();
    scene.agent(CASES[0].model, &[], "hi").current_dir(&inner).answer().expect_status(0);
    let body = &scene.server.requests()[1].text;
    assert!(body.contains("you are the user's own") && !body.contains("you obey the project"));
}

#[test]
fn a_command_that_somebody_must_approve_does_not_run_and_the_model_is_told() {
    for case in CASES {
        let scene = Scene::scripted({
            let mut number = 0;
            move |_| {
                number += 1;
                match number {
                    1 => Reply::answer(case.command("call_1", "rm -rf precious")),
                    _ => Reply::text("I may not."),
                }
            }
        });
        let precious = scene.umbo.path().join("precious");
        fs::create_dir(&precious).unwrap();
        let events = scene.events(case.model, &["--gate", "default"], "clean up");
        let result = of(&events, "tool_result")[0];
        assert_eq!(result["is_error"], true, "{result}");
        assert!(result["text"].as_str().unwrap().contains("approv"), "{result}");
        assert!(precious.exists() && scene.umbo.jobs().is_empty());
        let asked = scene.umbo.call(["approvals", "--json"]).answer().text();
        assert!(asked.contains("rm -rf precious"), "{asked}");
        scene.check();
    }
}

#[test]
fn another_model_is_asked_if_the_first_cannot_answer() {
    let scene = Scene::scripted(|request| {
        let is_first = request.path.ends_with("/messages");
        if is_first { Reply::failure(Trouble::Quota) } else { Reply::text("I can.") }
    });
    let words = ["--fallback", "openai/gpt-5.5", "--fallback", "gemini/gemini-3.5-flash"];
    let events = scene.events("anthropic/claude-sonnet-5", &words, "can you?");
    assert_eq!(of(&events, "model")[0]["model"], "openai/gpt-5.5");
    assert_eq!(events.last().unwrap()["text"], "I can.");
}

#[test]
fn the_larger_model_of_the_configuration_is_asked_when_the_conversation_does_not_fit() {
    let scene = Scene::scripted(|request| {
        let is_small = request.path.ends_with("/chat/completions");
        if is_small { Reply::failure(Trouble::Overflow) } else { Reply::text("It fits.") }
    });
    let config = scene.umbo.path().join("home/.config/umbo");
    fs::create_dir_all(&config).unwrap();
    let larger = "[agent]\nlarger_model = \"gemini/gemini-3.5-flash\"\n";
    fs::write(config.join("config.toml"), larger).unwrap();
    let events = scene.events("openai-chat/qwen3:8b", &[], "does it fit?");
    assert_eq!(of(&events, "model")[0]["model"], "gemini/gemini-3.5-flash");
    assert_eq!(events.last().unwrap()["text"], "It fits.");
    assert_eq!(scene.server.requests().len(), 2, "nothing was summarised");
}

#[test]
fn what_is_wrong_with_a_model_is_said_with_the_way_out() {
    let scene = Scene::new(Vec::new());
    let said = |words: &[&str]| {
        let call = scene.umbo.call([&["agent", "-p", "hi"], words].concat());
        let call = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"]
            .iter()
            .fold(call, |call, name| call.env(name, ""));
        call.refused()
    };
    assert!(said(&[]).contains("set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY"));
    let key = said(&["--model", "gemini/gemini-3.5-flash"]);
    assert!(key.contains("set GEMINI_API_KEY or GOOGLE_API_KEY"), "{key}");
    let vendor = said(&["--model", "nobody/model"]);
    assert!(vendor.contains("anthropic, gemini, openai, openai-chat"), "{vendor}");
    assert!(said(&["--model", "gpt-5"]).contains("VENDOR/NAME"));
}

#[test]
fn models_of_ones_own_are_listed_asked_and_checked() {
    let scene =
        Scene::new(vec![Reply::text("ok"), Reply::text("hello"), Reply::failure(Trouble::Auth)]);
    let config = scene.umbo.path().join("home/.config/umbo");
    fs::create_dir_all(&config).unwrap();
    let text = format!(
        "[providers.mine]\napi = \"openai-chat\"\nbase_url = \"{}/v1\"\nkey_variable = \"MY_KEY\"\n\n\
         [models.\"mine/small\"]\nwindow = 32768\nmax_output = 4096\nprice = {{ input = 1.5, output = 2 }}\n",
        scene.server.url()
    );
    fs::write(config.join("models.toml"), text).unwrap();
    let umbo = &scene.umbo;
    let listed = umbo.call(["models", "mine", "--json"]).json();
    assert_eq!((&listed["window"], &listed["price"]["input"]), (&json!(32768), &json!(1.5)));
    umbo.call(["models", "--check", "mine/"]).stdout("mine/small  answers\n").run();
    let call = umbo.call(["agent", "--model", "mine/small", "-p", "hi"]);
    call.env("MY_KEY", "key-of-mine").stdout("hello\n").run();
    assert_eq!(scene.server.requests()[1].header("authorization"), Some("Bearer key-of-mine"));
    let check = umbo.call(["models", "--check", "mine/"]).answer();
    check.expect_status(1);
    fs::write(config.join("models.toml"), "[providers.x]\napi = \"soap\"\n").unwrap();
    let wrong = umbo.call(["models"]).refused();
    assert!(
        wrong.contains("providers.x.api: \"soap\" was given; accepted: anthropic, openai"),
        "{wrong}"
    );
}

#[test]
fn a_prompt_can_be_piped_in_and_a_session_goes_on() {
    let scene = Scene::new(vec![Reply::text("one"), Reply::text("two"), Reply::text("three")]);
    let model = CASES[2].model;
    scene.call(&["agent", "--model", model]).stdin(b"the first prompt\n").stdout("one\n").run();
    // Without a model, a session goes on with the one it had.
    scene.call(&["agent", "-c", "-p", "the second"]).stdout("two\n").run();
    let requests = scene.server.requests();
    assert!(requests[1].text.contains("the first prompt") && requests[1].text.contains("one"));
    let id = scene.call(&["sessions", "--json"]).json()["id"].as_str().unwrap().to_owned();
    let words = ["agent", "--resume", &id[..12], "--fork", "-p", "elsewhere"];
    scene.call(&words).stdout("three\n").run();
    assert_eq!(scene.call(&["sessions", "--json"]).json_lines().len(), 2);
    scene.check();
}

#[test]
fn a_session_that_another_process_works_on_is_not_touched() {
    let gate = Gate::new();
    let scene = Scene::with(
        ModelServer::scripted(vec![Reply::text("later").wait_after(0, &gate)]).unwrap(),
    );
    let first = scene.agent(CASES[0].model, &["--json"], "wait").spawn();
    assert!(scene.server.wait_for_requests(1, DEADLINE));
    let before = fs::read(scene.session_file()).unwrap();
    let refused = scene.call(&["agent", "-c", "-p", "me too"]).refused();
    assert!(refused.contains("in use by another process"), "{refused}");
    assert_eq!(fs::read(scene.session_file()).unwrap(), before);
    gate.open();
    first.answer().expect_status(0);
}
