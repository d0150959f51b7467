//! Tools of other servers: umbo as a client of the protocol.
//!
//! Each server has a task that connects to it, learns its tools, and starts it again when it dies, each
//! time after a longer while (`keep.rs`). All of them run on a runtime of their own, so that whoever calls
//! may be on any other or on none. A server's process is the leader of a group that ends with it.

mod connection;
mod keep;
mod names;
mod process;
mod question;
mod result;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientRequest, JsonObject, ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use self::connection::Connected;
use self::process::Processes;

pub use names::is_server_name;
pub use question::{FieldKind, QuestionField, ServerAnswer, ServerQuestion};
pub use result::{RemoteContent, RemoteResult};

/// A call that shows no progress for so long has failed.
const CALL_IDLE_TIMEOUT: Duration = Duration::from_mins(10);

/// A server, and how it is reached.
#[derive(Clone)]
pub struct RemoteServer {
    /// Its name.
    pub name: String,
    /// How it is reached.
    pub transport: RemoteTransport,
    /// The longest time until it is ready.
    pub timeout: Duration,
}

/// How a server is reached.
#[derive(Clone)]
pub enum RemoteTransport {
    /// A process that is started, by its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// All of its environment.
        environment: Vec<(OsString, OsString)>,
        /// Where it runs.
        directory: PathBuf,
    },
    /// A server of Streamable HTTP.
    Http {
        /// Its address.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, String)>,
    },
}

/// Environments and headers may hold secrets.
impl fmt::Debug for RemoteServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteServer").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for RemoteTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdio { .. } => "Stdio(…)",
            Self::Http { .. } => "Http(…)",
        })
    }
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteTool {
    /// The name that models are told: the server's and the tool's, as far as vendors accept them.
    pub name: String,
    /// The server.
    pub server: String,
    /// The tool, as the server knows it.
    pub tool: String,
    /// What the server says about it.
    pub description: String,
    /// Its arguments.
    pub input_schema: Value,
    /// The server says that it only reads. Nobody has checked that.
    pub says_read_only: bool,
}

/// How a server stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// It is being started.
    Starting,
    /// It answers.
    Ready,
    /// It does not run, and is started again.
    Down(String),
    /// It does not run, and is not started again.
    Failed(String),
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// There is no such tool.
    #[error("there is no tool {0:?} of a server")]
    NoTool(String),
    /// The server does not run.
    #[error("the MCP server {server} is not running: {why}")]
    NotRunning {
        /// The server.
        server: String,
        /// Why.
        why: String,
    },
    /// The server went away while it worked.
    #[error(
        "the MCP server {server} went away during this call ({why}); it may have done all, some or nothing of it"
    )]
    WentAway {
        /// The server.
        server: String,
        /// What is known.
        why: String,
    },
    /// It took too long.
    #[error("the MCP server {server} showed no progress for {} s; the call was cancelled", .after.as_secs())]
    TimedOut {
        /// The server.
        server: String,
        /// How long it was silent.
        after: Duration,
    },
    /// Whoever called does not want the result any more.
    #[error("cancelled; the MCP server {server} was told so")]
    Cancelled {
        /// The server.
        server: String,
    },
    /// The server says that it cannot.
    #[error("the MCP server {server} answered with an error: {message}")]
    Refused {
        /// The server.
        server: String,
        /// What it says.
        message: String,
    },
}

/// Who is told when a server comes and goes.
pub type Notice = Arc<dyn Fn(&str) + Send + Sync>;

/// Who answers what servers ask of the person; dropped, the question is taken back.
pub type AnswerServer =
    Arc<dyn Fn(ServerQuestion) -> Pin<Box<dyn Future<Output = ServerAnswer> + Send>> + Send + Sync>;

/// Servers, and their tools.
pub struct RemoteServers {
    servers: Vec<Arc<Slot>>,
    processes: Arc<Processes>,
    stop: CancellationToken,
    runtime: Option<Runtime>,
}

/// One server, as all see it.
struct Slot {
    config: RemoteServer,
    shared: Mutex<Shared>,
    state: watch::Sender<ServerState>,
    answer: Option<AnswerServer>,
}

#[derive(Default)]
struct Shared {
    connected: Option<Connected>,
    tools: Vec<rmcp::model::Tool>,
}

impl Slot {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RemoteServers {
    /// Starts servers. Their names must differ. Without somebody who answers, they are told that nothing
    /// can be asked.
    pub fn start(
        servers: Vec<RemoteServer>,
        notice: &Notice,
        answer: Option<&AnswerServer>,
    ) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("mcp-servers")
            .enable_all()
            .build()?;
        let processes = Arc::new(Processes::default());
        let stop = CancellationToken::new();
        let slot = |config| {
            let state = watch::channel(ServerState::Starting).0;
            let answer = answer.cloned();
            Arc::new(Slot { config, shared: Mutex::default(), state, answer })
        };
        let servers: Vec<Arc<Slot>> = servers.into_iter().map(slot).collect();
        for slot in &servers {
            let (processes, notice) = (Arc::clone(&processes), Arc::clone(notice));
            runtime.spawn(keep::keep(Arc::clone(slot), processes, notice, stop.clone()));
        }
        Ok(Self { servers, processes, stop, runtime: Some(runtime) })
    }

    /// Blocks until every server is ready or has failed; that takes no longer than the longest of their
    /// timeouts.
    pub fn wait_until_settled(&self) {
        let Some(runtime) = &self.runtime else { return };
        let settled = async {
            for slot in &self.servers {
                let mut state = slot.state.subscribe();
                // A task that is gone has settled.
                let _ = state.wait_for(|state| *state != ServerState::Starting).await;
            }
        };
        // On a thread of its own: whoever calls may be inside a runtime.
        std::thread::scope(|scope| scope.spawn(|| runtime.block_on(settled)).join()).ok();
    }

    /// How each server stands.
    pub fn states(&self) -> Vec<(String, ServerState)> {
        let state = |slot: &Arc<Slot>| (slot.config.name.clone(), slot.state.borrow().clone());
        self.servers.iter().map(state).collect()
    }

    /// The tools of all servers. Those of one that is being started again stay.
    pub fn tools(&self) -> Vec<RemoteTool> {
        let mut by_name = BTreeMap::new();
        for slot in &self.servers {
            let server = &slot.config.name;
            for tool in &slot.shared().tools {
                let mut name = names::wire_name(server, &tool.name);
                if by_name.contains_key(&name) {
                    name = names::distinct_name(server, &tool.name);
                }
                let says_read_only = tool
                    .annotations
                    .as_ref()
                    .is_some_and(|hints| hints.read_only_hint == Some(true));
                by_name.entry(name.clone()).or_insert_with(|| RemoteTool {
                    name,
                    server: server.clone(),
                    tool: tool.name.clone().into_owned(),
                    description: names::description(tool.description.as_deref()),
                    input_schema: Value::Object((*tool.input_schema).clone()),
                    says_read_only,
                });
            }
        }
        by_name.into_values().collect()
    }

    /// Calls a tool by the name that models know.
    pub async fn call(
        &self,
        name: &str,
        arguments: JsonObject,
        cancel: &CancellationToken,
        progress: impl Fn(String) + Send + Sync + 'static,
    ) -> Result<RemoteResult, RemoteError> {
        let tool = self.tools().into_iter().find(|tool| tool.name == name);
        let tool = tool.ok_or_else(|| RemoteError::NoTool(name.to_owned()))?;
        let slot = self.servers.iter().find(|slot| slot.config.name == tool.server);
        let slot = slot.ok_or_else(|| RemoteError::NoTool(name.to_owned()))?;
        let server = tool.server;
        let connected = tokio::select! {
            connected = slot.ready() => connected?,
            () = cancel.cancelled() => return Err(RemoteError::Cancelled { server }),
        };
        let params = CallToolRequestParams::new(tool.tool).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options =
            PeerRequestOptions::with_timeout(CALL_IDLE_TIMEOUT).reset_timeout_on_progress();
        let sent = connected.peer.send_request_with_option(request, options).await;
        let handle = sent.map_err(|error| slot.failed(&error))?;
        let (id, token) = (handle.id.clone(), handle.progress_token.clone());
        let _listening = connected.listen(token, Box::new(progress));
        tokio::select! {
            answer = handle.await_response() => match answer {
                Ok(ServerResult::CallToolResult(result)) => Ok(result::read(result)),
                Ok(_) => Err(RemoteError::Refused {
                    server,
                    message: "it wants to be asked in a way that is not supported here".to_owned(),
                }),
                Err(error) => Err(slot.failed(&error)),
            },
            () = cancel.cancelled() => {
                connected.stop_asking.notify_waiters();
                let why = Some("the user interrupted".to_owned());
                let notification =
                    CancelledNotification::new(CancelledNotificationParam::new(Some(id), why));
                // A server that is gone needs no word.
                let _ = connected.peer.send_notification(notification.into()).await;
                Err(RemoteError::Cancelled { server })
            }
        }
    }
}

impl Slot {
    /// The connection; one that is being made again is waited for.
    async fn ready(&self) -> Result<Connected, RemoteError> {
        let mut state = self.state.subscribe();
        let is_over =
            |state: &ServerState| matches!(state, ServerState::Ready | ServerState::Failed(_));
        let waited = tokio::time::timeout(self.config.timeout, state.wait_for(is_over)).await;
        drop(waited);
        let not_running =
            |why: String| RemoteError::NotRunning { server: self.config.name.clone(), why };
        let now = self.state.borrow().clone();
        match now {
            ServerState::Ready => {}
            ServerState::Starting => return Err(not_running("it is still starting".to_owned())),
            ServerState::Down(why) | ServerState::Failed(why) => return Err(not_running(why)),
        }
        let connected = self.shared().connected.clone();
        connected.ok_or_else(|| not_running("it has just gone away".to_owned()))
    }

    fn failed(&self, error: &ServiceError) -> RemoteError {
        let server = self.config.name.clone();
        match error {
            ServiceError::McpError(error) => {
                RemoteError::Refused { server, message: error.message.to_string() }
            }
            ServiceError::Timeout { timeout } => RemoteError::TimedOut { server, after: *timeout },
            error => {
                if let Some(connected) = &self.shared().connected {
                    // Whether it is still there is found out by who keeps it.
                    connected.doubt.notify_one();
                }
                RemoteError::WentAway { server, why: error.to_string() }
            }
        }
    }
}

impl Drop for RemoteServers {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(runtime) = self.runtime.take() {
            // With it go the ends of the pipes: a server that reads hears that it is over.
            runtime.shutdown_background();
        }
        for slot in &self.servers {
            slot.shared().connected = None;
        }
        self.processes.end_all();
    }
}

impl fmt::Debug for RemoteServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RemoteServers").field(&self.states()).finish()
    }
}
