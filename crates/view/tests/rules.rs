//! Rules on what real tools write when they fail: `fixtures/errors` has the lines around the one
//! that explains, `index.tsv` its rule and a pattern for it.

#![allow(clippy::unwrap_used, reason = "only functions marked as tests are known to be tests")]

use umbo_view::sanitize::sanitize;
use umbo_view::{Budget, Memory, Reader, Regex, ViewOptions, error_rule};

struct Fixture {
    name: String,
    rules: Vec<String>,
    why: Regex,
    text: String,
}

fn fixtures() -> Vec<Fixture> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/errors");
    let index = std::fs::read_to_string(format!("{directory}/index.tsv")).unwrap();
    index
        .lines()
        .map(|line| {
            let columns: Vec<&str> = line.split('\t').collect();
            let (name, rules, why) = (columns[0], columns[1], columns[2]);
            Fixture {
                name: name.to_owned(),
                rules: rules.split(' ').map(str::to_owned).collect(),
                why: Regex::new(why).unwrap(),
                text: sanitize(&std::fs::read(format!("{directory}/{name}.txt")).unwrap()),
            }
        })
        .collect()
}

/// The rules that lines of a text match, each once, in order.
fn rules(text: &str) -> Vec<String> {
    let mut rules: Vec<String> = Vec::new();
    for rule in text.lines().filter_map(error_rule) {
        if !rules.iter().any(|known| known == rule) {
            rules.push(rule.to_owned());
        }
    }
    rules
}

#[test]
fn every_fixture_is_listed_and_has_its_line() {
    let fixtures = fixtures();
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/errors");
    let files = std::fs::read_dir(directory).unwrap().count();
    assert_eq!(files, fixtures.len() + 1, "each file but the index has a row");
    for Fixture { name, why, text, .. } in fixtures {
        assert!(text.lines().any(|line| why.is_match(line)), "{name}");
    }
}

#[test]
fn errors_of_real_tools_are_known_by_their_rules() {
    let wrong: Vec<String> = fixtures()
        .into_iter()
        .filter(|fixture| {
            let found = rules(&fixture.text);
            fixture.rules.iter().any(|rule| rule != "-" && !found.contains(rule))
        })
        .map(|fixture| format!("{}\t{}", fixture.name, rules(&fixture.text).join(" ")))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Lines of a program at work, with names, numbers and words that use the words of errors.
fn work(lines: std::ops::Range<usize>) -> String {
    const NAMES: [&str; 7] = ["alpha", "beta", "gamma", "delta", "error-log", "zeta", "failover"];
    let line = |n: usize| {
        let name = NAMES[n % NAMES.len()];
        match n % 3 {
            0 => format!(
                "12:{:02}:{:02} INFO unpacked {name}-{n}.tar in {} ms\n",
                n / 60 % 60,
                n % 60,
                n % 97
            ),
            1 => format!("   linking /build/{name}/part{n}.o\n"),
            _ => format!("ok {n} - {name} handles failed lookups\n"),
        }
    };
    lines.map(line).collect()
}

#[test]
fn the_line_that_explains_is_shown_from_the_middle_of_much_work() {
    let mut missing = Vec::new();
    for Fixture { name, why, text, .. } in fixtures() {
        let memory = Memory::new(work(0..1_500) + &text + &work(1_500..3_000));
        for tokens in [1_000, 2_000] {
            let budget = Budget { tokens, ..Budget::default() };
            let options = ViewOptions { budget, ..ViewOptions::default() };
            let reply = Reader::new(&memory).view(&options).unwrap().to_text();
            if !reply.lines().any(|line| why.is_match(line)) {
                missing.push(format!("{name} in {tokens} tokens"));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}
