//! The same calls by the runtime that the document of `meerkat` became, and by umbo: where they
//! differ, one of the two is wrong, or the difference is declared here with its reason.

mod background;

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, ExitCode};

use meerkat_tools::builtin::BuiltinTool;
use meerkat_tools::builtin::shell::ShellConfig;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// Fields of an answer that can be compared.
const COMPARED: [&str; 4] = ["exit_code", "stdout", "stderr", "timed_out"];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let umbo = std::env::args_os().nth(1).ok_or("give the path of an umbo")?;
    let home = tempfile::tempdir()?;
    let root = home.path().canonicalize()?.join("project");
    fs::create_dir_all(root.join("sub/deep"))?;
    fs::create_dir(root.join(".git"))?;
    fs::write(root.join("file"), "x")?;
    symlink("/", root.join("link"))?;
    let mut config = ShellConfig::with_project_root(root.clone());
    config.enabled = true;
    config.shell = "sh".to_owned();
    config.shell_path = Some("/bin/sh".into());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let tools = background::host_tools(config, home.path())?;
    let host = |tool: &str, arguments| theirs(&runtime, &tools, tool, arguments);
    let umbo = |tool: &str, arguments| ours(&umbo, &root, home.path(), tool, &arguments);
    let mut counts = Counts::default();
    for (tool, call) in calls(&root) {
        let (theirs, ours) = (host(tool, call.clone())?, umbo(tool, call.clone())?);
        counts.add(tool, &call, &theirs, &ours, agree(&theirs, &ours));
    }
    for case in background::cases() {
        let theirs = background::run(&case, &root, &host)?;
        let ours = background::run(&case, &root, &umbo)?;
        let both_fail = !theirs["error"].is_null() && !ours["error"].is_null();
        counts.add("shell", &case.arguments, &theirs, &ours, both_fail || theirs == ours);
    }
    let (theirs, ours) = (background::receipt(&host)?, background::receipt(&umbo)?);
    counts.add("shell", &json!({"background": true}), &theirs, &ours, theirs == ours);
    Ok(counts.report())
}

/// How often both said the same, and why they did not.
#[derive(Default)]
struct Counts {
    same: usize,
    explained: [usize; REASONS.len()],
    unexplained: usize,
}

impl Counts {
    fn add(&mut self, tool: &str, call: &Value, theirs: &Value, ours: &Value, is_same: bool) {
        if is_same {
            self.same += 1;
            return;
        }
        let found = REASONS.iter().position(|reason| (reason.explains)(call, theirs, ours));
        *found.map_or(&mut self.unexplained, |number| &mut self.explained[number]) += 1;
        let why = found.map_or("WITHOUT A REASON", |number| REASONS[number].why);
        let (theirs, ours) = (theirs.to_string(), ours.to_string());
        println!("{tool} {call}: {why}\n  theirs: {theirs:.400}\n  ours:   {ours:.400}");
    }

    /// Says them. A difference without a reason is a failure, and so is a reason that explains nothing
    /// any more.
    fn report(&self) -> ExitCode {
        let reasons = || REASONS.iter().zip(self.explained);
        let of = |whose| -> usize {
            reasons().filter(|(reason, _)| reason.whose == whose).map(|(_, count)| count).sum()
        };
        let (declared, host) = (of(Whose::Declared), of(Whose::Host));
        let Self { same, unexplained, .. } = self;
        let calls = same + declared + host + unexplained;
        let mut is_good = *unexplained == 0;
        for (reason, _) in reasons().filter(|(_, count)| *count == 0) {
            println!("a reason that explains nothing any more: {}", reason.why);
            is_good = false;
        }
        println!(
            "{calls} calls: {same} the same, {declared} declared, {host} where the host moved on, \
             {unexplained} without a reason"
        );
        if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Calls that leave nothing behind.
fn calls(root: &Path) -> Vec<(&'static str, Value)> {
    let mut calls = Vec::new();
    calls
        .extend([0, 1, 2, 7, 126, 127, 255].map(|code| json!({"command": format!("exit {code}")})));
    let lines = [
        "echo hi",
        "echo out; echo err >&2; exit 3",
        "printf 'no newline'",
        "true",
        "kill -TERM $$",
        "kill -9 $$",
        r"printf '\377\376abc'",
        r"printf 'tab\tx\n'",
        "printenv PWD",
        "cat",
        "test -t 0 && echo tty || echo none",
        "test -t 1 && echo tty || echo none",
        "no-such-command-at-all",
        "cd sub && pwd",
        "( exit 5 )",
        "echo 'a  b'",
        "echo ünïcödé 日本",
        "true | false",
        "set -e; false; echo no",
        "yes | head -3",
        "seq 1 500",
        "seq 1 500 >&2",
        "ls /no/such/place",
        "echo $0",
        "trap 'echo bye' EXIT; echo hi",
        "(sleep 9 &); echo started",
        "",
        " ",
    ];
    calls.extend(lines.map(|line| json!({"command": line})));
    calls.extend(generated(60).into_iter().map(|line| json!({"command": line})));
    for line in ["echo a; sleep 9", "echo e >&2; sleep 9", "trap '' TERM; echo a; sleep 9"] {
        calls.push(json!({"command": line, "timeout_secs": 1}));
    }
    let timeouts = [json!(0), json!(-1), json!("5"), json!(1.5)];
    calls.extend(timeouts.map(|timeout| json!({"command": "true", "timeout_secs": timeout})));
    let (whole, inner) = (root.display().to_string(), root.join("sub").display().to_string());
    let places = [
        "sub",
        "sub/deep",
        ".",
        "..",
        "/",
        "/etc",
        "nowhere",
        "file",
        "link",
        "sub/../sub",
        "sub/../../x",
        "",
        &whole,
        &inner,
    ];
    calls.extend(places.map(|place| json!({"command": "pwd", "working_dir": place})));
    calls.extend([
        json!({}),
        json!({"command": 5}),
        json!({"command": null}),
        json!({"command": "true", "unknown": 1}),
        json!({"command": "true", "background": "x"}),
        json!({"command": "true", "working_dir": 5}),
    ]);
    let mut calls: Vec<_> = calls.into_iter().map(|call| ("shell", call)).collect();
    for tool in ["shell_job_status", "shell_job_cancel"] {
        calls.push((tool, json!({})));
        calls.push((tool, json!({"job_id": 5})));
        calls.push((tool, json!({"job_id": "job_01hx7z8k9m2n3p4q5r6s7t8v9w"})));
        calls.push((tool, json!({"job_id": "nothing"})));
    }
    calls
}

/// Lines made of pieces, the same ones each time.
fn generated(count: usize) -> Vec<String> {
    let mut seed: u64 = 20_260_101;
    let mut below = move |most: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    };
    let mut line = || {
        let mut parts = Vec::new();
        for _ in 0..=below(4) {
            let number = below(100);
            parts.push(match below(9) {
                0 => format!("echo out{number}"),
                1 => format!("echo err{number} >&2"),
                2 => format!("printf 'part{number}'"),
                3 => format!("seq 1 {number}"),
                4 => format!("(echo sub; exit {number})"),
                5 => format!("sh -c 'echo child{number}; exit {number}'"),
                6 => format!("for i in 1 2 3; do echo loop $i {number}; done"),
                7 => "cat file; cd sub; pwd; cd ..".to_owned(),
                _ => format!("x={number}; echo $((x * 3))"),
            });
        }
        if below(3) == 0 {
            parts.push(format!("exit {}", below(256)));
        }
        parts.join("; ")
    };
    (0..count).map(|_| line()).collect()
}

fn theirs(
    runtime: &Runtime,
    tools: &[Box<dyn BuiltinTool>],
    name: &str,
    arguments: Value,
) -> Result<Value, Box<dyn Error>> {
    let tool = tools.iter().find(|tool| tool.name() == name).ok_or("there is no such tool")?;
    Ok(match runtime.block_on(tool.call(arguments)) {
        Ok(output) => output.into_json().unwrap_or_default(),
        Err(error) => json!({"error": error.to_string()}),
    })
}

fn ours(
    umbo: &OsString,
    root: &Path,
    home: &Path,
    tool: &str,
    call: &Value,
) -> Result<Value, Box<dyn Error>> {
    let output = Command::new(umbo)
        .args(["call", "--dialect", "meerkat", tool, &call.to_string()])
        .current_dir(root)
        .env("UMBO_STATE_DIR", home.join("state"))
        .env("UMBO_CONFIG_DIR", home.join("config"))
        .env("UMBO_OWNER", "oracle")
        .env("UMBO_TOOLS_SHELL_ENABLED", "true")
        .env("UMBO_TOOLS_SHELL_SHELL", "sh")
        .output()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Whether both failed, or both say the same.
fn agree(theirs: &Value, ours: &Value) -> bool {
    let failed = |answer: &Value| !answer["error"].is_null();
    match (failed(theirs), failed(ours)) {
        (true, true) => true,
        (false, false) => COMPARED.iter().all(|name| theirs[name] == ours[name]),
        _ => false,
    }
}

/// Why a call may end differently.
struct Reason {
    whose: Whose,
    why: &'static str,
    /// Whether it is about this call, and what differs is what it says.
    explains: fn(&Value, &Value, &Value) -> bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Whose {
    /// It is declared in the contract, by the line of the document.
    Declared,
    /// The host took a step after its document.
    Host,
}

const REASONS: [Reason; 4] = [
    Reason {
        whose: Whose::Declared,
        why: "a command of nothing is refused (233)",
        explains: |call, theirs, ours| {
            call["command"].as_str().is_some_and(|line| line.trim().is_empty())
                && theirs["exit_code"] == 0
                && !ours["error"].is_null()
        },
    },
    Reason {
        whose: Whose::Declared,
        why: "a timeout of 0 is none (240)",
        explains: |call, theirs, ours| {
            call["timeout_secs"] == 0 && !theirs["error"].is_null() && ours["exit_code"] == 0
        },
    },
    Reason {
        whose: Whose::Host,
        why: "the host has since a receipt for background jobs, and words of its own for it",
        explains: |_, theirs, ours| theirs["status"] == "queued" && ours["status"] == "running",
    },
    Reason {
        whose: Whose::Host,
        why: "the host has since called a background job that timed out failed, without its output",
        explains: |_, theirs, ours| {
            theirs["status"] == json!({"status": "failed", "error": "shell_timeout"})
                && ours["status"]["status"] == "timed_out"
        },
    },
];
