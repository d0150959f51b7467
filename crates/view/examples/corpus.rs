//! Whether a reply shows the line that explains a failure, and what the reply costs.
//!
//! `cargo run --release -p umbo-view --example corpus DIR [--misses] [--show NAME TOKENS]`
//!
//! DIR holds logs (`NAME.log`) and, for each, a regular expression that the explaining line
//! matches (`NAME.why`). A hit is a line of the reply that matches. Beside the views of this crate
//! stand the cuts that other tools make of the same logs. Tokens are those of o200k.

#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::cast_precision_loss, missing_docs)]

use std::path::Path;

use umbo_view::sanitize::sanitize;
use umbo_view::{Budget, Memory, Reader, Regex, Shape, ViewOptions, estimate_tokens};

struct Log {
    name: String,
    bytes: Vec<u8>,
    why: Regex,
}

/// Makes a reply out of a log.
type Reply = Box<dyn Fn(&[u8]) -> String>;

struct Policy {
    name: String,
    reply: Reply,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [directory] => score(&logs(directory), Misses::Hide),
        [directory, "--misses"] => score(&logs(directory), Misses::Name),
        [directory, "--show", name, tokens] => {
            show(&logs(directory), name, tokens.parse().unwrap());
        }
        _ => println!("corpus DIR [--misses] [--show NAME TOKENS]"),
    }
}

fn logs(directory: &str) -> Vec<Log> {
    let mut names: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .collect();
    names.sort();
    names.iter().map(|path| log(path)).collect()
}

fn log(path: &Path) -> Log {
    let why = std::fs::read_to_string(path.with_extension("why")).unwrap();
    let bytes = std::fs::read(path).unwrap();
    let log = Log {
        name: path.file_stem().unwrap().to_string_lossy().into_owned(),
        why: Regex::new(why.trim_end_matches('\n')).unwrap(),
        bytes,
    };
    if !hits(&sanitize(&log.bytes), &log.why) {
        println!("{}: no line of the log matches its .why", log.name);
    }
    log
}

fn hits(reply: &str, why: &Regex) -> bool {
    reply.lines().any(|line| why.is_match(line))
}

fn view(bytes: &[u8], budget: Budget, shape: Shape) -> String {
    let memory = Memory::new(bytes);
    let options = ViewOptions { budget, shape, ..ViewOptions::default() };
    Reader::new(&memory).view(&options).unwrap().to_text()
}

fn tokens(text: &str) -> u64 {
    bpe_openai::o200k_base().count(text) as u64
}

fn policies() -> Vec<Policy> {
    let policy = |name: &str, reply: Reply| Policy { name: name.to_owned(), reply };
    let mut policies = vec![policy(
        "umbo, default",
        Box::new(|bytes| view(bytes, Budget::default(), Shape::default())),
    )];
    for tokens in [8_000, 2_000, 1_000] {
        let budget = Budget { tokens, ..Budget::default() };
        for (name, shape) in
            [("umbo", Shape::default()), ("middle cut", Shape::Middle), ("tail", Shape::Tail)]
        {
            policies.push(policy(
                &format!("{name}, {tokens} tokens"),
                Box::new(move |bytes| view(bytes, budget, shape)),
            ));
        }
    }
    policies.push(policy("last 50 lines", Box::new(|bytes| last_lines(&sanitize(bytes), 50))));
    policies.push(policy(
        "30,000 characters, half and half",
        Box::new(|bytes| halves(&sanitize(bytes), 30_000)),
    ));
    policies
}

fn last_lines(text: &str, most: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(most)..].join("\n")
}

fn halves(text: &str, most: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= most {
        return text.to_owned();
    }
    let head: String = characters[..most / 2].iter().collect();
    let tail: String = characters[characters.len() - most / 2..].iter().collect();
    format!("{head}\n...\n{tail}")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Misses {
    Hide,
    Name,
}

fn score(logs: &[Log], report: Misses) {
    println!("{} logs", logs.len());
    println!("{:<34} {:>5} {:>7} {:>14} {:>9}", "reply", "hits", "%", "median tokens", "most");
    for policy in policies() {
        let mut costs = Vec::new();
        let mut missed = Vec::new();
        for log in logs {
            let reply = (policy.reply)(&log.bytes);
            costs.push(tokens(&reply));
            if !hits(&reply, &log.why) {
                missed.push(log.name.as_str());
            }
        }
        costs.sort_unstable();
        let hit = logs.len() - missed.len();
        println!(
            "{:<34} {hit:>5} {:>6.1}% {:>14} {:>9}",
            policy.name,
            hit as f64 * 100.0 / logs.len().max(1) as f64,
            costs.get(costs.len() / 2).unwrap_or(&0),
            costs.last().unwrap_or(&0),
        );
        if report == Misses::Name && policy.name.starts_with("umbo") && !missed.is_empty() {
            println!("    missed: {}", missed.join(" "));
        }
    }
    estimate(logs);
}

/// How far the estimate of tokens is from the truth.
fn estimate(logs: &[Log]) {
    let mut ratios: Vec<(f64, &str)> = logs
        .iter()
        .map(|log| {
            let text = sanitize(&log.bytes);
            (estimate_tokens(&text) as f64 / tokens(&text).max(1) as f64, log.name.as_str())
        })
        .collect();
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    if let (Some(least), Some(most)) = (ratios.first(), ratios.last()) {
        println!(
            "token estimate / o200k: {:.3} ({}) to {:.3} ({}), median {:.3}",
            least.0,
            least.1,
            most.0,
            most.1,
            ratios[ratios.len() / 2].0
        );
    }
}

fn show(logs: &[Log], name: &str, most: u64) {
    for log in logs.iter().filter(|log| log.name == name) {
        let budget = Budget { tokens: most, ..Budget::default() };
        let reply = view(&log.bytes, budget, Shape::default());
        println!("{reply}");
        println!(
            "---- {}: {} tokens, why /{}/: {}",
            log.name,
            tokens(&reply),
            log.why,
            if hits(&reply, &log.why) { "hit" } else { "MISS" }
        );
    }
}
