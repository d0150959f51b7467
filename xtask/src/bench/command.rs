//! Reading commands: what it costs, what it says of commands that others wrote, and what the kernel
//! says of the verdict.

use crate::failure::{Done, Failure};
use crate::workspace::{cargo, execute};

/// Commands of each kind that a long differential run tries.
const MANY: &str = "600";

pub(crate) fn run(words: &[&str]) -> Done {
    match words {
        [] => example("measure", &[]),
        ["worst"] => example("measure", &["worst"]),
        ["--corpus", directory] => example("corpora", &[directory]),
        ["--corpus", directory, failures] => example("corpora", &[directory, failures]),
        ["--differential"] => differential(MANY),
        ["--differential", count] => differential(count),
        _ => Err(Failure::new(
            "bench command [worst | --corpus DIR [FILE] | --differential [N]]".to_owned(),
        )),
    }
}

fn example(name: &str, words: &[&str]) -> Done {
    let start =
        ["run", "--release", "--quiet", "--package", "umbo-command", "--example", name, "--"];
    execute(&mut cargo(&[&start[..], words].concat()))
}

fn differential(count: &str) -> Done {
    let mut tests = cargo(&["test", "--package", "umbo-command", "--test", "differential"]);
    execute(tests.env("UMBO_DIFFERENTIAL", count))
}
