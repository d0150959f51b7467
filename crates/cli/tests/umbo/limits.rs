//! What a job may use at most, and how many may run.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{UMBO, Umbo, dies, stat};

/// Whether the machine can enforce a limit, by its own word.
fn can(umbo: &Umbo, name: &str) -> bool {
    let findings = umbo.call(["doctor", "--json"]).json();
    findings
        .as_array()
        .unwrap()
        .iter()
        .any(|found: &Value| found["name"] == name && found["works"] == true)
}

#[test]
fn the_wall_limit_strikes_though_output_flows() {
    let umbo = Umbo::new();
    let answer = umbo.exec_json(&["--timeout", "1s"], "while :; do echo x; sleep 0.01; done");
    assert_eq!((&answer["state"], &answer["limit"]), (&json!("timed_out"), &json!("wall")));
    assert!(answer["duration_ms"].as_u64().unwrap() >= 1000, "{answer}");
    assert!(answer["stdout"].as_str().unwrap().starts_with("x\n"));
}

#[test]
fn the_idle_limit_is_about_silence_only() {
    let umbo = Umbo::new();
    let line = "for n in 1 2 3 4 5 6; do echo $n; sleep 0.2; done; $NAP";
    let answer = umbo.exec_json(&["--idle-timeout", "1s"], line);
    assert_eq!((&answer["state"], &answer["limit"]), (&json!("timed_out"), &json!("idle")));
    assert_eq!(
        answer["stdout"], "1\n2\n3\n4\n5\n6\n",
        "it ran longer than the limit while it spoke"
    );
}

#[test]
fn a_timeout_that_term_ends_gives_what_the_command_said() {
    let umbo = Umbo::new();
    let line = "trap 'echo cleaned; exit 0' TERM; $NAP & wait";
    let answer = umbo.exec_json(&["--timeout", "1.5"], line);
    assert_eq!((&answer["state"], &answer["stage"]), (&json!("timed_out"), &json!("term")));
    assert_eq!((&answer["exit_code"], &answer["stdout"]), (&json!(0), &json!("cleaned\n")));
    assert_eq!(answer["effects"], "complete");
}

#[test]
fn output_beyond_the_limit_stops_the_job() {
    let umbo = Umbo::new();
    let options = ["--max-output", "100k", "--on-max-output", "stop"];
    let answer = umbo.exec_json(&options, "yes");
    assert_eq!((&answer["state"], &answer["limit"]), (&json!("stopped"), &json!("output")));
    assert_eq!(answer["stopped_by"], "limit");
    let total = answer["total_bytes"].as_u64().unwrap();
    assert!(total >= 102_400, "{total}");
    let job = answer["job"].as_str().unwrap();
    let omitted = &umbo.record(job, "outcome")["omitted_bytes"];
    assert_eq!(*omitted, total - 102_400, "its last words are at the end of what is kept");
}

#[test]
fn a_flood_that_ignores_term_cannot_outrun_its_output_limit() {
    let umbo = Umbo::new();
    let options = ["--max-output", "100k", "--on-max-output", "stop"];
    let job = umbo.start_with(&options, "trap '' TERM; yes");
    umbo.wait(&job, &["--quiet", "0.3"]);
    umbo.stop(&job, &["--kill"]);
    let outcome = umbo.outcome(&job);
    assert_eq!((&outcome["state"], &outcome["limit"]), (&json!("stopped"), &json!("output")));
    assert!(outcome["total_bytes"].as_u64().unwrap() < 8 << 20, "{outcome}");
}

#[test]
fn output_beyond_the_limit_keeps_both_ends_and_counts_the_rest() {
    let umbo = Umbo::new();
    let line = "seq -w 0 99999; echo error >&2";
    let answer = umbo.exec_json(&["--max-output", "12000"], line);
    assert_eq!((&answer["state"], &answer["exit_code"]), (&json!("exited"), &json!(0)));
    assert_eq!(answer["total_bytes"], 600_006);
    assert_eq!(answer["lost_bytes"], 588_006);
    assert_eq!(answer["truncated"], true);
    // What is missing is said where it is missing.
    let text = answer["output"].as_str().unwrap();
    let notice = text.lines().find(|line| line.starts_with("[umbo: ") && line.contains("588006"));
    let (head, tail) = text.split_once(notice.unwrap()).unwrap();
    assert!(head.starts_with("00000\n") && tail.contains("99999\n") && tail.contains("error\n"));
    let text = answer["stdout"].as_str().unwrap();
    assert!(text.contains("[umbo: "), "stdout says it too");
    let job = answer["job"].as_str().unwrap();
    let kept = umbo.call(["output", job, "--raw"]).answer();
    assert_eq!(kept.stdout.len(), 12_000);
}

#[test]
fn memory_is_bounded_for_the_whole_tree() {
    let umbo = Umbo::new();
    assert!(can(&umbo, "limit memory"), "run the suite where control groups can limit memory");
    let line = "head -c 200M /dev/zero | tail | wc -c";
    let answer = umbo
        .exec_json(&["--memory", "32M", "--shell", "bash"], &format!("set -o pipefail; {line}"));
    assert_eq!(answer["limit"], "memory", "{answer}");
    assert_eq!(umbo.exec_json(&["--memory", "500M"], "echo fine")["limit"], json!(null));
}

#[test]
fn a_limit_that_struck_is_named_though_the_command_went_on() {
    let umbo = Umbo::new();
    let line = "head -c 200M /dev/zero | tail; echo survived";
    let answer = umbo.exec_json(&["--memory", "32M"], line);
    assert_eq!((&answer["exit_code"], &answer["limit"]), (&json!(0), &json!("memory")), "{answer}");
    let peak = answer["usage"]["tree_peak_bytes"].as_u64().unwrap();
    assert!((1 << 20..=32 << 20).contains(&peak), "{peak}");
    let answer = umbo.call(["exec", "--memory", "32M", line]).answer();
    assert_eq!((answer.status, answer.text()), (0, "survived\n".into()), "{answer:?}");
    assert!(answer.said().contains("its memory limit struck"), "{answer:?}");
}

#[test]
fn nothing_a_command_does_is_earlier_than_its_start() {
    let umbo = Umbo::new();
    for _ in 0..10 {
        let job = umbo.start("date +%s%6N");
        let outcome = umbo.outcome(&job);
        let said: u64 = String::from_utf8(umbo.output(&job)).unwrap().trim().parse().unwrap();
        assert!(outcome["started_at"].as_u64().unwrap() <= said, "{outcome} {said}");
    }
}

#[test]
fn the_number_of_processes_is_bounded() {
    let umbo = Umbo::new();
    assert!(can(&umbo, "limit processes"), "run the suite where control groups can limit pids");
    let line = "for n in $(seq 30); do sleep 0.3 & done; wait";
    let answer = umbo.exec_json(&["--pids", "10"], line);
    assert_eq!(answer["limit"], "processes", "{answer}");
    assert!(answer["stderr"].as_str().unwrap().contains("fork"), "{answer}");
}

#[test]
fn processor_time_is_bounded() {
    let umbo = Umbo::new();
    assert!(can(&umbo, "limit cpu"), "run the suite where control groups can limit cpu");
    // The group says itself how often it was held back.
    let line = "timeout 0.6 sh -c 'while :; do :; done'; \
                cat $(sed -n 's,.*:cpu[^:]*:,/sys/fs/cgroup/cpu,p;s,^0::,/sys/fs/cgroup,p' /proc/self/cgroup | \
                while read d; do test -f $d/cpu.stat && echo $d/cpu.stat; done)";
    let answer = umbo.exec_json(&["--cpu", "20"], line);
    let throttled = answer["stdout"]
        .as_str()
        .unwrap()
        .lines()
        .filter_map(|line| line.strip_prefix("nr_throttled "))
        .any(|count| count.parse::<u64>().unwrap() > 0);
    assert!(throttled, "{answer}");
}

#[test]
fn niceness_is_the_commands() {
    let umbo = Umbo::new();
    umbo.call(["exec", "--nice", "7", "nice"]).stdout("7\n").run();
    let said = umbo.call(["exec", "--nice", "20", "true"]).refused();
    assert!(said.contains("20 is not between -20 and 19"), "{said}");
}

#[test]
fn a_limit_nobody_can_enforce_is_said() {
    let umbo = Umbo::unprivileged();
    assert!(
        !can(&umbo, "limit memory"),
        "this user may limit memory: the test needs one who may not"
    );
    let answer = umbo.exec_json(&["--memory", "10M"], "echo ran");
    assert_eq!(answer["stdout"], "ran\n");
    let note = answer["notes"][0].as_str().unwrap();
    assert!(note.contains("memory limit is not enforced"), "{note}");
}

#[test]
fn groups_of_limits_go_with_the_job() {
    let umbo = Umbo::new();
    let options = ["--memory", "100M", "--pids", "100", "--cpu", "50"];
    let job = umbo.start_with(&options, "$NAP");
    assert!(!umbo.control_groups().is_empty());
    umbo.stop(&job, &["--kill"]);
    let killed = umbo.start_with(&options, "$NAP");
    rustix::process::kill_process(umbo.supervisor(&killed), rustix::process::Signal::KILL).unwrap();
    assert_eq!(umbo.outcome(&killed)["state"], "lost");
}

#[test]
fn usage_is_what_the_command_used() {
    let umbo = Umbo::new();
    let answer =
        umbo.exec_json(&["--shell", "bash"], "x=$(head -c 50M /dev/zero | tr '\\0' x); : ${#x}");
    assert!(answer["usage"]["peak_bytes"].as_u64().unwrap() > 40 << 20, "{}", answer["usage"]);
    let small = umbo.exec_json(&[], "true");
    assert_eq!(small["usage"]["peak_bytes"], json!(null), "less than can be told: {small}");
    let time = answer["usage"]["user_us"].as_u64().unwrap()
        + answer["usage"]["system_us"].as_u64().unwrap();
    assert!(time > 1000, "{}", answer["usage"]);
}

fn start_one_at_a_time(umbo: &Umbo, line: &str) -> String {
    start_of_at_most(umbo, "1", line)
}

fn start_of_at_most(umbo: &Umbo, most: &str, line: &str) -> String {
    let answer = umbo.call(["start", line]).env("UMBO_MAX_RUNNING", most).answer();
    assert_eq!(answer.status, 0, "{answer:?}");
    answer.text().trim().to_owned()
}

#[test]
fn a_job_too_many_waits_for_its_turn() {
    let umbo = Umbo::new();
    let first = start_one_at_a_time(&umbo, "read x");
    let second = start_one_at_a_time(&umbo, "echo second");
    let listed = umbo.listed(&second);
    assert_eq!((&listed["state"], &listed["started_at"]), (&json!("queued"), &json!(null)));
    umbo.call(["input", &first, "\n"]).run();
    assert_eq!(umbo.outcome(&second)["code"], 0);
    let started = umbo.outcome(&second)["started_at"].as_u64().unwrap();
    assert!(started >= umbo.outcome(&first)["ended_at"].as_u64().unwrap());
}

#[test]
fn a_job_too_many_is_refused_when_it_may_not_wait() {
    let umbo = Umbo::new();
    let job = start_one_at_a_time(&umbo, "$NAP");
    let refused = |words: &[&str]| umbo.call(words).env("UMBO_MAX_RUNNING", "1").refused();
    let said = refused(&["exec", "--no-queue", "touch ran"]);
    assert!(said.contains("1 jobs are running, the most allowed"), "{said}");
    assert_eq!(umbo.jobs().len(), 1, "a refusal leaves no job");
    assert!(!umbo.path().join("ran").exists());
    umbo.stop(&job, &["--kill"]);
    umbo.call(["exec", "--no-queue", "echo ran"])
        .env("UMBO_MAX_RUNNING", "1")
        .stdout("ran\n")
        .run();
}

#[test]
fn ten_run_at_once_unless_said_otherwise() {
    let umbo = Umbo::new();
    for _ in 0..10 {
        umbo.start("$NAP");
    }
    assert!(umbo.call(["exec", "--no-queue", "true"]).refused().contains("10 jobs are running"));
    umbo.call(["exec", "--no-queue", "true"]).env("UMBO_MAX_RUNNING", "11").run();
}

#[test]
fn a_place_is_free_the_moment_its_job_is_over() {
    let umbo = Umbo::new();
    for _ in 0..30 {
        let call = umbo.call(["exec", "--no-queue", "true"]);
        call.env("UMBO_MAX_RUNNING", "1").run();
    }
}

#[test]
fn everyone_in_a_long_queue_gets_a_turn() {
    let umbo = Umbo::new();
    let clients: Vec<_> = (0..24)
        .map(|number| {
            let line = format!("echo {number} >>turns");
            umbo.call(["exec", &line]).env("UMBO_MAX_RUNNING", "2").spawn()
        })
        .collect();
    for client in clients {
        assert_eq!(client.answer().status, 0);
    }
    let turns = fs::read_to_string(umbo.path().join("turns")).unwrap();
    assert_eq!(turns.lines().count(), 24);
}

#[test]
fn a_killed_job_frees_its_place() {
    let umbo = Umbo::new();
    let first = start_one_at_a_time(&umbo, "$NAP");
    let second = start_one_at_a_time(&umbo, "echo second");
    rustix::process::kill_process(umbo.supervisor(&first), rustix::process::Signal::KILL).unwrap();
    assert_eq!(umbo.outcome(&second)["code"], 0);
    assert_eq!(umbo.outcome(&first)["state"], "lost");
}

/// Starts jobs of which one runs and the others wait; their ids.
fn start_a_line(umbo: &Umbo, count: usize) -> Vec<String> {
    let first = start_one_at_a_time(umbo, "read x; echo 0 >>turns");
    let others = (1..count).map(|n| start_one_at_a_time(umbo, &format!("echo {n} >>turns")));
    std::iter::once(first).chain(others).collect()
}

#[test]
fn the_line_can_be_seen_and_the_oldest_goes_first() {
    let umbo = Umbo::new();
    let jobs = start_a_line(&umbo, 5);
    let place = |job: &str| umbo.listed(job)["queue_position"].clone();
    assert_eq!(place(&jobs[0]), json!(null), "it runs");
    for (number, job) in jobs.iter().enumerate().skip(1) {
        assert_eq!(place(job), json!(number));
    }
    let table = umbo.call(["jobs"]).answer().text();
    assert!(table.contains("queued #1") && table.contains("queued #4"));
    umbo.stop(&jobs[2], &[]);
    assert_eq!((place(&jobs[1]), place(&jobs[4])), (json!(1), json!(3)), "the line closes up");
    umbo.call(["input", &jobs[0], "\n"]).run();
    for job in &jobs {
        umbo.outcome(job);
    }
    assert_eq!(fs::read_to_string(umbo.path().join("turns")).unwrap(), "0\n1\n3\n4\n");
    assert_eq!(place(&jobs[4]), json!(null));
}

#[test]
fn one_who_was_killed_in_the_line_is_not_waited_for() {
    let umbo = Umbo::new();
    let jobs = start_a_line(&umbo, 3);
    for pid in [umbo.keeper(&jobs[1]), umbo.supervisor(&jobs[1])] {
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        assert!(dies(pid));
    }
    assert_eq!(umbo.listed(&jobs[2])["queue_position"], 1);
    umbo.call(["input", &jobs[0], "\n"]).run();
    umbo.outcome(&jobs[2]);
    assert_eq!(fs::read_to_string(umbo.path().join("turns")).unwrap(), "0\n2\n");
}

#[test]
fn who_may_use_more_places_passes_those_who_wait_for_fewer() {
    let umbo = Umbo::new();
    start_a_line(&umbo, 2);
    umbo.exec("echo passed").stdout("passed\n").run();
}

#[test]
fn who_may_use_more_places_goes_on_when_the_one_in_its_way_leaves() {
    let umbo = Umbo::new();
    let running = [(); 2].map(|()| start_of_at_most(&umbo, "2", "read x"));
    let in_the_way = start_of_at_most(&umbo, "2", "true");
    let for_fewer = start_one_at_a_time(&umbo, "true");
    let last = start_of_at_most(&umbo, "2", "echo last");
    umbo.stop(&in_the_way, &[]);
    umbo.call(["input", &running[1], "\n"]).run();
    assert_eq!(umbo.outcome(&last)["code"], 0);
    assert_eq!(umbo.listed(&for_fewer)["queue_position"], 1);
}

#[test]
fn those_who_wait_in_line_take_no_processor_time() {
    let umbo = Umbo::new();
    let jobs = start_a_line(&umbo, 3);
    let waited = umbo.call(["wait", &jobs[2], "--timeout", "1s"]).answer();
    assert_eq!(waited.status, 124);
    for job in &jobs[1..] {
        let stat = stat(umbo.supervisor(job)).unwrap();
        let ticks = stat[11].parse::<u64>().unwrap() + stat[12].parse::<u64>().unwrap();
        // Of the hundred that passed.
        assert!(ticks < 20, "{ticks} ticks");
    }
}

#[test]
fn a_person_who_waits_for_a_place_is_told() {
    let (person, umbo) = (Umbo::new(), Umbo::new());
    let job = start_one_at_a_time(&umbo, "read x");
    let state = format!("UMBO_STATE_DIR={}", umbo.state().display());
    let options = ["--pty", "--env", &state, "--env", "UMBO_MAX_RUNNING=1"];
    let seat = person.start_with(&options, &format!("'{UMBO}' exec 'echo it is my turn'"));
    person.wait_for(&seat, "waits, 1st in line");
    umbo.call(["input", &job, "\n"]).run();
    person.wait_for(&seat, "it is my turn");
}

#[test]
fn waiting_for_a_place_does_not_count_as_time() {
    let umbo = Umbo::new();
    let first = start_one_at_a_time(&umbo, "read x");
    let options = ["start", "--timeout", "0.3", "--idle-timeout", "0.3", "echo ran"];
    let second = umbo.call(options).env("UMBO_MAX_RUNNING", "1").answer().text();
    assert_eq!(umbo.wait(second.trim(), &["--timeout", "0.6"])["reason"], "timeout");
    umbo.call(["input", &first, "\n"]).run();
    assert_eq!(umbo.outcome(second.trim())["state"], "exited");
}

#[test]
fn a_job_inside_a_job_does_not_wait_for_its_ancestors_place() {
    let umbo = Umbo::new();
    let line = r#""$UMBO" exec '"$UMBO" exec "echo innermost; exit 3"'"#;
    umbo.exec(line)
        .env("UMBO", UMBO)
        .env("UMBO_MAX_RUNNING", "1")
        .stdout("innermost\n")
        .status(3)
        .run();
    let jobs = umbo.jobs();
    assert_eq!(jobs[0]["parent"], json!(null));
    assert_eq!((&jobs[1]["parent"], &jobs[2]["parent"]), (&jobs[0]["job"], &jobs[1]["job"]));
}

#[test]
fn jobs_inside_a_job_are_bounded_among_themselves() {
    let umbo = Umbo::new();
    let line = r#""$UMBO" start "$NAP" >/dev/null; "$UMBO" exec --no-queue true; echo $?"#;
    let answer = umbo.exec(line).env("UMBO", UMBO).env("UMBO_MAX_RUNNING", "1").answer();
    assert_eq!(answer.text(), "125\n", "{answer:?}");
    assert!(answer.said().contains("1 jobs are running, the most allowed"), "{answer:?}");
    assert!(answer.said().contains("UMBO_MAX_RUNNING"), "{answer:?}");
}

#[test]
fn a_time_limit_of_nothing_is_none() {
    let umbo = Umbo::new();
    for options in [["--timeout", "0"], ["--idle-timeout", "0"]] {
        umbo.call(["exec", options[0], options[1], "sleep 0.3; echo done"]).stdout("done\n").run();
    }
    for field in ["timeout", "idle_timeout"] {
        let arguments = json!({"command": "sleep 0.3; echo done", field: 0}).to_string();
        let answer = umbo.call(["call", "exec", &arguments]).json();
        assert_eq!((&answer["state"], &answer["output"]), (&json!("exited"), &json!("done\n")));
    }
}

#[test]
fn what_is_kept_and_what_is_dropped_adds_up_for_every_reader() {
    let umbo = Umbo::new();
    for policy in ["keep-ends", "stop"] {
        for (limit, line) in [
            (1_u64, "printf abc"),
            (1000, "seq 1 1000"),
            (1001, "seq 1 1000; seq 1 1000 >&2"),
            (70_000, "seq 1 100000"),
            (5000, "seq 1 100"),
        ] {
            let (bytes, what) = (limit.to_string(), format!("{policy} {limit} {line}"));
            let options = ["--max-output", &bytes, "--on-max-output", policy];
            let answer = umbo.exec_json(&options, line);
            let job = answer["job"].as_str().unwrap();
            let (total, lost) = (answer["total_bytes"].as_u64(), answer["lost_bytes"].as_u64());
            let (total, lost) = (total.unwrap(), lost.unwrap());
            assert_eq!(total - lost, total.min(limit), "exact: {what}");
            let outcome = umbo.outcome(job);
            assert_eq!(outcome["total_bytes"], total, "{what}");
            assert_eq!(outcome["omitted_bytes"], lost, "{what}");
            assert_eq!(umbo.listed(job)["total_bytes"], total, "{what}");
            let read = umbo.call(["output", "--json", job]).json();
            assert_eq!((&read["lost_bytes"], &read["total_bytes"]), (&json!(lost), &json!(total)));
            let raw = umbo.call(["output", "--raw", job]).answer();
            assert_eq!(raw.stdout.len() as u64, total - lost, "{what}: {}", raw.said());
            let told = umbo.call(["call", "output", &json!({"job": job}).to_string()]).json();
            assert_eq!(told["lost_bytes"].as_u64().unwrap_or(0), lost, "{what}: {told}");
        }
    }
}
