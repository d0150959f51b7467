//! The crate from outside: streams, requests, and a real client against the scripted server.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod client;
mod decode;
mod deviations;
mod encode;
mod sdks;

use umbo_model::{Assembler, AssistantMessage, Decoder, Event, Model, WireFormat};

/// A model that can do all that its format can.
fn model(format: WireFormat) -> Model {
    let mut model = Model::new(format, "test", "scripted-model");
    model.thinking = umbo_model::ThinkingStyle::Effort;
    model
}

/// The events of a stream that comes in these pieces.
fn events<'a>(format: WireFormat, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut decoder = Decoder::new(format, "p");
    let mut events: Vec<Event> = pieces.into_iter().flat_map(|piece| decoder.feed(piece)).collect();
    events.extend(decoder.finish());
    events
}

fn assemble(format: WireFormat, events: &[Event]) -> AssistantMessage {
    let mut assembler = Assembler::new();
    for event in events {
        assembler.push(event);
    }
    assembler.finish(&model(format))
}

fn message(format: WireFormat, stream: &str) -> AssistantMessage {
    assemble(format, &events(format, [stream.as_bytes()]))
}
