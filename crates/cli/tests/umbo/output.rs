//! `umbo output`: what a job wrote, to the byte.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{UMBO, Umbo, numbered};

fn ten_lines(umbo: &Umbo) -> String {
    let job = umbo.start("seq 10");
    umbo.outcome(&job);
    job
}

#[test]
fn a_part_is_chosen_by_offset_tail_lines_and_pattern() {
    let umbo = Umbo::new();
    let job = ten_lines(&umbo);
    umbo.call(["output", &job]).stdout("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n").run();
    umbo.call(["output", &job, "--from", "16"]).stdout("9\n10\n").run();
    umbo.call(["output", &job, "--from", "1000"]).run();
    umbo.call(["output", &job, "--tail", "2"]).stdout("9\n10\n").run();
    umbo.call(["output", &job, "--tail", "0"]).run();
    umbo.call(["output", &job, "--lines", "3-4"]).stdout("3\n4\n").run();
    umbo.call(["output", &job, "--lines", "9-"]).stdout("9\n10\n").run();
    umbo.call(["output", &job, "--lines", "-2"]).stdout("1\n2\n").run();
    umbo.call(["output", &job, "--lines", "7"]).stdout("7\n").run();
    umbo.call(["output", &job, "--grep", "^1"]).stdout("1\n10\n").run();
    umbo.call(["output", &job, "--grep", "^1", "--tail", "1"]).stdout("10\n").run();
}

#[test]
fn a_last_line_without_newline_counts() {
    let umbo = Umbo::new();
    let job = umbo.start("printf 'a\\nb'");
    umbo.outcome(&job);
    umbo.call(["output", &job, "--tail", "1"]).stdout("b").run();
    umbo.call(["output", &job, "--lines", "2"]).stdout("b").run();
    umbo.call(["output", &job, "--grep", "b"]).stdout("b").run();
}

#[test]
fn json_gives_the_offset_to_go_on_from_also_when_there_is_nothing_new() {
    let umbo = Umbo::new();
    let job = umbo.start("echo one; read x; echo two; $NAP");
    umbo.wait_for(&job, "one");
    let first = umbo.call(["output", &job, "--json"]).json();
    assert_eq!((&first["output"], &first["next_offset"]), (&json!("one\n"), &json!(4)));
    assert_eq!(first["state"], "started");
    let nothing = umbo.call(["output", &job, "--json", "--from", "4"]).json();
    assert_eq!((&nothing["output"], &nothing["next_offset"]), (&json!(""), &json!(4)));
    umbo.call(["input", &job, "\n"]).run();
    umbo.wait_for(&job, "two");
    let second = umbo.call(["output", &job, "--json", "--from", "4"]).json();
    assert_eq!((&second["output"], &second["next_offset"]), (&json!("two\n"), &json!(8)));
    umbo.stop(&job, &["--kill"]);
    let over = umbo.call(["output", &job, "--json", "--from", "8"]).json();
    assert_eq!((&over["output"], &over["next_offset"]), (&json!(""), &json!(8)));
}

#[test]
fn json_says_of_every_part_what_the_whole_is_and_whether_it_is_cut() {
    let umbo = Umbo::new();
    let job = ten_lines(&umbo);
    let read = |options: &[&str]| {
        let read = umbo.call([&["output", &job, "--json"], options].concat()).json();
        assert_eq!(read["total_bytes"], 21, "{options:?}: {read}");
        (read["output"].clone(), read["truncated"].clone(), read["artifact"].is_string())
    };
    let whole = numbered("", 1..=10);
    assert_eq!(read(&[]), (json!(whole), json!(false), false), "all of it needs no artifact");
    assert_eq!(read(&["--from", "16"]), (json!("9\n10\n"), json!(false), true));
    assert_eq!(read(&["--from", "4", "--budget", "4"]), (json!("3\n4\n"), json!(true), true));
    assert_eq!(read(&["--tail", "2"]), (json!("9\n10\n"), json!(false), true));
    assert_eq!(read(&["--tail", "99"]), (json!(whole), json!(false), false));
    assert_eq!(read(&["--lines", "3-4"]), (json!("3\n4\n"), json!(false), true));
    assert_eq!(read(&["--lines", "9-"]), (json!("9\n10\n"), json!(false), true));
    assert_eq!(read(&["--lines", "1-9", "--budget", "4"]), (json!("1\n2\n"), json!(true), true));
    assert_eq!(read(&["--grep", "nothing"]), (json!(""), json!(false), true));
    let none = "[umbo: 0 of 10 lines look like errors]\n";
    assert_eq!(read(&["--errors"]), (json!(none), json!(false), true));
    assert_eq!(read(&["--grep", "1", "--tail", "1"]), (json!("10\n"), json!(false), true));
    umbo.call(["output", &job, "--grep", "nothing"]).run();
}

#[test]
fn logs_is_another_word_for_output() {
    let umbo = Umbo::new();
    let job = ten_lines(&umbo);
    umbo.call(["logs", &job, "--tail", "1"]).stdout("10\n").run();
    umbo.call(["logs", "-f", &job]).stdout(numbered("", 1..=10)).run();
    let help = umbo.call(["--help"]).answer().text();
    assert!(help.contains("logs"), "{help}");
}

#[test]
fn raw_is_the_exact_bytes() {
    let umbo = Umbo::new();
    let job = umbo.start(r"printf '\033[1mbold\033[0m\r\377\000end'");
    umbo.outcome(&job);
    umbo.call(["output", &job, "--raw"]).stdout(b"\x1b[1mbold\x1b[0m\r\xff\x00end").run();
}

#[test]
fn follow_gives_each_line_as_it_comes_and_ends_with_the_job() {
    let umbo = Umbo::new();
    let job = umbo.start("echo one; read x; echo two; read x; exit 5");
    let mut reader = umbo.call(["output", &job, "--follow"]).spawn();
    assert_eq!(reader.line(), "one\n");
    umbo.call(["input", &job, "\n"]).run();
    assert_eq!(reader.line(), "two\n");
    umbo.call(["input", &job, "\n"]).run();
    let answer = reader.answer();
    assert_eq!((answer.status, answer.text()), (0, String::new()));
}

#[test]
fn follow_with_tail_begins_with_the_last_lines_and_goes_on() {
    let umbo = Umbo::new();
    let job = umbo.start("seq 5; read x; echo more");
    umbo.wait_for(&job, "5\n");
    let mut reader = umbo.call(["output", &job, "--follow", "--tail", "2"]).spawn();
    assert_eq!(reader.line(), "4\n");
    assert_eq!(reader.line(), "5\n");
    umbo.call(["input", &job, "\n"]).run();
    assert_eq!(reader.answer().text(), "more\n");
}

#[test]
fn tail_f_reads_a_running_job() {
    let umbo = Umbo::new();
    let job = umbo.start("echo one; read x; echo two; $NAP");
    let mut tail = Command::new("tail")
        .args(["-f", "-c", "+1"])
        .arg(umbo.job(&job).join("output"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "one");
    umbo.call(["input", &job, "\n"]).run();
    assert_eq!(lines.next().unwrap().unwrap(), "two");
    tail.kill().unwrap();
    tail.wait().unwrap();
}

#[test]
fn the_streams_are_told_apart_in_every_byte_of_a_long_interleaving() {
    let umbo = Umbo::new();
    let job = umbo.start("for n in $(seq 300); do echo out $n; echo err $n >&2; done");
    umbo.outcome(&job);
    for (stream, word) in [("stdout", "out"), ("stderr", "err")] {
        let expected = numbered(&format!("{word} "), 1..=300);
        umbo.call(["output", &job, "--stream", stream]).stdout(expected).run();
    }
    assert_eq!(umbo.output(&job).len(), 2 * (9 * 6 + 90 * 7 + 201 * 8));
}

#[test]
fn offsets_stay_the_same_while_the_middle_is_omitted() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--max-output", "64k"], "seq -w 0 99999");
    let outcome = umbo.outcome(&job);
    assert_eq!((&outcome["code"], &outcome["total_bytes"]), (&json!(0), &json!(600_000)));
    assert_eq!(outcome["omitted_bytes"], 600_000 - 65_536);
    // Every line has six bytes: line n begins at 6 n, before the hole and after it.
    umbo.call(["output", &job, "--from", "599994"]).stdout("99999\n").run();
    let answer = umbo.call(["output", &job, "--from", "600", "--budget", "none"]).answer();
    assert!(answer.text().starts_with("00100\n") && answer.text().ends_with("99999\n"));
    assert_eq!(answer.stdout.len(), 65_536 - 600);
    assert!(answer.said().contains("534464 bytes were not kept (offsets 32768 to 567232)"));
    let inside = umbo.call(["output", &job, "--from", "300000", "--raw"]).answer();
    assert_eq!(inside.stdout.len(), 32_768);
}

#[test]
fn an_absent_reader_never_slows_a_job() {
    let umbo = Umbo::new();
    // A follower that reads nothing, and one that was killed: the job writes 64 MB all the same.
    let job = umbo.start("read go; head -c 64000000 /dev/zero; echo done");
    let idle = umbo.call(["output", &job, "--follow", "--raw"]).spawn();
    umbo.call(["output", &job, "--follow"]).spawn().kill();
    umbo.call(["input", &job, "\n"]).run();
    // In words: an answer with a view of 64 MB takes its time, which is not what this is about.
    umbo.call(["wait", &job]).answer().expect_status(0);
    let outcome = fs::read(umbo.job(&job).join("outcome")).unwrap();
    let outcome: Value = serde_json::from_slice(&outcome).unwrap();
    assert_eq!((&outcome["code"], &outcome["total_bytes"]), (&json!(0), &json!(64_000_005)));
    assert_eq!(fs::metadata(umbo.job(&job).join("output")).unwrap().len(), 64_000_005);
    let answer = idle.answer();
    assert_eq!(answer.stdout.len(), 64_000_005);
}

#[test]
fn output_is_readable_while_the_job_waits_for_its_turn() {
    let umbo = Umbo::new();
    umbo.start("$NAP");
    let job = umbo.call(["start", "$NAP"]).env("UMBO_MAX_RUNNING", "1").answer().text();
    assert_eq!(umbo.listed(job.trim())["state"], "queued");
    umbo.call(["output", job.trim()]).run();
}

#[test]
fn a_program_gets_all_of_it_and_what_it_asks_for() {
    let umbo = Umbo::new();
    let job = umbo.start("seq 30000; head -c 10000 /dev/zero | tr '\\0' x; echo; printf last");
    umbo.outcome(&job);
    let all = format!("{}{}\nlast", numbered("", 1..=30000), "x".repeat(10_000));
    umbo.call(["output", &job]).stdout(&all).run();
    umbo.call(["output", &job, "--from", "0"]).stdout(&all).run();
    let last = format!("{}{}\nlast", numbered("", 25003..=30000), "x".repeat(10_000));
    umbo.call(["output", &job, "--tail", "5000"]).stdout(last).run();
    umbo.call(["output", &job, "--lines", "1-20000"]).stdout(numbered("", 1..=20000)).run();
    let found = umbo.call(["output", &job, "--grep", "7$", "--context", "0"]).answer().text();
    assert_eq!(found.lines().count(), 3000);
    // A budget that was given holds, and what it leaves out is counted.
    let few = umbo.call(["output", &job, "--tail", "5000", "--budget", "100l"]).answer();
    assert_eq!(few.text().lines().count(), 100);
    assert!(few.said().contains("100 of the 5000 lines are shown"), "{}", few.said());
}

#[test]
fn a_line_without_an_end_is_shown_while_the_job_runs() {
    let umbo = Umbo::new();
    let job = umbo.start("echo one; printf 'name? '; $NAP");
    umbo.wait_for(&job, "name? ");
    umbo.call(["output", &job]).stdout("one\nname? ").run();
}

#[test]
fn what_is_not_shown_is_told_in_counts_that_add_up() {
    let umbo = Umbo::new();
    let job = umbo.start("for n in $(seq 5000); do echo \"line $n of $((n * 7919 % 5003))\"; done");
    umbo.outcome(&job);
    let said = umbo.call(["output", &job, "--budget", "50l"]).answer().said();
    let last = said.lines().last().unwrap().to_owned();
    let numbers: Vec<u64> = regex::Regex::new(r"\d+")
        .unwrap()
        .find_iter(&last)
        .map(|number| number.as_str().parse().unwrap())
        .collect();
    let [shown, total, rest @ ..] = numbers.as_slice() else { panic!("{last}") };
    assert_eq!(*total, 5000, "{last}");
    assert_eq!(shown + rest.iter().sum::<u64>(), *total, "{last}");
}

/// A person who reads a job's output at a terminal; the job that the terminal is.
fn reads(person: &Umbo, umbo: &Umbo, variables: &[&str], words: &str) -> String {
    let state = format!("UMBO_STATE_DIR={}", umbo.state().display());
    let mut options = vec!["--pty", "--size", "80x24", "--attended"];
    for variable in [&state, "TERM=xterm"].into_iter().chain(variables.iter().copied()) {
        options.extend(["--env", variable]);
    }
    person.start_with(&options, &format!("'{UMBO}' output {words}"))
}

#[test]
fn at_a_terminal_what_is_more_than_a_screen_is_paged() {
    let (person, umbo) = (Umbo::new(), Umbo::new());
    let (long, short) = (umbo.start("seq 9000"), umbo.start("seq 10"));
    for job in [&long, &short] {
        umbo.outcome(job);
    }
    // A pager that says what it got.
    let pager = ["PAGER=wc -l | sed 's/^/paged:/'"];
    let seat = reads(&person, &umbo, &pager, &long);
    person.outcome(&seat);
    person.wait_for(&seat, "paged:9000");
    let seat = reads(&person, &umbo, &pager, &format!("--tail 5000 {long}"));
    person.outcome(&seat);
    person.wait_for(&seat, "paged:5000");
    let seat = reads(&person, &umbo, &pager, &short);
    person.outcome(&seat);
    assert_eq!(person.output(&seat), numbered("", 1..=10).replace('\n', "\r\n").as_bytes());
}

#[test]
fn at_a_terminal_without_a_pager_it_is_bounded_and_the_last_line_says_so() {
    let (person, umbo) = (Umbo::new(), Umbo::new());
    let job = umbo.start("seq 9000");
    umbo.outcome(&job);
    for variables in [&["PAGER=cat"][..], &["PAGER="], &["PAGER=/nowhere/pager"]] {
        let seat = reads(&person, &umbo, variables, &job);
        person.outcome(&seat);
        let shown = String::from_utf8(person.output(&seat)).unwrap();
        assert!(shown.lines().count() < 2500, "{variables:?}: {shown}");
        let last = shown.lines().last().unwrap();
        assert!(
            last.contains("of 9000 lines are shown") && last.contains("--budget none"),
            "{last}"
        );
    }
    let seat = reads(&person, &umbo, &["PAGER=false"], &format!("--no-pager --budget none {job}"));
    person.outcome(&seat);
    assert_eq!(String::from_utf8(person.output(&seat)).unwrap().lines().count(), 9000);
}
