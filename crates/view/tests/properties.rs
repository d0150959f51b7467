//! Any bytes, any chunking, any budget: what always holds.

#![allow(clippy::unwrap_used, reason = "only functions marked as tests are known to be tests")]

use std::sync::LazyLock;

use proptest::prelude::*;
use umbo_view::mask::Masker;
use umbo_view::{
    Budget, Counts, Find, Follower, Memory, Part, Reader, Regex, Shape, Stream, View, ViewOptions,
    count_tokens,
};

const SECRET: &str = "hunter2-hunter2";

fn masker() -> &'static Masker {
    // Compiling the formats takes longer than a case.
    static MASKER: LazyLock<Masker> =
        LazyLock::new(|| Masker::builder().environment([("A_PASSWORD", SECRET)]).build().unwrap());
    &MASKER
}

/// Output with lines, colours, progress bars, garbage, errors and secrets, in runs of streams.
fn log() -> impl Strategy<Value = Memory> {
    let piece = prop_oneof![
        4 => "[ -~]{0,30}\n".prop_map(String::into_bytes),
        2 => "[a-z]{0,6}".prop_map(String::into_bytes),
        2 => Just(SECRET.as_bytes().to_vec()),
        1 => Just(format!("{SECRET}\n")).prop_map(String::into_bytes),
        1 => Just(b"hunter2-\x1b[31mhunter2".to_vec()),
        1 => Just(b"error: it broke\n".to_vec()),
        1 => Just(b"10%\r20%\r100%\n".to_vec()),
        1 => "\\PC{0,8}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..12),
        1 => (1_usize..400).prop_map(|n| vec![b'x'; n * 10]),
        1 => Just(b"\n".to_vec()),
        1 => Just(b"   Compiling a v1.0.0\n".repeat(6)),
    ];
    let stream = prop::sample::select(vec![Stream::Stdout, Stream::Stderr]);
    (prop::collection::vec((piece, stream), 0..60), any::<bool>(), 1_usize..4).prop_map(
        |(pieces, open, repeat)| {
            let mut memory = Memory::default();
            let mut time = 0;
            for _ in 0..repeat {
                for (bytes, stream) in &pieces {
                    time += 10;
                    memory.append(*stream, time, bytes);
                }
            }
            if open { memory.open() } else { memory }
        },
    )
}

fn budget() -> impl Strategy<Value = Budget> {
    let size = |most: u64| prop_oneof![0..most / 20, 0..most];
    (size(4_000), size(12_000), size(300), size(3_000))
        .prop_map(|(tokens, bytes, lines, line_bytes)| Budget { tokens, bytes, lines, line_bytes })
}

fn shape() -> impl Strategy<Value = Shape> {
    prop::sample::select(vec![Shape::HeadTailErrors, Shape::Head, Shape::Tail, Shape::Middle])
}

fn check_text(text: &str, budget: &Budget) -> Result<(), TestCaseError> {
    prop_assert!(text.len() as u64 <= budget.bytes, "{} of {} bytes", text.len(), budget.bytes);
    prop_assert!(count_tokens(text) <= budget.tokens);
    prop_assert!(text.lines().count() as u64 <= budget.lines);
    prop_assert!(text.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
    Ok(())
}

/// Offsets follow each other, and everything adds up.
fn check_parts(
    parts: &[Part],
    counts: &Counts,
    range: std::ops::Range<u64>,
) -> Result<(), TestCaseError> {
    let mut at = range.start;
    let (mut omitted, mut lost, mut folded, mut clamped) = (0, 0, 0, 0);
    let mut omitted_lines = Some(0);
    for part in parts {
        let offset = part.offset();
        if let Part::Clamped { bytes, .. } = part {
            clamped += bytes;
            prop_assert_eq!(offset.end, at);
            continue;
        }
        prop_assert_eq!(offset.start, at);
        at = offset.end;
        let length = offset.end - offset.start;
        match part {
            Part::Omitted { bytes, lines, .. } => {
                prop_assert_eq!(*bytes, length);
                omitted += bytes;
                omitted_lines = omitted_lines.zip(*lines).map(|(a, b)| a + b);
            }
            Part::Lost { bytes, .. } => {
                prop_assert_eq!(*bytes, length);
                lost += bytes;
            }
            Part::Folded { bytes, .. } => {
                prop_assert_eq!(*bytes, length);
                folded += bytes;
            }
            _ => {}
        }
    }
    prop_assert_eq!(at, range.end);
    prop_assert_eq!(counts.total_bytes, range.end - range.start);
    prop_assert_eq!(counts.omitted_bytes, omitted);
    prop_assert_eq!(counts.lost_bytes, lost);
    prop_assert_eq!(counts.folded_bytes, folded);
    prop_assert_eq!(counts.clamped_bytes, clamped);
    prop_assert_eq!(counts.shown_bytes + omitted + lost + folded, counts.total_bytes);
    prop_assert_eq!(counts.omitted_lines, omitted_lines);
    Ok(())
}

fn raw(memory: &Memory) -> Vec<u8> {
    use umbo_view::Source;
    let mut bytes = vec![0; usize::try_from(memory.len()).unwrap()];
    memory.read_at(0, &mut bytes).unwrap();
    bytes
}

fn check_view(
    view: &View,
    options: &ViewOptions,
    range: std::ops::Range<u64>,
) -> Result<(), TestCaseError> {
    check_text(&view.to_text(), &options.budget)?;
    check_parts(&view.parts, &view.counts, range)?;
    prop_assert_eq!(view.truncated, view.counts.omitted_bytes + view.counts.clamped_bytes > 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn a_view_is_bounded_exact_and_masked(
        memory in log(), budget in budget(), shape in shape(), minimize in any::<bool>(),
        stream in prop::option::of(prop::sample::select(vec![Stream::Stdout, Stream::Stderr])),
    ) {
        let masker = masker();
        let options = ViewOptions { budget, shape, minimize, ..ViewOptions::default() };
        let mut reader = Reader::new(&memory).mask(masker);
        if let Some(stream) = stream {
            reader = reader.stream(stream);
        }
        // Lines are counted the same whether they are masked or not, also in a part of the log.
        let third = reader.range().end / 3..reader.range().end / 2;
        let plain = Reader::new(&memory).offsets(third.clone()).view(&options).unwrap();
        let hiding = Reader::new(&memory).mask(masker).offsets(third).view(&options).unwrap();
        prop_assert_eq!(plain.counts.total_lines, hiding.counts.total_lines);
        let view = reader.view(&options).unwrap();
        check_view(&view, &options, reader.range())?;
        prop_assert!(!view.to_text().contains(SECRET));
        if stream.is_none() {
            let bytes = raw(&memory);
            let newlines = bytes.split(|&b| b == b'\n').count() - 1;
            let lines = newlines + usize::from(bytes.last().is_some_and(|&b| b != b'\n'));
            prop_assert_eq!(view.counts.total_lines, Some(lines as u64));
        }
        prop_assert_eq!(reader.view(&options).unwrap(), view);
    }

    #[test]
    fn a_view_is_the_same_however_the_log_was_written(
        memory in log(), budget in budget(), size in 1_usize..200,
    ) {
        let bytes = raw(&memory);
        let mut other = Memory::default();
        for (time, chunk) in (0..).zip(bytes.chunks(size)) {
            other.append(Stream::Stdout, time, chunk);
        }
        let options = ViewOptions { budget, ..ViewOptions::default() };
        let whole = Memory::new(bytes);
        let view = Reader::new(&whole).view(&options).unwrap();
        prop_assert_eq!(Reader::new(&other).view(&options).unwrap(), view);
    }

    #[test]
    fn a_view_with_a_hole_adds_up(
        memory in log(), budget in budget(), shape in shape(), a in 0.0..1.0_f64, b in 0.0..1.0_f64,
        minimize in any::<bool>(),
    ) {
        let length = raw(&memory).len();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let at = |part: f64| (part * length as f64) as u64;
        let gap = at(a.min(b))..at(a.max(b));
        let lost = gap.end - gap.start;
        let memory = memory.with_gap(gap);
        let masker = masker();
        let options = ViewOptions { budget, shape, minimize, ..ViewOptions::default() };
        let reader = Reader::new(&memory).mask(masker);
        let view = reader.view(&options).unwrap();
        check_view(&view, &options, reader.range())?;
        prop_assert_eq!(view.counts.lost_bytes, lost);
        let mut from = 0;
        for _ in 0..200 {
            let page = reader.page(from, &Budget::default()).unwrap();
            check_parts(&page.parts, &page.counts, page.offset.clone())?;
            if page.at_end || page.next_offset == from {
                break;
            }
            from = page.next_offset;
        }
    }

    #[test]
    fn pages_of_any_size_show_everything_once_and_no_secret(
        memory in log(), budget in budget(), reader_stream in any::<bool>(),
    ) {
        let masker = masker();
        let mut reader = Reader::new(&memory).mask(masker);
        if reader_stream {
            reader = reader.stream(Stream::Stderr);
        }
        let mut from = 0;
        loop {
            let page = reader.page(from, &budget).unwrap();
            check_text(&page.to_text(), &budget)?;
            prop_assert_eq!(page.offset.start, from);
            check_parts(&page.parts, &page.counts, page.offset.clone())?;
            prop_assert!(!page.to_text().contains(SECRET));
            if page.at_end || page.next_offset == from {
                // Only an unfinished line, a secret that may go on in the next one, or no room at all may
                // stop the reading; the first two only as long as the log grows.
                let room = budget.bytes > 0 && budget.tokens > 0 && budget.lines > 0;
                let mut ended = memory.clone();
                ended.close();
                let mut whole = Reader::new(&ended).mask(masker);
                if reader_stream {
                    whole = whole.stream(Stream::Stderr);
                }
                let after = whole.page(from, &budget).unwrap();
                prop_assert!(
                    page.at_end || !room || after.at_end || after.next_offset > from,
                    "{:?} {page:?}",
                    String::from_utf8_lossy(&raw(&memory))
                );
                break;
            }
            from = page.next_offset;
        }
    }

    #[test]
    fn pages_without_limits_are_the_sanitised_log(memory in log(), bytes in 1_100_u64..9_000) {
        let mut memory = memory;
        memory.close();
        let budget = Budget { bytes, tokens: u64::MAX, lines: u64::MAX, line_bytes: u64::MAX };
        let reader = Reader::new(&memory);
        let mut text = String::new();
        let mut from = 0;
        let mut clamped = 0;
        loop {
            let page = reader.page(from, &budget).unwrap();
            text += &page.parts.iter().map(|part| match part {
                Part::Text { text, .. } => text.as_str(),
                _ => "",
            }).collect::<String>();
            clamped += page.counts.clamped_bytes;
            if page.at_end {
                break;
            }
            from = page.next_offset;
        }
        if clamped == 0 {
            prop_assert_eq!(text, umbo_view::sanitize::sanitize(&raw(&memory)));
        }
    }

    #[test]
    fn pages_of_a_broken_secret_are_those_of_the_whole(
        before in "[ a-z\n]{0,60}", after in "[ a-z\n]{0,60}", width in 16_usize..70,
        lines in 1_u64..4,
    ) {
        // The secret in the middle of a longer text in base64.
        let encoded = "MDEyMzQ1Njc4OSBodW50ZXIyLWh1bnRlcjIgYW5kIG1vcmUgb2YgaXQsIHNvIHRoYXQgaXQgdGFrZXMgbGluZXM=";
        let broken = encoded.as_bytes().chunks(width).collect::<Vec<_>>().join(&b"\n"[..]);
        let text = [before.as_bytes(), &broken, after.as_bytes()].concat();
        let mut memory = Memory::default();
        memory.append(Stream::Stdout, 0, &text);
        let reader = Reader::new(&memory).mask(masker());
        let budget = Budget { lines, ..Budget::UNLIMITED };
        let (mut shown, mut from) = (String::new(), 0);
        loop {
            let page = reader.page(from, &budget).unwrap();
            shown.extend(page.parts.iter().map(|part| match part {
                Part::Text { text, .. } => text.as_str(),
                _ => "",
            }));
            if page.at_end {
                break;
            }
            from = page.next_offset;
        }
        let bare = shown.replace('\n', "");
        prop_assert!(!bare.contains("ZXIyLWh1bnRl"), "{}", shown);
        prop_assert_eq!(shown, masker().mask_text(&String::from_utf8(text).unwrap()));
    }

    #[test]
    fn following_in_any_chunks_gives_the_same(memory in log(), cuts in prop::collection::vec(1_usize..40, 1..8)) {
        let bytes = raw(&memory);
        let masker = masker();
        let budget = Budget { line_bytes: u64::MAX, bytes: u64::MAX, tokens: u64::MAX, lines: u64::MAX };
        let mut growing = Memory::default().open();
        let mut follower = Follower::new(0);
        let mut text = String::new();
        let mut rest = &bytes[..];
        for size in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, later) = rest.split_at((*size).min(rest.len()));
            growing.append(Stream::Stdout, 0, chunk);
            rest = later;
            text += &follower.next(&Reader::new(&growing).mask(masker), &budget).unwrap().to_text();
        }
        growing.close();
        text += &follower.next(&Reader::new(&growing).mask(masker), &budget).unwrap().to_text();
        let whole = masker.mask_text(&umbo_view::sanitize::sanitize(&bytes));
        prop_assert_eq!(text, whole);
    }

    #[test]
    fn searches_are_bounded_and_exact(memory in log(), budget in budget(), before in 0_usize..4, after in 0_usize..4) {
        let masker = masker();
        let reader = Reader::new(&memory).mask(masker);
        let pattern = Regex::new("e|1").unwrap();
        let mut find = Find { before, after, budget, ..Find::default() };
        for _ in 0..300 {
            let page = reader.grep(&pattern, &find).unwrap();
            check_text(&page.to_text(), &budget)?;
            check_parts(&page.parts, &page.counts, page.offset.clone())?;
            prop_assert!(!page.to_text().contains(SECRET));
            if page.at_end || page.next_offset == find.from {
                break;
            }
            find.from = page.next_offset;
        }
    }

    #[test]
    fn errors_are_paged_to_their_end(memory in log(), budget in budget(), before in 0_usize..4) {
        let reader = Reader::new(&memory).mask(masker());
        let mut find = Find { before, after: 1, budget, ..Find::default() };
        for _ in 0..40 {
            let page = reader.errors(&find).unwrap();
            check_text(&page.to_text(), &budget)?;
            check_parts(&page.parts, &page.counts, page.offset.clone())?;
            prop_assert!(!page.to_text().contains(SECRET));
            prop_assert_eq!(page.next_offset - find.from, page.matches);
            if page.at_end || page.next_offset == find.from {
                break;
            }
            find.from = page.next_offset;
        }
    }

    #[test]
    fn tails_and_heads_are_bounded(memory in log(), budget in budget(), lines in 0_u64..40) {
        let masker = masker();
        let reader = Reader::new(&memory).mask(masker);
        for page in [reader.tail(lines, &budget).unwrap(), reader.head(lines, &budget).unwrap(),
                     reader.lines(lines..=lines + 5, &budget).unwrap()] {
            check_text(&page.to_text(), &budget)?;
            check_parts(&page.parts, &page.counts, page.offset.clone())?;
            prop_assert!(page.counts.shown_lines <= lines.max(6));
            prop_assert!(!page.to_text().contains(SECRET));
        }
    }

    #[test]
    fn no_border_anywhere_leaks_a_piece_of_a_secret(
        pieces in prop::collection::vec(prop_oneof![
            3 => "[0-9 ]{0,20}\n?".prop_map(String::from),
            2 => Just(SECRET.to_owned()),
            1 => Just("hunter2\x1b[1m-hun\x1b[0mter2".to_owned()),
            1 => (1_usize..30).prop_map(|n| "9".repeat(n * 1_000)),
        ], 1..30),
        a in 0.0..1.0_f64, b in 0.0..1.0_f64, gap in any::<bool>(), bytes in 100_u64..4_000,
    ) {
        let text = pieces.concat();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let at = |part: f64| (part * text.len() as f64) as u64;
        let range = at(a.min(b))..at(a.max(b));
        let mut memory = Memory::new(text.as_str());
        let budget = Budget { bytes, ..Budget::default() };
        let mut texts = Vec::new();
        if gap {
            memory = memory.with_gap(range.clone());
        }
        let reader = Reader::new(&memory).mask(masker());
        let reader = if gap { reader } else { reader.offsets(range.clone()) };
        texts.push(reader.page(range.start, &budget).unwrap().to_text());
        texts.push(reader.tail(5, &budget).unwrap().to_text());
        texts.push(reader.view(&ViewOptions { budget, ..ViewOptions::default() }).unwrap().to_text());
        for text in texts {
            // Four characters are too few to tell; five give something away.
            for start in 0..=SECRET.len() - 5 {
                prop_assert!(!text.contains(&SECRET[start..start + 5]), "{}", text);
            }
        }
    }
}
