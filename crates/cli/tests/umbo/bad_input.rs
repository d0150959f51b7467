//! Wrong words and hostile bytes: a clear error or exact bytes, never a panic, never a lost job.

use std::fs;
use std::os::unix::ffi::OsStringExt;

use serde_json::json;
use umbo_engine::{Command, End, Request, Session, SessionDirectory, Stdin};

use crate::harness::Umbo;

#[track_caller]
fn refused(umbo: &Umbo, words: &[&str], with: &[&str]) {
    let said = umbo.call(words).refused();
    for text in with {
        assert!(said.contains(text), "{words:?} gives {said:?}, without {text:?}");
    }
    assert!(umbo.jobs().is_empty(), "{words:?} made a job");
}

#[test]
fn wrong_requests_are_refused_with_field_and_fix_and_make_no_job() {
    let umbo = Umbo::new();
    fs::write(umbo.path().join("file"), "").unwrap();
    for verb in ["exec", "start"] {
        refused(&umbo, &[verb, "--cwd", "nowhere", "true"], &["cwd", "nowhere", "No such file"]);
        refused(&umbo, &[verb, "--cwd", "file", "true"], &["cwd", "file", "not a directory"]);
        refused(&umbo, &[verb, ""], &["command", "empty"]);
        refused(&umbo, &[verb, "  \n\t"], &["command", "empty"]);
        refused(&umbo, &[verb, "", "word"], &["command", "empty"]);
        refused(&umbo, &[verb, "no-such-program-here", "word"], &["command", "not found in PATH"]);
        refused(&umbo, &[verb, "--shell", "cmd.exe", "true"], &["shell", "cmd.exe", "bash"]);
        refused(&umbo, &[verb, "--shell", "/no/shell", "true"], &["/no/shell", "executable"]);
        refused(&umbo, &[verb, "--timeout", "soon", "true"], &["soon", "is no duration", "1.5s"]);
        refused(&umbo, &[verb, "--timeout", "-1", "true"], &["-1"]);
        refused(&umbo, &[verb, "--idle-timeout", "1y", "true"], &["1y", "is no duration"]);
        refused(&umbo, &[verb, "--env", "NOVALUE", "true"], &["--env", "NOVALUE", "NAME=VALUE"]);
        refused(&umbo, &[verb, "--env", "=x", "true"], &["env", "no variable name"]);
        refused(&umbo, &[verb, "--stdin", "@nowhere", "true"], &["stdin", "nowhere"]);
        refused(&umbo, &[verb, "--size", "80x24", "true"], &["--pty"]);
        refused(&umbo, &[verb, "--pty", "--size", "0x9", "true"], &["is no size"]);
        refused(&umbo, &[verb, "--memory", "lots", "true"], &["lots", "is no size"]);
        for option in ["--memory", "--pids", "--cpu"] {
            refused(&umbo, &[verb, option, "0", "true"], &[&option[2..], "let nothing run"]);
        }
        refused(&umbo, &[verb, "echo hi", "--json"], &["COMMAND", "--json", "before the command"]);
        refused(&umbo, &[verb, "echo hi", "--timeout=3"], &["--timeout=3", "before the command"]);
        refused(&umbo, &[verb, "--timout", "3", "true"], &["--timout", "--timeout"]);
        refused(&umbo, &[verb, "-x", "true"], &["-x"]);
        refused(&umbo, &[verb, "--name", "@x", "true"], &["name", "@x"]);
        refused(&umbo, &[verb, "--name", "", "true"], &["name"]);
        refused(&umbo, &[verb, "--session", "../x", "true"], &["session", "../x"]);
        refused(&umbo, &[verb, "--idempotency-key", "", "true"], &["--idempotency-key"]);
    }
    let long = "k".repeat(200);
    refused(&umbo, &["start", "--idempotency-key", &long, "true"], &["200 bytes"]);
}

#[test]
fn for_programs_an_error_is_an_answer() {
    let umbo = Umbo::new();
    let error = |words: &[&str]| {
        let answer = umbo.call(words).answer();
        assert!(answer.status == 125 && answer.stderr.is_empty(), "{words:?}: {answer:?}");
        let value: serde_json::Value = serde_json::from_slice(&answer.stdout).unwrap();
        let error = value["error"].clone();
        assert!(error["message"].as_str().is_some_and(|text| text.len() > 5), "{value}");
        (error["code"].clone(), error["field"].clone())
    };
    let wrong = |field: &str| (json!("invalid_argument"), json!(field));
    assert_eq!(error(&["exec", "--json", "--cwd", "nowhere", "true"]), wrong("cwd"));
    assert_eq!(error(&["exec", "--json", "--env", "NOVALUE", "true"]), wrong("env"));
    assert_eq!(error(&["--json", "exec", "echo hi", "--json"]), wrong("command"));
    assert_eq!(error(&["output", "nobody", "--json"]), (json!("unknown_job"), json!(null)));
    assert_eq!(error(&["stop", "nobody", "--json"]), (json!("unknown_job"), json!(null)));
    assert_eq!(error(&["exec", "--json"]), (json!("usage"), json!(null)));
    assert_eq!(error(&["jobs", "--json", "--nonsense"]), (json!("usage"), json!("nonsense")));
    assert_eq!(
        error(&["exec", "--json", "--timeout", "soon", "true"]),
        (json!("usage"), json!("timeout"))
    );
    let job = umbo.start("true");
    umbo.outcome(&job);
    assert_eq!(error(&["input", &job, "x", "--json"]), (json!("job_ended"), json!(null)));
    assert_eq!(error(&["output", &job, "--json", "--grep", "("]), wrong("grep"));
}

#[test]
fn wrong_questions_are_refused() {
    let umbo = Umbo::new();
    for verb in ["output", "wait", "stop", "screen", "attach", "input"] {
        let said = umbo.call([verb, "nobody"]).answer().said();
        assert!(said.contains("\"nobody\"") || said.contains("nothing to send"), "{verb}: {said}");
        umbo.call([verb, "@last"]).refused();
        umbo.call([verb, ""]).refused();
        umbo.call([verb, "../../etc"]).refused();
    }
    let job = umbo.start("echo hi");
    umbo.outcome(&job);
    let refused = |words: &[&str], with: &str| {
        let said = umbo.call(words).refused();
        assert!(said.contains(with), "{words:?}: {said}");
    };
    refused(&["wait", &job, "--match", "("], "--match: regex parse error");
    refused(&["output", &job, "--grep", "["], "--grep: regex parse error");
    refused(&["output", &job, "--lines", "9-3"], "--lines");
    refused(&["output", &job, "--lines", "0"], "--lines");
    refused(&["output", &job, "--lines", "a-b"], "--lines");
    refused(&["wait", &job, "--port", "http"], "--port");
    refused(&["wait", &job, "--port", "99999"], "--port");
    refused(&["wait", &job, "--timeout", "later"], "is no duration");
    refused(&["stop", &job, "--grace", "x"], "is no duration");
    refused(&["attach", &job, "--detach-key", "hyper"], "hyper");
    refused(&["events", "--after", "-1"], "-1");
}

#[test]
fn durations_read_like_a_person_writes_them() {
    let umbo = Umbo::new();
    let job = umbo.start("echo x");
    umbo.outcome(&job);
    for duration in ["30", "1.5s", "2m", "250ms", "1h30m", "1d", "0.5", "0"] {
        let answer = umbo.call(["wait", &job, "--timeout", duration]).answer();
        assert_eq!(answer.status, 0, "{duration}: {answer:?}");
    }
}

#[test]
fn a_duration_without_end_is_no_panic() {
    let umbo = Umbo::new();
    let job = umbo.start("$NAP");
    for endless in ["10000000000000000000", "18446744073709551615s", "999999999999999999999d"] {
        for words in [
            &["exec", "--timeout", endless, "true"][..],
            &["exec", "--idle-timeout", endless, "true"],
            &["wait", &job, "--match", "x", "--quiet", endless, "--timeout", "0.05"],
            &["prune", "--older-than", endless],
        ] {
            let answer = umbo.call(words).answer();
            assert!([0, 124, 125].contains(&answer.status), "{words:?}: {answer:?}");
            assert!(!answer.said().contains("panicked"), "{words:?}: {answer:?}");
        }
        let ended = umbo.start("true");
        umbo.outcome(&ended);
        let answer = umbo.call(["wait", &ended, "--timeout", endless]).answer();
        assert!([0, 125].contains(&answer.status), "{answer:?}");
    }
    for job in umbo.jobs() {
        assert_ne!(job["state"], "lost", "{job}");
    }
}

#[test]
fn a_nul_in_a_word_is_refused() {
    let umbo = Umbo::new();
    let engine = umbo.engine();
    for request in [
        Request::shell("echo a\0b", umbo.path()),
        Request::new(Command::Argv(vec!["echo".into(), "a\0b".into()]), umbo.path()),
    ] {
        let error = engine.start(&request).unwrap_err().to_string();
        assert!(error.contains("NUL"), "{error}");
    }
    let mut request = Request::shell("true", umbo.path());
    request.env.set.push(("A".into(), "x\0y".into()));
    assert!(engine.start(&request).unwrap_err().to_string().contains("NUL"));
    assert!(umbo.jobs().is_empty());
}

#[test]
fn an_argument_of_ten_megabytes_gets_an_error_that_says_what_to_do() {
    let umbo = Umbo::new();
    let engine = umbo.engine();
    let line = format!("echo {}", "x".repeat(10 << 20));
    let (_, outcome) = engine.run(&Request::shell(line, umbo.path())).unwrap();
    let End::FailedToStart { why } = outcome.end else { panic!("{:?}", outcome.end) };
    assert!(why.contains("write a long script to a file"), "{why}");
    let (_, outcome) = engine.run(&Request::shell("echo fine", umbo.path())).unwrap();
    assert!(outcome.success());
}

#[test]
fn input_of_many_megabytes_is_taken() {
    let umbo = Umbo::new();
    let mut request = Request::shell("wc -c", umbo.path());
    request.stdin = Stdin::Bytes(vec![b'x'; 40 << 20]);
    let (job, outcome) = umbo.engine().run(&request).unwrap();
    assert!(outcome.success());
    let text = fs::read_to_string(job.output_path()).unwrap();
    assert_eq!(text.trim(), (40 << 20).to_string());
}

#[test]
fn input_too_large_for_a_message_is_an_error_and_no_job() {
    let umbo = Umbo::new();
    let mut request = Request::shell("wc -c", umbo.path());
    request.stdin = Stdin::Bytes(vec![b'x'; 65 << 20]);
    let error = umbo.engine().run(&request).unwrap_err().to_string();
    assert!(error.contains("too large"), "{error}");
    assert!(umbo.jobs().is_empty());
}

#[test]
fn names_that_are_no_utf8_are_kept_exactly() {
    let umbo = Umbo::new();
    let odd = std::ffi::OsString::from_vec(b"odd-\xff-name".to_vec());
    fs::write(umbo.path().join(&odd), "inside").unwrap();
    let words: Vec<std::ffi::OsString> = vec!["exec".into(), "cat".into(), odd.clone()];
    umbo.call(words).stdout("inside").run();
    let directory = umbo.path().join(&odd).with_extension("d");
    fs::create_dir(&directory).unwrap();
    umbo.exec("ls -d \"$PWD\" >/dev/null && echo there")
        .current_dir(&directory)
        .stdout("there\n")
        .run();
    let line: Vec<std::ffi::OsString> = vec!["exec".into(), odd];
    assert!(umbo.call(line).refused().contains("not UTF-8"));
}

#[test]
fn a_state_directory_with_a_very_long_path_works() {
    let long = tempfile::tempdir().unwrap();
    let state = long.path().join("d".repeat(100)).join("e".repeat(100)).join("state");
    let umbo = Umbo::at(state);
    let job = umbo.start("read x; echo got $x");
    umbo.call(["input", &job, "it\n"]).run();
    umbo.outcome(&job);
    assert_eq!(umbo.output(&job), b"got it\n");
}

#[test]
fn a_state_that_cannot_be_made_is_said() {
    let umbo = Umbo::new();
    fs::write(umbo.path().join("file"), "").unwrap();
    let place = umbo.path().join("file/state");
    let said = umbo.call(["exec", "true"]).env("UMBO_STATE_DIR", &place).refused();
    assert!(said.contains("state directory") && said.contains("UMBO_STATE_DIR"), "{said}");
    for bad in ["0", "-1", "many", ""] {
        let said = umbo.exec("true").env("UMBO_MAX_RUNNING", bad).refused();
        assert!(said.contains("UMBO_MAX_RUNNING"), "{said}");
    }
}

#[test]
fn a_directory_that_vanishes_is_an_error() {
    let umbo = Umbo::new();
    let gone = umbo.path().join("gone");
    fs::create_dir(&gone).unwrap();
    let line =
        format!("cd {0} && rmdir {0} && exec {1} exec true", gone.display(), crate::harness::UMBO);
    let answer = umbo.exec(&line).answer();
    assert_eq!(answer.status, 125, "{answer:?}");
    assert!(answer.said().contains("cannot tell where I am"), "{answer:?}");
}

#[test]
fn sessions_and_words_do_not_mix() {
    let umbo = Umbo::new();
    let mut request = Request::new(Command::Argv(vec!["echo".into(), "x".into()]), umbo.path());
    request.session = Some(Session { name: "s".into(), directory: SessionDirectory::Continue });
    let error = umbo.engine().start(&request).unwrap_err().to_string();
    assert!(error.contains("session"), "{error}");
}

#[test]
fn a_name_that_looks_like_the_beginning_of_an_id_is_still_a_name() {
    let umbo = Umbo::new();
    umbo.outcome(&umbo.start("echo unnamed"));
    umbo.outcome(&umbo.start_with(&["--name", "0"], "echo named"));
    umbo.call(["output", "0"]).stdout("named\n").run();
}

#[test]
fn usage_shows_as_needed_only_what_is() {
    let umbo = Umbo::new();
    let said = umbo.call(["stop"]).refused();
    assert!(said.contains("Usage: umbo stop") && !said.contains("--state-dir"), "{said}");
}

#[test]
fn the_tour_is_no_json_and_says_so_before_anything_runs() {
    let umbo = Umbo::new();
    let refused = umbo.call(["tour", "--json"]).status(125).json();
    assert_eq!(refused["error"]["field"], "json");
    assert!(umbo.jobs().is_empty());
}
