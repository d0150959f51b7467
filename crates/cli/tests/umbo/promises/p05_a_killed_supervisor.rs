//! P5: `kill -9` of a supervisor: its tree is cleaned up, the job is `lost{supervisor_killed}`, and
//! its output up to then is kept.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::ends;
use crate::harness::{Umbo, dies, signal};
use crate::hostile::CORPUS;

/// The exit record as it lies on disk: no umbo is asked, for asking could repair.
fn record(umbo: &Umbo, job: &str) -> Value {
    serde_json::from_slice(&fs::read(umbo.job(job).join("outcome")).unwrap()).unwrap()
}

fn kill_supervisors(umbo: &Umbo) {
    for (name, line) in CORPUS {
        let job = umbo.start(line);
        umbo.wait_for(&job, "ready");
        let (supervisor, keeper) = (umbo.supervisor(&job), umbo.keeper(&job));
        signal(supervisor, Signal::KILL);
        assert!(dies(keeper), "{name}: the keeper cleans up and ends");
        assert!(umbo.nappers().is_empty(), "{name}: {:?} are left", umbo.nappers());
        let record = record(umbo, &job);
        assert_eq!(record["state"], "lost", "{name}: {record}");
        assert_eq!(record["reason"], "supervisor_killed", "{name}");
        assert!(record["contained_by"].is_string(), "{name}: {record}");
        let text = String::from_utf8(umbo.output(&job)).unwrap();
        assert!(text.contains("ready\n"), "{name}: what it wrote is kept: {text:?}");
        assert_eq!(ends(umbo, &job), 1, "{name}");
    }
    umbo.exec("echo later jobs are fine").stdout("later jobs are fine\n").run();
}

#[test]
fn p05_its_keeper_alone_ends_the_tree_with_a_control_group() {
    kill_supervisors(&Umbo::new());
}

#[test]
fn p05_its_keeper_alone_ends_the_tree_without_a_control_group() {
    kill_supervisors(&Umbo::unprivileged());
}

#[test]
fn p05_with_the_keeper_killed_too_the_next_look_cleans_up() {
    for umbo in [Umbo::new(), Umbo::unprivileged()] {
        let job = umbo.start("setsid $NAP & setsid $NAP & echo ready; wait");
        umbo.wait_for(&job, "ready");
        let (supervisor, keeper) = (umbo.supervisor(&job), umbo.keeper(&job));
        signal(keeper, Signal::KILL);
        assert!(dies(keeper));
        signal(supervisor, Signal::KILL);
        assert!(dies(supervisor));
        umbo.wait_nappers(2); // Nobody is there who could have ended them.
        assert_eq!(umbo.listed(&job)["state"], "lost");
        assert!(umbo.nappers().is_empty());
        let record = record(&umbo, &job);
        assert!(["cgroup", "tag"].contains(&record["contained_by"].as_str().unwrap()), "{record}");
        assert_eq!(ends(&umbo, &job), 1);
    }
}

#[test]
fn p05_whoever_waits_hears_of_it() {
    let umbo = Umbo::new();
    let mut exec = umbo.exec("echo ready; $NAP").spawn();
    assert_eq!(exec.line(), "ready\n");
    let job = umbo.jobs()[0]["job"].as_str().unwrap().to_owned();
    let waiting = umbo.call(["wait", &job, "--json"]).spawn();
    let following = umbo.call(["output", &job, "--follow"]).spawn();
    signal(umbo.supervisor(&job), Signal::KILL);
    let answer = exec.answer();
    assert_eq!(answer.status, 125, "{answer:?}");
    assert!(answer.said().contains("lost: supervisor_killed"), "{answer:?}");
    let answer = waiting.answer();
    let met: Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!((answer.status, &met["state"]), (125, &json!("lost")));
    assert_eq!(following.answer().text(), "ready\n");
}

#[test]
fn p05_killed_at_every_named_point_it_leaves_the_truth() {
    let umbo = Umbo::new();
    for point in [
        "after_record",
        "after_fork",
        "after_start",
        "after_append",
        "after_exit",
        "before_outcome",
    ] {
        let answer = umbo
            .call(["exec", "--name", point, "setsid $NAP & echo out; exit 3"])
            .env("UMBO_FAILPOINT", point)
            .answer();
        assert_eq!(answer.status, 125, "{point}: {answer:?}");
        let outcome = umbo.outcome(umbo.listed_by_name(point).as_str());
        assert_eq!(
            (&outcome["state"], &outcome["reason"]),
            (&json!("lost"), &json!("supervisor_killed")),
            "{point}"
        );
        assert_eq!(ends(&umbo, outcome["job"].as_str().unwrap()), 1, "{point}");
        assert!(umbo.nappers().is_empty(), "{point}");
    }
}
