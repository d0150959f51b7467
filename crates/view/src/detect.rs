//! Judging lines: which of them look like errors.
//!
//! A word list finds candidates at memory speed; only those are held against the patterns of
//! [`crate::rules`]. What stands before a message is taken off, phrases that say there is no error
//! (`0 errors`, `failed: 0`) are taken out, and a line about a passing test is none, whatever the
//! test is called.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use crate::prefix;
use crate::rule::{Block, Worth};
use crate::rules::{ALARMING, INNOCENT, PASSING, RULES};

static PATTERNS: LazyLock<Option<RegexSet>> =
    LazyLock::new(|| table(RULES.iter().map(|rule| rule.pattern)));
static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let words = RULES.iter().flat_map(|rule| rule.words.iter());
    AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()
});
static CALM: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(INNOCENT));
static PASSED: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(PASSING));
static ALARM: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(ALARMING));

/// Compiles a table of patterns. They are about ASCII words and literal others; without Unicode's
/// classes they compile many times faster.
pub(crate) fn table(patterns: impl Iterator<Item = &'static str>) -> Option<RegexSet> {
    RegexSetBuilder::new(patterns).unicode(false).build().ok()
}

fn pattern(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).build().ok()
}

/// A line that looks like an error, by the number of its rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Finding(u8);

impl Finding {
    pub(crate) fn rule(self) -> &'static str {
        RULES[usize::from(self.0)].id
    }

    pub(crate) fn block(self) -> Block {
        RULES[usize::from(self.0)].block
    }

    pub(crate) fn worth(self) -> Worth {
        RULES[usize::from(self.0)].worth
    }

    /// The place of its rule in the table.
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// How many rules there are.
pub(crate) const RULE_COUNT: usize = RULES.len();

/// Judges one sanitised line.
pub(crate) fn judge(line: &str) -> Option<Finding> {
    let message = prefix::strip(line).trim_end();
    if PASSED.as_ref().is_some_and(|passed| passed.is_match(message.as_bytes())) {
        return None;
    }
    let message = calm(message.as_bytes());
    let matched = PATTERNS.as_ref()?.matches(&message);
    let index = matched.iter().next()?;
    u8::try_from(index).ok().map(Finding)
}

/// The rule by which a sanitised line looks like an error, if it does.
pub fn error_rule(line: &str) -> Option<&'static str> {
    judge(line).filter(|finding| finding.worth() != Worth::Success).map(Finding::rule)
}

/// Whether a line has a word that some rule asks for.
pub(crate) fn is_candidate(line: &[u8]) -> bool {
    WORDS.as_ref().is_some_and(|words| words.is_match(line))
}

/// Whether a line uses words of trouble.
pub(crate) fn is_alarming(line: &str) -> bool {
    ALARM.as_ref().is_some_and(|alarm| alarm.is_match(line.as_bytes()))
}

/// The line without its innocent phrases.
fn calm(line: &[u8]) -> Cow<'_, [u8]> {
    match CALM.as_ref() {
        Some(innocent) => innocent.replace_all(line, &b" "[..]),
        None => Cow::Borrowed(line),
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    fn rule_of(line: &str) -> &'static str {
        let rule = error_rule(line).unwrap_or("none");
        let raw = format!("\n{line}");
        assert!(rule == "none" || is_candidate(raw.as_bytes()), "not prefiltered: {line}");
        rule
    }

    #[test]
    fn every_pattern_compiles() {
        for rule in RULES {
            let built = RegexBuilder::new(rule.pattern).unicode(false).build();
            assert!(built.is_ok(), "{}: {built:?}", rule.id);
        }
        for text in [INNOCENT, PASSING, ALARMING] {
            let built = RegexBuilder::new(text).unicode(false).build();
            assert!(built.is_ok(), "{built:?}");
        }
        assert!(PATTERNS.is_some() && WORDS.is_some());
    }

    #[test]
    fn errors_of_known_tools_are_found() {
        for (line, rule) in [
            ("error[E0308]: mismatched types", "rustc"),
            ("error: could not compile `fixture` (lib) due to 1 previous error", "failed-before"),
            ("bad.c:1:20: error: 'undefined_name' undeclared", "gcc"),
            ("/usr/include/x.h:12:5: fatal error: y.h: No such file or directory", "gcc"),
            ("bad.ts(1,7): error TS2322: Type 'string' is not assignable", "tsc"),
            ("src/a.ts:1:7 - error TS2322: Type 'string' is not assignable", "tsc"),
            ("./b.go:2:23: undefined: undefinedName", "go"),
            ("    a_test.go:4: got 4, want 5", "go-test"),
            ("main.o: undefined reference to `f'", "linker"),
            ("Traceback (most recent call last):", "traceback"),
            ("thread 'main' panicked at src/main.rs:2:5:", "rust-panic"),
            ("thread 'tests::is_wrong' (4711) panicked at src/lib.rs:16:26:", "rust-panic"),
            ("panic: runtime error: index out of range [5] with length 3", "go-panic"),
            ("E       assert 6 == 7", "pytest-failure"),
            ("________________ test_broken ________________", "pytest-section"),
            ("test tests::is_wrong ... FAILED", "test-failed"),
            ("tests/test_a.py::test_broken FAILED        [ 60%]", "test-failed"),
            ("--- FAIL: TestWrong (0.00s)", "test-failed"),
            ("FAIL\texample.invalid/fixture\t0.002s", "build-failed"),
            (" × src/e.test.js > math > is wrong", "test-cross"),
            ("  ● math › is wrong", "jest-failure"),
            ("Tests:       1 failed, 49 passed, 50 total", "test-counts"),
            ("ValueError: bad input: 42", "exception"),
            ("java.lang.NullPointerException: oops", "exception"),
            ("npm error code E404", "failed-before"),
            ("npm error 404 Not Found - GET https://registry.invalid/nope", "npm"),
            ("npm ERR! missing script: build", "npm"),
            ("make: *** [Makefile:6: bad.o] Error 1", "make"),
            ("#9 ERROR: process \"/bin/sh -c make\" did not complete successfully", "buildkit"),
            ("Segmentation fault (core dumped)", "crash"),
            ("Killed", "crash"),
            ("sh: 1: frobnicate: not found", "shell"),
            ("2026-11-15 04:00:00 ERROR [main] db: lost", "level"),
            ("{\"level\":\"error\",\"msg\":\"x\"}", "level-field"),
            ("fatal: not a git repository", "generic"),
            ("ERROR: No matching distribution found for requests==99.0.0", "level"),
            ("Failed to start the server", "generic-failed"),
            ("BUILD FAILED in 3s", "build-failed"),
        ] {
            assert_eq!(rule_of(line), rule, "{line}");
        }
    }

    #[test]
    fn lines_that_only_use_the_words_are_left_alone() {
        for line in [
            "0 errors, 0 warnings",
            "Found 0 errors. Watching for file changes.",
            "compiled without errors",
            "no failures",
            "errors: 0",
            "failed=0",
            "test result: ok. 14 passed; 0 failed; 0 ignored",
            "src/error_handler.rs",
            "   Compiling thiserror v2.0.21",
            "   Compiling failure v0.1.8",
            "test tests::error_is_reported ... ok",
            " ✓ handles errors",
            "error_count 12",
            "let error = Error::new();",
            "Downloading error-chain",
            "mode: failover",
            "{\"error\": null, \"ok\": true}",
            "GET /errors 200",
            "RUST_LOG=error LOG_LEVEL=ERROR",
            "fatality rate",
            "panicky",
            "2026/11/15 main.go:12: starting",
            "All tests passed, no test failed",
        ] {
            assert_eq!(rule_of(line), "none", "{line}");
        }
    }
}
