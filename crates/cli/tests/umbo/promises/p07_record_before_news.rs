//! P7: the exit record is on disk before it is announced.

use std::fs;

use serde_json::json;
use umbo_engine::{EventKind, Item, Request};

use super::ends;
use crate::harness::{TIMEOUT, Umbo};

#[test]
fn p07_whoever_hears_of_an_end_finds_its_record() {
    let umbo = Umbo::new();
    let engine = umbo.library().warmth(umbo_engine::Warmth::Warm).open().unwrap();
    let rounds = 100;
    let listener = std::thread::spawn({
        let (engine, state) = (umbo.engine(), umbo.state().to_owned());
        move || {
            let mut subscription = engine.subscribe(0).unwrap();
            let mut heard = 0;
            while heard < rounds {
                match subscription.next(TIMEOUT).unwrap() {
                    Some(Item::Event(event)) if matches!(event.kind, EventKind::Exited { .. }) => {
                        let path = state.join("jobs").join(event.job.as_str()).join("outcome");
                        let record: serde_json::Value =
                            serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
                        assert_eq!(record["code"], 7);
                        heard += 1;
                    }
                    Some(_) => {}
                    None => panic!("{heard} ends were heard of"),
                }
            }
        }
    });
    for _ in 0..rounds {
        let (job, outcome) = engine.run(&Request::shell("exit 7", umbo.path())).unwrap();
        assert_eq!(outcome.exit_code(), Some(7));
        // The caller hears of it last: record and event are there, read without any help.
        let directory = umbo.job(job.id().as_str());
        assert!(directory.join("outcome").exists());
        let journal = fs::read(umbo.state().join("events")).unwrap();
        let told = journal.chunks(128).rev().any(|slot| {
            let text = String::from_utf8_lossy(slot);
            text.contains(job.id().as_str()) && text.contains("exited")
        });
        assert!(told, "{} was told before it was journaled", job.id());
    }
    listener.join().unwrap();
}

#[test]
fn p07_a_crash_between_record_and_news_tells_it_once() {
    let umbo = Umbo::new();
    for point in ["after_outcome", "after_event"] {
        let answer = umbo
            .call(["exec", "--name", point, "echo out; exit 3"])
            .env("UMBO_FAILPOINT", point)
            .answer();
        assert_eq!((answer.status, answer.text()), (3, "out\n".into()), "{point}: {answer:?}");
        let job = umbo.listed_by_name(point);
        let outcome = umbo.outcome(&job);
        assert_eq!((&outcome["state"], &outcome["code"]), (&json!("exited"), &json!(3)), "{point}");
        for _ in 0..3 {
            assert_eq!(ends(&umbo, &job), 1, "{point}");
        }
        assert_eq!(umbo.engine().drain_completed(point, None).unwrap().len(), 0);
    }
}
