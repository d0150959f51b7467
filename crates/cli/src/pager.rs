//! A pager for a person at a terminal: `$PAGER`, or `less` if there is one.

use std::env;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};

use umbo_view::visible;

use crate::attach;
use crate::context::Context;
use crate::failure::Failure;

/// What `less` does unless the person says otherwise: a text that fits is printed, and it stays on the
/// screen.
const LESS: &str = "FRX";
/// The exit code of a shell that cannot find a program.
const NOT_FOUND: i32 = 127;

/// A line for the shell that starts a pager, if somebody sits here and has one.
pub(crate) fn command() -> Option<String> {
    let is_dumb = env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    if !attach::is_at_terminal() || is_dumb {
        return None;
    }
    match env::var("PAGER") {
        // Both mean that nothing is to be paged.
        Ok(pager) if pager.trim().is_empty() || pager.trim() == "cat" => None,
        Ok(pager) => Some(pager),
        Err(_) => env::split_paths(&Context::search_path())
            .any(|directory| directory.join("less").is_file())
            .then(|| "less".to_owned()),
    }
}

/// A running pager.
pub(crate) struct Pager {
    child: Child,
}

impl Pager {
    pub(crate) fn start(command: &str) -> Result<Self, Failure> {
        // ctrl-c is for the pager: umbo ends when the pager does.
        let _ = ctrlc::set_handler(|| {});
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command]).stdin(Stdio::piped());
        if env::var_os("LESS").is_none() {
            shell.env("LESS", LESS);
        }
        Ok(Self { child: shell.spawn()? })
    }

    /// Gives it text. Somebody who has seen enough ends the pager: then this is a broken pipe.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        match &mut self.child.stdin {
            Some(stdin) => Ok(stdin.write_all(visible(text).as_bytes())?),
            None => Err(Failure::BrokenPipe),
        }
    }

    /// Waits until the person has seen enough. Whether there was a pager at all.
    pub(crate) fn finish(mut self) -> Result<bool, Failure> {
        drop(self.child.stdin.take());
        Ok(self.child.wait()?.code() != Some(NOT_FOUND))
    }
}
