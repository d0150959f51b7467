//! What holds for a stream of any bytes, however they are cut: the events are the same, one of them
//! is the last, blocks begin and end once, and a broken answer has no calls.

use umbo_model::{Assembler, Decoder, Event, Model, WireFormat};

pub(crate) fn check(format: WireFormat, data: &[u8]) {
    // The last byte says how it is cut.
    let Some((&step, stream)) = data.split_last() else { return };
    let whole = events(format, stream, stream.len().max(1));
    assert_eq!(events(format, stream, usize::from(step) + 1), whole);
    let lasts = whole.iter().filter(|event| event.is_last()).count();
    assert!(lasts == 1 && whole.last().is_some_and(Event::is_last));
    let mut open = Vec::new();
    for event in &whole {
        match event {
            Event::BlockStart { index, .. } => {
                assert_eq!(*index, open.len());
                open.push(true);
            }
            Event::Delta { index, text } => assert!(open[*index] && !text.is_empty()),
            Event::BlockEnd { index, .. } => assert!(std::mem::replace(&mut open[*index], false)),
            _ => {}
        }
    }
    let mut assembler = Assembler::new();
    for event in &whole {
        assembler.push(event);
    }
    for index in 0..open.len() {
        let _ = assembler.partial_arguments(index);
    }
    let message = assembler.finish(&Model::new(format, "p", "m"));
    assert!(!message.is_broken() || message.tool_calls().count() == 0);
    // What is stored is what is read.
    let stored = serde_json::to_string(&message).expect("a message is JSON");
    assert_eq!(
        serde_json::from_str::<umbo_model::AssistantMessage>(&stored).expect("read"),
        message
    );
}

fn events(format: WireFormat, stream: &[u8], step: usize) -> Vec<Event> {
    let mut decoder = Decoder::new(format, "p");
    let mut events: Vec<Event> =
        stream.chunks(step).flat_map(|piece| decoder.feed(piece)).collect();
    events.extend(decoder.finish());
    events
}
