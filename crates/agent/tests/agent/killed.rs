//! A real process that is really killed.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::json;
use umbo_agent::{
    Agent, BoxFuture, EntryKind, Invocation, Outcome, Recovery, Session, SessionError, ToolOutput,
    Tools,
};
use umbo_model::server::{Answer, ModelServer, Reply};
use umbo_model::{Endpoint, Part, ToolCall, ToolInput, ToolSpec, WireFormat};

use crate::world::{DEADLINE, in_time, setup};

/// Set for the process that is going to be killed: the directory, and where the model is.
const CHILD: &str = "UMBO_AGENT_KILLED_CHILD";

/// One tool, whose work is a line in a file.
struct Notebook(PathBuf);

impl Notebook {
    fn lines(&self) -> Vec<String> {
        fs::read_to_string(&self.0).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

impl Tools for Notebook {
    fn specs(&self) -> Vec<ToolSpec> {
        let input = ToolInput::Schema(json!({"type": "object", "properties": {}}));
        vec![ToolSpec { name: "note".into(), description: "notes".into(), input }]
    }

    fn is_parallel(&self, _: &str) -> bool {
        true
    }

    fn call(self: Arc<Self>, invocation: Invocation) -> BoxFuture<ToolOutput> {
        Box::pin(async move {
            let mut file = OpenOptions::new().append(true).create(true).open(&self.0).unwrap();
            file.write_all(format!("{}\n", invocation.key).as_bytes()).unwrap();
            ToolOutput::text("noted")
        })
    }

    fn recover(self: Arc<Self>, _: ToolCall, key: String) -> BoxFuture<Recovery> {
        let is_done = self.lines().contains(&key);
        let finished = Recovery::Finished(ToolOutput::text("noted before the restart"));
        Box::pin(async move { if is_done { finished } else { Recovery::NotStarted } })
    }
}

fn session_file(directory: &Path) -> Option<PathBuf> {
    let mut files = directory.join("sessions").read_dir().ok()?.flatten().map(|entry| entry.path());
    files.find(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
}

fn notebook(directory: &Path) -> Arc<Notebook> {
    Arc::new(Notebook(directory.join("notes")))
}

/// What the process does that is killed: it works until then.
async fn work(directory: &Path, url: &str) {
    let server = ModelServer::scripted([]).unwrap();
    let mut setup = setup(&server, WireFormat::Chat);
    setup.candidates[0].endpoint =
        Endpoint { base_url: format!("{url}/v1"), key: None, headers: Vec::new() };
    let session = match session_file(directory) {
        Some(path) => Session::open(&path).unwrap(),
        None => Session::create(&directory.join("sessions"), "/c", None).unwrap(),
    };
    let mut agent = Agent::new(session, notebook(directory), setup);
    let _ = agent.prompt(vec![Part::text("note all you can")], &mut |_| {}).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_killed_at_any_instant_loses_nothing_it_showed_and_repeats_nothing_it_did() {
    if let Some(words) = std::env::var_os(CHILD) {
        let words = words.into_string().unwrap();
        let (directory, url) = words.split_once('\n').unwrap();
        return work(Path::new(directory), url).await;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut number = 0;
    let server = ModelServer::start(move |received| {
        number += 1;
        if received.text.contains("that is enough") {
            return Reply::text("all right");
        }
        let call = |n: usize| format!("call_{number}_{n}");
        let answer =
            Answer::call(&call(1), "note", &json!({})).and_call(&call(2), "note", &json!({}));
        Reply::answer(answer)
    })
    .unwrap();
    let name = "killed::a_process_killed_at_any_instant_loses_nothing_it_showed_and_repeats_nothing_it_did";
    for round in 1..=12 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .env(CHILD, format!("{}\n{}", directory.path().display(), server.url()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Some requests later, which is a different instant each time.
        let asked = server.requests().len() + 1 + round % 4;
        assert!(server.wait_for_requests(asked, DEADLINE), "round {round}");
        if let Some(path) = session_file(directory.path()) {
            let second = Session::open(&path);
            assert!(
                matches!(second, Err(SessionError::InUse { .. })),
                "the lock is another process's"
            );
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let path = session_file(directory.path()).unwrap();
    let session = Session::open(&path).unwrap();
    let mut setup = setup(&server, WireFormat::Chat);
    setup.candidates[0].endpoint = server.endpoint(WireFormat::Chat);
    let mut agent = Agent::new(session, notebook(directory.path()), setup);
    let mut observer = |_| {};
    let run = agent.prompt(vec![Part::text("that is enough")], &mut observer);
    assert_eq!(in_time(run).await.unwrap(), Outcome::Done);

    let lines = notebook(directory.path()).lines();
    let mut once = lines.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), lines.len(), "something was done twice");
    assert!(lines.len() > 20, "{} notes", lines.len());
    let started: Vec<String> = agent
        .session()
        .entries()
        .filter_map(|entry| match entry.kind {
            EntryKind::ToolStart { key, .. } => Some(key),
            _ => None,
        })
        .collect();
    assert!(lines.iter().all(|key| started.contains(key)), "the start of each is in the session");
    let prompts = fs::read_to_string(&path).unwrap().matches("note all you can").count();
    assert!(prompts >= 12, "{prompts} of 12 prompts are kept");
    // The server refuses a request in which a call has no result, or a result no call.
    assert!(
        server.requests().iter().all(|request| umbo_model::server::check_request(request).is_ok())
    );
}
