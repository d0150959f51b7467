//! The text that a person is typing: never lost, only delivered, or kept in the history.

use super::keys::Key;

/// A text with a cursor in it.
#[derive(Debug, Default)]
pub(super) struct Editor {
    text: String,
    /// In bytes, at the border of a character.
    cursor: usize,
    history: Vec<String>,
    /// Where in the history one looks, and what was there before one looked.
    looking: Option<(usize, String)>,
    /// What is looked for in the history.
    search: Option<String>,
}

impl Editor {
    pub(super) fn new(history: Vec<String>, draft: String) -> Self {
        Self { cursor: draft.len(), text: draft, history, ..Self::default() }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    /// What is looked for in the history, if anything is.
    pub(super) fn search(&self) -> Option<&str> {
        self.search.as_deref()
    }

    /// Takes the text out, to be delivered; the history has it.
    pub(super) fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        self.remember(&text);
        self.cursor = 0;
        text
    }

    /// Puts a text in front of what is there.
    pub(super) fn give_back(&mut self, text: &str) {
        let rest = std::mem::take(&mut self.text);
        let between = if rest.is_empty() || text.is_empty() { "" } else { "\n" };
        self.text = format!("{text}{between}{rest}");
        self.cursor = self.text.len();
    }

    fn remember(&mut self, text: &str) {
        self.looking = None;
        self.search = None;
        if !text.trim().is_empty() && self.history.last().is_none_or(|last| last != text) {
            self.history.push(text.to_owned());
        }
    }

    /// Puts a text in the place of the word before the cursor.
    pub(super) fn complete(&mut self, word: &str) {
        let start = self.word_start();
        self.text.replace_range(start..self.cursor, word);
        self.cursor = start + word.len();
    }

    /// The word before the cursor.
    pub(super) fn word(&self) -> &str {
        &self.text[self.word_start()..self.cursor]
    }

    fn word_start(&self) -> usize {
        self.text[..self.cursor].rfind(char::is_whitespace).map_or(0, |at| at + 1)
    }

    /// Does what a key says; whether it was one for the text.
    pub(super) fn press(&mut self, key: &Key) -> bool {
        if self.search.is_some() && self.press_search(key) {
            return true;
        }
        match key {
            Key::Char(c) => self.insert(&c.to_string()),
            Key::Paste(text) => self.insert(text),
            Key::NewLine => self.insert("\n"),
            Key::Backspace => self.delete(self.before(), self.cursor),
            Key::Delete => self.delete(self.cursor, self.after()),
            Key::Left | Key::Ctrl('b') => self.cursor = self.before(),
            Key::Right | Key::Ctrl('f') => self.cursor = self.after(),
            Key::WordLeft => self.cursor = self.word_before(),
            Key::WordRight => self.cursor = self.word_after(),
            Key::Home | Key::Ctrl('a') => self.cursor = self.line_start(),
            Key::End | Key::Ctrl('e') => self.cursor = self.line_end(),
            Key::Ctrl('u') => self.delete(self.line_start(), self.cursor),
            Key::Ctrl('k') => self.delete(self.cursor, self.line_end()),
            Key::Ctrl('w') => self.delete(self.word_before(), self.cursor),
            Key::Ctrl('r') => self.search = Some(String::new()),
            Key::Up if self.text[..self.cursor].contains('\n') => self.move_line(-1),
            Key::Down if self.text[self.cursor..].contains('\n') => self.move_line(1),
            Key::Up | Key::Ctrl('p') => self.look(-1),
            Key::Down | Key::Ctrl('n') => self.look(1),
            _ => return false,
        }
        true
    }

    /// A key while the history is searched; whether that is all there is to it.
    fn press_search(&mut self, key: &Key) -> bool {
        let mut wanted = self.search.take().unwrap_or_default();
        let mut skip = 0;
        match key {
            Key::Char(c) => wanted.push(*c),
            Key::Paste(text) => wanted.push_str(text),
            Key::Backspace => drop(wanted.pop()),
            Key::Ctrl('r') => skip = 1,
            Key::Escape => {
                self.look_away();
                return true;
            }
            // The text that was found is taken, and the key counts for it.
            _ => return false,
        }
        let from = match &self.looking {
            Some((at, _)) if skip == 1 => *at,
            _ => self.history.len(),
        };
        let found = self.history[..from].iter().rposition(|text| text.contains(&wanted));
        if let Some(at) = found.filter(|_| !wanted.is_empty()) {
            self.show(at);
        }
        self.search = Some(wanted);
        true
    }

    fn insert(&mut self, text: &str) {
        self.looking = None;
        // What a terminal would obey is not text.
        let clean: String =
            text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
        self.text.insert_str(self.cursor, &clean);
        self.cursor += clean.len();
    }

    fn delete(&mut self, from: usize, to: usize) {
        self.looking = None;
        self.text.replace_range(from..to, "");
        self.cursor = from;
    }

    fn before(&self) -> usize {
        self.text[..self.cursor].char_indices().next_back().map_or(0, |(at, _)| at)
    }

    fn after(&self) -> usize {
        self.text[self.cursor..].chars().next().map_or(self.cursor, |c| self.cursor + c.len_utf8())
    }

    fn word_before(&self) -> usize {
        let trimmed = self.text[..self.cursor].trim_end();
        trimmed.rfind(char::is_whitespace).map_or(0, |at| at + 1)
    }

    fn word_after(&self) -> usize {
        let rest = &self.text[self.cursor..];
        let skipped = rest.len() - rest.trim_start().len();
        let word = rest[skipped..].find(char::is_whitespace).unwrap_or(rest.len() - skipped);
        self.cursor + skipped + word
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    fn move_line(&mut self, by: i32) {
        let column = self.text[self.line_start()..self.cursor].chars().count();
        self.cursor = if by < 0 { self.line_start() - 1 } else { self.line_end() + 1 };
        let (start, end) = (self.line_start(), self.line_end());
        let line = &self.text[start..end];
        self.cursor = start + line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    }

    /// Older or newer in the history.
    fn look(&mut self, by: i32) {
        let at = self.looking.as_ref().map_or(self.history.len(), |(at, _)| *at);
        if by < 0 && at > 0 {
            self.show(at - 1);
        } else if by > 0 && at + 1 < self.history.len() {
            self.show(at + 1);
        } else if by > 0 {
            self.look_away();
        }
    }

    fn show(&mut self, at: usize) {
        let before = match self.looking.take() {
            Some((_, before)) => before,
            None => std::mem::take(&mut self.text),
        };
        self.text.clone_from(&self.history[at]);
        self.cursor = self.text.len();
        self.looking = Some((at, before));
    }

    /// Back to what was typed.
    fn look_away(&mut self) {
        if let Some((_, before)) = self.looking.take() {
            self.text = before;
            self.cursor = self.text.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(editor: &mut Editor, text: &str) {
        for c in text.chars() {
            editor.press(&Key::Char(c));
        }
    }

    #[test]
    fn what_was_typed_comes_back_after_a_look_into_the_history() {
        let mut editor = Editor::new(vec!["first".into(), "second one".into()], "draft".into());
        editor.press(&Key::Up);
        assert_eq!(editor.text(), "second one");
        editor.press(&Key::Up);
        editor.press(&Key::Up);
        assert_eq!(editor.text(), "first");
        editor.press(&Key::Down);
        editor.press(&Key::Down);
        assert_eq!(editor.text(), "draft");
        editor.press(&Key::Ctrl('r'));
        typed(&mut editor, "fir");
        assert_eq!((editor.text(), editor.search()), ("first", Some("fir")));
        editor.press(&Key::Escape);
        assert_eq!((editor.text(), editor.search()), ("draft", None));
        editor.press(&Key::Ctrl('r'));
        typed(&mut editor, "one");
        assert!(!editor.press(&Key::Enter), "the key counts for what was found");
        assert_eq!(editor.take(), "second one");
    }

    #[test]
    fn words_lines_and_wide_characters_are_edited() {
        let mut editor = Editor::default();
        typed(&mut editor, "größe 😀 x");
        editor.press(&Key::WordLeft);
        editor.press(&Key::Backspace);
        editor.press(&Key::Backspace);
        assert_eq!(editor.text(), "größe x");
        editor.press(&Key::Ctrl('w'));
        assert_eq!(editor.text(), "x");
        editor.press(&Key::End);
        editor.press(&Key::Paste("\nsecond\x1b[31m line\n\nlast".into()));
        assert_eq!(editor.text(), "x\nsecond[31m line\n\nlast");
        editor.press(&Key::Up);
        editor.press(&Key::Up);
        editor.press(&Key::Ctrl('k'));
        editor.press(&Key::Down);
        editor.press(&Key::Char('!'));
        assert_eq!(editor.text(), "x\n\n!\nlast");
    }

    #[test]
    fn a_text_that_is_given_back_stands_before_what_was_typed_since() {
        let mut editor = Editor::default();
        typed(&mut editor, "new");
        editor.give_back("old");
        assert_eq!(editor.text(), "old\nnew");
    }
}
