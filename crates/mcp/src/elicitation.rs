//! Approvals by the person in front of the client: the question as a form, and what the answer means.

use std::fmt::Write as _;
use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema,
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use umbo_tools::{
    AccessQuestion, AccessReply, Approver, Covers, Lasts, Question, Reply, ShownInput, Toolset,
    visible_line,
};

/// As much of a command as a form shows.
const LONGEST_SHOWN_BYTES: usize = 4000;

/// A question on its way from the thread of a call, which waits for the answer.
pub(crate) enum Asked {
    /// May a command run?
    Command { question: Box<Question>, answer: oneshot::Sender<Option<Reply>> },
    /// May a command that runs touch something?
    Access { question: AccessQuestion, answer: oneshot::Sender<Option<AccessReply>> },
}

/// Where a call leaves its questions.
pub(crate) struct ApprovalChannel {
    pub(crate) asked: mpsc::UnboundedSender<Asked>,
    /// Who answers, for the record.
    pub(crate) who: String,
}

impl Approver for ApprovalChannel {
    fn ask(&self, question: &Question) -> Option<(Reply, String)> {
        let (answer, answered) = oneshot::channel();
        let question = Box::new(question.clone());
        self.asked.send(Asked::Command { question, answer }).ok()?;
        // Dropped unanswered when the client leaves or changes its mind.
        let reply = answered.blocking_recv().ok()??;
        Some((reply, self.who.clone()))
    }

    fn ask_access(&self, question: &AccessQuestion) -> Option<AccessReply> {
        let (answer, answered) = oneshot::channel();
        self.asked.send(Asked::Access { question: question.clone(), answer }).ok()?;
        answered.blocking_recv().ok()?
    }
}

/// Who answers the forms of a client, for the record.
pub(crate) fn person(client: &str) -> String {
    format!("a person at {client:?}")
}

/// Whether a client can show a form.
pub(crate) fn can_ask(capabilities: Option<&ClientCapabilities>) -> bool {
    let Some(elicitation) = capabilities.and_then(|all| all.elicitation.as_ref()) else {
        return false;
    };
    // Before there were two kinds, the one was the form.
    elicitation.form.is_some() || elicitation.url.is_none()
}

/// The question as a form.
pub(crate) fn form(question: &Question, tools: &Toolset) -> Option<ElicitRequest> {
    let schema: ElicitationSchema = serde_json::from_value(schema(question, tools)).ok()?;
    Some(ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message(question, tools),
        requested_schema: schema,
    }))
}

/// A question about what a command wants to touch, as a form.
pub(crate) fn access_form(question: &AccessQuestion, tools: &Toolset) -> Option<ElicitRequest> {
    let AccessQuestion { operation, target, program, command, job, .. } = question;
    let shown = |text: &str| tools.mask(&visible_line(text));
    let (command, program) = (shown(command), shown(program));
    let message = format!(
        "May a command {operation} this?\n\n{}\n\nwanted by: {program}\ncommand: {command}\njob: {job}\n\
         The sandbox holds it until you answer.",
        shown(target)
    );
    let mut choices: Vec<String> =
        (0..question.grants.len()).map(|index| index.to_string()).collect();
    let mut names: Vec<String> =
        question.grants.iter().map(|grant| shown(&format!("Yes, {grant}"))).collect();
    choices.push("deny".to_owned());
    names.push("No".to_owned());
    let schema: ElicitationSchema = serde_json::from_value(decision(&choices, &names)).ok()?;
    Some(ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: schema,
    }))
}

/// What somebody made of such a form that was open for so long; `None` if they closed it.
pub(crate) fn said_access(result: &ElicitResult, open: Duration) -> Option<AccessReply> {
    let decision = result.content.as_ref().and_then(|content| content.get("decision")?.as_str());
    match (&result.action, decision) {
        // A client without a person declines by itself: that is nobody's no.
        (ElicitationAction::Decline, _) if open < PERSONS_TIME => None,
        (ElicitationAction::Decline, _) | (ElicitationAction::Accept, Some("deny")) => {
            Some(AccessReply::Deny)
        }
        (ElicitationAction::Accept, Some(index)) => index.parse().ok().map(AccessReply::Allow),
        _ => None,
    }
}

fn message(question: &Question, tools: &Toolset) -> String {
    let shown = |text: &str| {
        // Indented: no line of a command passes for one of the question.
        let mut shown = tools.mask(text).replace('\n', "\n    ");
        if shown.len() > LONGEST_SHOWN_BYTES {
            let cut = shown.floor_char_boundary(LONGEST_SHOWN_BYTES);
            let rest = shown.len() - cut;
            shown.truncate(cut);
            let _ = write!(shown, "… and {rest} bytes more: see `umbo approvals`");
        }
        shown
    };
    let mut message = format!("May this command run?\n\n    {}\n\n", shown(&question.command));
    let _ = match &question.input {
        None => Ok(()),
        Some(ShownInput::Typed { job }) => writeln!(message, "typed into job {job}"),
        Some(ShownInput::Change { diff }) => {
            writeln!(message, "which changes:\n\n    {}\n", shown(diff.trim_end()))
        }
        Some(ShownInput::Input { bytes, text: None }) => {
            writeln!(message, "given {bytes} bytes on its standard input")
        }
        Some(ShownInput::Input { bytes, text: Some(text) }) => {
            writeln!(
                message,
                "which runs what it is given, {bytes} bytes:\n\n    {}\n",
                shown(text)
            )
        }
    };
    if !question.sets.is_empty() {
        let _ =
            writeln!(message, "setting {}", tools.mask(&visible_line(&question.sets.join(" "))));
    }
    let one_line = |text: &str| tools.mask(&visible_line(text));
    let (cwd, why) = (one_line(&question.cwd), one_line(&question.why));
    let _ = write!(message, "in {cwd}\nrisk: {}\nwhy: {why}", question.risk);
    message
}

fn schema(question: &Question, tools: &Toolset) -> Value {
    let mut choices = vec!["once"];
    let mut names = vec!["Yes, this time".to_owned()];
    if question.run.is_some() && !question.prefixes.is_empty() {
        let shown = |words: &Vec<String>| tools.mask(&visible_line(&words.join(" ")));
        let prefixes: Vec<String> = question.prefixes.iter().map(shown).collect();
        choices.push("run");
        names.push(format!("Yes, and all that begins with {} in this run", prefixes.join(", ")));
    }
    choices.push("deny");
    names.push("No".to_owned());
    decision(&choices, &names)
}

/// The schema of a form with one choice, the first being the proposed one.
fn decision<T: serde::Serialize>(choices: &[T], names: &[String]) -> Value {
    json!({
        "type": "object",
        "properties": {
            "decision": {
                "type": "string",
                "title": "Decision",
                "enum": choices,
                "enumNames": names,
                "default": choices.first(),
            },
        },
        "required": ["decision"],
    })
}

/// What somebody made of a form.
pub(crate) enum Said {
    /// An answer.
    Reply(Reply),
    /// They closed it: nobody answered.
    Nothing,
    /// Something that no form asks for.
    Nonsense,
}

/// A form cannot be read and declined in less.
const PERSONS_TIME: Duration = Duration::from_secs(1);

/// What the answer to a form means that was open for so long.
pub(crate) fn said(result: &ElicitResult, open: Option<Duration>) -> Said {
    let field = |name: &str| {
        let text = result.content.as_ref()?.get(name)?.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let no = || {
        // The form has no field for it, for a person would have to pass it each time; a client may.
        let reason = field("reason")
            .unwrap_or_else(|| "the person in front of the client said no".to_owned());
        Said::Reply(Reply::Deny { reason })
    };
    match (&result.action, field("decision").as_deref()) {
        // A client without a person declines by itself: that is nobody's no.
        (ElicitationAction::Decline, _) if open.is_some_and(|open| open < PERSONS_TIME) => {
            Said::Nothing
        }
        (ElicitationAction::Decline, _) | (ElicitationAction::Accept, Some("deny")) => no(),
        (ElicitationAction::Accept, Some("once")) => {
            Said::Reply(Reply::approve(Covers::Command, Lasts::Once))
        }
        (ElicitationAction::Accept, Some("run")) => {
            Said::Reply(Reply::approve(Covers::Prefix, Lasts::Run))
        }
        (ElicitationAction::Cancel, _) => Said::Nothing,
        _ => Said::Nonsense,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_takes_a_persons_time_to_decline_has_said_no() {
        let declined = ElicitResult::new(ElicitationAction::Decline);
        let at_once = Duration::from_millis(999);
        assert!(matches!(said(&declined, Some(at_once)), Said::Nothing));
        assert!(said_access(&declined, at_once).is_none());
        for open in [Some(PERSONS_TIME), None] {
            assert!(matches!(said(&declined, open), Said::Reply(Reply::Deny { .. })));
        }
        assert!(matches!(said_access(&declined, PERSONS_TIME), Some(AccessReply::Deny)));
    }
}
