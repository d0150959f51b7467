//! The runtimes behind dialects, beside umbo on the same calls. Their dependencies are many, so each is
//! a workspace of its own and none is a part of CI.

use crate::failure::{Done, Failure};
use crate::workspace::{cargo, execute};

/// The dialects whose runtime can be had.
const ORACLES: [&str; 1] = ["meerkat"];

pub(crate) fn run(words: &[&str]) -> Done {
    let name = match words {
        [name] if ORACLES.contains(name) => name,
        _ => return Err(Failure::new(format!("oracle NAME; there are: {}", ORACLES.join(" ")))),
    };
    execute(&mut cargo(&["build", "--package", "umbo"]))?;
    let mut umbo = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
    umbo.set_file_name("umbo");
    let manifest = format!("oracles/{name}/Cargo.toml");
    let mut run = cargo(&["run", "--quiet", "--manifest-path", &manifest, "--"]);
    execute(run.arg(umbo))
}
