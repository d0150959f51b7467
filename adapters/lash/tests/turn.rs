//! Turns of a real lash with a scripted model: what the tools answer, and how lash hears of what they
//! started.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lash::direct::LlmOutputPart;
use lash::durability::InlineEffectHost;
use lash::persistence::{
    InMemoryAttachmentStore, InMemoryProcessExecutionEnvStore, InMemorySessionStoreFactory,
};
use lash::provider::LlmResponse;
use lash::testing::{TestLocalProcessRegistry, TestProvider};
use lash::{LashCore, ModelSpec, TurnInput};
use lash_core::{
    ExecutionScope, InlineRuntimeEffectController, LeaseTimings, ProcessAwaitOutput,
    ScopedEffectController,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc;
use umbo_engine::{Engine, Ladder, Scope, Warmth};
use umbo_lash::ShellPlugin;
use umbo_tools::Caller;

/// Generous to a busy machine.
const DEADLINE: Duration = Duration::from_secs(120);

/// A project, the state beside it, and what a host keeps over its own death.
struct Yard {
    home: TempDir,
    registry: Arc<TestLocalProcessRegistry>,
    sessions: Arc<InMemorySessionStoreFactory>,
    environments: Arc<InMemoryProcessExecutionEnvStore>,
}

impl Yard {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(home.path().join("project")).expect("a project");
        Self {
            home,
            registry: Arc::default(),
            sessions: Arc::new(InMemorySessionStoreFactory::new()),
            environments: Arc::new(InMemoryProcessExecutionEnvStore::new()),
        }
    }

    fn project(&self) -> PathBuf {
        self.home.path().join("project").canonicalize().expect("a project")
    }

    fn plugin(&self) -> ShellPlugin {
        let engine = Engine::builder(self.home.path().join("state"))
            .supervisor(supervisor())
            .warmth(Warmth::Cold)
            .open()
            .expect("an engine");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let environment = [("PATH".into(), path), ("SHELL".into(), "/bin/sh".into())];
        let caller = Caller::builder(engine).directory(self.project()).environment(environment);
        ShellPlugin::new(caller).expect("a plugin")
    }

    /// A host with a model that answers with these, one after the other, and what the model reads.
    fn host(&self, script: Vec<LlmResponse>) -> (LashCore, mpsc::UnboundedReceiver<String>) {
        let (read, reads) = mpsc::unbounded_channel();
        let script = Arc::new(Mutex::new(script.into_iter()));
        let provider = TestProvider::builder()
            .kind("scripted")
            .complete(move |request| {
                let _ = read.send(format!("{:?}", request.messages));
                let next = script.lock().expect("the script").next();
                async move { Ok(next.unwrap_or_else(|| says("nothing more"))) }
            })
            .build()
            .into_handle();
        let model = ModelSpec::from_token_limits("scripted", Default::default(), 200_000, None);
        let core = LashCore::standard_builder()
            .provider(provider)
            .model(model.expect("a model"))
            .effect_host(Arc::new(InlineEffectHost::default()))
            .attachment_store(Arc::new(InMemoryAttachmentStore::new()))
            .process_env_store(Arc::clone(&self.environments) as _)
            .store_factory(Arc::clone(&self.sessions) as _)
            .process_registry(Arc::clone(&self.registry) as _)
            .lease_timings(LeaseTimings::from_ttl(Duration::from_secs(3)).expect("timings"))
            .plugin(Arc::new(self.plugin()))
            .build()
            .expect("a host");
        (core, reads)
    }
}

fn supervisor() -> PathBuf {
    let own = std::env::current_exe().expect("a test");
    let built = own.ancestors().nth(2).expect("a target directory");
    built.join("examples/lash_supervisor")
}

fn says(text: &str) -> LlmResponse {
    let part = LlmOutputPart::Text { text: text.to_owned(), response_meta: None };
    LlmResponse { full_text: text.to_owned(), parts: vec![part], ..LlmResponse::default() }
}

fn calls(id: &str, tool: &str, arguments: &Value) -> LlmResponse {
    let part = LlmOutputPart::ToolCall {
        call_id: id.to_owned(),
        tool_name: tool.to_owned(),
        input_json: arguments.to_string(),
        replay: None,
    };
    LlmResponse { parts: vec![part], ..LlmResponse::default() }
}

/// The first thing that the model reads with these words in it.
async fn read_with(reads: &mut mpsc::UnboundedReceiver<String>, words: &str) -> String {
    let mut seen = Vec::new();
    let found = tokio::time::timeout(DEADLINE, async {
        while let Some(text) = reads.recv().await {
            if text.contains(words) {
                return Some(text);
            }
            seen.push(text);
        }
        None
    });
    match found.await {
        Ok(Some(text)) => text,
        _ => panic!("the model never read {words:?}, but {seen:#?}"),
    }
}

async fn output_of(core: &LashCore, process: &str) -> ProcessAwaitOutput {
    let processes = core.processes();
    let output = tokio::time::timeout(DEADLINE, processes.await_output(process));
    output.await.expect("an end in time").expect("an output")
}

async fn turn(core: &LashCore, text: &str) -> String {
    let session = core.session("one").open().await.expect("a session");
    let output = tokio::time::timeout(DEADLINE, session.turn(TurnInput::text(text)).run());
    let output = output.await.expect("a turn in time").expect("a turn");
    output.result.assistant_message().unwrap_or_default().to_owned()
}

async fn until(what: &str, is_true: impl Fn() -> bool) {
    let mut looks = tokio::time::interval(Duration::from_millis(20));
    let wait = async {
        while !is_true() {
            looks.tick().await;
        }
    };
    tokio::time::timeout(DEADLINE, wait).await.unwrap_or_else(|_| panic!("{what}"));
}

async fn until_exists(path: &Path) {
    until(&format!("no {}", path.display()), || path.exists()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_runs_commands_and_the_end_of_a_background_process_wakes_its_session() {
    let yard = Yard::new();
    let started = json!({"cmd": "read line; echo got $line; exit 4"});
    let (core, mut reads) = yard.host(vec![
        calls("call-1", "exec_command", &json!({"cmd": "echo from-umbo; pwd; exit 3"})),
        calls("call-2", "start_command", &started),
        says("it runs"),
        calls("call-3", "write_stdin", &json!({"process_id": "call-2", "chars": "hello\n"})),
        says("it was typed"),
        says("it has ended"),
    ]);

    assert_eq!(turn(&core, "run it").await, "it runs");
    read_with(&mut reads, "run it").await;
    // A code is data: the tool did not fail.
    let exec = read_with(&mut reads, "from-umbo").await;
    assert!(
        exec.contains("exit_code") && exec.contains(yard.project().to_str().unwrap()),
        "{exec}"
    );
    let handle = read_with(&mut reads, "call-2").await;
    assert!(handle.contains("__handle__") && handle.contains("running"), "{handle}");

    assert_eq!(turn(&core, "type").await, "it was typed");
    let wake = read_with(&mut reads, "ended with code 4").await;
    assert!(wake.contains("Background process wake") && wake.contains("got hello"), "{wake}");

    let ProcessAwaitOutput::Success { value, .. } = output_of(&core, "call-2").await else {
        panic!("a nonzero code is no failure");
    };
    assert_eq!((&value["exit_code"], &value["output"]), (&json!(4), &json!("got hello\n")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_fails_and_what_is_wrong_is_said_and_runs_nothing() {
    let yard = Yard::new();
    let (core, mut reads) = yard.host(vec![
        calls("call-1", "exec_command", &json!({"cmd": "echo a; sleep 99", "timeout_ms": 500})),
        calls("call-2", "start_command", &json!({"cmd": "touch ran", "workdir": 5})),
        calls("call-3", "write_stdin", &json!({"process_id": "nobody", "chars": "x"})),
        says("so be it"),
    ]);
    assert_eq!(turn(&core, "run it").await, "so be it");
    read_with(&mut reads, "timed out after 500 ms").await;
    read_with(&mut reads, "workdir").await;
    read_with(&mut reads, "not live or visible").await;
    assert!(!yard.project().join("ran").exists());
    assert!(core.processes().get("call-2").await.expect("processes").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_host_cancels_dies_with_all_that_it_started() {
    let yard = Yard::new();
    let command = "(trap '' HUP TERM; while :; do sleep 1; done) & echo $! > child; wait";
    let (core, _reads) = yard
        .host(vec![calls("call-1", "start_command", &json!({"cmd": command})), says("it runs")]);
    turn(&core, "run it").await;
    let child = yard.project().join("child");
    until_exists(&child).await;
    let controller = ScopedEffectController::shared(
        Arc::new(InlineRuntimeEffectController::default()),
        ExecutionScope::runtime_operation("cancel"),
    )
    .expect("a scope");
    core.processes().cancel("call-1", controller).await.expect("a cancel");
    let output = output_of(&core, "call-1").await;
    assert!(matches!(output, ProcessAwaitOutput::Cancelled { .. }), "{output:?}");
    let pid = std::fs::read_to_string(child).expect("a pid");
    // Lash does not wait for what it cancels.
    let process = PathBuf::from(format!("/proc/{}", pid.trim()));
    until(&format!("{pid} lives"), || !process.exists()).await;
}

#[test]
fn a_host_that_is_started_again_waits_for_the_same_process() {
    let yard = Yard::new();
    let runtime = || tokio::runtime::Runtime::new().expect("a runtime");
    let command = "echo x >> runs; read one; echo 1 $one; touch half; read two; echo 2 $two";
    let first = runtime();
    first.block_on(async {
        let (core, _reads) = yard.host(vec![
            calls("call-1", "start_command", &json!({"cmd": command})),
            calls("call-2", "write_stdin", &json!({"process_id": "call-1", "chars": "a\n"})),
            says("it was typed"),
        ]);
        turn(&core, "run it").await;
        until_exists(&yard.project().join("half")).await;
    });
    // Nobody is told: the worker is gone with its lease.
    first.shutdown_background();

    runtime().block_on(async {
        let (core, mut reads) = yard.host(vec![
            calls("call-3", "write_stdin", &json!({"process_id": "call-1", "chars": "b\n"})),
            says("typed again"),
            says("it has ended"),
        ]);
        assert_eq!(turn(&core, "go on").await, "typed again");
        // A host drives what is pending when a session is opened; the lease has to run out first.
        let mut tries = tokio::time::interval(Duration::from_millis(500));
        let opens = async {
            loop {
                tries.tick().await;
                let _session = core.session("one").open().await.expect("a session");
            }
        };
        let output = tokio::select! {
            output = output_of(&core, "call-1") => output,
            () = opens => unreachable!("it opens for ever"),
        };
        let ProcessAwaitOutput::Success { value, .. } = output else { panic!("{output:?}") };
        assert_eq!(value["output"], "1 a\n2 b\n");
        read_with(&mut reads, "ended with code 0").await;
    });
    let runs = std::fs::read_to_string(yard.project().join("runs")).expect("it ran");
    assert_eq!(runs, "x\n", "it ran once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_detached_command_is_over_for_lash_and_runs() {
    let yard = Yard::new();
    let command = json!({"cmd": "echo $$ > pid; read forever", "detach": true});
    let (core, mut reads) =
        yard.host(vec![calls("call-1", "start_command", &command), says("gone")]);
    turn(&core, "run it").await;
    let told = read_with(&mut reads, "detached").await;
    let output = output_of(&core, "call-1").await;
    let ProcessAwaitOutput::Success { value, .. } = output else { panic!("{output:?}") };
    let file = yard.project().join("pid");
    until_exists(&file).await;
    assert_eq!(value["pid"], value["pgid"], "{told}");
    let pid = value["pid"].as_i64().expect("a pid");
    assert!(Path::new(&format!("/proc/{pid}")).exists(), "it runs");
    let engine = Engine::builder(yard.home.path().join("state")).supervisor(supervisor()).open();
    let engine = engine.expect("an engine");
    for job in engine.jobs(Scope::All).expect("jobs") {
        engine.job(job.job.as_str()).expect("the job").stop(Ladder::KILL).expect("an end");
    }
}
