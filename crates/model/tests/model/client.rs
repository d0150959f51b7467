//! A real client and a real server on loopback.

use std::future::Future;
use std::time::Duration;

use serde_json::json;
use umbo_model::server::{Answer, Gate, ModelServer, Reply, Trouble};
use umbo_model::{
    Assembler, Client, ClientOptions, Event, Failure, FailureClass, Message, Request, StopReason,
    WireFormat,
};

use crate::model;

/// Generous to a busy machine.
const DEADLINE: Duration = Duration::from_mins(1);

async fn in_time<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, what).await.expect("it takes too long")
}

fn client() -> Client {
    Client::new(&ClientOptions::default()).unwrap()
}

fn request(format: WireFormat) -> Request {
    let mut request = Request::new(model(format), vec![Message::user("hello")]);
    request.system = "be brief".into();
    request
}

async fn ask(server: &ModelServer, format: WireFormat) -> (Assembler, Vec<Event>) {
    let mut stream = client().stream(&server.endpoint(format), &request(format)).unwrap();
    let mut assembler = Assembler::new();
    let mut events = Vec::new();
    while let Some(event) = in_time(stream.next()).await {
        assembler.push(&event);
        events.push(event);
    }
    (assembler, events)
}

async fn failure(server: &ModelServer, format: WireFormat) -> Failure {
    ask(server, format).await.0.failure().cloned().expect("it must fail")
}

#[tokio::test]
async fn a_conversation_works_in_all_formats_and_the_key_is_where_the_vendor_looks() {
    for format in WireFormat::ALL {
        let server = ModelServer::scripted([Reply::text("hi there").in_pieces(3)]).unwrap();
        let (assembler, events) = ask(&server, format).await;
        assert_eq!(assembler.text(), "hi there", "{format:?}");
        assert!(events.last().unwrap().is_last());
        let requests = server.requests();
        assert_eq!(requests.len(), 1);
        let key = match format {
            WireFormat::Anthropic => requests[0].header("x-api-key"),
            WireFormat::Gemini => requests[0].header("x-goog-api-key"),
            _ => requests[0].header("authorization"),
        };
        assert!(key.is_some_and(|key| key.ends_with("test-key")), "{format:?}");
        assert!(!requests[0].path.contains("test-key"));
    }
}

#[tokio::test]
async fn errors_have_their_class_and_say_how_long_to_wait() {
    let cases = [
        (Trouble::Overflow, FailureClass::Overflow),
        (Trouble::RateLimit(Some(7)), FailureClass::RateLimit),
        (Trouble::Quota, FailureClass::Quota),
        (Trouble::Overloaded, FailureClass::Overloaded),
        (Trouble::Server, FailureClass::Transient),
        (Trouble::Auth, FailureClass::Auth),
        (Trouble::Invalid("no such field".into()), FailureClass::InvalidRequest),
    ];
    for format in WireFormat::ALL {
        for (trouble, class) in &cases {
            let server = ModelServer::scripted([Reply::failure(trouble.clone())]).unwrap();
            let failure = failure(&server, format).await;
            assert_eq!(failure.class, *class, "{format:?} {trouble:?} {failure:?}");
            let wait = matches!(trouble, Trouble::RateLimit(_)).then(|| Duration::from_secs(7));
            assert_eq!(failure.retry_after, wait);
        }
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_is_a_failure_that_can_be_tried_again() {
    for format in WireFormat::ALL {
        let bytes = Answer::text("a long enough answer").bytes(format).len();
        let server =
            ModelServer::scripted([Reply::text("a long enough answer").cut_after(bytes / 2)]);
        let failure = failure(&server.unwrap(), format).await;
        assert_eq!(failure.class, FailureClass::Transient, "{format:?}");
    }
}

#[tokio::test]
async fn garbage_pages_and_what_is_no_stream_are_said_to_be_that() {
    for format in WireFormat::ALL {
        let server = ModelServer::scripted([
            Reply::stream("data: {\"half\": \n\n"),
            Reply::raw(200, "text/html", "<html>log in"),
            Reply::raw(200, "application/json", r#"{"error":{"message":"Rate limit","code":429}}"#),
            Reply::raw(502, "text/html", "<html>bad gateway"),
            Reply::stream(""),
        ])
        .unwrap();
        assert_eq!(failure(&server, format).await.class, FailureClass::Protocol);
        let page = failure(&server, format).await;
        assert_eq!(page.class, FailureClass::Protocol);
        assert!(page.message.contains("text/html"), "{}", page.message);
        assert_eq!(failure(&server, format).await.class, FailureClass::RateLimit);
        let gateway = failure(&server, format).await;
        assert_eq!(gateway.class, FailureClass::Transient);
        assert!(gateway.message.contains("gateway"), "{}", gateway.message);
        assert_eq!(failure(&server, format).await.class, FailureClass::Transient);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn text_arrives_while_the_server_is_still_talking_and_dropping_the_stream_hangs_up() {
    for format in WireFormat::ALL {
        let answer = Answer::text("the first part and the second part");
        let bytes = answer.bytes(format);
        let place =
            bytes.windows(5).position(|window| window == b"secon").unwrap_or(bytes.len() / 2);
        let gate = Gate::new();
        let server =
            ModelServer::scripted([Reply::answer(answer).wait_after(place, &gate)]).unwrap();
        let mut stream = client().stream(&server.endpoint(format), &request(format)).unwrap();
        let mut text = String::new();
        while text.len() < 10 {
            if let Some(Event::Delta { text: piece, .. }) = in_time(stream.next()).await {
                text.push_str(&piece);
            }
        }
        assert!("the first part and the second part".starts_with(&text), "{text}");
        drop(stream);
        assert!(server.wait_for_hangups(1, DEADLINE), "{format:?}: nobody hung up");
    }
}

#[tokio::test]
async fn a_server_that_falls_silent_is_not_waited_for_for_ever() {
    for format in WireFormat::ALL {
        let gate = Gate::new();
        let server = ModelServer::scripted([Reply::text("hello").wait_after(40, &gate)]).unwrap();
        let options =
            ClientOptions { idle_timeout: Duration::from_millis(50), ..ClientOptions::default() };
        let client = Client::new(&options).unwrap();
        let mut stream = client.stream(&server.endpoint(format), &request(format)).unwrap();
        let mut last = None;
        while let Some(event) = in_time(stream.next()).await {
            last = Some(event);
        }
        let Some(Event::Error(failure)) = last else { panic!("{last:?}") };
        assert_eq!(failure.class, FailureClass::Transient);
        assert!(failure.message.contains("silent"), "{}", failure.message);
    }
}

#[tokio::test]
async fn a_reader_that_sleeps_gets_all_of_a_flood_in_order() {
    let text: String =
        (0..200_000).flat_map(|number: u32| [number.to_string(), " ".into()]).collect();
    let server = ModelServer::scripted([Reply::text(&text)]).unwrap();
    let format = WireFormat::Chat;
    let mut stream = client().stream(&server.endpoint(format), &request(format)).unwrap();
    // Nothing is read until the network has filled all that may wait.
    let first = in_time(stream.next()).await;
    assert!(matches!(first, Some(Event::Start { .. })));
    let mut heard = String::new();
    let mut deltas = 0;
    while let Some(event) = in_time(stream.next()).await {
        if let Event::Delta { text, .. } = event {
            deltas += 1;
            heard.push_str(&text);
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(heard, text);
    assert!(deltas < text.len() / 7, "deltas grew together: {deltas}");
}

#[tokio::test]
async fn nobody_there_is_a_failure_with_a_reason_and_without_the_key() {
    let server = ModelServer::scripted([]).unwrap();
    let endpoint = server.endpoint(WireFormat::Gemini);
    drop(server);
    let mut stream = client().stream(&endpoint, &request(WireFormat::Gemini)).unwrap();
    let Some(Event::Error(failure)) = in_time(stream.next()).await else { panic!() };
    assert_eq!(failure.class, FailureClass::Transient);
    assert!(failure.message.contains("refused"), "{}", failure.message);
    assert!(!format!("{failure:?} {endpoint:?}").contains("test-key"));
}

#[tokio::test]
async fn what_a_model_said_goes_back_to_it_as_its_vendor_wants_it() {
    for format in WireFormat::ALL {
        let first = Answer::new()
            .and_thinking("hm", "SIGNATURE")
            .and_text("looking")
            .and_call("call_1", "look", &json!({"at": "it"}))
            .and_call("call_2", "look", &json!({}));
        let server = ModelServer::scripted([Reply::answer(first), Reply::text("done")]).unwrap();
        let mut request = request(format);
        let client = client();
        for turn in 0..2 {
            let mut stream = client.stream(&server.endpoint(format), &request).unwrap();
            let mut assembler = Assembler::new();
            while let Some(event) = in_time(stream.next()).await {
                assembler.push(&event);
            }
            assert_eq!(assembler.failure(), None, "{format:?} turn {turn}");
            let message = assembler.finish(&request.model);
            let ids: Vec<_> = message.tool_calls().map(|call| call.id.clone()).collect();
            let reason = if turn == 0 { StopReason::ToolUse } else { StopReason::Stop };
            assert_eq!(message.stop_reason, reason);
            request.messages.push(Message::Assistant(message));
            for id in ids {
                request.messages.push(Message::ToolResult(umbo_model::ToolResult {
                    tool_call_id: id,
                    tool_name: "look".into(),
                    content: vec![umbo_model::Part::text("it is there")],
                    is_error: false,
                    details: None,
                }));
            }
        }
        let second = &server.requests()[1];
        let wanted = match format {
            WireFormat::Chat => r#""reasoning_content":"hm""#,
            _ => "SIGNATURE",
        };
        assert!(second.text.contains(wanted), "{format:?}: {}", second.text);
    }
}
