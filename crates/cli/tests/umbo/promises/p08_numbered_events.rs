//! P8: events are numbered; resume from a cursor with no gap and no duplicate; a slow reader gets a
//! counted `gap`, and never slows a child.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::time::Duration;

use umbo_engine::{Item, Request, Warmth};

use super::random;
use crate::harness::Umbo;

#[test]
fn p08_a_thousand_reconnects_under_flood_miss_and_repeat_nothing() {
    let umbo = Umbo::with_deadline(Duration::from_mins(1));
    let engine = umbo.library().warmth(Warmth::Warm).max_running(50).open().unwrap();
    let reader = umbo.engine();
    let mut known: BTreeMap<u64, (String, &'static str)> = BTreeMap::new();
    std::thread::scope(|scope| {
        let flood: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..100 {
                        engine.run(&Request::shell("echo x", umbo.path())).unwrap();
                    }
                })
            })
            .collect();
        for _ in 0..1000 {
            let cursor = random(reader.newest_event().unwrap() + 1);
            let mut subscription = reader.subscribe(cursor).unwrap();
            for expected in cursor + 1..=cursor + random(20) {
                let item = loop {
                    // What is over before nothing was there has nothing more to come.
                    let is_over = flood.iter().all(std::thread::ScopedJoinHandle::is_finished);
                    match subscription.next(Duration::from_millis(100)).unwrap() {
                        None if !is_over => {}
                        item => break item,
                    }
                };
                match item {
                    Some(Item::Event(event)) => {
                        assert_eq!(event.seq, expected);
                        let seen = (event.job.to_string(), event.kind.name());
                        let first = known.entry(expected).or_insert_with(|| seen.clone());
                        assert_eq!(*first, seen, "event {expected} is the same for ever");
                    }
                    None => break,
                    other @ Some(_) => panic!("event {expected}: {other:?}"),
                }
                if expected >= reader.newest_event().unwrap() {
                    break;
                }
            }
        }
    });
    let all = umbo.events(0);
    for (event, number) in all.iter().zip(1..) {
        assert_eq!(event["seq"], number);
    }
    assert_eq!(all.iter().filter(|event| event["kind"] == "exited").count(), 200);
}

#[test]
fn p08_each_job_tells_its_story_in_order() {
    let umbo = Umbo::new();
    let jobs: Vec<String> = (0..10).map(|_| umbo.start("echo a; echo b >&2; exit 1")).collect();
    for job in &jobs {
        umbo.outcome(job);
    }
    umbo.call(["prune", "--all"]).stdout("10 jobs deleted\n").run();
    for job in &jobs {
        assert_eq!(umbo.story(job), ["created", "started", "exited", "removed"]);
    }
}

#[test]
fn p08_a_reader_that_comes_too_late_is_told_how_much_it_missed() {
    let umbo = Umbo::new();
    let job = umbo.start("true");
    umbo.outcome(&job);
    // As if there had been more events than are kept.
    let path = umbo.state().join("events");
    let slot = fs::read(&path).unwrap()[128..256].to_vec();
    let mut journal = fs::OpenOptions::new().append(true).open(&path).unwrap();
    journal.write_all(&slot.repeat(210_000)).unwrap();
    let before = umbo.engine().newest_event().unwrap();
    umbo.call(["prune", "--all"]).stdout("1 jobs deleted\n").run();
    let newest = umbo.engine().newest_event().unwrap();
    assert_eq!(newest, before + 1, "numbers go on");
    let items = umbo.engine().events(0, 3).unwrap();
    let Item::Gap { seq, missed, .. } = items[0] else { panic!("{items:?}") };
    assert_eq!((seq, missed), (newest - 200_000, newest - 200_000));
    assert_eq!(items[1].seq(), seq + 1);
    let last = umbo.events(newest - 1);
    assert_eq!(last[0]["kind"], "removed");
}

#[test]
fn p08_a_reader_that_never_reads_slows_nobody() {
    let umbo = Umbo::new();
    // Its pipe is full after a few hundred events; the jobs do not notice.
    let idle = umbo.call(["events", "--follow", "--json"]).spawn();
    let engine = umbo.library().warmth(Warmth::Warm).open().unwrap();
    for _ in 0..250 {
        let (_, outcome) = engine.run(&Request::shell("echo x", umbo.path())).unwrap();
        assert!(outcome.success());
    }
    idle.kill();
}
