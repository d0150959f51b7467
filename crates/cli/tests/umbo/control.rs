//! What is done to jobs that are there, and to those that are yet to come: `restart`, `pause`, `resume`,
//! `signal`, `--after`, `--group`, `--notify`, `--replace`, `start --attach`.

use std::fs;
use std::time::Instant;

use rustix::process::Pid;
use serde_json::json;

use crate::harness::{TIMEOUT, UMBO, Umbo, is_alive, state, words};

/// Waits until something is so.
#[track_caller]
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::yield_now();
    }
}

/// How much processor time processes have used, in ticks.
fn used(pids: &[Pid]) -> u64 {
    let ticks = |pid: &Pid| {
        let text = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        // Fields 14 and 15 of proc(5); what follows the name begins with field 3.
        let rest: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        Some(rest[11].parse::<u64>().ok()? + rest[12].parse::<u64>().ok()?)
    };
    pids.iter().filter_map(ticks).sum()
}

fn spinning(umbo: &Umbo) -> String {
    // A child in a session of its own, which a signal to the group would not reach.
    umbo.start("setsid sh -c 'while :; do :; done' & while :; do :; done")
}

fn is_held_and_goes_on(umbo: &Umbo) {
    let job = spinning(umbo);
    let tree = || -> Vec<Pid> {
        crate::harness::processes()
            .filter(|pid| words(*pid).join(" ").contains("while :; do :; done"))
            .filter(|pid| {
                let environ = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero()));
                environ.is_ok_and(|text| String::from_utf8_lossy(&text).contains(&job))
            })
            .collect()
    };
    until("both loops run", || tree().len() >= 2);
    let loops = tree();
    until("they use the processor", || used(&loops) > 2);
    umbo.call(["pause", &job]).stdout(format!("{job} paused\n")).run();
    let listed = umbo.listed(&job);
    assert_eq!((&listed["state"], &listed["reason"]), (&json!("started"), &json!("paused")));
    let table = umbo.call(["jobs"]).answer().text();
    assert!(table.contains(" paused "), "{table}");
    // What stands still uses nothing: read twice with something between that takes its time.
    let before = used(&loops);
    for _ in 0..5 {
        umbo.exec("true").run();
    }
    assert_eq!(used(&loops), before, "somebody went on");
    umbo.call(["pause", &job]).stdout(format!("{job} paused\n")).run();
    umbo.call(["resume", &job]).stdout(format!("{job} resumed\n")).run();
    assert_eq!(umbo.listed(&job)["reason"], json!(null));
    until("they go on", || used(&loops) > before);
    assert!(umbo.call(["resume", &job]).refused().contains("not paused"));
    // A paused job is stopped like any other, and nothing is left.
    umbo.call(["pause", &job]).stdout(format!("{job} paused\n")).run();
    let stopped = umbo.stop(&job, &["--grace", "30s"]);
    assert_eq!(
        (&stopped["state"], &stopped["stage"]),
        (&json!("stopped"), &json!("term")),
        "{stopped}"
    );
    assert!(loops.iter().all(|pid| !is_alive(*pid)));
}

#[test]
fn a_paused_tree_stands_still_to_its_last_process_and_goes_on() {
    is_held_and_goes_on(&Umbo::new());
}

#[test]
fn the_same_without_a_control_group() {
    is_held_and_goes_on(&Umbo::unprivileged());
}

#[test]
fn the_time_limits_of_a_paused_job_wait_with_it() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--timeout", "10s"], "echo ready; $NAP");
    umbo.wait_for(&job, "ready");
    umbo.call(["pause", &job]).stdout(format!("{job} paused\n")).run();
    // Longer than the limit, which would have struck meanwhile.
    let met = umbo.wait(&job, &["--timeout", "11s"]);
    assert_eq!(met["reason"], "timeout", "{met}");
    umbo.call(["resume", &job]).stdout(format!("{job} resumed\n")).run();
    assert_eq!(umbo.outcome(&job)["state"], "timed_out");
}

#[test]
fn a_signal_reaches_the_group_or_the_first_process() {
    let umbo = Umbo::new();
    let line = "trap 'echo got usr1' USR1; trap 'echo got hup' HUP; echo ready; \
                while :; do $NAP & wait; done";
    let job = umbo.start(line);
    umbo.wait_for(&job, "ready");
    umbo.wait_nappers(1);
    let sleeper = umbo.nappers()[0];
    umbo.call(["signal", "--to", "first", &job, "usr1"]).stdout(format!("{job} signalled\n")).run();
    umbo.wait_for(&job, "got usr1");
    assert!(is_alive(sleeper), "only the first process got it");
    umbo.call(["signal", &job, "SIGHUP"]).stdout(format!("{job} signalled\n")).run();
    umbo.wait_for(&job, "got hup");
    until("the whole group got it", || state(sleeper).is_none_or(|state| state == 'Z'));
    let said = umbo.call(["signal", &job, "NOSUCH"]).refused();
    assert!(said.contains("NOSUCH") && said.contains("TERM"), "{said}");
    umbo.stop(&job, &["--kill"]);
    assert!(umbo.call(["signal", &job, "HUP"]).refused().contains("has ended"));
    assert!(umbo.call(["pause", &job]).refused().contains("has ended"));
}

#[test]
fn a_restart_is_the_same_command_in_the_place_of_the_old_one() {
    let umbo = Umbo::new();
    let options = ["--name", "web", "--env", "WORD=hello there", "--memory", "1G", "--pty"];
    let first = umbo.start_with(&options, "echo \"$WORD\"; pwd; $NAP");
    umbo.wait_for(&first, "hello there");
    umbo.wait_nappers(1);
    let second = umbo.call(["restart", "web"]).answer().text().trim().to_owned();
    assert_ne!(first, second);
    umbo.wait_for(&second, "hello there");
    umbo.wait_nappers(1);
    assert_eq!(umbo.listed(&first)["state"], "stopped");
    let (old, new) = (umbo.record(&first, "request"), umbo.record(&second, "request"));
    for same in ["command", "cwd", "name", "limits", "terminal", "shell"] {
        assert_eq!(old[same], new[same], "{same}");
    }
    // Once it has ended, nobody knows the value any more, and it is not made up.
    umbo.stop(&second, &["--kill"]);
    let said = umbo.call(["restart", "web"]).refused();
    assert!(said.contains("WORD") && said.contains("--env"), "{said}");
    assert_eq!(umbo.jobs().len(), 2, "nothing was started");
    let third = umbo.call(["restart", "--env", "WORD=again", "web", "--json"]).json();
    assert_eq!((&third["repeats"], &third["stopped"]), (&json!(second), &json!(null)));
    umbo.wait_for(third["job"].as_str().unwrap(), "again");
}

#[test]
fn a_restart_keeps_words_apart_and_asks_for_what_was_read() {
    let umbo = Umbo::new();
    let words = ["start", "--", "printf", "%s|", "a b", "$HOME", "'x'"];
    let job = umbo.call(words).answer().text().trim().to_owned();
    umbo.outcome(&job);
    let again = umbo.call(["restart", &job]).answer().text().trim().to_owned();
    umbo.outcome(&again);
    assert_eq!(umbo.output(&again), b"a b|$HOME|'x'|");
    let fed = umbo.start_with(&["--stdin", "secret"], "cat");
    umbo.outcome(&fed);
    assert!(umbo.call(["restart", &fed]).refused().contains("--stdin"));
    let again = umbo.call(["restart", "--stdin", "other", &fed]).answer().text();
    umbo.outcome(again.trim());
    assert_eq!(umbo.output(again.trim()), b"other");
}

#[test]
fn a_restart_that_a_rule_denies_stops_nothing() {
    let umbo = Umbo::new();
    let job = umbo.start("echo here; $NAP");
    umbo.wait_for(&job, "here");
    let own = umbo.path().join("home/.config/umbo");
    fs::create_dir_all(&own).unwrap();
    let rule =
        "[[rule]]\ndecision = \"deny\"\nname = \"no-echo\"\nreason = \"no\"\nargv = [\"echo\"]\n";
    fs::write(own.join("rules.toml"), rule).unwrap();
    let said = umbo.call(["restart", &job]).refused();
    assert!(said.contains("denied"), "{said}");
    assert_eq!(umbo.listed(&job)["state"], "started");
}

#[test]
fn a_name_is_one_live_jobs_own_and_replace_stops_that_one() {
    let umbo = Umbo::new();
    let first = umbo.start_with(&["--name", "web"], "$NAP");
    let said = umbo.call(["start", "--name", "web", "$NAP"]).refused();
    assert!(said.contains(&first) && said.contains("--replace"), "{said}");
    assert_eq!(umbo.jobs().len(), 1);
    let second = umbo.start_with(&["--name", "web", "--replace"], "$NAP");
    assert_eq!(umbo.listed(&first)["state"], "stopped");
    assert_eq!(umbo.listed(&second)["state"], "started");
    umbo.stop("web", &["--kill"]);
    // The name is free with the end of its job.
    umbo.call(["exec", "--name", "web", "true"]).run();
}

#[test]
fn of_many_at_once_one_gets_the_name() {
    let umbo = Umbo::new();
    let calls: Vec<_> =
        (0..6).map(|_| umbo.call(["start", "--name", "one", "$NAP"]).spawn()).collect();
    let answers = calls.into_iter().map(|call| call.answer().status);
    assert_eq!(answers.filter(|status| *status == 0).count(), 1);
    assert_eq!(umbo.jobs().len(), 1);
}

#[test]
fn a_job_after_another_waits_without_its_caller_and_knows_how_that_ended() {
    let umbo = Umbo::new();
    let first = umbo.start("read x; exit 3");
    let line = "echo \"$UMBO_AFTER_JOB $UMBO_AFTER_STATE $UMBO_AFTER_EXIT_CODE\"";
    let any = umbo.start_with(&["--after", &first], line);
    let ok = umbo.start_with(&["--after", &format!("{first}:ok")], "echo never");
    let then = umbo.start_with(&["--after", &any, "--after", &ok], "echo last");
    for waiting in [&any, &ok, &then] {
        let listed = umbo.listed(waiting);
        assert_eq!(listed["state"], "queued", "{listed}");
        assert!(listed["reason"].as_str().unwrap().contains("has ended"), "{listed}");
    }
    umbo.call(["input", &first, "\n"]).run();
    assert_eq!(umbo.outcome(&any)["code"], 0);
    assert_eq!(umbo.output(&any), format!("{first} exited 3\n").as_bytes());
    let refused = umbo.outcome(&ok);
    assert_eq!(refused["state"], "failed_to_start");
    assert!(refused.to_string().contains("was to end well first"), "{refused}");
    umbo.outcome(&then);
    assert_eq!(umbo.output(&then), b"last\n");
    assert!(umbo.call(["start", "--after", "nobody", "true"]).refused().contains("no job"));
}

#[test]
fn a_job_that_waits_for_another_can_be_stopped_and_outlives_a_lost_one() {
    let umbo = Umbo::new();
    let first = umbo.start("$NAP");
    let (second, third) = (
        umbo.start_with(&["--after", &first], "true"),
        umbo.start_with(&["--after", &first], "true"),
    );
    assert_eq!(umbo.stop(&second, &[])["state"], "stopped");
    // The end of a job whose supervisor is killed is an end like any other.
    crate::harness::signal(umbo.supervisor(&first), rustix::process::Signal::KILL);
    assert_eq!(umbo.outcome(&third)["code"], 0);
    assert_eq!(umbo.listed(&first)["state"], "lost");
}

#[test]
fn exec_waits_for_the_job_it_comes_after() {
    let umbo = Umbo::new();
    let first = umbo.start("read x; echo first");
    let second = umbo.call(["exec", "--after", &format!("{first}:ok"), "echo second"]).spawn();
    umbo.call(["input", &first, "\n"]).run();
    assert_eq!(second.answer().text(), "second\n");
}

#[test]
fn of_a_group_so_many_run_at_once_whatever_runs_besides() {
    let umbo = Umbo::new();
    let start = || umbo.start_with(&["--group", "builds"], "echo on; $NAP");
    let jobs = [start(), start(), start(), start()];
    let states = || jobs.each_ref().map(|job| umbo.listed(job)["state"].clone());
    umbo.wait_for(&jobs[0], "on");
    assert_eq!(states(), ["started", "queued", "queued", "queued"]);
    let listed = umbo.listed(&jobs[2]);
    assert_eq!(listed["queue_position"], 2, "{listed}");
    assert!(listed["reason"].as_str().unwrap().contains("group builds"), "{listed}");
    // Others are not kept waiting.
    umbo.exec("true").run();
    umbo.call(["exec", "--group", "other", "true"]).run();
    // Those who wait hear of a new limit.
    umbo.call(["groups", "builds", "--limit", "3"]).answer().expect_status(0);
    umbo.wait_for(&jobs[1], "on");
    umbo.wait_for(&jobs[2], "on");
    assert_eq!(states(), ["started", "started", "started", "queued"]);
    let groups = umbo.call(["groups", "--json"]).json();
    assert_eq!(
        groups,
        json!([
            {"name": "builds", "limit": 3, "running": 3, "queued": 1},
            {"name": "other", "limit": 1, "running": 0, "queued": 0},
        ])
    );
    umbo.stop(&jobs[0], &["--kill"]);
    umbo.wait_for(&jobs[3], "on");
    let said = umbo.call(["start", "--group", "../x", "true"]).refused();
    assert!(said.contains("group"), "{said}");
    assert!(umbo.call(["groups", "builds", "--limit", "0"]).refused().contains("limit"));
}

#[test]
fn a_job_inside_a_job_of_its_group_does_not_wait_for_it() {
    let umbo = Umbo::new();
    let inner = format!("'{UMBO}' exec --group one 'echo inside'");
    umbo.call(["exec", "--group", "one", &inner]).stdout("inside\n").run();
}

#[test]
fn the_end_of_a_job_is_notified_by_a_job_of_its_own() {
    let umbo = Umbo::new();
    let file = umbo.path().join("told");
    let line = format!("echo \"$UMBO_AFTER_STATE $UMBO_AFTER_EXIT_CODE\" > '{}'", file.display());
    let job = umbo.start_with(&["--notify", &line], "read x; exit 4");
    assert!(!file.exists());
    umbo.call(["input", &job, "\n"]).run();
    umbo.outcome(&job);
    let teller = umbo.call(["jobs", "--all", "--json", "--label", &format!("notifies_of={job}")]);
    let teller = teller.json()["jobs"][0]["job"].as_str().unwrap().to_owned();
    assert_eq!(umbo.outcome(&teller)["code"], 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "exited 4\n");
    fs::remove_file(&file).unwrap();
    umbo.call(["exec", "--notify", &line, "exit 5"]).status(5).run();
    until("exec notifies too", || fs::read_to_string(&file).is_ok_and(|text| text == "exited 5\n"));
    let marker = umbo.path().join("ran");
    let said =
        umbo.call(["start", "--notify", " ", &format!("touch '{}'", marker.display())]).refused();
    assert!(said.contains("--notify: it is empty"), "{said}");
    assert!(!marker.exists(), "nothing is started with a wrong word");
}

#[test]
fn start_attach_sits_down_at_once_and_can_leave() {
    let (person, umbo) = (Umbo::new(), Umbo::new());
    let sit = |line: &str| {
        let state = format!("UMBO_STATE_DIR={}", umbo.state().display());
        let options = ["--pty", "--size", "70x12", "--attended", "--env", &state];
        person.start_with(&options, &format!("'{UMBO}' start --attach --name seat \"{line}\""))
    };
    let seat = sit("stty size; read line; echo got-\\$line; exit 6");
    person.wait_for(&seat, "12 70");
    person.call(["input", &seat, "hello", "--key", "enter"]).run();
    person.wait_for(&seat, "got-hello");
    assert_eq!(person.outcome(&seat)["code"], 6, "it ends as the job does");
    let seat = sit("echo ready; read line; sleep 1000");
    person.wait_for(&seat, "ready");
    person.call(["input", &seat, "--key", "ctrl-\\"]).run();
    assert_eq!(person.outcome(&seat)["code"], 0);
    let left = String::from_utf8(person.output(&seat)).unwrap();
    assert!(left.contains("running; `umbo attach"), "{left}");
    let said = umbo.call(["start", "--attach", "true"]).refused();
    assert!(said.contains("terminal"), "{said}");
}
