//! The vendors' own libraries as a second opinion: they must accept what the scripted server sends
//! and understand it as the decoders do, and their types must allow what the encoders make.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use umbo_model::server::{Answer, ModelServer, Reply};
use umbo_model::{
    Block, CacheLife, Effort, Message, Part, Request, StopReason, ThinkingStyle, ToolChoice,
    ToolInput, ToolResult, ToolSpec, Usage, UserMessage, WireFormat, encode,
};

use crate::{assemble, events, model};

/// The Python that has the libraries.
fn python() -> Command {
    let tools = std::env::var_os("UMBO_TEST_TOOLS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/test-tools"),
        PathBuf::from,
    );
    let python = tools.join("model-sdks/bin/python");
    assert!(python.is_file(), "run `cargo xtask setup`: there is no {}", python.display());
    let mut command = Command::new(python);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sdks.py"));
    command
}

fn see(format: WireFormat, answer: &Answer) -> Value {
    let server = ModelServer::scripted([Reply::answer(answer.clone()).in_pieces(11)]).unwrap();
    let output = python().args(["see", format.word(), &server.url()]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{format:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn rich() -> Answer {
    Answer::new()
        .and_thinking("Two files, \u{1f9d0} I think.", "c2lnbmF0dXJl")
        .and_text("Looking at \"both\"\nof them.")
        .and_call("call_a", "read", &json!({"path": "a.txt", "deep": {"list": [1, 2.5, null]}}))
        .and_call("call_b", "read", &json!({"path": "b \u{1f600}\\.txt"}))
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
fn the_vendors_libraries_understand_the_scripted_server_as_the_decoders_do() {
    for format in WireFormat::ALL {
        for answer in [rich(), Answer::text("just words"), rich().ends(StopReason::Length)] {
            let seen = see(format, &answer);
            let message = assemble(format, &events(format, [answer.bytes(format).as_slice()]));
            let calls: Vec<Value> = message
                .tool_calls()
                .map(|call| json!([call.id, call.name, call.arguments]))
                .collect();
            let thinking: String = message
                .content
                .iter()
                .filter_map(|block| match block {
                    Block::Thinking { thinking, .. } => Some(thinking.as_str()),
                    _ => None,
                })
                .collect();
            let usage = message.usage;
            assert_eq!(seen["text"], json!(message.text()), "{format:?}");
            assert_eq!(seen["thinking"], json!(thinking), "{format:?}");
            assert_eq!(seen["calls"], json!(calls), "{format:?}");
            let counts = json!([usage.all_input(), usage.cache_read, usage.output]);
            assert_eq!(json!([seen["input"], seen["cache_read"], seen["output"]]), counts);
            if let Some(signature) = seen["signature"].as_str() {
                let said = serde_json::to_string(&message).unwrap();
                assert!(said.contains(signature), "{format:?}: {said}");
            }
            let stop = match (format, message.stop_reason) {
                (WireFormat::Anthropic, StopReason::ToolUse) => "tool_use",
                (WireFormat::Anthropic, StopReason::Length) => "max_tokens",
                (WireFormat::Anthropic, _) => "end_turn",
                (WireFormat::Responses, StopReason::Length) => "incomplete",
                (WireFormat::Responses, _) => "completed",
                (WireFormat::Chat, StopReason::ToolUse) => "tool_calls",
                (WireFormat::Chat, StopReason::Length) => "length",
                (WireFormat::Chat, _) => "stop",
                (WireFormat::Gemini, StopReason::Length) => "MAX_TOKENS",
                (WireFormat::Gemini, _) => "STOP",
            };
            assert_eq!(seen["stop"], stop, "{format:?}");
        }
    }
}

#[test]
fn partial_arguments_are_what_the_vendors_parser_makes_of_them() {
    let document = json!({"path": "a \"b\"\n\u{1f600}.txt", "on": true, "deep": {"list":
        ["one", {"x": "y"}, [], null], "n": 12}, "empty": {}, "last": -3.5})
    .to_string();
    let starts: Vec<&str> =
        document.char_indices().skip(1).map(|(at, _)| &document[..at]).collect();
    let lines: Vec<String> = starts.iter().map(|start| json!(start).to_string()).collect();
    let theirs = ask(&["partial"], &lines);
    assert_eq!(theirs.len(), starts.len());
    for (start, theirs) in starts.into_iter().zip(theirs) {
        let theirs: Value = serde_json::from_str(&theirs).unwrap();
        // Of a number they leave out what may go on, where ours shows what is there.
        let ours = umbo_model::complete_json(start).unwrap();
        let is_number_cut = start.ends_with(|c: char| c.is_ascii_digit());
        assert!(ours == theirs || is_number_cut, "{start}\nours {ours}\ntheirs {theirs}");
    }
}

/// The answers to some lines.
fn ask(words: &[&str], lines: &[String]) -> Vec<String> {
    let mut child =
        python().args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = lines.join("\n") + "\n";
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// One request with all that a request can have.
fn requests(format: WireFormat) -> Vec<Request> {
    let message = assemble(format, &events(format, [rich().bytes(format).as_slice()]));
    let foreign = umbo_model::AssistantMessage { model: "another".into(), ..message.clone() };
    let image = || Part::Image { data: "aGk=".into(), mime_type: "image/png".into() };
    let result = |id: &str, is_error| {
        Message::ToolResult(ToolResult {
            tool_call_id: id.into(),
            tool_name: "read".into(),
            content: vec![Part::text("it says hi"), image()],
            is_error,
            details: Some(json!({"shown": true})),
        })
    };
    let tools = vec![
        ToolSpec {
            name: "read".into(),
            description: "reads".into(),
            input: ToolInput::Schema(json!({"type": "object", "properties":
                {"path": {"type": "string"}}, "required": ["path"]})),
        },
        ToolSpec {
            name: "patch".into(),
            description: "patches".into(),
            input: ToolInput::Raw { grammar: Some("start: /.*/".into()) },
        },
    ];
    let mut all = Vec::new();
    for answer in [message, foreign] {
        for (choice, style, effort, cache) in [
            (ToolChoice::Auto, ThinkingStyle::Effort, Some(Effort::High), CacheLife::Long),
            (ToolChoice::Never, ThinkingStyle::Budget, Some(Effort::Low), CacheLife::Short),
            (ToolChoice::Required, ThinkingStyle::None, None, CacheLife::Off),
            (ToolChoice::Tool("read".into()), ThinkingStyle::Effort, None, CacheLife::Short),
        ] {
            let user = UserMessage { content: vec![Part::text("look"), image()] };
            let mut request = Request::new(
                model(format),
                vec![
                    Message::User(user),
                    Message::Assistant(answer.clone()),
                    result("call_a", false),
                    result("call_b", true),
                    Message::user("go on"),
                ],
            );
            request.system = "be brief".into();
            request.tools.clone_from(&tools);
            request.tool_choice = choice;
            request.model.thinking = style;
            request.effort = effort;
            request.cache = cache;
            request.cache_key = Some("key".into());
            // The library for Anthropic has dropped it, as the newest models have.
            request.temperature = (format != WireFormat::Anthropic).then_some(0.5);
            request.model.quirks = umbo_model::ChatQuirks::openai();
            all.push(request);
        }
    }
    all
}

#[test]
fn the_types_of_the_vendors_libraries_allow_what_the_encoders_make() {
    for format in WireFormat::ALL {
        let bodies: Vec<Value> =
            requests(format).iter().map(|request| encode(request).unwrap()).collect();
        let mut lines = Vec::new();
        for body in &bodies {
            // A field that only other servers of the format know.
            let mut body = body.clone();
            let messages = body.get_mut("messages").and_then(Value::as_array_mut);
            for message in messages.into_iter().flatten() {
                message.as_object_mut().unwrap().remove("reasoning_content");
            }
            lines.push(body.to_string());
        }
        // Two that must be refused, so that silence is no consent.
        let mut wrong = bodies[0].clone();
        wrong["no_such_field"] = json!(1);
        lines.push(wrong.to_string());
        let mut wrong = bodies[0].clone();
        let list = ["messages", "input", "contents"].into_iter().find(|key| wrong[*key].is_array());
        wrong[list.unwrap()][0]["role"] = json!("nobody");
        lines.push(wrong.to_string());
        let verdicts = ask(&["check", format.word()], &lines);
        assert_eq!(verdicts.len(), bodies.len() + 2, "{format:?}");
        for (verdict, body) in verdicts.iter().zip(&bodies) {
            assert_eq!(verdict, "\"ok\"", "{format:?}\n{body:#}");
        }
        assert_ne!(verdicts[bodies.len()], "\"ok\"", "{format:?} allows any field");
        // The library for Gemini leaves roles to the server.
        let takes_any_role = verdicts[bodies.len() + 1] == "\"ok\"";
        assert_eq!(takes_any_role, format == WireFormat::Gemini, "{format:?}");
    }
}
