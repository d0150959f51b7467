//! The contract of omp's `recipe` tool, sentence by sentence.

use umbo_recipes::{Error, Project, prompt, select::omp};

use crate::harness::Folder;

const ALL: [&str; 5] = ["just", "npm", "cargo", "make", "task"];

fn command(project: &Project, op: &str) -> String {
    omp::resolve(project, op).unwrap().command
}

fn message(project: &Project, op: &str) -> String {
    omp::resolve(project, op).unwrap_err().to_string()
}

fn everything() -> Folder {
    Folder::new(&[
        ("package.json", r#"{"scripts": {"build": "tsc", "web": "vite", "test:unit": "x"}}"#),
        ("Cargo.toml", "[package]\nname = \"one\"\n"),
        ("src/main.rs", ""),
        ("Makefile", "build:\n\tx\nmk:\n\tx\n"),
        ("justfile", "# Say it\nsay word:\n    echo\n"),
        ("Taskfile.yml", "version: '3'\ntasks:\n  docs:build: {desc: d, cmds: [x]}\n"),
    ])
}

#[test]
fn an_unqualified_task_of_one_runner_is_used() {
    let project = everything().read_with(&ALL);
    assert_eq!(command(&project, "web"), "npm run 'web'");
    assert_eq!(command(&project, "test:unit"), "npm run 'test:unit'");
    assert_eq!(command(&project, "bin/one"), "cargo run --bin 'one'");
    assert_eq!(command(&project, "mk"), "make mk");
    assert_eq!(command(&project, "say"), "just say");
    assert_eq!(command(&project, "docs:build"), "task docs:build");
}

#[test]
fn the_tail_is_appended_verbatim_after_the_first_run_of_white_space() {
    let project = everything().read_with(&ALL);
    assert_eq!(
        command(&project, "  \t web \t --x  'a  b' ; ls  "),
        "npm run 'web' --x  'a  b' ; ls  "
    );
    assert_eq!(command(&project, "pkg:web --watch"), "npm run 'web' --watch");
}

#[test]
fn an_ambiguous_task_is_refused_with_the_choices() {
    let project = everything().read_with(&ALL);
    let error = omp::resolve(&project, "build").unwrap_err();
    let Error::Ambiguous { message, choices } = &error else { panic!("{error:?}") };
    assert_eq!(choices, &["pkg:build", "make:build"]);
    assert!(message.contains("<runner-id>:<task>"), "{message}");
    assert_eq!(command(&project, "make:build -j2"), "make build -j2");
    assert_eq!(command(&project, "pkg:build"), "npm run 'build'");
}

#[test]
fn every_error_lists_the_tasks_there_are() {
    let project = everything().read_with(&ALL);
    for op in ["", "   ", "nope", "make:", "make:nope", "build"] {
        let message = message(&project, op);
        for part in [
            "just: say",
            "pkg: build, web, test:unit",
            "cargo: bin/one",
            "make: build, mk",
            "task: docs:build",
        ] {
            assert!(message.contains(part), "{op:?}: {message}");
        }
    }
    assert!(message(&project, "make:").contains("names no task"));
    // A prefix that is no detected runner is part of the name.
    assert!(message(&project, "npm:web").contains("No task `npm:web`"));
}

#[test]
fn runners_without_their_program_or_without_tasks_do_not_exist() {
    let folder = everything();
    let ids = |programs: &[&str]| {
        let project = folder.read_with(programs);
        omp::views(&project).iter().map(|view| view.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&[]), ["pkg"]);
    let folder = Folder::new(&[("package.json", "{}"), ("Makefile", "X = 1\n")]);
    assert!(omp::views(&folder.read_with(&ALL)).is_empty());
}

#[test]
fn a_program_under_its_other_name_is_called_by_that_name() {
    let project = everything().read_with(&["go-task", "gmake"]);
    assert_eq!(command(&project, "docs:build"), "go-task docs:build");
    assert_eq!(command(&project, "mk"), "gmake mk");
}

#[test]
fn runners_come_in_the_order_of_the_contract() {
    let ids: Vec<_> =
        omp::views(&everything().read_with(&ALL)).iter().map(|view| view.id).collect();
    assert_eq!(ids, ["just", "pkg", "cargo", "make", "task"]);
}

#[test]
fn lock_files_choose_the_package_manager_in_their_order() {
    let order = [
        ("bun.lock", "bun"),
        ("bun.lockb", "bun"),
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("package-lock.json", "npm"),
        ("npm-shrinkwrap.json", "npm"),
    ];
    // Adding stronger lock files one by one changes the answer each time.
    let folder = Folder::new(&[("package.json", r#"{"scripts": {"t": "x"}}"#)]);
    for (lock, manager) in order.iter().rev() {
        folder.write(lock, b"");
        let project = folder.read_with(&["bun"]);
        assert_eq!(command(&project, "t"), format!("{manager} run 't'"), "{lock}");
    }
}

#[test]
fn without_a_lock_file_bun_is_used_where_it_exists_and_npm_elsewhere() {
    let folder = Folder::new(&[(
        "package.json",
        r#"{"scripts": {"t": "x"}, "packageManager": "yarn@4.0.0"}"#,
    )]);
    assert_eq!(command(&folder.read(), "t"), "npm run 't'");
    assert_eq!(command(&folder.read_with(&["npm"]), "t"), "npm run 't'");
    assert_eq!(command(&folder.read_with(&["bun", "npm"]), "t"), "bun run 't'");
}

#[test]
fn workspace_scripts_are_namespaced_and_run_in_their_package() {
    let folder = Folder::new(&[
        ("package.json", r#"{"workspaces": ["packages/*"], "scripts": {"test": "x"}}"#),
        ("packages/a/package.json", r#"{"name": "pkg-a", "scripts": {"test": "x"}}"#),
        ("packages/b/package.json", r#"{"scripts": {"test": "x"}}"#),
    ]);
    let project = folder.read();
    let a = omp::resolve(&project, "pkg-a/test --watch").unwrap();
    assert_eq!(
        (a.command.as_str(), a.directory.as_str()),
        ("npm run 'test' --watch", "packages/a")
    );
    assert_eq!(omp::resolve(&project, "packages/b/test").unwrap().directory, "packages/b");
    assert_eq!(omp::resolve(&project, "test").unwrap().directory, ".");
}

#[test]
fn cargo_targets_are_named_by_package_only_in_a_workspace() {
    let package = |name: &str| format!("[package]\nname = \"{name}\"\n");
    let folder = Folder::new(&[
        ("Cargo.toml", "[workspace]\nmembers = ['a', 'b']\n"),
        ("a/Cargo.toml", &package("a")),
        ("a/src/bin/server.rs", ""),
        ("b/Cargo.toml", &package("b")),
        ("b/examples/demo.rs", ""),
        ("b/tests/it.rs", ""),
    ]);
    let project = folder.read_with(&["cargo"]);
    let server = omp::resolve(&project, "a/bin/server --port 1").unwrap();
    assert_eq!(server.command, "cargo run --package 'a' --bin 'server' --port 1");
    assert_eq!(server.directory, ".");
    assert_eq!(command(&project, "b/example/demo"), "cargo run --package 'b' --example 'demo'");
    assert_eq!(command(&project, "b/test/it"), "cargo test --package 'b' --test 'it'");
    assert!(omp::resolve(&project, "test").is_err(), "subcommands are no tasks here");
}

#[test]
fn script_names_are_quoted_and_cannot_become_commands() {
    let folder = Folder::new(&[("package.json", r#"{"scripts": {"a;rm": "x", "it's": "x"}}"#)]);
    let project = folder.read();
    assert_eq!(command(&project, "a;rm"), "npm run 'a;rm'");
    assert_eq!(command(&project, "it's"), r"npm run 'it'\''s'");
}

#[test]
fn the_prompt_shows_twenty_tasks_of_a_runner_with_their_commands() {
    let scripts: Vec<String> = (0..25).map(|n| format!("\"s{n:02}\": \"x\"")).collect();
    let folder = Folder::new(&[
        (
            "package.json",
            &format!("{{\"workspaces\": [\"p\"], \"scripts\": {{{}}}}}", scripts[..5].join(",")),
        ),
        ("p/package.json", &format!("{{\"name\": \"p\", \"scripts\": {{{}}}}}", scripts.join(","))),
        ("justfile", "# Say it\nsay word *more:\n    echo\n"),
    ]);
    let model = prompt::model(&folder.read_with(&["just"]));
    let just = &model.runners[0];
    assert_eq!((just.id.as_str(), just.tasks[0].command.as_str()), ("just", "just say"));
    assert_eq!(just.tasks[0].parameters, ["word", "more"]);
    assert_eq!(just.tasks[0].doc.as_deref(), Some("Say it"));
    let pkg = &model.runners[1];
    assert_eq!((pkg.tasks.len(), pkg.more), (20, 10));
    assert_eq!(pkg.tasks[5].name, "p/s00");
    assert_eq!(pkg.tasks[5].command, "npm run 's00'");
    assert_eq!(pkg.tasks[5].cwd.as_deref(), Some("p"));
    assert!(serde_json::to_string(&model).unwrap().contains("\"command_prefix\":\"npm run\""));
}
