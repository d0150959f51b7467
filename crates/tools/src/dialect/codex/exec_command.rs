//! `exec_command`: starts a command and looks at it for a while.

use std::time::Instant;

use schemars::JsonSchema;
use serde::Deserialize;
use umbo_engine::{Command, Login, OnDisconnect, Size, Stdin, Streams};
use umbo_ops::{Call, Ran};

use super::{Slice, answer, clamped, name, random};
use crate::answer::{Answer, ToolError};

const DEFAULT_YIELD_MS: u64 = 10_000;
const YIELD_BOUNDS_MS: (u64, u64) = (250, 30_000);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Shell command to execute.
    #[schemars(length(min = 1))]
    cmd: String,
    /// Optional working directory; defaults to the turn cwd.
    workdir: Option<String>,
    /// Shell binary to launch.
    shell: Option<String>,
    /// Whether to run the shell as a login shell. Defaults to false.
    login: Option<bool>,
    /// Whether to give it a terminal. Defaults to false.
    tty: Option<bool>,
    /// How long to wait for output before yielding. Defaults to 10000.
    yield_time_ms: Option<f64>,
    /// Maximum number of tokens to return. Defaults to 10000.
    #[schemars(range(min = 1))]
    max_output_tokens: Option<u64>,
}

pub(super) fn run(call: &Call<'_>, arguments: Arguments) -> Result<Answer<Slice>, ToolError> {
    let started = Instant::now();
    let workdir = arguments.workdir.as_deref().filter(|directory| !directory.is_empty());
    let mut request = call.request(&arguments.cmd, workdir);
    if let Command::Shell { shell, login, .. } = &mut request.command {
        if let Some(name) = arguments.shell.as_deref().filter(|name| !name.is_empty()) {
            *shell = call.shell_named(name)?;
        }
        if arguments.login == Some(true) {
            *login = Login::Yes;
        }
    }
    if arguments.tty == Some(true) {
        request.terminal = Some(Size::default());
    }
    request.stdin = Stdin::None;
    request.on_disconnect = OnDisconnect::Stop;
    request.streams = Streams::Together;
    let session = unused_session(call);
    request.name = Some(name(session));
    let wait = clamped(arguments.yield_time_ms, DEFAULT_YIELD_MS, YIELD_BOUNDS_MS);
    let (Ran::Ended(job, _) | Ran::Running(job)) = call.run(&request, wait)?;
    answer(call, &job, session, started, arguments.max_output_tokens)
}

/// A number that no session of this caller has.
fn unused_session(call: &Call<'_>) -> i64 {
    loop {
        let number = 1_000 + i64::try_from(random() % 99_000).unwrap_or_default();
        if call.named(&name(number)).is_none() {
            return number;
        }
    }
}
