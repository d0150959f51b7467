//! P1: `kill -9` of any umbo process but the supervisor, at any instant, loses no job, no output
//! byte, no exit code; afterwards there is exactly one `exited` event.

use std::fs;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use super::{at_a_random_instant, ends, life_of, numbered, numbered_lines, random};
use crate::harness::{Umbo, dies, signal};
use crate::library::server;

/// Every job there is ended with its own code, all its bytes, and one event.
fn all_are_complete(umbo: &Umbo, lines: u32) -> usize {
    let jobs = umbo.jobs();
    for listed in &jobs {
        let job = listed["job"].as_str().unwrap();
        let code: i32 = listed["name"].as_str().unwrap().parse().unwrap();
        let outcome = umbo.outcome(job);
        assert_eq!((&outcome["state"], &outcome["code"]), (&json!("exited"), &json!(code)));
        assert_eq!(String::from_utf8(umbo.output(job)).unwrap(), numbered_lines(lines));
        assert_eq!(umbo.story(job), ["created", "started", "exited"]);
    }
    jobs.len()
}

#[test]
fn p01_clients_killed_at_random_instants_lose_nothing() {
    let umbo = Umbo::new();
    let (rounds, lines) = (60, 40);
    let mut span = life_of(&umbo, &["exec", "--name", "0", &numbered(lines, 0)]);
    let begun = || fs::read_dir(umbo.state().join("jobs")).unwrap().count();
    for round in 0..rounds {
        let before = begun();
        let verb = if round % 2 == 0 { "exec" } else { "start" };
        let (name, line) = (round.to_string(), numbered(lines, round));
        let client =
            umbo.call([verb, "--name", &name, &line]).env("UMBO_MAX_RUNNING", "100").spawn();
        at_a_random_instant(span);
        client.kill();
        // However busy the machine is, about half of them are killed before their job has begun.
        span = if begun() > before { span.mul_f64(0.8) } else { span.mul_f64(1.25) };
    }
    let there = all_are_complete(&umbo, lines);
    // Some were killed before they had said what to run; by far not all.
    assert!(there > 5, "{there} of {rounds} jobs were begun");
}

#[test]
fn p01_readers_killed_while_they_read_cost_the_job_nothing() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--name", "3"], &format!("read go; {}", numbered(20_000, 3)));
    let readers: Vec<_> = ["output", "wait", "output", "wait"]
        .iter()
        .map(|verb| match *verb {
            "output" => umbo.call(["output", &job, "--follow"]).spawn(),
            _ => umbo.call(["wait", &job, "--match", "line 19000"]).spawn(),
        })
        .collect();
    umbo.call(["input", &job, "\n"]).run();
    for reader in readers {
        at_a_random_instant(Duration::from_millis(20));
        reader.kill();
    }
    assert_eq!(all_are_complete(&umbo, 20_000), 1);
}

#[test]
fn p01_a_killed_server_loses_none_of_its_jobs() {
    let umbo = Umbo::new();
    let go = umbo.path().join("go");
    let count = 12;
    let lines: Vec<String> = (0..count)
        .map(|code| {
            format!("while ! test -e {}; do sleep 0.01; done; {}", go.display(), numbered(30, code))
        })
        .collect();
    let (mut child, ids) = server(&umbo, &lines.join("\n"));
    child.kill().unwrap();
    child.wait().unwrap();
    for id in &ids {
        assert_eq!(umbo.listed(id)["state"], "started", "its supervisor lives, and so does it");
    }
    std::fs::write(&go, "").unwrap();
    for (code, id) in ids.iter().enumerate() {
        assert_eq!(umbo.outcome(id)["code"], code);
        assert_eq!(String::from_utf8(umbo.output(id)).unwrap(), numbered_lines(30));
        assert_eq!(ends(&umbo, id), 1);
    }
    assert_eq!(ids.len(), lines.len());
}

#[test]
fn p01_a_killed_keeper_costs_the_job_nothing() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--name", "9"], &format!("read go; {}", numbered(100, 9)));
    let keeper = umbo.keeper(&job);
    signal(keeper, Signal::KILL);
    assert!(dies(keeper));
    assert_eq!(umbo.listed(&job)["state"], "started");
    umbo.call(["input", &job, "\n"]).run();
    assert_eq!(all_are_complete(&umbo, 100), 1);
}

#[test]
fn p01_a_stop_goes_on_though_whoever_asked_for_it_was_killed() {
    let umbo = Umbo::new();
    for _ in 0..5 {
        let job = umbo.start("trap 'echo term' TERM; $NAP & echo ready; while :; do wait; done");
        umbo.wait_for(&job, "ready");
        let client = umbo.call(["stop", &job, "--grace", "0.3"]).spawn();
        umbo.wait_for(&job, "term");
        client.kill();
        let outcome = umbo.outcome(&job);
        assert_eq!((&outcome["state"], &outcome["stage"]), (&json!("stopped"), &json!("kill")));
        assert_eq!(ends(&umbo, &job), 1);
        assert!(umbo.nappers().is_empty());
    }
}

#[test]
fn p01_a_session_survives_its_clients() {
    let umbo = Umbo::new();
    let span = life_of(&umbo, &["exec", "--session", "s", "n=0"]);
    let mut asked = 0;
    for _ in 0..12 {
        let client = umbo.call(["exec", "--session", "s", "n=$((n + 1))"]).spawn();
        at_a_random_instant(span);
        client.kill();
        asked += 1;
        if random(3) == 0 {
            umbo.call(["jobs"]).answer();
        }
    }
    let text = umbo.call(["exec", "--session", "s", "echo $n"]).answer().text();
    let counted: i32 = text.trim().parse().unwrap();
    let begun = i32::try_from(umbo.jobs().len()).unwrap() - 2;
    assert_eq!(counted, begun, "each command that was begun counted once ({asked} were asked for)");
}
