//! Reads the commands given as arguments, or one per line from standard input, and prints the verdicts.
//! `--shell=zsh` as the first argument says whose language they are.

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::io::BufRead;

use umbo_command::{Shell, read};

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let named = arguments.first().and_then(|first| first.strip_prefix("--shell="));
    let shell = named.and_then(Shell::named).unwrap_or_default();
    arguments.retain(|argument| !argument.starts_with("--shell="));
    let lines: Vec<String> = if arguments.is_empty() {
        std::io::stdin().lock().lines().map_while(Result::ok).collect()
    } else {
        arguments
    };
    for line in lines {
        let reading = read(&line.replace('␤', "\n"), shell);
        println!(
            "{}\t{}\t{}\t{}",
            reading.risk,
            reading.exact,
            line,
            reading.reason.replace('\n', "␤")
        );
    }
}
