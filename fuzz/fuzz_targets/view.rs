//! Any bytes as a log, in any pieces, seen through any budget: bounded, masked, and everything is
//! accounted for.

#![no_main]

use std::ops::Range;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use umbo_view::mask::Masker;
use umbo_view::{
    Budget, Counts, Find, Follower, Memory, Part, Reader, Regex, Shape, Stream, ViewOptions,
    compare, count_tokens,
};

const SECRET: &str = "hunter2-hunter2";

static MASKER: LazyLock<Masker> = LazyLock::new(|| {
    let secrets = [("A_PASSWORD", SECRET)];
    Masker::builder().environment(secrets).build().expect("one secret is no problem")
});
static PATTERN: LazyLock<Regex> = LazyLock::new(|| Regex::new("e|1").expect("a plain pattern"));

/// The first bytes say how, the others are the log.
struct Input<'a> {
    head: [u8; 8],
    log: &'a [u8],
}

impl<'a> Input<'a> {
    fn new(data: &'a [u8]) -> Option<Self> {
        let (head, log) = data.split_first_chunk::<8>()?;
        Some(Self { head: *head, log })
    }

    fn budget(&self) -> Budget {
        let [tokens, bytes, lines, line_bytes, ..] = self.head.map(u64::from);
        Budget {
            tokens: tokens * 16,
            bytes: bytes * 32,
            lines: lines * 2,
            line_bytes: line_bytes * 8,
        }
    }

    fn shape(&self) -> Shape {
        [Shape::HeadTailErrors, Shape::Head, Shape::Tail, Shape::Middle]
            [usize::from(self.head[4] % 4)]
    }

    /// The pieces the log is written in.
    fn chunks(&self) -> impl Iterator<Item = &'a [u8]> {
        self.log.chunks(usize::from(self.head[5]).max(1))
    }

    fn memory(&self) -> Memory {
        let mut memory = Memory::default();
        for (index, chunk) in self.chunks().enumerate() {
            let stream = if index % 3 == 0 { Stream::Stderr } else { Stream::Stdout };
            memory.append(stream, index as u64 * 10, chunk);
        }
        if self.head[6] & 1 == 1 { memory.open() } else { memory }
    }

    fn gap(&self) -> Range<u64> {
        let length = self.log.len() as u64;
        let at = |part: u8| u64::from(part) * length / 255;
        at(self.head[6].min(self.head[7]))..at(self.head[6].max(self.head[7]))
    }
}

fn check_text(text: &str, budget: &Budget) {
    assert!(text.len() as u64 <= budget.bytes);
    assert!(count_tokens(text) <= budget.tokens);
    assert!(text.lines().count() as u64 <= budget.lines);
    assert!(text.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
    assert!(!text.contains(SECRET));
}

/// Parts follow each other without a hole, and the counts are theirs.
fn check_parts(parts: &[Part], counts: &Counts, range: &Range<u64>) {
    let mut at = range.start;
    let mut hidden = 0;
    for part in parts {
        let offset = part.offset();
        if matches!(part, Part::Clamped { .. }) {
            assert_eq!(offset.end, at);
            continue;
        }
        assert_eq!(offset.start, at);
        at = offset.end;
        if matches!(part, Part::Omitted { .. } | Part::Lost { .. } | Part::Folded { .. }) {
            hidden += offset.end - offset.start;
        }
    }
    assert_eq!(at, range.end);
    assert_eq!(counts.shown_bytes + hidden, counts.total_bytes);
    assert_eq!(counts.total_bytes, range.end - range.start);
}

fn views(input: &Input<'_>, memory: &Memory) {
    let reader = Reader::new(memory).mask(&MASKER);
    let budget = input.budget();
    for minimize in [false, true] {
        let options =
            ViewOptions { budget, shape: input.shape(), minimize, ..ViewOptions::default() };
        let view = reader.view(&options).expect("memory can be read");
        check_text(&view.to_text(), &budget);
        check_parts(&view.parts, &view.counts, &reader.range());
        assert_eq!(reader.view(&options).expect("memory can be read"), view, "asked twice");
    }
    let lines = u64::from(input.head[7]);
    let find = Find { before: 1, after: 2, budget, ..Find::default() };
    for page in [
        reader.tail(lines, &budget),
        reader.head(lines, &budget),
        reader.lines(lines..=lines + 5, &budget),
        reader.grep(&PATTERN, &find),
        reader.errors(&find),
        reader.page(lines, &budget),
    ] {
        let page = page.expect("memory can be read");
        check_text(&page.to_text(), &budget);
        check_parts(&page.parts, &page.counts, &page.offset);
    }
}

/// Pages one after the other end, whatever their size.
fn pages(input: &Input<'_>, memory: &Memory) {
    let reader = Reader::new(memory).mask(&MASKER);
    let budget = input.budget();
    let mut from = 0;
    for _ in 0..=input.log.len() {
        let page = reader.page(from, &budget).expect("memory can be read");
        assert_eq!(page.offset.start, from);
        if page.at_end || page.next_offset == from {
            return;
        }
        assert!(page.next_offset > from);
        from = page.next_offset;
    }
    panic!("more pages than bytes");
}

/// A log read while it grows says what it says when it is whole.
fn following(input: &Input<'_>) {
    let mut growing = Memory::default().open();
    let mut follower = Follower::new(0);
    let mut text = String::new();
    for chunk in input.chunks() {
        growing.append(Stream::Stdout, 0, chunk);
        let reader = Reader::new(&growing).mask(&MASKER);
        text += &follower.next(&reader, &Budget::UNLIMITED).expect("memory can be read").to_text();
    }
    growing.close();
    let reader = Reader::new(&growing).mask(&MASKER);
    text += &follower.next(&reader, &Budget::UNLIMITED).expect("memory can be read").to_text();
    assert_eq!(text, MASKER.mask_text(&umbo_view::sanitize::sanitize(input.log)));
}

/// A run compared with itself is the same; with half of it, everything still adds up.
fn comparing(input: &Input<'_>, memory: &Memory) {
    let reader = Reader::new(memory).mask(&MASKER);
    let same = compare(&reader, &reader, u64::MAX).expect("memory can be read");
    assert!(same.is_same());
    let half = Memory::new(&input.log[..input.log.len() / 2]);
    let half = Reader::new(&half).mask(&MASKER);
    let budget = input.budget();
    let text = compare(&half, &reader, u64::MAX).expect("memory can be read").to_text(&budget);
    check_text(&text, &budget);
}

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::new(data) else { return };
    let memory = input.memory();
    views(&input, &memory);
    views(&input, &memory.clone().with_gap(input.gap()));
    pages(&input, &memory);
    following(&input);
    comparing(&input, &memory);
});
