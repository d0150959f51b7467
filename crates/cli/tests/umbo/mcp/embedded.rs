//! The protocol inside of a program that has a runtime, a server or a transport of its own.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{Request, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tower_service::Service;
use umbo_mcp::{MCP_PATH, McpEndpoint, McpHandler, McpOptions};
use umbo_server::{Answering, Body, Door, Guard, Mount, Refusal, RequestBody};
use umbo_tools::{Owner, Toolset};

use super::newest;
use super::web::TOKEN;
use crate::harness::Umbo;

fn tools(umbo: &Umbo, owner: Owner) -> Toolset {
    Toolset::builder(umbo.caller().owner(owner)).build().unwrap()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
}

/// A page beside the protocol.
struct Page;

impl Mount for Page {
    fn answer(&self, _request: Request<RequestBody>) -> Answering<'_> {
        let page = Response::new(Full::new(Bytes::from("<p>jobs</p>")).boxed());
        Box::pin(std::future::ready(Ok(page)))
    }

    fn refuse(&self, refusal: Refusal) -> Response<Body> {
        refusal.into_response(&json!("not for you"))
    }
}

async fn call<S>(service: &mut S, request: Request<Full<Bytes>>) -> (u16, String)
where
    S: Service<Request<Full<Bytes>>, Response = Response<Body>, Error = Infallible>,
{
    let ready = service.poll_ready(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(ready, Poll::Ready(Ok(()))));
    let response = service.call(request).await.unwrap();
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

fn post(path: &str, token: &str, body: &Value) -> Request<Full<Bytes>> {
    Request::post(path)
        .header("host", "localhost")
        .header("authorization", format!("Bearer {token}"))
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "exec")
        .body(Full::new(Bytes::from(body.to_string())))
        .unwrap()
}

#[test]
fn a_server_that_is_already_there_mounts_the_protocol_beside_a_page() {
    let umbo = Arc::new(Umbo::new());
    let owned = Arc::clone(&umbo);
    let endpoint =
        McpEndpoint::new(&McpOptions::default(), move |owner| Ok(tools(&owned, owner))).unwrap();
    let mut door = Door::builder(Guard::new(TOKEN, &[], &[]).unwrap())
        .mount(MCP_PATH, Arc::new(endpoint))
        .mount("/", Arc::new(Page))
        .build();
    runtime().block_on(async {
        let params = json!({
            "name": "exec", "arguments": {"command": "echo hi"}, "_meta": newest(&json!({})),
        });
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let (status, body) = call(&mut door, post(MCP_PATH, TOKEN, &message)).await;
        assert_eq!(status, 200, "{body}");
        let answer: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(answer["result"]["structuredContent"]["output"], "hi\n");
        let (status, body) = call(&mut door, post("/", TOKEN, &json!({}))).await;
        assert_eq!((status, body.as_str()), (200, "<p>jobs</p>"));
        // Each words its own refusals, and a path of neither has plain ones.
        let wrong = "0".repeat(20);
        let (status, body) = call(&mut door, post("/", &wrong, &json!({}))).await;
        assert_eq!((status, body.as_str()), (401, "\"not for you\""));
        let (status, body) = call(&mut door, post(MCP_PATH, &wrong, &message)).await;
        assert_eq!(status, 401);
        assert!(body.contains("\"jsonrpc\":\"2.0\""), "{body}");
        let (status, body) = call(&mut door, post("/nothing", TOKEN, &json!({}))).await;
        assert_eq!(status, 404);
        assert!(body.contains("the server is at /mcp /"), "{body}");
    });
    door.close();
}

#[test]
fn a_program_with_a_transport_of_its_own_serves_the_tools_on_it() {
    let umbo = Umbo::new();
    let nap = umbo.nap();
    runtime().block_on(async {
        let (client, server) = tokio::io::duplex(64 << 10);
        let serving =
            tokio::spawn(umbo_mcp::serve(tools(&umbo, Owner::Fresh), tokio::io::split(server)));
        let (read, mut write) = tokio::io::split(client);
        let mut lines = BufReader::new(read).lines();
        for message in [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
                "name": "exec", "arguments": {"command": nap, "yield": 0.1, "on_disconnect": "stop"},
            }}),
        ] {
            write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        }
        let handshake: Value =
            serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
        assert_eq!(handshake["result"]["serverInfo"]["name"], "umbo");
        let answer: Value =
            serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
        assert_eq!(answer["result"]["structuredContent"]["state"], "started", "{answer}");
        umbo.wait_nappers(1);
        drop((write, lines));
        serving.await.unwrap().unwrap();
    });
    // The client is gone, and with it what it left in the foreground.
    assert!(umbo.nappers().is_empty());
}

#[test]
fn a_handler_of_rmcp_says_what_it_is() {
    use rmcp::ServerHandler as _;
    let umbo = Umbo::new();
    let handler = McpHandler::new(tools(&umbo, Owner::Fresh));
    assert_eq!(handler.get_info().server_info.name, "umbo");
    assert!(handler.get_tool("exec").is_some());
    handler.close();
}
