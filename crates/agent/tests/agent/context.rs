//! Context and compaction over any tree.

use proptest::prelude::*;
use serde_json::{Map, json};
use umbo_agent::compact::{Cut, FileLists, Settings, find_cut, prepare, prune};
use umbo_agent::{AgentMessage, EntryKind, Session, build_context};
use umbo_model::server::{Received, check_request};
use umbo_model::{
    AssistantMessage, Block, Message, Model, Part, Request, StopReason, ToolCall, ToolResult,
    Usage, WireFormat, encode,
};

/// One step in the life of a session.
#[derive(Clone, Debug)]
enum Step {
    User(usize),
    Answer(usize),
    /// Calls, of which some get results, with words of the user between them.
    Tools {
        calls: usize,
        answered: Vec<bool>,
        steer: Option<usize>,
        size: usize,
    },
    Broken,
    Note,
    Branch(prop::sample::Index),
    Compact(prop::sample::Index),
    Prune,
    Checkpoint,
    Rewind,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..400_usize).prop_map(Step::User),
        3 => (0..400_usize).prop_map(Step::Answer),
        5 => (1..4_usize, prop::collection::vec(prop::bool::weighted(0.9), 3),
            prop::option::of(0..3_usize), 0..400_usize)
            .prop_map(|(calls, answered, steer, size)| Step::Tools { calls, answered, steer, size }),
        1 => Just(Step::Broken),
        1 => Just(Step::Note),
        2 => any::<prop::sample::Index>().prop_map(Step::Branch),
        2 => any::<prop::sample::Index>().prop_map(Step::Compact),
        1 => Just(Step::Prune),
        1 => Just(Step::Checkpoint),
        2 => Just(Step::Rewind),
    ]
}

fn assistant(content: Vec<Block>, stop_reason: StopReason) -> EntryKind {
    let message = AssistantMessage {
        content,
        api: Some(WireFormat::Chat),
        provider: "p".into(),
        model: "m".into(),
        usage: Usage::default(),
        stop_reason,
        error_message: None,
        response_id: None,
    };
    EntryKind::Message { message: AgentMessage::Assistant(message) }
}

fn call(id: &str) -> Block {
    Block::ToolCall(ToolCall {
        id: id.into(),
        name: "look".into(),
        arguments: Map::from_iter([("path".to_owned(), json!("a"))]),
        malformed: None,
        opaque: None,
    })
}

fn result(id: &str, size: usize) -> EntryKind {
    EntryKind::Message {
        message: AgentMessage::ToolResult(ToolResult {
            tool_call_id: id.into(),
            tool_name: "look".into(),
            content: vec![Part::text("y".repeat(size))],
            is_error: false,
            details: None,
        }),
    }
}

fn live(session: &mut Session, number: usize, step: &Step) {
    match step {
        Step::User(size) => drop(session.append(EntryKind::user(&"u".repeat(*size))).unwrap()),
        Step::Answer(size) => {
            let text = Block::text("a".repeat(*size));
            session.append(assistant(vec![text], StopReason::Stop)).unwrap();
        }
        Step::Tools { calls, answered, steer, size } => {
            let ids: Vec<String> = (0..*calls).map(|at| format!("call_{number}_{at}")).collect();
            let blocks = ids.iter().map(|id| call(id)).collect();
            session.append(assistant(blocks, StopReason::ToolUse)).unwrap();
            // In the order in which they end, which is not that of the calls.
            for (at, id) in ids.iter().enumerate().rev() {
                if *steer == Some(at) {
                    session.append(EntryKind::user("wait")).unwrap();
                }
                if answered[at % answered.len()] {
                    session.append(result(id, *size)).unwrap();
                }
            }
        }
        Step::Broken => {
            let blocks = vec![Block::text("half"), call("cut")];
            session.append(assistant(blocks, StopReason::Aborted)).unwrap();
        }
        Step::Note => {
            session.append(EntryKind::ModeChange { mode: "plan".into(), data: None }).unwrap();
        }
        Step::Branch(index) => {
            let ids: Vec<String> = session.entries().map(|entry| entry.id).collect();
            if !ids.is_empty() {
                session.branch(&ids[index.index(ids.len())]).unwrap();
            }
        }
        Step::Compact(index) => compact(session, *index),
        Step::Checkpoint => drop(session.make_checkpoint("find it", None).unwrap()),
        Step::Rewind => rewind(session),
        Step::Prune => {
            let settings = Settings {
                protect_output_tokens: 50,
                least_saving_tokens: 10,
                ..Settings::default()
            };
            let context = build_context(session, None).unwrap();
            for (target_id, tokens) in prune(&context.messages, &settings) {
                session.append(EntryKind::ToolPruned { target_id, tokens }).unwrap();
            }
        }
    }
}

/// Goes back to the checkpoint, if there is one: what was before it is there as it was, then the report.
fn rewind(session: &mut Session) {
    let Some(checkpoint) = build_context(session, None).unwrap().checkpoint else { return };
    let before = build_context(session, Some(&checkpoint.entry)).unwrap().messages;
    let summary = session.rewind(&checkpoint, "found it").unwrap();
    assert!(summary.starts_with("found it"));
    let after = build_context(session, None).unwrap();
    assert_eq!(after.checkpoint, None, "a checkpoint is used once");
    let (report, kept) = after.messages.split_last().unwrap();
    assert_eq!(kept, before);
    assert!(
        matches!(&report.message, AgentMessage::BranchSummary { summary: said, .. } if *said == summary)
    );
}

/// Compacts with any number of tokens to keep.
fn compact(session: &mut Session, index: prop::sample::Index) {
    let context = build_context(session, None).unwrap();
    let Some(cut) = find_cut(&context.messages, index.index(600) as u64) else { return };
    let Cut { first_kept, split_turn } = cut;
    assert!(first_kept > 0 && first_kept < context.messages.len());
    assert!(split_turn.is_none_or(|start| start < first_kept));
    keeps_pairs(&context.messages[first_kept..]);
    let prepared = prepare(&context.messages, cut, FileLists::default(), None);
    assert!(prepared.history_prompt.is_some() || prepared.turn_prompt.is_some());
    session
        .append(EntryKind::Compaction {
            summary: "what was".into(),
            short_summary: None,
            first_kept_entry_id: prepared.first_kept_entry,
            tokens_before: 0,
            details: None,
            preserve_data: None,
            from_extension: None,
        })
        .unwrap();
    let after = build_context(session, None).unwrap();
    assert_eq!(after.messages.len(), context.messages.len() - first_kept + 1, "no message is lost");
}

/// Every result has its call before it.
fn keeps_pairs(messages: &[umbo_agent::ContextMessage]) {
    let mut calls = Vec::new();
    for message in messages {
        match &message.message {
            AgentMessage::Assistant(answer) => {
                calls.extend(answer.tool_calls().map(|call| call.id.clone()));
            }
            AgentMessage::ToolResult(result) => {
                assert!(
                    calls.contains(&result.tool_call_id),
                    "{} is an orphan",
                    result.tool_call_id
                );
            }
            _ => {}
        }
    }
}

fn received(format: WireFormat, body: serde_json::Value) -> Received {
    let path = match format {
        WireFormat::Gemini => "/v1beta/models/m:streamGenerateContent?alt=sse",
        _ => "/",
    };
    let headers = vec![("anthropic-version".to_owned(), "2023-06-01".to_owned())];
    Received { format: Some(format), path: path.to_owned(), headers, text: String::new(), body }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn after_any_cut_on_any_tree_every_result_has_its_call_and_all_vendors_accept_it(
        steps in prop::collection::vec(step(), 1..25),
    ) {
        let mut session = Session::in_memory("/c");
        for (number, step) in steps.iter().enumerate() {
            live(&mut session, number, step);
            let context = build_context(&session, None).unwrap();
            let whole = build_context(&session, session.leaf()).unwrap();
            if session.leaf().is_some() {
                prop_assert_eq!(&context, &whole, "the short way is the whole way");
            }
        }
        let mut messages = build_context(&session, None).unwrap().to_model();
        messages.push(Message::user("go on"));
        for format in WireFormat::ALL {
            let request = Request::new(Model::new(format, "p", "m"), messages.clone());
            let body = encode(&request).unwrap();
            let checked = check_request(&received(format, body.clone()));
            prop_assert!(checked.is_ok(), "{:?}: {:?}\n{:#}", format, checked, body);
        }
    }
}

#[test]
fn a_result_that_comes_behind_words_of_the_user_keeps_its_call() {
    let mut session = Session::in_memory("/c");
    let long = "u".repeat(4000);
    session.append(EntryKind::user(&long)).unwrap();
    session.append(assistant(vec![call("a"), call("b")], StopReason::ToolUse)).unwrap();
    session.append(result("a", 4000)).unwrap();
    let steer = session.append(EntryKind::user("wait")).unwrap();
    session.append(result("b", 40)).unwrap();
    session.append(assistant(vec![Block::text("done")], StopReason::Stop)).unwrap();
    let context = build_context(&session, None).unwrap();
    // Enough for what follows the steering message, which would part `b` from its call.
    let cut = find_cut(&context.messages, 20).unwrap();
    assert_ne!(context.messages[cut.first_kept].entry, steer);
    keeps_pairs(&context.messages[cut.first_kept..]);
}

#[test]
fn outputs_that_are_old_and_long_are_left_out_and_stay_readable() {
    let mut session = Session::in_memory("/c");
    session.append(EntryKind::user("go")).unwrap();
    let mut entries = Vec::new();
    for number in 0..5 {
        let id = format!("c{number}");
        session.append(assistant(vec![call(&id)], StopReason::ToolUse)).unwrap();
        entries.push(session.append(result(&id, 80_000)).unwrap());
    }
    let context = build_context(&session, None).unwrap();
    let found = prune(&context.messages, &Settings::default());
    let pruned: Vec<&String> = found.iter().map(|(id, _)| id).collect();
    assert_eq!(pruned, [&entries[2], &entries[1], &entries[0]]);
    for (target_id, tokens) in found {
        session.append(EntryKind::ToolPruned { target_id, tokens }).unwrap();
    }
    let context = build_context(&session, None).unwrap();
    let AgentMessage::ToolResult(result) = &context.messages[2].message else { unreachable!() };
    assert_eq!(
        result.text(),
        format!("[Output truncated - 20000 tokens; all of it: artifact://{}]", entries[0])
    );
    let EntryKind::Message { message: AgentMessage::ToolResult(kept) } =
        session.entry(&entries[0]).unwrap().kind
    else {
        unreachable!()
    };
    assert_eq!(kept.text().len(), 80_000);
    assert_eq!(prune(&context.messages, &Settings::default()), [], "once is enough");
}

#[test]
fn state_before_a_compaction_still_counts() {
    let mut session = Session::in_memory("/c");
    session.append(EntryKind::ModelChange { model: "anthropic/x".into(), role: None }).unwrap();
    session.append(EntryKind::ThinkingLevelChange { thinking_level: Some("high".into()) }).unwrap();
    session.append(EntryKind::user("one")).unwrap();
    let kept = session.append(EntryKind::user("two")).unwrap();
    session
        .append(EntryKind::Compaction {
            summary: "s".into(),
            short_summary: None,
            first_kept_entry_id: kept,
            tokens_before: 9,
            details: None,
            preserve_data: None,
            from_extension: None,
        })
        .unwrap();
    let context = build_context(&session, None).unwrap();
    assert_eq!(context.models["default"], "anthropic/x");
    assert_eq!(context.thinking_level.as_deref(), Some("high"));
    assert_eq!(context.messages.len(), 2);
}
