//! A supervisor that takes another job: that it does, and that the second job meets nothing of the
//! first.

use std::fs;

use serde_json::Value;
use umbo_engine::{Engine, Job, Outcome, Request, Warmth};

use crate::harness::Place;

/// All that a process can see of what it was given, line by line, without what names the job.
const LOOK: &str = r#"
    env | sort | grep -v -e '^UMBO_JOB=' -e '^_='
    pwd
    umask
    for fd in /proc/self/fd/*; do n=${fd##*/}; [ "$n" -gt 2 ] && readlink "$fd"; done 2>/dev/null
    grep -E '^(Sig|Shd)' /proc/self/status | grep -v SigQ
    cat /proc/self/limits
    nice
    ulimit -c
    cat /proc/self/oom_score_adj
    ps -o sid= -o pgid= -p $$ | tr -s ' ' '\n' | grep -v "^$$\$" | grep -c .
    ls -A .
"#;

/// A job that changes all it can, short of leaving a process behind.
const MESS: &str = r#"
    export LEFT=behind; cd /; umask 000; ulimit -n 50; ulimit -c 0; trap '' TERM INT HUP
    exec 7>/dev/null 8</dev/null; renice 5 $$ >/dev/null
    printf 'left\n'; printf 'left\n' >&2
    awk 'BEGIN { s = "x"; while (length(s) < 60000000) s = s s }'
    exit 3
"#;

fn run(engine: &Engine, place: &Place, line: &str) -> (Job, Outcome) {
    let mut request = Request::shell(line, place.path());
    request.env.base = vec![("PATH".into(), std::env::var_os("PATH").unwrap_or_default())].into();
    engine.run(&request).unwrap()
}

fn supervisor(place: &Place, job: &Job) -> Value {
    let file = place.state().join("jobs").join(job.id().as_str()).join("request");
    let text = fs::read_to_string(file).unwrap();
    let record: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    record["supervisor"].clone()
}

fn text(job: &Job) -> String {
    fs::read_to_string(job.output_path()).unwrap()
}

/// Runs jobs until one had the supervisor of the first.
fn second_of_the_same(engine: &Engine, place: &Place, first: &Job, line: &str) -> (Job, Outcome) {
    let pid = supervisor(place, first)["pid"].clone();
    for _ in 0..20 {
        let (job, outcome) = run(engine, place, line);
        if supervisor(place, &job)["pid"] == pid {
            return (job, outcome);
        }
    }
    panic!("no job had the supervisor of the first");
}

#[test]
fn the_next_job_of_a_supervisor_meets_nothing_of_the_one_before() {
    let (place, fresh) = (Place::new(), Place::new());
    let untouched = fresh.builder().warmth(Warmth::Cold).open().unwrap();
    let (job, _) = run(&untouched, &fresh, LOOK);
    let as_first = text(&job).replace(&fresh.path().display().to_string(), "HERE");
    let engine = place.builder().warmth(Warmth::Warm).open().unwrap();
    let (mess, outcome) = run(&engine, &place, MESS);
    assert_eq!(outcome.exit_code(), Some(3));
    let (job, outcome) = second_of_the_same(&engine, &place, &mess, LOOK);
    let as_second = text(&job).replace(&place.path().display().to_string(), "HERE");
    assert_eq!(as_second, as_first);
    assert_eq!(outcome.exit_code(), Some(0));
    // Nor does its record have what the other one used or wrote.
    assert!(outcome.usage.peak_bytes.is_none_or(|peak| peak < 40 << 20), "{:?}", outcome.usage);
    assert_eq!(outcome.total_bytes, text(&job).len() as u64);
    assert!(!text(&job).contains("left"));
    let groups = [&mess, &job].map(|job| supervisor(&place, job)["cgroup"].clone());
    assert!(groups[0].is_null() || groups[0] != groups[1], "each has a group of its own");
}

#[test]
fn the_first_job_keeps_its_truth_when_its_supervisor_has_another() {
    let place = Place::new();
    let engine = place.builder().warmth(Warmth::Warm).open().unwrap();
    let (first, outcome) = run(&engine, &place, "echo one; exit 4");
    let (second, _) = second_of_the_same(&engine, &place, &first, "echo two");
    assert_eq!((text(&first).as_str(), text(&second).as_str()), ("one\n", "two\n"));
    assert_eq!(first.outcome().unwrap(), Some(outcome));
    assert!(first.stop(umbo_engine::Ladder::KILL).unwrap().exit_code() == Some(4));
    assert_eq!(second.outcome().unwrap().unwrap().exit_code(), Some(0));
    let ends = engine.events(0, 1000).unwrap();
    let ends = ends.iter().filter(|item| {
        matches!(item, umbo_engine::Item::Event(event)
            if event.job == *first.id() && event.kind.name() == "exited")
    });
    assert_eq!(ends.count(), 1);
}

#[test]
fn a_supervisor_killed_with_its_second_job_loses_that_one_and_not_the_first() {
    let place = Place::new();
    let engine = place.builder().warmth(Warmth::Warm).open().unwrap();
    let (first, _) = run(&engine, &place, "echo one");
    let pid = supervisor(&place, &first)["pid"].clone();
    // Those that waited longer go first, and it is the last of a few.
    let job = (0..4)
        .map(|_| engine.start(&Request::shell("echo two; sleep 600", place.path())).unwrap())
        .find(|job| supervisor(&place, job)["pid"] == pid)
        .expect("no job had the supervisor of the first");
    let pid = i32::try_from(pid.as_i64().unwrap()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    job.wait(&[umbo_engine::Condition::Exit], None).unwrap();
    let outcome = job.outcome().unwrap().unwrap();
    assert_eq!(outcome.end.name(), "lost");
    assert!(outcome.contained_by.is_some(), "its keeper has ended what was left of it");
    assert_eq!(first.outcome().unwrap().unwrap().exit_code(), Some(0));
    for summary in engine.jobs(umbo_engine::Scope::All).unwrap() {
        let job = engine.job(summary.job.as_str()).unwrap();
        let _ = job.stop(umbo_engine::Ladder::KILL);
    }
}

#[test]
fn a_job_that_leaves_something_behind_ends_its_supervisor() {
    let place = Place::new();
    let engine = place.builder().warmth(Warmth::Warm).open().unwrap();
    for line in ["sleep 600 & echo left", "sleep 600 & kill -KILL $$"] {
        let (job, _) = run(&engine, &place, line);
        let pid = supervisor(&place, &job)["pid"].clone();
        for _ in 0..4 {
            let (other, _) = run(&engine, &place, "true");
            assert_ne!(supervisor(&place, &other)["pid"], pid, "{line}");
        }
    }
}
