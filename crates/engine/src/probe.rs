//! How sandboxes are enforced on this machine, found out by a process of our own that makes one.

use std::process::{Command, Stdio};
use std::sync::OnceLock;

use umbo_sandbox::Rung;

use crate::builder;
use crate::sys::process::exit_now;

/// The first argument that makes a process try what this machine allows, and end with a code that says it.
pub(crate) const ARGUMENT: &str = "--umbo-probe";
/// The code for the best way; each lesser one has the next.
const FIRST_CODE: i32 = 100;

/// The best way to enforce a sandbox here; none if there is none. Found out once in a process's life, in a
/// few milliseconds. Without [`crate::init`] there is none.
pub fn sandbox_rung() -> Option<Rung> {
    static FOUND: OnceLock<Option<Rung>> = OnceLock::new();
    // A program that does not know the argument would do whatever it does.
    if !builder::is_initialised() {
        return None;
    }
    *FOUND.get_or_init(|| {
        let mut command = Command::new("/proc/self/exe");
        command.args([ARGUMENT, "sandbox"]).env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let code = command.status().ok()?.code()?;
        Rung::ALL.get(usize::try_from(code.checked_sub(FIRST_CODE)?).ok()?).copied()
    })
}

/// The life of the process that tries. Never returns.
pub(crate) fn main() -> ! {
    let works = |rung: &Rung| umbo_sandbox::probe(*rung).is_ok();
    let found = Rung::ALL.iter().position(works).and_then(|index| i32::try_from(index).ok());
    exit_now(found.map_or(1, |index| FIRST_CODE + index))
}
