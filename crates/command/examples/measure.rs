//! Prints the precision and recall table, and what one reading costs.

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::time::{Duration, Instant};

use umbo_command::corpus::{SETS, corpus_table};
use umbo_command::{Shell, read};

fn main() {
    println!("{}", corpus_table());
    let first = Instant::now();
    let _ = read("ls", Shell::Bash);
    println!("first reading of the process: {:?}", first.elapsed());
    for set in SETS {
        let commands: Vec<String> = set.commands().collect();
        let mut times: Vec<Duration> = Vec::new();
        for _ in 0..20 {
            for command in &commands {
                let start = Instant::now();
                std::hint::black_box(read(command, Shell::Bash));
                times.push(start.elapsed());
            }
        }
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        println!(
            "{}: p50 {:?}, p95 {:?}, p99 {:?}, max {:?}",
            set.name,
            at(50),
            at(95),
            at(99),
            at(100)
        );
    }
}
