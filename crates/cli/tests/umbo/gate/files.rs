//! File tools pass the gate as paths: by rule, by mode, by approval; and the audit has it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{person, project};
use crate::harness::Umbo;

/// What a tool answers. What lies in the test's directory but not in its project is elsewhere.
fn call(umbo: &Umbo, project: &Path, mode: &str, tool: &str, arguments: &Value) -> Value {
    let words = ["call", "--mode", mode, tool, &arguments.to_string()];
    let call = umbo.call(words).env("UMBO_RUN", "run").env("TMPDIR", umbo.path().join("tmp"));
    serde_json::from_slice(&call.current_dir(project).answer().stdout).unwrap()
}

fn refusal(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or_default()
}

fn approve(umbo: &Umbo, project: &Path, asked: &Value) -> String {
    let id = asked["error"]["id"].as_str().unwrap_or_else(|| panic!("{asked}"));
    let approved = person(umbo, project, &["approve", id], "y\n");
    assert!(approved.status.success(), "{approved:?}");
    String::from_utf8(approved.stderr).unwrap()
}

fn rules(umbo: &Umbo, text: &str) {
    let config = umbo.path().join("home/.config/umbo");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("rules.toml"), text).unwrap();
}

#[test]
fn an_edit_of_several_files_is_asked_about_once_and_approved_for_what_it_says() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    let [a, b] = ["a.txt", "b.txt"].map(|name| project.join(name));
    let before = || {
        fs::write(&a, "one\n").unwrap();
        fs::write(&b, "two\n").unwrap();
    };
    before();
    let patch = |new: &str| {
        json!({"patch": format!(
            "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+{new}\n\
             --- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-two\n+{new}\n"
        )})
    };
    let edit = |new: &str| call(&umbo, &project, "default", "edit", &patch(new));
    let asked = edit("x");
    assert_eq!(refusal(&asked), "approval_required", "{asked}");
    assert_eq!(fs::read_to_string(&a).unwrap(), "one\n");
    let shown = approve(&umbo, &project, &asked);
    for line in ["--- a.txt", "-one", "+x", "--- b.txt", "-two"] {
        assert!(shown.contains(line), "{line} is not in the question: {shown}");
    }
    assert_eq!(refusal(&edit("y")), "approval_required", "it was approved for other lines");
    let done = edit("x");
    assert_eq!(done["files"].as_array().map(Vec::len), Some(2), "{done}");
    assert_eq!(fs::read_to_string(&b).unwrap(), "x\n");
    before();
    assert_eq!(refusal(&edit("x")), "approval_required", "once is once");
    assert_eq!(refusal(&call(&umbo, &project, "accept_edits", "edit", &patch("x"))), "");
}

#[test]
fn rules_by_path_and_effect_hold_for_file_tools_in_every_mode() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    let outside = umbo.path().join("outside");
    for (path, text) in [
        (project.join("secrets/key.txt"), "word\n"),
        (project.join("db/schema.sql"), "word\n"),
        (project.join("open.txt"), "word\n"),
        (outside.join("manual/a.txt"), "word\n"),
        (outside.join("b.txt"), "word\n"),
    ] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let manual = outside.join("manual").display().to_string();
    rules(
        &umbo,
        &format!(
            "[[rule]]\ndecision = \"deny\"\nreason = \"not for agents\"\npath = \"secrets/**\"\n\
             [[rule]]\ndecision = \"ask\"\nreason = \"ask the owner\"\neffect = [\"write\"]\npath = \"db/**\"\n\
             [[rule]]\ndecision = \"allow\"\nreason = \"the manual\"\neffect = [\"read\"]\npath = \"{manual}/**\"\n"
        ),
    );
    for mode in ["default", "guard", "open"] {
        let of = |tool: &str, arguments: Value| call(&umbo, &project, mode, tool, &arguments);
        let denied = of("read", json!({"path": "secrets/key.txt"}));
        assert_eq!(refusal(&denied), "denied", "{mode}: {denied}");
        assert_eq!(denied["error"]["reason"], "not for agents");
        assert_eq!(refusal(&of("write", json!({"path": "secrets/new", "content": "x"}))), "denied");
        // What may not be read is not found by those who look through directories, either.
        let found = of("search", json!({"pattern": "word", "output": "files"}));
        assert_eq!(found["text"], "db/schema.sql\nopen.txt\n", "{mode}");
        let found = of("find", json!({"paths": ["*.txt"]}));
        assert_eq!(found["files"], json!(["open.txt"]), "{mode}");
        let tree = of("tree", json!({"order": "name"}));
        assert!(!tree["text"].as_str().unwrap().contains("key.txt"), "{tree}");
        let link = project.join(format!("link-{mode}"));
        std::os::unix::fs::symlink(project.join("secrets/key.txt"), &link).unwrap();
        let by_link = of("read", json!({"path": format!("link-{mode}")}));
        assert_eq!(refusal(&by_link), "denied", "a link leads to what it leads to: {by_link}");
        fs::remove_file(link).unwrap();
        let wanted = if mode == "open" { "" } else { "approval_required" };
        let schema = json!({"path": "db/schema.sql", "edits": [{"old": "word", "new": mode}]});
        assert_eq!(refusal(&of("edit", schema)), wanted, "{mode}");
        assert_eq!(refusal(&of("read", json!({"path": "db/schema.sql"}))), "", "{mode}");
        let manual = json!({"path": format!("{manual}/a.txt")});
        assert_eq!(refusal(&of("read", manual)), "", "{mode}: a rule allows it");
        let elsewhere = json!({"path": outside.join("b.txt")});
        assert_eq!(refusal(&of("read", elsewhere)), wanted, "{mode}");
    }
}

#[test]
fn a_read_outside_is_approved_for_that_file_and_not_told_before() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    let file = umbo.path().join("elsewhere.txt");
    fs::write(&file, "hidden word\nsecond\n").unwrap();
    let read = |path: String| call(&umbo, &project, "guard", "read", &json!({"path": path}));
    let with_lines = format!("{}:2-2", file.display());
    let asked = read(with_lines.clone());
    assert_eq!(refusal(&asked), "approval_required", "{asked}");
    let why = asked["error"]["why"].as_str().unwrap();
    assert!(why.contains("elsewhere.txt, which"), "the file is named, not the lines: {why}");
    assert!(!asked.to_string().contains("second"), "{asked}");
    // Whether something is there is not told, either.
    let missing = read(umbo.path().join("nothing.txt").display().to_string());
    assert_eq!(refusal(&missing), "approval_required", "{missing}");
    approve(&umbo, &project, &asked);
    let told = read(with_lines.clone());
    assert!(told["text"].as_str().unwrap().contains("second"), "{told}");
    assert_eq!(refusal(&read(with_lines)), "approval_required", "once is once");
    // A search of a directory elsewhere is asked about before anything of it is told.
    let arguments = json!({"pattern": "hidden", "paths": [umbo.path()]});
    let searched = call(&umbo, &project, "guard", "search", &arguments);
    assert_eq!(refusal(&searched), "approval_required", "{searched}");
}

#[test]
fn the_audit_has_what_file_tools_did_and_were_denied() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    fs::write(project.join("a.txt"), "one\n").unwrap();
    let guard = |tool: &str, arguments: Value| call(&umbo, &project, "guard", tool, &arguments);
    guard("read", json!({"path": "a.txt"}));
    guard("edit", json!({"path": "a.txt", "edits": [{"old": "one", "new": "two"}]}));
    guard("search", json!({"pattern": "two"}));
    assert_eq!(refusal(&guard("write", json!({"path": ".umbo/x", "content": "x"}))), "denied");
    assert_eq!(refusal(&guard("read", json!({"path": "/etc/shadow"}))), "denied");
    guard("undo", json!({}));
    let shown = umbo.call(["audit", "show"]).current_dir(&project).answer();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let lines: Vec<&str> = shown.lines().collect();
    let wanted = [
        ("allow", "read a.txt"),
        ("allow", "edit a.txt"),
        ("allow", "search ."),
        ("deny", "write .umbo/x"),
        ("deny", "read /etc/shadow"),
        ("allow", "undo last"),
    ];
    assert_eq!(lines.len(), wanted.len(), "{shown}");
    for (line, (decision, text)) in lines.iter().zip(wanted) {
        assert!(line.contains(decision) && line.contains(text), "{line}: {decision} {text}");
    }
    umbo.call(["audit", "verify"]).current_dir(&project).answer().expect_status(0);
}
