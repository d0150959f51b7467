//! Logs of gigabytes, lines of megabytes: the same answers, and little reading for them.

#![allow(clippy::unwrap_used, reason = "only functions marked as tests are known to be tests")]

use std::cell::Cell;
use std::io;
use std::ops::Range;

use proptest::prelude::*;
use umbo_view::mask::Masker;
use umbo_view::{Budget, Memory, Part, Reader, Regex, Run, Shape, Source, Stream, ViewOptions};

const GIB: u64 = 1 << 30;
/// Every line of the synthetic log has this many bytes.
const LINE: u64 = 64;

/// A log that is computed when it is read, and counts how much of it was.
struct Synthetic {
    len: u64,
    newlines: bool,
    read: Cell<u64>,
}

impl Synthetic {
    fn new(len: u64) -> Self {
        Self { len, newlines: true, read: Cell::new(0) }
    }

    fn byte(&self, at: u64) -> u8 {
        if self.newlines && at % LINE == LINE - 1 {
            return b'\n';
        }
        let number = at / LINE;
        match at % LINE {
            // The number of the line in hexadecimal, least digit first.
            column @ 0..12 => b"0123456789abcdef"[(number >> (4 * column) & 15) as usize],
            _ => b'.',
        }
    }
}

impl Source for Synthetic {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let n = usize::try_from(self.len.saturating_sub(offset)).unwrap().min(buf.len());
        for (at, byte) in (offset..).zip(&mut buf[..n]) {
            *byte = self.byte(at);
        }
        self.read.set(self.read.get() + n as u64);
        Ok(n)
    }

    fn runs(&self, _from: u64, _to: u64) -> io::Result<Vec<Run>> {
        Ok(vec![Run { start: 0, stream: Stream::Stdout, time: 0 }])
    }

    fn gap(&self) -> Option<Range<u64>> {
        None
    }
}

#[test]
fn a_tail_of_four_gibibytes_reads_no_more_than_one_of_four_kibibytes_needs() {
    let masker = Masker::builder().build().unwrap();
    let huge = Synthetic::new(4 * GIB);
    let page = Reader::new(&huge).mask(&masker).tail(20, &Budget::default()).unwrap();
    assert_eq!(page.counts.shown_lines, 20);
    assert_eq!(page.offset, 4 * GIB - 20 * LINE..4 * GIB);
    assert!(huge.read.get() < 128 * 1024, "{} bytes read", huge.read.get());
}

#[test]
fn a_view_of_four_gibibytes_has_exact_ends_and_says_what_it_did_not_count() {
    let huge = Synthetic::new(4 * GIB);
    let options =
        ViewOptions { scan_bytes: 1 << 20, count_bytes: 1 << 20, ..ViewOptions::default() };
    let view = Reader::new(&huge).view(&options).unwrap();
    assert!(view.to_text().starts_with("000000000000...."));
    assert!(view.to_text().contains("lines not counted"));
    assert_eq!(view.counts.total_lines, None);
    assert_eq!(view.counts.omitted_lines, None);
    let scan = view.errors.unwrap();
    assert!(!scan.complete && scan.scanned_bytes <= 1 << 20);
    assert!(huge.read.get() < 4 << 20, "{} bytes read", huge.read.get());
    let Some(Part::Text { offset, .. }) = view.parts.last() else { panic!() };
    assert_eq!(offset.end, 4 * GIB);
}

#[test]
fn a_page_in_the_middle_of_four_gibibytes_is_cheap() {
    let huge = Synthetic::new(4 * GIB);
    let page = Reader::new(&huge).page(2 * GIB + 5, &Budget::default()).unwrap();
    assert_eq!(page.offset.start, 2 * GIB);
    assert!(huge.read.get() < 512 * 1024);
}

#[test]
fn a_line_of_a_hundred_megabytes_is_cut_and_told() {
    let long = Synthetic { newlines: false, ..Synthetic::new(100_000_000) };
    for shape in [Shape::HeadTailErrors, Shape::Head, Shape::Tail, Shape::Middle] {
        let options = ViewOptions {
            shape,
            scan_bytes: 1 << 20,
            count_bytes: 1 << 20,
            ..ViewOptions::default()
        };
        let view = Reader::new(&long).view(&options).unwrap();
        let text = view.to_text();
        assert!(text.len() < 51_200);
        assert!(text.contains("more bytes in this line"), "{shape:?}");
        let counts = view.counts;
        assert_eq!(counts.shown_bytes + counts.omitted_bytes, 100_000_000);
    }
    long.read.set(0);
    let tail = Reader::new(&long).tail(1, &Budget::default()).unwrap();
    assert!(tail.counts.shown_bytes > 0);
    assert!(long.read.get() < 64 << 20, "{}", long.read.get());
}

#[test]
fn pieces_of_an_overlong_line_are_the_same_from_both_ends() {
    let mut bytes = "ab\u{20ac}d".repeat(200_000).into_bytes();
    bytes.extend_from_slice(b"\nend\n");
    let memory = Memory::new(bytes.clone());
    let reader = Reader::new(&memory);
    let unlimited = Budget::UNLIMITED;
    let text = reader.page(0, &unlimited).unwrap().to_text();
    assert_eq!(text.as_bytes(), bytes, "no character is lost where a line is cut");
    assert_eq!(reader.tail(2, &unlimited).unwrap().to_text(), text);
    let mut from = bytes.len() as u64 / 2;
    let page = reader.page(from, &unlimited).unwrap();
    from = page.offset.start;
    let before = Reader::new(&memory).offsets(0..from).page(0, &unlimited).unwrap();
    assert_eq!(before.to_text() + &page.to_text(), text);
}

#[test]
fn a_secret_across_the_pieces_of_an_overlong_line_is_masked() {
    let secret = "split-across-a-border";
    let masker = Masker::builder().environment([("A_TOKEN", secret)]).build().unwrap();
    for shift in 0..secret.len() {
        let mut text = "x".repeat(256 * 1024 - shift);
        text += secret;
        text += &"y".repeat(300_000);
        let memory = Memory::new(text.as_str());
        let budget = Budget { bytes: u64::MAX, tokens: u64::MAX, ..Budget::UNLIMITED };
        let reader = Reader::new(&memory).mask(&masker);
        let shown = reader.page(0, &budget).unwrap().to_text();
        assert_eq!(shown, masker.mask_text(&text), "shift {shift}");
        let second = reader.page(256 * 1024 + 1, &budget).unwrap().to_text();
        assert!(!second.contains("border") && !second.contains("across"), "shift {shift}");
    }
}

#[test]
fn lines_and_matches_far_inside_are_found() {
    let log = Synthetic::new(8 << 20);
    let reader = Reader::new(&log);
    let page = reader.lines(100_000..=100_001, &Budget::default()).unwrap();
    assert_eq!(page.offset, 99_999 * LINE..100_001 * LINE);
    let number: String = format!("{:x}", 100_000).chars().rev().collect();
    let pattern = Regex::new(&format!("^{number}0")).unwrap();
    let found = reader
        .grep(&pattern, &umbo_view::Find { before: 0, after: 0, ..Default::default() })
        .unwrap();
    assert_eq!(found.matches, 1);
    assert_eq!(found.counts.total_lines, Some((8 << 20) / LINE));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn borders_are_the_same_from_every_side(
        lengths in prop::collection::vec(prop_oneof![
            4 => 0_usize..100,
            2 => 262_100_usize..262_190,
            1 => 130_000_usize..140_000,
            1 => 520_000_usize..530_000,
        ], 1..7),
        ended in any::<bool>(),
        stderr in any::<bool>(),
        probes in prop::collection::vec(0.0..1.0_f64, 8),
    ) {
        let mut memory = Memory::default();
        for (index, length) in lengths.iter().enumerate() {
            let mut line = "é".repeat(length / 2).into_bytes();
            if ended || index + 1 < lengths.len() {
                line.push(b'\n');
            }
            memory.append(if index % 3 == 2 { Stream::Stderr } else { Stream::Stdout }, 0, &line);
        }
        let mut reader = Reader::new(&memory);
        if stderr {
            reader = reader.stream(Stream::Stderr);
        }
        let one = Budget { lines: 1, line_bytes: 8, ..Budget::default() };
        let mut borders = vec![0];
        let mut invalid = 0;
        loop {
            let page = reader.page(borders[borders.len() - 1], &one).unwrap();
            invalid += page.counts.changes.invalid_utf8;
            prop_assert!(page.offset.end - page.offset.start < 2 * 262_144 || stderr);
            borders.push(page.next_offset);
            if page.at_end {
                break;
            }
        }
        prop_assert_eq!(invalid, 0, "no character is cut");
        let end = reader.range().end;
        for probe in probes {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
            let at = (probe * end as f64) as u64;
            let start = reader.page(at, &one).unwrap().offset.start;
            let expected = borders[borders.partition_point(|&border| border <= at) - 1];
            prop_assert_eq!(start, expected, "page at {}", at);
        }
        for lines in 0..4 {
            let start = reader.tail(lines, &Budget { line_bytes: 8, ..Budget::default() }).unwrap().offset.start;
            prop_assert!(borders.contains(&start), "tail of {} starts at {}", lines, start);
        }
        let view = reader.view(&ViewOptions::default()).unwrap();
        let counts = view.counts;
        let lines = if stderr {
            counts.total_lines.unwrap()
        } else {
            (lengths.len() - usize::from(!ended && lengths[lengths.len() - 1] < 2)) as u64
        };
        prop_assert_eq!(counts.total_lines, Some(lines));
    }
}
