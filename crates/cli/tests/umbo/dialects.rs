//! The dialects as a Rust program has them: schemas, guidance, events, stores, and whose turn it is.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use umbo_engine::{Engine, Warmth};
use umbo_tools::dialect::lash::process_events;
use umbo_tools::dialect::meerkat::{JobId, JobManager, JobStatus};
use umbo_tools::dialect::tasks::{Risk, TaskStore, Tasks, classify};
use umbo_tools::{Builder, CallerBuilder, Overlap, Owner, Ticket, ToolResult, Toolset};

use crate::harness::{TIMEOUT, UMBO, Umbo};

fn builder(umbo: &Umbo, dialect: &str) -> Builder {
    builder_for(umbo.caller(), dialect)
}

fn builder_for(caller: CallerBuilder, dialect: &str) -> Builder {
    Toolset::builder(caller)
        .dialect(dialect)
        .setting("tools.shell.enabled", true)
        .setting("tools.shell.shell", "sh")
}

fn toolset(umbo: &Umbo, dialect: &str) -> Toolset {
    builder(umbo, dialect).build().unwrap()
}

fn call(tools: &Toolset, tool: &str, with: Value) -> ToolResult {
    tools.call(tool, with, &Ticket::default())
}

/// Two lines that end only if both run at the same time: each waits for the other.
fn meeting(umbo: &Umbo, place: &str) -> (String, String) {
    let (there, back) = (umbo.fifo(&format!("to-{place}")), umbo.fifo(&format!("from-{place}")));
    let (there, back) = (there.display(), back.display());
    (format!("echo a > {there}; read x < {back}"), format!("read x < {there}; echo b > {back}"))
}

#[test]
fn an_agent_builder_gets_schemas_words_and_calls() {
    let umbo = Umbo::new();
    let tools = toolset(&umbo, "lash");
    assert_eq!(tools.dialect(), "lash");
    let exec = tools.tool("exec_command").unwrap();
    assert_eq!(exec.input_schema["required"], json!(["cmd"]));
    assert_eq!(exec.output_schema.as_ref().unwrap()["additionalProperties"], false);
    assert_eq!(exec.overlap, Overlap::Serial);
    assert_eq!(exec.binding.as_ref().unwrap().to_string(), "shell.exec");
    assert!(exec.annotations.destructive_hint && !exec.annotations.read_only_hint);
    assert!(exec.description.contains("`allow_nonzero_exit: true`"));
    let instructions = tools.instructions();
    for said in ["`shell.exec` is exec_command", "## Command Execution\n", "## Git Safety\n"] {
        assert!(instructions.contains(said), "{instructions}");
    }
    let result = call(&tools, "exec_command", json!({"cmd": "echo $((6 * 7))"}));
    assert_eq!((result.structured["output"].as_str(), result.is_error), (Some("42\n"), false));
    let refused = call(&tools, "exec_command", json!({"cmd": "touch ran", "timeout": 3}));
    assert!(refused.is_error && !umbo.path().join("ran").exists());
    assert!(refused.text.contains("timeout_ms"), "the nearest name: {}", refused.text);
}

#[test]
fn only_what_can_be_called_is_listed_and_mentioned() {
    let umbo = Umbo::new();
    let whole = toolset(&umbo, "lash");
    let titles: Vec<&str> = whole.guidance().iter().map(|guidance| guidance.title).collect();
    assert_eq!(titles, ["Command Execution", "Git Safety"]);
    assert!(whole.guidance()[0].text.contains("`shell.write`"));
    let whole = builder(&umbo, "lash").only([""; 0]).build().unwrap();
    assert_eq!(whole.tools().len(), 5, "an empty list names no one to leave out");
    let hidden = builder(&umbo, "lash").without("write_stdin");
    let hidden_too = builder(&umbo, "lash").only(["exec_command", "start_command"]);
    let both = builder(&umbo, "lash").only(["exec_command", "write_stdin"]).without("write_stdin");
    for part in [hidden, hidden_too, both] {
        let part = part.build().unwrap();
        assert!(part.tool("write_stdin").is_none());
        assert!(!part.guidance()[0].text.contains("`shell.write`"));
        assert!(!part.instructions().contains("write"), "{}", part.instructions());
        assert!(call(&part, "write_stdin", json!({"process_id": "x"})).is_error);
    }
}

#[test]
fn a_forwarder_hears_every_signal_of_its_process_after_the_last() {
    let umbo = Umbo::new();
    let tools = toolset(&umbo, "lash");
    let start = |line: &str| {
        let started = call(&tools, "start_command", json!({"cmd": line}));
        started.structured["id"].as_str().unwrap().to_owned()
    };
    let (id, other) = (start("cat"), start("cat"));
    let write = |id: &str, chars: &str, close: bool| {
        let with = json!({"process_id": id, "chars": chars, "close_stdin": close});
        call(&tools, "write_stdin", with).structured["sequence"].as_u64().unwrap()
    };
    let events = process_events(&tools, &id).unwrap();
    let (hear, heard) = mpsc::channel();
    let forwarder = thread::spawn(move || {
        let mut after = 0;
        while let Some(event) =
            events.wait_event_after("signal.stdin", after, Duration::MAX).unwrap()
        {
            assert_eq!(event.kind, "signal.stdin");
            after = event.sequence;
            hear.send((event.sequence, event.payload)).unwrap();
        }
    });
    let next = || heard.recv_timeout(TIMEOUT).unwrap();
    write(&other, "not for you\n", false);
    let first = write(&id, "tea\n", false);
    assert_eq!(next(), (first, json!({"bytes": 4, "close_stdin": false})));
    let second = write(&id, "", true);
    assert!(second > first);
    assert_eq!(next(), (second, json!({"bytes": 0, "close_stdin": true})));
    // The process has ended: there is nothing more to forward.
    forwarder.join().unwrap();
    let events = process_events(&tools, &id).unwrap();
    let exited = events.wait_event_after("exited", second, TIMEOUT).unwrap().unwrap();
    assert_eq!(exited.payload, json!({"state": "exited", "exit_code": 0}));
    assert!(process_events(&tools, "shell:none").is_none());
    call(&tools, "cancel_process", json!({"process_id": other}));
}

#[test]
fn serial_calls_of_one_caller_do_not_overlap() {
    for (dialect, tool, with) in [
        ("lash", "exec_command", json!({"timeout_ms": 700})),
        ("omp", "bash", json!({"timeout": 1})),
    ] {
        let umbo = Umbo::new();
        let tools = toolset(&umbo, dialect);
        let field = if dialect == "lash" { "cmd" } else { "command" };
        let (left, right) = meeting(&umbo, "here");
        let run = |line: String| {
            let mut with = with.clone();
            with[field] = json!(line);
            call(&tools, tool, with)
        };
        thread::scope(|scope| {
            for meets in [scope.spawn(|| run(left)), scope.spawn(|| run(right))] {
                let result = meets.join().unwrap();
                assert!(result.is_error && result.text.contains("timed out"), "{result:?}");
            }
        });
    }
}

#[test]
fn other_calls_of_one_caller_run_side_by_side() {
    for (dialect, tool, field) in [
        ("umbo", "exec", "command"),
        ("meerkat", "shell", "command"),
        ("tasks", "Bash", "command"),
        ("claude-code", "Bash", "command"),
        ("codex", "exec_command", "cmd"),
    ] {
        let umbo = Umbo::new();
        let tools = toolset(&umbo, dialect);
        let (left, right) = meeting(&umbo, "here");
        thread::scope(|scope| {
            let run = |line: String| {
                let tools = &tools;
                scope.spawn(move || call(tools, tool, json!({field: line})))
            };
            for meets in [run(left), run(right)] {
                let result = meets.join().unwrap();
                assert!(!result.is_error, "{dialect}: {result:?}");
            }
        });
    }
}

#[test]
fn a_parallel_tool_does_not_wait_for_a_serial_one() {
    let umbo = Umbo::new();
    let tools = toolset(&umbo, "lash");
    let gate = umbo.fifo("gate");
    let line = format!("read x < {}; echo $x", gate.display());
    thread::scope(|scope| {
        let serial = scope.spawn(|| call(&tools, "exec_command", json!({"cmd": line})));
        let mut passing = open_for_writing(&gate);
        assert!(!call(&tools, "list_process_handles", json!({})).is_error);
        std::io::Write::write_all(&mut passing, b"passed\n").unwrap();
        assert_eq!(serial.join().unwrap().structured["output"], "passed\n");
    });
}

/// Opens a named pipe when somebody reads it.
fn open_for_writing(fifo: &Path) -> fs::File {
    fs::OpenOptions::new().write(true).open(fifo).unwrap()
}

#[test]
fn two_callers_never_wait_for_each_other() {
    for (dialect, tool, field) in [("lash", "exec_command", "cmd"), ("omp", "bash", "command")] {
        let umbo = Umbo::new();
        let (left, right) = meeting(&umbo, "here");
        let run = |owner: &str, line: String| {
            let with = json!({field: line}).to_string();
            umbo.call(["call", "--dialect", dialect, "--owner", owner, tool, &with]).spawn()
        };
        for meets in [run("one", left), run("two", right)] {
            meets.answer().expect_status(0);
        }
        let (line, other) = meeting(&umbo, "there");
        let (one, two) = (toolset(&umbo, dialect), toolset(&umbo, dialect));
        thread::scope(|scope| {
            let first = scope.spawn(|| call(&one, tool, json!({field: line})));
            assert!(!call(&two, tool, json!({field: other})).is_error);
            assert!(!first.join().unwrap().is_error);
        });
    }
}

#[test]
fn a_call_that_is_cancelled_before_its_turn_runs_nothing() {
    let umbo = Umbo::new();
    let tools = toolset(&umbo, "lash");
    let gate = umbo.fifo("gate");
    let line = format!("read x < {}", gate.display());
    let ticket = Ticket::default();
    thread::scope(|scope| {
        let first = scope.spawn(|| call(&tools, "exec_command", json!({"cmd": line})));
        let passing = open_for_writing(&gate);
        let waiting =
            scope.spawn(|| tools.call("exec_command", json!({"cmd": "touch ran"}), &ticket));
        ticket.cancel();
        let result = waiting.join().unwrap();
        assert_eq!(result.structured["error"]["code"], "cancelled");
        assert_eq!(result.text, "tool call cancelled");
        drop(passing);
        assert!(first.join().unwrap().is_error, "read found nothing to read");
    });
    assert!(!umbo.path().join("ran").exists());
    assert_eq!(umbo.jobs().len(), 1);
}

#[test]
fn what_is_new_is_remembered_from_one_process_to_the_next() {
    let umbo = Umbo::new();
    let read = |owner: &[&str], id: &str| {
        let with = json!({"bash_id": id}).to_string();
        let words = [&["call", "--dialect", "claude-code"], owner, &["BashOutput", &with]];
        umbo.call(words.concat()).json()["stdout"].as_str().unwrap().to_owned()
    };
    for owner in [&[][..], &["--owner", "me"]] {
        let gate = umbo.fifo(&format!("gate{}", owner.len()));
        let line = format!("echo one; read x < {}; echo two", gate.display());
        let with = json!({"command": line, "run_in_background": true}).to_string();
        let words = [&["call", "--dialect", "claude-code"], owner, &["Bash", &with]].concat();
        let started = umbo.call(words).json();
        let id = started["backgroundTaskId"].as_str().unwrap();
        umbo.wait_for(id, "one");
        assert_eq!(read(owner, id), "one\n");
        assert_eq!(read(owner, id), "");
        drop(open_for_writing(&gate));
        umbo.outcome(&umbo.listed_by_name(id));
        assert_eq!(read(owner, id), "two\n");
        assert_eq!(read(owner, id), "");
    }
}

#[test]
fn the_jobs_of_another_caller_are_not_found_by_their_ids() {
    let umbo = Umbo::new();
    let (mine, other) = (toolset(&umbo, "claude-code"), toolset(&umbo, "claude-code"));
    let with = json!({"command": umbo.nap(), "run_in_background": true});
    let id = call(&mine, "Bash", with).structured["backgroundTaskId"].clone();
    assert!(call(&other, "BashOutput", json!({"bash_id": id})).is_error);
    assert!(call(&other, "KillShell", json!({"shell_id": id})).is_error);
    let everybody =
        builder_for(umbo.caller().owner(Owner::Everybody), "claude-code").build().unwrap();
    assert!(!call(&everybody, "BashOutput", json!({"bash_id": id})).is_error);
    assert!(!call(&mine, "KillShell", json!({"shell_id": id})).is_error);
}

#[test]
fn two_callers_may_give_the_same_id_to_their_processes() {
    let umbo = Umbo::new();
    let (one, two) = (toolset(&umbo, "lash"), toolset(&umbo, "lash"));
    let ticket = || Ticket::builder().id("call-1").build();
    for tools in [&one, &two] {
        let started = tools.call("start_command", json!({"cmd": umbo.nap()}), &ticket());
        assert_eq!(started.structured["process_id"], "call-1");
    }
    let listed = |tools: &Toolset| {
        call(tools, "list_process_handles", json!({})).structured["processes"][0]["status"].clone()
    };
    let cancelled = call(&one, "cancel_process", json!({"process_id": "call-1"}));
    assert_eq!(cancelled.structured["status"], "cancelled");
    assert_eq!((listed(&one), listed(&two)), (json!("cancelled"), json!("running")));
    let written = call(&two, "write_stdin", json!({"process_id": "call-1", "chars": "x"}));
    assert!(!written.is_error, "{written:?}");
    call(&two, "cancel_process", json!({"process_id": "call-1"}));
    assert!(umbo.nappers().is_empty());
}

#[test]
fn a_cancelled_command_is_gone_and_said_to_be_cancelled() {
    let umbo = Umbo::new();
    let tools = toolset(&umbo, "lash");
    let ticket = Ticket::default();
    thread::scope(|scope| {
        let with = json!({"cmd": umbo.nap()});
        let running = scope.spawn(|| tools.call("exec_command", with, &ticket));
        umbo.wait_nappers(1);
        ticket.cancel();
        let result = running.join().unwrap();
        assert_eq!((result.is_error, result.text.as_str()), (true, "tool call cancelled"));
    });
    assert!(umbo.nappers().is_empty());
}

#[test]
fn a_command_that_is_cancelled_while_its_supervisor_comes_up_does_not_run_on() {
    let umbo = Umbo::new();
    let (gate, slow) = (umbo.fifo("gate"), umbo.path().join("slow"));
    let script = format!("#!/bin/sh\nread x < {}\nexec {UMBO} \"$@\"\n", gate.display());
    fs::write(&slow, script).unwrap();
    fs::set_permissions(&slow, fs::Permissions::from_mode(0o755)).unwrap();
    let engine = Engine::builder(umbo.state()).supervisor(&slow).warmth(Warmth::Cold);
    let tools = builder_for(umbo.caller_on(engine.open().unwrap()), "omp").build().unwrap();
    let ticket = Ticket::default();
    thread::scope(|scope| {
        let with = json!({"command": umbo.nap()});
        let running = scope.spawn(|| tools.call("bash", with, &ticket));
        let coming = open_for_writing(&gate);
        ticket.cancel();
        assert_eq!(running.join().unwrap().text, "Command aborted");
        drop(coming);
    });
    let mut events = umbo.call(["events", "--follow", "--json"]).spawn();
    let kind = |line: String| serde_json::from_str::<Value>(&line).unwrap()["kind"].clone();
    while kind(events.line()) != "exited" {}
    events.kill();
    assert!(umbo.nappers().is_empty());
}

#[test]
fn a_poll_that_is_given_up_cancels_nothing() {
    let umbo = Umbo::new();
    let tools = toolset(&umbo, "omp");
    call(&tools, "bash", json!({"command": umbo.nap(), "async": true}));
    let (tell, told) = mpsc::channel();
    let tell = std::sync::Mutex::new(tell);
    let progress = move |tick: &umbo_tools::Tick| {
        let _ = tell.lock().unwrap().send(tick.lines.clone());
    };
    let ticket = Ticket::builder().progress(progress).build();
    thread::scope(|scope| {
        let polling = scope.spawn(|| tools.call("job", json!({}), &ticket));
        let lines = told.recv_timeout(TIMEOUT).unwrap();
        assert!(lines[0].ends_with(" running"), "{lines:?}");
        ticket.cancel();
        let result = polling.join().unwrap();
        assert_eq!(result.structured["details"]["jobs"][0]["status"], "running");
    });
    assert_eq!(umbo.nappers().len(), 1);
}

#[test]
fn what_ended_long_ago_is_as_if_it_had_never_been() {
    let umbo = Umbo::new();
    for (dialect, start, with, list, field) in [
        ("omp", "bash", json!({"command": "true", "async": true}), "job", "/details/jobs"),
        ("lash", "start_command", json!({"cmd": "true"}), "list_process_handles", "/processes"),
        (
            "tasks",
            "Bash",
            json!({"command": "true", "run_in_background": true}),
            "task_list",
            "/tasks",
        ),
    ] {
        let tools = toolset(&umbo, dialect);
        call(&tools, start, with);
        let job = umbo.jobs().last().unwrap()["job"].as_str().unwrap().to_owned();
        umbo.outcome(&job);
        let listed = || {
            let with = if dialect == "omp" { json!({"list": true}) } else { json!({}) };
            let listed = call(&tools, list, with).structured;
            listed.pointer(field).unwrap().as_array().unwrap().len()
        };
        assert_eq!(listed(), 1, "{dialect}");
        let path = umbo.job(&job).join("outcome");
        let mut outcome: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        outcome["ended_at"] = json!(outcome["ended_at"].as_u64().unwrap() - 301_000_000);
        fs::write(&path, outcome.to_string()).unwrap();
        assert_eq!(listed(), 0, "{dialect}");
    }
}

#[test]
fn the_end_of_a_meerkat_job_is_a_message_for_the_loop() {
    let umbo = Umbo::new();
    let tools = toolset(&umbo, "meerkat");
    let started = call(&tools, "shell", json!({"command": umbo.nap(), "background": true}));
    let id = &started.structured["job_id"];
    let cancelled = call(&tools, "shell_job_cancel", json!({"job_id": id}));
    let told = &cancelled.completed[0];
    let message: Value = serde_json::from_str(&told.sentence).unwrap();
    assert_eq!(message["type"], "background_job_completed");
    assert_eq!(message["data"], told.event["data"]);
}

#[test]
fn the_end_of_a_lash_process_is_told_in_words_with_all_that_it_ended_with() {
    let umbo = Umbo::new();
    let tools = toolset(&umbo, "lash");
    let gate = umbo.fifo("gate");
    let line = format!("read x < {}; echo tea", gate.display());
    let started = call(&tools, "start_command", json!({"cmd": line}));
    let id = started.structured["id"].as_str().unwrap();
    drop(open_for_writing(&gate));
    umbo.outcome(&umbo.listed_by_name(id));
    let next = call(&tools, "exec_command", json!({"cmd": "true"}));
    let told = &next.completed[0];
    assert_eq!(serde_json::from_str::<Value>(&told.sentence).unwrap(), told.event);
    assert_eq!(told.event["result"]["output"], "tea\n");
}

#[test]
fn numbers_beyond_all_bounds_bound_nothing_and_break_nothing() {
    let umbo = Umbo::new();
    for (dialect, tool, with) in [
        ("lash", "exec_command", json!({"cmd": "echo hi", "timeout_ms": u64::MAX})),
        ("lash", "exec_command", json!({"cmd": "echo hi", "timeout_ms": 1e300})),
        ("lash", "exec_command", json!({"cmd": "echo hi", "max_output_tokens": u64::MAX})),
        ("meerkat", "shell", json!({"command": "echo hi", "timeout_secs": u64::MAX})),
        ("meerkat", "shell", json!({"command": "echo hi", "timeout_secs": 1e30})),
        ("tasks", "Bash", json!({"command": "echo hi", "timeout": f64::MAX})),
        ("claude-code", "Bash", json!({"command": "echo hi", "timeout": f64::MAX})),
        ("omp", "bash", json!({"command": "echo hi", "timeout": f64::MAX, "head": u64::MAX})),
        ("omp", "bash", json!({"command": "echo hi", "timeout": f64::MIN})),
        ("codex", "exec_command", json!({"cmd": "echo hi", "yield_time_ms": f64::MAX})),
        ("codex", "exec_command", json!({"cmd": "echo hi", "yield_time_ms": -1})),
        ("umbo", "exec", json!({"command": "echo hi", "timeout": f64::MAX, "yield": 3600})),
    ] {
        let result = call(&toolset(&umbo, dialect), tool, with.clone());
        assert!(!result.is_error && result.text.contains("hi"), "{dialect} {with}: {result:?}");
    }
}

#[test]
fn the_classifier_of_tasks_is_there_for_their_gate() {
    assert_eq!(classify("FOO=1 ls -la | wc -l").risk, Risk::ReadOnly);
    assert_eq!(classify("ls > x").risk, Risk::Unknown);
    assert_eq!(classify("ls && rm -rf x").matched, "rm -rf");
    assert!(classify("mkdir x").is_common_fs);
}

fn store(tools: &Toolset) -> &TaskStore {
    tools.dialect_as::<Tasks>().unwrap().store()
}

/// What the store of a toolset tells its observers.
fn changes(tools: &Toolset) -> mpsc::Receiver<(&'static str, String)> {
    let (sender, changes) = mpsc::channel();
    let sender = std::sync::Mutex::new(sender);
    store(tools).observe(move |change| {
        let _ = sender.lock().unwrap().send((change.op, change.task.output.clone()));
    });
    changes
}

fn start_task(tools: &Toolset, command: &str) -> String {
    let with = json!({"command": command, "run_in_background": true});
    call(tools, "Bash", with).structured["task_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_task_is_in_the_store_from_its_start_to_its_end() {
    let umbo = Umbo::new();
    let tools = toolset(&umbo, "tasks");
    let changes = changes(&tools);
    let next = || changes.recv_timeout(TIMEOUT).unwrap();
    let id = start_task(&tools, "echo hi");
    assert_eq!(next(), ("started", String::new()));
    assert_eq!(next(), ("completed", "hi\n".to_owned()));
    assert_eq!(store(&tools).snapshot().len(), 1);
    assert!(store(&tools).has_pending());
    assert_eq!(store(&tools).drain_completed()[0].id, id);
    assert_eq!(next().0, "removed");
    let id = start_task(&tools, &umbo.nap());
    assert_eq!(next().0, "started");
    assert!(store(&tools).stop(&id).is_some());
    assert_eq!(next().0, "killed");
    assert_eq!(store(&tools).get(&id).unwrap().exit_code, -1);
}

#[test]
fn a_task_that_was_drained_is_not_told_by_a_result() {
    let umbo = Umbo::new();
    let tools = toolset(&umbo, "tasks");
    let changes = changes(&tools);
    let next = || changes.recv_timeout(TIMEOUT).unwrap().0;
    for drains in [true, false] {
        let gate = umbo.fifo(&format!("gate-{drains}"));
        let id = start_task(&tools, &format!("read x < {}", gate.display()));
        drop(open_for_writing(&gate));
        assert_eq!((next(), next()), ("started", "failed"));
        if drains {
            assert_eq!(store(&tools).drain_completed()[0].id, id);
            assert_eq!(next(), "removed");
        }
        let told = call(&tools, "task_list", json!({})).completed;
        assert_eq!(told.len(), usize::from(!drains), "{told:?}");
        assert_eq!(store(&tools).has_pending(), !drains, "it is drained by the loop alone");
    }
}

#[test]
fn a_job_that_is_watched_is_not_announced_beside() {
    let umbo = Umbo::new();
    let tools = std::sync::Arc::new(toolset(&umbo, "omp"));
    let gate = umbo.fifo("gate");
    let line = format!("read x < {}", gate.display());
    let watched = call(&tools, "bash", json!({"command": line, "async": true}));
    let id = watched.structured["details"]["async"]["jobId"].as_str().unwrap().to_owned();
    let job = umbo.engine().job(&id).unwrap();
    let (announcing, watching) = (std::sync::Arc::clone(&tools), job.clone());
    let announced = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let hearing = std::sync::Arc::clone(&announced);
    let once = std::sync::Once::new();
    let progress = move |_: &umbo_tools::Tick| {
        once.call_once(|| {
            drop(open_for_writing(&gate));
            watching.wait(&[umbo_engine::Condition::Exit], Some(TIMEOUT)).unwrap();
            hearing.lock().unwrap().push(announcing.announce(watching.id().as_str()));
        });
    };
    let ticket = Ticket::builder().progress(progress).build();
    let polled = tools.call("job", json!({"poll": [id]}), &ticket);
    assert_eq!(polled.structured["details"]["jobs"][0]["status"], "failed");
    assert_eq!(*announced.lock().unwrap(), [None]);
    assert_eq!(tools.announce(job.id().as_str()), None, "the poll told it");
}

#[test]
fn an_unseen_end_is_told_with_the_end_of_its_text() {
    let umbo = Umbo::new();
    let tools = toolset(&umbo, "omp");
    let told = |name: &str, rest: &str| {
        let gate = umbo.fifo(name);
        let line = format!("read x < {}; {rest}", gate.display());
        let started = call(&tools, "bash", json!({"command": line, "async": true}));
        let id = started.structured["details"]["async"]["jobId"].as_str().unwrap().to_owned();
        drop(open_for_writing(&gate));
        let job = umbo.engine().job(&id).unwrap();
        job.wait(&[umbo_engine::Condition::Exit], Some(TIMEOUT)).unwrap();
        let result = call(&tools, "bash", json!({"command": "true"}));
        result.completed[0].sentence.replace(&id, "ID").replace(&line, "LINE")
    };
    let failed = "background job ID failed: LINE\nhi\n\nCommand exited with code 3";
    assert_eq!(told("one", "echo hi; exit 3"), failed);
    let long = told("two", "seq 1 5000");
    assert!(long.starts_with("background job ID completed: LINE\n…\n"), "{long}");
    assert!(long.ends_with("\n4999\n5000") && long.len() < 2100, "{long}");
}

#[test]
fn a_shell_that_cannot_be_started_is_told_alike_by_both_tools_of_recipe() {
    let umbo = Umbo::new();
    fs::write(umbo.path().join("Makefile"), "all:\n\t@true\n").unwrap();
    let tools = toolset(&umbo, "recipe");
    // As long as a command is read, and one byte longer than an argument may be.
    let long = |before: &str| "x".repeat((128 << 10) - before.len());
    for (tool, with) in [
        ("shell.bash", json!({"command": long("")})),
        ("project.recipe", json!({"op": long("make ")})),
    ] {
        let result = call(&tools, tool, with);
        assert!(result.is_error);
        assert_eq!(result.structured["error"]["code"], "shell_spawn_failed", "{tool}");
    }
}

#[test]
fn a_recipe_of_any_dialect_is_the_last_run_of_its_task() {
    for (dialect, tool) in [("omp", "recipe"), ("recipe", "project.recipe"), ("umbo", "recipe")] {
        let umbo = Umbo::new();
        fs::write(umbo.path().join("Makefile"), "good:\n\t@true\nbad:\n\t@false\n").unwrap();
        for (op, failing) in [("good", false), ("bad", dialect == "omp")] {
            let with = json!({"op": op}).to_string();
            let words = ["call", "--dialect", dialect, tool, &with];
            umbo.call(words).current_dir(umbo.path()).status(i32::from(failing)).json();
        }
        let listed = umbo.call(["recipes", "--json"]).current_dir(umbo.path()).json();
        let tasks = listed["tasks"].as_array().unwrap().iter();
        let codes: Vec<_> = tasks.map(|task| task["last_exit_code"].clone()).collect();
        assert_eq!(codes, [json!(0), json!(2)], "{dialect}: {listed}");
    }
}

#[test]
fn the_settings_of_omp_are_in_the_configuration() {
    let umbo = Umbo::new();
    fs::write(umbo.path().join("Makefile"), "all:\n\t@true\n").unwrap();
    let names = |variables: &[(&str, &str)]| {
        let mut listing =
            umbo.call(["tools", "--dialect", "omp", "--json"]).current_dir(umbo.path());
        for (name, value) in variables {
            listing = listing.env(&format!("UMBO_TOOLS_OMP_{name}"), value);
        }
        let tools = listing.json();
        let has_async = !tools[0]["inputSchema"]["properties"]["async"].is_null();
        let tools = tools.as_array().unwrap().iter();
        let names: Vec<_> = tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        (names.join(" "), has_async)
    };
    let words = |variables: &[(&str, &str)]| {
        let mut listing = umbo.call(["tools", "--dialect", "omp"]);
        for (name, value) in variables {
            listing = listing.env(&format!("UMBO_TOOLS_OMP_{name}"), value);
        }
        listing.answer().text()
    };
    let no_async = ("ASYNC_ENABLED", "false");
    assert_eq!(names(&[]), ("bash job recipe".to_owned(), true));
    assert_eq!(names(&[("RECIPE_ENABLED", "false")]), ("bash job".to_owned(), true));
    assert_eq!(names(&[no_async]), ("bash job recipe".to_owned(), false));
    let neither = [no_async, ("BASH_AUTO_BACKGROUND_ENABLED", "false")];
    assert_eq!(names(&neither), ("bash recipe".to_owned(), false));
    let told = words(&[]);
    for said in ["`async: true`", "longer than about 40 seconds", "waits up to 30 seconds"] {
        assert!(told.contains(said), "{told}");
    }
    let told =
        words(&[("BASH_AUTO_BACKGROUND_THRESHOLD_MS", "1500"), ("ASYNC_POLL_WAIT_DURATION", "5m")]);
    assert!(told.contains("longer than about 1.5 seconds"), "{told}");
    assert!(told.contains("waits up to 300 seconds"), "as long as a person chose: {told}");
    let told = words(&neither);
    assert!(!told.contains("async") && !told.contains("`job`"), "{told}");
    let call = ["call", "--dialect", "omp", "job", "{}"];
    let told = umbo.call(call).env("UMBO_TOOLS_OMP_ASYNC_POLL_WAIT_DURATION", "7s").refused();
    assert!(told.contains("\"5s\", \"10s\", \"30s\", \"1m\", \"5m\""), "{told}");
    let slow = json!({"command": umbo.nap()}).to_string();
    let call = umbo.call(["call", "--dialect", "omp", "bash", &slow]);
    let told = call.env("UMBO_TOOLS_OMP_BASH_AUTO_BACKGROUND_THRESHOLD_MS", "1").json();
    let id = told["details"]["async"]["jobId"].as_str().unwrap();
    umbo.call(["stop", id, "--json"]).json();
}

#[test]
fn meerkat_is_off_until_it_is_turned_on() {
    let umbo = Umbo::new();
    let words = ["call", "--dialect", "meerkat", "shell", r#"{"command": "echo hi"}"#];
    assert_eq!(umbo.call(words).status(1).json()["error"], "shell_disabled");
    let on = umbo.call(words).env("UMBO_TOOLS_SHELL_ENABLED", "true").json();
    assert_eq!(on["exit_code"], 0);
    umbo.call(words).env("UMBO_TOOLS_SHELL_ENABLED", "maybe").refused();
}

#[test]
fn the_shell_of_meerkat_is_any_that_the_configuration_names() {
    let umbo = Umbo::new();
    let call = |shell: &str| {
        umbo.call(["call", "--dialect", "meerkat", "shell", r#"{"command": "echo $0"}"#])
            .env("UMBO_TOOLS_SHELL_ENABLED", "true")
            .env("UMBO_TOOLS_SHELL_SHELL", shell)
    };
    assert!(call("dash").json()["stdout"].as_str().unwrap().ends_with("/dash\n"));
    let missing = call("nonesuch").status(1).json();
    assert_eq!(missing["error"], "shell_not_installed");
    let message = "Shell not installed: nonesuch. Install from https://nushell.sh";
    assert_eq!(missing["message"], message);
}

#[test]
fn the_job_manager_of_meerkat_sees_what_its_tools_see() {
    let umbo = Umbo::new();
    let tools = toolset(&umbo, "meerkat");
    let manager = JobManager::of(&tools).unwrap();
    assert!(JobManager::of(&toolset(&umbo, "lash")).is_none());
    assert!(manager.drain_completed().is_empty(), "it never waits");
    let (first, second) = (umbo.fifo("first"), umbo.fifo("second"));
    let held = |gate: &Path| format!("read x < {}; echo $x; exit 3", gate.display());
    let early = manager.spawn_job(&held(&first), None, None).unwrap();
    let late = manager.spawn_job(&held(&second), None, Some(300)).unwrap();
    assert!(matches!(
        manager.get_status(&early).unwrap().status,
        JobStatus::Running { started_at_unix } if started_at_unix > 0
    ));
    assert_eq!(manager.get_status(&late).unwrap().timeout_secs, 300);
    let listed = call(&tools, "shell_jobs", json!({}));
    assert_eq!(listed.structured, json!(manager.list_jobs().unwrap()));
    // They end in the other order than they began, and are told in that order.
    for (gate, id) in [(&second, &late), (&first, &early)] {
        fs::write(gate, "hi\n").unwrap();
        let job = umbo.engine().job(id.0.trim_start_matches("job_")).unwrap();
        job.wait(&[umbo_engine::Condition::Exit], Some(TIMEOUT)).unwrap();
    }
    let drained = manager.drain_completed();
    let ids: Vec<&JobId> = drained.iter().map(|completed| &completed.job_id).collect();
    assert_eq!(ids, [&late, &early]);
    let JobStatus::Completed { exit_code: Some(3), stdout, .. } = &drained[0].result else {
        panic!("{drained:?}");
    };
    assert_eq!(stdout, "hi\n");
    assert!(
        manager.drain_completed().is_empty()
            && call(&tools, "shell_jobs", json!({})).completed.is_empty()
    );
    let nap = manager.spawn_job(&umbo.nap(), None, None).unwrap();
    manager.cancel_job(&nap).unwrap();
    assert!(
        manager.cancel_job(&nap).is_err() && manager.cancel_job(&JobId("job_none".into())).is_err()
    );
    assert!(matches!(manager.get_status(&nap).unwrap().status, JobStatus::Cancelled { .. }));
    assert!(manager.get_status(&JobId("none".into())).is_none());
    let escape = manager.spawn_job("true", Some("../.."), None).unwrap_err();
    assert_eq!(escape.code, umbo_tools::ErrorCode::WorkingDirEscape);
}

#[test]
fn an_id_of_meerkat_is_one_at_the_command_line_too() {
    let umbo = Umbo::new();
    let with = json!({"command": umbo.nap(), "background": true}).to_string();
    let started = umbo
        .call(["call", "--dialect", "meerkat", "shell", &with])
        .env("UMBO_TOOLS_SHELL_ENABLED", "true")
        .env("UMBO_TOOLS_SHELL_SHELL", "sh")
        .json();
    let id = started["job_id"].as_str().unwrap();
    umbo.call(["stop", id, "--json"]).json();
    umbo.call(["output", id]).answer();
}

#[test]
fn what_ended_first_is_told_first_in_every_dialect() {
    let umbo = Umbo::new();
    for (dialect, tool, field, with) in [
        ("tasks", "Bash", "/task_id", json!({"run_in_background": true})),
        ("omp", "bash", "/details/async/jobId", json!({"async": true})),
        ("claude-code", "Bash", "/backgroundTaskId", json!({"run_in_background": true})),
    ] {
        let tools = toolset(&umbo, dialect);
        let ids: Vec<String> = ["one", "two", "three"]
            .into_iter()
            .map(|name| {
                let gate = umbo.fifo(&format!("{dialect}-{name}"));
                let mut with = with.clone();
                with["command"] = json!(format!("read x < {}", gate.display()));
                let started = call(&tools, tool, with);
                let id = started.structured.pointer(field).unwrap().as_str().unwrap();
                id.to_owned()
            })
            .collect();
        for name in ["three", "one", "two"] {
            drop(open_for_writing(&umbo.path().join(format!("{dialect}-{name}"))));
            let place = ["one", "two", "three"].iter().position(|each| *each == name).unwrap();
            let job = umbo.engine().job(&ids[place]).unwrap();
            job.wait(&[umbo_engine::Condition::Exit], Some(TIMEOUT)).unwrap();
        }
        let told = tools.drain_completed();
        let order: Vec<Option<&String>> = told
            .iter()
            .map(|told| ids.iter().find(|id| told.event.to_string().contains(id.as_str())))
            .collect();
        assert_eq!(order, [Some(&ids[2]), Some(&ids[0]), Some(&ids[1])], "{dialect}: {told:?}");
    }
}

#[test]
fn a_task_lives_as_long_as_its_agent_if_that_is_set() {
    let umbo = Umbo::new();
    for (lifetime, ends) in [("agent", true), ("detached", false)] {
        let tools =
            builder(&umbo, "tasks").setting("tools.tasks.lifetime", lifetime).build().unwrap();
        let id = start_task(&tools, &umbo.nap());
        tools.close();
        let job = umbo.engine().job(&id).unwrap();
        let is_over = matches!(job.status().unwrap(), umbo_engine::Status::Ended(_));
        assert_eq!(is_over, ends, "{lifetime}");
    }
}

#[test]
fn the_root_of_recipes_is_the_nearest_project_upward() {
    let umbo = Umbo::new();
    let project = umbo.path().join("project");
    fs::create_dir_all(project.join("deep/down")).unwrap();
    fs::create_dir(project.join(".git")).unwrap();
    fs::write(project.join("Makefile"), "where:\n\t@pwd\n").unwrap();
    let deep = project.join("deep/down");
    let call = |with: Value| {
        let words = ["call", "--dialect", "recipe", "project.recipe"];
        let with = with.to_string();
        umbo.call([&words[..], &[&with]].concat()).current_dir(&deep)
    };
    let told = call(json!({"op": "where"})).json();
    let told = told["stdout"].as_str().unwrap();
    assert_eq!(Path::new(told.trim()), fs::canonicalize(&project).unwrap(), "{told}");
    let escaped = call(json!({"op": "where", "cwd": "../.."})).answer();
    let escaped = String::from_utf8_lossy(&escaped.stdout).into_owned();
    assert!(escaped.contains("invalid_params") && escaped.contains("cwd"), "{escaped}");
}

#[test]
fn tools_from_elsewhere_are_named_by_the_configuration() {
    let umbo = Umbo::new();
    let call = |command: &str| {
        let with = json!({"command": command}).to_string();
        umbo.call(["call", "--dialect", "omp", "bash", &with]).env("UMBO_TOOLS_BESIDE", "read,find")
    };
    let told = call("cat notes").answer();
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("Blocked: Use the `read` tool"), "{told}");
}

#[test]
fn a_setting_that_no_dialect_has_is_refused() {
    let umbo = Umbo::new();
    let error = builder(&umbo, "omp").setting("tools.omp.async.enabeld", true).build().unwrap_err();
    assert!(error.to_string().contains("tools.omp.async.enabled"), "{error}");
    let error =
        builder(&umbo, "omp").setting("tools.omp.async.enabled", "yes").build().unwrap_err();
    assert!(error.to_string().contains("accepted: true or false"), "{error}");
}

#[test]
fn where_a_contract_has_one_output_it_is_in_the_order_of_writing() {
    let umbo = Umbo::new();
    let line = "i=0; while [ $i -lt 300 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done";
    let expected = (0..300).map(|i| format!("o{i}\ne{i}\n")).collect::<Vec<_>>().concat();
    for (dialect, tool, arguments, place) in [
        ("lash", "exec_command", json!({"cmd": line}), "/output"),
        ("codex", "exec_command", json!({"cmd": line, "max_output_tokens": 100_000}), "/output"),
        ("tasks", "Bash", json!({"command": line}), ""),
        ("omp", "bash", json!({"command": line}), ""),
    ] {
        let tools = builder(&umbo, dialect).build().unwrap();
        let result = call(&tools, tool, arguments);
        let found = result.structured.pointer(place).and_then(Value::as_str);
        let text = found.unwrap_or(&result.text);
        assert!(text.contains(expected.trim_end()), "{dialect}: {}", &text[..text.len().min(900)]);
    }
}

#[test]
fn a_command_of_omp_does_not_wait_for_the_shell_that_another_has() {
    let umbo = Umbo::new();
    let run = |line: &str| {
        let arguments = json!({"command": line}).to_string();
        let words = ["call", "--dialect", "omp", "--owner", "tester", "bash", &arguments];
        umbo.call(words).env("UMBO_TOOLS_OMP_SHELL_SESSION", "true").json()
    };
    run("export MINE=kept");
    let holder = umbo.start_with(&["--session", "omp-tester"], &umbo.nap());
    umbo.wait_nappers(1);
    assert_eq!(run("echo ${MINE:-none}")["content"][0]["text"], "none", "a shell of its own");
    umbo.stop(&holder, &["--kill"]);
    assert_eq!(run("echo ${MINE:-none}")["content"][0]["text"], "kept");
}
