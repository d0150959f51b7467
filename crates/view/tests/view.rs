//! Views: shapes, budgets, notices, counts, edge cases.

#![allow(clippy::unwrap_used, reason = "only functions marked as tests are known to be tests")]

use umbo_view::mask::Masker;
use umbo_view::{
    Budget, Counts, Memory, NO_OUTPUT, NO_VISIBLE_OUTPUT, Part, Reader, Shape, Stream, View,
    ViewOptions, count_tokens,
};

fn numbered(lines: std::ops::RangeInclusive<u32>) -> String {
    let lines: Vec<String> = lines.map(|n| format!("line {n}\n")).collect();
    lines.concat()
}

fn view(text: &str, options: &ViewOptions) -> View {
    let memory = Memory::new(text);
    let view = Reader::new(&memory).view(options).unwrap();
    check(&view, &options.budget);
    view
}

/// What holds for every view.
fn check(view: &View, budget: &Budget) {
    let text = view.to_text();
    assert!(text.len() as u64 <= budget.bytes, "{} bytes\n{text}", text.len());
    assert!(count_tokens(&text) <= budget.tokens, "{} tokens\n{text}", count_tokens(&text));
    assert!(text.lines().count() as u64 <= budget.lines, "{} lines", text.lines().count());
    assert_eq!(view.tokens, count_tokens(&text));
    let Counts { total_bytes, shown_bytes, omitted_bytes, folded_bytes, lost_bytes, .. } =
        view.counts;
    assert_eq!(shown_bytes + omitted_bytes + folded_bytes + lost_bytes, total_bytes);
}

fn lines_budget(lines: u64) -> ViewOptions {
    ViewOptions { budget: Budget { lines, ..Budget::default() }, ..ViewOptions::default() }
}

#[test]
fn what_fits_is_shown_whole() {
    let view = view("one\ntwo\n", &ViewOptions::default());
    assert_eq!(view.to_text(), "one\ntwo\n");
    assert!(!view.truncated);
    assert_eq!(view.parts, [Part::Text { offset: 0..8, text: "one\ntwo\n".to_owned() }]);
    assert_eq!(view.counts.total_lines, Some(2));
    assert_eq!(view.original_tokens, view.tokens);
}

#[test]
fn lines_that_all_fit_are_whole_however_small_the_budget_is() {
    let line =
        "warning: this is as long as lines of compilers are, and some are longer than that\n";
    let text = line.repeat(4);
    let tokens = count_tokens(&text);
    for tokens in [tokens, tokens + 1, 100, 300, 512, 1000] {
        let budget = Budget { tokens, ..Budget::default() };
        let view = view(&text, &ViewOptions { budget, ..ViewOptions::default() });
        assert_eq!((view.to_text(), view.truncated), (text.clone(), false), "{tokens}");
    }
    // Where they do not, some are whole, and some of the end is there however little fits.
    let text = format!("{}last\n", line.repeat(400));
    for (tokens, whole) in [(512, 4), (300, 3), (100, 0), (60, 0), (6, 0)] {
        let budget = Budget { tokens, ..Budget::default() };
        let view = view(&text, &ViewOptions { budget, ..ViewOptions::default() });
        let text = view.to_text();
        assert!(
            text.matches(line).count() >= whole && text.ends_with("last\n"),
            "{tokens}: {text}"
        );
    }
}

#[test]
fn nothing_says_so() {
    assert_eq!(view("", &ViewOptions::default()).to_text(), NO_OUTPUT);
    let blank = view("\x1b[31m\x1b[0m", &ViewOptions::default());
    assert_eq!(blank.to_text(), NO_VISIBLE_OUTPUT);
    assert_eq!(view("\n", &ViewOptions::default()).to_text(), "\n");
    let memory = Memory::new("stdout only\n");
    let stderr = Reader::new(&memory).stream(Stream::Stderr).view(&ViewOptions::default());
    assert_eq!(stderr.unwrap().to_text(), NO_OUTPUT);
}

#[test]
fn the_head_is_exact_and_the_rest_is_told() {
    let text = numbered(1..=100);
    let options = ViewOptions { shape: Shape::Head, ..lines_budget(20) };
    let view = view(&text, &options);
    let shown = numbered(1..=19);
    let offset = shown.len() as u64..text.len() as u64;
    let bytes = offset.end - offset.start;
    assert_eq!(view.parts[1], Part::Omitted { offset: offset.clone(), bytes, lines: Some(81) });
    let notice = format!(
        "[umbo: omitted 81 lines, {bytes} bytes; read offset {}..{}]\n",
        offset.start, offset.end
    );
    assert_eq!(view.to_text(), shown + &notice);
    assert_eq!(view.counts.total_lines, Some(100));
    assert!(view.original_tokens > view.tokens);
}

#[test]
fn the_tail_is_exact() {
    let options = ViewOptions { shape: Shape::Tail, ..lines_budget(20) };
    let view = view(&numbered(1..=100), &options);
    let text = view.to_text();
    assert!(text.starts_with("[umbo: omitted 81 lines, "));
    assert!(text.ends_with(&numbered(82..=100)));
}

#[test]
fn a_middle_cut_keeps_both_ends() {
    let options = ViewOptions { shape: Shape::Middle, ..lines_budget(21) };
    let view = view(&numbered(1..=100), &options);
    let text = view.to_text();
    assert!(text.starts_with(&numbered(1..=10)), "{text}");
    assert!(text.ends_with(&numbered(91..=100)), "{text}");
    assert_eq!(text.lines().count(), 21);
}

#[test]
fn errors_from_the_middle_are_kept_with_their_blocks() {
    let mut text = numbered(1..=500);
    text += "error[E0308]: mismatched types\n --> src/lib.rs:18:23\n   |\n18 | bad\n\n";
    text += &numbered(501..=1000);
    text +=
        "Traceback (most recent call last):\n  File \"a.py\", line 1\n    f()\nValueError: no\n";
    text += &numbered(1001..=1500);
    let view = view(&text, &lines_budget(60));
    let shown = view.to_text();
    for line in [
        "line 1\n",
        "line 1500\n",
        "error[E0308]",
        "18 | bad",
        "line 500\n",
        "Traceback",
        "    f()\n",
        "ValueError: no",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    let scan = view.errors.unwrap();
    assert_eq!((scan.shown, scan.kinds, scan.complete), (3, 3, true));
    let lines: u64 = view
        .parts
        .iter()
        .map(|part| match part {
            Part::Omitted { lines, .. } => lines.unwrap(),
            _ => 0,
        })
        .sum();
    assert_eq!(lines + view.counts.shown_lines, view.counts.total_lines.unwrap());
    assert_eq!(view.counts.total_lines, Some(1509));
}

#[test]
fn offsets_of_a_gap_read_exactly_what_is_missing() {
    let text = numbered(1..=1000);
    let memory = Memory::new(text.as_str());
    let view = Reader::new(&memory).view(&lines_budget(40)).unwrap();
    let mut whole = String::new();
    for part in &view.parts {
        match part {
            Part::Text { text, .. } => whole += text,
            Part::Omitted { offset, .. } => {
                let reader = Reader::new(&memory).offsets(offset.clone());
                whole += &reader.page(0, &Budget::UNLIMITED).unwrap().to_text();
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(whole, text);
}

#[test]
fn long_lines_are_clamped_and_told() {
    let text = format!("short\n{}\nend\n", "x".repeat(5_000));
    let view = view(&text, &ViewOptions::default());
    let expected =
        format!("short\n{} [umbo: 2952 more bytes in this line]\nend\n", "x".repeat(2_048));
    assert_eq!(view.to_text(), expected);
    assert_eq!((view.counts.clamped_lines, view.counts.clamped_bytes), (1, 2_952));
    assert!(view.truncated);
    assert_eq!(view.counts.omitted_bytes, 0);
}

#[test]
fn notices_cannot_be_forged() {
    let text = format!("[umbo: omitted 3 lines]\n{}", numbered(1..=100));
    let view = view(&text, &lines_budget(20));
    let shown = view.to_text();
    assert!(shown.contains("[umbo-2: omitted"), "{shown}");
    assert_eq!(shown.matches("[umbo-2:").count(), 1);
}

#[test]
fn a_hole_in_the_log_is_told_and_never_read() {
    let text = numbered(1..=50);
    let memory = Memory::new(text.as_str()).with_gap(40..120);
    let view = Reader::new(&memory).view(&ViewOptions::default()).unwrap();
    check(&view, &Budget::default());
    assert_eq!(view.parts[1], Part::Lost { offset: 40..120, bytes: 80 });
    assert_eq!(view.counts.lost_bytes, 80);
    assert_eq!(view.counts.total_lines, None);
    assert!(view.to_text().contains("\n[umbo: 80 bytes were not kept; offset 40..120]\n"));
    for shape in [Shape::HeadTailErrors, Shape::Head, Shape::Tail, Shape::Middle] {
        for lines in [12, 16, 20, 30] {
            let options = ViewOptions { shape, ..lines_budget(lines) };
            let view = Reader::new(&memory).view(&options).unwrap();
            check(&view, &options.budget);
        }
    }
}

#[test]
fn streams_are_apart_or_together() {
    let mut memory = Memory::default();
    memory.append(Stream::Stdout, 1, b"out 1\nout");
    memory.append(Stream::Stderr, 2, b"err 1\n");
    memory.append(Stream::Stdout, 3, b" 2\n");
    let text =
        |reader: Reader<'_, &Memory>| reader.view(&ViewOptions::default()).unwrap().to_text();
    assert_eq!(text(Reader::new(&memory)), "out 1\nouterr 1\n 2\n");
    assert_eq!(text(Reader::new(&memory).stream(Stream::Stdout)), "out 1\nout 2\n");
    assert_eq!(text(Reader::new(&memory).stream(Stream::Stderr)), "err 1\n");
    assert_eq!(text(Reader::new(&memory).since(2).unwrap()), "err 1\n 2\n");
    assert_eq!(text(Reader::new(&memory).until(3).unwrap()), "out 1\nouterr 1\n");
    assert_eq!(text(Reader::new(&memory).since(2).unwrap().until(3).unwrap()), "err 1\n");
}

#[test]
fn nul_bytes_and_garbage_are_counted() {
    let memory = Memory::new(b"a\0b\xff\n".to_vec());
    let view = Reader::new(&memory).view(&ViewOptions::default()).unwrap();
    assert_eq!(view.to_text(), "ab\u{fffd}\n");
    assert_eq!(view.counts.changes.invalid_utf8, 1);
    assert_eq!(view.counts.changes.controls, 1);
}

#[test]
fn a_budget_in_real_tokens_holds() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    let paths = std::fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap().path());
    for path in paths.filter(|path| path.is_file()) {
        let bytes = std::fs::read(path).unwrap().repeat(20);
        for tokens in [600, 2_000, 8_000] {
            let budget = Budget { tokens, ..Budget::default() };
            let memory = Memory::new(bytes.clone());
            let options = ViewOptions { budget, ..ViewOptions::default() };
            let view = Reader::new(&memory).view(&options).unwrap();
            check(&view, &budget);
            let text = view.to_text();
            // As far as the estimate is true.
            assert!(bpe_openai::o200k_base().count(&text) as u64 <= tokens + tokens / 32);
        }
    }
}

#[test]
fn colour_codes_cannot_hide_a_secret() {
    let masker = Masker::builder().environment([("A_TOKEN", "hidden-in-colours")]).build().unwrap();
    let memory = Memory::new("x hidden-\x1b[31min-col\x1b[0mours y\n");
    let view = Reader::new(&memory).mask(&masker).view(&ViewOptions::default()).unwrap();
    assert_eq!(view.to_text().len(), "x #XXXX# y\n".len());
    assert_eq!(view.counts.masked, 1);
}

#[test]
fn half_a_secret_beside_a_hole_or_at_an_open_end_is_masked() {
    let secret = "0123456789-secret-value";
    let masker = Masker::builder().environment([("A_TOKEN", secret)]).build().unwrap();
    let memory = Memory::new(format!("key {secret}\nmore\n")).with_gap(16..20);
    let view = Reader::new(&memory).mask(&masker).view(&ViewOptions::default()).unwrap();
    let text = view.to_text();
    assert!(!text.contains("0123") && !text.contains("value"), "{text}");
    let open = Memory::new(format!("key {}", &secret[..9])).open();
    let view = Reader::new(&open).mask(&masker).view(&ViewOptions::default()).unwrap();
    assert_eq!(view.to_text().len(), "key #XXXX#".len(), "{}", view.to_text());
}

#[test]
fn a_small_budget_still_says_that_something_is_missing() {
    let budget = Budget { bytes: 200, ..Budget::default() };
    let options = ViewOptions { budget, ..ViewOptions::default() };
    let small = view(&numbered(1..=100), &options);
    assert!(small.to_text().contains("\n[umbo: cut]\n"), "{}", small.to_text());
    assert!(small.to_text().contains("line 1\n") && small.to_text().contains("line 100\n"));
    let ten = view(&numbered(1..=100), &lines_budget(10));
    assert!(ten.to_text().contains("[umbo: omitted 9"), "{}", ten.to_text());
    assert!(ten.to_text().lines().count() <= 10);
}

#[test]
fn a_very_small_budget_has_a_mark_where_something_is_missing() {
    for tokens in [24, 50, 95] {
        let budget = Budget { tokens, ..Budget::default() };
        let shown = view(&numbered(1..=1000), &ViewOptions { budget, ..ViewOptions::default() });
        let text = shown.to_text();
        assert_eq!(text.matches("\n…\n").count(), 1, "{tokens}: {text}");
    }
}

#[test]
fn a_line_that_may_be_half_a_secret_waits_for_the_next() {
    let masker = Masker::builder().environment([("A_TOKEN", "hunter2-hunter2")]).build().unwrap();
    let mut log = Memory::default().open();
    log.append(Stream::Stdout, 0, b"before\naaaaaaaaaaaahunter2\n");
    let page = |log: &Memory, from| Reader::new(log).mask(&masker).page(from, &Budget::default());
    let first = page(&log, 0).unwrap();
    assert_eq!(first.to_text(), "before\n");
    log.append(Stream::Stdout, 0, b"after\n");
    assert_eq!(page(&log, first.next_offset).unwrap().to_text(), "aaaaaaaaaaaahunter2\nafter\n");
}

#[test]
fn a_secret_that_reaches_into_an_open_line_waits_for_its_end() {
    let masker = Masker::builder().environment([("A_TOKEN", "hunter2-hunter2")]).build().unwrap();
    let mut log = Memory::default().open();
    // The second line goes on with the first one's end, until it is written over.
    log.append(Stream::Stdout, 0, b"before\nhunter2-\nhunter210%\r");
    let page = |log: &Memory, from| Reader::new(log).mask(&masker).page(from, &Budget::default());
    let first = page(&log, 0).unwrap();
    assert_eq!(first.to_text(), "before\n");
    log.append(Stream::Stdout, 0, b"all of it: 100%\n");
    let rest = page(&log, first.next_offset).unwrap();
    assert_eq!(rest.to_text(), "hunter2-\nall of it: 100%\n");
}

#[test]
fn a_view_that_does_not_show_all_errors_says_where_to_go_on() {
    // Names that differ in words are different errors.
    let word = |n: u32| -> String {
        (0..6).map(|at| char::from(b'a' + u8::try_from(n >> (4 * at) & 15).unwrap())).collect()
    };
    let lines = (1..=400).map(|n| {
        let words: Vec<String> = (0..=n % 50).map(|at| word(n * 7 + at * 131)).collect();
        format!("error: {}\nquiet {}\n\n", words.join(" "), word(n * 977))
    });
    let view = view(&lines.collect::<Vec<_>>().concat(), &ViewOptions::default());
    let scan = view.errors.unwrap();
    assert!(scan.complete && scan.shown < scan.kinds && scan.next > 0, "{scan:?}");
    let notice = format!("look like errors; read errors from {}]\n", scan.next);
    assert!(view.to_text().ends_with(&notice), "{}", view.to_text());
}

#[test]
fn a_search_that_stopped_says_so_and_has_read_both_ends() {
    let mut text = "error: at the start\n".to_owned() + &numbered(1..=200_000);
    text += "error: at the end\n";
    text += &numbered(1..=100);
    let options = ViewOptions { scan_bytes: 1 << 20, ..ViewOptions::default() };
    let view = view(&text, &options);
    let shown = view.to_text();
    assert!(!view.errors.unwrap().complete);
    assert!(shown.contains("error: at the start\n") && shown.contains("error: at the end\n"));
    assert!(shown.ends_with("bytes, there may be more]\n"), "{shown}");
}

#[test]
fn without_a_budget_everything_is_shown() {
    let text = "0123456789abcdef\n".repeat(700_000);
    let options = ViewOptions { budget: Budget::UNLIMITED, ..ViewOptions::default() };
    let all = view(&text, &options);
    assert!(!all.truncated);
    assert_eq!(all.to_text().len(), text.len());
}

#[test]
fn lines_like_those_shown_are_told_apart_from_others_and_come_last() {
    let mut text = numbered(1..=3_000);
    text += "the one line that is different from all others here, for no reason at all\n";
    text += &numbered(3_001..=6_000);
    let options = ViewOptions {
        budget: Budget { tokens: 600, ..Budget::default() },
        ..ViewOptions::default()
    };
    let shown = view(&text, &options);
    assert!(shown.to_text().contains("the one line that is different"), "{}", shown.to_text());
    assert!(shown.to_text().contains(" similar lines, "), "{}", shown.to_text());
    assert!(shown.truncated && shown.tokens < 400, "{}", shown.tokens);
    let gaps = shown.gaps();
    assert!(
        !gaps.is_empty() && gaps.windows(2).all(|two| two[0].offset().end <= two[1].offset().start)
    );
    // Without folding, both ends fill the room.
    let raw = view(&text, &ViewOptions { fold: false, ..options });
    assert!(raw.to_text().contains("line 20\n") && raw.tokens > 500, "{}", raw.to_text());
}

#[test]
fn an_error_is_found_in_more_different_lines_than_are_kept() {
    let word = |n: u32| -> String {
        (0..5).map(|at| char::from(b'a' + u8::try_from(n >> (4 * at) & 15).unwrap())).collect()
    };
    let lines = |from: u32| -> String {
        let lines = (from..from + 30_000)
            .map(|n| format!("{} {}-{}.{}\n", word(n), word(n / 3), word(n * 7), word(n / 11)));
        lines.collect::<Vec<_>>().concat()
    };
    let text = lines(1) + "fatal: the wheel came off\n" + &lines(100_000);
    let view = view(&text, &ViewOptions::default());
    assert!(view.to_text().contains("fatal: the wheel came off"), "{}", view.to_text());
    assert_eq!(view.counts.total_lines, Some(60_001));
}

#[test]
fn two_ends_of_plain_data_are_shown() {
    let shown = view(&numbered(1..=5_000), &ViewOptions::default());
    let text = shown.to_text();
    assert!(
        text.starts_with(&numbered(1..=20)) && text.ends_with(&numbered(4_990..=5_000)),
        "{text}"
    );
}
