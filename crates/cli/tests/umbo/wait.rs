//! `umbo wait`: until one thing is true, and it says which.

use std::fs;
use std::net::TcpListener;

use serde_json::json;

use crate::harness::Umbo;

#[test]
fn the_end_of_a_job_gives_its_exit_code() {
    let umbo = Umbo::new();
    let job = umbo.start("read x; exit 6");
    let waiting = umbo.call(["wait", &job]).spawn();
    umbo.call(["input", &job, "\n"]).run();
    let answer = waiting.answer();
    assert_eq!(answer.status, 6);
    assert_eq!(answer.text(), format!("{job} exit (exited 6)\n"));
    // Over already: the same at once.
    umbo.call(["wait", &job]).stdout(format!("{job} exit (exited 6)\n")).status(6).run();
    let killed = umbo.start("kill -9 $$");
    let said = format!("{killed} exit (signaled by signal 9)\n");
    umbo.call(["wait", &killed]).stdout(said).status(137).run();
}

#[test]
fn a_match_is_told_with_its_place() {
    let umbo = Umbo::new();
    let job = umbo.start("echo booting; read x; echo listening on 8080; $NAP");
    let waiting = umbo.call(["wait", &job, "--json", "--match", r"on (\d+)"]).spawn();
    umbo.call(["input", &job, "\n"]).run();
    let answer = waiting.answer();
    let met: serde_json::Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!(answer.status, 0);
    assert_eq!(met["reason"], "match");
    assert_eq!((&met["offset"], &met["text"]), (&json!(18), &json!("on 8080")));
    assert_eq!(met["state"], "started");
}

#[test]
fn a_match_counts_only_from_the_offset_on() {
    let umbo = Umbo::new();
    let job = umbo.start("echo ready; read x; echo ready; $NAP");
    umbo.wait_for(&job, "ready");
    let late = umbo.wait(&job, &["--match", "ready", "--from", "6", "--timeout", "0.1"]);
    assert_eq!(late["reason"], "timeout");
    umbo.call(["input", &job, "\n"]).run();
    let met = umbo.wait(&job, &["--match", "ready", "--from", "6"]);
    assert_eq!((&met["reason"], &met["offset"]), (&json!("match"), &json!(6)));
}

#[test]
fn a_match_across_two_writes_is_found() {
    let umbo = Umbo::new();
    let job = umbo.start("printf one; read x; printf two; $NAP");
    umbo.wait_for(&job, "one");
    let waiting = umbo.call(["wait", &job, "--match", "onetwo"]).spawn();
    umbo.call(["input", &job, "\n"]).run();
    assert_eq!(waiting.answer().status, 0);
}

#[test]
fn a_port_that_begins_to_accept_ends_the_wait() {
    let umbo = Umbo::new();
    let job = umbo.start("$NAP");
    // An address of this test alone: nobody else can be listening there.
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let address = format!("127.99.{}.{}:4567", own >> 8 & 0xff, own & 0xff);
    let waiting = umbo.call(["wait", &job, "--json", "--port", &address]).spawn();
    assert_eq!(
        umbo.wait(&job, &["--port", &address, "--timeout", "0.1"])["reason"],
        "timeout",
        "nobody listens yet"
    );
    let listener = TcpListener::bind(&address).unwrap();
    let answer = waiting.answer();
    let met: serde_json::Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!((answer.status, &met["reason"]), (0, &json!("port")));
    drop(listener);
}

#[test]
fn a_file_that_appears_ends_the_wait_even_in_a_directory_that_is_not_there_yet() {
    let umbo = Umbo::new();
    let job = umbo.start("read x; mkdir -p a/b; echo done >a/b/file; $NAP");
    let waiting = umbo.call(["wait", &job, "--json", "--file", "a/b/file"]).spawn();
    umbo.call(["input", &job, "\n"]).run();
    let answer = waiting.answer();
    let met: serde_json::Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!((answer.status, &met["reason"]), (0, &json!("file")));
    assert!(umbo.path().join("a/b/file").exists());
}

#[test]
fn silence_ends_the_wait() {
    let umbo = Umbo::new();
    let job = umbo.start("echo busy; $NAP");
    umbo.wait_for(&job, "busy");
    assert_eq!(umbo.wait(&job, &["--quiet", "100ms"])["reason"], "quiet");
    let talking = umbo.start("while :; do echo x; sleep 0.02; done");
    let met = umbo.wait(&talking, &["--quiet", "10", "--timeout", "0.3"]);
    assert_eq!(met["reason"], "timeout");
}

#[test]
fn a_deadline_gives_124() {
    let umbo = Umbo::new();
    let job = umbo.start("$NAP");
    let answer = umbo.call(["wait", &job, "--timeout", "50ms"]).answer();
    assert_eq!(answer.status, 124);
    assert_eq!(answer.text(), format!("{job} timeout (started)\n"));
}

#[test]
fn of_several_conditions_the_one_that_is_met_is_said() {
    let umbo = Umbo::new();
    fs::write(umbo.path().join("there"), "").unwrap();
    let never = ["--match", "never", "--file", "never", "--quiet", "20s", "--port", "127.0.0.1:1"];
    let job = umbo.start("echo hello; read x; exit 3");
    umbo.wait_for(&job, "hello");
    let with = |other: &[&str]| umbo.wait(&job, &[&never[..], other].concat())["reason"].clone();
    assert_eq!(with(&["--timeout", "0.05"]), "timeout");
    let met = umbo.wait(&job, &["--match", "hel+o", "--file", "never", "--quiet", "20s"]);
    assert_eq!(met["reason"], "match");
    assert_eq!(umbo.wait(&job, &["--match", "never", "--file", "there"])["reason"], "file");
    let waiting = umbo.call([&["wait", "--json", &job], &never[..]].concat()).spawn();
    umbo.call(["input", &job, "\n"]).run();
    let answer = waiting.answer();
    let met: serde_json::Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!(
        (answer.status, &met["reason"]),
        (3, &json!("exit")),
        "what was waited for cannot come"
    );
}

#[test]
fn a_job_that_ends_well_without_what_was_waited_for_is_a_failure() {
    let umbo = Umbo::new();
    let job = umbo.start("echo something else");
    let answer = umbo.call(["wait", &job, "--match", "ready"]).answer();
    assert_eq!(answer.status, 1);
    assert_eq!(answer.text(), format!("{job} exit (exited 0)\n"));
    // But what it wrote last counts, though it is over.
    umbo.outcome(&umbo.start("echo ready"));
    assert_eq!(umbo.call(["wait", "@last", "--match", "ready"]).answer().status, 0);
}

#[test]
fn several_jobs_are_all_waited_for_and_the_first_that_failed_is_told() {
    let umbo = Umbo::new();
    let first = umbo.start("read x; exit 1");
    let second = umbo.start("exit 2");
    let waiting = umbo.call(["wait", &first, &second]).spawn();
    umbo.call(["input", &first, "\n"]).run();
    let answer = waiting.answer();
    assert_eq!(answer.text(), format!("{first} exit (exited 1)\n{second} exit (exited 2)\n"));
    assert_eq!(answer.status, 1);
    let well = umbo.start("true");
    assert_eq!(umbo.call(["wait", &second, &well]).answer().status, 2);
}

#[test]
fn a_job_that_waits_for_its_turn_can_be_waited_for() {
    let umbo = Umbo::new();
    let first = umbo.start("read x");
    let second = umbo.call(["start", "echo mine"]).env("UMBO_MAX_RUNNING", "1").answer().text();
    let waiting = umbo.call(["wait", second.trim()]).spawn();
    umbo.call(["input", &first, "\n"]).run();
    assert_eq!(waiting.answer().status, 0);
}
