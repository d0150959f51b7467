//! P11: it starts from any wreck: truncated, empty, garbage files, stale socket, full disk, read-only
//! directory.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use umbo_engine::{Condition, Followed, Met, Request, Stdin};

use super::{copy, ends, numbered_lines};
use crate::disk::Disk;
use crate::harness::{Answer, TIMEOUT, Umbo, dies, signal};

/// The ways a file can be ruined.
const RUINS: &[&str] = &["empty", "half", "garbage", "zeros", "missing", "a directory"];

fn ruin(path: &Path, how: &str) {
    let bytes = fs::read(path).unwrap_or_default();
    match how {
        "empty" => fs::write(path, "").unwrap(),
        "half" => fs::write(path, &bytes[..bytes.len() / 2]).unwrap(),
        "garbage" => fs::write(path, b"\xff\xfe{]garbage\n\0\n".repeat(20)).unwrap(),
        "zeros" => fs::write(path, vec![0; bytes.len().max(64)]).unwrap(),
        _ => {
            let _ = fs::remove_file(path);
            if how == "a directory" {
                fs::create_dir(path).unwrap();
            }
        }
    }
}

#[track_caller]
fn is_sane(answer: &Answer, what: &str) {
    assert!((0..=125).contains(&answer.status), "{what}: {answer:?}");
    let said = String::from_utf8_lossy(&answer.stderr);
    assert!(!said.contains("panicked"), "{what}: {answer:?}");
}

/// Everything can still be asked, and a new job runs.
fn works_on(umbo: &Umbo, job: &str, what: &str) {
    let jobs = umbo.call(["jobs", "--all", "--json"]).answer();
    assert_eq!(jobs.status, 0, "{what}: {jobs:?}");
    let listed: serde_json::Value = serde_json::from_slice(&jobs.stdout).unwrap();
    let listed = listed["jobs"].as_array().unwrap();
    assert!(listed.iter().any(|listed| listed["job"] == job), "{what}: it is still listed");
    for words in [
        &["output", job][..],
        &["output", job, "--stream", "stderr", "--json"],
        &["wait", job, "--timeout", "2"],
        &["stop", job],
        &["screen", job],
        &["input", job, "x"],
        &["events"],
    ] {
        is_sane(&umbo.call(words).answer(), &format!("{what}: {words:?}"));
    }
    umbo.exec("echo fine").stdout("fine\n").run();
}

#[test]
fn p11_no_ruined_file_of_an_ended_job_stops_anything() {
    // Many short calls, one after the other.
    let umbo = Umbo::with_deadline(Duration::from_secs(100));
    let job = umbo.start("echo out; echo err >&2; exit 3");
    umbo.outcome(&job);
    let whole = umbo.path().join("whole");
    copy(&umbo.job(&job), &whole);
    for file in ["request", "output", "index", "outcome", "lock", "gap", "groups"] {
        for how in RUINS {
            ruin(&umbo.job(&job).join(file), how);
            works_on(&umbo, &job, &format!("{file} {how}"));
            fs::remove_dir_all(umbo.job(&job)).unwrap();
            copy(&whole, &umbo.job(&job));
        }
    }
    assert_eq!(umbo.listed(&job)["exit_code"], 3);
}

#[test]
fn p11_a_damaged_exit_record_is_called_damaged_and_kept() {
    let umbo = Umbo::new();
    for how in RUINS.iter().filter(|how| **how != "missing") {
        let job = umbo.start("exit 3");
        umbo.outcome(&job);
        ruin(&umbo.job(&job).join("outcome"), how);
        assert_eq!(umbo.listed(&job)["state"], "lost", "{how}");
        let ended = umbo.stop(&job, &[]);
        assert_eq!(ended["reason"], "damaged", "{how}: {ended}");
        assert!(ended["notes"][0].as_str().unwrap().contains("outcome.damaged"), "{how}: {ended}");
        assert!(umbo.job(&job).join("outcome.damaged").exists(), "{how}");
    }
}

#[test]
fn p11_no_ruined_file_of_a_lost_job_stops_anything() {
    // Many short calls, one after the other.
    let umbo = Umbo::with_deadline(Duration::from_secs(100));
    let job = umbo.start("echo out; $NAP");
    umbo.wait_for(&job, "out");
    let whole = umbo.path().join("whole");
    copy(&umbo.job(&job), &whole);
    let (supervisor, keeper) = (umbo.supervisor(&job), umbo.keeper(&job));
    for pid in [keeper, supervisor] {
        signal(pid, Signal::KILL);
        assert!(dies(pid));
    }
    for file in ["request", "output", "index", "lock", "outcome.new", "groups"] {
        for how in RUINS {
            fs::remove_dir_all(umbo.job(&job)).unwrap();
            copy(&whole, &umbo.job(&job));
            ruin(&umbo.job(&job).join(file), how);
            let state = umbo.listed(&job)["state"].clone();
            assert_eq!(state, "lost", "{file} {how}");
            works_on(&umbo, &job, &format!("{file} {how}"));
        }
    }
}

#[test]
fn p11_a_ruined_state_around_the_jobs_stops_nothing() {
    // Many short calls, one after the other.
    let umbo = Umbo::with_deadline(Duration::from_secs(100));
    let job = umbo.start_with(&["--idempotency-key", "k", "--session", "s"], "echo out");
    umbo.outcome(&job);
    let engine = umbo.engine();
    engine.drain_completed("consumer", None).unwrap();
    for file in ["events", "slots/0", "cursors/consumer", "sessions/s/state.sh"] {
        for how in ["empty", "half", "garbage", "zeros", "missing"] {
            ruin(&umbo.state().join(file), how);
            works_on(&umbo, &job, &format!("{file} {how}"));
            let drained = engine.drain_completed("consumer", None);
            assert!(drained.is_ok(), "{file} {how}: {drained:?}");
            let answer = umbo.call(["exec", "--session", "s", "echo in session"]).answer();
            assert_eq!(answer.text(), "in session\n", "{file} {how}: {answer:?}");
        }
    }
    for directory in ["jobs", "spares", "keys", "slots", "sessions", "cursors"] {
        fs::remove_dir_all(umbo.state().join(directory)).unwrap();
        umbo.exec("echo fine").stdout("fine\n").run();
    }
}

#[test]
fn p11_strange_things_among_the_jobs_are_no_jobs() {
    let umbo = Umbo::new();
    let jobs = umbo.state().join("jobs");
    umbo.exec("true").run();
    fs::write(jobs.join("a file"), "").unwrap();
    fs::create_dir(jobs.join("a directory")).unwrap();
    fs::write(jobs.join("01k0000000000000000000000c"), "a file with the name of a job").unwrap();
    fs::create_dir(jobs.join("01k0000000000000000000000d")).unwrap();
    std::os::unix::fs::symlink("/nowhere", jobs.join("01k0000000000000000000000e")).unwrap();
    let answer = umbo.call(["jobs", "--all", "--json"]).answer();
    assert_eq!(answer.status, 0, "{answer:?}");
    for words in [&["prune", "--all"][..], &["events"], &["output", "@last"], &["jobs"]] {
        is_sane(&umbo.call(words).answer(), &format!("{words:?}"));
    }
    umbo.exec("echo fine").stdout("fine\n").run();
}

#[test]
fn p11_a_stale_socket_is_nobody() {
    let umbo = Umbo::new();
    let job = umbo.start("exit 3");
    umbo.outcome(&job);
    drop(UnixListener::bind(umbo.job(&job).join("sock")).unwrap());
    assert!(umbo.call(["input", &job, "x"]).refused().contains("has ended"));
    assert_eq!(umbo.call(["wait", &job]).answer().status, 3);
    assert_eq!(umbo.stop(&job, &[])["exit_code"], 3);
    assert_eq!(ends(&umbo, &job), 1);
}

#[test]
fn p11_garbage_over_the_socket_does_not_harm_the_job() {
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    let umbo = Umbo::new();
    let job = umbo.start("read x; echo got $x");
    for garbage in [
        &b"\xff\xff\xff\xff\xff\xff\xff\xff"[..],
        b"GET / HTTP/1.1\r\n\r\n",
        b"",
        b"\x02\0\0\0\0\0\0\0{}",
    ] {
        let mut stream = UnixStream::connect(umbo.job(&job).join("sock")).unwrap();
        let _ = stream.write_all(garbage);
    }
    umbo.call(["input", &job, "it\n"]).run();
    assert_eq!(umbo.outcome(&job)["code"], 0);
    assert_eq!(umbo.output(&job), b"got it\n");
}

#[test]
fn p11_a_read_only_state_can_be_read_and_says_why_it_cannot_be_written() {
    let umbo = Umbo::unprivileged();
    let job = umbo.start("echo out; exit 3");
    umbo.outcome(&job);
    let close = |mode: u32| {
        let places = ["", "jobs", "spares", "keys", "slots", "sessions", "cursors"];
        let paths = places.iter().map(|place| umbo.state().join(place));
        for path in paths.chain([umbo.job(&job), umbo.state().join("events")]) {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    close(0o555);
    assert_eq!(umbo.jobs()[0]["exit_code"], 3);
    umbo.call(["output", &job]).stdout("out\n").run();
    assert_eq!(umbo.call(["wait", &job]).answer().status, 3);
    let said = umbo.exec("true").refused();
    assert!(said.contains("Permission denied") && said.contains("state"), "{said}");
    let kinds = umbo.story(&job);
    assert_eq!(kinds, ["created", "started", "exited"], "events can be read");
    let said = umbo.call(["prune", "--all"]).refused();
    assert!(said.contains("cannot delete") && said.contains("Permission denied"), "{said}");
    close(0o755);
    umbo.exec("echo fine").stdout("fine\n").run();
}

#[test]
fn p11_on_a_full_disk_a_job_waits_and_loses_no_byte() {
    let disk = Disk::new("4m");
    let umbo = Umbo::at(disk.state());
    let job = umbo.start("echo ready; read go; n=0; while [ $n -lt 100000 ]; do n=$((n + 1)); echo line $n; done; exit 3");
    umbo.wait_for(&job, "ready");
    disk.fill_but(0);
    umbo.call(["input", &job, "\n"]).run();
    assert_eq!(umbo.wait(&job, &["--quiet", "0.5", "--timeout", "20"])["reason"], "quiet");
    assert_eq!(umbo.listed(&job)["state"], "started", "it waits for room");
    disk.free();
    let outcome = umbo.outcome(&job);
    assert_eq!((&outcome["state"], &outcome["code"]), (&json!("exited"), &json!(3)));
    let text = String::from_utf8(umbo.output(&job)).unwrap();
    assert_eq!(text, format!("ready\n{}", numbered_lines(100_000)));
    assert!(outcome["notes"][0].as_str().unwrap().contains("disk was full"), "{outcome}");
    assert_eq!(ends(&umbo, &job), 1);
}

#[test]
fn p11_a_full_disk_tears_neither_index_nor_streams() {
    let disk = Disk::new("4m");
    let umbo = Umbo::at(disk.state());
    let engine = umbo.engine();
    let mut request = Request::shell("while read x; do printf o; printf e >&2; done", "/");
    request.stdin = Stdin::Open;
    let job = engine.start(&request).unwrap();
    let mut follower = job.follow(0).unwrap();
    let mut step = |timeout: Duration| -> usize {
        job.input(b"\n").unwrap();
        let mut got = 0;
        while got < 2 {
            match follower.next(Some(timeout)).unwrap() {
                Followed::Bytes { bytes, .. } => got += bytes.len(),
                Followed::Nothing => break,
                other => panic!("{other:?}"),
            }
        }
        got
    };
    // Each step adds two records of 24 bytes: with the 85th one crosses the end of a page.
    for _ in 0..60 {
        assert_eq!(step(TIMEOUT), 2);
    }
    disk.fill_but(0);
    let mut steps = 60;
    while step(Duration::from_millis(500)) == 2 {
        steps += 1;
        assert!(steps < 100, "the disk is full and nothing waits");
    }
    disk.free();
    for _ in steps + 1..100 {
        job.input(b"\n").unwrap();
    }
    job.end_input().unwrap();
    assert_eq!(job.wait(&[Condition::Exit], Some(TIMEOUT)).unwrap(), Met::Exit);
    let id = job.id().as_str();
    umbo.call(["output", id, "--stream", "stdout"]).stdout("o".repeat(100)).run();
    umbo.call(["output", id, "--stream", "stderr"]).stdout("e".repeat(100)).run();
}

#[test]
fn p11_a_full_disk_costs_no_end_in_the_journal() {
    let disk = Disk::new("4m");
    let umbo = Umbo::at(disk.state());
    // The next two events of the job lie on two pages: the first one fits, the second does not.
    for _ in 0..9 {
        umbo.exec("true").run();
    }
    let job = umbo.start("printf a; read x; printf b; exit 3");
    let engine = umbo.engine();
    engine.wait_event_after("output", 27, TIMEOUT).unwrap().unwrap();
    assert_eq!(fs::metadata(umbo.state().join("events")).unwrap().len(), 31 * 128);
    disk.fill_but(0);
    umbo.call(["input", &job, "\n"]).run();
    assert_eq!(umbo.call(["wait", &job]).answer().status, 3);
    disk.free();
    assert_eq!(umbo.jobs().last().unwrap()["exit_code"], 3);
    assert_eq!(ends(&umbo, &job), 1);
    assert_eq!(umbo.output(&job), b"ab");
}

#[test]
fn p11_a_job_that_cannot_be_made_on_a_full_disk_is_an_error() {
    let disk = Disk::new("1m");
    let umbo = Umbo::at(disk.state());
    umbo.exec("true").run();
    disk.fill_but(0);
    for verb in ["exec", "start"] {
        let answer = umbo.call([verb, "echo hi"]).answer();
        assert!([0, 125].contains(&answer.status), "{answer:?}");
    }
    is_sane(&umbo.call(["jobs"]).answer(), "jobs");
    is_sane(&umbo.call(["events"]).answer(), "events");
    disk.free();
    umbo.exec("echo fine").stdout("fine\n").run();
}

#[test]
fn p11_a_stalled_job_can_be_stopped() {
    let disk = Disk::new("2m");
    let umbo = Umbo::at(disk.state());
    let job = umbo.start("echo ready; read go; yes");
    umbo.wait_for(&job, "ready");
    disk.fill_but(0);
    umbo.call(["input", &job, "\n"]).run();
    assert_eq!(umbo.wait(&job, &["--quiet", "0.5", "--timeout", "20"])["reason"], "quiet");
    let ended = umbo.stop(&job, &["--grace", "0.2"]);
    assert_eq!((&ended["state"], &ended["drained"]), (&json!("stopped"), &json!("cut")));
    disk.free();
}
