//! Shells: each one's own grammar, the environment of nobody at the keyboard, and words without a
//! shell.

use std::path::PathBuf;

use crate::harness::{Call, Umbo};

/// `PATH` with the shells that `cargo xtask setup` installs.
pub(crate) fn path() -> std::ffi::OsString {
    let mut places: Vec<PathBuf> =
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    if let Some(tools) = std::env::var_os("UMBO_TEST_TOOLS") {
        let modules = PathBuf::from(tools).join("node_modules/@nushell");
        let packages = std::fs::read_dir(modules).into_iter().flatten().flatten();
        places.extend(packages.map(|package| package.path().join("bin")));
    }
    std::env::join_paths(places).unwrap()
}

/// A missing shell fails the test: a promise that was not tried is not kept.
fn shell<'a>(umbo: &'a Umbo, name: &str, line: &str) -> Call<'a> {
    let program = name.split('|').next().unwrap();
    let found = std::env::split_paths(&path()).any(|place| place.join(program).is_file());
    assert!(found, "{program} is not installed; run `cargo xtask setup`");
    umbo.call(["exec", "--shell", name, line]).env("PATH", path())
}

#[test]
fn sh_runs_its_own_grammar() {
    let umbo = Umbo::new();
    shell(&umbo, "sh", "a=x; echo ${a}y; exit 3").stdout("xy\n").status(3).run();
}

#[test]
fn bash_runs_its_own_grammar() {
    let umbo = Umbo::new();
    shell(&umbo, "bash", "a=(x y); echo ${a[1]} ${BASH_VERSION:+bash}; exit 3")
        .stdout("y bash\n")
        .status(3)
        .run();
}

#[test]
fn zsh_runs_its_own_grammar() {
    let umbo = Umbo::new();
    shell(&umbo, "zsh", "a=(x y); echo $a[1] ${ZSH_VERSION:+zsh}; exit 3")
        .stdout("x zsh\n")
        .status(3)
        .run();
}

#[test]
fn fish_runs_its_own_grammar() {
    let umbo = Umbo::new();
    shell(&umbo, "fish", "set a x y; echo $a[2]; echo err >&2; exit 3")
        .stdout("y\n")
        .stderr("err\n")
        .status(3)
        .run();
}

#[test]
fn nu_runs_its_own_grammar() {
    let umbo = Umbo::new();
    shell(&umbo, "nu", "[1 2 3] | math sum | print; exit 3").stdout("6\n").status(3).run();
}

#[test]
fn nu_reads_the_lines_of_meerkat_unless_told_otherwise() {
    let umbo = Umbo::new();
    let call = |with: &str| {
        let words = ["call", "--dialect", "meerkat", "shell", with];
        umbo.call(words).env("PATH", path()).env("UMBO_TOOLS_SHELL_ENABLED", "true")
    };
    let summed = call(r#"{"command": "print -e no; [1 2 3] | math sum"}"#).json();
    assert_eq!((&summed["stdout"], &summed["stderr"]), (&"6\n".into(), &"no\n".into()));
    for line in ["echo x > /dev/sda", "'x' | save -f /dev/sda", "dd if=x of=y", "rm -rf /"] {
        let with = serde_json::json!({"command": line}).to_string();
        assert_eq!(call(&with).status(1).json()["error"], "blocked_command", "{line}");
    }
}

#[test]
fn nu_falls_back_to_sh_only_when_it_may() {
    let umbo = Umbo::new();
    shell(&umbo, "nu|sh", "[1 2] | math sum | print").stdout("3\n").run();
    let bare = |shell: &str, line: &str| {
        umbo.call(["exec", "--shell", shell, line]).env("PATH", "/usr/bin:/bin")
    };
    bare("nu|sh", "echo ${NU_VERSION:-sh}").stdout("sh\n").run();
    let said = bare("nu", "1").refused();
    assert!(said.contains("nu is not installed") && said.contains("nushell@0.115.1"), "{said}");
}

#[test]
fn a_missing_shell_is_named_with_how_to_get_it() {
    let umbo = Umbo::new();
    for name in ["zsh", "fish", "nu"] {
        let said = umbo.call(["exec", "--shell", name, "true"]).env("PATH", "/nowhere").refused();
        assert!(said.contains(&format!("{name} is not installed; install")), "{said}");
    }
    assert!(umbo.jobs().is_empty());
}

#[test]
fn a_shell_by_its_path_works() {
    let umbo = Umbo::new();
    umbo.call(["exec", "--shell", "/bin/bash", "echo ${BASH##*/}"]).stdout("bash\n").run();
}

#[test]
fn a_login_shell_reads_the_login_files_and_others_do_not() {
    let umbo = Umbo::new();
    std::fs::write(umbo.path().join("home/.profile"), "LOGIN=read\n").unwrap();
    std::fs::write(umbo.path().join("home/.bash_profile"), "LOGIN=read\n").unwrap();
    for name in ["sh", "bash"] {
        let line = "echo \"[$LOGIN]\"";
        umbo.call(["exec", "--shell", name, "--login", line]).stdout("[read]\n").run();
        umbo.call(["exec", "--shell", name, line]).stdout("[]\n").run();
    }
}

#[test]
fn pwd_is_the_resolved_directory_in_every_shell() {
    let umbo = Umbo::new();
    let real = umbo.path().join("real");
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, umbo.path().join("link")).unwrap();
    let real = std::fs::canonicalize(real).unwrap();
    for (name, line) in [
        ("sh", "echo $PWD"),
        ("bash", "pwd"),
        ("zsh", "pwd"),
        ("fish", "pwd"),
        ("nu", "print $env.PWD"),
    ] {
        shell(&umbo, name, line)
            .current_dir(&umbo.path().join("link"))
            .env("PWD", "/a/lie")
            .stdout(format!("{}\n", real.display()))
            .run();
    }
}

#[test]
fn nobody_is_at_the_keyboard() {
    let umbo = Umbo::new();
    let line = "echo $PAGER $GIT_PAGER $EDITOR $GIT_TERMINAL_PROMPT $DEBIAN_FRONTEND $CI";
    let expected = "more cat true 0 noninteractive no\n";
    let call = |options: &[&str]| {
        umbo.call([&["exec"], options, &[line]].concat()).env("PAGER", "more").env("CI", "no")
    };
    // Defaults: what the caller exported stays.
    call(&[]).stdout(expected).run();
    call(&["--env", "PAGER=mine"]).stdout("mine cat true 0 noninteractive no\n").run();
    let bare = umbo.exec(line).without_env("CI").env("EDITOR", "ed").answer().text();
    assert_eq!(bare, "cat cat ed 0 noninteractive 1\n", "what is exported is left alone");
    let attended = call(&["--attended"]).answer().text();
    assert!(attended.starts_with("more "), "{attended}");
}

#[test]
fn every_process_of_a_job_carries_its_tag() {
    let umbo = Umbo::new();
    let answer = umbo.exec_json(&[], "sh -c 'echo $UMBO_JOB'");
    assert_eq!(answer["stdout"].as_str().unwrap().trim(), answer["job"]);
    // A tag that was inherited is not believed.
    let answer = umbo.exec_json(&["--env", "UMBO_JOB=forged"], "echo $UMBO_JOB");
    assert_eq!(answer["stdout"].as_str().unwrap().trim(), answer["job"]);
}

#[test]
fn signals_are_as_in_a_fresh_login() {
    let umbo = Umbo::new();
    // The caller ignores two; the command ignores none, and blocks none.
    let line = format!(
        "trap '' PIPE INT; {} exec \"grep -E 'Sig(Ign|Blk)' /proc/self/status\"",
        crate::harness::UMBO
    );
    let text = umbo.exec(&line).answer().text();
    let masks: Vec<u64> = text
        .lines()
        .filter_map(|line| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok())
        .collect();
    // The two above 31 are the C library's own; nobody can set them through it.
    let standard: Vec<u64> = masks.iter().map(|mask| mask & 0x7fff_ffff).collect();
    assert_eq!(standard, [0, 0], "{text}");
}
