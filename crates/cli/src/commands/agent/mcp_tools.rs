//! Tools of MCP servers for the agent. Every call passes the gate as the command
//! `mcp:SERVER TOOL ARGUMENTS`, whatever the server says of its tool.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use umbo_agent::{BoxFuture, Invocation, JobTools, ToolOutput, Tools};
use umbo_mcp::remote::{
    AnswerServer, Notice, RemoteContent, RemoteServer, RemoteServers, RemoteTransport,
    ServerQuestion, ServerState,
};
use umbo_model::{Part, ToolInput, ToolSpec};

use super::server_questions::ServerQuestions;
use crate::context::Context;
use crate::failure::Failure;
use crate::{gate, mcp_servers, output};

/// What servers do is told to whoever shows it; until somebody does, it is kept.
#[derive(Default)]
pub(super) struct Notices(Mutex<NoticeState>);

#[derive(Default)]
struct NoticeState {
    waiting: Vec<String>,
    show: Option<ShowNotice>,
}

type ShowNotice = Box<dyn Fn(&str) + Send>;

/// As many are kept.
const MOST_WAITING: usize = 100;

impl Notices {
    pub(super) fn tell(&self, text: &str) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.show {
            Some(show) => show(text),
            None if state.waiting.len() < MOST_WAITING => state.waiting.push(text.to_owned()),
            None => {}
        }
    }

    /// Shows what was kept, and all that comes.
    pub(super) fn show_with(&self, show: impl Fn(&str) + Send + 'static) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.waiting.drain(..).for_each(|text| show(&text));
        state.show = Some(Box::new(show));
    }
}

/// Starts the servers of the configuration, and those that the front end lends, which stand for others of
/// their name; nothing if there are none. `asks` says whether a person is here who can be asked about
/// those that nobody trusts.
pub(super) fn start(
    context: &Context,
    directory: &Path,
    asks: bool,
    lent: Vec<RemoteServer>,
    notices: &Arc<Notices>,
    questions: Option<&Arc<ServerQuestions>>,
) -> Result<Option<Arc<RemoteServers>>, Failure> {
    let found = mcp_servers::find(context, directory);
    for problem in &found.problems {
        notices.tell(problem);
    }
    let mut servers = found.servers;
    if !found.untrusted.is_empty() {
        let file = found.untrusted_file.display();
        if asks && confirm(&found.untrusted, &file)? {
            servers.extend(found.untrusted);
        } else {
            let names: Vec<&str> =
                found.untrusted.iter().map(|server| server.name.as_str()).collect();
            notices.tell(&format!(
                "MCP servers of the project are not started ({}): `umbo trust` lets {file} count",
                names.join(", ")
            ));
        }
    }
    servers.retain(|known| !lent.iter().any(|server| server.name == known.name));
    servers.extend(lent);
    if servers.is_empty() {
        return Ok(None);
    }
    let told = Arc::clone(notices);
    let notice: Notice = Arc::new(move |text: &str| told.tell(text));
    let answer = questions.map(|questions| {
        let questions = Arc::clone(questions);
        Arc::new(move |question: ServerQuestion| Arc::clone(&questions).answer(question))
            as AnswerServer
    });
    let started = RemoteServers::start(servers, &notice, answer.as_ref()).map_err(Failure::new)?;
    started.wait_until_settled();
    Ok(Some(Arc::new(started)))
}

fn confirm(servers: &[RemoteServer], file: &dyn std::fmt::Display) -> Result<bool, Failure> {
    output::talk(format_args!("{file} wants these MCP servers:"));
    for server in servers {
        let how = match &server.transport {
            RemoteTransport::Stdio { command, args, .. } => {
                format!("runs {command} {}", args.join(" "))
            }
            RemoteTransport::Http { url, .. } => format!("connects to {url}"),
        };
        output::talk(format_args!("  {}: {}", server.name, how.trim_end()));
    }
    gate::confirm("Let them run this time? (`umbo trust` decides for good)")
}

/// The tools of servers, for an agent whose calls pass a gate.
pub(super) struct McpTools {
    pub(super) servers: Arc<RemoteServers>,
    pub(super) jobs: Arc<JobTools>,
}

impl McpTools {
    async fn run(self: Arc<Self>, invocation: Invocation) -> ToolOutput {
        let Invocation { call, cancel, progress, .. } = invocation;
        let tool = self.servers.tools().into_iter().find(|tool| tool.name == call.name);
        let Some(tool) = tool else {
            return ToolOutput::error(format!("The tool {} is gone.", call.name));
        };
        let arguments = Value::Object(call.arguments.clone()).to_string();
        let words = vec![format!("mcp:{}", tool.server), tool.tool, arguments];
        let (jobs, id) = (Arc::clone(&self.jobs), call.id.clone());
        let admitted = tokio::task::spawn_blocking(move || jobs.admit_tool(&words, &id));
        let admitted = tokio::select! {
            admitted = admitted => admitted,
            () = cancel.cancelled() => return ToolOutput::error("Not run: the user interrupted."),
        };
        match admitted {
            Ok(Ok(())) => {}
            Ok(Err(refusal)) => return ToolOutput::error(refusal),
            Err(error) => return ToolOutput::error(format!("The tool itself failed: {error}")),
        }
        let show = move |text| progress.show(text);
        let arguments = self.jobs.toolset().restore_secrets(call.arguments);
        match self.servers.call(&call.name, arguments, &cancel, show).await {
            Ok(result) => {
                let part = |piece| match piece {
                    RemoteContent::Text(text) => Part::text(text),
                    RemoteContent::Image { mime_type, data } => Part::Image { mime_type, data },
                };
                let content: Vec<Part> = result.content.into_iter().map(part).collect();
                let content =
                    if content.is_empty() { vec![Part::text("(no content)")] } else { content };
                ToolOutput { content, is_error: result.is_error, ..ToolOutput::default() }
            }
            Err(error) => ToolOutput::error(error.to_string()),
        }
    }
}

impl Tools for McpTools {
    fn specs(&self) -> Vec<ToolSpec> {
        let spec = |tool: umbo_mcp::remote::RemoteTool| ToolSpec {
            name: tool.name,
            description: tool.description,
            input: ToolInput::Schema(tool.input_schema),
        };
        self.servers.tools().into_iter().map(spec).collect()
    }

    /// One that is said to change nothing may run beside others; whether it may run is not decided by that.
    fn is_parallel(&self, name: &str) -> bool {
        self.servers.tools().iter().any(|tool| tool.name == name && tool.says_read_only)
    }

    fn call(self: Arc<Self>, invocation: Invocation) -> BoxFuture<ToolOutput> {
        Box::pin(self.run(invocation))
    }
}

/// How the servers stand, in lines.
pub(super) fn describe(servers: Option<&RemoteServers>) -> Vec<String> {
    let Some(servers) = servers else { return vec!["no MCP servers".to_owned()] };
    let tools = servers.tools();
    let line = |(name, state): (String, ServerState)| {
        let count = tools.iter().filter(|tool| tool.server == name).count();
        match state {
            ServerState::Starting => format!("{name}  starting"),
            ServerState::Ready => format!("{name}  ready, {count} tools"),
            ServerState::Down(why) => format!("{name}  being started again: {why}"),
            ServerState::Failed(why) => format!("{name}  not running: {why}"),
        }
    };
    servers.states().into_iter().map(line).collect()
}
