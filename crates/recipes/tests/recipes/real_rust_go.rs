//! Cargo and Go, really run.

use umbo_recipes::Kind;

use crate::harness::{Folder, healthy, names, need};

const MAIN: &str =
    "fn main() { println!(\"ARGS {:?}\", std::env::args().skip(1).collect::<Vec<_>>()); }\n";

#[test]
fn cargo_runs_bins_examples_and_tests_of_one_package() {
    need("cargo");
    let folder = Folder::new(&[
        (
            "Cargo.toml",
            "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[features]\nextra = []\n[[bin]]\nname = \"gated\"\nrequired-features = [\"extra\"]\n",
        ),
        ("src/main.rs", MAIN),
        ("src/bin/gated.rs", MAIN),
        ("examples/show.rs", MAIN),
        ("tests/api.rs", "#[test]\nfn works() {}\n"),
        (".cargo/config.toml", "[alias]\nshow = [\"run\", \"--quiet\", \"--example\", \"show\"]\n"),
    ]);
    let project = folder.detect();
    let runner = healthy(&project, "cargo");
    let targets: Vec<_> = runner
        .tasks
        .iter()
        .filter(|task| matches!(task.kind, Kind::Bin | Kind::Example | Kind::Test))
        .map(|task| task.name.as_str())
        .collect();
    let mut sorted = targets.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["bin/gated", "bin/one", "example/show", "test/api"]);
    let output = folder.run(&project, "bin/one --flag 'a b'");
    assert!(output.contains(r#"ARGS ["--flag", "a b"]"#), "{output}");
    let output = folder.run(&project, "bin/one --quiet -- --flag");
    assert!(output.contains(r#"ARGS ["--flag"]"#), "{output}");
    assert!(folder.run(&project, "bin/gated").contains("ARGS []"));
    assert!(folder.run(&project, "example/show").contains("ARGS []"));
    assert!(folder.run(&project, "test/api -- --nocapture").contains("1 passed"));
    assert!(folder.run(&project, "show").contains("ARGS []"));
    folder.run(&project, "check --all-targets");
    let mut read: Vec<_> = folder.read().tasks().map(|task| task.name.clone()).collect();
    let mut asked: Vec<_> = project.tasks().map(|task| task.name.clone()).collect();
    read.sort();
    asked.sort();
    assert_eq!(read, asked, "inference and metadata agree");
}

#[test]
fn cargo_names_the_targets_of_a_workspace_by_package() {
    need("cargo");
    let member = |name: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
    };
    let folder = Folder::new(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"crates/*\"]\nexclude = [\"crates/old\"]\nresolver = \"2\"\n",
        ),
        ("crates/server/Cargo.toml", &member("server")),
        (
            "crates/server/src/main.rs",
            "fn main() { println!(\"AT {}\", std::env::current_dir().unwrap().display()); }",
        ),
        ("crates/tool/Cargo.toml", &member("tool")),
        ("crates/tool/src/lib.rs", ""),
        ("crates/tool/examples/demo.rs", MAIN),
        ("crates/tool/tests/it.rs", "#[test]\nfn works() {}\n"),
        ("crates/old/Cargo.toml", &member("old")),
        ("crates/old/src/main.rs", MAIN),
    ]);
    for project in [folder.detect(), folder.read()] {
        let runner = crate::harness::runner(&project, "cargo");
        assert!(runner.problems.is_empty(), "{:?}", runner.problems);
        let targets: Vec<_> = runner.tasks.iter().filter(|task| task.package.is_some()).collect();
        let shape: Vec<_> =
            targets.iter().map(|task| (task.name.as_str(), task.directory.as_str())).collect();
        assert_eq!(
            shape,
            [
                ("server/bin/server", "crates/server"),
                ("tool/example/demo", "crates/tool"),
                ("tool/test/it", "crates/tool")
            ]
        );
    }
    let project = folder.detect();
    let output = folder.run(&project, "server/bin/server");
    assert!(output.contains("crates/server\n"), "{output}");
    assert!(folder.run(&project, "tool/example/demo -x").contains(r#"ARGS ["-x"]"#));
    assert!(folder.run(&project, "tool/test/it").contains("1 passed"));
}

#[test]
fn a_workspace_cargo_refuses_is_told() {
    need("cargo");
    let folder = Folder::new(&[
        ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"1066\"\n"),
        ("src/main.rs", MAIN),
    ]);
    let project = folder.detect();
    let runner = crate::harness::runner(&project, "cargo");
    assert!(runner.problems[0].message.contains("edition"), "{:?}", runner.problems);
    let folder = Folder::new(&[("Cargo.toml", "[package]\nname = \"x\"\nversion = \n")]);
    let project = folder.detect();
    let problem = &crate::harness::runner(&project, "cargo").problems[0];
    assert_eq!((problem.file.as_str(), problem.line), ("Cargo.toml", Some(3)));
}

#[test]
fn go_runs_programs_of_a_module_and_of_a_workspace() {
    need("go");
    let program = |name: &str| {
        format!(
            "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() {{ fmt.Println(\"{name}\", os.Args[1:]) }}\n"
        )
    };
    let folder = Folder::new(&[
        ("go.mod", "module example.com/root\n\ngo 1.21\n"),
        ("go.work", "go 1.21\n\nuse (\n\t.\n\t./tools // a comment\n)\n"),
        ("main.go", &program("ROOT")),
        ("cmd/serve/main.go", &program("SERVE")),
        ("tools/go.mod", "module example.com/tools\n\ngo 1.21\n"),
        ("tools/cmd/gen/main.go", &program("GEN")),
    ]);
    let project = folder.detect();
    let runner = healthy(&project, "go");
    let all = names(runner);
    for name in ["build", "test", "run", "cmd/serve", "tools/test", "tools/cmd/gen"] {
        assert!(all.contains(&name), "{name} in {all:?}");
    }
    assert!(folder.run(&project, "run --flag").contains("ROOT [--flag]"));
    assert!(folder.run(&project, "cmd/serve").contains("SERVE []"));
    assert!(folder.run(&project, "tools/cmd/gen a").contains("GEN [a]"));
    folder.run(&project, "vet");
}
