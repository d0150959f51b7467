//! `umbo jobs`: what runs, and what ended.

use std::time::Duration;

use serde_json::json;
use umbo_engine::{Listed, Scope};

use crate::harness::Umbo;

#[test]
fn an_empty_list_is_no_error() {
    let umbo = Umbo::new();
    umbo.call(["jobs"]).stderr("no jobs; `umbo jobs --all` shows older ones\n").run();
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
    assert!(lines[1].contains("signaled by signal 9"), "{text}");
    assert!(lines[2].contains("started") && lines[2].ends_with("$NAP …"), "{text}");
}

#[test]
fn a_long_name_is_cut_for_a_person_only() {
    let umbo = Umbo::new();
    let name = "a-name-that-goes-on-and-on-and-on";
    umbo.start_with(&["--name", name], "$NAP");
    let text = umbo.call(["jobs"]).answer().text();
    assert!(text.contains(" a-name-that-goes-on-and… "), "{text}");
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
