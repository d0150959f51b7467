//! No answer breaks the output schema of its tool, errors included: clients hold every structured
//! result against it, and show their own complaint instead of what the tool said. The judge is a
//! validator that others wrote.

use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::Client;
use super::clients::{finished, installed};
use crate::harness::Umbo;

/// Reads `[[name, schema, content]]`, and says which contents their schemas do not take.
const JUDGE: &str = r#"
import json, sys
from jsonschema import Draft202012Validator
for name, schema, content in json.load(open(sys.argv[1])):
    Draft202012Validator.check_schema(schema)
    for error in Draft202012Validator(schema).iter_errors(content):
        print(f"{name}: {error.json_path}: {error.message}")
"#;

/// Values for fields that a tool requires: a command that ends well, one that fails, one that asks
/// in a strict mode, one that every mode denies, and what is no command at all.
const WORDS: [&str; 6] = ["true", "exit 3", "touch x", "rm -rf /", "no such thing", ""];

/// Calls of a tool: right, wrong, and refused.
fn calls(tool: &Value) -> Vec<Value> {
    let schema = &tool["inputSchema"];
    let properties = schema["properties"].as_object().unwrap();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let with = |value: &Value| -> Map<String, Value> {
        let typed = |name: &str| match properties[name]["type"].as_str() {
            Some("integer" | "number") if value.is_string() => json!(12_345),
            Some("array") if value.is_string() => json!([value]),
            _ => value.clone(),
        };
        required.iter().map(|name| ((*name).to_owned(), typed(name))).collect()
    };
    let mut calls: Vec<Map<String, Value>> = vec![Map::new(), with(&json!({"a": 1}))];
    calls.extend(WORDS.iter().map(|word| with(&json!(word))));
    let mut unheard = with(&json!("true"));
    unheard.insert("unheard_of".to_owned(), json!(1));
    calls.push(unheard);
    // Every field by itself, with what is wrong for most of them.
    for name in properties.keys() {
        for value in [json!("no such thing"), json!(true), json!(-1), json!(["no such thing"])] {
            let mut call = with(&json!("true"));
            call.insert(name.clone(), value);
            calls.push(call);
        }
    }
    calls.into_iter().map(Value::Object).collect()
}

#[test]
fn no_answer_breaks_the_schema_of_its_tool() {
    let umbo = Umbo::with_deadline(Duration::from_mins(4));
    fs::write(umbo.path().join("Makefile"), "true:\n\t@true\n").unwrap();
    let (mut held, mut errors) = (Vec::new(), 0);
    for dialect in umbo_tools::dialects() {
        for (mode, enabled) in [("open", "true"), ("default", "true"), ("open", "false")] {
            let words = ["mcp", "--dialect", dialect, "--mode", mode];
            let server = umbo.call(words).env("UMBO_TOOLS_SHELL_ENABLED", enabled);
            let mut client = Client::of(server.into_command().current_dir(umbo.path()));
            client.initialize("2025-11-25");
            let listed = client.request("tools/list", &json!({}))["result"]["tools"].clone();
            for tool in listed.as_array().unwrap() {
                let name = tool["name"].as_str().unwrap();
                let calls = if enabled == "true" { calls(tool) } else { vec![json!({})] };
                for arguments in calls {
                    let result = client.tool(name, &arguments);
                    let at = format!("{dialect} {name} {arguments} in {mode}");
                    let is_error = result["isError"] == true;
                    errors += usize::from(is_error);
                    assert!(
                        result["content"][0]["text"].as_str().is_some_and(|text| !text.is_empty())
                            || !is_error,
                        "an error says what is wrong, {at}: {result}"
                    );
                    let (schema, content) = (&tool["outputSchema"], &result["structuredContent"]);
                    assert!(is_error || !content.is_null(), "{at}: {result}");
                    if !schema.is_null() && !content.is_null() {
                        held.push(json!([at, schema, content]));
                    }
                }
            }
            client.close();
        }
    }
    assert!(held.len() > 100 && errors > 100, "{} {errors}", held.len());
    let file = umbo.path().join("held.json");
    fs::write(&file, Value::Array(held).to_string()).unwrap();
    let mut judge = Command::new(installed("python/bin/python"));
    let said = finished(&judge.args(["-c", JUDGE]).arg(&file).output().unwrap());
    assert_eq!(said, "");
}
