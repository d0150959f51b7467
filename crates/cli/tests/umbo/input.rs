//! `umbo input`: typing into a job.

use serde_json::json;

use crate::harness::Umbo;

#[test]
fn text_and_end_of_file_reach_a_pipe() {
    let umbo = Umbo::new();
    let job = umbo.start("cat; echo end");
    umbo.call(["input", &job, "one\n"]).run();
    let sent = umbo.call(["input", &job, "--json", "two\n", "--eof"]).json();
    // It may be over when its state is asked for, which is then said.
    let is_over = sent["state"] == "exited";
    let expected = json!({
        "job": job,
        "bytes": 4,
        "eof": true,
        "state": if is_over { "exited" } else { "started" },
        "exit_code": is_over.then_some(0),
        "output": null,
        "next_offset": null,
    });
    assert_eq!(sent, expected);
    assert_eq!(umbo.outcome(&job)["code"], 0);
    assert_eq!(umbo.output(&job), b"one\ntwo\nend\n");
}

#[test]
fn named_keys_reach_a_terminal_as_their_bytes() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--pty"], "stty raw -echo; echo ready; head -c 13 | od -An -tx1");
    umbo.wait_for(&job, "ready");
    let keys = ["up", "ctrl-a", "f5", "enter", "alt-x", "escape"];
    let mut words = vec!["input", &job];
    for key in keys {
        words.extend(["--key", key]);
    }
    umbo.call(words).run();
    umbo.outcome(&job);
    let text = String::from_utf8(umbo.output(&job)).unwrap();
    let bytes = "1b 5b 41 01 1b 5b 31 35 7e 0d 1b 78 1b";
    assert!(text.contains(bytes), "{text}");
}

#[test]
fn text_comes_before_keys() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--pty"], "read line; echo \"got $line\"");
    umbo.call(["input", &job, "hello", "--key", "enter"]).run();
    umbo.outcome(&job);
    assert!(String::from_utf8(umbo.output(&job)).unwrap().ends_with("got hello\r\n"));
}

#[test]
fn ctrl_c_at_a_terminal_interrupts_the_foreground() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--pty"], "trap 'echo caught; exit 3' INT; echo ready; $NAP");
    umbo.wait_for(&job, "ready");
    umbo.call(["input", &job, "--key", "ctrl-c"]).run();
    let outcome = umbo.outcome(&job);
    assert_eq!((&outcome["state"], &outcome["code"]), (&json!("exited"), &json!(3)));
}

#[test]
fn end_of_file_at_a_terminal_is_ctrl_d() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--pty"], "cat; echo end");
    umbo.call(["input", &job, "x\n", "--eof"]).run();
    assert_eq!(umbo.outcome(&job)["code"], 0);
    assert!(umbo.output(&job).ends_with(b"end\r\n"));
}

#[test]
fn a_new_size_reaches_the_program_in_the_terminal() {
    let umbo = Umbo::new();
    let line = "trap 'stty size' WINCH; $NAP & echo ready; while :; do wait; done";
    let job = umbo.start_with(&["--pty", "--size", "80x24"], line);
    umbo.wait_for(&job, "ready");
    umbo.call(["input", &job, "--resize", "132x43"]).run();
    umbo.wait_for(&job, "43 132");
    assert_eq!(umbo.call(["screen", &job, "--json"]).json()["columns"], 132);
}

#[test]
fn more_than_a_pipe_holds_is_taken_and_delivered() {
    let umbo = Umbo::new();
    let job = umbo.start("read go; wc -c");
    let text = "x".repeat(100_000);
    umbo.call(["input", &job, "\n"]).run();
    for _ in 0..20 {
        umbo.call(["input", &job, &text]).run();
    }
    umbo.call(["input", &job, "--eof"]).run();
    umbo.outcome(&job);
    assert_eq!(String::from_utf8(umbo.output(&job)).unwrap().trim(), "2000000");
}

#[test]
fn what_cannot_be_sent_is_refused_with_the_reason() {
    let umbo = Umbo::new();
    let closed = umbo.start_with(&["--stdin", ""], "$NAP");
    let refused = |words: &[&str]| umbo.call([&["input"], words].concat()).refused();
    assert!(refused(&[&closed, "x"]).contains("no open standard input"));
    assert!(refused(&[&closed, "--resize", "80x24"]).contains("no terminal"));
    assert!(refused(&[&closed]).contains("nothing to send"));
    assert!(refused(&[&closed, "--key", "hyper-x"]).contains("hyper-x"));
    assert!(refused(&[&closed, "--resize", "0x0"]).contains("is no size"));
    let eof = umbo.start("$NAP");
    umbo.call(["input", &eof, "--eof"]).run();
    assert!(refused(&[&eof, "x"]).contains("no open standard input"));
    umbo.stop(&eof, &["--kill"]);
    assert!(refused(&[&eof, "x"]).contains("has ended"));
}

#[test]
fn what_is_typed_into_a_program_that_only_reads_is_data() {
    let umbo = Umbo::new();
    let typed = |line: &str, text: &str| {
        let job = umbo.start_with(&["--mode", "open"], line);
        let answer = umbo.call(["input", "--mode", "guard", &job, text]).answer();
        umbo.stop(&job, &["--kill"]);
        answer.status
    };
    for line in ["read x; echo got $x", "cat", "while read x; do echo \"$x\"; done", "head -n 3"] {
        assert_eq!(typed(line, "rm -rf ~\n"), 0, "{line}");
    }
    for line in [
        "bash",
        "sh",
        "read x; eval \"$x\"",
        "read x; $x",
        "cat | sh",
        "cat() { eval \"$(read x; echo $x)\"; }; cat",
        "python3 -c 'import os; os.system(input())'",
        "xargs -I{} sh -c {}",
    ] {
        assert_ne!(typed(line, "rm -rf ~\n"), 0, "{line}");
    }
    // A function of the environment may be behind the name.
    let function = ["--mode", "open", "--env", "BASH_FUNC_cat%%=() { bash; }", "--shell", "bash"];
    let job = umbo.start_with(&function, "cat");
    let answer = umbo.call(["input", "--mode", "guard", &job, "rm -rf ~\n"]).answer();
    assert_ne!(answer.status, 0, "{answer:?}");
    umbo.stop(&job, &["--kill"]);
}
