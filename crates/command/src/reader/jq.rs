//! `jq`: its filter can read, and show the environment; it cannot write or run anything.

use crate::effect::{READ, SECRET, UNKNOWN, WRITE};
use crate::row::Row;
use crate::spec::{self, Takes};
use crate::walk::Walk;
use crate::word::{Expansion, Word};

/// What jq, gojq and jaq share. Some take two values.
const OPTIONS: &str = "aCceghjlMnRrSsU --ascii-output --color-output --compact-output --exit-status --join-output --monochrome-output --null-input --raw-input --raw-output --raw-output0 --seq --slurp --sort-keys --stream --stream-errors --tab --unbuffered --yaml-output --yaml-input --args --jsonargs --indent= --arg= --argjson= --slurpfile= --rawfile= --argfile=";

impl Walk {
    pub(super) fn jq(&mut self, _row: &'static Row, name: &str, args: &[Word]) {
        let mut filter: Option<&Word> = None;
        let mut at = 0;
        let mut only_operands = false;
        while let Some(word) = args.get(at) {
            at += 1;
            let text = word.text.as_str();
            let is_option = !only_operands && text.starts_with('-') && text.len() > 1;
            if !is_option {
                // jq has no option that does harm; a file that is named like one is the only way to one.
                let computed = word.expansions.iter().any(|it| *it != Expansion::Glob);
                if computed && word.may_be_option && !only_operands {
                    self.find(
                        UNKNOWN,
                        name,
                        format!("{name} with an argument only known at run time"),
                    );
                }
                match filter {
                    None => filter = Some(word),
                    Some(_) => self.path_target(READ, name, word),
                }
            } else if text == "--" {
                only_operands = true;
            } else if matches!(text, "-i" | "--in-place" | "--inplace") {
                self.find(WRITE, name, format!("{name} {text}"));
            } else {
                let Some(values) = jq_option(word) else {
                    self.find(UNKNOWN, name, format!("{name} {text}"));
                    return;
                };
                let taken = args.get(at..at + values).unwrap_or(&[]);
                if taken.len() < values || taken.iter().any(Word::may_add_options) {
                    self.find(UNKNOWN, name, format!("{name} {text}"));
                    return;
                }
                if text.ends_with("file")
                    && let Some(file) = taken.last()
                {
                    self.path_target(READ, name, file);
                }
                at += values;
            }
        }
        if let Some(filter) = filter {
            self.jq_filter(name, filter);
        }
        self.find(READ, name, name);
    }

    /// A filter can neither write nor run; it can show the environment, and parts of it by name.
    fn jq_filter(&mut self, name: &str, filter: &Word) {
        let text = filter.likely();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        let mut words = text.split(|c| !is_word(c));
        let environment = words.clone().any(|word| matches!(word, "env" | "$ENV"));
        if environment && words.any(crate::path::is_secret_name) {
            self.find(SECRET, name, format!("{name} {text}"));
        }
        if filter.may_add_options() {
            self.find(UNKNOWN, name, format!("{name} with a filter only known at run time"));
        }
    }
}

/// How many words an option takes; nothing if it is not known.
fn jq_option(word: &Word) -> Option<usize> {
    let text = word.text.as_str();
    if !word.literal {
        return None;
    }
    if text.starts_with("--") {
        let takes = spec::find(OPTIONS, text)?;
        return Some(match text {
            "--arg" | "--argjson" | "--slurpfile" | "--rawfile" | "--argfile" => 2,
            _ => usize::from(takes == Takes::Value),
        });
    }
    let known = |c: char| spec::find(OPTIONS, &format!("-{c}")) == Some(Takes::Nothing);
    text[1..].chars().all(known).then_some(0)
}
