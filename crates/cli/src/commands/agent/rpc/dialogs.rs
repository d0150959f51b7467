//! Questions of the model, as dialogs of the host.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;
use umbo_agent::{AskOutcome, AskRequest, Asker, BoxFuture, Chosen, UserQuestion};

use super::host::{Host, locked};
use crate::output;

const OTHER: &str = "Other (type your own)";
const DONE: &str = "Done selecting";
const RECOMMENDED: &str = " (Recommended)";

/// What became of a dialog.
enum Answer {
    Value(String),
    Cancelled,
    TimedOut,
}

impl Asker for Host {
    fn ask(self: Arc<Self>, request: AskRequest) -> BoxFuture<AskOutcome> {
        Box::pin(async move {
            let mut answers = Vec::new();
            for question in &request.questions {
                match self.ask_one(question, request.timeout).await {
                    Some(answer) => answers.push(answer),
                    None => return AskOutcome::Cancelled,
                }
            }
            AskOutcome::Answered(answers)
        })
    }
}

impl Host {
    async fn ask_one(&self, question: &UserQuestion, timeout: Option<Duration>) -> Option<Chosen> {
        let mut chosen = Chosen::default();
        loop {
            let options = shown(question, &chosen);
            let frame = json!({"method": "select", "title": question.question, "options": options});
            // Who has begun to choose is there.
            let timeout = timeout.filter(|_| chosen == Chosen::default());
            let value = match self.dialog(frame, timeout).await {
                Answer::Value(value) => value,
                Answer::Cancelled => return None,
                Answer::TimedOut => return Some(question.default_choice()),
            };
            if value == DONE && question.multi {
                return Some(chosen);
            }
            let at = options.iter().position(|option| *option == value);
            match at.and_then(|at| question.options.get(at)) {
                Some(option) if question.multi => toggle(&mut chosen.options, option),
                Some(option) => {
                    chosen.options = vec![option.clone()];
                    return Some(chosen);
                }
                None => {
                    let typed = if value == OTHER { self.typed(question).await? } else { value };
                    chosen.text = Some(typed);
                    return Some(chosen);
                }
            }
        }
    }

    async fn typed(&self, question: &UserQuestion) -> Option<String> {
        match self.dialog(json!({"method": "editor", "title": question.question}), None).await {
            Answer::Value(value) => Some(value),
            Answer::Cancelled | Answer::TimedOut => None,
        }
    }

    /// Shows a dialog until it is answered.
    async fn dialog(&self, mut frame: Value, timeout: Option<Duration>) -> Answer {
        let id = format!("ui_{}", self.number());
        let (sender, mut answers) = unbounded_channel();
        locked(&self.waiting).insert(id.clone(), sender);
        // A dialog that nobody waits for any more is taken off the screen.
        let mut open = OpenDialog { host: self, id: id.clone(), is_answered: false };
        frame["type"] = json!("extension_ui_request");
        frame["id"] = json!(id);
        if let Some(timeout) = timeout {
            frame["timeout"] = json!(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
        }
        output::message(&frame);
        let answer = match timeout {
            Some(timeout) => match tokio::time::timeout(timeout, answers.recv()).await {
                Ok(answer) => answer,
                Err(_) => return Answer::TimedOut,
            },
            None => answers.recv().await,
        };
        open.is_answered = true;
        match answer {
            Some(answer) if answer["timedOut"] == true => Answer::TimedOut,
            Some(answer) => match answer["value"].as_str() {
                Some(value) => Answer::Value(value.to_owned()),
                None => Answer::Cancelled,
            },
            None => Answer::Cancelled,
        }
    }
}

struct OpenDialog<'a> {
    host: &'a Host,
    id: String,
    is_answered: bool,
}

impl Drop for OpenDialog<'_> {
    fn drop(&mut self) {
        locked(&self.host.waiting).remove(&self.id);
        if !self.is_answered {
            let id = format!("ui_{}", self.host.number());
            output::message(&json!({
                "type": "extension_ui_request", "id": id, "method": "cancel",
                "targetId": self.id,
            }));
        }
    }
}

/// The options as the host shows them: first those of the question, in their order.
fn shown(question: &UserQuestion, chosen: &Chosen) -> Vec<String> {
    let mut shown: Vec<String> = question
        .options
        .iter()
        .enumerate()
        .map(|(at, option)| {
            if question.multi {
                let mark = if chosen.options.contains(option) { "[x]" } else { "[ ]" };
                format!("{mark} {option}")
            } else if question.recommended == Some(at) {
                format!("{option}{RECOMMENDED}")
            } else {
                option.clone()
            }
        })
        .collect();
    if question.multi {
        shown.push(DONE.to_owned());
    }
    shown.push(OTHER.to_owned());
    shown
}

fn toggle(options: &mut Vec<String>, option: &str) {
    match options.iter().position(|known| known == option) {
        Some(at) => drop(options.remove(at)),
        None => options.push(option.to_owned()),
    }
}
