//! Nx and Turborepo, really run.

use crate::harness::{Folder, healthy, names, need};

#[test]
fn nx_runs_the_targets_of_a_project() {
    need("nx");
    let folder = Folder::new(&[
        ("package.json", r#"{"name": "root", "version": "1.0.0", "private": true}"#),
        ("nx.json", "{}"),
        (
            "libs/a/project.json",
            "{\n  \"name\": \"a\",\n  \"targets\": {\n    \"hello\": {\"command\": \"echo nx-hello\", \"metadata\": {\"description\": \"Say hello\"}}\n  }\n}",
        ),
    ]);
    let project = folder.detect();
    let runner = healthy(&project, "nx");
    assert_eq!(names(runner), ["a/hello"]);
    assert_eq!(runner.tasks[0].doc.as_deref(), Some("Say hello"));
    assert_eq!(runner.tasks[0].source.as_ref().unwrap().line, 4);
    assert_eq!(runner.tasks[0].command(), "nx run a:hello");
    // Nx reads its own package from the project, so the project must have it.
    let modules = std::fs::canonicalize(which("nx")).unwrap();
    let modules =
        modules.ancestors().find(|path| path.ends_with("node_modules")).unwrap().to_owned();
    std::os::unix::fs::symlink(modules, folder.path().join("node_modules")).unwrap();
    assert!(folder.run(&project, "a/hello").contains("nx-hello"));
    let project = folder.detect();
    assert_eq!(healthy(&project, "nx").tasks[0].command(), "npx nx run a:hello");
    assert!(folder.run(&project, "a/hello").contains("nx-hello"));
}

fn which(program: &str) -> std::path::PathBuf {
    crate::harness::search_path()
        .iter()
        .map(|directory| directory.join(program))
        .find(|path| path.is_file())
        .unwrap()
}

#[test]
fn turbo_runs_the_tasks_of_all_packages() {
    need("turbo");
    let folder = Folder::new(&[
        (
            "package.json",
            r#"{"name": "root", "version": "1.0.0", "private": true, "workspaces": ["p/*"], "packageManager": "npm@10.0.0"}"#,
        ),
        (
            "package-lock.json",
            r#"{"name": "root", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {"": {"name": "root", "version": "1.0.0", "workspaces": ["p/*"]}, "node_modules/a": {"resolved": "p/a", "link": true}, "p/a": {"name": "a", "version": "1.0.0"}}}"#,
        ),
        (
            "p/a/package.json",
            r#"{"name": "a", "version": "1.0.0", "scripts": {"hello": "echo turbo-hello"}}"#,
        ),
        (
            "turbo.json",
            "{\n  \"tasks\": {\n    \"hello\": {\"dependsOn\": [\"^hello\"], \"cache\": false}\n  }\n}",
        ),
    ]);
    let project = folder.detect();
    assert_eq!(names(healthy(&project, "turbo")), ["hello"]);
    let output = folder.run(&project, "hello --flag");
    assert!(output.contains("turbo-hello --flag"), "{output}");
}
