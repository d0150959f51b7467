//! Lines for a terminal: styled, wrapped to its width, and Markdown made readable.

use unicode_width::UnicodeWidthChar;

/// How text looks. Without colour, only what it says is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Plain,
    Bold,
    Dim,
    Code,
    Good,
    Bad,
    Accent,
}

impl Look {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Code => "36",
            Self::Good => "32",
            Self::Bad => "31",
            Self::Accent => "35",
        }
    }
}

/// A line in pieces, each with its look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line(pub(super) Vec<(Look, String)>);

impl Line {
    pub(super) fn new(look: Look, text: impl Into<String>) -> Self {
        Self(vec![(look, text.into())])
    }

    pub(super) fn and(mut self, look: Look, text: impl Into<String>) -> Self {
        self.0.push((look, text.into()));
        self
    }

    /// Its columns.
    pub(super) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| width(text)).sum()
    }

    /// As a terminal wants it.
    pub(super) fn render(&self, has_colour: bool) -> String {
        let piece = |(look, text): &(Look, String)| {
            if !has_colour || *look == Look::Plain || text.is_empty() {
                text.clone()
            } else {
                format!("\x1b[{}m{text}\x1b[0m", look.code())
            }
        };
        self.0.iter().map(piece).collect()
    }

    /// The same in lines of at most so many columns, cut at spaces where there are any.
    pub(super) fn wrap(&self, columns: usize) -> Vec<Self> {
        let columns = columns.max(2);
        let mut lines = Vec::new();
        let (mut line, mut used) = (Self::default(), 0);
        for (look, text) in &self.0 {
            for word in words(text) {
                let wide = width(word);
                if used + wide > columns && used > 0 && wide <= columns {
                    lines.push(std::mem::take(&mut line));
                    used = 0;
                    if word.trim().is_empty() {
                        continue;
                    }
                }
                for c in word.chars() {
                    let wide = c.width().unwrap_or(0);
                    if used + wide > columns {
                        lines.push(std::mem::take(&mut line));
                        used = 0;
                    }
                    line.push(*look, c);
                    used += wide;
                }
            }
        }
        lines.push(line);
        lines
    }

    fn push(&mut self, look: Look, c: char) {
        match self.0.last_mut() {
            Some((last, text)) if *last == look => text.push(c),
            _ => self.0.push((look, c.to_string())),
        }
    }
}

/// The columns of a text.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Words and the spaces between them, each by itself.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut was_space = None;
    for (at, c) in text.char_indices() {
        let is_space = c == ' ';
        if was_space.is_some_and(|was| was != is_space) {
            words.push(&text[start..at]);
            start = at;
        }
        was_space = Some(is_space);
    }
    words.push(&text[start..]);
    words
}

/// A text without what a terminal would obey; tabs are spaces.
pub(super) fn clean(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let mut clean = String::with_capacity(text.len());
    for c in text.replace('\t', "    ").chars() {
        if c.is_control() || turns(c) {
            clean.extend(c.escape_unicode());
        } else {
            clean.push(c);
        }
    }
    clean
}

/// Markdown, line by line as it comes.
#[derive(Debug, Default)]
pub(super) struct Markdown {
    is_code: bool,
}

impl Markdown {
    /// One whole line of it.
    pub(super) fn line(&mut self, text: &str) -> Line {
        let text = clean(text);
        let trimmed = text.trim_start();
        if trimmed.starts_with("```") {
            self.is_code = !self.is_code;
            return Line::new(Look::Dim, text);
        }
        self.look(&text)
    }

    /// How a line looks that may not be whole.
    pub(super) fn look(&self, text: &str) -> Line {
        let trimmed = text.trim_start();
        if self.is_code {
            return Line::new(Look::Code, text);
        }
        if let Some(heading) = trimmed.strip_prefix('#') {
            let heading = heading.trim_start_matches('#');
            if heading.starts_with(' ') {
                return Line::new(Look::Bold, heading.trim());
            }
        }
        if let Some(item) = trimmed.strip_prefix("* ") {
            let indent = &text[..text.len() - trimmed.len()];
            let mut line = Line::new(Look::Plain, format!("{indent}- "));
            line.0.extend(inline(item).0);
            return line;
        }
        inline(text)
    }
}

/// `**bold**` and `` `code` `` in a line.
fn inline(text: &str) -> Line {
    let mut line = Line::default();
    let mut rest = text;
    loop {
        let bold = rest.find("**");
        let code = rest.find('`');
        let (at, mark, look) = match (bold, code) {
            (Some(bold), Some(code)) if bold < code => (bold, "**", Look::Bold),
            (_, Some(code)) => (code, "`", Look::Code),
            (Some(bold), None) => (bold, "**", Look::Bold),
            (None, None) => break,
        };
        let inner = &rest[at + mark.len()..];
        let Some(end) = inner.find(mark).filter(|end| *end > 0) else {
            let kept = at + mark.len();
            line.0.push((Look::Plain, rest[..kept].to_owned()));
            rest = &rest[kept..];
            continue;
        };
        line.0.push((Look::Plain, rest[..at].to_owned()));
        line.0.push((look, inner[..end].to_owned()));
        rest = &inner[end + mark.len()..];
    }
    line.0.push((Look::Plain, rest.to_owned()));
    line.0.retain(|(_, text)| !text.is_empty());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(line: &Line) -> String {
        line.render(false)
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_nothing_is_missing() {
        let text = "the quick 日本語 fox jumps averyveryverylongwordthatdoesnotfit over";
        for columns in 2..40 {
            let lines = Line::new(Look::Plain, text).wrap(columns);
            assert!(lines.iter().all(|line| line.width() <= columns), "{columns}");
            let joined: String = lines.iter().map(plain).collect();
            assert_eq!(joined.replace(' ', ""), text.replace(' ', ""), "{columns}");
        }
        assert_eq!(Line::default().wrap(10).len(), 1);
    }

    #[test]
    fn markdown_is_made_readable_and_code_is_left_as_it_is() {
        let mut markdown = Markdown::default();
        assert_eq!(markdown.line("## Head").0, [(Look::Bold, "Head".into())]);
        let line = markdown.line("a **bold** and `code` and ** alone");
        assert_eq!(plain(&line), "a bold and code and ** alone");
        assert_eq!(line.0[1], (Look::Bold, "bold".into()));
        markdown.line("```rust");
        assert_eq!(plain(&markdown.line("let **x** = `y`;")), "let **x** = `y`;");
        markdown.line("```");
        assert_eq!(plain(&markdown.line("* item")), "- item");
        assert!(!plain(&markdown.line("evil \x1b[2J")).contains('\x1b'));
    }

    #[test]
    fn without_colour_there_is_no_escape() {
        let line = Line::new(Look::Bad, "x").and(Look::Dim, "y");
        assert_eq!(line.render(false), "xy");
        assert!(line.render(true).contains("\x1b[31mx\x1b[0m"));
    }
}
