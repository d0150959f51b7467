//! The runtimes behind dialects, beside umbo on the same calls. Their dependencies are many, so each
//! has a lock file of its own and none is a part of CI. `agent` is oh-my-pi as a whole, whose sessions
//! and RPC ours are: tests of ours that are left out where it is not installed.

use std::path::PathBuf;
use std::process::Command;

use crate::failure::{Done, Failure};
use crate::workspace::{cargo, execute, root};

/// The dialects whose runtime can be had, and the agent.
const ORACLES: [&str; 4] = ["agent", "lash", "meerkat", "omp"];
/// The variable by which the tests find what was installed.
const INSTALLED: &str = "UMBO_OH_MY_PI";

pub(crate) fn run(words: &[&str]) -> Done {
    match words {
        ["agent"] => agent(),
        // It has the dialect in it.
        ["lash"] => execute(&mut in_rust("lash")),
        ["meerkat"] => execute(in_rust("meerkat").arg("--").arg(umbo()?)),
        ["omp"] => omp(),
        _ => Err(Failure::new(format!("oracle NAME; there are: {}", ORACLES.join(" ")))),
    }
}

/// A runtime written in Rust.
fn in_rust(name: &str) -> Command {
    cargo(&["run", "--quiet", "--manifest-path", &format!("oracles/{name}/Cargo.toml")])
}

/// A runtime from npm, which runs in the `bun` that is installed with it.
fn omp() -> Done {
    let umbo = umbo()?;
    let place = oh_my_pi()?;
    execute(
        Command::new(place.join("node_modules/.bin/bun"))
            .arg("run.ts")
            .arg(umbo)
            .current_dir(place),
    )
}

/// Session files, frames of the protocol, and what a kill leaves behind.
fn agent() -> Done {
    let place = oh_my_pi()?;
    let words = ["nextest", "run", "--package", "umbo", "--run-ignored", "only", "-E"];
    let mut run = cargo(&words);
    execute(run.arg("test(oh_my_pi)").env(INSTALLED, place.join("node_modules")))
}

/// oh-my-pi, installed.
fn oh_my_pi() -> Done<PathBuf> {
    let place = root().join("oracles/omp");
    // Not `ci`, which wants packages for all systems to be had.
    let install = ["install", "--no-save", "--ignore-scripts=false", "--no-audit", "--no-fund"];
    execute(Command::new("npm").args(install).current_dir(&place))?;
    // Newer versions of npm run no script that nobody approved, and `bun` needs its own.
    let bun = place.join("node_modules/bun");
    execute(Command::new("node").arg("install.js").current_dir(bun))?;
    Ok(place)
}

/// An umbo, built.
fn umbo() -> Done<PathBuf> {
    execute(&mut cargo(&["build", "--package", "umbo"]))?;
    let mut umbo = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
    umbo.set_file_name("umbo");
    Ok(umbo)
}
