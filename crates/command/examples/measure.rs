//! Prints the precision and recall table, and what one reading costs.

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::time::{Duration, Instant};

use umbo_command::corpus::{SETS, corpus_table};
use umbo_command::{Shell, read};

/// Texts of a length that are made to be slow.
fn hostile(bytes: usize) -> Vec<(&'static str, String)> {
    let fill = |part: &str| part.repeat(bytes / part.len());
    let nested = |open: &str, inner: &str, close: &str, deep: usize| {
        format!("{}{inner}{}", open.repeat(deep), close.repeat(deep))
    };
    vec![
        ("lists", fill("ls; ")),
        ("unknown programs", fill("frob rm x; ")),
        (
            "functions",
            (0..bytes / 16).map(|n| format!("f{n}() {{ :; }}; ")).collect::<Vec<_>>().concat(),
        ),
        ("assignments", (0..bytes / 12).map(|n| format!("v{n}=a; ")).collect::<Vec<_>>().concat()),
        (
            "redirections",
            (0..bytes / 12).map(|n| format!("echo>f{n}; ")).collect::<Vec<_>>().concat(),
        ),
        ("words", fill("a ")),
        ("one word", fill("a")),
        ("quotes", fill("'a'\"b\"")),
        ("substitutions side by side", format!("echo {}", fill("$(ls) "))),
        ("substitutions in pipes", nested("echo $(echo ", "ls", " | cat)", 20)),
        (
            "substitutions, deep and padded",
            nested(&format!("echo {} $(", "x ".repeat(bytes / 120)), "ls", ")", 50),
        ),
        ("backquotes", format!("echo {}", fill("`ls` "))),
        ("arguments of a program nobody knows", format!("frob {}", fill("rm -x "))),
        ("eval in eval", nested("eval ", &fill("ls "), "", 14)),
        ("not closed", format!("echo '{}", fill("rm x; "))),
        ("pipes", fill("cat | ")),
        ("braces", fill("{a,b}")),
        ("globs", format!("ls {}", fill("*?"))),
        ("here-documents", fill("cat <<E\nx\nE\n")),
        ("cases", format!("case x in {} esac", fill("a) ls;; "))),
        ("stars in a path", format!("cat {}", fill("*a"))),
        ("sed", format!("sed '{}'", fill("s/a/b/;"))),
        ("awk", format!("awk '{}'", fill("{print $1} "))),
        ("sql", format!("psql -c '{}'", fill("select 1; "))),
        ("python", format!("python3 -c '{}'", fill("print(1); "))),
        ("find", format!("find . {}", fill("-name x "))),
    ]
}

fn worst() {
    println!("\nslowest of three, of texts made to be slow:");
    for bytes in [16 * 1024, 64 * 1024, 120 * 1024] {
        for (name, text) in hostile(bytes) {
            let time = (0..3)
                .map(|_| {
                    let start = Instant::now();
                    std::hint::black_box(read(&text, Shell::Bash));
                    start.elapsed()
                })
                .min();
            println!("{:>7} bytes  {:>12?}  {name}", text.len(), time.unwrap_or_default());
        }
    }
}

fn main() {
    if std::env::args().any(|word| word == "worst") {
        worst();
        return;
    }
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
