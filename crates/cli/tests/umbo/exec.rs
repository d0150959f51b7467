//! `umbo exec`: a job somebody waits for.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::harness::{UMBO, Umbo, dies_within, numbered, signal};

#[test]
fn both_streams_and_the_exit_status_are_the_commands_own() {
    let umbo = Umbo::new();
    umbo.exec("echo out; echo err >&2; exit 7").stdout("out\n").stderr("err\n").status(7).run();
    umbo.exec("true").run();
    umbo.exec("exit 255").status(255).run();
}

#[test]
fn a_signal_gives_128_plus_its_number() {
    let umbo = Umbo::new();
    for (name, number) in [("TERM", 15), ("KILL", 9), ("SEGV", 11), ("HUP", 1)] {
        let answer = umbo.exec(&format!("kill -{name} $$")).answer();
        assert_eq!(answer.status, 128 + number, "{name}");
        assert!(answer.said().contains(&format!("signal {number}")), "{answer:?}");
    }
}

#[test]
fn a_timeout_gives_124_and_says_which_limit_struck() {
    let umbo = Umbo::new();
    let answer = umbo.call(["exec", "--timeout", "0.2", "$NAP"]).answer();
    assert_eq!(answer.status, 124);
    assert!(answer.said().contains("time limit after"), "{answer:?}");
    assert!(umbo.nappers().is_empty());
}

#[test]
fn umbos_own_failure_gives_125() {
    let umbo = Umbo::new();
    umbo.call(["exec", "--cwd", "nowhere", "true"]).refused();
    umbo.call(["exec", "/no/such/program", "word"]).answer().expect_status(125);
    umbo.call(["exec", "--no-such-flag", "true"]).refused();
    umbo.call(["exec"]).refused();
    umbo.call(["no-such-verb"]).refused();
}

#[test]
fn help_and_version_are_no_failures() {
    let umbo = Umbo::new();
    for words in [&["--help"][..], &["--version"], &["exec", "--help"]] {
        let answer = umbo.call(words).answer();
        assert!(answer.status == 0 && !answer.stdout.is_empty(), "{answer:?}");
    }
}

#[test]
fn json_has_the_promised_fields() {
    let umbo = Umbo::new();
    let answer = umbo.call(["exec", "--json", "echo out; echo err >&2; exit 3"]).status(3).json();
    let job = answer["job"].as_str().unwrap();
    assert_eq!(job.len(), 26);
    assert!(job.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase()), "{job}");
    assert_eq!(answer["state"], "exited");
    assert_eq!(answer["exit_code"], 3);
    assert_eq!(answer["signal"], json!(null));
    assert_eq!(answer["stdout"], "out\n");
    assert_eq!(answer["stderr"], "err\n");
    assert_eq!(answer["output"].as_str().unwrap().len(), 8);
    assert_eq!(answer["truncated"], false);
    assert_eq!(answer["total_bytes"], 8);
    assert_eq!(answer["omitted_bytes"], 0);
    assert_eq!(answer["leaked"], json!([]));
    assert!(answer["duration_ms"].is_u64());
    assert!(["cgroup", "subreaper"].contains(&answer["contained_by"].as_str().unwrap()));
}

#[test]
fn json_names_every_way_to_end() {
    let umbo = Umbo::new();
    let by_signal = umbo.exec_json(&[], "kill -USR1 $$");
    assert_eq!((&by_signal["state"], &by_signal["signal"]), (&json!("signaled"), &json!(10)));
    let by_time = umbo.exec_json(&["--timeout", "0.1"], "$NAP");
    assert_eq!((&by_time["state"], &by_time["limit"]), (&json!("timed_out"), &json!("wall")));
    let by_silence = umbo.exec_json(&["--idle-timeout", "1s"], "echo once; $NAP");
    assert_eq!((&by_silence["state"], &by_silence["limit"]), (&json!("timed_out"), &json!("idle")));
    assert_eq!(by_silence["stdout"], "once\n");
    let never = umbo.call(["exec", "--json", "/no/such/program", "x"]).status(125).json();
    assert_eq!(never["state"], "failed_to_start");
    assert!(never["reason"].as_str().unwrap().contains("/no/such/program"), "{never}");
    assert_eq!(never["exit_code"], json!(null));
}

#[test]
fn the_merged_output_keeps_the_order_of_the_streams() {
    let umbo = Umbo::new();
    // Each half waits until the other was logged: the order is the command's, not the machine's.
    let job = umbo.start("echo one; read x; echo two >&2; read x; echo three");
    for text in ["one", "two", "three"] {
        umbo.wait_for(&job, text);
        if text != "three" {
            umbo.call(["input", &job, "\n"]).run();
        }
    }
    umbo.outcome(&job);
    assert_eq!(umbo.output(&job), b"one\ntwo\nthree\n");
    umbo.call(["output", &job, "--stream", "stderr"]).stdout("two\n").run();
    umbo.call(["output", &job, "--stream", "stdout"]).stdout("one\nthree\n").run();
}

#[test]
fn stdin_is_text_a_file_our_own_or_nothing() {
    let umbo = Umbo::new();
    fs::write(umbo.path().join("input"), "from a file").unwrap();
    umbo.call(["exec", "--stdin", "text", "cat"]).stdout("text").run();
    umbo.call(["exec", "--stdin", "@input", "cat"]).stdout("from a file").run();
    umbo.call(["exec", "--stdin", "-", "cat"])
        .stdin(b"own \xff\x00 input")
        .stdout(b"own \xff\x00 input")
        .run();
    umbo.call(["exec", "--stdin", "", "cat; echo end"]).stdin(b"not for it").stdout("end\n").run();
    // As a shell has it: what is piped is passed on, and nothing is the end of file at once.
    umbo.exec("cat; echo end").stdin(b"piped ").stdout("piped end\n").run();
    umbo.exec("cat; echo end").stdout("end\n").run();
}

#[test]
fn a_person_at_a_terminal_types_into_the_terminal_of_the_command() {
    let (person, umbo) = (Umbo::new(), Umbo::new());
    let state = format!("UMBO_STATE_DIR={}", umbo.state().display());
    let options = [
        "--pty",
        "--size",
        "60x10",
        "--attended",
        "--env",
        &state,
        "--env",
        "CI=",
        "--env",
        "EDITOR=ed",
    ];
    let line = "stty size; echo \"[$EDITOR$CI]\"; read line; echo \"got $line\"; exit 5";
    let seat = person.start_with(&options, &format!("'{UMBO}' exec --pty '{line}'"));
    person.wait_for(&seat, "[ed]");
    assert!(String::from_utf8_lossy(&person.output(&seat)).contains("10 60"));
    person.call(["input", &seat, "hello", "--key", "enter"]).run();
    assert_eq!(person.outcome(&seat)["code"], 5, "it ends as the command does");
    assert!(String::from_utf8_lossy(&person.output(&seat)).contains("got hello"));
    // Who leaves it leaves it running; here it ends with the job that it was started in.
    let seat = person.start_with(&options, &format!("'{UMBO}' exec --pty 'echo up; read x'"));
    person.wait_for(&seat, "up");
    person.call(["input", &seat, "--key", "ctrl-\\"]).run();
    assert_eq!(person.outcome(&seat)["code"], 0);
    assert!(String::from_utf8_lossy(&person.output(&seat)).contains("umbo: left job"));
}

#[test]
fn our_own_input_is_passed_on_as_it_comes() {
    let umbo = Umbo::new();
    let call = umbo.call(["exec", "--stdin", "-", "while read x; do echo got $x; done; echo end"]);
    let mut call = call.into_command();
    let mut client =
        call.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut stdin, stdout) = (client.stdin.take().unwrap(), client.stdout.take().unwrap());
    let mut lines = BufReader::new(stdout).lines();
    for word in ["one", "two"] {
        writeln!(stdin, "{word}").unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), format!("got {word}"));
    }
    drop(stdin);
    assert_eq!(lines.next().unwrap().unwrap(), "end");
    assert!(client.wait().unwrap().success());
}

#[test]
fn of_a_file_that_is_our_input_the_rest_is_passed_on() {
    let umbo = Umbo::new();
    let bytes = numbered("", 1..=20_000);
    fs::write(umbo.path().join("file"), &bytes).unwrap();
    let line = "dd bs=2 count=1 2>/dev/null; \"$UMBO\" exec --stdin - cat";
    let answer = umbo.call(["exec", &format!("({line}) <file")]).env("UMBO", UMBO).answer();
    assert_eq!((answer.status, answer.text()), (0, bytes), "{}", answer.said());
}

#[test]
fn a_file_is_typed_at_a_terminal() {
    let umbo = Umbo::new();
    fs::write(umbo.path().join("file"), "hello\n").unwrap();
    let answer = umbo.exec_json(&["--pty", "--stdin", "@file"], "read x; echo \"got $x\"");
    assert!(answer["stdout"].as_str().unwrap().contains("got hello"), "{answer}");
    let answer = umbo.call(["exec", "--pty", "--stdin", "-", "read x; echo \"got $x\""]);
    assert!(answer.stdin(b"typed\n").answer().text().contains("got typed"));
}

#[test]
fn nothing_written_is_nothing_said() {
    let umbo = Umbo::new();
    let answer = umbo.exec_json(&[], "true");
    let said = (&answer["output"], &answer["tokens"], &answer["original_token_count"]);
    assert_eq!(said, (&json!(""), &json!(0), &json!(0)));
}

#[test]
fn a_command_that_does_not_read_its_input_still_ends() {
    let umbo = Umbo::new();
    let megabytes = vec![b'x'; 4 << 20];
    umbo.call(["exec", "--stdin", "-", "head -c 3"]).stdin(&megabytes).stdout("xxx").run();
}

#[test]
fn several_words_are_a_program_and_its_arguments() {
    let umbo = Umbo::new();
    umbo.call(["exec", "printf", "%s|", "a b", "$HOME", "*", ""]).stdout("a b|$HOME|*||").run();
    umbo.call(["exec", "--", "printf", "%s", "-n"]).stdout("-n").run();
}

#[test]
fn env_and_cwd_reach_the_command_and_pwd_is_resolved() {
    let umbo = Umbo::new();
    let real = umbo.path().join("real");
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, umbo.path().join("link")).unwrap();
    let real = fs::canonicalize(real).unwrap();
    let line = "printf '%s|%s|%s' \"$A\" \"$PWD\" \"$(pwd -P)\"";
    let expected = format!("1=2|{0}|{0}", real.display());
    umbo.call(["exec", "--env", "A=1=2", "--cwd", "link", line])
        .env("PWD", "/a/lie")
        .stdout(expected)
        .run();
}

#[test]
fn the_last_byte_needs_no_newline_and_no_utf8() {
    let umbo = Umbo::new();
    umbo.exec("printf x").stdout("x").run();
    umbo.exec("printf x >&2").stderr("x").run();
    umbo.exec(r"printf '\377\376\000\200'").stdout(b"\xff\xfe\x00\x80").run();
}

#[test]
fn a_terminal_merges_the_streams_and_is_a_terminal() {
    let umbo = Umbo::new();
    let line = "test -t 0 && test -t 1 && test -t 2 && stty size && echo err >&2";
    umbo.call(["exec", "--pty", line]).stdout("24 80\r\nerr\r\n").run();
    umbo.call(["exec", "--pty", "--size", "100x30", "stty size"]).stdout("30 100\r\n").run();
    umbo.call(["exec", "--pty", "exit 9"]).status(9).run();
    umbo.call(["exec", "--pty", "kill -9 $$"]).status(137).answer();
    let answer = umbo.exec_json(&["--pty"], "tty >/dev/null && echo yes");
    assert_eq!((&answer["stdout"], &answer["exit_code"]), (&json!("yes\n"), &json!(0)));
}

#[test]
fn ctrl_c_stops_the_whole_tree_and_says_so() {
    let umbo = Umbo::new();
    let mut client = umbo.exec("echo ready; $NAP & wait").spawn();
    assert_eq!(client.line(), "ready\n");
    signal(client.pid(), Signal::INT);
    let answer = client.answer();
    assert_eq!(answer.status, 130, "{answer:?}");
    assert!(umbo.nappers().is_empty());
    assert_eq!(umbo.jobs()[0]["state"], "stopped");
}

#[test]
fn a_long_output_keeps_both_ends_in_json_and_every_byte_in_the_log() {
    let umbo = Umbo::new();
    let answer = umbo.exec_json(&[], "seq 400000");
    let text = answer["output"].as_str().unwrap();
    assert_eq!(answer["truncated"], true);
    assert!(text.starts_with("1\n2\n") && text.ends_with("399999\n400000\n"));
    let total = answer["total_bytes"].as_u64().unwrap();
    let omitted = answer["omitted_bytes"].as_u64().unwrap();
    // One notice, on a line of its own, says what is missing and where it is.
    let notices: Vec<_> = text.lines().filter(|line| line.starts_with("[umbo: ")).collect();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains(&omitted.to_string()), "{notices:?}");
    assert_eq!(text.len() as u64, total - omitted + notices[0].len() as u64 + 1);
    assert!(text.len() <= 50 << 10);
    assert_eq!(answer["artifact"], format!("artifact://{}", answer["job"].as_str().unwrap()));
    let expected = numbered("", 1..=400_000);
    umbo.call(["output", "@last", "--raw"]).stdout(expected).run();
}

#[test]
fn a_reader_that_leaves_early_ends_the_job_as_in_a_pipeline() {
    let umbo = Umbo::new();
    let mut client = umbo.exec("yes").spawn();
    assert_eq!(client.line(), "y\n");
    client.close_stdout();
    let answer = client.answer();
    assert_eq!((answer.status, answer.said()), (143, String::new()));
    assert_eq!(umbo.jobs()[0]["state"], "stopped");
}

#[test]
fn ctrl_c_pressed_twice_leaves_though_nobody_answers() {
    let umbo = Umbo::new();
    let mut client = umbo.exec("echo ready; $NAP").spawn();
    assert_eq!(client.line(), "ready\n");
    let job = umbo.jobs()[0]["job"].as_str().unwrap().to_owned();
    let hung = umbo.hang(&[umbo.supervisor(&job), umbo.keeper(&job)]);
    let pid = client.pid();
    // Two signals at once are one to the kernel: it is pressed until it is heard.
    let pressing = std::thread::spawn(move || {
        while rustix::process::kill_process(pid, Signal::INT).is_ok()
            && !dies_within(pid, Duration::from_millis(100))
        {}
    });
    let answer = client.answer();
    pressing.join().unwrap();
    assert_eq!(answer.status, 130, "{answer:?}");
    assert!(answer.said().contains(&format!("umbo stop --kill {job}")), "{answer:?}");
    drop(hung);
}
