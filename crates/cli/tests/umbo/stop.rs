//! `umbo stop`: the whole tree, to the last process.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{Umbo, dies, signal};

#[test]
fn term_is_enough_for_a_job_that_listens() {
    let umbo = Umbo::new();
    let job = umbo.start("trap 'echo bye; exit 3' TERM; echo ready; $NAP & wait");
    umbo.wait_for(&job, "ready");
    let ended = umbo.stop(&job, &[]);
    assert_eq!((&ended["state"], &ended["stage"]), (&json!("stopped"), &json!("term")));
    assert_eq!((&ended["stopped_by"], &ended["exit_code"]), (&json!("request"), &json!(3)));
    assert_eq!(ended["effects"], "complete");
    assert_eq!(umbo.output(&job), b"ready\nbye\n", "what it wrote last is kept");
    assert!(umbo.nappers().is_empty());
}

#[test]
fn kill_comes_after_the_grace() {
    let umbo = Umbo::new();
    let job = umbo.start("trap '' TERM INT; echo ready; while :; do $NAP; done");
    umbo.wait_for(&job, "ready");
    let ended = umbo.stop(&job, &["--grace", "0.1"]);
    assert_eq!((&ended["state"], &ended["stage"]), (&json!("stopped"), &json!("kill")));
    assert_eq!((&ended["signal"], &ended["effects"]), (&json!(9), &json!("unknown")));
    assert!(umbo.nappers().is_empty());
}

#[test]
fn int_comes_first_when_asked_for() {
    let umbo = Umbo::new();
    let job = umbo.start("trap 'kill $child; exit 4' INT; $NAP & child=$!; echo ready; wait");
    umbo.wait_for(&job, "ready");
    let ended = umbo.stop(&job, &["--interrupt", "10"]);
    assert_eq!((&ended["stage"], &ended["exit_code"]), (&json!("int"), &json!(4)));
}

#[test]
fn all_three_stages_are_climbed() {
    let umbo = Umbo::new();
    let line =
        "trap 'echo int' INT; trap 'echo term' TERM; $NAP & echo ready; while :; do wait; done";
    let job = umbo.start(line);
    umbo.wait_for(&job, "ready");
    let ended = umbo.stop(&job, &["--interrupt", "1", "--grace", "1"]);
    assert_eq!((&ended["stage"], &ended["signal"]), (&json!("kill"), &json!(9)));
    let text = String::from_utf8(umbo.output(&job)).unwrap();
    assert!(text.contains("int\n") && text.contains("term\n"), "{text}");
    assert!(text.find("int") < text.find("term"), "{text}");
}

#[test]
fn a_second_stop_hastens_the_first() {
    let umbo = Umbo::new();
    let job = umbo.start("trap 'echo term' TERM; $NAP & echo ready; while :; do wait; done");
    umbo.wait_for(&job, "ready");
    let patient = umbo.call(["stop", &job, "--grace", "1h"]).spawn();
    umbo.wait_for(&job, "term");
    let ended = umbo.stop(&job, &["--kill"]);
    assert_eq!(ended["stage"], "kill");
    assert_eq!(patient.answer().status, 0);
}

#[test]
fn several_are_stopped_side_by_side() {
    let umbo = Umbo::new();
    let jobs: Vec<String> = (0..3).map(|_| umbo.start("$NAP")).collect();
    let words: Vec<&str> = jobs.iter().map(String::as_str).collect();
    let answer = umbo.call([&["stop"], &words[..]].concat()).answer();
    assert_eq!(answer.status, 0);
    assert_eq!(answer.text().lines().filter(|line| line.contains("nothing left, by ")).count(), 3);
    assert!(umbo.nappers().is_empty());
}

#[test]
fn a_job_that_does_not_exist_keeps_none_of_the_others_running() {
    let umbo = Umbo::new();
    let job = umbo.start("$NAP");
    let answer = umbo.call(["stop", "nope", &job]).answer();
    assert_eq!(answer.status, 125);
    assert!(String::from_utf8_lossy(&answer.stderr).contains("nope"), "{answer:?}");
    assert!(answer.text().starts_with(&format!("{job} stopped: nothing left")), "{answer:?}");
    assert!(umbo.nappers().is_empty());
    let job = umbo.start("$NAP");
    let answer = umbo.call(["stop", "--json", &job, "nope"]).answer();
    assert_eq!(answer.status, 125);
    let told: Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!((&told["stopped"][0]["job"], &told["stopped"][1]), (&json!(job), &Value::Null));
    assert_eq!((&told["failed"][0]["job"], &told["failed"][1]), (&json!("nope"), &Value::Null));
    assert_eq!(told["failed"][0]["code"], "unknown_job");
}

#[test]
fn a_job_that_is_over_answers_with_how_it_ended() {
    let umbo = Umbo::new();
    let job = umbo.start("exit 3");
    umbo.outcome(&job);
    umbo.call(["stop", &job]).stdout(format!("{job} had ended (exited 3)\n")).run();
    assert_eq!(umbo.stop(&job, &[])["exit_code"], 3);
}

#[test]
fn a_job_in_the_queue_is_stopped_without_ever_running() {
    let umbo = Umbo::new();
    umbo.start("$NAP");
    let job = umbo.call(["start", "touch ran"]).env("UMBO_MAX_RUNNING", "1").answer().text();
    let ended = umbo.stop(job.trim(), &[]);
    assert_eq!((&ended["state"], &ended["exit_code"]), (&json!("stopped"), &json!(null)));
    assert_eq!(ended["started_at"], json!(null));
    assert!(!umbo.path().join("ran").exists());
    assert_eq!(umbo.story(job.trim()), ["created", "exited"]);
}

#[test]
fn a_signal_to_the_supervisor_stops_its_job_in_order() {
    let umbo = Umbo::new();
    let job = umbo.start("trap 'echo bye; exit 0' TERM; echo ready; $NAP & wait");
    umbo.wait_for(&job, "ready");
    signal(umbo.supervisor(&job), Signal::TERM);
    let outcome = umbo.outcome(&job);
    assert_eq!((&outcome["state"], &outcome["by"]), (&json!("stopped"), &json!("signal")));
    assert_eq!(umbo.output(&job), b"ready\nbye\n");
}

#[test]
fn a_supervisor_that_hangs_is_named_and_the_wait_is_bounded() {
    let umbo = Umbo::new();
    let job = umbo.start("$NAP");
    let supervisor = umbo.supervisor(&job);
    let hung = umbo.hang(&[supervisor]);
    let said = umbo.call(["stop", &job, "--grace", "1h"]).refused();
    assert!(said.contains("did not answer within 5 s"), "{said}");
    assert!(said.contains(&format!("umbo stop --kill {job}")), "{said}");
    drop(hung);
    umbo.stop(&job, &["--kill"]);
    assert!(dies(supervisor));
}

#[test]
fn a_job_whose_supervisor_hangs_is_ended_from_outside() {
    for umbo in [Umbo::new(), Umbo::unprivileged()] {
        let job = umbo.start("env -i setsid $NAP & setsid $NAP & echo ready; $NAP");
        umbo.wait_for(&job, "ready");
        umbo.wait_nappers(3);
        let _hung = umbo.hang(&[umbo.supervisor(&job)]);
        let ended = umbo.stop(&job, &["--kill"]);
        assert_eq!(
            (&ended["state"], &ended["reason"]),
            (&json!("lost"), &json!("supervisor_killed"))
        );
        assert!(ended["contained_by"].is_string(), "{ended}");
        assert!(umbo.nappers().is_empty());
        assert_eq!(umbo.story(&job), ["created", "started", "exited"]);
    }
}

#[test]
fn a_job_whose_supervisor_and_keeper_hang_is_ended_from_outside() {
    for umbo in [Umbo::new(), Umbo::unprivileged()] {
        let job = umbo.start("env -i setsid $NAP & setsid $NAP & echo ready; $NAP");
        umbo.wait_for(&job, "ready");
        umbo.wait_nappers(3);
        let (supervisor, keeper) = (umbo.supervisor(&job), umbo.keeper(&job));
        let _hung = umbo.hang(&[supervisor, keeper]);
        // Its graces are over by the time that it is clear that nobody answers.
        let ended = umbo.stop(&job, &["--grace", "1"]);
        assert_eq!(ended["state"], "lost", "{ended}");
        assert!(umbo.nappers().is_empty());
        assert_eq!(umbo.story(&job), ["created", "started", "exited"]);
        for pid in [supervisor, keeper] {
            assert!(dies(pid));
        }
    }
}

#[test]
fn a_supervisor_and_keeper_that_were_stopped_are_woken_by_a_stop() {
    let umbo = Umbo::new();
    let job = umbo.start("trap 'echo bye; exit 3' TERM; echo ready; $NAP & wait");
    umbo.wait_for(&job, "ready");
    for pid in [umbo.keeper(&job), umbo.supervisor(&job)] {
        signal(pid, Signal::STOP);
    }
    let ended = umbo.stop(&job, &[]);
    assert_eq!((&ended["state"], &ended["exit_code"]), (&json!("stopped"), &json!(3)), "{ended}");
    assert_eq!(umbo.output(&job), b"ready\nbye\n");
}

#[test]
fn a_crowd_at_a_hanging_supervisor_does_not_make_waits_endless() {
    let umbo = Umbo::new();
    let job = umbo.start("$NAP");
    let _hung = umbo.hang(&[umbo.supervisor(&job)]);
    // More connections than its door holds: the next one finds no place to stand.
    let crowd: Vec<_> =
        (0..80).map(|_| umbo.call(["wait", &job, "--timeout", "1"]).spawn()).collect();
    for client in crowd {
        assert_eq!(client.answer().status, 124);
    }
}
