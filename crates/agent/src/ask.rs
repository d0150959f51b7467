//! Questions to the user: what the model asks, and who carries it to a person.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::{BoxFuture, Effect, Invocation, ToolOutput};

pub(crate) const ASK: &str = "ask";

/// A question with options. A person may also type an answer that is none of them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct UserQuestion {
    /// Its name among the questions of a call.
    pub id: String,
    /// The question.
    pub question: String,
    /// What there is to choose from.
    #[serde(default, deserialize_with = "labels")]
    pub options: Vec<String>,
    /// Whether more than one may be chosen.
    #[serde(default)]
    pub multi: bool,
    /// The option that the model would take.
    #[serde(default)]
    pub recommended: Option<usize>,
}

fn labels<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    struct Labelled {
        label: String,
    }
    Ok(Vec::<Labelled>::deserialize(from)?.into_iter().map(|option| option.label).collect())
}

impl UserQuestion {
    /// The option that the model recommends, if there is such an option.
    pub fn recommended_option(&self) -> Option<&str> {
        self.options.get(self.recommended?).map(String::as_str)
    }

    /// What is taken if nobody answers in time.
    pub fn default_choice(&self) -> Chosen {
        let option = self.recommended_option().or(self.options.first().map(String::as_str));
        Chosen { options: option.into_iter().map(str::to_owned).collect(), text: None }
    }
}

/// What a person chose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Options, in the order in which they were chosen.
    pub options: Vec<String>,
    /// What was typed instead or besides.
    pub text: Option<String>,
}

/// Questions to the user that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskRequest {
    /// The call of the model that asks; nothing if somebody else does.
    pub call_id: Option<String>,
    /// The questions.
    pub questions: Vec<UserQuestion>,
    /// How long the user has for the first answer.
    pub timeout: Option<Duration>,
}

/// What became of questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskOutcome {
    /// An answer to each question.
    Answered(Vec<Chosen>),
    /// The user does not want to answer.
    Cancelled,
    /// Such questions cannot be put to the user here; why.
    Impossible(String),
}

impl From<Option<Vec<Chosen>>> for AskOutcome {
    fn from(answers: Option<Vec<Chosen>>) -> Self {
        answers.map_or(Self::Cancelled, Self::Answered)
    }
}

/// Somebody who can ask the user.
pub trait Asker: Send + Sync {
    /// Asks, one question after the other, and gives as many answers. Where nobody answers in time,
    /// [`UserQuestion::default_choice`] is the answer. Dropped, the question is taken back.
    fn ask(self: Arc<Self>, request: AskRequest) -> BoxFuture<AskOutcome>;
}

pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "questions": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string", "description": "A name for the answer"},
                        "question": {"type": "string"},
                        "options": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "properties": {"label": {"type": "string"}},
                                "required": ["label"],
                            },
                        },
                        "multi": {"type": "boolean", "description": "Several may be chosen"},
                        "recommended": {
                            "type": "integer",
                            "minimum": 0,
                            "description": "The index of the option you would take",
                        },
                    },
                    "required": ["id", "question", "options"],
                },
            },
        },
        "required": ["questions"],
    })
}

/// Asks what a call asks.
pub(crate) async fn run(
    asker: Arc<dyn Asker>,
    timeout: Option<Duration>,
    invocation: Invocation,
) -> ToolOutput {
    let questions = invocation.call.arguments.get("questions").cloned().unwrap_or_default();
    let questions: Vec<UserQuestion> = match serde_json::from_value(questions) {
        Ok(questions) => questions,
        Err(error) => return ToolOutput::error(format!("questions: {error}")),
    };
    if questions.is_empty() {
        return ToolOutput::error("Error: questions must not be empty");
    }
    let call_id = Some(invocation.call.id.clone());
    let request = AskRequest { call_id, questions: questions.clone(), timeout };
    let answered = tokio::select! {
        answered = asker.ask(request) => answered,
        () = invocation.cancel.cancelled() => {
            return ToolOutput::error("Ask input was cancelled");
        }
    };
    match answered {
        AskOutcome::Answered(chosen) => answer(&questions, &chosen),
        AskOutcome::Impossible(why) => ToolOutput::error(why),
        AskOutcome::Cancelled => ToolOutput {
            effects: vec![Effect::Interrupt],
            ..ToolOutput::error("Ask tool was cancelled by the user")
        },
    }
}

fn answer(questions: &[UserQuestion], chosen: &[Chosen]) -> ToolOutput {
    let details = |question: &UserQuestion, chosen: &Chosen| {
        let mut details = json!({
            "question": question.question, "options": question.options, "multi": question.multi,
            "selectedOptions": chosen.options,
        });
        if let Some(text) = &chosen.text {
            details["customInput"] = json!(text);
        }
        details
    };
    if let ([question], [only]) = (questions, chosen) {
        let mut lines = Vec::new();
        if !only.options.is_empty() || only.text.is_none() {
            lines.push(format!("User selected: {}", only.options.join(", ")));
        }
        lines.extend(only.text.iter().map(|text| format!("User provided custom input: {text}")));
        let details = Some(details(question, only));
        return ToolOutput { details, ..ToolOutput::text(lines.join("\n")) };
    }
    let mut text = String::from("User answers:");
    let mut results = Vec::new();
    for (question, chosen) in questions.iter().zip(chosen) {
        let typed = chosen.text.iter().map(|text| format!("\"{text}\""));
        let words: Vec<String> = chosen.options.iter().cloned().chain(typed).collect();
        let _ = write!(text, "\n{}: {}", question.id, words.join(", "));
        let mut result = details(question, chosen);
        result["id"] = json!(question.id);
        results.push(result);
    }
    ToolOutput { details: Some(json!({"results": results})), ..ToolOutput::text(text) }
}
