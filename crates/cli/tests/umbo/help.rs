//! The help of every verb, at a terminal of 80 columns: it fits a screen, or has its options in groups;
//! it ends with two examples, and those are right.

use crate::harness::{UMBO, Umbo};

/// What a person sees who asks for help at a terminal of 80 columns and 24 rows.
fn help(person: &Umbo, words: &str) -> Vec<String> {
    let options = ["--pty", "--size", "80x200", "--attended", "--env", "NO_COLOR=1"];
    let job = person.start_with(&options, &format!("'{UMBO}' {words} --help"));
    person.wait(&job, &[]);
    let screen = person.call(["screen", &job]).answer().text();
    let lines: Vec<String> = screen.lines().map(|line| line.trim_end().to_owned()).collect();
    let written = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    lines[..written].to_vec()
}

fn verbs(person: &Umbo) -> Vec<String> {
    let text = help(person, "");
    let listed = text.iter().skip_while(|line| *line != "Commands:").skip(1);
    let names = listed.take_while(|line| line.starts_with("  ")).filter_map(|line| {
        let name = line.strip_prefix("  ")?.split(' ').next()?;
        (!name.is_empty() && name != "help").then(|| name.to_owned())
    });
    names.collect()
}

#[test]
fn every_verbs_help_fits_a_screen_or_is_grouped_and_ends_with_two_examples() {
    let person = Umbo::with_deadline(std::time::Duration::from_mins(5));
    let verbs = verbs(&person);
    assert!(verbs.len() > 45, "{verbs:?}");
    for verb in &verbs {
        let text = help(&person, verb);
        let whole = text.join("\n");
        let usual = ["Arguments:", "Commands:", "Options:", "Examples:"];
        let is_heading = |line: &str| line.ends_with(':') && !line.starts_with(' ');
        let is_grouped =
            text.iter().any(|line| is_heading(line) && !usual.contains(&line.as_str()));
        assert!(text.len() <= 24 || is_grouped, "{verb} has {} lines:\n{whole}", text.len());
        assert!(text.len() <= 75, "{verb} has {} lines:\n{whole}", text.len());
        let examples: Vec<&String> =
            text.iter().skip_while(|line| *line != "Examples:").skip(1).collect();
        assert_eq!(examples.len(), 2, "{verb}:\n{whole}");
        for example in examples {
            assert!(example.contains(&format!("umbo {verb}")), "{verb}: {example}");
        }
    }
}
