//! The runners. One file is one runner: what gives it away, what it offers, its tests. The table
//! below is the only other place that knows a runner exists; its order is the order of lists.

mod bun;
mod cargo;
mod cmake;
mod compose;
mod composer;
mod deno;
mod go;
mod gradle;
mod hatch;
mod invoke;
mod just;
mod make;
mod maven;
mod mise;
mod nox;
mod npm;
mod nx;
mod pdm;
mod pnpm;
mod poetry;
mod rake;
mod task;
mod tox;
mod turbo;
mod uv;
mod vscode;
mod yarn;

use crate::detect::Definition;

/// Every runner.
pub(crate) const RUNNERS: &[Definition] = &[
    just::RUNNER,
    npm::RUNNER,
    bun::RUNNER,
    pnpm::RUNNER,
    yarn::RUNNER,
    cargo::RUNNER,
    poetry::RUNNER,
    pdm::RUNNER,
    uv::RUNNER,
    make::RUNNER,
    task::RUNNER,
    mise::RUNNER,
    deno::RUNNER,
    go::RUNNER,
    hatch::RUNNER,
    tox::RUNNER,
    nox::RUNNER,
    invoke::RUNNER,
    maven::RUNNER,
    gradle::RUNNER,
    composer::RUNNER,
    rake::RUNNER,
    cmake::RUNNER,
    nx::RUNNER,
    turbo::RUNNER,
    compose::RUNNER,
    vscode::RUNNER,
];
