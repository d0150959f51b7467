//! What an agent costs besides the model: opening a long session, deriving what the model reads, a
//! turn of the loop beside the same requests without it; and of the program itself, how long a token
//! takes from the vendor to whoever looks, and its memory after many turns.
//!
//! `cargo xtask bench agent`

#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use umbo_agent::{
    Agent, AgentEvent, AgentMessage, BoxFuture, Candidate, Durability, EntryKind, Invocation,
    Session, Setup, ToolOutput, Tools, build_context, compact,
};
use umbo_model::server::{Answer, ModelServer, Reply};
use umbo_model::{
    AssistantMessage, Block, Client, ClientOptions, Event, Message, Model, Part, Request,
    StopReason, ToolCall, ToolInput, ToolSpec, Usage, WireFormat,
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
    let first = started.elapsed();
    let derived = (0..9).map(|_| {
        let started = Instant::now();
        let context = build_context(&session, None).unwrap();
        let time = started.elapsed();
        drop(context);
        time
    });
    let derived = median(derived.chain([first]).collect());
    println!(
        "{entries:>7} entries, {:>4} MB: open {opened:>10.1?}, context of {} messages {derived:>10.1?}",
        bytes >> 20,
        context.messages.len()
    );
    std::fs::remove_dir_all(&directory).unwrap();
}

fn setup(server: &ModelServer) -> Setup {
    let model = Model::new(WireFormat::Chat, "p", "m");
    let endpoint = server.endpoint(WireFormat::Chat);
    let client = Client::new(&ClientOptions::default()).unwrap();
    Setup {
        compaction: compact::Settings { enabled: false, ..compact::Settings::default() },
        wait_for_jobs: false,
        ..Setup::new(client, Candidate { model, endpoint, price: None })
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

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The program that people get, driven through its pipes: from the moment the vendor's first piece is
/// ready until the frame with it is read, and the memory of the process.
fn program(turns: usize) {
    let umbo = std::env::current_exe().unwrap().parent().unwrap().with_file_name("umbo");
    let place = std::env::temp_dir().join(format!("umbo-price-program-{}", std::process::id()));
    std::fs::create_dir_all(&place).unwrap();
    let ready = Arc::new(Mutex::new(Instant::now()));
    let answered = Arc::clone(&ready);
    let server = ModelServer::start(move |_| {
        *answered.lock().unwrap() = Instant::now();
        Reply::text("some words, as a model says them")
    })
    .unwrap();
    let mut child = Command::new(umbo)
        .args(["agent", "--mode", "rpc", "--model", "openai-chat/price"])
        .current_dir(&place)
        .env("HOME", &place)
        .env("UMBO_STATE_DIR", place.join("state"))
        .env("OPENAI_BASE_URL", format!("{}/v1", server.url()))
        .env("OPENAI_API_KEY", "none-is-needed-here")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let resident = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    };
    let (mut shown, mut whole) = (Vec::new(), Vec::new());
    let mut at_first = 0;
    for turn in 0..turns {
        let started = Instant::now();
        writeln!(stdin, "{}", json!({"type": "prompt", "message": format!("turn {turn}")}))
            .unwrap();
        let mut is_shown = false;
        for line in lines.by_ref() {
            let frame: Value = serde_json::from_str(&line).unwrap();
            if !is_shown && frame["assistantMessageEvent"]["type"] == "text_delta" {
                is_shown = true;
                shown.push(ready.lock().unwrap().elapsed());
            }
            if frame["type"] == "agent_end" {
                break;
            }
        }
        whole.push(started.elapsed());
        if turn == 0 {
            at_first = resident();
        }
    }
    let last: Vec<Duration> = whole.split_off(whole.len() - whole.len() / 10);
    println!(
        "{turns:>7} prompts to the program: first token shown after {:.2?} (worst {:.2?}), a whole \
         turn {:.2?}, of the last tenth {:.2?}; resident {at_first} MB after one, {} MB after all",
        median(shown.clone()),
        shown.iter().max().unwrap(),
        median(whole),
        median(last),
        resident(),
    );
    drop(stdin);
    child.wait().unwrap();
    std::fs::remove_dir_all(&place).unwrap();
}

fn main() {
    for entries in [1_000, 10_000, 100_000] {
        long_session(entries);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for count in [20, 200, 1_000] {
        runtime.block_on(turns(count));
    }
    program(1_000);
}
