//! Umbo's shell tools for agents built with Meerkat, in place of its own shell.
//!
//! The tools keep Meerkat's names and results. What runs in the background are jobs of Umbo: they
//! outlive the agent, and an agent that resumes its session is told of those that ended meanwhile.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! umbo_meerkat::init(); // first in main: this program supervises its jobs itself
//! let tools = Arc::new(umbo_meerkat::ShellTools::open("/var/lib/my-agent/umbo", ".")?);
//! // AgentBuilder::new().build(client, tools, store)
//! # Ok(())
//! # }
//! ```

mod operations;
mod thread;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use meerkat_core::agent::{BindOutcome, DispatcherCapabilities, OpsLifecycleBindError};
use meerkat_core::completion_feed::CompletionEnrichmentProvider;
use meerkat_core::ops_lifecycle::OpsLifecycleRegistry;
use meerkat_core::{
    AgentToolDispatcher, SessionId, ToolCallView, ToolDef, ToolDispatchOutcome, ToolError,
    ToolMutationClass, ToolResult,
};
use serde_json::Value;
use umbo_engine::Engine;
use umbo_tools::dialect::meerkat::Meerkat;
use umbo_tools::{Caller, CallerBuilder, ErrorCode, Owner, Ticket, Toolset};

use operations::Operations;
use thread::{CancelOnDrop, on_thread};

pub use umbo_engine::init;
pub use umbo_tools::dialect::meerkat::ShellConfig;

/// Why there are no tools.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The state directory cannot be used, or nobody supervises.
    #[error(transparent)]
    Engine(#[from] umbo_engine::Error),
    /// The tools cannot be made.
    #[error(transparent)]
    Tools(#[from] umbo_tools::BuildError),
}

/// Makes the caller whose jobs are to be started, once for each session.
type MakeCaller = dyn Fn() -> CallerBuilder + Send + Sync;

/// The tools of one agent. Bound to its session, they report their background jobs as operations.
pub struct ShellTools {
    make_caller: Arc<MakeCaller>,
    config: ShellConfig,
    project: PathBuf,
    tools: Arc<Toolset>,
    definitions: Arc<[Arc<ToolDef>]>,
    operations: Option<Arc<Operations>>,
}

impl ShellTools {
    /// Tools with their jobs in a state directory, for a project, with the environment of this
    /// process and Meerkat's defaults, but with the shell `sh`. Jobs are supervised by this program
    /// if it called [`init`], else by the `umbo` in the search path.
    pub fn open(state: impl Into<PathBuf>, project: impl Into<PathBuf>) -> Result<Self, OpenError> {
        let state = state.into();
        let engine = match Engine::builder(&state).open() {
            Err(umbo_engine::Error::NotInitialised) => {
                Engine::builder(&state).supervisor_on_path("umbo").open()
            }
            opened => opened,
        }?;
        let config =
            ShellConfig { enabled: true, shell: "sh".to_owned(), ..ShellConfig::default() };
        let make = move || Caller::builder(engine.clone()).environment(std::env::vars_os());
        Self::new(make, project, config)
    }

    /// Tools with the settings of Meerkat, for callers that are made by hand: another environment, a
    /// gate, a sandbox. Whose their jobs are is said here.
    pub fn new(
        make_caller: impl Fn() -> CallerBuilder + Send + Sync + 'static,
        project: impl Into<PathBuf>,
        config: ShellConfig,
    ) -> Result<Self, OpenError> {
        let make_caller: Arc<MakeCaller> = Arc::new(make_caller);
        let project = project.into();
        let tools = toolset(&*make_caller, &project, &config, Owner::Fresh)?;
        let definitions = tools.tools().iter().map(|tool| {
            let schema = tool.input_schema.clone();
            Arc::new(ToolDef::new(tool.name, tool.description.clone(), schema))
        });
        let definitions = definitions.collect();
        Ok(Self {
            make_caller,
            config,
            project,
            tools: Arc::new(tools),
            definitions,
            operations: None,
        })
    }

    /// Calls a tool: its result, or the error that the agent is told.
    async fn call(
        &self,
        name: &str,
        arguments: Value,
    ) -> Result<umbo_tools::ToolResult, ToolError> {
        let ticket = Ticket::default();
        let guard = CancelOnDrop::new(ticket.clone());
        let (tools, tool) = (Arc::clone(&self.tools), name.to_owned());
        let result = on_thread(move || tools.call(&tool, arguments, &ticket)).await;
        guard.disarm();
        let result =
            result.ok_or_else(|| ToolError::execution_failed("no thread could be started"))?;
        match result.error {
            None => Ok(result),
            Some(ErrorCode::UnknownTool) => Err(ToolError::not_found(name)),
            Some(ErrorCode::InvalidArguments) => {
                Err(ToolError::invalid_arguments(name, result.text))
            }
            Some(_) => Err(ToolError::execution_failed_with_data(result.text, result.structured)),
        }
    }
}

/// The tools of a caller.
fn toolset(
    make_caller: &MakeCaller,
    project: &std::path::Path,
    config: &ShellConfig,
    owner: Owner,
) -> Result<Toolset, umbo_tools::BuildError> {
    let caller = make_caller().directory(project).owner(owner);
    let dialect = Meerkat::new(config.clone(), Some(project.to_owned()));
    Toolset::builder(caller).with_dialect(dialect).build()
}

#[async_trait]
impl AgentToolDispatcher for ShellTools {
    fn tools(&self) -> Arc<[Arc<ToolDef>]> {
        Arc::clone(&self.definitions)
    }

    fn tool_mutation_class(&self, tool_name: &str) -> ToolMutationClass {
        match self.tools.tool(tool_name) {
            Some(tool) if tool.annotations.read_only_hint => ToolMutationClass::ReadOnly,
            Some(_) => ToolMutationClass::Mutating,
            None => ToolMutationClass::Unknown,
        }
    }

    fn capabilities(&self) -> DispatcherCapabilities {
        DispatcherCapabilities { ops_lifecycle: true }
    }

    /// The same tools for a session: their jobs are its own, now and when it is resumed.
    fn bind_ops_lifecycle(
        self: Arc<Self>,
        registry: Arc<dyn OpsLifecycleRegistry>,
        owner_bridge_session_id: SessionId,
    ) -> Result<BindOutcome, OpsLifecycleBindError> {
        let owner = Owner::Named(format!("meerkat {owner_bridge_session_id}"));
        let tools = toolset(&*self.make_caller, &self.project, &self.config, owner)
            .map_err(|_| OpsLifecycleBindError::Unsupported)?;
        let tools = Arc::new(tools);
        let operations =
            Arc::new(Operations::new(&registry, owner_bridge_session_id, Arc::clone(&tools)));
        operations.resume();
        Ok(BindOutcome::Bound(Arc::new(Self {
            make_caller: Arc::clone(&self.make_caller),
            config: self.config.clone(),
            project: self.project.clone(),
            tools,
            definitions: Arc::clone(&self.definitions),
            operations: Some(operations),
        })))
    }

    fn completion_enrichment(&self) -> Option<Arc<dyn CompletionEnrichmentProvider>> {
        let operations = Arc::clone(self.operations.as_ref()?);
        Some(operations)
    }

    async fn dispatch(&self, call: ToolCallView<'_>) -> Result<ToolDispatchOutcome, ToolError> {
        let arguments: Value = call
            .parse_args()
            .map_err(|error| ToolError::invalid_arguments(call.name, error.to_string()))?;
        let is_background = call.name == "shell" && arguments["background"] == true;
        let Some(operations) = self.operations.as_ref().filter(|_| is_background) else {
            let result = self.call(call.name, arguments).await?;
            let text = result.structured.to_string();
            return Ok(ToolResult::new(call.id.to_owned(), text, false).into());
        };
        let command = arguments["command"].as_str().unwrap_or_default().to_owned();
        let operation = operations.register(&command)?;
        let result = match self.call(call.name, arguments).await {
            Ok(result) => result,
            Err(error) => {
                operations.forget(&operation);
                return Err(error);
            }
        };
        let job = result.structured["job_id"].as_str().unwrap_or_default();
        let reference = operations.follow(operation, job)?;
        let text = result.structured.to_string();
        let result = ToolResult::new(call.id.to_owned(), text, false);
        Ok(ToolDispatchOutcome::new(result, vec![reference], Vec::new()))
    }
}

impl std::fmt::Debug for ShellTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShellTools").field("project", &self.project).finish_non_exhaustive()
    }
}
