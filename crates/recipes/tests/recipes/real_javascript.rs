//! npm, pnpm, Yarn, Bun and Deno, really run.

use crate::harness::{Folder, healthy, names, need};

const SCRIPTS: &str = r#"{
  "name": "root",
  "version": "1.0.0",
  "private": true,
  "workspaces": ["packages/*"],
  "scripts": {
    "show": "node show.js",
    "test:unit": "echo unit",
    "dev": "vite"
  }
}"#;

const SHOW: &str = "console.log('ARGS', JSON.stringify(process.argv.slice(2)));";

const MEMBER: &str = r#"{"name": "@scope/a", "version": "1.0.0",
  "scripts": {"where": "node -e \"console.log('AT', process.cwd())\""}}"#;

fn project(lock: &str, lock_text: &str) -> Folder {
    Folder::new(&[
        ("package.json", SCRIPTS),
        ("show.js", SHOW),
        ("packages/a/package.json", MEMBER),
        (lock, lock_text),
    ])
}

/// Detects, runs a script with arguments that need care, and a script of a package.
fn check(manager: &str, folder: &Folder) {
    need(manager);
    let project = folder.detect();
    let runner = healthy(&project, manager);
    assert_eq!(names(runner), ["show", "test:unit", "dev", "@scope/a/where"]);
    let source = runner.task("test:unit").unwrap().source.clone().unwrap();
    assert_eq!((source.file.as_str(), source.line), ("package.json", 8));
    let output = folder.run(&project, "show --watch 'a b' \"it's\" '$HOME'");
    assert!(output.contains(r#"ARGS ["--watch","a b","it's","$HOME"]"#), "{output}");
    // The caller may write the dashes as for npm; the task never sees them.
    let output = folder.run(&project, "show -- --watch");
    assert!(output.contains(r#"ARGS ["--watch"]"#), "{output}");
    assert!(folder.run(&project, "test:unit").contains("unit"));
    let output = folder.run(&project, "@scope/a/where");
    assert!(
        output.lines().any(|line| line.starts_with("AT ") && line.ends_with("packages/a")),
        "{output}"
    );
}

#[test]
fn npm_runs_scripts_and_workspace_scripts_with_exact_arguments() {
    check("npm", &project("package-lock.json", "{}"));
}

#[test]
fn pnpm_runs_scripts_and_workspace_scripts_with_exact_arguments() {
    let folder = project("pnpm-lock.yaml", "lockfileVersion: '9.0'\n");
    folder.write("pnpm-workspace.yaml", b"packages:\n  - 'packages/*'\n");
    check("pnpm", &folder);
}

#[test]
fn yarn_runs_scripts_and_workspace_scripts_with_exact_arguments() {
    check("yarn", &project("yarn.lock", ""));
}

#[test]
fn bun_runs_scripts_and_workspace_scripts_with_exact_arguments() {
    check("bun", &project("bun.lock", "{}"));
}

#[test]
fn deno_runs_tasks_and_workspace_tasks() {
    need("deno");
    let folder = Folder::new(&[
        (
            "deno.jsonc",
            "{\n  // comments are allowed\n  \"workspace\": [\"./a\"],\n  \"tasks\": {\n    \"hello\": \"echo hello\",\n    \
             \"all\": {\"description\": \"Everything\", \"command\": \"echo all\", \"dependencies\": [\"hello\"]},\n  },\n}",
        ),
        (
            "a/deno.json",
            r#"{"name": "@x/a", "version": "1.0.0", "exports": "./m.ts", "tasks": {"sub": "pwd"}}"#,
        ),
        ("a/m.ts", ""),
    ]);
    let project = folder.detect();
    let runner = healthy(&project, "deno");
    assert_eq!(names(runner), ["hello", "all", "@x/a/sub"]);
    assert_eq!(runner.task("all").unwrap().doc.as_deref(), Some("Everything"));
    assert!(folder.run(&project, "hello world").contains("hello world"));
    assert!(folder.run(&project, "all").contains("all"));
    assert!(folder.run(&project, "@x/a/sub").contains("/a\n"));
}
