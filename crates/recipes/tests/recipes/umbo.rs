//! umbo's own selection.

use umbo_recipes::{Error, Program, Project, select::umbo};

use crate::harness::{Folder, runner};

fn command(project: &Project, op: &str) -> String {
    umbo::resolve(project, op).unwrap().command
}

#[test]
fn arguments_are_put_where_each_runner_passes_them_on() {
    let folder = Folder::new(&[
        ("package.json", r#"{"scripts": {"web": "vite"}}"#),
        ("Cargo.toml", "[package]\nname = \"one\"\n"),
        ("src/main.rs", ""),
        ("Makefile", "mk:\n\tx\n"),
        ("justfile", "say *w:\n    echo\n"),
        ("Taskfile.yml", "version: '3'\ntasks: {build-it: {cmds: [x]}}\n"),
        ("composer.json", r#"{"scripts": {"php-x": "x"}}"#),
        ("tox.ini", "[tox]\nenvlist = lint\n"),
    ]);
    let project = folder.read();
    let cases = [
        ("web", "npm run web"),
        ("web --watch", "npm run web -- --watch"),
        ("web -- --watch", "npm run web -- --watch"),
        ("web --", "npm run web"),
        ("web a -- b", "npm run web a -- b"),
        ("bin/one --port 1", "cargo run --bin one -- --port 1"),
        ("bin/one --release -- --port 1", "cargo run --bin one --release -- --port 1"),
        ("cargo:test name -- --nocapture", "cargo test name -- --nocapture"),
        ("mk -j2 A=b", "make mk -j2 A=b"),
        ("say -- --x", "just say --x"),
        ("say 'a b' \"c'd\" ';' '$(x)'", r"just say 'a b' 'c'\''d' ';' '$(x)'"),
        ("build-it A=1 x", "task build-it A=1 -- x"),
        ("build-it A=1 -- x", "task build-it A=1 -- x"),
        ("build-it A=1", "task build-it A=1"),
        ("php-x -v", "composer run-script php-x -- -v"),
        ("lint -k x", "tox run -e lint -- -k x"),
    ];
    for (op, expected) in cases {
        assert_eq!(command(&project, op), expected, "{op}");
    }
    let selection = umbo::resolve(&project, "say 'a b'").unwrap();
    assert_eq!(selection.argv.unwrap(), ["just", "say", "a b"]);
}

#[test]
fn managers_that_pass_everything_on_get_no_dashes() {
    for (lock, manager) in [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun")]
    {
        let folder = Folder::new(&[("package.json", r#"{"scripts": {"t": "x"}}"#), (lock, "")]);
        let project = folder.read();
        assert_eq!(command(&project, "t --watch"), format!("{manager} run t --watch"));
        assert_eq!(command(&project, "pkg:t -- --watch"), format!("{manager} run t --watch"));
    }
}

#[test]
fn what_the_project_wrote_goes_before_what_a_runner_has_built_in() {
    let folder = Folder::new(&[
        ("Makefile", "build:\n\tx\n"),
        ("Cargo.toml", "[package]\nname = \"one\"\n"),
        ("go.mod", "module x\n"),
    ]);
    let project = folder.read_with(&["make", "cargo", "go"]);
    assert_eq!(command(&project, "build"), "make build");
    assert_eq!(command(&project, "cargo:build"), "cargo build");
    let error = umbo::resolve(&project, "test").unwrap_err();
    let Error::Ambiguous { choices, .. } = error else { panic!("{error}") };
    assert_eq!(choices, ["cargo:test", "go:test"]);
    // A runner that cannot run does not stand in the way of one that can.
    let project = folder.read_with(&["cargo"]);
    assert_eq!(command(&project, "test"), "cargo test");
}

#[test]
fn an_explicit_runner_that_is_also_the_start_of_a_name_is_ambiguous() {
    let folder = Folder::new(&[
        ("package.json", r#"{"scripts": {"make:all": "x", "make:it": "x"}}"#),
        ("Makefile", "all:\n\tx\n"),
    ]);
    let project = folder.read();
    let error = umbo::resolve(&project, "make:all").unwrap_err();
    let Error::Ambiguous { choices, .. } = error else { panic!("{error}") };
    assert_eq!(choices, ["make:all", "npm:make:all"]);
    assert_eq!(command(&project, "make:it"), "npm run make:it");
    assert_eq!(command(&project, "npm:make:all"), "npm run make:all");
}

#[test]
fn names_are_found_with_other_separators_and_by_directory() {
    let folder = Folder::new(&[
        ("package.json", r#"{"workspaces": ["packages/*"], "scripts": {"test:unit": "x"}}"#),
        ("packages/a/package.json", r#"{"name": "@s/a", "scripts": {"build": "x"}}"#),
    ]);
    let project = folder.read();
    assert_eq!(command(&project, "test/unit"), "npm run test:unit");
    let selection = umbo::resolve(&project, "packages/a/build").unwrap();
    assert_eq!(
        (selection.command.as_str(), selection.directory.as_str()),
        ("npm run build", "packages/a")
    );
    assert_eq!(umbo::resolve(&project, "npm:@s/a/build").unwrap().directory, "packages/a");
}

#[test]
fn an_unknown_task_is_answered_with_the_nearest_names_and_the_list() {
    let folder = Folder::new(&[
        ("package.json", r#"{"scripts": {"test": "x", "lint": "x", "build:web": "x"}}"#),
        ("Makefile", "install:\n\tx\n"),
    ]);
    let project = folder.read();
    let nearest = |op: &str| match umbo::resolve(&project, op).unwrap_err() {
        Error::Unknown { nearest, message } => {
            assert!(message.contains("npm: test, lint, build:web"), "{message}");
            nearest
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(nearest("tset"), ["test"]);
    assert_eq!(nearest("instal"), ["install"]);
    assert_eq!(nearest("build"), ["build:web"]);
    assert!(nearest("zzzzzz").is_empty());
    assert!(nearest("npm:instal").is_empty(), "another runner's task is no help");
    assert!(nearest(&"x".repeat(100_000)).is_empty());
}

#[test]
fn an_empty_operation_and_an_open_quote_are_refused() {
    let project = Folder::new(&[("Makefile", "a:\n\tx\n")]).read();
    assert!(matches!(umbo::resolve(&project, " "), Err(Error::Empty { .. })));
    assert!(matches!(umbo::resolve(&project, "''"), Err(Error::Empty { .. })));
    assert!(matches!(umbo::resolve(&project, "a 'b"), Err(Error::Arguments { .. })));
    assert!(matches!(umbo::resolve(&Project::default(), "a"), Err(Error::NoRunners)));
}

#[test]
fn a_runner_whose_program_is_missing_is_listed_with_how_to_get_it() {
    let folder =
        Folder::new(&[("justfile", "a:\n    x\n"), ("Cargo.toml", "[package]\nname = 'x'\n")]);
    let project = folder.read();
    let just = runner(&project, "just");
    let Program::Missing { name, get } = &just.program else { panic!("{:?}", just.program) };
    assert_eq!(name, "just");
    assert!(get.contains("cargo install just"));
    assert_eq!(just.tasks[0].name, "a");
    assert!(!runner(&project, "cargo").is_available());
}

#[test]
fn a_project_survives_a_round_trip_through_json() {
    let folder = Folder::new(&[
        ("justfile", "# Doc\na b='c' *d:\n    x\n"),
        ("package.json", r#"{"scripts": {"dev": "vite"}}"#),
        ("compose.yml", "services: {web: {image: x}}\n"),
    ]);
    let project = folder.read();
    let text = serde_json::to_string(&project).unwrap();
    assert_eq!(serde_json::from_str::<Project>(&text).unwrap(), project);
}
