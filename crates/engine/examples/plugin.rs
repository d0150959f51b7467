//! A plugin: a shared library that a program in any language loads. It does not own `main`, so it names
//! the executable that supervises: an `umbo`, or `supervisor` beside it.
//!
//! ```sh
//! cargo build -p umbo-engine --examples
//! cd target/debug/examples
//! PLUGIN_STATE=/tmp/plugin PLUGIN_SUPERVISOR=$PWD/supervisor PLUGIN_COMMAND='echo hi > said; exit 7' \
//!   python3 -c 'import ctypes; print(ctypes.CDLL("./libplugin.so").plugin_run())'
//! ```
#![expect(unsafe_code, reason = "a symbol without its mangled name is what the host looks for")]

use umbo_engine::{Engine, Environment, Request};

/// Runs `PLUGIN_COMMAND` as a job and returns its exit code; -1 if it has none or could not run.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_run() -> i32 {
    run().unwrap_or(-1)
}

fn run() -> Option<i32> {
    let set = |name: &str| std::env::var_os(name);
    let engine =
        Engine::builder(set("PLUGIN_STATE")?).supervisor(set("PLUGIN_SUPERVISOR")?).open().ok()?;
    let command = set("PLUGIN_COMMAND")?.into_string().ok()?;
    let request =
        Request::shell(command, std::env::current_dir().ok()?).env(Environment::inherit());
    let (_, outcome) = engine.run(&request).ok()?;
    outcome.exit_code()
}
