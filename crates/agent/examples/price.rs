//! What an agent costs besides the model: opening a long session, deriving what the model reads, and
//! a turn of the loop beside the same requests without it.
//!
//! `cargo run --release -p umbo-agent --example price`

#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use umbo_agent::{
    Agent, AgentEvent, AgentMessage, BoxFuture, Candidate, Durability, EntryKind, Invocation,
    Limits, Session, Setup, ToolOutput, Tools, build_context, compact,
};
use umbo_model::server::{Answer, ModelServer, Reply};
use umbo_model::{
    AssistantMessage, Block, CacheLife, Client, ClientOptions, Event, Message, Model, Part,
    Request, RetryPolicy, StopReason, ToolCall, ToolInput, ToolSpec, Usage, WireFormat,
};

struct Nothing;

impl Tools for Nothing {
    fn specs(&self) -> Vec<ToolSpec> {
        let input = ToolInput::Schema(json!({"type": "object", "properties": {}}));
        vec![ToolSpec { name: "nothing".into(), description: "does nothing".into(), input }]
    }
    fn is_parallel(&self, _: &str) -> bool {
        true
    }
    fn call(self: Arc<Self>, _: Invocation) -> BoxFuture<ToolOutput> {
        Box::pin(async { ToolOutput::text("nothing happened") })
    }
}

fn answer(text: &str) -> EntryKind {
    let message = AssistantMessage {
        content: vec![Block::text(text)],
        api: None,
        provider: "p".into(),
        model: "m".into(),
        usage: Usage::default(),
        stop_reason: StopReason::Stop,
        error_message: None,
        response_id: None,
    };
    EntryKind::Message { message: AgentMessage::Assistant(message) }
}

fn long_session(entries: usize) {
    let directory = std::env::temp_dir().join(format!("umbo-price-{}", std::process::id()));
    let mut session = Session::create(&directory, "/c", None).unwrap();
    session.set_durability(Durability::Process);
    let words = "some words of a conversation, as they are said all day; ".repeat(8);
    for number in 0..entries {
        let kind = if number % 2 == 0 { EntryKind::user(&words) } else { answer(&words) };
        session.append(kind).unwrap();
    }
    let path = session.path().unwrap().to_owned();
    drop(session);
    let bytes = std::fs::metadata(&path).unwrap().len();
    let started = Instant::now();
    let session = Session::open(&path).unwrap();
    let opened = started.elapsed();
    let started = Instant::now();
    let context = build_context(&session, None).unwrap();
    let derived = started.elapsed();
    println!(
        "{entries:>7} entries, {:>4} MB: open {opened:>10.1?}, context of {} messages {derived:>10.1?}",
        bytes >> 20,
        context.messages.len()
    );
    std::fs::remove_dir_all(&directory).unwrap();
}

fn setup(server: &ModelServer) -> Setup {
    let model = Model::new(WireFormat::Chat, "p", "m");
    Setup {
        client: Client::new(&ClientOptions::default()).unwrap(),
        candidates: vec![Candidate {
            model,
            endpoint: server.endpoint(WireFormat::Chat),
            price: None,
        }],
        promotion: None,
        system: String::new(),
        effort: None,
        cache: CacheLife::Short,
        retry: RetryPolicy::default(),
        limits: Limits::default(),
        compaction: compact::Settings { enabled: false, ..compact::Settings::default() },
        wait_for_jobs: false,
        mask: None,
    }
}

fn endless(turns: usize) -> ModelServer {
    let mut number = 0;
    ModelServer::start(move |_| {
        number += 1;
        if number % (turns + 1) == 0 {
            return Reply::text("done");
        }
        Reply::answer(Answer::call(&format!("call_{number}"), "nothing", &json!({})))
    })
    .unwrap()
}

/// The same requests, without an agent.
async fn bare(server: &ModelServer, turns: usize) -> Duration {
    let setup = setup(server);
    let candidate = &setup.candidates[0];
    let mut request = Request::new(candidate.model.clone(), vec![Message::user("go")]);
    let started = Instant::now();
    for _ in 0..=turns {
        let mut stream = setup.client.stream(&candidate.endpoint, &request).unwrap();
        let mut assembler = umbo_model::Assembler::new();
        while let Some(event) = stream.next().await {
            assembler.push(&event);
        }
        let message = assembler.finish(&candidate.model);
        let calls: Vec<ToolCall> = message.tool_calls().cloned().collect();
        request.messages.push(Message::Assistant(message));
        for call in calls {
            request.messages.push(Message::ToolResult(umbo_model::ToolResult {
                tool_call_id: call.id,
                tool_name: call.name,
                content: vec![Part::text("nothing happened")],
                is_error: false,
                details: None,
            }));
        }
    }
    started.elapsed()
}

async fn turns(turns: usize) {
    let server = endless(turns);
    let without = bare(&server, turns).await;
    let directory = std::env::temp_dir().join(format!("umbo-price-turns-{}", std::process::id()));
    let session = Session::create(&directory, "/c", None).unwrap();
    let mut agent = Agent::new(session, Arc::new(Nothing), setup(&server));
    let mut deltas = 0_usize;
    let mut observer = |event| {
        if let AgentEvent::Model(Event::Delta { .. }) = event {
            deltas += 1;
        }
    };
    let started = Instant::now();
    let outcome = agent.prompt(vec![Part::text("go")], &mut observer).await.unwrap();
    let with = started.elapsed();
    let count = u32::try_from(turns + 1).unwrap();
    println!(
        "{turns:>7} turns: {:.2?} a turn with the agent, {:.2?} without: {:.2?} more ({outcome:?}, {deltas} deltas)",
        with / count,
        without / count,
        with.saturating_sub(without) / count,
    );
    std::fs::remove_dir_all(&directory).unwrap();
}

fn main() {
    for entries in [1_000, 10_000, 100_000] {
        long_session(entries);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for count in [20, 200, 1_000] {
        runtime.block_on(turns(count));
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    println!("resident at the end, with the model server in the same process: {resident}");
}
