//! What a server answers when it is started as a client starts it: which tools there are.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// How long the server may take to start and answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// The number of the request for the list of tools.
const LIST: u64 = 2;

/// Starts a server by its command line with exactly these variables; the names of its tools, or what is wrong.
pub(crate) fn tools(
    words: &[String],
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Vec<String>, String> {
    let (program, arguments) = words.split_first().ok_or("it starts no program")?;
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(variables)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot start {program}: {error}"))?;
    let answer = ask(&mut child);
    // It ends when its client leaves; whatever else it is does not outlive the question.
    drop(child.stdin.take());
    let _ = child.kill();
    let _ = child.wait();
    let answer = answer?;
    let listed = answer["result"]["tools"].as_array();
    let listed = listed.ok_or_else(|| format!("it answered: {}", answer["error"]["message"]))?;
    Ok(listed.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect())
}

fn ask(child: &mut Child) -> Result<Value, String> {
    let client = json!({"name": "umbo-doctor", "version": env!("CARGO_PKG_VERSION")});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": LIST, "method": "tools/list", "params": {}}),
    ];
    let (Some(stdin), Some(stdout)) = (&mut child.stdin, child.stdout.take()) else {
        return Err("it has no standard input and output".to_owned());
    };
    for message in messages {
        writeln!(stdin, "{message}").map_err(|error| format!("it ended at once: {error}"))?;
    }
    let (sender, answers) = mpsc::channel();
    thread::spawn(move || {
        let lines = BufReader::new(stdout).lines().map_while(Result::ok);
        let mut answers = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        if let Some(answer) = answers.find(|answer| answer["id"] == LIST) {
            let _ = sender.send(answer);
        }
    });
    answers.recv_timeout(ANSWER_TIMEOUT).map_err(|error| match error {
        mpsc::RecvTimeoutError::Timeout => {
            format!("it did not answer within {} s", ANSWER_TIMEOUT.as_secs())
        }
        mpsc::RecvTimeoutError::Disconnected => "it ended without an answer".to_owned(),
    })
}
