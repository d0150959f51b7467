//! What is being typed into jobs, line by line.
//!
//! A line may come in pieces, and as keys: the gate is asked about all of it. What ends a line runs it;
//! what takes it back, a key for deleting or ctrl-c, takes it back here too. Keys that fetch a line
//! from somewhere else, such as the arrow up, make it one that nobody has seen.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Longer lines are forgotten at their beginning.
const LONGEST: usize = 16 << 10;
/// More jobs than this nobody types into at once.
const MOST_JOBS: usize = 1024;

/// The lines that are not finished, by job.
#[derive(Debug, Default)]
pub(crate) struct Typed {
    lines: Mutex<HashMap<String, Rest>>,
}

/// An unfinished line.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Rest {
    /// As a terminal would hand it on, with what was taken back gone.
    edited: String,
    /// As a pipe would: a key for deleting is a character like others.
    raw: String,
}

/// What the gate is asked about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// All that was typed since the last line ended. Both ways, if they differ.
    pub(crate) text: String,
    /// What of it is left for the next line.
    pub(crate) rest: Rest,
    /// Whether there is anything to ask about.
    pub(crate) asks: bool,
}

/// Stands in a line for whatever a key fetched.
const FETCHED: &str = "\u{2191}";

impl Typed {
    /// The line of a job with what is typed now.
    pub(crate) fn line(&self, job: &str, typed: &[u8]) -> Line {
        let before = {
            let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
            lines.get(job).cloned().unwrap_or_default()
        };
        let typed = String::from_utf8_lossy(typed);
        let edited = edit(before.edited, &typed);
        let plain = without_sequences(&typed);
        let raw = before.raw + &plain.replace('\r', "\n").replace(is_invisible, " ");
        let rest = Rest { edited: last_line(&edited), raw: last_line(&raw) };
        let runs = plain.chars().any(|c| !c.is_control() || "\n\r".contains(c));
        let is_blank = edited.trim().is_empty() && raw.trim().is_empty();
        let differ = edited.replace(FETCHED, "").split_whitespace().ne(raw.split_whitespace());
        let text = if differ { format!("{}\n{edited}", raw.trim_end()) } else { edited };
        Line { text, rest, asks: runs && !is_blank }
    }

    /// Remembers what is left of a line.
    pub(crate) fn keep(&self, job: String, rest: Rest) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if rest == Rest::default() {
            lines.remove(&job);
            return;
        }
        if lines.len() >= MOST_JOBS {
            lines.clear();
        }
        lines.insert(job, rest);
    }
}

fn is_invisible(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

/// The text without what arrow and function keys send.
fn without_sequences(typed: &str) -> String {
    let mut plain = String::new();
    let mut chars = typed.chars().peekable();
    while let Some(c) = chars.next() {
        let is_sequence = c == '\u{1b}' && chars.peek().is_some_and(|next| "[O".contains(*next));
        if is_sequence {
            fetches(&mut chars);
        } else {
            plain.push(c);
        }
    }
    plain
}

/// What comes after the last line end, without its beginning if it is very long.
fn last_line(text: &str) -> String {
    let line = text.rsplit('\n').next().unwrap_or("");
    line[line.ceil_char_boundary(line.len().saturating_sub(LONGEST))..].to_owned()
}

/// The text with what is typed now, as a terminal hands it on.
fn edit(mut text: String, typed: &str) -> String {
    // Where the line that is being typed begins.
    let mut start = 0;
    let mut chars = typed.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\r' => {
                text.push('\n');
                start = text.len();
            }
            '\u{7f}' | '\u{8}' => {
                if text.len() > start {
                    text.pop();
                }
            }
            // ctrl-u and ctrl-c take the line back.
            '\u{15}' | '\u{3}' => text.truncate(start),
            // ctrl-w takes a word back.
            '\u{17}' => {
                let line = text[start..].trim_end();
                let word = line.rsplit(char::is_whitespace).next().unwrap_or("");
                text.truncate(start + line.len() - word.len());
            }
            // ctrl-p, -n, -r, -o and -y bring back what was typed before.
            '\u{10}' | '\u{e}' | '\u{12}' | '\u{f}' | '\u{19}' => text.push_str(FETCHED),
            '\u{1b}' => {
                if fetches(&mut chars) {
                    text.push_str(FETCHED);
                }
            }
            '\t' => text.push(c),
            c if c.is_control() => {}
            c => text.push(c),
        }
    }
    text
}

/// Moves past the rest of an escape sequence; whether its key changes the line.
fn fetches(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    if chars.next_if(|c| matches!(c, '[' | 'O')).is_none() {
        // alt with a key: most of them edit.
        return chars.next().is_some();
    }
    for c in chars.by_ref() {
        if !(c.is_ascii_digit() || c == ';') {
            return c != 'I' && c != 'O';
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{FETCHED, Typed};

    /// Types piece by piece; what the gate is asked about each time.
    fn typed(pieces: &[&str]) -> Vec<Option<String>> {
        let all = Typed::default();
        let ask = |piece: &&str| {
            let line = all.line("job", piece.as_bytes());
            all.keep("job".to_owned(), line.rest.clone());
            line.asks.then_some(line.text)
        };
        pieces.iter().map(ask).collect()
    }

    #[test]
    fn pieces_of_a_line_are_one_line() {
        let asked = typed(&["r", "m -rf", " x", "\n", "ls\n"]);
        let expected = ["r", "rm -rf", "rm -rf x", "rm -rf x\n", "ls\n"];
        assert_eq!(asked, expected.map(|text| Some(text.to_owned())));
    }

    #[test]
    fn what_is_taken_back_is_gone() {
        let lines = |text: &str| Some(text.to_owned());
        assert_eq!(typed(&["rmx\u{7f} -rf y\n"]), [lines("rmx  -rf y\nrm -rf y\n")]);
        assert_eq!(typed(&["echo a \u{15}ls\r"]), [lines("echo a  ls\nls\n")]);
        assert_eq!(typed(&["ls foo\u{17}bar\r"]), [lines("ls foo bar\nls bar\n")]);
        let asked = typed(&["rm -rf x", "\u{3}", "\r"]);
        assert_eq!(asked, [lines("rm -rf x"), None, lines("rm -rf x\n\n")], "a pipe keeps it");
    }

    #[test]
    fn what_a_pipe_would_hand_on_is_asked_about_too() {
        let asked = typed(&["r", "m -rf x #\u{15}ls\n"]);
        assert_eq!(asked[1], Some("rm -rf x # ls\nls\n".to_owned()));
        assert_eq!(typed(&["rm\t-rf\tx\n"]), [Some("rm\t-rf\tx\n".to_owned())]);
    }

    #[test]
    fn keys_that_fetch_a_line_are_asked_about_when_it_is_run() {
        assert_eq!(typed(&["\u{1b}[A", "\r"]), [None, Some(format!("{FETCHED}\n"))]);
        assert_eq!(typed(&["\u{10}", "\r"]), [None, Some(format!("{FETCHED}\n"))]);
        assert_eq!(typed(&["\u{1b}[I", "\r", "\u{3}", "\u{4}"]), [None, None, None, None]);
    }

    #[test]
    fn jobs_have_lines_of_their_own_and_none_grows_for_ever() {
        let all = Typed::default();
        let line = all.line("one", b"rm ");
        all.keep("one".to_owned(), line.rest);
        assert_eq!(all.line("two", b"-rf x").text, "-rf x");
        let long = all.line("one", "é".repeat(20_000).as_bytes());
        assert!(long.rest.edited.len() <= 16 << 10 && long.rest.raw.len() <= 16 << 10);
    }
}
