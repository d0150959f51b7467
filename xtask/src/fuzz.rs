//! Fuzzing: the targets in `fuzz/` under libFuzzer, with what the project has as a beginning.
//!
//! The targets are built with the stable compiler, whose passes count what is covered. What is fuzzed
//! has no unsafe code, so no sanitizer is needed; debug assertions and checked arithmetic are on. What
//! is found stays in `fuzz/artifacts`; its lesson becomes an ordinary test.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::failure::{Done, Failure};
use crate::workspace::{cargo, display, execute, files, read, root, say};

/// What the compiler adds so that the fuzzer sees which code an input reaches.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=1 -Cdebug-assertions \
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";
/// Named, so that build scripts are built without it.
const PLATFORM: &str = concat!("x86_64", "-unknown-linux-gnu");
/// One input that takes longer than this many seconds is a finding.
const SLOWEST_INPUT: u32 = 10;
/// How long each target runs when nobody says.
const SECONDS: u64 = 60;
/// How many targets run at the same time.
const AT_ONCE: usize = 3;

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

const TARGETS: [Target; 10] = [
    Target {
        name: "command_read",
        seeds: ("crates/command/corpus/", ".txt"),
        cut: Cut::Lines,
        longest: 2048,
    },
    Target {
        name: "files_edit",
        seeds: ("crates/files/fixtures/edits/", ".txt"),
        cut: Cut::Whole,
        longest: 2048,
    },
    Target {
        name: "files_select",
        seeds: ("crates/files/fixtures/selectors", ".txt"),
        cut: Cut::Lines,
        longest: 256,
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
        seeds: ("fuzz/seeds/rulefile/", ".toml"),
        cut: Cut::Whole,
        longest: 8192,
    },
    Target {
        name: "schema",
        seeds: ("fuzz/seeds/schema/", ".json"),
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

/// Each target for a minute, with the same choices every time: what passes here passes again.
pub(crate) fn same_minute() -> Done {
    build()?;
    fuzz(&TARGETS.iter().collect::<Vec<_>>(), SECONDS, Choices::Same)
}

/// How the fuzzer chooses its inputs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choices {
    /// As in every run of this kind.
    Same,
    /// Anew.
    New,
}

pub(crate) fn run(words: &[&str]) -> Done {
    let (name, seconds) = match words {
        [name] => (*name, SECONDS),
        [name, seconds] => (*name, number(seconds)?),
        _ => return Err(Failure::new(format!("fuzz TARGET|all [SECONDS]; targets: {}", names()))),
    };
    let targets: Vec<&Target> =
        TARGETS.iter().filter(|target| name == "all" || target.name == name).collect();
    if targets.is_empty() {
        return Err(Failure::new(format!("no such target: {name}; there are: {}", names())));
    }
    build()?;
    fuzz(&targets, seconds, Choices::New)
}

fn build() -> Done {
    let mut command = cargo(&["build", "--release", "--target", PLATFORM, "--manifest-path"]);
    command.arg(root().join("fuzz/Cargo.toml")).env("RUSTFLAGS", COVERAGE);
    command.env("CARGO_TARGET_DIR", root().join("fuzz/target"));
    execute(&mut command)
}

/// Runs targets, some at a time. All run to their end; those that found something are named.
fn fuzz(targets: &[&Target], seconds: u64, choices: Choices) -> Done {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(target) = targets.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(failure) = fuzz_one(target, seconds, choices) {
                        let failed = failed.lock();
                        let mut failed = failed.unwrap_or_else(std::sync::PoisonError::into_inner);
                        failed.push(format!("{}: {}", target.name, failure.message()));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    if failed.is_empty() { Ok(()) } else { Err(Failure::new(failed.join("\n"))) }
}

fn fuzz_one(target: &Target, seconds: u64, choices: Choices) -> Done {
    let count = plant(target)?;
    let artifacts = root().join("fuzz/artifacts").join(target.name);
    fs::create_dir_all(&artifacts).map_err(Failure::at(artifacts.display()))?;
    let place = root().join("fuzz/target").join(PLATFORM).join("release").join(target.name);
    let mut command = Command::new(place);
    command
        .arg(root().join("fuzz/corpus").join(target.name))
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-max_len={}", target.longest))
        .arg(format!("-timeout={SLOWEST_INPUT}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .stdin(Stdio::null());
    if choices == Choices::Same {
        command.arg("-seed=1");
    }
    let output = command.output().map_err(Failure::at(display(&command)))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = said.lines().rev().take(30).collect();
    if !output.status.success() {
        let last: Vec<&str> = last.into_iter().rev().collect();
        return Err(Failure::new(format!("it found something:\n{}", last.join("\n"))));
    }
    let done = last.first().copied().unwrap_or_default();
    say(format!("{}: {count} inputs to begin with; {done}", target.name));
    Ok(())
}

fn number(word: &str) -> Done<u64> {
    word.parse().map_err(|_| Failure::new(format!("{word:?} is no number of seconds")))
}

fn names() -> String {
    TARGETS.map(|target| target.name).join(" ")
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
