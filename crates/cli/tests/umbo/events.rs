//! `umbo events` and the journal behind it.

use std::time::Duration;

use serde_json::json;
use umbo_engine::{EventKind, Item, Request};

use crate::harness::{TIMEOUT, Umbo};

#[test]
fn a_jobs_events_come_in_order_and_numbered() {
    let umbo = Umbo::new();
    let job = umbo.start("echo hi");
    umbo.outcome(&job);
    umbo.call(["prune", "--all"]).stdout("1 jobs deleted\n").run();
    let events = umbo.events(0);
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["kind"].as_str()).collect();
    assert_eq!(kinds, ["created", "started", "output", "exited", "removed"]);
    for (event, number) in events.iter().zip(1..) {
        assert_eq!((&event["seq"], &event["job"]), (&json!(number), &json!(job)));
    }
    assert_eq!(events[2]["offset"], 3);
    assert_eq!((&events[3]["state"], &events[3]["code"]), (&json!("exited"), &json!(0)));
    let times: Vec<&str> = events.iter().map(|event| event["at"].as_str().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
}

#[test]
fn reading_goes_on_after_any_event() {
    let umbo = Umbo::new();
    for _ in 0..3 {
        umbo.exec("echo x").stdout("x\n").run();
    }
    let all = umbo.events(0);
    for cursor in 0..=all.len() {
        assert_eq!(umbo.events(cursor as u64), all[cursor..]);
    }
    assert_eq!(umbo.events(1000), Vec::<serde_json::Value>::new());
}

#[test]
fn a_person_reads_one_line_per_event() {
    let umbo = Umbo::new();
    let job = umbo.start("exit 2");
    umbo.outcome(&job);
    let text = umbo.call(["events"]).answer().text();
    assert!(text.lines().last().unwrap().ends_with(&format!("{job}  exited 2")), "{text}");
}

#[test]
fn follow_tells_of_each_event_as_it_happens() {
    let umbo = Umbo::new();
    let mut follower = umbo.call(["events", "--follow", "--json"]).spawn();
    let mut next = || -> serde_json::Value { serde_json::from_str(&follower.line()).unwrap() };
    let job = umbo.start("read x");
    assert_eq!(next()["kind"], "created");
    assert_eq!(next()["kind"], "started");
    umbo.call(["input", &job, "\n"]).run();
    assert_eq!(next()["kind"], "exited");
    follower.kill();
}

#[test]
fn leaks_are_an_event() {
    let umbo = Umbo::new();
    let job = umbo.start("setsid $NAP & exit 0");
    umbo.outcome(&job);
    assert_eq!(umbo.story(&job), ["created", "started", "leaked", "exited"]);
    let leaked = umbo.events(0).into_iter().find(|event| event["kind"] == "leaked").unwrap();
    assert_eq!(leaked["count"], 1);
}

#[test]
fn each_completion_is_handed_to_each_consumer_exactly_once() {
    let umbo = Umbo::new();
    let engine = umbo.engine();
    umbo.exec("exit 9").status(9).run();
    // A consumer begins with what ends from its first call on.
    assert!(engine.drain_completed("one", None).unwrap().is_empty());
    assert!(!engine.has_pending("one", None).unwrap());
    for number in 0..3 {
        umbo.exec(&format!("exit {number}")).status(number).run();
    }
    assert!(engine.has_pending("one", None).unwrap());
    assert!(engine.has_pending("one", None).unwrap(), "asking takes nothing");
    let codes = |consumer: &str| -> Vec<String> {
        let ended = umbo.engine().drain_completed(consumer, None).unwrap();
        ended.iter().map(|summary| summary.command.clone()).collect()
    };
    assert_eq!(codes("one"), ["exit 0", "exit 1", "exit 2"]);
    assert_eq!(codes("one"), Vec::<String>::new());
    assert!(!engine.has_pending("one", None).unwrap());
    assert_eq!(codes("two"), Vec::<String>::new());
    umbo.exec("exit 3").status(3).run();
    assert_eq!(codes("two"), ["exit 3"]);
    assert_eq!(codes("one"), ["exit 3"]);
}

#[test]
fn many_drains_at_once_share_the_completions_without_a_duplicate() {
    let umbo = Umbo::new();
    let engine = umbo.engine();
    engine.drain_completed("pool", None).unwrap();
    for _ in 0..20 {
        umbo.exec("true").run();
    }
    let drains: Vec<_> = (0..8)
        .map(|_| {
            let engine = umbo.engine();
            std::thread::spawn(move || engine.drain_completed("pool", None).unwrap())
        })
        .collect();
    let mut jobs: Vec<String> = drains
        .into_iter()
        .flat_map(|drain| drain.join().unwrap())
        .map(|summary| summary.job.to_string())
        .collect();
    jobs.sort();
    jobs.dedup();
    assert_eq!(jobs.len(), 20);
    assert!(engine.drain_completed("pool", None).unwrap().is_empty());
}

#[test]
fn a_consumer_may_want_only_its_owners_jobs() {
    let umbo = Umbo::new();
    let engine = umbo.engine();
    engine.drain_completed("mine", Some("me")).unwrap();
    for owner in ["me", "you"] {
        let mut request = Request::shell("true", umbo.path());
        request.owner = Some(owner.into());
        engine.run(&request).unwrap();
    }
    let mine = engine.drain_completed("mine", Some("me")).unwrap();
    assert_eq!(mine.len(), 1);
    assert_eq!(mine[0].owner.as_deref(), Some("me"));
}

#[test]
fn an_event_of_a_kind_is_waited_for_after_a_cursor() {
    let umbo = Umbo::new();
    let engine = umbo.engine();
    umbo.exec("true").run();
    let cursor = engine.newest_event().unwrap();
    assert!(engine.wait_event_after("exited", cursor, Duration::ZERO).unwrap().is_none());
    let job = umbo.start("read x");
    let waiter = std::thread::spawn({
        let engine = engine.clone();
        move || engine.wait_event_after("exited", cursor, TIMEOUT).unwrap().unwrap()
    });
    umbo.call(["input", &job, "\n"]).run();
    let event = waiter.join().unwrap();
    assert!(event.seq > cursor);
    assert_eq!(event.job.as_str(), job);
    assert_eq!(event.kind, EventKind::Exited { state: "exited".into(), code: Some(0) });
}

#[test]
fn a_subscription_gets_what_other_processes_do() {
    let umbo = Umbo::new();
    let engine = umbo.engine();
    let mut subscription = engine.subscribe(engine.newest_event().unwrap()).unwrap();
    assert!(subscription.next(Duration::ZERO).unwrap().is_none());
    let job = umbo.start("exit 1");
    let mut kinds = Vec::new();
    while kinds.last().is_none_or(|kind| kind != "exited") {
        match subscription.next(TIMEOUT).unwrap() {
            Some(Item::Event(event)) => {
                assert_eq!(event.job.as_str(), job);
                assert_eq!(event.seq, subscription.cursor());
                kinds.push(event.kind.name().to_owned());
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(kinds, ["created", "started", "exited"]);
}

#[test]
fn what_happens_to_one_job_is_waited_for_until_its_end() {
    let umbo = Umbo::new();
    let (engine, other) = (umbo.engine(), umbo.start("read x"));
    let job = engine.job(&umbo.start("read x")).unwrap();
    let other = engine.job(&other).unwrap();
    let wait = |after| job.wait_event_after("input", after, TIMEOUT).unwrap();
    assert!(job.wait_event_after("input", 0, Duration::ZERO).unwrap().is_none());
    other.record_input(1, false).unwrap();
    let first = job.record_input(4, false).unwrap();
    let last = job.record_input(0, true).unwrap();
    assert!(first < last, "numbers grow");
    let event = wait(0).unwrap();
    assert_eq!((event.seq, event.kind), (first, EventKind::Input { bytes: 4, end: false }));
    let event = wait(first).unwrap();
    assert_eq!((event.seq, event.kind), (last, EventKind::Input { bytes: 0, end: true }));
    job.end_input().unwrap();
    // However long one would wait: there is nothing to come.
    assert!(job.wait_event_after("input", last, Duration::MAX).unwrap().is_none());
    assert_eq!(job.wait_event_after("exited", last, TIMEOUT).unwrap().unwrap().job, *job.id());
    assert!(umbo.call(["events"]).answer().text().contains("input 0 bytes, no more"));
}
