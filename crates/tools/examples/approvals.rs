//! A host that answers approvals: whoever embeds the tools is asked before a command runs that is not
//! known to only read, says yes to one and no to another, and may leave a third for later.
#![expect(clippy::print_stdout, reason = "an example has something to show")]

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use umbo_engine::Engine;
use umbo_gate::{GatePaths, Mode};
use umbo_tools::{
    Approver, Caller, Covers, ErrorCode, Gatekeeper, Lasts, Question, Reply, Ticket, ToolResult,
    Toolset,
};

/// A host with rules of its own. One with a window would show the question there.
#[derive(Clone, Default)]
struct Host {
    asked: Arc<Mutex<Vec<String>>>,
}

impl Approver for Host {
    fn ask(&self, question: &Question) -> Option<(Reply, String)> {
        println!("{} would run in {}: {}", question.command, question.cwd, question.why);
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(question.command.clone());
        let reply = if question.command.starts_with("mkdir") {
            // As long as this run lasts, for every command that begins with the same words.
            Reply::approve(Covers::Prefix, Lasts::Run)
        } else if question.command.starts_with("rm") {
            Reply::Deny { reason: "nothing is deleted here; ask for it".to_owned() }
        } else {
            // Nobody answers, which is not a denial: the question waits for `umbo approve`.
            return None;
        };
        Some((reply, "the host".to_owned()))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    umbo_engine::init();
    let place = tempfile::tempdir()?;
    let (state, work) = (place.path().join("state"), place.path().join("work"));
    std::fs::create_dir(&work)?;
    let gate = Gatekeeper::new(GatePaths::new(place.path().join("rules"), &state), Mode::Default)
        .run_id(Some("this run".to_owned()));
    let caller = Caller::builder(Engine::builder(&state).open()?)
        .directory(&work)
        .environment(std::env::vars_os())
        .gate(gate);
    let tools = Toolset::builder(caller).build()?;
    let host = Host::default();
    let run = |line: &str| -> ToolResult {
        let ticket = Ticket::builder().approver(host.clone()).build();
        let result = tools.call("exec", json!({"command": line}), &ticket);
        println!("{line}: {}\n", result.text.trim_end());
        result
    };

    assert_eq!(run("ls").error, None, "who only reads is not asked about");
    assert_eq!(run("mkdir one").error, None);
    assert_eq!(run("mkdir two").error, None, "the answer covered it");
    let denied = run("rm -r one");
    assert_eq!(denied.error, Some(ErrorCode::Denied));
    assert!(denied.text.contains("nothing is deleted here"), "the model reads why");
    let open = run("touch three");
    assert_eq!(open.error, Some(ErrorCode::ApprovalRequired));
    assert!(open.structured["error"]["answer_with"].is_string(), "it can still be answered");

    assert!(work.join("one").is_dir() && work.join("two").is_dir());
    assert!(!work.join("three").exists());
    let asked = host.asked.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(*asked, ["mkdir one", "rm -r one", "touch three"]);
    Ok(())
}
