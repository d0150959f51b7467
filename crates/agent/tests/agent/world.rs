//! Tools that do as they are told, and an agent on the scripted server.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::sync::{Barrier, Notify};
use umbo_agent::{
    Agent, AgentEvent, BoxFuture, Candidate, Completion, Invocation, Limits, Outcome, Queues,
    Recovery, Session, Setup, ToolOutput, Tools, compact,
};
use umbo_model::server::ModelServer;
use umbo_model::{
    CacheLife, Client, ClientOptions, Model, Part, RetryPolicy, ToolCall, ToolInput, ToolSpec,
    WireFormat,
};

/// Generous to a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);

pub(crate) async fn in_time<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, what).await.unwrap()
}

/// `look` runs beside others, `write` alone, `meet` waits for another `meet`, `hang` for ever,
/// `start` begins work in the background, `steer` makes the user say something.
#[derive(Default)]
pub(crate) struct World {
    /// The keys that were run.
    pub(crate) ran: Mutex<Vec<String>>,
    /// What `write` has seen at the same time, at most.
    pub(crate) most_writers: AtomicUsize,
    writers: AtomicUsize,
    meeting: Mutex<Option<Arc<Barrier>>>,
    pub(crate) jobs: AtomicUsize,
    pub(crate) ended: Mutex<VecDeque<Completion>>,
    pub(crate) ended_notice: Notify,
    pub(crate) hanging: Notify,
    pub(crate) recoveries: Mutex<BTreeMap<String, Recovery>>,
    pub(crate) queues: Mutex<Option<Arc<Queues>>>,
}

impl World {
    pub(crate) fn new() -> Arc<Self> {
        let world = Self::default();
        *world.meeting.lock().unwrap() = Some(Arc::new(Barrier::new(2)));
        Arc::new(world)
    }

    pub(crate) fn end_job(&self, id: &str) {
        let text = format!("job {id} ended");
        let completion = Completion { id: id.to_owned(), text, details: None };
        self.ended.lock().unwrap().push_back(completion);
        self.jobs.fetch_sub(1, Ordering::SeqCst);
        self.ended_notice.notify_waiters();
    }

    async fn work(self: Arc<Self>, invocation: Invocation) -> ToolOutput {
        self.ran.lock().unwrap().push(invocation.key.clone());
        match invocation.call.name.as_str() {
            "write" => {
                let now = self.writers.fetch_add(1, Ordering::SeqCst) + 1;
                self.most_writers.fetch_max(now, Ordering::SeqCst);
                tokio::task::yield_now().await;
                self.writers.fetch_sub(1, Ordering::SeqCst);
                ToolOutput::text("written")
            }
            "meet" => {
                let barrier = self.meeting.lock().unwrap().clone();
                barrier.unwrap().wait().await;
                ToolOutput::text("met")
            }
            "hang" => {
                self.hanging.notify_one();
                invocation.cancel.cancelled().await;
                ToolOutput::error("stopped in the middle")
            }
            "start" => {
                self.jobs.fetch_add(1, Ordering::SeqCst);
                ToolOutput::text("started")
            }
            "steer" => {
                let queues = self.queues.lock().unwrap().clone().unwrap();
                queues.push_text(umbo_agent::Delivery::Steer, "not like this");
                ToolOutput::text("ok")
            }
            _ => ToolOutput::text("seen"),
        }
    }
}

impl Tools for World {
    fn specs(&self) -> Vec<ToolSpec> {
        let spec = |name: &str| ToolSpec {
            name: name.to_owned(),
            description: "a tool".to_owned(),
            input: ToolInput::Schema(json!({"type": "object", "properties": {}})),
        };
        ["look", "write", "meet", "hang", "start", "steer"].map(spec).to_vec()
    }

    fn is_parallel(&self, tool: &str) -> bool {
        matches!(tool, "look" | "meet")
    }

    fn check(&self, call: &ToolCall) -> Result<(), String> {
        match call.arguments.get("bad") {
            Some(value) => Err(format!("bad: {value} is not allowed")),
            None => Ok(()),
        }
    }

    fn call(self: Arc<Self>, invocation: Invocation) -> BoxFuture<ToolOutput> {
        Box::pin(self.work(invocation))
    }

    fn recover(self: Arc<Self>, _: ToolCall, key: String) -> BoxFuture<Recovery> {
        let found = self.recoveries.lock().unwrap().get(&key).cloned();
        Box::pin(async move { found.unwrap_or(Recovery::Unknown) })
    }

    fn completions(&self) -> Vec<Completion> {
        self.ended.lock().unwrap().iter().cloned().collect()
    }

    fn acknowledge(&self, id: &str) {
        self.ended.lock().unwrap().retain(|completion| completion.id != id);
    }

    fn running(&self) -> usize {
        self.jobs.load(Ordering::SeqCst)
    }

    fn completed(self: Arc<Self>) -> BoxFuture<()> {
        Box::pin(async move {
            loop {
                let notice = self.ended_notice.notified();
                tokio::pin!(notice);
                notice.as_mut().enable();
                if !self.ended.lock().unwrap().is_empty() {
                    return;
                }
                notice.await;
            }
        })
    }
}

pub(crate) fn candidate(server: &ModelServer, format: WireFormat) -> Candidate {
    let mut model = Model::new(format, "test", "scripted-model");
    model.window = 100_000;
    Candidate { model, endpoint: server.endpoint(format), price: None }
}

pub(crate) fn setup(server: &ModelServer, format: WireFormat) -> Setup {
    Setup {
        client: Client::new(&ClientOptions::default()).unwrap(),
        candidates: vec![candidate(server, format)],
        promotion: None,
        system: "be brief".to_owned(),
        effort: None,
        cache: CacheLife::Short,
        retry: RetryPolicy { first: Duration::from_millis(1), ..RetryPolicy::default() },
        limits: Limits::default(),
        compaction: compact::Settings::default(),
        wait_for_jobs: true,
        mask: None,
    }
}

/// An agent with its world.
pub(crate) fn agent(setup: Setup) -> (Agent, Arc<World>) {
    let world = World::new();
    let agent = Agent::new(Session::in_memory("/c"), world.clone(), setup);
    *world.queues.lock().unwrap() = Some(agent.queues());
    (agent, world)
}

/// Prompts and gives the outcome with all that was seen.
pub(crate) async fn prompt(agent: &mut Agent, text: &str) -> (Outcome, Vec<AgentEvent>) {
    let mut events = Vec::new();
    let mut observer = |event| events.push(event);
    let outcome = in_time(agent.prompt(vec![Part::text(text)], &mut observer)).await.unwrap();
    (outcome, events)
}

/// The results in a session, by call, in the order in which they were written.
pub(crate) fn results(session: &Session) -> Vec<(String, String)> {
    session
        .path_to(None)
        .unwrap()
        .into_iter()
        .filter_map(|entry| match entry.kind {
            umbo_agent::EntryKind::Message {
                message: umbo_agent::AgentMessage::ToolResult(result),
            } => Some((result.tool_call_id.clone(), result.text())),
            _ => None,
        })
        .collect()
}
