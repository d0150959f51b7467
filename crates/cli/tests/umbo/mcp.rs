//! `umbo mcp`: the tools over the Model Context Protocol, frame by frame.

mod approvals;
mod beside;
mod cancelled;
mod clients;
mod embedded;
mod http;
mod log;
mod pipe;
mod resources;
mod schemas;
mod tasks;
mod web;
mod wire;

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::{Value, json};

pub(crate) use clients::installed;
pub(crate) use web::{Server, TOKEN};

use crate::harness::Umbo;

/// A client that says what it wants, well-formed or not.
pub(crate) struct Client {
    child: Child,
    stdin: Option<Box<dyn Write>>,
    stdout: BufReader<Box<dyn Read>>,
    next: u64,
    /// What came before the answer that was waited for.
    heard: Vec<Value>,
}

impl Client {
    /// One that has not said anything yet.
    fn start(umbo: &Umbo, words: &[&str]) -> Self {
        Self::of(&mut umbo.call([&["mcp"], words].concat()).into_command())
    }

    /// The same of a server that is called in some way.
    pub(crate) fn of(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self::at(child, stdin, stdout)
    }

    /// The same with sockets in place of pipes, as Node makes them.
    fn of_sockets(command: &mut Command) -> Self {
        let (input, its_input) = UnixStream::pair().unwrap();
        let (output, its_output) = UnixStream::pair().unwrap();
        command.stdin(OwnedFd::from(its_input)).stdout(OwnedFd::from(its_output));
        let child = command.spawn().unwrap();
        // It has copies of its ends, and so has the command.
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Self::at(child, input, output)
    }

    fn at(child: Child, stdin: impl Write + 'static, stdout: impl Read + 'static) -> Self {
        let (stdin, stdout) = (Some(Box::new(stdin) as _), BufReader::new(Box::new(stdout) as _));
        Self { child, stdin, stdout, next: 1, heard: Vec::new() }
    }

    /// One that has been through the handshake.
    fn new(umbo: &Umbo) -> Self {
        let mut client = Self::start(umbo, &[]);
        client.initialize("2025-11-25");
        client
    }

    pub(crate) fn initialize(&mut self, revision: &str) -> Value {
        self.initialize_with(revision, &json!({}))
    }

    /// Begins as one that can do more than most.
    pub(crate) fn initialize_with(&mut self, revision: &str, capabilities: &Value) -> Value {
        self.initialize_as("test", revision, capabilities)
    }

    /// Begins under a name.
    fn initialize_as(&mut self, name: &str, revision: &str, capabilities: &Value) -> Value {
        let answer = self.request(
            "initialize",
            &json!({
                "protocolVersion": revision,
                "capabilities": capabilities,
                "clientInfo": {"name": name, "version": "1"},
            }),
        );
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer["result"].clone()
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    fn send_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Asks, and does not wait for the answer.
    fn ask(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Asks and waits for the answer.
    fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    pub(crate) fn ask_tool(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// The result of a tool.
    pub(crate) fn tool(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.ask_tool(tool, arguments);
        self.answer(id)["result"].clone()
    }

    /// The structured result of a tool that must succeed.
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.tool(tool, arguments);
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "the server has closed its output");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"))
    }

    pub(crate) fn answer(&mut self, id: u64) -> Value {
        if let Some(at) = self.heard.iter().position(|message| message["id"] == id) {
            return self.heard.remove(at);
        }
        loop {
            let message = self.read();
            if message["id"] == id {
                return message;
            }
            self.heard.push(message);
        }
    }

    /// The next notification or request with this method.
    pub(crate) fn hear(&mut self, method: &str) -> Value {
        if let Some(at) = self.heard.iter().position(|message| message["method"] == method) {
            return self.heard.remove(at);
        }
        loop {
            let message = self.read();
            if message["method"] == method {
                return message;
            }
            self.heard.push(message);
        }
    }

    /// Closes its end; the server must end well.
    fn close(mut self) {
        self.stdin = None;
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.stdout, &mut rest).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

/// What a request of the newest revision carries.
fn newest(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

#[test]
fn every_revision_that_clients_speak_is_spoken() {
    let umbo = Umbo::new();
    for revision in ["2025-11-25", "2025-06-18", "2025-03-26"] {
        let mut client = Client::start(&umbo, &[]);
        let info = client.initialize(revision);
        assert_eq!(info["protocolVersion"], revision);
        assert_eq!(info["serverInfo"]["name"], "umbo");
        assert_eq!(client.call("exec", &json!({"command": "echo hi"}))["output"], "hi\n");
        client.close();
    }
    // The newest has no handshake: every request says what it speaks.
    let mut client = Client::start(&umbo, &[]);
    let meta = newest(&json!({}));
    let found = client.request("server/discover", &json!({"_meta": meta}));
    let spoken = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
    assert_eq!(found["result"]["supportedVersions"], json!(spoken), "{found}");
    let arguments = json!({"command": "echo hi"});
    let params = json!({"name": "exec", "arguments": arguments, "_meta": meta});
    let answer = client.request("tools/call", &params);
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    assert_eq!(answer["result"]["structuredContent"]["output"], "hi\n");
    client.close();
}

#[test]
fn a_client_that_shows_its_model_the_structure_gets_the_text_alone() {
    let umbo = Umbo::new();
    for name in ["claude-code", "codex-mcp-client", "Visual Studio Code - Insiders"] {
        let mut client = Client::start(&umbo, &[]);
        client.initialize_as(name, "2025-11-25", &json!({}));
        let tools = client.request("tools/list", &json!({}))["result"]["tools"].clone();
        let tools = tools.as_array().unwrap();
        assert!(tools.iter().all(|tool| tool.get("outputSchema").is_none()), "{tools:?}");
        let result = client.tool("exec", &json!({"command": "echo '\"hi\"'"}));
        assert_eq!(result.get("structuredContent"), None, "{result}");
        assert!(result["content"][0]["text"].as_str().unwrap().starts_with("\"hi\"\n"), "{result}");
        client.close();
    }
}

#[test]
fn a_client_that_would_hide_the_name_of_a_wrong_field_lets_it_through() {
    let umbo = Umbo::new();
    let mut client = Client::start(&umbo, &[]);
    client.initialize_as("gemini-cli-mcp-client", "2025-11-25", &json!({}));
    let tools = client.request("tools/list", &json!({}))["result"]["tools"].clone();
    for tool in tools.as_array().unwrap() {
        assert_eq!(tool["inputSchema"].get("additionalProperties"), None, "{tool}");
    }
    let result = client.tool("exec", &json!({"comand": "echo hi"}));
    assert!(result["content"][0]["text"].as_str().unwrap().starts_with("comand: "), "{result}");
    client.close();
}

#[test]
fn whether_there_is_structure_beside_the_text_can_be_said_for_all_clients() {
    let umbo = Umbo::new();
    for (name, structure, is_there) in [("claude-code", "always", true), ("mcp", "never", false)] {
        let command = umbo.call(["mcp"]).env("UMBO_MCP_STRUCTURE", structure);
        let mut client = Client::of(&mut command.into_command());
        client.initialize_as(name, "2025-11-25", &json!({}));
        let tools = client.request("tools/list", &json!({}))["result"]["tools"].clone();
        let tools = tools.as_array().unwrap();
        assert!(tools.iter().all(|tool| tool.get("outputSchema").is_some() == is_there));
        for arguments in [json!({"command": "echo hi"}), json!({})] {
            let result = client.tool("exec", &arguments);
            assert_eq!(result.get("structuredContent").is_some(), is_there, "{result}");
        }
        client.close();
    }
}

#[test]
fn the_list_is_what_umbo_tools_prints() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let answer = client.request("tools/list", &json!({}));
    let tools = &answer["result"]["tools"];
    let printed = umbo.call(["tools", "--json"]).json();
    assert_eq!(*tools, printed);
    let bytes = answer["result"].to_string().len();
    assert!(bytes <= 6 * 1024, "{bytes} bytes");
    client.close();
}

#[test]
fn the_list_of_each_set_is_small() {
    let umbo = Umbo::new();
    let files = ["read", "search", "find", "tree", "write", "edit", "undo"];
    let shell = ["exec", "output", "input", "wait", "stop", "jobs", "recipe"];
    for (sets, names) in [
        ("shell", shell.to_vec()),
        ("files", files.to_vec()),
        ("shell,files", [shell, files].concat()),
    ] {
        let mut client = Client::start(&umbo, &["--tools", sets]);
        client.initialize("2025-11-25");
        let answer = client.request("tools/list", &json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap();
        let listed: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(listed, names);
        let bytes = answer["result"].to_string().len();
        assert!(bytes <= 6 * 1024 * sets.split(',').count(), "{sets}: {bytes} bytes");
        client.close();
    }
    umbo.call(["mcp", "--tools", "nothing"]).answer().expect_status(125);
}

#[test]
fn an_image_is_shown_as_one() {
    let umbo = Umbo::new();
    let image = concat!(env!("CARGO_MANIFEST_DIR"), "/../files/fixtures/dot.png");
    std::fs::copy(image, umbo.path().join("dot.png")).unwrap();
    let mut client = Client::start(&umbo, &["--tools", "files"]);
    client.initialize("2025-11-25");
    let result = client.tool("read", &json!({"path": "dot.png"}));
    let content = result["content"].as_array().unwrap();
    assert_eq!(
        (&content[1]["type"], &content[1]["mimeType"]),
        (&json!("image"), &json!("image/png"))
    );
    assert!(content[1]["data"].as_str().unwrap().starts_with("iVBOR"), "{result}");
    assert_eq!(result["structuredContent"]["kind"], "image");
    assert!(result["structuredContent"].get("data").is_none(), "{result}");
    client.close();
}

#[test]
fn text_and_structure_say_the_same() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let result = client.tool("exec", &json!({"command": "echo hi; exit 2"}));
    let text = result["content"][0]["text"].as_str().unwrap();
    let job = result["structuredContent"]["job"].as_str().unwrap();
    let short = &job[job.len() - 6..];
    assert!(text.starts_with(&format!("hi\n[umbo: {short}: exited, code 2, ")), "{text}");
    let error = client.tool("exec", &json!({"command": 3}));
    assert_eq!(error["isError"], true);
    assert_eq!(error["structuredContent"]["error"]["field"], "command");
    let unknown = client.ask_tool("exce", &json!({}));
    assert_eq!(client.answer(unknown)["error"]["code"], -32602);
    client.close();
}

/// Fields that only programs need: times, sizes, paths that a reader can ask for, and what the text says in
/// other words.
const FOR_PROGRAMS: &str = "artifact completed contained_by created_at cwd duration_ms effects ended_at \
                            full_output_path leaked_count offset original_token_count owner parent pid \
                            sandbox session started_at tokens total_bytes total_lines usage";

/// What a structure has and its text does not say: clients show their models one or the other.
fn unsaid(value: &Value, text: &str, place: &str, found: &mut Vec<String>) {
    let is_said = match value {
        Value::Object(map) => {
            let may_grow = map.get("state").is_some_and(|state| state == "started");
            for (name, value) in map {
                let is_for_programs = FOR_PROGRAMS.split_whitespace().any(|known| known == name)
                    || (name == "next_offset" && !may_grow)
                    || (name == "omitted_bytes" && *value == 0);
                if !is_for_programs {
                    unsaid(value, text, &format!("{place}/{name}"), found);
                }
            }
            true
        }
        Value::Array(items) => {
            for item in items {
                unsaid(item, text, &format!("{place}/#"), found);
            }
            true
        }
        Value::Null | Value::Bool(_) => true,
        Value::Number(number) => {
            let number = number.to_string();
            text.split(|c: char| !c.is_ascii_digit()).any(|word| word == number)
        }
        Value::String(word) => match word.as_str() {
            "started" => text.contains("running"),
            // The id of a job by its end, which names it as well.
            id if id.len() == 26 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                text.contains(&id[20..])
            }
            word => word.lines().all(|line| text.contains(line.trim())),
        },
    };
    if !is_said {
        found.push(format!("{place}: {value}"));
    }
}

#[test]
fn the_text_of_each_tool_says_what_its_structure_says() {
    let umbo = Umbo::new();
    // What is dangerous runs unasked, too.
    let mut client = Client::start(&umbo, &["--mode", "open"]);
    client.initialize("2025-11-25");
    let asks = "echo ready 42; read x; echo got $x; exit 4";
    let nap = umbo.nap();
    for (tool, arguments) in [
        ("exec", json!({"command": "echo hi; exit 2"})),
        ("exec", json!({"command": asks, "background": true, "name": "b"})),
        ("wait", json!({"job": "b", "match": "ready \\d+"})),
        ("wait", json!({"job": "b", "quiet": 0.05})),
        ("wait", json!({"job": "b", "timeout": 0.05})),
        ("output", json!({"job": "b"})),
        ("jobs", json!({})),
        ("input", json!({"job": "b", "text": "yes\n"})),
        ("wait", json!({"job": "b"})),
        ("output", json!({"job": "b"})),
        ("output", json!({"job": "b", "grep": "got"})),
        ("jobs", json!({})),
        ("exec", json!({"command": nap, "background": true, "name": "n"})),
        ("stop", json!({"job": "n"})),
        ("exec", json!({"command": "kill -9 $$"})),
        ("exec", json!({"command": nap, "timeout": 0.2})),
    ] {
        let result = client.tool(tool, &arguments);
        let text = result["content"][0]["text"].as_str().unwrap();
        let mut found = Vec::new();
        unsaid(&result["structuredContent"], text, "", &mut found);
        assert_eq!(found, [] as [&str; 0], "{tool} {arguments}: {result}");
    }
    client.close();
}

#[test]
fn who_waits_is_told_the_tail() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let line = "echo compiling; while ! test -e go; do sleep 0.05; done; echo done";
    let id = client.ask(
        "tools/call",
        &json!({"name": "exec", "arguments": {"command": line}, "_meta": {"progressToken": "t"}}),
    );
    let told = client.read();
    assert_eq!(told["method"], "notifications/progress");
    assert_eq!(told["params"]["progressToken"], "t");
    assert!(told["params"]["message"].as_str().unwrap().ends_with("\ncompiling"), "{told}");
    std::fs::write(umbo.path().join("go"), "").unwrap();
    assert_eq!(client.answer(id)["result"]["structuredContent"]["output"], "compiling\ndone\n");
    client.close();
}

#[test]
fn a_cancelled_call_takes_its_whole_tree_with_it() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let line = format!("setsid {0} & {0} & echo up; wait", umbo.nap());
    let id = client.ask(
        "tools/call",
        &json!({"name": "exec", "arguments": {"command": line}, "_meta": {"progressToken": 1}}),
    );
    assert!(client.read()["params"]["message"].as_str().unwrap().ends_with("up"));
    assert_eq!(umbo.nappers().len(), 2);
    let params = json!({"requestId": id, "reason": "changed my mind"});
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params,
    }));
    let jobs = umbo.jobs();
    let job = jobs[0]["job"].as_str().unwrap();
    assert_eq!(umbo.outcome(job)["state"], "stopped");
    assert!(umbo.nappers().is_empty());
    // The server is there for the next one.
    assert_eq!(client.call("exec", &json!({"command": "echo hi"}))["output"], "hi\n");
    client.close();
}

#[test]
fn the_end_of_the_input_ends_the_foreground_and_leaves_the_background() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let nap = umbo.nap();
    client.call("exec", &json!({"command": nap, "background": true, "name": "stays"}));
    let yielded = client.call("exec", &json!({"command": nap, "yield": 0.1, "name": "yielded"}));
    assert_eq!(yielded["state"], "started");
    let arguments = json!({"command": nap, "yield": 0.1, "name": "bound", "on_disconnect": "stop"});
    assert_eq!(client.call("exec", &arguments)["state"], "started");
    let arguments = json!({"command": nap, "name": "waited"});
    let params = json!({"name": "exec", "arguments": arguments});
    client.ask("tools/call", &params);
    let mut other = Client::new(&umbo);
    loop {
        let jobs = other.call("jobs", &json!({"scope": "all"}));
        if jobs["jobs"].as_array().unwrap().iter().filter(|job| job["pid"].is_i64()).count() == 4 {
            break;
        }
        thread::yield_now();
    }
    assert!(other.call("jobs", &json!({}))["jobs"].as_array().unwrap().is_empty());
    client.close();
    for name in ["bound", "waited"] {
        assert_eq!(umbo.outcome(&umbo.listed_by_name(name))["state"], "stopped", "{name}");
    }
    assert_eq!(umbo.nappers().len(), 2, "what was handed over outlives who asked for it");
    for name in ["stays", "yielded"] {
        let unknown = other.tool("stop", &json!({"job": name, "kill": true}));
        assert_eq!(unknown["isError"], true, "a name is its own client's: {unknown}");
        let id = umbo.listed_by_name(name);
        let stopped = other.call("stop", &json!({"job": id, "kill": true}));
        assert_eq!(stopped["stopped"][0]["state"], "stopped");
    }
    other.close();
}

#[test]
fn what_ended_unseen_is_told_once() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    client.call("exec", &json!({"command": "read x; exit 4", "background": true, "name": "b"}));
    let job = umbo.listed_by_name("b");
    umbo.call(["input", &job, "\n"]).run();
    umbo.outcome(&job);
    let result = client.tool("jobs", &json!({}));
    let completed = &result["structuredContent"]["completed"];
    assert_eq!((&completed[0]["name"], &completed[0]["exit_code"]), (&json!("b"), &json!(4)));
    assert!(result["content"][1]["text"].as_str().unwrap().contains("exited with code 4"));
    assert!(client.call("jobs", &json!({})).get("completed").is_none());
    // Who was told by a result of its own is not told again.
    client.call("exec", &json!({"command": "read x", "background": true, "name": "c"}));
    client.call("input", &json!({"job": "c", "eof": true}));
    assert_eq!(client.call("wait", &json!({"job": "c"}))["reason"], "exit");
    assert!(client.call("jobs", &json!({})).get("completed").is_none());
    client.close();
}

#[test]
fn nonsense_is_answered_or_ignored_and_the_server_stays() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    client.send_bytes(b"this is no JSON\n\n\x00\xff\xfe\n{\"jsonrpc\": \"2.0\"\n[]\n");
    client.send(&json!({"jsonrpc": "2.0", "id": 900, "method": "no/such/method"}));
    assert_eq!(client.answer(900)["error"]["code"], -32601);
    let mut long = vec![b'x'; 50 << 20];
    long.push(b'\n');
    client.send_bytes(&long);
    assert_eq!(client.call("exec", &json!({"command": "echo hi"}))["output"], "hi\n");
    // Half a frame, and then the end.
    client.send_bytes(br#"{"jsonrpc": "2.0", "id": 901, "method": "tools/ca"#);
    client.close();
}

#[test]
fn params_that_do_not_fit_are_told_by_their_field() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let cases = [
        ("tools/call", json!({"name": "exec", "arguments": "ls"}), "arguments"),
        ("tools/call", json!({"name": 5}), "name"),
        ("tools/call", json!({"arguments": {}}), "name"),
        ("resources/read", json!({}), "uri"),
        ("logging/setLevel", json!({"level": "loud"}), "level"),
    ];
    for (method, params, field) in cases {
        let error = client.request(method, &params)["error"].clone();
        assert_eq!((&error["code"], &error["data"]["field"]), (&json!(-32602), &json!(field)));
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("{method}: {field}: ")), "{message}");
        assert!(message.contains(" was given; accepted: "), "{message}");
    }
    client.close();
}

#[test]
fn a_name_means_a_job_of_ones_own() {
    let umbo = Umbo::new();
    let mut one = Client::new(&umbo);
    let mut other = Client::of(umbo.call(["mcp"]).into_command().env("UMBO_OWNER", "others"));
    other.initialize("2025-11-25");
    let web = |says: &str| {
        let line = format!("echo {says}; {}", umbo.nap());
        json!({"command": line, "background": true, "name": "web"})
    };
    let mine = one.call("exec", &web("mine"))["job"].clone();
    let theirs = other.call("exec", &web("theirs"))["job"].clone();
    for name in ["web", "@last"] {
        let met = one.call("wait", &json!({"job": name, "match": "mine|theirs"}));
        assert_eq!((&met["job"], &met["text"]), (&mine, &json!("mine")), "{met}");
    }
    assert_eq!(one.call("stop", &json!({"job": "web"}))["stopped"][0]["job"], mine);
    // Its own one is over, and still the one that is meant.
    assert_eq!(one.call("output", &json!({"job": "web"}))["output"], "mine\n");
    let mut third = Client::new(&umbo);
    let refused = third.tool("stop", &json!({"job": "web"}));
    let message = refused["structuredContent"]["error"]["message"].as_str().unwrap();
    assert!(message.contains(theirs.as_str().unwrap()), "{message}");
    // Who has the id, means it.
    let stopped = third.call("stop", &json!({"job": theirs}));
    assert_eq!(stopped["stopped"][0]["job"], theirs);
    for client in [one, other, third] {
        client.close();
    }
}

#[test]
fn who_asks_for_more_gets_more_of_a_long_line() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let line = "seq -s, 1 2000; echo end";
    let short = client.call("exec", &json!({"command": line}));
    assert_eq!(short["truncated"], true);
    assert!(short["output"].as_str().unwrap().contains("more bytes in this line"));
    let cut = client.call("output", &json!({"job": short["job"], "from": 0}));
    assert_eq!((&cut["truncated"], &cut["at_end"]), (&json!(true), &json!(true)));
    let arguments = json!({"job": short["job"], "from": 0, "max_output_tokens": 100_000});
    let whole = client.call("output", &arguments);
    assert_eq!(whole["truncated"], false);
    assert!(whole["output"].as_str().unwrap().ends_with("1999,2000\nend\n"));
    client.close();
}

#[test]
fn the_same_id_twice_runs_both_and_breaks_nothing() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let params = json!({"name": "exec", "arguments": {"command": "echo hi"}});
    for _ in 0..2 {
        client.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}));
    }
    assert_eq!(client.answer(7)["result"]["structuredContent"]["output"], "hi\n");
    client.next = 100;
    assert_eq!(client.call("exec", &json!({"command": "echo ho"}))["output"], "ho\n");
    client.close();
}

#[test]
fn two_hundred_calls_at_once_are_all_answered() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let mut ids: Vec<u64> = (0..200)
        .map(|number| client.ask_tool("exec", &json!({"command": format!("echo {number}")})))
        .collect();
    while !ids.is_empty() {
        let message = client.read();
        let id = message["id"].as_u64().unwrap();
        let number = id - 2;
        assert_eq!(message["result"]["structuredContent"]["output"], format!("{number}\n"));
        ids.retain(|other| *other != id);
    }
    client.close();
}

#[test]
fn a_client_that_never_reads_is_left_when_it_leaves() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    for _ in 0..40 {
        client.ask_tool("exec", &json!({"command": "seq 1 20000"}));
    }
    let line = format!("touch up; {}", umbo.nap());
    client.ask_tool("exec", &json!({"command": line}));
    while !umbo.path().join("up").exists() {
        thread::yield_now();
    }
    // Its end of the input is closed; the answers stay where they are.
    client.stdin = None;
    assert!(client.child.wait().unwrap().success());
    assert!(umbo.nappers().is_empty());
}

#[test]
fn a_client_that_is_killed_takes_its_foreground_with_it() {
    let umbo = Umbo::new();
    let mut client = Client::new(&umbo);
    let line = format!("echo up; {}", umbo.nap());
    let params = json!({
        "name": "exec", "arguments": {"command": line}, "_meta": {"progressToken": 1},
    });
    client.ask("tools/call", &params);
    client.hear("notifications/progress");
    assert_eq!(umbo.nappers().len(), 1);
    // Not its end of the pipe but the server itself: nobody is left to clean up.
    client.child.kill().unwrap();
    client.child.wait().unwrap();
    let job = umbo.jobs()[0]["job"].as_str().unwrap().to_owned();
    let outcome = umbo.outcome(&job);
    assert_eq!((&outcome["state"], &outcome["by"]), (&json!("stopped"), &json!("disconnect")));
    assert!(umbo.nappers().is_empty());
}
