//! The contract of the `project.recipe` tool, sentence by sentence.

use umbo_recipes::{
    Error,
    select::project_recipe::{self, Precedence, available_tasks, directory},
};

use crate::harness::Folder;

fn everything() -> Folder {
    Folder::new(&[
        ("package.json", r#"{"workspaces": ["p"], "scripts": {"web": "vite", "test": "x"}}"#),
        ("p/package.json", r#"{"name": "p", "scripts": {"inner": "x"}}"#),
        ("Cargo.toml", "[package]\nname = \"one\"\n"),
        ("src/main.rs", ""),
        (
            "pyproject.toml",
            "[project.scripts]\nentry = 'a:b'\n[tool.poetry.scripts]\npoem = 'a:b'\n[tool.pdm.scripts]\nplan = 'x'\n[tool.uv.scripts]\nray = 'a:b'\n",
        ),
        (
            "Makefile",
            "CC := gcc\nmk: dep\n\tx\nout.o:\n\tx\na b:\n\tx\n.PHONY: mk\n%.x:\n\tx\n9bad:\n\tx\n",
        ),
    ])
}

fn resolve(folder: &Folder, op: &str) -> (String, String) {
    let selection = project_recipe::resolve(&folder.read(), op).unwrap();
    assert_eq!(selection.directory, ".");
    (selection.runner, selection.command)
}

fn pair(runner: &str, command: &str) -> (String, String) {
    (runner.to_owned(), command.to_owned())
}

#[test]
fn the_first_word_picks_the_runner_and_its_template() {
    let folder = everything();
    assert_eq!(resolve(&folder, "web --port 1"), pair("npm", "npm run web --port 1"));
    assert_eq!(resolve(&folder, "build --release"), pair("cargo", "cargo build --release"));
    assert_eq!(resolve(&folder, "poem"), pair("poetry", "poetry run poem"));
    assert_eq!(resolve(&folder, "plan"), pair("pdm", "pdm run plan"));
    assert_eq!(resolve(&folder, "ray x"), pair("uv", "uv run ray x"));
    assert_eq!(resolve(&folder, "entry"), pair("uv", "uv run entry"));
    assert_eq!(resolve(&folder, "mk -j2"), pair("make", "make mk -j2"));
}

#[test]
fn of_two_runners_with_the_task_the_first_of_the_table_is_used() {
    assert_eq!(resolve(&everything(), "test --watch"), pair("npm", "npm run test --watch"));
}

#[test]
fn an_unknown_operation_goes_to_the_first_detected_runner() {
    assert_eq!(resolve(&everything(), "whatever x"), pair("npm", "npm run whatever x"));
    let folder =
        Folder::new(&[("Makefile", "a:\n\tx\n"), ("Cargo.toml", "[package]\nname = 'x'\n")]);
    assert_eq!(resolve(&folder, "nope"), pair("cargo", "cargo nope"));
    let folder = Folder::new(&[("pyproject.toml", "[tool.poetry]\n")]);
    assert_eq!(resolve(&folder, "pytest -q"), pair("poetry", "poetry run pytest -q"));
}

#[test]
fn a_bun_lock_file_detects_bun_beside_npm_and_decides() {
    for lock in ["bun.lock", "bun.lockb"] {
        let folder = Folder::new(&[("package.json", r#"{"scripts": {"t": "x"}}"#), (lock, "")]);
        let project = folder.read();
        assert_eq!(resolve(&folder, "t"), pair("bun", "bun run t"));
        let literal = project_recipe::resolve_with(&project, "t", Precedence::Table).unwrap();
        assert_eq!(literal.command, "npm run t");
        let tasks = available_tasks(&project);
        assert_eq!(tasks.keys().collect::<Vec<_>>(), ["bun", "npm"]);
    }
    // Other lock files mean nothing to this contract.
    let folder =
        Folder::new(&[("package.json", r#"{"scripts": {"t": "x"}}"#), ("pnpm-lock.yaml", "")]);
    assert_eq!(resolve(&folder, "t"), pair("npm", "npm run t"));
}

#[test]
fn available_tasks_maps_every_detected_runner_to_its_own_tasks() {
    let tasks = available_tasks(&everything().read());
    assert_eq!(tasks["npm"], ["web", "test"]);
    assert_eq!(tasks["poetry"], ["poem"]);
    assert_eq!(tasks["pdm"], ["plan"]);
    assert_eq!(tasks["uv"], ["ray", "entry"]);
    assert_eq!(tasks["make"], ["mk", "out.o"]);
    for name in ["build", "check", "test", "run", "clippy", "fmt", "publish"] {
        assert!(tasks["cargo"].iter().any(|task| task == name), "{name}");
    }
    assert!(!tasks["cargo"].iter().any(|task| task.contains('/')));
    assert_eq!(tasks.len(), 6);
}

#[test]
fn uv_is_detected_by_its_lock_file_alone() {
    let folder =
        Folder::new(&[("uv.lock", "version = 1\n"), ("pyproject.toml", "[project]\nname = 'x'\n")]);
    assert_eq!(resolve(&folder, "pytest"), pair("uv", "uv run pytest"));
}

#[test]
fn only_a_file_named_makefile_with_a_capital_is_make() {
    let folder = Folder::new(&[("GNUmakefile", "a:\n\tx\n")]);
    let error = project_recipe::resolve(&folder.read(), "a").unwrap_err();
    assert!(matches!(error, Error::NoRunners));
}

#[test]
fn errors_have_the_code_and_the_text_of_the_contract() {
    let empty = Folder::new(&[]).read();
    let error = project_recipe::resolve(&empty, "test").unwrap_err();
    assert_eq!(error.to_string(), "No project runners detected in this directory.");
    assert_eq!(error.code(), "invalid_params");
    for op in ["", "  \n"] {
        let error = project_recipe::resolve(&everything().read(), op).unwrap_err();
        assert_eq!(
            (error.code(), error.to_string().as_str()),
            ("invalid_params", "op must be a non-empty string")
        );
    }
}

#[test]
fn a_directory_outside_the_project_is_refused() {
    let folder = Folder::new(&[("a/b/file", "")]);
    std::os::unix::fs::symlink("/", folder.path().join("out")).unwrap();
    let real = folder.path().canonicalize().unwrap();
    assert_eq!(directory(folder.path(), None).unwrap(), real);
    assert_eq!(directory(folder.path(), Some("a/b")).unwrap(), real.join("a/b"));
    assert_eq!(directory(folder.path(), Some("a/../a/./b/")).unwrap(), real.join("a/b"));
    for cwd in ["..", "a/../..", "/etc", "out", "out/etc", "a/../../x"] {
        let error = directory(folder.path(), Some(cwd)).unwrap_err();
        assert!(matches!(error, Error::Escape { .. }), "{cwd}: {error}");
        assert_eq!(error.code(), "invalid_params");
    }
    assert!(matches!(directory(folder.path(), Some("missing")), Err(Error::Folder { .. })));
}
