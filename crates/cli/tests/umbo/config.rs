//! `umbo config`: what holds, who said so, what a project may say, and that every verb obeys.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::gate::person;
use crate::harness::{Call, UMBO, Umbo};

/// A user with a file of settings, in a project that may have one too.
struct Place {
    umbo: Umbo,
    project: PathBuf,
}

impl Place {
    fn new(user: &str) -> Self {
        let umbo = Umbo::new();
        let project = umbo.path().join("project");
        fs::create_dir_all(project.join(".umbo")).unwrap();
        let place = Self { umbo, project };
        fs::create_dir_all(place.user_file().parent().unwrap()).unwrap();
        fs::write(place.user_file(), user).unwrap();
        place
    }

    fn user_file(&self) -> PathBuf {
        self.umbo.path().join("home/.config/umbo/config.toml")
    }

    fn project_file(&self) -> PathBuf {
        self.project.join(".umbo/config.toml")
    }

    fn project(user: &str, project: &str) -> Self {
        let place = Self::new(user);
        fs::write(place.project_file(), project).unwrap();
        place
    }

    fn call(&self, words: &[&str]) -> Call<'_> {
        self.umbo.call(words).current_dir(&self.project)
    }

    fn person(&self, words: &[&str], typed: &str) -> std::process::Output {
        person(&self.umbo, &self.project, words, typed)
    }

    /// One setting, as `config show --json` has it.
    fn shown(&self, key: &str) -> Value {
        let mut shown = self.call(&["config", "show", "--json", key]).json();
        shown["settings"][0].take()
    }

    fn doctor(&self, name: &str) -> Value {
        let findings = self.call(&["doctor", "--json"]).json();
        let found = findings.as_array().unwrap().iter().find(|found| found["name"] == name);
        found.unwrap_or_else(|| panic!("{name}: {findings}")).clone()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn without_a_file_the_defaults_hold_and_can_be_a_file() {
    let umbo = Umbo::new();
    let shown = umbo.call(["config", "show"]).answer().text();
    assert!(shown.contains("tools.mode = \"guard\"\n"), "{shown}");
    assert!(shown.contains("# exec.timeout_secs is not set\n"), "{shown}");
    let file = umbo.path().join("home/.config/umbo/config.toml");
    umbo.call(["config", "path"]).stdout(format!("{}\n", file.display())).run();
    assert!(!file.exists());
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, &shown).unwrap();
    let again = umbo.call(["config", "show", "--origin"]).answer().text();
    let line = again.lines().find(|line| line.starts_with("tools.mode")).unwrap();
    let number = shown.lines().position(|line| line.starts_with("tools.mode")).unwrap() + 1;
    assert!(line.ends_with(&format!("# {}:{number}", file.display())), "{again}");
    umbo.call(["config", "show"]).stdout(shown).run();
}

#[test]
fn later_wins_and_every_value_names_its_source() {
    let user = "max_running = 4\n[tools.shell]\n# seconds\ndefault_timeout_secs = 60\n";
    let place = Place::project(user, "[tools.shell]\ndefault_timeout_secs = 20\n");
    let timeout = "tools.shell.default_timeout_secs";
    let shown = place.shown(timeout);
    assert_eq!((&shown["value"], &shown["origin"]), (&json!(20), &json!("project")));
    assert_eq!((&shown["file"], &shown["line"]), (&json!(place.project_file()), &json!(2)));
    let user = place.shown("max_running");
    assert_eq!(
        (&user["value"], &user["origin"], &user["line"]),
        (&json!(4), &json!("user"), &json!(1))
    );
    let as_other = place.shown("tools.shell.max_concurrent_processes");
    assert_eq!((&as_other["value"], &as_other["origin"]), (&json!(4), &json!("default")));
    let variable = "UMBO_TOOLS_SHELL_DEFAULT_TIMEOUT_SECS";
    let said = place.call(&["config", "show", "--origin", timeout]).env(variable, "90").answer();
    assert_eq!(said.text(), format!("{timeout} = 90  # {variable}\n"));
    let unknown = place.call(&["config", "show", "tools.shel"]).refused();
    assert!(unknown.contains("did you mean `tools.shell`?"), "{unknown}");
}

#[test]
fn a_project_only_tightens_until_it_is_trusted_and_that_is_said() {
    let loose =
        "[tools]\nmode = \"open\"\n[environment]\nexclude = [\"PAGER\"]\nset = { A = \"1\" }\n";
    let place = Place::project("", loose);
    let mode = place.shown("tools.mode");
    assert_eq!((&mode["value"], &mode["origin"]), (&json!("guard"), &json!("default")));
    let ignored = &mode["ignored"][0];
    assert_eq!((&ignored["value"], &ignored["line"]), (&json!("open"), &json!(2)), "{mode}");
    assert!(ignored["why"].as_str().unwrap().contains("not trusted"), "{mode}");
    assert_eq!(place.shown("environment.exclude")["value"], json!(["PAGER"]));
    let words = place.call(&["config", "show", "--origin"]).answer().text();
    let line = format!("# {}:2 says \"open\": ignored, ", place.project_file().display());
    assert!(words.contains(&line), "{words}");
    let found = place.doctor("project config");
    assert_eq!(found["works"], false, "{found}");
    assert_eq!(found["detail"], json!(place.project_file()), "{found}");
    let expected = "nobody trusted it: only what tightens counts; \
                    ignored: tools.mode (line 2), environment.set (line 5); \
                    look at it, then run `umbo trust` there in a terminal of your own";
    assert_eq!(found["meaning"], expected);
    assert_eq!(place.call(&["exec", "echo ${A-none}"]).answer().text(), "none\n");

    assert!(place.person(&["trust"], "y\n").status.success());
    assert_eq!(place.shown("tools.mode")["value"], "open");
    assert_eq!(place.doctor("project config")["works"], true);
    assert_eq!(place.call(&["exec", "echo ${A-none}"]).answer().text(), "1\n");

    fs::write(place.project_file(), format!("{loose}# more\n")).unwrap();
    assert_eq!(place.shown("tools.mode")["value"], "guard");
    let found = place.doctor("project config");
    assert!(found["meaning"].as_str().unwrap().starts_with("it was changed after"), "{found}");
    let allow = "[[rule]]\ndecision = 'allow'\nreason = 'fine'\nargv = ['touch']\n";
    fs::write(place.project.join(".umbo/rules.toml"), allow).unwrap();
    let rules = place.doctor("project rules");
    assert_eq!(rules["works"], false);
    let meaning = rules["meaning"].as_str().unwrap();
    assert!(meaning.contains("nobody trusted it") && meaning.contains("umbo trust"), "{rules}");
    fs::write(place.project_file(), "[tools]\nmode = \"auto\"\n").unwrap();
    assert_eq!(place.shown("tools.mode")["value"], "auto", "what tightens needs no trust");
    assert_eq!(place.doctor("project config")["works"], true);
}

#[test]
fn a_link_is_no_file_of_a_project() {
    let place = Place::new("");
    let elsewhere = place.umbo.path().join("elsewhere.toml");
    fs::write(&elsewhere, "max_running = 1\n").unwrap();
    symlink(&elsewhere, place.project_file()).unwrap();
    assert_eq!(place.shown("max_running")["value"], 10);
    let found = place.doctor("project config");
    assert_eq!((&found["works"], &found["meaning"]), (&json!(false), &json!("it is a link")));
}

#[test]
fn what_is_wrong_is_told_with_file_line_and_the_nearest_name_and_nothing_starts() {
    let place = Place::new("max_runing = 3\n\n[tools.shell]\nenabled = \"yes\"\n");
    let file = place.user_file().display().to_string();
    let wrong = [
        format!("{file}:1: there is no setting `max_runing`; did you mean `max_running`?"),
        format!("{file}:4: `tools.shell.enabled`: \"yes\" was given; accepted: true or false"),
    ];
    let all = format!("umbo: {}\numbo: {}\n", wrong[0], wrong[1]);
    for words in [
        &["exec", "touch made"][..],
        &["start", "touch made"],
        &["run", "x"],
        &["mcp"],
        &["call", "jobs"],
        &["tools"],
    ] {
        assert_eq!(place.call(words).refused(), all, "{words:?}");
    }
    assert!(!place.project.join("made").exists());
    let checked = place.call(&["config", "check", "--json"]).status(1).json();
    assert_eq!((&checked["ok"], &checked["errors"]), (&json!(false), &json!(wrong)));
    let standing = (&checked["files"][0]["standing"], &checked["files"][0]["meaning"]);
    let meaning = "it has errors: no command starts before they are gone";
    assert_eq!(standing, (&json!("wrong"), &json!(meaning)));
    let words = place.call(&["config", "check"]).answer();
    assert_eq!((words.status, text(&words.stderr)), (1, all.clone()));
    assert!(words.text().contains(meaning) && !words.text().contains("counts"), "{words:?}");
    let found = place.doctor("configuration");
    assert_eq!((&found["works"], &found["detail"]), (&json!(false), &json!(wrong[0])));
    let jobs = place.call(&["jobs", "--json"]).answer();
    assert_eq!((jobs.status, text(&jobs.stderr)), (0, all), "what runs can still be seen");
    fs::write(place.user_file(), "[exec]\nmode == 1\n").unwrap();
    let broken = place.call(&["exec", "true"]).refused();
    assert!(broken.starts_with(&format!("umbo: {file}:2: it is no TOML: ")), "{broken}");
    fs::write(place.user_file(), b"max_running = 1 # \xff\n").unwrap();
    assert!(place.call(&["exec", "true"]).refused().contains("not UTF-8"));
}

#[test]
fn a_wrong_variable_is_named_with_its_value_and_what_is_accepted() {
    let place = Place::new("");
    let said = place.call(&["exec", "true"]).env("UMBO_EXEC_MODE", "gard").refused();
    let expected = "umbo: UMBO_EXEC_MODE: \"gard\" was given; accepted: \"default\", \
                    \"accept_edits\", \"auto\", \"guard\", \"open\"; did you mean `guard`?\n";
    assert_eq!(said, expected);
    for (name, value) in [
        ("UMBO_OUTPUT_TOKENS", "0"),
        ("UMBO_RETENTION_AGE", "soon"),
        ("UMBO_TOOLS_SHELL_ENABLED", ""),
        ("UMBO_ENVIRONMENT_INHERIT", "most"),
        ("UMBO_TOOLS_SHELL_SHELL_PATH", "nu"),
    ] {
        let said = place.call(&["exec", "true"]).env(name, value).refused();
        let given = format!("{name}: {value:?} was given; accepted: ");
        assert!(said.contains(&given), "{said}");
    }
    let checked = place.call(&["config", "check"]).env("UMBO_TOOLS_SHELL_ENABLE", "true").answer();
    assert_eq!(checked.status, 1);
    assert!(checked.said().contains("did you mean `UMBO_TOOLS_SHELL_ENABLED`?"), "{checked:?}");
    let foreign = place.call(&["config", "check"]).env("UMBO_THEATRE_TICKETS", "2").answer();
    assert_eq!((foreign.status, foreign.stderr), (0, Vec::new()));
}

#[test]
fn setting_a_value_changes_its_line_and_nothing_else() {
    let mine = "# mine\nmax_running = 4 # few\n\n[exec]\n# careful\nmode = \"guard\"\n";
    let place = Place::new(mine);
    let set = |words: &[&str]| {
        let output = place.person(&[&["config"], words].concat(), "");
        (output.status.success(), text(&output.stdout), text(&output.stderr))
    };
    let file = place.user_file();
    let (ok, said, _) = set(&["set", "exec.mode", "auto"]);
    assert!(ok && said == format!("{}: exec.mode = \"auto\"\n", file.display()), "{said}");
    assert!(set(&["set", "tools.shell.enabled", "true"]).0);
    assert!(set(&["set", "environment.exclude", "AWS_*,GH_*"]).0);
    let (ok, said, _) = set(&["set", "environment.set.LEVEL", "3"]);
    assert!(ok && said.ends_with(": environment.set.LEVEL is set\n"), "{said}");
    assert!(set(&["unset", "max_running"]).0);
    let expected = "# mine\n\n[exec]\n# careful\nmode = \"auto\"\n\n[tools.shell]\nenabled = true\n\n\
                    [environment]\nexclude = [\"AWS_*\", \"GH_*\"]\n\n[environment.set]\nLEVEL = \"3\"\n";
    assert_eq!(fs::read_to_string(&file).unwrap(), expected);
    assert_eq!(place.shown("tools.shell.enabled")["value"], true);
    for (words, why) in [
        (&["set", "exec.mod", "auto"][..], "did you mean `exec.mode`?"),
        (&["set", "exec.mode", "gard"], "exec.mode: \"gard\" was given"),
        (&["set", "environment.set", "x"], "environment.set.NAME"),
        (&["set", "tools", "x"], "no setting `tools`"),
        (&["unset", "max_running"], "does not set `max_running`"),
    ] {
        let (ok, _, said) = set(words);
        assert!(!ok && said.contains(why), "{words:?}: {said}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), expected);
    fs::write(place.project_file(), "exec.mode = \"default\"\n").unwrap();
    let (ok, _, said) = set(&["set", "exec.mode", "guard"]);
    let project = place.project_file();
    assert!(ok && said.contains(&format!("is said by {}:1 here", project.display())), "{said}");
    fs::write(place.project_file(), "environment.exclude = [\"X_*\"]\n").unwrap();
    let (ok, _, said) = set(&["set", "environment.exclude", "GH_*"]);
    assert!(ok && said.is_empty(), "both count: {said}");
    let both = place.call(&["config", "show", "--origin", "environment.exclude"]).answer().text();
    let origin = format!("{}:11 and {}:1\n", file.display(), project.display());
    assert_eq!(both, format!("environment.exclude = [\"GH_*\", \"X_*\"]  # {origin}"));
    fs::write(&file, "[exec\n").unwrap();
    assert!(!set(&["set", "exec.mode", "auto"]).0, "a file that cannot be read is left alone");
    assert_eq!(fs::read_to_string(&file).unwrap(), "[exec\n");
}

#[test]
fn a_list_is_set_as_a_file_has_it_or_with_commas() {
    let place = Place::new("");
    for (given, holds) in [
        ("[\"AWS_*\", 'GH_*']", json!(["AWS_*", "GH_*"])),
        ("[]", json!([])),
        ("A,B", json!(["A", "B"])),
    ] {
        let set = place.person(&["config", "set", "environment.exclude", given], "");
        assert!(set.status.success(), "{given}: {set:?}");
        assert_eq!(place.shown("environment.exclude")["value"], holds, "{given}");
    }
    let before = fs::read_to_string(place.user_file()).unwrap();
    for wrong in ["[\"AWS_*\"", "[AWS_*]", "[1]"] {
        let set = place.person(&["config", "set", "environment.exclude", wrong], "");
        let said = text(&set.stderr);
        assert!(!set.status.success() && said.contains("as [\"AWS_*\"]"), "{wrong}: {said}");
    }
    assert_eq!(fs::read_to_string(place.user_file()).unwrap(), before);
}

#[test]
fn without_a_terminal_the_words_are_checked_first_and_the_file_is_named() {
    let place = Place::new("");
    for (words, why) in [
        (&["config", "set", "exec.mod", "auto"][..], "did you mean `exec.mode`?"),
        (&["config", "set", "exec.mode", "gard"], "did you mean `guard`?"),
        (&["config", "unset", "exec.mod"], "did you mean `exec.mode`?"),
        (&["config", "set", "exec.mode", "auto"], "run it in one, give --yes, or edit "),
        (&["config", "unset", "exec.mode"], "run it in one, give --yes, or edit "),
    ] {
        let said = place.call(words).refused();
        assert!(said.contains(why), "{words:?}: {said}");
        let is_edited = said.contains(&place.user_file().display().to_string());
        assert_eq!(is_edited, said.contains("needs a person"), "{said}");
    }
    assert_eq!(fs::read_to_string(place.user_file()).unwrap(), "");
}

#[test]
fn a_script_says_yes_and_a_job_does_not() {
    let place = Place::new("");
    place.call(&["config", "set", "--yes", "exec.mode", "auto"]).answer().expect_status(0);
    assert_eq!(place.shown("exec.mode")["value"], "auto");
    place.call(&["config", "unset", "-y", "exec.mode"]).answer().expect_status(0);
    assert_eq!(place.shown("exec.mode")["value"], json!(null));
    // Not seen by the gate, for the words are made up as it runs.
    let line = format!("u='{UMBO}'; v=config; \"$u\" $v set --yes tools.mode open");
    let inside = place.call(&["exec", "--mode", "open", &line]).status(125).answer();
    assert!(inside.said().contains("does not run inside a job"), "{}", inside.said());
}

#[test]
fn an_agent_does_not_configure_itself() {
    let place = Place::new("");
    for words in [&["config", "set", "tools.mode", "open"][..], &["config", "unset", "tools.mode"]]
    {
        let refused = place.call(words).refused();
        assert!(refused.contains("needs a person"), "{refused}");
    }
    let denied = place.call(&["exec", "umbo config set tools.mode open"]).refused();
    assert!(denied.contains("An agent does not approve itself"), "{denied}");
    let script = place.umbo.path().join("set.sh");
    fs::write(&script, format!("'{UMBO}' config set tools.mode open\n")).unwrap();
    let denied = place.call(&["exec", &format!("sh '{}'", script.display())]).refused();
    assert!(denied.contains("An agent does not approve itself"), "{denied}");
    let script = place.umbo.path().join("set.py");
    let code = format!(
        "import os, sys\nsys.exit(os.system(\"'{UMBO}' config set tools.mode open\") >> 8)\n"
    );
    fs::write(&script, code).unwrap();
    let job = place.umbo.start_with(&["--pty"], &format!("python3 '{}'", script.display()));
    assert_eq!(place.umbo.outcome(&job)["code"], 125);
    let line = format!("echo x > '{}'", place.user_file().display());
    let written = place.call(&["exec", &line]).refused();
    assert!(written.contains("not for commands to change"), "{written}");
}

#[test]
fn commands_stay_in_the_project_if_it_is_said() {
    let place = Place::project("", "[tools.shell]\nrestrict_to_project = true\n");
    let inside = place.project.join("sub");
    fs::create_dir_all(&inside).unwrap();
    symlink("/", place.project.join("out")).unwrap();
    fs::write(place.project.join("Makefile"), "hi:\n\t@pwd\n").unwrap();
    let expected = format!("{}\n", inside.display());
    place.call(&["exec", "--cwd", "sub", "pwd"]).stdout(&expected).run();
    place.call(&["exec", "--cwd", "../project/sub", "pwd"]).stdout(expected).run();
    for verb in ["exec", "start"] {
        for outside in ["..", "/etc", "out/etc", "sub/../..", "/no/such/place"] {
            let said = place.call(&[verb, "--cwd", outside, "pwd"]).refused();
            let words = format!("umbo: Working directory '{outside}' is outside project root");
            assert!(said.starts_with(&words), "{said}");
            assert!(said.contains(&format!("{}:2)", place.project_file().display())), "{said}");
        }
    }
    let other = place.umbo.path().join("other");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("Makefile"), "hi:\n\t@pwd\n").unwrap();
    place.call(&["run", "hi"]).stdout(format!("{}\n", place.project.display())).run();
    let said = place.call(&["run", "--cwd", "../other", "hi"]).refused();
    assert!(said.contains("Working directory '../other' is outside project root"), "{said}");
    let tool = |with: &Value| place.call(&["call", "exec", &with.to_string()]);
    let refused = tool(&json!({"command": "pwd", "cwd": "/etc"})).status(1).json();
    assert_eq!(refused["error"]["code"], "outside_project", "{refused}");
    assert_eq!(tool(&json!({"command": "pwd", "cwd": "sub"})).json()["exit_code"], 0);
}

#[test]
fn nobody_is_confined_unasked() {
    let place = Place::new("");
    place.call(&["exec", "--cwd", "/", "pwd"]).stdout("/\n").run();
    let shell = |with: &Value| {
        let words = ["call", "--dialect", "meerkat", "shell", &with.to_string()];
        place
            .call(&words)
            .env("UMBO_TOOLS_SHELL_ENABLED", "true")
            .env("UMBO_TOOLS_SHELL_SHELL", "sh")
    };
    let refused = shell(&json!({"command": "pwd", "working_dir": ".."})).status(1).json();
    assert_eq!(refused["message"], "Working directory '..' is outside project root");
    let free = shell(&json!({"command": "pwd", "working_dir": ".."}))
        .env("UMBO_TOOLS_SHELL_RESTRICT_TO_PROJECT", "false")
        .json();
    assert_eq!(free["stdout"], format!("{}\n", place.umbo.path().display()));
}

#[test]
fn commands_get_the_environment_that_the_policy_leaves() {
    let policy = "[environment]\ninherit = \"all\"\nexclude = [\"DROP_*\"]\ninclude = [\"DROP_NOT\"]\n\
                  [environment.set]\nMADE = \"here\"\n";
    let place = Place::new(policy);
    let line = "echo ${KEEP-} ${DROP_IT-} ${DROP_NOT-} ${MADE-} ${UMBO_RUN-}";
    let with = |call: Call<'_>| -> Value {
        call.env("KEEP", "keep")
            .env("DROP_IT", "drop")
            .env("DROP_NOT", "not")
            .env("MADE", "elsewhere")
            .env("UMBO_RUN", "run")
            .json()
    };
    fs::write(place.project.join("Makefile"), format!("show:\n\t@{}\n", line.replace('$', "$$")))
        .unwrap();
    let expected = "keep not here\n";
    assert_eq!(with(place.call(&["exec", "--json", line]))["stdout"], expected);
    assert_eq!(with(place.call(&["run", "--json", "show"]))["stdout"], expected);
    let called = json!({"command": line}).to_string();
    assert_eq!(with(place.call(&["call", "exec", &called]))["output"], expected);
    let bare =
        place.call(&["exec", "--json", "env"]).env("UMBO_ENVIRONMENT_INHERIT", "none").json();
    assert!(!bare["stdout"].as_str().unwrap().contains("HOME="), "{bare}");
}

#[test]
fn a_secret_that_the_policy_sets_is_masked_wherever_it_is_shown() {
    let place = Place::new("[environment.set]\nDEPLOY_TOKEN = \"correct-horse-battery\"\n");
    let ran = place.call(&["exec", "--json", "echo got $DEPLOY_TOKEN"]).json();
    assert!(ran["stdout"].as_str().unwrap().starts_with("got #"), "{ran}");
    for words in [&["config", "show"][..], &["config", "show", "--json"]] {
        let shown = place.call(words).answer().text();
        assert!(shown.contains("DEPLOY_TOKEN") && !shown.contains("horse"), "{shown}");
    }
    let wrong =
        place.call(&["exec", "true"]).env("UMBO_EXEC_MODE", "correct-horse-battery").refused();
    assert!(!wrong.contains("horse"), "{wrong}");
}

#[test]
fn time_limits_modes_and_shells_are_those_of_the_settings_unless_the_call_says_otherwise() {
    let place = Place::new("[exec]\ntimeout_secs = 1\n");
    fs::write(place.project.join("Makefile"), format!("nap:\n\t@{}\n", place.umbo.nap())).unwrap();
    let nap = place.umbo.nap();
    assert_eq!(place.call(&["exec", &nap]).answer().status, 124);
    assert_eq!(place.call(&["run", "nap"]).answer().status, 124);
    let job = place.call(&["start", &nap]).answer().text();
    assert_eq!(place.umbo.outcome(job.trim_end())["state"], "timed_out");
    let free = place.call(&["start", "--timeout", "none", &nap]).answer().text();
    assert!(place.umbo.record(free.trim_end(), "request")["limits"]["wall"].is_null());

    let place = Place::new("[exec]\nmode = \"default\"\nshell = \"bash\"\n");
    fs::write(place.project.join("Makefile"), "make:\n\t@touch made\n").unwrap();
    let asked = |words: &[&str]| place.call(words).status(125).json()["error"]["code"].clone();
    assert_eq!(asked(&["exec", "--json", "touch made"]), "approval_required");
    assert_eq!(asked(&["start", "--json", "touch made"]), "approval_required");
    assert_eq!(asked(&["run", "--json", "make"]), "approval_required");
    assert!(!place.project.join("made").exists());
    place.call(&["run", "--mode", "open", "make"]).run();
    assert!(place.project.join("made").exists());
    let bash = "echo ${BASH_VERSION:+bash}";
    place.call(&["exec", "--mode", "open", bash]).stdout("bash\n").run();
    place.call(&["exec", "--mode", "open", "--shell", "sh", "echo $0"]).stdout("/bin/sh\n").run();
}

#[test]
fn agents_get_what_is_configured_for_them() {
    let settings = "[tools]\ndialect = \"meerkat\"\n[tools.shell]\nenabled = true\nshell = \"sh\"\n\
                    default_timeout_secs = 1\n[output]\nlines = 3\n";
    let place = Place::new(settings);
    let shell = |line: &str| place.call(&["call", "shell", &json!({"command": line}).to_string()]);
    let late = shell(&place.umbo.nap()).json();
    assert_eq!((&late["timed_out"], &late["exit_code"]), (&json!(true), &Value::Null), "{late}");
    let long = shell("seq 100").json();
    assert!(long["stdout"].as_str().unwrap().lines().count() <= 3, "{long}");
    let own = json!({"command": place.umbo.nap()}).to_string();
    let late = place.call(&["call", "--dialect", "umbo", "exec", &own]).json();
    assert_eq!(late["state"], "timed_out", "{late}");
    let names = |call: Call<'_>| call.json()[0]["name"].clone();
    assert_eq!(names(place.call(&["tools", "--json"])), "shell");
    assert_eq!(names(place.call(&["tools", "--json", "--dialect", "umbo"])), "exec");
    let jobs = |call: Call<'_>| call.json()["jobs"].as_array().unwrap().len();
    let list = ["call", "--dialect", "umbo", "jobs"];
    assert!(jobs(place.call(&list)) > 1);
    assert_eq!(jobs(place.call(&list).env("UMBO_TOOLS_SHELL_MAX_COMPLETED_JOBS", "1")), 1);
    let dash = place.umbo.path().join("dash");
    symlink("/bin/sh", &dash).unwrap();
    let path = shell("echo $0").env("UMBO_TOOLS_SHELL_SHELL_PATH", &dash).json();
    assert_eq!(path["stdout"], format!("{}\n", dash.display()), "{path}");
}

/// The structured answer to one call of `exec` at `umbo mcp`.
fn served(call: Call<'_>, line: &str) -> Value {
    let mut command = call.into_command();
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    let frames = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "exec", "arguments": {"command": line}}}),
    ];
    let mut input = server.stdin.take().unwrap();
    for frame in frames {
        writeln!(input, "{frame}").unwrap();
    }
    let lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let answers = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let answer = answers.filter(|answer| answer["id"] == 2).take(1).next().unwrap();
    drop(input);
    assert!(server.wait().unwrap().success());
    answer["result"]["structuredContent"].clone()
}

#[test]
fn agents_are_gated_in_the_mode_that_is_configured() {
    let place = Place::new("");
    let mcp = |words: &[&str]| place.call(&[&["mcp"], words].concat());
    assert_eq!(served(mcp(&[]), "touch made")["exit_code"], 0, "guard only asks about danger");
    fs::write(place.project_file(), "tools.mode = \"default\"\nexec.mode = \"default\"\n").unwrap();
    let code = |answer: &Value| answer["error"]["code"].clone();
    assert_eq!(code(&served(mcp(&[]), "touch more")), "approval_required");
    assert_eq!(served(mcp(&["--mode", "guard"]), "touch more")["exit_code"], 0);
    let own = json!({"command": "touch other"}).to_string();
    let asked = place.call(&["call", "exec", &own]).status(1).json();
    assert_eq!(code(&asked), "approval_required", "{asked}");
    assert!(!place.project.join("other").exists());
}

#[test]
fn answers_have_the_room_and_the_folding_that_is_configured() {
    let place = Place::new("[output]\ntokens = 200\nlines = 5\n");
    let lines = |call: Call<'_>| call.answer().text().lines().count();
    let job = place.call(&["start", "seq 1000"]).answer().text();
    let job = job.trim_end();
    place.umbo.outcome(job);
    assert!(lines(place.call(&["output", job])) <= 5);
    let ran = place.call(&["exec", "--json", "seq 1000"]).json();
    assert!(ran["stdout"].as_str().unwrap().lines().count() <= 5, "{ran}");
    assert_eq!(lines(place.call(&["output", job, "--budget", "none"])), 1000);
    let wide = lines(place.call(&["output", job, "--budget", "500l"]));
    assert!((6..100).contains(&wide), "{wide}: the tokens are as configured");
    let noise = "for n in $(seq 40); do echo \"   Compiling crate-$n v1.0.0\"; done; echo done";
    let built = place.umbo.start(noise);
    place.umbo.outcome(&built);
    let output = |words: &[&str]| {
        let all = [&["output", &built, "--budget", "none"], words].concat();
        place.call(&all).env("UMBO_OUTPUT_MINIMIZE", "true").answer().text().lines().count()
    };
    assert!(output(&[]) < 41 && output(&["--minimize=false"]) == 41);
}

#[test]
fn ended_jobs_leave_as_the_settings_say() {
    let place = Place::new("[retention]\njobs = 2\n");
    for _ in 0..4 {
        place.call(&["exec", "true"]).run();
    }
    // A job that ends may have made room by itself; what is left is the same.
    let prune = || place.call(&["prune", "--older-than", "1d"]);
    let left = |call: Call<'_>| {
        call.answer().expect_status(0);
        place.umbo.jobs().len()
    };
    assert_eq!(left(prune()), 2);
    assert_eq!(left(prune().env("UMBO_RETENTION_AGE", "0s")), 0);
}

#[test]
fn a_directory_that_is_gone_has_no_project_and_no_crash() {
    let umbo = Umbo::new();
    let gone = umbo.path().join("gone");
    fs::create_dir(&gone).unwrap();
    let line = format!("cd {0} && rmdir {0} && exec {UMBO} jobs", gone.display());
    let answer = umbo.exec(&line).answer();
    assert_eq!(answer.status, 0, "{answer:?}");
    assert!(!Path::new(&gone).exists());
}
