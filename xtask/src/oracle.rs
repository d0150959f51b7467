//! The runtimes behind dialects, beside umbo on the same calls. Their dependencies are many, so each
//! has a lock file of its own and none is a part of CI.

use std::path::PathBuf;
use std::process::Command;

use crate::failure::{Done, Failure};
use crate::workspace::{cargo, execute, root};

/// The dialects whose runtime can be had.
const ORACLES: [&str; 3] = ["lash", "meerkat", "omp"];

pub(crate) fn run(words: &[&str]) -> Done {
    match words {
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
    let place = root().join("oracles/omp");
    let install = ["ci", "--ignore-scripts=false", "--no-audit", "--no-fund"];
    execute(Command::new("npm").args(install).current_dir(&place))?;
    execute(
        Command::new(place.join("node_modules/.bin/bun"))
            .arg("run.ts")
            .arg(umbo)
            .current_dir(place),
    )
}

/// An umbo, built.
fn umbo() -> Done<PathBuf> {
    execute(&mut cargo(&["build", "--package", "umbo"]))?;
    let mut umbo = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
    umbo.set_file_name("umbo");
    Ok(umbo)
}
