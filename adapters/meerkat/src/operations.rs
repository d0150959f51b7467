//! Background jobs as operations of Meerkat: registered when they start, completed when they end, so
//! that the registry tells the agent at the border of its next turn, and wakes it where it can.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use meerkat_core::completion_feed::{
    CompletionEnrichment, CompletionEnrichmentData, CompletionEnrichmentProvider,
};
use meerkat_core::ops::{AsyncOpRef, OperationId, OperationResult, WaitPolicy};
use meerkat_core::ops_lifecycle::{
    OperationKind, OperationSpec, OpsLifecycleError, OpsLifecycleRegistry,
};
use meerkat_core::{SessionId, ToolError};
use umbo_engine::{Condition, Met};
use umbo_tools::Toolset;
use umbo_tools::dialect::meerkat::{JobId, JobManager, JobStatus};

/// How often a job that is waited for looks whether its session still exists.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// How much of the end of a job's output the agent is told unasked.
const TOLD_CHARACTERS: usize = 2000;

/// The background jobs of one session.
pub(crate) struct Operations {
    /// The session owns its registry; jobs outlive both.
    registry: Weak<dyn OpsLifecycleRegistry>,
    session: SessionId,
    tools: Arc<Toolset>,
    told: Arc<Mutex<HashMap<OperationId, CompletionEnrichmentData>>>,
}

impl Operations {
    pub(crate) fn new(
        registry: &Arc<dyn OpsLifecycleRegistry>,
        session: SessionId,
        tools: Arc<Toolset>,
    ) -> Self {
        Self { registry: Arc::downgrade(registry), session, tools, told: Arc::default() }
    }

    /// Takes up what an earlier agent of this session left: jobs that ended since are told, and the
    /// end of those that run will be.
    pub(crate) fn resume(&self) {
        let Some(manager) = JobManager::of(&self.tools) else { return };
        for ended in manager.drain_completed() {
            if let Ok(operation) = self.register(&ended.command) {
                self.tell(&operation, &ended.job_id, &ended.result);
            }
        }
        let running = manager.list_jobs().unwrap_or_default();
        for job in running.iter().filter(|job| job.status == "running") {
            if let Ok(operation) = self.register(&job.command) {
                let _ = self.follow(operation, &job.id.0);
            }
        }
    }

    /// An operation for a command that is about to start.
    pub(crate) fn register(&self, command: &str) -> Result<OperationId, ToolError> {
        let registry = self.registry()?;
        let id = OperationId::new();
        let spec = OperationSpec {
            id: id.clone(),
            kind: OperationKind::BackgroundToolOp,
            owner_session_id: self.session.clone(),
            display_name: command.to_owned(),
            source_label: "umbo".to_owned(),
            operation_source: None,
            child_session_id: None,
            expect_peer_channel: false,
        };
        registry.register_operation(spec).map_err(failed)?;
        registry.provisioning_succeeded(&id).map_err(failed)?;
        Ok(id)
    }

    /// Nothing came of it, and the agent knows.
    pub(crate) fn forget(&self, operation: &OperationId) {
        if let Ok(registry) = self.registry() {
            let _ = registry.rollback_unreturned_operation(operation);
        }
    }

    /// Completes an operation when its job ends.
    pub(crate) fn follow(
        &self,
        operation: OperationId,
        job: &str,
    ) -> Result<AsyncOpRef, ToolError> {
        let followed = Self {
            registry: Weak::clone(&self.registry),
            session: self.session.clone(),
            tools: Arc::clone(&self.tools),
            told: Arc::clone(&self.told),
        };
        let (id, job) = (operation.clone(), JobId(job.to_owned()));
        let thread = std::thread::Builder::new().name("umbo-wait".to_owned());
        let spawned = thread.spawn(move || followed.wait(&id, &job));
        spawned.map_err(|error| ToolError::execution_failed(error.to_string()))?;
        Ok(AsyncOpRef { operation_id: operation, wait_policy: WaitPolicy::Detached })
    }

    fn wait(&self, operation: &OperationId, id: &JobId) {
        let name = id.0.trim_start_matches("job_");
        let Ok(job) = self.tools.backend.job(name) else { return };
        while self.registry.strong_count() > 0 {
            match job.wait(&[Condition::Exit], Some(LOOK_INTERVAL)) {
                Ok(Met::Deadline) => continue,
                Ok(_) => {}
                Err(_) => return,
            }
            let Some(manager) = JobManager::of(&self.tools) else { return };
            if let Some(ended) = manager.get_status(id)
                && self.tell(operation, id, &ended.status)
            {
                // Each job that runs has somebody who tells its end: what is drained here has been
                // told, or is about to be. It must not be told again when the session resumes.
                manager.drain_completed();
            }
            return;
        }
    }

    /// Completes an operation with what its job ended with. Whether there was anybody to be told.
    fn tell(&self, operation: &OperationId, job: &JobId, status: &JobStatus) -> bool {
        let Some(registry) = self.registry.upgrade() else { return false };
        let (detail, seconds) = detail(status);
        let data = CompletionEnrichmentData { job_id: job.to_string(), detail: detail.clone() };
        self.told().insert(operation.clone(), data);
        let completed = match status {
            JobStatus::Completed { .. } | JobStatus::Running { .. } => {
                let duration = Duration::try_from_secs_f64(seconds).unwrap_or_default();
                let result = OperationResult {
                    id: operation.clone(),
                    content: detail,
                    is_error: false,
                    duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
                    tokens_used: 0,
                };
                registry.complete_operation(operation, result)
            }
            JobStatus::Failed { .. } | JobStatus::TimedOut { .. } => {
                registry.fail_operation(operation, detail)
            }
            JobStatus::Cancelled { .. } => registry.cancel_operation(operation, Some(detail)),
        };
        completed.is_ok()
    }

    fn registry(&self) -> Result<Arc<dyn OpsLifecycleRegistry>, ToolError> {
        let gone = || ToolError::execution_failed("the session of these tools is over");
        self.registry.upgrade().ok_or_else(gone)
    }

    fn told(&self) -> MutexGuard<'_, HashMap<OperationId, CompletionEnrichmentData>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CompletionEnrichmentProvider for Operations {
    fn enrich(&self, operation_id: &OperationId) -> CompletionEnrichment {
        match self.told().get(operation_id) {
            Some(data) => CompletionEnrichment::Found(data.clone()),
            None => CompletionEnrichment::Missing,
        }
    }
}

fn failed(error: OpsLifecycleError) -> ToolError {
    ToolError::execution_failed(error.to_string())
}

/// How a job ended, with the end of its output, and how long it took.
fn detail(status: &JobStatus) -> (String, f64) {
    match status {
        JobStatus::Running { .. } => ("it runs".to_owned(), 0.0),
        JobStatus::Completed { exit_code, stdout, stderr, duration_secs } => {
            let how = match exit_code {
                Some(code) => format!("exit code {code}"),
                None => "ended by a signal".to_owned(),
            };
            (with_output(how, *duration_secs, stdout, stderr), *duration_secs)
        }
        JobStatus::TimedOut { stdout, stderr, duration_secs } => {
            let how = "timed out".to_owned();
            (with_output(how, *duration_secs, stdout, stderr), *duration_secs)
        }
        JobStatus::Failed { error, duration_secs } => (error.clone(), *duration_secs),
        JobStatus::Cancelled { duration_secs } => {
            (format!("cancelled after {duration_secs:.1} s"), *duration_secs)
        }
    }
}

fn with_output(how: String, seconds: f64, stdout: &str, stderr: &str) -> String {
    let mut text = format!("{how} after {seconds:.1} s");
    for (name, output) in [("stdout", stdout), ("stderr", stderr)] {
        if !output.is_empty() {
            text.push_str(&format!("\n{name}: {}", tail(output)));
        }
    }
    text
}

fn tail(text: &str) -> &str {
    let text = text.trim_end();
    match text.char_indices().rev().nth(TOLD_CHARACTERS) {
        Some((at, _)) => &text[at..],
        None => text,
    }
}
