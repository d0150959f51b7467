//! Calls of running commands that their sandboxes hold until somebody answers: listed by `umbo approvals`,
//! answered by `umbo approve` and `umbo deny`. Their ids have a `#`: the job's, and a number.

use serde::Serialize;
use umbo_engine::sandbox::{Decision, Grant, Operation, Question};
use umbo_engine::{JobHandle, Scope, Status};
use umbo_gate::Event;

use crate::config::edit;
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;

/// A call that is held.
pub(crate) struct HeldCall {
    job: JobHandle,
    pub(crate) command: String,
    pub(crate) cwd: String,
    pub(crate) question: Question,
}

/// The same for programs.
#[derive(Serialize)]
pub(crate) struct Shown<'a> {
    id: String,
    state: &'static str,
    operation: Operation,
    target: &'a str,
    program: &'a str,
    command: &'a str,
    cwd: &'a str,
    left_ms: u64,
    grants: &'a [Grant],
}

impl HeldCall {
    pub(crate) fn id(&self) -> String {
        format!("{}#{}", self.job.id(), self.question.number)
    }

    /// The same with the short name of its job.
    pub(crate) fn short_id(&self) -> String {
        format!("{}#{}", self.job.id().short(), self.question.number)
    }

    /// What is wanted, in words.
    pub(crate) fn wants(&self) -> String {
        format!("{} {}", self.question.operation.name(), self.question.target)
    }

    pub(crate) fn shown(&self) -> Shown<'_> {
        Shown {
            id: self.id(),
            state: "held",
            operation: self.question.operation,
            target: &self.question.target,
            program: &self.question.program,
            command: &self.command,
            cwd: &self.cwd,
            left_ms: self.question.left_ms,
            grants: &self.question.grants,
        }
    }

    /// Answers it, and records that.
    pub(crate) fn decide(&self, context: &Context, decision: Decision) -> Result<(), Failure> {
        let answer = match &decision {
            Decision::Allow(grant) => format!("allow {}: {grant}", self.wants()),
            Decision::Deny => format!("deny {}", self.wants()),
        };
        self.job.decide(self.question.number, decision)?;
        let event = Event::Answer { approval: self.id(), answer, by: gate::person() };
        gate::paths(context)?.audit()?.append(&event, umbo_ops::now())?;
        Ok(())
    }

    /// The grant that the words of an answer mean: for this time, or for as long as the command runs; and of
    /// a path that alone, or all beside it.
    pub(crate) fn grant(&self, lasts: &str, beside: bool) -> Result<Grant, Failure> {
        let wanted = |grant: &&Grant| match grant {
            Grant::Once => lasts == "once" && !beside,
            Grant::Path(_) | Grant::Host(_) => lasts != "once" && !beside,
            Grant::Directory(_) => beside,
        };
        if !["once", "run", "always"].contains(&lasts) {
            return Err(Failure::invalid("--for", "a held call is allowed once, run or always"));
        }
        let grant = self.question.grants.iter().find(wanted).cloned();
        grant.ok_or_else(|| Failure::invalid("--prefix", "there is no directory to allow"))
    }
}

/// The user's settings with a grant in them, for every sandbox to come; and the setting that has it.
pub(crate) fn kept(grant: &Grant, text: &str) -> Result<Option<(String, String)>, Failure> {
    let (key, value) = match grant {
        Grant::Path(path) | Grant::Directory(path) => ("allow_write", path.display().to_string()),
        Grant::Host(host) => ("allow_host", host.clone()),
        Grant::Once => return Ok(None),
    };
    let mut list: toml_edit::Array = toml_edit::Document::parse(text)
        .map_err(Failure::new)?
        .get("sandbox")
        .and_then(|table| table.as_table_like()?.get(key)?.as_array().cloned())
        .unwrap_or_default();
    if !list.iter().any(|known| known.as_str() == Some(value.as_str())) {
        list.push(value.as_str());
    }
    let changed = edit::set(text, &["sandbox", key], &list.into()).map_err(Failure::new)?;
    Ok(Some((changed, format!("sandbox.{key} has {value} now"))))
}

/// All calls that are held now.
pub(crate) fn list(context: &Context) -> Result<Vec<HeldCall>, Failure> {
    let mut held = Vec::new();
    for summary in context.backend.jobs(Scope::Recent)? {
        if !matches!(summary.status, Status::Started { .. }) {
            continue;
        }
        // One that ends meanwhile has no question any more.
        let Ok(job) = context.backend.job(summary.job.as_str()) else { continue };
        for question in job.questions().unwrap_or_default() {
            let (command, cwd) = (summary.command.clone(), summary.cwd.clone());
            held.push(HeldCall { job: job.clone(), command, cwd, question });
        }
    }
    Ok(held)
}

/// The call with an id, if the id is one of a call.
pub(crate) fn find(context: &Context, id: &str) -> Result<Option<HeldCall>, Failure> {
    let Some((job, number)) = id.split_once('#') else { return Ok(None) };
    let job = context.backend.job(job)?;
    let question = job.questions()?.into_iter().find(|one| one.number.to_string() == number);
    let question = question.ok_or_else(|| {
        Failure::new(format!("no call waits for an answer to {id}: it was answered, or is over"))
    })?;
    let summary = job.summary();
    let (command, cwd) = summary.map(|all| (all.command, all.cwd)).unwrap_or_default();
    Ok(Some(HeldCall { job, command, cwd, question }))
}
