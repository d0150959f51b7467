//! Folders that mean harm: broken, huge, looping and lying manifests.

use std::{
    os::unix::fs::symlink,
    time::{Duration, Instant},
};

use umbo_recipes::{Asking, Limits, Options, Project, detect};

use crate::harness::{Folder, names, need, real_options, runner};

fn within(seconds: u64, work: impl FnOnce() -> Project) -> Project {
    let start = Instant::now();
    let project = work();
    assert!(start.elapsed() < Duration::from_secs(seconds), "took {:?}", start.elapsed());
    project
}

#[test]
fn a_broken_manifest_is_told_with_its_line_and_hides_no_other_runner() {
    let broken: [(&str, &str, &str, usize); 15] = [
        ("npm", "package.json", "{\n  \"scripts\": {\n    \"a\": \"b\"\n    \"c\": 1\n  }\n}", 4),
        ("cargo", "Cargo.toml", "[package]\nname = \n", 2),
        ("poetry", "pyproject.toml", "[tool.poetry]\nname = \n", 2),
        ("pdm", "pyproject.toml", "[tool.pdm]\nname = \n", 2),
        ("uv", "pyproject.toml", "[tool.uv]\nname = \n", 2),
        ("hatch", "pyproject.toml", "[tool.hatch]\nname = \n", 2),
        ("task", "Taskfile.yml", "version: '3'\ntasks: [\n", 2),
        ("deno", "deno.json", "{\n\"tasks\": }", 2),
        ("mise", "mise.toml", "a = 1\nb = \n", 2),
        ("maven", "pom.xml", "<project>\n<modules>\n</project>", 3),
        ("composer", "composer.json", "{\n\n", 3),
        ("cmake", "CMakePresets.json", "[\n1,\n]", 3),
        ("turbo", "turbo.json", "{\n\"tasks\" 1}", 2),
        ("compose", "compose.yaml", "services:\n  a: {\n", 2),
        ("vscode", ".vscode/tasks.json", "{\n\"tasks\": [\n", 3),
    ];
    for (id, file, text, line) in broken {
        let folder = Folder::new(&[("Rakefile", "task :other do\nend\n"), (file, text)]);
        let project = folder.read();
        let problem = &runner(&project, id).problems[0];
        assert_eq!(problem.file, file, "{problem}");
        assert!(problem.line.is_some_and(|told| told.abs_diff(line) <= 1), "{id}: {problem}");
        assert_eq!(names(runner(&project, "rake")), ["other"], "{id}");
    }
}

#[test]
fn a_package_file_of_ten_megabytes_does_no_harm() {
    let filler = format!("\"{}\"", "x".repeat(1000));
    let text =
        format!("{{\"scripts\": {{\"t\": \"x\"}}, \"x\": [{}]}}", vec![filler; 10_000].join(","));
    assert!(text.len() > 10_000_000);
    let folder = Folder::new(&[("package.json", &text)]);
    let project = within(20, || folder.read());
    assert_eq!(names(runner(&project, "npm")), ["t"]);
}

#[test]
fn a_hundred_thousand_scripts_are_bounded() {
    let scripts: Vec<String> = (0..100_000).map(|n| format!("\"s{n}\": \"x\"")).collect();
    let folder =
        Folder::new(&[("package.json", &format!("{{\"scripts\": {{{}}}}}", scripts.join(",")))]);
    let project = within(60, || folder.read());
    let npm = runner(&project, "npm");
    assert_eq!(npm.tasks.len(), Limits::default().tasks);
    assert!(npm.problems[0].message.contains("only the first"));
}

#[test]
fn cyclic_links_and_patterns_end() {
    let folder = Folder::new(&[
        (
            "package.json",
            r#"{"workspaces": ["**", "packages/**", "packages/*/loop/*", "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"]}"#,
        ),
        (
            "packages/a/package.json",
            r#"{"name": "a", "workspaces": ["../*"], "scripts": {"t": "x"}}"#,
        ),
        ("node_modules/bad/package.json", r#"{"name": "bad", "scripts": {"t": "x"}}"#),
    ]);
    symlink("..", folder.path().join("packages/a/loop")).unwrap();
    symlink(".", folder.path().join("packages/self")).unwrap();
    symlink("loop2", folder.path().join("packages/loop2")).unwrap();
    symlink("/", folder.path().join("packages/root")).unwrap();
    let project = within(20, || folder.read());
    let npm = runner(&project, "npm");
    assert!(names(npm).contains(&"a/t"), "{:?}", names(npm));
    assert!(!npm.tasks.iter().any(|task| task.name.starts_with("bad")));
    assert!(!npm.tasks.iter().any(|task| task.directory.contains("root")));
}

#[test]
fn a_deep_tree_stops_at_the_budget() {
    let folder =
        Folder::new(&[("package.json", r#"{"workspaces": ["**"], "scripts": {"t": "x"}}"#)]);
    for n in 0..300 {
        std::fs::create_dir_all(folder.path().join(format!("d{n}/e/f"))).unwrap();
    }
    let limits = Limits { directories: 100, ..Limits::default() };
    let options = Options { asking: Asking::Never, limits, ..Options::default() };
    let project = detect(folder.path(), &options, None).unwrap();
    let npm = runner(&project, "npm");
    assert_eq!(names(npm), ["t"]);
    assert!(npm.problems[0].message.contains("stopped after 100 directories"));
}

#[test]
fn patterns_and_links_never_leave_the_project() {
    let outside = Folder::new(&[
        ("package.json", r#"{"name": "out", "scripts": {"t": "x"}}"#),
        ("Cargo.toml", "[package]\nname='out'\n"),
        ("src/main.rs", ""),
    ]);
    let name = outside.path().file_name().unwrap().to_str().unwrap().to_owned();
    let folder = Folder::new(&[
        (
            "package.json",
            &format!(
                r#"{{"workspaces": ["../{name}", "{}", "packages/*"]}}"#,
                outside.path().display()
            ),
        ),
        ("Cargo.toml", &format!("[workspace]\nmembers = ['../{name}', 'packages/*']\n")),
        ("packages/keep", ""),
    ]);
    symlink(outside.path(), folder.path().join("packages/link")).unwrap();
    let project = folder.read();
    assert!(runner(&project, "npm").tasks.is_empty());
    assert_eq!(runner(&project, "npm").problems.len(), 2);
    assert!(!runner(&project, "cargo").tasks.iter().any(|task| task.package.is_some()));
}

#[test]
fn things_that_are_no_files_are_not_waited_for() {
    let folder = Folder::new(&[("Rakefile", "task :ok do\nend\n")]);
    let made = std::process::Command::new("mkfifo")
        .arg(folder.path().join("package.json"))
        .status()
        .unwrap();
    assert!(made.success());
    symlink("/dev/zero", folder.path().join("Makefile")).unwrap();
    std::fs::create_dir(folder.path().join("Cargo.toml")).unwrap();
    symlink("justfile", folder.path().join("justfile")).unwrap();
    let project = within(20, || folder.read());
    assert_eq!(names(runner(&project, "rake")), ["ok"]);
}

#[test]
fn includes_that_loop_or_multiply_end() {
    let folder = Folder::new(&[
        ("Makefile", "include Makefile\ninclude a.mk\nall:\n\tx\n"),
        ("a.mk", "include Makefile\ninclude a.mk /etc/passwd ../../x.mk $(X)\nb:\n\tx\n"),
        ("justfile", "import 'justfile'\nimport 'j.just'\nmod j\na:\n    x\n"),
        ("j.just", "import 'justfile'\nmod j\nimport '/etc/passwd'\nb:\n    x\n"),
        (
            "Taskfile.yml",
            "version: '3'\nincludes: {a: ., b: ., c: ./Taskfile.yml, d: '../x', e: 'https://x/y.yml'}\ntasks: {t: {cmds: [x]}}\n",
        ),
        (
            "CMakePresets.json",
            r#"{"include": ["CMakePresets.json", "b.json"], "configurePresets": [{"name": "x"}]}"#,
        ),
        ("b.json", r#"{"include": ["CMakePresets.json", "b.json", "/etc/passwd"]}"#),
    ]);
    let project = within(20, || folder.read());
    assert_eq!(names(runner(&project, "make")), ["all", "b"]);
    assert!(names(runner(&project, "just")).contains(&"a"));
    assert!(names(runner(&project, "task")).contains(&"t"));
    assert_eq!(names(runner(&project, "cmake")), ["configure/x"]);
}

#[test]
fn a_program_of_the_project_is_never_asked() {
    let evil = "#!/bin/sh\ntouch \"${0%/*}/RAN\"\n";
    let folder = Folder::new(&[
        ("justfile", "a:\n    x\n"),
        ("Taskfile.yml", "version: '3'\ntasks: {t: {cmds: [x]}}\n"),
        ("Cargo.toml", "[package]\nname = 'x'\n"),
        ("bin/just", evil),
        ("bin/task", evil),
        ("bin/cargo", evil),
    ]);
    for name in ["bin/just", "bin/task", "bin/cargo"] {
        folder.make_executable(name);
    }
    let options =
        Options { path: vec![folder.path().join("bin"), "bin".into()], ..Options::default() };
    let project = detect(folder.path(), &options, None).unwrap();
    assert_eq!(names(runner(&project, "just")), ["a"]);
    assert!(!folder.path().join("bin/RAN").exists());
}

#[test]
fn a_toolchain_of_the_project_is_never_run() {
    need("cargo");
    let folder = Folder::new(&[
        ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/main.rs", "fn main() {}\n"),
    ]);
    let root = folder.path().display().to_string();
    folder.write("rust-toolchain.toml", format!("[toolchain]\npath = \"{root}/tc\"\n").as_bytes());
    for name in ["tc/bin/cargo", "tc/bin/rustc"] {
        folder.write(name, format!("#!/bin/sh\ntouch {root}/RAN\n").as_bytes());
        folder.make_executable(name);
    }
    let mut options = real_options();
    options.environment.retain(|(name, _)| name != "RUSTUP_TOOLCHAIN");
    let project = detect(folder.path(), &options, None).unwrap();
    assert!(!folder.path().join("RAN").exists());
    assert!(names(runner(&project, "cargo")).contains(&"bin/x"));
}

#[test]
fn a_remote_taskfile_is_not_fetched_to_answer() {
    let tools = Folder::new(&[("task", "#!/bin/sh\ntouch \"${0%/*}/RAN\"\n")]);
    tools.make_executable("task");
    for include in ["https://example.com/x.yml", "git@example.com:x/y.git", "'{{.WHERE}}'"] {
        let text =
            format!("version: '3'\nincludes:\n  r: {include}\ntasks: {{t: {{cmds: [x]}}}}\n");
        let folder = Folder::new(&[("Taskfile.yml", &text)]);
        let options = Options {
            path: vec![tools.path().to_owned(), "/usr/bin".into()],
            ..Options::default()
        };
        let project = detect(folder.path(), &options, None).unwrap();
        assert_eq!(names(runner(&project, "task")), ["t"]);
        assert!(!tools.path().join("RAN").exists(), "{include}");
    }
}

#[test]
fn nesting_without_end_is_an_error_and_no_crash() {
    let deep = 200_000;
    let cases: [(&str, &str, String); 8] = [
        ("npm", "package.json", "[".repeat(deep)),
        ("deno", "deno.json", "{\"a\":".repeat(deep)),
        ("task", "Taskfile.yml", "[".repeat(deep)),
        ("task", "Taskfile.yml", "- ".repeat(deep)),
        ("compose", "compose.yaml", "{a: ".repeat(deep)),
        ("mise", "mise.toml", format!("a = {}", "[".repeat(deep))),
        ("mise", "mise.toml", format!("{}a = 1\n", "a.".repeat(deep))),
        ("mise", "mise.toml", format!("[{}a]\n", "a.".repeat(deep))),
    ];
    for (id, file, text) in cases {
        let folder = Folder::new(&[(file, &text)]);
        let project = within(30, || folder.read());
        assert!(!runner(&project, id).problems.is_empty(), "{file}: {}…", &text[..8]);
    }
    for depth in [38, 39, 40, 41, 60, 200] {
        let lines = (0..depth).map(|n| format!("{}a:\n", " ".repeat(n)));
        let folder = Folder::new(&[("Taskfile.yml", &lines.collect::<String>())]);
        assert_eq!(runner(&folder.read(), "task").problems.is_empty(), depth <= 40, "{depth}");
    }
    let folder = Folder::new(&[
        (
            "package.json",
            &format!(
                "{{\"workspaces\": [\"{}\", \"!{}x\"]}}",
                "**/".repeat(deep),
                "**/a/".repeat(30)
            ),
        ),
        ("a/package.json", "{}"),
        ("pom.xml", &"<a>".repeat(deep)),
    ]);
    assert!(!runner(&within(30, || folder.read()), "maven").problems.is_empty());
}

#[test]
fn names_that_would_be_options_or_hide_in_a_terminal_are_left_out() {
    let folder = Folder::new(&[(
        "package.json",
        "{\"scripts\": {\"--eval\": \"x\", \"-c\": \"x\", \"\": \"x\", \"a\\u001b[31mb\": \"x\", \"a\\u202eb\": \"x\", \"a\\nb\": \"x\", \"fine\": \"x\"}}",
    )]);
    let project = folder.read();
    let npm = runner(&project, "npm");
    assert_eq!(names(npm), ["fine"]);
    assert_eq!(npm.problems.len(), 6);
    assert!(npm.problems[0].message.contains("starts with a dash"));
}

#[test]
fn a_package_named_like_an_option_stays_out_of_the_command_line() {
    let folder = Folder::new(&[
        ("Cargo.toml", "[workspace]\nmembers = ['a', 'b']\n"),
        ("a/Cargo.toml", "[package]\nname = '--config'\n"),
        ("a/src/main.rs", ""),
        ("b/Cargo.toml", "[package]\nname = 'b'\n"),
        ("b/src/main.rs", ""),
    ]);
    let project = folder.read();
    let cargo = runner(&project, "cargo");
    assert!(
        !cargo.tasks.iter().any(|task| task.command().contains("--config")),
        "{:?}",
        cargo.problems
    );
}

#[test]
fn docs_are_one_clean_line() {
    let folder = Folder::new(&[
        ("Makefile", "a: ## \u{1b}[2Jx\u{202e}y\n\tx\n"),
        (
            "composer.json",
            &format!(
                "{{\"scripts\": {{\"a\": \"x\"}}, \"scripts-descriptions\": {{\"a\": \"one\\ntwo\"}}, \"b\": \"{}\"}}",
                "z".repeat(10)
            ),
        ),
    ]);
    let project = folder.read();
    assert_eq!(runner(&project, "make").tasks[0].doc.as_deref(), Some("[2Jxy"));
    assert_eq!(runner(&project, "composer").tasks[0].doc.as_deref(), Some("one"));
}

#[test]
fn random_bytes_in_every_manifest_end_quickly() {
    let files = [
        "package.json",
        "Cargo.toml",
        "Makefile",
        "justfile",
        "Taskfile.yml",
        "pyproject.toml",
        "deno.json",
        "go.mod",
        "go.work",
        "mise.toml",
        "hatch.toml",
        "tox.ini",
        "tox.toml",
        "noxfile.py",
        "tasks.py",
        "pom.xml",
        "build.gradle",
        "settings.gradle",
        "composer.json",
        "Rakefile",
        "CMakePresets.json",
        "nx.json",
        "project.json",
        "turbo.json",
        "compose.yaml",
        ".vscode/tasks.json",
        "pnpm-workspace.yaml",
        "pnpm-lock.yaml",
    ];
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "\"",
        "'",
        ":",
        "=",
        ",",
        "\n",
        "\t",
        " ",
        "\\",
        "$(",
        "${",
        "@task",
        "@nox.session",
        "def x",
        "task :",
        "namespace :a do",
        "include ",
        "mod x",
        "import 'x'",
        "<a>",
        "</a>",
        "<!--",
        "tasks",
        "scripts",
        "\u{e9}",
        "\u{1f600}",
        "#",
        "##",
        "&",
        "*a",
        "- ",
        "[tool.poetry",
        "workspace",
        "members",
        "use (",
        "{a,b}",
        "..",
        "define x",
        "endef",
        ".PHONY:",
        ".RECIPEPREFIX =",
        "task ",
        "from invoke",
        "register(\"",
    ];
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % bound as u64).unwrap()
    };
    for _ in 0..150 {
        let folder = Folder::new(&[]);
        for file in files {
            let text: String = (0..next(60)).map(|_| pieces[next(pieces.len())]).collect();
            folder.write(file, text.as_bytes());
        }
        let project = within(20, || folder.read());
        for problem in project.problems() {
            assert!(!problem.message.contains("inside umbo"), "{problem}");
        }
    }
}
