//! The examples run, and print what they say.

use std::process::Command;

use crate::harness::{Place, example};

fn run(name: &str) -> String {
    let place = Place::new();
    let output = Command::new(example(name)).arg(place.state()).output().unwrap();
    assert!(output.status.success(), "{name}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn one_command_prints_what_the_command_printed() {
    let text = run("one_command");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["hello from /", "stderr: oh"], "{text}");
    assert!(lines[2].starts_with("code Some(0) after"), "{text}");
    assert!(lines[3].contains("exited with code") && lines[3].contains("/no/such/place"), "{text}");
}

#[test]
fn a_background_job_is_waited_for_talked_to_and_stopped() {
    let text = run("background_job");
    let expected = "ready: true\nlistening\nyou said hello\nstopped, nothing left: true\n";
    assert_eq!(text, expected);
}

#[cfg(feature = "tokio")]
#[test]
fn async_run_runs_streams_and_gives_up() {
    let text = run("async_run");
    assert_eq!(text, "one and other\nfirst\nsecond\ngiven up: true\n");
}
