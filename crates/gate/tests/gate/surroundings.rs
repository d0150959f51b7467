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
    ] {
        fs::write(git.join("config"), helper).unwrap();
        let inside = place.path().join("deep");
        fs::create_dir_all(&inside).unwrap();
        let reading = read("git diff", &inside);
        assert_eq!(reading.risk, Risk::Unknown, "{helper}");
        assert!(reading.reason.contains("git repository"), "{}", reading.reason);
    }
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
