//! What a directory has can make a verdict worse, never better.

use std::fs;
use std::path::Path;

use umbo_command::{Given, Risk, Shell};
use umbo_gate::read_in;

fn read(command: &str, cwd: &Path) -> umbo_command::Reading {
    read_in(command, Shell::Bash, Given::default(), cwd, None)
}

#[test]
fn git_is_read_only_where_the_repository_names_no_program() {
    let place = tempfile::tempdir().unwrap();
    let git = place.path().join(".git");
    fs::create_dir(&git).unwrap();
    assert_eq!(read("git diff", place.path()).risk, Risk::ReadOnly);
    fs::write(git.join("config"), "[core]\n\tbare = false\n[user]\n\tname = x\n").unwrap();
    assert_eq!(read("git diff", place.path()).risk, Risk::ReadOnly);
    for helper in [
        "[diff]\n external = sh x",
        "[core]\n\tfsmonitor = ./x",
        "[diff \"a\"]\n textconv=x",
        "[include]\n path = x",
        "[core] fsmonitor = ./x",
        "[core \"a]\"] fsmonitor = [./x]",
        "\u{feff}[core]fsmonitor=./x",
        "[tar \"evil\"]\n\tcommand = ./x",
    ] {
        fs::write(git.join("config"), helper).unwrap();
        let inside = place.path().join("deep");
        fs::create_dir_all(&inside).unwrap();
        let reading = read("git diff", &inside);
        assert_eq!(reading.risk, Risk::Unknown, "{helper}");
        assert!(reading.reason.contains("git repository"), "{}", reading.reason);
    }
}

/// Runs the real git; the tests of what it runs by itself go by whether this file comes into being.
fn git(directory: &Path, words: &[&str]) {
    let mut command = std::process::Command::new("git");
    let settings = ["-c", "user.name=a", "-c", "user.email=b", "-c", "protocol.file.allow=always"];
    command.args(settings).args(words).current_dir(directory);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let _ = command.output().expect("git runs");
}

#[test]
fn what_the_real_git_runs_while_it_reads_is_never_called_read_only() {
    let place = tempfile::tempdir().unwrap();
    let marker = place.path().join("ran");
    let touch = format!("touch {}; false", marker.display());
    let project = |name: &str| {
        let project = place.path().join(name);
        fs::create_dir(&project).unwrap();
        git(&project, &["init", "-q"]);
        fs::write(project.join("file"), "a").unwrap();
        git(&project, &["add", "."]);
        git(&project, &["commit", "-q", "-m", "a"]);
        project
    };
    let hooked = project("hooked");
    fs::create_dir_all(hooked.join(".git/hooks")).unwrap();
    let hook = hooked.join(".git/hooks/post-index-change");
    fs::write(&hook, format!("#!/bin/sh\n{touch}\n")).unwrap();
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    // The index is written anew where a file looks changed.
    fs::write(hooked.join("file"), "b").unwrap();
    fs::write(hooked.join("file"), "a").unwrap();
    let one_line = project("one-line");
    let settings = one_line.join(".git/config");
    let before = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, format!("{before}[core] fsmonitor = \"{touch}\"\n")).unwrap();
    let superproject = project("superproject");
    let source = project("source");
    git(&superproject, &["submodule", "add", "-q", source.to_str().unwrap(), "a/b"]);
    let module = superproject.join(".git/modules/a/b/config");
    let before = fs::read_to_string(&module).unwrap();
    fs::write(&module, format!("{before}[core]\n fsmonitor = \"{touch}\"\n")).unwrap();
    let archive = project("archive");
    git(&archive, &["config", "tar.evil.command", &touch]);
    let outer = project("outer");
    let bare = outer.join("data");
    git(&outer, &["init", "-q", "--bare", "data"]);
    git(&bare, &["config", "core.bare", "false"]);
    git(&bare, &["config", "core.worktree", outer.to_str().unwrap()]);
    git(&bare, &["config", "core.fsmonitor", &touch]);
    for (directory, command) in [
        (&hooked, "git status"),
        (&one_line, "git status"),
        (&superproject, "git status"),
        (&archive, "git archive --format=evil HEAD"),
        (&bare, "git status"),
    ] {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        git(directory, &words);
        assert!(marker.exists(), "git runs nothing for `{command}` in {}", directory.display());
        fs::remove_file(&marker).unwrap();
        let risk = read(command, directory).risk;
        assert!(risk > Risk::ReadOnly, "{command} in {}: {risk:?}", directory.display());
    }
    assert_eq!(read("git status", &source).risk, Risk::ReadOnly);
}

#[test]
fn a_directory_that_the_command_goes_to_is_looked_at_too() {
    let place = tempfile::tempdir().unwrap();
    let marker = place.path().join("ran");
    let (clean, other) = (place.path().join("clean"), place.path().join("other"));
    for project in [&clean, &other] {
        fs::create_dir_all(project.join("deep")).unwrap();
        git(project, &["init", "-q"]);
    }
    git(&other, &["config", "core.fsmonitor", &format!("touch {}; false", marker.display())]);
    std::os::unix::fs::symlink(other.join("deep"), clean.join("link")).unwrap();
    // A directory of this name is none to git, which then looks at what is beside it.
    let mixed = clean.join("mixed");
    git(&clean, &["init", "-q", "--bare", "mixed"]);
    git(&mixed, &["config", "core.bare", "false"]);
    git(&mixed, &["config", "core.worktree", clean.to_str().unwrap()]);
    git(&mixed, &["config", "core.fsmonitor", &format!("touch {}; false", marker.display())]);
    fs::create_dir(mixed.join(".git")).unwrap();
    for command in [
        "cd ../other && git status",
        "cd ../other/deep; cd nowhere; git status",
        "cd nowhere; cd ../other; git status",
        "(cd ../other; git status)",
        "git -C .. -C other status",
        "git --no-pager -C ../other status",
        "env -C ../other git status",
        "env --chdir=../other git status",
        "find ../other -maxdepth 1 -name deep -execdir git status ';'",
        "cd link && git status",
        "D=../other; cd $D && git status",
        "cd ../other; cd -; cd -; git status",
        "pushd ../other > /dev/null; git status",
        "cd mixed; git status",
    ] {
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", command]).current_dir(&clean).env("GIT_CONFIG_GLOBAL", "/dev/null");
        let _ = shell.output().expect("bash runs");
        assert!(marker.exists(), "git runs nothing for `{command}`");
        fs::remove_file(&marker).unwrap();
        let risk = read(command, &clean).risk;
        assert!(risk > Risk::ReadOnly, "{command}: {risk:?}");
    }
    for command in [
        "git status",
        "git -C deep status",
        "cd deep && git log",
        "cd deep; cd ..; git diff",
        "git log -C ../other",
    ] {
        assert_eq!(read(command, &clean).risk, Risk::ReadOnly, "{command}");
    }
    // Who stands in a link stands where it leads to.
    assert!(read("git status", &clean.join("link")).risk > Risk::ReadOnly);
}

#[test]
fn a_script_or_a_setting_that_is_only_in_part_in_sight_says_nothing() {
    let place = tempfile::tempdir().unwrap();
    let script = format!("{}rm -rf ~\n", "echo a\n".repeat(20_000));
    fs::write(place.path().join("long.sh"), &script).unwrap();
    assert!(read("sh long.sh", place.path()).risk > Risk::ReadOnly);
    fs::create_dir(place.path().join(".cargo")).unwrap();
    let settings = format!("{}[build]\nrustc = \"./x\"\n", "# a\n".repeat(40_000));
    fs::write(place.path().join(".cargo/config.toml"), settings).unwrap();
    assert_eq!(read("cargo metadata", place.path()).risk, Risk::Unknown);
}

#[test]
fn cargo_is_read_only_where_no_setting_names_a_program() {
    let place = tempfile::tempdir().unwrap();
    assert_eq!(read("cargo metadata", place.path()).risk, Risk::ReadOnly);
    fs::create_dir(place.path().join(".cargo")).unwrap();
    let settings = place.path().join(".cargo/config.toml");
    fs::write(&settings, "[alias]\nx = \"run\"\n").unwrap();
    assert_eq!(read("cargo metadata", place.path()).risk, Risk::ReadOnly);
    fs::write(&settings, "[build]\nrustc-wrapper = \"./x\"\n").unwrap();
    assert_eq!(read("cargo metadata", place.path()).risk, Risk::Unknown);
}

#[test]
fn python_is_read_only_where_no_module_takes_the_place_of_its_own() {
    let place = tempfile::tempdir().unwrap();
    assert_eq!(read("python3 -m json.tool x", place.path()).risk, Risk::ReadOnly);
    fs::write(place.path().join("json.py"), "").unwrap();
    let reading = read("python3 -m json.tool x", place.path());
    assert_eq!(reading.risk, Risk::Unknown);
    assert!(reading.reason.contains("module json"), "{}", reading.reason);
}

#[test]
fn what_the_real_cargo_runs_while_it_looks_is_never_called_read_only() {
    let place = tempfile::tempdir().unwrap();
    let marker = place.path().join("ran");
    let program = place.path().join("program");
    fs::write(&program, format!("#!/bin/sh\ntouch {}\n", marker.display())).unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = program.display();
    for (number, setting) in [
        format!("[build]\nrustc = \"{program}\""),
        format!("build.rustc-wrapper = \"{program}\""),
        format!("[build]\n\"rust\\u0063\" = \"{program}\""),
        format!("build = {{ \"\\u0072ustc\" = \"{program}\" }}"),
    ]
    .iter()
    .enumerate()
    {
        let project = place.path().join(number.to_string());
        fs::create_dir_all(project.join(".cargo")).unwrap();
        fs::create_dir(project.join("src")).unwrap();
        fs::write(project.join("src/lib.rs"), "").unwrap();
        let manifest =
            "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
        fs::write(project.join("Cargo.toml"), manifest).unwrap();
        fs::write(project.join(".cargo/config.toml"), setting).unwrap();
        let words = ["metadata", "--offline", "--format-version", "1"];
        let mut cargo = std::process::Command::new("cargo");
        cargo.args(words).current_dir(&project).env("CARGO_CACHE_RUSTC_INFO", "0");
        for name in ["RUSTC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "CARGO_TARGET_DIR"] {
            cargo.env_remove(name);
        }
        let _ = cargo.output().expect("cargo runs");
        assert!(marker.exists(), "cargo runs nothing for {setting}");
        fs::remove_file(&marker).unwrap();
        let risk = read(&format!("cargo {}", words.join(" ")), &project).risk;
        assert_eq!(risk, Risk::Unknown, "{setting}");
    }
}

#[test]
fn what_the_real_python_imports_beside_a_command_is_never_called_read_only() {
    let place = tempfile::tempdir().unwrap();
    let marker = place.path().join("ran");
    let source = format!("open({:?}, 'w')\n", marker.display().to_string());
    let run = |directory: &Path, words: &[&str]| {
        let mut python = std::process::Command::new("python3");
        python.args(words).current_dir(directory).env_remove("PYTHONSAFEPATH");
        let _ = python.output().expect("python3 runs");
    };
    for (number, file) in
        ["json.py", "gettext.py", "_json.py", "json/__init__.py", "json.pyc"].iter().enumerate()
    {
        let directory = place.path().join(number.to_string());
        let path = directory.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if let Some(name) = file.strip_suffix(".pyc") {
            let code = format!("import py_compile; py_compile.compile('x.py', '{name}.pyc')");
            fs::write(directory.join("x.py"), &source).unwrap();
            run(&directory, &["-c", &code]);
        } else {
            fs::write(&path, &source).unwrap();
        }
        fs::write(directory.join("data"), "{}").unwrap();
        run(&directory, &["-m", "json.tool", "data"]);
        assert!(marker.exists(), "python imports no {file}");
        fs::remove_file(&marker).unwrap();
        assert_eq!(read("python3 -m json.tool data", &directory).risk, Risk::Unknown, "{file}");
    }
}

#[test]
fn a_script_is_judged_by_what_is_in_it_now() {
    let place = tempfile::tempdir().unwrap();
    let script = place.path().join("s.sh");
    for run in ["sh s.sh", "bash ./s.sh", "./s.sh", ". ./s.sh"] {
        fs::write(&script, "echo hello\n").unwrap();
        assert_eq!(read(run, place.path()).risk, Risk::Unknown, "{run}");
        fs::write(&script, "#!/bin/sh\nrm -rf /\n").unwrap();
        assert_eq!(read(run, place.path()).risk, Risk::Dangerous, "{run}");
        fs::write(&script, "#!/usr/bin/env python3\nrm -rf /\n").unwrap();
        assert_ne!(read(run, place.path()).risk, Risk::ReadOnly, "{run}");
    }
}

#[test]
fn a_program_that_the_project_brings_itself_is_not_the_one_that_is_known() {
    let cases = [
        ("yarn --version", ".yarnrc.yml", "yarnPath: x.cjs"),
        ("mvn --version", ".mvn/jvm.config", "-javaagent:x.jar"),
        ("bazel --version", "tools/bazel", ""),
        ("rustc --version", "rust-toolchain.toml", "[toolchain]\npath = 'x'"),
        ("terraform validate", ".terraform/providers/x", ""),
    ];
    for (command, file, text) in cases {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(read(command, place.path()).risk, Risk::ReadOnly, "{command}");
        let file = place.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        let reading = read(command, place.path());
        assert_eq!(reading.risk, Risk::Unknown, "{command}: {}", reading.reason);
    }
}

#[test]
fn a_toolchain_that_is_only_named_is_the_one_that_is_known() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("rust-toolchain.toml"), "[toolchain]\nchannel = '1.90'").unwrap();
    assert_eq!(read("rustc --version", place.path()).risk, Risk::ReadOnly);
}
