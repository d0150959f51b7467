//! The verdict against the kernel: what is called read-only is run, and the kernel says what it did.
//!
//! Commands are generated: scripts of the little languages, and every row of the tables that only reads
//! with options that the row knows. What the reading calls `read_only` runs in namespaces of its own,
//! where nothing can be written but a directory that is gone afterwards, under `strace`. A file that is
//! opened for writing, a change to one, a program that is started, a connection: each contradicts the
//! verdict and fails the run.
//!
//! `UMBO_DIFFERENTIAL=N` tries N commands of each kind instead of a few; `UMBO_DIFFERENTIAL_PROGRAMS` names
//! programs, separated by commas, whose rows alone are tried.

#![expect(clippy::unwrap_used, reason = "a test that cannot be prepared fails")]

mod generate;
mod namespace;

use umbo_command::{Risk, Shell, proof, read};

/// Commands of each kind that are tried unless more are asked for.
const FEW: usize = 60;

fn count() -> usize {
    std::env::var("UMBO_DIFFERENTIAL").ok().and_then(|count| count.parse().ok()).unwrap_or(FEW)
}

/// Runs those of the commands that are called read-only, and fails if the kernel says otherwise.
fn prove(kind: &str, commands: Vec<String>, starts: &[&str]) {
    prove_with(kind, commands, starts, namespace::contradicts);
}

/// As [`prove`], with what contradicts.
fn prove_with(
    kind: &str,
    commands: Vec<String>,
    starts: &[&str],
    contradicts: impl Fn(&str, &[&str]) -> bool,
) {
    let all = commands.len();
    if all == 0 {
        // None of those programs is on this machine.
        return;
    }
    let called: Vec<String> = commands
        .into_iter()
        .filter(|text| read(text, Shell::Bash).risk == Risk::ReadOnly)
        .collect();
    assert!(
        called.len() * 50 >= all,
        "{kind}: only {} of {all} are called read-only",
        called.len()
    );
    let seen = namespace::run(&called);
    assert_eq!(seen.len(), called.len(), "{kind}: not every command was run");
    let mut faults = Vec::new();
    for (command, traces) in called.iter().zip(seen) {
        let own = command.split(' ').next().unwrap_or_default();
        let starts: Vec<&str> = starts.iter().copied().chain([own]).collect();
        let keeps = proof::keeps_state(own);
        let fault = traces.iter().find(|trace| {
            contradicts(trace, &starts)
                && !(keeps && namespace::is_own_state(trace, own))
                && !(generate::asks_for_names(own) && namespace::asks(trace))
        });
        if let Some(fault) = fault {
            faults.push(format!("{command}\n    {fault}"));
        }
    }
    let shown = faults
        .iter()
        .take(if count() > FEW { usize::MAX } else { 40 })
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        faults.is_empty(),
        "{kind}: {} of {} called read-only are not:\n{shown}",
        faults.len(),
        called.len()
    );
}

#[test]
fn the_kernel_hears_of_what_is_more_than_reading() {
    let commands = [
        "cat in > out",
        "touch x",
        "rm in.csv",
        "mkdir y",
        "sh -c true",
        "exec 3<>/dev/tcp/192.0.2.1/9",
        "sqlite3 in.db 'delete from t'",
        "kill -TERM 1",
        "cat in",
        "cat <(:) & kill $!; wait",
    ];
    let seen = namespace::run(&commands.map(str::to_owned));
    let found: Vec<bool> = seen
        .iter()
        .map(|traces| {
            traces.iter().any(|trace| {
                namespace::contradicts(trace, &["cat", "sqlite3", "touch", "rm", "mkdir"])
            })
        })
        .collect();
    assert_eq!(found, [true, true, true, true, true, true, true, true, false, false], "{seen:#?}");
}

#[test]
fn a_sed_script_that_is_called_read_only_is() {
    prove("sed", generate::sed(count() * 10), &["sed"]);
}

#[test]
fn an_awk_program_that_is_called_read_only_is() {
    prove("awk", generate::awk(count() * 10), &["awk", "mawk", "gawk", "original-awk", "busybox"]);
}

#[test]
fn a_find_expression_that_is_called_read_only_is() {
    prove("find", generate::find(count() * 2), &["find", "echo", "cat", "wc", "ls"]);
}

#[test]
fn a_date_that_is_called_read_only_is() {
    prove("date", generate::date(count() * 2), &["date"]);
}

#[test]
fn a_test_that_is_called_read_only_is() {
    prove("test", generate::test(count() * 2), &["test", "["]);
}

#[test]
fn a_statement_that_is_called_read_only_is() {
    prove("sqlite3", generate::sqlite(count() * 2), &["sqlite3"]);
}

#[test]
fn a_row_that_only_reads_does_with_every_option_it_knows() {
    let commands = generate::rows(count() > FEW, false);
    prove("rows", commands, generate::HELPERS);
}

#[test]
fn a_row_that_asks_other_machines_does_no_more_than_ask() {
    let commands = generate::rows(count() > FEW, true);
    prove_with("questions", commands, generate::HELPERS, |trace, starts| {
        !namespace::asks(trace) && namespace::contradicts(trace, starts)
    });
}
