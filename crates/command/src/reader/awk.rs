//! `awk`: its program can write files and run commands.
//!
//! The program is not parsed; it is searched for the few constructs through which awk acts. Where
//! the search could be misled by quotes inside regular expressions, the program is unknown.

use crate::effect::{OVERWRITE, READ, RUN, UNKNOWN, WRITE};
use crate::path;
use crate::walk::Walk;
use crate::word::Word;

/// What a program can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    Prints,
    Writes,
    Runs,
    Unknown,
}

impl Walk {
    pub(super) fn awk(&mut self, name: &str, args: &[Word]) {
        let mut at = 0;
        while let Some(word) = args.get(at) {
            let text = word.text.as_str();
            if !word.literal || !text.starts_with('-') || text == "-" {
                break;
            }
            if matches!(text, "-F" | "-v") && args.get(at + 1).is_some_and(Word::may_add_options) {
                self.find(UNKNOWN, name, format!("{name} {text} with more than a value"));
                return;
            }
            at += match text {
                "-F" | "-v" | "--field-separator" | "--assign" => 2,
                "--" => {
                    at += 1;
                    break;
                }
                "-i" | "--include"
                    if args.get(at + 1).is_some_and(|next| next.text.contains("inplace")) =>
                {
                    self.find(WRITE, name, format!("{name} -i inplace"));
                    2
                }
                "--posix" | "--traditional" | "--re-interval" | "-b" | "-c" | "--csv" | "-k" => 1,
                _ if text.starts_with("-F")
                    || text.starts_with("-v") && text.contains('=')
                    || text.starts_with("--field-separator=") =>
                {
                    1
                }
                _ => {
                    self.find(UNKNOWN, name, format!("{name} {text}"));
                    return;
                }
            };
        }
        let Some(program) = args.get(at) else {
            self.find(UNKNOWN, name, name);
            return;
        };
        let verdict = match program.exact() {
            Some(text) => read(text),
            // `awk "… $n …"`: the shell writes part of the program.
            None => Program::Unknown,
        };
        match verdict {
            Program::Prints => self.find(READ, name, name),
            Program::Writes => {
                let what = format!("{name} with output to a file");
                self.find(OVERWRITE, name, what.clone());
                // Any of its texts may be the name of the file.
                for text in program.text.split('"').skip(1).step_by(2) {
                    if path::danger_of_writing(text).is_some() {
                        self.writes(name, what.clone(), Some(&Word::literal(text)));
                    }
                }
            }
            Program::Runs => self.find(RUN, name, format!("{name} with a command to run")),
            Program::Unknown => self.find(UNKNOWN, name, format!("{name} {}", program.text)),
        }
        for word in args.get(at + 1..).unwrap_or(&[]) {
            self.path_target(READ, name, word);
        }
    }
}

/// Reads an awk program.
pub(crate) fn read(program: &str) -> Program {
    if program.contains("system") || program.contains("getline") || program.contains("/inet") {
        return Program::Runs;
    }
    if program.contains('@') && !at_signs_are_quoted(program) {
        return Program::Unknown;
    }
    let Some(code) = without_literals(program) else { return Program::Unknown };
    let mut worst = Program::Prints;
    for statement in code.split([';', '}', '{', '\n']) {
        let Some(at) = find_print(statement) else { continue };
        let after = &statement[at..];
        if after.replace("||", "").contains('|') {
            return Program::Runs;
        }
        if redirects(after) {
            worst = Program::Writes;
        }
    }
    worst
}

fn at_signs_are_quoted(program: &str) -> bool {
    without_literals(program).is_some_and(|code| !code.contains('@'))
}

/// Where a statement begins to print.
fn find_print(statement: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = statement[from..].find("print") {
        let at = from + found;
        let before = statement[..at].chars().next_back();
        if !before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            return Some(at);
        }
        from = at + 5;
    }
    None
}

/// A `>` outside parentheses after print opens a file, unless it is one of the standard streams.
fn redirects(after: &str) -> bool {
    let mut depth = 0_usize;
    for (at, c) in after.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            // Standard streams were left in place by `without_literals`.
            '>' if depth == 0 => {
                let target = after[at..].trim_start_matches('>').trim();
                if !matches!(target, "\"/dev/stderr\"" | "\"/dev/stdout\"") {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// The program with strings and regular expressions emptied. `None` when it is not certain which is
/// which.
fn without_literals(program: &str) -> Option<String> {
    let mut code = String::new();
    let mut chars = program.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                let mut text = String::new();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => {
                            text.push('?');
                            chars.next()?;
                        }
                        '\n' => return None,
                        c => text.push(c),
                    }
                }
                let stream = text == "/dev/stderr" || text == "/dev/stdout";
                code.push('"');
                if stream {
                    code.push_str(&text);
                }
                code.push('"');
            }
            '/' if starts_regex(&code) => {
                loop {
                    match chars.next()? {
                        '/' => break,
                        '\\' => {
                            chars.next()?;
                        }
                        // A quote or bracket could make another awk see another end.
                        '"' | '\n' => return None,
                        '[' => {
                            // Inside a bracket a slash may or may not end the expression.
                            loop {
                                match chars.next()? {
                                    ']' => break,
                                    '/' | '"' | '\n' => return None,
                                    '\\' => {
                                        chars.next()?;
                                    }
                                    _ => {}
                                }
                            }
                        }
                        _ => {}
                    }
                }
                code.push_str("~~");
            }
            '#' => {
                for c in chars.by_ref() {
                    if c == '\n' {
                        code.push('\n');
                        break;
                    }
                }
            }
            '\\' => return None,
            c => code.push(c),
        }
    }
    Some(code)
}

/// Whether a `/` after this code begins a regular expression.
fn starts_regex(code: &str) -> bool {
    let before = code.trim_end_matches([' ', '\t']);
    let word =
        before.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or("");
    if matches!(word, "print" | "printf" | "return" | "in" | "else" | "do" | "case") {
        return true;
    }
    match before.chars().next_back() {
        None => true,
        Some(c) => "(,{;}!~&|\n=?:".contains(c),
    }
}

#[cfg(test)]
mod tests {
    use super::{Program, read};

    #[test]
    fn programs_that_only_print_are_recognised() {
        for program in [
            "{print $1}",
            "/x/ {print}",
            "$3 > 5 {print $1}",
            "BEGIN{FS=\":\"} {print $1 \"|\" $2}",
            "NR==1 || /a|b/",
            "{s+=$1} END {print s/NR}",
            "{ if ($1 > 3) print $2 }",
            "{printf \"%s\\n\", $1}",
            "!seen[$0]++",
            "{print ($1 > 2)}",
            "{print > \"/dev/stderr\"}",
        ] {
            assert_eq!(read(program), Program::Prints, "{program}");
        }
    }

    #[test]
    fn programs_that_act_are_seen() {
        for program in [
            "{print > \"out\"}",
            "{print >> \"out\"}",
            "{print | \"sh\"}",
            "BEGIN{system(\"id\")}",
            "{\"id\" | getline x}",
            "{printf \"x\" > $1}",
            "/\"/ {print | \"sh\"} #\"",
            "{print /\"/ | \"sh\" #\"\n}",
            "BEGIN{f=\"sys\" \"tem\"; @f(\"id\")}",
        ] {
            assert_ne!(read(program), Program::Prints, "{program}");
        }
    }
}
