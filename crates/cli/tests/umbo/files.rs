//! The verbs about files, as a person uses them: names that are no text, pipes, jobs, little room.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::harness::{UMBO, Umbo};

#[test]
fn names_with_line_breaks_and_bytes_that_are_no_text_are_listed_found_and_read() {
    let umbo = Umbo::new();
    let project = umbo.path().join("p");
    fs::create_dir(&project).unwrap();
    let odd = [&b"a\nb"[..], b"\xff\xfe", b"\x1b[31mred", b"plain"];
    for name in odd {
        fs::write(project.join(OsStr::from_bytes(name)), "word\n").unwrap();
    }
    let json = |words: &[&str]| -> Value {
        let answer = umbo.call(words).current_dir(&project).answer();
        serde_json::from_slice(&answer.stdout).unwrap_or_else(|_| panic!("{answer:?}"))
    };
    let listed = json(&["ls", "--json"]);
    assert_eq!(listed["total"], 4, "{listed}");
    let found = json(&["find", "--json"]);
    let found: Vec<&str> =
        found["files"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert_eq!(found.len(), 4, "{found:?}");
    for path in &found {
        assert!(!path.contains('\n') && !path.contains('\u{1b}'), "one line each: {path:?}");
        let read = json(&["read", "--json", path]);
        assert!(read["text"].as_str().unwrap_or_default().ends_with("|word\n"), "{path:?}: {read}");
    }
    let searched = json(&["search", "--json", "word"]);
    assert_eq!(searched["total_matches"], 4);
    let printed = umbo.call(["ls"]).current_dir(&project).answer();
    assert_eq!(printed.text().lines().count(), 4, "{printed:?}");
    assert!(!printed.stdout.contains(&0x1b), "{printed:?}");
}

#[test]
fn pipes_devices_and_circles_are_no_trap() {
    let umbo = Umbo::new();
    let project = umbo.path().join("p");
    fs::create_dir_all(project.join("d")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        project.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    symlink("..", project.join("d/up")).unwrap();
    symlink("loop", project.join("loop")).unwrap();
    fs::write(project.join("d/a.txt"), "word\n").unwrap();
    let code = |words: &[&str]| -> Value {
        let answer = umbo.call(words).current_dir(&project).answer();
        serde_json::from_slice(&answer.stdout).unwrap_or_else(|_| panic!("{answer:?}"))
    };
    assert_eq!(code(&["read", "--json", "pipe"])["error"]["code"], "wrong_kind");
    assert_eq!(code(&["read", "--json", "/dev/zero"])["error"]["code"], "wrong_kind");
    assert_eq!(code(&["read", "--json", "loop"])["error"]["code"], "io_error");
    assert_eq!(code(&["search", "--json", "word"])["total_matches"], 1);
    assert_eq!(code(&["find", "--json", "*.txt"])["files"], json!(["d/a.txt"]));
    let tree = code(&["tree", "--json", "-L", "9"]);
    assert!(tree["text"].as_str().unwrap().contains("up -> .."), "{tree}");
}

#[test]
fn what_a_job_changed_by_umbo_is_undone_by_the_job() {
    let umbo = Umbo::new();
    let project = umbo.path().join("p");
    fs::create_dir(&project).unwrap();
    fs::write(project.join("a.txt"), "one\n").unwrap();
    let line = format!(
        "{UMBO} edit a.txt --old one --new two && {UMBO} edit a.txt --old two --new three && \
         echo new | {UMBO} write b.txt"
    );
    let words = ["exec", "--json", &line];
    let ran: Value = {
        let answer = umbo.call(words).current_dir(&project).answer();
        serde_json::from_slice(&answer.stdout).unwrap()
    };
    assert_eq!(ran["exit_code"], 0, "{ran}");
    umbo.call(["edit", "a.txt", "--old", "three", "--new", "mine"])
        .current_dir(&project)
        .answer()
        .expect_status(0);
    let job = ran["job"].as_str().unwrap();
    let listed = umbo.call(["undo", "--list", "--json", "--job", job]).current_dir(&project).json();
    assert_eq!(listed["total"], 3, "{listed}");
    // Somebody worked on after the job: its changes do not go from under their hands.
    umbo.call(["undo", "--job", job]).current_dir(&project).answer().expect_status(125);
    umbo.call(["undo"]).current_dir(&project).answer().expect_status(0);
    umbo.call(["undo", "--job", job]).current_dir(&project).answer().expect_status(0);
    assert_eq!(fs::read_to_string(project.join("a.txt")).unwrap(), "one\n");
    assert!(!project.join("b.txt").exists());
}

#[test]
fn a_read_that_is_piped_on_is_the_file() {
    let umbo = Umbo::new();
    let text = "one\n\ttwo\nthree";
    fs::write(umbo.path().join("a.txt"), text).unwrap();
    umbo.call(["read", "a.txt"]).current_dir(umbo.path()).stdout("one\n\ttwo\nthree\n").run();
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789\n";
    fs::write(umbo.path().join("env"), secret).unwrap();
    let masked = umbo.call(["read", "env"]).current_dir(umbo.path()).answer();
    assert!(masked.text().starts_with('#'), "{masked:?}");
    umbo.call(["read", "--unmask", "env"]).current_dir(umbo.path()).stdout(secret).run();
    let answer = umbo.call(["search", "nothing here"]).current_dir(umbo.path()).answer();
    assert_eq!(answer.status, 1, "as grep says it");
}

#[test]
fn who_has_to_stay_in_the_project_reads_and_writes_nothing_elsewhere() {
    let umbo = Umbo::new();
    let project = umbo.path().join("p");
    fs::create_dir_all(project.join(".git")).unwrap();
    fs::write(umbo.path().join("out.txt"), "x\n").unwrap();
    let out = umbo.path().join("out.txt").display().to_string();
    for words in [
        &["read", "--json", &out][..],
        &["read", "--json", "../out.txt"],
        &["search", "--json", "x", ".."],
        &["edit", "--json", &out, "--old", "x", "--new", "y"],
    ] {
        let call = umbo.call(words).env("UMBO_TOOLS_SHELL_RESTRICT_TO_PROJECT", "true");
        let answer = call.current_dir(&project).answer();
        let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
        assert_eq!(answer["error"]["code"], "outside_project", "{words:?}: {answer}");
    }
    assert_eq!(fs::read_to_string(&out).unwrap(), "x\n");
}

#[test]
fn undo_keeps_to_its_budget_and_to_the_project() {
    let umbo = Umbo::new();
    let [one, two] = ["one", "two"].map(|name| umbo.path().join(name));
    for project in [&one, &two] {
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::write(project.join("a.txt"), "old\n").unwrap();
    }
    let edit = ["edit", "a.txt", "--old", "old", "--new", "new"];
    umbo.call(edit).current_dir(&one).answer().expect_status(0);
    umbo.call(edit).current_dir(&two).answer().expect_status(0);
    let listed = umbo.call(["undo", "--list", "--json"]).current_dir(&one).json();
    assert_eq!(listed["total"], 1, "what was changed elsewhere is not listed here: {listed}");
    umbo.call(["undo"]).current_dir(&one).answer().expect_status(0);
    assert_eq!(fs::read_to_string(one.join("a.txt")).unwrap(), "old\n");
    assert_eq!(fs::read_to_string(two.join("a.txt")).unwrap(), "new\n");
    umbo.call(["undo"]).current_dir(&one).answer().expect_status(125);
    // With a budget of next to nothing, a large content is not kept, and that is said.
    fs::write(one.join("large.txt"), "x\n".repeat(10_000)).unwrap();
    let answer = umbo
        .call(["edit", "large.txt", "--old", "x\n", "--new", "y\n", "--all"])
        .env("UMBO_FILES_UNDO_BYTES", "1000")
        .current_dir(&one)
        .answer();
    answer.expect_status(0);
    assert!(answer.said().contains("too large to be kept for undo"), "{answer:?}");
}
