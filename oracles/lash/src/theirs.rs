//! A call by lash's own tools, as its worker makes it.

use std::path::Path;
use std::sync::Arc;

use lash_core::testing::mock_tool_context;
use lash_core::{
    LashSchema, ProcessEventAppendRequest, ProcessEventType, ProcessInput, ProcessProvenance,
    ProcessRegistration, ProcessRegistry as _, RecoveryDisposition, TestLocalProcessRegistry,
    ToolCall, ToolCallOutcome, ToolProvider as _, ToolResult,
};
use lash_tools::shell::{StandardShell, shell_provider};
use serde_json::Value;
use tokio::time::{Duration, interval, timeout};
use tokio_util::sync::CancellationToken;

use crate::cases::Case;
use crate::{Came, DEADLINE, has_come, without_place};

const PROCESS: &str = "call-1";
const STDIN: &str = "signal.stdin";

pub(crate) async fn run(case: &Case, project: &Path) -> Came {
    let shell = shell_provider(StandardShell::new().with_cwd(project));
    let registry = Arc::new(TestLocalProcessRegistry::default());
    if let Err(error) = register(&registry).await {
        return Came::Refused(error);
    }
    let token = CancellationToken::new();
    let context = mock_tool_context()
        .with_async_process(PROCESS, token.clone())
        .with_process_events_for_testing(PROCESS, Arc::clone(&registry) as _);
    let call =
        ToolCall { name: case.tool, args: &case.arguments, context: &context, progress: None };
    let touch = async {
        if case.is_cancelled || !case.typed.is_empty() {
            let mut looks = interval(Duration::from_millis(20));
            while !has_come(&project.join("ready")) {
                looks.tick().await;
            }
        }
        for typed in &case.typed {
            let request = ProcessEventAppendRequest::new(STDIN, typed.clone());
            let _ = registry.append_event(PROCESS, request).await;
        }
        if case.is_cancelled {
            token.cancel();
        }
        std::future::pending::<()>().await;
    };
    let result = timeout(DEADLINE, async {
        tokio::select! {
            result = shell.execute(call) => result,
            () = touch => ToolResult::err_fmt("never"),
        }
    });
    match result.await {
        Ok(result) => came(&result, project),
        Err(_) => Came::Refused("it took too long".to_owned()),
    }
}

/// A process that can be typed into.
async fn register(registry: &TestLocalProcessRegistry) -> Result<(), String> {
    let input = ProcessInput::External { metadata: Value::Null };
    let stdin = ProcessEventType {
        name: STDIN.to_owned(),
        payload_schema: LashSchema::any(),
        semantics: Default::default(),
    };
    let registration = ProcessRegistration::new(
        PROCESS,
        input,
        RecoveryDisposition::ExternallyOwned,
        ProcessProvenance::host(),
    );
    let registered = registry.register_process(registration.with_extra_event_types([stdin])).await;
    registered.map(drop).map_err(|error| error.to_string())
}

fn came(result: &ToolResult, project: &Path) -> Came {
    let Some(output) = result.as_done_output() else {
        return Came::Refused("it is pending".to_owned());
    };
    if let ToolCallOutcome::Cancelled(_) = &output.outcome {
        return Came::Cancelled;
    }
    let value = result.value_for_projection();
    match value["status"].as_str() {
        Some(status) => Came::Ended {
            status: status.to_owned(),
            exit_code: value["exit_code"].as_i64(),
            output: without_place(value["output"].as_str().unwrap_or_default(), project),
            has_file: value["full_output_path"].is_string(),
        },
        None => Came::Refused(value.to_string()),
    }
}
