//! `awk`: its program can write files and run commands.
//!
//! The program is taken apart into tokens, and those are searched for the few constructs through which
//! awk acts. Where two awks could see different tokens, the program is unknown.

use crate::effect::{OVERWRITE, READ, RUN, UNKNOWN, WRITE};
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
                "-W" if matches!(args, [_, what] if matches!(what.exact(), Some("version" | "usage" | "help"))) =>
                {
                    self.find(READ, name, format!("{name} {text}"));
                    return;
                }
                "-V" | "--version" | "--copyright" | "--help" if args.len() == 1 => {
                    self.find(READ, name, format!("{name} {text}"));
                    return;
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
                    if self.danger_of_writing(text).is_some() {
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
    tokens(program).map_or(Program::Unknown, |tokens| effects(&tokens))
}

/// A token of a program, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    Number,
    Text(String),
    Regex,
    Sign(&'static str),
}

/// Signs of more than one character, longest first, and the others that matter.
const SIGNS: [&str; 40] = [
    ">>", "|&", "||", "&&", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "**", "==", "!=", "<=",
    ">=", "!~", "(", ")", "{", "}", "[", "]", ";", ",", "+", "-", "*", "%", "^", "<", ">", "|",
    "!", "~", "?", ":", "=", "$",
];

/// Names after which a `/` begins a regular expression.
fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "print"
            | "printf"
            | "return"
            | "in"
            | "else"
            | "do"
            | "case"
            | "exit"
            | "delete"
            | "while"
            | "if"
            | "BEGIN"
            | "END"
    )
}

/// The tokens of a program; nothing when it is not certain which is which.
fn tokens(program: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = program;
    while let Some(c) = rest.chars().next() {
        match c {
            ' ' | '\t' | '\r' => rest = &rest[1..],
            '\n' => {
                tokens.push(Token::Sign("\n"));
                rest = &rest[1..];
            }
            '\\' => rest = rest.strip_prefix("\\\n")?,
            '#' => rest = &rest[rest.find('\n').unwrap_or(rest.len())..],
            '"' => {
                let (text, after) = string(&rest[1..])?;
                tokens.push(Token::Text(text));
                rest = after;
            }
            '/' if begins_regex(&tokens, &rest[1..])? => {
                rest = regex(&rest[1..])?;
                tokens.push(Token::Regex);
            }
            '/' => {
                let sign = if rest.starts_with("/=") { "/=" } else { "/" };
                tokens.push(Token::Sign(sign));
                rest = &rest[sign.len()..];
            }
            // Letters after a number may be a name: `0system(…)`. Nobody writes that.
            '0'..='9' | '.' => {
                rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
                if rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
                    return None;
                }
                tokens.push(Token::Number);
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let end = rest
                    .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'))
                    .unwrap_or(rest.len());
                // `a ? b:c` has no namespace.
                let name = &rest[..end];
                let name =
                    if name.contains("::") { name } else { name.split(':').next().unwrap_or(name) };
                tokens.push(Token::Name(name.to_owned()));
                rest = &rest[name.len()..];
            }
            // `@include`, and calls of functions whose names are data.
            _ => {
                let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
                tokens.push(Token::Sign(sign));
                rest = &rest[sign.len()..];
            }
        }
    }
    Some(tokens)
}

/// After an opening quote: the text, and what follows it.
fn string(rest: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((text, &rest[at + 1..])),
            '\\' => {
                text.push('?');
                chars.next()?;
            }
            '\n' => return None,
            c => text.push(c),
        }
    }
    None
}

/// After an opening slash: what follows the expression. A slash in brackets ends it in some awks.
fn regex(rest: &str) -> Option<&str> {
    let mut chars = rest.char_indices();
    let mut brackets = false;
    while let Some((at, c)) = chars.next() {
        match c {
            '/' if brackets => return None,
            '/' => return Some(&rest[at + 1..]),
            '\\' => {
                chars.next()?;
            }
            '\n' => return None,
            '[' if !brackets => {
                brackets = true;
                // A `]` that comes first is one of the characters.
                let inside = rest[at + 1..].trim_start_matches('^');
                if inside.starts_with(']') {
                    return None;
                }
            }
            ']' => brackets = false,
            _ => {}
        }
    }
    None
}

/// Whether a slash after these tokens begins a regular expression; nothing if that is not certain.
fn begins_regex(tokens: &[Token], rest: &str) -> Option<bool> {
    match tokens.last() {
        Some(Token::Name(name)) => Some(is_keyword(name)),
        Some(Token::Number | Token::Text(_) | Token::Regex | Token::Sign("]" | "$")) => Some(false),
        // `if (x) /y/` or `(x) / y`; `x++ / y` or `++ /x/`.
        Some(Token::Sign(")" | "++" | "--")) => (!rest.contains('/')).then_some(false),
        None | Some(Token::Sign(_)) => Some(true),
    }
}

/// What the tokens do. After a `print`, up to the end of its block or statement, a `>` outside of
/// parentheses opens a file and a `|` runs a command; line breaks end nothing, as they may not.
fn effects(tokens: &[Token]) -> Program {
    let mut worst = Program::Prints;
    let mut printing = false;
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Name(name) if name.ends_with("system") => return Program::Runs,
            Token::Name(name) if name == "getline" => {
                let piped = tokens[..at].last() == Some(&Token::Sign("|"));
                return if piped { Program::Runs } else { Program::Unknown };
            }
            Token::Name(name) if matches!(name.as_str(), "print" | "printf") => {
                printing = true;
                depth = 0;
            }
            Token::Text(text) if text.starts_with("/inet") => return Program::Runs,
            Token::Sign("|" | "|&") => return Program::Runs,
            Token::Sign("(" | "[") => depth += 1,
            Token::Sign(")" | "]") => depth = depth.saturating_sub(1),
            Token::Sign(";" | "}") if depth == 0 => printing = false,
            Token::Sign(">" | ">>") if printing && depth == 0 => {
                let stream = match tokens.get(at + 1) {
                    Some(Token::Text(text)) => {
                        matches!(text.as_str(), "/dev/stderr" | "/dev/stdout" | "/dev/null")
                    }
                    _ => false,
                };
                let ends = matches!(tokens.get(at + 2), None | Some(Token::Sign(";" | "}" | "\n")));
                if !(stream && ends) {
                    worst = Program::Writes;
                }
            }
            _ => {}
        }
    }
    worst
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
            "/\"/ {print $2}",
            "{print (a+b)/2}",
            "$1 + 0 > 5 {n++} END {print n}",
            "{a[$1]++} END {for (k in a) print k, a[k]}",
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
            "{print a,\n b > \"out\"}",
            "BEGIN{x = 1 + /\"/; print > \"out\" #\"\n}",
            "{print > \"/dev/stdout\" x}",
            "{if (x) /\"/; print | \"sh\" #\"/\n}",
            "BEGIN{awk::system(\"id\")}",
            "$0system(\"id\")",
        ] {
            assert_ne!(read(program), Program::Prints, "{program}");
        }
    }
}
