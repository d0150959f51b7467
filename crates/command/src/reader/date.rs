//! `date`: prints a time, or sets the clock.

use crate::effect::{READ, SERVICE, UNKNOWN};
use crate::row::Row;
use crate::spec::{self, Takes};
use crate::walk::Walk;
use crate::word::Word;

/// What leaves the clock alone. `-j`, `-n` and `-v` are BSD's.
const SHOWS: &str = "I;Rd:r:ujnv: --date= --debug --file= --iso-8601? --reference= --resolution --rfc-3339= --rfc-email --universal --utc";
/// With an operand that is no format, the clock is set; BSD's `-j` and `-f` only convert.
const CONVERTS: [&str; 2] = ["-j", "-ju"];

impl Walk {
    pub(super) fn date(&mut self, _row: &'static Row, name: &str, args: &[Word]) {
        let converts = args.iter().any(|word| CONVERTS.contains(&word.text.as_str()));
        let mut at = 0;
        let mut only_operands = false;
        while let Some(word) = args.get(at) {
            at += 1;
            let text = word.text.as_str();
            if only_operands || !text.starts_with('-') || text == "-" {
                if word.may_be_option && !text.starts_with(['+', '"']) {
                    self.find(
                        UNKNOWN,
                        name,
                        format!("{name} with an argument only known at run time"),
                    );
                } else if !text.trim_start_matches('"').starts_with('+') && !converts {
                    self.find(SERVICE, name, format!("{name} {text}"));
                }
            } else if text == "--" {
                only_operands = true;
            } else if !self.date_option(name, word, args.get(at), converts) {
                return;
            } else if takes_next(text, converts) {
                at += 1;
            }
        }
        self.find(READ, name, name);
    }

    /// One option; whether the rest can be read.
    fn date_option(
        &mut self,
        name: &str,
        word: &Word,
        next: Option<&Word>,
        converts: bool,
    ) -> bool {
        let text = word.text.as_str();
        let sets = text.starts_with("-s")
            || (text.len() > 2 && "--set".starts_with(text.split('=').next().unwrap_or(text)));
        let bundled = !text.starts_with("--")
            && text[1..].chars().take_while(|c| !"dfrvI".contains(*c)).any(|c| c == 's');
        if sets || bundled {
            self.find(SERVICE, name, format!("{name} {text}"));
            return true;
        }
        let option = text.split('=').next().unwrap_or(text);
        let known = if text.starts_with("--") {
            spec::find(SHOWS, option).is_some_and(|takes| takes != Takes::Nothing || option == text)
        } else {
            letters(text)
                .all(|letter| letter == 'f' || spec::find(SHOWS, &format!("-{letter}")).is_some())
        };
        let value = next.filter(|_| takes_next(text, converts));
        if !known
            || (!word.literal && !text.starts_with("--"))
            || value.is_some_and(Word::may_add_options)
        {
            self.find(UNKNOWN, name, format!("{name} {text}"));
            return false;
        }
        for file in [value.map(Word::likely), text.split_once('=').map(|(_, value)| value)]
            .into_iter()
            .flatten()
        {
            if self.is_secret(file) {
                self.find(crate::effect::SECRET, name, format!("{name} {file}"));
            }
        }
        true
    }
}

/// The letters of a bundle, up to one that takes the rest for its value.
fn letters(text: &str) -> impl Iterator<Item = char> {
    let mut over = false;
    text[1..]
        .chars()
        .take_while(move |letter| !std::mem::replace(&mut over, "dfrvI".contains(*letter)))
}

/// Whether the next word is an option's value.
fn takes_next(text: &str, _converts: bool) -> bool {
    if let Some(long) = text.strip_prefix("--") {
        return matches!(long, "date" | "file" | "reference" | "rfc-3339");
    }
    letters(text).last().is_some_and(|letter| "dfrv".contains(letter) && text.ends_with(letter))
        && letters(text).count() == text.len() - 1
}
