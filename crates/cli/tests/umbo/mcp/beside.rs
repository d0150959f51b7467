//! What contracts have and the protocol has no field for: it reaches clients in `_meta` and in blocks
//! of text that stand for themselves.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use umbo_engine::Condition;

use super::Client;
use crate::harness::{TIMEOUT, Umbo};

/// A client of a dialect whose lines `sh` reads.
fn client(umbo: &Umbo, dialect: &str) -> Client {
    let server = umbo
        .call(["mcp", "--dialect", dialect])
        .env("UMBO_TOOLS_SHELL_ENABLED", "true")
        .env("UMBO_TOOLS_SHELL_SHELL", "sh");
    let mut client = Client::of(server.into_command().current_dir(umbo.path()));
    client.initialize("2025-11-25");
    client
}

/// A line that waits until it is let go.
fn held(umbo: &Umbo, name: &str, then: &str) -> (PathBuf, String) {
    let gate = umbo.fifo(name);
    let line = format!("read x < {}; {then}", gate.display());
    (gate, line)
}

/// Lets a line go, and waits for its end.
fn ends(umbo: &Umbo, gate: &Path, job: &str) {
    fs::write(gate, "\n").unwrap();
    let job = umbo.engine().job(job).unwrap();
    job.wait(&[Condition::Exit], Some(TIMEOUT)).unwrap();
}

#[test]
fn ids_examples_and_other_names_of_tools_are_listed() {
    let umbo = Umbo::new();
    let mut client = client(&umbo, "lash");
    let listed = client.request("tools/list", &json!({}))["result"]["tools"].clone();
    let exec = &listed[0];
    assert_eq!(exec["_meta"]["umbo/id"], "tool:exec_command", "{exec}");
    assert_eq!(exec["_meta"]["umbo/binding"]["aliases"], json!(["shell", "bash"]));
    assert_eq!(exec["_meta"]["umbo/examples"].as_array().unwrap().len(), 2);
    let unknown = client.request("tools/call", &json!({"name": "nope", "arguments": {}}));
    assert_eq!(unknown["error"]["message"], "Unknown tool: nope", "{unknown}");
    client.close();
}

#[test]
fn the_message_of_meerkat_is_json_by_itself() {
    let umbo = Umbo::new();
    let mut client = client(&umbo, "meerkat");
    let (gate, line) = held(&umbo, "held", "echo hi; exit 3");
    let with = json!({"command": line, "background": true});
    let started = client.call("shell", &with);
    let id = started["job_id"].as_str().unwrap();
    ends(&umbo, &gate, id.trim_start_matches("job_"));
    let result = client.tool("shell_jobs", &json!({}));
    let message = result["content"][1]["text"].as_str().unwrap();
    let message: Value = serde_json::from_str(message).unwrap();
    assert_eq!(message["type"], "background_job_completed");
    assert_eq!(message["data"]["job_id"], id);
    assert_eq!(message["data"]["result"]["stdout"], "hi\n");
    assert_eq!(result["_meta"]["umbo/completed"][0]["event_type"], "shell_job_completed");
    let again = client.tool("shell_jobs", &json!({}));
    assert_eq!(again["content"].as_array().unwrap().len(), 1, "once: {again}");
    client.close();
}

#[test]
fn the_end_of_a_job_of_omp_and_of_a_task_are_data_too() {
    let umbo = Umbo::new();
    let mut omp = client(&umbo, "omp");
    let (gate, line) = held(&umbo, "held", "echo hi");
    let started = omp.call("bash", &json!({"command": line, "async": true}));
    let id = started["details"]["async"]["jobId"].as_str().unwrap().to_owned();
    ends(&umbo, &gate, &id);
    let told = omp.tool("bash", &json!({"command": "true"}))["_meta"]["umbo/completed"].clone();
    let expected = json!({"state": "completed", "jobId": id, "type": "bash"});
    assert_eq!(told[0]["details"]["async"], expected, "{told}");
    omp.close();
    let mut tasks = client(&umbo, "tasks");
    let (gate, line) = held(&umbo, "later", "echo hi");
    let started = tasks.call("Bash", &json!({"command": line, "run_in_background": true}));
    let id = started["task_id"].as_str().unwrap().to_owned();
    ends(&umbo, &gate, &id);
    let result = tasks.tool("task_list", &json!({}));
    let told = &result["_meta"]["umbo/completed"][0];
    assert_eq!((&told["id"], &told["output"]), (&json!(id), &json!("hi\n")), "{result}");
    let text = result["content"][1]["text"].as_str().unwrap();
    assert_eq!(text, format!("task {id} completed with exit code 0\nhi"));
    tasks.close();
}

#[test]
fn an_error_that_a_schema_has_no_place_for_is_data_beside() {
    let umbo = Umbo::new();
    let mut client = client(&umbo, "lash");
    let result = client.tool("write_stdin", &json!({"process_id": "none"}));
    assert_eq!(result["isError"], true);
    assert_eq!(result["structuredContent"], Value::Null, "{result}");
    assert_eq!(result["_meta"]["umbo/error"]["error"]["code"], "unknown_process");
    assert!(result["content"][0]["text"].as_str().unwrap().contains("unknown process `none`"));
    client.close();
}
