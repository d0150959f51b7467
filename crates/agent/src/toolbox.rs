//! Tools from several places as one set.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use umbo_model::{ToolCall, ToolSpec};

use crate::tools::{BoxFuture, Completion, Invocation, Recovery, ToolOutput, Tools};

/// Several sets of tools. Of two tools with one name the first counts.
pub struct Toolbox(Vec<Arc<dyn Tools>>);

impl Toolbox {
    /// These sets, the most important first.
    pub fn new(sets: Vec<Arc<dyn Tools>>) -> Self {
        Self(sets)
    }

    fn owner(&self, tool: &str) -> Option<&Arc<dyn Tools>> {
        self.0.iter().find(|set| set.specs().iter().any(|spec| spec.name == tool))
    }
}

impl Tools for Toolbox {
    fn specs(&self) -> Vec<ToolSpec> {
        let mut all: Vec<ToolSpec> = Vec::new();
        for spec in self.0.iter().flat_map(|set| set.specs()) {
            if !all.iter().any(|known| known.name == spec.name) {
                all.push(spec);
            }
        }
        all
    }

    fn is_parallel(&self, tool: &str) -> bool {
        self.owner(tool).is_some_and(|set| set.is_parallel(tool))
    }

    fn check(&self, call: &ToolCall) -> Result<(), String> {
        self.owner(&call.name).map_or(Ok(()), |set| set.check(call))
    }

    fn forced(&self) -> Option<String> {
        self.0.iter().find_map(|set| set.forced())
    }

    fn call(self: Arc<Self>, invocation: Invocation) -> BoxFuture<ToolOutput> {
        match self.owner(&invocation.call.name) {
            Some(set) => Arc::clone(set).call(invocation),
            // It was there when the model was told of it.
            None => Box::pin(async move {
                ToolOutput::error(format!("The tool {} is gone.", invocation.call.name))
            }),
        }
    }

    fn recover(self: Arc<Self>, call: ToolCall, key: String) -> BoxFuture<Recovery> {
        match self.owner(&call.name) {
            Some(set) => Arc::clone(set).recover(call, key),
            None => Box::pin(async { Recovery::Unknown }),
        }
    }

    fn completions(&self) -> Vec<Completion> {
        self.0.iter().flat_map(|set| set.completions()).collect()
    }

    fn acknowledge(&self, id: &str) {
        self.0.iter().for_each(|set| set.acknowledge(id));
    }

    fn running(&self) -> usize {
        self.0.iter().map(|set| set.running()).sum()
    }

    fn completed(self: Arc<Self>) -> BoxFuture<()> {
        let mut waits: Vec<BoxFuture<()>> =
            self.0.iter().map(|set| Arc::clone(set).completed()).collect();
        Box::pin(poll_fn(move |context| {
            if waits.iter_mut().any(|wait| wait.as_mut().poll(context).is_ready()) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }))
    }
}

impl std::fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<String> = self.specs().into_iter().map(|spec| spec.name).collect();
        f.debug_tuple("Toolbox").field(&names).finish()
    }
}
