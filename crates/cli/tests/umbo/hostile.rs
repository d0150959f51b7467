//! Commands that do not want to be stopped: nothing of them is left, with a control group and
//! without one.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{Umbo, dies, is_alive, numbered, pid, processes, signal, state, words};

/// Each prints `ready` when its tree stands, and does not end by itself.
pub(crate) const CORPUS: &[(&str, &str)] = &[
    ("setsid", "setsid $NAP & setsid -f $NAP; echo ready; $NAP"),
    ("double fork", "( ( $NAP & ) & ); ( setsid sh -c '$NAP & exit' & ); echo ready; $NAP"),
    ("nohup", "nohup $NAP >/dev/null 2>&1 & echo ready; $NAP"),
    (
        "ignores TERM",
        "trap '' TERM INT HUP QUIT; (while :; do $NAP; done) & echo ready; while :; do $NAP; done",
    ),
    ("stopped child", "$NAP & kill -STOP $!; echo ready; $NAP"),
    (
        "stopped and ignoring",
        "(trap '' TERM; kill -STOP $(sh -c 'echo $PPID'); $NAP) & echo ready; $NAP",
    ),
    ("stops itself", "$NAP & echo ready; kill -STOP $$"),
    ("tee", "bash -c 'echo x > >(tee /dev/null; exec $NAP); echo ready; exec $NAP'"),
    ("no environment", "env -i setsid $NAP & echo ready; $NAP"),
    ("closed streams", "setsid $NAP <&- >&- 2>&- & echo ready; $NAP"),
    ("own terminal", "script -qc \"$NAP\" /dev/null >/dev/null & echo ready; $NAP"),
    (
        "respawns on TERM",
        "trap 'setsid $NAP & setsid $NAP &' TERM; $NAP & echo ready; while :; do wait; done",
    ),
];

/// What proves a tree empty for this user, by the machine's own word.
pub(crate) fn proof(umbo: &Umbo) -> &'static str {
    let findings = umbo.call(["doctor", "--json"]).json();
    let works = |found: &Value| found["name"] == "cgroup" && found["works"] == true;
    if findings.as_array().unwrap().iter().any(works) { "cgroup" } else { "subreaper" }
}

/// Forks as fast as three loops can, each fork leaving its session.
const STORM: &str =
    "storm() { while :; do setsid $NAP & done; }; storm & storm & storm & echo ready; wait";

#[test]
fn storm_of_forks_is_emptied_by_the_control_group() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--pids", "2000"], STORM);
    umbo.wait_for(&job, "ready");
    let ended = umbo.stop(&job, &["--kill"]);
    assert_eq!(ended["contained_by"], proof(&umbo), "{ended}");
    assert!(umbo.nappers().is_empty());
}

#[test]
fn storm_of_forks_is_emptied_by_the_subreaper_alone() {
    let umbo = Umbo::unprivileged();
    let job = umbo.start(STORM);
    umbo.wait_for(&job, "ready");
    let ended = umbo.stop(&job, &["--kill"]);
    assert_eq!(ended["contained_by"], "subreaper", "{ended}");
    assert!(umbo.nappers().is_empty());
}

#[test]
fn storm_that_ignores_term_is_emptied_after_the_grace() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--pids", "1000"], &format!("trap '' TERM; {STORM}"));
    umbo.wait_for(&job, "ready");
    let ended = umbo.stop(&job, &["--grace", "0.2"]);
    assert_eq!(ended["stage"], "kill", "{ended}");
    assert!(umbo.nappers().is_empty());
}

#[test]
fn a_setsid_grandchild_dies_with_its_job() {
    for umbo in [Umbo::new(), Umbo::unprivileged()] {
        let answer = umbo.exec_json(&[], "setsid $NAP & echo out; exit 3");
        assert_eq!((&answer["state"], &answer["exit_code"]), (&json!("exited"), &json!(3)));
        assert_eq!(answer["leaked"].as_array().unwrap().len(), 1, "{answer}");
        assert_eq!(answer["leaked"][0]["fate"], "killed");
        assert!(answer["leaked"][0]["command"].as_str().unwrap().starts_with("sleep "), "{answer}");
        assert_eq!(answer["contained_by"], proof(&umbo));
        assert!(umbo.nappers().is_empty());
    }
}

#[test]
fn a_leak_is_left_alone_when_the_request_says_so() {
    for umbo in [Umbo::new(), Umbo::unprivileged()] {
        let answer = umbo.exec_json(&["--leaks", "leave"], "setsid $NAP & exit 0");
        assert_eq!(answer["leaked"][0]["fate"], "left");
        assert_eq!(answer["contained_by"], json!(null), "nothing proves an empty tree");
        let leak = pid(answer["leaked"][0]["pid"].as_i64().unwrap());
        assert!(is_alive(leak));
        signal(leak, Signal::KILL);
        assert!(dies(leak));
        let group = umbo.control_group(answer["job"].as_str().unwrap());
        umbo.call(["prune", "--all"]).stdout("1 jobs deleted\n").run();
        assert!(group.is_none_or(|group| !group.exists()));
    }
}

#[test]
fn a_leak_of_many_is_counted_exactly_and_listed_in_part() {
    let umbo = Umbo::new();
    let job = umbo.start("for n in $(seq 30); do $NAP & done; exit 0");
    let outcome = umbo.outcome(&job);
    let listed = outcome["leaked"].as_array().unwrap().len();
    assert_eq!((listed, &outcome["more_leaked"]), (20, &json!(10)));
    let events = umbo.events(0);
    let leaked = events.iter().find(|event| event["kind"] == "leaked").unwrap();
    assert_eq!(leaked["count"], 30);
    let answer = umbo.exec("for n in $(seq 30); do $NAP & done; exit 0").answer();
    assert!(answer.said().contains("and 10 more"), "{answer:?}");
    assert_eq!(umbo.stop(&job, &[])["leaked_count"], 30);
}

#[test]
fn a_person_is_told_what_outlived_the_command() {
    let umbo = Umbo::new();
    let answer = umbo.exec("$NAP & exit 0").answer();
    assert_eq!(answer.status, 0);
    assert!(answer.said().contains("outlived the command"), "{answer:?}");
    assert!(answer.said().contains("(killed)"), "{answer:?}");
}

#[test]
fn a_command_that_leaves_nothing_has_no_leaks() {
    let umbo = Umbo::new();
    let answer = umbo.exec_json(&[], "(sleep 0.05; echo late) & wait; echo done");
    assert_eq!(answer["leaked"], json!([]));
    assert_eq!(answer["stdout"], "late\ndone\n");
    assert_eq!(answer["drained"], "eof");
}

#[test]
fn output_written_through_tee_is_complete() {
    let umbo = Umbo::new();
    // The tee ends after the command, as it reads its input to the end.
    let line = "seq 1000 > >(tee copy >&2)";
    let answer = umbo.exec_json(&["--shell", "bash", "--budget", "none"], line);
    let expected = numbered("", 1..=1000);
    assert_eq!(answer["stderr"], expected);
    assert_eq!(answer["leaked"], json!([]));
    assert_eq!(fs::read_to_string(umbo.path().join("copy")).unwrap(), expected);
}

#[test]
fn a_time_limit_reaches_the_whole_hostile_tree() {
    for umbo in [Umbo::new(), Umbo::unprivileged()] {
        let line = "trap '' TERM; setsid $NAP & $NAP & while :; do $NAP; done";
        let job = umbo.start_with(&["--timeout", "0.2"], line);
        // The default ladder: TERM, 5 s, KILL; a stop hastens it.
        umbo.wait(&job, &["--timeout", "0.4"]);
        umbo.stop(&job, &["--kill"]);
        let outcome = umbo.outcome(&job);
        assert_eq!((&outcome["state"], &outcome["limit"]), (&json!("timed_out"), &json!("wall")));
        assert_eq!(outcome["stage"], "kill");
        assert!(umbo.nappers().is_empty());
    }
}

#[test]
fn a_stopped_job_is_woken_to_hear_of_its_end() {
    let umbo = Umbo::new();
    let job = umbo.start("trap 'echo bye; exit 0' TERM; echo ready; kill -STOP $$; $NAP & wait");
    umbo.wait_for(&job, "ready");
    let command = pid(umbo.listed(&job)["pid"].as_i64().unwrap());
    umbo.wait(&job, &["--quiet", "0.1"]);
    assert_eq!(state(command), Some('T'));
    let ended = umbo.stop(&job, &["--grace", "10"]);
    assert_eq!((&ended["stage"], &ended["exit_code"]), (&json!("term"), &json!(0)));
}

#[test]
fn a_job_that_stops_its_supervisor_has_its_limits_all_the_same() {
    let stoppers = [
        "kill -STOP $PPID; $NAP",
        // Again and again, so that it would never get to its work.
        "while :; do kill -STOP $PPID; done",
        "(trap '' TERM; while :; do kill -STOP $PPID; done) & while :; do kill -STOP $PPID; done",
    ];
    for umbo in [Umbo::new(), Umbo::unprivileged()] {
        for line in stoppers {
            let job = umbo.start_with(&["--timeout", "0.3"], line);
            // The last one outlives TERM; the grace need not be waited for.
            umbo.wait(&job, &["--timeout", "1"]);
            umbo.stop(&job, &["--kill"]);
            let outcome = umbo.outcome(&job);
            assert_eq!(
                (&outcome["state"], &outcome["limit"]),
                (&json!("timed_out"), &json!("wall"))
            );
            assert!(umbo.nappers().is_empty());
        }
        let answer = umbo.exec_json(&[], "echo out; kill -STOP $PPID; echo more; exit 3");
        assert_eq!((&answer["exit_code"], &answer["stdout"]), (&json!(3), &json!("out\nmore\n")));
    }
}

#[test]
fn no_control_group_is_left_of_anything() {
    let umbo = Umbo::new();
    // All below one group of this test, so that no other test's groups are counted.
    let mount = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let root = mount
        .lines()
        .find(|line| line.contains(" - cgroup2 "))
        .and_then(|line| line.split(' ').nth(4))
        .expect("this machine has no cgroup v2 mount");
    let group = std::path::Path::new(root).join(format!("test-of-umbo-{}", std::process::id()));
    fs::create_dir(&group).expect("run the suite as a user who may make control groups");
    let groups = || fs::read_dir(&group).unwrap().flatten().filter(|e| e.path().is_dir()).count();
    let line = r#"
        echo $$ >"$GROUP/cgroup.procs"
        "$UMBO" exec true
        "$UMBO" exec --memory 100M --pids 50 --cpu 50 true
        "$UMBO" exec --timeout 0.1 '$NAP'
        "$UMBO" exec 'setsid $NAP & exit 1'
        "$UMBO" exec --cwd /nowhere true
        "$UMBO" exec /no/such/program x
        UMBO_MAX_RUNNING=1 "$UMBO" start '$NAP'
        UMBO_MAX_RUNNING=1 "$UMBO" exec --no-queue true
        "$UMBO" stop --kill @last
        "$UMBO" doctor
        job=$("$UMBO" start '$NAP')
        kill -9 $(sed 's/.*"pid":\([0-9]*\),"start.*/\1/;q' "$UMBO_STATE_DIR/jobs/$job/request")
        "$UMBO" wait @last
        echo $$ >"$GROUP/../cgroup.procs"
    "#;
    let status = std::process::Command::new("sh")
        .args(["-c", line])
        .env("GROUP", &group)
        .env("UMBO", crate::harness::UMBO)
        .env("UMBO_STATE_DIR", umbo.state())
        .env("NAP", umbo.nap())
        .current_dir(umbo.path())
        .output()
        .unwrap();
    assert_eq!(status.status.code(), Some(0), "{status:?}");
    assert!(umbo.nappers().is_empty());
    assert_eq!(umbo.listed(umbo.jobs().last().unwrap()["job"].as_str().unwrap())["state"], "lost");
    // Supervisors take their group with them as they end.
    for pid in processes().filter(|pid| words(*pid).contains(&umbo.state().display().to_string())) {
        assert!(dies(pid));
    }
    assert_eq!(groups(), 0, "{:?}", fs::read_dir(&group).unwrap().flatten().collect::<Vec<_>>());
    fs::remove_dir(&group).unwrap();
}
