//! What the loop needs of tools. The real ones are plugged in from outside.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;
use umbo_model::{Part, ToolCall, ToolSpec};

/// A future that can be kept anywhere.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The tools of an agent.
pub trait Tools: Send + Sync {
    /// What the model is told of them.
    fn specs(&self) -> Vec<ToolSpec>;

    /// Whether calls of a tool may run beside others. Others run alone, in the order of the calls.
    fn is_parallel(&self, _tool: &str) -> bool {
        false
    }

    /// What is wrong with the arguments of a call, before anything runs.
    fn check(&self, _call: &ToolCall) -> Result<(), String> {
        Ok(())
    }

    /// Runs a call. Whoever gets the same key twice must not do the work twice.
    fn call(self: Arc<Self>, invocation: Invocation) -> BoxFuture<ToolOutput>;

    /// What became of a call that was under way when everything was killed, by the key it had.
    fn recover(self: Arc<Self>, _call: ToolCall, _key: String) -> BoxFuture<Recovery> {
        Box::pin(async { Recovery::Unknown })
    }

    /// Work in the background that has ended and was not acknowledged, in the order in which it
    /// ended.
    fn completions(&self) -> Vec<Completion> {
        Vec::new()
    }

    /// The conversation has a completion; it is not told again.
    fn acknowledge(&self, _id: &str) {}

    /// How much work is under way in the background.
    fn running(&self) -> usize {
        0
    }

    /// Ends as soon as there is a completion.
    fn completed(self: Arc<Self>) -> BoxFuture<()> {
        Box::pin(std::future::pending())
    }
}

/// One call to run.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The call.
    pub call: ToolCall,
    /// The name under which this is done once, now and after every restart.
    pub key: String,
    /// Tells when to stop.
    pub cancel: CancellationToken,
    /// Where it says how it stands.
    pub progress: Progress,
}

/// Where a call says how it stands.
#[derive(Clone, Debug)]
pub struct Progress {
    pub(crate) call_id: String,
    pub(crate) sender: UnboundedSender<(String, String)>,
}

impl Progress {
    /// Shows a text in the place of what was shown before.
    pub fn show(&self, text: impl Into<String>) {
        // Who does not listen any more misses nothing.
        let _ = self.sender.send((self.call_id.clone(), text.into()));
    }
}

/// What a tool answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// What the model reads.
    pub content: Vec<Part>,
    /// Whether the call failed.
    pub is_error: bool,
    /// What a front end shows beside it.
    pub details: Option<Value>,
    /// The work in the background whose end this tells: it is not told again.
    pub tells: Option<String>,
}

impl ToolOutput {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Part::text(text)], ..Self::default() }
    }

    /// A failure.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Recovery {
    /// It ended, with this.
    Finished(ToolOutput),
    /// It is still running; how to get at it.
    Running(String),
    /// It never began.
    NotStarted,
    /// Nobody knows.
    Unknown,
}

/// Work in the background that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// Its name.
    pub id: String,
    /// What the model is told.
    pub text: String,
    /// What a front end shows beside it.
    pub details: Option<Value>,
}
