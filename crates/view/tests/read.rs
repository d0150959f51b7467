//! Reading again: pages, lines, ends, searches, following, progress.

#![allow(clippy::unwrap_used, reason = "only functions marked as tests are known to be tests")]

use umbo_view::mask::Masker;
use umbo_view::{
    Budget, Find, Follower, Memory, Page, Part, Progress, Reader, Regex, Stream, TICK,
};

fn numbered(lines: std::ops::RangeInclusive<u32>) -> String {
    let lines: Vec<String> = lines.map(|n| format!("line {n}\n")).collect();
    lines.concat()
}

fn small(bytes: u64) -> Budget {
    Budget { bytes, ..Budget::default() }
}

fn pages(reader: &Reader<'_, &Memory>, budget: &Budget) -> Vec<Page> {
    let mut pages = Vec::new();
    let mut from = reader.range().start;
    loop {
        let page = reader.page(from, budget).unwrap();
        assert_eq!(page, reader.page(from, budget).unwrap(), "the same page twice is the same");
        let stuck = page.next_offset == from;
        from = page.next_offset;
        let end = page.at_end;
        pages.push(page);
        if end || stuck {
            return pages;
        }
    }
}

fn joined(pages: &[Page]) -> String {
    pages.iter().map(Page::to_text).collect()
}

#[test]
fn pages_follow_each_other_without_gap_or_overlap() {
    let text = numbered(1..=5_000);
    let memory = Memory::new(text.as_str());
    let reader = Reader::new(&memory);
    let pages = pages(&reader, &small(2_000));
    assert!(pages.len() > 20);
    assert_eq!(joined(&pages), text);
    for page in &pages {
        assert!(page.to_text().len() <= 2_000);
        assert_eq!(page.counts.shown_bytes, page.offset.end - page.offset.start);
    }
}

#[test]
fn an_offset_inside_a_line_means_that_line() {
    let memory = Memory::new(numbered(1..=9));
    let reader = Reader::new(&memory);
    let page = reader.page(10, &Budget::default()).unwrap();
    assert_eq!(page.offset, 7..63);
    assert!(page.to_text().starts_with("line 2\n"));
    assert!(reader.page(1_000, &Budget::default()).unwrap().at_end);
}

#[test]
fn lines_are_found_by_number() {
    let memory = Memory::new(numbered(1..=100));
    let reader = Reader::new(&memory);
    let lines = |range| reader.lines(range, &Budget::default()).unwrap();
    assert_eq!(lines(10..=12).to_text(), numbered(10..=12));
    assert_eq!(lines(0..=2).to_text(), numbered(1..=2));
    assert_eq!(lines(99..=200).to_text(), numbered(99..=100));
    assert_eq!(lines(101..=102).to_text(), "");
    #[allow(clippy::reversed_empty_ranges)]
    let none = lines(5..=4);
    assert_eq!(none.to_text(), "");
    assert!(!lines(10..=12).at_end);
}

#[test]
fn ends_are_lines_too() {
    let memory = Memory::new(numbered(1..=100) + "no end");
    let reader = Reader::new(&memory);
    let tail = reader.tail(3, &Budget::default()).unwrap();
    assert_eq!(tail.to_text(), "line 99\nline 100\nno end");
    assert!(tail.at_end);
    assert_eq!(tail.next_offset, reader.range().end);
    assert_eq!(reader.head(2, &Budget::default()).unwrap().to_text(), "line 1\nline 2\n");
    assert_eq!(reader.tail(0, &Budget::default()).unwrap().to_text(), "");
    let all = reader.tail(1_000, &Budget::default()).unwrap();
    assert_eq!(all.offset, reader.range());
}

#[test]
fn matches_come_with_context_and_counts_of_what_is_between() {
    let memory = Memory::new(numbered(1..=100));
    let reader = Reader::new(&memory);
    let find = Find { before: 1, after: 1, ..Find::default() };
    let page = reader.grep(&Regex::new("line (20|50)$").unwrap(), &find).unwrap();
    assert_eq!(page.matches, 2);
    assert!(page.at_end);
    let texts: Vec<&str> = page
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["line 19\nline 20\nline 21\n", "line 49\nline 50\nline 51\n"]);
    assert_eq!(page.counts.omitted_lines, Some(94));
    assert_eq!(page.counts.total_lines, Some(100));
}

#[test]
fn a_search_goes_on_at_its_cursor() {
    let memory = Memory::new(numbered(1..=1_000));
    let reader = Reader::new(&memory);
    let pattern = Regex::new("0$").unwrap();
    let mut find = Find { before: 0, after: 0, most: 7, ..Find::default() };
    let mut matches = 0;
    let mut rounds = 0;
    loop {
        let page = reader.grep(&pattern, &find).unwrap();
        matches += page.matches;
        rounds += 1;
        find.from = page.next_offset;
        if page.at_end {
            break;
        }
    }
    assert_eq!(matches, 100);
    assert!(rounds >= 15);
}

#[test]
fn a_search_stays_in_its_budget_and_loses_no_match() {
    let memory = Memory::new(numbered(1..=3_000));
    let reader = Reader::new(&memory);
    let pattern = Regex::new("5").unwrap();
    let mut find = Find { budget: small(1_500), ..Find::default() };
    let mut seen = std::collections::BTreeSet::new();
    loop {
        let page = reader.grep(&pattern, &find).unwrap();
        assert!(page.to_text().len() <= 1_500);
        for part in &page.parts {
            if let Part::Text { text, .. } = part {
                seen.extend(text.lines().filter(|line| line.contains('5')).map(str::to_owned));
            }
        }
        assert!(page.at_end || page.next_offset > find.from);
        find.from = page.next_offset;
        if page.at_end {
            break;
        }
    }
    assert_eq!(seen.len(), (1..=3_000).filter(|n: &u32| n.to_string().contains('5')).count());
}

#[test]
fn a_search_cannot_guess_at_a_secret() {
    let masker =
        Masker::builder().environment([("A_TOKEN", "guess-me-if-you-can")]).build().unwrap();
    let memory = Memory::new("token guess-me-if-you-can\n");
    let reader = Reader::new(&memory).mask(&masker);
    let page = reader.grep(&Regex::new("guess").unwrap(), &Find::default()).unwrap();
    assert_eq!(page.matches, 0);
}

#[test]
fn errors_alone_can_be_read() {
    let text = numbered(1..=200) + "fatal: it broke\n" + &numbered(201..=400);
    let memory = Memory::new(text);
    let reader = Reader::new(&memory);
    let page = reader.errors(&Find::default()).unwrap();
    assert_eq!(page.matches, 1);
    let text = page.to_text();
    assert!(text.contains("line 199\nline 200\nfatal: it broke\nline 201\nline 202\n"), "{text}");
    assert!(page.at_end);
}

#[test]
fn following_gives_every_line_once_and_waits_for_ends() {
    let mut memory = Memory::default().open();
    let mut follower = Follower::new(0);
    let mut seen = String::new();
    for (chunk, expected) in [
        ("one\ntw", "one\n"),
        ("", ""),
        ("o\nthr", "two\n"),
        ("ee", ""),
        ("\n", "three\n"),
        ("end", ""),
    ] {
        memory.append(Stream::Stdout, 0, chunk.as_bytes());
        let page = follower.next(&Reader::new(&memory), &Budget::default()).unwrap();
        assert_eq!(page.to_text(), expected);
        seen += &page.to_text();
    }
    let partial = Reader::new(&memory).partial_line(&Budget::default()).unwrap();
    assert_eq!(partial.as_deref(), Some("end"));
    memory.close();
    let page = follower.next(&Reader::new(&memory), &Budget::default()).unwrap();
    assert_eq!(seen + &page.to_text(), "one\ntwo\nthree\nend");
    assert!(page.at_end);
    assert_eq!(Follower::new(follower.offset()), follower);
}

#[test]
fn a_page_border_inside_a_secret_leaks_neither_half() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n";
    let key = format!(
        "-----{} {} KEY-----\n{}-----{} {} KEY-----\n",
        "BEGIN",
        "PRIVATE",
        line.repeat(25),
        "END",
        "PRIVATE"
    );
    let text = numbered(1..=300) + &key + &numbered(301..=600);
    let memory = Memory::new(text.as_str());
    let masker = Masker::builder().build().unwrap();
    let reader = Reader::new(&memory).mask(&masker);
    let inside = numbered(1..=300).len() as u64 + 200;
    for from in [inside - 200, inside - 100, inside, inside + 700] {
        let page = reader.page(from, &Budget::default()).unwrap();
        assert!(!page.to_text().contains("MIIE"), "from {from}: {}", page.to_text());
    }
    for bytes in [1_100, 1_500, 3_000] {
        let all = joined(&pages(&reader, &small(bytes)));
        assert!(!all.contains("MIIE"));
        assert!(all.contains("line 300\n") && all.contains("line 301\n"));
    }
    let tail = Reader::new(&memory).mask(&masker).offsets(inside..inside + 300);
    assert!(!tail.tail(50, &Budget::default()).unwrap().to_text().contains("MIIE"));
}

#[test]
fn a_time_border_inside_a_secret_leaks_neither_half() {
    let masker =
        Masker::builder().environment([("A_TOKEN", "first-half-second-half")]).build().unwrap();
    let mut memory = Memory::default();
    memory.append(Stream::Stdout, 1, b"key first-half");
    memory.append(Stream::Stdout, 2, b"-second-half done\n");
    for reader in [Reader::new(&memory).since(2).unwrap(), Reader::new(&memory).until(2).unwrap()] {
        let text = reader.mask(&masker).page(0, &Budget::default()).unwrap().to_text();
        assert!(!text.contains("half"), "{text}");
    }
}

#[test]
fn progress_ticks_at_most_every_fifty_milliseconds() {
    let mut memory = Memory::default().open();
    let mut progress = Progress::new(1_000, 2);
    memory.append(Stream::Stdout, 0, b"a\nb\nc\x1b[31m");
    let tick = progress.tick(&Reader::new(&memory), 1_000).unwrap().unwrap();
    assert_eq!(
        (tick.lines, tick.bytes, tick.elapsed),
        (vec!["b".to_owned(), "c".to_owned()], 10, 0)
    );
    memory.append(Stream::Stdout, 0, b"d\n");
    assert_eq!(progress.tick(&Reader::new(&memory), 1_000 + TICK - 1).unwrap(), None);
    assert_eq!(progress.due_at(), 1_000 + TICK);
    let tick = progress.tick(&Reader::new(&memory), 1_000 + TICK).unwrap().unwrap();
    assert_eq!((tick.bytes, tick.elapsed), (12, TICK));
    assert_eq!(
        progress.tick(&Reader::new(&memory), 1_000 + 3 * TICK).unwrap(),
        None,
        "nothing new"
    );
    assert_eq!(progress.last_tick(&Reader::new(&memory), 1_000 + 3 * TICK).unwrap().bytes, 12);
}

#[test]
fn a_match_far_inside_a_line_is_found() {
    let memory = Memory::new(format!("{}needle\nother\n", "x".repeat(10_000)));
    let reader = Reader::new(&memory);
    let find = Find { before: 0, after: 0, ..Find::default() };
    let page = reader.grep(&Regex::new("needle$").unwrap(), &find).unwrap();
    assert_eq!(page.matches, 1);
    assert!(page.counts.clamped_bytes > 7_000);
    assert!(page.to_text().contains("needle ["), "the match is in sight: {}", page.to_text());
}

#[test]
fn errors_come_by_worth_without_repeats_until_none_is_left() {
    let mut text = numbered(1..=300);
    text += &"error: connection to db lost\n".repeat(40);
    text += "make: *** [all] Error 2\n";
    text += &numbered(301..=600);
    text += "src/a.c:3:4: error: 'x' undeclared\n";
    let memory = Memory::new(text);
    let reader = Reader::new(&memory);
    let find = Find { before: 0, after: 0, most: 1, ..Find::default() };
    let mut seen = Vec::new();
    let mut from = 0;
    loop {
        let page = reader.errors(&Find { from, ..find }).unwrap();
        if page.matches == 0 {
            assert!(
                page.to_text().contains("0 of 642 lines look like errors and were not read yet")
            );
            assert!(page.at_end);
            break;
        }
        assert_eq!(page.next_offset, from + 1);
        seen.push(page.to_text());
        from = page.next_offset;
    }
    assert_eq!(seen.len(), 4, "two of forty repeats: {seen:?}");
    let has = |page: usize, what: &str| assert!(seen[page].contains(what), "{}", seen[page]);
    has(0, "'x' undeclared");
    has(1, "connection to db lost");
    has(1, "[umbo: 38 more lines like the one at offset");
    has(3, "Error 2");
    let quiet = Memory::new(numbered(1..=20));
    let page = Reader::new(&quiet).errors(&Find::default()).unwrap();
    assert_eq!(page.to_text(), "[umbo: 0 of 20 lines look like errors]\n");
}
