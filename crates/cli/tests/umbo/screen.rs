//! `umbo screen`: what a terminal shows.

use std::fs;

use serde_json::json;

use crate::harness::{Umbo, numbered};

fn rows(umbo: &Umbo, job: &str) -> Vec<String> {
    umbo.call(["screen", job]).answer().text().lines().map(str::to_owned).collect()
}

#[test]
fn a_program_that_draws_is_seen_as_a_person_sees_it() {
    let umbo = Umbo::new();
    let draw =
        r"printf '\033[2J\033[1;1Htop left\033[3;5Hindented\033[3;5HI\033[6;1H\033[31mred\033[0m'";
    let job =
        umbo.start_with(&["--pty", "--size", "40x6"], &format!("{draw}; echo; printf here; $NAP"));
    umbo.wait_for(&job, "here");
    let shown = umbo.call(["screen", &job, "--json"]).json();
    assert_eq!((&shown["columns"], &shown["rows"]), (&json!(40), &json!(6)));
    // The line feed at the bottom scrolled all by one.
    assert_eq!(shown["lines"], json!(["", "    Indented", "", "", "red", "here"]));
    assert_eq!(shown["cursor"], json!([4, 5]));
}

#[test]
fn a_pager_shows_its_page_and_turns_it() {
    let umbo = Umbo::new();
    let text = numbered("line ", 1..=100);
    fs::write(umbo.path().join("text"), text).unwrap();
    let job = umbo.start_with(&["--pty", "--size", "30x5", "--attended"], "less text");
    umbo.wait_for(&job, "line 4");
    umbo.wait(&job, &["--quiet", "0.2"]);
    assert_eq!(rows(&umbo, &job)[..4], ["line 1", "line 2", "line 3", "line 4"]);
    umbo.call(["input", &job, "--key", "G"]).run();
    umbo.wait_for(&job, "line 100");
    umbo.wait(&job, &["--quiet", "0.2"]);
    assert_eq!(rows(&umbo, &job)[..4], ["line 97", "line 98", "line 99", "line 100"]);
    umbo.call(["input", &job, "--key", "q"]).run();
    assert_eq!(umbo.outcome(&job)["code"], 0);
}

#[test]
fn an_editor_is_driven_by_keys_and_writes_its_file() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--pty", "--attended"], "vi -u NONE -n note");
    umbo.wait_for(&job, "note");
    umbo.call(["input", &job, "ihello from a key"]).run();
    umbo.wait_for(&job, "hello from a key");
    umbo.wait(&job, &["--quiet", "0.2"]);
    assert_eq!(rows(&umbo, &job)[0], "hello from a key");
    umbo.call(["input", &job, "--key", "escape"]).run();
    umbo.call(["input", &job, ":wq", "--key", "enter"]).run();
    assert_eq!(umbo.outcome(&job)["code"], 0);
    assert_eq!(fs::read_to_string(umbo.path().join("note")).unwrap(), "hello from a key\n");
}

#[test]
fn the_screen_of_a_job_that_is_over_is_its_last() {
    let umbo = Umbo::new();
    let job = umbo.start_with(
        &["--pty", "--size", "20x3"],
        "printf 'é wide 漢字 \\342\\202'; echo; echo last",
    );
    umbo.outcome(&job);
    let rows = rows(&umbo, &job);
    assert_eq!(rows[0], "é wide 漢字 \u{fffd}");
    assert_eq!(rows[1], "last");
}

#[test]
fn a_job_without_a_terminal_has_no_screen() {
    let umbo = Umbo::new();
    let job = umbo.start("$NAP");
    assert!(umbo.call(["screen", &job]).refused().contains("has no terminal"));
}
