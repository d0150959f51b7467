//! The promises, each with the tests that keep it, and the table of them in `docs/promises.md`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::ci;
use crate::failure::{Done, Failure};
use crate::setup;
use crate::workspace::{display, read, say};

const PAGE: &str = "docs/promises.md";
const BEGIN: &str = "<!-- promises -->";
const END: &str = "<!-- /promises -->";

/// In the order of their numbers, from 1 up.
const PROMISES: [&str; 14] = [
    "`kill -9` of any umbo process but the supervisor loses no job, no byte, no exit code; \
     afterwards there is exactly one `exited` event",
    "a status never lies: running is proven or the job is `lost`; a reused pid is never signalled",
    "never two copies of a job by our doing",
    "stop means the whole tree, and the outcome says what proved it empty",
    "`kill -9` of a supervisor: its tree is cleaned up, the job is `lost`, its output is kept",
    "bytes are in the log before any reader sees them; a torn end is repaired, and said",
    "the exit record is on disk before it is announced",
    "events are numbered; resuming has no gap and no duplicate; a slow reader gets a counted `gap`",
    "a reboot gives `lost`; nothing runs again by itself",
    "a newer umbo adopts the jobs of an older one",
    "it starts from any wreck: damaged files, stale sockets, a full or read-only disk",
    "one hung supervisor never blocks a list",
    "every wait has a deadline that bounds the pipes as well as the process",
    "no output is lost: 0 bytes in 100,000 short commands",
];

/// Runs the tests and prints the table.
pub(crate) fn print() -> Done {
    let (rows, failed) = ran()?;
    say(table(&rows));
    failed
}

/// Runs the tests and compares the table with the one in the documents.
pub(crate) fn check() -> Done {
    let (rows, failed) = ran()?;
    failed?;
    let wanted = table(&rows);
    if shown(&read(PAGE)?).as_deref() == Some(wanted.as_str()) {
        say(format!("{PAGE} shows the table as it is"));
        return Ok(());
    }
    say(&wanted);
    Err(Failure::new(format!("put this table between {BEGIN} and {END} in {PAGE}")))
}

/// A test and how it went.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    test: String,
    passed: bool,
}

/// The tests that ran, by the number of their promise, and whether all is well.
fn ran() -> Done<(BTreeMap<usize, Vec<Row>>, Done)> {
    ci::have_nextest()?;
    let mut command = ci::suite();
    command
        .args(["--color", "never", "--no-tests", "pass", "--status-level", "pass"])
        .args(["--final-status-level", "none", "-E", "test(/(^|::)p[0-9][0-9]_/)"])
        .env(setup::VARIABLE, setup::directory())
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    let what = display(&command);
    let mut child = command.spawn().map_err(Failure::at(&what))?;
    let mut rows: BTreeMap<usize, Vec<Row>> = BTreeMap::new();
    if let Some(news) = child.stderr.take() {
        for line in BufReader::new(news).lines().map_while(Result::ok) {
            say(&line);
            if let Some((number, row)) = parse(&line) {
                rows.entry(number).or_default().push(row);
            }
        }
    }
    for row in rows.values_mut() {
        row.sort();
        row.dedup();
    }
    let status = child.wait().map_err(Failure::at(&what))?;
    let failed = if status.success() { complete(&rows) } else { Err(Failure::of(&what, status)) };
    Ok((rows, failed))
}

fn complete(rows: &BTreeMap<usize, Vec<Row>>) -> Done {
    let missing: Vec<String> = (1..=PROMISES.len())
        .filter(|number| !rows.contains_key(number))
        .map(|number| format!("P{number}"))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("no test keeps {}", missing.join(", "))))
}

/// A line of the test runner: `PASS [   0.1s] (1/9) umbo::all promises::p01_what_is_promised`.
fn parse(line: &str) -> Option<(usize, Row)> {
    let passed = match line.split_whitespace().next()? {
        "PASS" | "LEAK" => true,
        "FAIL" | "TIMEOUT" | "ABORT" | "SIGABRT" | "SIGSEGV" | "SIGKILL" | "LEAK-FAIL" => false,
        _ => return None,
    };
    let test = line.split_whitespace().last()?.rsplit("::").next()?;
    let (number, _) = test.strip_prefix('p')?.split_once('_')?;
    let number = number.parse().ok().filter(|number| (1..=PROMISES.len()).contains(number))?;
    Some((number, Row { test: test.to_owned(), passed }))
}

fn table(rows: &BTreeMap<usize, Vec<Row>>) -> String {
    let mut lines = vec!["| # | promise | tests | result |".to_owned(), "|---|---|---|---|".into()];
    for (number, promise) in (1..).zip(PROMISES) {
        let none = Vec::new();
        let tests = rows.get(&number).unwrap_or(&none);
        let result = match tests.iter().filter(|row| !row.passed).count() {
            _ if tests.is_empty() => "untested".to_owned(),
            0 => "kept".to_owned(),
            failed => format!("broken by {failed}"),
        };
        let count = tests.len();
        lines.push(format!("| P{number} | {promise} | {count} (`p{number:02}_…`) | {result} |"));
    }
    lines.join("\n")
}

/// The table between the markers.
fn shown(readme: &str) -> Option<String> {
    let (_, rest) = readme.split_once(BEGIN)?;
    let (table, _) = rest.split_once(END)?;
    Some(table.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_test_runner_gives_promise_and_result() {
        let line = "        PASS [   1.034s] (3/20) umbo::all promises::p04_a_storm_ends";
        let row = Row { test: "p04_a_storm_ends".into(), passed: true };
        assert_eq!(parse(line), Some((4, row)));
        let line = "     TIMEOUT [ 120.0s] umbo::all p12_a_list_returns";
        assert_eq!(parse(line).map(|(number, row)| (number, row.passed)), Some((12, false)));
        for other in ["   Summary [ 1.0s] 2 tests run", "PASS [ 0.1s] umbo::all parses", "", "p01_"]
        {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_promise_without_a_test_is_told() {
        let row = |test: &str, passed| Row { test: test.into(), passed };
        let rows =
            [(1, vec![row("p01_a", true), row("p01_b", true)]), (2, vec![row("p02_c", false)])];
        let rows = BTreeMap::from(rows);
        let table = table(&rows);
        assert!(table.contains("| 2 (`p01_…`) | kept |"), "{table}");
        assert!(table.contains("| 1 (`p02_…`) | broken by 1 |"), "{table}");
        assert!(table.contains("| 0 (`p03_…`) | untested |"), "{table}");
        assert!(
            complete(&rows).is_err_and(|failure| failure.message().starts_with("no test keeps P3"))
        );
    }

    #[test]
    fn the_table_of_a_readme_is_between_its_markers() {
        let readme = format!("# a\n{BEGIN}\n| x |\n{END}\nrest");
        assert_eq!(shown(&readme).as_deref(), Some("| x |"));
        assert_eq!(shown("# a"), None);
    }
}
