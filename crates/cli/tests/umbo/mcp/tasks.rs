//! The Tasks extension: long calls as tasks, for clients that declare it.

use std::fs;
use std::thread;

use serde_json::{Value, json};

use super::{Client, newest};
use crate::harness::Umbo;

struct Tasks {
    client: Client,
    meta: Value,
}

impl Tasks {
    fn new(umbo: &Umbo) -> Self {
        let capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
        Self { client: Client::start(umbo, &[]), meta: newest(&capabilities) }
    }

    fn request(&mut self, method: &str, mut params: Value) -> Value {
        params["_meta"] = self.meta.clone();
        self.client.request(method, &params)["result"].clone()
    }

    fn exec(&mut self, arguments: &Value) -> Value {
        self.request("tools/call", json!({"name": "exec", "arguments": arguments}))
    }

    /// Asks until the task is no longer at work.
    fn settled(&mut self, id: &Value) -> Value {
        loop {
            let task = self.request("tasks/get", json!({"taskId": id}));
            if task["status"] != "working" {
                return task;
            }
            thread::yield_now();
        }
    }
}

#[test]
fn a_long_call_becomes_a_task_and_a_short_one_does_not() {
    let umbo = Umbo::new();
    let mut tasks = Tasks::new(&umbo);
    let short = tasks.exec(&json!({"command": "echo hi"}));
    assert_eq!(short["structuredContent"]["output"], "hi\n");
    let line = "echo compiling; while ! test -e go; do sleep 0.05; done; echo done";
    let task = tasks.exec(&json!({"command": line}));
    assert_eq!(
        (&task["resultType"], &task["status"]),
        (&json!("task"), &json!("working")),
        "{task}"
    );
    let id = task["taskId"].clone();
    let told = tasks.request("tasks/get", json!({"taskId": id}));
    assert_eq!(told["status"], "working");
    assert!(told["pollIntervalMs"].is_u64() && told["ttlMs"].is_u64(), "{told}");
    fs::write(umbo.path().join("go"), "").unwrap();
    let task = tasks.settled(&id);
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(task["result"]["structuredContent"]["output"], "compiling\ndone\n");
    let unknown = tasks.client.request(
        "tasks/get",
        &json!({"taskId": "nothing", "_meta": newest(&json!({"extensions": {"io.modelcontextprotocol/tasks": {}}}))}),
    );
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    // Who did not declare it is answered as ever, and may not ask.
    let undeclared = json!({"taskId": id, "_meta": newest(&json!({}))});
    let refused = tasks.client.request("tasks/get", &undeclared);
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    tasks.client.close();
}

#[test]
fn a_cancelled_task_takes_its_whole_tree_with_it() {
    let umbo = Umbo::new();
    let mut tasks = Tasks::new(&umbo);
    let line = format!("setsid {0} & {0} & wait", umbo.nap());
    let id = tasks.exec(&json!({"command": line, "name": "tree"}))["taskId"].clone();
    umbo.wait_nappers(2);
    tasks.request("tasks/cancel", json!({"taskId": id}));
    assert_eq!(tasks.settled(&id)["status"], "cancelled");
    assert_eq!(umbo.outcome(&umbo.listed_by_name("tree"))["state"], "stopped");
    assert!(umbo.nappers().is_empty());
    // One that nobody cancels goes when the client does.
    tasks.exec(&json!({"command": umbo.nap()}));
    umbo.wait_nappers(1);
    tasks.client.close();
    assert!(umbo.nappers().is_empty());
}
