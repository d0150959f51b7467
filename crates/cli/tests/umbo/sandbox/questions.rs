//! A yes in the middle: a call is held while somebody is asked, and goes on or fails. The command never runs
//! twice.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use umbo_engine::sandbox::{Asked, Decision, Grant, Operation, Plan, Profile, Question, Rung};
use umbo_engine::{Attached, End, Heard, Outcome};

use super::{Machine, Who, Yard, ask, every_rung};
use crate::harness::PATIENCE;

fn plan(yard: &Yard, rung: Rung) -> Plan {
    Plan { ask: Some(ask(60_000)), rungs: vec![rung], ..yard.plan(Profile::Workspace) }
}

fn question(attached: &mut Attached) -> Question {
    match attached.hear(Some(PATIENCE)).unwrap() {
        Heard::Asked(question) => question,
        other => panic!("{other:?}"),
    }
}

fn end(attached: &mut Attached) -> Outcome {
    match attached.hear(Some(PATIENCE)).unwrap() {
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
    let limit = Duration::from_millis(700);
    request.limits.wall = Some(limit);
    request.limits.idle = Some(limit);
    let mut attached = yard.umbo.engine().spawn(&request).unwrap();
    let asked = question(&mut attached);
    // Longer than the limit: that it has passed is what is waited for.
    let before = Instant::now();
    while before.elapsed() < limit * 2 {
        assert!(matches!(attached.hear(Some(limit)).unwrap(), Heard::Nothing));
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
    let deadline = Instant::now() + PATIENCE;
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
    job.wait(&[greeting], Some(PATIENCE)).unwrap();
    assert!(fs::read_to_string(job.output_path()).unwrap().contains("hello"));
    job.stop(umbo_engine::Ladder::KILL).unwrap();
}
