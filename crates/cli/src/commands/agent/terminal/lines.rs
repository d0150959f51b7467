//! Lines for a terminal: styled, wrapped to its width, and Markdown made readable.

use umbo_view::visible_line;
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

/// A line in pieces, each with its look. What a terminal would obey is spelled out when it becomes part of
/// one; tabs are spaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line(Vec<(Look, String)>);

impl Line {
    pub(super) fn new(look: Look, text: impl AsRef<str>) -> Self {
        Self::default().and(look, text)
    }

    pub(super) fn and(mut self, look: Look, text: impl AsRef<str>) -> Self {
        self.0.push((look, visible_line(text.as_ref()).replace('\t', "    ")));
        self
    }

    /// This line and another after it.
    pub(super) fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
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

    /// The same in lines of at most so many columns, cut at spaces where there are any. What goes on below
    /// stands under the text of its first line.
    pub(super) fn wrap(&self, columns: usize) -> Vec<Self> {
        let columns = columns.max(2);
        let indent = self.indent().min(columns / 3);
        let below = || Self::default().and(Look::Plain, " ".repeat(indent));
        let mut lines = Vec::new();
        let (mut line, mut used, mut start) = (Self::default(), 0, 0);
        for (look, text) in &self.0 {
            for word in words(text) {
                let wide = width(word);
                if used + wide > columns && used > start && indent + wide <= columns {
                    lines.push(std::mem::replace(&mut line, below()));
                    (used, start) = (indent, indent);
                    if word.trim().is_empty() {
                        continue;
                    }
                }
                for c in word.chars() {
                    let wide = c.width().unwrap_or(0);
                    if used + wide > columns {
                        lines.push(std::mem::replace(&mut line, below()));
                        (used, start) = (indent, indent);
                    }
                    line.push(*look, c);
                    used += wide;
                }
            }
        }
        lines.push(line);
        lines
    }

    /// Where its text begins: behind spaces, and the mark of an item.
    fn indent(&self) -> usize {
        let text: String = self.0.iter().map(|(_, text)| text.as_str()).collect();
        let trimmed = text.trim_start_matches(' ');
        let marks = ["- ", "* ", "x ", "> ", "· "];
        let numbers = trimmed.chars().take_while(char::is_ascii_digit).count();
        let mark = if marks.iter().any(|mark| trimmed.starts_with(mark)) {
            2
        } else if numbers > 0 && trimmed[numbers..].starts_with(". ") {
            numbers + 2
        } else {
            0
        };
        text.len() - trimmed.len() + mark
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

/// Markdown, line by line as it comes.
#[derive(Debug, Default)]
pub(super) struct Markdown {
    is_code: bool,
    /// The rows of a table so far: how wide its columns are is known at its end.
    table: Vec<String>,
}

impl Markdown {
    /// One whole line of it; what can be shown now.
    pub(super) fn line(&mut self, text: &str) -> Vec<Line> {
        if !self.is_code && text.trim_start().starts_with('|') {
            self.table.push(text.trim().to_owned());
            return Vec::new();
        }
        let mut lines = self.finish();
        if text.trim_start().starts_with("```") {
            self.is_code = !self.is_code;
            lines.push(Line::new(Look::Dim, text));
        } else {
            lines.push(self.look(text));
        }
        lines
    }

    /// What was kept back, for there may be more of it.
    pub(super) fn finish(&mut self) -> Vec<Line> {
        table(&std::mem::take(&mut self.table))
    }

    /// The same, while more comes.
    pub(super) fn kept_back(&self) -> Vec<Line> {
        table(&self.table)
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
            return Line::new(Look::Plain, format!("{indent}- ")).then(inline(item));
        }
        inline(text)
    }
}

/// The rows of a table with their cells below each other.
fn table(rows: &[String]) -> Vec<Line> {
    let is_rule = |row: &str| row.contains('-') && row.chars().all(|c| "|-: ".contains(c));
    let cells = |row: &String| -> Vec<Line> {
        let inner = row.strip_prefix('|').unwrap_or(row);
        let inner = inner.strip_suffix('|').unwrap_or(inner);
        inner.split('|').map(|cell| inline(cell.trim())).collect()
    };
    if !rows.get(1).is_some_and(|row| is_rule(row)) {
        // It only looked like one.
        return rows.iter().map(|row| inline(row)).collect();
    }
    let grid: Vec<Vec<Line>> = rows.iter().filter(|row| !is_rule(row)).map(cells).collect();
    let columns = grid.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        grid.iter().filter_map(|row| row.get(column)).map(Line::width).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    let mut lines = Vec::new();
    for (at, row) in grid.into_iter().enumerate() {
        let is_head = at == 0;
        let mut line = Line::default();
        let last = row.len().saturating_sub(1);
        for (column, mut cell) in row.into_iter().enumerate() {
            if is_head {
                for (look, _) in &mut cell.0 {
                    *look = Look::Bold;
                }
            }
            let space = widths[column] - cell.width() + 2;
            line = line.then(cell);
            if column < last {
                line = line.and(Look::Plain, " ".repeat(space));
            }
        }
        lines.push(line);
        if is_head {
            let rules: Vec<String> = widths.iter().map(|wide| "-".repeat(*wide)).collect();
            lines.push(Line::new(Look::Dim, rules.join("  ")));
        }
    }
    lines
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
            line = line.and(Look::Plain, &rest[..kept]);
            rest = &rest[kept..];
            continue;
        };
        line = line.and(Look::Plain, &rest[..at]).and(look, &inner[..end]);
        rest = &inner[end + mark.len()..];
    }
    line = line.and(Look::Plain, rest);
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
        let item = Line::new(Look::Good, "- ").and(Look::Plain, "one two three");
        assert_eq!(item.wrap(9).iter().map(plain).collect::<Vec<_>>(), ["- one two", "  three"]);
    }

    #[test]
    fn markdown_is_made_readable_and_code_is_left_as_it_is() {
        let mut markdown = Markdown::default();
        let only = |lines: Vec<Line>| -> Line {
            assert_eq!(lines.len(), 1, "{lines:?}");
            lines[0].clone()
        };
        assert_eq!(only(markdown.line("## Head")).0, [(Look::Bold, "Head".into())]);
        let line = only(markdown.line("a **bold** and `code` and ** alone"));
        assert_eq!(plain(&line), "a bold and code and ** alone");
        assert_eq!(line.0[1], (Look::Bold, "bold".into()));
        markdown.line("```rust");
        assert_eq!(plain(&only(markdown.line("let **x** = `y`;"))), "let **x** = `y`;");
        assert_eq!(plain(&only(markdown.line("| a | b |"))), "| a | b |");
        markdown.line("```");
        assert_eq!(plain(&only(markdown.line("* item"))), "- item");
        // Whichever way a text becomes part of a line.
        for evil in ["evil \x1b[2J", "`\x1b]52;c;eA==\x07`", "* \u{202e}\u{e0041}", "**\u{9b}31m**"]
        {
            let shown = plain(&only(markdown.line(evil))) + &plain(&Line::new(Look::Dim, evil));
            assert!(!shown.contains(umbo_view::is_treacherous), "{shown:?}");
        }
    }

    #[test]
    fn the_cells_of_a_table_stand_below_each_other_as_soon_as_it_is_whole() {
        let mut markdown = Markdown::default();
        for row in ["| file | faults |", "|:---|---:|", "| `main.rs` | 2 |", "| 日本 | 10 | more |"]
        {
            assert!(markdown.line(row).is_empty(), "{row}");
        }
        let seen: Vec<String> = markdown.kept_back().iter().map(plain).collect();
        let whole: Vec<String> = markdown.line("after").iter().map(plain).collect();
        let expected = [
            "file     faults",
            "-------  ------  ----",
            "main.rs  2",
            "日本     10      more",
            "after",
        ];
        assert_eq!(whole, expected);
        assert_eq!(seen, expected[..4]);
        assert!(markdown.finish().is_empty());
        markdown.line("| no table");
        assert_eq!(plain(&markdown.finish()[0]), "| no table");
    }

    #[test]
    fn without_colour_there_is_no_escape() {
        let line = Line::new(Look::Bad, "x").and(Look::Dim, "y");
        assert_eq!(line.render(false), "xy");
        assert!(line.render(true).contains("\x1b[31mx\x1b[0m"));
    }
}
