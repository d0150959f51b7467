//! A server that listens, and a client of HTTP that says what it wants, well-formed or not.

use std::cell::Cell;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::newest;
use crate::harness::Umbo;

pub(crate) const TOKEN: &str = "a-token-for-the-tests-0123456789";

/// A process that prints where it listens.
pub(super) struct Listening {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Listening {
    pub(super) fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    pub(super) fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `umbo mcp --http`.
pub(crate) struct Server {
    child: Option<Child>,
    pub(crate) url: String,
    pub(super) address: SocketAddr,
    /// What else it says.
    said: Receiver<String>,
}

impl Server {
    /// One that listens on a port of its own, with the token of the tests.
    pub(crate) fn start(umbo: &Umbo, words: &[&str]) -> Self {
        let words = [&["mcp", "--http", "127.0.0.1:0"], words].concat();
        Self::of(umbo.call(words).env("UMBO_MCP_TOKEN", TOKEN).into_command())
    }

    /// One that was called in some way.
    pub(super) fn of(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = stderr.next().expect("it says where it listens").unwrap();
        let url = first.split_whitespace().find(|word| word.starts_with("http://"));
        let url = url.unwrap_or_else(|| panic!("{first}")).to_owned();
        let address = url.trim_start_matches("http://").trim_end_matches("/mcp").parse().unwrap();
        let (sender, said) = mpsc::channel();
        sender.send(first).unwrap();
        thread::spawn(move || stderr.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child: Some(child), url, address, said }
    }

    /// Asks it to end, as ctrl-c does, and waits for that.
    pub(super) fn interrupt(mut self) -> ExitStatus {
        let mut child = self.child.take().unwrap();
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        child.wait().unwrap()
    }

    /// What it has said so far.
    pub(super) fn said(&self) -> Vec<String> {
        self.said.try_iter().collect()
    }

    /// Sends bytes on a connection of their own.
    pub(super) fn connect(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(bytes).unwrap();
        stream
    }

    /// Sends a request, with the token unless the headers have another or say `-`.
    pub(super) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Response {
        Response::read(self.begin(method, path, headers, body))
    }

    /// The same, and does not wait for the answer.
    pub(super) fn begin(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> TcpStream {
        let mut all = vec![
            ("host".to_owned(), self.address.to_string()),
            ("authorization".to_owned(), format!("Bearer {TOKEN}")),
            ("accept".to_owned(), "application/json, text/event-stream".to_owned()),
            ("content-type".to_owned(), "application/json".to_owned()),
            ("content-length".to_owned(), body.len().to_string()),
        ];
        for (name, value) in headers {
            all.retain(|(other, _)| other != name);
            all.push(((*name).to_owned(), (*value).to_owned()));
        }
        let mut text = format!("{method} {path} HTTP/1.1\r\n");
        for (name, value) in all.iter().filter(|(_, value)| value != "-") {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        text.push_str("\r\n");
        let mut stream = self.connect(text.as_bytes());
        // It may have been refused before it was read.
        let _ = stream.write_all(body);
        stream
    }

    pub(super) fn post(&self, headers: &[(&str, &str)], message: &Value) -> Response {
        self.request("POST", "/mcp", headers, message.to_string().as_bytes())
    }

    /// Begins a session, as the revisions before the newest have it.
    pub(super) fn session(&self) -> Session<'_> {
        self.session_at("/mcp")
    }

    pub(super) fn session_at(&self, path: &str) -> Session<'_> {
        self.session_of(path, "2025-11-25")
    }

    pub(super) fn session_of(&self, path: &str, revision: &str) -> Session<'_> {
        let params = json!({
            "protocolVersion": revision,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let answer = self.request("POST", path, &[], message.to_string().as_bytes());
        assert_eq!(answer.status, 200, "{answer:?}");
        let id = answer.header("mcp-session-id").unwrap().to_owned();
        Session { server: self, id, last: Cell::new(0) }
    }

    /// Sends a request of the newest revision; does not wait for the answer.
    pub(super) fn ask(&self, path: &str, method: &str, params: &Value) -> TcpStream {
        let mut params = params.clone();
        params["_meta"] = newest(&json!({}));
        let name = params["name"].as_str().unwrap_or("-").to_owned();
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
            ("mcp-name", name.as_str()),
        ];
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.begin("POST", path, &headers, message.to_string().as_bytes())
    }

    /// The structured result of a tool, called as the newest revision does.
    #[track_caller]
    pub(super) fn call(&self, path: &str, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let answer = Response::read(self.ask(path, "tools/call", &params)).message();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        answer["result"]["structuredContent"].clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A session of the revisions before the newest.
pub(super) struct Session<'a> {
    pub(super) server: &'a Server,
    pub(super) id: String,
    /// The number of the last request.
    pub(super) last: Cell<u64>,
}

impl Session<'_> {
    /// Asks, and does not wait for the answer.
    pub(super) fn ask(&self, method: &str, params: &Value) -> TcpStream {
        self.last.set(self.last.get() + 1);
        let id = self.last.get();
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let headers = [("mcp-session-id", self.id.as_str())];
        self.server.begin("POST", "/mcp", &headers, message.to_string().as_bytes())
    }

    pub(super) fn request(&self, method: &str, params: &Value) -> Value {
        Response::read(self.ask(method, params)).message()
    }

    /// The structured result of a tool that must succeed.
    #[track_caller]
    pub(super) fn call(&self, tool: &str, arguments: &Value) -> Value {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        answer["result"]["structuredContent"].clone()
    }

    /// Opens the stream on which it is told what it did not ask for.
    pub(super) fn listen(&self) -> Events {
        let headers = [("mcp-session-id", self.id.as_str())];
        Events::new(self.server.begin("GET", "/mcp", &headers, b""))
    }

    pub(super) fn end(self) -> Response {
        self.server.request("DELETE", "/mcp", &[("mcp-session-id", &self.id)], b"")
    }
}

/// An answer, whole.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Response {
    /// Reads one answer.
    pub(super) fn read(stream: TcpStream) -> Self {
        let mut stream = BufReader::new(stream);
        let mut line = || {
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        let first = line();
        let status = first.split(' ').nth(1).unwrap_or_else(|| panic!("no answer: {first:?}"));
        let status = status.parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = line();
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_owned(), value.to_owned()));
        }
        let mut response = Self { status, headers, body: String::new() };
        response.body = match response.header("content-length") {
            Some(length) => exactly(&mut stream, length.parse().unwrap()),
            None if response.header("transfer-encoding").is_some() => chunks(&mut stream),
            None => String::new(),
        };
        response
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The last message in it.
    #[track_caller]
    pub(super) fn message(&self) -> Value {
        let last = self.body.lines().filter_map(|line| line.strip_prefix("data: {")).next_back();
        let text = last.map_or_else(|| self.body.clone(), |rest| format!("{{{rest}"));
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("no message: {self:?}"))
    }

    /// What it says is wrong.
    #[track_caller]
    pub(super) fn error(&self) -> String {
        self.message()["error"]["message"].as_str().unwrap().to_owned()
    }
}

fn exactly(stream: &mut impl Read, length: usize) -> String {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn chunks(stream: &mut impl BufRead) -> String {
    let mut whole = String::new();
    loop {
        let mut length = String::new();
        stream.read_line(&mut length).unwrap();
        let length = usize::from_str_radix(length.trim(), 16).unwrap();
        whole.push_str(exactly(stream, length + 2).trim_end_matches("\r\n"));
        if length == 0 {
            return whole;
        }
        whole.push('\n');
    }
}

/// A stream of messages that goes on.
pub(super) struct Events {
    lines: BufReader<TcpStream>,
}

impl Events {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self { lines: BufReader::new(stream) }
    }

    /// The next message with this method.
    pub(super) fn hear(&mut self, method: &str) -> Value {
        loop {
            let (_, message) = self.next().expect("the stream has ended");
            if message["method"] == method {
                return message;
            }
        }
    }
}

/// Messages with the ids of their events; the end of the stream is the end.
impl Iterator for Events {
    type Item = (String, Value);

    fn next(&mut self) -> Option<Self::Item> {
        let (mut id, mut data) = (String::new(), None);
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(text) = line.trim().strip_prefix("data: {") {
                data = Some(serde_json::from_str(&format!("{{{text}")).unwrap());
            } else if let Some(given) = line.trim().strip_prefix("id: ") {
                given.clone_into(&mut id);
            } else if line.trim() == "0" {
                // The last chunk.
                return None;
            }
            if line.trim().is_empty()
                && let Some(message) = data.take()
            {
                return Some((id, message));
            }
        }
    }
}
