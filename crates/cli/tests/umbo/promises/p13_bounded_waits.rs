//! P13: every wait has a deadline that bounds the pipes as well as the process: after exit, drain to
//! the end or a short quiet, and say which.

use rustix::process::Signal;
use serde_json::json;

use crate::harness::{Umbo, dies, pid, signal};

#[test]
fn p13_a_grandchild_that_holds_the_pipe_does_not_hold_the_call() {
    let umbo = Umbo::new();
    let killed = umbo.exec_json(&[], "$NAP & echo out; exit 3");
    assert_eq!((&killed["exit_code"], &killed["stdout"]), (&json!(3), &json!("out\n")));
    assert_eq!(killed["drained"], "eof", "the one that held it was killed");
    let left = umbo.exec_json(&["--leaks", "leave"], "$NAP & echo out; exit 3");
    assert_eq!((&left["exit_code"], &left["stdout"]), (&json!(3), &json!("out\n")));
    assert_eq!(left["drained"], "quiet");
    let leak = pid(left["leaked"][0]["pid"].as_i64().unwrap());
    signal(leak, Signal::KILL);
    assert!(dies(leak));
    umbo.call(["prune", "--all"]).stdout("2 jobs deleted\n").run();
}

#[test]
fn p13_a_grandchild_that_never_stops_writing_is_cut_and_said() {
    let umbo = Umbo::new();
    let line = "(trap '' PIPE; while :; do echo x; sleep 0.005; done; $NAP) & exit 0";
    let left = umbo.exec_json(&["--leaks", "leave"], line);
    assert_eq!((&left["state"], &left["drained"]), (&json!("exited"), &json!("cut")));
    for leak in left["leaked"].as_array().unwrap() {
        let _ = rustix::process::kill_process(pid(leak["pid"].as_i64().unwrap()), Signal::KILL);
    }
    assert!(dies(pid(left["leaked"][0]["pid"].as_i64().unwrap())));
    umbo.call(["prune", "--all"]).stdout("1 jobs deleted\n").run();
}

#[test]
fn p13_a_timeout_bounds_the_pipes_too() {
    let umbo = Umbo::new();
    let answer = umbo.exec_json(&["--timeout", "0.2"], "setsid $NAP & $NAP");
    assert_eq!((&answer["state"], &answer["drained"]), (&json!("timed_out"), &json!("eof")));
    assert!(umbo.nappers().is_empty());
}

#[test]
fn p13_a_terminal_held_open_does_not_hold_the_call() {
    let umbo = Umbo::new();
    let answer = umbo.exec_json(&["--pty"], "setsid $NAP & echo out; exit 4");
    assert_eq!((&answer["exit_code"], &answer["stdout"]), (&json!(4), &json!("out\n")));
    assert!(umbo.nappers().is_empty());
}

#[test]
fn p13_what_comes_right_after_the_exit_is_still_read() {
    let umbo = Umbo::new();
    let answer = umbo.exec_json(&[], "(sleep 0.05; echo late) & echo early");
    assert_eq!(answer["stdout"], "early\nlate\n");
    assert_eq!(answer["leaked"], json!([]), "it ended by itself");
}
