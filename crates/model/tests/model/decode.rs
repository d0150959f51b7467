//! Whatever the bytes, however they are cut.

use proptest::prelude::*;
use serde_json::{Value, json};
use umbo_model::server::{Answer, Trouble};
use umbo_model::{Block, Event, FailureClass, StopReason, Usage, WireFormat};

use crate::{assemble, events};

fn rich() -> Answer {
    Answer::new()
        .and_thinking("Let me see … \u{1f9d0} two files.", "c2lnbmF0dXJl")
        .and_text("I will look at \"both\"\nof them: \u{e4}\u{4f60}.")
        .and_call("call_a", "read", &json!({"path": "a.txt", "deep": {"list": [1, 2.5, null]}}))
        .and_call("call_b", "read", &json!({"path": "b \u{1f600}\\.txt"}))
        .and_call("call_c", "now", &json!({}))
        .costs(Usage {
            input: 100,
            cache_read: 900,
            cache_write: 50,
            output: 70,
            reasoning: 20,
            ..Usage::default()
        })
}

#[test]
fn the_scripted_server_says_what_its_fixtures_hold_byte_for_byte() {
    let mut differ = Vec::new();
    for format in WireFormat::ALL {
        let name = format!("{format:?}.txt").to_lowercase();
        let path = format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
        let bytes = rich().bytes(format);
        if std::fs::read(&path).unwrap_or_default() != bytes {
            differ.push(name);
            if std::env::var_os("UMBO_BLESS").is_some() {
                std::fs::write(&path, &bytes).unwrap();
            }
        }
    }
    assert_eq!(differ, [""; 0], "if that is meant, run once with UMBO_BLESS=1 and read the diff");
}

#[test]
fn all_four_formats_say_the_same() {
    for format in WireFormat::ALL {
        let events = events(format, [rich().bytes(format).as_slice()]);
        let message = assemble(format, &events);
        assert_eq!(message.stop_reason, StopReason::ToolUse, "{format:?}");
        assert_eq!(message.text(), "I will look at \"both\"\nof them: \u{e4}\u{4f60}.");
        let calls: Vec<(&str, &str, Value)> = message
            .tool_calls()
            .map(|call| (call.id.as_str(), call.name.as_str(), json!(call.arguments)))
            .collect();
        let expected = [
            ("call_a", "read", json!({"path": "a.txt", "deep": {"list": [1, 2.5, null]}})),
            ("call_b", "read", json!({"path": "b \u{1f600}\\.txt"})),
            ("call_c", "now", json!({})),
        ];
        assert_eq!(calls, expected, "{format:?}");
        let Some(Block::Thinking { thinking, .. }) = message.content.first() else {
            panic!("{format:?}: {:?}", message.content)
        };
        assert_eq!(thinking, "Let me see … \u{1f9d0} two files.");
        let said = serde_json::to_string(&message).unwrap();
        // Chat Completions has no signatures.
        assert_eq!(said.contains("c2lnbmF0dXJl"), format != WireFormat::Chat, "{format:?}: {said}");
        let usage = message.usage;
        assert_eq!((usage.all_input(), usage.output), (1050, 70), "{format:?}");
        assert_eq!(usage.cache_read, 900);
        // Gemini does not say what it wrote, Anthropic not what was thinking.
        assert_eq!(usage.cache_write, if format == WireFormat::Gemini { 0 } else { 50 });
        assert_eq!(usage.reasoning, if format == WireFormat::Anthropic { 0 } else { 20 });
    }
}

#[test]
fn a_stream_cut_at_any_byte_is_no_good_answer_and_runs_nothing() {
    for format in WireFormat::ALL {
        let bytes = rich().bytes(format);
        let whole = events(format, [bytes.as_slice()]);
        for at in 0..bytes.len() {
            let events = events(format, [&bytes[..at]]);
            let last = events.last().unwrap();
            if let Event::End { .. } = last {
                // Only what has no meaning is missing.
                let cut: Vec<&Event> =
                    events.iter().filter(|e| !matches!(e, Event::Usage(_))).collect();
                let all: Vec<&Event> =
                    whole.iter().filter(|e| !matches!(e, Event::Usage(_))).collect();
                assert_eq!(cut, all, "{format:?} cut at {at}");
                continue;
            }
            let Event::Error(failure) = last else { panic!("{last:?} is last") };
            assert!(failure.is_retryable(), "{format:?} at {at}: {failure:?}");
            let message = assemble(format, &events);
            assert_eq!(message.tool_calls().count(), 0, "{format:?} cut at {at}");
            assert_eq!(message.stop_reason, StopReason::Error);
        }
    }
}

#[test]
fn errors_in_the_middle_of_a_stream_have_their_class() {
    let cases = [
        (Trouble::Overloaded, FailureClass::Overloaded),
        (Trouble::RateLimit(None), FailureClass::RateLimit),
        (Trouble::Overflow, FailureClass::Overflow),
        (Trouble::Server, FailureClass::Transient),
    ];
    for (trouble, class) in cases {
        for format in WireFormat::ALL {
            let answer = Answer::text("so far").fails(trouble.clone());
            let events = events(format, [answer.bytes(format).as_slice()]);
            let Some(Event::Error(failure)) = events.last() else { panic!("{events:?}") };
            // The codes of the format's streams do not tell overload from other errors.
            let is_openai = matches!(format, WireFormat::Responses | WireFormat::Chat);
            let expected = match class {
                FailureClass::Overloaded if is_openai => FailureClass::Transient,
                other => other,
            };
            assert_eq!(failure.class, expected, "{format:?} {failure:?}");
            let message = assemble(format, &events);
            assert_eq!(message.text(), "so far");
            assert_eq!(message.error_message, Some(failure.message.clone()));
        }
    }
}

#[test]
fn every_end_has_its_reason() {
    for format in WireFormat::ALL {
        let end = |answer: Answer| {
            assemble(format, &events(format, [answer.bytes(format).as_slice()])).stop_reason
        };
        assert_eq!(end(Answer::text("a")), StopReason::Stop, "{format:?}");
        assert_eq!(end(Answer::text("a").ends(StopReason::Length)), StopReason::Length);
        assert_eq!(end(Answer::text("a").ends(StopReason::Refusal)), StopReason::Refusal);
        let mut refusal = Answer::new();
        refusal.says.push(umbo_model::server::Say::Refusal("I will not.".to_owned()));
        assert_eq!(end(refusal), StopReason::Refusal);
        match format {
            WireFormat::Anthropic => {
                assert_eq!(end(Answer::text("a").ends(StopReason::Pause)), StopReason::Pause);
                assert_eq!(end(Answer::text("a").ends(StopReason::Overflow)), StopReason::Overflow);
            }
            WireFormat::Chat => {
                assert_eq!(end(Answer::text("a").ends(StopReason::Overflow)), StopReason::Overflow);
            }
            WireFormat::Gemini => {
                let fault = Answer::new().ends(StopReason::ModelFault);
                assert_eq!(end(fault), StopReason::ModelFault);
            }
            WireFormat::Responses => {}
        }
    }
}

#[test]
fn arguments_are_known_while_they_come() {
    for format in [WireFormat::Anthropic, WireFormat::Responses, WireFormat::Chat] {
        let answer =
            Answer::call("c", "write", &json!({"path": "notes.md", "text": "hello there"}));
        let mut assembler = umbo_model::Assembler::new();
        let mut seen = Vec::new();
        for event in events(format, [answer.bytes(format).as_slice()]) {
            assembler.push(&event);
            seen.extend(assembler.partial_arguments(0).map(Value::from));
        }
        assert!(seen.contains(&json!({"path": "notes.md", "text": "h"})), "{format:?} {seen:?}");
        assert_eq!(seen.last(), Some(&json!({"path": "notes.md", "text": "hello there"})));
    }
}

/// The rules that hold for all events, whatever the bytes were.
fn keep_the_rules(events: &[Event]) {
    let lasts = events.iter().filter(|event| event.is_last()).count();
    assert_eq!(lasts, 1, "one last event: {events:?}");
    assert!(events.last().unwrap().is_last());
    let mut open: Vec<bool> = Vec::new();
    for event in events {
        match event {
            Event::BlockStart { index, .. } => {
                assert_eq!(*index, open.len());
                open.push(true);
            }
            Event::Delta { index, text } => {
                assert!(open[*index], "a delta behind the end of its block");
                assert!(!text.is_empty());
            }
            Event::BlockEnd { index, .. } => {
                assert!(open[*index], "two ends of a block");
                open[*index] = false;
            }
            _ => {}
        }
    }
}

fn cut<'a>(bytes: &'a [u8], at: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = at.iter().map(|index| index.index(bytes.len() + 1)).collect();
    places.sort_unstable();
    let mut pieces = Vec::new();
    let mut start = 0;
    for place in places {
        pieces.push(&bytes[start..place]);
        start = place;
    }
    pieces.push(&bytes[start..]);
    pieces
}

/// A stream of which some lines are lost, doubled, moved or damaged.
fn damaged(bytes: &[u8], damage: &[(u8, prop::sample::Index, prop::sample::Index)]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> =
        bytes.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
    for (kind, first, second) in damage {
        let (a, b) = (first.index(lines.len()), second.index(lines.len()));
        match kind % 4 {
            0 if lines.len() > 1 => drop(lines.remove(a)),
            1 => lines.swap(a, b),
            2 => lines.push(lines[a].clone()),
            _ => {
                let line = &mut lines[a];
                let place = second.index(line.len());
                line[place] = *kind;
            }
        }
    }
    lines.concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_cut_gives_the_same_events(
        at in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        damage in prop::collection::vec(any::<(u8, prop::sample::Index, prop::sample::Index)>(), 0..4),
    ) {
        for format in WireFormat::ALL {
            let bytes = damaged(&rich().bytes(format), &damage);
            let whole = events(format, [bytes.as_slice()]);
            keep_the_rules(&whole);
            prop_assert_eq!(&events(format, cut(&bytes, &at)), &whole);
            prop_assert_eq!(&events(format, bytes.chunks(1)), &whole);
        }
    }

    #[test]
    fn any_bytes_end_in_one_last_event(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for format in WireFormat::ALL {
            keep_the_rules(&events(format, [bytes.as_slice()]));
        }
    }
}
