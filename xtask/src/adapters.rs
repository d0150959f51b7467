//! The adapters to hosts that others wrote, tested in those hosts. Their dependencies are many, so each
//! is a workspace of its own and none is a part of CI.

use crate::failure::{Done, Failure};
use crate::workspace::{cargo, execute};

/// The hosts there are adapters for.
const ADAPTERS: [&str; 2] = ["lash", "meerkat"];

/// Tests the adapters named, or all.
pub(crate) fn run(words: &[&str]) -> Done {
    if let Some(unknown) = words.iter().find(|word| !ADAPTERS.contains(word)) {
        let known = ADAPTERS.join(" ");
        return Err(Failure::new(format!("there is no adapter {unknown:?}; there are: {known}")));
    }
    let named = if words.is_empty() { &ADAPTERS } else { words };
    for name in named {
        let manifest = format!("adapters/{name}/Cargo.toml");
        execute(&mut cargo(&["test", "--manifest-path", &manifest]))?;
    }
    Ok(())
}
