//! The tools as lash lists them: the fields of the dialect `lash`, and what the host has since added
//! to its document or dropped from it.

use lash_core::ToolDefinition;
use lash_tool_support::{ToolDefinitionLashlangExt, lashlang_binding};
use serde_json::{Value, json};
use umbo_tools::{Tool, Toolset};

/// All of them.
pub(crate) fn all(tools: &Toolset) -> Vec<ToolDefinition> {
    let shown = [
        ("exec_command", include_str!("exec_command.md"), EXEC),
        ("start_command", include_str!("start_command.md"), START),
        ("write_stdin", include_str!("write_stdin.md"), WRITE),
    ];
    let known = |(name, words, examples)| Some(definition(tools.tool(name)?, words, examples));
    shown.into_iter().filter_map(known).collect()
}

const EXEC: &[&str] = &[
    r#"await shell.exec({ cmd: "cargo test -p my-crate", timeout_ms: 600000 })?"#,
    r#"await shell.exec({ cmd: "test -f Cargo.lock" })?"#,
];
const START: &[&str] = &[
    r#"await shell.start({ cmd: "python -m http.server 8000" })?"#,
    r#"await shell.start({ cmd: "./daemon --serve", detach: true })?"#,
];
const WRITE: &[&str] = &[
    r#"await shell.write({ process_id: "call-shell-1", chars: "status\n" })?"#,
    r#"await shell.write({ process_id: "call-shell-1", close_stdin: true })?"#,
];

fn definition(tool: &Tool, words: &str, examples: &[&str]) -> ToolDefinition {
    let mut input = tool.input_schema.clone();
    let mut output = tool.output_schema.clone().unwrap_or_default();
    // Codes are data here, always.
    if let Some(fields) = input["properties"].as_object_mut() {
        fields.remove("allow_nonzero_exit");
    }
    if tool.name == "exec_command" {
        input["properties"]["timeout_ms"]["description"] =
            json!("Hard timeout in milliseconds; the command is killed then and the tool fails.");
    }
    if tool.name == "start_command" {
        detaches(&mut input, &mut output);
    }
    let examples = examples.iter().map(ToString::to_string).collect();
    let id = tool.id.unwrap_or(tool.name);
    let definition = ToolDefinition::raw(id, tool.name, words.trim(), input, output);
    let definition = definition.with_examples(examples);
    match &tool.binding {
        Some(binding) => {
            let aliases: Vec<&str> = binding.aliases.iter().map(String::as_str).collect();
            definition.with_lashlang_binding(lashlang_binding(
                binding.path.clone(),
                binding.name.clone(),
                &aliases,
            ))
        }
        None => definition,
    }
}

/// What a start that detaches takes and answers.
fn detaches(input: &mut Value, output: &mut Value) {
    input["properties"]["detach"] = json!({
        "type": "boolean",
        "default": false,
        "description": "Nobody watches over it from here: no handle, no message when it ends.",
    });
    output["properties"]["status"] = json!({"type": "string", "enum": ["running", "detached"]});
    for name in ["pid", "pgid", "started_at"] {
        output["properties"][name] = json!({"type": "integer", "minimum": 0});
    }
    output["properties"]["command"] = json!({"type": "string"});
}
