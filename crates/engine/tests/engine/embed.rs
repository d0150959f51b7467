//! Embedding: from a `#[test]`, which has no `main` of its own.

use std::ffi::OsString;
use std::io::Read;
use std::time::SystemTime;

use umbo_engine::{Engine, Environment, Error, ErrorKind, Request, Size};

use crate::harness::{Place, example};

#[test]
fn a_command_is_run_for_what_it_prints() {
    let place = Place::new();
    let engine = place.engine();
    assert_eq!(engine.read(&place.shell("echo hi; echo no >&2")).unwrap(), "hi");
    let output = engine.output(&place.shell("printf out; printf err >&2; exit 4")).unwrap();
    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"out"[..], &b"err"[..]));
    assert_eq!((output.success(), output.outcome.exit_code()), (false, Some(4)));
    let at_a_terminal = place.shell("echo hi").terminal(Size::default());
    assert_eq!(engine.output(&at_a_terminal).unwrap().text(), "hi\r\n");
    let words = Request::program("printf", ["%s|", "a b", "*"], place.path());
    assert_eq!(engine.read(&words.env(Environment::inherit())).unwrap(), "a b|*|");
}

#[test]
fn a_command_that_fails_is_an_error_that_says_how() {
    let place = Place::new();
    let error =
        place.engine().read(&place.shell("echo out; echo because >&2; exit 7")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Failed);
    let text = error.to_string();
    assert!(text.contains("exited with code 7") && text.contains("because"), "{text}");
}

#[test]
fn the_environment_is_what_the_caller_says_and_no_value_is_shown() {
    let place = Place::new();
    let engine = place.engine();
    let line = "echo $MINE ${PATH:+has-path}";
    let with = |env: Environment| Request::shell(line, place.path()).env(env);
    assert_eq!(engine.read(&with(Environment::inherit().var("MINE", "1"))).unwrap(), "1 has-path");
    let bare = Request::shell("echo ${HOME:-none}", place.path()).env(Environment::empty());
    assert_eq!(engine.read(&bare).unwrap(), "none");
    let secret = format!("{:?}", with(Environment::inherit().var("MINE", "hunter2")));
    assert!(!secret.contains("hunter2"), "{secret}");
}

#[test]
fn a_request_travels_without_the_base_of_its_environment() {
    let place = Place::new();
    let request = place.shell("true").name("n").label("a", "b").idempotency_key("k");
    let text = serde_json::to_string(&request).unwrap();
    let path = std::env::var("PATH").unwrap();
    assert!(!text.contains(&path), "{text}");
    let mut back: Request = serde_json::from_str(&text).unwrap();
    assert!(back.env.base.is_empty());
    back.env.base = request.env.base.clone();
    assert_eq!(back, request);
    let mut inherited = request;
    inherited.stdin = umbo_engine::Stdin::Inherited;
    assert!(serde_json::to_string(&inherited).is_err(), "a descriptor cannot travel");
}

#[test]
fn times_are_times() {
    let place = Place::new();
    let before = SystemTime::now();
    let (job, outcome) = place.engine().run(&place.shell("true")).unwrap();
    let summary = job.summary().unwrap();
    // Records have microseconds.
    let before = before - std::time::Duration::from_micros(1);
    let times = [before, summary.created(), outcome.started().unwrap(), outcome.ended()];
    assert!(times.is_sorted(), "{times:?}");
    assert!(outcome.ended() <= SystemTime::now());
    assert_eq!(summary.started(), outcome.started());
}

#[test]
fn a_supervisor_is_found_by_its_name_or_the_error_says_what_to_do() {
    let place = Place::new();
    let error = Engine::builder(place.state()).open().unwrap_err();
    assert!(matches!(error, Error::NotInitialised));
    for way in ["umbo_engine::init()", "Builder::supervisor", "supervisor_on_path"] {
        assert!(error.to_string().contains(way), "{error}");
    }
    let error =
        Engine::builder(place.state()).supervisor_on_path("no-such-umbo").open().unwrap_err();
    assert!(matches!(error, Error::NoSupervisor { .. }));
    assert!(error.to_string().contains("no-such-umbo"), "{error}");
    assert!(!place.state().exists(), "nothing is made for an engine that cannot work");

    // With its directory in the search path it is found. The variable is of the whole process: a
    // process of its own.
    if std::env::var_os("UMBO_TEST_ON_PATH").is_some() {
        return;
    }
    let examples = example("supervisor").parent().unwrap().to_owned();
    let mut path: OsString = examples.into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let own = std::env::current_exe().unwrap();
    let output = std::process::Command::new(own)
        .args(["--exact", "embed::an_engine_with_the_supervisor_on_the_path_works"])
        .env("PATH", path)
        .env("UMBO_TEST_ON_PATH", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn an_engine_with_the_supervisor_on_the_path_works() {
    let place = Place::new();
    match Engine::builder(place.state()).supervisor_on_path("supervisor").open() {
        Ok(engine) => assert_eq!(engine.read(&place.shell("echo hi")).unwrap(), "hi"),
        // Run by itself, without it in the search path.
        Err(error) => {
            assert!(std::env::var_os("UMBO_TEST_ON_PATH").is_none(), "{error}");
            assert!(matches!(error, Error::NoSupervisor { .. }), "{error}");
        }
    }
}

#[test]
fn a_shared_library_in_a_foreign_process_runs_a_job() {
    let place = Place::new();
    let host = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).plugin_run())";
    let output = std::process::Command::new("python3")
        .args(["-c", host])
        .arg(example("libplugin.so"))
        .current_dir(place.path())
        .env("PLUGIN_STATE", place.state())
        .env("PLUGIN_SUPERVISOR", example("supervisor"))
        .env("PLUGIN_COMMAND", "echo hi > said; exit 7")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert_eq!(std::fs::read_to_string(place.path().join("said")).unwrap(), "hi\n");
    let jobs = place.engine().jobs(umbo_engine::Scope::All).unwrap();
    assert_eq!(jobs.len(), 1);
    assert!(
        matches!(&jobs[0].status, umbo_engine::Status::Ended(end) if end.exit_code() == Some(7))
    );
}

#[cfg(feature = "tokio")]
mod asynchronous {
    use std::time::Duration;

    use regex::bytes::Regex;
    use umbo_engine::{
        Condition, End, EventKind, Followed, Item, Ladder, Met, Status, Stdin, StoppedBy,
    };

    use crate::harness::{Place, TIMEOUT};

    fn block<T>(future: impl Future<Output = T>) -> T {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn commands_run_at_the_same_time_on_one_thread() {
        let place = Place::new();
        let (engine, fifo) = (place.engine(), place.path().join("fifo"));
        let make = format!("mkfifo {0}; cat {0}", fifo.display());
        let write =
            format!("until test -p {0}; do sleep 0.01; done; echo met > {0}", fifo.display());
        let (reads, writes) = (place.shell(&make), place.shell(&write));
        let (read, written) =
            block(async { tokio::join!(engine.read_async(&reads), engine.read_async(&writes)) });
        assert_eq!((read.unwrap().as_str(), written.unwrap().as_str()), ("met", ""));
    }

    #[test]
    fn dropping_a_run_stops_its_job() {
        let place = Place::new();
        let engine = place.engine();
        let request = place.shell("echo up; setsid sleep 4000 & sleep 4000").name("long");
        block(async {
            let pattern = Regex::new("up").unwrap();
            let up = async {
                loop {
                    if let Ok(job) = engine.job("long") {
                        let up = Condition::Match { pattern, from: 0 };
                        job.wait_async(&[up], Some(TIMEOUT)).await.unwrap();
                        return;
                    }
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                _ = engine.run_async(&request) => panic!("it cannot end"),
                () = up => {}
            }
            let job = engine.job("long").unwrap();
            assert_eq!(job.wait_async(&[Condition::Exit], Some(TIMEOUT)).await.unwrap(), Met::Exit);
            let outcome = job.outcome().unwrap().unwrap();
            let by_disconnect =
                matches!(outcome.end, End::Stopped { by: StoppedBy::Disconnect, .. });
            assert!(by_disconnect && outcome.contained_by.is_some(), "{outcome:?}");
        });
    }

    #[test]
    fn output_and_events_are_streams() {
        let place = Place::new();
        let engine = place.engine();
        block(async {
            let mut events = engine.subscribe_async(engine.newest_event().unwrap()).unwrap();
            let request = place.shell("echo ready; read x; echo $x").stdin(Stdin::Open);
            let job = engine.start_async(&request).await.unwrap();
            let mut output = job.follow_async(0).unwrap();
            let mut bytes = Vec::new();
            while let Some(chunk) = output.next().await {
                let Followed::Bytes { bytes: more, .. } = chunk.unwrap() else { panic!() };
                bytes.extend(more);
                if bytes == b"ready\n" {
                    job.input(b"go\n").unwrap();
                }
            }
            assert_eq!(bytes, b"ready\ngo\n");
            assert!(matches!(job.status().unwrap(), Status::Ended(_)));
            loop {
                let Item::Event(event) = events.next().await.unwrap().unwrap() else { panic!() };
                if let EventKind::Exited { code, .. } = event.kind {
                    assert_eq!(code, Some(0));
                    break;
                }
            }
        });
    }

    #[test]
    fn a_wait_has_all_its_conditions_and_a_deadline() {
        let place = Place::new();
        let engine = place.engine();
        block(async {
            let file = place.path().join("made");
            let line = format!("read x; touch {}; read x", file.display());
            let job = engine.start_async(&place.shell(&line).stdin(Stdin::Open)).await.unwrap();
            let made = [Condition::File(file.clone())];
            let short = Some(Duration::from_millis(20));
            assert_eq!(job.wait_async(&made, short).await.unwrap(), Met::Deadline);
            job.input(b"\n").unwrap();
            assert_eq!(job.wait_async(&made, Some(TIMEOUT)).await.unwrap(), Met::File(file));
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let port = [Condition::Port(address)];
            assert_eq!(job.wait_async(&port, Some(TIMEOUT)).await.unwrap(), Met::Port(address));
            let quiet = [Condition::Quiet(Duration::from_millis(20))];
            assert_eq!(job.wait_async(&quiet, Some(TIMEOUT)).await.unwrap(), Met::Quiet);
            job.stop_async(Ladder::KILL).await.unwrap();
        });
    }
}

#[test]
fn a_short_output_comes_with_the_end_and_a_long_one_is_in_its_file() {
    let place = Place::new();
    let log = |line: &str| {
        let (job, _) = place.engine().run(&place.shell(line)).unwrap();
        std::fs::remove_file(job.output_path()).unwrap();
        job.log()
    };
    let mut text = String::new();
    log("echo short").unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "short\n");
    assert_eq!(log("true").unwrap().length().unwrap(), 0);
    assert!(log("seq 10000").is_err(), "whoever reads it opens the file");
}
