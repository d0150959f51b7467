//! `resolve`: a change that was only shown is made, or dropped.
//!
//! A call with `dry_run` shows what it would change. It then waits here, and the model must say what
//! becomes of it before it goes on: applied, the same call is made without `dry_run`, and passes the
//! gate like any other.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use umbo_model::{ToolCall, ToolInput, ToolSpec};

use crate::tools::{BoxFuture, Completion, Effect, Invocation, Recovery, ToolOutput, Tools};

const RESOLVE: &str = "resolve";
/// The argument by which a call only shows what it would do.
const DRY_RUN: &str = "dry_run";
const REMINDER: &str =
    "This is a preview. Call the resolve tool to apply or discard these changes.";
const NOTHING_PENDING: &str = "No pending action to resolve. Nothing to apply or discard.";

/// Tools, with `resolve` beside those that can show what they would do.
pub struct Previews {
    inner: Arc<dyn Tools>,
    /// The calls that wait, the oldest first.
    pending: Mutex<VecDeque<Pending>>,
}

/// A call that was only shown.
#[derive(Clone, Debug)]
struct Pending {
    label: String,
    /// As it is made when it is applied.
    call: ToolCall,
}

impl Previews {
    /// Around these tools.
    pub fn new(inner: Arc<dyn Tools>) -> Self {
        Self { inner, pending: Mutex::default() }
    }

    fn pending(&self) -> MutexGuard<'_, VecDeque<Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn run(self: Arc<Self>, invocation: Invocation) -> ToolOutput {
        if invocation.call.name == RESOLVE {
            return self.resolve(invocation).await;
        }
        let call = invocation.call.clone();
        let mut output = Arc::clone(&self.inner).call(invocation).await;
        if !output.is_error
            && call.arguments.get(DRY_RUN) == Some(&Value::Bool(true))
            && self.inner.specs().iter().any(|spec| spec.name == call.name && can_preview(spec))
        {
            let label = label(&call);
            let mut call = call;
            call.arguments.remove(DRY_RUN);
            self.pending().push_back(Pending { label, call });
            let custom_type = "resolve-reminder";
            output.effects.push(Effect::Remind { custom_type, text: REMINDER.to_owned() });
        }
        output
    }

    async fn resolve(&self, invocation: Invocation) -> ToolOutput {
        let word = |name: &str| {
            let value = invocation.call.arguments.get(name).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        let (action, reason) = (word("action"), word("reason"));
        let Some(Pending { label, call: source }) = self.pending().pop_front() else {
            return ToolOutput::error(NOTHING_PENDING);
        };
        let mut details = json!({
            "action": action, "reason": reason, "sourceToolName": source.name, "label": label,
        });
        if action == "discard" {
            let text = format!("Discarded: {label}. Reason: {reason}");
            return ToolOutput { details: Some(details), ..ToolOutput::text(text) };
        }
        let call = ToolCall { id: invocation.call.id.clone(), ..source };
        let output = Arc::clone(&self.inner).call(Invocation { call, ..invocation }).await;
        if let Some(own) = output.details.clone() {
            details["sourceResultDetails"] = own;
        }
        ToolOutput { details: Some(details), ..output }
    }
}

/// What a call would do, in few words.
fn label(call: &ToolCall) -> String {
    let words = ["path", "change", "call", "job"].iter().find_map(|name| call.arguments.get(*name));
    match words.and_then(Value::as_str) {
        Some(words) => format!("{} {words}", call.name),
        None => call.name.clone(),
    }
}

fn can_preview(spec: &ToolSpec) -> bool {
    matches!(&spec.input, ToolInput::Schema(schema) if schema["properties"][DRY_RUN].is_object())
}

fn resolve_spec() -> ToolSpec {
    ToolSpec {
        name: RESOLVE.to_owned(),
        description: include_str!("words/resolve.md").trim_end().to_owned(),
        input: ToolInput::Schema(json!({
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": ["apply", "discard"]},
                "reason": {"type": "string", "description": "Why"},
            },
            "required": ["action", "reason"],
            "additionalProperties": false,
        })),
    }
}

impl Tools for Previews {
    fn specs(&self) -> Vec<ToolSpec> {
        let mut specs = self.inner.specs();
        if specs.iter().any(can_preview) {
            specs.push(resolve_spec());
        }
        specs
    }

    fn is_parallel(&self, tool: &str) -> bool {
        tool != RESOLVE && self.inner.is_parallel(tool)
    }

    fn check(&self, call: &ToolCall) -> Result<(), String> {
        if call.name != RESOLVE {
            return self.inner.check(call);
        }
        let ToolInput::Schema(schema) = resolve_spec().input else { return Ok(()) };
        umbo_tools::check(&schema, &Value::Object(call.arguments.clone()))
            .map_err(|problem| problem.to_string())
    }

    fn forced(&self) -> Option<String> {
        let is_waiting = !self.pending().is_empty();
        is_waiting.then(|| RESOLVE.to_owned()).or_else(|| self.inner.forced())
    }

    fn call(self: Arc<Self>, invocation: Invocation) -> BoxFuture<ToolOutput> {
        Box::pin(self.run(invocation))
    }

    fn recover(self: Arc<Self>, call: ToolCall, key: String) -> BoxFuture<Recovery> {
        // What it applied is found by the key, as if it had been called itself.
        Arc::clone(&self.inner).recover(call, key)
    }

    fn completions(&self) -> Vec<Completion> {
        self.inner.completions()
    }

    fn acknowledge(&self, id: &str) {
        self.inner.acknowledge(id);
    }

    fn running(&self) -> usize {
        self.inner.running()
    }

    fn completed(self: Arc<Self>) -> BoxFuture<()> {
        Arc::clone(&self.inner).completed()
    }
}

impl std::fmt::Debug for Previews {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Previews").field("pending", &*self.pending()).finish_non_exhaustive()
    }
}
