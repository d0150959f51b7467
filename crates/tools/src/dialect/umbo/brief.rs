//! What a model pays for: of answers only the fields that say something, of schemas only what it
//! needs to know before it calls.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::saying::Saying;
use crate::tool::Tool;

/// An answer without the fields that say nothing: those that are null, and empty lists.
#[derive(Debug)]
pub(super) struct Brief<T>(pub(super) T);

impl<T: Serialize> Serialize for Brief<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Saying(&self.0).serialize(serializer)
    }
}

impl<T: JsonSchema> JsonSchema for Brief<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// The fields of the answer of `exec` that its schema tells of; the others explain themselves.
const TOLD: [&str; 3] = ["state", "exit_code", "output"];

/// What `state` can be.
const STATES: &str = "queued started exited signaled timed_out stopped lost failed_to_start";

/// A tool with schemas that are worth their bytes; its arguments are held against the whole ones. No
/// field of an answer is required: an error is an answer, too.
pub(super) fn tool(tool: Tool) -> Tool {
    let mut tool = tool.keep_full_schemas();
    shorten(&mut tool.input_schema);
    let full = tool.output_schema.take().unwrap_or_default();
    tool.output_schema = Some(if tool.name == "exec" {
        let mut properties = Map::new();
        for name in TOLD {
            properties.insert(name.to_owned(), not_null(&full["properties"][name]));
        }
        properties["state"]["description"] = json!(STATES);
        properties.insert("error".to_owned(), json!({"type": "object"}));
        json!({"type": "object", "properties": properties})
    } else {
        json!({"type": "object"})
    });
    tool
}

/// A field that is left out when it is null.
fn not_null(property: &Value) -> Value {
    let kinds = property["type"].as_array();
    let kind = kinds.and_then(|kinds| kinds.iter().find(|kind| *kind != "null"));
    json!({"type": kind.unwrap_or(&property["type"])})
}

/// Leaves out of each argument what goes without saying: that a flag is false unless given, that what
/// is one of some words is a word, and which fields an object has, which its description names.
fn shorten(schema: &mut Value) {
    for property in schema["properties"].as_object_mut().into_iter().flat_map(Map::values_mut) {
        let Value::Object(words) = property else { continue };
        words.remove("default");
        if words.contains_key("enum") {
            words.remove("type");
        }
        words.remove("properties");
        if words.get("additionalProperties") == Some(&json!(false)) {
            words.remove("additionalProperties");
        }
    }
}
