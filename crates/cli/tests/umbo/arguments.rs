//! Whatever arguments a tool is given: an answer or a clear error, never a panic, and nothing runs
//! that was refused.

use std::cell::Cell;

use proptest::collection::{hash_map, vec};
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};
use umbo_tools::{Ticket, Tool, Toolset, check};

use crate::harness::Umbo;

/// Any JSON, with the numbers and strings that break things.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        prop_oneof![Just(json!(u64::MAX)), Just(json!(-1)), Just(json!(1e308)), Just(json!(0.5))],
        ".{0,12}".prop_map(Value::from),
        "[a-z_]{1,12}".prop_map(Value::from),
        Just(json!("touch ran")),
        Just(json!("\0\u{1b}[31m\u{202e}")),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            hash_map("[a-z_.]{0,8}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Arguments that are nearly right: those that are required, and one that is anything.
fn nearly_right(tool: &Tool, picked: usize, value: Value) -> Value {
    let properties = tool.input_schema["properties"].as_object().unwrap();
    let mut map: Map<String, Value> = tool.input_schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|name| (name.as_str().unwrap().to_owned(), json!("touch ran")))
        .collect();
    let mut names: Vec<&str> = properties.keys().map(String::as_str).collect();
    names.push("unheard_of");
    let name = names[picked % names.len()];
    // Null is the same as not given where nothing need be.
    if !value.is_null() || map.contains_key(name) || !properties.contains_key(name) {
        map.insert(name.to_owned(), value);
    }
    Value::Object(map)
}

/// An error must say which field, what was given and what is accepted; a refused call must leave
/// nothing behind.
fn hold(tools: &Toolset, tool: &Tool, arguments: Value) -> bool {
    let Err(problem) = check(&tool.input_schema, &arguments) else { return false };
    assert!(!problem.given.is_empty() && !problem.accepted.is_empty(), "{problem:?}");
    let result = tools.call(tool.name, arguments, &Ticket::default());
    assert!(result.is_error, "{result:?}");
    assert!(result.text.contains(&problem.field) || problem.field == "async", "{result:?}");
    true
}

#[test]
fn whatever_is_given_is_checked_whole_before_anything_runs() {
    let umbo = Umbo::new();
    let mut toolsets = Vec::new();
    for dialect in umbo_tools::dialects() {
        let builder = Toolset::builder(umbo.caller());
        toolsets
            .push(builder.dialect(dialect).setting("tools.shell.enabled", true).build().unwrap());
    }
    let refused = Cell::new(0);
    let mut runner =
        TestRunner::new(Config { cases: 200, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&(anything(), any::<usize>()), |(value, picked)| {
        for tools in &toolsets {
            for tool in tools.tools() {
                let near = hold(tools, tool, nearly_right(tool, picked, value.clone()));
                // Nothing at all is read as an object without fields.
                let is_null = value.is_null()
                    || value.as_object().is_some_and(|map| map.values().any(Value::is_null));
                let far = !is_null && hold(tools, tool, value.clone());
                refused.set(refused.get() + usize::from(near) + usize::from(far));
            }
        }
        Ok(())
    });
    outcome.unwrap();
    assert!(refused.get() > 1000, "only {} were refused", refused.get());
    // One state directory for all: what any of them had started would be seen.
    assert!(umbo.jobs().is_empty() && !umbo.path().join("ran").exists());
}

/// Whatever a generator makes of every tool's arguments, right ones among them.
fn generated(tools: &Toolset) -> Vec<(Tool, Value)> {
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    let mut made = Vec::new();
    for tool in tools.tools() {
        let properties = tool.input_schema["properties"].as_object().unwrap().len();
        for picked in 0..40 {
            let value = anything().new_tree(&mut runner).unwrap().current();
            let arguments = match picked {
                0..36 => nearly_right(tool, picked % (properties + 1), value),
                _ => value,
            };
            made.push((tool.clone(), arguments));
        }
        // What a field's own kind takes.
        for (name, schema) in tool.input_schema["properties"].as_object().unwrap() {
            for value in
                [json!("a"), json!(7), json!(7.0), json!(true), json!(["a"]), json!({"A": "b"})]
            {
                let mut arguments = nearly_right(tool, 0, json!("true"));
                arguments[name] = value;
                assert!(schema.is_object());
                made.push((tool.clone(), arguments));
            }
        }
    }
    made
}

fn toolsets(umbo: &Umbo) -> Vec<Toolset> {
    let toolset = |dialect| {
        let builder = Toolset::builder(umbo.caller());
        builder.dialect(dialect).setting("tools.shell.enabled", true).build().unwrap()
    };
    umbo_tools::dialects().into_iter().map(toolset).collect()
}

#[test]
fn what_the_schema_takes_the_tool_can_read() {
    let umbo = Umbo::new();
    let mut taken = 0;
    for tools in toolsets(&umbo) {
        for (tool, arguments) in generated(&tools) {
            if arguments.is_object() && check(tool.full_input_schema(), &arguments).is_ok() {
                taken += 1;
                let read = tool.check(arguments.clone());
                assert!(read.is_ok(), "{} {} {arguments}: {read:?}", tools.dialect(), tool.name);
            }
        }
    }
    assert!(taken > 100, "only {taken} were taken");
}

/// Reads `[[schema, value]]`, and says of each whether the value fits.
const JUDGE: &str = r"
import json, sys
from jsonschema import Draft202012Validator
print(json.dumps([Draft202012Validator(s).is_valid(v) for s, v in json.load(open(sys.argv[1]))]))
";

#[test]
fn the_checker_agrees_with_a_validator_that_others_wrote() {
    let umbo = Umbo::new();
    let mut pairs = Vec::new();
    for tools in toolsets(&umbo) {
        pairs.extend(generated(&tools).into_iter().map(|(tool, value)| (tool.input_schema, value)));
    }
    let file = umbo.path().join("pairs.json");
    std::fs::write(&file, json!(pairs).to_string()).unwrap();
    let mut judge = std::process::Command::new(crate::mcp::installed("python/bin/python"));
    let said = judge.args(["-c", JUDGE]).arg(&file).output().unwrap();
    assert!(said.status.success(), "{said:?}");
    let said: Vec<bool> = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(said.len(), pairs.len());
    for ((schema, value), fits) in pairs.iter().zip(said) {
        let ours = check(schema, value);
        assert_eq!(ours.is_ok(), fits, "{schema} {value}: {ours:?}");
    }
}
