//! An agent in a program of one's own: a model, tools, a session on disk, one prompt. The model here is
//! a script on loopback that speaks a vendor's format; with a vendor's address and key it is theirs.
#![expect(clippy::print_stdout, reason = "an example has something to show")]

use std::error::Error;
use std::sync::Arc;

use serde_json::json;
use umbo_agent::{Agent, AgentEvent, Candidate, JobTools, Outcome, Session, Setup};
use umbo_engine::Engine;
use umbo_model::server::{Answer, ModelServer, Reply};
use umbo_model::{Client, ClientOptions, Event, Model, Part, WireFormat};
use umbo_tools::{Caller, Toolset};

fn main() -> Result<(), Box<dyn Error>> {
    umbo_engine::init();
    let (place, server) = (tempfile::tempdir()?, script()?);
    let engine = Engine::builder(place.path().join("state")).open()?;
    let caller = Caller::builder(engine).directory(place.path()).environment(std::env::vars_os());
    let tools = JobTools::new(Toolset::builder(caller).dialect("claude-code").build()?);
    let session = Session::create(place.path(), &place.path().display().to_string(), None)?;
    let model = Model::new(WireFormat::Anthropic, "anthropic", "claude-sonnet-5");
    let endpoint = server.endpoint(WireFormat::Anthropic);
    let client = Client::new(&ClientOptions::default())?;
    let setup = Setup::new(client, Candidate { model, endpoint, price: None });
    let mut agent = Agent::new(session, Arc::new(tools), setup);
    let mut show = |event| match event {
        AgentEvent::ToolStart { call, .. } => println!("> {} {:?}", call.name, call.arguments),
        AgentEvent::Model(Event::Delta { text, .. }) => println!("{text}"),
        _ => {}
    };
    let prompt = vec![Part::text("How many lines does numbers.txt have?")];
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(agent.prompt(prompt, &mut show))?;
    // Until here.

    assert_eq!(outcome, Outcome::Done);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[1].text.contains("tool_result"), "the model read what the command printed");
    Ok(())
}

/// A model that runs a command and tells what it has seen.
fn script() -> std::io::Result<ModelServer> {
    let command = "printf '1\\n2\\n3\\n' > numbers.txt; wc -l < numbers.txt";
    ModelServer::scripted([
        Reply::answer(Answer::call("call_1", "Bash", &json!({"command": command}))),
        Reply::text("numbers.txt has 3 lines"),
    ])
}
