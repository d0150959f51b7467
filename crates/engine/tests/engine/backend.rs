//! What every backend does, written against the traits alone, and run on two that have nothing in
//! common: the engine of this machine, and one whose jobs are in another process, behind a socket.

use std::io::{Read, Seek, SeekFrom};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use regex::bytes::Regex;
use umbo_engine::{
    Backend, Condition, Containment, End, Error, ErrorKind, EventKind, Followed, Item, JobHandle,
    Ladder, Met, OnDisconnect, OutputLimit, OutputPolicy, Scope, Size, Status, Stdin, StoppedBy,
    Stream, Warmth,
};

use crate::harness::{Helper, Place, TIMEOUT, example, until};

#[path = "../../examples/remote/client.rs"]
pub(crate) mod client;
#[path = "../../examples/remote/protocol.rs"]
mod protocol;

/// A backend under test.
struct Tested {
    backend: Arc<dyn Backend>,
    /// Dropped before the place, which looks for what is left.
    _server: Option<Helper>,
    place: Place,
}

impl std::ops::Deref for Tested {
    type Target = dyn Backend;

    fn deref(&self) -> &Self::Target {
        &*self.backend
    }
}

fn local() -> Tested {
    let place = Place::new();
    Tested { backend: Arc::new(place.engine()), place, _server: None }
}

/// Its state directory is another one, which this process never opens.
fn remote() -> Tested {
    let place = Place::new();
    let socket = place.path().join("socket");
    let mut command = Command::new(example("remote"));
    let server = Helper::start(command.arg(&socket).arg(place.path().join("elsewhere")));
    until(|| socket.exists().then_some(())).expect("the server listens");
    let backend = client::Remote::new(socket);
    // Bound is not yet listening.
    until(|| backend.newest_event().ok()).expect("the server answers");
    Tested { backend: Arc::new(backend), place, _server: Some(server) }
}

/// The same test for both.
macro_rules! conforms {
    ($($test:ident),* $(,)?) => {
        mod local_engine { $(#[test] fn $test() { super::$test(&super::local()); })* }
        mod another_process { $(#[test] fn $test() { super::$test(&super::remote()); })* }
    };
}

conforms!(
    a_job_runs_and_tells_how_it_ended,
    output_is_read_by_offset_and_by_stream_and_as_a_file,
    the_middle_of_a_long_output_is_said_to_be_omitted,
    output_is_followed_as_it_comes,
    a_job_is_found_by_id_prefix_name_owner_and_key,
    a_key_runs_once,
    input_reaches_the_command_and_its_end_too,
    a_wait_ends_with_the_first_condition,
    a_stop_takes_the_whole_tree,
    a_caller_that_goes_away_stops_its_job_if_it_said_so,
    a_caller_that_detaches_leaves_its_job_running,
    events_are_numbered_and_waited_for,
    completions_come_once_to_each_consumer_in_the_order_of_their_end,
    a_reader_goes_on_where_it_stopped,
    a_terminal_has_a_screen_and_a_size,
    what_is_wrong_has_a_kind,
    what_has_ended_can_be_deleted,
);

fn text(job: &JobHandle) -> String {
    let mut text = String::new();
    job.log().unwrap().read_to_string(&mut text).unwrap();
    text
}

fn matching(pattern: &str) -> Condition {
    Condition::Match { pattern: Regex::new(pattern).unwrap(), from: 0 }
}

fn ended(job: &JobHandle) {
    assert_eq!(job.wait(&[Condition::Exit], Some(TIMEOUT)).unwrap(), Met::Exit);
}

fn a_job_runs_and_tells_how_it_ended(on: &Tested) {
    let request = on.place.shell("echo out; echo err >&2; exit 3").name("three").label("a", "b");
    let (job, outcome) = on.run(&request).unwrap();
    assert_eq!(outcome.end, End::Exited { code: 3 });
    assert_eq!(outcome.total_bytes, 8);
    assert!(matches!(outcome.contained_by, Some(Containment::Cgroup | Containment::Subreaper)));
    assert_eq!(job.outcome().unwrap(), Some(outcome.clone()));
    assert_eq!(job.status().unwrap(), Status::Ended(Box::new(outcome)));
    let summary = job.summary().unwrap();
    assert_eq!(summary.name.as_deref(), Some("three"));
    assert_eq!(summary.labels["a"], "b");
    assert_eq!(on.jobs(Scope::All).unwrap(), [summary]);
    assert!(job.output_url().contains(job.id().as_str()));
    let mut attached = on.attend(&on.place.shell("exit 4"), TIMEOUT).unwrap();
    assert_eq!(attached.wait(None).unwrap().unwrap().exit_code(), Some(4));
}

fn output_is_read_by_offset_and_by_stream_and_as_a_file(on: &Tested) {
    // Two pipes have no order between them: each line waits until the one before it is kept.
    let line = "echo one; read x; echo two >&2; read x; echo three";
    let job = on.start(&on.place.shell(line).stdin(Stdin::Open)).unwrap();
    for kept in ["one\n", "two\n"] {
        assert!(matches!(job.wait(&[matching(kept)], Some(TIMEOUT)).unwrap(), Met::Match { .. }));
        job.input(b"\n").unwrap();
    }
    ended(&job);
    let mut log = job.log().unwrap();
    assert_eq!(log.length().unwrap(), 14);
    assert_eq!(log.omitted(), None);
    let mut bytes = [0; 5];
    assert_eq!(log.read_at(4, &mut bytes).unwrap(), (4, 5));
    assert_eq!(&bytes, b"two\nt");
    assert_eq!(text(&job), "one\ntwo\nthree\n");
    let mut only = String::new();
    log.clone().only(Stream::Stdout).read_to_string(&mut only).unwrap();
    assert_eq!(only, "one\nthree\n");
    log.seek(SeekFrom::End(-6)).unwrap();
    let mut end = String::new();
    log.read_to_string(&mut end).unwrap();
    assert_eq!(end, "three\n");
    assert!(log.last_written().unwrap().unwrap() >= job.summary().unwrap().created());
}

fn the_middle_of_a_long_output_is_said_to_be_omitted(on: &Tested) {
    let mut request = on.place.shell("head -c 1000000 /dev/zero | tr '\\0' x");
    request.limits.output = Some(OutputLimit { bytes: 1000, policy: OutputPolicy::KeepEnds });
    let (job, outcome) = on.run(&request).unwrap();
    assert_eq!((outcome.total_bytes, outcome.omitted_bytes), (1_000_000, 999_000));
    assert_eq!(job.log().unwrap().omitted(), Some(500..999_500));
    assert_eq!(text(&job), "x".repeat(1000));
}

fn output_is_followed_as_it_comes(on: &Tested) {
    let request = on.place.shell("echo ready; read x; echo $x >&2").stdin(Stdin::Open);
    let job = on.start(&request).unwrap();
    let mut follower = job.follow(0).unwrap();
    let first = follower.next(Some(TIMEOUT)).unwrap();
    let bytes = b"ready\n".to_vec();
    assert_eq!(first, Followed::Bytes { offset: 0, stream: Stream::Stdout, bytes });
    assert_eq!(follower.next(Some(Duration::from_millis(20))).unwrap(), Followed::Nothing);
    job.input(b"go\n").unwrap();
    let rest: Vec<Followed> = follower.map(Result::unwrap).collect();
    let bytes = b"go\n".to_vec();
    assert_eq!(rest, [Followed::Bytes { offset: 6, stream: Stream::Stderr, bytes }]);
}

fn a_job_is_found_by_id_prefix_name_owner_and_key(on: &Tested) {
    let mine = on.place.shell("true").name("build").owner("me").idempotency_key("k/1");
    let theirs = on.place.shell("true").name("build").owner("them");
    let (mine, _) = on.run(&mine).unwrap();
    let (theirs, _) = on.run(&theirs).unwrap();
    let id = mine.id().as_str();
    assert_eq!(on.job(id).unwrap().id(), mine.id());
    assert_eq!(on.job(&id[..25]).unwrap().id(), mine.id());
    assert_eq!(on.job_of("me", "build").unwrap().id(), mine.id());
    assert_eq!(on.job_of("them", "@last").unwrap().id(), theirs.id());
    assert_eq!(on.job("@last").unwrap().id(), theirs.id());
    assert_eq!(on.job_by_key("k/1").unwrap().unwrap().id(), mine.id());
    assert!(on.job_by_key("other").unwrap().is_none());
    let recent: Vec<_> = on.jobs(Scope::Recent).unwrap().into_iter().map(|job| job.job).collect();
    assert_eq!(recent, [mine.id().clone(), theirs.id().clone()]);
}

fn a_key_runs_once(on: &Tested) {
    let mark = on.place.path().join("mark");
    let line = format!("echo x >> {}", mark.display());
    let request = on.place.shell(&line).idempotency_key("once");
    let (first, _) = on.run(&request).unwrap();
    let again = on.start(&request).unwrap();
    assert_eq!(first.id(), again.id());
    assert_eq!(std::fs::read_to_string(mark).unwrap(), "x\n");
    let other = on.place.shell("true").idempotency_key("once");
    assert_eq!(on.start(&other).unwrap_err().kind(), ErrorKind::KeyReused);
}

fn input_reaches_the_command_and_its_end_too(on: &Tested) {
    let job = on.start(&on.place.shell("cat").stdin(Stdin::Open)).unwrap();
    job.input(b"\xff\x00 bytes").unwrap();
    assert_eq!(job.typed().unwrap().total, 8);
    job.input_after(8, b"!").unwrap();
    assert_eq!(job.input_after(8, b"late").unwrap_err().kind(), ErrorKind::Refused);
    let number = job.record_input(9, false).unwrap();
    assert!(number <= on.newest_event().unwrap());
    job.end_input().unwrap();
    ended(&job);
    let mut bytes = Vec::new();
    job.log().unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, b"\xff\x00 bytes!");
    assert_eq!(job.input(b"x").unwrap_err().kind(), ErrorKind::JobEnded);
    let given = on.place.shell("cat").stdin(Stdin::Bytes(b"given".into()));
    assert_eq!(text(&on.run(&given).unwrap().0), "given");
}

fn a_wait_ends_with_the_first_condition(on: &Tested) {
    let file = on.place.path().join("made");
    let line = format!("echo begin; read x; touch {}; read x", file.display());
    let job = on.start(&on.place.shell(&line).stdin(Stdin::Open)).unwrap();
    let met = job.wait(&[Condition::Exit, matching("beg.n")], Some(TIMEOUT)).unwrap();
    assert_eq!(met, Met::Match { offset: 0, text: b"begin".into() });
    let made = [Condition::File(file.clone())];
    assert_eq!(job.wait(&made, Some(Duration::from_millis(10))).unwrap(), Met::Deadline);
    job.input(b"\n").unwrap();
    assert_eq!(job.wait(&made, Some(TIMEOUT)).unwrap(), Met::File(file));
    let quiet = [Condition::Quiet(Duration::from_millis(10))];
    assert_eq!(job.wait(&quiet, Some(TIMEOUT)).unwrap(), Met::Quiet);
    job.input(b"\n").unwrap();
    assert_eq!(job.wait(&[matching("never")], Some(TIMEOUT)).unwrap(), Met::Ended);
}

fn a_stop_takes_the_whole_tree(on: &Tested) {
    let line = "trap '' TERM; setsid sleep 4000 & sleep 4000 & echo ready; wait; wait";
    let job = on.start(&on.place.shell(line)).unwrap();
    job.wait(&[matching("ready")], Some(TIMEOUT)).unwrap();
    let ladder = Ladder { interrupt: None, terminate: Some(Duration::from_millis(50)) };
    let outcome = job.stop(ladder).unwrap();
    assert!(matches!(outcome.end, End::Stopped { by: StoppedBy::Request, .. }), "{outcome:?}");
    assert!(outcome.contained_by.is_some(), "{outcome:?}");
    assert_eq!(job.stop(Ladder::KILL).unwrap(), outcome, "it ended once");
}

fn a_caller_that_goes_away_stops_its_job_if_it_said_so(on: &Tested) {
    let request = on.place.shell("sleep 4000").on_disconnect(OnDisconnect::Stop);
    let attached = on.spawn(&request).unwrap();
    let job = attached.job();
    drop(attached);
    ended(&job);
    let outcome = job.outcome().unwrap().unwrap();
    assert!(matches!(outcome.end, End::Stopped { by: StoppedBy::Disconnect, .. }), "{outcome:?}");
}

fn a_caller_that_detaches_leaves_its_job_running(on: &Tested) {
    let request =
        on.place.shell("read x; exit 5").stdin(Stdin::Open).on_disconnect(OnDisconnect::Stop);
    let mut attached = on.spawn(&request).unwrap();
    assert_eq!(attached.wait(Some(Duration::from_millis(10))).unwrap(), None);
    let job = attached.detach();
    job.input(b"\n").unwrap();
    ended(&job);
    assert_eq!(job.outcome().unwrap().unwrap().exit_code(), Some(5));
}

fn events_are_numbered_and_waited_for(on: &Tested) {
    let before = on.newest_event().unwrap();
    let job = on.start(&on.place.shell("read x; echo $x").stdin(Stdin::Open)).unwrap();
    let started = job.wait_event_after("started", before, TIMEOUT).unwrap().unwrap();
    assert!(on.wait_event_after("exited", before, Duration::from_millis(10)).unwrap().is_none());
    job.input(b"x\n").unwrap();
    let exited = on.wait_event_after("exited", before, TIMEOUT).unwrap().unwrap();
    assert!(exited.seq > started.seq && exited.time() >= started.time());
    assert!(job.wait_event_after("leaked", before, TIMEOUT).unwrap().is_none(), "it will not come");
    let kinds = |items: Vec<Item>| -> Vec<&str> {
        items
            .iter()
            .map(|item| match item {
                Item::Event(event) => event.kind.name(),
                Item::Gap { .. } => "gap",
            })
            .collect()
    };
    let all = on.events(before, 100).unwrap();
    assert_eq!(kinds(all.clone()), ["created", "started", "output", "exited"]);
    let from_the_second: Vec<Item> = on
        .subscribe(before + 1)
        .unwrap()
        .map(Result::unwrap)
        .take_while(|item| !matches!(item, Item::Event(e) if e.kind.name() == "removed"))
        .take(3)
        .collect();
    assert_eq!(from_the_second, all[1..]);
    assert!(matches!(&all[3], Item::Event(e) if matches!(e.kind, EventKind::Exited { .. })));
}

fn completions_come_once_to_each_consumer_in_the_order_of_their_end(on: &Tested) {
    for consumer in ["one", "two"] {
        assert!(on.drain_completed(consumer, None).unwrap().is_empty());
    }
    let slow = on.place.shell("read x").stdin(Stdin::Open).owner("me");
    let slow = on.start(&slow).unwrap();
    let before = on.newest_event().unwrap();
    let (quick, _) = on.run(&on.place.shell("true").owner("me")).unwrap();
    slow.input(b"\n").unwrap();
    slow.wait_event_after("exited", before, TIMEOUT).unwrap().unwrap();
    on.run(&on.place.shell("true").owner("them")).unwrap();
    assert!(on.has_pending("one", Some("me")).unwrap());
    for consumer in ["one", "two"] {
        let ids = |jobs: Vec<umbo_engine::Summary>| -> Vec<_> {
            jobs.into_iter().map(|job| job.job).collect()
        };
        let drained = ids(on.drain_completed(consumer, Some("me")).unwrap());
        assert_eq!(drained, [quick.id().clone(), slow.id().clone()], "{consumer}");
        assert!(on.drain_completed(consumer, Some("me")).unwrap().is_empty());
        assert!(!on.has_pending(consumer, Some("me")).unwrap());
    }
}

fn a_reader_goes_on_where_it_stopped(on: &Tested) {
    let (job, _) = on.run(&on.place.shell("printf 0123456789")).unwrap();
    let read = |most: u64| {
        job.read_on("reader", |from| Ok::<_, Error>((from, (from + most).min(10)))).unwrap()
    };
    assert_eq!([read(4), read(4), read(4), read(4)], [0, 4, 8, 10]);
    let failed = job.read_on("reader", |_| Err::<((), u64), _>(Error::Refused("no".into())));
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(job.read_on("other", |from| Ok::<_, Error>((from, from))).unwrap(), 0);
}

fn a_terminal_has_a_screen_and_a_size(on: &Tested) {
    let line = "stty size; read x; stty size; read x";
    let request = on.place.shell(line).terminal(Size { columns: 30, rows: 5 });
    let job = on.start(&request).unwrap();
    job.wait(&[matching("5 30")], Some(TIMEOUT)).unwrap();
    job.resize(Size { columns: 40, rows: 6 }).unwrap();
    job.input(b"\r").unwrap();
    job.wait(&[matching("6 40")], Some(TIMEOUT)).unwrap();
    let screen = job.screen().unwrap();
    assert_eq!(screen.size, Size { columns: 40, rows: 6 });
    assert!(screen.rows.iter().any(|row| row == "6 40"), "{screen:?}");
    assert!(job.redraw().unwrap().0.contains("6 40"));
    assert!(job.transcript().unwrap().contains(&"5 30".to_owned()));
    job.stop(Ladder::KILL).unwrap();
}

fn what_is_wrong_has_a_kind(on: &Tested) {
    let kind = |request| on.start(&request).unwrap_err().kind();
    assert_eq!(kind(on.place.shell("  ")), ErrorKind::InvalidArgument);
    assert_eq!(kind(on.place.shell("true").name("@x")), ErrorKind::InvalidArgument);
    assert_eq!(on.job("no such job").unwrap_err().kind(), ErrorKind::UnknownJob);
    assert_eq!(on.job_of("me", "@last").unwrap_err().kind(), ErrorKind::UnknownJob);
    let (job, _) = on.run(&on.place.shell("true")).unwrap();
    assert_eq!(job.screen().unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(job.end_input().unwrap_err().kind(), ErrorKind::JobEnded);
}

fn what_has_ended_can_be_deleted(on: &Tested) {
    let (job, _) = on.run(&on.place.shell("true")).unwrap();
    let running = on.start(&on.place.shell("read x").stdin(Stdin::Open)).unwrap();
    let before = on.newest_event().unwrap();
    assert_eq!(on.prune(Some(Duration::ZERO)).unwrap(), [job.id().clone()]);
    assert!(job.wait_event_after("removed", before, TIMEOUT).unwrap().is_some());
    assert_eq!(job.status().unwrap_err().kind(), ErrorKind::UnknownJob);
    assert!(job.summary().is_none());
    running.end_input().unwrap();
    ended(&running);
}

#[test]
fn a_backend_is_a_value_that_threads_share() {
    fn is_shared<T: Send + Sync + ?Sized>(_: &T) {}
    let on = local();
    let backend: Arc<dyn Backend> =
        Arc::new(on.place.builder().warmth(Warmth::Warm).open().unwrap());
    is_shared(&*backend);
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let (backend, request) =
                (Arc::clone(&backend), on.place.shell(&format!("exit {number}")));
            std::thread::spawn(move || backend.run(&request).unwrap().1.exit_code())
        })
        .collect();
    let codes: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(codes, [Some(0), Some(1), Some(2), Some(3)]);
}
