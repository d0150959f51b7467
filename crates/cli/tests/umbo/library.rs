//! The library API, as an agent builder uses it: the same jobs, from the same directory.

use std::fs;
use std::process::{Command as Process, Stdio as ProcessStdio};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use umbo_engine::{
    Admission, Command, Condition, Containment, Drained, End, Engine, Error, Followed, Ladder,
    Leaks, Limit, Mark, Met, OnDisconnect, OutputLimit, OutputPolicy, Request, Scope, Size, Stage,
    Status, Stdin, StoppedBy, Stream, Warmth,
};

use crate::harness::{TIMEOUT, UMBO, Umbo, dies, numbered, parent, processes, signal, words};

#[test]
fn a_program_that_forgot_init_gets_a_clear_error() {
    let umbo = Umbo::new();
    let error = Engine::builder(umbo.state()).open().unwrap_err();
    assert!(matches!(error, Error::NotInitialised));
    assert!(error.to_string().contains("umbo_engine::init()"), "{error}");
}

#[test]
fn a_supervisor_that_is_no_umbo_is_an_error_and_no_hang() {
    let umbo = Umbo::new();
    for program in ["/bin/true", "/no/such/umbo", "/etc/passwd"] {
        let engine =
            Engine::builder(umbo.state()).supervisor(program).warmth(Warmth::Cold).open().unwrap();
        let error = engine.run(&Request::shell("true", umbo.path())).unwrap_err();
        assert!(
            matches!(error, Error::Supervisor { .. } | Error::SupervisorGone(_)),
            "{program}: {error}"
        );
    }
    assert!(umbo.jobs().is_empty());
}

#[test]
fn run_gives_the_outcome_with_all_it_knows() {
    let umbo = Umbo::new();
    let (job, outcome) =
        umbo.engine().run(&Request::shell("echo out; echo err >&2; exit 3", umbo.path())).unwrap();
    assert_eq!(outcome.end, End::Exited { code: 3 });
    assert_eq!((outcome.exit_code(), outcome.signal(), outcome.success()), (Some(3), None, false));
    assert_eq!(outcome.drained, Drained::Eof);
    assert_eq!(&outcome.job, job.id());
    assert!(outcome.started_at.unwrap() <= outcome.ended_at);
    assert_eq!((outcome.total_bytes, outcome.omitted_bytes), (8, 0));
    assert!(matches!(outcome.contained_by, Some(Containment::Cgroup | Containment::Subreaper)));
    assert!(outcome.leaked.is_empty() && outcome.notes.is_empty() && outcome.limit.is_none());
    assert_eq!(job.outcome().unwrap().as_ref(), Some(&outcome), "the record says the same");
}

#[test]
fn a_terminal_has_the_same_outcome_type() {
    let umbo = Umbo::new();
    let mut request = Request::shell("kill -QUIT $$", umbo.path());
    request.terminal = Some(Size { columns: 20, rows: 5 });
    let (_, outcome) = umbo.engine().run(&request).unwrap();
    assert!(matches!(outcome.end, End::Signaled { signal: 3, .. }), "{outcome:?}");
    assert_eq!(outcome.drained, Drained::Eof);
}

#[test]
fn a_terminal_that_nobody_has_open_hangs_up_on_nobody() {
    let umbo = Umbo::new();
    let (gate, back) = (umbo.fifo("gate"), umbo.fifo("back"));
    let inner = format!("echo up > {}; read go; echo again > /dev/tty; exit 4", back.display());
    let line = format!("exec sh -c '{inner}' < {} > /dev/null 2>&1", gate.display());
    let mut request = Request::shell(line, umbo.path());
    request.terminal = Some(Size::default());
    let job = umbo.engine().start(&request).unwrap();
    let mut passing = fs::OpenOptions::new().write(true).open(&gate).unwrap();
    assert_eq!(fs::read_to_string(&back).unwrap(), "up\n");
    // Answered after what there was to notice at the terminal.
    job.resize(Size { columns: 60, rows: 20 }).unwrap();
    std::io::Write::write_all(&mut passing, b"go\n").unwrap();
    assert_eq!(job.wait(&[Condition::Exit], Some(TIMEOUT)).unwrap(), Met::Exit);
    assert_eq!(job.outcome().unwrap().unwrap().end, End::Exited { code: 4 });
    assert_eq!(fs::read_to_string(job.output_path()).unwrap(), "again\r\n");
}

#[test]
fn an_attached_job_is_waited_for_within_a_timeout_and_can_be_left() {
    let umbo = Umbo::new();
    let engine = umbo.engine();
    let mut request = Request::shell("read x; exit 2", umbo.path());
    request.stdin = Stdin::Open;
    let mut attached = engine.spawn(&request).unwrap();
    assert!(attached.wait(Some(Duration::from_millis(20))).unwrap().is_none());
    attached.job().input(b"\n").unwrap();
    assert_eq!(attached.wait(None).unwrap().unwrap().exit_code(), Some(2));
    let job = attached.detach();
    assert!(matches!(job.status().unwrap(), Status::Ended(_)));
    assert!(matches!(job.input(b"x"), Err(Error::Ended(_))));
}

#[test]
fn who_types_after_somebody_else_is_told_so() {
    let umbo = Umbo::new();
    let mut request = Request::shell("read x; echo \"$x\"", umbo.path());
    request.stdin = Stdin::Open;
    let job = umbo.engine().spawn(&request).unwrap().detach();
    assert_eq!(job.typed().unwrap(), umbo_engine::Typed::default());
    job.input(b"o").unwrap();
    let seen = job.typed().unwrap();
    assert_eq!((seen.total, seen.tail.as_slice()), (1, &b"o"[..]));
    job.input_after(1, b"n").unwrap();
    let refused = job.input_after(1, b"ff\n").unwrap_err();
    assert!(matches!(&refused, Error::Refused(why) if why.contains("somebody else")), "{refused}");
    job.input_after(2, b"e\n").unwrap();
    job.wait(&[Condition::Exit], Some(TIMEOUT)).unwrap();
    assert_eq!(umbo.output(job.id().as_str()), b"one\n");
    assert!(matches!(job.typed(), Err(Error::Ended(_))));
    assert_eq!(format!("{seen:?}"), "Typed(1)", "it may be a password");
}

#[test]
fn what_was_typed_is_remembered_to_a_bound() {
    let umbo = Umbo::new();
    let mut request = Request::shell("cat > /dev/null", umbo.path());
    request.stdin = Stdin::Open;
    let job = umbo.engine().spawn(&request).unwrap().detach();
    job.input(&vec![b'a'; 20_000]).unwrap();
    job.input(b"end").unwrap();
    let typed = job.typed().unwrap();
    assert_eq!((typed.total, typed.tail.len()), (20_003, 16 << 10));
    assert!(typed.tail.ends_with(b"aaend"));
    job.end_input().unwrap();
    job.wait(&[Condition::Exit], Some(TIMEOUT)).unwrap();
}

#[test]
fn a_job_whose_caller_lets_go_runs_on_or_stops_as_asked() {
    let umbo = Umbo::new();
    let engine = umbo.engine();
    let mut request = Request::shell(umbo.nap(), umbo.path());
    request.on_disconnect = OnDisconnect::Stop;
    let attached = engine.spawn(&request).unwrap();
    let job = attached.job().clone();
    drop(attached);
    assert_eq!(job.wait(&[Condition::Exit], Some(TIMEOUT)).unwrap(), Met::Exit);
    let end = job.outcome().unwrap().unwrap().end;
    assert!(
        matches!(end, End::Stopped { by: StoppedBy::Disconnect, stage: Stage::Term, .. }),
        "{end:?}"
    );
    let kept = engine.spawn(&request).unwrap().detach();
    assert_eq!(
        kept.wait(&[Condition::Exit], Some(Duration::from_millis(100))).unwrap(),
        Met::Deadline
    );
    request.on_disconnect = OnDisconnect::Detach;
    let free = engine.spawn(&request).unwrap();
    let job = free.job().clone();
    drop(free);
    assert_eq!(
        job.wait(&[Condition::Exit], Some(Duration::from_millis(100))).unwrap(),
        Met::Deadline
    );
    for job in [kept, job] {
        let outcome = job.stop(Ladder::KILL).unwrap();
        assert!(outcome.effects_unknown());
    }
}

#[test]
fn several_conditions_wake_one_wait() {
    let umbo = Umbo::new();
    let engine = umbo.engine();
    let mut request = Request::shell("echo up; read x; echo $x; read x", umbo.path());
    request.stdin = Stdin::Open;
    let job = engine.start(&request).unwrap();
    let pattern = |text: &str| Condition::Match { pattern: text.parse().unwrap(), from: 0 };
    let conditions = [
        Condition::Exit,
        Condition::File(umbo.path().join("never")),
        Condition::Quiet(Duration::from_mins(1)),
        pattern("ma+rk"),
    ];
    assert_eq!(job.wait(&conditions, Some(Duration::from_millis(30))).unwrap(), Met::Deadline);
    job.input(b"maark\n").unwrap();
    let met = job.wait(&conditions, Some(TIMEOUT)).unwrap();
    assert_eq!(met, Met::Match { offset: 3, text: b"maark".to_vec() });
    job.end_input().unwrap();
    assert_eq!(job.wait(&[pattern("never")], Some(TIMEOUT)).unwrap(), Met::Ended);
    assert_eq!(job.wait(&[Condition::Exit], None).unwrap(), Met::Exit);
}

#[test]
fn a_follower_gets_every_byte_with_its_stream_and_offset() {
    let umbo = Umbo::new();
    let engine = umbo.engine();
    let line = "for n in $(seq 200); do echo out$n; echo err$n >&2; done";
    let job = engine.start(&Request::shell(line, umbo.path())).unwrap();
    let mut follower = job.follow(0).unwrap();
    let (mut out, mut err, mut next) = (Vec::new(), Vec::new(), 0);
    loop {
        match follower.next(Some(TIMEOUT)).unwrap() {
            Followed::Bytes { offset, stream, bytes } => {
                assert_eq!(offset, next);
                next += bytes.len() as u64;
                match stream {
                    Stream::Stdout => out.extend(bytes),
                    Stream::Stderr => err.extend(bytes),
                    Stream::Pty => panic!("no terminal here"),
                }
            }
            Followed::Ended => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(follower.position(), next);
    let expected = |word: &str| numbered(word, 1..=200);
    assert_eq!(String::from_utf8(out).unwrap(), expected("out"));
    assert_eq!(String::from_utf8(err).unwrap(), expected("err"));
}

#[test]
fn the_index_says_stream_and_time_of_each_run() {
    let umbo = Umbo::new();
    let mut request =
        Request::shell("printf a; read x; printf bb >&2; read x; printf c", umbo.path());
    request.stdin = Stdin::Open;
    let job = umbo.engine().start(&request).unwrap();
    for text in ["a", "bb"] {
        let condition = Condition::Match { pattern: text.parse().unwrap(), from: 0 };
        job.wait(&[condition], Some(TIMEOUT)).unwrap();
        job.input(b"\n").unwrap();
    }
    job.wait(&[Condition::Exit], None).unwrap();
    let outcome = job.outcome().unwrap().unwrap();
    let log = job.log().unwrap();
    let runs = log.runs(0..log.length().unwrap()).unwrap();
    let marks: Vec<_> = runs.iter().map(|run| (run.start, run.mark)).collect();
    let (out, err) = (Mark::Bytes(Stream::Stdout), Mark::Bytes(Stream::Stderr));
    assert_eq!(marks, [(0, out), (1, err), (3, out)]);
    let begin = outcome.started_at.unwrap();
    assert!(runs.iter().all(|run| run.at >= begin && run.at <= outcome.ended_at));
    assert!(runs.is_sorted_by_key(|run| run.at));
}

#[test]
fn limits_and_leaks_are_named_in_the_outcome() {
    let umbo = Umbo::new();
    let engine = umbo.engine();
    let mut request = Request::shell(format!("{} & echo x", umbo.nap()), umbo.path());
    request.leaks = Leaks::Kill;
    let (_, outcome) = engine.run(&request).unwrap();
    assert_eq!(outcome.leaked.len(), 1);
    assert!(outcome.success());
    let mut request = Request::shell("yes", umbo.path());
    request.limits.output = Some(OutputLimit { bytes: 5000, policy: OutputPolicy::Stop });
    let (_, outcome) = engine.run(&request).unwrap();
    assert_eq!(outcome.limit, Some(Limit::Output));
    let mut request = Request::shell(umbo.nap(), umbo.path());
    request.limits.wall = Some(Duration::from_millis(50));
    request.ladder = Ladder::KILL;
    let (_, outcome) = engine.run(&request).unwrap();
    assert!(
        matches!(outcome.end, End::TimedOut { after_ms: 50.., stage: Stage::Kill, .. }),
        "{outcome:?}"
    );
    assert_eq!((outcome.limit, outcome.effects_unknown()), (Some(Limit::Wall), true));
}

#[test]
fn a_place_is_free_the_moment_the_end_is_told() {
    let umbo = Umbo::new();
    let engine = Engine::builder(umbo.state()).supervisor(UMBO).max_running(1).open().unwrap();
    let mut request = Request::new(Command::Argv(vec!["true".into()]), umbo.path());
    request.admission = Admission::Refuse;
    for number in 0..100 {
        let result = engine.run(&request);
        assert!(result.is_ok(), "run {number}: {}", result.unwrap_err());
    }
}

#[test]
fn many_threads_share_one_engine() {
    let umbo = Umbo::new();
    let engine = Engine::builder(umbo.state()).supervisor(UMBO).open().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (engine, umbo) = (&engine, &umbo);
            scope.spawn(move || {
                for number in 0..8 {
                    let line = format!("echo {thread} {number}");
                    let (job, outcome) = engine.run(&Request::shell(line, umbo.path())).unwrap();
                    assert!(outcome.success());
                    let text = fs::read_to_string(job.output_path()).unwrap();
                    assert_eq!(text, format!("{thread} {number}\n"));
                }
            });
        }
    });
    assert_eq!(engine.jobs(Scope::All).unwrap().len(), 64);
}

#[test]
fn several_processes_work_over_one_state_at_once() {
    let umbo = Umbo::new();
    let engine = umbo.engine();
    let clients: Vec<_> =
        (0..12).map(|number| umbo.exec(&format!("echo {number}; exit {number}")).spawn()).collect();
    let (_, outcome) = engine.run(&Request::shell("exit 99", umbo.path())).unwrap();
    assert_eq!(outcome.exit_code(), Some(99));
    for (number, client) in clients.into_iter().enumerate() {
        let answer = client.answer();
        assert_eq!(usize::try_from(answer.status), Ok(number), "{answer:?}");
        assert_eq!(answer.text(), format!("{number}\n"));
    }
    assert_eq!(engine.jobs(Scope::All).unwrap().len(), 13);
    let seqs: Vec<u64> =
        umbo.events(0).iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
}

/// Supervisors over a state directory that have no job.
fn spares(umbo: &Umbo) -> Vec<rustix::process::Pid> {
    let state = umbo.state().display().to_string();
    processes().filter(|pid| words(*pid).contains(&state)).collect()
}

#[test]
fn a_warm_spare_ends_with_its_engine() {
    let umbo = Umbo::new();
    let engine = Engine::builder(umbo.state()).supervisor(UMBO).open().unwrap();
    // A run takes the spare and orders the next.
    engine.run(&Request::shell("true", umbo.path())).unwrap();
    drop(engine);
    for pid in spares(&umbo) {
        assert!(dies(pid));
    }
    for pid in spares(&umbo) {
        assert!(dies(pid), "one that was being born meanwhile");
    }
    assert_eq!(fs::read_dir(umbo.state().join("spares")).unwrap().count(), 0);
}

/// Also run by the tests below, as a process of its own: a server that works with a warm spare.
#[test]
fn a_server_says_which_jobs_it_has_started_and_waits() {
    let Some(state) = std::env::var_os("UMBO_TEST_SERVER") else {
        let umbo = Umbo::new();
        let (mut child, ids) = server(&umbo, "exit 1\nexit 2");
        let codes: Vec<_> = ids.iter().map(|id| umbo.outcome(id)["code"].clone()).collect();
        assert_eq!(codes, [1, 2]);
        assert!(child.try_wait().unwrap().is_none(), "it waits");
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
        return;
    };
    let engine = Engine::builder(state).supervisor(UMBO).max_running(200).open().unwrap();
    let lines: Vec<String> =
        std::env::var("UMBO_TEST_LINES").unwrap().lines().map(Into::into).collect();
    for line in lines {
        let job = engine.start(&Request::shell(line, "/")).unwrap();
        eprintln!("started {}", job.id());
    }
    eprintln!("idle");
    // Until it is killed.
    let _ = std::io::stdin().read_line(&mut String::new());
}

/// Starts the server above; its child and the ids of its jobs.
pub(crate) fn server(umbo: &Umbo, lines: &str) -> (std::process::Child, Vec<String>) {
    use std::io::{BufRead, BufReader};
    let mut child = Process::new(std::env::current_exe().unwrap())
        .args(["--exact", "library::a_server_says_which_jobs_it_has_started_and_waits"])
        .arg("--nocapture")
        .env("UMBO_TEST_SERVER", umbo.state())
        .env("UMBO_TEST_LINES", lines)
        .env("NAP", umbo.nap())
        .stdin(ProcessStdio::piped())
        .stdout(ProcessStdio::null())
        .stderr(ProcessStdio::piped())
        .spawn()
        .unwrap();
    let mut ids = Vec::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        if line == "idle" {
            break;
        }
        if let Some(id) = line.strip_prefix("started ") {
            ids.push(id.to_owned());
        }
    }
    (child, ids)
}

#[test]
fn a_killed_server_leaves_its_jobs_and_no_spare() {
    let umbo = Umbo::new();
    let (mut child, ids) = server(&umbo, &format!("{}\nread x; exit 7", umbo.nap()));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(umbo.listed(&ids[0])["state"], "started");
    let supervisors = [umbo.supervisor(&ids[0]), umbo.keeper(&ids[0])];
    for pid in spares(&umbo) {
        let is_job = supervisors.contains(&pid);
        if !is_job && umbo.listed(&ids[1])["state"] != "started" {
            assert!(dies(pid));
        }
    }
    umbo.stop(&ids[0], &["--kill"]);
    umbo.outcome(&ids[1]);
    for pid in spares(&umbo) {
        assert!(dies(pid));
    }
    assert_eq!(fs::read_dir(umbo.state().join("spares")).unwrap().count(), 0);
}

#[test]
fn a_supervisor_is_small() {
    let umbo = Umbo::new();
    let job = umbo.start("seq 1000; $NAP");
    umbo.wait_for(&job, "1000");
    umbo.wait(&job, &["--quiet", "0.2"]);
    for pid in [umbo.supervisor(&job), parent(umbo.supervisor(&job)).unwrap()] {
        let status =
            fs::read_to_string(format!("/proc/{}/smaps_rollup", pid.as_raw_nonzero())).unwrap();
        // What is no page of the program: of one that was just linked, those count as written too.
        let own: u64 = status
            .lines()
            .filter(|line| line.starts_with("Anonymous"))
            .filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
            .sum();
        assert!((1..2048).contains(&own), "{own} KiB are its own");
    }
}

#[test]
fn an_abandoned_spare_is_killed_without_harm() {
    let umbo = Umbo::new();
    let engine = Engine::builder(umbo.state()).supervisor(UMBO).open().unwrap();
    engine.run(&Request::shell("true", umbo.path())).unwrap();
    engine.run(&Request::shell("true", umbo.path())).unwrap();
    let all = spares(&umbo);
    let child_of = |parents: &[Pid]| -> Vec<Pid> {
        let is_child = |pid: &&Pid| parent(**pid).is_some_and(|pid| parents.contains(&pid));
        all.iter().filter(is_child).copied().collect()
    };
    let nursery = child_of(&[rustix::process::getpid()]);
    let supervisors = child_of(&child_of(&nursery));
    assert!(!nursery.is_empty(), "{all:?}");
    for pid in nursery.into_iter().chain(supervisors) {
        // The one of a job that has just ended may be gone already.
        let _ = rustix::process::kill_process(pid, Signal::KILL);
        assert!(dies(pid));
    }
    // The engine's spare is dead: the next job gets another supervisor or an error, never a hang.
    for _ in 0..3 {
        if let Ok((_, outcome)) = engine.run(&Request::shell("true", umbo.path())) {
            assert!(outcome.success());
        }
    }
    let (_, outcome) = engine.run(&Request::shell("exit 5", umbo.path())).unwrap();
    assert_eq!(outcome.exit_code(), Some(5));
}

#[test]
fn errors_keep_environment_values_to_themselves() {
    let umbo = Umbo::new();
    let mut request = Request::shell("true", umbo.path());
    request.env.base = [("KEY".into(), "s3cr3t".into())].into();
    request.env.set.push(("TOKEN".into(), "s3cr3t".into()));
    request.stdin = Stdin::Bytes(b"s3cr3t".to_vec());
    assert!(!format!("{request:?}").contains("s3cr3t"));
    assert!(format!("{request:?}").contains("TOKEN"));
}

#[test]
fn a_signal_to_the_callers_group_does_not_reach_its_jobs() {
    let umbo = Umbo::new();
    let line = format!("{UMBO} start '$NAP'; echo started");
    // A shell with its own group, as a terminal's foreground job.
    let mut shell = Process::new("setsid")
        .args(["sh", "-c", &format!("{line}; kill -INT 0")])
        .env("UMBO_STATE_DIR", umbo.state())
        .env("NAP", umbo.nap())
        .stdout(ProcessStdio::null())
        .spawn()
        .unwrap();
    shell.wait().unwrap();
    let job = umbo.jobs()[0].clone();
    assert_eq!(job["state"], "started");
    signal(umbo.supervisor(job["job"].as_str().unwrap()), Signal::HUP);
    assert_eq!(umbo.jobs()[0]["state"], "started", "a closed terminal is not the job's business");
}

#[test]
fn labels_are_found_again_in_lists() {
    let umbo = Umbo::new();
    let mut request = Request::shell("true", umbo.path());
    request.labels.insert("colour".into(), "red".into());
    let (job, _) = umbo.engine().run(&request).unwrap();
    let other = umbo.engine();
    assert_eq!(other.job(job.id().as_str()).unwrap().summary().unwrap().labels["colour"], "red");
    assert_eq!(other.jobs(Scope::All).unwrap()[0].labels.len(), 1);
}

#[test]
fn a_reader_goes_on_where_it_stopped_whichever_process_it_is() {
    let umbo = Umbo::new();
    let (job, _) = umbo.engine().run(&Request::shell("printf 0123456789", umbo.path())).unwrap();
    let read = |reader: &str, until: u64| {
        let job = umbo.engine().job(job.id().as_str()).unwrap();
        job.read_on(reader, |from| Ok::<_, Error>((from, until))).unwrap()
    };
    assert_eq!((read("me", 4), read("me", 10), read("me", 10)), (0, 4, 10));
    assert_eq!(read("a/b ü", 3), 0, "another reader begins at the beginning");
    let failed = job.read_on("me", |_| Err::<((), u64), _>(Error::Refused("no".into())));
    assert!(failed.is_err());
    assert_eq!(read("me", 10), 10, "who failed to read has not read");
    fs::write(umbo.job(job.id().as_str()).join("read-me"), "rubbish").unwrap();
    assert_eq!((read("me", 10), read("me", 10)), (0, 10), "a damaged bookmark is none");
}
