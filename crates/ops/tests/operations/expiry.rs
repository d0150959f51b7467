//! What expires does so by the caller's clock: no test waits for it.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;
use umbo_engine::{Clock, Listed, Scope};
use umbo_gate::{GatePaths, Mode};
use umbo_ops::{Call, Caller, ErrorCode, Gatekeeper, Owner, Ticket};

use crate::harness::Place;

/// Longer than any question stands.
const A_WEEK: u64 = 7 * 24 * 3600 * 1_000_000;

/// A clock that is set by hand.
fn clock() -> (Clock, Arc<AtomicU64>) {
    let time = Arc::new(AtomicU64::new(umbo_ops::now()));
    let shown = Arc::clone(&time);
    (Clock::new(move || shown.load(Ordering::Relaxed)), time)
}

fn caller(place: &Place, clock: Clock) -> Caller {
    let project = place.path().join("project");
    fs::create_dir_all(&project).unwrap();
    let paths = GatePaths::new(place.path().join("rules"), place.state());
    Caller::builder(place.engine())
        .directory(project)
        .environment(std::env::vars_os())
        .owner(Owner::Named("me".into()))
        .gate(Gatekeeper::new(paths, Mode::Default))
        .clock(clock)
        .build()
        .unwrap()
}

#[test]
fn a_question_that_nobody_answered_in_time_is_another_one_when_it_is_asked_again() {
    let place = Place::new();
    let (clock, time) = clock();
    let caller = caller(&place, clock);
    let ticket = Ticket::default();
    let ask = || {
        let request = serde_json::from_value(json!({"command": "touch made"})).unwrap();
        let error = umbo_ops::exec(&Call::new(&caller, &ticket), &request).unwrap_err();
        assert_eq!(error.code, ErrorCode::ApprovalRequired, "{error}");
        error.refusal.unwrap()
    };
    let first = ask();
    assert_eq!(ask().id, first.id, "it is the same question");
    time.fetch_add(A_WEEK, Ordering::Relaxed);
    let second = ask();
    assert_ne!(second.id, first.id, "the first has expired");
    assert!(second.expires_at > first.expires_at, "{second:?}");
}

#[test]
fn ended_jobs_leave_the_list_and_the_disk_by_the_clock_of_the_engine() {
    let place = Place::new();
    let (clock, time) = clock();
    let listed = Listed { age: Duration::from_hours(1), ..Listed::default() };
    let engine = place
        .builder()
        .clock(clock)
        .listed(listed)
        .retention_age(Some(Duration::from_hours(48)))
        .open()
        .unwrap();
    engine.run(&place.shell("true")).unwrap();
    let listed = || engine.jobs(Scope::Recent).unwrap().len();
    assert_eq!(listed(), 1);
    time.fetch_add(A_WEEK / 7, Ordering::Relaxed);
    assert_eq!(listed(), 0, "a day later");
    assert!(engine.prune(None).unwrap().is_empty(), "two days are kept");
    assert_eq!(engine.jobs(Scope::All).unwrap().len(), 1);
    time.fetch_add(A_WEEK, Ordering::Relaxed);
    assert_eq!(engine.prune(None).unwrap().len(), 1);
}
