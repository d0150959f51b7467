//! What is judged beside the command itself: what it is given, what is typed, where it is, what it
//! stands for.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{person, project, text};
use crate::harness::Umbo;

/// `umbo call` in a project: what came of it. Nothing but the project is free to be changed.
fn call(umbo: &Umbo, project: &Path, mode: &str, tool: &str, arguments: &Value) -> Value {
    let words = ["call", "--mode", mode, tool, &arguments.to_string()];
    let call = umbo.call(words).env("UMBO_RUN", "run").env("TMPDIR", umbo.path().join("tmp"));
    serde_json::from_slice(&call.current_dir(project).answer().stdout).unwrap()
}

fn exec(umbo: &Umbo, project: &Path, arguments: &Value) -> Value {
    call(umbo, project, "guard", "exec", arguments)
}

/// Why it did not run; empty if it did.
fn refusal(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or_default()
}

const ASKED: &str = "approval_required";

/// A project with something to lose.
fn with_something(umbo: &Umbo) -> (PathBuf, PathBuf) {
    let project = project(umbo);
    let kept = project.join("kept");
    fs::create_dir(&kept).unwrap();
    (project, kept)
}

fn approve(umbo: &Umbo, project: &Path, asked: &Value) -> String {
    let id = asked["error"]["id"].as_str().unwrap();
    let approved = person(umbo, project, &["approve", id], "y\n");
    assert!(approved.status.success(), "{approved:?}");
    text(&approved.stderr)
}

#[test]
fn what_a_shell_is_fed_is_judged_shown_and_what_an_approval_is_for() {
    let umbo = Umbo::new();
    let (project, kept) = with_something(&umbo);
    let fed = |text: &str| exec(&umbo, &project, &json!({"command": "sh", "stdin": text}));
    for text in ["rm -rf kept", "r\\\nm -rf kept", "r\0m -rf kept", "sh <<E\nrm -rf $PWD/kept\nE"] {
        assert_eq!(refusal(&fed(text)), ASKED, "{text:?}");
    }
    let shown = approve(&umbo, &project, &fed("rm -rf kept"));
    assert!(shown.contains("runs what it is given") && shown.contains("rm -rf kept"), "{shown}");
    assert_eq!(refusal(&fed("rm -rf kept more")), ASKED, "it was approved for other input");
    let elsewhere = json!({"command": "sh", "stdin": "rm -rf kept", "cwd": "kept"});
    assert_eq!(refusal(&exec(&umbo, &project, &elsewhere)), ASKED, "and in another place");
    let set = json!({"command": "sh", "stdin": "rm -rf kept", "env": {"A": "b"}});
    assert_eq!(refusal(&exec(&umbo, &project, &set)), ASKED, "and with other variables");
    assert!(kept.exists());
    assert_eq!(fed("rm -rf kept")["exit_code"], 0);
    assert!(!kept.exists());
    assert_eq!(refusal(&fed("rm -rf kept")), ASKED, "once is once");
    assert_eq!(fed("echo fed")["output"], "fed\n");
    let data = json!({"command": "cat > notes", "stdin": "rm -rf kept"});
    assert_eq!(exec(&umbo, &project, &data)["exit_code"], 0, "what is not run is no command");
}

#[test]
fn one_approval_is_used_by_one_of_many_who_come_at_once() {
    let umbo = Umbo::new();
    let (project, kept) = with_something(&umbo);
    let remove = json!({"command": "rmdir kept && rm -rf kept"});
    approve(&umbo, &project, &exec(&umbo, &project, &remove));
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let come = || scope.spawn(|| exec(&umbo, &project, &remove));
        let all: Vec<_> = (0..6).map(|_| come()).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let ran = answers.iter().filter(|answer| refusal(answer).is_empty()).count();
    assert_eq!(ran, 1, "{answers:?}");
    assert!(!kept.exists());
}

#[test]
fn a_line_is_judged_whole_however_it_is_typed_and_whoever_types() {
    let umbo = Umbo::new();
    let (project, kept) = with_something(&umbo);
    let count = std::cell::Cell::new(0);
    let begin = || {
        count.set(count.get() + 1);
        let name = format!("sh{}", count.get());
        let shell = json!({"command": "sh", "pty": true, "background": true, "name": name});
        assert_eq!(exec(&umbo, &project, &shell)["state"], "started");
        name
    };
    // Each of these is a caller of its own.
    let typed = |job: &str, text: &str| {
        let arguments = json!({"job": job, "text": text});
        refusal(&call(&umbo, &project, "guard", "input", &arguments)).to_owned()
    };
    for (pieces, last) in [
        (vec!["r"], "m -rf kept\n"),
        (vec!["rm \\\n"], "-rf kept\n"),
        (vec!["m -rf kept", "\u{1}"], "r\n"),
        (vec!["#rm -rf kept", "\u{1b}[H"], "\u{1b}[3~\n"),
        (vec!["\u{1b}"], "[200~rm -rf kept\u{1b}[201~\n"),
        (vec![], "\u{1b}[114u\u{1b}[109u -rf kept\n"),
        (vec![], "\u{1b}[0;rm -rf kept\n"),
    ] {
        let job = begin();
        for piece in &pieces {
            assert_eq!(typed(&job, piece), "", "{piece:?}");
        }
        assert_eq!(typed(&job, last), ASKED, "{pieces:?} {last:?}");
    }
    let fed =
        json!({"command": "sh", "pty": true, "background": true, "name": "fed", "stdin": "r"});
    assert_eq!(exec(&umbo, &project, &fed)["state"], "started");
    assert_eq!(typed("fed", "m -rf kept\n"), ASKED, "after what it was given");
    let job = begin();
    for text in ["echo hi\n", "y\n", "don't\n", "'\u{1b}[B\u{1b}[B\r", "ihello\u{1b}:wq\r"] {
        assert_eq!(typed(&job, text), "", "{text:?}");
    }
    assert!(kept.exists());
}

#[test]
fn an_approval_to_type_is_for_that_line_into_that_job() {
    let umbo = Umbo::new();
    let (project, kept) = with_something(&umbo);
    let shell = json!({"command": "sh", "pty": true, "background": true, "name": "one"});
    let job = exec(&umbo, &project, &shell)["job"].as_str().unwrap().to_owned();
    let other = json!({"command": "sh", "pty": true, "background": true, "name": "two"});
    exec(&umbo, &project, &other);
    let typed = |job: &str, text: &str| {
        call(&umbo, &project, "guard", "input", &json!({"job": job, "text": text}))
    };
    let shown = approve(&umbo, &project, &typed("one", "rm -rf kept; exit\n"));
    assert!(shown.contains("typed to") && shown.contains(&job), "{shown}");
    assert_eq!(refusal(&typed("two", "rm -rf kept; exit\n")), ASKED);
    assert_eq!(refusal(&typed("one", "rm -rf kept more; exit\n")), ASKED);
    assert!(kept.exists());
    assert_eq!(refusal(&typed("one", "rm -rf kept; exit\n")), "");
    umbo.outcome(&job);
    assert!(!kept.exists());
}

#[test]
fn variables_that_a_call_sets_hide_no_command_and_are_named_to_the_person() {
    let umbo = Umbo::new();
    let (project, kept) = with_something(&umbo);
    for command in ["$WHAT", "eval \"$WHAT\"", "sh -c \"$WHAT\"", "bash -c '$WHAT'"] {
        let set = json!({"command": command, "env": {"WHAT": "rm -rf kept"}});
        assert_eq!(refusal(&exec(&umbo, &project, &set)), ASKED, "{command}");
    }
    let argv = json!({"argv": ["sh", "-c", "$WHAT"], "env": {"WHAT": "rm -rf kept"}});
    let asked = exec(&umbo, &project, &argv);
    let shown = approve(&umbo, &project, &asked);
    assert!(shown.contains("setting   WHAT"), "{shown}");
    assert!(kept.exists());
    let root = json!({"command": "rm -rf \"$D\" --help", "env": {"D": "/"}});
    assert_eq!(refusal(&call(&umbo, &project, "open", "exec", &root)), "denied");
    let harmless = json!({"command": "echo \"$WHAT\"", "env": {"WHAT": "rm -rf kept"}});
    assert_eq!(exec(&umbo, &project, &harmless)["exit_code"], 0);
}

#[test]
fn what_is_planted_loosens_nothing_wherever_it_is() {
    let umbo = Umbo::new();
    let outer = umbo.path().join("work");
    let project = outer.join("project");
    fs::create_dir_all(project.join("sub")).unwrap();
    let touch = |file: &str, cwd: &str| {
        let arguments = json!({"command": format!("touch {file}"), "cwd": cwd});
        refusal(&call(&umbo, &project, "default", "exec", &arguments)).to_owned()
    };
    assert_eq!(touch("x", "."), ASKED);
    for place in [&outer, &project, &project.join("sub")] {
        fs::create_dir(place.join(".umbo")).unwrap();
        let rules = "[[rule]]\ndecision = 'allow'\nreason = 'x'\nargv = ['touch']\n";
        fs::write(place.join(".umbo/rules.toml"), rules).unwrap();
        fs::write(place.join(".umbo/config.toml"), "[tools]\nmode = 'open'\n").unwrap();
    }
    assert_eq!((touch("x", "."), touch("x", "sub")), (ASKED.into(), ASKED.into()));
    let deny = "[[rule]]\ndecision = 'deny'\nreason = 'no'\nargv = ['touch']\n";
    fs::write(outer.join(".umbo/rules.toml"), deny).unwrap();
    assert_eq!(touch("x", "sub"), "denied", "what tightens counts, also from above");
}

#[test]
fn a_project_is_not_made_wider_from_inside() {
    let umbo = Umbo::new();
    let project = umbo.path().join("work/project");
    fs::create_dir_all(&project).unwrap();
    for command in [
        "touch ../x",
        "git init ..",
        "git -C .. init",
        "cd .. && git init",
        "git clone url ../y",
        "mkdir ../.umbo",
        "echo > $PWD/../x",
        "find .. -name x -exec touch {} +",
        "D=~; cp a $D/x",
        "cp a $OUTSIDE/x",
    ] {
        let set = json!({"command": command, "env": {"OUTSIDE": umbo.path()}});
        assert_eq!(refusal(&exec(&umbo, &project, &set)), ASKED, "{command}");
    }
    for command in ["cd ..", "touch y"] {
        let session = json!({"command": command, "session": "s"});
        let said = exec(&umbo, &project, &session);
        let expected = if command == "cd .." { "" } else { ASKED };
        assert_eq!(refusal(&said), expected, "{command}: a session is where it was left");
    }
    assert_eq!(fs::read_dir(umbo.path().join("work")).unwrap().count(), 1);
}

#[test]
fn umbos_own_files_are_out_of_reach_by_any_name() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    let config = umbo.path().join("home/.config/umbo");
    fs::create_dir_all(&config).unwrap();
    for command in [
        "echo x >> $UMBO_STATE_DIR/audit",
        "truncate -s 0 \"${UMBO_STATE_DIR}/audit\"",
        "d=~/.config; cp a $d/umbo/rules.toml",
        "perl -pi -e s/a/b/ ~/.config/umbo/rules.toml",
        "cat ~/.config/umbo/*",
        "cat ~/.config/*/key",
    ] {
        let said = call(&umbo, &project, "open", "exec", &json!({"command": command}));
        assert_eq!(refusal(&said), "denied", "{command}: {said}");
    }
    let own = json!({"command": "echo mine"});
    let job = call(&umbo, &project, "open", "exec", &own)["job"].as_str().unwrap().to_owned();
    let output = umbo.state().join("jobs").join(job).join("output");
    let read =
        format!("cat {0} && python3 -c 'import sys; open(sys.argv[1])' {0}", output.display());
    let said = call(&umbo, &project, "guard", "exec", &json!({"command": read}));
    assert_eq!(said["exit_code"], 0, "what a job wrote is there to be read: {said}");
}

#[test]
fn a_task_is_judged_by_what_it_runs_and_approved_for_that() {
    let umbo = Umbo::new();
    let (project, kept) = with_something(&umbo);
    let makefile = project.join("Makefile");
    let rules = ".PHONY: wipe all look root\nwipe:\n\t@rm -rf kept\nall: look wipe\nlook:\n\t@echo looked\nroot:\n\t-rm -rf /\n";
    fs::write(&makefile, rules).unwrap();
    fs::write(project.join("package.json"), r#"{"scripts": {"bad": "rm -rf /"}}"#).unwrap();
    let run = |mode: &str, op: &str| call(&umbo, &project, mode, "recipe", &json!({"op": op}));
    assert_eq!(run("guard", "make:look")["output"], "looked\n");
    for task in ["make:wipe", "make:all"] {
        let asked = run("guard", task);
        assert_eq!(refusal(&asked), ASKED, "{asked}");
        assert!(asked.to_string().contains("The task runs `rm -rf kept`"), "{asked}");
    }
    for task in ["make:root", "npm:bad"] {
        assert_eq!(refusal(&run("open", task)), "denied", "{task}");
    }
    approve(&umbo, &project, &run("guard", "make:wipe"));
    fs::write(&makefile, rules.replace("rm -rf kept", "rm -rf kept .umbo")).unwrap();
    assert_eq!(refusal(&run("guard", "make:wipe")), ASKED, "it is another task now");
    fs::write(&makefile, rules).unwrap();
    assert_eq!(run("guard", "make:wipe")["exit_code"], 0);
    assert!(!kept.exists());
    let denied = umbo.call(["run", "npm:bad"]).current_dir(&project).answer();
    assert_eq!(denied.status, 125, "a deny rule holds for a person too");
}

#[test]
fn everyday_work_is_not_asked_about_in_guard() {
    let umbo = Umbo::new();
    let project = project(&umbo);
    fs::create_dir(project.join("src")).unwrap();
    fs::write(project.join("src/a"), "one\n").unwrap();
    for command in [
        "git init -q . && git add -A && git status --short",
        "sed -i s/one/two/ src/a",
        "cat > src/b <<'E'\nrm -rf $HOME\nE",
        "cat > src/c <<E\nit is $(date) and \\$5\nE",
        "python3 -c 'print(1)'",
        "python3 - <<E\nprint('$HOME')\nE",
        "bash <<E\necho $HOME\nE",
        "mkdir -p out && cp src/a out/ && mv out/a out/b && rm out/b",
        "for f in src/*; do echo \"$f\"; done > list",
        "find . -name '*.x' -exec touch {} +",
        "echo x > $TMPDIR/x && rm $TMPDIR/x",
        "d=src; echo x > $d/e; cp src/a $d/f",
        "cd src && touch g && cd - && ls",
        "echo a \\\n  b",
        "X=1 env Y=2 printenv Y",
    ] {
        let said = exec(&umbo, &project, &json!({"command": command, "env": {"CI": "1"}}));
        assert_eq!(refusal(&said), "", "{command}: {said}");
    }
    for command in [
        "cargo test --workspace",
        "npm install",
        "npm run build",
        "make -j4",
        "pip install -r requirements.txt",
        "git commit -am x && git push origin main",
        "docker compose up -d",
        "pytest -q tests",
        "git clone https://example.org/x vendor/x",
    ] {
        let words = ["rules", "explain", "--json", "--mode", "guard", command];
        let said = umbo.call(words).current_dir(&project).json();
        assert_eq!(said["verdict"], "allow", "{command}: {said}");
    }
}
