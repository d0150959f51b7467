//! What holds for any file and any edit.

use proptest::prelude::*;
use umbo_files::{Call, Content, LineStyle, ReadRequest, SearchRequest};

use crate::Project;

/// Lines with any line ending, and perhaps a mark and a last line without one.
fn file() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof!["[a-z ]{0,12}", "[{}();]{0,3}", "\\PC{0,8}"];
    let ending = prop_oneof![4 => Just("\n"), 2 => Just("\r\n")];
    let lines = proptest::collection::vec((line, ending), 1..40);
    (lines, any::<bool>(), any::<bool>()).prop_map(|(lines, ended, mark)| {
        let mut text = if mark { "\u{feff}".to_owned() } else { String::new() };
        for (line, ending) in &lines {
            text.push_str(line);
            text.push_str(ending);
        }
        if !ended {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text.into_bytes()
    })
}

/// A way to apply an edit.
type Apply = fn(&Project, &str) -> Result<umbo_files::EditAnswer, umbo_files::Error>;

#[derive(Clone, Debug)]
enum Op {
    After(usize, Vec<String>),
    Before(usize, Vec<String>),
    Delete(usize, usize),
    Replace(usize, usize, Vec<String>),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let payload = || proptest::collection::vec("[A-Z]{3,9}", 1..4);
    let op = prop_oneof![
        (0..60usize, payload()).prop_map(|(at, payload)| Op::After(at, payload)),
        (0..60usize, payload()).prop_map(|(at, payload)| Op::Before(at, payload)),
        (0..60usize, 0..3usize).prop_map(|(at, more)| Op::Delete(at, at + more)),
        (0..60usize, 0..3usize, payload()).prop_map(|(at, more, payload)| Op::Replace(
            at,
            at + more,
            payload
        )),
    ];
    proptest::collection::vec(op, 1..6)
}

/// The simplest possible editor: from the last line up, on a list of lines. `None` if two
/// operations touch the same line.
fn model(lines: &[String], ops: &[Op]) -> Option<Vec<String>> {
    let mut before: Vec<Vec<String>> = vec![Vec::new(); lines.len() + 1];
    let mut gone: Vec<bool> = vec![false; lines.len()];
    let mut inside: Vec<usize> = Vec::new();
    let mut inserted: Vec<usize> = Vec::new();
    for op in ops {
        match op {
            Op::After(at, payload) => {
                before[at + 1].extend(payload.iter().cloned());
                inserted.push(at + 1);
            }
            Op::Before(at, payload) => {
                before[*at].extend(payload.iter().cloned());
                inserted.push(*at);
            }
            Op::Delete(from, to) | Op::Replace(from, to, _) => {
                for line in *from..=*to {
                    if gone[line] {
                        return None;
                    }
                    gone[line] = true;
                }
                inside.extend(from + 1..=*to);
            }
        }
    }
    if inserted.iter().any(|at| inside.contains(at)) {
        return None;
    }
    // What replaces a line comes behind what is inserted before it.
    for op in ops {
        if let Op::Replace(from, _, payload) = op {
            before[*from].extend(payload.iter().cloned());
        }
    }
    let mut new = Vec::new();
    for (at, texts) in before.iter().enumerate() {
        new.extend(texts.iter().cloned());
        if at < lines.len() && !gone[at] {
            new.push(lines[at].clone());
        }
    }
    Some(new)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_batch_of_edits_applies_exactly_or_changes_nothing(bytes in file(), ops in ops()) {
        let project = Project::new();
        project.put("f", &bytes);
        let page = project.page("f");
        let lines: Vec<String> = page.lines.iter().map(|line| line.text.clone()).collect();
        prop_assume!(!lines.is_empty());
        let count = lines.len();
        let fit = |at: usize| at % count;
        let ops: Vec<Op> = ops.into_iter().map(|op| match op {
            Op::After(at, payload) => Op::After(fit(at), payload),
            Op::Before(at, payload) => Op::Before(fit(at), payload),
            Op::Delete(from, to) => Op::Delete(fit(from), (fit(from) + to - from).min(count - 1)),
            Op::Replace(from, to, payload) => Op::Replace(fit(from), (fit(from) + to - from).min(count - 1), payload),
        }).collect();
        let anchor = |at: usize| page.lines[at].anchor.unwrap().to_string();
        let mut input = "@@ f\n".to_owned();
        for op in &ops {
            let (head, payload): (String, &[String]) = match op {
                Op::After(at, payload) => (format!("+ {}", anchor(*at)), payload),
                Op::Before(at, payload) => (format!("< {}", anchor(*at)), payload),
                Op::Delete(from, to) => (format!("- {}..{}", anchor(*from), anchor(*to)), &[]),
                Op::Replace(from, to, payload) => (format!("= {}..{}", anchor(*from), anchor(*to)), payload),
            };
            input.push_str(&head);
            input.push('\n');
            payload.iter().for_each(|line| input.push_str(&format!("~{line}\n")));
        }
        match (project.hashline(&input), model(&lines, &ops)) {
            (Ok(_), Some(expected)) => {
                let now = project.page("f");
                let now: Vec<String> = now.lines.iter().map(|line| line.text.clone()).collect();
                prop_assert_eq!(now, expected);
            }
            (Err(_), None) => prop_assert_eq!(project.bytes("f"), bytes),
            (Err(umbo_files::Error::NoChange { .. }), Some(expected)) => prop_assert_eq!(expected, lines),
            (done, expected) => prop_assert!(false, "{done:?} and {expected:?}"),
        }
    }

    /// A line is replaced and replaced back: the file has the bytes it had.
    #[test]
    fn an_edit_and_its_opposite_leave_the_file_as_it_was(bytes in file(), at in any::<prop::sample::Index>()) {
        let project = Project::new();
        project.put("f", &bytes);
        let page = project.page("f");
        prop_assume!(!page.lines.is_empty());
        let line = &page.lines[at.index(page.lines.len())];
        let (old, anchor) = (line.text.clone(), line.anchor.unwrap());
        prop_assume!(old != "something else entirely");
        let crlf = project.bytes("f").windows(2).any(|pair| pair == b"\r\n");
        let lf_only = !crlf;
        project.hashline(&format!("@@ f\n= {anchor}..{anchor}\n~something else entirely\n")).unwrap();
        let again = project.anchor("f", line.number);
        project.hashline(&format!("@@ f\n= {again}..{again}\n~{old}\n")).unwrap();
        let mixed = crlf && String::from_utf8_lossy(&bytes).replace("\r\n", "").contains('\n');
        if lf_only || !mixed {
            prop_assert_eq!(project.bytes("f"), bytes);
        } else {
            // A changed line gets the ending that most lines have; its text is the same.
            let strip = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
            prop_assert_eq!(strip(&project.bytes("f")), strip(&bytes));
        }
    }

    #[test]
    fn pages_of_any_size_are_the_file(bytes in file(), max_lines in 1..7usize, max_bytes in 1..60usize) {
        let project = Project::new();
        project.put("f", &bytes);
        let whole = project.page("f").text(LineStyle::Anchors);
        let (mut all, mut next) = (String::new(), Some(1));
        while let Some(line) = next {
            let request = ReadRequest { path: format!("f:{line}"), max_lines, max_bytes, ..Default::default() };
            let answer = umbo_files::read(&project.session, &request, &Call::default()).unwrap();
            let Content::Text(page) = answer.content else { panic!() };
            prop_assert!(page.lines.len() <= max_lines);
            if !page.clamped_lines.is_empty() {
                // A line longer than the budget is cut, and said to be.
                return Ok(());
            }
            all.push_str(&page.text(LineStyle::Anchors));
            next = page.next_line;
        }
        prop_assert_eq!(all, whole);
    }

    #[test]
    fn pages_of_a_search_are_the_search(
        files in proptest::collection::vec(proptest::collection::vec(any::<bool>(), 0..12), 1..8),
        limit in 1..9usize,
    ) {
        let project = Project::new();
        for (number, lines) in files.iter().enumerate() {
            let text: String = lines.iter().map(|hit| if *hit { "hit\n" } else { "miss\n" }).collect();
            project.put(&format!("f{number}"), text);
        }
        let search = |limit: usize, skip: usize| {
            let request = SearchRequest { pattern: "hit".into(), limit, skip, ..Default::default() };
            umbo_files::search(&project.session, &request, &Call::default()).unwrap()
        };
        let hits = |answer: &umbo_files::SearchAnswer| -> Vec<(String, usize)> {
            let files = answer.files.iter();
            files.flat_map(|file| file.lines.iter().filter(|line| line.is_match).map(|line| (file.path.clone(), line.number))).collect()
        };
        let mut whole = hits(&search(10_000, 0));
        let (mut pages, mut skip) = (Vec::new(), Some(0));
        while let Some(at) = skip {
            let page = search(limit, at);
            prop_assert!(page.shown <= limit);
            pages.extend(hits(&page));
            skip = page.next_skip;
        }
        whole.sort();
        pages.sort();
        prop_assert_eq!(pages, whole);
    }

    /// Lines that look like edits, in any order: understood or refused by a line of theirs.
    #[test]
    fn any_edit_is_understood_or_refused(lines in proptest::collection::vec(prop_oneof![
        Just("*** Begin Patch".to_owned()), Just("*** End Patch".to_owned()), Just("*** Abort".to_owned()),
        Just("*** End of File".to_owned()), Just("@@".to_owned()), Just("\\ No newline at end of file".to_owned()),
        "@@ [a-z]{0,3}", "[+<=-] [0-9]{1,2}[a-z]{2}(\\.\\.[0-9]{1,2}[a-z]{2})?", "[+<] (BOF|EOF)", "~.{0,5}",
        "\\*\\*\\* (Add|Delete|Update) File: [a-z]{0,2}", "\\*\\*\\* Move to: [a-z]?", "[ +-].{0,4}",
        "(---|\\+\\+\\+) (a/|b/)?[a-z]{0,2}", "@@ -[0-9](,[0-9])? \\+[0-9](,[0-9])? @@.?",
        "diff --git a/[a-z] b/[a-z]", "(rename (from|to)|new file mode|deleted file mode) .{0,6}", ".{0,6}",
    ], 0..14), ending in prop_oneof![Just("\n"), Just("\r\n")]) {
        let text = lines.join(ending);
        let project = Project::new();
        project.put("a", "one\ntwo\n");
        let forms: [Apply; 2] = [Project::hashline, Project::patch];
        for apply in forms {
            let before = project.snapshot();
            match apply(&project, &text) {
                Ok(answer) => {
                    prop_assert!(!answer.files.is_empty());
                    prop_assert_ne!(project.snapshot(), before);
                    continue;
                }
                Err(umbo_files::Error::BadEdit { line, .. }) => prop_assert!(line <= lines.len() + 1),
                Err(_) => {}
            }
            prop_assert_eq!(project.snapshot(), before);
        }
    }
}

#[test]
fn a_text_that_begins_as_an_image_does_is_a_text() {
    let project = Project::new();
    for text in ["BM is a shop\n", "GIF89a is a version\n", "II*"] {
        project.put("f", text.as_bytes());
        let lines: Vec<String> =
            project.page("f").lines.iter().map(|line| line.text.clone()).collect();
        assert_eq!(lines, [text.trim_end()]);
    }
}
