//! A connection to one server.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, Implementation,
    ProgressNotificationParam, ProgressToken,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceExt};
use tokio::net::unix::pipe;
use tokio::sync::Notify;

use super::process::{Process, Processes};
use super::question::{ServerAnswer, ServerQuestion};
use super::{AnswerServer, RemoteServer, RemoteTransport};

/// How long the process of a server that could not be used may take to end by itself.
const END_GRACE: Duration = Duration::from_secs(1);

type ShowProgress = Box<dyn Fn(String) + Send + Sync>;
type Listeners = Arc<Mutex<Progressing>>;

/// Who hears of the progress of which call.
#[derive(Default)]
pub(super) struct Progressing {
    shown: HashMap<ProgressToken, ShowProgress>,
    /// What came before anybody listened: a server may be faster than whoever called.
    early: HashMap<ProgressToken, String>,
}

/// As many calls can be early.
const MOST_EARLY: usize = 64;

/// A server that answers.
#[derive(Clone)]
pub(super) struct Connected {
    pub(super) peer: Peer<RoleClient>,
    /// A call failed in a way that a server that is there does not.
    pub(super) doubt: Arc<Notify>,
    /// A call was cancelled: what the server asked for it is not asked any more.
    pub(super) stop_asking: Arc<Notify>,
    listeners: Listeners,
}

/// What the server tells and asks.
pub(super) struct Handler {
    server: String,
    pub(super) tools_changed: Arc<Notify>,
    listeners: Listeners,
    answer: Option<AnswerServer>,
    stop_asking: Arc<Notify>,
}

/// A connection, and what belongs to it.
pub(super) struct Connection {
    pub(super) service: RunningService<RoleClient, Handler>,
    pub(super) tools_changed: Arc<Notify>,
    pub(super) process: Option<Starting>,
    listeners: Listeners,
    stop_asking: Arc<Notify>,
}

/// A process that is killed unless its server gets ready.
pub(super) struct Starting {
    pub(super) process: Arc<Process>,
    pub(super) is_ready: bool,
}

impl Drop for Starting {
    fn drop(&mut self) {
        if !self.is_ready {
            self.process.kill();
        }
    }
}

impl Connection {
    pub(super) fn connected(&self) -> Connected {
        let (peer, listeners) = (self.service.peer().clone(), Arc::clone(&self.listeners));
        let stop_asking = Arc::clone(&self.stop_asking);
        Connected { peer, doubt: Arc::default(), stop_asking, listeners }
    }
}

/// Hears the progress of a call until it is dropped.
pub(super) struct Listening {
    token: ProgressToken,
    listeners: Listeners,
}

impl Connected {
    pub(super) fn listen(&self, token: ProgressToken, show: ShowProgress) -> Listening {
        let listeners = Arc::clone(&self.listeners);
        let mut progressing = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = progressing.early.remove(&token) {
            show(text);
        }
        progressing.shown.insert(token.clone(), show);
        Listening { token, listeners }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).shown.remove(&self.token);
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let this = Implementation::new("umbo", env!("CARGO_PKG_VERSION"));
        let capabilities = match self.answer {
            Some(_) => ClientCapabilities::builder().enable_elicitation().build(),
            None => ClientCapabilities::default(),
        };
        ClientConfig::new(capabilities, this)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let answered = match (&self.answer, request) {
            (
                Some(answer),
                ElicitRequestParams::FormElicitationParams { message, requested_schema, .. },
            ) => {
                let question = ServerQuestion::read(&self.server, message, &requested_schema);
                tokio::select! {
                    answered = answer(question) => answered,
                    () = context.ct.cancelled() => ServerAnswer::Cancel,
                    () = self.stop_asking.notified() => ServerAnswer::Cancel,
                }
            }
            // Nobody said that it could be asked: neither anything, nor to open an address.
            _ => ServerAnswer::Decline,
        };
        Ok(answered.into())
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let text = params.message.unwrap_or_else(|| match params.total {
            Some(total) => format!("{} of {total}", params.progress),
            None => params.progress.to_string(),
        });
        let mut progressing = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(show) = progressing.shown.get(&params.progress_token) {
            show(text);
            return;
        }
        if progressing.early.len() >= MOST_EARLY {
            progressing.early.clear();
        }
        progressing.early.insert(params.progress_token, text);
    }
}

/// Connects to a server; what is wrong, if that cannot be done.
pub(super) async fn connect(
    config: &RemoteServer,
    answer: Option<AnswerServer>,
    processes: &Processes,
) -> Result<Connection, String> {
    let (tools_changed, listeners) = (Arc::<Notify>::default(), Listeners::default());
    let stop_asking = Arc::<Notify>::default();
    let handler = Handler {
        server: config.name.clone(),
        tools_changed: Arc::clone(&tools_changed),
        listeners: Arc::clone(&listeners),
        answer,
        stop_asking: Arc::clone(&stop_asking),
    };
    let mut process = None;
    let service = match &config.transport {
        RemoteTransport::Stdio { command, .. } => {
            let started = processes.start(&config.transport);
            let (child, stdin, stdout) =
                started.map_err(|error| format!("{command} cannot be started: {error}"))?;
            process = Some(Starting { process: Arc::clone(&child), is_ready: false });
            let pipes = || -> io::Result<(pipe::Receiver, pipe::Sender)> {
                let stdout = pipe::Receiver::from_owned_fd(OwnedFd::from(stdout))?;
                Ok((stdout, pipe::Sender::from_owned_fd(OwnedFd::from(stdin))?))
            };
            let pipes = pipes().map_err(|error| error.to_string())?;
            match handler.serve(pipes).await {
                Ok(service) => service,
                Err(error) => {
                    // How its process ended says more.
                    let ended = tokio::task::spawn_blocking(move || child.finish(END_GRACE)).await;
                    return Err(ended.unwrap_or_else(|_| error.to_string()));
                }
            }
        }
        RemoteTransport::Http { url, headers } => {
            let transport = http(url, headers)?;
            handler.serve(transport).await.map_err(|error| with_causes(&error))?
        }
    };
    Ok(Connection { service, tools_changed, process, listeners, stop_asking })
}

/// An error with what caused it: the outermost alone often says nothing.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = inner.source();
    }
    text
}

fn http(
    url: &str,
    headers: &[(String, String)],
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    // Another provider that the program chose before is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .pool_max_idle_per_host(0)
        .build()
        .map_err(|error| with_causes(&error))?;
    let mut custom = HashMap::new();
    for (name, value) in headers {
        let wrong = || format!("the header {name:?} is none that HTTP allows");
        let key = name.parse::<reqwest::header::HeaderName>().map_err(|_| wrong())?;
        let mut value = value.parse::<reqwest::header::HeaderValue>().map_err(|_| wrong())?;
        value.set_sensitive(true);
        custom.insert(key, value);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(custom);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}
