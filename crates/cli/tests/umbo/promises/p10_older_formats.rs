//! P10: a newer umbo adopts an older umbo's running jobs: versioned files, and one fixture per
//! released format, kept for ever.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{copy, ends};
use crate::harness::{UMBO, Umbo};

fn fixture(format: &str) -> Umbo {
    let umbo = Umbo::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(format);
    copy(&from, umbo.state());
    // A key is a link to nowhere, which not every copy of a repository keeps; the fixture has a
    // file with its target instead.
    for key in fs::read_dir(umbo.state().join("keys")).unwrap() {
        let key = key.unwrap().path();
        let job = fs::read_to_string(&key).unwrap();
        fs::remove_file(&key).unwrap();
        symlink(job, key).unwrap();
    }
    umbo
}

#[test]
fn p10_every_job_of_format_1_is_read_as_it_was() {
    let umbo = fixture("state-v1");
    let state = |name: &str| {
        let jobs = umbo.jobs();
        let job = jobs.iter().find(|job| job["name"] == name).unwrap().clone();
        (job["state"].clone(), job["exit_code"].clone(), job["signal"].clone())
    };
    assert_eq!(umbo.jobs().len(), 10);
    assert_eq!(state("streams"), (json!("exited"), json!(3), json!(null)));
    assert_eq!(state("signaled"), (json!("signaled"), json!(null), json!(9)));
    assert_eq!(state("late"), (json!("timed_out"), json!(null), json!(15)));
    assert_eq!(state("stopped"), (json!("stopped"), json!(null), json!(15)));
    assert_eq!(state("never"), (json!("failed_to_start"), json!(null), json!(null)));
    assert_eq!(state("running"), (json!("lost"), json!(null), json!(null)));
    assert_eq!(umbo.stop("running", &[])["reason"], "reboot");
    assert_eq!(umbo.stop("late", &[])["limit"], "wall");
    assert_eq!(umbo.stop("leak", &[])["leaked"][0]["fate"], "killed");
}

#[test]
fn p10_every_byte_and_event_of_format_1_is_there() {
    let umbo = fixture("state-v1");
    umbo.call(["output", "streams"]).stdout("out one\nerr two\nout three\n").run();
    umbo.call(["output", "streams", "--stream", "stderr"]).stdout("err two\n").run();
    umbo.call(["output", "running"]).stdout("still here\n").run();
    let gap = umbo.call(["output", "gap"]).answer();
    assert!(gap.text().starts_with("000\n") && gap.text().ends_with("999\n"), "{gap:?}");
    assert!(gap.said().contains("3000 bytes were not kept (offsets 500 to 3500)"), "{gap:?}");
    let screen = umbo.call(["screen", "screen", "--json"]).json();
    assert_eq!((&screen["columns"], &screen["rows"]), (&json!(30), &json!(5)));
    assert_eq!(screen["lines"][2], "    drawn");
    let job = umbo.listed_by_name("streams");
    assert_eq!(umbo.story(&job), ["created", "started", "exited"]);
    assert_eq!(ends(&umbo, &umbo.listed_by_name("running")), 1);
}

#[test]
fn p10_sessions_and_keys_of_format_1_still_hold() {
    let umbo = fixture("state-v1");
    umbo.call(["exec", "--session", "s", "pwd; echo $KEPT; say it"])
        .stdout("/usr\nyes\nsaid it\n")
        .run();
    let line = "echo out one; read x; echo err two >&2; read x; echo out three; exit 3";
    let again = umbo
        .call(["start", "--idempotency-key", "key-1", line])
        .current_dir(Path::new("/"))
        .answer();
    assert_eq!(again.text().trim(), umbo.listed_by_name("streams"), "{again:?}");
}

#[test]
fn p10_a_record_with_words_of_the_future_is_still_read() {
    let umbo = Umbo::new();
    let job = umbo.start("echo out; exit 3");
    umbo.outcome(&job);
    for file in ["request", "outcome"] {
        let path = umbo.job(&job).join(file);
        let text = fs::read_to_string(&path).unwrap();
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        let mut record: serde_json::Value = serde_json::from_str(first).unwrap();
        record["from_the_future"] = json!({"more": [1, 2]});
        fs::write(path, format!("{record}\n{rest}")).unwrap();
    }
    let listed = umbo.listed(&job);
    assert_eq!((&listed["exit_code"], &listed["command"]), (&json!(3), &json!("echo out; exit 3")));
}

#[test]
fn p10_running_jobs_survive_the_replacement_of_the_binary() {
    let umbo = Umbo::new();
    let old: PathBuf = umbo.path().join("old-umbo");
    fs::copy(UMBO, &old).unwrap();
    let start = std::process::Command::new(&old)
        .args(["start", "--pty", "echo up; read x; echo got $x; exit 5"])
        .env("UMBO_STATE_DIR", umbo.state())
        .output()
        .unwrap();
    let job = String::from_utf8(start.stdout).unwrap().trim().to_owned();
    // An update: the old binary is gone, and something else has its name.
    fs::remove_file(&old).unwrap();
    fs::write(&old, "#!/bin/sh\nexit 99\n").unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o755)).unwrap();
    umbo.wait_for(&job, "up");
    assert_eq!(umbo.listed(&job)["state"], "started");
    umbo.call(["input", &job, "it", "--key", "enter"]).run();
    assert_eq!(umbo.outcome(&job)["code"], 5);
    assert!(String::from_utf8(umbo.output(&job)).unwrap().contains("got it"));
}
