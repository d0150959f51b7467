//! Runs that went well are told in short: `fixtures/passing` has what real tools wrote.

#![allow(clippy::unwrap_used, reason = "only functions marked as tests are known to be tests")]

use umbo_view::sanitize::sanitize;
use umbo_view::{Memory, Reader, ViewOptions, count_tokens};

#[test]
fn a_run_that_passes_answers_with_its_summary() {
    for (name, summary) in [
        ("pytest-v", "150 passed in"),
        ("go-test-v", "ok  \tx/p11\t"),
        ("jest", "Tests:       240 passed, 240 total"),
        ("mocha", "250 passing"),
        ("vitest", "200 passed"),
        ("prove-v", "All tests successful."),
        ("gtest", "[  PASSED  ] 150 tests."),
        ("ctest", "100% tests passed, 0 tests failed out of 151"),
        ("ninja", "[121/121] "),
        ("unittest-v", "Ran 250 tests in"),
        ("npm-install-http", "added 71 packages"),
        ("make-gcc", "Build complete: libx.a"),
    ] {
        let path = format!("{}/fixtures/passing/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        let bytes = std::fs::read(path).unwrap();
        // Twice the lines are not twice the answer.
        for times in [1, 4] {
            let memory = Memory::new(bytes.repeat(times));
            let view = Reader::new(&memory).view(&ViewOptions::default()).unwrap();
            let text = view.to_text();
            assert!(text.contains(summary), "{name}: {text}");
            let whole = count_tokens(&sanitize(&bytes.repeat(times)));
            assert!(
                view.tokens <= 1_000 || view.tokens >= whole,
                "{name} x {times}: {} tokens\n{text}",
                view.tokens
            );
        }
    }
}
