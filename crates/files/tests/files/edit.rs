use std::fs;
use std::os::unix::fs::PermissionsExt;

use umbo_files::{Call, Edit, EditRequest, Error, FileOp, Replacement};

use crate::Project;

#[test]
fn anchored_operations_are_applied_to_the_file_as_it_was_read() {
    let project = Project::new();
    project.put("a", "one\ntwo\nthree\nfour\n");
    let [one, two, three, four] = [1, 2, 3, 4].map(|line| project.anchor("a", line));
    let input = format!(
        "@@ a\n< {one}\n~zero\n+ {one}\n~one and a half\n- {two}..{two}\n= {three}..{four}\n~3\n~4\n+ EOF\n~end\n+ BOF\n~top\n"
    );
    let answer = project.hashline(&input).unwrap();
    assert_eq!(project.text("a"), "zero\ntop\none\none and a half\n3\n4\nend\n");
    let file = &answer.files[0];
    assert_eq!((&file.op, file.first_changed_line), (&FileOp::Update, Some(1)));
    assert!(file.diff.contains("-two\n"), "{}", file.diff);
}

#[test]
fn a_replacement_without_payload_is_one_empty_line() {
    let project = Project::new();
    project.put("a", "one\ntwo\nthree\n");
    let two = project.anchor("a", 2);
    project.hashline(&format!("@@ a\n= {two}..{two}\n")).unwrap();
    assert_eq!(project.text("a"), "one\n\nthree\n");
}

#[test]
fn only_insertions_at_the_ends_make_a_file() {
    let project = Project::new();
    let answer = project.hashline("@@ new/dir/a\n+ BOF\n~first\n+ EOF\n~last\n").unwrap();
    assert_eq!(answer.files[0].op, FileOp::Create);
    assert_eq!(project.text("new/dir/a"), "first\nlast\n");
    assert!(matches!(project.hashline("@@ none\n+ 1aa\n~x\n"), Err(Error::NotFound { .. })));
}

#[test]
fn nothing_of_a_batch_is_written_if_one_part_does_not_fit() {
    let project = Project::new();
    project.put("a", "one\n");
    project.put("b", "two\n");
    let one = project.anchor("a", 1);
    let before = project.snapshot();
    let good = format!("@@ a\n= {one}..{one}\n~changed\n@@ new\n+ BOF\n~x\n");
    for bad in [
        "@@ b\n- 1zz..1zz\n",
        "@@ b\n- 7zz..7zz\n",
        "@@ none\n- 1aa..1aa\n",
        "@@ b\n? 1aa\n",
        "@@ ../outside\n+ BOF\n~x\n",
        "@@ sub/\n+ BOF\n~x\n",
        "@@ a/below\n+ BOF\n~x\n",
    ] {
        let error = project.hashline(&format!("{good}{bad}")).unwrap_err();
        assert_eq!(project.snapshot(), before, "{bad}: {error}");
    }
    project.hashline(&good).unwrap();
}

#[test]
fn line_endings_marks_encodings_and_permissions_are_kept() {
    let project = Project::new();
    let path = project.put("crlf", "\u{feff}one\r\ntwo\r\nthree");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let two = project.anchor("crlf", 2);
    project.hashline(&format!("@@ crlf\n+ {two}\n~new\n+ EOF\n~end\n")).unwrap();
    assert_eq!(project.text("crlf"), "\u{feff}one\r\ntwo\r\nnew\r\nthree\r\nend");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    project.put("utf16", wide("\u{feff}a\nb\n"));
    project.replace("utf16", "b", "\u{1f600}").unwrap();
    assert_eq!(project.bytes("utf16"), wide("\u{feff}a\n\u{1f600}\n"));
    project.put("latin", b"gr\xfcn\nrot\n");
    let answer = project.replace("latin", "rot", "wei\u{df}").unwrap();
    assert_eq!(project.bytes("latin"), b"gr\xfcn\nwei\xdf\n");
    assert!(answer.warnings[0].contains("windows-1252"), "{:?}", answer.warnings);
    let error = project.replace("latin", "gr\u{fc}n", "\u{4e2d}").unwrap_err();
    assert!(error.to_string().contains("has no '\u{4e2d}'"), "{error}");
    project.put("mixed", "a\nb\r\nc\n");
    project.replace("mixed", "c", "C").unwrap();
    assert_eq!(project.text("mixed"), "a\nb\r\nC\n");
    project.put("binary", b"\0\x01\x02");
    assert!(project.replace("binary", "a", "b").unwrap_err().to_string().contains("no text"));
}

#[test]
fn anchors_that_moved_are_recovered_from_what_was_read() {
    let project = Project::new();
    let old = "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n";
    project.put("a.rs", old);
    let two = project.anchor("a.rs", 6);
    // Somebody else adds lines above.
    project.put("a.rs", format!("// new\n// lines\n{old}"));
    let answer = project.hashline(&format!("@@ a.rs\n= {two}..{two}\n~    zwei();\n")).unwrap();
    assert_eq!(project.text("a.rs"), format!("// new\n// lines\n{}", old.replace("two", "zwei")));
    assert!(answer.warnings[0].contains("merged"), "{:?}", answer.warnings);
}

#[test]
fn anchors_from_a_part_of_a_file_are_recovered_at_the_only_place_that_fits() {
    let project = Project::new();
    let old: String = (1..=100).map(|n| format!("line {n}\n")).collect();
    project.put("a", &old);
    let page = project.page("a:50-52");
    let anchor = page.lines[1].anchor.unwrap();
    let other = project.put("a", format!("above\n{old}"));
    project.hashline(&format!("@@ a\n- {anchor}..{anchor}\n")).unwrap();
    assert_eq!(project.text("a"), format!("above\n{}", old.replace("line 51\n", "")));
    drop(other);
}

#[test]
fn a_stale_edit_that_cannot_be_merged_is_refused_with_fresh_lines() {
    let project = Project::new();
    project.put("a", "one\ntwo\nthree\nfour\n");
    let [two, four] = [2, 4].map(|line| project.anchor("a", line));
    project.put("a", "one\nZWEI\nthree\nfour\n");
    let error = project.hashline(&format!("@@ a\n= {two}..{two}\n~2\n")).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::StaleAnchors { .. }));
    assert!(text.contains(&format!("*{}|ZWEI\n", project.anchor("a", 2))), "{text}");
    assert!(text.contains("|one\n") && text.contains("|four\n"), "{text}");
    // Without having read it, an anchor is all there is.
    assert_eq!(project.text("a"), "one\nZWEI\nthree\nfour\n");
    let _ = four;
}

#[test]
fn a_changed_line_inside_a_range_is_noticed_though_its_ends_fit() {
    let project = Project::new();
    project.put("a", "one\ntwo\nthree\nfour\n");
    let [one, four] = [1, 4].map(|line| project.anchor("a", line));
    project.put("a", "one\ntwo\nDREI!\nfour\n");
    let error = project.hashline(&format!("@@ a\n- {one}..{four}\n")).unwrap_err();
    assert!(error.to_string().contains("|DREI!"), "{error}");
    assert_eq!(project.text("a"), "one\ntwo\nDREI!\nfour\n");
}

#[test]
fn a_payload_that_repeats_the_next_line_does_not_double_it() {
    let project = Project::new();
    project.put("a", "fn a() {\n    old();\n    last();\n}\n");
    let two = project.anchor("a", 2);
    let input = format!("@@ a\n= {two}..{two}\n~    new();\n~    last();\n");
    let answer = project.hashline(&input).unwrap();
    assert_eq!(project.text("a"), "fn a() {\n    new();\n    last();\n}\n");
    assert!(answer.warnings[0].contains("repeats line 3"), "{:?}", answer.warnings);
}

#[test]
fn operations_that_touch_the_same_lines_are_refused() {
    let project = Project::new();
    project.put("a", "one\ntwo\nthree\n");
    let [one, two, three] = [1, 2, 3].map(|line| project.anchor("a", line));
    let input = format!("@@ a\n- {one}..{two}\n= {two}..{three}\n~x\n");
    assert!(project.hashline(&input).unwrap_err().to_string().contains("join both"));
    let input = format!("@@ a\n- {one}..{three}\n+ {two}\n~x\n");
    assert!(project.hashline(&input).unwrap_err().to_string().contains("join both"));
    assert_eq!(project.text("a"), "one\ntwo\nthree\n");
    assert!(matches!(
        project.hashline(&format!("@@ a\n= {one}..{one}\n~one\n")),
        Err(Error::NoChange { .. })
    ));
}

#[test]
fn text_is_replaced_if_it_occurs_once_or_everywhere_by_choice() {
    let project = Project::new();
    project.put("a", "x = 1\ny = 1\nx = 2\n");
    let error = project.replace("a", "= 1", "= 9").unwrap_err().to_string();
    assert!(error.contains("occurs 2 times (lines 1, 2)"), "{error}");
    let edit = |old: &str, new: &str, all| Replacement { old: old.into(), new: new.into(), all };
    let edits = vec![edit("= 1", "= 9", true), edit("x = 9", "z = 9", false)];
    project.edit(Edit::Replace { path: "a".into(), edits }).unwrap();
    assert_eq!(project.text("a"), "z = 9\ny = 9\nx = 2\n");
    // One that does not fit undoes those before it.
    let edits = vec![edit("z", "Z", false), edit("none", "", false)];
    assert!(project.edit(Edit::Replace { path: "a".into(), edits }).is_err());
    assert_eq!(project.text("a"), "z = 9\ny = 9\nx = 2\n");
    // Other white space at the end of lines.
    project.put("b", "if a {  \n    b\u{2019}s\n}\n");
    let answer = project.replace("b", "if a {\n    b's\n}", "c").unwrap();
    assert_eq!(project.text("b"), "c\n");
    assert_eq!(answer.warnings.len(), 1);
    project.put("crlf", "a\r\nb\r\nc\r\n");
    project.replace("crlf", "a\nb\n", "x\ny\nz\n").unwrap();
    assert_eq!(project.text("crlf"), "x\r\ny\r\nz\r\nc\r\n");
    let created = vec![edit("", "fresh\n", false)];
    project.edit(Edit::Replace { path: "d/e".into(), edits: created }).unwrap();
    assert_eq!(project.text("d/e"), "fresh\n");
}

#[test]
fn an_envelope_adds_deletes_moves_and_updates() {
    let project = Project::new();
    project.put("update.py", "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n");
    project.put("gone", "x\n");
    project.put("from", "a\nb\n");
    let answer = project
        .patch(
            "*** Begin Patch\n*** Add File: new/file\n+hello\n*** Delete File: gone\n*** Update File: from\n*** Move to: to\n@@\n-b\n+B\n*** Update File: update.py\n@@ class B:\n@@     def f(self):\n-        return 1\n+        return 2\n*** End Patch\n",
        )
        .unwrap();
    assert_eq!(project.text("new/file"), "hello\n");
    assert!(!project.path("gone").exists() && !project.path("from").exists());
    assert_eq!(project.text("to"), "a\nB\n");
    assert!(project.text("update.py").ends_with("return 2\n"));
    assert!(project.text("update.py").contains("return 1"));
    let ops: Vec<&FileOp> = answer.files.iter().map(|file| &file.op).collect();
    assert_eq!(
        ops,
        [&FileOp::Create, &FileOp::Delete, &FileOp::MoveFrom("from".into()), &FileOp::Update]
    );
}

#[test]
fn an_envelope_that_fails_in_its_last_part_changes_nothing() {
    let project = Project::new();
    project.put("a", "one\n");
    let before = project.snapshot();
    for bad in [
        "*** Update File: none\n@@\n-x\n+y\n",
        "*** Delete File: none\n",
        "*** Update File: a\n@@\n-two\n+2\n",
        "*** Fly File: a\n",
    ] {
        let patch = format!(
            "*** Begin Patch\n*** Add File: new\n+x\n*** Update File: a\n@@\n-one\n+1\n{bad}*** End Patch\n"
        );
        let error = project.patch(&patch).unwrap_err();
        assert_eq!(project.snapshot(), before, "{bad}: {error}");
    }
}

#[test]
fn a_dry_run_changes_nothing_and_says_what_would_change() {
    let project = Project::new();
    project.put("a", "one\n");
    let edits = vec![Replacement { old: "one".into(), new: "two".into(), all: false }];
    let request = EditRequest {
        edit: Edit::Replace { path: "a".into(), edits },
        dry_run: true,
        if_read: false,
    };
    let answer = umbo_files::edit(&project.session, &request, &Call::default()).unwrap();
    assert!(answer.files[0].diff.contains("-one\n+two\n"));
    assert_eq!(project.text("a"), "one\n");
}
