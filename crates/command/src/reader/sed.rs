//! `sed`: its script can write files and run programs.
//!
//! The script is read command by command. Anything that is not understood makes it unknown.

use crate::argv::Options;
use crate::effect::{OVERWRITE, READ, RUN, UNKNOWN, WRITE};
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

/// What the arguments of sed say.
#[derive(Default)]
struct Call<'a> {
    scripts: Vec<Word>,
    operands: Vec<&'a Word>,
    in_place: bool,
    /// The first thing that is not understood.
    unknown: Option<String>,
}

impl<'a> Call<'a> {
    fn of(args: &'a [Word]) -> Self {
        let mut call = Self::default();
        let mut only_operands = false;
        let mut words = args.iter();
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            if only_operands || (word.literal && (!text.starts_with('-') || text == "-")) {
                call.operands.push(word);
            } else if !word.literal {
                if word.may_be_option || text.starts_with('-') {
                    call.stop(text);
                }
                call.operands.push(word);
            } else if text == "--" {
                only_operands = true;
            } else if text.starts_with("--") {
                call.long(text, &mut words);
            } else {
                call.bundle(text, &mut words);
            }
        }
        call
    }

    fn stop(&mut self, at: &str) {
        self.unknown.get_or_insert_with(|| at.to_owned());
    }

    fn script(&mut self, inline: Option<&str>, words: &mut std::slice::Iter<'a, Word>) {
        match inline.map(Word::literal).or_else(|| words.next().cloned()) {
            Some(script) if !script.may_split => self.scripts.push(script),
            _ => self.stop("-e"),
        }
    }

    fn long(&mut self, text: &str, words: &mut std::slice::Iter<'a, Word>) {
        let (name, value) =
            text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        match name {
            "--quiet" | "--silent" | "--posix" | "--regexp-extended" | "--separate"
            | "--unbuffered" | "--null-data" | "--zero-terminated" | "--debug" | "--sandbox"
            | "--binary"
                if value.is_none() => {}
            "--line-length" if value.is_some() => {}
            "--expression" => self.script(value, words),
            _ if name.len() > 3 && "--in-place".starts_with(name) => self.in_place = true,
            _ => self.stop(text),
        }
    }

    fn bundle(&mut self, text: &str, words: &mut std::slice::Iter<'a, Word>) {
        for (at, letter) in text.char_indices().skip(1) {
            let rest = Some(&text[at + letter.len_utf8()..]).filter(|rest| !rest.is_empty());
            match letter {
                'n' | 'E' | 'r' | 's' | 'u' | 'z' | 'a' | 'b' => {}
                'i' | 'I' => {
                    self.in_place = true;
                    return;
                }
                'e' => return self.script(rest, words),
                'l' => {
                    if rest.is_none() && words.next().is_none_or(|value| value.may_split) {
                        self.stop(text);
                    }
                    return;
                }
                _ => return self.stop(text),
            }
        }
    }
}

impl Walk {
    pub(super) fn sed(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        let mut call = Call::of(args);
        if let Some(unknown) = call.unknown.take() {
            self.find(UNKNOWN, name, format!("{name} {unknown}"));
        }
        // BSD's `-i` takes the next word; what is the script then is another word.
        let scripts = if call.in_place { 2 } else { 1 };
        if call.scripts.is_empty() && !call.operands.is_empty() {
            let count = scripts.min(call.operands.len());
            call.scripts.extend(call.operands[..count].iter().map(|word| (*word).clone()));
            call.operands.remove(0);
        }
        let scripts: Vec<&Word> = call.scripts.iter().collect();
        if call.in_place {
            let first = scripts.first().copied().into_iter().collect::<Vec<_>>();
            self.sed_scripts(name, &first);
            for word in &call.operands {
                self.path_target(WRITE, name, word);
            }
            self.find(WRITE, name, format!("{name} -i"));
            return;
        }
        self.sed_scripts(name, &scripts);
        for word in call.operands {
            self.path_target(READ, name, word);
        }
        let options = Options::of(&Row { takes: Takes::Text, ..*row }, &[]);
        self.targets(&Row { takes: Takes::Text, ..*row }, READ, name, &options);
    }

    fn sed_scripts(&mut self, name: &str, scripts: &[&Word]) {
        for script in scripts {
            let (verdict, inserted) =
                script.exact().map_or((Script::Unknown, Vec::new()), read_with_files);
            for file in inserted {
                self.path_target(READ, name, &Word::literal(&file));
            }
            match verdict {
                Script::Prints => {}
                Script::Writes => {
                    let what = format!("{name} with a w command");
                    self.find(OVERWRITE, name, what.clone());
                    // The file's name is the last word of its line.
                    for file in script.text.lines().filter_map(|line| line.split(' ').next_back()) {
                        if self.danger_of_writing(file).is_some() {
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

/// Reads a sed script: what it can do, and the files that it inserts into its output.
fn read_with_files(script: &str) -> (Script, Vec<String>) {
    let mut reader = Reader { rest: script, inserted: Vec::new() };
    let does = reader.commands().unwrap_or(Script::Unknown);
    (does, reader.inserted)
}

struct Reader<'a> {
    rest: &'a str,
    /// The files of `r` and `R`.
    inserted: Vec<String>,
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
            self.skip(" \t\n;");
            if self.rest.is_empty() {
                return Some(worst);
            }
            self.addresses()?;
            worst = worst.max(self.command()?);
        }
    }

    /// None, one or two addresses, and any `!`.
    fn addresses(&mut self) -> Option<()> {
        if self.address(false)? {
            self.skip(" \t");
            if self.peek() == Some(',') {
                self.bump();
                self.skip(" \t");
                if !self.address(true)? {
                    return None;
                }
            }
        }
        self.skip(" \t!");
        Some(())
    }

    /// One address; whether there is one.
    fn address(&mut self, second: bool) -> Option<bool> {
        match self.peek()? {
            '0'..='9' => {
                self.skip("0123456789");
                if self.peek() == Some('~') {
                    self.bump();
                    self.skip("0123456789");
                }
            }
            '+' | '~' if second => {
                self.bump();
                self.skip("0123456789");
            }
            '$' => {
                self.bump();
            }
            c @ ('/' | '\\') => {
                self.bump();
                let delimiter = if c == '/' { '/' } else { self.bump()? };
                if is_odd_delimiter(delimiter) {
                    return None;
                }
                self.regex(delimiter)?;
                self.skip("IM");
            }
            _ => return Some(false),
        }
        Some(true)
    }

    /// Moves past a regular expression. Where it ends differs between seds if the delimiter is in
    /// brackets, so that is not read.
    fn regex(&mut self, delimiter: char) -> Option<()> {
        self.past(delimiter, |reader| reader.bracket(delimiter))
    }

    /// Moves past the delimiter, which may stand inside of nothing but an escape and what `bracket` moves
    /// past after `[`.
    fn past(&mut self, delimiter: char, bracket: impl Fn(&mut Self) -> Option<()>) -> Option<()> {
        loop {
            match self.bump()? {
                '\\' => {
                    self.bump()?;
                }
                '\n' => return None,
                c if c == delimiter => return Some(()),
                '[' => bracket(self)?,
                _ => {}
            }
        }
    }

    /// After `[`: moves past `]`.
    fn bracket(&mut self, delimiter: char) -> Option<()> {
        if self.peek() == Some('^') {
            self.bump();
        }
        let mut first = true;
        loop {
            let c = self.bump()?;
            match c {
                ']' if !first => return Some(()),
                // `[[:alpha:]]`: its first `]` is no end.
                '[' if matches!(self.peek(), Some(':' | '.' | '=')) => {
                    let kind = self.bump()?;
                    let end = self.rest.find(&format!("{kind}]"))?;
                    if self.rest[..end].contains([delimiter, '\n']) {
                        return None;
                    }
                    self.rest = &self.rest[end + 2..];
                }
                '\n' | '\\' => return None,
                _ if c == delimiter => return None,
                _ => {}
            }
            first = false;
        }
    }

    /// Moves past a replacement, in which brackets mean nothing.
    fn replacement(&mut self, delimiter: char) -> Option<()> {
        self.past(delimiter, |_| Some(()))
    }

    /// Nothing may follow a command on its line but a `;`, a brace or a comment.
    fn end(&mut self) -> Option<Script> {
        self.skip(" \t");
        matches!(self.peek(), None | Some(';' | '\n' | '}' | '#')).then_some(Script::Prints)
    }

    /// The rest of the line, which is the name of a file.
    fn file(&mut self) -> Option<&str> {
        let line = self.rest.split('\n').next().unwrap_or("");
        self.rest = &self.rest[line.len()..];
        (!line.ends_with('\\')).then(|| line.trim_start())
    }

    fn writes(&mut self) -> Option<Script> {
        let file = self.file()?;
        let harmless = matches!(file, "/dev/stdout" | "/dev/stderr");
        Some(if harmless { Script::Prints } else { Script::Writes })
    }

    fn command(&mut self) -> Option<Script> {
        match self.bump()? {
            '{' => Some(Script::Prints),
            '}' | 'p' | 'd' | 'n' | 'N' | 'D' | 'P' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' | 'z'
            | 'F' => self.end(),
            'q' | 'Q' | 'l' | 'L' => {
                self.skip(" \t");
                self.skip("0123456789");
                self.end()
            }
            's' => self.substitute(),
            'y' => {
                let delimiter = self.bump()?;
                if is_odd_delimiter(delimiter) {
                    return None;
                }
                self.replacement(delimiter)?;
                self.replacement(delimiter)?;
                self.end()
            }
            'a' | 'i' | 'c' => self.text(),
            'r' | 'R' => {
                let file = self.file()?.to_owned();
                self.inserted.push(file);
                Some(Script::Prints)
            }
            'w' | 'W' => self.writes(),
            '#' => {
                let line = self.rest.split('\n').next().unwrap_or("");
                self.rest = &self.rest[line.len()..];
                Some(Script::Prints)
            }
            // A label ends at a blank, so a command may follow one: `b ;w file`.
            ':' | 'b' | 't' | 'T' => {
                self.skip(" \t");
                let label = self.rest.split([' ', '\t', '\n', ';', '}']).next().unwrap_or("");
                self.rest = &self.rest[label.len()..];
                Some(Script::Prints)
            }
            'e' => Some(Script::Runs),
            _ => None,
        }
    }

    /// Text to the end of a line that no backslash continues.
    fn text(&mut self) -> Option<Script> {
        loop {
            match self.bump() {
                None | Some('\n') => return Some(Script::Prints),
                Some('\\') => {
                    self.bump()?;
                    // `a\` and nothing after it: the next script is the text.
                    if self.rest.is_empty() {
                        return None;
                    }
                }
                Some(_) => {}
            }
        }
    }

    fn substitute(&mut self) -> Option<Script> {
        let delimiter = self.bump()?;
        if is_odd_delimiter(delimiter) {
            return None;
        }
        self.regex(delimiter)?;
        self.replacement(delimiter)?;
        loop {
            match self.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => {
                    self.bump();
                }
                Some('w') => {
                    self.bump();
                    return self.writes();
                }
                Some('e') => return Some(Script::Runs),
                _ => return self.end(),
            }
        }
    }
}

/// Delimiters that not every sed takes for one.
fn is_odd_delimiter(c: char) -> bool {
    c.is_alphanumeric() || c.is_whitespace() || matches!(c, '\\' | '[' | ']' | ';' | '{' | '}')
}

#[cfg(test)]
mod tests {
    use super::{Script, read_with_files};

    fn read(script: &str) -> Script {
        read_with_files(script).0
    }

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
            ":a;N;$!ba;s/\\n/ /g",
            "/^[[:space:]]*#/d",
            "2a\\\nw out",
            "$!N;P;D",
            "0~3p",
            "/a/,+2p",
        ] {
            assert_eq!(read(script), Script::Prints, "{script}");
        }
    }

    #[test]
    fn writing_and_running_scripts_are_seen() {
        for script in [
            "b ;w out",
            ":a b;w out",
            "ba\nw out",
            "t ;w out",
            "p # x\nw out",
            "}w out",
            "s/[a]/b/;w out",
            "w out",
            "1w out",
            "s/a/b/w out",
            "/x/w out",
            "p;w out",
            "{w out\n}",
            "s/a/b/gw out",
        ] {
            assert!(read(script) >= Script::Writes, "{script}");
        }
        for script in ["e", "1e id", "s/a/id/e", "s/a/id/ge", "/x/e id"] {
            assert!(read(script) >= Script::Unknown, "{script}");
        }
    }
}
