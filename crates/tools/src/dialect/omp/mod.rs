//! The dialect `omp`: `bash` with jobs that it moves to the background by itself, `job`, and `recipe`.

mod bash;
mod cd;
mod files;
mod job;
mod recipe;
mod result;
mod settings;
mod urls;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use umbo_engine::{End, JobHandle, Outcome, Summary};
use umbo_ops::{Call, Caller, ErrorCode, JobLog, first_line, outlasted};
use umbo_view::{Budget, Reader, Shape, View, ViewOptions};

use super::kept_text::KeptText;
use super::{Dialect, Registered, SecretsFile};
use crate::answer::ToolError;
use crate::completed::Completed;
use crate::denied::with_denials;
use crate::schema::Problem;
use crate::tool::{Annotations, Tool};

use result::{Async, AsyncState, JobState, Output};
use settings::OmpSettings;

pub(super) const REGISTERED: Registered = Registered {
    name: "omp",
    job_id: Omp::job_id,
    settings: settings::SETTINGS,
    secrets: &[
        SecretsFile::Home(".omp/agent/secrets.yml"),
        SecretsFile::Directory(".omp/secrets.yml"),
    ],
    open: |host| {
        let settings = OmpSettings::new(host.settings, host.longest_wait);
        let (has_terminal, beside) = (host.has_terminal, host.beside.to_vec());
        let state = State { settings, has_terminal, beside };
        Box::new(Omp { state: Arc::new(state) })
    },
};

/// The mark of this dialect's jobs.
const MARK: &str = "bg_";
/// The label of a job that has its timeout, in seconds.
const TIMEOUT: &str = "timeout";
/// How much text a result has at most. Lines and tokens are not counted in this contract.
const MOST_BYTES: u64 = 50 * 1024;
/// How much of it a job that ended unseen is told with; `job` has the rest.
const MOST_TOLD_BYTES: usize = 2000;
/// Jobs that ended are known for so many seconds.
const RETENTION_SECS: u64 = 300;

/// The dialect.
#[derive(Debug)]
struct Omp {
    state: Arc<State>,
}

/// What its tools share.
#[derive(Debug)]
struct State {
    settings: OmpSettings,
    /// Whether a person sits at the terminal that `pty` asks for.
    has_terminal: bool,
    /// Names of tools that the caller has from elsewhere.
    beside: Vec<String>,
}

impl Dialect for Omp {
    fn name(&self) -> &'static str {
        REGISTERED.name
    }

    /// What the settings turn off is left out, and the rest says how it is set.
    fn tools(&self) -> Vec<Tool> {
        let (state, settings) = (&self.state, &self.state.settings);
        let mut bash = Tool::with_state(state, "bash", include_str!("bash.md"), bash::run)
            .serial()
            .attending();
        describe_bash(&mut bash, settings);
        let mut tools = vec![bash];
        if settings.has_jobs() {
            let words = spoken(include_str!("job.md"), settings.poll_wait);
            let hints = Annotations { idempotent_hint: false, ..Annotations::STOPS };
            tools.push(Tool::with_state(state, "job", &words, job::run).hints(hints));
        }
        if settings.recipe {
            let words = include_str!("recipe.md");
            tools.push(Tool::with_state(state, recipe::NAME, words, recipe::run).serial());
        }
        tools.extend(files::tools());
        tools
    }

    fn arrange(&self, tools: &mut Vec<Tool>, caller: &Caller) {
        recipe::arrange(tools, caller);
    }

    fn prefers_bash(&self) -> bool {
        true
    }

    fn refuse(&self, tool: &Tool, problem: &Problem) -> ToolError {
        let is_off = !self.state.settings.async_enabled;
        if is_off && tool.name == "bash" && problem.field == "async" {
            return error("Async bash execution is disabled. Set async.enabled to use it.");
        }
        error(problem.to_string())
    }

    /// An error is thrown there, and has no details.
    fn shape(&self, error: &ToolError) -> Value {
        result::thrown(&error.message)
    }

    /// The update that its call would have had.
    fn completed(&self, call: &Call<'_>, summary: &Summary) -> Option<Completed> {
        let job = call.caller.backend.job(summary.job.as_str()).ok()?;
        let snapshot = job::Snapshot::of(call, &job, summary, MOST_BYTES).ok()?;
        let said = snapshot.said();
        let state = match snapshot.status {
            JobState::Completed => AsyncState::Completed,
            _ => AsyncState::Failed,
        };
        let id = summary.name.clone().unwrap_or_default();
        let details = json!({"async": Async::new(state, &id)});
        let line = format!("background job {id} {}: {}", snapshot.status.as_str(), snapshot.label);
        let sentence = format!("{line}\n{}", last_bytes(said, MOST_TOLD_BYTES));
        Some(Completed::new(summary, &Output::new(said, details), sentence))
    }
}

fn describe_bash(bash: &mut Tool, settings: &OmpSettings) {
    for (is_on, words) in [
        (settings.async_enabled, include_str!("bash_async.md")),
        (settings.auto_background, include_str!("bash_auto_background.md")),
        (settings.has_jobs(), include_str!("bash_job.md")),
    ] {
        if is_on {
            bash.description.push(' ');
            bash.description.push_str(&spoken(words, settings.auto_background_threshold));
        }
    }
    let fields = bash.input_schema["properties"].as_object_mut();
    if let Some(fields) = fields.filter(|_| !settings.async_enabled) {
        fields.remove("async");
    }
}

fn spoken(words: &str, span: Duration) -> String {
    words.trim().replace("{seconds}", &span.as_secs_f64().to_string())
}

fn error(text: impl Into<String>) -> ToolError {
    ToolError::new(ErrorCode::ToolError, text)
}

/// The jobs there are, oldest first: what goes on without its call, or did not long ago.
fn jobs(call: &Call<'_>) -> Result<Vec<Summary>, ToolError> {
    Ok(call.own(RETENTION_SECS, usize::MAX, outlasted)?)
}

/// The end of what a job wrote, or of the first lines of it, in so many bytes at most. No line is cut
/// that fits.
fn view(
    call: &Call<'_>,
    job: &JobHandle,
    head: Option<u64>,
    bytes: u64,
) -> Result<View, ToolError> {
    let bytes = bytes.min(call.budget(None).bytes);
    let budget = Budget { bytes, tokens: u64::MAX, lines: u64::MAX, line_bytes: u64::MAX };
    let mut reader = Reader::new(KeptText(JobLog::open(job)?)).mask(&call.caller.masker);
    if let Some(lines) = head {
        let next = lines.saturating_add(1);
        let end = reader.lines(next..=next, &budget)?.offset.start;
        reader = reader.offsets(0..end);
    }
    let (shape, minimize) = (Shape::Tail, call.caller.minimize);
    Ok(reader.view(&ViewOptions { budget, shape, minimize, ..ViewOptions::default() })?)
}

/// What a command that ended has to say: its text, or the text it fails with.
fn ending(
    call: &Call<'_>,
    job: &JobHandle,
    outcome: &Outcome,
    output: &str,
) -> Result<String, String> {
    let output = output.trim_end();
    let output = if output.is_empty() { "(no output)" } else { output };
    let output = with_denials(output.to_owned(), outcome);
    let output = output.trim_end();
    let failure = match &outcome.end {
        End::Exited { code: 0 } => return Ok(output.to_owned()),
        End::Exited { code } => format!("Command exited with code {code}"),
        End::Signaled { signal, .. } => format!("Command exited with code {}", 128 + signal),
        End::TimedOut { after_ms, .. } => {
            let summary = job.summary();
            let given = summary.as_ref().and_then(|summary| summary.labels.get(TIMEOUT));
            let seconds = given.cloned().unwrap_or_else(|| (after_ms / 1000).to_string());
            format!("Command timed out after {seconds} seconds")
        }
        End::Stopped { .. } if call.ticket.is_cancelled() => "Command aborted".to_owned(),
        End::Stopped { .. } => "Command cancelled".to_owned(),
        End::FailedToStart { why } => format!("Command failed: {why}"),
        End::Lost { .. } => "Command failed: missing exit status".to_owned(),
    };
    Err(format!("{output}\n\n{failure}"))
}

/// The last lines of a text, in so many bytes at most.
fn last_bytes(text: &str, most: usize) -> String {
    let start = text.ceil_char_boundary(text.len().saturating_sub(most));
    match text[start..].split_once('\n') {
        Some((_, rest)) if start > 0 => format!("…\n{rest}"),
        _ => text[start..].to_owned(),
    }
}

/// Where all that a job wrote is.
fn artifact(job: &JobHandle) -> String {
    format!("Full: artifact://{}", job.id())
}

/// What a job is called in lists: its command, on one line.
fn label(command: &str) -> String {
    first_line(command)
}
