//! The minimiser on what real tools write.

#![allow(clippy::unwrap_used, reason = "only functions marked as tests are known to be tests")]

use umbo_view::{Memory, Part, Reader, View, ViewOptions};

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/fixtures/{name}.txt", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn minimized(name: &str) -> View {
    let memory = Memory::new(fixture(name));
    let options = ViewOptions { minimize: true, ..ViewOptions::default() };
    let view = Reader::new(&memory).view(&options).unwrap();
    let counts = view.counts;
    assert_eq!(counts.shown_bytes + counts.folded_bytes, counts.total_bytes, "{name}");
    assert_eq!(Some(counts.shown_lines + counts.folded_lines), counts.total_lines, "{name}");
    view
}

/// Folds at least so many lines by this rule, and keeps these texts.
fn assert_folds(name: &str, rule: &str, least: u64, kept: &[&str]) {
    let view = minimized(name);
    let folded: u64 = view
        .parts
        .iter()
        .map(|part| match part {
            Part::Folded { rule: by, lines, .. } if *by == rule => *lines,
            _ => 0,
        })
        .sum();
    let text = view.to_text();
    assert!(folded >= least, "{name}: {folded} lines of {rule}\n{text}");
    for line in kept {
        assert!(text.contains(line), "{name} lost {line:?}\n{text}");
    }
}

#[test]
fn cargo() {
    assert_folds("cargo-test", "cargo progress", 10, &["Finished `test` profile"]);
    assert_folds(
        "cargo-test",
        "passing cargo tests",
        12,
        &[
            "test tests::is_wrong ... FAILED",
            "panicked at",
            "left: 4",
            "right: 5",
            "test result: FAILED. 14 passed; 1 failed",
        ],
    );
    let text = minimized("cargo-build").to_text();
    assert_eq!(text.into_bytes(), fixture("cargo-build"), "errors are complete");
}

#[test]
fn npm_and_pnpm() {
    assert_folds("npm-http", "npm requests", 20, &["added"]);
    for name in ["npm-fail", "npm-install", "pnpm", "tsc", "go-build", "pip-fail"] {
        let text = minimized(name).to_text();
        assert_eq!(text.into_bytes(), fixture(name), "{name} has nothing to fold");
    }
    let progress = b"Progress: resolved 1, reused 0, downloaded 0, added 0\n".repeat(9);
    let memory = Memory::new([progress, fixture("pnpm")].concat());
    let options = ViewOptions { minimize: true, ..ViewOptions::default() };
    let view = Reader::new(&memory).view(&options).unwrap();
    assert_eq!(view.counts.folded_lines, 10, "{}", view.to_text());
}

#[test]
fn pip() {
    assert_folds("pip-install", "pip downloads", 30, &["Successfully installed"]);
}

#[test]
fn pytest() {
    assert_folds(
        "pytest-v",
        "passing pytest tests",
        60,
        &[
            "test_broken FAILED",
            "test_raises FAILED",
            ">       assert total == 7",
            "E       assert 6 == 7",
            "E       ValueError: bad input: 42",
            "2 failed, 65 passed, 1 skipped",
        ],
    );
}

#[test]
fn jest_and_vitest() {
    assert_folds(
        "jest",
        "passing tests",
        40,
        &[
            "✕ is wrong",
            "● math › is wrong",
            "Expected: 5",
            "Received: 4",
            "Tests:       1 failed, 49 passed",
        ],
    );
    assert_folds(
        "vitest",
        "passing tests",
        40,
        &[
            "× src/e.test.js > math > is wrong",
            "AssertionError: expected 4 to be 5",
            "1 failed | 49 passed",
        ],
    );
}

#[test]
fn go_test() {
    assert_folds(
        "go-test",
        "passing go tests",
        20,
        &[
            "=== RUN   TestWrong",
            "a_test.go:4: got 4, want 5",
            "--- FAIL: TestWrong",
            "FAIL\texample.invalid/fixture",
        ],
    );
}

#[test]
fn make() {
    assert_folds(
        "make",
        "make commands",
        14,
        &[
            "gcc -O2 -Wall -c -o bad.o bad.c",
            "bad.c:1:20: error:",
            "make: *** [Makefile:6: bad.o] Error 1",
        ],
    );
}

#[test]
fn docker_build() {
    assert_folds(
        "docker-build",
        "docker build steps",
        14,
        &["#6 [3/3] RUN make", "#6 ERROR: process", ">>> RUN make", "ERROR: failed to solve"],
    );
}

#[test]
fn git() {
    let clone = minimized("git-clone").to_text();
    assert!(clone.len() < 400, "{clone}");
    assert!(clone.contains("Receiving objects: 100% (3002/3002)"), "{clone}");
    let fetch = minimized("git-fetch").to_text();
    assert!(fetch.contains("master     -> origin/master"), "{fetch}");
}

#[test]
fn it_is_off_unless_asked_for() {
    let memory = Memory::new(fixture("make"));
    let view = Reader::new(&memory).view(&ViewOptions::default()).unwrap();
    assert_eq!(view.counts.folded_lines, 0);
    assert_eq!(view.to_text().into_bytes(), fixture("make"));
}
