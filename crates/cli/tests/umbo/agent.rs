//! `umbo agent`, `umbo models`, `umbo sessions`: the real binary, against a model server on loopback
//! that speaks the four vendors' formats from a script and refuses what they would refuse.

mod acp;
mod conversation;
mod drained;
mod editor;
mod killed;
mod mcp;
mod oh_my_pi;
mod print;
mod rpc;
mod secrets;
mod sessions;
mod terminal;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use umbo_model::server::{Answer, ModelServer, Received, Reply, check_request};

use crate::harness::{Call, Umbo};

/// Generous to a busy machine.
const DEADLINE: Duration = Duration::from_mins(1);

/// A model, and how its dialect runs a command.
#[derive(Clone, Copy)]
struct Case {
    model: &'static str,
    tool: &'static str,
    field: &'static str,
}

/// One of each wire format; three dialects.
const CASES: [Case; 4] = [
    Case { model: "anthropic/claude-sonnet-5", tool: "Bash", field: "command" },
    Case { model: "openai/gpt-5.5", tool: "exec_command", field: "cmd" },
    Case { model: "openai-chat/qwen3:8b", tool: "exec", field: "command" },
    Case { model: "gemini/gemini-3.5-flash", tool: "exec", field: "command" },
];

impl Case {
    /// A call that runs a command.
    fn command(&self, id: &str, line: &str) -> Answer {
        self.and_command(Answer::new(), id, line)
    }

    fn and_command(&self, answer: Answer, id: &str, line: &str) -> Answer {
        answer.and_call(id, self.tool, &json!({self.field: line}))
    }
}

/// An umbo and the models it can ask.
struct Scene {
    umbo: Umbo,
    server: ModelServer,
}

impl Scene {
    fn new(replies: Vec<Reply>) -> Self {
        Self::with(ModelServer::scripted(replies).unwrap())
    }

    fn scripted(script: impl FnMut(&Received) -> Reply + Send + 'static) -> Self {
        Self::with(ModelServer::start(script).unwrap())
    }

    fn with(server: ModelServer) -> Self {
        Self { umbo: Umbo::with_deadline(DEADLINE), server }
    }

    /// What the model answers, where that depends on the scene.
    fn script(&mut self, replies: Vec<Reply>) {
        self.server = ModelServer::scripted(replies).unwrap();
    }

    /// A call of umbo that reaches the server.
    fn call(&self, words: &[&str]) -> Call<'_> {
        let url = self.server.url();
        let call = self.umbo.call(words);
        ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"]
            .iter()
            .fold(call, |call, name| call.env(name, "key-of-the-test-1234567890"))
            .env("ANTHROPIC_BASE_URL", &url)
            .env("OPENAI_BASE_URL", format!("{url}/v1"))
            .env("GEMINI_BASE_URL", &url)
    }

    /// `umbo agent --model MODEL WORDS -p PROMPT`.
    fn agent(&self, model: &str, words: &[&str], prompt: &str) -> Call<'_> {
        self.call(&[&["agent", "--model", model], words, &["-p", prompt]].concat())
    }

    /// The events of `umbo agent --json`.
    fn events(&self, model: &str, words: &[&str], prompt: &str) -> Vec<Value> {
        let answer = self.agent(model, &[&["--json"], words].concat(), prompt).answer();
        assert!(answer.stderr.is_empty(), "{answer:?}");
        answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The one session there is.
    fn session_file(&self) -> PathBuf {
        let mut files = Vec::new();
        for folder in fs::read_dir(self.umbo.state().join("agent-sessions")).unwrap().flatten() {
            files.extend(fs::read_dir(folder.path()).unwrap().flatten().map(|file| file.path()));
        }
        assert_eq!(files.len(), 1, "{files:?}");
        files.remove(0)
    }

    /// Every request was one that its vendor accepts.
    fn check(&self) {
        for request in self.server.requests() {
            check_request(&request).unwrap_or_else(|problem| panic!("{problem}: {}", request.text));
        }
    }
}

/// The events of a kind.
fn of<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}
