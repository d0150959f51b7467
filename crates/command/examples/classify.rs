//! Reads the commands given as arguments, or one per line from standard input, and prints the verdicts.

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::io::BufRead;

use umbo_command::{Shell, read};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let lines: Vec<String> = if arguments.is_empty() {
        std::io::stdin().lock().lines().map_while(Result::ok).collect()
    } else {
        arguments
    };
    for line in lines {
        let reading = read(&line.replace('␤', "\n"), Shell::Bash);
        println!(
            "{}\t{}\t{}\t{}",
            reading.risk,
            reading.exact,
            line,
            reading.reason.replace('\n', "␤")
        );
    }
}
