//! The tools of `umbo-tools` for an agent: what a call starts is a job, and a job outlives the agent.
//!
//! A call has a key, under which its job is started once. After a crash the job is found by it: it
//! ended meanwhile, or it still runs, and then its end comes as a completion like any other.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;
use umbo_model::{Part, ToolCall, ToolInput, ToolSpec};
use umbo_tools::{
    Approver, Completed, Image, JobEventKind, JobEvents, Made, Overlap, Question, Reply, Ticket,
    Tool, ToolResult, Toolset,
};

use crate::tools::{BoxFuture, Completion, Invocation, Progress, Recovery, ToolOutput, Tools};

/// How often ends are looked for where nobody tells of them: the journal cannot be read.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// The tools of one dialect, for one agent. The toolset checks arguments itself before anything runs,
/// in the words of its dialect.
pub struct JobTools {
    toolset: Arc<Toolset>,
    approver: Option<Arc<dyn CallApprover>>,
    /// Ends that the conversation does not have yet, in the order in which they came.
    pending: Mutex<VecDeque<Completion>>,
    news: Arc<News>,
}

/// What the thread tells that follows the journal.
#[derive(Default)]
struct News {
    ended: Notify,
    /// Nobody follows it.
    is_deaf: AtomicBool,
}

impl JobTools {
    /// These tools. A toolset whose owner has a name finds what an earlier process left running.
    pub fn new(toolset: Toolset) -> Self {
        let toolset = Arc::new(toolset);
        let news = Arc::new(News::default());
        toolset.expect_running();
        match toolset.job_events() {
            Ok(events) => {
                let (toolset, news) = (Arc::downgrade(&toolset), Arc::clone(&news));
                std::thread::spawn(move || follow(&toolset, events, &news));
            }
            Err(_) => news.is_deaf.store(true, Ordering::SeqCst),
        }
        let tools = Self { toolset, approver: None, pending: Mutex::default(), news };
        // Of these the session tells which ones the conversation has.
        tools.add(tools.toolset.ended_before());
        tools
    }

    /// With somebody who is asked whether a command may run, on the thread of the call.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn CallApprover>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// The tools behind it.
    pub fn toolset(&self) -> &Arc<Toolset> {
        &self.toolset
    }

    fn pending(&self) -> MutexGuard<'_, VecDeque<Completion>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds ends that are new.
    fn add(&self, completed: Vec<Completed>) {
        let mut pending = self.pending();
        for told in completed {
            if pending.iter().any(|known| known.id == told.job) {
                continue;
            }
            let text = if told.is_message {
                told.sentence
            } else {
                format!("Background job ended: {}", told.sentence)
            };
            pending.push_back(Completion { id: told.job, text, details: Some(told.event) });
        }
    }

    fn tool(&self, name: &str) -> Option<&Tool> {
        self.toolset.tools().iter().find(|tool| wire_name(tool.name) == name)
    }

    fn ticket(&self, key: &str, call: &ToolCall, progress: Progress) -> Ticket {
        let mut ticket = Ticket::builder()
            .id(call.id.clone())
            .once(key)
            .progress(move |tick| progress.show(tick.lines.join("\n")));
        if let Some(approver) = &self.approver {
            let (approver, call) = (Arc::clone(approver), call.id.clone());
            ticket = ticket.approver(AskedFor { approver, call });
        }
        ticket.build()
    }

    /// A ticket for work beside the calls, with who is asked about it.
    pub(crate) fn asking_ticket(&self, id: &str) -> Ticket {
        let ticket = Ticket::builder().id(id);
        match &self.approver {
            Some(approver) => {
                let (approver, call) = (Arc::clone(approver), id.to_owned());
                ticket.approver(AskedFor { approver, call }).build()
            }
            None => ticket.build(),
        }
    }

    /// Whether a tool of somebody else may be called, by its words; why not. Blocks while somebody is
    /// asked.
    pub fn admit_tool(&self, words: &[String], call_id: &str) -> Result<(), String> {
        self.toolset.admit_tool(words, &self.asking_ticket(call_id))
    }

    async fn run(self: Arc<Self>, invocation: Invocation) -> ToolOutput {
        let Invocation { call, key, cancel, progress, .. } = invocation;
        let Some(name) = self.tool(&call.name).map(|tool| tool.name) else {
            return ToolOutput::error(self.toolset.unknown_tool(&call.name));
        };
        let ticket = self.ticket(&key, &call, progress);
        // Who drops the call does not want what it does, either.
        let mut abandoned = Abandoned(Some(ticket.clone()));
        let tools = Arc::clone(&self);
        let arguments = Value::Object(call.arguments);
        let mut work =
            tokio::task::spawn_blocking(move || tools.answer(name, arguments, &key, &ticket));
        let done = tokio::select! {
            done = &mut work => done,
            () = cancel.cancelled() => {
                abandoned.stop();
                work.await
            }
        };
        abandoned.0 = None;
        done.unwrap_or_else(|error| ToolOutput::error(format!("The tool itself failed: {error}")))
    }

    fn answer(&self, name: &str, arguments: Value, key: &str, ticket: &Ticket) -> ToolOutput {
        let result = self.toolset.call(name, arguments, ticket);
        let ToolResult { mut text, is_error, completed, notes, images, .. } = result;
        if !notes.is_empty() {
            text = format!("{}\n[umbo: {}]", text.trim_end(), notes.join("; "));
        }
        self.add(completed);
        let job = self.toolset.job_made_once(key);
        // One that was handed back running is told of when it ends.
        let tells = job.clone().filter(|job| {
            !self.toolset.expects(job) && !self.pending().iter().any(|told| told.id == *job)
        });
        let details = job.map(|job| json!({"job": job}));
        let image = |image: Image| Part::Image { data: image.data, mime_type: image.mime_type };
        let content = std::iter::once(Part::text(text)).chain(images.into_iter().map(image));
        let content = content.collect();
        ToolOutput { content, is_error, details, tells, effects: Vec::new() }
    }

    fn found(&self, call: &ToolCall, key: &str) -> Recovery {
        match self.toolset.made_once(key) {
            Ok(Made::Running { job, name }) => {
                let which = if name == job { String::new() } else { format!(" ({name})") };
                Recovery::Running(format!("job {job}{which}. You will be told when it ends."))
            }
            Ok(Made::Ended { job, text, is_success }) => Recovery::Finished(ToolOutput {
                content: vec![Part::text(format!(
                    "The agent was restarted while this call was under way. Its command went on and {text}"
                ))],
                is_error: !is_success,
                details: Some(json!({"job": job.clone()})),
                tells: Some(job),
                effects: Vec::new(),
            }),
            // What would have started a job has not, and what only looks has done nothing.
            Ok(_) if self.tool(&call.name).is_some_and(does_nothing_without_a_job) => {
                Recovery::NotStarted
            }
            Ok(_) | Err(_) => Recovery::Unknown,
        }
    }
}

impl Tools for JobTools {
    fn specs(&self) -> Vec<ToolSpec> {
        let spec = |tool: &Tool| ToolSpec {
            name: wire_name(tool.name),
            description: tool.description.clone(),
            input: ToolInput::Schema(tool.input_schema.clone()),
        };
        self.toolset.tools().iter().map(spec).collect()
    }

    fn is_parallel(&self, tool: &str) -> bool {
        self.tool(tool).is_some_and(|tool| tool.overlap == Overlap::Parallel)
    }

    fn call(self: Arc<Self>, invocation: Invocation) -> BoxFuture<ToolOutput> {
        Box::pin(self.run(invocation))
    }

    fn recover(self: Arc<Self>, call: ToolCall, key: String) -> BoxFuture<Recovery> {
        Box::pin(async move {
            let found = tokio::task::spawn_blocking(move || self.found(&call, &key));
            found.await.unwrap_or(Recovery::Unknown)
        })
    }

    fn completions(&self) -> Vec<Completion> {
        self.add(self.toolset.drain_completed());
        self.pending().iter().cloned().collect()
    }

    fn acknowledge(&self, id: &str) {
        self.pending().retain(|told| told.id != id);
    }

    fn running(&self) -> usize {
        self.toolset.completions.expected()
    }

    fn completed(self: Arc<Self>) -> BoxFuture<()> {
        Box::pin(async move {
            loop {
                let ended = self.news.ended.notified();
                tokio::pin!(ended);
                ended.as_mut().enable();
                if !self.completions().is_empty() {
                    return;
                }
                if self.news.is_deaf.load(Ordering::SeqCst) {
                    tokio::time::sleep(LOOK_INTERVAL).await;
                } else {
                    ended.await;
                }
            }
        })
    }
}

/// Wakes who waits for an end, until the tools are gone.
fn follow(toolset: &Weak<Toolset>, mut events: JobEvents, news: &News) {
    while let Ok(event) = events.next_event() {
        let Some(toolset) = toolset.upgrade() else { return };
        let is_end = matches!(
            event.kind,
            JobEventKind::Ended | JobEventKind::Removed | JobEventKind::Missed
        );
        if is_end && event.concerns(&toolset) {
            news.ended.notify_waiters();
        }
    }
    news.is_deaf.store(true, Ordering::SeqCst);
    news.ended.notify_waiters();
}

/// A name that models accept: contracts may have dots in theirs.
fn wire_name(name: &str) -> String {
    let good = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().map(good).collect()
}

/// Whether a tool has done nothing if it has started no job.
fn does_nothing_without_a_job(tool: &Tool) -> bool {
    tool.annotations.read_only_hint || tool.annotations.open_world_hint
}

/// A call that nobody waits for any more is stopped.
struct Abandoned(Option<Ticket>);

impl Abandoned {
    fn stop(&mut self) {
        if let Some(ticket) = self.0.take() {
            // It waits until the job is gone.
            std::thread::spawn(move || ticket.cancel());
        }
    }
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Somebody who is asked whether a call may do what it wants, and learns which call asks.
pub trait CallApprover: Send + Sync {
    /// The reply, and who gave it; nothing if nobody did.
    fn ask_for(&self, call_id: &str, question: &Question) -> Option<(Reply, String)>;
}

impl<T: Approver + Send + Sync> CallApprover for T {
    fn ask_for(&self, _: &str, question: &Question) -> Option<(Reply, String)> {
        self.ask(question)
    }
}

/// Whoever answers for all calls, asked for one of them.
struct AskedFor {
    approver: Arc<dyn CallApprover>,
    call: String,
}

impl Approver for AskedFor {
    fn ask(&self, question: &Question) -> Option<(Reply, String)> {
        self.approver.ask_for(&self.call, question)
    }
}

impl fmt::Debug for JobTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobTools").field("toolset", &self.toolset).finish_non_exhaustive()
    }
}
