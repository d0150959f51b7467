//! The help of every verb, at a terminal of 80 columns: it fits a screen, or has its options in groups;
//! it ends with two examples, and those are right.

use crate::harness::Umbo;

/// What a person sees who asks for help at a terminal of 80 columns. It is asked for as a person does: the
/// gate refuses verbs that are a person's to any job, even their help.
fn help(person: &Umbo, words: &str) -> Vec<String> {
    let words: Vec<&str> = words.split_whitespace().chain(["--help"]).collect();
    let text = person.call(words).env("COLUMNS", "80").env("NO_COLOR", "1").answer().text();
    text.trim_end().lines().map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn every_verbs_help_fits_a_screen_or_is_grouped_and_ends_with_two_examples() {
    let person = Umbo::with_deadline(std::time::Duration::from_mins(5));
    let verbs = person.verbs();
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
