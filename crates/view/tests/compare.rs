//! Two runs of the same command: what is new, what is fixed, what still fails.

#![allow(clippy::unwrap_used, reason = "only functions marked as tests are known to be tests")]

use umbo_view::mask::Masker;
use umbo_view::{Budget, Comparison, Failure, Memory, Reader, compare, count_tokens};

fn compared(earlier: &str, later: &str) -> Comparison {
    let (earlier, later) = (Memory::new(earlier), Memory::new(later));
    compare(&Reader::new(&earlier), &Reader::new(&later), u64::MAX).unwrap()
}

fn texts(failures: &[Failure]) -> Vec<&str> {
    failures.iter().map(|failure| failure.text.as_str()).collect()
}

fn fixture(name: &str) -> String {
    let path = format!("{}/fixtures/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
}

#[test]
fn failures_are_new_fixed_or_still_there() {
    let earlier = "ok 1\nt.py::test_1 FAILED  [ 10%]\nt.py::test_2 FAILED  [ 20%]\n1.2s\n";
    let later = "ok 1\nt.py::test_2 FAILED  [ 99%]\nt.py::test_3 FAILED  [100%]\n3.4s\n";
    let changes = compared(earlier, later);
    assert_eq!(texts(&changes.new), ["t.py::test_3 FAILED  [100%]"]);
    assert_eq!(texts(&changes.fixed), ["t.py::test_1 FAILED  [ 10%]"]);
    assert_eq!(texts(&changes.still), ["t.py::test_2 FAILED  [ 99%]"]);
    assert!(!changes.is_same() && changes.complete);
    assert_eq!(
        changes.to_text(&Budget::default()),
        "new: 1\n  t.py::test_3 FAILED  [100%]\nfixed: 1\n  t.py::test_1 FAILED  [ 10%]\n\
         still failing: 1\n  t.py::test_2 FAILED  [ 99%]\n"
    );
}

#[test]
fn a_run_is_the_same_as_itself_whatever_the_tool() {
    for name in ["cargo-test", "pytest-v", "go-test", "jest", "vitest", "make", "npm-fail", "tsc"] {
        let log = fixture(name);
        let changes = compared(&log, &log);
        assert!(changes.is_same() && !changes.still.is_empty(), "{name}: {changes:?}");
        let fixed = compared(&log, "all is well\n");
        assert_eq!(fixed.fixed.len(), changes.still.len(), "{name}");
        assert_eq!(compared("all is well\n", &log).new.len(), changes.still.len(), "{name}");
    }
}

#[test]
fn other_times_lines_and_numbers_are_not_another_failure() {
    let log = fixture("cargo-test");
    let shifted = log.replace("src/lib.rs:", "src/lib.rs:1").replace("0.00s", "7.31s");
    assert!(compared(&log, &shifted).is_same());
}

#[test]
fn repeats_are_counted() {
    let changes = compared(
        &"error: connection to 10.0.0.1 lost\n".repeat(500),
        &"error: connection to 10.0.0.9 lost\n".repeat(20),
    );
    assert_eq!((changes.still[0].before, changes.still[0].now), (500, 20));
    assert!(changes.to_text(&Budget::default()).contains("(500 lines before, 20 now)"));
}

#[test]
fn secrets_are_masked_and_budgets_hold() {
    let masker = Masker::builder().environment([("A_TOKEN", "hunter2-hunter2")]).build().unwrap();
    let lines: Vec<String> = (0..300).map(|n| format!("error: e{n}e hunter2-hunter2\n")).collect();
    let lines = lines.concat();
    let (earlier, later) = (Memory::new("fine\n"), Memory::new(lines));
    let changes =
        compare(&Reader::new(&earlier).mask(&masker), &Reader::new(&later).mask(&masker), u64::MAX)
            .unwrap();
    assert_eq!(changes.new.len(), 300);
    for tokens in [0, 10, 100, 1_000] {
        let text = changes.to_text(&Budget { tokens, ..Budget::default() });
        assert!(!text.contains("hunter2") && count_tokens(&text) <= tokens, "{text}");
    }
    let text = changes.to_text(&Budget { tokens: 1_000, ..Budget::default() });
    assert!(text.contains("more failures are not listed]"), "{text}");
}
