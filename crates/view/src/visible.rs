//! Text that somebody else chose, on its way to a terminal or a model: commands, names, paths, errors.
//!
//! Unlike [`sanitize`](crate::sanitize), which reads what a program drew and gives what a terminal would
//! show, nothing is taken away here: each character that could move a cursor, change a terminal, reorder
//! or hide text is spelled out as `\u{1b}`.

use std::borrow::Cow;

/// Where a text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Line ends and tabs are kept.
    Lines,
    /// A line end is shown as `⏎`.
    OneLine,
}

/// The text with everything spelled out that a terminal would obey or a reader would not see. Line ends
/// and tabs are kept.
pub fn visible(text: &str) -> Cow<'_, str> {
    spell_out(text, Layout::Lines)
}

/// The same on one line: a line end is shown as `⏎`, so that a name cannot add lines to a list.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    spell_out(text, Layout::OneLine)
}

fn spell_out(text: &str, layout: Layout) -> Cow<'_, str> {
    let is_plain = |byte: u8| (0x20..0x7f).contains(&byte) || byte == b'\t';
    let keeps = |byte: u8| is_plain(byte) || (layout == Layout::Lines && byte == b'\n');
    if text.bytes().all(keeps) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match (character, layout) {
            ('\n', Layout::Lines) | ('\t', _) => shown.push(character),
            // A line end of another system; alone it would let the line be written over.
            ('\r', Layout::Lines) if rest.peek() == Some(&'\n') => shown.push(character),
            ('\r', Layout::OneLine) if rest.peek() == Some(&'\n') => {}
            ('\n', Layout::OneLine) => shown.push('⏎'),
            _ if is_treacherous(character) => shown.extend(character.escape_unicode()),
            _ => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// Whether a character does something else than to be read: control characters, those that turn the
/// direction of text, and invisible ones. The joiners of scripts and emoji are text.
pub fn is_treacherous(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_spelled_out() {
        assert_eq!(visible("a\u{1b}[2Kb\rc\u{7}\u{9b}31m"), "a\\u{1b}[2Kb\\u{d}c\\u{7}\\u{9b}31m");
        assert_eq!(
            visible("x\u{202e}y\u{2067}\u{200b}\u{7f}"),
            "x\\u{202e}y\\u{2067}\\u{200b}\\u{7f}"
        );
        assert_eq!(visible("größe ✓ 👩\u{200d}🔬\ta\r\nb\n"), "größe ✓ 👩\u{200d}🔬\ta\r\nb\n");
    }

    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(visible_line("a\nb\r\nc\rd"), "a⏎b⏎c\\u{d}d");
        assert!(matches!(visible_line("plain words"), Cow::Borrowed(_)));
    }
}
