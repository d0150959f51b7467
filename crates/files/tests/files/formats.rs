//! Files that other programs wrote: archives, databases, notebooks, documents, images, source code.

use std::fs;
use std::process::Command;

use umbo_files::{Call, Content, Error, LineStyle, ReadRequest, TextPage, TextSource};

use crate::{Project, run};

fn fixture(project: &Project, name: &str) {
    let source = format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    fs::copy(source, project.path(name)).unwrap();
}

fn plain(project: &Project, path: &str) -> String {
    project.page(path).text(LineStyle::Plain)
}

fn archive(project: &Project, path: &str) -> String {
    match project.read(path).unwrap().content {
        Content::Archive(listing) => listing.text(),
        other => panic!("{path} is no directory of an archive: {other:?}"),
    }
}

#[test]
fn archives_are_listed_and_their_members_read() {
    let project = Project::new();
    project.put("in/a.txt", (1..=100).map(|n| format!("line {n}\n")).collect::<String>());
    project.put("in/deep/er/b.bin", b"\0\x01\x02\xff\xfe binary");
    project.put("in/deep/c.txt", "c\n");
    let root = project.root();
    run(root, "tar", &["-cf", "x.tar", "in"], b"");
    run(root, "tar", &["-czf", "x.tgz", "./in"], b"");
    run(root, "tar", &["-czf", "x.tar.gz", "in"], b"");
    run(root, "zip", &["-qr", "x.zip", "in"], b"");
    for name in ["x.tar", "x.tgz", "x.tar.gz", "x.zip"] {
        assert_eq!(archive(&project, name), "in/\n", "{name}");
        assert_eq!(archive(&project, &format!("{name}:in")), "a.txt (792 B)\ndeep/\n", "{name}");
        assert_eq!(archive(&project, &format!("{name}:in/deep/")), "c.txt (2 B)\ner/\n", "{name}");
        let page = project.page(&format!("{name}:in/a.txt:50-51"));
        assert_eq!(page.text(LineStyle::Plain), "line 50\nline 51\n", "{name}");
        assert_eq!((page.source, page.total_lines), (TextSource::ArchiveMember, Some(100)));
        assert!(page.lines[0].anchor.is_none(), "a member cannot be edited");
        let error = project.read(&format!("{name}:in/deep/er/b.bin")).unwrap_err();
        assert!(error.to_string().contains("is no text"), "{name}: {error}");
        assert!(
            matches!(project.read(&format!("{name}:none")), Err(Error::NotFound { .. })),
            "{name}"
        );
        let error = project.read(&format!("{name}:in/../../x")).unwrap_err();
        assert!(error.to_string().contains("does not go up"), "{name}: {error}");
    }
    project.put("broken.zip", "PK\x03\x04 no archive at all");
    assert!(matches!(project.read("broken.zip"), Err(Error::Unreadable { .. })));
    let bytes = project.bytes("x.tgz");
    project.put("cut.tgz", &bytes[..bytes.len() / 2]);
    assert!(matches!(project.read("cut.tgz"), Err(Error::Unreadable { .. })));
}

#[test]
fn a_member_that_unpacks_to_too_much_is_refused() {
    let project = Project::new();
    let file = fs::File::create(project.path("zeros")).unwrap();
    file.set_len(100 << 20).unwrap();
    run(project.root(), "zip", &["-q", "bomb.zip", "zeros"], b"");
    run(project.root(), "tar", &["-czf", "bomb.tgz", "zeros"], b"");
    for path in ["bomb.zip:zeros", "bomb.tgz:zeros"] {
        let error = project.read(path).unwrap_err().to_string();
        assert!(error.contains("the limit is 32.0 MiB"), "{path}: {error}");
    }
}

fn database() -> Project {
    let project = Project::new();
    let sql = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, note BLOB);
        INSERT INTO users VALUES (1, 'ann', NULL), (2, 'bob', x'0001'), (3, 'cyd', 'a long note that is wider than any column may be');
        CREATE TABLE pairs (a, b, PRIMARY KEY (a, b)); INSERT INTO pairs VALUES ('x', 'y');
        CREATE VIEW names AS SELECT name FROM users;
        CREATE TABLE many (n); WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 700) INSERT INTO many SELECT n FROM c;";
    let (done, _) = run(project.root(), "sqlite3", &["shop.db"], sql.as_bytes());
    assert!(done);
    project
}

#[test]
fn a_database_is_read_by_table_row_and_query() {
    let project = database();
    assert_eq!(
        plain(&project, "shop.db"),
        "many (700 rows)\nnames (3 rows)\npairs (1 rows)\nusers (3 rows)\n"
    );
    let schema = plain(&project, "shop.db:users");
    assert!(schema.starts_with("CREATE TABLE users"), "{schema}");
    assert!(schema.contains("2  | bob  | <2 bytes>"), "{schema}");
    assert_eq!(plain(&project, "shop.db:users:2"), "id: 2\nname: bob\nnote: <2 bytes>\n");
    assert_eq!(plain(&project, "shop.db:pairs:1"), "a: x\nb: y\n");
    let rows = plain(&project, "shop.db:users?order=id:desc&limit=1&where=id<3");
    assert_eq!(rows, "id | name | note\n---+------+----------\n2  | bob  | <2 bytes>\n");
    assert_eq!(
        plain(&project, "shop.db:many").lines().filter(|l| l.parse::<u32>().is_ok()).count(),
        5
    );
    assert!(plain(&project, "shop.db?q=SELECT * FROM many").contains("more than 500 rows"));
    // The same sums as the program that wrote it.
    let query = "SELECT sum(n), max(n) FROM many WHERE n % 7 = 3";
    let (_, expected) = run(project.root(), "sqlite3", &["shop.db", query], b"");
    let ours = plain(&project, &format!("shop.db?q={}", query.replace('%', "%25")));
    let last = ours.lines().last().unwrap().replace(' ', "");
    assert_eq!(last, String::from_utf8(expected).unwrap().trim());
    assert!(matches!(project.read("shop.db:none"), Err(Error::NotFound { .. })));
    assert!(matches!(project.read("shop.db:users:99"), Err(Error::NotFound { .. })));
    let error = project.read("shop.db:users?order=wrong").unwrap_err().to_string();
    assert!(error.contains("the columns are id, name, note"), "{error}");
}

#[test]
fn nothing_in_a_database_can_be_changed_and_nothing_else_reached() {
    let project = database();
    let before = project.snapshot();
    for sql in [
        "DELETE FROM users",
        "UPDATE users SET name = 'x'",
        "INSERT INTO users VALUES (9, 'x', 'y')",
        "DROP TABLE users",
        "CREATE TABLE t (a)",
        "CREATE TEMP TABLE t (a)",
        "ATTACH 'other.db' AS other",
        "PRAGMA journal_mode = wal",
        "PRAGMA writable_schema = 1",
        "VACUUM INTO 'copy.db'",
        "SELECT load_extension('x')",
        "SELECT * FROM pragma_database_list",
        "SELECT 1; DELETE FROM users",
        "SELECT * FROM users WHERE id = ?",
        "",
    ] {
        let read = project.read(&format!("shop.db?q={sql}"));
        assert!(read.is_err() || sql.starts_with("SELECT 1;"), "{sql}: {read:?}");
        assert_eq!(project.snapshot(), before, "{sql}");
    }
}

#[test]
fn a_query_without_end_ends_at_the_deadline() {
    let project = database();
    let endless =
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n FROM c) SELECT count(*) FROM c";
    let request = ReadRequest { path: format!("shop.db?q={endless}"), ..Default::default() };
    let stop = umbo_files::Stop::after(std::time::Duration::from_millis(50));
    let call = Call { stop, ..Call::default() };
    let error = umbo_files::read(&project.session, &request, &call).unwrap_err();
    assert!(matches!(error, Error::Stopped { .. }), "{error}");
}

#[test]
fn a_database_in_use_shows_what_is_in_its_journal() {
    let project = Project::new();
    let script = "PRAGMA journal_mode = wal; CREATE TABLE t (a); INSERT INTO t VALUES ('committed');\n.shell cp w.db copy.db && cp w.db-wal copy.db-wal\n";
    run(project.root(), "sqlite3", &["w.db"], script.as_bytes());
    assert!(project.path("copy.db-wal").exists());
    assert!(plain(&project, "copy.db:t").contains("committed"));
    project.put("text.db", "this is no database\n");
    assert_eq!(plain(&project, "text.db"), "this is no database\n");
    assert!(project.read("text.db:t").unwrap_err().to_string().contains("no SQLite database"));
}

#[test]
fn a_notebook_is_read_and_edited_as_cells() {
    let project = Project::new();
    fixture(&project, "note.ipynb");
    let before = project.text("note.ipynb");
    let page = project.page("note.ipynb");
    assert_eq!(page.source, TextSource::Notebook);
    assert_eq!(
        page.text(LineStyle::Plain),
        "# %% [markdown] cell:0\n# Title\nsome text\n# %% [code] cell:1\nx = 1\nprint(x)\n"
    );
    let anchor = page.lines[4].anchor.unwrap();
    project.hashline(&format!("@@ note.ipynb\n= {anchor}..{anchor}\n~x = 2\n")).unwrap();
    assert_eq!(project.text("note.ipynb"), before.replace("x = 1", "x = 2"));
    project.replace("note.ipynb", "print(x)\n", "print(x)\n# %% [code]\nnew()\n").unwrap();
    let (valid, cells) = run(
        project.root(),
        "jq",
        &["-r", "[.cells[].source | join(\"\")] | join(\";\")", "note.ipynb"],
        b"",
    );
    assert!(valid);
    assert_eq!(String::from_utf8(cells).unwrap(), "# Title\nsome text;x = 2\nprint(x);new()\n");
    assert!(plain(&project, "note.ipynb:raw").contains("\"nbformat\""));
}

#[test]
fn documents_are_read_as_text() {
    let project = Project::new();
    let cases: &[(&str, &[&str])] = &[
        (
            "report.docx",
            &[
                "# Shells & Shields\n",
                "The umbo is the boss at the centre.",
                "| name | size |\n| limpet | 3 cm |\n",
            ],
        ),
        (
            "table.xlsx",
            &["## Shells\n", "| limpet | 3.5 | 2024-02-29 |", "| whelk \\| big | 8 |", "## Empty"],
        ),
        (
            "talk.pptx",
            &["## Slide 1\n\nFirst slide\n", "another point", "## Slide 2\n\nSecond <slide>\n"],
        ),
        ("paper.pdf", &["## Page 1\n\nHello from page one.", "## Page 2\n\nAnd this is page two."]),
        ("book.epub", &["# Chapter One\n\nIt was a *dark* night.", "# Chapter Two"]),
        ("open.odt", &["## Open heading\n", "Open text & more."]),
    ];
    for (name, expected) in cases {
        fixture(&project, name);
        let page = project.page(name);
        let text = page.text(LineStyle::Plain);
        for part in *expected {
            assert!(text.contains(part), "{name} has no {part:?}:\n{text}");
        }
        assert!(matches!(page.source, TextSource::Document(_)));
    }
    let first = project.page("report.docx:1-1");
    assert_eq!(first.lines.len(), 1);
    project.put("old.doc", b"\xd0\xcf\x11\xe0");
    assert!(project.read("old.doc").unwrap_err().to_string().contains("save it as .docx"));
}

/// Half a document, and one with garbage in it, are said to be damaged; nothing else happens.
#[test]
fn damaged_documents_are_said_to_be_damaged() {
    let project = Project::new();
    for name in ["report.docx", "table.xlsx", "talk.pptx", "paper.pdf", "book.epub", "open.odt"] {
        fixture(&project, name);
        let bytes = project.bytes(name);
        for cut in [1, bytes.len() / 3, bytes.len() / 2, bytes.len() - 10] {
            project.put(name, &bytes[..cut]);
            if let Ok(answer) = project.read(name) {
                assert!(matches!(answer.content, Content::Text(_)), "{name} cut at {cut}");
            }
        }
        let mut garbled = bytes.clone();
        garbled.iter_mut().skip(40).step_by(97).for_each(|byte| *byte ^= 0x55);
        project.put(name, &garbled);
        let _ = project.read(name);
    }
}

#[test]
fn images_are_shown_within_the_caps() {
    let project = Project::new();
    let image = |path: &str| match project.read(path).unwrap().content {
        Content::Image(image) => image,
        other => panic!("{path} is no image: {other:?}"),
    };
    fixture(&project, "dot.png");
    let dot = image("dot.png");
    assert_eq!(
        (dot.mime_type.as_str(), dot.width, dot.height, dot.is_resized),
        ("image/png", 40, 30, false)
    );
    fixture(&project, "blue.bmp");
    let blue = image("blue.bmp");
    assert_eq!((blue.mime_type.as_str(), blue.original), ("image/png", (64, 32)));
    // Noise cannot be compressed, so it must become smaller.
    let mut state = 1u32;
    let mut noise = b"BM".to_vec();
    let (width, height) = (1800u32, 900u32);
    noise.extend((54 + width * height * 3).to_le_bytes());
    noise.extend([0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0]);
    noise.extend(width.to_le_bytes());
    noise.extend(height.to_le_bytes());
    noise.extend([1, 0, 24, 0]);
    noise.extend([0; 24]);
    noise.extend((0..width * height * 3).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    }));
    project.put("noise.bmp", noise);
    let noise = image("noise.bmp");
    assert!(noise.is_resized && noise.width <= 1568, "{}x{}", noise.width, noise.height);
    assert!(noise.data.len() <= 300 * 1024 * 4 / 3 + 4, "{} bytes", noise.data.len());
    project.put("cut.png", &project.bytes("dot.png")[..60]);
    assert!(matches!(project.read("cut.png"), Err(Error::Unreadable { .. })));
    let (_, head) =
        Command::new("true").output().map(|o| (o.status, project.bytes("dot.png"))).unwrap();
    let large = fs::File::create(project.path("large.png")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&large, &head, 0).unwrap();
    large.set_len(21 << 20).unwrap();
    assert!(matches!(project.read("large.png"), Err(Error::TooLarge { .. })));
}

fn summary(project: &Project, path: &str) -> TextPage {
    let request = ReadRequest { path: path.to_owned(), summary: true, ..Default::default() };
    match umbo_files::read(&project.session, &request, &Call::default()).unwrap().content {
        Content::Text(page) => page,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_summary_leaves_out_bodies_and_says_which() {
    let project = Project::new();
    let body = |indent: &str, ending: &str| -> String {
        (0..6).map(|n| format!("{indent}x({n}){ending}\n")).collect()
    };
    let cases = [
        (
            "a.rs",
            format!(
                "struct A;\nimpl A {{\n    fn f(&self) {{\n{}    }}\n    fn short() {{ 1 }}\n}}\n",
                body("        ", ";")
            ),
            (4, 9),
        ),
        (
            "a.py",
            format!("class A:\n    def f(self):\n{}\n    y = 1\n", body("        ", "")),
            (3, 8),
        ),
        ("a.js", format!("const f = (a) => {{\n{}}};\nclass B {{ }}\n", body("  ", ";")), (2, 7)),
        ("a.ts", format!("function f(a: number): void {{\n{}}}\n", body("  ", ";")), (2, 7)),
        ("a.go", format!("package a\n\nfunc f() {{\n{}}}\n", body("\t", "")), (4, 9)),
        ("A.java", format!("class A {{\n  void f() {{\n{}  }}\n}}\n", body("    ", ";")), (3, 8)),
        ("a.c", format!("int f(void)\n{{\n{}}}\n", body("  ", ";")), (3, 8)),
        ("a.cpp", format!("int A::f() {{\n{}}}\n", body("  ", ";")), (2, 7)),
        ("a.sh", format!("f() {{\n{}}}\n", body("  ", "").replace(['(', ')'], " ")), (2, 7)),
        ("a.rb", format!("def f\n{}end\n", body("  ", "")), (2, 7)),
    ];
    for (name, text, (first, last)) in cases {
        project.put(name, &text);
        let page = summary(&project, name);
        let folds: Vec<(u64, Option<u64>)> =
            page.folded.iter().map(|fold| (fold.start, fold.end)).collect();
        assert_eq!(folds, [(first, Some(last))], "{name}\n{}", page.text(LineStyle::Numbers));
        let numbers: Vec<u64> = page.lines.iter().map(|line| line.number).collect();
        let expected: Vec<u64> =
            (1..=text.lines().count() as u64).filter(|n| !(first..=last).contains(n)).collect();
        assert_eq!(numbers, expected, "{name}");
        assert!(
            page.notes[0].contains(&format!("6 lines across 1 elided regions; read {name}:raw")),
            "{:?}",
            page.notes
        );
        // A line that is shown can be edited.
        let anchor = page.lines[0].anchor.unwrap();
        project.hashline(&format!("@@ {name}\n< {anchor}\n~\n")).unwrap();
    }
    project.put("plain.txt", "no code\n".repeat(20));
    assert!(summary(&project, "plain.txt").folded.is_empty());
    assert!(summary(&project, "a.rs:1-3").folded.is_empty());
}

#[test]
fn code_that_is_deep_or_broken_does_no_harm() {
    let project = Project::new();
    project.put("deep.rs", format!("fn f() {{ {}{} }}", "(".repeat(100_000), ")".repeat(100_000)));
    let _ = summary(&project, "deep.rs");
    project.put("broken.rs", "fn f( {{{{ impl struct \u{0} fn }} ] {".replace('\0', ""));
    let _ = summary(&project, "broken.rs");
}
