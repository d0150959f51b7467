//! Questions of MCP servers, put to the user as those of the model are.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use umbo_agent::{AskOutcome, AskRequest, Asker, BoxFuture, Chosen, UserQuestion};
use umbo_mcp::remote::{FieldKind, QuestionField, ServerAnswer, ServerQuestion};

use super::mcp_tools::Notices;

const YES: &str = "Yes";
const NO: &str = "No";
/// The answer that leaves a field out.
const NOTHING: &str = "(leave it out)";
/// So often a person is asked again for what is not of the kind that the server wants.
const MOST_TRIES: usize = 3;

/// Carries questions of servers to the user, as soon as somebody can ask.
pub(super) struct ServerQuestions {
    asker: Mutex<Option<Arc<dyn Asker>>>,
    notices: Arc<Notices>,
}

impl ServerQuestions {
    pub(super) fn new(notices: Arc<Notices>) -> Self {
        Self { asker: Mutex::default(), notices }
    }

    pub(super) fn set_asker(&self, asker: Arc<dyn Asker>) {
        *self.asker.lock().unwrap_or_else(PoisonError::into_inner) = Some(asker);
    }

    /// Asks, and answers the server.
    pub(super) fn answer(self: Arc<Self>, question: ServerQuestion) -> BoxFuture<ServerAnswer> {
        Box::pin(async move {
            let asker = self.asker.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let Some(asker) = asker else {
                self.notices.tell(&format!(
                    "MCP server {} asks {:?}; nobody can answer here, so it was declined",
                    question.server, question.message
                ));
                return ServerAnswer::Decline;
            };
            match ask(&asker, &question).await {
                Ok(answer) => answer,
                Err(why) => {
                    self.notices.tell(&format!(
                        "MCP server {} asks {:?}, which was declined: {why}",
                        question.server, question.message
                    ));
                    ServerAnswer::Decline
                }
            }
        })
    }
}

/// The answer; why nobody could be asked.
async fn ask(asker: &Arc<dyn Asker>, question: &ServerQuestion) -> Result<ServerAnswer, String> {
    let says = format!("MCP server {} asks: {}", question.server, question.message);
    if question.fields.is_empty() {
        let options = vec![YES.to_owned(), NO.to_owned()];
        let chosen = ask_one(asker, "answer", says, options, false).await?;
        return Ok(match chosen {
            None => ServerAnswer::Cancel,
            Some(chosen) if chosen.options == [YES] => ServerAnswer::Accept(Map::new()),
            Some(_) => ServerAnswer::Decline,
        });
    }
    let mut content = Map::new();
    for field in &question.fields {
        let mut problem = String::new();
        let mut is_answered = false;
        for _ in 0..MOST_TRIES {
            let text = format!("{says}\n{problem}{}", field.label);
            let is_multi = matches!(field.kind, FieldKind::Choice { is_multi: true, .. });
            let chosen = ask_one(asker, &field.name, text, options(field), is_multi).await?;
            let Some(chosen) = chosen else { return Ok(ServerAnswer::Cancel) };
            match value(field, &chosen) {
                Ok(value) => {
                    content.extend(value.map(|value| (field.name.clone(), value)));
                    is_answered = true;
                    break;
                }
                Err(wrong) => problem = format!("{wrong}\n"),
            }
        }
        if !is_answered {
            return Ok(ServerAnswer::Cancel);
        }
    }
    Ok(ServerAnswer::Accept(content))
}

/// No time limit: nobody's answer is taken for granted.
async fn ask_one(
    asker: &Arc<dyn Asker>,
    id: &str,
    question: String,
    options: Vec<String>,
    multi: bool,
) -> Result<Option<Chosen>, String> {
    let id = id.to_owned();
    let question = UserQuestion { id, question, options, multi, recommended: None };
    let request = AskRequest { call_id: None, questions: vec![question], timeout: None };
    match Arc::clone(asker).ask(request).await {
        AskOutcome::Answered(answers) => Ok(answers.into_iter().next()),
        AskOutcome::Cancelled => Ok(None),
        AskOutcome::Impossible(why) => Err(why),
    }
}

fn options(field: &QuestionField) -> Vec<String> {
    let mut options: Vec<String> = match &field.kind {
        FieldKind::Boolean => vec![YES.to_owned(), NO.to_owned()],
        FieldKind::Choice { options, .. } => options.iter().map(|(_, name)| name.clone()).collect(),
        FieldKind::Text | FieldKind::Number | FieldKind::Integer => Vec::new(),
    };
    if field.is_optional {
        options.push(NOTHING.to_owned());
    }
    options
}

/// The answer in the kind that the server wants; nothing to leave it out. What is wrong, if it is.
fn value(field: &QuestionField, chosen: &Chosen) -> Result<Option<Value>, String> {
    let typed = chosen.text.as_deref().map(str::trim);
    if field.is_optional && chosen.options.iter().any(|option| option == NOTHING) {
        return Ok(None);
    }
    let words: Vec<&str> = chosen.options.iter().map(String::as_str).chain(typed).collect();
    let Some(&first) = words.first() else { return Err("an answer is needed".to_owned()) };
    let number = |kind: &str| format!("{first:?} is not {kind}");
    Ok(Some(match &field.kind {
        FieldKind::Text => json!(first),
        FieldKind::Number => json!(first.parse::<f64>().map_err(|_| number("a number"))?),
        FieldKind::Integer => json!(first.parse::<i64>().map_err(|_| number("a whole number"))?),
        FieldKind::Boolean => match first.to_ascii_lowercase().as_str() {
            "yes" | "y" | "true" => json!(true),
            "no" | "n" | "false" => json!(false),
            _ => return Err(format!("{first:?} is neither yes nor no")),
        },
        FieldKind::Choice { options, is_multi } => {
            let known = |word: &&str| {
                options.iter().find(|(value, name)| name == word || value == word).ok_or_else(
                    || {
                        let names: Vec<&str> =
                            options.iter().map(|(_, name)| name.as_str()).collect();
                        format!("{word:?} is none of {}", names.join(", "))
                    },
                )
            };
            let values = words.iter().map(|word| Ok(known(word)?.0.clone()));
            let values: Vec<String> = values.collect::<Result<_, String>>()?;
            if *is_multi { json!(values) } else { json!(values[0]) }
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(kind: FieldKind) -> QuestionField {
        QuestionField { name: "f".into(), label: "F".into(), kind, is_optional: true }
    }

    fn typed(text: &str) -> Chosen {
        Chosen { options: Vec::new(), text: Some(text.to_owned()) }
    }

    fn chose(options: &[&str]) -> Chosen {
        Chosen { options: options.iter().map(|&option| option.to_owned()).collect(), text: None }
    }

    #[test]
    fn an_answer_has_the_kind_that_the_server_wants_or_it_is_said_what_is_wrong() {
        let number = field(FieldKind::Integer);
        assert_eq!(value(&number, &typed(" 4 ")), Ok(Some(json!(4))));
        assert!(value(&number, &typed("four")).unwrap_err().contains("four"));
        assert_eq!(value(&number, &chose(&[NOTHING])), Ok(None));
        assert_eq!(value(&field(FieldKind::Boolean), &chose(&[YES])), Ok(Some(json!(true))));
        let options =
            vec![("a".to_owned(), "Alpha".to_owned()), ("b".to_owned(), "Beta".to_owned())];
        let one = field(FieldKind::Choice { options: options.clone(), is_multi: false });
        assert_eq!(value(&one, &chose(&["Beta"])), Ok(Some(json!("b"))));
        assert!(value(&one, &typed("gamma")).unwrap_err().contains("Alpha, Beta"));
        let many = field(FieldKind::Choice { options, is_multi: true });
        assert_eq!(value(&many, &chose(&["Beta", "Alpha"])), Ok(Some(json!(["b", "a"]))));
    }
}
