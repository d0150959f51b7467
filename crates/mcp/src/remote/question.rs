//! What a server asks of the person behind its client, and the answer.

use rmcp::model::{ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value};

/// A form that a server wants to have filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerQuestion {
    /// The server.
    pub server: String,
    /// What it says.
    pub message: String,
    /// What it wants to know, in its order; nothing is a question for a yes.
    pub fields: Vec<QuestionField>,
}

/// One thing that a server wants to know.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionField {
    /// Its name in the answer.
    pub name: String,
    /// What a person reads.
    pub label: String,
    /// What the answer must be.
    pub kind: FieldKind,
    /// Whether it may be left out.
    pub is_optional: bool,
}

/// What an answer must be.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    /// Any text.
    Text,
    /// A number.
    Number,
    /// A number without a fraction.
    Integer,
    /// Yes or no.
    Boolean,
    /// Some of these: the value, and how it is shown.
    Choice {
        /// What there is.
        options: Vec<(String, String)>,
        /// Whether more than one may be chosen.
        is_multi: bool,
    },
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerAnswer {
    /// The form, filled in.
    Accept(Map<String, Value>),
    /// The person says no, or nobody can answer.
    Decline,
    /// The person looked away, or the question was taken back.
    Cancel,
}

impl ServerQuestion {
    pub(super) fn read(server: &str, message: String, schema: &ElicitationSchema) -> Self {
        let in_order = schema
            .property_order
            .clone()
            .unwrap_or_else(|| schema.properties.keys().cloned().collect());
        let required = schema.required.clone().unwrap_or_default();
        let field = |name: &String| {
            let schema = serde_json::to_value(schema.properties.get(name)?).ok()?;
            let text = |key: &str| schema[key].as_str().map(str::to_owned);
            let label = match (text("title"), text("description")) {
                (Some(title), Some(more)) => format!("{title}: {more}"),
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => name.clone(),
            };
            let (name, is_optional) = (name.clone(), !required.contains(name));
            Some(QuestionField { name, label, kind: kind(&schema), is_optional })
        };
        let fields = in_order.iter().filter_map(field).collect();
        Self { server: server.to_owned(), message, fields }
    }
}

/// What a schema wants; whatever is not known is a text, and the server checks it.
fn kind(schema: &Value) -> FieldKind {
    if let Some(options) = options(schema) {
        return FieldKind::Choice { options, is_multi: false };
    }
    match schema["type"].as_str() {
        Some("number") => FieldKind::Number,
        Some("integer") => FieldKind::Integer,
        Some("boolean") => FieldKind::Boolean,
        Some("array") => {
            let options = options(&schema["items"]).unwrap_or_default();
            FieldKind::Choice { options, is_multi: true }
        }
        _ => FieldKind::Text,
    }
}

/// What there is to choose from, in any of the forms that the protocol has had.
fn options(schema: &Value) -> Option<Vec<(String, String)>> {
    if let Some(values) = schema["enum"].as_array() {
        let names = schema["enumNames"].as_array();
        let option = |(at, value): (usize, &Value)| {
            let value = value.as_str()?.to_owned();
            let name = names.and_then(|names| names.get(at)?.as_str()).unwrap_or(&value).to_owned();
            Some((value, name))
        };
        return Some(values.iter().enumerate().filter_map(option).collect());
    }
    let titled = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array())?;
    let option = |one: &Value| {
        let value = one["const"].as_str()?.to_owned();
        let name = one["title"].as_str().unwrap_or(&value).to_owned();
        Some((value, name))
    };
    Some(titled.iter().filter_map(option).collect())
}

impl From<ServerAnswer> for ElicitResult {
    fn from(answer: ServerAnswer) -> Self {
        match answer {
            ServerAnswer::Accept(content) => {
                Self::new(ElicitationAction::Accept).with_content(Value::Object(content))
            }
            ServerAnswer::Decline => Self::new(ElicitationAction::Decline),
            ServerAnswer::Cancel => Self::new(ElicitationAction::Cancel),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_form_is_read_in_its_order_with_all_that_the_protocol_knows() {
        let schema = r#"{"type": "object", "properties": {
            "zeal": {"type": "string", "enum": ["a", "b"], "enumNames": ["Much", "Little"]},
            "many": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
            "one": {"type": "string", "oneOf": [{"const": "k", "title": "K"}]},
            "count": {"type": "integer", "title": "Count", "description": "how many"},
            "share": {"type": "number"}, "sure": {"type": "boolean"}, "name": {"type": "string"}},
            "required": ["count"]}"#;
        let schema: ElicitationSchema = serde_json::from_str(schema).unwrap();
        let question = ServerQuestion::read("s", "Well?".to_owned(), &schema);
        let names: Vec<&str> = question.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["zeal", "many", "one", "count", "share", "sure", "name"]);
        let kinds: Vec<&FieldKind> = question.fields.iter().map(|field| &field.kind).collect();
        let option = |value: &str, name: &str| (value.to_owned(), name.to_owned());
        let choice = |options: Vec<_>, is_multi| FieldKind::Choice { options, is_multi };
        let expected = [
            &choice(vec![option("a", "Much"), option("b", "Little")], false),
            &choice(vec![option("x", "x"), option("y", "y")], true),
            &choice(vec![option("k", "K")], false),
            &FieldKind::Integer,
            &FieldKind::Number,
            &FieldKind::Boolean,
            &FieldKind::Text,
        ];
        assert_eq!(kinds, expected);
        assert_eq!(question.fields[3].label, "Count: how many");
        assert!(!question.fields[3].is_optional && question.fields[4].is_optional);
    }

    #[test]
    fn an_answer_says_what_the_person_did() {
        let content = json!({"a": 1}).as_object().unwrap().clone();
        let accepted = ElicitResult::from(ServerAnswer::Accept(content));
        assert_eq!(accepted.content, Some(json!({"a": 1})));
        let declined = ElicitResult::from(ServerAnswer::Decline);
        assert_eq!((declined.action, declined.content), (ElicitationAction::Decline, None));
    }
}
