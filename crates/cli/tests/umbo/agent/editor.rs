//! An editor: the protocol's official client library for Python, over the pipes of the real binary.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};

use serde_json::{Value, json};

use super::{Case, DEADLINE, Scene};
use crate::harness::UMBO;
use crate::mcp::installed;

/// What an editor can show to a person.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Questions {
    /// Options to choose from.
    Choices,
    /// Forms as well.
    Forms,
}

/// An editor that is connected to an agent.
pub(super) struct Editor {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// The agent's process.
    agent: i32,
    pub(super) updates: Vec<Value>,
    pub(super) asked: Vec<Value>,
    answers: HashMap<u64, Value>,
    count: u64,
}

impl Editor {
    /// Starts an agent and connects to it. The choices are what the person says to questions.
    pub(super) fn start(scene: &Scene, case: Case, words: &[&str], choices: &Value) -> Self {
        Self::start_with(scene, case, words, choices, Questions::Choices)
    }

    /// The same, with what it can show to a person.
    pub(super) fn start_with(
        scene: &Scene,
        case: Case,
        words: &[&str],
        choices: &Value,
        questions: Questions,
    ) -> Self {
        let words = [&["agent", "--mode", "acp", "--model", case.model], words].concat();
        let model = scene.call(&words).into_command();
        let mut command = Command::new(installed("acp/bin/python"));
        command.env_clear();
        for (name, value) in model.get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/umbo/agent/acp_client.py");
        if questions == Questions::Forms {
            command.env("SHOWS_FORMS", "yes");
        }
        command.arg(script).arg(choices.to_string()).arg(UMBO).args(model.get_args());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.current_dir(scene.umbo.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        let first: Value = lines.recv_timeout(DEADLINE).unwrap();
        let known = &first["known"];
        assert_eq!(known["protocolVersion"], 1, "{known}");
        assert_eq!(known["agentCapabilities"]["loadSession"], true, "{known}");
        let agent = first["process"].as_i64().unwrap().try_into().unwrap();
        let (updates, asked, answers) = (Vec::new(), Vec::new(), HashMap::new());
        Self { child, stdin, lines, agent, updates, asked, answers, count: 0 }
    }

    /// Reads what comes next.
    fn read(&mut self) {
        let mut line =
            self.lines.recv_timeout(DEADLINE).unwrap_or_else(|_| panic!("{:#?}", self.updates));
        if line["update"].is_object() {
            self.updates.push(line["update"].take());
        } else if line["asked"].is_object() {
            self.asked.push(line["asked"].take());
        } else {
            self.answers.insert(line["answer"].as_u64().unwrap(), line);
        }
    }

    /// Sends a request, and goes on.
    pub(super) fn send(&mut self, call: &str, words: &Value) -> u64 {
        self.count += 1;
        let request = json!({"id": self.count, "call": call, "with": words});
        writeln!(self.stdin.as_mut().unwrap(), "{request}").unwrap();
        self.count
    }

    /// Waits for the answer to a request.
    pub(super) fn answer(&mut self, id: u64) -> Result<Value, String> {
        loop {
            if let Some(mut answer) = self.answers.remove(&id) {
                return match answer["error"]["message"].as_str() {
                    Some(message) => Err(message.to_owned()),
                    None => Ok(answer["result"].take()),
                };
            }
            self.read();
        }
    }

    pub(super) fn call(&mut self, call: &str, words: &Value) -> Result<Value, String> {
        let id = self.send(call, words);
        self.answer(id)
    }

    pub(super) fn new_session(&mut self, directory: &Path) -> String {
        let made = self.call("new_session", &json!({"cwd": directory})).unwrap();
        made["sessionId"].as_str().unwrap().to_owned()
    }

    /// Prompts, and goes on.
    pub(super) fn start_prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{"type": "text", "text": text}]);
        self.send("prompt", &json!({"session_id": session, "prompt": prompt}))
    }

    /// Why a prompt ended.
    pub(super) fn stop(&mut self, prompt: u64) -> String {
        let answer = self.answer(prompt).unwrap();
        answer["stopReason"].as_str().unwrap().to_owned()
    }

    /// Prompts and waits for the end of the turn.
    pub(super) fn prompt(&mut self, session: &str, text: &str) -> String {
        let prompt = self.start_prompt(session, text);
        self.stop(prompt)
    }

    pub(super) fn cancel(&mut self, session: &str) {
        self.call("cancel", &json!({"session_id": session})).unwrap();
    }

    /// Waits until something was seen.
    pub(super) fn until(&mut self, is_there: impl Fn(&Self) -> bool) {
        while !is_there(self) {
            self.read();
        }
    }

    /// The updates of a kind.
    pub(super) fn of(&self, kind: &str) -> Vec<&Value> {
        self.updates.iter().filter(|update| update["sessionUpdate"] == kind).collect()
    }

    /// What was told in pieces of a kind, in one text.
    pub(super) fn text(&self, kind: &str) -> String {
        let chunks = self.of(kind);
        chunks.iter().filter_map(|chunk| chunk["content"]["text"].as_str()).collect()
    }

    /// The calls, each as all updates together make it, with the states that it went through.
    pub(super) fn calls(&self) -> Vec<Value> {
        let mut calls: Vec<Value> = Vec::new();
        for update in &self.updates {
            let kind = update["sessionUpdate"].as_str().unwrap();
            let known = calls.iter().position(|call| call["toolCallId"] == update["toolCallId"]);
            match (kind, known) {
                ("tool_call", None) => {
                    let mut call = update.clone();
                    call["states"] = json!([update["status"]]);
                    calls.push(call);
                }
                ("tool_call_update", Some(at)) => {
                    for (name, value) in update.as_object().unwrap() {
                        calls[at][name] = value.clone();
                    }
                    if update["status"].is_string() {
                        calls[at]["states"].as_array_mut().unwrap().push(update["status"].clone());
                    }
                }
                ("tool_call" | "tool_call_update", _) => {
                    panic!("a call is told once, and before its updates: {update}")
                }
                _ => {}
            }
        }
        calls
    }

    /// `kill -9` of the agent.
    pub(super) fn kill(mut self) {
        let agent = rustix::process::Pid::from_raw(self.agent).unwrap();
        rustix::process::kill_process(agent, rustix::process::Signal::KILL).unwrap();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes the connection; the library waits until the agent has ended.
    pub(super) fn close(mut self) {
        self.stdin = None;
        assert!(self.child.wait().unwrap().success());
    }
}
