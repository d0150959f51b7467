//! Questions of the model and of MCP servers, put to the person at the editor.
//!
//! An editor that shows forms gets all questions of a call as one form (`elicitation/create`). Others
//! can only choose: a question with options becomes a request for permission whose options they are. What
//! would have to be typed there has no place in the protocol, and whoever asks is told so.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use umbo_agent::{AskOutcome, AskRequest, Asker, BoxFuture, Chosen, UserQuestion};

use super::permission::AskEditor;

const DONE: &str = "done";
const NO_ANSWER: &str = "no_answer";
const OPTION: &str = "option_";
/// What is added to the name of a question for the field of an answer that is none of its options.
const OTHER: &str = "_other";

const CANNOT_TYPE: &str = "The user's editor has no place for a typed answer. Ask with options to \
                           choose from, or ask in the text of your answer and end your turn.";
const NOT_SHOWN: &str = "The user's editor could not show the question. Ask in the text of your \
                         answer and end your turn.";

impl Asker for AskEditor {
    fn ask(self: Arc<Self>, request: AskRequest) -> BoxFuture<AskOutcome> {
        Box::pin(async move {
            let AskRequest { call_id, questions, timeout } = request;
            let call = match call_id {
                Some(call) => self.names.name(&call),
                None => format!("question_{}", self.number()),
            };
            let Some(session) = self.session() else {
                return AskOutcome::Impossible(NOT_SHOWN.to_owned());
            };
            let asking = Asking { editor: &self, session, call };
            let asked = if self.shows_forms {
                in_time(timeout, asking.form(&questions)).await
            } else {
                asking.choices(&questions, timeout).await
            };
            asked.unwrap_or_else(|| {
                AskOutcome::Answered(questions.iter().map(UserQuestion::default_choice).collect())
            })
        })
    }
}

/// What comes in time; nothing if it does not.
async fn in_time<T>(timeout: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match timeout {
        Some(timeout) => tokio::time::timeout(timeout, work).await.ok(),
        None => Some(work.await),
    }
}

/// Questions that are being asked.
struct Asking<'a> {
    editor: &'a AskEditor,
    session: String,
    call: String,
}

impl Asking<'_> {
    /// The editor's answer; nothing if it failed or left.
    async fn send(&self, method: &str, request: &Value) -> Option<Value> {
        let (sender, answer) = oneshot::channel();
        // Who has given up does not want it any more.
        self.editor.editor.ask(method, request, move |result| drop(sender.send(result)));
        answer.await.ok().flatten()
    }

    async fn form(&self, questions: &[UserQuestion]) -> AskOutcome {
        let message = match questions {
            [only] => only.question.clone(),
            _ => "The agent has some questions".to_owned(),
        };
        let request = json!({
            "mode": "form", "sessionId": self.session, "toolCallId": self.call,
            "message": message, "requestedSchema": form(questions),
        });
        let Some(answer) = self.send("elicitation/create", &request).await else {
            return AskOutcome::Impossible(NOT_SHOWN.to_owned());
        };
        if answer["action"] != "accept" {
            return AskOutcome::Cancelled;
        }
        let chosen = questions.iter().map(|question| read(question, &answer["content"]));
        AskOutcome::Answered(chosen.collect())
    }

    /// One question after the other; nothing if the time was over before the first answer.
    async fn choices(
        &self,
        questions: &[UserQuestion],
        timeout: Option<Duration>,
    ) -> Option<AskOutcome> {
        if questions.iter().any(|question| question.options.is_empty()) {
            return Some(AskOutcome::Impossible(CANNOT_TYPE.to_owned()));
        }
        let mut answers = Vec::new();
        for question in questions {
            let mut chosen = Chosen::default();
            loop {
                // Who has begun to choose is there.
                let has_begun = !answers.is_empty() || !chosen.options.is_empty();
                let timeout = timeout.filter(|_| !has_begun);
                let request = self.permission(question, &chosen.options);
                let answer =
                    in_time(timeout, self.send("session/request_permission", &request)).await?;
                let Some(answer) = answer else {
                    return Some(AskOutcome::Impossible(NOT_SHOWN.to_owned()));
                };
                let outcome = &answer["outcome"];
                let word =
                    outcome["optionId"].as_str().filter(|_| outcome["outcome"] == "selected");
                match word {
                    Some(DONE) if question.multi => break,
                    Some(word) => match option(question, word) {
                        Some(option) if question.multi => toggle(&mut chosen.options, option),
                        Some(option) => {
                            chosen.options = vec![option.clone()];
                            break;
                        }
                        None => return Some(AskOutcome::Cancelled),
                    },
                    None => return Some(AskOutcome::Cancelled),
                }
            }
            answers.push(chosen);
        }
        Some(AskOutcome::Answered(answers))
    }

    fn permission(&self, question: &UserQuestion, chosen: &[String]) -> Value {
        let choice = |id: String, name: String, kind: &str| json!({"optionId": id, "name": name, "kind": kind});
        let name = |at: usize, option: &String| match question.multi {
            true if chosen.contains(option) => format!("[x] {option}"),
            true => format!("[ ] {option}"),
            false if question.recommended == Some(at) => format!("{option} (Recommended)"),
            false => option.clone(),
        };
        let options = question.options.iter().enumerate();
        let mut options: Vec<Value> = options
            .map(|(at, option)| choice(format!("{OPTION}{at}"), name(at, option), "allow_once"))
            .collect();
        if question.multi {
            options.push(choice(DONE.to_owned(), "Done selecting".to_owned(), "allow_once"));
        }
        options.push(choice(NO_ANSWER.to_owned(), "Do not answer".to_owned(), "reject_once"));
        let text = json!({"type": "text", "text": question.question});
        json!({
            "sessionId": self.session,
            "toolCall": {
                "toolCallId": self.call, "kind": "other", "title": question.question,
                "content": [{"type": "content", "content": text}],
            },
            "options": options,
        })
    }
}

/// The option that a word of the editor stands for.
fn option<'a>(question: &'a UserQuestion, word: &str) -> Option<&'a String> {
    question.options.get(word.strip_prefix(OPTION)?.parse::<usize>().ok()?)
}

fn toggle(options: &mut Vec<String>, option: &String) {
    match options.iter().position(|known| known == option) {
        Some(at) => drop(options.remove(at)),
        None => options.push(option.clone()),
    }
}

/// A form with a field for each question, and one beside it for an answer that is none of its options.
fn form(questions: &[UserQuestion]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for question in questions {
        let (id, title) = (&question.id, &question.question);
        if question.options.is_empty() {
            properties.insert(id.clone(), json!({"type": "string", "title": title}));
            required.push(id);
            continue;
        }
        let field = if question.multi {
            let items = json!({"type": "string", "enum": question.options});
            json!({"type": "array", "title": title, "items": items})
        } else {
            let mut field = json!({"type": "string", "title": title, "enum": question.options});
            if let Some(option) = question.recommended_option() {
                field["default"] = json!(option);
            }
            field
        };
        properties.insert(id.clone(), field);
        let other = json!({"type": "string", "title": "Or an answer of your own"});
        properties.insert(format!("{id}{OTHER}"), other);
    }
    json!({"type": "object", "properties": properties, "required": required})
}

/// What a form says to a question.
fn read(question: &UserQuestion, content: &Value) -> Chosen {
    let text = |name: &str| content[name].as_str().filter(|text| !text.is_empty());
    if question.options.is_empty() {
        let typed = text(&question.id).unwrap_or_default().to_owned();
        return Chosen { options: Vec::new(), text: Some(typed) };
    }
    let many = content[&question.id].as_array().into_iter().flatten().filter_map(Value::as_str);
    let options = many.chain(text(&question.id)).map(str::to_owned).collect();
    let typed = text(&format!("{}{OTHER}", question.id)).map(str::to_owned);
    // An answer of one's own stands in for the option that was preset.
    if typed.is_some() && !question.multi {
        return Chosen { options: Vec::new(), text: typed };
    }
    Chosen { options, text: typed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(options: &[&str], multi: bool) -> UserQuestion {
        let options = options.iter().map(|&option| option.to_owned()).collect();
        let (id, question) = ("q".to_owned(), "Which?".to_owned());
        UserQuestion { id, question, options, multi, recommended: None }
    }

    #[test]
    fn a_form_says_options_own_words_or_both() {
        let chosen = |options: &[&str], text: Option<&str>| Chosen {
            options: options.iter().map(|&option| option.to_owned()).collect(),
            text: text.map(str::to_owned),
        };
        let (one, many, typed) =
            (question(&["a", "b"], false), question(&["a", "b"], true), question(&[], false));
        for (question, content, wanted) in [
            (&one, json!({"q": "a", "q_other": ""}), chosen(&["a"], None)),
            (&one, json!({"q": "a", "q_other": "c"}), chosen(&[], Some("c"))),
            (&many, json!({"q": ["b", "a"]}), chosen(&["b", "a"], None)),
            (&many, json!({"q": ["b"], "q_other": "c"}), chosen(&["b"], Some("c"))),
            (&typed, json!({"q": "words"}), chosen(&[], Some("words"))),
            (&one, json!(null), chosen(&[], None)),
        ] {
            assert_eq!(read(question, &content), wanted, "{content}");
        }
        let fields = form(&[typed]);
        assert_eq!(fields["required"], json!(["q"]));
    }
}
