//! The same calls by the runtime that the document of `meerkat` became, and by umbo: where they
//! differ, one of the two is wrong, or the difference is declared here with its reason.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, ExitCode};

use meerkat_tools::builtin::BuiltinTool;
use meerkat_tools::builtin::shell::{ShellConfig, ShellTool};
use serde_json::{Value, json};

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
    let tool = ShellTool::new(config);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let calls = calls(&root);
    let (mut same, mut unexplained) = (0, 0);
    for call in &calls {
        let theirs = match runtime.block_on(tool.call(call.clone())) {
            Ok(output) => output.into_json().unwrap_or_default(),
            Err(error) => json!({"error": error.to_string()}),
        };
        let ours = ours(&umbo, &root, home.path(), call)?;
        if agree(&theirs, &ours) {
            same += 1;
        } else if let Some(reason) = declared(call) {
            println!("{call}: {reason}");
        } else {
            unexplained += 1;
            println!("{call}\n  theirs: {theirs}\n  ours:   {ours}");
        }
    }
    println!("{same} of {} are the same, {unexplained} differ without a reason", calls.len());
    Ok(if unexplained == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Calls that leave nothing behind.
fn calls(root: &Path) -> Vec<Value> {
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

fn ours(umbo: &OsString, root: &Path, home: &Path, call: &Value) -> Result<Value, Box<dyn Error>> {
    let output = Command::new(umbo)
        .args(["call", "--dialect", "meerkat", "shell", &call.to_string()])
        .current_dir(root)
        .env("UMBO_STATE_DIR", home.join("state"))
        .env("UMBO_CONFIG_DIR", home.join("config"))
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
fn declared(call: &Value) -> Option<&'static str> {
    match (call["command"].as_str(), &call["timeout_secs"]) {
        (Some(line), _) if line.trim().is_empty() => Some("a command of nothing is refused"),
        (_, timeout) if *timeout == 0 => Some("a timeout of 0 is none"),
        _ => None,
    }
}
