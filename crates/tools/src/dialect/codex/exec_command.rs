//! `exec_command`: starts a command and looks at it for a while.

use std::time::Instant;

use umbo_engine::{Command, Login, OnDisconnect, Size, Stdin};

use super::{answer, clamped, name, random};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::{Call, Ran};

const YIELD_MS: u64 = 10_000;
const BOUNDS_MS: (u64, u64) = (250, 30_000);

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let started = Instant::now();
    let workdir = arguments.text("workdir").filter(|directory| !directory.is_empty());
    let mut request = call.request(arguments.text("cmd").unwrap_or_default(), workdir);
    if let Command::Shell { shell, login, .. } = &mut request.command {
        if let Some(name) = arguments.text("shell").filter(|name| !name.is_empty()) {
            *shell = call.shell_named(name)?;
        }
        if arguments.flag("login") {
            *login = Login::Yes;
        }
    }
    if arguments.flag("tty") {
        request.terminal = Some(Size::default());
    }
    request.stdin = Stdin::None;
    request.on_disconnect = OnDisconnect::Stop;
    let session = session(call);
    request.name = Some(name(session));
    let patience = clamped(arguments.number("yield_time_ms"), YIELD_MS, BOUNDS_MS);
    let (Ran::Ended(job, _) | Ran::Running(job)) = call.run(&request, patience)?;
    answer(call, &job, session, started, arguments.count("max_output_tokens"))
}

/// A number that no session of this caller has.
fn session(call: &Call<'_>) -> u64 {
    loop {
        let number = 1_000 + random() % 99_000;
        if call.named(&name(number)).is_none() {
            return number;
        }
    }
}
