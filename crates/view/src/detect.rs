//! Lines that look like errors, as a table.
//!
//! A word list finds candidate lines in raw bytes at memory speed; only those are sanitised and
//! held against the patterns. Phrases that say there is no error (`0 errors`, `failed: 0`) are
//! taken out of the line before. Some rules say how far the error goes on after its first line.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;
use regex::bytes::{RegexSet, RegexSetBuilder};

/// How far an error goes on after the line that gives it away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    /// Just the line.
    Line,
    /// The indented lines after it, and the line that ends them.
    Indented,
    /// Up to the next empty line.
    Paragraph,
}

struct Rule {
    id: &'static str,
    pattern: &'static str,
    block: Block,
}

const fn rule(id: &'static str, pattern: &'static str, block: Block) -> Rule {
    Rule { id, pattern, block }
}

/// The table. The first rule that matches names the line.
const RULES: &[Rule] = &[
    rule("rustc", r"^error(?:\[E\d{4}\])?: ", Block::Paragraph),
    rule("gcc", r"^[^\s:][^:]*:\d+(?::\d+)?: (?:fatal )?error: ", Block::Indented),
    rule("tsc", r"(?:\(\d+,\d+\):|:\d+:\d+ -) error TS\d+: ", Block::Indented),
    rule("go", r"^(?:vet: )?[\w./@-]+\.go:\d+:\d+: ", Block::Indented),
    rule("go-test", r"^\s+\w+_test\.go:\d+: ", Block::Indented),
    rule(
        "linker",
        r"undefined reference to|undefined symbol:|\bld(?:\.\w+)?: (?:error|cannot find)|^collect2: ",
        Block::Line,
    ),
    rule("traceback", r"^\s*(?:\S+\s)?Traceback \(most recent call last\):", Block::Indented),
    rule("rust-panic", r"^(?:\S+ )?thread '.*' (?:\(\d+\) )?panicked at ", Block::Paragraph),
    rule("go-panic", r"^(?:panic|fatal error): ", Block::Paragraph),
    rule("pytest-failure", r"^E {2,}\S", Block::Line),
    rule("pytest-section", r"^(?:=+ (?:FAILURES|ERRORS) =+|_{4,} .* _{4,}$)", Block::Paragraph),
    rule(
        "test-failed",
        r"^test .* \.\.\. FAILED|^test result: FAILED|^\s*--- FAIL: |\bFAILED\b|^\s*FAIL(?:\s|$|:)",
        Block::Line,
    ),
    rule("test-cross", r"^\s*(?:✕|✗|×|✖|✘|❌)\s", Block::Indented),
    rule("jest-failure", r"^\s*● .+", Block::Indented),
    rule("test-counts", r"\b[1-9]\d* (?:tests? )?(?:failed|failures?|errors?)\b", Block::Line),
    rule(
        "exception",
        r"^(?:Uncaught |Unhandled |Error: )?(?:[\w$]+[.:]{1,2})*[A-Z]\w*(?:Error|Exception|Panic|Fault)\b(?::|\s\[|$)",
        Block::Indented,
    ),
    rule("java", r"^Exception in thread |^Caused by: |^\s*Suppressed: ", Block::Indented),
    rule("node", r"^(?:node:\S+:\d+|Uncaught |UnhandledPromiseRejection)", Block::Indented),
    rule("npm", r"^(?:npm|pnpm|yarn) (?:ERR!|error) |^\s?ERR_\w+ ", Block::Line),
    rule(
        "make",
        r"^g?make(?:\[\d+\])?: \*\*\* |^ninja: (?:error|build stopped)|^CMake Error",
        Block::Line,
    ),
    rule(
        "buildkit",
        r"^#\d+ ERROR: |^ERROR: failed to |executor failed running|did not complete successfully",
        Block::Line,
    ),
    rule("sanitizer", r"ERROR: \w+Sanitizer:|runtime error: ", Block::Paragraph),
    rule(
        "crash",
        r"(?i)\bsegmentation fault\b|\bcore dumped\b|\bbus error\b|\bout of memory\b|\bstack overflow\b|^killed$|^aborted(?: \(core dumped\))?$|\boom-?killed\b",
        Block::Line,
    ),
    rule(
        "assertion",
        r"(?i)\bassertion\b.*\bfailed\b|\bassert(?:ion)? failed\b|^AssertionError",
        Block::Line,
    ),
    rule(
        "shell",
        r"(?i): (?:command )?not found$|no such file or directory|permission denied|connection refused|cannot find (?:module|package)|operation not permitted|address already in use|no space left on device",
        Block::Line,
    ),
    rule(
        "level",
        r"(?:^|[\s\[|(<])(?:ERROR|FATAL|CRITICAL|SEVERE|EMERG|PANIC)(?:[\s\]:|)>]|$)",
        Block::Line,
    ),
    rule(
        "level-field",
        r#"(?i)\b(?:level|severity|lvl)["']?\s*[:=]\s*["']?(?:error|fatal|critical|panic)\b"#,
        Block::Line,
    ),
    rule(
        "generic",
        r"(?i)^(?:\[?[\w./@+-]+\]?[:\s]+){0,3}(?:fatal|(?:\w+ )?error|critical|err!)(?:\[[^\]]*\])?\s?:\s*\S",
        Block::Line,
    ),
    rule(
        "generic-failed",
        r"(?i)^(?:\[?[\w./@+-]+\]?[:\s]+){0,2}(?:failed to |failure: |could not |unable to )\w",
        Block::Line,
    ),
    rule(
        "build-failed",
        r"(?i)\b(?:build|compilation|command|job|tests?|step|task) failed\b",
        Block::Line,
    ),
];

/// Phrases that use the words and mean the opposite.
const INNOCENT: &str = r"(?i-u)\b(?:0|no|zero|without|any)\s+(?:\w+\s+)?(?:errors?|failures?|failed|failing)\b|\b(?:errors?|failures?|failed)\s*[:=]\s*0\b|\b(?:errors?|failures?)\s*[:=]\s*(?:none|null|nil|false)\b";

/// Words of which every rule needs at least one, whatever their case.
const WORDS: &[&str] = &[
    "error",
    "fail",
    "fatal",
    "panic",
    "traceback",
    "exception",
    "critical",
    "severe",
    "emerg",
    "undefined",
    "collect2",
    ".go:",
    "\nE  ",
    "✕",
    "✗",
    "×",
    "✖",
    "✘",
    "❌",
    "●",
    "caused by",
    "suppressed:",
    "uncaught",
    "unhandled",
    "node:",
    "err!",
    "err_",
    ": *** ",
    "build stopped",
    "sanitizer",
    "segmentation fault",
    "core dumped",
    "stack overflow",
    "memory",
    "killed",
    "aborted",
    "assert",
    "not found",
    "no such file",
    "permission",
    "connection refused",
    "cannot find",
    "already in use",
    "no space left",
    "could not",
    "unable to",
    " ____",
    "successfully",
    "fault",
    "test.go:",
];

static PATTERNS: LazyLock<Option<RegexSet>> =
    LazyLock::new(|| table(RULES.iter().map(|rule| rule.pattern)));
static PREFILTER: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(WORDS).ok());
static CALM: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(INNOCENT).ok());

/// Compiles a table of patterns. They are about ASCII words; without Unicode's classes they compile
/// many times faster.
pub(crate) fn table(patterns: impl Iterator<Item = &'static str>) -> Option<RegexSet> {
    RegexSetBuilder::new(patterns).unicode(false).build().ok()
}

/// A line that looks like an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) rule: &'static str,
    pub(crate) block: Block,
}

/// Judges one sanitised line.
pub(crate) fn judge(line: &str) -> Option<Finding> {
    let line = calm(line);
    let matched = PATTERNS.as_ref()?.matches(line.as_bytes());
    let index = matched.iter().next()?;
    Some(Finding { rule: RULES[index].id, block: RULES[index].block })
}

/// The rule by which a sanitised line looks like an error, if it does.
pub fn error_rule(line: &str) -> Option<&'static str> {
    judge(line).map(|finding| finding.rule)
}

/// Where the next candidate is in raw bytes: an index inside its line.
pub(crate) fn candidate(bytes: &[u8]) -> Option<usize> {
    PREFILTER.as_ref()?.find(bytes).map(|found| found.end() - 1)
}

/// The line without its innocent phrases.
fn calm(line: &str) -> Cow<'_, str> {
    match CALM.as_ref() {
        Some(innocent) => innocent.replace_all(line, " "),
        None => Cow::Borrowed(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule_of(line: &str) -> &'static str {
        let rule = error_rule(line).unwrap_or("none");
        let raw = format!("\n{line}");
        assert!(rule == "none" || candidate(raw.as_bytes()).is_some(), "not prefiltered: {line}");
        rule
    }

    #[test]
    fn errors_of_known_tools_are_found() {
        for (line, rule) in [
            ("error[E0308]: mismatched types", "rustc"),
            ("error: could not compile `fixture` (lib) due to 1 previous error", "rustc"),
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
            ("FAIL\texample.invalid/fixture\t0.002s", "test-failed"),
            (" × src/e.test.js > math > is wrong", "test-cross"),
            ("  ● math › is wrong", "jest-failure"),
            ("Tests:       1 failed, 49 passed, 50 total", "test-counts"),
            ("ValueError: bad input: 42", "exception"),
            ("java.lang.NullPointerException: oops", "exception"),
            ("npm error code E404", "npm"),
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
            ("BUILD FAILED in 3s", "test-failed"),
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
