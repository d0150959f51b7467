//! One client's server: lists the tools and calls them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ProtocolVersion, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use umbo_tools::{Hints, Tick, Ticket, ToolResult, Toolset};

/// The revisions that are spoken here.
const REVISIONS: [ProtocolVersion; 4] = [
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

pub(crate) struct Server {
    tools: Arc<Toolset>,
    listed: Vec<Tool>,
    calls: Calls,
}

impl Server {
    pub(crate) fn new(tools: Arc<Toolset>) -> Self {
        let listed = tools.tools().iter().map(listed).collect();
        Self { tools, listed, calls: Calls::default() }
    }

    /// The calls in progress.
    pub(crate) fn calls(&self) -> Calls {
        self.calls.clone()
    }
}

/// Calls in progress, each with the ticket that cancels it.
#[derive(Clone, Default)]
pub(crate) struct Calls {
    tickets: Arc<Mutex<HashMap<u64, Ticket>>>,
    next: Arc<AtomicU64>,
}

impl Calls {
    /// Takes part until the result is dropped.
    fn enter(&self, ticket: Ticket) -> Entered {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.tickets().insert(number, ticket);
        Entered { calls: self.clone(), number }
    }

    /// Stops what every call waits for, all at once.
    pub(crate) fn cancel_all(&self) {
        let tickets: Vec<Ticket> = self.tickets().values().cloned().collect();
        let stops: Vec<_> =
            tickets.into_iter().map(|ticket| thread::spawn(move || ticket.cancel())).collect();
        for stop in stops {
            let _ = stop.join();
        }
    }

    fn tickets(&self) -> MutexGuard<'_, HashMap<u64, Ticket>> {
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Entered {
    calls: Calls,
    number: u64,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.calls.tickets().remove(&self.number);
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("umbo", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.tools.instructions())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Owned(REVISIONS.to_vec())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.listed.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.tools.tool(&request.name).is_none() {
            let names: Vec<&str> = self.tools.tools().iter().map(|tool| tool.name).collect();
            let message =
                format!("there is no tool {:?}; there are: {}", request.name, names.join(" "));
            return Err(ErrorData::invalid_params(message, None));
        }
        let ticket = ticket(&context);
        let entered = self.calls.enter(ticket.clone());
        let tools = Arc::clone(&self.tools);
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let calling = ticket.clone();
        let mut call = tokio::task::spawn_blocking(move || {
            let _entered = entered;
            tools.call(&request.name, arguments, &calling)
        });
        let result = tokio::select! {
            result = &mut call => result,
            () = context.ct.cancelled() => {
                // The stop blocks too; the call's own thread then ends by itself.
                tokio::task::spawn_blocking(move || ticket.cancel());
                call.await
            }
        };
        match result {
            Ok(result) => Ok(CallToolResponse::Complete(answer(result))),
            Err(error) => Err(ErrorData::internal_error(format!("the call broke: {error}"), None)),
        }
    }
}

/// A ticket for a call, whose holder is told how it stands if it gave a token for that.
fn ticket(context: &RequestContext<RoleServer>) -> Ticket {
    let Some(token) = context.meta.get_progress_token() else { return Ticket::default() };
    let (sender, mut ticks) = mpsc::channel::<ProgressNotificationParam>(1);
    let peer = context.peer.clone();
    tokio::spawn(async move {
        while let Some(tick) = ticks.recv().await {
            if peer.notify_progress(tick).await.is_err() {
                break;
            }
        }
    });
    let tell = move |tick: &Tick| {
        let seconds = std::time::Duration::from_micros(tick.elapsed).as_secs_f64();
        let tail = tick.lines.join("\n");
        let tail = if tail.is_empty() { tail } else { format!("\n{tail}") };
        let message = format!("{seconds:.0} s, {} bytes{tail}", tick.bytes);
        let tick = ProgressNotificationParam::new(token.clone(), seconds).with_message(message);
        // A client that does not read misses ticks, not answers.
        let _ = sender.try_send(tick);
    };
    Ticket::builder().progress(tell).build()
}

fn answer(result: ToolResult) -> CallToolResult {
    let mut content = vec![ContentBlock::text(result.text)];
    if !result.completed.is_empty() {
        let told: Vec<&str> = result.completed.iter().map(|told| told.sentence.as_str()).collect();
        content.push(ContentBlock::text(format!("[umbo: {}]", told.join("; "))));
    }
    let mut answer = if result.is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    // Older revisions know only objects here.
    answer.structured_content = Some(match result.structured {
        object @ Value::Object(_) => object,
        other => json!({"result": other}),
    });
    answer
}

fn listed(tool: &umbo_tools::Tool) -> Tool {
    // Only hints that differ from what a client assumes: every byte of the list is paid for.
    let told = Hints::from(tool.annotations);
    let mut hints = ToolAnnotations::new();
    hints.read_only_hint = told.read_only_hint;
    hints.destructive_hint = told.destructive_hint;
    hints.idempotent_hint = told.idempotent_hint;
    hints.open_world_hint = told.open_world_hint;
    let mut listed = Tool::new(tool.name, tool.description.clone(), object(&tool.input_schema))
        .with_annotations(hints);
    if let Some(schema) = &tool.output_schema {
        listed = listed.with_raw_output_schema(Arc::new(object(schema)));
    }
    listed
}

fn object(schema: &Value) -> JsonObject {
    schema.as_object().cloned().unwrap_or_default()
}
