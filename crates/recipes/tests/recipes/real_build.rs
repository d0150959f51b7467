//! make, just, Task, mise, Rake, `CMake`, Maven, Composer and VS Code tasks, really run.

use umbo_recipes::{Arity, Lifetime};

use crate::harness::{Folder, healthy, names, need};

#[test]
fn make_runs_targets_of_the_makefile_and_of_its_includes() {
    need("make");
    let folder = Folder::new(&[
        (
            "Makefile",
            "include rules/*.mk\n-include absent.mk\nNAME ?= nobody\n.PHONY: hello all\n\
             all: hello extra ## Everything\nhello: ## Say hello\n\t@echo hello $(NAME)\nout.txt: Makefile\n\ttouch out.txt\n",
        ),
        ("rules/extra.mk", ".PHONY: extra\n## From another file\nextra:\n\t@echo extra\n"),
    ]);
    let project = folder.detect();
    let runner = healthy(&project, "make");
    assert_eq!(names(runner), ["all", "hello", "extra"]);
    assert_eq!(runner.task("extra").unwrap().doc.as_deref(), Some("From another file"));
    assert_eq!(runner.task("extra").unwrap().source.as_ref().unwrap().file, "rules/extra.mk");
    assert!(folder.run(&project, "hello NAME='big world'").contains("hello big world"));
    let output = folder.run(&project, "all");
    assert!(output.contains("hello nobody") && output.contains("extra"), "{output}");
    // A hidden file target can still be asked for by name.
    folder.run(&project, "make:out.txt");
    assert!(folder.path().join("out.txt").is_file());
}

#[test]
fn make_reads_a_latin_1_file_as_make_does() {
    need("make");
    let folder = Folder::new(&[]);
    folder.write("GNUmakefile", b"# caf\xe9\nhello: ## caf\xe9\n\t@echo caf\xe9\n");
    let project = folder.detect();
    assert_eq!(healthy(&project, "make").task("hello").unwrap().doc.as_deref(), Some("caf\u{e9}"));
    folder.run(&project, "hello");
}

#[test]
fn just_runs_recipes_of_the_justfile_its_imports_and_its_modules() {
    need("just");
    let folder = Folder::new(&[
        (
            "justfile",
            "mod sub\nimport 'more.just'\nalias b := build\n\n# Build it\nbuild target='all' *flags: more\n    @echo build {{target}} {{flags}}\n\n\
             [private]\nsecret:\n    @echo no\n\n_hidden:\n    @echo no\n",
        ),
        ("more.just", "more:\n    @echo more\n"),
        ("sub.just", "# In a module\nrun first +rest:\n    @echo run {{first}} {{rest}}\n"),
    ]);
    let project = folder.detect();
    let runner = healthy(&project, "just");
    let mut sorted = names(runner);
    sorted.sort_unstable();
    assert_eq!(sorted, ["build", "more", "sub/run"]);
    let build = runner.task("build").unwrap();
    assert_eq!(build.doc.as_deref(), Some("Build it"));
    assert_eq!(build.depends, ["more"]);
    assert_eq!(build.script.as_ref().unwrap().text(), "echo build {{target}} {{flags}}");
    assert_eq!(build.source.as_ref().unwrap().line, 6);
    let shape: Vec<_> = build.parameters.iter().map(|p| (p.name.as_str(), p.arity)).collect();
    assert_eq!(shape, [("target", Arity::Optional), ("flags", Arity::ZeroOrMore)]);
    let run = runner.task("sub/run").unwrap();
    assert_eq!(run.source.as_ref().unwrap().file, "sub.just");
    assert_eq!(run.parameters[1].arity, Arity::OneOrMore);
    let output = folder.run(&project, "build x --flag");
    assert!(output.contains("more\n") && output.contains("build x --flag"), "{output}");
    assert!(folder.run(&project, "sub/run a b").contains("run a b"));
    assert!(folder.run(&project, "just:sub::run a b").contains("run a b"));
    assert!(folder.run(&project, "b").contains("build all"));
}

#[test]
fn just_read_without_its_program_gives_the_same_recipes() {
    need("just");
    let text = "# Build it\nbuild a +c='x y':\n    echo {{a}}\n\n[private]\nno:\n    x\n_no:\n    x\nx := 'y'\nset shell := ['sh', '-c']\n@quiet:\n    echo\n\n\
                [group('g')]\n[no-cd]\nmany a=('x' / 'y:z') b=`echo :` $c='d':\n    echo {{a}}\n\n    echo second\n\n\
                # Not this\n\n[doc('From an attribute')]\ndescribed: quiet && (build 'a' 'b:c')\n    #!/bin/sh\n    echo\n\
                export Y := 'z'\n[private, no-cd]\nsecret:\n    x\njoined: \\\n  quiet\n    echo joined\n\
                # Last\nafter a=\"it's\":\n\techo tab";
    let folder = Folder::new(&[("Justfile", text)]);
    let (asked, read) = (folder.detect(), folder.read());
    let asked = healthy(&asked, "just");
    assert_eq!(asked.tasks, crate::harness::runner(&read, "just").tasks);
    let names: Vec<_> = asked.named().map(|task| task.name.as_str()).collect();
    assert_eq!(names, ["build", "quiet", "many", "described", "joined", "after"]);
}

#[test]
fn of_two_recipes_of_one_name_the_text_is_of_the_one_that_runs() {
    need("just");
    let folder = Folder::new(&[
        (
            "justfile",
            "set allow-duplicate-recipes := true\nbuild:\n    echo the-real-one\nimport 'x.just'\n",
        ),
        ("x.just", "build:\n    echo a-decoy\n"),
    ]);
    let project = folder.detect();
    let build = healthy(&project, "just").task("build").unwrap();
    let output = folder.run(&project, "build");
    let said = if output.contains("the-real-one") { "the-real-one" } else { "a-decoy" };
    assert_eq!(build.script.as_ref().unwrap().text(), format!("echo {said}"));
}

#[test]
fn a_justfile_that_just_refuses_is_told_with_its_line() {
    need("just");
    let folder = Folder::new(&[("justfile", "a:\n    echo\n\nb: missing\n    echo\n")]);
    let project = folder.detect();
    let runner = crate::harness::runner(&project, "just");
    assert_eq!((runner.problems[0].file.as_str(), runner.problems[0].line), ("justfile", Some(4)));
    assert!(runner.tasks.is_empty());
}

#[test]
fn task_runs_tasks_of_the_taskfile_and_of_its_includes() {
    need("task");
    let folder = Folder::new(&[
        (
            "Taskfile.yml",
            "version: '3'\nincludes:\n  docs: ./docs\ntasks:\n  build:\n    desc: Build it\n    requires:\n      vars: [MODE]\n    cmds:\n      \
             - echo build {{.MODE}} {{.CLI_ARGS}}\n  quiet:\n    summary: From the summary\n    cmds:\n      - task: docs:serve\n  \
             hidden:\n    internal: true\n    cmds: [echo no]\n  'any:*':\n    cmds: [echo no]\n  status:\n    status: ['touch ran']\n    cmds: [echo s]\n",
        ),
        ("docs/Taskfile.yml", "version: '3'\ntasks:\n  serve: echo docs\n"),
    ]);
    let project = folder.detect();
    let runner = healthy(&project, "task");
    let mut sorted = names(runner);
    sorted.sort_unstable();
    assert_eq!(sorted, ["build", "docs:serve", "quiet", "status"]);
    assert!(!folder.path().join("ran").exists(), "detection ran code of the project");
    let build = runner.task("build").unwrap();
    assert_eq!(
        (build.doc.as_deref(), build.parameters[0].arity),
        (Some("Build it"), Arity::Variable)
    );
    assert_eq!(build.source.as_ref().unwrap().line, 5);
    assert_eq!(runner.task("quiet").unwrap().doc.as_deref(), Some("From the summary"));
    assert_eq!(runner.task("quiet").unwrap().depends, ["docs:serve"]);
    assert_eq!(
        runner.task("docs:serve").unwrap().source.as_ref().unwrap().file,
        "docs/Taskfile.yml"
    );
    let output = folder.run(&project, "build MODE=fast --flag 'a b'");
    assert!(output.contains("build fast --flag a b"), "{output}");
    assert!(folder.run(&project, "docs/serve").contains("docs"));
    assert!(folder.run(&project, "quiet").contains("docs"));
    let mut read: Vec<_> = folder.read().tasks().map(|task| task.name.clone()).collect();
    read.sort();
    assert_eq!(read, sorted);
}

#[test]
fn mise_runs_tasks_of_its_file_and_of_its_folder() {
    need("mise");
    let folder = Folder::new(&[
        (
            "mise.toml",
            "[tasks.hello]\ndescription = 'Say hello'\nrun = 'echo hello'\n[tasks.'a:b']\nrun = ['echo one', 'echo two']\ndepends = ['hello']\n\
             [tasks.no]\nhide = true\nrun = 'echo no'\n[tasks.typed]\nusage = '''\narg \"<name>\" help=\"Whose\"\narg \"[more]...\"\n'''\nrun = 'echo typed'\n",
        ),
        ("mise-tasks/file", "#!/bin/sh\n#MISE description=\"From a file\"\necho file \"$@\"\n"),
        ("mise-tasks/group/one", "#!/bin/sh\necho grouped\n"),
        ("mise-tasks/not-executable", "#!/bin/sh\n"),
    ]);
    folder.make_executable("mise-tasks/file");
    folder.make_executable("mise-tasks/group/one");
    let project = folder.detect();
    let runner = healthy(&project, "mise");
    assert_eq!(names(runner), ["hello", "a:b", "typed", "file", "group:one"]);
    assert_eq!(runner.task("file").unwrap().doc.as_deref(), Some("From a file"));
    let typed: Vec<_> = runner
        .task("typed")
        .unwrap()
        .parameters
        .iter()
        .map(|p| (p.name.as_str(), p.arity))
        .collect();
    assert_eq!(typed, [("name", Arity::Required), ("more", Arity::ZeroOrMore)]);
    assert!(folder.run(&project, "hello --x 'a b'").contains("hello --x a b"));
    assert!(folder.run(&project, "a:b").contains("two"));
    assert!(folder.run(&project, "file -- --x").contains("file --x"));
    assert!(folder.run(&project, "group:one").contains("grouped"));
}

#[test]
fn rake_runs_tasks_with_namespaces_and_arguments() {
    need("rake");
    let folder = Folder::new(&[(
        "Rakefile",
        "desc 'Say hello'\ntask :hello, [:name] do |t, args|\n  puts \"hello #{args[:name]}\"\nend\n\n\
         namespace :db do\n  desc 'Move'\n  task migrate: :hello do\n    puts 'moved'\n  end\nend\n",
    )]);
    let project = folder.detect();
    let runner = healthy(&project, "rake");
    assert_eq!(names(runner), ["hello", "db:migrate"]);
    assert_eq!(runner.task("hello").unwrap().parameters[0].name, "name");
    assert!(folder.run(&project, "hello 'big world'").contains("hello big world"));
    assert!(folder.run(&project, "db:migrate").contains("moved"));
}

#[test]
fn cmake_presets_configure_build_and_test() {
    need("cmake");
    need("make");
    let folder = Folder::new(&[
        (
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.25)\nproject(x NONE)\nenable_testing()\nadd_test(NAME t COMMAND echo tested)\nadd_custom_target(go ALL COMMAND echo built)\n",
        ),
        (
            "CMakePresets.json",
            r#"{"version": 6, "include": ["more.json"],
 "configurePresets": [
  {"name": "base", "hidden": true},
  {"name": "dev", "displayName": "Development", "generator": "Unix Makefiles", "binaryDir": "out"}],
 "buildPresets": [{"name": "dev", "configurePreset": "dev"}]}"#,
        ),
        ("more.json", r#"{"version": 6}"#),
        (
            "CMakeUserPresets.json",
            r#"{"version": 6, "testPresets": [{"name": "dev", "configurePreset": "dev", "output": {"verbosity": "verbose"}}]}"#,
        ),
    ]);
    let project = folder.detect();
    let runner = healthy(&project, "cmake");
    assert_eq!(names(runner), ["configure/dev", "build/dev", "test/dev"]);
    assert_eq!(runner.task("configure/dev").unwrap().doc.as_deref(), Some("Development"));
    folder.run(&project, "configure/dev");
    assert!(folder.run(&project, "build/dev").contains("built"));
    assert!(folder.run(&project, "test/dev").contains("tested"));
}

#[test]
fn maven_validates_the_project_and_a_module() {
    need("mvn");
    let pom = |name: &str, rest: &str| {
        format!(
            "<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>{name}</artifactId><version>1</version><packaging>pom</packaging>{rest}</project>"
        )
    };
    let folder = Folder::new(&[
        ("pom.xml", &pom("root", "<modules><module>core</module></modules>")),
        ("core/pom.xml", &pom("core", "")),
    ]);
    let project = folder.detect();
    let runner = healthy(&project, "maven");
    assert!(names(runner).contains(&"core/validate"));
    assert!(folder.run(&project, "validate --offline").contains("BUILD SUCCESS"));
    let output = folder.run(&project, "core/validate --offline -Dx=1");
    assert!(output.contains("BUILD SUCCESS") && output.contains("core"), "{output}");
}

#[test]
fn composer_runs_scripts_with_arguments() {
    need("composer");
    let folder = Folder::new(&[(
        "composer.json",
        r#"{"name": "x/y", "scripts": {
  "hello": "echo hello",
  "both": ["@hello", "echo both"],
  "post-install-cmd": "echo no"},
 "scripts-descriptions": {"hello": "Say hello"}}"#,
    )]);
    let project = folder.detect();
    let runner = healthy(&project, "composer");
    assert_eq!(names(runner), ["hello", "both"]);
    assert_eq!(runner.task("hello").unwrap().doc.as_deref(), Some("Say hello"));
    assert_eq!(runner.task("both").unwrap().depends, ["hello"]);
    assert!(folder.run(&project, "hello --flag").contains("hello --flag"));
    assert!(folder.run(&project, "both").contains("both"));
}

#[test]
fn editor_tasks_run_as_the_editor_runs_them() {
    let folder = Folder::new(&[
        (
            ".vscode/tasks.json",
            r#"{
  // written by a person
  "version": "2.0.0",
  "tasks": [
    {"label": "Say hello", "type": "shell", "command": "echo hello && echo", "args": ["a b"]},
    {"label": "list", "type": "process", "command": "ls", "args": ["${workspaceFolder}/sub"], "options": {"cwd": "${workspaceFolder}/sub"}},
    {"label": "needs the editor", "type": "shell", "command": "cat ${file}"},
    {"label": "escapes", "type": "shell", "command": "pwd", "options": {"cwd": "../.."}},
    {"label": "other", "type": "gulp", "task": "x"},
  ]
}"#,
        ),
        ("sub/file", ""),
    ]);
    let project = folder.detect();
    let runner = healthy(&project, "vscode");
    assert_eq!(names(runner), ["Say-hello", "list"]);
    assert_eq!(runner.task("list").unwrap().directory, "sub");
    let output = folder.run(&project, "Say-hello '; echo bad'");
    assert!(output.contains("hello\na b ; echo bad\n"), "{output}");
    assert!(folder.run(&project, "list").contains("file"));
}

#[test]
fn compose_services_are_long_lived_and_gradle_builds_are_read() {
    let folder = Folder::new(&[
        (
            "compose.yaml",
            "services:\n  web:\n    image: nginx\n    depends_on: [db]\n    command: [nginx, '-g', 'daemon off;']\n  db:\n    image: postgres\n",
        ),
        (
            "build.gradle",
            "plugins { id 'java' }\ntasks.register('hello') {\n  doLast { println 'hi' }\n}\n",
        ),
        ("settings.gradle", "rootProject.name = 'x'\ninclude 'lib'\n"),
        ("lib/build.gradle.kts", "tasks.register(\"sub\") {}\n"),
        ("gradlew", "#!/bin/sh\necho wrapper \"$@\"\n"),
    ]);
    folder.make_executable("gradlew");
    let project = folder.detect();
    let compose = crate::harness::runner(&project, "compose");
    assert_eq!(names(compose), ["web", "db"]);
    assert_eq!(compose.tasks[0].command(), "docker compose up web");
    assert_eq!(compose.tasks[0].lifetime, Lifetime::LongLived);
    assert_eq!(compose.tasks[0].depends, ["db"]);
    let gradle = healthy(&project, "gradle");
    assert_eq!(names(gradle)[5..], ["hello", "lib/sub"]);
    assert_eq!(folder.run(&project, "hello --info").trim(), "wrapper hello --info");
    assert_eq!(folder.run(&project, "lib/sub").trim(), "wrapper :lib:sub");
}
