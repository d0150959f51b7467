//! `umbo attach`: a person at a job's terminal. The person's terminal is a job of another umbo.

use crate::harness::{UMBO, Umbo, dies, pid};

/// A terminal at which somebody attaches to `job`; the id of the job that is the terminal.
fn sit_down(person: &Umbo, umbo: &Umbo, job: &str) -> String {
    let state = format!("UMBO_STATE_DIR={}", umbo.state().display());
    let options = ["--pty", "--size", "60x10", "--attended", "--env", &state];
    person.start_with(&options, &format!("'{UMBO}' attach {job}"))
}

#[test]
fn keys_go_in_and_the_picture_comes_out() {
    let (person, umbo) = (Umbo::new(), Umbo::new());
    let job = umbo.start_with(&["--pty"], "echo before; read line; echo \"got $line\"; exit 5");
    umbo.wait_for(&job, "before");
    let seat = sit_down(&person, &umbo, &job);
    person.wait_for(&seat, "before");
    person.call(["input", &seat, "hello", "--key", "enter"]).run();
    person.wait_for(&seat, "got hello");
    let outcome = person.outcome(&seat);
    assert_eq!(outcome["code"], 5, "attach ends as the job does");
    assert_eq!(umbo.outcome(&job)["code"], 5);
}

#[test]
fn the_detach_key_leaves_the_job_running() {
    let (person, umbo) = (Umbo::new(), Umbo::new());
    let job = umbo.start_with(&["--pty"], "echo ready; read line; echo \"got $line\"; $NAP");
    let seat = sit_down(&person, &umbo, &job);
    person.wait_for(&seat, "ready");
    person.call(["input", &seat, "--key", "ctrl-\\"]).run();
    assert_eq!(person.outcome(&seat)["code"], 0);
    assert!(String::from_utf8(person.output(&seat)).unwrap().contains("running"));
    assert_eq!(umbo.listed(&job)["state"], "started");
    umbo.call(["input", &job, "x\n"]).run();
    umbo.wait_for(&job, "got x");
}

#[test]
fn a_job_survives_the_umbo_that_is_attached_to_it() {
    let (person, umbo) = (Umbo::new(), Umbo::new());
    let job = umbo.start_with(&["--pty"], "echo ready; read line; echo \"got $line\"; exit 7");
    let seat = sit_down(&person, &umbo, &job);
    person.wait_for(&seat, "ready");
    let attached = pid(person.listed(&seat)["pid"].as_i64().unwrap());
    person.stop(&seat, &["--kill"]);
    assert!(dies(attached));
    assert_eq!(umbo.listed(&job)["state"], "started");
    let again = sit_down(&person, &umbo, &job);
    person.wait_for(&again, "ready");
    person.call(["input", &again, "back", "--key", "enter"]).run();
    assert_eq!(person.outcome(&again)["code"], 7);
    assert!(String::from_utf8(umbo.output(&job)).unwrap().contains("got back"));
}

#[test]
fn the_jobs_terminal_takes_the_size_of_the_persons_and_follows_it() {
    let (person, umbo) = (Umbo::new(), Umbo::new());
    let line = "trap 'stty size' WINCH; $NAP & echo ready; while :; do wait; done";
    let job = umbo.start_with(&["--pty"], line);
    umbo.wait_for(&job, "ready");
    let seat = sit_down(&person, &umbo, &job);
    umbo.wait_for(&job, "10 60");
    person.call(["input", &seat, "--resize", "90x20"]).run();
    umbo.wait_for(&job, "20 90");
}

#[test]
fn without_a_terminal_it_says_what_to_use_instead() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--pty"], "$NAP");
    let said = umbo.call(["attach", &job]).refused();
    assert!(said.contains("needs a terminal") && said.contains("umbo input"), "{said}");
    umbo.stop(&job, &["--kill"]);
    assert!(umbo.call(["attach", &job]).refused().contains("has ended"));
}

#[test]
fn a_new_size_reaches_a_job_that_never_stops_writing() {
    let (person, umbo) = (Umbo::new(), Umbo::new());
    let line = "trap 'stty size' WINCH; while :; do echo busy; sleep 0.01; done";
    let job = umbo.start_with(&["--pty"], line);
    let seat = sit_down(&person, &umbo, &job);
    umbo.wait_for(&job, "10 60");
    person.call(["input", &seat, "--resize", "90x20"]).run();
    umbo.wait_for(&job, "20 90");
}

#[test]
fn a_line_that_a_rule_denies_is_not_sent_and_the_person_is_told() {
    let (person, umbo) = (Umbo::new(), Umbo::new());
    let line = "stty -echo; echo ready; while read line; do echo \"got $line\"; done";
    let job = umbo.start_with(&["--pty"], line);
    umbo.wait_for(&job, "ready");
    let seat = sit_down(&person, &umbo, &job);
    person.wait_for(&seat, "ready");
    // Not by `umbo input`, which the same rule holds for.
    let keyboard = person.engine().job(&seat).unwrap();
    keyboard.input(b"rm -rf / --no-preserve-root\r").unwrap();
    person.wait_for(&seat, "denied by");
    assert!(!String::from_utf8(umbo.output(&job)).unwrap().contains("got rm"));
    keyboard.input(b"\x15echo fine\r").unwrap();
    umbo.wait_for(&job, "got echo fine");
    umbo.stop(&job, &["--kill"]);
}

#[test]
fn ctrl_z_at_the_jobs_terminal_goes_to_its_program() {
    let (person, umbo) = (Umbo::new(), Umbo::new());
    let options = ["--pty", "--attended", "--env", "PS1=inner> "];
    let job = umbo.start_with(&options, "bash --norc --noprofile -i");
    umbo.wait_for(&job, "inner> ");
    let seat = sit_down(&person, &umbo, &job);
    person.wait_for(&seat, "inner> ");
    person.type_into(&seat, &umbo.nap(), &["enter"]);
    umbo.wait_nappers(1);
    person.type_into(&seat, "", &["ctrl-z"]);
    // The shell inside has it, and goes on.
    umbo.wait_for(&job, "Stopped");
    person.type_into(&seat, "echo still-$((40 + 2))", &["enter"]);
    person.wait_for(&seat, "still-42");
    assert_ne!(umbo.listed(&job)["reason"], "paused");
    assert_eq!(person.listed(&seat)["state"], "started");
    umbo.stop(&job, &["--kill"]);
}
