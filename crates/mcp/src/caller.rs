//! Who calls: a set of tools with its own jobs, and the calls of it that are in progress.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use rmcp::task_manager::TaskManager;
use umbo_tools::{ToolResult, Toolset};

use crate::calls::Calls;
use crate::http::callers::Callers;

/// One caller. What it started in the foreground ends with it.
pub(crate) struct Caller {
    pub(crate) tools: Arc<Toolset>,
    pub(crate) calls: Calls,
    /// Calls that became tasks.
    pub(crate) tasks: TaskManager,
    /// Answers to calls that their client gave up on, for the next result.
    unheard: Mutex<Vec<String>>,
}

/// As many answers to calls that were given up on are kept.
const MOST_UNHEARD: usize = 4;

impl Caller {
    pub(crate) fn new(tools: Toolset) -> Arc<Self> {
        let (calls, tasks) = (Calls::default(), TaskManager::new());
        Arc::new(Self { tools: Arc::new(tools), calls, tasks, unheard: Mutex::default() })
    }

    /// Keeps the answer to a call that its client gave up on.
    pub(crate) fn keep_answer(&self, result: &ToolResult) {
        let text = format!(
            "[umbo: your client gave up on an earlier call. What it started runs on. Its answer:]\n{}",
            result.text
        );
        let mut unheard = self.unheard();
        if unheard.len() == MOST_UNHEARD {
            unheard.remove(0);
        }
        unheard.push(text);
    }

    /// An answer, with what nobody heard yet.
    pub(crate) fn with_unheard(&self, mut answer: CallToolResult) -> CallToolResult {
        let unheard = std::mem::take(&mut *self.unheard());
        answer.content.extend(unheard.into_iter().map(ContentBlock::text));
        answer
    }

    fn unheard(&self) -> MutexGuard<'_, Vec<String>> {
        self.unheard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It is gone: what it waits for is stopped, and so is what it said is to end with it.
    /// Blocks until that is done.
    pub(crate) fn end(&self) {
        self.calls.cancel_all();
        self.tools.close();
    }
}

/// Which caller the requests of a connection are from. At a pipe there is one. Over HTTP a client that
/// begins with a handshake gets one of its own; requests without one share theirs by name.
pub(crate) struct CallerSlot {
    own: OnceLock<Arc<Caller>>,
    shared: Option<(Arc<Callers>, Option<String>)>,
}

impl CallerSlot {
    /// Filled: the one at the other end of a pipe.
    pub(crate) fn filled(caller: Arc<Caller>) -> Arc<Self> {
        Arc::new(Self { own: OnceLock::from(caller), shared: None })
    }

    /// Open: a client may fill it with a handshake, and goes by a name if it gives one.
    pub(crate) fn open(callers: Arc<Callers>, name: Option<String>) -> Arc<Self> {
        Arc::new(Self { own: OnceLock::new(), shared: Some((callers, name)) })
    }

    /// The handshake fills it.
    pub(crate) fn fill(&self) -> Result<(), ErrorData> {
        if let (None, Some((callers, name))) = (self.own.get(), &self.shared) {
            let _ = self.own.set(callers.fresh(name.as_deref()).map_err(cannot_make)?);
        }
        Ok(())
    }

    /// Whose requests these are.
    pub(crate) fn caller(&self) -> Result<Arc<Caller>, ErrorData> {
        match (self.own.get(), &self.shared) {
            (Some(caller), _) => Ok(Arc::clone(caller)),
            (None, Some((callers, name))) => callers.shared(name.as_deref()).map_err(cannot_make),
            (None, None) => Err(ErrorData::internal_error("nobody has called", None)),
        }
    }

    /// Who filled it, if somebody did.
    pub(crate) fn owner(&self) -> Option<Arc<Caller>> {
        self.own.get().cloned()
    }
}

fn cannot_make(why: String) -> ErrorData {
    ErrorData::internal_error(why, None)
}
