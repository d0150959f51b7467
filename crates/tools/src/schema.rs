//! Checking arguments against a tool's schema: the part of JSON Schema that the contracts use.
//!
//! The first thing that is wrong is told as field, what was given, and what is accepted. Nothing
//! runs before everything is right.

mod derived;

use std::fmt::Write as _;

pub use derived::{input_schema, output_schema};
use serde_json::{Map, Value};

/// What is wrong with an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The field, as `limits.memory` or `argv[2]`; empty for the arguments as a whole.
    pub field: String,
    /// What was given, as JSON, cut if long.
    pub given: String,
    /// What is accepted.
    pub accepted: String,
}

impl Problem {
    /// A problem with `field`.
    pub fn new(field: impl Into<String>, given: &Value, accepted: impl Into<String>) -> Self {
        Self { field: field.into(), given: shown(given), accepted: accepted.into() }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let field = if self.field.is_empty() { "arguments" } else { &self.field };
        write!(f, "{field}: {} was given; accepted: {}", self.given, self.accepted)
    }
}

/// Checks `value` against `schema`.
pub fn check(schema: &Value, value: &Value) -> Result<(), Problem> {
    check_at(schema, value, None)
}

/// Where a value is. It is written out only for what is wrong.
#[derive(Clone, Copy)]
struct Field<'a> {
    outer: Option<&'a Field<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Name(&'a str),
    Index(usize),
}

impl Field<'_> {
    fn path(&self) -> String {
        let mut path = path_of(self.outer);
        match self.step {
            Step::Name(name) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
            }
            Step::Index(index) => {
                let _ = write!(path, "[{index}]");
            }
        }
        path
    }
}

fn path_of(field: Option<&Field<'_>>) -> String {
    field.map(Field::path).unwrap_or_default()
}

/// The arguments without fields that are null and need not be given: callers that must name every
/// field say so that they do not give one.
pub(crate) fn given(schema: &Value, mut arguments: Value) -> Value {
    let is_required = |name: &str| {
        let names = schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|required| required == name))
    };
    if let Some(map) = arguments.as_object_mut() {
        map.retain(|name, value| {
            let is_known = !schema["properties"][name.as_str()].is_null();
            !value.is_null() || !is_known || is_required(name)
        });
    }
    whole_numbers(schema, &mut arguments);
    arguments
}

/// Writes whole numbers as such: as JSON Schema has it, 3.0 is an integer too.
fn whole_numbers(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (name, item) in map {
                let own = &schema["properties"][name.as_str()];
                let below = if own.is_null() { &schema["additionalProperties"] } else { own };
                whole_numbers(below, item);
            }
        }
        Value::Array(items) => {
            for item in items {
                whole_numbers(&schema["items"], item);
            }
        }
        Value::Number(number) if takes_integers(schema) && number.is_f64() => {
            let number = number.as_f64().unwrap_or_default();
            if number.fract() == 0.0 {
                *value = saturated(number);
            }
        }
        // What no type of ours can hold is as much as it can.
        Value::Number(number) if takes_integers(schema) && number.as_i64().is_none() => {
            *value = Value::from(i64::MAX);
        }
        _ => {}
    }
}

/// Whether the only numbers that it takes are whole.
fn takes_integers(schema: &Value) -> bool {
    let is = |kind: &str| match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(|each| each == kind),
        one => one == kind,
    };
    is("integer") && !is("number")
}

/// A whole number, or the nearest one that can be held.
fn saturated(number: f64) -> Value {
    let most = std::time::Duration::try_from_secs_f64(number.abs());
    let most = most.ok().and_then(|whole| i64::try_from(whole.as_secs()).ok()).unwrap_or(i64::MAX);
    Value::from(if number < 0.0 { -most } else { most })
}

fn check_at(schema: &Value, value: &Value, field: Option<&Field<'_>>) -> Result<(), Problem> {
    let wrong = || Err(Problem::new(path_of(field), value, accepted(schema)));
    if let Some(kind) = schema.get("type") {
        let is = |kind: &Value| kind.as_str().is_some_and(|kind| is_kind(value, kind));
        let fits = match kind {
            Value::Array(kinds) => kinds.iter().any(is),
            kind => is(kind),
        };
        if !fits {
            return wrong();
        }
    }
    if let Some(Value::Array(choices)) = schema.get("enum")
        && !choices.contains(value)
    {
        return wrong();
    }
    match value {
        Value::Object(map) => check_object(schema, map, value, field),
        Value::Array(items) => check_array(schema, items, value, field),
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(0.0);
            let below = schema.get("minimum").and_then(Value::as_f64).is_some_and(|m| number < m);
            let above = schema.get("maximum").and_then(Value::as_f64).is_some_and(|m| number > m);
            if below || above { wrong() } else { Ok(()) }
        }
        Value::String(text) => {
            let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0);
            if least > 0 && (text.chars().count() as u64) < least { wrong() } else { Ok(()) }
        }
        Value::Null | Value::Bool(_) => Ok(()),
    }
}

fn check_object(
    schema: &Value,
    map: &Map<String, Value>,
    value: &Value,
    field: Option<&Field<'_>>,
) -> Result<(), Problem> {
    let at = |name| Field { outer: field, step: Step::Name(name) };
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        if !map.contains_key(name) {
            let wanted = properties.get(name).map_or_else(|| "a value".to_owned(), accepted);
            return Err(Problem {
                field: at(name).path(),
                given: "nothing".to_owned(),
                accepted: wanted,
            });
        }
    }
    for (name, item) in map {
        match (properties.get(name), schema.get("additionalProperties")) {
            (Some(property), _) => check_at(property, item, Some(&at(name)))?,
            (None, Some(Value::Bool(false))) => {
                let names: Vec<&str> = properties.keys().map(String::as_str).collect();
                let accepted = match nearest(name, &names) {
                    Some(near) => format!("`{near}`, or another of {}", names.join(" ")),
                    None if names.is_empty() => "no field at all".to_owned(),
                    None => names.join(" "),
                };
                return Err(Problem {
                    field: at(name).path(),
                    given: "an unknown field".to_owned(),
                    accepted,
                });
            }
            (None, Some(other @ Value::Object(_))) => check_at(other, item, Some(&at(name)))?,
            (None, _) => {}
        }
    }
    let least = schema.get("minProperties").and_then(Value::as_u64).unwrap_or(0);
    if (map.len() as u64) < least {
        return Err(Problem::new(path_of(field), value, accepted(schema)));
    }
    Ok(())
}

fn check_array(
    schema: &Value,
    items: &[Value],
    value: &Value,
    field: Option<&Field<'_>>,
) -> Result<(), Problem> {
    let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
    if (items.len() as u64) < least {
        return Err(Problem::new(path_of(field), value, accepted(schema)));
    }
    let Some(each) = schema.get("items") else { return Ok(()) };
    for (index, item) in items.iter().enumerate() {
        check_at(each, item, Some(&Field { outer: field, step: Step::Index(index) }))?;
    }
    Ok(())
}

fn is_kind(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        // As JSON Schema has it: 3.0 is an integer too.
        "integer" => {
            value.is_i64()
                || value.is_u64()
                || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        _ => true,
    }
}

/// What a schema accepts, in words.
fn accepted(schema: &Value) -> String {
    if let Some(Value::Array(choices)) = schema.get("enum") {
        let list: Vec<String> = choices.iter().map(ToString::to_string).collect();
        return format!("one of {}", list.join(", "));
    }
    let mut text = match schema.get("type") {
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).map(kind_name).collect::<Vec<_>>().join(" or ")
        }
        Some(kind) => kind_name(kind.as_str().unwrap_or_default()).to_owned(),
        None => "a value".to_owned(),
    };
    if schema.get("minLength").is_some() || schema.get("minItems").is_some() {
        text.push_str(", not empty");
    }
    match (schema.get("minimum"), schema.get("maximum")) {
        (Some(least), Some(most)) => {
            let _ = write!(text, " from {least} to {most}");
        }
        (Some(least), None) => {
            let _ = write!(text, " from {least} up");
        }
        (None, Some(most)) => {
            let _ = write!(text, " up to {most}");
        }
        (None, None) => {}
    }
    text
}

fn kind_name(kind: &str) -> &str {
    match kind {
        "string" => "a string",
        "boolean" => "true or false",
        "object" => "an object",
        "array" => "a list",
        "number" => "a number",
        "integer" => "a whole number",
        other => other,
    }
}

/// A value as an error quotes it.
fn shown(value: &Value) -> String {
    let mut text = value.to_string();
    if text.len() > 80 {
        text.truncate(text.floor_char_boundary(80));
        text.push('…');
    }
    text
}

/// What other programs call the same thing, squeezed.
const SYNONYMS: [&[&str]; 4] = [
    &["command", "cmd", "commandline", "script"],
    &["cwd", "workdir", "workingdir", "workingdirectory", "dir", "directory"],
    &["timeout", "timeoutms", "timeoutmillis", "timeoutsec", "timeoutsecs", "timeoutseconds"],
    &["env", "environment", "envvars"],
];

/// The name that was probably meant: one that means the same, one that it is short for, or one that
/// is spelt much the same.
pub(crate) fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let squeeze = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
    };
    let wanted = squeeze(name);
    let means_it = |candidate: &str| {
        let both = [wanted.as_str(), candidate];
        wanted == candidate
            || SYNONYMS.iter().any(|same| both.iter().all(|name| same.contains(name)))
    };
    let same = names.iter().find(|candidate| means_it(&squeeze(candidate)));
    let longer = || {
        let fits = |candidate: &&&str| is_short_for(&wanted, &squeeze(candidate));
        names.iter().filter(fits).min_by_key(|candidate| candidate.len())
    };
    if let Some(meant) = same.or_else(longer) {
        return Some(meant);
    }
    umbo_text::nearest(name, names).first().map(|near| **near)
}

/// Whether a name has the first letter of another and some of the others, in order.
fn is_short_for(short: &str, long: &str) -> bool {
    let mut letters = long.chars();
    short.len() > 1
        && short.chars().next() == long.chars().next()
        && short.chars().all(|letter| letters.any(|other| other == letter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["command"],
            "properties": {
                "command": {"type": "string", "minLength": 1},
                "timeout": {"type": "number", "minimum": 0, "maximum": 60},
                "mode": {"enum": ["a", "b"]},
                "words": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                "env": {"type": "object", "additionalProperties": {"type": "string"}},
                "count": {"type": ["integer", "null"]}
            }
        })
    }

    #[track_caller]
    fn wrong(value: &Value) -> String {
        check(&schema(), value).unwrap_err().to_string()
    }

    #[test]
    fn an_error_names_the_field_what_was_given_and_what_is_accepted() {
        assert_eq!(wrong(&json!({})), "command: nothing was given; accepted: a string, not empty");
        assert_eq!(
            wrong(&json!({"command": "", "timeout": 1})),
            "command: \"\" was given; accepted: a string, not empty"
        );
        assert_eq!(
            wrong(&json!({"command": "x", "timeout": "5"})),
            "timeout: \"5\" was given; accepted: a number from 0 to 60"
        );
        assert_eq!(
            wrong(&json!({"command": "x", "timeout": 61})),
            "timeout: 61 was given; accepted: a number from 0 to 60"
        );
        assert_eq!(
            wrong(&json!({"command": "x", "mode": "c"})),
            "mode: \"c\" was given; accepted: one of \"a\", \"b\""
        );
        assert_eq!(
            wrong(&json!({"command": "x", "words": ["a", 2]})),
            "words[1]: 2 was given; accepted: a string"
        );
        assert_eq!(
            wrong(&json!({"command": "x", "env": {"A": 1}})),
            "env.A: 1 was given; accepted: a string"
        );
        assert_eq!(wrong(&json!([])), "arguments: [] was given; accepted: an object");
    }

    #[test]
    fn a_field_that_does_not_exist_is_told_its_nearest_name() {
        assert_eq!(
            wrong(&json!({"command": "x", "time_out": 1})),
            "time_out: an unknown field was given; \
             accepted: `timeout`, or another of command count env mode timeout words"
        );
    }

    #[test]
    fn a_short_form_and_what_others_call_it_lead_to_the_name() {
        let names = ["command", "cwd", "env", "timeout", "idempotency_key", "pty"];
        for (given, meant) in [
            ("cmd", Some("command")),
            ("comand", Some("command")),
            ("script", Some("command")),
            ("cwdd", Some("cwd")),
            ("workdir", Some("cwd")),
            ("working_directory", Some("cwd")),
            ("timeout_ms", Some("timeout")),
            ("timeoutMs", Some("timeout")),
            ("environment", Some("env")),
            ("idem_key", Some("idempotency_key")),
            ("colour", None),
        ] {
            assert_eq!(nearest(given, &names), meant, "{given}");
        }
        assert_eq!(nearest("cwd", &["command", "workdir"]), Some("workdir"));
    }

    #[test]
    fn null_is_the_same_as_not_given_where_nothing_need_be() {
        let all = json!({"command": "x", "timeout": null, "env": {"A": null}, "other": null});
        let kept = json!({"command": "x", "env": {"A": null}, "other": null});
        assert_eq!(given(&schema(), all), kept, "only what is known, and only at the top");
        assert_eq!(given(&schema(), json!({"command": null})), json!({"command": null}));
        assert_eq!(given(&schema(), json!(null)), json!(null));
    }

    #[test]
    fn a_whole_number_is_one_however_it_is_written() {
        let schema = json!({"properties": {
            "n": {"type": "integer"},
            "m": {"type": ["integer", "string"]},
            "x": {"type": "number"},
        }});
        for (written, whole) in [
            (json!(3.0), json!(3)),
            (json!(-2.0), json!(-2)),
            (json!(1e300), json!(i64::MAX)),
            (json!(u64::MAX), json!(i64::MAX)),
            (json!(2.5), json!(2.5)),
        ] {
            let written = json!({"n": written, "m": written, "x": 3.0});
            assert_eq!(given(&schema, written), json!({"n": whole, "m": whole, "x": 3.0}));
        }
    }

    #[test]
    fn what_the_schema_allows_passes() {
        for value in [
            json!({"command": "x"}),
            json!({"command": "x", "count": null}),
            json!({"command": "x", "count": 3.0, "words": ["a"], "env": {"A": "b"}}),
        ] {
            check(&schema(), &value).unwrap();
        }
    }
}
