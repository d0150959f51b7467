//! `Bash`: a command in a fresh shell, or a task that goes on without its caller.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::json;
use umbo_engine::{Condition, End, Job, Ladder, OnDisconnect, Outcome, Stdin};
use umbo_view::mask::Masker;
use umbo_view::{Reader, ViewOptions};

use super::{DESCRIPTION, ended};
use umbo_ops::ErrorCode;

use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::{Call, Ran, millis, text};
use crate::tasks::{TaskSnapshot, TaskStatus};
use umbo_ops::JobLog;
use umbo_ops::label_wait;

const TIMEOUT_MS: f64 = 120_000.0;
/// More ends than this are not kept for an agent loop that may never drain them.
const UNDRAINED: usize = 1000;

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let line = arguments.text("command").unwrap_or_default();
    let description = arguments.text("description").unwrap_or_default();
    let mut task = TaskSnapshot::new(line, description);
    task.agent_id = call.tools.owner.clone().unwrap_or_default();
    let id = task.id.clone();
    let mut request = call.request(line, None);
    request.stdin = Stdin::None;
    request.name = Some(id.clone());
    if !description.is_empty() {
        request.labels.insert(DESCRIPTION.to_owned(), description.to_owned());
    }
    if arguments.flag("run_in_background") {
        label_wait(&mut request, Duration::ZERO);
        let job = call.start(&request)?;
        mirror(call, task, &job);
        let message = format!("Command running in background with task id: {id}");
        let value = json!({"task_id": id, "status": "running", "message": message});
        return Ok(Answer::new(value, message));
    }
    let timeout = millis(arguments.number("timeout").unwrap_or(TIMEOUT_MS));
    let wait = call.tools.longest_wait;
    label_wait(&mut request, wait);
    request.limits.wall = Some(timeout);
    request.on_disconnect = OnDisconnect::Stop;
    match call.run(&request, wait)? {
        Ran::Ended(job, outcome) => foreground(call, &job, &outcome, timeout),
        Ran::Running(_) if call.ticket.is_cancelled() => {
            Err(ToolError::new(ErrorCode::Cancelled, "the call was cancelled"))
        }
        Ran::Running(job) => {
            mirror(call, task, &job);
            let output = call.text(&job, None, call.budget(None))?;
            let message = format!(
                "Command still running after {} s, goes on in background with task id: {id}",
                wait.as_secs()
            );
            let text = format!("{output}{message}");
            let value = json!({
                "task_id": id, "status": "running", "message": message, "output": output,
            });
            Ok(Answer::new(value, text))
        }
    }
}

fn foreground(
    call: &Call<'_>,
    job: &Job,
    outcome: &Outcome,
    timeout: Duration,
) -> Result<Answer, ToolError> {
    let output = call.text(job, None, call.budget(None))?;
    let code = outcome.exit_code().unwrap_or(-1);
    let mut value = json!({"output": output, "exit_code": code});
    let failure = match &outcome.end {
        End::Exited { code: 0 } => return Ok(Answer::new(value, output)),
        End::TimedOut { .. } => format!("command timed out after {} ms", timeout.as_millis()),
        End::FailedToStart { why } => why.clone(),
        _ => format!("exit code {code}"),
    };
    value["message"] = json!(failure);
    let gap = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
    Err(ToolError::new(ErrorCode::CommandFailed, format!("{output}{gap}{failure}")).shaped(value))
}

/// Puts a task into the store, and completes it there when its job ends.
fn mirror(call: &Call<'_>, task: TaskSnapshot, job: &Job) {
    let store = call.tools.tasks().clone();
    let id = task.id.clone();
    let stopping = job.clone();
    let cancel = move || {
        // The climb takes its time; who stops a task does not wait for it.
        thread::spawn(move || stopping.stop(Ladder::default()));
    };
    let (news, ended_job) = (Arc::clone(&call.tools.completions), job.id().clone());
    store.add_until(task, cancel, move || news.told(&ended_job));
    let (job, masker) = (job.clone(), Arc::clone(&call.tools.masker));
    thread::spawn(move || {
        let is_over = job.wait(&[Condition::Exit], None).is_ok();
        let outcome = job.outcome().ok().flatten().filter(|_| is_over);
        let (status, code) = outcome.map_or((TaskStatus::Failed, -1), |outcome| ended(&outcome));
        store.complete(&id, status, code, output(&job, &masker).unwrap_or_default());
        store.keep(UNDRAINED);
    });
}

/// The output of a task as its snapshot keeps it.
fn output(job: &Job, masker: &Masker) -> Option<String> {
    let reader = Reader::new(JobLog::open(job).ok()?).mask(masker);
    Some(text(&reader.view(&ViewOptions::default()).ok()?))
}
