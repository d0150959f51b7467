//! `umbo prune`: ended jobs leave the disk.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use serde_json::json;

use crate::harness::{Umbo, dies, is_alive, pid, signal};

#[test]
fn what_has_ended_goes_and_what_runs_stays() {
    let umbo = Umbo::new();
    let ended = umbo.start("echo bye");
    umbo.outcome(&ended);
    let running = umbo.start("$NAP");
    assert_eq!(umbo.call(["prune", "--older-than", "1h", "--json"]).json(), json!({"removed": []}));
    assert_eq!(umbo.call(["prune", "--all", "--json"]).json(), json!({"removed": [ended]}));
    assert!(!umbo.job(&ended).exists());
    let left: Vec<_> = umbo.jobs().iter().map(|job| job["job"].clone()).collect();
    assert_eq!(left, [json!(running)]);
    assert!(umbo.call(["output", &ended]).refused().contains("no job"));
    assert_eq!(umbo.story(&ended), ["created", "started", "exited", "removed"]);
}

#[test]
fn two_prunes_at_once_delete_each_job_once() {
    let umbo = Umbo::new();
    for _ in 0..30 {
        umbo.exec("true").run();
    }
    let prunes: Vec<_> = (0..4).map(|_| umbo.call(["prune", "--all", "--json"]).spawn()).collect();
    let removed: usize = prunes
        .into_iter()
        .map(|prune| {
            let answer = prune.answer();
            assert_eq!(answer.status, 0, "{answer:?}");
            let said: serde_json::Value = serde_json::from_slice(&answer.stdout).unwrap();
            said["removed"].as_array().unwrap().len()
        })
        .sum();
    assert_eq!(removed, 30);
    assert_eq!(umbo.events(0).iter().filter(|event| event["kind"] == "removed").count(), 30);
}

#[test]
fn the_oldest_leave_by_themselves_when_there_are_too_many() {
    let umbo = Umbo::new();
    let engine = umbo.library().retention(5, u64::MAX).open().unwrap();
    for _ in 0..12 {
        umbo.exec("true").run();
    }
    let ids: Vec<String> =
        umbo.jobs().iter().map(|job| job["job"].as_str().unwrap().to_owned()).collect();
    assert_eq!(engine.prune(None).unwrap().len(), 7);
    let left: Vec<String> =
        umbo.jobs().iter().map(|job| job["job"].as_str().unwrap().to_owned()).collect();
    assert_eq!(left, ids[7..]);
    let engine = umbo.library().retention(100, 0).open().unwrap();
    assert_eq!(engine.prune(None).unwrap().len(), 5, "no byte may be kept");
    umbo.exec("true").run();
    let kept = umbo.library().retention_age(Some(Duration::from_hours(1))).open().unwrap();
    assert!(kept.prune(None).unwrap().is_empty());
    let engine = umbo.library().retention_age(Some(Duration::ZERO)).open().unwrap();
    assert_eq!(engine.prune(None).unwrap().len(), 1, "nothing is young enough");
}

#[test]
fn a_control_group_that_was_left_with_its_leak_goes_with_the_job() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--leaks", "leave"], "setsid $NAP & exit 0");
    let outcome = umbo.outcome(&job);
    let leak = pid(outcome["leaked"][0]["pid"].as_i64().unwrap());
    rustix::process::kill_process(leak, rustix::process::Signal::KILL).unwrap();
    assert!(dies(leak));
    let group = umbo.control_group(&job);
    umbo.call(["prune", "--all"]).stdout("1 jobs deleted\n").run();
    assert!(fs::read_dir(umbo.state().join("jobs")).unwrap().next().is_none());
    assert!(group.is_none_or(|group| !group.exists()));
}

/// Starts a job that leaves a process alive in all the groups it has; the job and that process.
fn leave_somebody(umbo: &Umbo) -> (String, Pid) {
    let bounds = ["--leaks", "leave", "--memory", "100M", "--pids", "50"];
    let job = umbo.start_with(&bounds, "setsid $NAP & exit 0");
    let outcome = umbo.outcome(&job);
    (job, pid(outcome["leaked"][0]["pid"].as_i64().unwrap()))
}

#[test]
fn groups_of_a_deleted_job_go_once_the_last_process_in_them_has_ended() {
    let umbo = Umbo::new();
    let (_, leak) = leave_somebody(&umbo);
    umbo.call(["prune", "--all"]).stdout("1 jobs deleted\n").run();
    assert!(is_alive(leak), "it was left alive on purpose");
    assert!(!umbo.control_groups().is_empty(), "and so were its groups");
    signal(leak, Signal::KILL);
    assert!(dies(leak));
    umbo.call(["prune", "--all"]).stdout("0 jobs deleted\n").run();
    assert_eq!(umbo.control_groups(), [] as [std::path::PathBuf; 0]);
    assert!(fs::read_dir(umbo.state().join("spares")).unwrap().next().is_none());
}

#[test]
fn groups_of_a_job_that_stays_on_disk_go_too() {
    let umbo = Umbo::new();
    let (job, leak) = leave_somebody(&umbo);
    signal(leak, Signal::KILL);
    assert!(dies(leak));
    umbo.call(["prune", "--older-than", "1h"]).stdout("0 jobs deleted\n").run();
    assert_eq!(umbo.control_groups(), [] as [std::path::PathBuf; 0]);
    assert!(umbo.job(&job).exists());
}

#[test]
fn deleting_waits_for_a_process_that_is_just_about_to_end() {
    let umbo = Umbo::new();
    let line = "(read x <go; sleep 0.1) & (read x <go; sleep 0.2) & exit 0";
    rustix::fs::mknodat(
        rustix::fs::CWD,
        umbo.path().join("go"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let job = umbo.start_with(&["--leaks", "leave"], line);
    assert_eq!(umbo.outcome(&job)["leaked"].as_array().unwrap().len(), 2);
    let go = fs::OpenOptions::new().read(true).write(true).open(umbo.path().join("go")).unwrap();
    std::io::Write::write_all(&mut &go, b"1\n2\n").unwrap();
    umbo.call(["prune", "--all"]).stdout("1 jobs deleted\n").run();
    assert_eq!(umbo.control_groups(), [] as [std::path::PathBuf; 0]);
}

#[test]
fn a_place_that_could_not_be_prepared_leaves_nothing() {
    let umbo = Umbo::new();
    umbo.exec("true").run();
    let events = umbo.state().join("events");
    fs::remove_file(&events).unwrap();
    fs::create_dir(&events).unwrap();
    let said = umbo.exec("true").refused();
    assert!(said.contains("cannot prepare a job"), "{said}");
    assert!(fs::read_dir(umbo.state().join("spares")).unwrap().next().is_none());
    assert_eq!(umbo.control_groups(), [] as [std::path::PathBuf; 0]);
    fs::remove_dir(&events).unwrap();
}

#[test]
fn the_last_days_stay_unless_all_is_said_and_a_dry_run_deletes_nothing() {
    let umbo = Umbo::new();
    let (fresh, old) = (umbo.start("echo fresh"), umbo.start("echo old"));
    for job in [&fresh, &old] {
        umbo.outcome(job);
    }
    // As if it had ended four days ago.
    let record = umbo.job(&old).join("outcome");
    let mut outcome: serde_json::Value =
        serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    let ended = outcome["ended_at"].as_u64().unwrap() - 4 * 86_400 * 1_000_000;
    outcome["ended_at"] = json!(ended);
    fs::write(&record, outcome.to_string()).unwrap();
    let plan = umbo.call(["prune", "--dry-run"]).answer();
    assert_eq!(
        (plan.text(), plan.said()),
        (format!("{old}\n"), "1 jobs would be deleted\n".into())
    );
    assert_eq!(
        umbo.call(["prune", "--json", "-n", "-a"]).json()["removed"].as_array().unwrap().len(),
        2
    );
    assert_eq!(umbo.jobs().len(), 2, "nothing was deleted yet");
    umbo.call(["prune"]).stdout("1 jobs deleted\n").run();
    assert!(umbo.job(&fresh).exists() && !umbo.job(&old).exists());
    umbo.call(["prune", "--all"]).stdout("1 jobs deleted\n").run();
}
