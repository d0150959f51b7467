//! The tests of the crate from outside: real folders, real runners, hostile manifests, and the
//! three contracts. Install the runners with `tests/install-tools.sh`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod cache;
mod harness;
mod hostile;
mod omp;
mod project_recipe;
mod real_build;
mod real_javascript;
mod real_monorepo;
mod real_python;
mod real_rust_go;
mod umbo;
