//! Requests: any conversation, in any format, is one that its vendor accepts.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use umbo_model::server::{Received, check_request};
use umbo_model::{
    AssistantMessage, Block, CacheLife, Effort, EncodeError, Message, Part, Request, StopReason,
    ThinkingStyle, ToolCall, ToolChoice, ToolInput, ToolResult, ToolSpec, Usage, UserMessage,
    WireFormat, encode,
};

use crate::model;

fn received(format: WireFormat, body: Value) -> Received {
    let path = match format {
        WireFormat::Anthropic => "/v1/messages",
        WireFormat::Responses => "/v1/responses",
        WireFormat::Chat => "/v1/chat/completions",
        WireFormat::Gemini => "/v1beta/models/m:streamGenerateContent?alt=sse",
    };
    let headers = vec![("anthropic-version".to_owned(), "2023-06-01".to_owned())];
    Received { format: Some(format), path: path.to_owned(), headers, text: body.to_string(), body }
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: "a tool".to_owned(),
        input: ToolInput::Schema(json!({"type": "object", "properties": {}})),
    }
}

fn id() -> impl Strategy<Value = String> {
    // Few, so that they meet; some that no vendor likes.
    prop_oneof![
        (0..6_u8).prop_map(|n| format!("call_{n}")),
        (0..3_u8).prop_map(|n| format!("call|{n}/{}", "x".repeat(70))),
        Just(String::new()),
    ]
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), Just("  \n".to_owned()), "[a-z ]{1,12}", any::<String>()]
}

fn part() -> impl Strategy<Value = Part> {
    let image = Part::Image { data: "aGk=".into(), mime_type: "image/png".into() };
    prop_oneof![4 => words().prop_map(Part::text), 1 => Just(image)]
}

fn opaque() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        Just(None),
        Just(Some(json!({"signature": "s"}))),
        Just(Some(json!({"thoughtSignature": "s"}))),
        Just(Some(json!({"field": "reasoning_content"}))),
    ]
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        words().prop_map(Block::text),
        (words(), opaque()).prop_map(|(thinking, opaque)| Block::Thinking { thinking, opaque }),
        (id(), any::<bool>()).prop_map(|(id, is_bad)| Block::ToolCall(ToolCall {
            id,
            name: "look".into(),
            arguments: Map::from_iter([("a".to_owned(), json!(1))]),
            malformed: is_bad.then(|| "{".to_owned()),
            opaque: None,
        })),
    ]
}

fn any_message() -> impl Strategy<Value = Message> {
    let reason = prop_oneof![
        4 => Just(StopReason::ToolUse),
        1 => Just(StopReason::Aborted),
        1 => Just(StopReason::Error),
        1 => Just(StopReason::Length),
    ];
    prop_oneof![
        prop::collection::vec(part(), 0..3)
            .prop_map(|content| Message::User(UserMessage { content })),
        (prop::collection::vec(block(), 0..4), reason, 0..5_usize).prop_map(
            |(content, stop_reason, from)| {
                // From one of the formats, or from who knows where.
                Message::Assistant(AssistantMessage {
                    content,
                    api: WireFormat::ALL.get(from).copied(),
                    provider: "test".into(),
                    model: "scripted-model".into(),
                    usage: Usage::default(),
                    stop_reason,
                    error_message: None,
                    response_id: None,
                })
            }
        ),
        (id(), prop::collection::vec(part(), 0..3), any::<bool>()).prop_map(
            |(tool_call_id, content, is_error)| Message::ToolResult(ToolResult {
                tool_call_id,
                tool_name: "look".into(),
                content,
                is_error,
                details: None,
            })
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_conversation_is_accepted_by_every_vendor(
        messages in prop::collection::vec(any_message(), 0..12),
        images in any::<bool>(),
    ) {
        for format in WireFormat::ALL {
            let mut request = Request::new(model(format), messages.clone());
            request.model.images = images;
            request.tools = vec![tool("look")];
            match encode(&request) {
                Ok(body) => {
                    let checked = check_request(&received(format, body.clone()));
                    prop_assert!(checked.is_ok(), "{format:?}: {checked:?}\n{body:#}");
                }
                Err(error) => prop_assert_eq!(error, EncodeError::Empty),
            }
        }
    }
}

#[test]
fn a_conversation_with_anything_in_it_is_not_empty() {
    for format in WireFormat::ALL {
        let body = encode(&Request::new(model(format), vec![Message::user("hi")])).unwrap();
        assert_eq!(check_request(&received(format, body)), Ok(()));
    }
}

#[test]
fn the_cache_is_marked_at_tools_system_and_the_last_two_of_the_user() {
    let mut request = Request::new(
        model(WireFormat::Anthropic),
        vec![
            Message::user("one"),
            Message::Assistant(answer("two")),
            Message::user("three"),
            Message::Assistant(answer("four")),
            Message::user("five"),
        ],
    );
    request.system = "sys".into();
    request.tools = vec![tool("a"), tool("b")];
    let body = encode(&request).unwrap();
    let mark = json!({"type": "ephemeral"});
    assert_eq!(body["tools"][1]["cache_control"], mark);
    assert_eq!(body["system"][0]["cache_control"], mark);
    assert_eq!(body["messages"][4]["content"][0]["cache_control"], mark);
    assert_eq!(body["messages"][2]["content"][0]["cache_control"], mark);
    assert_eq!(body["messages"][0]["content"][0].get("cache_control"), None);
    request.cache = CacheLife::Long;
    assert_eq!(encode(&request).unwrap()["system"][0]["cache_control"]["ttl"], "1h");
    request.cache = CacheLife::Off;
    assert!(!encode(&request).unwrap().to_string().contains("cache_control"));
    for format in [WireFormat::Responses, WireFormat::Chat] {
        let mut request = Request { model: model(format), ..request.clone() };
        request.model.quirks.prompt_cache_key = true;
        request.cache = CacheLife::Short;
        request.cache_key = Some("session-1".into());
        assert_eq!(encode(&request).unwrap()["prompt_cache_key"], "session-1");
    }
}

fn answer(text: &str) -> AssistantMessage {
    AssistantMessage {
        content: vec![Block::text(text)],
        api: None,
        provider: String::new(),
        model: String::new(),
        usage: Usage::default(),
        stop_reason: StopReason::Stop,
        error_message: None,
        response_id: None,
    }
}

#[test]
fn thinking_is_asked_for_in_the_words_of_each_vendor() {
    let ask = |format, style, effort| {
        let mut request = Request::new(model(format), vec![Message::user("hi")]);
        request.model.thinking = style;
        request.model.efforts = vec![Effort::Low, Effort::Medium, Effort::High];
        request.effort = effort;
        encode(&request).unwrap()
    };
    let most = Some(Effort::Max);
    let body = ask(WireFormat::Anthropic, ThinkingStyle::Effort, most);
    assert_eq!(body["thinking"]["type"], "adaptive");
    assert_eq!(body["output_config"]["effort"], "high");
    let body = ask(WireFormat::Anthropic, ThinkingStyle::Budget, most);
    assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": 8192}));
    assert_eq!(ask(WireFormat::Anthropic, ThinkingStyle::None, most).get("thinking"), None);
    let body = ask(WireFormat::Responses, ThinkingStyle::Effort, Some(Effort::Minimal));
    assert_eq!(body["reasoning"], json!({"effort": "low", "summary": "auto"}));
    assert_eq!(ask(WireFormat::Chat, ThinkingStyle::Effort, most)["reasoning_effort"], "high");
    let body = ask(WireFormat::Gemini, ThinkingStyle::Effort, Some(Effort::Medium));
    assert_eq!(body["generationConfig"]["thinkingConfig"]["thinkingLevel"], "medium");
    let body = ask(WireFormat::Gemini, ThinkingStyle::Budget, Some(Effort::Low));
    assert_eq!(body["generationConfig"]["thinkingConfig"]["thinkingBudget"], 4096);
}

#[test]
fn what_is_opaque_goes_only_to_the_model_it_came_from() {
    for format in WireFormat::ALL {
        let message = AssistantMessage {
            content: vec![
                Block::Thinking {
                    thinking: "SECRET-THOUGHT".into(),
                    opaque: Some(json!({
                    "signature": "OPAQUE", "thoughtSignature": "OPAQUE", "field": "reasoning",
                    "type": "reasoning", "encrypted_content": "OPAQUE", "summary": []})),
                },
                Block::text("said"),
            ],
            api: Some(format),
            provider: "test".into(),
            model: "scripted-model".into(),
            ..answer("")
        };
        let messages = vec![Message::user("a"), Message::Assistant(message), Message::user("b")];
        let same = encode(&Request::new(model(format), messages.clone())).unwrap().to_string();
        assert!(same.contains("OPAQUE") || same.contains("SECRET-THOUGHT"), "{format:?} {same}");
        let mut other = model(format);
        other.id = "another-model".into();
        let other = encode(&Request::new(other, messages)).unwrap().to_string();
        assert!(!other.contains("OPAQUE") && !other.contains("SECRET-THOUGHT"), "{format:?}");
        assert!(other.contains("said"));
    }
}

#[test]
fn a_raw_tool_is_custom_where_that_exists_and_an_object_with_input_elsewhere() {
    let raw = ToolSpec {
        name: "apply_patch".into(),
        description: "d".into(),
        input: ToolInput::Raw { grammar: Some("start: /.*/".into()) },
    };
    for format in WireFormat::ALL {
        let mut request = Request::new(model(format), vec![Message::user("hi")]);
        request.tools = vec![raw.clone()];
        request.tool_choice = ToolChoice::Tool("apply_patch".into());
        let body = encode(&request).unwrap();
        if format == WireFormat::Responses {
            assert_eq!(body["tools"][0]["format"]["definition"], "start: /.*/");
            assert_eq!(body["tool_choice"]["type"], "custom");
        } else {
            assert!(body.to_string().contains(r#""required":["input"]"#), "{body}");
        }
    }
}

#[test]
fn tools_that_no_vendor_takes_are_refused_before_anything_is_sent() {
    let with = |tools: Vec<ToolSpec>| {
        let mut request = Request::new(model(WireFormat::Chat), vec![Message::user("hi")]);
        request.tools = tools;
        encode(&request).unwrap_err()
    };
    assert_eq!(with(vec![tool("a b")]), EncodeError::ToolName("a b".into()));
    assert_eq!(with(vec![tool(&"a".repeat(65))]), EncodeError::ToolName("a".repeat(65)));
    assert_eq!(with(vec![tool("a"), tool("a")]), EncodeError::SameToolName("a".into()));
    let list = ToolSpec { input: ToolInput::Schema(json!([])), ..tool("a") };
    assert_eq!(with(vec![list]), EncodeError::ToolSchema("a".into()));
    let empty = Request::new(model(WireFormat::Chat), vec![Message::user("  ")]);
    assert_eq!(encode(&empty).unwrap_err(), EncodeError::Empty);
}
