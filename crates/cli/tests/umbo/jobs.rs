//! `umbo jobs`: what runs, and what ended.

use std::time::Duration;

use serde_json::json;
use umbo_engine::{Listed, Scope};

use crate::harness::{UMBO, Umbo};

#[test]
fn an_empty_list_is_no_error() {
    let umbo = Umbo::new();
    let said = "no jobs now; `umbo jobs --all` has older ones, `umbo start COMMAND` makes one\n";
    umbo.call(["jobs"]).stderr(said).run();
    umbo.call(["jobs", "--json"]).stdout("{\"jobs\":[],\"omitted\":null}\n").run();
}

#[test]
fn json_is_the_answer_of_the_tool_with_the_promised_fields() {
    let umbo = Umbo::new();
    let ended = umbo.start_with(&["--name", "first"], "exit 4");
    umbo.outcome(&ended);
    let running = umbo.start("$NAP");
    let jobs = umbo.call(["jobs", "--json"]).json();
    let jobs = jobs["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 2);
    assert_eq!(jobs[0]["job"], json!(ended));
    assert_eq!(jobs[0]["state"], "exited");
    assert_eq!(jobs[0]["exit_code"], 4);
    assert_eq!(jobs[0]["command"], "exit 4");
    assert_eq!(jobs[0]["name"], "first");
    assert_eq!(jobs[1]["job"], json!(running));
    assert_eq!(jobs[1]["state"], "started");
    assert_eq!(jobs[1]["exit_code"], json!(null));
    for job in jobs {
        let started = job["started_at"].as_str().unwrap();
        assert!(started.starts_with("20") && started.ends_with('Z'), "{started}");
    }
}

#[test]
fn a_person_reads_a_line_per_job() {
    let umbo = Umbo::new();
    umbo.outcome(&umbo.start("kill -9 $$"));
    umbo.start("$NAP\n# a second line");
    let text = umbo.call(["jobs"]).answer().text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[0].starts_with("JOB"), "{text}");
    assert!(lines[1].contains("signal 9"), "{text}");
    assert!(lines[2].contains("running") && lines[2].ends_with("$NAP …"), "{text}");
}

#[test]
fn a_long_name_is_cut_for_a_person_only() {
    let umbo = Umbo::new();
    let name = "a-name-that-goes-on-and-on-and-on";
    umbo.start_with(&["--name", name], "$NAP");
    let text = umbo.call(["jobs"]).answer().text();
    assert!(text.contains(" a-name-that-goe… "), "{text}");
    assert_eq!(umbo.jobs()[0]["name"], name);
}

#[test]
fn words_are_shown_as_one_would_type_them() {
    let umbo = Umbo::new();
    umbo.call(["exec", "printf", "%s", "it's", ""]).stdout("it's").run();
    assert_eq!(umbo.jobs()[0]["command"], r"printf %s 'it'\''s' ''");
}

#[test]
fn old_ends_leave_the_list_and_stay_on_disk() {
    let umbo = Umbo::new();
    for number in 0..4 {
        umbo.exec(&format!("exit {number}")).status(number).run();
    }
    let running = umbo.start("$NAP");
    let few = Listed { jobs: 2, ..Listed::default() };
    let engine = umbo.library().listed(few).open().unwrap();
    let states = |scope| -> Vec<String> {
        let jobs = engine.jobs(scope).unwrap();
        jobs.iter().map(|job| format!("{} {}", job.command, job.status.name())).collect()
    };
    assert_eq!(states(Scope::Recent), ["exit 2 exited", "exit 3 exited", "$NAP started"]);
    assert_eq!(states(Scope::All).len(), 5);
    let none = Listed { age: Duration::ZERO, ..Listed::default() };
    let engine = umbo.library().listed(none).open().unwrap();
    let jobs = engine.jobs(Scope::Recent).unwrap();
    assert_eq!(jobs.len(), 1);
    assert_eq!(jobs[0].job.as_str(), running);
}

#[test]
fn the_last_six_characters_of_an_id_name_the_job_everywhere() {
    let umbo = Umbo::new();
    let job = umbo.start("echo hi; $NAP");
    let short = &job[job.len() - 6..];
    let text = umbo.call(["jobs"]).answer().text();
    assert!(text.lines().nth(1).unwrap().starts_with(&format!("{short}  running")), "{text}");
    assert_eq!(umbo.call(["wait", short, "--match", "hi"]).answer().status, 0);
    umbo.call(["output", &short.to_uppercase()]).stdout("hi\n").run();
    let stopped = umbo.call(["stop", "--kill", short]).answer().text();
    assert!(stopped.starts_with(&job), "{stopped}");
}

#[test]
fn jobs_are_listed_by_state_name_owner_label_age_and_number() {
    let umbo = Umbo::new();
    for (name, line) in [("well-1", "true"), ("well-2", "true"), ("badly", "exit 3")] {
        umbo.outcome(&umbo.start_with(&["--name", name], line));
    }
    umbo.start_with(&["--name", "live"], "$NAP");
    let names = |words: &[&str]| -> Vec<String> {
        let jobs = umbo.call([&["jobs", "--json"], words].concat()).json();
        let jobs = jobs["jobs"].as_array().unwrap();
        jobs.iter().map(|job| job["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&["--state", "ok"]), ["well-1", "well-2"]);
    assert_eq!(names(&["--state", "failed"]), ["badly"]);
    assert_eq!(names(&["--state", "running"]), ["live"]);
    assert_eq!(names(&["--state", "ended", "-n", "2"]), ["well-2", "badly"]);
    assert_eq!(names(&["--name", "well"]), ["well-1", "well-2"]);
    assert_eq!(names(&["--newer-than", "1d"]).len(), 4);
    assert_eq!(names(&["--newer-than", "0"]).len(), 0);
    assert_eq!(names(&["--owner", "nobody"]).len(), 0);
    assert_eq!(names(&["--label", "none"]).len(), 0);
}

/// What a person's terminal of 80 columns shows of a command, with its control sequences.
fn at_a_terminal(umbo: &Umbo, line: &str) -> String {
    let person = Umbo::new();
    let state = format!("UMBO_STATE_DIR={}", umbo.state().display());
    let options = ["--pty", "--size", "80x24", "--attended", "--env", &state];
    let terminal = person.start_with(&options, line);
    person.outcome(&terminal);
    person.call(["output", &terminal, "--raw"]).answer().text()
}

#[test]
fn a_terminal_of_80_columns_shows_each_command_in_one_line() {
    let umbo = Umbo::new();
    let long = format!("echo {} 漢字漢字漢字漢字漢字漢字漢字漢字", "word ".repeat(20));
    umbo.outcome(&umbo.start_with(&["--name", "漢字漢字漢字漢字漢字漢字漢字"], &long));
    umbo.outcome(&umbo.start("exit 3"));
    let line = format!("TERM=xterm {UMBO} jobs");
    let shown = at_a_terminal(&umbo, &line);
    let plain = umbo_view::sanitize::sanitize(shown.as_bytes());
    assert!(plain.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= 80), "{plain}");
    assert!(plain.contains("echo word") && plain.contains("failed 3"), "{plain}");
    assert!(shown.contains("\x1b[32mok\x1b[0m") && shown.contains("\x1b[31mfailed 3"), "{shown:?}");
    let without = at_a_terminal(&umbo, &format!("NO_COLOR=1 {line}"));
    assert!(!without.contains('\x1b'), "{without:?}");
    let forced = umbo.call(["jobs"]).env("CLICOLOR_FORCE", "1").answer().text();
    assert!(forced.contains("\x1b[32mok"), "{forced:?}");
}
