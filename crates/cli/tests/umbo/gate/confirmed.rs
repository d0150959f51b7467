//! The user's own files: a change that no person made through umbo is shown and loosens nothing.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::person;
use crate::harness::Umbo;

fn own(umbo: &Umbo, name: &str) -> PathBuf {
    let directory = umbo.path().join("home/.config/umbo");
    fs::create_dir_all(&directory).unwrap();
    directory.join(name)
}

/// The value that holds for a setting.
fn setting(umbo: &Umbo, name: &str) -> Value {
    let shown = umbo.call(["config", "show", "--json", name]).answer();
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    shown["settings"][0]["value"].clone()
}

/// What running a command says beside its output.
fn said(umbo: &Umbo) -> String {
    String::from_utf8(umbo.exec("true").answer().stderr).unwrap()
}

fn confirm(umbo: &Umbo, typed: &str) -> std::process::Output {
    person(umbo, umbo.path(), &["config", "confirm"], typed)
}

#[test]
fn settings_that_a_job_writes_loosen_nothing_until_a_person_confirms_them() {
    let umbo = Umbo::new();
    let file = own(&umbo, "config.toml");
    fs::write(&file, "tools.mode = 'auto'\n").unwrap();
    assert_eq!(said(&umbo), "", "what is there first counts");
    // What the gate sees of such a command it denies; of a program it sees nothing.
    let program = umbo.path().join("harmless.py");
    let code = format!("open({file:?}, 'w').write(\"tools.mode = 'open'\\nmax_running = 3\\n\")");
    fs::write(&program, code).unwrap();
    assert_eq!(umbo.exec(&format!("python3 {}", program.display())).answer().status, 0);
    assert_eq!(setting(&umbo, "tools.mode"), "auto", "what was confirmed holds");
    assert_eq!(setting(&umbo, "max_running"), 3, "what tightens counts");
    let warning = said(&umbo);
    assert!(warning.contains("config.toml was changed") && warning.contains("config confirm"));
    let checked = umbo.call(["config", "check", "--json"]).json();
    assert_eq!(checked["files"][1]["standing"], "untrusted", "{checked}");
    // A job cannot confirm, and neither can a program without a terminal.
    umbo.call(["config", "confirm"]).refused();
    let shown = confirm(&umbo, "n\n");
    let text = String::from_utf8(shown.stderr).unwrap();
    assert!(
        text.contains("-tools.mode = 'auto'\n") && text.contains("+tools.mode = 'open'\n"),
        "{text}"
    );
    assert_eq!(setting(&umbo, "tools.mode"), "auto");
    let refused = person(&umbo, umbo.path(), &["config", "set", "tools.dialect", "lash"], "");
    assert_eq!(refused.status.code(), Some(125), "a change would confirm what others wrote");
    assert!(confirm(&umbo, "y\n").status.success());
    assert_eq!((setting(&umbo, "tools.mode"), said(&umbo)), (json!("open"), String::new()));
    let audit = umbo.call(["audit", "show", "--json"]).json();
    let records = audit.as_array().unwrap();
    assert!(records.iter().any(|record| record["kind"] == "confirmed"), "{audit}");
}

#[test]
fn settings_that_are_removed_still_count() {
    let umbo = Umbo::new();
    let file = own(&umbo, "config.toml");
    fs::write(&file, "tools.mode = 'default'\n").unwrap();
    said(&umbo);
    fs::remove_file(&file).unwrap();
    assert_eq!(setting(&umbo, "tools.mode"), "default");
    assert!(said(&umbo).contains("was removed"));
    confirm(&umbo, "y\n");
    assert_eq!((setting(&umbo, "tools.mode"), said(&umbo)), (json!("guard"), String::new()));
}

#[test]
fn a_person_who_uses_umbo_config_confirms_nothing_more() {
    let umbo = Umbo::new();
    let set = person(&umbo, umbo.path(), &["config", "set", "tools.mode", "open"], "");
    assert!(set.status.success(), "{set:?}");
    assert_eq!((setting(&umbo, "tools.mode"), said(&umbo)), (json!("open"), String::new()));
    let unset = person(&umbo, umbo.path(), &["config", "unset", "tools.mode"], "");
    assert!(unset.status.success(), "{unset:?}");
    assert_eq!((setting(&umbo, "tools.mode"), said(&umbo)), (json!("guard"), String::new()));
}

#[test]
fn rules_that_a_job_writes_deny_and_do_not_allow() {
    let umbo = Umbo::new();
    let file = own(&umbo, "rules.toml");
    let rule = |decision: &str, word: &str| {
        format!("[[rule]]\ndecision = '{decision}'\nreason = 'r'\nargv = ['{word}']\n")
    };
    let code = |line: &str| {
        let answer = umbo.call(["exec", "--json", "--mode", "default", line]).answer();
        let said: Value = serde_json::from_slice(&answer.stdout).unwrap();
        said["error"]["code"].as_str().unwrap_or("ran").to_owned()
    };
    fs::write(&file, rule("allow", "touch") + &rule("deny", "mkdir")).unwrap();
    assert_eq!((code("touch a").as_str(), code("mkdir a").as_str()), ("ran", "denied"));
    fs::write(&file, rule("allow", "cp") + &rule("deny", "mv") + &rule("allow", "mkdir")).unwrap();
    assert_eq!(code("cp a b"), "approval_required", "nobody confirmed the rule that allows it");
    assert_eq!(code("mv a b"), "denied");
    assert_eq!(code("touch a"), "ran", "what was confirmed holds");
    assert_eq!(code("mkdir a"), "denied", "and so does what denies");
    confirm(&umbo, "y\n");
    assert_eq!((code("cp a b").as_str(), code("touch c").as_str()), ("ran", "approval_required"));
}

#[test]
fn a_copy_that_was_forged_or_deleted_confirms_nothing() {
    let umbo = Umbo::new();
    let file = own(&umbo, "config.toml");
    fs::write(&file, "tools.mode = 'auto'\n").unwrap();
    said(&umbo);
    let copy = own(&umbo, "confirmed/config.toml");
    let text = fs::read_to_string(&copy).unwrap();
    fs::write(&copy, text.replace("auto", "open")).unwrap();
    fs::write(&file, "tools.mode = 'open'\n").unwrap();
    assert_eq!(
        setting(&umbo, "tools.mode"),
        "guard",
        "the default: nothing is known to be confirmed"
    );
    fs::remove_file(&copy).unwrap();
    assert_eq!(setting(&umbo, "tools.mode"), "guard");
    assert!(said(&umbo).contains("was changed"));
}

#[test]
fn the_audit_has_the_room_that_the_settings_give_it() {
    let umbo = Umbo::new();
    fs::write(own(&umbo, "config.toml"), "retention.audit_bytes = '16k'\n").unwrap();
    let long = format!("true {}", "x".repeat(700));
    for _ in 0..40 {
        umbo.call(["exec", "--mode", "default", &long]).answer();
    }
    let files = fs::read_dir(umbo.state()).unwrap().flatten();
    let audit = files.filter(|file| file.file_name().to_string_lossy().starts_with("audit"));
    let bytes: u64 = audit.map(|file| file.metadata().unwrap().len()).sum();
    assert!((8 << 10..24 << 10).contains(&bytes), "{bytes}");
    let report = umbo.call(["audit", "verify", "--json"]).json();
    assert_eq!(report["sound"], true, "{report}");
}
