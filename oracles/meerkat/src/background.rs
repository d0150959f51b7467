//! Jobs in the background: started, looked at until they end, cancelled.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use meerkat_core::SessionId;
use meerkat_jobs::SqliteDetachedJobStore;
use meerkat_runtime::RuntimeOpsLifecycleRegistry;
use meerkat_store::FsBlobStore;
use meerkat_tools::builtin::BuiltinTool;
use meerkat_tools::builtin::shell::{
    DurableShellJobRuntime, JobManager, ShellConfig, ShellJobCancelTool, ShellJobDeliveryProjector,
    ShellJobStatusTool, ShellJobsListTool, ShellTool,
};
use serde_json::{Value, json};

/// How long a job may take.
const DEADLINE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

/// A command, and whether it is cancelled when the file `ready` is there.
pub(crate) struct Case {
    pub(crate) arguments: Value,
    is_cancelled: bool,
}

pub(crate) fn cases() -> Vec<Case> {
    let run = |arguments| Case { arguments, is_cancelled: false };
    let mut cases: Vec<Case> = [0, 1, 7, 255]
        .map(|code| run(json!({"command": format!("echo out; echo err >&2; exit {code}")})))
        .into();
    for line in ["sleep 0.3; echo late", "seq 1 500", "kill -9 $$", "no-such-command-at-all", "pwd"]
    {
        cases.push(run(json!({"command": line})));
    }
    cases.push(run(json!({"command": "pwd", "working_dir": "sub"})));
    cases.push(run(json!({"command": "echo a; sleep 30", "timeout_secs": 1})));
    for place in ["..", "nowhere"] {
        cases.push(run(json!({"command": "pwd", "working_dir": place})));
    }
    for line in ["touch ready; sleep 99", "trap '' TERM; touch ready; while :; do sleep 1; done"] {
        cases.push(Case { arguments: json!({"command": line}), is_cancelled: true });
    }
    for case in &mut cases {
        case.arguments["background"] = json!(true);
    }
    cases
}

/// What calls the tools of a dialect: a name and arguments, for a result or an error.
pub(crate) type Tools<'a> = dyn Fn(&str, Value) -> Result<Value, Box<dyn Error>> + 'a;

/// What came of a job, as far as it can be compared.
pub(crate) fn run(case: &Case, root: &Path, call: &Tools<'_>) -> Result<Value, Box<dyn Error>> {
    let ready = root.join("ready");
    let _ = fs::remove_file(&ready);
    let started = call("shell", case.arguments.clone())?;
    let Some(id) = started["job_id"].as_str() else {
        return Ok(json!({"error": started["error"]}));
    };
    let is_listed =
        |listed: &Value| listed.as_array().is_some_and(|all| all.iter().any(|row| row["id"] == id));
    let listed = is_listed(&call("shell_jobs", json!({}))?);
    if case.is_cancelled {
        until(|| Ok(ready.exists().then_some(())))?;
        call("shell_job_cancel", json!({"job_id": id}))?;
    }
    let ended = until(|| {
        let job = call("shell_job_status", json!({"job_id": id}))?;
        Ok((job["status"]["status"] != "running").then_some(job))
    })?;
    let again = call("shell_job_cancel", json!({"job_id": id}))?;
    let mut status = ended["status"].clone();
    if let Some(fields) = status.as_object_mut() {
        fields.remove("duration_secs");
    }
    Ok(json!({
        "is_listed": listed,
        "command": ended["command"],
        "timeout_secs": ended["timeout_secs"],
        "status": status,
        "cancel_again_fails": !again["error"].is_null(),
    }))
}

fn until<T>(
    mut look: impl FnMut() -> Result<Option<T>, Box<dyn Error>>,
) -> Result<T, Box<dyn Error>> {
    let started = Instant::now();
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        if started.elapsed() > DEADLINE {
            return Err("it took too long".into());
        }
        thread::sleep(PAUSE);
    }
}

/// What is told when a job starts.
pub(crate) fn receipt(call: &Tools<'_>) -> Result<Value, Box<dyn Error>> {
    let started = call("shell", json!({"command": "true", "background": true}))?;
    Ok(json!({"status": started["status"], "message": started["message"]}))
}

/// The host's own tools, with all that background jobs need there.
pub(crate) fn host_tools(
    config: ShellConfig,
    home: &Path,
) -> Result<Vec<Box<dyn BuiltinTool>>, Box<dyn Error>> {
    let session = SessionId::new();
    let durable = DurableShellJobRuntime::new(
        "oracle",
        session.clone(),
        Arc::new(SqliteDetachedJobStore::open(home.join("jobs.db"))?),
        Arc::new(FsBlobStore::new(home.join("blobs"))),
        Arc::new(Undelivered),
    )?;
    let manager = JobManager::new(config.clone())
        .bind_canonical_async_ops(session, Arc::new(RuntimeOpsLifecycleRegistry::new()))
        .with_durable_job_runtime(durable);
    let manager = Arc::new(manager);
    Ok(vec![
        Box::new(ShellTool::with_job_manager(config, Arc::clone(&manager))),
        Box::new(ShellJobStatusTool::new(Arc::clone(&manager))),
        Box::new(ShellJobsListTool::new(Arc::clone(&manager))),
        Box::new(ShellJobCancelTool::new(manager)),
    ])
}

/// Nobody is notified: the oracle looks itself.
struct Undelivered;

#[async_trait::async_trait]
impl ShellJobDeliveryProjector for Undelivered {
    async fn project_job(&self, _job: &str) -> Result<(), String> {
        Ok(())
    }
}
