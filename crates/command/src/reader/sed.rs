//! `sed`: its script can write files and run programs.
//!
//! The script is read command by command. Anything that is not understood makes it unknown.

use crate::argv::Options;
use crate::effect::{OVERWRITE, READ, RUN, UNKNOWN, WRITE};
use crate::path;
use crate::row::{Row, Takes};
use crate::walk::Walk;
use crate::word::Word;

/// What a script can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Script {
    Prints,
    Writes,
    Unknown,
    Runs,
}

impl Walk {
    pub(super) fn sed(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        let mut scripts: Vec<&Word> = Vec::new();
        let mut operands: Vec<&Word> = Vec::new();
        let mut expects_script = false;
        let mut in_place = false;
        for word in args {
            let text = word.text.as_str();
            if std::mem::take(&mut expects_script) {
                scripts.push(word);
                continue;
            }
            if !word.literal {
                if word.may_be_option {
                    self.find(
                        UNKNOWN,
                        name,
                        format!("{name} with an argument only known at run time"),
                    );
                }
                operands.push(word);
                continue;
            }
            match text {
                "-n" | "-E" | "-r" | "-s" | "-u" | "-z" | "-nE" | "-En" | "-nr" | "-rn" | "-nz"
                | "-zE" | "--quiet" | "--silent" | "--posix" | "--regexp-extended"
                | "--separate" | "--unbuffered" | "--null-data" | "--debug" | "--sandbox"
                | "-l" | "--" | "-a" => {}
                "-e" | "--expression" | "-ne" | "-nEe" | "-Ee" | "-re" => expects_script = true,
                _ if text.starts_with("--in-place")
                    || text.len() > 4 && "--in-place".starts_with(text) =>
                {
                    in_place = true;
                }
                _ if text.starts_with('-') && !text.starts_with("--") && text.contains('i') => {
                    in_place = true;
                }
                _ if text.starts_with('-') && text.len() > 1 => {
                    self.find(UNKNOWN, name, format!("{name} {text}"));
                    return;
                }
                _ => operands.push(word),
            }
        }
        if scripts.is_empty() && !operands.is_empty() {
            scripts.push(operands.remove(0));
        }
        self.sed_scripts(name, &scripts);
        if in_place {
            for word in &operands {
                self.path_target(WRITE, name, word);
            }
            self.find(WRITE, name, format!("{name} -i"));
            return;
        }
        let options = Options::of(&Row { takes: Takes::Text, ..*row }, &[]);
        for word in operands {
            self.path_target(READ, name, word);
        }
        self.targets(&Row { takes: Takes::Text, ..*row }, READ, name, &options);
    }

    fn sed_scripts(&mut self, name: &str, scripts: &[&Word]) {
        for script in scripts {
            let verdict = match script.exact() {
                Some(text) => read(text),
                None => Script::Unknown,
            };
            match verdict {
                Script::Prints => {}
                Script::Writes => {
                    let what = format!("{name} with a w command");
                    self.find(OVERWRITE, name, what.clone());
                    // The file's name is the last word of its line.
                    for file in script.text.lines().filter_map(|line| line.split(' ').next_back()) {
                        if path::danger_of_writing(file).is_some() {
                            self.writes(name, what.clone(), Some(&Word::literal(file)));
                        }
                    }
                }
                Script::Unknown => self.find(UNKNOWN, name, format!("{name} {}", script.text)),
                Script::Runs => {
                    self.find(RUN, name, format!("{name} with an e command"));
                    crate::scan::dangers(self, &script.text.replace('/', ";"));
                }
            }
        }
    }
}

/// Reads a sed script.
pub(crate) fn read(script: &str) -> Script {
    let mut reader = Reader { rest: script };
    reader.commands().unwrap_or(Script::Unknown)
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn skip(&mut self, set: &str) {
        while self.peek().is_some_and(|c| set.contains(c)) {
            self.bump();
        }
    }

    /// The script's commands; `None` when one is not understood.
    fn commands(&mut self) -> Option<Script> {
        let mut worst = Script::Prints;
        loop {
            self.skip(" \t\n;}");
            if self.rest.is_empty() {
                return Some(worst);
            }
            self.addresses()?;
            worst = worst.max(self.command()?);
        }
    }

    fn addresses(&mut self) -> Option<()> {
        loop {
            match self.peek()? {
                '0'..='9' | '$' | '+' | '~' | ',' | ' ' | '\t' | '!' => {
                    self.bump();
                }
                '/' => {
                    self.bump();
                    self.delimited('/')?;
                    self.skip("IM");
                }
                '\\' => {
                    self.bump();
                    let delimiter = self.bump()?;
                    self.delimited(delimiter)?;
                    self.skip("IM");
                }
                _ => return Some(()),
            }
        }
    }

    /// Moves past text up to an unescaped delimiter.
    fn delimited(&mut self, delimiter: char) -> Option<()> {
        let mut bracket = false;
        loop {
            match self.bump()? {
                '\\' => {
                    self.bump()?;
                }
                '\n' => return None,
                // Whether a delimiter inside […] counts differs; such a script is not read.
                '[' => bracket = true,
                ']' => bracket = false,
                c if c == delimiter && bracket => return None,
                c if c == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    fn command(&mut self) -> Option<Script> {
        match self.bump()? {
            '{' | 'p' | 'd' | 'n' | 'N' | 'D' | 'P' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' | 'z'
            | 'F' => Some(Script::Prints),
            'q' | 'Q' | 'l' | 'L' => {
                self.skip(" 0123456789");
                Some(Script::Prints)
            }
            's' => self.substitute(),
            'y' => {
                let delimiter = self.bump()?;
                self.delimited(delimiter)?;
                self.delimited(delimiter)?;
                Some(Script::Prints)
            }
            'a' | 'i' | 'c' | 'r' | 'R' | '#' | ':' | 'b' | 't' | 'T' => {
                // Text, file names, labels and comments go to the end of the line.
                let line = self.rest.split('\n').next().unwrap_or("");
                if line.ends_with('\\') || (line.contains(';') && !line.starts_with([' ', '\\'])) {
                    return None;
                }
                self.rest = &self.rest[line.len()..];
                Some(Script::Prints)
            }
            'w' | 'W' => {
                let line = self.rest.split('\n').next().unwrap_or("").trim();
                let harmless = matches!(line, "/dev/stdout" | "/dev/stderr");
                self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
                Some(if harmless { Script::Prints } else { Script::Writes })
            }
            'e' => Some(Script::Runs),
            _ => None,
        }
    }

    fn substitute(&mut self) -> Option<Script> {
        let delimiter = self.bump()?;
        if delimiter.is_alphanumeric() || delimiter.is_whitespace() || delimiter == '\\' {
            return None;
        }
        self.delimited(delimiter)?;
        self.delimited(delimiter)?;
        while let Some(c) = self.peek() {
            match c {
                'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => {
                    self.bump();
                }
                'w' => {
                    let line = self.rest[1..].split('\n').next().unwrap_or("").trim();
                    let harmless = matches!(line, "/dev/stdout" | "/dev/stderr");
                    self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
                    return Some(if harmless { Script::Prints } else { Script::Writes });
                }
                'e' => return Some(Script::Runs),
                _ => break,
            }
        }
        Some(Script::Prints)
    }
}

#[cfg(test)]
mod tests {
    use super::{Script, read};

    #[test]
    fn scripts_that_only_print_are_recognised() {
        for script in [
            "1,5p",
            "s/a/b/g",
            "/x/d",
            "$p",
            "1!G;h;$!d",
            "s|a|b|",
            "/a/,/b/p",
            "y/abc/xyz/",
            "s/^ *//;s/ *$//",
            "10q",
            "/x/{n;p}",
        ] {
            assert_eq!(read(script), Script::Prints, "{script}");
        }
    }

    #[test]
    fn writing_and_running_scripts_are_seen() {
        for script in
            ["w out", "1w out", "s/a/b/w out", "/x/w out", "p;w out", "{w out\n}", "s/a/b/gw out"]
        {
            assert!(read(script) >= Script::Writes, "{script}");
        }
        for script in ["e", "1e id", "s/a/id/e", "s/a/id/ge", "/x/e id"] {
            assert!(read(script) >= Script::Unknown, "{script}");
        }
    }
}
