//! The project's own chores: `cargo xtask VERB`.

mod adapters;
mod bench;
mod ci;
mod dist;
mod documents;
mod failure;
mod fuzz;
mod oracle;
mod order;
mod proc;
mod promises;
mod record;
mod scratch;
mod setup;
mod soak;
mod tidy;
mod workspace;

use std::env;
use std::process::ExitCode;

use crate::failure::{Done, Failure};
use crate::workspace::say;

const USAGE: &str = "\
cargo xtask VERB

  ci [quick]           all that must hold before a change is merged; quick: without tests and docs
  examples             runs the examples of the libraries
  setup                install what the tests need: shells and task runners
  tidy                 budgets, forbidden words, dependencies, directions between crates
  promises [--check]   run the tests of the promises and print their table; check docs/promises.md
  docs                 write the pages made from the code, and build the book into target/book
  man DIR              write a page of the manual for every verb
  packages             pack every crate as it would be published
  dist [ROOT…]         a static binary, tried where nothing else is, and in the roots of other systems
  order                see which functions a start and a call run through, and have them lie together
  record               draw the README's picture of a session from a real run; --debug as for soak
  bench all [--quick] [--resume] [NAME…]  every measurement in one run, written to docs/figures.md with
                       its plots and to the README; with names (exec mcp …) only those, printed;
                       --resume keeps what a run has measured that did not come to its end
  bench exec [N]       what a command costs through umbo, beside a bare spawn
  bench exec many [N]  the same with 1, 2, 4 and 8 outstanding
  bench flood [SIZE]   how fast output is captured, beside `cat > file` (1G unless said otherwise)
  bench streams [SECONDS]   following 100,000 lines a second, alone and among 50; a view of 1 GiB
  bench jobs [N]       many live jobs: start, list, connect, memory, stop (500)
  bench history [--quick]   what calls cost with up to 200,000 ended and 500 live jobs; deleting
  bench mcp [N]        tokens by client (`bench mcp tokens` alone); the server beside others:
                       start, memory, `echo hi`, lost output of N (20000)
  bench sandbox [N]    what a sandbox costs, at the start of a command and while it works
  bench view           sanitising, masking and bounding beside memcpy; the tail of a 4 GiB log
  bench view --corpus DIR [--misses]   which replies show the line that explains a failing log
  bench command        reading everyday commands, and texts made to be slow (worst)
    --corpus DIR [FILE]    against commands that others wrote; what contradicts them goes to FILE
    --differential [N]     what is called read-only is run, and the kernel says what it did (600)
  bench gate           deciding about them, and what asking and recording cost
  bench agent          long sessions, a turn of the loop, the first token, memory of many turns
  bench recipes        finding the tasks of 200 packages
  bench files          searching and finding beside `rg` and `fd`, listing and reading beside a shell
  fuzz TARGET|all [SECONDS]   any bytes at what reads them (60)
  adapters [NAME]      tests the adapters to lash and meerkat in those hosts
  oracle NAME          the runtime behind a dialect (lash meerkat omp), or oh-my-pi (agent), beside umbo
  soak [MINUTES]       jobs of all kinds while every kind of process is killed and the disk fills
                       up, held against a model (30); --seed N chooses the same again,
                       --debug takes the build that is there
  soak bytes [N]       short commands, each checked byte for byte (100000)

bench and soak take --state DIR for where their jobs are kept; else in the directory for
temporary files.";

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(words: &[&str]) -> Done {
    match words {
        ["ci"] => ci::full(),
        ["ci", "quick"] => ci::quick(),
        ["examples"] => ci::examples(),
        ["setup"] => setup::run(),
        ["tidy"] => tidy::run(),
        ["promises"] => promises::print(),
        ["promises", "--check"] => promises::check(),
        ["docs"] => documents::run(),
        ["man", directory] => documents::man(directory),
        ["packages"] => documents::packages(),
        ["dist", roots @ ..] => dist::run(roots),
        ["record", rest @ ..] => record::run(rest),
        ["bench", "all", rest @ ..] => bench::all::run(rest),
        ["bench", "exec", rest @ ..] => bench::exec::run(rest),
        ["bench", "floor", rest @ ..] => bench::floor::serve(rest),
        ["bench", "flood", rest @ ..] => bench::flood::run(rest),
        ["bench", "streams", rest @ ..] => bench::streams::run(rest),
        ["bench", "jobs", rest @ ..] => bench::jobs::run(rest),
        ["bench", "history", rest @ ..] => bench::history::run(rest),
        ["bench", "mcp", rest @ ..] => bench::mcp::run(rest),
        ["bench", "sandbox", rest @ ..] => bench::sandbox::run(rest),
        ["bench", "view"] => bench::example("umbo-view", "throughput", &[]),
        ["bench", "view", "--corpus", rest @ ..] => bench::example("umbo-view", "corpus", rest),
        ["bench", "command", rest @ ..] => bench::command::run(rest),
        ["bench", "gate"] => bench::example("umbo-ops", "gate", &[]),
        ["bench", "agent"] => bench::agent(),
        ["bench", "files"] => bench::example("umbo-files", "beside", &[]),
        ["bench", "recipes"] => bench::example("umbo-recipes", "detection", &[]),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["adapters", rest @ ..] => adapters::run(rest),
        ["oracle", rest @ ..] => oracle::run(rest),
        ["order", rest @ ..] => order::run(rest),
        ["soak", rest @ ..] => soak::run(rest),
        [] | ["help" | "--help" | "-h"] => {
            say(USAGE);
            Ok(())
        }
        _ => Err(Failure::new(format!("no such verb: {}\n\n{USAGE}", words.join(" ")))),
    }
}
