//! What a person's terminal gets from umbo, whatever the verb: nothing that it would obey and somebody
//! else chose. Each verb runs at a real terminal, with commands, names, paths, rules and settings that try
//! to repaint it.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use umbo_view::is_treacherous;

use crate::harness::{Umbo, at_terminal};

/// Sets the title, clears the screen, makes a link, writes the clipboard, changes colours by a C1
/// control, turns the direction of text, hides letters, goes back over the line, begins another one.
const HOSTILE: &str = "\x1b]0;t\x07\x1b[2J\x1b]8;;x\x1b\\l\x1b]52;c;eA==\x07\u{9b}31m\u{202e}r\u{2066}\u{200b}\rOVER\nFORGED\x7f\u{e0041}z";

/// What umbo draws by itself, which is nobody else's choice.
const OWN_DRAWING: [&str; 6] =
    ["\r\x1b[K", "\x1b[0m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[36m"];

/// What a terminal gets of a call in a directory. It has no size, so that nothing is cut away.
fn shown(umbo: &Umbo, directory: &Path, words: &[&str], typed: &str) -> String {
    let mut command = umbo.call(words).into_command();
    command.current_dir(directory).env("TERM", "xterm").env_remove("UMBO_RUN");
    at_terminal(command, None, typed)
}

/// Asserts that nothing in a text is obeyed by a terminal, and that no line of it is somebody else's.
#[track_caller]
fn assert_harmless(words: &[&str], text: &str) {
    let mut rest = text.to_owned();
    for own in OWN_DRAWING {
        rest = rest.replace(own, "\n");
    }
    let obeyed: BTreeSet<char> =
        rest.chars().filter(|c| is_treacherous(*c) && !matches!(c, '\n' | '\t')).collect();
    assert!(obeyed.is_empty(), "{words:?} prints {obeyed:?}: {text:?}");
    if matches!(words[0], "output" | "screen") {
        // These print the lines of a job.
        return;
    }
    let forged = rest.lines().find(|line| line.starts_with("FORGED") || line.starts_with("OVER"));
    assert_eq!(forged, None, "{words:?}: {text:?}");
}

/// A project whose every name and text is hostile, and a job of a hostile name and command.
fn hostile_project(umbo: &Umbo) -> PathBuf {
    let name = HOSTILE.replace('/', "");
    let project = umbo.path().join(format!("p{name}"));
    let (own, home) = (project.join(".umbo"), umbo.path().join("home/.config/umbo"));
    fs::create_dir_all(&own).unwrap();
    fs::create_dir_all(&home).unwrap();
    fs::write(own.join(format!("file{name}")), "x").unwrap();
    let quoted = serde_json::to_string(HOSTILE).unwrap().replace('\u{7f}', "\\u007f");
    let toml = format!(
        "[[rule]]\ndecision = \"deny\"\nname = {quoted}\nreason = {quoted}\nargv = [\"forbidden\"]\n"
    );
    fs::write(own.join("rules.toml"), toml).unwrap();
    fs::write(own.join("config.toml"), format!("{quoted} = {quoted}\n")).unwrap();
    fs::write(home.join("config.toml"), format!("[exec]\nshell = {quoted}\n")).unwrap();
    let scripts =
        json!({"scripts": {format!("a{HOSTILE}"): format!("echo {HOSTILE}"), "b": HOSTILE}});
    fs::write(project.join("package.json"), scripts.to_string()).unwrap();
    fs::write(project.join("justfile"), format!("# {HOSTILE}\nx:\n\techo {HOSTILE}\n")).unwrap();
    project
}

#[test]
#[expect(clippy::too_many_lines, reason = "a flat table, a row for each verb")]
fn no_verb_prints_what_a_terminal_obeys() {
    let umbo = Umbo::with_deadline(std::time::Duration::from_mins(5));
    let project = hostile_project(&umbo);
    // Without the hostile settings, so that there is something to show.
    let quiet = umbo.path();
    let home = umbo.path().join("home/.config/umbo/config.toml");
    let settings = fs::read_to_string(&home).unwrap();
    fs::remove_file(&home).unwrap();
    let command = format!("true '{HOSTILE}'");
    let start = ["start", "--name", HOSTILE, "--cwd", project.to_str().unwrap(), &command];
    umbo.call(start).answer();
    let job = umbo.start_with(&["--pty"], &format!("printf '%s' '{HOSTILE}'"));
    umbo.wait(&job, &[]);
    let asked = umbo
        .call(["exec", "--json", "--mode", "default", &format!("touch '{HOSTILE}'")])
        .current_dir(quiet)
        .status(125)
        .json();
    let id = asked["error"]["id"].as_str().unwrap_or_else(|| panic!("{asked}")).to_owned();
    let waiting = umbo.start_with(&["--pty"], &format!("cat >/dev/null; : '{HOSTILE}'"));
    let call = json!({"command": format!("ls '{HOSTILE}'")}).to_string();
    let table: Vec<(&str, Vec<Vec<&str>>)> = vec![
        (
            "exec",
            vec![
                vec![HOSTILE],
                vec!["--mode", "default", HOSTILE],
                vec!["--cwd", HOSTILE, "true"],
                vec!["--shell", HOSTILE, "true"],
                vec!["--env", HOSTILE, "true"],
                vec!["forbidden", HOSTILE],
                vec!["--session", HOSTILE, "true"],
            ],
        ),
        (
            "start",
            vec![
                vec!["--name", HOSTILE, "true"],
                vec!["--mode", HOSTILE, "true"],
                vec!["--", "/nowhere", HOSTILE],
                vec!["--", HOSTILE],
            ],
        ),
        ("recipes", vec![vec![], vec!["--all"], vec!["--names"], vec!["--cwd", HOSTILE]]),
        (
            "run",
            vec![
                vec![HOSTILE],
                vec!["--dry-run", "b"],
                vec!["--list-runners"],
                vec!["--mode", "default", "b"],
            ],
        ),
        ("jobs", vec![vec![], vec!["--all"]]),
        (
            "output",
            vec![
                vec![&job],
                vec![HOSTILE],
                vec![&job, "--rendered"],
                vec![&job, "--grep", HOSTILE],
                vec![&job, "--tail", "3"],
                vec![&job, "--lines", HOSTILE],
                vec![&job, "--raw"],
                vec!["--follow", &job],
            ],
        ),
        (
            "input",
            vec![
                vec![HOSTILE, "x"],
                vec![&waiting, "--key", HOSTILE],
                vec![&waiting, "--mode", "default", &command],
            ],
        ),
        (
            "wait",
            vec![
                vec![&job],
                vec![HOSTILE],
                vec![&job, "--match", HOSTILE],
                vec![&waiting, "--file", HOSTILE, "--timeout", "0.1"],
            ],
        ),
        ("pause", vec![vec![HOSTILE], vec![&job], vec![&waiting]]),
        ("resume", vec![vec![HOSTILE], vec![&job], vec![&waiting]]),
        ("signal", vec![vec![HOSTILE, "HUP"], vec![&waiting, HOSTILE], vec![&job, "HUP"]]),
        (
            "restart",
            vec![vec![HOSTILE], vec!["--env", HOSTILE, &job], vec!["--stdin", "@/nowhere", &job]],
        ),
        ("top", vec![vec![HOSTILE]]),
        ("man", vec![vec![]]),
        ("groups", vec![vec![], vec![HOSTILE, "--limit", "1"]]),
        ("shells", vec![vec![], vec!["reset", HOSTILE], vec![HOSTILE]]),
        ("watch", vec![vec![HOSTILE], vec!["[", "true"], vec!["--mode", HOSTILE, "x", "true"]]),
        ("stop", vec![vec![HOSTILE], vec![&job], vec![&waiting, "--kill"]]),
        ("screen", vec![vec![&job], vec![HOSTILE]]),
        ("attach", vec![vec![HOSTILE], vec![&job], vec![&job, "--detach-key", HOSTILE]]),
        ("events", vec![vec![]]),
        (
            "classify",
            vec![vec![HOSTILE], vec!["--shell", HOSTILE, "x"], vec!["--diff", HOSTILE, "ls"]],
        ),
        (
            "rules",
            vec![
                vec!["list"],
                vec!["explain", "forbidden"],
                vec!["explain", HOSTILE],
                vec!["check"],
                vec![HOSTILE],
            ],
        ),
        ("approvals", vec![vec![], vec!["--all"]]),
        (
            "approve",
            vec![vec![&id], vec![&id, "--prefix"], vec![HOSTILE], vec![&id, "--for", HOSTILE]],
        ),
        ("deny", vec![vec![HOSTILE], vec![&id, "--reason", HOSTILE]]),
        ("trust", vec![vec!["--show"], vec![]]),
        ("audit", vec![vec!["show"], vec!["verify"], vec!["export"], vec![HOSTILE]]),
        (
            "config",
            vec![
                vec!["show"],
                vec!["check"],
                vec!["path"],
                vec!["set", HOSTILE, HOSTILE],
                vec!["set", "exec.shell", HOSTILE],
                vec!["unset", HOSTILE],
            ],
        ),
        ("secrets", vec![vec!["check"]]),
        (
            "mcp",
            vec![
                vec!["--dialect", HOSTILE],
                vec!["--mode", HOSTILE],
                vec!["--http", HOSTILE],
                vec!["--print-config", HOSTILE],
            ],
        ),
        (
            "call",
            vec![
                vec!["exec", &call],
                vec![HOSTILE],
                vec!["exec", HOSTILE],
                vec!["--dialect", HOSTILE, "exec"],
            ],
        ),
        ("tools", vec![vec![], vec!["--dialect", HOSTILE]]),
        ("install", vec![vec![], vec![HOSTILE], vec!["cursor", "--print"]]),
        ("uninstall", vec![vec![HOSTILE]]),
        ("doctor", vec![vec![]]),
        ("sandbox", vec![vec![], vec![HOSTILE]]),
        ("ls", vec![vec![], vec![HOSTILE]]),
        ("tree", vec![vec![], vec![HOSTILE]]),
        ("find", vec![vec!["*"], vec!["--long", "*"], vec![HOSTILE]]),
        ("search", vec![vec!["e"], vec![HOSTILE], vec!["e", HOSTILE]]),
        ("read", vec![vec![HOSTILE], vec!["package.json"], vec!["justfile"], vec!["."]]),
        ("write", vec![vec!["--from", HOSTILE, "x"], vec!["--from", "package.json", HOSTILE]]),
        (
            "edit",
            vec![
                vec!["justfile", "--old", HOSTILE, "--new", "x"],
                vec![HOSTILE, "--old", "a", "--new", "b"],
                vec!["--patch", HOSTILE],
            ],
        ),
        ("undo", vec![vec![], vec![HOSTILE]]),
        ("agent", vec![vec!["-p", HOSTILE], vec!["-p", "--model", HOSTILE, HOSTILE]]),
        ("models", vec![vec![], vec![HOSTILE]]),
        ("sessions", vec![vec!["list"], vec!["show", HOSTILE], vec![HOSTILE]]),
        ("completions", vec![vec![HOSTILE], vec!["bash"]]),
        ("tour", vec![vec![HOSTILE]]),
        ("prune", vec![vec!["--older-than", HOSTILE], vec![]]),
    ];
    let walked: BTreeSet<String> = table.iter().map(|(verb, _)| (*verb).to_owned()).collect();
    assert_eq!(umbo.verbs(), walked, "every verb has its row");
    for (verb, calls) in &table {
        for arguments in calls {
            for format in [&[][..], &["--json"]] {
                let words = [&[*verb], format, &arguments[..]].concat();
                assert_harmless(&words, &shown(&umbo, &project, &words, "n\nq\x03"));
            }
        }
    }
    fs::write(&home, settings).unwrap();
    for verb in [
        &["jobs"][..],
        &["exec", "true"],
        &["config", "show"],
        &["doctor"],
        &[HOSTILE],
        &["--state-dir", HOSTILE, "jobs"],
        &["--json", HOSTILE],
    ] {
        assert_harmless(verb, &shown(&umbo, &project, verb, ""));
    }
}

#[test]
fn completions_for_a_shell_hold_nothing_that_a_terminal_obeys() {
    let umbo = Umbo::new();
    umbo.call(["start", "--name", HOSTILE, &format!("true '{HOSTILE}'")]).answer();
    for shell in ["bash", "zsh", "fish", "nu"] {
        let call = umbo.call(["--", "umbo", "output", ""]).env("UMBO_COMPLETE", shell);
        let offered = call.env("_CLAP_COMPLETE_INDEX", "2").env("_CLAP_IFS", "\n").answer().text();
        assert_harmless(&[shell], &offered);
    }
}

/// Every text in a value.
fn texts<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

#[test]
fn no_text_of_a_tool_holds_what_a_terminal_obeys() {
    let umbo = Umbo::new();
    let project = hostile_project(&umbo);
    fs::remove_dir_all(umbo.path().join("home/.config")).unwrap();
    fs::remove_file(project.join(".umbo/config.toml")).unwrap();
    umbo.call(["start", "--name", HOSTILE, &format!("printf '%s' '{HOSTILE}'")]).answer();
    let calls = [
        ("exec", json!({"command": format!("ls '{HOSTILE}'")})),
        ("exec", json!({"command": "forbidden"})),
        ("exec", json!({"command": "true", "cwd": HOSTILE})),
        (
            "exec",
            json!({"command": format!("sleep 100 # {HOSTILE}"), "background": true, "name": HOSTILE}),
        ),
        ("jobs", json!({"scope": "all"})),
        ("output", json!({"job": HOSTILE})),
        ("output", json!({"job": "@last", "grep": HOSTILE})),
        ("wait", json!({"job": HOSTILE})),
        ("recipe", json!({})),
        ("recipe", json!({"op": HOSTILE})),
        (HOSTILE, json!({HOSTILE: HOSTILE})),
        ("stop", json!({"job": "@last"})),
    ];
    let mut lines = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": HOSTILE, "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": "list", "method": "resources/list"}),
        json!({"jsonrpc": "2.0", "id": "read", "method": "resources/read", "params": {"uri": HOSTILE}}),
        json!({"jsonrpc": "2.0", "id": "method", "method": HOSTILE}),
        json!({"jsonrpc": "2.0", "id": "misfit", "method": "tools/call", "params": {"name": {HOSTILE: HOSTILE}}}),
    ];
    for (number, (tool, arguments)) in calls.iter().enumerate() {
        let params = json!({"name": tool, "arguments": arguments});
        lines.push(
            json!({"jsonrpc": "2.0", "id": number + 1, "method": "tools/call", "params": params}),
        );
    }
    for mode in ["guard", "default"] {
        let mut command: Command = umbo.call(["mcp", "--mode", mode]).into_command();
        let mut child = command
            .current_dir(&project)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut answers = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        for message in &lines {
            writeln!(input, "{message}").unwrap();
            if message.get("id").is_none() {
                continue;
            }
            loop {
                line.clear();
                std::io::BufRead::read_line(&mut answers, &mut line).unwrap();
                let answer: Value = serde_json::from_str(&line).unwrap();
                let mut found = Vec::new();
                texts(&answer, &mut found);
                for text in found {
                    let obeyed = text.chars().find(|c| is_treacherous(*c) && !"\n\t".contains(*c));
                    assert_eq!(obeyed, None, "{message}: {text:?}");
                }
                if answer["id"] == message["id"] {
                    break;
                }
            }
        }
        drop(input);
        child.wait().unwrap();
    }
}
