//! Ends of jobs reach each consumer once, in their order, whoever else reads and whoever is killed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use serde_json::json;
use umbo_engine::{Backend, CompletionStream, Condition, Ended};
use umbo_ops::{Call, Caller, Owner, Ticket};

use crate::harness::{Place, TIMEOUT};

fn caller(place: &Place, owner: Owner) -> Caller {
    Caller::builder(place.engine())
        .directory(place.path())
        .environment(std::env::vars_os())
        .owner(owner)
        .build()
        .unwrap()
}

fn start(caller: &Caller, name: &str) -> String {
    let ticket = Ticket::default();
    let request = json!({"command": "read x", "background": true, "name": name});
    let request = serde_json::from_value(request).unwrap();
    umbo_ops::exec(&Call::new(caller, &ticket), &request).unwrap().job
}

/// Ends a job, and returns when the journal has that.
fn end(caller: &Caller, job: &str) {
    let (backend, job) = (&caller.backend, caller.backend.job(job).unwrap());
    let before = backend.newest_event().unwrap();
    job.end_input().unwrap();
    job.wait_event_after("exited", before, TIMEOUT).unwrap().unwrap();
}

fn told(caller: &Caller) -> Vec<String> {
    caller.completions.take(caller).into_iter().filter_map(|ended| ended.name).collect()
}

#[test]
fn of_many_results_at_once_each_end_is_told_by_one() {
    let place = Place::new();
    let caller = Arc::new(caller(&place, Owner::Fresh));
    let jobs: Vec<String> = (0..20).map(|n| start(&caller, &format!("job-{n}"))).collect();
    let count = Arc::new(AtomicUsize::new(0));
    let deadline = Instant::now() + TIMEOUT;
    let takers: Vec<_> = (0..4)
        .map(|_| {
            let (caller, count) = (Arc::clone(&caller), Arc::clone(&count));
            thread::spawn(move || {
                let mut all = Vec::new();
                while count.load(Ordering::Relaxed) < 20 && Instant::now() < deadline {
                    let some = told(&caller);
                    count.fetch_add(some.len(), Ordering::Relaxed);
                    all.extend(some);
                    thread::yield_now();
                }
                all
            })
        })
        .collect();
    for job in &jobs {
        end(&caller, job);
    }
    let all: Vec<String> = takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect();
    assert_eq!(all.len(), 20, "{all:?}");
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 20, "{all:?}");
}

#[test]
fn a_job_that_ended_before_it_was_handed_back_is_told_of() {
    let place = Place::new();
    let caller = caller(&place, Owner::Fresh);
    let ticket = Ticket::default();
    let other = start(&caller, "other");
    for number in 0..10 {
        let name = format!("quick-{number}");
        let request = json!({"command": "true", "background": true, "name": name});
        let request = serde_json::from_value(request).unwrap();
        let answer = umbo_ops::exec(&Call::new(&caller, &ticket), &request).unwrap();
        let job = answer.job;
        // Whether it is over already depends on the moment; it is told of once in any case.
        let mut heard = told(&caller);
        let job = caller.backend.job(&job).unwrap();
        job.wait(&[Condition::Exit], Some(TIMEOUT)).unwrap();
        let mut ends = CompletionStream::new(Arc::clone(&caller.backend), 0);
        while !matches!(ends.next(TIMEOUT).unwrap().unwrap(), Ended::Job(end) if end.job == *job.id())
        {
        }
        heard.extend(told(&caller));
        if answer.state == "exited" {
            heard.push(name.clone());
        }
        assert_eq!(heard, [name]);
    }
    end(&caller, &other);
    assert_eq!(told(&caller), ["other"]);
}

/// A caller that is killed leaves nothing behind but what is on disk.
#[test]
fn a_caller_that_is_killed_and_comes_back_is_told_nothing_twice_and_misses_nothing() {
    let place = Place::new();
    let owner = || Owner::Named("me".to_owned());
    let first = caller(&place, owner());
    assert!(told(&first).is_empty());
    let (one, two) = (start(&first, "one"), start(&first, "two"));
    end(&first, &one);
    assert_eq!(told(&first), ["one"]);
    let ticket = Ticket::default();
    let request = serde_json::from_value(json!({"command": "true", "name": "own"})).unwrap();
    umbo_ops::exec(&Call::new(&first, &ticket), &request).unwrap();
    assert!(told(&first).is_empty(), "its own result told of it");
    // As a SIGKILL would: nothing of it runs any more, and nothing was said.
    std::mem::forget(first);
    let elsewhere = caller(&place, Owner::Fresh);
    end(&elsewhere, &two);
    let again = caller(&place, owner());
    assert_eq!(told(&again), ["two"]);
    assert!(told(&again).is_empty());
}

#[test]
fn a_caller_that_leaves_is_not_told_again_what_its_own_results_told() {
    let place = Place::new();
    let owner = || Owner::Named("me".to_owned());
    let ticket = Ticket::default();
    let first = caller(&place, owner());
    assert!(told(&first).is_empty());
    let request = serde_json::from_value(json!({"command": "true", "name": "own"})).unwrap();
    umbo_ops::exec(&Call::new(&first, &ticket), &request).unwrap();
    drop(first);
    assert!(told(&caller(&place, owner())).is_empty());
}

#[test]
fn readers_of_the_stream_have_a_place_each() {
    let place = Place::new();
    let caller = caller(&place, Owner::Fresh);
    let backend: Arc<dyn Backend> = Arc::clone(&caller.backend);
    let mut early = CompletionStream::new(Arc::clone(&backend), 0);
    let (one, two) = (start(&caller, "one"), start(&caller, "two"));
    end(&caller, &two);
    end(&caller, &one);
    let job = |ended: Ended| match ended {
        Ended::Job(end) => end.job.to_string(),
        Ended::Missed(count) => panic!("{count} are missing"),
    };
    let waited: Vec<String> = (0..2).map(|_| job(early.next(TIMEOUT).unwrap().unwrap())).collect();
    assert_eq!(waited, [two.clone(), one.clone()], "in the order in which they ended");
    let mut late = CompletionStream::new(backend, 0);
    let read: Vec<String> = late.ready().unwrap().into_iter().map(job).collect();
    assert_eq!(read, waited);
    assert!(late.ready().unwrap().is_empty() && early.ready().unwrap().is_empty());
    assert_eq!(late.cursor(), early.cursor());
}

#[test]
fn the_end_of_a_foreground_job_is_told_by_its_own_result_alone() {
    let place = Place::new();
    let caller = Arc::new(caller(&place, Owner::Named("me".to_owned())));
    assert!(told(&caller).is_empty());
    let others = start(&caller, "background");
    let running = Arc::new(AtomicUsize::new(3));
    let runners: Vec<_> = (0..3)
        .map(|runner| {
            let (caller, running) = (Arc::clone(&caller), Arc::clone(&running));
            thread::spawn(move || {
                for number in 0..10 {
                    let ticket = Ticket::default();
                    let name = format!("foreground-{runner}-{number}");
                    let request = json!({"command": "true", "name": name});
                    let request = serde_json::from_value(request).unwrap();
                    let answer = umbo_ops::exec(&Call::new(&caller, &ticket), &request).unwrap();
                    assert_eq!(answer.state, "exited");
                }
                running.fetch_sub(1, Ordering::Relaxed);
            })
        })
        .collect();
    let mut beside = Vec::new();
    while running.load(Ordering::Relaxed) > 0 {
        beside.extend(told(&caller));
        thread::yield_now();
    }
    for runner in runners {
        runner.join().unwrap();
    }
    beside.extend(told(&caller));
    assert!(beside.is_empty(), "told twice: {beside:?}");
    end(&caller, &others);
    assert_eq!(told(&caller), ["background"]);
}

#[test]
fn an_end_that_its_own_call_does_not_tell_another_result_does() {
    for owner in [Owner::Fresh, Owner::Named("me".to_owned())] {
        let place = Place::new();
        let caller = caller(&place, owner);
        assert!(told(&caller).is_empty());
        let (one, two) = (start(&caller, "one"), start(&caller, "two"));
        let id = |job: &str| caller.backend.job(job).unwrap().id().clone();
        let waiting = [id(&one), id(&two)].map(|job| caller.completions.awaiting(&job));
        end(&caller, &two);
        end(&caller, &one);
        assert!(told(&caller).is_empty(), "a call is about to tell of both");
        caller.completions.told(&id(&one));
        drop(waiting);
        assert_eq!(told(&caller), ["two"], "its call gave up");
        assert!(told(&caller).is_empty());
    }
}

/// The name is the reader, not the process.
#[test]
fn two_callers_under_one_name_are_told_each_end_once_between_them() {
    let place = Place::new();
    let callers = [(); 2].map(|()| caller(&place, Owner::Named("me".to_owned())));
    assert!(callers.iter().all(|caller| told(caller).is_empty()));
    let jobs: Vec<String> = (0..4).map(|n| start(&callers[n % 2], &format!("job-{n}"))).collect();
    end(&callers[0], &jobs[1]);
    end(&callers[0], &jobs[0]);
    assert_eq!(told(&callers[1]), ["job-1", "job-0"], "whoever started them");
    assert!(told(&callers[0]).is_empty());
    end(&callers[0], &jobs[2]);
    end(&callers[0], &jobs[3]);
    assert_eq!(told(&callers[0]), ["job-2", "job-3"]);
    assert!(callers.iter().all(|caller| told(caller).is_empty()));
}
