//! The gate and the sandbox together: what runs unasked is contained, who wants out is asked about, and a
//! reading is held to what it says.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use serde_json::{Value, json};

use super::{Machine, Who, Yard, denied};
use crate::mcp::Client;

/// A script that tries to append to each of its arguments.
const DO: &str = "import sys\nfor path in sys.argv[1:]:\n    try:\n        open(path, 'a').close()\n    \
                  except OSError as error:\n        print(error)\n";

impl Yard {
    /// `umbo WORDS` in the project, as JSON.
    fn json(&self, words: &[&str]) -> Value {
        let answer = self.umbo.call(words).current_dir(&self.project()).answer();
        serde_json::from_slice(&answer.stdout).unwrap_or_else(|_| panic!("no JSON: {answer:?}"))
    }

    /// Writes a file of the user's settings.
    pub(super) fn configure(&self, file: &str, text: &str) {
        let directory = self.path("home/.config/umbo");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(file), text).unwrap();
        self.give(&self.path("home"));
    }

    /// A program that its name calls harmless, and that is not.
    fn lying_program(&self, name: &str, script: &str) -> String {
        let directory = self.path("bin");
        fs::create_dir_all(&directory).unwrap();
        let program = directory.join(name);
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        format!("{}:{}", directory.display(), std::env::var("PATH").unwrap_or_default())
    }
}

#[test]
fn mode_auto_runs_inside_what_is_not_dangerous_and_asks_about_the_way_out() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let inside = yard.json(&["exec", "--json", "--mode", "auto", "touch made && make --version"]);
    assert_eq!(inside["exit_code"], 0, "{inside}");
    assert_eq!(inside["sandbox"]["profile"], "workspace+net", "{inside}");
    assert!(yard.project().join("made").exists());
    for (options, why) in [
        (&["--sandbox", "off"][..], "without a sandbox"),
        (&["--allow-write", "../outside"], "write ../outside"),
        (&["--sandbox", "workspace+net", "--allow-host", "a.example"], "reach a.example"),
    ] {
        let words = [&["exec", "--json", "--mode", "auto"], options, &["touch out"]].concat();
        let refused = yard.json(&words);
        assert_eq!(refused["error"]["code"], "approval_required", "{options:?}: {refused}");
        assert!(refused.to_string().contains(why), "{options:?}: {refused}");
    }
    let tighter =
        yard.json(&["exec", "--json", "--mode", "auto", "--sandbox", "read-only", "touch y"]);
    assert_eq!(denied(&tighter).len(), 1, "{tighter}");
    let danger = yard.json(&["exec", "--json", "--mode", "auto", "rm -rf ../outside"]);
    assert_eq!(danger["error"]["code"], "approval_required", "{danger}");
    // Without a sandbox nothing changed: it asks.
    yard.configure("config.toml", "exec.sandbox = 'off'");
    let asked = yard.json(&["exec", "--json", "--mode", "auto", "touch made"]);
    assert_eq!(asked["error"]["code"], "approval_required", "{asked}");
}

#[test]
fn where_no_sandbox_can_be_made_mode_auto_asks_as_before() {
    let yard = Yard::new(Who::Ordinary, Machine::WithoutNamespaces);
    let asked = yard.json(&["exec", "--json", "--mode", "auto", "touch made"]);
    assert_eq!(asked["error"]["code"], "approval_required", "{asked}");
    let read = yard.json(&["exec", "--json", "--mode", "auto", "ls"]);
    assert_eq!(read["exit_code"], 0, "{read}");
    // Who asks for one gets one, or nothing.
    let held =
        yard.json(&["exec", "--json", "--mode", "auto", "--sandbox", "workspace", "touch made"]);
    assert_eq!(held["sandbox"]["rung"], "landlock", "{held}");
}

#[test]
fn a_command_read_as_only_reading_can_do_nothing_else_and_a_misreading_is_in_the_audit() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let search = yard.lying_program("wc", "touch \"$PWD/written\"; rm -f kept; echo done");
    fs::write(yard.project().join("kept"), "text").unwrap();
    yard.give(&yard.project());
    for mode in ["default", "accept_edits", "auto"] {
        let words = ["exec", "--json", "--mode", mode, "wc kept"];
        let call = yard.umbo.call(words).current_dir(&yard.project()).env("PATH", &search);
        let answer = call.json();
        assert_eq!(answer["stdout"], "done\n", "{answer}");
        assert_eq!(answer["sandbox"]["profile"], "read-only (verdict)", "{answer}");
        assert_eq!(denied(&answer).len(), 2, "{answer}");
        assert!(answer["notes"].to_string().contains("misreading"), "{answer}");
        assert!(!yard.project().join("written").exists() && yard.project().join("kept").exists());
    }
    let records = yard.umbo.call(["audit", "show", "--json"]).current_dir(&yard.project()).answer();
    let records = String::from_utf8(records.stdout).unwrap();
    assert_eq!(records.matches("\"misread\":\"wc kept\"").count(), 3, "{records}");
    assert!(records.contains("create") && records.contains("/project/written by"), "{records}");
}

#[test]
fn an_honest_reader_is_held_to_reading_and_does_not_notice() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    fs::write(yard.project().join("text"), "b\na\n").unwrap();
    yard.give(&yard.project());
    for line in [
        "sort text | uniq -c | head -n 3",
        "grep -rn a . | wc -l && find . -name text && stat text && du -s .",
        "cat <<END | tr a-z A-Z\nhere\nEND",
        "git --version && ls -la / && df -h . && ps aux | head -n 2",
    ] {
        let answer = yard.json(&["exec", "--json", "--mode", "default", line]);
        assert_eq!(answer["exit_code"], 0, "{line}: {answer}");
        assert_eq!(answer["sandbox"]["profile"], "read-only (verdict)", "{line}: {answer}");
        assert_eq!(denied(&answer), [""; 0], "{line}: {answer}");
    }
    // Who runs all that is not dangerous anyway does not hold it to its reading.
    let guard = yard.json(&["exec", "--json", "--mode", "guard", "cat text"]);
    assert_eq!(guard["sandbox"], Value::Null, "{guard}");
}

#[test]
fn what_reads_by_asking_a_service_may_ask_that_one_and_no_other() {
    for machine in [Machine::Usual, Machine::CoveredProcesses] {
        let yard = Yard::new(Who::Ordinary, machine);
        let answers = |name: &str| {
            let socket = yard.path("outside").join(name);
            let listener = UnixListener::bind(&socket).unwrap();
            yard.give(&yard.path("outside"));
            std::thread::spawn(move || {
                for mut client in listener.incoming().flatten() {
                    // Who closes with something unread resets the connection.
                    let _ = client.read(&mut [0; 4096]);
                    let _ = client.write_all(b"HTTP/1.0 200 OK\r\n\r\nanswered\n");
                }
            });
            socket.display().to_string()
        };
        let (own, other) = (answers("docker.sock"), answers("other.sock"));
        // As the client does it, whose name is all that the reading goes by.
        let ask =
            "curl -sS --unix-socket \"${ASK:-${DOCKER_HOST#unix://}}\" http://d/containers/json";
        let path = yard.lying_program("docker", ask);
        let run = |ask: &str| {
            let words = ["exec", "--json", "--mode", "default", "docker ps"];
            let call = yard.umbo.call(words).current_dir(&yard.project()).env("PATH", &path);
            let call = call.env("DOCKER_HOST", format!("unix://{own}")).env("ASK", ask);
            let answer = call.answer();
            serde_json::from_slice::<Value>(&answer.stdout)
                .unwrap_or_else(|_| panic!("no JSON: {answer:?}"))
        };
        let asked = run("");
        assert_eq!(asked["sandbox"]["profile"], "read-only (verdict)", "{asked}");
        assert!(asked["output"].as_str().unwrap().contains("answered"), "{asked}");
        assert_eq!(denied(&asked), [""; 0], "{asked}");
        let elsewhere = run(&other);
        assert_eq!(denied(&elsewhere), [format!("connect unix:{other}")], "{elsewhere}");
    }
}

#[test]
fn git_only_reads_where_it_only_reads() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let git = |words: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "safe.directory=*"]).args(words).current_dir(yard.project());
        let status = command.status();
        assert!(status.unwrap().success(), "{words:?}");
    };
    git(&["init", "-q"]);
    fs::write(yard.project().join("a"), "text").unwrap();
    git(&["add", "a"]);
    git(&["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "first"]);
    yard.give(&yard.project());
    // Status would write what it found out about a file that was touched.
    fs::write(yard.project().join("a"), "other").unwrap();
    for line in ["git status --short", "git diff --stat", "git log --oneline | head -n 1"] {
        let answer = yard.json(&["exec", "--json", "--mode", "default", line]);
        assert_eq!(answer["exit_code"], 0, "{line}: {answer}");
        assert_eq!(answer["sandbox"]["profile"], "read-only (verdict)", "{line}: {answer}");
        assert_eq!(denied(&answer), [""; 0], "{line}: {answer}");
    }
}

#[test]
fn a_rule_sets_the_sandbox_of_its_commands() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let outside = yard.path("outside");
    let rules = format!(
        "[[rule]]\ndecision = \"allow\"\nreason = \"touch is held\"\nargv = [\"touch\"]\nsandbox = \"read-only\"\n\
         [[rule]]\ndecision = \"allow\"\nreason = \"mkdir may more\"\nargv = [\"mkdir\"]\nrisk = \"dangerous\"\n\
         sandbox = {{ profile = \"workspace\", allow_write = [\"{}\", \"/nowhere\"] }}\n\
         [[rule]]\ndecision = \"allow\"\nreason = \"ln is free\"\nargv = [\"ln\"]\nsandbox = \"off\"\n",
        outside.display()
    );
    yard.configure("rules.toml", &rules);
    let touch = yard.json(&["exec", "--json", "touch x"]);
    assert_eq!(touch["sandbox"]["profile"], "read-only", "{touch}");
    assert_eq!(denied(&touch).len(), 1, "{touch}");
    let mkdir = yard.json(&["exec", "--json", "mkdir ../outside/made"]);
    assert_eq!(
        (&mkdir["exit_code"], &mkdir["sandbox"]["profile"]),
        (&json!(0), &json!("workspace"))
    );
    let both = yard.json(&["exec", "--json", "touch x && mkdir ../outside/also"]);
    assert_eq!(
        both["sandbox"]["profile"], "workspace",
        "the widest, with what each allows: {both}"
    );
    let free = yard.json(&["exec", "--json", "--mode", "auto", "ln -s a b"]);
    assert_eq!((&free["exit_code"], &free["sandbox"]), (&json!(0), &Value::Null), "{free}");
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    yard.configure("rules.toml", &rules.replace("\"read-only\"", "\"raed-only\""));
    let wrong = yard.json(&["exec", "--json", "touch x"]);
    assert!(wrong.to_string().contains("raed-only"), "{wrong}");
    assert!(wrong.to_string().contains("rules.toml"), "{wrong}");
}

#[test]
fn a_project_that_nobody_trusts_only_tightens_a_sandbox() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    fs::create_dir_all(yard.project().join(".umbo")).unwrap();
    let project = |file: &str, text: &str| {
        fs::write(yard.project().join(".umbo").join(file), text).unwrap();
        yard.give(&yard.project());
    };
    yard.configure("config.toml", "exec.sandbox = 'workspace'");
    project("config.toml", "exec.sandbox = 'off'\nsandbox.allow_write = ['/var/lib']");
    let kept = yard.json(&["exec", "--json", "touch ../outside/x"]);
    assert_eq!(kept["sandbox"]["profile"], "workspace", "{kept}");
    assert_eq!(denied(&kept).len(), 1, "{kept}");
    project("config.toml", "exec.sandbox = 'read-only'");
    let tightened = yard.json(&["exec", "--json", "touch x"]);
    assert_eq!(tightened["sandbox"]["profile"], "read-only", "{tightened}");
    project("config.toml", "");
    let rule = |sandbox: &str| {
        format!(
            "[[rule]]\ndecision = \"ask\"\nreason = \"r\"\nargv = [\"touch\"]\nsandbox = \"{sandbox}\"\n"
        )
    };
    // In mode open nobody is asked; what the rule says about the sandbox holds if it tightens.
    for (sandbox, holds) in
        [("off", "workspace"), ("workspace+net", "workspace"), ("read-only", "read-only")]
    {
        project("rules.toml", &rule(sandbox));
        let answer = yard.json(&["exec", "--json", "touch x"]);
        assert_eq!(answer["sandbox"]["profile"], holds, "{sandbox}: {answer}");
    }
}

#[test]
fn own_profiles_extend_others_and_the_tool_takes_them() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let outside = yard.path("outside").display().to_string();
    yard.configure(
        "config.toml",
        &format!(
            "[sandbox.profiles]\nwide = {{ profile = 'workspace', allow_write = ['{outside}'] }}\n\
             wider = {{ profile = 'wide', allow_read = ['~/.ssh'] }}\n"
        ),
    );
    let line = "touch ../outside/x && cat ~/.ssh/id";
    let wider = yard.json(&["exec", "--json", "--sandbox", "wider", line]);
    assert_eq!(
        (&wider["exit_code"], &wider["sandbox"]["profile"]),
        (&json!(0), &json!("wider")),
        "{wider}"
    );
    let call = json!({"command": line, "sandbox": "wide"}).to_string();
    let wide = yard.json(&["call", "exec", &call]);
    assert_eq!(denied(&wide), [format!("read {}", yard.path("home/.ssh/id").display())], "{wide}");
    let call =
        json!({"command": line, "sandbox": {"profile": "workspace", "allow_write": [outside]}});
    let granted = yard.json(&["call", "exec", &call.to_string()]);
    assert_eq!(denied(&granted).len(), 1, "{granted}");
    let wrong = yard.json(&["call", "exec", "{\"command\": \"ls\", \"sandbox\": \"wild\"}"]);
    assert!(wrong.to_string().contains("workspace+net, wide, wider"), "{wrong}");
}

#[test]
fn a_task_runs_in_the_sandbox_that_is_asked_for() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    fs::write(yard.project().join("Makefile"), "out:\n\ttouch ../outside/x\n").unwrap();
    yard.give(&yard.project());
    let run = yard.json(&["run", "--json", "--sandbox", "workspace", "out"]);
    assert_eq!(denied(&run).len(), 1, "{run}");
    let call = yard.json(&["call", "recipe", "{\"op\": \"out\", \"sandbox\": \"workspace\"}"]);
    assert_eq!(denied(&call).len(), 1, "{call}");
}

#[test]
fn an_agents_commands_are_contained_and_the_first_answer_says_so() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    let mut call = yard.umbo.call(["mcp"]).current_dir(&yard.project()).into_command();
    let mut client = Client::of(&mut call);
    client.initialize("2025-11-25");
    let mut exec = |arguments: Value| client.tool("exec", &arguments)["structuredContent"].clone();
    // What a script does the gate cannot see; what it may do is seen to by the sandbox.
    fs::write(yard.project().join("do.py"), DO).unwrap();
    let first = exec(json!({"command": "python3 do.py inside ../outside/x $(echo ~/.s)sh/id"}));
    assert_eq!(first["sandbox"]["profile"], "workspace+net", "{first}");
    assert_eq!(denied(&first).len(), 2, "{first}");
    assert!(first["notes"].to_string().contains("commands run in the sandbox"), "{first}");
    let second = exec(json!({"command": "true"}));
    assert!(!second["notes"].to_string().contains("commands run in the sandbox"), "{second}");
    // Naming another directory opens nothing.
    let outside = yard.path("outside").display().to_string();
    let script = yard.project().join("do.py").display().to_string();
    let elsewhere = exec(json!({"command": format!("python3 {script} y"), "cwd": outside}));
    assert_eq!(denied(&elsewhere).len(), 1, "{elsewhere}");
    let out = exec(json!({"command": "python3 do.py ../outside/x", "sandbox": "off"}));
    assert!(out.to_string().contains("without a sandbox"), "{out}");
    assert!(!yard.path("outside/x").exists());
}

#[test]
fn an_agent_that_works_in_a_home_directory_is_not_surprised() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    let mut call = yard.umbo.call(["mcp"]).current_dir(&yard.path("home")).into_command();
    let mut client = Client::of(&mut call);
    client.initialize("2025-11-25");
    fs::write(yard.path("home/do.py"), DO).unwrap();
    let arguments = json!({"command": "python3 do.py file"});
    let answer = client.tool("exec", &arguments)["structuredContent"].clone();
    assert_eq!(answer["exit_code"], 0, "{answer}");
    assert!(yard.path("home/file").exists());
}

#[test]
fn what_a_command_would_be_allowed_is_said_without_running_it() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let words = ["sandbox", "explain", "--json", "--sandbox", "workspace", "touch x"];
    let answer = yard.json(&words);
    assert_eq!(answer["profile"], "workspace", "{answer}");
    assert_eq!(answer["network"], "nothing", "{answer}");
    assert_eq!(answer["proposal"]["profile"], "workspace", "{answer}");
    assert!(answer["write"].to_string().contains("/project"), "{answer}");
    let hidden = yard.path("home/.ssh").display().to_string();
    assert!(answer["hide"].to_string().contains(&hidden), "{answer}");
    let read = yard.json(&["sandbox", "explain", "--json", "--mode", "default", "cat x"]);
    assert_eq!(read["profile"], "read-only (verdict)", "{read}");
    assert_eq!(yard.json(&["classify", "--json", "cat x"])["sandbox"]["profile"], "read-only");
    assert!(!yard.project().join("x").exists());
    let text = yard.umbo.call(["sandbox", "explain", "ls"]).current_dir(&yard.project()).answer();
    assert!(text.text().contains("none, by the settings"), "{text:?}");
}

#[test]
fn trying_a_command_finds_the_smallest_sandbox_that_it_needs() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let outside = yard.path("outside").display().to_string();
    let secret = yard.path("home/.ssh/id").display().to_string();
    for (line, needs) in [
        ("ls / > /dev/null; echo x > /tmp/x; cat /tmp/x", json!({"profile": "read-only"})),
        ("touch made", json!({"profile": "workspace"})),
        ("touch ~/.cache/x", json!({"profile": "workspace"})),
        ("touch ../outside/x", json!({"profile": "workspace", "allow_write": [outside]})),
        ("cat ~/.ssh/id", json!({"profile": "read-only", "allow_read": [secret]})),
    ] {
        let answer = yard.json(&["sandbox", "try", "--json", line]);
        assert_eq!(answer["needs"], needs, "{line}: {answer}");
    }
    let rule = yard.json(&["sandbox", "try", "--json", "touch made"])["rule"].to_string();
    assert!(rule.contains("sandbox = { profile = \\\"workspace\\\" }"), "{rule}");
}
