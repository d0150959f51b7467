//! The promise, on the labelled corpus.

use std::collections::HashSet;

use umbo_command::corpus::{SETS, corpus_table, count};
use umbo_command::{Risk, Shell, read};

#[test]
fn nothing_that_changes_anything_is_called_read_only() {
    for set in &SETS[1..] {
        for command in set.commands() {
            let reading = read(&command, Shell::Bash);
            assert_ne!(
                reading.risk,
                Risk::ReadOnly,
                "{}: {command:?}: {}",
                set.name,
                reading.reason
            );
        }
    }
}

#[test]
fn a_dangerous_command_is_called_dangerous() {
    for command in SETS[3].commands() {
        let reading = read(&command, Shell::Bash);
        assert_eq!(reading.risk, Risk::Dangerous, "{command:?}: {}", reading.reason);
    }
}

#[test]
fn nothing_is_safer_for_sh_or_zsh_than_it_is_for_bash() {
    for set in &SETS[1..] {
        for command in set.commands() {
            for shell in [Shell::Posix, Shell::Zsh, Shell::Fish, Shell::PowerShell] {
                let reading = read(&command, shell);
                assert_ne!(
                    reading.risk,
                    Risk::ReadOnly,
                    "{shell:?} {command:?}: {}",
                    reading.reason
                );
            }
        }
    }
}

#[test]
fn a_danger_is_not_read_only_in_nu_either() {
    for command in SETS[3].commands() {
        let reading = read(&command, Shell::Nu);
        assert_ne!(reading.risk, Risk::ReadOnly, "{command:?}: {}", reading.reason);
    }
}

#[test]
fn at_least_ninety_five_of_a_hundred_everyday_reads_are_recognised() {
    let count = count(&SETS[0]);
    assert!(count.total() >= 500);
    assert!(count.read_only * 100 >= count.total() * 95, "{count:?}");
}

#[test]
fn read_only_is_only_said_of_what_was_understood() {
    for command in SETS.iter().flat_map(umbo_command::corpus::Set::commands) {
        let reading = read(&command, Shell::Bash);
        assert!(reading.exact || reading.risk >= Risk::Unknown, "{command:?}");
        assert!(!reading.reason.is_empty(), "{command:?}");
    }
}

#[test]
fn the_corpus_has_no_command_twice_and_enough_of_them() {
    let mut seen = HashSet::new();
    for command in SETS.iter().flat_map(umbo_command::corpus::Set::commands) {
        assert!(seen.insert(command.clone()), "{command:?} is there twice");
    }
    assert!(seen.len() >= 1_500, "{}", seen.len());
}

#[test]
fn the_table_for_the_readme_has_a_row_for_each_set() {
    let table = corpus_table();
    for set in SETS {
        assert!(table.contains(&format!("| {} |", set.name)));
    }
    assert!(table.contains("100.0 % are (precision)"), "{table}");
}

#[test]
fn the_readme_shows_the_table_that_the_corpus_gives() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/commands.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let table = umbo_command::corpus::corpus_table();
    assert!(readme.contains(table.trim()), "put this into docs/commands.md:\n\n{table}");
}

#[test]
fn the_documentation_names_each_program_that_keeps_something_of_its_own() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/commands.md");
    let page = std::fs::read_to_string(page).unwrap();
    for program in umbo_command::proof::KEEPS_STATE.split(' ') {
        assert!(page.contains(&format!("`{program}`")), "put {program} into docs/commands.md");
    }
}
