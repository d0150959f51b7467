//! A yes in the middle: a call is held while somebody is asked, and goes on or fails. The command never runs
//! twice.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use umbo_engine::sandbox::{Asked, Decision, Grant, Operation, Plan, Profile, Question, Rung};
use umbo_engine::{Attached, End, Heard, Outcome};

use super::{Machine, Who, Yard, ask, every_rung};
use crate::gate::person;
use crate::harness::TIMEOUT;
use crate::mcp::Client;

fn plan(yard: &Yard, rung: Rung) -> Plan {
    Plan { ask: Some(ask(60_000)), rungs: vec![rung], ..yard.plan(Profile::Workspace) }
}

fn question(attached: &mut Attached) -> Question {
    match attached.hear(Some(TIMEOUT)).unwrap() {
        Heard::Asked(question) => question,
        other => panic!("{other:?}"),
    }
}

fn end(attached: &mut Attached) -> Outcome {
    match attached.hear(Some(TIMEOUT)).unwrap() {
        Heard::Ended(outcome) => *outcome,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_yes_lets_just_that_call_go_on() {
    for rung in every_rung() {
        let yard = Yard::new(Who::Tester, Machine::Usual);
        let target = yard.path("outside/new");
        let line =
            format!("echo run >> runs; umask 027; echo yes > {} && echo written", target.display());
        let mut attached =
            yard.umbo.engine().spawn(&yard.request(plan(&yard, rung), &line)).unwrap();
        let asked = question(&mut attached);
        assert_eq!(
            (asked.operation, asked.target.as_str()),
            (Operation::Create, target.to_str().unwrap())
        );
        assert!(asked.program.contains("sh -c") && asked.left_ms > 0, "{asked:?}");
        assert_eq!(asked.grants.first(), Some(&Grant::Once), "the smallest is proposed first");
        assert!(!target.exists(), "it waits");
        assert_eq!(attached.job().questions().unwrap().len(), 1);
        attached.job().decide(asked.number, Decision::Allow(Grant::Once)).unwrap();
        let outcome = end(&mut attached);
        assert!(outcome.success() && outcome.denied.is_empty(), "{rung:?} {outcome:?}");
        assert_eq!(fs::read_to_string(&target).unwrap(), "yes\n");
        assert_eq!(
            fs::metadata(&target).unwrap().permissions().mode() & 0o777,
            0o640,
            "its own umask"
        );
        assert_eq!(
            fs::read_to_string(yard.project().join("runs")).unwrap(),
            "run\n",
            "it ran once"
        );
    }
}

#[test]
fn a_no_fails_the_call_and_is_told() {
    for rung in every_rung() {
        let yard = Yard::new(Who::Tester, Machine::Usual);
        let target = yard.path("outside/file");
        let line = format!("echo x > {} || echo refused; echo more > own", target.display());
        let mut attached =
            yard.umbo.engine().spawn(&yard.request(plan(&yard, rung), &line)).unwrap();
        let asked = question(&mut attached);
        assert_eq!(asked.operation, Operation::Write);
        attached.job().decide(asked.number, Decision::Deny).unwrap();
        let outcome = end(&mut attached);
        assert_eq!(outcome.denied[0].asked, Some(Asked::Refused));
        assert_eq!(fs::read_to_string(target).unwrap(), "original");
        assert!(yard.project().join("own").exists(), "and it went on");
        let error = attached.job().decide(asked.number, Decision::Deny).unwrap_err();
        assert!(
            error.to_string().contains("ended") || error.to_string().contains("over"),
            "{error}"
        );
    }
}

#[test]
fn nobody_there_is_a_no_after_the_deadline_and_is_said() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    let line = format!("echo x > {}", yard.path("outside/file").display());
    let plan = Plan { ask: Some(ask(200)), ..yard.plan(Profile::Workspace) };
    let (_, outcome) = yard.umbo.engine().run(&yard.request(plan, &line)).unwrap();
    assert_eq!(outcome.denied[0].asked, Some(Asked::Unanswered), "{outcome:?}");
    assert_ne!(outcome.exit_code(), Some(0));
}

#[test]
fn a_directory_that_was_granted_is_asked_about_once() {
    for rung in every_rung() {
        let yard = Yard::new(Who::Tester, Machine::Usual);
        let there = yard.path("outside");
        let line = format!(
            "cd {}; echo 1 > a; mkdir b; echo 2 > b/c; mv a d; chmod 600 d; rm b/c; rmdir b; ls",
            there.display()
        );
        let mut attached =
            yard.umbo.engine().spawn(&yard.request(plan(&yard, rung), &line)).unwrap();
        let asked = question(&mut attached);
        let grant = asked.grants.last().unwrap().clone();
        assert_eq!(grant, Grant::Directory(there.clone()));
        attached.job().decide(asked.number, Decision::Allow(grant)).unwrap();
        let outcome = end(&mut attached);
        assert!(outcome.success() && outcome.denied.is_empty(), "{rung:?} {outcome:?}");
        assert_eq!(fs::read_to_string(there.join("d")).unwrap(), "1\n");
        assert_eq!(fs::read_dir(there).unwrap().count(), 3);
    }
}

#[test]
fn the_time_of_an_answer_does_not_count() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    let line = format!("echo x > {}", yard.path("outside/file").display());
    let mut request = yard.request(plan(&yard, Rung::Namespaces), &line);
    let limit = Duration::from_secs(2);
    request.limits.wall = Some(limit);
    request.limits.idle = Some(limit);
    let mut attached = yard.umbo.engine().spawn(&request).unwrap();
    let asked = question(&mut attached);
    // Longer than the limit: that it has passed is what is waited for.
    let before = Instant::now();
    while before.elapsed() < limit + Duration::from_millis(100) {
        let heard = attached.hear(Some(Duration::from_millis(100))).unwrap();
        assert!(matches!(heard, Heard::Nothing));
    }
    attached.job().decide(asked.number, Decision::Allow(Grant::Once)).unwrap();
    assert_eq!(end(&mut attached).end, End::Exited { code: 0 });
}

#[test]
fn a_process_that_is_killed_while_somebody_is_asked_does_nothing() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    let target = yard.path("outside/new");
    let line = format!("timeout -s KILL 0.3 sh -c 'echo x > {}'; echo after", target.display());
    let request = yard.request(plan(&yard, Rung::Namespaces), &line);
    let mut attached = yard.umbo.engine().spawn(&request).unwrap();
    let asked = question(&mut attached);
    let outcome = end(&mut attached);
    assert!(outcome.denied.is_empty(), "{outcome:?}");
    assert!(attached.job().decide(asked.number, Decision::Allow(Grant::Once)).is_err());
    assert!(!target.exists());
}

#[test]
fn a_storm_of_processes_that_ask_is_one_question_and_holds_nobody_else() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    let target = yard.path("outside/file");
    let line = format!(
        "for i in $(seq 200); do (echo $i >> {}) & done; echo free > own; wait",
        target.display()
    );
    let mut request = yard.request(plan(&yard, Rung::Namespaces), &line);
    request.limits.processes = Some(400);
    let mut attached = yard.umbo.engine().spawn(&request).unwrap();
    let asked = question(&mut attached);
    let own = yard.project().join("own");
    let deadline = Instant::now() + TIMEOUT;
    while !own.exists() {
        assert!(Instant::now() < deadline, "others are held too");
        std::thread::yield_now();
    }
    assert_eq!(attached.job().questions().unwrap().len(), 1);
    let grant = Grant::Path(target.clone());
    attached.job().decide(asked.number, Decision::Allow(grant)).unwrap();
    let outcome = end(&mut attached);
    assert!(outcome.success(), "{outcome:?}");
    let text = fs::read_to_string(target).unwrap();
    assert_eq!(text.lines().count(), 200, "each wrote once");
}

#[test]
fn a_host_is_asked_about_and_reached_after_a_yes() {
    use std::io::Write;
    let yard = Yard::new(Who::Tester, Machine::Usual);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let _ = client.write_all(b"hello\n");
        }
    });
    let mut plan = Plan { ask: Some(ask(60_000)), ..yard.plan(Profile::WorkspaceNet) };
    plan.network = umbo_engine::sandbox::Network::Hosts(vec!["example.com".parse().unwrap()]);
    let line = format!(
        "bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; printf \"CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n\" >&3; cat <&3'"
    );
    let mut attached = yard.umbo.engine().spawn(&yard.request(plan, &line)).unwrap();
    let asked = question(&mut attached);
    assert_eq!((asked.operation, asked.target), (Operation::Connect, format!("127.0.0.1:{port}")));
    attached.job().decide(asked.number, Decision::Allow(Grant::Once)).unwrap();
    // The server keeps the connection open: its greeting is what is waited for.
    let job = attached.job().clone();
    let greeting = umbo_engine::Condition::Match {
        pattern: regex::bytes::Regex::new("hello").unwrap(),
        from: 0,
    };
    job.wait(&[greeting], Some(TIMEOUT)).unwrap();
    assert!(fs::read_to_string(job.output_path()).unwrap().contains("hello"));
    job.stop(umbo_engine::Ladder::KILL).unwrap();
}

/// A command that asks, in a sandbox of the settings, and the id under which its call is held.
fn held_call(yard: &Yard, line: &str) -> (String, String) {
    yard.configure(
        "config.toml",
        "exec.sandbox = 'workspace'\n[sandbox]\nask = 'all'\nask_secs = 60\n",
    );
    let started = yard.umbo.call(["start", line]).current_dir(&yard.project()).answer();
    let job = started.text().trim().to_owned();
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let listed = yard.umbo.call(["approvals", "--json"]).current_dir(&yard.project()).json();
        if let Some(held) = listed.as_array().and_then(|list| list.first()) {
            assert_eq!(held["state"], "held", "{listed}");
            return (job, held["id"].as_str().unwrap().to_owned());
        }
        assert!(Instant::now() < deadline, "no call is held");
    }
}

#[test]
fn a_held_call_is_listed_and_answered_by_a_person_at_a_terminal() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    let line = "echo a > ../outside/a && echo b > ../outside/a && cat ../outside/a";
    let (job, id) = held_call(&yard, line);
    let said = person(&yard.umbo, &yard.project(), &["approve", &id, "--for", "run"], "y\n");
    assert!(said.status.success(), "{said:?}");
    let shown = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(shown.contains("create") && shown.contains("outside/a"), "{shown}");
    let outcome = yard.umbo.outcome(&job);
    assert_eq!((&outcome["code"], &outcome["denied"]), (&0.into(), &serde_json::Value::Null));
    assert_eq!(fs::read_to_string(yard.path("outside/a")).unwrap(), "b\n");
    let audit = yard.umbo.call(["audit", "show", "--json"]).current_dir(&yard.project()).answer();
    assert!(audit.text().contains("allow create"), "{audit:?}");
}

#[test]
fn what_is_allowed_always_is_kept_and_asked_about_no_more() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    let (job, id) = held_call(&yard, "echo a > ../outside/dir/a");
    let words = ["approve", &id, "--for", "always", "--prefix"];
    let said = person(&yard.umbo, &yard.project(), &words, "y\n");
    assert!(said.status.success(), "{said:?}");
    yard.umbo.outcome(&job);
    let settings = fs::read_to_string(yard.path("home/.config/umbo/config.toml")).unwrap();
    assert!(settings.contains("allow_write") && settings.contains("outside/dir"), "{settings}");
    let again =
        yard.umbo.call(["exec", "--json", "echo b > ../outside/dir/b; cat ../outside/dir/b"]);
    let again = again.current_dir(&yard.project()).json();
    assert_eq!((&again["stdout"], &again["exit_code"]), (&"b\n".into(), &0.into()), "{again}");
}

#[test]
fn a_person_denies_a_held_call() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    let (job, id) = held_call(&yard, "echo a > ../outside/a");
    let said = person(&yard.umbo, &yard.project(), &["deny", &id], "");
    assert!(said.status.success(), "{said:?}");
    let outcome = yard.umbo.outcome(&job);
    assert_eq!(outcome["denied"][0]["asked"], "refused", "{outcome}");
    assert!(!yard.path("outside/a").exists());
}

#[test]
fn a_host_that_is_granted_for_the_run_is_asked_about_once() {
    use std::io::{Read, Write};
    let yard = Yard::new(Who::Tester, Machine::Usual);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let _ = client.read(&mut [0; 1024]);
            let _ = client.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nhi\n",
            );
        }
    });
    let mut plan = Plan { ask: Some(ask(60_000)), ..yard.plan(Profile::WorkspaceNet) };
    plan.network = umbo_engine::sandbox::Network::Hosts(vec!["example.com".parse().unwrap()]);
    let one = format!(
        "exec 3<>/dev/tcp/127.0.0.1/3128; printf \"GET http://127.0.0.1:{port}/ HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n\" >&3; cat <&3"
    );
    let line = format!("bash -c 'for i in 1 2 3; do {one}; done'");
    let mut attached = yard.umbo.engine().spawn(&yard.request(plan, &line)).unwrap();
    let asked = question(&mut attached);
    let host = Grant::Host("127.0.0.1".to_owned());
    assert!(asked.grants.contains(&host), "{asked:?}");
    attached.job().decide(asked.number, Decision::Allow(host)).unwrap();
    let outcome = end(&mut attached);
    assert_eq!(outcome.end, End::Exited { code: 0 }, "{outcome:?}");
    assert_eq!(outcome.sandbox.unwrap().requests[0].count, 3);
}

#[test]
fn the_person_before_a_client_answers_for_a_held_call() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    yard.configure("config.toml", "[sandbox]\nask = 'writes'\nask_secs = 60\n");
    let mut call = yard.umbo.call(["mcp"]).current_dir(&yard.project()).into_command();
    let mut client = Client::of(&mut call);
    client.initialize_with("2025-11-25", &serde_json::json!({"elicitation": {}}));
    for (decision, is_written) in [("0", true), ("deny", false)] {
        let line = format!("echo run >> runs; python3 -c \"open('../outside/{decision}', 'w')\"");
        let id = client.ask_tool("exec", &serde_json::json!({"command": line}));
        let form = client.hear("elicitation/create");
        let message = form["params"]["message"].as_str().unwrap();
        assert!(message.contains("May a command create this?"), "{message}");
        assert!(message.contains(&format!("outside/{decision}")), "{message}");
        let result = serde_json::json!({"action": "accept", "content": {"decision": decision}});
        client.send(&serde_json::json!({"jsonrpc": "2.0", "id": form["id"], "result": result}));
        let answer = client.answer(id)["result"]["structuredContent"].clone();
        assert_eq!(answer["denied"].is_null(), is_written, "{answer}");
        assert_eq!(yard.path("outside").join(decision).exists(), is_written);
    }
    assert_eq!(
        fs::read_to_string(yard.project().join("runs")).unwrap(),
        "run\nrun\n",
        "never twice"
    );
}
