//! P6: bytes are in the log before any reader sees them; a torn tail is repaired and said.

use std::fs;
use std::io::Write;

use rustix::process::Signal;

use super::{numbered, plant, random};
use crate::harness::{Umbo, signal};

#[test]
fn p06_what_a_reader_saw_is_in_the_log_whenever_the_supervisor_dies() {
    let umbo = Umbo::new();
    for round in 0..15 {
        let mut reader = umbo.exec(&numbered(100_000, 0)).spawn();
        let mut seen = String::new();
        for _ in 0..=random(200) {
            seen.push_str(&reader.line());
        }
        let job = umbo.jobs().last().unwrap()["job"].as_str().unwrap().to_owned();
        let _ = rustix::process::kill_process(umbo.supervisor(&job), Signal::KILL);
        let answer = reader.answer();
        seen.push_str(&answer.text());
        let log = umbo.output(&job);
        assert!(
            log.starts_with(seen.as_bytes()),
            "round {round}: a byte was seen that is not kept"
        );
        assert_eq!(umbo.wait(&job, &[])["reason"], "exit");
    }
}

#[test]
fn p06_a_torn_index_is_repaired_and_said_at_every_byte() {
    let umbo = Umbo::new();
    for torn in 1..24_u8 {
        let id = format!("01k00000000000000000000{torn:03}");
        plant(&umbo, &id, |_| {});
        let mut index =
            fs::OpenOptions::new().append(true).open(umbo.job(&id).join("index")).unwrap();
        index.write_all(&vec![torn; usize::from(torn)]).unwrap();
        assert_eq!(umbo.listed(&id)["state"], "lost");
        let outcome = umbo.record(&id, "outcome");
        assert!(outcome["notes"][0].as_str().unwrap().contains("torn"), "{outcome}");
        umbo.call(["output", &id, "--stream", "stdout"]).stdout("kept\n").run();
        assert_eq!(fs::metadata(umbo.job(&id).join("index")).unwrap().len() % 24, 0);
    }
}

#[test]
fn p06_an_index_cut_at_any_byte_loses_nothing_of_the_output() {
    let umbo = Umbo::new();
    let job = umbo.start("echo one; read x; echo two >&2");
    umbo.wait_for(&job, "one");
    umbo.call(["input", &job, "\n"]).run();
    umbo.outcome(&job);
    let path = umbo.job(&job).join("index");
    let whole = fs::read(&path).unwrap();
    assert_eq!(whole.len(), 3 * 24);
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        umbo.call(["output", &job, "--raw"]).stdout("one\ntwo\n").run();
        if length >= 48 {
            let out = if length < 72 { "one\ntwo\n" } else { "one\n" };
            umbo.call(["output", &job, "--stream", "stdout"]).stdout(out).run();
        }
    }
}

#[test]
fn p06_a_job_is_readable_after_its_supervisor_was_killed() {
    let umbo = Umbo::new();
    let job = umbo.start("echo out; echo err >&2; $NAP");
    umbo.wait_for(&job, "out");
    umbo.wait_for(&job, "err");
    signal(umbo.supervisor(&job), Signal::KILL);
    umbo.outcome(&job);
    umbo.call(["output", &job, "--stream", "stderr"]).stdout("err\n").run();
    umbo.call(["output", &job, "--stream", "stdout"]).stdout("out\n").run();
}
