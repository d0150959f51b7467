//! `umbo recipes` and `umbo run`: the tasks of a project, whatever runs them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use umbo_tools::{Overlap, Toolset};

use crate::harness::{UMBO, Umbo};

/// A folder with a Makefile: `make` is on every machine that builds this.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let makefile = "greet: ## Say hello\n\t@echo hello $(WHO)\n\
                    where:\n\t@pwd\n\
                    fail:\n\t@exit 3\n\
                    wipe:\n\trm -rf ./out\n\
                    wait:\n\t@echo ready; sleep 600\n";
    fs::write(folder.path().join("Makefile"), makefile).unwrap();
    folder
}

fn real(path: &Path) -> String {
    fs::canonicalize(path).unwrap().display().to_string()
}

#[test]
fn tasks_are_listed_with_what_they_do_and_how_they_last_ended() {
    let (umbo, folder) = (Umbo::new(), project());
    let list = || umbo.call(["recipes", "--json"]).current_dir(folder.path()).json();
    let task = |name: &str| {
        let listed = list();
        let tasks = listed["tasks"].as_array().unwrap().clone();
        tasks.into_iter().find(|task| task["name"] == name).unwrap()
    };
    assert_eq!(
        (&task("greet")["runner"], &task("greet")["doc"]),
        (&json!("make"), &json!("Say hello"))
    );
    assert_eq!(task("wipe")["risk"], "dangerous");
    assert_eq!(task("where")["risk"], "read_only");
    assert_eq!(task("where")["last_state"], json!(null));
    umbo.call(["run", "where"])
        .current_dir(folder.path())
        .stdout(format!("{}\n", real(folder.path())))
        .run();
    assert_eq!(
        (&task("where")["last_state"], &task("where")["last_exit_code"]),
        (&json!("exited"), &json!(0))
    );
    let table = umbo.call(["recipes"]).current_dir(folder.path()).answer().text();
    assert!(table.contains("greet  make") && table.contains("Say hello"), "{table}");
}

#[test]
fn a_task_is_a_job_with_its_own_exit_code_and_arguments() {
    let (umbo, folder) = (Umbo::new(), project());
    umbo.call(["run", "greet", "WHO=you"]).current_dir(folder.path()).stdout("hello you\n").run();
    let failed = umbo.call(["run", "fail"]).current_dir(folder.path()).status(2).answer();
    assert!(failed.said().contains("Error 3"), "{}", failed.said());
    let plan = umbo.call(["run", "--dry-run", "wipe", "--", "--json"]).current_dir(folder.path());
    // What follows the dashes is the task's.
    assert!(plan.answer().text().ends_with("make wipe --json\n"));
    assert_eq!(umbo.jobs().len(), 2);
}

#[test]
fn a_server_starts_in_the_background_and_is_waited_for_until_it_is_ready() {
    let (umbo, folder) = (Umbo::new(), project());
    let started =
        umbo.call(["run", "--background", "--ready", "rea.y", "wait"]).current_dir(folder.path());
    let job = started.answer().text().trim().to_owned();
    assert_eq!(umbo.listed(&job)["name"], "make:wait");
    umbo.stop(&job, &["--kill"]);
    let never = umbo.call(["run", "--background", "--ready", "rea.y", "where"]);
    let said = never.current_dir(folder.path()).status(125).answer();
    assert!(said.said().contains("before it was ready"), "{}", said.said());
}

#[test]
fn a_task_is_found_from_a_folder_below_and_an_unknown_one_gets_the_nearest() {
    let (umbo, folder) = (Umbo::new(), project());
    let below = folder.path().join("deep/er");
    fs::create_dir_all(&below).unwrap();
    umbo.call(["run", "greet", "WHO=me"]).current_dir(&below).stdout("hello me\n").run();
    let wrong = umbo.call(["run", "gret"]).current_dir(&below).status(125).answer();
    assert!(wrong.said().contains("`greet`") && wrong.said().contains("wipe"), "{}", wrong.said());
    let none = umbo.call(["run"]).current_dir(&below).status(125).answer();
    assert!(none.said().contains("umbo recipes"), "{}", none.said());
}

#[test]
fn the_names_of_the_tasks_can_be_listed_for_programs() {
    let (umbo, folder) = (Umbo::new(), project());
    let names = umbo.call(["recipes", "--names"]).current_dir(folder.path()).answer().text();
    assert_eq!(names, "greet\nwhere\nfail\nwipe\nwait\n");
}

#[test]
fn looking_at_a_makefile_runs_nothing_of_it_and_its_own_commands_count() {
    let (umbo, folder) = (Umbo::new(), tempfile::tempdir().unwrap());
    let makefile = "V := $(shell touch ran)\nx-$(shell touch ran phantom):\n\techo\nlook:\n\tls\n";
    fs::write(folder.path().join("Makefile"), makefile).unwrap();
    let listed = umbo.call(["recipes", "--all", "--json"]).current_dir(folder.path()).json();
    let names: Vec<&Value> =
        listed["tasks"].as_array().unwrap().iter().map(|task| &task["name"]).collect();
    assert_eq!(names, ["look"], "words of a function are no targets");
    assert_eq!(listed["tasks"][0]["risk"], "unknown");
    umbo.call(["run", "--dry-run", "look"]).current_dir(folder.path()).answer().expect_status(0);
    assert!(!folder.path().join("ran").exists());
    // Make itself runs them even if it is only asked what it would do.
    let mut make = std::process::Command::new("make");
    let asked = make.args(["-n", "look"]).current_dir(folder.path()).output().unwrap();
    assert!(asked.status.success());
    assert!(folder.path().join("ran").exists());
}

#[test]
fn a_list_in_json_has_all_there_is_to_know_of_a_task() {
    let (umbo, folder) = (Umbo::new(), tempfile::tempdir().unwrap());
    let justfile = "# Say it\nsay word='hi' *more:\n    echo {{word}}\n";
    fs::write(folder.path().join("justfile"), justfile).unwrap();
    let listed = umbo.call(["recipes", "--json"]).current_dir(folder.path()).json();
    let expected = json!({
        "name": "say", "runner": "just", "command": "just say", "doc": "Say it",
        "directory": real(folder.path()), "risk": "unknown", "parameters": ["[word=hi]", "[more…]"],
        "source": "justfile:2", "long_lived": false, "timeout_seconds": 300,
        "last_state": null, "last_exit_code": null, "last_duration_ms": null,
    });
    assert_eq!(listed["tasks"], json!([expected]));
    assert_eq!(listed["runners"][0]["id"], "just");
}

#[test]
fn a_task_has_limits_like_any_command() {
    let (umbo, folder) = (Umbo::new(), project());
    let mut makefile = fs::read_to_string(folder.path().join("Makefile")).unwrap();
    makefile.push_str("flood:\n\t@yes\n");
    fs::write(folder.path().join("Makefile"), makefile).unwrap();
    let run = |options: &[&str], task: &str| {
        let words = [&["run", "--json"], options, &[task]].concat();
        umbo.call(words).current_dir(folder.path()).answer()
    };
    let told = |answer: crate::harness::Answer| -> Value {
        serde_json::from_slice(&answer.stdout).unwrap()
    };
    let slow = told(run(&["--timeout", "0.2"], "wait"));
    assert_eq!((&slow["state"], &slow["limit"]), (&json!("timed_out"), &json!("wall")));
    let silent = told(run(&["--idle-timeout", "0.2"], "wait"));
    assert_eq!((&silent["state"], &silent["limit"]), (&json!("timed_out"), &json!("idle")));
    let loud = told(run(&["--max-output", "64k", "--on-max-output", "stop"], "flood"));
    assert_eq!(loud["limit"], "output", "{loud}");
    assert!(run(&["--memory", "much"], "where").text().contains("memory"));
}

#[test]
fn a_runner_that_is_not_installed_says_how_to_get_it() {
    let (umbo, folder) = (Umbo::new(), tempfile::tempdir().unwrap());
    fs::write(folder.path().join("justfile"), "a:\n    echo a\n").unwrap();
    let said = umbo.call(["run", "a"]).env("PATH", "/nowhere").current_dir(folder.path());
    let said = said.status(125).answer().said();
    assert!(said.contains("just needs just") && said.contains("cargo install just"), "{said}");
    assert!(umbo.jobs().is_empty());
}

/// A person at a terminal in a folder, who runs `umbo run`; the id of the job that is the terminal.
fn sit_down(person: &Umbo, umbo: &Umbo, folder: &Path) -> String {
    let state = format!("UMBO_STATE_DIR={}", umbo.state().display());
    let options = ["--pty", "--size", "60x20", "--attended", "--env", &state];
    person.start_with(&options, &format!("cd '{}' && '{UMBO}' run", folder.display()))
}

#[test]
fn alone_it_lets_a_person_pick_by_some_letters() {
    let (person, umbo, folder) = (Umbo::new(), Umbo::new(), project());
    let seat = sit_down(&person, &umbo, folder.path());
    person.wait_for(&seat, "5 of 5");
    person.wait(&seat, &["--quiet", "0.2"]);
    let screen = || person.call(["screen", &seat]).answer().text();
    let shown = screen();
    assert!(shown.starts_with("task>\n> make:greet  Say hello\n  make:where  pwd\n"), "{shown}");
    person.call(["input", &seat, "hre"]).run();
    person.wait_for(&seat, "1 of 5");
    person.wait(&seat, &["--quiet", "0.2"]);
    let shown = screen();
    assert!(shown.starts_with("task> hre\n> make:where  pwd\n  1 of 5"), "{shown}");
    person.call(["input", &seat, "--key", "enter"]).run();
    assert_eq!(person.outcome(&seat)["code"], 0);
    let shown = screen();
    assert_eq!(shown.trim_end(), format!("umbo run make:where\n{}", real(folder.path())));
}

#[test]
fn a_person_moves_with_the_arrows_and_leaves_with_escape() {
    let (person, umbo, folder) = (Umbo::new(), Umbo::new(), project());
    let seat = sit_down(&person, &umbo, folder.path());
    person.wait_for(&seat, "5 of 5");
    person.call(["input", &seat, "--key", "down", "--key", "down", "--key", "up"]).run();
    person.wait_for(&seat, "> make:where");
    person.call(["input", &seat, "--key", "enter"]).run();
    assert_eq!(person.outcome(&seat)["code"], 0);
    assert_eq!(umbo.jobs()[0]["name"], "make:where");
    let seat = sit_down(&person, &umbo, folder.path());
    person.wait_for(&seat, "5 of 5");
    person.call(["input", &seat, "--key", "escape"]).run();
    assert_eq!(person.outcome(&seat)["code"], 125);
    assert_eq!(umbo.jobs().len(), 1, "nothing was run");
}

#[test]
fn a_rule_about_a_recipe_holds_however_the_recipe_is_asked_for() {
    let (umbo, folder) = (Umbo::new(), tempfile::tempdir().unwrap());
    fs::write(folder.path().join("Makefile"), "deploy:\n\ttouch ran\n").unwrap();
    let config = umbo.path().join("config");
    fs::create_dir_all(&config).unwrap();
    let rule = "[[rule]]\nname = \"no-deploy\"\ndecision = \"deny\"\nreason = \"ask ops\"\nrecipe = \"deploy*\"\n";
    fs::write(config.join("rules.toml"), rule).unwrap();
    let call = |words: &[&str]| {
        umbo.call(words.iter().copied()).env("UMBO_CONFIG_DIR", &config).current_dir(folder.path())
    };
    let op = r#"{"op": "deploy"}"#;
    for words in [
        &["call", "recipe", op][..],
        &["call", "--dialect", "omp", "recipe", op],
        &["call", "--dialect", "recipe", "project.recipe", op],
    ] {
        let answer = call(words).status(1).answer();
        assert!(answer.text().contains("ask ops"), "{words:?}: {}", answer.text());
    }
    call(&["run", "deploy"]).status(125).answer();
    assert!(!folder.path().join("ran").exists());
}

#[test]
fn the_recipe_of_omp_is_offered_where_there_are_tasks_and_names_them() {
    let (umbo, folder) = (Umbo::new(), tempfile::tempdir().unwrap());
    let build = || {
        let path = std::env::var_os("PATH").unwrap();
        let caller = umbo.caller().directory(folder.path()).environment([("PATH".into(), path)]);
        Toolset::builder(caller).dialect("omp").build().unwrap()
    };
    assert!(build().tool("recipe").is_none());
    let targets: Vec<String> = (0..25).map(|n| format!("t{n:02}:\n\techo\n")).collect();
    let makefile = format!("greet: ## Say hello\n\techo\n{}", targets.concat());
    fs::write(folder.path().join("Makefile"), makefile).unwrap();
    let tools = build();
    let tool = tools.tool("recipe").unwrap();
    assert_eq!(tool.overlap, Overlap::Serial);
    let listed = tool.description.split("Runners and tasks here:").nth(1).unwrap();
    let lines: Vec<&str> = listed.trim().lines().collect();
    assert_eq!(
        lines[..3],
        ["make (Make, `make`):", "- greet: `make greet`, Say hello", "- t00: `make t00`"]
    );
    assert_eq!((lines.len(), lines[21]), (22, "- … and 6 more"));
    // What the project has now counts, not what it had when the tools were made.
    fs::write(folder.path().join("Makefile"), "late:\n\t@echo late\n").unwrap();
    let result = tools.call("recipe", json!({"op": "late"}), &umbo_tools::Ticket::default());
    assert_eq!(result.text, "late");
}
