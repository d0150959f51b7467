//! Prints the precision and recall table, and what one reading costs.
//!
//! `measure worst` reads long texts of one construct each, `measure fuzz COUNT` long texts that are made
//! of constructs thrown together, and says which took longest. Times are those of the processor, so that
//! a busy machine does not lengthen them.

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::fs;
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
        ("substitutions in one word", format!("echo {}", fill("$(ls)"))),
        ("backquotes in one word", format!("echo {}", fill("`ls`"))),
        ("expansions in one word", format!("echo {}", fill("${x:-a}"))),
        ("arithmetic", format!("echo {}", fill("$((1+1)) "))),
        ("process substitutions", format!("cat {}", fill("<(ls) "))),
        ("conditions", fill("[[ a == b ]]; ")),
        ("loops", fill("for i in a b; do ls; done; ")),
        ("shells in shells", fill("bash -c 'ls -l'; ")),
        ("wrappers", fill("sudo env A=b nice ls; ")),
        ("assignments that use each other", fill("a=$a$b; b=$a; ")),
        ("one variable", format!("x=1; {}", fill("echo $x; "))),
        ("directories", fill("cd a; cat b; ")),
        ("here-documents that expand", fill("cat <<E\n$(ls)\nE\n")),
        ("text in quotes to a shell", format!("sh -c '{}'", fill("ls; "))),
        ("text in quotes to a shell, twice", format!("sh -c \"sh -c '{}'\"", fill("ls; "))),
        ("long options", format!("ls {}", fill("--color=auto "))),
        ("bundles of letters", format!("ls -{}", fill("l"))),
        ("find that runs", format!("find . {}", fill("-exec ls {} + "))),
        ("stars in a path", format!("cat {}", fill("*a"))),
        ("sed", format!("sed '{}'", fill("s/a/b/;"))),
        ("awk", format!("awk '{}'", fill("{print $1} "))),
        ("sql", format!("psql -c '{}'", fill("select 1; "))),
        ("python", format!("python3 -c '{}'", fill("print(1); "))),
        ("find", format!("find . {}", fill("-name x "))),
        ("files in options", format!("grep {}", fill("-f/a "))),
        ("files in a program", format!("awk '{}'", fill("\"/a\" "))),
    ]
}

/// How long this thread has had a processor, as Linux counts it; elsewhere the time of day.
fn processor_time(start: Instant) -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = text.as_deref().and_then(|text| text.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// The shortest of three readings of a text.
fn reading_time(text: &str) -> Duration {
    let start = Instant::now();
    let once = |_| {
        // The kernel counts at every switch of tasks, and one is asked for here.
        std::thread::yield_now();
        let before = processor_time(start);
        std::hint::black_box(read(text, Shell::Bash));
        std::thread::yield_now();
        processor_time(start).saturating_sub(before)
    };
    (0..3).map(once).min().unwrap_or_default()
}

fn report(name: &str, text: &str, time: Duration) {
    let steps = umbo_command::steps(text, Shell::Bash);
    println!("{:>7} bytes  {steps:>9} steps  {time:>12?}  {name}", text.len());
}

fn worst() {
    println!("\nfastest of three, of texts made to be slow:");
    for bytes in [16 * 1024, 64 * 1024, 128 * 1024 - 256] {
        for (name, text) in hostile(bytes) {
            report(name, &text, reading_time(&text));
        }
    }
}

/// Parts that texts are thrown together from.
const PARTS: &[&str] = &[
    "$(",
    ")",
    "`",
    "\"",
    "'",
    "#",
    "\n",
    "\\",
    ";",
    "|",
    "&&",
    "echo ",
    "rm -x ",
    " ",
    "<<E\n",
    "\nE\n",
    "{ ",
    "; }",
    "(",
    "case x in ",
    " esac",
    "x) ",
    ";;",
    "$x",
    "${x:-",
    "}",
    "$((1+",
    "))",
    "[[ a == ",
    " ]]",
    "if ",
    "; then ",
    "; fi",
    "for i in a; do ",
    "; done",
    "! ",
    "*",
    "~",
    "> f",
    "<(",
    "<<< x",
    "f() { ",
    "x=1 ",
    "{a,b}",
    "sed 's/a/b/' ",
    "awk '{print}' ",
    "find . -exec ls {} \\; ",
    "xargs ",
    "git -c a=b ",
    "$'\\x41'",
    "sudo ",
    "env A=b ",
    "bash -c 'ls' ",
    "eval ls ",
    "ssh h ",
    "python3 -c 'print(1)' ",
    "psql -c 'select 1' ",
    "a",
    "--long=value ",
    "-abc ",
    "/etc/passwd ",
    "~/.ssh/id_rsa ",
    "frob ",
    "cat ",
    "ls; ",
    "curl -H x ",
    "x+=1; ",
    "export A=1; ",
    "cd a; ",
    "$A ",
    "${A[0]} ",
    "docker exec c ls; ",
    "kubectl get x; ",
    "jq . ",
    "test -f x; ",
];

/// Reads texts that are made of a few parts, repeated, and prints those that took longest.
fn fuzz(count: usize) {
    let mut dice = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |most: usize| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        usize::try_from(dice % u64::try_from(most.max(1)).unwrap_or(1)).unwrap_or(0)
    };
    let mut slowest: Vec<(Duration, String, String)> = Vec::new();
    for _ in 0..count {
        let bytes = [8, 32, 127][below(3)] * 1024;
        let mut unit = || (0..=below(6)).map(|_| PARTS[below(PARTS.len())]).collect::<String>();
        let (before, unit, after) = (unit(), unit(), unit());
        let times = bytes / unit.len().max(1);
        // Opened as often as it is closed, or one after the other.
        let text = if below(3) == 0 {
            let deep = below(60) + 1;
            let padding = "a ".repeat(bytes / deep / 2);
            format!(
                "{}{after}{}",
                format!("{before}{padding}{unit}").repeat(deep),
                ")".repeat(deep)
            )
        } else {
            format!("{before}{}{after}", unit.repeat(times))
        };
        let text: String = text.chars().take(128 * 1024).collect();
        let time = reading_time(&text);
        slowest.push((time, format!("{before:?} {unit:?} {after:?}"), text));
        slowest.sort_by_key(|(time, _, _)| std::cmp::Reverse(*time));
        slowest.truncate(25);
    }
    for (time, name, text) in &slowest {
        report(name, text, *time);
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["worst"] => return worst(),
        ["fuzz", count] => return fuzz(count.parse().unwrap_or(1000)),
        _ => {}
    }
    println!("{}", corpus_table());
    let first = Instant::now();
    let _ = read("ls", Shell::Bash);
    println!("first reading of the process: {:?}", first.elapsed());
    for set in SETS {
        let commands: Vec<String> = set.commands().collect();
        let mut times: Vec<Duration> = Vec::new();
        for command in &commands {
            // The fastest of many: what else the machine does is not the reader's.
            let once = || {
                let start = Instant::now();
                std::hint::black_box(read(command, Shell::Bash));
                start.elapsed()
            };
            times.push((0..20).map(|_| once()).min().unwrap_or_default());
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
