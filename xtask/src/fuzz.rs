//! Fuzzing: `cargo fuzz` on the targets in `fuzz/`, with what the project has as a beginning.
//!
//! The targets are built with the stable compiler. What is fuzzed has no unsafe code, so no sanitizer
//! is needed; debug assertions and checked arithmetic are on. What is found stays in
//! `fuzz/artifacts`; its lesson becomes an ordinary test.

use std::fs;
use std::path::Path;

use crate::failure::{Done, Failure};
use crate::workspace::{cargo, execute, files, has_program, read, root, say};

const CARGO_FUZZ: &str = "0.13.2";
/// One input that takes longer than this is a finding.
const SLOW: &str = "-timeout=10";

/// A target, and where its first inputs come from.
struct Target {
    name: &'static str,
    /// Beginning and end of the names of files.
    seeds: (&'static str, &'static str),
    cut: Cut,
    /// The longest input that is tried, in bytes.
    longest: usize,
}

/// How a file becomes inputs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// It is one.
    Whole,
    /// Every line is one; `␤` stands for a line break.
    Lines,
    /// It is one, behind eight bytes that say how to look at it.
    BehindHead,
    /// It is a schema, followed by an empty value.
    BeforeValue,
}

const TARGETS: [Target; 8] = [
    Target {
        name: "command_read",
        seeds: ("crates/command/corpus/", ".txt"),
        cut: Cut::Lines,
        longest: 2048,
    },
    Target {
        name: "model_anthropic",
        seeds: ("crates/model/fixtures/anthropic", ".txt"),
        cut: Cut::Whole,
        longest: 8192,
    },
    Target {
        name: "model_chat",
        seeds: ("crates/model/fixtures/chat", ".txt"),
        cut: Cut::Whole,
        longest: 8192,
    },
    Target {
        name: "model_gemini",
        seeds: ("crates/model/fixtures/gemini", ".txt"),
        cut: Cut::Whole,
        longest: 8192,
    },
    Target {
        name: "model_responses",
        seeds: ("crates/model/fixtures/responses", ".txt"),
        cut: Cut::Whole,
        longest: 8192,
    },
    Target {
        name: "rulefile",
        seeds: ("crates/gate/src/", ".toml"),
        cut: Cut::Whole,
        longest: 8192,
    },
    Target {
        name: "schema",
        seeds: ("crates/tools/src/dialect/", ".json"),
        cut: Cut::BeforeValue,
        longest: 4096,
    },
    Target {
        name: "view",
        seeds: ("crates/view/fixtures/", ".txt"),
        cut: Cut::BehindHead,
        longest: 8192,
    },
];

pub(crate) fn run(words: &[&str]) -> Done {
    let (name, seconds) = match words {
        [name] => (*name, 60),
        [name, seconds] => (*name, number(seconds)?),
        _ => return Err(Failure::new(format!("fuzz TARGET [SECONDS]; targets: {}", names()))),
    };
    let Some(target) = TARGETS.iter().find(|target| target.name == name) else {
        return Err(Failure::new(format!("no such target: {name}; there are: {}", names())));
    };
    have_cargo_fuzz()?;
    let count = plant(target)?;
    say(format!("{name}: {count} inputs to begin with, {seconds} s"));
    let mut command = cargo(&["fuzz", "run", "--sanitizer", "none", name, "--", SLOW]);
    command
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-max_len={}", target.longest))
        .arg("-print_final_stats=1")
        .env("RUSTC_BOOTSTRAP", "1");
    execute(&mut command)
}

fn number(word: &str) -> Done<u64> {
    word.parse().map_err(|_| Failure::new(format!("{word:?} is no number of seconds")))
}

fn names() -> String {
    TARGETS.map(|target| target.name).join(" ")
}

fn have_cargo_fuzz() -> Done {
    if has_program("cargo-fuzz") {
        return Ok(());
    }
    execute(&mut cargo(&["install", "cargo-fuzz", "--locked", "--version", CARGO_FUZZ]))
}

/// Puts first inputs where the fuzzer looks for them.
fn plant(target: &Target) -> Done<usize> {
    let directory = root().join("fuzz/corpus").join(target.name);
    fs::create_dir_all(&directory).map_err(Failure::at(directory.display()))?;
    let (start, end) = target.seeds;
    let mut count = 0;
    for file in files()?.iter().filter(|file| file.starts_with(start) && file.ends_with(end)) {
        for seed in seeds(&read(file)?, target.cut) {
            count += 1;
            write(&directory.join(format!("seed-{count}")), &seed)?;
        }
    }
    Ok(count)
}

fn write(path: &Path, bytes: &[u8]) -> Done {
    fs::write(path, bytes).map_err(Failure::at(path.display()))
}

fn seeds(text: &str, cut: Cut) -> Vec<Vec<u8>> {
    match cut {
        Cut::Whole => vec![text.as_bytes().to_vec()],
        Cut::BehindHead => vec![[&[40, 40, 40, 40, 0, 7, 0, 9], text.as_bytes()].concat()],
        Cut::BeforeValue => vec![[text.as_bytes(), b" {}"].concat()],
        Cut::Lines => text
            .lines()
            .filter(|line| !line.starts_with("# "))
            .map(|line| line.replace('␤', "\n").into_bytes())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_a_source_and_inputs_to_begin_with() {
        let files = files().unwrap_or_default();
        for target in &TARGETS {
            let source = format!("fuzz/fuzz_targets/{}.rs", target.name);
            assert!(files.contains(&source), "{source}");
            let (start, end) = target.seeds;
            let seeds = files.iter().filter(|file| file.starts_with(start) && file.ends_with(end));
            assert!(seeds.count() > 0, "{}", target.name);
        }
    }

    #[test]
    fn lines_become_inputs() {
        let expected = vec![b"ls".to_vec(), b"a\nb".to_vec()];
        assert_eq!(seeds("# c\nls\na␤b\n", Cut::Lines), expected);
    }
}
