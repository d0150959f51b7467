//! Umbo's shell tools as a plugin of lash, in place of its own shell.
//!
//! The tools keep lash's names and results. What they start are jobs of Umbo: a background process
//! outlives the host, and a host that is started again waits for the same process and types into it,
//! instead of giving it up.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! umbo_lash::init(); // first in main: this program supervises its jobs itself
//! let plugin = Arc::new(umbo_lash::ShellPlugin::open("/var/lib/my-agent/umbo")?);
//! // LashCore::standard_builder().plugin(plugin)
//! # Ok(())
//! # }
//! ```

mod background;
mod definitions;
mod detached;
mod shell;
mod thread;

use std::path::PathBuf;
use std::sync::Arc;

use lash_core::plugin::{
    PluginError, PluginFactory, PluginSessionContext, PluginSpec, PluginSpecFactory, SessionPlugin,
};
use lash_core::{PromptContribution, SessionToolAccess, ToolProvider};
use lash_tool_support::StaticToolProvider;
use umbo_engine::Engine;
use umbo_tools::{Caller, CallerBuilder, Owner, Toolset};

use shell::Shell;

pub use umbo_engine::init;

/// Whose the jobs are. Lash's process ids are those of one registry, whatever session asks.
const OWNER: &str = "lash";

/// Why there is no plugin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The state directory cannot be used, or nobody supervises.
    #[error(transparent)]
    Engine(#[from] umbo_engine::Error),
    /// The tools cannot be made.
    #[error(transparent)]
    Tools(#[from] umbo_tools::BuildError),
    /// This process has no current directory.
    #[error("the current directory: {0}")]
    Directory(#[from] std::io::Error),
}

/// The plugin; its id is that of lash's own shell, so that only one of them can be installed.
#[derive(Clone)]
pub struct ShellPlugin {
    tools: Arc<Toolset>,
    wakes: bool,
}

impl ShellPlugin {
    /// The plugin with its jobs in a state directory, the current directory, and the environment of
    /// this process. Jobs are supervised by this program if it called [`init`], else by the `umbo`
    /// in the search path.
    pub fn open(state: impl Into<PathBuf>) -> Result<Self, OpenError> {
        let state = state.into();
        let engine = match Engine::builder(&state).open() {
            Err(umbo_engine::Error::NotInitialised) => {
                Engine::builder(&state).supervisor_on_path("umbo").open()
            }
            opened => opened,
        }?;
        let caller = Caller::builder(engine)
            .directory(std::env::current_dir()?)
            .environment(std::env::vars_os());
        Self::new(caller)
    }

    /// The plugin for a caller that was made by hand: another directory or environment, a gate, a
    /// sandbox.
    pub fn new(caller: CallerBuilder) -> Result<Self, OpenError> {
        let caller = caller.owner(Owner::Named(OWNER.to_owned()));
        // Which calls overlap is for lash to say.
        let tools = Toolset::builder(caller).dialect("lash").parallel().build()?;
        Ok(Self { tools: Arc::new(tools), wakes: true })
    }

    /// The same, without a message to the session when a background process ends: as lash's own shell.
    #[must_use]
    pub fn without_wake(mut self) -> Self {
        self.wakes = false;
        self
    }

    /// The tools alone, for a host that installs providers itself.
    pub fn provider(&self) -> Arc<dyn ToolProvider> {
        let shell = Shell { tools: Arc::clone(&self.tools), wakes: self.wakes };
        Arc::new(StaticToolProvider::new(definitions::all(&self.tools), shell))
    }

    /// What is said of the tools in the prompt of a session.
    fn guidance(access: &SessionToolAccess) -> Vec<PromptContribution> {
        let is_callable = |name: &str| {
            !access.hides(name)
                && (access.tools.is_empty() || access.tools.iter().any(|tool| tool.name() == name))
        };
        let mut execution = include_str!("guidance.md").trim().to_owned();
        if is_callable("write_stdin") {
            execution.push_str(" Type into a running process with `write_stdin`.");
        }
        vec![
            PromptContribution::guidance("Command Execution", execution),
            PromptContribution::guidance(
                "Git Safety",
                "No destructive git commands unless they were asked for.",
            ),
        ]
    }
}

impl PluginFactory for ShellPlugin {
    fn id(&self) -> &'static str {
        "shell"
    }

    fn build(&self, context: &PluginSessionContext) -> Result<Arc<dyn SessionPlugin>, PluginError> {
        let provider = self.provider();
        let guidance = Self::guidance(&context.tool_access);
        let spec = move |_: &PluginSessionContext| {
            let guidance = guidance.clone();
            let contribute = move |_| {
                let guidance = guidance.clone();
                Box::pin(async move { Ok(guidance) }) as _
            };
            Ok(PluginSpec::new()
                .with_tool_provider(Arc::clone(&provider))
                .with_prompt_contributor(Arc::new(contribute)))
        };
        PluginSpecFactory::new("shell", Arc::new(spec)).build(context)
    }
}

impl std::fmt::Debug for ShellPlugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShellPlugin").field("wakes", &self.wakes).finish_non_exhaustive()
    }
}
