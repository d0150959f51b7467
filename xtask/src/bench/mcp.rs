//! What an agent waits for: umbo's server beside others', with one client, in turns.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::exec::{Load, OUTSTANDING, TURNS, many};
use super::{Sample, bare, microseconds, ratio};
use crate::failure::{Done, Failure};
use crate::proc;
use crate::scratch::{Options, Scratch};
use crate::workspace::{execute, has_program, root, say};

/// Short commands that are checked for what they wrote.
const CHECKED: usize = 20_000;
/// Calls of each kind that are timed.
const ROUNDS: usize = 200;
/// Starts of each server that are timed.
const STARTS: usize = 5;
/// Calls of which so many are outstanding.
const CALLS: usize = 1_200;
/// Commands at once.
const AT_ONCE: usize = 64;
/// Of as many commands that umbo is given, a peer is given one: they are slow.
const PEER_SHARE: usize = 20;
/// As long as a client does nothing before it calls, as an agent that thinks.
const REST: Duration = Duration::from_millis(10);

pub(crate) fn run(words: &[&str]) -> Done {
    let (only_tokens, words) = match words {
        ["tokens", rest @ ..] => (true, rest),
        words => (false, words),
    };
    let options = Options::parse(words)?;
    let checked = options.number(CHECKED)?;
    let scratch = Scratch::open(&options)?;
    super::tokens::report(&scratch)?;
    if only_tokens {
        return scratch.prove_empty("tokens");
    }
    let servers = servers(&scratch);
    starts(&servers)?;
    calls("`echo hi`", &servers)?;
    throughput(&scratch, &servers[0])?;
    losses(&servers, checked)?;
    calls("`echo hi`, the least", &floors(&scratch)?)?;
    scratch.prove_empty("state")
}

/// A server, and how it is asked for a command.
pub(crate) struct Server {
    name: &'static str,
    pub(crate) program: PathBuf,
    pub(crate) words: Vec<String>,
    pub(crate) variables: Vec<(&'static str, String)>,
    /// Where it runs; here, unless said otherwise.
    pub(super) directory: Option<PathBuf>,
    /// The tool, and its arguments for a line of the shell.
    tool: &'static str,
    arguments: fn(&str) -> Value,
}

/// Umbo's own, over the state directory `state`.
pub(crate) fn umbo_server(scratch: &Scratch, state: &str) -> Server {
    let state = scratch.state(state).display().to_string();
    Server {
        name: "umbo",
        program: scratch.umbo().to_owned(),
        words: ["--state-dir", &state, "mcp"].map(str::to_owned).to_vec(),
        variables: vec![
            ("HOME", home(scratch)),
            ("UMBO_MAX_RUNNING", "64".to_owned()),
            ("UMBO_TOOLS_SANDBOX", "off".to_owned()),
        ],
        directory: None,
        tool: "exec",
        arguments: |line| json!({"command": line}),
    }
}

fn home(scratch: &Scratch) -> String {
    scratch.directory().join("home").display().to_string()
}

fn servers(scratch: &Scratch) -> Vec<Server> {
    let home = home(scratch);
    let mut contained = umbo_server(scratch, "state");
    contained.name = "umbo, commands in a sandbox";
    contained.variables.pop();
    contained.variables.push(("UMBO_TOOLS_SANDBOX", "workspace+net".to_owned()));
    let mut servers = vec![umbo_server(scratch, "state"), contained];
    let peers: [fn(&str) -> Done<Server>; 2] = [shell_server, desktop_commander];
    for peer in peers {
        match peer(&home) {
            Ok(server) => servers.push(server),
            Err(failure) => say(format!("not measured: {}", failure.message())),
        }
    }
    servers
}

/// What a call takes at least: without umbo, and with jobs that are kept and nothing else.
fn floors(scratch: &Scratch) -> Done<Vec<Server>> {
    let program = std::env::current_exe().map_err(Failure::at("this program"))?;
    let state = scratch.state("state").display().to_string();
    let umbo = scratch.umbo().display().to_string();
    let server = |name, more: &[&str]| Server {
        name,
        program: program.clone(),
        words: [&["bench", "floor"], more].concat().into_iter().map(str::to_owned).collect(),
        variables: Vec::new(),
        directory: None,
        tool: "exec",
        arguments: |line| json!({"command": line}),
    };
    Ok(vec![
        server("a server that runs `sh -c` and nothing else", &[]),
        server("a server that calls the library and nothing else", &[&umbo, &state]),
    ])
}

fn peers() -> PathBuf {
    root().join("target/bench-tools")
}

fn shell_server(home: &str) -> Done<Server> {
    let place = peers().join("python");
    let program = place.join("bin/mcp-shell-server");
    if !program.is_file() {
        execute(Command::new("python3").args(["-m", "venv"]).arg(&place))?;
        let mut install = Command::new(place.join("bin/pip"));
        install.args(["install", "--quiet", "--disable-pip-version-check"]);
        execute(install.arg("mcp-shell-server==1.1.14"))?;
    }
    let allowed = "echo,printf".to_owned();
    Ok(Server {
        name: "mcp-shell-server 1.1.14",
        program,
        words: vec![],
        variables: vec![("HOME", home.to_owned()), ("ALLOW_COMMANDS", allowed)],
        directory: None,
        tool: "shell_execute",
        // It runs no shell; what is asked of it needs none.
        arguments: |line| json!({"command": words(line), "directory": "/"}),
    })
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn desktop_commander(home: &str) -> Done<Server> {
    let program = peers().join("node_modules/.bin/desktop-commander");
    if !program.is_file() {
        if !has_program("npm") {
            return Err(Failure::new("Desktop Commander: there is no npm here"));
        }
        fs::create_dir_all(peers()).map_err(Failure::at(peers().display()))?;
        let mut install = Command::new("npm");
        install.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]);
        execute(install.arg(peers()).arg("@wonderwhy-er/desktop-commander@0.2.23"))?;
    }
    Ok(Server {
        name: "Desktop Commander 0.2.23",
        program,
        words: vec!["--no-onboarding".to_owned()],
        variables: vec![("HOME", home.to_owned())],
        directory: None,
        tool: "start_process",
        arguments: |line| json!({"command": line, "timeout_ms": 10_000}),
    })
}

/// A client of one server.
pub(crate) struct Client {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    /// Starts a server and waits for its first answer.
    pub(crate) fn start(server: &Server) -> Done<Self> {
        Self::start_as(server, "bench")
    }

    /// The same with a name of the client's choice.
    pub(super) fn start_as(server: &Server, name: &str) -> Done<Self> {
        let mut command = Command::new(&server.program);
        command.args(&server.words).envs(server.variables.clone());
        if let Some(directory) = &server.directory {
            command.current_dir(directory);
        }
        for (variable, value) in &server.variables {
            if *variable == "HOME" {
                fs::create_dir_all(value).map_err(Failure::at(value))?;
            }
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(Failure::at(server.program.display()))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::new("a server without pipes"));
        };
        let mut client = Self { child, stdin, stdout: BufReader::new(stdout), next: 1 };
        client.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": name, "version": "1"},
            }),
        )?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    fn send(&mut self, message: &Value) -> Done {
        self.stdin.write_all(format!("{message}\n").as_bytes()).map_err(Failure::at("a server"))
    }

    fn ask(&mut self, method: &str, params: &Value) -> Done<u64> {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(id)
    }

    fn ask_for(&mut self, server: &Server, line: &str) -> Done<u64> {
        let arguments = (server.arguments)(line);
        self.ask("tools/call", &json!({"name": server.tool, "arguments": arguments}))
    }

    /// The next answer: its number and itself.
    fn answer(&mut self) -> Done<(u64, Value)> {
        loop {
            let mut line = String::new();
            let read = self.stdout.read_line(&mut line).map_err(Failure::at("a server"))?;
            if read == 0 {
                return Err(Failure::new("a server closed its output"));
            }
            // Some servers print what is no message.
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            if let (Some(id), None) = (message["id"].as_u64(), message.get("method")) {
                return Ok((id, message));
            }
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Done<Value> {
        let id = self.ask(method, params)?;
        loop {
            let (answered, message) = self.answer()?;
            if answered == id {
                return Ok(message);
            }
        }
    }

    /// Runs a line; whether all it wrote came back.
    fn run(&mut self, server: &Server, line: &str, wanted: &str) -> Done<bool> {
        let arguments = (server.arguments)(line);
        let params = json!({"name": server.tool, "arguments": arguments});
        let answer = self.request("tools/call", &params)?;
        Ok(answer["result"]["content"].to_string().contains(wanted))
    }

    pub(crate) fn leave(mut self) -> Done {
        drop(self.stdin);
        let deadline = Instant::now() + Duration::from_secs(10);
        while self.child.try_wait().map_err(Failure::at("a server"))?.is_none() {
            if Instant::now() > deadline {
                let _ = self.child.kill();
                let _ = self.child.wait();
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

/// From the start of a server to its first answer, and its memory then.
fn starts(servers: &[Server]) -> Done {
    say("| server | start to first answer, ms (median) | resident at rest, MB |\n|---|---|---|");
    for server in servers {
        let mut sample = Sample::default();
        let mut resident = 0;
        for _ in 0..STARTS {
            let start = Instant::now();
            let mut client = Client::start(server)?;
            sample.add(start.elapsed());
            client.run(server, "echo hi", "hi")?;
            resident = proc::memory(client.child.id()).map_or(0, |memory| memory.resident);
            client.leave()?;
        }
        let start = sample.median().as_secs_f64() * 1e3;
        say(format!("| {} | {start:.1} | {} |", server.name, resident * 1024 / 1_000_000));
    }
    say("");
    Ok(())
}

/// What `echo hi` costs, in turns with the bare command and with asking for nothing. Each server has
/// the machine for itself, as it has at a user's.
fn calls(title: &str, servers: &[Server]) -> Done {
    say(format!("| {title} | p50 µs | p99 µs | bare p50 µs | × bare | `ping` p50 µs |"));
    say("|---|---|---|---|---|---|");
    for server in servers {
        let mut client = Client::start(server)?;
        client.run(server, "echo hi", "hi")?;
        let (mut base, mut pings, mut runs) =
            (Sample::default(), Sample::default(), Sample::default());
        for _ in 0..ROUNDS {
            base.add(rested(|| bare("echo hi", b"hi\n"))?);
            runs.add(rested(|| client.run(server, "echo hi", "hi").map(drop))?);
        }
        for _ in 0..ROUNDS {
            pings.add(rested(|| client.request("ping", &json!({})).map(drop))?);
        }
        client.leave()?;
        say(format!(
            "| {} | {} | {} | {} | {:.2} | {} |",
            server.name,
            microseconds(runs.median()),
            microseconds(runs.percentile(99)),
            microseconds(base.median()),
            ratio(runs.median(), base.median()),
            microseconds(pings.median()),
        ));
    }
    say("");
    Ok(())
}

/// How long something takes that comes after a rest.
fn rested(work: impl FnOnce() -> Done) -> Done<Duration> {
    std::thread::sleep(REST);
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

/// How many calls a second one connection answers with so many outstanding, beside as many bare ones.
fn throughput(scratch: &Scratch, server: &Server) -> Done {
    say(format!("{CALLS} of `echo hi` for each number outstanding, in turns with bare ones\n"));
    say("| outstanding | bare / s | umbo / s | share | × processor time |\n|---|---|---|---|---|");
    let mut client = Client::start(server)?;
    client.run(server, "echo hi", "hi")?;
    for outstanding in OUTSTANDING {
        let (mut bares, mut calls) = (Load::default(), Load::default());
        for _ in 0..TURNS {
            let part = CALLS.div_ceil(TURNS);
            bares.add(scratch, part, || many(outstanding, part, || bare("echo hi", b"hi\n")))?;
            calls.add(scratch, part, || pipelined(&mut client, server, outstanding, part))?;
        }
        say(format!(
            "| {outstanding} | {:.0} | {:.0} | {:.2} | {:.2} |",
            bares.rate(),
            calls.rate(),
            calls.rate() / bares.rate(),
            calls.processor_us() / bares.processor_us(),
        ));
    }
    say("");
    client.leave()
}

/// Calls over one connection: as one is answered the next is made.
fn pipelined(client: &mut Client, server: &Server, outstanding: usize, calls: usize) -> Done {
    for made in 0..calls + outstanding {
        if made >= outstanding {
            let (_, message) = client.answer()?;
            if !message["result"]["content"].to_string().contains("hi") {
                return Err(Failure::new(format!("{}: {message}", server.name)));
            }
        }
        if made < calls {
            client.ask_for(server, "echo hi")?;
        }
    }
    Ok(())
}

/// What comes back of many commands at once, and of many one after the other.
fn losses(servers: &[Server], checked: usize) -> Done {
    say(format!(
        "| server | of {AT_ONCE} at once: right | ms | outputs lost | seconds |\n|---|---|---|---|---|"
    ));
    for server in servers {
        let count = if server.name.starts_with("umbo") { checked } else { checked / PEER_SHARE };
        let (right, took) = at_once(server)?;
        let (lost, all) = lost(server, count)?;
        say(format!(
            "| {} | {right} | {} | {lost} of {count} | {:.0} |",
            server.name,
            took.as_millis(),
            all.as_secs_f64()
        ));
    }
    say("");
    Ok(())
}

/// Many commands at once: how many are answered rightly, and how long until the last is.
fn at_once(server: &Server) -> Done<(usize, Duration)> {
    let mut client = Client::start(server)?;
    client.run(server, "echo hi", "hi")?;
    let start = Instant::now();
    for number in 0..AT_ONCE {
        client.ask_for(server, &format!("echo number-{number}-"))?;
    }
    let mut right = 0;
    for _ in 0..AT_ONCE {
        let (_, message) = client.answer()?;
        right += usize::from(message["result"]["content"].to_string().contains("number-"));
    }
    let took = start.elapsed();
    client.leave()?;
    Ok((right, took))
}

/// How many short commands come back without what they wrote, and how long all take.
fn lost(server: &Server, count: usize) -> Done<(usize, Duration)> {
    let mut client = Client::start(server)?;
    let mut lost = 0;
    let start = Instant::now();
    for number in 0..count {
        let program = if number % 2 == 0 { "echo" } else { "printf" };
        let line = format!("{program} out-{number}-");
        lost += usize::from(!client.run(server, &line, &format!("out-{number}-"))?);
    }
    let took = start.elapsed();
    client.leave()?;
    Ok((lost, took))
}
