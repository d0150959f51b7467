//! What real servers do besides what their documents say.

use serde_json::{Value, json};
use umbo_model::{Block, Event, FailureClass, StopReason, WireFormat};

use crate::{events, message};

fn sse(events: &[Value]) -> String {
    events.iter().flat_map(|event| ["data: ".into(), event.to_string(), "\n\n".into()]).collect()
}

fn chat(deltas: &[Value], finish: &str) -> String {
    let mut chunks: Vec<Value> = deltas
        .iter()
        .map(|delta| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}))
        .collect();
    chunks.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}));
    sse(&chunks) + "data: [DONE]\n\n"
}

fn calls(message: &umbo_model::AssistantMessage) -> Vec<(String, String, Value)> {
    let call = |call: &umbo_model::ToolCall| {
        (call.id.clone(), call.name.clone(), Value::Object(call.arguments.clone()))
    };
    message.tool_calls().map(call).collect()
}

#[test]
fn anthropic_a_call_that_the_limit_cut_has_no_end_and_is_no_call() {
    let stream = sse(&[
        json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 9}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Now"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1,
            "content_block": {"type": "tool_use", "id": "t", "name": "rm", "input": {}}}),
        json!({"type": "content_block_delta", "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": "{\"path\": \"/tm"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ]);
    let message = message(WireFormat::Anthropic, &stream);
    assert_eq!(message.stop_reason, StopReason::Length);
    assert_eq!(message.content, [Block::text("Now")]);
    assert_eq!((message.usage.input, message.usage.output), (9, 5));
}

#[test]
fn anthropic_blocks_may_interleave_and_unknown_ones_are_kept_for_the_vendor() {
    let stream = sse(&[
        json!({"type": "message_start", "message": {"id": "m"}}),
        json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "redacted_thinking", "data": "xyz"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1,
            "content_block": {"type": "server_tool_use", "id": "s", "name": "web", "input": {}}}),
        json!({"type": "content_block_start", "index": 2,
            "content_block": {"type": "tool_use", "id": "a", "name": "x", "input": {}}}),
        json!({"type": "content_block_delta", "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": "{\"q\":1}"}}),
        json!({"type": "content_block_delta", "index": 2,
            "delta": {"type": "input_json_delta", "partial_json": "{\"p\":2}"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "content_block_stop", "index": 2}),
        json!({"type": "from_the_future", "index": 3}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ]);
    let message = message(WireFormat::Anthropic, &stream);
    assert_eq!(calls(&message), [("a".into(), "x".into(), json!({"p": 2}))]);
    let redacted = Block::Opaque { value: json!({"type": "redacted_thinking", "data": "xyz"}) };
    assert_eq!(message.content[0], redacted);
    let server = json!({"type": "server_tool_use", "id": "s", "name": "web", "input": {"q": 1}});
    assert_eq!(message.content[1], Block::Opaque { value: server });
}

#[test]
fn anthropic_the_name_of_an_event_stands_in_for_its_type() {
    let stream = "event: message_start\ndata: {\"message\":{\"id\":\"m\"}}\n\n\
        event: ping\ndata: {}\n\n\
        event: message_delta\ndata: {\"delta\":{\"stop_reason\":\"refusal\",\"stop_details\":\
        {\"type\":\"refusal\",\"explanation\":\"not that\"}}   }\n\n\
        event: message_stop\ndata: {}\n\n";
    let message = message(WireFormat::Anthropic, stream);
    assert_eq!(message.stop_reason, StopReason::Refusal);
    assert_eq!(message.error_message.as_deref(), Some("not that"));
}

#[test]
fn responses_a_proxy_that_sends_only_whole_items_is_understood() {
    let stream = sse(&[
        json!({"type": "response.output_item.done", "output_index": 0, "item":
            {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "one"},
            {"type": "summary_text", "text": "two"}], "encrypted_content": "e"}}),
        json!({"type": "response.output_item.done", "output_index": 1, "item":
            {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "hi"}]}}),
        json!({"type": "response.output_item.done", "output_index": 2, "item":
            {"type": "function_call", "id": "fc", "call_id": "c", "name": "ls", "arguments": "{\"a\":1}"}}),
        json!({"type": "response.output_item.done", "output_index": 3, "item":
            {"type": "custom_tool_call", "id": "ct", "call_id": "d", "name": "patch", "input": "*** Begin"}}),
        json!({"type": "response.completed", "response": {"id": "r", "output": []}}),
    ]);
    let message = message(WireFormat::Responses, &stream);
    assert_eq!(message.stop_reason, StopReason::ToolUse);
    let Block::Thinking { thinking, opaque } = &message.content[0] else { panic!() };
    assert_eq!(thinking, "one\n\ntwo");
    assert_eq!(opaque.as_ref().unwrap()["encrypted_content"], "e");
    assert_eq!(message.text(), "hi");
    let expected = [
        ("c".into(), "ls".into(), json!({"a": 1})),
        ("d".into(), "patch".into(), json!({"input": "*** Begin"})),
    ];
    assert_eq!(calls(&message), expected);
}

#[test]
fn responses_incomplete_and_failed_are_not_completed() {
    let end = |value: Value| message(WireFormat::Responses, &sse(&[value]));
    let cut = end(json!({"type": "response.incomplete", "response":
        {"incomplete_details": {"reason": "max_output_tokens"}}}));
    assert_eq!(cut.stop_reason, StopReason::Length);
    let filtered = end(json!({"type": "response.incomplete", "response":
        {"incomplete_details": {"reason": "content_filter"}}}));
    assert_eq!(filtered.stop_reason, StopReason::Refusal);
    let failed = |code: &str| {
        let event = json!({"type": "response.failed", "response":
            {"error": {"code": code, "message": "Please try again in 2s."}}});
        match events(WireFormat::Responses, [sse(&[event]).as_bytes()]).pop() {
            Some(Event::Error(failure)) => failure,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(failed("context_length_exceeded").class, FailureClass::Overflow);
    assert_eq!(failed("insufficient_quota").class, FailureClass::Quota);
    assert_eq!(failed("cyber_policy").class, FailureClass::Refused);
    let limited = failed("rate_limit_exceeded");
    assert_eq!(limited.class, FailureClass::RateLimit);
    assert_eq!(limited.retry_after, Some(std::time::Duration::from_secs(2)));
    let error =
        json!({"type": "error", "code": "server_is_overloaded", "message": "busy", "param": null});
    let Some(Event::Error(failure)) =
        events(WireFormat::Responses, [sse(&[error]).as_bytes()]).pop()
    else {
        panic!()
    };
    assert_eq!(failure.class, FailureClass::Overloaded);
}

#[test]
fn chat_interleaved_calls_are_told_apart_by_their_index() {
    let piece = |index: u64, text: &str| json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]});
    let stream = chat(
        &[
            json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "x", "arguments": ""}},
                {"index": 1, "id": "b", "function": {"name": "y", "arguments": ""}}]}),
            piece(0, "{\"n\":"),
            piece(1, "{\"m\":"),
            piece(0, "1}"),
            piece(1, "2}"),
        ],
        "stop",
    );
    let message = message(WireFormat::Chat, &stream);
    assert_eq!(message.stop_reason, StopReason::ToolUse);
    let expected =
        [("a".into(), "x".into(), json!({"n": 1})), ("b".into(), "y".into(), json!({"m": 2}))];
    assert_eq!(calls(&message), expected);
}

#[test]
fn chat_servers_that_send_whole_calls_one_index_or_no_ids_are_understood() {
    // Ollama: whole calls, one index for all.
    let whole = |id: &str, name: &str| {
        json!({"tool_calls": [{"index": 0, "id": id, "type": "function",
            "function": {"name": name, "arguments": "{\"a\":1}"}}]})
    };
    let ollama =
        message(WireFormat::Chat, &chat(&[whole("c1", "x"), whole("c2", "y")], "tool_calls"));
    let names: Vec<_> = calls(&ollama).into_iter().map(|(id, name, _)| (id, name)).collect();
    assert_eq!(names, [("c1".into(), "x".into()), ("c2".into(), "y".into())]);
    // No ids at all, and the arguments as an object.
    let stream = chat(
        &[json!({"tool_calls": [
            {"function": {"name": "x", "arguments": {"a": 1}}},
            {"function": {"name": "y", "arguments": {"a": 2}}}]})],
        "tool_calls",
    );
    let bare = calls(&message(WireFormat::Chat, &stream));
    assert_eq!(bare.len(), 2);
    assert_ne!(bare[0].0, bare[1].0);
    assert_eq!(bare[1].2, json!({"a": 2}));
    // The name twice, an empty id.
    let twice = json!({"tool_calls": [{"index": 0, "id": "", "function": {"name": "x", "arguments": "{}"}}]});
    let again =
        json!({"tool_calls": [{"index": 0, "id": "", "function": {"name": "x", "arguments": ""}}]});
    assert_eq!(calls(&message(WireFormat::Chat, &chat(&[twice, again], "tool_calls"))).len(), 1);
}

#[test]
fn chat_thinking_is_found_in_all_its_fields_once() {
    for field in ["reasoning_content", "reasoning", "reasoning_text"] {
        let both = json!({field: "hm", "content": null});
        let message = message(WireFormat::Chat, &chat(&[both, json!({"content": "ok"})], "stop"));
        let thinking =
            Block::Thinking { thinking: "hm".into(), opaque: Some(json!({"field": field})) };
        assert_eq!(message.content, [thinking, Block::text("ok")]);
    }
    let doubled = json!({"reasoning_content": "hm", "reasoning": "hm"});
    let message = message(WireFormat::Chat, &chat(&[doubled], "stop"));
    let [Block::Thinking { thinking, .. }] = message.content.as_slice() else { panic!() };
    assert_eq!(thinking, "hm");
}

#[test]
fn chat_errors_as_chunks_and_comments_are_read() {
    let stream = ": OPENROUTER PROCESSING\n\ndata: {\"error\":{\"code\":502,\"message\":\"Provider \
                  disconnected\"},\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"error\"}]}\n\n";
    let Some(Event::Error(failure)) = events(WireFormat::Chat, [stream.as_bytes()]).pop() else {
        panic!()
    };
    assert_eq!((failure.class, failure.status), (FailureClass::Transient, Some(502)));
    let vllm =
        sse(&[json!({"object": "error", "message": "This model's maximum context length is 9 \
        tokens", "type": "BadRequestError", "code": 400})]);
    let Some(Event::Error(failure)) = events(WireFormat::Chat, [vllm.as_bytes()]).pop() else {
        panic!()
    };
    assert_eq!(failure.class, FailureClass::Overflow);
}

#[test]
fn chat_bad_arguments_are_marked_and_not_guessed() {
    let call = json!({"tool_calls": [{"index": 0, "id": "a",
        "function": {"name": "x", "arguments": "{\"a\": "}}]});
    let bad = message(WireFormat::Chat, &chat(std::slice::from_ref(&call), "tool_calls"));
    let found: Vec<_> = bad.tool_calls().map(|call| call.malformed.clone()).collect();
    assert_eq!(found, [Some("{\"a\": ".to_owned())]);
    // At the limit of output it was cut, and is not there.
    let cut = message(WireFormat::Chat, &chat(&[call], "length"));
    assert_eq!(cut.tool_calls().count(), 0);
    assert_eq!(cut.stop_reason, StopReason::Length);
}

#[test]
fn gemini_signatures_stay_with_their_part() {
    let chunk = |parts: Value| json!({"candidates": [{"content": {"parts": parts}}]});
    let stream = sse(&[
        chunk(json!([{"text": "think", "thought": true}])),
        chunk(json!([{"text": "a"}])),
        chunk(json!([{"text": "b", "thoughtSignature": "S1"}])),
        chunk(json!([{"text": "c"}])),
        chunk(json!([{"functionCall": {"name": "x", "args": {}}, "thoughtSignature": "S2"},
            {"functionCall": {"name": "x"}}])),
        json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": "", "thoughtSignature": "S3"}]}}]}),
    ]);
    let message = message(WireFormat::Gemini, &stream);
    let signed = |text: &str, signature: &str| Block::Text {
        text: text.into(),
        refusal: false,
        opaque: Some(json!({"thoughtSignature": signature})),
    };
    assert_eq!(message.content[1..4], [Block::text("a"), signed("b", "S1"), Block::text("c")]);
    assert_eq!(message.content[6], signed("", "S3"));
    let ids: Vec<_> = message.tool_calls().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_p_1", "call_p_2"]);
    assert_eq!(message.stop_reason, StopReason::ToolUse);
}

#[test]
fn gemini_a_blocked_prompt_is_a_refusal() {
    let stream = sse(&[json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 4}})]);
    let message = message(WireFormat::Gemini, &stream);
    assert_eq!(message.stop_reason, StopReason::Refusal);
    assert_eq!(message.error_message.as_deref(), Some("PROHIBITED_CONTENT"));
}

#[test]
fn an_answer_without_end_in_size_ends() {
    for format in WireFormat::ALL {
        let text = "x".repeat(1 << 20);
        let piece = match format {
            WireFormat::Anthropic => json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": text}}),
            WireFormat::Responses => {
                json!({"type": "response.output_text.delta", "output_index": 0,
                "content_index": 0, "delta": text})
            }
            WireFormat::Chat => json!({"choices": [{"delta": {"content": text}}]}),
            WireFormat::Gemini => json!({"candidates": [{"content": {"parts": [{"text": text}]}}]}),
        };
        let start = json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""}});
        let mut decoder = umbo_model::Decoder::new(format, "p");
        decoder.feed(sse(&[start]).as_bytes());
        let piece = sse(&[piece]);
        let fed = (0..100).take_while(|_| {
            decoder.feed(piece.as_bytes());
            !decoder.is_done()
        });
        assert_eq!(fed.count(), umbo_model::LONGEST_ANSWER_BYTES >> 20, "{format:?}");
    }
}
