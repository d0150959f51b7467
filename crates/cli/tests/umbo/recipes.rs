//! `umbo recipes` and `umbo run`: the tasks of a project, whatever runs them.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::harness::Umbo;

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
fn completion_scripts_are_valid_and_know_the_tasks() {
    let (umbo, folder) = (Umbo::new(), project());
    let names = umbo.call(["recipes", "--names"]).current_dir(folder.path()).answer().text();
    assert_eq!(names, "greet\nwhere\nfail\nwipe\nwait\n");
    for shell in ["bash", "zsh", "fish"] {
        let script = umbo.call(["completions", shell]).answer().text();
        let check = std::process::Command::new(shell).arg("-n").arg("-c").arg(&script).output();
        let check =
            check.unwrap_or_else(|error| panic!("{shell}: {error}; run `cargo xtask setup`"));
        assert!(check.status.success(), "{shell}: {}", String::from_utf8_lossy(&check.stderr));
    }
}
