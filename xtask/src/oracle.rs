//! The runtimes behind dialects, beside umbo on the same calls. Their dependencies are many, so each is
//! a workspace of its own and none is a part of CI. `agent` is oh-my-pi as a whole, whose sessions and
//! RPC ours are: tests of ours that need it and are left out otherwise.

use std::fs;
use std::process::{Command, Stdio};

use crate::failure::{Done, Failure};
use crate::setup;
use crate::workspace::{cargo, display, execute};

/// The dialects whose runtime can be had.
const ORACLES: [&str; 1] = ["meerkat"];

/// The agent that ours is held against, and what runs it.
const AGENT_PACKAGES: [&str; 2] = ["@oh-my-pi/pi-coding-agent@18.2.3", "bun@1.4.4"];

pub(crate) fn run(words: &[&str]) -> Done {
    if words == ["agent"] {
        return agent();
    }
    let name = match words {
        [name] if ORACLES.contains(name) => name,
        _ => {
            let known = ORACLES.join(" ");
            return Err(Failure::new(format!("oracle NAME; there are: agent {known}")));
        }
    };
    execute(&mut cargo(&["build", "--package", "umbo"]))?;
    let mut umbo = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
    umbo.set_file_name("umbo");
    let manifest = format!("oracles/{name}/Cargo.toml");
    let mut run = cargo(&["run", "--quiet", "--manifest-path", &manifest, "--"]);
    execute(run.arg(umbo))
}

/// oh-my-pi beside `umbo agent`: session files, frames of the protocol, what a kill leaves behind.
fn agent() -> Done {
    let place = setup::directory().join("omp");
    if !place.join("node_modules/@oh-my-pi/pi-coding-agent").is_dir() {
        fs::create_dir_all(&place).map_err(Failure::at(place.display()))?;
        let mut install = Command::new("npm");
        install.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]);
        install.arg(&place).args(AGENT_PACKAGES).stdout(Stdio::null());
        let by_hand = format!("install Node.js, then run: {}", display(&install));
        execute(&mut install).map_err(Failure::prefixed(&by_hand))?;
    }
    let tests = ["nextest", "run", "--package", "umbo", "--run-ignored", "only", "-E"];
    let mut run = cargo(&tests);
    execute(run.arg("test(oh_my_pi)").env(setup::VARIABLE, setup::directory()))
}
