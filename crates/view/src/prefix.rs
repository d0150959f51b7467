//! What stands before a message: times, columns of CI systems, names of jobs and packages.
//!
//! A line is judged by what it says, so these are taken off first. They can stand before each
//! other (`remote: [2] 12:00:01 error: …`).

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

/// Kinds of prefixes. Each is anchored by the code that joins them.
const KINDS: &[&str] = &[
    // The columns of a CI log: job, step, time.
    r"[^\t]{1,80}\t[^\t]{1,80}\t\x{feff}?\d{4}-\d\d-\d\dT[\d:.]+Z? ",
    // Date and time, or time alone, perhaps in brackets.
    r"[\[(]?(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d[-/.]\d\d[-/.]\d{4}|\d\d[-/.](?:\d\d|[A-Z][a-z]{2})[-/.]\d{2,4})[T ]\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|UTC|GMT|CET|[+-]\d\d:?\d\d))?[\])]?[ \t:]+",
    r"[\[(]?\d\d?:\d\d:\d\d(?:[.,]\d+)?[\])]?[ \t]+",
    // Syslog: time, host, program.
    r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ (?:[\w./-]+(?:\[\d+\])?: )?",
    // Seconds since the start.
    r"\[ *\d+\.\d+s?\] ",
    r"[+ ]?\d+\.\d{2,}s? +",
    // Jobs: `[2] `, `[api] `, `api | `, `#12 3.45 `, `3: ` of a test driver.
    r"\[[\w@./:-]{1,40}\] ",
    r"[\w.@/-]{1,40} +\| ",
    r"#\d+ (?:\d+\.\d+ )?",
    r"\d{1,4}: ",
    r"\d{1,4}> ?",
    // Packages of a workspace: `app test: `, `@a/b:build: `.
    r"[\w@./-]+ (?:pre|post)?(?:test|build|lint|check|dev|start|compile|install|prepare|typecheck|format|e2e|unit|ci)(?::[\w:-]+)?: ",
    r"[\w@./-]+:(?:test|build|lint|check|dev|start|compile|install|typecheck|format|e2e)(?::[\w:-]+)?: ",
    // The other side of a connection.
    r"(?:remote|stderr|stdout|err|out): ",
];

/// Words in a prefix that are the message.
const LEVELS: &str = r"(?i)err|fail|fatal|crit|warn|panic|emerg|alert|severe|abort";

/// The most prefixes that are taken off a line.
const MOST_PREFIXES: usize = 4;

static PREFIX: LazyLock<Option<Regex>> =
    LazyLock::new(|| build(&format!("^(?:{})", KINDS.join("|"))));
static LEVEL: LazyLock<Option<Regex>> = LazyLock::new(|| build(LEVELS));

fn build(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).build().ok()
}

/// The line without what stands before its message, and without its indentation.
pub(crate) fn strip(line: &str) -> &str {
    let (Some(prefix), Some(level)) = (PREFIX.as_ref(), LEVEL.as_ref()) else { return line };
    let mut rest = line.trim_start();
    for _ in 0..MOST_PREFIXES {
        let Some(found) = prefix.find(rest.as_bytes()) else { break };
        if found.is_empty() || level.is_match(found.as_bytes()) {
            break;
        }
        rest = rest.get(found.end()..).unwrap_or_default().trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_before_a_message_is_taken_off() {
        for line in [
            "error: x",
            "   error: x",
            "2026-11-15 04:00:00 error: x",
            "2026-11-15T04:00:00.123Z error: x",
            "[2026-11-15 04:00:00,123] error: x",
            "2026/11/15 04:00:00 error: x",
            "04:00:00.1 error: x",
            "Nov 15 04:00:00 host prog[12]: error: x",
            "[   12.345] error: x",
            "build\tRun tests\t2026-11-15T04:00:00.1234567Z error: x",
            "[2] error: x",
            "[api] error: x",
            "api-1  | error: x",
            "#12 3.456 error: x",
            "packages/app test: error: x",
            "@scope/web:build: error: x",
            "remote: error: x",
            "remote: [2] 04:00:01 error: x",
        ] {
            assert_eq!(strip(line), "error: x", "{line}");
        }
    }

    #[test]
    fn what_is_the_message_stays() {
        for line in ["[ERROR] x", "Syntax error: x", "fatal: x", "a.c:3:4: error: x", "FAIL | x"] {
            assert_eq!(strip(line), line);
        }
    }
}
