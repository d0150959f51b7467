//! What other programs say about the same files.

use std::collections::BTreeSet;
use std::fs;

use proptest::prelude::*;
use umbo_files::{Call, FindRequest, SearchOutput, SearchRequest};

use crate::{Project, run};

/// The sources of this crate, which are text that nobody made for a test.
fn sources() -> Project {
    let project = Project::new();
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    run(project.root(), "cp", &["-r", crates, "crates"], b"");
    run(project.root(), "git", &["init", "-q"], b"");
    project.put(".gitignore", "*.md\n/crates/view/\n!README.md\n");
    project.put("crates/gate/.ignore", "*.toml\n");
    project.put("crates/files/.hidden/x.rs", "fn hidden() {}\n");
    project.put("crates/binary.rs", b"fn \0 binary");
    project
}

/// `path:line` of every match, as ripgrep prints them.
fn ripgrep(project: &Project, words: &[&str]) -> BTreeSet<String> {
    let mut all = vec!["-n", "--no-heading", "--hidden", "--no-ignore-global", "-g", "!.git"];
    all.extend(words);
    all.push("./");
    let (_, out) = run(project.root(), "rg", &all, b"");
    let text = String::from_utf8_lossy(&out).into_owned();
    text.lines()
        .filter_map(|line| {
            let mut parts = line.splitn(3, ':');
            Some(format!("{}:{}", parts.next()?.trim_start_matches("./"), parts.next()?))
        })
        .collect()
}

fn ours(project: &Project, request: &SearchRequest) -> BTreeSet<String> {
    let request = SearchRequest { limit: 1_000_000, before: 0, after: 0, ..request.clone() };
    let answer = umbo_files::search(&project.session, &request, &Call::default()).unwrap();
    let lines =
        answer.files.iter().flat_map(|file| file.lines.iter().map(move |line| (file, line)));
    lines
        .filter(|(_, line)| line.is_match)
        .map(|(file, line)| format!("{}:{}", file.path, line.number))
        .collect()
}

#[test]
fn ripgrep_finds_the_same_lines() {
    let project = sources();
    let cases: &[(SearchRequest, &[&str])] = &[
        (SearchRequest { pattern: "fn ".into(), ..Default::default() }, &["fn "]),
        (
            SearchRequest { pattern: "error".into(), ignore_case: true, ..Default::default() },
            &["-i", "error"],
        ),
        (
            SearchRequest { pattern: r"\bself\.\w+\(\)".into(), ..Default::default() },
            &[r"\bself\.\w+\(\)"],
        ),
        (
            SearchRequest { pattern: "^use std::(fs|io)".into(), ..Default::default() },
            &["^use std::(fs|io)"],
        ),
        (
            SearchRequest { pattern: "Path".into(), word: true, ..Default::default() },
            &["-w", "Path"],
        ),
        (
            SearchRequest { pattern: "Vec<u8>".into(), literal: true, ..Default::default() },
            &["-F", "Vec<u8>"],
        ),
        (
            SearchRequest {
                pattern: "struct".into(),
                file_type: Some("rust".into()),
                ..Default::default()
            },
            &["-trust", "struct"],
        ),
        (
            SearchRequest {
                pattern: "struct".into(),
                globs: vec!["*.md".into(), "!**/tests/**".into()],
                gitignore: false,
                ..Default::default()
            },
            &["-g", "*.md", "-g", "!**/tests/**", "--no-ignore", "struct"],
        ),
        (
            SearchRequest { pattern: r"\{\n    let".into(), ..Default::default() },
            &["-U", r"\{\n    let"],
        ),
        (
            SearchRequest { pattern: "name".into(), gitignore: false, ..Default::default() },
            &["--no-ignore", "name"],
        ),
    ];
    for (request, words) in cases {
        let expected = ripgrep(&project, words);
        assert!(!expected.is_empty(), "{words:?} finds something");
        assert_eq!(ours(&project, request), expected, "{words:?}");
    }
}

#[test]
fn ripgrep_counts_the_same() {
    let project = sources();
    let (_, out) = run(project.root(), "rg", &["-c", "--hidden", "-g", "!.git", "let", "./"], b"");
    let expected: BTreeSet<String> =
        String::from_utf8(out).unwrap().lines().map(|line| line[2..].to_owned()).collect();
    let request = SearchRequest {
        pattern: "let".into(),
        output: SearchOutput::Counts,
        limit: 10_000,
        ..Default::default()
    };
    let answer = umbo_files::search(&project.session, &request, &Call::default()).unwrap();
    let counts: BTreeSet<String> =
        answer.files.iter().map(|file| format!("{}:{}", file.path, file.total)).collect();
    assert_eq!(counts, expected);
}

#[test]
fn fd_finds_the_same_files() {
    let project = sources();
    let find = |paths: &[&str], hidden: bool, gitignore: bool| -> BTreeSet<String> {
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        let request = FindRequest {
            paths,
            hidden,
            gitignore,
            limit: 1_000_000,
            timeout_ms: 60_000,
            ..Default::default()
        };
        let answer = umbo_files::find(&project.session, &request, &Call::default()).unwrap();
        answer.files.into_iter().map(|file| file.path).collect()
    };
    let fd = |words: &[&str]| -> BTreeSet<String> {
        let mut all = vec!["--type", "f", "--type", "l", "--exclude", ".git", "--glob"];
        all.extend(words);
        let (_, out) = run(project.root(), "fdfind", &all, b"");
        String::from_utf8(out)
            .unwrap()
            .lines()
            .map(|line| line.trim_start_matches("./").to_owned())
            .collect()
    };
    assert_eq!(find(&["*.rs"], true, true), fd(&["--hidden", "*.rs"]));
    assert_eq!(find(&["*.rs"], false, true), fd(&["*.rs"]));
    assert_eq!(
        find(&["*.{md,toml}"], true, false),
        fd(&["--hidden", "--no-ignore", "*.{md,toml}"])
    );
    assert_eq!(
        find(&["crates/files"], true, true),
        fd(&["--hidden", "--full-path", "**/crates/files/**"])
    );
}

#[test]
fn a_huge_directory_is_found_whole() {
    let project = Project::new();
    for number in 0..20_000 {
        fs::write(project.path(&format!("f{number}")), "").unwrap();
    }
    let request = FindRequest { limit: 7, timeout_ms: 60_000, ..Default::default() };
    let answer = umbo_files::find(&project.session, &request, &Call::default()).unwrap();
    assert_eq!((answer.total, answer.files.len()), (20_000, 7));
}

fn lines() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(
        prop_oneof!["[ab]", "[a-d]{1,3}", Just(String::new()), Just("}".to_owned())],
        0..30,
    )
}

/// A text, and another that has some of its lines changed.
fn texts() -> impl Strategy<Value = (String, String)> {
    let change =
        proptest::collection::vec((any::<prop::sample::Index>(), 0..3u8, "[a-z]{0,4}"), 1..6);
    (lines(), change, any::<[bool; 2]>()).prop_map(|(old, changes, ends)| {
        let mut new = old.clone();
        for (at, kind, text) in changes {
            let at = at.index(new.len() + 1);
            match kind {
                0 => new.insert(at, text),
                1 if at < new.len() => {
                    new.remove(at);
                }
                _ if at < new.len() => new[at] = text,
                _ => new.push(text),
            }
        }
        let join = |lines: &[String], ended: bool| {
            let text = lines.join("\n");
            if ended && !lines.is_empty() { text + "\n" } else { text }
        };
        (join(&old, ends[0]), join(&new, ends[1]))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..Default::default() })]

    /// A diff that `diff` makes is applied as `patch` and `git apply` do it.
    #[test]
    fn a_diff_is_applied_as_patch_and_git_do((old, new) in texts(), crlf in any::<bool>(), context in 0..4u8) {
        let ending = |text: &str| if crlf { text.replace('\n', "\r\n") } else { text.to_owned() };
        let (old, new) = (ending(&old), ending(&new));
        prop_assume!(old != new && !old.is_empty() && !new.is_empty());
        let project = Project::new();
        project.put("a/f", &old);
        project.put("b/f", &new);
        let flag = format!("-U{context}");
        let (_, diff) = run(project.root(), "diff", &[&flag, "a/f", "b/f"], b"");
        project.put("f", &old);
        project.patch(&String::from_utf8(diff.clone()).unwrap()).unwrap();
        prop_assert_eq!(project.bytes("f"), new.as_bytes());
        project.put("f", &old);
        let (applied, _) = run(project.root(), "patch", &["--binary", "-p1"], &diff);
        prop_assert!(applied);
        prop_assert_eq!(project.bytes("f"), new.as_bytes());
    }

    /// A diff against a file that has moved on: what we apply, `git apply` applies to the same bytes.
    #[test]
    fn a_diff_with_an_offset_is_applied_as_git_does((old, new) in texts(), above in lines()) {
        prop_assume!(old != new && !old.is_empty() && !new.is_empty());
        // Where the last line has no end, git also takes the same words in the middle for it, and
        // joins them with what follows.
        prop_assume!(old.ends_with('\n'));
        let project = Project::new();
        project.put("a/f", &old);
        project.put("b/f", &new);
        let (_, diff) = run(project.root(), "diff", &["-U3", "a/f", "b/f"], b"");
        let above: String = above.iter().map(|line| format!("{line}\n")).collect();
        let moved = format!("{above}{old}");
        project.put("f", &moved);
        let (git_applied, _) = run(project.root(), "git", &["apply", "-p1", "-"], &diff);
        let git = project.bytes("f");
        project.put("f", &moved);
        if project.patch(&String::from_utf8(diff).unwrap()).is_ok() && git_applied {
            prop_assert_eq!(project.bytes("f"), git);
        }
    }

    /// What we merge, `git merge-file` merges without conflict to the same text. Every line is
    /// different, so that there is one way to see what changed.
    #[test]
    fn a_stale_edit_is_merged_as_git_does(
        lines in 1..25usize,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), 0..3u8), 1..5),
        at in any::<prop::sample::Index>(),
    ) {
        let base: String = (0..lines).map(|number| format!("line {number}\n")).collect();
        let mut theirs: Vec<String> = base.lines().map(str::to_owned).collect();
        for (number, (at, kind)) in changes.into_iter().enumerate() {
            let at = at.index(theirs.len() + 1);
            match kind {
                0 => theirs.insert(at, format!("their {number}")),
                1 if at < theirs.len() => {
                    theirs.remove(at);
                }
                _ if at < theirs.len() => theirs[at] = format!("their {number}"),
                _ => theirs.push(format!("their {number}")),
            }
        }
        let theirs: String = theirs.iter().map(|line| format!("{line}\n")).collect();
        let count = base.lines().count();
        prop_assume!(!theirs.is_empty());
        let line = at.index(count);
        let mut ours: Vec<&str> = base.lines().collect();
        ours[line] = "our own line";
        let ours = ours.join("\n") + "\n";
        let project = Project::new();
        project.put("f", &base);
        let anchor = project.anchor("f", line as u64 + 1);
        project.put("f", &theirs);
        let input = format!("@@ f\n= {anchor}..{anchor}\n~our own line\n");
        if let Ok(answer) = project.hashline(&input) {
            project.put("base", &base);
            project.put("theirs", &theirs);
            project.put("ours", &ours);
            if answer.warnings.iter().any(|warning| warning.contains("merged")) {
                let (clean, merged) = run(project.root(), "git", &["merge-file", "-p", "ours", "base", "theirs"], b"");
                prop_assert!(clean, "git sees a conflict");
                prop_assert_eq!(project.text("f"), String::from_utf8(merged).unwrap());
            }
        } else {
            prop_assert_eq!(project.text("f"), theirs);
        }
    }
}
