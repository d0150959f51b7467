use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use umbo_files::{
    Call, Content, Encoding, Error, LineEnding, LineStyle, ReadRequest, Stop, StopReason,
};

use crate::{Project, run};

fn numbered(count: usize) -> String {
    (1..=count).map(|number| format!("line {number}\n")).collect()
}

fn texts(page: &umbo_files::TextPage) -> Vec<&str> {
    page.lines.iter().map(|line| line.text.as_str()).collect()
}

#[test]
fn selectors_choose_lines() {
    let project = Project::new();
    project.put("a", numbered(20));
    assert_eq!(texts(&project.page("a:19")), ["line 19", "line 20"]);
    assert_eq!(texts(&project.page("a:3-4")), ["line 3", "line 4"]);
    assert_eq!(texts(&project.page("a:3+2")), ["line 3", "line 4"]);
    let raw = project.page("a:3-4:raw");
    assert!(raw.lines.iter().all(|line| line.anchor.is_none()));
    let page = project.page("a:3-4");
    assert_eq!(
        (page.total_lines, page.next_line, page.final_newline),
        (Some(20), None, Some(true))
    );
    let with_context = ReadRequest { path: "a:10-11".into(), context: true, ..Default::default() };
    let answer = umbo_files::read(&project.session, &with_context, &Call::default()).unwrap();
    let Content::Text(page) = answer.content else { panic!() };
    assert_eq!((page.lines[0].number, page.lines.last().unwrap().number), (9, 14));
    let beyond = project.page("a:21");
    assert!(beyond.lines.is_empty());
    assert_eq!(beyond.notes, ["line 21 is beyond the end; the file has 20 lines. Use :20"]);
    assert!(project.read("a:0").unwrap_err().to_string().contains("1-indexed"));
}

#[test]
fn a_file_called_like_a_selector_is_that_file() {
    let project = Project::new();
    project.put("a", "short\n");
    project.put("a:1-2", "odd\n");
    assert_eq!(texts(&project.page("a:1-2")), ["odd"]);
}

#[test]
fn the_caps_cut_and_say_where_to_go_on() {
    let project = Project::new();
    project.put("many", numbered(3500));
    let page = project.page("many");
    assert_eq!(
        (page.lines.len(), page.next_line, page.total_lines),
        (3000, Some(3001), Some(3500))
    );
    project.put("wide", format!("{}\n", "x".repeat(999)).repeat(100));
    let page = project.page("wide");
    assert_eq!((page.lines.len(), page.next_line), (51, Some(52)));
    project.put("long", format!("{}\nshort\n", "y".repeat(200_000)));
    let page = project.page("long");
    assert_eq!(page.clamped_lines, [1]);
    assert_eq!((page.lines[0].text.len(), page.lines[0].anchor), (50 * 1024, None));
    assert_eq!(page.next_line, Some(2));
    assert_eq!(texts(&project.page("long:2")), ["short"]);
}

#[test]
fn the_pages_together_are_the_file() {
    let project = Project::new();
    project.put("many", numbered(10_000));
    let (mut all, mut next) = (String::new(), Some(1));
    while let Some(line) = next {
        let page = project.page(&format!("many:{line}"));
        all.push_str(&page.text(LineStyle::Plain));
        next = page.next_line;
    }
    assert_eq!(all, numbered(10_000));
}

#[test]
fn encodings_and_line_endings_are_said() {
    let project = Project::new();
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    project.put("utf16", wide("\u{feff}gr\u{fc}n\r\nrot\r\n"));
    let page = project.page("utf16");
    assert_eq!(texts(&page), ["gr\u{fc}n", "rot"]);
    assert_eq!((page.encoding, page.line_ending), (Encoding::Utf16Le, LineEnding::CrLf));
    project.put("latin", b"gr\xfcn\nrot");
    let page = project.page("latin");
    assert_eq!(texts(&page), ["gr\u{fc}n", "rot"]);
    assert_eq!((page.encoding, page.final_newline), (Encoding::Windows1252, Some(false)));
    project.put("bom", "\u{feff}a\nb\r\n");
    let page = project.page("bom");
    assert_eq!(texts(&page), ["a", "b"]);
    assert_eq!((page.encoding, page.line_ending), (Encoding::Utf8Bom, LineEnding::Mixed));
    project.put("empty", "");
    assert_eq!(project.page("empty").notes, ["the file is empty"]);
}

#[test]
fn what_is_no_text_is_refused_and_shown_in_hexadecimal_as_xxd_does() {
    let project = Project::new();
    let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
    project.put("binary", &bytes);
    let error = project.read("binary").unwrap_err();
    assert!(error.to_string().contains("ask for it in hexadecimal"), "{error}");
    let hex = |path: &str| {
        let request = ReadRequest { path: path.into(), hex: true, ..Default::default() };
        let answer = umbo_files::read(&project.session, &request, &Call::default()).unwrap();
        let Content::Text(page) = answer.content else { panic!() };
        page
    };
    let (_, expected) = run(project.root(), "xxd", &["binary"], b"");
    assert_eq!(hex("binary").text(LineStyle::Plain), String::from_utf8(expected).unwrap());
    let rows = hex("binary:2-3");
    assert_eq!(rows.lines[0].text, hex("binary").lines[1].text);
    assert_eq!((rows.lines.len(), rows.total_lines), (2, Some(63)));
}

#[test]
fn a_huge_file_is_read_by_range_in_little_memory() {
    let project = Project::new();
    // Lines of text, then a hole of 10 GiB.
    let file = File::create(project.path("huge")).unwrap();
    let text = format!("first\nsecond\n{}", numbered(2000));
    file.write_all_at(text.as_bytes(), 0).unwrap();
    file.set_len(10 << 30).unwrap();
    let page = project.page("huge:1-2");
    assert_eq!(texts(&page), ["first", "second"]);
    assert_eq!(page.total_lines, None, "nobody counts 10 GiB of lines for two of them");
    let call = Call { stop: Stop::never(), ..Call::default() };
    call.stop.cancel();
    let request = ReadRequest { path: "huge:3000".into(), ..Default::default() };
    let error = umbo_files::read(&project.session, &request, &call).unwrap_err();
    assert!(matches!(error, Error::Stopped { reason: StopReason::Cancelled }));
}

#[test]
fn a_directory_is_read_as_a_tree() {
    let project = Project::new();
    for number in 0..20 {
        project.put(&format!("sub/{number:02}.txt"), "x");
    }
    project.put("empty.txt", "");
    let Content::Directory(tree) = project.read(".").unwrap().content else { panic!() };
    let sub = tree.children.iter().find(|node| node.entry.name == "sub").unwrap();
    assert_eq!((sub.children.len(), sub.left_out), (12, Some(8)));
    assert!(tree.text().contains("… 8 more"), "{}", tree.text());
    fs::create_dir(project.path("none")).unwrap();
    let Content::Directory(tree) = project.read("none").unwrap().content else { panic!() };
    assert!(tree.text().contains("(empty directory)"));
}

#[test]
fn a_file_without_permission_says_so() {
    let project = Project::new();
    // root may read everything, so a directory in place of a file stands for what cannot be opened.
    project.put("a/b", "x");
    let error = project.read("a/b/c").unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
    let long = "x".repeat(300);
    let error = project.read(&long).unwrap_err();
    assert!(error.to_string().contains("File name too long"), "{error}");
    let error = project.read("a\0b").unwrap_err();
    assert!(error.to_string().contains("NUL"), "{error}");
}
