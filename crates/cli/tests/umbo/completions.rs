//! Completions, asked for by the real shells.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::harness::{UMBO, Umbo};
use crate::shells;

/// What a shell offers after the words `umbo WORDS`, in a directory.
fn offered(umbo: &Umbo, shell: &str, directory: &Path, words: &[&str]) -> String {
    let script = umbo.path().join(format!("completions.{shell}"));
    fs::write(&script, umbo.call(["completions", shell]).answer().text()).unwrap();
    let script = script.display();
    let last = words.last().unwrap();
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let (quoted, count) = (quoted.join(" "), words.len());
    let line = match shell {
        "bash" => format!(
            "source {script}; COMP_WORDS=(umbo {quoted}); COMP_CWORD={count}; COMP_TYPE=9; \
             _clap_complete_umbo umbo '{last}'; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        ),
        // What completion's own functions would show is printed.
        "zsh" => format!(
            "compdef() {{ :; }}; _describe() {{ local name=$@[-1]; print -rl -- ${{(P)name}}; }}; source {script}; \
             words=(umbo {quoted}); CURRENT={}; _clap_dynamic_completer_umbo",
            count + 1
        ),
        "fish" => format!("source {script}; complete -C 'umbo {}'", words.join(" ")),
        _ => format!(
            "source {script}; do $env.config.completions.external.completer [umbo {quoted}] | \
             get value | str join (char newline) | print"
        ),
    };
    let bin = Path::new(UMBO).parent().unwrap();
    let mut path = OsString::from(bin);
    path.push(":");
    path.push(shells::path());
    let mut command = Command::new("env");
    let output = command
        .env("PATH", path)
        .env("UMBO_STATE_DIR", umbo.state())
        .env("HOME", umbo.path())
        .args([shell, "-c", &line])
        .current_dir(directory)
        .output()
        .unwrap_or_else(|error| panic!("{shell}: {error}; run `cargo xtask setup`"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shell}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

const SHELLS: [&str; 4] = ["bash", "zsh", "fish", "nu"];

#[test]
fn every_shell_knows_verbs_jobs_and_their_names() {
    let umbo = Umbo::new();
    let running = umbo.start_with(&["--name", "web"], &umbo.nap());
    let ended = umbo.start_with(&["--name", "over"], "true");
    umbo.call(["wait", &ended]).answer();
    for shell in SHELLS {
        let verbs = offered(&umbo, shell, umbo.path(), &["st"]);
        assert!(verbs.contains("start") && verbs.contains("stop"), "{shell}: {verbs}");
        let jobs = offered(&umbo, shell, umbo.path(), &["stop", ""]);
        assert!(jobs.contains("web") && jobs.contains(&running), "{shell}: {jobs}");
        assert!(!jobs.contains(&ended), "{shell}: what is over cannot be stopped: {jobs}");
        let jobs = offered(&umbo, shell, umbo.path(), &["output", "ov"]);
        assert!(jobs.contains("over"), "{shell}: {jobs}");
        let options = offered(&umbo, shell, umbo.path(), &["exec", "--time"]);
        assert!(options.contains("--timeout"), "{shell}: {options}");
    }
    umbo.stop(&running, &["--kill"]);
}

#[test]
fn every_shell_knows_the_tasks_of_the_project_and_runs_none_of_their_names() {
    let (umbo, folder) = (Umbo::new(), tempfile::tempdir().unwrap());
    let scripts = r#"{"scripts": {"greet": "echo hi", "$(touch ran)": "true", "*": "true"}}"#;
    fs::write(folder.path().join("package.json"), scripts).unwrap();
    for shell in SHELLS {
        let tasks = offered(&umbo, shell, folder.path(), &["run", ""]);
        assert!(tasks.contains("greet"), "{shell}: {tasks}");
        assert!(!tasks.contains("touch") && !tasks.contains("package.json"), "{shell}: {tasks}");
    }
    assert!(!folder.path().join("ran").exists());
}

#[test]
fn settings_dialects_and_clients_are_offered() {
    let umbo = Umbo::new();
    let keys = offered(&umbo, "bash", umbo.path(), &["config", "set", "tools."]);
    assert!(keys.contains("tools.dialect"), "{keys}");
    let dialects = offered(&umbo, "bash", umbo.path(), &["mcp", "--dialect", ""]);
    assert!(dialects.contains("meerkat"), "{dialects}");
    let clients = offered(&umbo, "bash", umbo.path(), &["install", "c"]);
    assert!(clients.contains("codex"), "{clients}");
}
