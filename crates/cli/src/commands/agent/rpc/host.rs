//! What the host lends: tools and addresses of its own, beside ours; and its word on questions.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use umbo_agent::{BoxFuture, Completion, Invocation, JobTools, Recovery, ToolOutput, Tools};
use umbo_gate::{Covers, Lasts, Question, Reply, UsableBy};
use umbo_model::{Part, ToolCall, ToolInput, ToolSpec};
use umbo_tools::Approver;

use crate::output;

/// A tool of the host.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct HostTool {
    pub(super) name: String,
    #[serde(default)]
    description: String,
    parameters: Value,
}

/// A scheme of the host's addresses.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct HostScheme {
    pub(super) scheme: String,
    #[serde(default)]
    writable: bool,
}

/// What a call does with an address of the host.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
    /// It would write where the host lets nobody write.
    Forbidden,
}

/// The host at the other end.
#[derive(Default)]
pub(super) struct Host {
    tools: Mutex<Vec<HostTool>>,
    schemes: Mutex<Vec<HostScheme>>,
    pub(super) waiting: Mutex<HashMap<String, UnboundedSender<Value>>>,
    /// The dialogs about commands that nobody has answered yet.
    confirms: Mutex<Vec<String>>,
    count: AtomicU64,
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Host {
    pub(super) fn set_tools(&self, tools: Vec<HostTool>) {
        *locked(&self.tools) = tools;
    }

    pub(super) fn set_schemes(&self, mut schemes: Vec<HostScheme>) -> Vec<String> {
        for scheme in &mut schemes {
            scheme.scheme.make_ascii_lowercase();
        }
        let names = schemes.iter().map(|scheme| scheme.scheme.clone()).collect();
        *locked(&self.schemes) = schemes;
        names
    }

    /// Gives an answer to whoever waits for it; one that nobody waits for is ignored.
    pub(super) fn answer(&self, frame: Value) {
        let id = frame["id"].as_str().unwrap_or_default().to_owned();
        if let Some(sender) = locked(&self.waiting).get(&id) {
            let _ = sender.send(frame);
        }
    }

    /// Nobody waits for the host's word on commands any more.
    pub(super) fn take_back_questions(&self) {
        for dialog in locked(&self.confirms).drain(..) {
            locked(&self.waiting).remove(&dialog);
            let id = format!("ui_{}", self.number());
            output::message(&json!({
                "type": "extension_ui_request", "id": id, "method": "cancel", "targetId": dialog,
            }));
        }
    }

    /// The host has closed its end: nobody answers any more.
    pub(super) fn close(&self) {
        locked(&self.waiting).clear();
    }

    pub(super) fn number(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn is_tool(&self, name: &str) -> bool {
        locked(&self.tools).iter().any(|tool| tool.name == name)
    }

    /// The address of the host's that a call is about, and what the call does with it.
    fn address(&self, call: &ToolCall) -> Option<(String, Access)> {
        let is_write = call.name.eq_ignore_ascii_case("write");
        if !is_write && !call.name.eq_ignore_ascii_case("read") {
            return None;
        }
        let path = ["path", "file_path"].iter().find_map(|name| call.arguments.get(*name));
        let path = path?.as_str()?;
        let (scheme, _) = path.split_once("://")?;
        let schemes = locked(&self.schemes);
        let known = schemes.iter().find(|known| known.scheme.eq_ignore_ascii_case(scheme))?;
        let access = match (is_write, known.writable) {
            (false, _) => Access::Read,
            (true, true) => Access::Write,
            (true, false) => Access::Forbidden,
        };
        Some((path.to_owned(), access))
    }

    /// Asks the host and waits; tells it if nobody wants the answer any more.
    async fn ask(&self, kind: &str, frame: Value, invocation: &Invocation) -> Option<Value> {
        let id = format!("{kind}_{}", self.number());
        let (sender, mut answers) = unbounded_channel();
        locked(&self.waiting).insert(id.clone(), sender);
        let mut frame = frame;
        frame["id"] = json!(id);
        output::message(&frame);
        let answer = loop {
            tokio::select! {
                answer = answers.recv() => match answer {
                    Some(update) if update["type"] == "host_tool_update" => {
                        invocation.progress.show(text_of(&update["partialResult"]["content"]));
                    }
                    answer => break answer,
                },
                () = invocation.cancel.cancelled() => {
                    let cancel = format!("{kind}_cancel_{}", self.number());
                    let word = if kind == "host" { "host_tool_cancel" } else { "host_uri_cancel" };
                    output::message(&json!({"type": word, "id": cancel, "targetId": id}));
                    break None;
                }
            }
        };
        locked(&self.waiting).remove(&id);
        answer
    }

    async fn call_tool(&self, invocation: Invocation) -> ToolOutput {
        let call = &invocation.call;
        let frame = json!({
            "type": "host_tool_call", "toolCallId": call.id, "toolName": call.name,
            "arguments": call.arguments,
        });
        let Some(answer) = self.ask("host", frame, &invocation).await else {
            return ToolOutput::error("The host did not answer.");
        };
        let content = answer["result"]["content"].clone();
        let content: Vec<Part> = serde_json::from_value(content.clone())
            .unwrap_or_else(|_| vec![Part::text(text_of(&content))]);
        let is_error = answer["isError"] == true;
        ToolOutput { content, is_error, ..ToolOutput::default() }
    }

    async fn open_address(&self, url: &str, access: Access, invocation: Invocation) -> ToolOutput {
        if access == Access::Forbidden {
            let (scheme, _) = url.split_once("://").unwrap_or_default();
            return ToolOutput::error(format!("{url}: what {scheme}:// has can only be read"));
        }
        let is_write = access == Access::Write;
        let operation = if is_write { "write" } else { "read" };
        let mut frame = json!({"type": "host_uri_request", "operation": operation, "url": url});
        if is_write {
            let content = invocation.call.arguments.get("content").cloned();
            frame["content"] = content.unwrap_or_else(|| json!(""));
        }
        let Some(answer) = self.ask("uri", frame, &invocation).await else {
            return ToolOutput::error("The host did not answer.");
        };
        let text = |name: &str| answer[name].as_str().map(str::to_owned);
        if answer["isError"] == true {
            let why = text("error").or_else(|| text("content"));
            return ToolOutput::error(why.unwrap_or_else(|| format!("{url} cannot be opened")));
        }
        let notes = answer["notes"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let done = if is_write { format!("Wrote {url}") } else { String::new() };
        let mut content = text("content").unwrap_or(done);
        for note in notes {
            let _ = write!(content, "\n[{note}]");
        }
        ToolOutput::text(content)
    }
}

fn text_of(content: &Value) -> String {
    let texts = content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

/// Questions go to the host as dialogs.
pub(super) struct AskHost(pub(super) Arc<Host>);

impl Approver for AskHost {
    fn ask(&self, question: &Question) -> Option<(Reply, String)> {
        let host = &self.0;
        let id = format!("ui_{}", host.number());
        let (sender, mut answers) = unbounded_channel();
        locked(&host.waiting).insert(id.clone(), sender);
        locked(&host.confirms).push(id.clone());
        output::message(&json!({
            "type": "extension_ui_request", "id": id, "method": "confirm",
            "title": "May this command run?",
            "message": format!("{}\n\nin {}\n{}: {}", question.command, question.cwd, question.risk, question.why),
        }));
        let answer = answers.blocking_recv();
        locked(&host.waiting).remove(&id);
        locked(&host.confirms).retain(|open| *open != id);
        let reply = if answer?["confirmed"].as_bool()? {
            Reply::Approve {
                covers: Covers::Command,
                lasts: Lasts::Once,
                usable_by: UsableBy::Asker,
            }
        } else {
            Reply::Deny { reason: "the user said no".to_owned() }
        };
        Some((reply, "a person at the host".to_owned()))
    }
}

/// Our tools and those of the host.
pub(super) struct RpcTools {
    pub(super) own: Arc<dyn Tools>,
    /// Those of ours for jobs and files, which know what is secret.
    pub(super) jobs: Arc<JobTools>,
    pub(super) host: Arc<Host>,
}

impl Tools for RpcTools {
    fn specs(&self) -> Vec<ToolSpec> {
        let lent = locked(&self.host.tools).clone();
        let own = self.own.specs().into_iter();
        // The host's word for a tool counts.
        let own = own.filter(|spec| !lent.iter().any(|tool| tool.name == spec.name));
        let lent = lent.iter().map(|tool| ToolSpec {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input: ToolInput::Schema(tool.parameters.clone()),
        });
        own.chain(lent).collect()
    }

    fn is_parallel(&self, tool: &str) -> bool {
        self.host.is_tool(tool) || self.own.is_parallel(tool)
    }

    fn check(&self, call: &ToolCall) -> Result<(), String> {
        let tools = locked(&self.host.tools);
        let Some(tool) = tools.iter().find(|tool| tool.name == call.name) else {
            return self.own.check(call);
        };
        let arguments = Value::Object(call.arguments.clone());
        umbo_tools::check(&tool.parameters, &arguments).map_err(|problem| problem.to_string())
    }

    fn call(self: Arc<Self>, invocation: Invocation) -> BoxFuture<ToolOutput> {
        let is_tool = self.host.is_tool(&invocation.call.name);
        let address = self.host.address(&invocation.call).filter(|_| !is_tool);
        if is_tool || address.is_some() {
            let mut invocation = invocation;
            let call = &mut invocation.call;
            call.arguments =
                self.jobs.toolset().restore_secrets(std::mem::take(&mut call.arguments));
            return Box::pin(async move {
                match address {
                    Some((url, access)) => self.host.open_address(&url, access, invocation).await,
                    None => self.host.call_tool(invocation).await,
                }
            });
        }
        Arc::clone(&self.own).call(invocation)
    }

    fn recover(self: Arc<Self>, call: ToolCall, key: String) -> BoxFuture<Recovery> {
        if self.host.is_tool(&call.name) {
            return Box::pin(async { Recovery::Unknown });
        }
        Arc::clone(&self.own).recover(call, key)
    }

    fn forced(&self) -> Option<String> {
        self.own.forced()
    }

    fn completions(&self) -> Vec<Completion> {
        self.own.completions()
    }

    fn acknowledge(&self, id: &str) {
        self.own.acknowledge(id);
    }

    fn running(&self) -> usize {
        self.own.running()
    }

    fn completed(self: Arc<Self>) -> BoxFuture<()> {
        Arc::clone(&self.own).completed()
    }
}
