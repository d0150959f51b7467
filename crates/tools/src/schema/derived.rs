//! The schema of a type, in the plain form that contracts are written in and every client reads:
//! one object, nothing referred to, no word beyond those that [`check`](super::check) knows.
//!
//! What a derive writes beyond that is taken out: names of types, formats of numbers, `null` where a
//! field may be left out anyway. Alternatives (an enum of answers) become one object that has the
//! fields of all and requires those that all require, for clients know only objects here.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The schema of arguments of this type. Its fields' doc comments are what a model is told.
pub fn input_schema<T: JsonSchema>() -> Value {
    let mut schema = derived::<T>(SchemaSettings::draft2020_12().for_deserialize());
    if let Value::Object(map) = &mut schema {
        map.remove("description");
    }
    schema
}

/// The schema of an answer of this type, without descriptions: a model pays for each of them.
pub fn output_schema<T: JsonSchema>() -> Value {
    let mut schema = derived::<T>(SchemaSettings::draft2020_12().for_serialize());
    undescribe(&mut schema);
    schema
}

fn derived<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut schema);
    schema
}

/// Brings a schema, and all below, into its plain form.
fn simplify(schema: &mut Value) {
    if schema == &json!(true) {
        *schema = json!({});
    }
    let Value::Object(map) = schema else { return };
    for word in ["title", "format", "$defs"] {
        map.remove(word);
    }
    if let Some(choices) = map.remove("oneOf").or_else(|| map.remove("anyOf")) {
        let mut choices = match choices {
            Value::Array(choices) => choices,
            other => vec![other],
        };
        choices.iter_mut().for_each(simplify);
        let description = map.get("description").cloned();
        *map = united(choices);
        if let Some(description) = description {
            map.insert("description".to_owned(), description);
        }
        return;
    }
    if let Some(constant) = map.remove("const") {
        map.insert("enum".to_owned(), json!([constant]));
    }
    let required = map.get("required").cloned().unwrap_or_default();
    let is_required =
        |name: &str| required.as_array().is_some_and(|names| names.iter().any(|each| each == name));
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        for (name, property) in properties {
            simplify(property);
            if !is_required(name) {
                not_null(property);
            }
        }
    }
    for word in ["items", "additionalProperties"] {
        if let Some(below) = map.get_mut(word)
            && below.is_object()
        {
            simplify(below);
        }
    }
    if map.get("type") == Some(&json!("object")) {
        map.entry("properties").or_insert_with(|| json!({}));
        if map.get("required") == Some(&json!([])) {
            map.remove("required");
        }
    }
    // A map of strings has no fields of its own.
    if map.get("additionalProperties").is_some_and(Value::is_object)
        && map.get("properties") == Some(&json!({}))
    {
        map.remove("properties");
    }
}

/// A field that may be left out need not be null as well.
fn not_null(property: &mut Value) {
    let Value::Object(map) = property else { return };
    if let Some(Value::Array(kinds)) = map.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = &kinds[..] {
            let only = only.clone();
            map.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if map.get("default").is_some_and(Value::is_null) {
        map.remove("default");
    }
}

/// One schema that takes whatever one of several takes.
fn united(choices: Vec<Value>) -> Map<String, Value> {
    let mut choices = choices.into_iter().filter_map(|choice| match choice {
        Value::Object(map) => Some(map),
        _ => None,
    });
    let first = choices.next().unwrap_or_default();
    choices.fold(first, unite)
}

fn unite(mut left: Map<String, Value>, right: Map<String, Value>) -> Map<String, Value> {
    let required = both(left.get("required"), right.get("required"));
    left.remove("required");
    if required.as_array().is_some_and(|names| !names.is_empty()) {
        left.insert("required".to_owned(), required);
    }
    for (word, value) in right {
        match (word.as_str(), left.get_mut(&word)) {
            ("required" | "description", _) => {}
            (_, None) => {
                left.insert(word, value);
            }
            ("properties", Some(Value::Object(properties))) => {
                let Value::Object(others) = value else { continue };
                for (name, other) in others {
                    match properties.remove(&name) {
                        Some(Value::Object(own))
                            if own != other.as_object().cloned().unwrap_or_default() =>
                        {
                            let other = other.as_object().cloned().unwrap_or_default();
                            properties.insert(name, Value::Object(unite(own, other)));
                        }
                        _ => {
                            properties.insert(name, other);
                        }
                    }
                }
            }
            ("enum" | "type", Some(own)) => *own = either(own, &value),
            _ => {}
        }
    }
    left
}

/// What two lists have in common, in the order of the first.
fn both(left: Option<&Value>, right: Option<&Value>) -> Value {
    let (Some(Value::Array(left)), Some(Value::Array(right))) = (left, right) else {
        return json!([]);
    };
    left.iter().filter(|each| right.contains(each)).cloned().collect()
}

/// All of two lists, each once; one alone stands for itself.
fn either(left: &Value, right: &Value) -> Value {
    let list = |value: &Value| match value {
        Value::Array(values) => values.clone(),
        one => vec![one.clone()],
    };
    let mut all = list(left);
    for value in list(right) {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    match (&all[..], left) {
        ([one], Value::String(_)) => one.clone(),
        _ => Value::Array(all),
    }
}

fn undescribe(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.retain(|name, value| name != "description" || !value.is_string());
            map.values_mut().for_each(undescribe);
        }
        Value::Array(items) => items.iter_mut().for_each(undescribe),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    /// Of no concern to a model.
    struct Asked {
        /// What to run.
        #[schemars(length(min = 1))]
        command: String,
        /// Where.
        cwd: Option<String>,
        #[serde(default)]
        login: bool,
        #[schemars(range(min = 1))]
        most: Option<u64>,
        env: Option<BTreeMap<String, String>>,
        #[schemars(range(min = 0, max = 60))]
        timeout: Option<f64>,
        #[serde(default = "ten")]
        #[schemars(range(min = 1))]
        tries: u64,
    }

    fn ten() -> u64 {
        10
    }

    #[test]
    fn arguments_are_an_object_in_plain_words() {
        assert_eq!(
            input_schema::<Asked>(),
            json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["command"],
                "properties": {
                    "command": {"type": "string", "minLength": 1, "description": "What to run."},
                    "cwd": {"type": "string", "description": "Where."},
                    "login": {"type": "boolean", "default": false},
                    "most": {"type": "integer", "minimum": 1},
                    "env": {"type": "object", "additionalProperties": {"type": "string"}},
                    "timeout": {"type": "number", "minimum": 0, "maximum": 60},
                    "tries": {"type": "integer", "minimum": 1, "default": 10},
                }
            })
        );
    }

    #[derive(Serialize, JsonSchema)]
    #[serde(tag = "status", rename_all = "snake_case")]
    #[expect(dead_code, reason = "only its schema is wanted")]
    enum Stands {
        Running { at: u64 },
        Ended { code: Option<i32>, text: String },
    }

    #[derive(Serialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Told {
        id: String,
        /// Told or not.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        code: Option<i32>,
        status: Stands,
        kinds: Vec<Kind>,
    }

    #[derive(Serialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[expect(dead_code, reason = "only its schema is wanted")]
    enum Kind {
        /// One.
        OneThing,
        /// And another.
        Another,
    }

    #[test]
    fn alternatives_become_one_object_and_what_is_always_there_is_required() {
        assert_eq!(
            output_schema::<Told>(),
            json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["id", "code", "status", "kinds"],
                "properties": {
                    "id": {"type": "string"},
                    "note": {"type": "string"},
                    "code": {"type": ["integer", "null"]},
                    "kinds": {"type": "array", "items": {"type": "string", "enum": ["one_thing", "another"]}},
                    "status": {
                        "type": "object",
                        "required": ["status"],
                        "properties": {
                            "status": {"type": "string", "enum": ["running", "ended"]},
                            "at": {"type": "integer", "minimum": 0},
                            "code": {"type": ["integer", "null"]},
                            "text": {"type": "string"},
                        }
                    }
                }
            })
        );
    }
}
