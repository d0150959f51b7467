//! The sanitiser: known cases, every chunking, and agreement with a real VT parser.

#![allow(clippy::unwrap_used, reason = "only functions marked as tests are known to be tests")]

use std::fmt::Write as _;

use proptest::prelude::*;
use umbo_view::sanitize::{LINE_PIECE, Sanitizer, sanitize};

fn in_chunks(bytes: &[u8], sizes: &[usize]) -> (String, umbo_view::sanitize::Changes) {
    let mut sanitizer = Sanitizer::new();
    let mut out = String::new();
    let mut rest = bytes;
    for &size in sizes.iter().cycle() {
        if rest.is_empty() || sizes.is_empty() {
            break;
        }
        let (chunk, later) = rest.split_at(size.clamp(1, rest.len()));
        sanitizer.feed(chunk, &mut out);
        rest = later;
    }
    sanitizer.feed(rest, &mut out);
    sanitizer.finish(&mut out);
    (out, sanitizer.changes())
}

#[test]
fn terminal_sequences_vanish() {
    for (input, output) in [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0;1;1\x1b\\after", "after"),
        ("\x1b_apc\x1b\\a\x1b^pm\x1b\\b\x1bXsos\x1b\\c", "abc"),
        ("\x1b(Bplain\x1b=", "plain"),
        ("\x1b[?25lhidden\x1b[?25h", "hidden"),
        ("a\x1b[38;2;1;2;3mb", "ab"),
    ] {
        assert_eq!(sanitize(input.as_bytes()), output, "{input:?}");
    }
}

#[test]
fn a_sequence_without_an_end_hides_only_its_line() {
    assert_eq!(sanitize(b"\x1b]0;never ends\nvisible\n"), "\nvisible\n");
    assert_eq!(sanitize(b"a\x1b[31\nb"), "a\nb");
}

#[test]
fn progress_bars_fold_to_their_final_state() {
    for (input, output) in [
        ("10%\r50%\r100%\n", "100%\n"),
        ("dos\r\nunix\n", "dos\nunix\n"),
        ("pty\r\r\nx", "pty\nx"),
        ("done\r", "done"),
        ("working\r\x1b[Kfinished\n", "finished\n"),
        ("working\r\x1b[K\n", "\n"),
        ("old\x1b[2K\x1b[1Gnew\n", "new\n"),
        ("old\x1b[1Knew\n", "new\n"),
        ("kept\x1b[K tail\n", "kept tail\n"),
    ] {
        assert_eq!(sanitize(input.as_bytes()), output, "{input:?}");
    }
}

#[test]
fn backspaces_are_applied() {
    assert_eq!(sanitize(b"abc\x08\x08X"), "aX");
    assert_eq!(sanitize(b"_\x08u_\x08n"), "un");
    assert_eq!(sanitize(b"|\x08/\x08-\x08\\"), "\\");
    assert_eq!(sanitize("é\x08e".as_bytes()), "e");
    assert_eq!(sanitize(b"a\n\x08\x08b"), "a\nb");
}

#[test]
fn hidden_characters_become_visible_and_controls_vanish() {
    assert_eq!(sanitize("a\u{202e}b".as_bytes()), "a<U+202E>b");
    assert_eq!(sanitize("x\u{e0041}y".as_bytes()), "x<U+E0041>y");
    assert_eq!(sanitize(b"nul\0bel\x07del\x7f"), "nulbeldel");
    assert_eq!(sanitize("c1\u{9b}31m".as_bytes()), "c131m");
    assert_eq!(
        sanitize("quotes \u{201c}stay\u{201d} \u{1f469}\u{200d}\u{1f4bb}".as_bytes()),
        "quotes \u{201c}stay\u{201d} \u{1f469}\u{200d}\u{1f4bb}"
    );
}

#[test]
fn invalid_utf8_is_replaced_and_counted() {
    let (text, changes) = in_chunks(b"a\xff\xfeb\xe2\x82\nc\xf0\x9f", &[1]);
    assert_eq!(text, "a\u{fffd}\u{fffd}b\u{fffd}\nc\u{fffd}");
    assert_eq!(changes.invalid_utf8, 4);
}

#[test]
fn a_line_without_end_is_handed_on_in_pieces() {
    let long = "x".repeat(LINE_PIECE * 2 + 10);
    let mut sanitizer = Sanitizer::new();
    let mut out = String::new();
    sanitizer.feed(long.as_bytes(), &mut out);
    assert_eq!(out.len(), LINE_PIECE * 2);
    assert_eq!(sanitizer.pending(), "xxxxxxxxxx");
}

/// The same rules, written over a real parser: what it prints and executes, line by line.
#[derive(Default)]
struct Reference {
    line: String,
    rewind: bool,
}

impl vte::Perform for Reference {
    fn print(&mut self, c: char) {
        if c == '\u{7f}' {
            return;
        }
        if std::mem::take(&mut self.rewind) {
            self.line.clear();
        }
        match c {
            '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{206f}'
            | '\u{e0000}'..='\u{e007f}' => {
                let _ = write!(self.line, "<U+{:04X}>", u32::from(c));
            }
            _ => self.line.push(c),
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\t' => self.print('\t'),
            b'\r' => self.rewind = true,
            8 if !self.rewind => drop(self.line.pop()),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &vte::Params, inter: &[u8], ignore: bool, c: char) {
        let mut values = params.iter();
        let first = values.next().unwrap_or(&[0]);
        if ignore || !inter.is_empty() || values.next().is_some() || first.len() != 1 {
            return;
        }
        match (c, first[0], self.rewind) {
            ('K', 2, _) | ('K', 0, true) | ('K', 1, false) => {
                self.line.clear();
                self.rewind = false;
            }
            ('G', 0 | 1, _) => self.rewind = true,
            _ => {}
        }
    }
}

fn reference(bytes: &[u8]) -> String {
    let lines: Vec<String> = bytes
        .split(|&byte| byte == b'\n')
        .map(|line| {
            let mut parser = vte::Parser::new();
            let mut reference = Reference::default();
            parser.advance(&mut reference, line);
            reference.line
        })
        .collect();
    lines.join("\n")
}

/// Bytes that look like what programs write to terminals.
fn terminal_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => "[ -~]{0,12}".prop_map(String::into_bytes),
        1 => "\\PC{0,6}".prop_map(String::into_bytes),
        2 => Just(b"\n".to_vec()),
        2 => prop::sample::select(vec![&b"\r"[..], b"\r\n", b"\x08", b"\t", b"\0", b"\x07", b"\x7f", b"\x18", b"\x1a"]).prop_map(<[u8]>::to_vec),
        3 => "[\\[\\]P_^X(#=]?[0-9;:?<>!]{0,4}[ -/]?[@-~]?".prop_map(|body| format!("\x1b{body}").into_bytes()),
        2 => prop::sample::select(vec!["\x1b[2K", "\x1b[K", "\x1b[1G", "\x1b[G", "\x1b[1K", "\x1b\\", "\x1b[0;1K", "\u{202e}", "\u{85}", "\u{200b}", "é", "漢", "\u{e0041}"]).prop_map(|s| s.as_bytes().to_vec()),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn it_agrees_with_a_real_parser(bytes in terminal_bytes()) {
        // The parser ends a DCS at this byte, also in the middle of a UTF-8 character.
        prop_assume!(!bytes.contains(&0x9c));
        let ours = sanitize(&bytes);
        prop_assert_eq!(ours, reference(&bytes), "{:?}", String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn invalid_bytes_are_replaced_as_the_standard_library_does(
        bytes in prop::collection::vec(prop_oneof![0x20_u8..0x7f, 0xa0_u8..=0xff], 0..60)
    ) {
        prop_assert_eq!(sanitize(&bytes), String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn every_chunking_gives_the_same(bytes in prop_oneof![terminal_bytes(), prop::collection::vec(any::<u8>(), 0..200)],
                                     sizes in prop::collection::vec(1_usize..9, 0..12)) {
        prop_assert_eq!(in_chunks(&bytes, &sizes), in_chunks(&bytes, &[]));
    }

    #[test]
    fn lines_can_be_sanitised_apart(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let apart: String = bytes.split_inclusive(|&b| b == b'\n').map(sanitize).collect();
        prop_assert_eq!(sanitize(&bytes), apart);
    }

    #[test]
    fn nothing_dangerous_is_left(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for c in sanitize(&bytes).chars() {
            prop_assert!(c == '\n' || c == '\t' || !c.is_control(), "{c:?}");
        }
    }
}
