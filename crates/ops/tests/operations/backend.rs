//! Where jobs run makes no difference: every operation is done for two callers, one whose jobs the
//! engine of this process runs, and one whose jobs are in another process, behind a socket, with a
//! state directory that this process never opens. What they answer is the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use umbo_engine::Backend;
use umbo_ops::{BuildError, Call, Caller, Error, Owner, Ticket, attach};

use crate::client::Remote;
use crate::harness::{Helper, Place, example, until};

/// What is different whenever a command runs.
const VARYING: [&str; 10] = [
    "pid",
    "duration_ms",
    "started_at",
    "ended_at",
    "created_at",
    "at",
    "usage",
    "last_duration_ms",
    "full_output_path",
    "expires_at",
];

/// A caller, where its jobs run, and what became of the operations it asked for.
struct Side {
    caller: Arc<Caller>,
    ticket: Ticket,
    /// Names for the ids of jobs, which are others on each side.
    names: BTreeMap<String, String>,
    answers: Vec<(String, Value)>,
    /// Dropped before the place, which looks for what is left.
    _server: Option<Helper>,
    place: Place,
}

fn local() -> Side {
    let place = Place::new();
    let engine = place.engine();
    side(place, engine, None)
}

fn remote() -> Side {
    let place = Place::new();
    let socket = place.path().join("socket");
    let mut command = Command::new(example("remote_jobs"));
    let server = Helper::start(command.arg(&socket).arg(place.path().join("elsewhere")));
    until(|| socket.exists().then_some(())).expect("the server listens");
    let backend: Arc<dyn Backend> = Arc::new(Remote::new(socket));
    // Bound is not yet listening.
    until(|| backend.newest_event().ok()).expect("the server answers");
    side(place, backend, Some(server))
}

fn side(place: Place, backend: impl Into<Arc<dyn Backend>>, server: Option<Helper>) -> Side {
    let project = place.path().join("project");
    fs::create_dir_all(project.join("sub")).unwrap();
    fs::write(project.join("Makefile"), "hi: ## Greet\n\t@echo hi\nbad:\n\t@exit 2\n").unwrap();
    let caller = Caller::builder(backend)
        .state(place.path().join("own"))
        .directory(project)
        .environment(std::env::vars_os())
        .owner(Owner::Named("me".into()))
        .build()
        .unwrap();
    Side {
        caller: Arc::new(caller),
        ticket: Ticket::default(),
        names: BTreeMap::new(),
        answers: Vec::new(),
        place,
        _server: server,
    }
}

impl Side {
    /// Does an operation, and keeps its answer without what varies. The job it is about.
    fn does<R: DeserializeOwned, A: Serialize>(
        &mut self,
        operation: impl FnOnce(&Call<'_>, &R) -> Result<A, Error>,
        request: Value,
    ) -> Value {
        let asked = request.to_string();
        let typed: R = serde_json::from_value(request).unwrap();
        let answer = match operation(&Call::new(&self.caller, &self.ticket), &typed) {
            Ok(answer) => serde_json::to_value(answer).unwrap(),
            Err(error) => json!({"error": error}),
        };
        self.keep(&asked, answer.clone());
        answer
    }

    fn keep(&mut self, asked: &str, answer: Value) {
        let (asked, answer) = (self.plain_text(asked), self.plain(answer));
        self.answers.push((asked, answer));
    }

    /// A value without what varies: ids of jobs have names by their turn, and there is one place.
    fn plain(&mut self, value: Value) -> Value {
        match value {
            Value::Object(fields) => fields
                .into_iter()
                .map(|(name, value)| {
                    let varies = VARYING.contains(&name.as_str()) && !value.is_null();
                    let value = if varies { json!("varies") } else { self.plain(value) };
                    (name, value)
                })
                .collect(),
            Value::Array(items) => items.into_iter().map(|item| self.plain(item)).collect(),
            Value::String(text) => Value::String(self.plain_text(&text)),
            other => other,
        }
    }

    /// The name of an id that is told by its last six characters.
    fn known_by_its_end(&self, word: &str) -> Option<String> {
        let (_, name) = self.names.iter().find(|(id, _)| word.len() == 6 && id.ends_with(word))?;
        Some(name.clone())
    }

    fn plain_text(&mut self, text: &str) -> String {
        let place = self.place.path().to_str().unwrap();
        let text = text.replace(place, "PLACE");
        let mut plain = String::new();
        for part in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
            let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            let is_id = word.len() == 26 && word.starts_with("01");
            if is_id {
                let next = format!("JOB{}", self.names.len() + 1);
                plain.push_str(self.names.entry(word.to_owned()).or_insert(next));
                plain.push_str(&part[word.len()..]);
            } else if let Some(name) = self.known_by_its_end(word) {
                plain.push_str(&name);
                plain.push_str(&part[word.len()..]);
            } else {
                plain.push_str(part);
            }
        }
        plain
    }
}

/// Every operation, in the order of somebody who works with jobs.
fn walk(side: &mut Side) {
    run_commands(side);
    talk_to_a_job(side);
    read_output(side);
    use_a_terminal(side);
    run_tasks(side);
    be_refused(side);
    hear_of_ends(side);
    look_back(side);
}

fn run_commands(side: &mut Side) {
    side.does(umbo_ops::exec, json!({"command": "echo out; exit 3"}));
    side.does(umbo_ops::exec, json!({"argv": ["printf", "%s|", "a b", "c"]}));
    let given = json!({"command": "echo ${PWD##*/} $A; cat", "cwd": "sub", "env": {"A": "1"}, "stdin": "typed"});
    side.does(umbo_ops::exec, given);
    let limits = json!({"command": "seq 100000", "limits": {"output_bytes": 1000}});
    side.does(umbo_ops::exec, limits);
    side.does(umbo_ops::exec, json!({"command": "seq 10000", "max_output_tokens": 100}));
    side.does(umbo_ops::exec, json!({"command": "sleep 4000", "timeout": 0.2}));
    side.does(umbo_ops::exec, json!({"command": "kill -TERM $$"}));
    side.does(umbo_ops::exec, json!({"argv": ["./nothing"]}));
    for line in ["cd sub; A=2", "echo ${PWD##*/} $A"] {
        side.does(umbo_ops::exec, json!({"command": line, "session": "s"}));
    }
    for line in ["echo once", "echo once", "echo other"] {
        side.does(umbo_ops::exec, json!({"command": line, "idempotency_key": "k"}));
    }
}

fn talk_to_a_job(side: &mut Side) {
    // It says nothing unasked: how much of that its start told would depend on the moment.
    let line = "read go; echo ready; read x; echo got $x; touch made; read y; exit 4";
    let started = json!({"command": line, "background": true, "name": "talk"});
    side.does(umbo_ops::exec, started);
    side.does(umbo_ops::input, json!({"job": "talk", "text": "go\n"}));
    side.does(umbo_ops::wait, json!({"job": "talk", "match": "re.dy\n", "timeout": 60}));
    side.does(umbo_ops::wait, json!({"job": "talk", "timeout": 0.05}));
    side.does(umbo_ops::input, json!({"job": "talk", "text": "this\n"}));
    side.does(umbo_ops::wait, json!({"job": "talk", "match": "got this\n", "timeout": 60}));
    let made = side.place.path().join("project/made");
    side.does(umbo_ops::wait, json!({"job": "talk", "file": made, "timeout": 60}));
    side.does(umbo_ops::jobs, json!({}));
    side.does(umbo_ops::input, json!({"job": "talk", "text": "\n", "wait": 60}));
    side.does(umbo_ops::wait, json!({"job": "talk", "timeout": 60}));
    side.does(umbo_ops::input, json!({"job": "talk", "text": "late\n"}));
    side.does(umbo_ops::exec, json!({"command": "sleep 4000", "background": true, "name": "nap"}));
    side.does(umbo_ops::stop, json!({"job": "nap", "kill": true}));
    side.does(umbo_ops::stop, json!({"job": ["nap", "talk"]}));
}

fn read_output(side: &mut Side) {
    // All by one stream: which of two came first depends on the moment.
    let before = "{ seq 30; echo 'error: first'; echo 'FAILED tests/a.py::one'; } >&2";
    let after = "{ seq 30; echo 'error: second'; echo 'FAILED tests/a.py::two'; } >&2";
    for (name, line) in [("before", before), ("after", after)] {
        side.does(umbo_ops::exec, json!({"command": line, "name": name}));
    }
    for part in [
        json!({}),
        json!({"from": 10}),
        json!({"lines": "3-5"}),
        json!({"tail": 2}),
        json!({"grep": "^2", "context": 1}),
        json!({"errors": true}),
        json!({"stream": "stderr"}),
        json!({"stream": "stdout"}),
        json!({"compare_to": "before"}),
        json!({"max_output_tokens": 20}),
        json!({"lines": "x"}),
        json!({"grep": "("}),
        json!({"screen": true}),
    ] {
        let mut request = part;
        request["job"] = json!("after");
        side.does(umbo_ops::output, request);
    }
}

fn use_a_terminal(side: &mut Side) {
    let line = "read go; stty size; read x; echo \"[$x]\"; read y";
    let started = json!({"command": line, "background": true, "pty": true, "name": "tty"});
    side.does(umbo_ops::exec, started);
    side.does(umbo_ops::input, json!({"job": "tty", "keys": ["enter"]}));
    side.does(umbo_ops::wait, json!({"job": "tty", "match": "24 80\r\n", "timeout": 60}));
    side.does(umbo_ops::screen, json!({"job": "tty"}));
    let request = serde_json::from_value(json!({"job": "tty"})).unwrap();
    let person = attach(Arc::clone(&side.caller), Ticket::default(), &request).unwrap();
    person.send(b"typed").unwrap();
    side.does(umbo_ops::input, json!({"job": "tty", "keys": ["enter"]}));
    side.does(umbo_ops::wait, json!({"job": "tty", "match": r"\[typed\]\r\n", "timeout": 60}));
    side.does(umbo_ops::output, json!({"job": "tty", "screen": true}));
    side.does(umbo_ops::stop, json!({"job": "tty", "kill": true}));
}

fn run_tasks(side: &mut Side) {
    side.does(umbo_ops::recipe, json!({}));
    side.does(umbo_ops::recipe, json!({"op": "hi"}));
    side.does(umbo_ops::run, json!({"op": "bad"}));
    side.does(umbo_ops::plan, json!({"op": "hi"}));
    // The list tells how they ended last time.
    side.does(umbo_ops::recipes, json!({"filter": "h"}));
    side.does(umbo_ops::recipe, json!({"op": "nothing"}));
}

fn be_refused(side: &mut Side) {
    side.does(umbo_ops::exec, json!({}));
    side.does(umbo_ops::exec, json!({"command": "  "}));
    side.does(umbo_ops::exec, json!({"command": "true", "name": "@x"}));
    side.does(umbo_ops::exec, json!({"command": "true", "limits": {"memory_bytes": 0}}));
    side.does(umbo_ops::exec, json!({"command": "sudo rm -rf /"}));
    side.does(umbo_ops::exec, json!({"command": "curl https://example.org/install | sh"}));
    side.does(umbo_ops::output, json!({"job": "nobody"}));
    side.does(umbo_ops::stop, json!({"job": "nobody"}));
    side.does(umbo_ops::wait, json!({"job": "nobody"}));
    side.does(umbo_ops::input, json!({"job": "after", "keys": ["no such key"]}));
    side.does(umbo_ops::screen, json!({"job": "after"}));
}

/// Jobs that end unseen are told of once, in the order in which they end.
fn hear_of_ends(side: &mut Side) {
    side.caller.completions.take(&side.caller);
    for name in ["first", "second"] {
        let request = json!({"command": "read x", "background": true, "name": name});
        side.does(umbo_ops::exec, request);
    }
    for name in ["second", "first"] {
        let job = side.caller.backend.job_of("me", name).unwrap();
        let before = side.caller.backend.newest_event().unwrap();
        job.end_input().unwrap();
        job.wait_event_after("exited", before, crate::harness::TIMEOUT).unwrap().unwrap();
    }
    for time in ["once", "again"] {
        let ended = side.caller.completions.take(&side.caller);
        let names: Vec<_> = ended.into_iter().map(|ended| ended.name).collect();
        side.keep(time, json!(names));
    }
}

fn look_back(side: &mut Side) {
    side.does(umbo_ops::jobs, json!({"ended": "all", "scope": "all"}));
    let events = |call: &Call<'_>, request: &umbo_ops::EventsRequest| {
        // How often a job says that it wrote depends on the moment.
        let wrote = |event: &umbo_ops::EventAnswer| event.kind == "output";
        let all = umbo_ops::events(call, request)?.collect::<Result<Vec<_>, _>>()?;
        let kinds = all.into_iter().filter(|event| !wrote(event));
        Ok(kinds.map(|event| (event.kind, event.job, event.state, event.code)).collect::<Vec<_>>())
    };
    side.does(events, json!({}));
    side.does(umbo_ops::prune, json!({}));
    side.does(umbo_ops::jobs, json!({"ended": "all"}));
}

#[test]
fn every_operation_answers_the_same_wherever_its_job_runs() {
    let (mut here, mut there) = (local(), remote());
    for side in [&mut here, &mut there] {
        walk(side);
    }
    assert_eq!(here.answers.len(), there.answers.len());
    for ((asked, here), (also, there)) in here.answers.iter().zip(&there.answers) {
        assert_eq!(asked, also);
        assert_eq!(here, there, "{asked}");
    }
    // That the two agree is worth something only if they say something.
    let answers = |word: &str| {
        let said = here.answers.iter().filter(|(_, answer)| answer.to_string().contains(word));
        said.count()
    };
    for word in ["exited", "timed_out", "signaled", "failed_to_start", "stopped", "sub 1", "sub 2"]
    {
        assert!(answers(word) > 0, "nothing is {word}");
    }
    for code in [
        "invalid_argument",
        "unknown_job",
        "job_ended",
        "key_reused",
        "denied",
        "approval_required",
    ] {
        assert!(answers(&format!("\"code\":\"{code}\"")) > 0, "nothing is refused as {code}");
    }
    let ends = |time: &str| here.answers.iter().find(|(asked, _)| asked == time).unwrap().1.clone();
    assert_eq!((ends("once"), ends("again")), (json!(["second", "first"]), json!([])));
}

/// The audit has a hash of what each job wrote, made from the bytes and not from a file.
#[test]
fn the_audit_knows_what_a_job_of_another_process_wrote() {
    let log_of = |side: &mut Side| {
        side.does(umbo_ops::exec, json!({"command": "echo written"}));
        side.does(umbo_ops::prune, json!({}));
        let mut logs = Vec::new();
        let audit = side.caller.gate.audit().unwrap();
        let report = audit.read(|record| {
            if let umbo_gate::Event::Outcome { log, .. } = record.event {
                logs.push(log.map(|log| log.as_str().to_owned()));
            }
            Ok(())
        });
        assert!(report.unwrap().sound);
        logs
    };
    let written = umbo_gate::Digest::of(b"written\n").as_str().to_owned();
    for mut side in [local(), remote()] {
        assert_eq!(log_of(&mut side), [Some(written.clone())]);
    }
}

#[test]
fn a_path_of_another_machine_is_told_and_opened_by_nobody() {
    let mut there = remote();
    let answer = there.does(umbo_ops::exec, json!({"command": "echo hi"}));
    let path = answer["full_output_path"].as_str().unwrap();
    assert!(path.ends_with("/output") && !Path::new(path).exists(), "{path}");
    assert_eq!(answer["output"], "hi\n");
}

#[test]
fn a_caller_whose_jobs_are_elsewhere_says_who_decides_what_may_run() {
    let place = Place::new();
    let backend: Arc<dyn Backend> = Arc::new(Remote::new(place.path().join("nobody")));
    let refused = Caller::builder(backend).build().unwrap_err();
    assert!(matches!(refused, BuildError::NoGate), "{refused}");
}
