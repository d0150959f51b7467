//! A supervisor that takes another job: that it does, and that the second job meets nothing of the
//! first.

use std::fs;
use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};
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
}

/// Says where the control group of a job is, as its first line; an empty one where it is in none of its own.
const GROUP: &str = r#"
    own=$(sed -n 's/^0:://p' /proc/self/cgroup); group=
    for mount in /sys/fs/cgroup/unified /sys/fs/cgroup; do
        [ -f "$mount$own/cgroup.events" ] && group=$mount$own && break
    done
    case $group in */umbo-*) ;; *) group= ;; esac
    echo "$group"
"#;

fn group(job: &Job) -> Option<PathBuf> {
    let said = text(job);
    said.lines().next().filter(|line| !line.is_empty()).map(PathBuf::from)
}

#[test]
fn a_control_group_goes_from_job_to_job_only_as_it_was_made() {
    let place = Place::new();
    let engine = place.builder().warmth(Warmth::Warm).open().unwrap();
    let (first, _) = run(&engine, &place, GROUP);
    let Some(own) = group(&first) else { return };
    let (second, _) = second_of_the_same(&engine, &place, &first, GROUP);
    assert_eq!(group(&second), Some(own), "a group that nobody changed is used again");
    let ways = [
        "mkdir $group/below",
        "echo 3 > $group/cgroup.max.descendants",
        "echo 2 > $group/cgroup.max.depth",
    ];
    for change in ways {
        let (first, _) = run(&engine, &place, "true");
        let line = format!("{GROUP}\n{change} && echo changed");
        let (changed, _) = second_of_the_same(&engine, &place, &first, &line);
        if !text(&changed).ends_with("changed\n") {
            continue;
        }
        let (after, _) = second_of_the_same(&engine, &place, &changed, GROUP);
        assert_ne!(group(&after), group(&changed), "{change}");
        assert!(!group(&changed).unwrap().exists(), "{change}: the group is gone");
    }
}

#[test]
fn whatever_becomes_of_a_record_the_next_job_in_its_group_runs_on() {
    let place = Place::new();
    let engine = place.builder().warmth(Warmth::Warm).open().unwrap();
    let (first, _) = run(&engine, &place, "echo one");
    let pid = supervisor(&place, &first)["pid"].clone();
    let jobs: Vec<Job> = (0..4)
        .map(|_| engine.start(&Request::shell("echo two; exec sleep 600", place.path())).unwrap())
        .collect();
    let has_it = |job: &Job| supervisor(&place, job)["pid"] == pid;
    assert!(jobs.iter().any(has_it), "no job had the supervisor of the first");
    let directory = place.state().join("jobs").join(first.id().as_str());
    // As a full disk, or somebody, may leave it: the job counts as lost, and what is left of it is killed.
    fs::write(directory.join("outcome"), "{").unwrap();
    assert_eq!(first.outcome().unwrap().unwrap().end.name(), "lost");
    engine.prune(Some(std::time::Duration::ZERO)).unwrap();
    assert!(!directory.exists(), "it was deleted");
    for job in &jobs {
        assert!(job.outcome().unwrap().is_none(), "the others run on");
        assert_eq!(job.stop(umbo_engine::Ladder::KILL).unwrap().end.name(), "stopped");
    }
}

#[test]
fn a_question_to_a_job_that_is_over_never_reaches_the_next_one() {
    let place = Place::new();
    let engine = place.builder().warmth(Warmth::Warm).open().unwrap();
    let stopper = engine.clone();
    let (sender, receiver) = std::sync::mpsc::channel::<Job>();
    // Stops each job about when it ends by itself: the next one must not be what is stopped.
    let stopping = std::thread::spawn(move || {
        for job in receiver {
            let _ = stopper.job(job.id().as_str()).unwrap().stop(umbo_engine::Ladder::KILL);
        }
    });
    for number in 0..60 {
        let job = engine.start(&Request::shell("exit 7", place.path())).unwrap();
        sender.send(job).unwrap();
        let line = format!("echo {number}; sleep 0.005; echo end");
        let (next, outcome) = run(&engine, &place, &line);
        assert_eq!(outcome.exit_code(), Some(0), "{:?}", outcome.end);
        assert_eq!(text(&next), format!("{number}\nend\n"));
    }
    drop(sender);
    stopping.join().unwrap();
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
    let pid_of = |process: &Value| {
        let pid = i32::try_from(process["pid"].as_i64().unwrap()).unwrap();
        Pid::from_raw(pid).unwrap()
    };
    let place = Place::new();
    let engine = place.builder().warmth(Warmth::Warm).open().unwrap();
    let (first, _) = run(&engine, &place, "echo one");
    let pid = supervisor(&place, &first)["pid"].clone();
    // Those that waited longer go first, and it is the last of a few.
    let job = (0..4)
        .map(|_| engine.start(&Request::shell("echo two; sleep 600", place.path())).unwrap())
        .find(|job| supervisor(&place, job)["pid"] == pid)
        .expect("no job had the supervisor of the first");
    let known = supervisor(&place, &job);
    let keeper = pid_of(&known["keeper"]);
    let held = fs::read_dir(format!("/proc/{}/fd", keeper.as_raw_nonzero())).unwrap();
    for link in held.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok()) {
        let is_of_first = link.to_string_lossy().contains(first.id().as_str());
        assert!(!is_of_first, "the keeper holds {}", link.display());
    }
    let status = format!("/proc/{}/status", keeper.as_raw_nonzero());
    let status = fs::read_to_string(status).unwrap();
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap();
    let blocked = u64::from_str_radix(blocked.trim(), 16).unwrap();
    for signal in [Signal::HUP, Signal::INT, Signal::TERM] {
        let is_blocked = blocked >> (signal.as_raw() - 1) & 1 == 1;
        assert!(
            is_blocked,
            "the keeper would end of {signal:?}, and the sandbox of its job with it"
        );
    }
    kill_process(pid_of(&known), Signal::KILL).unwrap();
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
