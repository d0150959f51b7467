//! What is being typed into a job, as whatever reads it may understand it.
//!
//! A line may come in pieces, and as keys, and go on after its end: the gate is asked about all of
//! it. Nobody knows what reads it, so it is understood in three ways. A pipe hands on all there is. A
//! terminal takes back what is erased before anybody sees it. An editor has a cursor, and keys that
//! move it, so that what is typed last may come first. Keys that fetch a line from somewhere else,
//! such as the arrow up, make it one that nobody has seen.

use crate::keyboard::{Key, is_key, next_key};

/// Longer texts are nothing that anybody edits while typing.
const LONGEST_TEXT_BYTES: usize = 256 << 10;
/// Stands for whatever a key fetched.
const FETCHED: &str = "\u{2191}";

/// What the gate is asked about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// All that was typed since the last command ended, in each of the ways it may be understood.
    pub(crate) text: String,
    /// Whether there is anything to ask about.
    pub(crate) asks: bool,
}

/// What is typed now, together with what was typed `before` and is not over.
pub(crate) fn line(before: &[u8], typed: &[u8]) -> Line {
    // A key may come in pieces too.
    let all = [before, typed].concat();
    let all = String::from_utf8_lossy(&all);
    if all.len() > LONGEST_TEXT_BYTES {
        return Line { text: all.into_owned(), asks: true };
    }
    let old = String::from_utf8_lossy(before).len();
    let readings = [KeyReader::Pipe, KeyReader::Terminal, KeyReader::Editor].map(|reader| {
        let mut reading = TypedText::new(reader);
        reading.type_in(&all, old);
        reading
    });
    let acts = readings.iter().any(|reading| reading.acts);
    let fetched = readings.iter().any(|reading| reading.fetched);
    let mut texts: Vec<String> = Vec::new();
    for text in readings.into_iter().map(TypedText::text).filter(|text| !text.trim().is_empty()) {
        let words = || text.split_whitespace();
        if !texts.iter().any(|known| known.split_whitespace().eq(words())) {
            texts.push(text);
        }
    }
    if fetched {
        texts.push(format!("{FETCHED}\n"));
    }
    let asks = acts && !texts.is_empty();
    let last = texts.pop().unwrap_or_default();
    let ended = |text: String| format!("{}\n", text.trim_end_matches('\n'));
    let text = texts.into_iter().map(ended).collect::<String>() + &last;
    Line { text, asks }
}

/// Who understands keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyReader {
    Pipe,
    Terminal,
    Editor,
}

/// What was typed, as one of them understands it.
struct TypedText {
    reader: KeyReader,
    /// The lines that are over, of a command that is not, or of what is typed now.
    done: String,
    line: Vec<char>,
    cursor: usize,
    /// What was taken away last.
    killed: Vec<char>,
    fetched: bool,
    /// Whether what is typed now does more than move.
    acts: bool,
}

impl TypedText {
    fn new(reader: KeyReader) -> Self {
        Self {
            reader,
            done: String::new(),
            line: Vec::new(),
            cursor: 0,
            killed: Vec::new(),
            fetched: false,
            acts: false,
        }
    }

    /// Takes keys; those that begin before `old` were asked about already.
    fn type_in(&mut self, keys: &str, old: usize) {
        let mut chars = keys.chars().peekable();
        let mut at = 0;
        while let Some((key, sent)) = next_key(&mut chars) {
            at += sent.len();
            let is_new = at > old;
            self.acts |= is_new && self.is_act(key);
            match self.reader {
                KeyReader::Editor => self.press(key, is_new),
                KeyReader::Pipe | KeyReader::Terminal if is_key(&sent) => self.insert(' '),
                KeyReader::Pipe | KeyReader::Terminal => {
                    for c in sent.chars() {
                        self.receive(c, is_new);
                    }
                }
            }
        }
    }

    /// Whether a key runs something, or makes the line another one.
    fn is_act(&self, key: Key) -> bool {
        match key {
            Key::Enter | Key::EnterAndFetch | Key::Yank => true,
            Key::Char(c) => !c.is_whitespace(),
            Key::Backspace
            | Key::Delete
            | Key::KillWord
            | Key::KillNextWord
            | Key::KillBefore
            | Key::KillAfter
            | Key::Transpose => !self.line.is_empty(),
            _ => false,
        }
    }

    fn text(self) -> String {
        self.done + &self.line.into_iter().collect::<String>()
    }

    /// A character, where nobody edits but the terminal.
    fn receive(&mut self, c: char, is_new: bool) {
        let erases = self.reader == KeyReader::Terminal;
        match c {
            '\n' | '\r' => self.enter(is_new),
            // A shell drops zero bytes.
            '\0' => {}
            '\u{7f}' | '\u{8}' if erases => self.press(Key::Backspace, is_new),
            '\u{15}' if erases => self.press(Key::KillBefore, is_new),
            '\u{17}' if erases => self.press(Key::KillWord, is_new),
            '\u{3}' | '\u{1c}' if erases => self.press(Key::Interrupt, is_new),
            '\t' => self.insert(c),
            c if c.is_control() => self.insert(' '),
            c => self.insert(c),
        }
    }

    fn insert(&mut self, c: char) {
        self.line.insert(self.cursor, c);
        self.cursor += 1;
    }

    fn enter(&mut self, is_new: bool) {
        self.done.extend(self.line.drain(..));
        self.done.push('\n');
        self.cursor = 0;
        // What was asked about is over when its command is.
        if !is_new && !umbo_command::is_unfinished(&self.done) {
            self.done.clear();
            self.fetched = false;
        }
    }

    fn press(&mut self, key: Key, is_new: bool) {
        let (cursor, end) = (self.cursor, self.line.len());
        match key {
            Key::Char(c) => self.insert(c),
            Key::Enter => self.enter(is_new),
            Key::EnterAndFetch => {
                self.enter(is_new);
                self.fetched = true;
            }
            Key::Backspace => drop(self.cut(cursor.saturating_sub(1), cursor)),
            Key::Delete => drop(self.cut(cursor, end.min(cursor + 1))),
            Key::Left => self.cursor = cursor.saturating_sub(1),
            Key::Right => self.cursor = end.min(cursor + 1),
            Key::WordLeft => self.cursor = self.word_left(),
            Key::WordRight => self.cursor = self.word_right(),
            Key::Home => self.cursor = 0,
            Key::End => self.cursor = end,
            Key::KillBefore => self.kill(0, cursor),
            Key::KillAfter => self.kill(cursor, end),
            Key::KillWord => self.kill(self.word_left(), cursor),
            Key::KillNextWord => self.kill(cursor, self.word_right()),
            Key::Yank if self.killed.is_empty() => self.fetched = true,
            Key::Yank => {
                for c in self.killed.clone() {
                    self.insert(c);
                }
            }
            Key::Transpose => {
                let at = cursor.min(end.saturating_sub(1));
                if at > 0 {
                    self.line.swap(at - 1, at);
                    self.cursor = at + 1;
                }
            }
            Key::Interrupt => {
                self.line.clear();
                self.cursor = 0;
                if !is_new {
                    self.done.clear();
                    self.fetched = false;
                }
            }
            Key::Fetch => self.fetched = true,
            Key::Nothing => {}
        }
    }

    fn cut(&mut self, from: usize, to: usize) -> Vec<char> {
        self.cursor = from;
        self.line.drain(from..to).collect()
    }

    fn kill(&mut self, from: usize, to: usize) {
        self.killed = self.cut(from, to);
    }

    /// Where the word before the cursor begins.
    fn word_left(&self) -> usize {
        let before = &self.line[..self.cursor];
        let word = before.iter().rposition(|c| !c.is_whitespace()).map_or(0, |last| last + 1);
        before[..word].iter().rposition(|c| c.is_whitespace()).map_or(0, |blank| blank + 1)
    }

    /// Where the word after it ends.
    fn word_right(&self) -> usize {
        let after = &self.line[self.cursor..];
        let word = after.iter().position(|c| !c.is_whitespace()).unwrap_or(after.len());
        let length = after[word..].iter().position(|c| c.is_whitespace());
        self.cursor + length.map_or(after.len(), |length| word + length)
    }
}

#[cfg(test)]
mod tests {
    use super::{FETCHED, line};

    /// Types piece by piece; what the gate is asked about each time.
    fn typed(pieces: &[&str]) -> Vec<Option<String>> {
        let mut before = Vec::new();
        let ask = |piece: &&str| {
            let line = line(&before, piece.as_bytes());
            before.extend_from_slice(piece.as_bytes());
            line.asks.then_some(line.text)
        };
        pieces.iter().map(ask).collect()
    }

    /// Types all at once.
    fn asked(keys: &str) -> String {
        typed(&[keys])[0].clone().unwrap()
    }

    #[test]
    fn pieces_of_a_line_are_one_line() {
        let asked = typed(&["r", "m -rf", " x", "\n", "ls\n"]);
        let expected = ["r", "rm -rf", "rm -rf x", "rm -rf x\n", "ls\n"];
        assert_eq!(asked, expected.map(|text| Some(text.to_owned())));
    }

    #[test]
    fn a_line_that_goes_on_is_one_command() {
        for (first, second) in
            [("rm \\\n", "-rf x\n"), ("rm '\n", "' -rf x\n"), ("rm $(\n", ") -rf x\n")]
        {
            let asked = typed(&["ls\n", first, second, "ls\n"]);
            assert_eq!(asked[2], Some(format!("{first}{second}")));
            assert_eq!(asked[3].as_deref(), Some("ls\n"), "and then it is over");
        }
        let given_up = typed(&["rm \\\n", "\u{3}", "ls\n"]);
        assert_eq!(given_up[2].as_deref(), Some("rm \\\n ls\nls\n"));
    }

    #[test]
    fn what_is_taken_back_is_gone_unless_a_pipe_keeps_it() {
        assert_eq!(asked("rmx\u{7f} -rf y\n"), "rmx  -rf y\nrm -rf y\n");
        assert_eq!(asked("echo a \u{15}ls\r"), "echo a  ls\nls\n");
        assert_eq!(asked("ls foo\u{17}bar\r"), "ls foo bar\nls bar\n");
        assert_eq!(asked("rm -rf x #\u{15}ls\n"), "rm -rf x # ls\nls\n");
        let given_up = typed(&["rm -rf x", "\u{3}", "\r"]);
        assert_eq!(given_up, [Some("rm -rf x".to_owned()), None, Some("rm -rf x \n".to_owned())]);
        assert_eq!(asked("rm\t-rf\tx\n"), "rm\t-rf\tx\n");
    }

    #[test]
    fn a_cursor_that_moves_hides_nothing() {
        for keys in [
            "m -rf x\u{1}r\r",
            "m -rf x\u{1b}[Hr\r",
            "m -rf x\u{1b}[1~r\r",
            "m\u{1b}[Dr\u{1b}[C -rf x\r",
            "m\u{1b}ODr\u{5} -rf x\r",
            "mr\u{14} -rf x\r",
            "rxm\u{2}\u{8}\u{5} -rf x\r",
            "rxm\u{2}\u{2}\u{4}\u{5} -rf x\r",
            "#rm -rf x\u{1}\u{4}\r",
            "#rm -rf x\u{1b}[H\u{1b}[3~\r",
            "-rf x\u{1}rm \u{5}\r",
            "echo rm -rf x\u{1}\u{1b}d\r",
            "rm -rf x\u{15}\u{19}\r",
            "r\u{1b}[A\u{1b}[Bm -rf x\r",
            "\u{1b}[200~rm -rf x\u{1b}[201~\r",
            "\u{1b}[Crm -rf x\r",
            "\u{1b}[114u\u{1b}[109;1u -rf x\u{1b}[13u",
            "\u{1b}[27;1;114~m -rf x\r",
            "\u{1b}rm -rf x\r",
            "\u{1b}[0;rm -rf x\n",
            "r\0m -rf x\n",
        ] {
            let asked = asked(keys);
            let is_seen =
                |line: &str| line.trim_start().trim_start_matches("[0;").starts_with("rm");
            assert!(asked.lines().any(|line| is_seen(line) && line.contains("-rf x")), "{asked:?}");
            let pieces: Vec<String> = keys.chars().map(String::from).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            assert_eq!(typed(&pieces).last().unwrap().as_ref(), Some(&asked), "in pieces");
        }
    }

    #[test]
    fn keys_that_fetch_a_line_are_asked_about_when_it_is_run() {
        let fetched = || Some(format!("{FETCHED}\n"));
        assert_eq!(typed(&["\u{1b}[A", "\r"]), [None, fetched()]);
        assert_eq!(typed(&["\u{10}", "\r", "\r"]), [None, fetched(), None]);
        assert_eq!(typed(&["\u{1b}", "[A", "\r"])[2], fetched());
        assert_eq!(typed(&["\u{1b}[I", "\r", "\u{3}", "\u{4}"]), [None, None, None, None]);
        assert_eq!(typed(&["\u{1b}[B\u{1b}[B", "\u{1b}[D"]), [None, None]);
    }
}
