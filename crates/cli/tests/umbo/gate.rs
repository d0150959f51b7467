//! The gate on the command line: what runs, what asks, who may answer.

use std::fs;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

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
fn person(umbo: &Umbo, directory: &Path, words: &[&str], typed: &str) -> Output {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let terminal = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut master = File::from(master);
    master.write_all(typed.as_bytes()).unwrap();
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
        .stdin(Stdio::from(terminal))
        .output()
        .unwrap()
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
fn an_approved_command_runs_once_and_the_audit_knows_all_of_it() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    let (status, asked) = exec(&umbo, &project, &["--mode", "default"], "touch made");
    assert_eq!((status, &asked["error"]), (125, &Value::from("approval_required")), "{asked}");
    let id = asked["id"].as_str().unwrap();
    assert!(!project.join("made").exists());
    let listed = umbo.call(["approvals", "--json"]).json();
    assert_eq!((&listed[0]["id"], &listed[0]["state"]), (&asked["id"], &Value::from("open")));
    let no = person(&umbo, &project, &["approve", id], "n\n");
    assert_eq!(no.status.code(), Some(125), "{no:?}");
    let yes = person(&umbo, &project, &["approve", id], "y\n");
    assert!(yes.status.success(), "{yes:?}");
    assert!(text(&yes.stderr).contains("touch made"), "the person sees what it is");
    let (status, ran) = exec(&umbo, &project, &["--mode", "default"], "touch made");
    assert_eq!((status, &ran["exit_code"]), (0, &Value::from(0)), "{ran}");
    assert!(project.join("made").exists());
    let (_, again) = exec(&umbo, &project, &["--mode", "default"], "touch made");
    assert_eq!(again["error"], "approval_required", "once is once");
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
    assert_eq!(kinds, ["verdict", "answer", "verdict", "outcome", "verdict"]);
    assert_eq!(umbo.call(["audit", "verify", "--json"]).json()["sound"], true);
}

#[test]
fn a_denial_reaches_the_caller_with_its_reason() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    let (_, asked) = exec(&umbo, &project, &["--mode", "auto"], "rm x");
    let id = asked["id"].as_str().unwrap();
    let denied = person(&umbo, &project, &["deny", id, "--reason", "keep it"], "");
    assert!(denied.status.success(), "{denied:?}");
    let (status, said) = exec(&umbo, &project, &["--mode", "auto"], "rm x");
    assert_eq!((status, &said["error"]), (125, &Value::from("denied")), "{said}");
    assert_eq!(said["reason"], "keep it");
}

#[test]
fn deny_rules_hold_for_a_persons_own_verbs_too() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    let (status, said) = exec(&umbo, &project, &[], "rm -rf / --no-preserve-root --help");
    assert_eq!((status, &said["error"]), (125, &Value::from("denied")), "{said}");
    assert!(said["by"].as_str().unwrap().contains("root-or-home"), "{said}");
    let words = umbo.call(["start", "umbo", "approve", "x"]).current_dir(&project).answer();
    assert_eq!(words.status, 125);
    assert!(text(&words.stderr).contains("An agent does not approve itself"), "{words:?}");
    assert_eq!(exec(&umbo, &project, &[], "echo 'rm -rf /'").1["stdout"], "rm -rf /\n");
}

#[test]
fn the_verbs_of_the_person_do_not_run_inside_a_job_however_it_hides() {
    let umbo = Umbo::new();
    let script = umbo.path().join("answer.sh");
    for (verb, how) in [
        ("approve x", ""),
        ("deny x", "env -i HOME=/ "),
        ("trust", "env -u UMBO_JOB "),
        ("rules check", "setsid -w "),
    ] {
        fs::write(&script, format!("{how}'{UMBO}' {verb}\n")).unwrap();
        let job = umbo.start_with(&["--pty"], &format!("sh '{}'", script.display()));
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
    assert!(words.contains("decided by  mode default"), "{words}");
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
    assert_eq!(exported.len(), 7);
}
