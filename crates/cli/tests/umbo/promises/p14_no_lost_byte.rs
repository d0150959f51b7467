//! P14: no output is lost in many short commands: one byte, stderr only, no newline included.

use std::fs;
use std::time::Duration;

use umbo_engine::{Request, Stream, Warmth};

use crate::harness::Umbo;

/// A command, what it writes to each stream, and its exit code.
const SHORT: &[(&str, &str, &str, i32)] = &[
    ("printf x", "x", "", 0),
    ("printf y >&2", "", "y", 0),
    ("echo line; exit 3", "line\n", "", 3),
    ("printf a; printf b >&2; exit 255", "a", "b", 255),
    ("true", "", "", 0),
    ("printf '%0500d' 7", "", "", 0),
];

#[test]
fn p14_two_thousand_short_commands_lose_nothing() {
    let umbo = Umbo::with_deadline(Duration::from_secs(90));
    let engine = umbo.library().warmth(Warmth::Warm).open().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (engine, umbo) = (&engine, &umbo);
            scope.spawn(move || {
                for round in 0..1000 {
                    let (line, out, err, code) = SHORT[(round + thread) % SHORT.len()];
                    let (job, outcome) = engine.run(&Request::shell(line, umbo.path())).unwrap();
                    assert_eq!(outcome.exit_code(), Some(code), "{line}: {outcome:?}");
                    let bytes = fs::read(job.output_path()).unwrap();
                    if line.contains("%0500d") {
                        assert_eq!(bytes.len(), 500);
                        continue;
                    }
                    let log = job.log().unwrap();
                    let of = |stream: Stream| -> Vec<u8> {
                        let mut follower = job.follow(0).unwrap();
                        let mut kept = Vec::new();
                        while let umbo_engine::Followed::Bytes { stream: from, bytes, .. } =
                            follower.next(Some(Duration::ZERO)).unwrap()
                        {
                            if from == stream {
                                kept.extend(bytes);
                            }
                        }
                        kept
                    };
                    assert_eq!(log.length().unwrap(), bytes.len() as u64);
                    assert_eq!(of(Stream::Stdout), out.as_bytes(), "{line}, round {round}");
                    assert_eq!(of(Stream::Stderr), err.as_bytes(), "{line}, round {round}");
                }
            });
        }
    });
}

#[test]
fn p14_a_burst_through_the_command_line_loses_nothing() {
    let umbo = Umbo::new();
    for round in 0..60 {
        let (line, out, err, code) = SHORT[round % 5];
        umbo.exec(line).stdout(out).stderr(err).status(code).run();
    }
}
