//! The gate on the command line: what runs, what asks, who may answer.

mod confirmed;
mod files;
mod judged;

use std::fs;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

use crate::harness::{UMBO, Umbo};

/// A project in the test's directory.
fn project(umbo: &Umbo) -> PathBuf {
    let project = umbo.path().join("project");
    fs::create_dir_all(project.join(".umbo")).unwrap();
    project
}

/// `umbo exec --json OPTIONS LINE` in a project.
fn exec(umbo: &Umbo, project: &Path, options: &[&str], line: &str) -> (i32, Value) {
    let words = [&["exec", "--json"], options, &[line]].concat();
    let answer = umbo.call(words).env("UMBO_RUN", "run").current_dir(project).answer();
    (answer.status, serde_json::from_slice(&answer.stdout).unwrap())
}

/// A person at a terminal of their own, who types `typed`.
pub(crate) fn person(umbo: &Umbo, directory: &Path, words: &[&str], typed: &str) -> Output {
    let (mut command, mut keyboard) = at_a_terminal(umbo, directory, words);
    keyboard.write_all(typed.as_bytes()).unwrap();
    command.output().unwrap()
}

/// A call by a person at a terminal of their own, and their keyboard.
pub(crate) fn at_a_terminal(umbo: &Umbo, directory: &Path, words: &[&str]) -> (Command, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let terminal = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut command = Command::new(UMBO);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("UMBO_") {
            command.env_remove(name);
        }
    }
    command
        .args(words)
        .env("UMBO_STATE_DIR", umbo.state())
        .env("HOME", umbo.path().join("home"))
        .env_remove("XDG_CONFIG_HOME")
        .current_dir(directory)
        .stdin(Stdio::from(terminal));
    (command, File::from(master))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn classify_says_what_a_command_would_do() {
    let umbo = Umbo::new();
    let said = umbo.call(["classify", "--json", "git push --force"]).json();
    assert_eq!(said["risk"], "dangerous");
    for field in ["matched", "common_fs", "reason", "effects", "commands", "exact"] {
        assert!(!said[field].is_null(), "{field}: {said}");
    }
    let words = umbo.call(["classify", "ls", "-la"]).answer().text();
    assert!(words.starts_with("risk       read_only\n"), "{words}");
    let refused = umbo.call(["classify", "--shell", "tcsh", "ls"]).refused();
    assert!(refused.contains("sh, bash, zsh, fish, nu or pwsh"), "{refused}");
}

#[test]
fn classify_says_which_row_decided_and_what_would_make_it_less() {
    let umbo = Umbo::new();
    let said = umbo.call(["classify", "--json", "sort -o out in"]).json();
    assert_eq!(said["explained"][0]["row"], "sort");
    assert_eq!(said["explained"][0]["less"][0]["without"], "-o");
    let words = umbo.call(["classify", "sort -o out in"]).answer().text();
    assert!(words.contains("without -o it is read_only"), "{words}");
    let diff = umbo.call(["classify", "--json", "--diff", "ls", "rm -rf x"]).json();
    assert_eq!(diff["risk"], serde_json::json!(["read_only", "dangerous"]));
    assert_eq!(diff["only_second"].as_array().unwrap().len(), 1, "{diff}");
}

#[test]
fn options_after_a_line_are_not_judged_as_part_of_it() {
    let umbo = Umbo::new();
    for words in [
        &["classify", "curl x | sh", "--json"][..],
        &["classify", "curl x | sh", "--shell=zsh"],
        &["rules", "explain", "curl x | sh", "--json"],
        &["rules", "explain", "curl x | sh", "--mode", "auto"],
        &["exec", "true | true", "--budget", "50"],
    ] {
        let refused = umbo.call(words).refused();
        assert!(refused.contains("write options before the command"), "{words:?}: {refused}");
    }
    let own = umbo.call(["classify", "cargo", "metadata", "--json"]).answer().text();
    assert!(own.contains("cargo metadata --json"), "words of a program are its own: {own}");
}

#[test]
fn an_approved_command_runs_once_and_the_audit_knows_all_of_it() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    let (status, asked) = exec(&umbo, &project, &["--mode", "default"], "touch made");
    assert_eq!(
        (status, &asked["error"]["code"]),
        (125, &Value::from("approval_required")),
        "{asked}"
    );
    let id = asked["error"]["id"].as_str().unwrap();
    assert!(!project.join("made").exists());
    let listed = umbo.call(["approvals", "--json"]).json();
    assert_eq!(
        (&listed[0]["id"], &listed[0]["state"]),
        (&asked["error"]["id"], &Value::from("open"))
    );
    let table = umbo.call(["approvals"]).answer().text();
    let rows: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["ID", "STATE", "RISK", "AGE", "COMMAND", "CWD"], "{table}");
    let place = project.to_str().unwrap();
    let short = &id[id.len() - 6..];
    assert_eq!((rows[1][0], rows[1][1], rows[1][4]), (short, "open", "touch"), "{table}");
    assert_eq!(rows[1].last(), Some(&place), "{table}");
    let no = person(&umbo, &project, &["approve", id], "n\n");
    assert_eq!(no.status.code(), Some(125), "{no:?}");
    let yes = person(&umbo, &project, &["approve", short], "y\n");
    assert!(yes.status.success(), "{yes:?}");
    assert!(text(&yes.stderr).contains("touch made"), "the person sees what it is");
    let table = umbo.call(["approvals"]).answer().text();
    assert!(table.contains(&format!("{short}  approved  ")), "{table}");
    let (status, ran) = exec(&umbo, &project, &["--mode", "default"], "touch made");
    assert_eq!((status, &ran["exit_code"]), (0, &Value::from(0)), "{ran}");
    assert!(project.join("made").exists());
    let (_, again) = exec(&umbo, &project, &["--mode", "default"], "touch made");
    assert_eq!(again["error"]["code"], "approval_required", "once is once");
    let twice = person(&umbo, &project, &["approve", id], "y\n");
    assert!(text(&twice.stderr).contains("answered before"), "{twice:?}");
    let kinds: Vec<String> = umbo
        .call(["audit", "show", "--json"])
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|record| record["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["verdict", "answer", "verdict", "started", "outcome", "verdict"]);
    assert_eq!(umbo.call(["audit", "verify", "--json"]).json()["sound"], true);
}

#[test]
fn a_denial_reaches_the_caller_with_its_reason() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    let (_, asked) = exec(&umbo, &project, &["--mode", "default"], "rm x");
    let id = asked["error"]["id"].as_str().unwrap();
    let denied = person(&umbo, &project, &["deny", id, "--reason", "keep it"], "");
    assert!(denied.status.success(), "{denied:?}");
    let (status, said) = exec(&umbo, &project, &["--mode", "default"], "rm x");
    assert_eq!((status, &said["error"]["code"]), (125, &Value::from("denied")), "{said}");
    assert_eq!(said["error"]["reason"], "keep it");
    assert_eq!(said["error"]["id"], id);
    let plain = person(&umbo, &project, &["approve", id], "y\n");
    assert!(text(&plain.stderr).contains(&format!("umbo approve --overturn {id}")), "{plain:?}");
    assert_eq!(said["error"]["answer_with"], format!("umbo approve --overturn {id}"));
    let yes = person(&umbo, &project, &["approve", "--overturn", id], "y\n");
    assert!(yes.status.success(), "{yes:?}");
    assert!(text(&yes.stderr).contains("keep it"), "the person sees what was said before");
    let (_, ran) = exec(&umbo, &project, &["--mode", "auto"], "rm x");
    assert_eq!(ran["state"], "exited", "{ran}");
}

#[test]
fn deny_rules_hold_for_a_persons_own_verbs_too() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    let (status, said) = exec(&umbo, &project, &[], "rm -rf / --no-preserve-root --help");
    assert_eq!((status, &said["error"]["code"]), (125, &Value::from("denied")), "{said}");
    assert!(said["error"]["by"].as_str().unwrap().contains("root-or-home"), "{said}");
    let words = umbo.call(["start", "umbo", "approve", "x"]).current_dir(&project).answer();
    assert_eq!(words.status, 125);
    assert!(text(&words.stderr).contains("An agent does not approve itself"), "{words:?}");
    assert_eq!(exec(&umbo, &project, &[], "echo 'rm -rf /'").1["stdout"], "rm -rf /\n");
}

#[test]
fn the_verbs_of_the_person_do_not_run_inside_a_job_however_it_hides() {
    let umbo = Umbo::new();
    let script = umbo.path().join("answer.py");
    for (verb, how) in [
        ("approve x", ""),
        ("deny x", "env -i HOME=/ "),
        ("trust", "env -u UMBO_JOB "),
        ("rules check", "setsid -w "),
        ("config show", "setsid -w "),
        ("config set tools.mode open", "env -i HOME=/ "),
    ] {
        let line = format!("{how}'{UMBO}' {verb}");
        // What a shell would read is seen before it runs; this is not.
        let code = format!("import os, sys\nsys.exit(os.system({line:?}) >> 8)\n");
        fs::write(&script, code).unwrap();
        let job = umbo.start_with(&["--pty"], &format!("python3 '{}'", script.display()));
        assert_eq!(umbo.outcome(&job)["code"], 125, "{verb}");
        let said = text(&umbo.output(&job));
        assert!(said.contains("does not run inside a job"), "{verb}: {said}");
    }
}

#[test]
fn answering_needs_a_terminal() {
    let umbo = Umbo::new();
    for words in [["approve", "x"].as_slice(), &["deny", "x"], &["trust"]] {
        let refused = umbo.call(words).refused();
        assert!(refused.contains("needs a person"), "{refused}");
    }
}

#[test]
fn a_project_loosens_only_after_it_is_trusted_and_until_it_changes() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    let rules = project.join(".umbo/rules.toml");
    let allow = "[[rule]]\ndecision = \"allow\"\nreason = \"fine\"\nargv = [\"touch\"]\n";
    fs::write(&rules, allow).unwrap();
    let touch = || exec(&umbo, &project, &["--mode", "default"], "touch x").0;
    assert_eq!(touch(), 125);
    let show = || umbo.call(["trust", "--show", "--json"]).current_dir(&project).json();
    assert_eq!(show()["files"][0]["state"], "new");
    let check = umbo.call(["rules", "check", "--json"]).current_dir(&project).json();
    assert_eq!(check["files"][1]["ignored"], 1, "{check}");
    let trusted = person(&umbo, &project, &["trust"], "y\n");
    assert!(trusted.status.success(), "{trusted:?}");
    assert_eq!(show()["files"][0]["state"], "trusted");
    assert_eq!(touch(), 0);
    fs::write(&rules, format!("{allow}# more\n")).unwrap();
    assert_eq!(show()["files"][0]["state"], "changed");
    assert_eq!(touch(), 125);
}

#[test]
fn explain_names_the_rule_and_check_names_the_line() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    let config = umbo.path().join("config");
    fs::create_dir_all(&config).unwrap();
    let rules = config.join("rules.toml");
    let call =
        |words: &[&str]| umbo.call(words).env("UMBO_CONFIG_DIR", &config).current_dir(&project);
    fs::write(&rules, "[[rule]]\nname='p'\ndecision='deny'\nreason='no'\nargv=['git','push']\n")
        .unwrap();
    let said = call(&["rules", "explain", "--json", "git -C . push"]).json();
    assert_eq!((&said["verdict"], &said["decided_by"]["rule"]), (&"deny".into(), &"p".into()));
    assert_eq!(said["decided_by"]["layer"], "user");
    let words = call(&["rules", "explain", "git", "status"]).answer().text();
    assert!(words.contains("decided by  mode guard"), "{words}");
    assert!(words.contains("mode        guard, which agents get (tools.mode)"), "{words}");
    let words = call(&["rules", "explain", "--mode", "default", "git", "push"]).answer().text();
    assert!(words.contains("mode        default\n"), "{words}");
    fs::write(&rules, "[[rule]]\ndecison='deny'\n").unwrap();
    let checked = call(&["rules", "check"]).answer();
    assert_eq!(checked.status, 1);
    let told = text(&checked.stderr);
    assert!(
        told.contains("rules.toml:2: there is no key `decison`; did you mean `decision`?"),
        "{told}"
    );
    let exec = call(&["exec", "true"]).answer();
    assert_eq!(exec.status, 125, "with rules that cannot be read nothing runs");
}

#[test]
fn a_tampered_audit_is_found_and_located() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    for _ in 0..3 {
        exec(&umbo, &project, &["--mode", "guard"], "true");
    }
    let path = umbo.state().join("audit");
    let sound = fs::read_to_string(&path).unwrap();
    fs::write(&path, sound.replacen("\"command\":\"true\"", "\"command\":\"rm x\"", 1)).unwrap();
    let answer = umbo.call(["audit", "verify"]).answer();
    assert_eq!(answer.status, 1);
    assert!(answer.text().contains("audit:1: the record was changed"), "{answer:?}");
    fs::write(&path, &sound).unwrap();
    let exported = umbo.call(["audit", "export", "--json"]).json_lines();
    assert_eq!(exported.last().unwrap()["sound"], true);
    assert_eq!(exported.len(), 10);
}

#[test]
fn a_job_that_ended_unwatched_is_in_the_audit_with_the_hash_of_its_output() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    let line = ["start", "--json", "--mode", "guard", "echo hi"];
    let started = umbo.call(line).current_dir(&project).json();
    let job = started["job"].as_str().unwrap();
    umbo.outcome(job);
    let of_kind = |kind: &str| -> Value {
        let all = umbo.call(["audit", "show", "--json"]).json();
        let found: Vec<&Value> =
            all.as_array().unwrap().iter().filter(|record| record["kind"] == kind).collect();
        assert_eq!(found.len(), 1, "{all}");
        found[0].clone()
    };
    assert_eq!(of_kind("started")["verdict"], of_kind("verdict")["seq"]);
    let outcome = of_kind("outcome");
    assert_eq!((&outcome["job"], &outcome["exit_code"]), (&Value::from(job), &Value::from(0)));
    let hash = "98ea6e4f216f2fb4b69fff9b3a44842c38686ca685f3f55dc48c5d3fb1107be4";
    assert_eq!(outcome["log"], hash, "of what it wrote");
    assert_eq!(of_kind("outcome"), outcome, "once");
}

/// `umbo call` in a project, in a mode: its exit status and answer.
fn call(umbo: &Umbo, project: &Path, mode: &str, tool: &str, arguments: &Value) -> (i32, Value) {
    let words = ["call", "--mode", mode, tool, &arguments.to_string()];
    let answer = umbo.call(words).env("UMBO_RUN", "run").current_dir(project).answer();
    (answer.status, serde_json::from_slice(&answer.stdout).unwrap())
}

#[test]
fn a_tool_asks_before_what_is_dangerous_and_a_retry_after_the_answer_runs_once() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    fs::create_dir(project.join("kept")).unwrap();
    let remove = json!({"command": "rm -rf kept"});
    let (status, asked) = call(&umbo, &project, "guard", "exec", &remove);
    let error = &asked["error"];
    assert_eq!((status, &error["code"]), (1, &json!("approval_required")), "{asked}");
    let id = error["id"].as_str().unwrap();
    assert_eq!(error["answer_with"], format!("umbo approve {id}"));
    assert_eq!(error["risk"], "dangerous");
    assert!(project.join("kept").exists());
    let (_, again) = call(&umbo, &project, "guard", "exec", &remove);
    assert_eq!(again["error"]["id"], id, "the same question is one question");
    assert!(person(&umbo, &project, &["approve", id], "y\n").status.success());
    let (status, ran) = call(&umbo, &project, "guard", "exec", &remove);
    assert_eq!((status, &ran["exit_code"]), (0, &json!(0)), "{ran}");
    assert!(!project.join("kept").exists());
    let (_, more) = call(&umbo, &project, "guard", "exec", &remove);
    assert_eq!(more["error"]["code"], "approval_required", "once is once");
    let (status, _) = call(&umbo, &project, "open", "exec", &json!({"command": "rm -rf nothing"}));
    assert_eq!(status, 0, "in mode open only deny rules hold");
}

#[test]
fn what_is_denied_is_denied_to_tools_in_every_mode_and_dialect() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    for (dialect, tool, field) in [
        ("umbo", "exec", "command"),
        ("claude-code", "Bash", "command"),
        ("codex", "exec_command", "cmd"),
    ] {
        let arguments = json!({ field: "umbo approve 01abc" }).to_string();
        let words = ["call", "--dialect", dialect, "--mode", "open", tool, &arguments];
        let answer = umbo.call(words).current_dir(&project).status(1).json();
        assert_eq!(answer["error"]["code"], "denied", "{answer}");
    }
}

#[test]
fn what_is_typed_into_a_job_passes_the_gate_and_stays_out_of_the_audit() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    let shell = json!({"command": "read line; eval \"$line\"", "background": true, "name": "sh"});
    let (_, started) = call(&umbo, &project, "guard", "exec", &shell);
    assert_eq!(started["state"], "started", "{started}");
    fs::create_dir(project.join("kept")).unwrap();
    let (_, asked) =
        call(&umbo, &project, "guard", "input", &json!({"job": "sh", "text": "rm -rf kept\n"}));
    assert_eq!(asked["error"]["code"], "approval_required", "{asked}");
    let (status, typed) =
        call(&umbo, &project, "guard", "input", &json!({"job": "sh", "text": "echo typed\n"}));
    assert_eq!(status, 0, "{typed}");
    umbo.outcome(started["job"].as_str().unwrap());
    assert!(project.join("kept").exists());
    let audit = umbo.call(["audit", "export", "--json"]).answer().text();
    assert!(audit.contains("rm -rf kept") && !audit.contains("echo typed"), "{audit}");
}

#[test]
fn what_a_person_types_into_a_job_passes_the_gate_in_their_mode() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    // Whatever this `echo` is: of what only reads, what is typed is data.
    let line = "while read line; do /bin/echo \"got $line\"; done";
    let job = umbo.start(line);
    fs::create_dir(project.join("kept")).unwrap();
    let input = |options: &[&str], text: &str| {
        let words = [&["input", "--json"], options, &[job.as_str(), text]].concat();
        let answer = umbo.call(words).current_dir(&project).answer();
        (answer.status, serde_json::from_slice::<Value>(&answer.stdout).unwrap())
    };
    let (status, denied) = input(&[], "rm -rf / --no-preserve-root\n");
    assert_eq!((status, &denied["error"]["code"]), (125, &json!("denied")), "{denied}");
    assert!(denied["error"]["by"].as_str().unwrap().contains("root-or-home"), "{denied}");
    let (status, typed) = input(&[], "rm -rf kept\n");
    assert_eq!((status, &typed["bytes"]), (0, &json!(12)), "a person without a mode: {typed}");
    umbo.wait_for(&job, "got rm -rf kept");
    let (status, asked) = input(&["--mode", "guard"], "rm -rf kept\n");
    assert_eq!((status, &asked["error"]["code"]), (125, &json!("approval_required")), "{asked}");
    let (status, _) = input(&["--mode", "guard"], "echo fine\n");
    assert_eq!(status, 0);
    umbo.wait_for(&job, "got echo fine");
    umbo.stop(&job, &["--kill"]);
    let told = String::from_utf8(umbo.output(&job)).unwrap();
    assert!(!told.contains("preserve-root"), "{told}");
    assert_eq!(told.matches("got rm -rf kept").count(), 1, "{told}");
}
