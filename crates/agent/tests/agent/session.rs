//! Sessions on a real disk, whole and damaged.

use std::fs;
use std::io::Write;
use std::path::Path;

use umbo_agent::{
    AgentMessage, EntryKind, Session, SessionError, build_context, list, session_directory,
    to_html, to_markdown,
};
use umbo_model::{AssistantMessage, Block, StopReason, Usage};

pub(crate) fn answer(text: &str) -> EntryKind {
    let message = AssistantMessage {
        content: vec![Block::text(text)],
        api: None,
        provider: "test".into(),
        model: "m".into(),
        usage: Usage::default(),
        stop_reason: StopReason::Stop,
        error_message: None,
        response_id: None,
    };
    EntryKind::Message { message: AgentMessage::Assistant(message) }
}

/// What a model would read, in short.
fn said(session: &Session) -> Vec<String> {
    let context = build_context(session, None).unwrap();
    let short = |message: &umbo_agent::ContextMessage| match &message.message {
        AgentMessage::User(user) => user.content[0].as_text().unwrap_or_default().to_owned(),
        AgentMessage::Assistant(answer) => format!("> {}", answer.text()),
        other => format!("{other:?}"),
    };
    context.messages.iter().map(short).collect()
}

fn three(directory: &Path) -> (Session, Vec<String>) {
    let mut session = Session::create(directory, "/project", None).unwrap();
    let kinds = [EntryKind::user("one"), answer("two"), EntryKind::user("three")];
    let ids = kinds.map(|kind| session.append(kind).unwrap()).to_vec();
    (session, ids)
}

#[test]
fn what_is_appended_is_in_the_file_before_the_call_returns_and_opens_again() {
    let directory = tempfile::tempdir().unwrap();
    let (session, ids) = three(directory.path());
    let path = session.path().unwrap().to_owned();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 4, "the first prompt is kept before any answer: {text}");
    assert!(text.ends_with('\n'));
    drop(session);
    let session = Session::open(&path).unwrap();
    assert_eq!(session.damage(), []);
    assert_eq!(said(&session), ["one", "> two", "three"]);
    assert_eq!(session.leaf(), Some(ids[2].as_str()));
    assert_eq!(session.header().cwd, "/project");
}

#[test]
fn a_second_writer_is_told_and_a_reader_is_not_kept_out() {
    let directory = tempfile::tempdir().unwrap();
    let (session, _) = three(directory.path());
    let path = session.path().unwrap().to_owned();
    let second = Session::open(&path);
    assert!(matches!(second, Err(SessionError::InUse { .. })), "{second:?}");
    let mut reader = Session::open_read_only(&path).unwrap();
    assert_eq!(reader.len(), 3);
    let written = reader.append(EntryKind::user("no"));
    assert!(matches!(written, Err(SessionError::ReadOnly { .. })));
    drop(session);
    assert!(Session::open(&path).is_ok());
}

#[test]
fn a_line_that_was_torn_at_any_byte_costs_that_line_and_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let (session, _) = three(directory.path());
    let path = session.path().unwrap().to_owned();
    drop(session);
    let whole = fs::read(&path).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|&b| b == b'\n').unwrap() + 1;
    for at in last..whole.len() {
        fs::write(&path, &whole[..at]).unwrap();
        let mut session = Session::open(&path).unwrap();
        let is_whole = at == last || at == whole.len() - 1;
        assert_eq!(session.damage().is_empty(), is_whole, "torn at {at}: {:?}", session.damage());
        session.append(EntryKind::user("again")).unwrap();
        let before = said(&session);
        assert_eq!(before[..2], ["one", "> two"], "torn at {at}");
        assert_eq!(before.last().map(String::as_str), Some("again"));
        drop(session);
        // The next one who opens it sees the same.
        let session = Session::open(&path).unwrap();
        assert_eq!(said(&session), before, "torn at {at}");
    }
}

#[test]
fn a_damaged_byte_anywhere_costs_at_most_its_line() {
    let directory = tempfile::tempdir().unwrap();
    let (mut session, _) = three(directory.path());
    session.append(answer("four")).unwrap();
    let path = session.path().unwrap().to_owned();
    drop(session);
    let whole = fs::read(&path).unwrap();
    let all = ["one", "> two", "three", "> four"];
    for at in 0..whole.len() - 1 {
        let mut bytes = whole.clone();
        if bytes[at] == b'\n' {
            continue;
        }
        bytes[at] = b'\x00';
        fs::write(&path, &bytes).unwrap();
        let session = Session::open(&path).unwrap();
        let heard = said(&session);
        let lost = all.iter().filter(|line| !heard.iter().any(|heard| heard == *line)).count();
        assert!(lost <= 1, "byte {at}: {heard:?}");
        assert!(!session.damage().is_empty() || lost == 0, "byte {at}: nothing is said");
        drop(session);
        assert_eq!(fs::read(&path).unwrap(), bytes, "opening changes nothing");
    }
}

#[test]
fn without_a_header_the_history_is_there_and_the_name_comes_from_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let (session, _) = three(directory.path());
    let (path, id) = (session.path().unwrap().to_owned(), session.header().id.clone());
    drop(session);
    let text = fs::read_to_string(&path).unwrap();
    let (_, rest) = text.split_once('\n').unwrap();
    for header in ["", "garbage\n", "{\"type\":\"session\"}\n", "{\"type\":\"session\",\"id\":3}\n"]
    {
        fs::write(&path, format!("{header}{rest}")).unwrap();
        let mut session = Session::open(&path).unwrap();
        assert_eq!(said(&session), ["one", "> two", "three"], "{header}");
        assert_eq!(session.header().id, id);
        assert!(!session.damage().is_empty());
        session.append(EntryKind::user("four")).unwrap();
    }
}

#[test]
fn leaf_labels_and_title_are_kept_and_remarks_do_not_move_the_leaf() {
    let directory = tempfile::tempdir().unwrap();
    let (mut session, ids) = three(directory.path());
    session.set_label(&ids[0], Some("start")).unwrap();
    session.append(EntryKind::Title { title: "A plan".into() }).unwrap();
    assert_eq!(session.leaf(), Some(ids[2].as_str()));
    session.branch(&ids[1]).unwrap();
    let path = session.path().unwrap().to_owned();
    drop(session);
    let mut session = Session::open(&path).unwrap();
    assert_eq!(session.leaf(), Some(ids[1].as_str()), "a jump without a word is kept");
    assert_eq!(session.label(&ids[0]), Some("start"));
    assert_eq!(session.title(), Some("A plan"));
    let other = session.append(EntryKind::user("another way")).unwrap();
    assert_eq!(said(&session), ["one", "> two", "another way"]);
    assert_eq!(session.children(Some(&ids[1])).unwrap(), [ids[2].clone(), other]);
    let summary = session.branch_with_summary(None, "nothing came of it", None).unwrap();
    let entry = session.entry(&summary).unwrap();
    assert_eq!(entry.parent, None);
    let EntryKind::BranchSummary { from_id, left_id, .. } = entry.kind else { unreachable!() };
    assert_eq!(from_id, "root");
    assert!(left_id.is_some(), "the branch that was left can be found again");
    assert!(matches!(session.branch("nobody"), Err(SessionError::NoEntry(_))));
}

#[test]
fn a_fork_has_the_path_and_its_names_and_leaves_the_old_session_alone() {
    let directory = tempfile::tempdir().unwrap();
    let (mut session, ids) = three(directory.path());
    session.set_label(&ids[0], Some("start")).unwrap();
    session.set_label(&ids[2], Some("end")).unwrap();
    let before = fs::read(session.path().unwrap()).unwrap();
    let fork = session.fork(directory.path(), Some(&ids[1])).unwrap();
    assert_eq!(said(&fork), ["one", "> two"]);
    assert_eq!(fork.label(&ids[0]), Some("start"));
    assert_eq!(fork.label(&ids[2]), None);
    assert_eq!(fork.header().parent_session.as_deref(), Some(session.header().id.as_str()));
    assert_eq!(fork.damage(), []);
    assert_eq!(fs::read(session.path().unwrap()).unwrap(), before);
}

#[test]
fn sessions_are_listed_by_their_first_prompt_and_title() {
    let directory = tempfile::tempdir().unwrap();
    let (mut session, _) = three(directory.path());
    session.append(EntryKind::Title { title: "Named".into() }).unwrap();
    fs::write(directory.path().join("2026_x.jsonl"), "garbage").unwrap();
    let found = list(directory.path()).unwrap();
    assert_eq!(found.len(), 2);
    let named = found.iter().find(|info| info.title.is_some()).unwrap();
    assert_eq!(named.title.as_deref(), Some("Named"));
    assert_eq!(named.first_prompt.as_deref(), Some("one"));
    assert_eq!(named.cwd, "/project");
    assert!(list(&directory.path().join("nowhere")).unwrap().is_empty());
    let root = Path::new("/s");
    assert_ne!(session_directory(root, "/a-b"), session_directory(root, "/a/b"));
}

#[test]
fn exports_show_what_was_said_and_run_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (mut session, _) = three(directory.path());
    session.append(answer("<script>alert(1)</script> ```")).unwrap();
    let markdown = to_markdown(&session);
    assert!(markdown.contains("## User\n\none\n"), "{markdown}");
    let html = to_html(&session);
    assert!(!html.contains("<script>") && html.contains("&lt;script&gt;"), "{html}");
}

#[test]
fn unknown_entries_and_those_of_other_programs_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t_x.jsonl");
    let mut file = fs::File::create(&path).unwrap();
    writeln!(file, r#"{{"type":"title","v":1,"title":"","pad":"   "}}"#).unwrap();
    writeln!(file, r#"{{"type":"session","version":3,"id":"x","timestamp":"t","cwd":"/c"}}"#)
        .unwrap();
    writeln!(file, r#"{{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{{"role":"user","content":"hi"}}}}"#).unwrap();
    writeln!(file, r#"{{"type":"from_the_future","id":"b","parentId":"a","timestamp":"t","x":1}}"#)
        .unwrap();
    writeln!(file, r#"{{"type":"message","id":"c","parentId":"b","timestamp":"t","message":{{"role":"hookMessage","customType":"h","content":"note","display":true}}}}"#).unwrap();
    drop(file);
    let session = Session::open(&path).unwrap();
    assert_eq!(session.damage(), []);
    assert_eq!(session.len(), 3);
    assert!(matches!(session.entry("b").unwrap().kind, EntryKind::Unknown(_)));
    assert_eq!(build_context(&session, None).unwrap().messages.len(), 2);
}
