//! Turns of a real Meerkat agent with a scripted model: what the tools answer, and how the agent is
//! told of what they started.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use meerkat::{AgentBuilder, AgentFactory, DynAgent};
use meerkat_core::lifecycle::run_primitive::ProviderParamsOverride;
use meerkat_core::types::{AssistantBlock, StopReason, Usage};
use meerkat_core::{
    AgentError, AgentLlmClient, AgentSessionStore, LlmStreamResult, Message, Provider, Session,
    ToolDef, TurnUsage,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tempfile::TempDir;
use umbo_engine::{Condition, Engine, Met, Scope, Warmth};
use umbo_meerkat::{ShellConfig, ShellTools};
use umbo_tools::Caller;

const MODEL: &str = "scripted";
/// Generous to a busy machine.
const DEADLINE: Duration = Duration::from_secs(120);

/// A model that answers with what it was given, one after the other, and keeps what it reads.
#[derive(Default)]
struct Script {
    answers: Mutex<VecDeque<Vec<AssistantBlock>>>,
    reads: Mutex<Vec<String>>,
}

impl Script {
    fn new(answers: impl IntoIterator<Item = AssistantBlock>) -> Arc<Self> {
        let answers = answers.into_iter().map(|block| vec![block]).collect();
        Arc::new(Self { answers: Mutex::new(answers), reads: Mutex::default() })
    }

    fn last_read(&self) -> String {
        self.reads.lock().expect("reads").last().cloned().unwrap_or_default()
    }

    /// The newest request with these words in it.
    fn read_with(&self, words: &str) -> Option<String> {
        let reads = self.reads.lock().expect("reads");
        reads.iter().rev().find(|read| read.contains(words)).cloned()
    }
}

#[async_trait]
impl AgentLlmClient for Script {
    async fn stream_response(
        &self,
        messages: &[Message],
        _tools: &[Arc<ToolDef>],
        _max_tokens: u32,
        _temperature: Option<f32>,
        _provider_params: Option<&ProviderParamsOverride>,
    ) -> Result<LlmStreamResult, AgentError> {
        self.reads.lock().expect("reads").push(format!("{messages:?}"));
        let next = self.answers.lock().expect("answers").pop_front();
        let blocks = next.unwrap_or_else(|| vec![says("nothing more")]);
        let calls = blocks.iter().any(|block| matches!(block, AssistantBlock::ToolUse { .. }));
        let reason = if calls { StopReason::ToolUse } else { StopReason::EndTurn };
        let usage = TurnUsage::host_declared(Provider::Other, MODEL, Usage::default());
        Ok(LlmStreamResult::new(blocks, reason, usage.into_inner()))
    }

    fn provider(&self) -> Provider {
        Provider::Other
    }

    fn model(&self) -> &str {
        MODEL
    }
}

struct NoStore;

#[async_trait]
impl AgentSessionStore for NoStore {
    async fn save(&self, _session: &Session) -> Result<(), AgentError> {
        Ok(())
    }

    async fn load(&self, _id: &str) -> Result<Option<Session>, AgentError> {
        Ok(None)
    }
}

fn says(text: &str) -> AssistantBlock {
    AssistantBlock::Text { text: text.to_owned(), meta: None }
}

fn calls(id: &str, tool: &str, arguments: &Value) -> AssistantBlock {
    let args = RawValue::from_string(arguments.to_string()).expect("JSON");
    AssistantBlock::ToolUse { id: id.to_owned(), name: tool.to_owned(), args, meta: None }
}

/// A project, and the state beside it.
struct Yard {
    home: TempDir,
}

impl Yard {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(home.path().join("project")).expect("a project");
        Self { home }
    }

    fn project(&self) -> PathBuf {
        self.home.path().join("project").canonicalize().expect("a project")
    }

    fn engine(&self) -> Engine {
        Engine::builder(self.home.path().join("state"))
            .supervisor(supervisor())
            .warmth(Warmth::Cold)
            .open()
            .expect("an engine")
    }

    fn tools(&self) -> ShellTools {
        let engine = self.engine();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let make =
            move || Caller::builder(engine.clone()).environment([("PATH".into(), path.clone())]);
        let config =
            ShellConfig { enabled: true, shell: "sh".to_owned(), ..ShellConfig::default() };
        ShellTools::new(make, self.project(), config).expect("tools")
    }

    /// An agent, of an earlier session if one is given.
    async fn agent(&self, script: &Arc<Script>, session: Option<Session>) -> DynAgent {
        let factory = AgentFactory::new(self.home.path().join("sessions"));
        let mut builder = AgentBuilder::new().with_factory(factory).model(MODEL);
        builder = builder.provider(Provider::Other).system_prompt("You run commands.");
        if let Some(session) = session {
            builder = builder.resume_session(session);
        }
        let client = Arc::clone(script) as Arc<dyn AgentLlmClient>;
        let built = builder.build(client, Arc::new(self.tools()), Arc::new(NoStore)).await;
        built.unwrap_or_else(|error| panic!("no agent: {error}"))
    }

    /// Waits for the end of all jobs.
    fn finish(&self) {
        let engine = self.engine();
        for job in engine.jobs(Scope::All).expect("jobs") {
            let job = engine.job(job.job.as_str()).expect("the job");
            let met = job.wait(&[Condition::Exit], Some(DEADLINE)).expect("an end");
            assert!(!matches!(met, Met::Deadline), "it never ended");
        }
    }
}

fn supervisor() -> PathBuf {
    let own = std::env::current_exe().expect("a test");
    let built = own.ancestors().nth(2).expect("a target directory");
    built.join("examples/meerkat_supervisor")
}

async fn turn(agent: &mut DynAgent, text: &str) -> String {
    let run = tokio::time::timeout(DEADLINE, agent.run(text.to_owned().into())).await;
    run.expect("a turn in time").unwrap_or_else(|error| panic!("no turn: {error}")).text
}

/// Runs turns until the model has read these words. It may have read them already: a notice stands in one
/// request and in none after it.
async fn turns_until(agent: &mut DynAgent, script: &Script, words: &str) -> String {
    let turns = async {
        loop {
            if let Some(read) = script.read_with(words) {
                return read;
            }
            turn(agent, "anything new?").await;
            tokio::task::yield_now().await;
        }
    };
    match tokio::time::timeout(DEADLINE, turns).await {
        Ok(read) => read,
        Err(_) => panic!("the model never read {words:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_runs_commands_and_the_end_of_a_background_job_is_told_by_the_agent() {
    let yard = Yard::new();
    let waits = "while [ ! -e go ]; do sleep 0.05; done; echo it is done; exit 4";
    let script = Script::new([
        calls("call-1", "shell", &json!({"command": "echo from-umbo; pwd; exit 3"})),
        calls("call-2", "shell", &json!({"command": waits, "background": true})),
        says("it runs"),
    ]);
    let mut agent = yard.agent(&script, None).await;
    assert_eq!(turn(&mut agent, "run it").await, "it runs");
    let read = script.last_read();
    assert!(
        read.contains("from-umbo") && read.contains(yard.project().to_str().unwrap()),
        "{read}"
    );
    assert!(read.contains("job_") && read.contains("running"), "{read}");
    assert!(!read.contains("it is done\\n"), "{read}");

    std::fs::write(yard.project().join("go"), "").expect("a file");
    yard.finish();
    let told = turns_until(&mut agent, &script, "exit code 4").await;
    assert!(told.contains("Background job") && told.contains("it is done"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_said_and_runs_nothing() {
    let yard = Yard::new();
    let script = Script::new([
        calls("call-1", "shell", &json!({"command": "touch ran", "timeout_secs": "soon"})),
        calls("call-2", "shell", &json!({"command": "touch ran", "working_dir": "../.."})),
        calls(
            "call-3",
            "shell",
            &json!({"command": "touch ran", "working_dir": "/", "background": true}),
        ),
        calls("call-4", "shell_job_status", &json!({"job_id": "job_nobody"})),
        says("so be it"),
    ]);
    let mut agent = yard.agent(&script, None).await;
    assert_eq!(turn(&mut agent, "run it").await, "so be it");
    let read = script.last_read();
    for words in ["timeout_secs", "Job not found: job_nobody"] {
        assert!(read.contains(words), "no {words:?} in {read}");
    }
    assert!(!yard.project().join("ran").exists());
    assert!(!Path::new("/ran").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_job_dies_with_all_that_it_started_and_is_told_as_cancelled() {
    let yard = Yard::new();
    let command = "(trap '' HUP TERM; while :; do sleep 1; done) & echo $! > child; wait";
    let script = Script::new([
        calls("call-1", "shell", &json!({"command": command, "background": true})),
        says("it runs"),
    ]);
    let mut agent = yard.agent(&script, None).await;
    turn(&mut agent, "run it").await;
    let child = yard.project().join("child");
    let engine = yard.engine();
    let job = &engine.jobs(Scope::All).expect("jobs")[0];
    let handle = engine.job(job.job.as_str()).expect("the job");
    let met = handle.wait(&[Condition::File(child.clone())], Some(DEADLINE)).expect("a file");
    assert!(matches!(met, Met::File(_)), "{met:?}");
    let id = json!({"job_id": format!("job_{}", job.job)});
    script
        .answers
        .lock()
        .unwrap()
        .extend([vec![calls("call-2", "shell_job_cancel", &id)], vec![says("it is gone")]]);
    assert_eq!(turn(&mut agent, "end it").await, "it is gone");
    turns_until(&mut agent, &script, "cancelled after").await;
    let pid = std::fs::read_to_string(child).expect("a pid");
    assert!(!Path::new(&format!("/proc/{}", pid.trim())).exists(), "{pid} lives");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_resumed_is_told_what_ended_and_what_ends_later() {
    let yard = Yard::new();
    let waits = |file: &str| {
        let command = format!(
            "echo x >> runs; while [ ! -e {file} ]; do sleep 0.05; done; echo {file} has come"
        );
        json!({"command": command, "background": true})
    };
    let script = Script::new([
        calls("call-1", "shell", &waits("first")),
        calls("call-2", "shell", &waits("second")),
        says("they run"),
    ]);
    let mut agent = yard.agent(&script, None).await;
    turn(&mut agent, "run them").await;
    let session = agent.session().clone();
    drop(agent);
    // It ends while there is no agent.
    std::fs::write(yard.project().join("first"), "").expect("a file");
    let engine = yard.engine();
    let jobs = engine.jobs(Scope::All).expect("jobs");
    let ends = jobs.iter().map(|job| {
        let ended = Condition::Exit;
        let job = engine.job(job.job.as_str()).expect("the job");
        let is_first = job.summary().is_some_and(|known| known.command.contains("first"));
        is_first.then(|| job.wait(&[ended], Some(DEADLINE)).expect("an end"))
    });
    assert_eq!(ends.flatten().count(), 1);

    let script = Script::new([]);
    let mut agent = yard.agent(&script, Some(session)).await;
    turns_until(&mut agent, &script, "first has come").await;
    std::fs::write(yard.project().join("second"), "").expect("a file");
    yard.finish();
    turns_until(&mut agent, &script, "second has come").await;
    let runs = std::fs::read_to_string(yard.project().join("runs")).expect("they ran");
    assert_eq!(runs, "x\nx\n", "each ran once");
}
