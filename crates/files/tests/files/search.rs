use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use umbo_files::{
    Access, Call, Decision, Error, Guard, SearchAnswer, SearchOutput, SearchRequest, Session, Stop,
    StopReason,
};

use crate::Project;

fn search(project: &Project, request: &SearchRequest) -> SearchAnswer {
    umbo_files::search(&project.session, request, &Call::default()).unwrap()
}

fn request(pattern: &str) -> SearchRequest {
    SearchRequest { pattern: pattern.to_owned(), ..SearchRequest::default() }
}

fn matches(answer: &SearchAnswer) -> Vec<(String, usize)> {
    let lines =
        answer.files.iter().flat_map(|file| file.lines.iter().map(move |line| (file, line)));
    lines
        .filter(|(_, line)| line.is_match)
        .map(|(file, line)| (file.path.clone(), line.number))
        .collect()
}

#[test]
fn matches_have_anchors_and_context() {
    let project = Project::new();
    project.put("a.txt", "1\n2\nfind me\n4\n5\n6\n7\n");
    let answer = search(&project, &request("find"));
    let lines: Vec<(usize, bool)> =
        answer.files[0].lines.iter().map(|line| (line.number, line.is_match)).collect();
    assert_eq!(lines, [(2, false), (3, true), (4, false), (5, false), (6, false)]);
    assert_eq!(answer.files[0].lines[1].anchor.to_string(), project.anchor("a.txt", 3));
    assert!(search(&project, &request("nothing")).text().contains("No matches found"));
}

#[test]
fn pages_share_an_order_and_no_file_fills_a_page_alone() {
    let project = Project::new();
    project.put("a-large", "hit\n".repeat(500));
    for number in 0..40 {
        project.put(&format!("b{number:02}"), "hit\nhit\n");
    }
    let whole: BTreeSet<(String, usize)> =
        matches(&search(&project, &SearchRequest { limit: 10_000, ..request("hit") }))
            .into_iter()
            .collect();
    assert_eq!(whole.len(), 580);
    let (mut pages, mut skip) = (Vec::new(), 0);
    loop {
        let answer = search(&project, &SearchRequest { skip, ..request("hit") });
        assert_eq!((answer.total_matches, answer.total_files), (580, 41));
        if skip == 0 {
            assert_eq!(answer.files.len(), 41, "each file is on the first page");
        }
        assert_eq!(matches(&answer).len(), answer.shown);
        pages.extend(matches(&answer));
        match answer.next_skip {
            Some(next) => skip = next,
            None => break,
        }
    }
    assert_eq!(pages.len(), 580, "no match is on two pages");
    assert_eq!(pages.into_iter().collect::<BTreeSet<_>>(), whole);
}

#[test]
fn a_match_over_lines_is_one_match() {
    let project = Project::new();
    project.put("a", "start\nmiddle\nend\nother\n");
    let answer = search(&project, &request("start\\nmiddle"));
    assert_eq!(answer.total_matches, 1);
    assert_eq!(matches(&answer), [("a".into(), 1), ("a".into(), 2)]);
    let dotall =
        SearchRequest { multiline: Some(true), dot_matches_newline: true, ..request("start.*end") };
    assert_eq!(search(&project, &dotall).total_matches, 1);
}

#[test]
fn words_literals_cases_globs_and_types_narrow() {
    let project = Project::new();
    project.put("a.rs", "fn foo(x: T)\nFOOBAR\n");
    project.put("b.py", "foo(x\n");
    project.put("node_modules/c.js", "foo\n");
    let count = |request: SearchRequest| search(&project, &request).total_matches;
    assert_eq!(count(request("foo")), 3);
    assert_eq!(count(SearchRequest { ignore_case: true, ..request("foo") }), 4);
    assert_eq!(count(SearchRequest { word: true, ignore_case: true, ..request("foo") }), 3);
    assert_eq!(count(SearchRequest { literal: true, ..request("foo(x:") }), 1);
    assert_eq!(count(request("foo(x")), 2, "parentheses that do not pair are text");
    assert_eq!(count(SearchRequest { globs: vec!["*.rs".into()], ..request("foo") }), 1);
    assert_eq!(count(SearchRequest { globs: vec!["!*.rs".into()], ..request("foo") }), 2);
    assert_eq!(count(SearchRequest { file_type: Some("py".into()), ..request("foo") }), 1);
    assert_eq!(count(SearchRequest { prune: vec!["node_modules".into()], ..request("foo") }), 2);
    assert_eq!(
        count(SearchRequest { paths: vec!["*.py".into(), "a.rs".into()], ..request("foo") }),
        2
    );
    let files = search(&project, &SearchRequest { output: SearchOutput::Files, ..request("foo") });
    assert_eq!((files.files.len(), files.shown), (3, 3));
    let counts =
        SearchRequest { output: SearchOutput::Counts, ignore_case: true, ..request("foo") };
    assert_eq!(search(&project, &counts).files[0].total, 2);
}

#[test]
fn binary_files_are_left_and_counted_and_long_lines_cut() {
    let project = Project::new();
    project.put("binary", b"\0\0hit\n");
    project.put("long", format!("hit{}\n", "x".repeat(5000)));
    project.put(
        "utf16",
        "\u{feff}hit\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
    );
    let answer = search(&project, &request("hit"));
    assert_eq!(answer.binary_files, 1);
    let paths: Vec<&str> = answer.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["long", "utf16"]);
    let line = &answer.files[0].lines[0];
    assert!(line.is_clamped && line.text.chars().count() == 1025 && line.text.ends_with('…'));
}

#[test]
fn bad_requests_name_their_field() {
    let project = Project::new();
    project.put("a", "x");
    let error = |request: &SearchRequest| {
        umbo_files::search(&project.session, request, &Call::default()).unwrap_err().to_string()
    };
    assert_eq!(error(&request("")), "pattern: Pattern must not be empty (got \"\")");
    assert!(error(&request("a[")).starts_with("pattern: regex parse error"));
    assert!(
        error(&SearchRequest { file_type: Some("klingon".into()), ..request("a") })
            .starts_with("file_type: ")
    );
    assert!(
        error(&SearchRequest { globs: vec!["{".into()], ..request("a") }).starts_with("globs: ")
    );
    assert!(error(&SearchRequest { limit: 0, ..request("a") }).starts_with("limit: "));
}

#[test]
fn a_deadline_keeps_what_was_found_and_a_cancellation_is_an_error() {
    let project = Project::new();
    project.put("a", "hit\n");
    let stopped = Call { stop: Stop::after(std::time::Duration::ZERO), ..Call::default() };
    let answer = umbo_files::search(&project.session, &request("hit"), &stopped).unwrap();
    assert_eq!(answer.stopped, Some(StopReason::Deadline));
    let call = Call::default();
    call.stop.cancel();
    let error = umbo_files::search(&project.session, &request("hit"), &call).unwrap_err();
    assert!(matches!(error, Error::Stopped { reason: StopReason::Cancelled }));
}

/// Cancels as soon as a file is about to be searched.
struct Canceller(Stop);

impl Guard for Canceller {
    fn access(&self, _: &Access<'_>) -> Decision {
        Decision::Allow
    }

    fn may_see(&self, _: &Path) -> bool {
        self.0.cancel();
        true
    }
}

#[test]
fn a_cancellation_reaches_into_a_file() {
    let call = Call::default();
    let guard = Arc::new(Canceller(call.stop.clone()));
    let project = Project::with(|workspace| Session::new(workspace).with_guard(guard));
    project.put("only", "hit\n".repeat(1_000_000));
    let error = umbo_files::search(&project.session, &request("hit"), &call).unwrap_err();
    assert!(matches!(error, Error::Stopped { reason: StopReason::Cancelled }));
}
