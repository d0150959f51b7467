//! What a person at a terminal sees and types, whatever the verb: lists that fit 80 columns, paths that
//! can be clicked, keys that reach the command, words that are named as they were typed.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use unicode_width::UnicodeWidthStr;

use crate::control::until;
use crate::harness::{UMBO, Umbo, at_terminal};

/// What a terminal of 80 columns gets of a call, line by line and without colours.
fn lines(umbo: &Umbo, words: &[&str]) -> Vec<String> {
    let mut command = umbo.call(words).into_command();
    command.env("TERM", "xterm").env("NO_COLOR", "1").env_remove("UMBO_RUN");
    at_terminal(command, Some(80), "").lines().map(str::to_owned).collect()
}

/// A project with much to list, in a directory with a long name.
fn busy_project(umbo: &Umbo) {
    let own = umbo.path().join(".umbo");
    fs::create_dir_all(&own).unwrap();
    let rule = "[[rule]]\ndecision = \"deny\"\nname = \"no-publishing-from-here\"\nreason = \"Releases are made \
                by the release job of the build server, never from the machine of a person.\"\n\
                argv = [\"npm\", \"publish\"]\n";
    fs::write(own.join("rules.toml"), rule).unwrap();
    let script = "echo a command that is much longer than the line it has to fit into, by far";
    let scripts =
        serde_json::json!({"scripts": {"build": script, "a-long-name-of-a-task": script}});
    fs::write(umbo.path().join("package.json"), scripts.to_string()).unwrap();
    fs::write(umbo.path().join("Makefile"), format!("build:\n\t{script}\n")).unwrap();
    umbo.call(["exec", "--name", "a-name-that-is-very-long-indeed", script]).answer();
    umbo.call(["exec", "--session", "shell-with-a-long-name", "cd /usr/share"]).answer();
    umbo.call(["exec", "--group", "group-with-a-long-name", "true"]).answer();
    let asked = format!("touch '{script}'");
    umbo.call(["exec", "--mode", "default", &asked]).status(125).answer();
}

#[test]
fn every_list_fits_a_terminal_of_80_columns() {
    let umbo = Umbo::new();
    busy_project(&umbo);
    let calls: [&[&str]; 21] = [
        &["--help"],
        &["jobs"],
        &["jobs", "--all"],
        &["recipes"],
        &["run", "--list-runners"],
        &["shells"],
        &["groups"],
        &["approvals"],
        &["approvals", "--all"],
        &["rules", "list"],
        &["rules", "check"],
        &["rules", "explain", "npm", "publish"],
        &["doctor"],
        &["doctor", "--client", "zed"],
        &["config", "check"],
        &["config", "show"],
        &["trust", "--show"],
        &["install"],
        &["audit", "show"],
        &["secrets", "check"],
        &["ls"],
    ];
    for words in calls {
        let lines = lines(&umbo, words);
        assert!(!lines.is_empty(), "{words:?}");
        for line in &lines {
            assert!(line.width() <= 80, "{words:?} has {} columns: {line}", line.width());
        }
    }
    // What is said of the machine is said whole: it goes on below instead of being cut.
    let doctor = lines(&umbo, &["doctor"]).concat();
    assert!(!doctor.contains('…'), "{doctor}");
    let rules = lines(&umbo, &["rules", "list"]).join(" ");
    let words: Vec<&str> = rules.split_whitespace().collect();
    assert!(words.join(" ").contains("never from the machine of a person."), "{rules}");
}

#[test]
fn the_rules_that_hold_are_listed_the_strictest_first() {
    let umbo = Umbo::new();
    busy_project(&umbo);
    let rules = umbo.call(["rules", "list", "--json"]).json();
    let decisions: Vec<&str> =
        rules.as_array().unwrap().iter().map(|rule| rule["decision"].as_str().unwrap()).collect();
    let mut sorted = decisions.clone();
    sorted.sort_by_key(|decision| ["deny", "ask", "allow"].iter().position(|one| one == decision));
    assert_eq!(decisions, sorted);
    let own = rules.as_array().unwrap().iter().find(|rule| rule["layer"] == "project").unwrap();
    assert_eq!(own["rule"], "no-publishing-from-here");
    let place = format!("project rules.toml:{}", own["line"]);
    let text = umbo.call(["rules", "list"]).answer().text();
    assert!(text.contains(&place) && text.contains("built-in"), "{text}");
}

#[test]
fn paths_are_links_where_the_terminal_knows_them_and_nowhere_else() {
    let umbo = Umbo::new();
    fs::write(umbo.path().join("a note.txt"), "needle\n").unwrap();
    let shown = |words: &[&str], variables: &[(&str, &str)]| {
        let mut command = umbo.call(words).into_command();
        command.env_remove("UMBO_RUN").env_remove("NO_COLOR").env_remove("FORCE_HYPERLINK");
        for name in
            ["VTE_VERSION", "TERM_PROGRAM", "WT_SESSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID"]
        {
            command.env_remove(name);
        }
        at_terminal(
            {
                command.envs(variables.iter().copied());
                command
            },
            Some(80),
            "",
        )
    };
    let place = umbo.path().join("a note.txt").display().to_string().replace(' ', "%20");
    for words in
        [&["find", "*.txt"][..], &["find", "--long", "*.txt"], &["search", "needle"], &["ls"]]
    {
        let linked = shown(words, &[("TERM", "xterm-kitty")]);
        let begin =
            linked.find("\x1b]8;;file://").unwrap_or_else(|| panic!("{words:?}: {linked:?}"));
        assert!(
            linked[begin..].contains(&format!("{place}\x1b\\a note.txt\x1b]8;;\x1b\\")),
            "{linked:?}"
        );
        for plain in [
            &[("TERM", "xterm-kitty"), ("NO_COLOR", "1")][..],
            &[("TERM", "xterm-kitty"), ("FORCE_HYPERLINK", "0")],
            &[("TERM", "xterm-256color")],
            &[("TERM", "dumb"), ("FORCE_HYPERLINK", "1")],
        ] {
            let text = shown(words, plain);
            assert!(text.contains("a note.txt") && !text.contains("\x1b]8"), "{plain:?}: {text:?}");
        }
        let call = umbo.call(words).env("TERM", "xterm-kitty").env("FORCE_HYPERLINK", "1");
        assert!(!call.answer().text().contains('\x1b'), "a program gets no links");
    }
}

/// A person's shell at a terminal, where the umbo of another state is called.
struct Seat {
    person: Umbo,
    seat: String,
}

impl Seat {
    fn take(umbo: &Umbo, line: &str) -> Self {
        let person = Umbo::new();
        let state = format!("UMBO_STATE_DIR={}", umbo.state().display());
        let home = format!("HOME={}", umbo.path().join("home").display());
        let place = umbo.path().display().to_string();
        let options = [
            "--pty",
            "--size",
            "80x24",
            "--attended",
            "--env",
            &state,
            "--env",
            &home,
            "--cwd",
            &place,
        ];
        let seat = person.start_with(&[&options[..], &["--env", "PS1=ready> "]].concat(), line);
        Self { person, seat }
    }

    /// With a shell that has job control.
    fn with_shell(umbo: &Umbo) -> Self {
        let seat = Self::take(umbo, "bash --norc --noprofile -i");
        seat.sees("ready> ");
        seat
    }

    fn types(&self, text: &str) {
        self.person.type_into(&self.seat, text, &["enter"]);
    }

    fn presses(&self, key: &str) {
        self.person.type_into(&self.seat, "", &[key]);
    }

    fn sees(&self, text: &str) {
        self.person.wait_for(&self.seat, text);
    }
}

/// Waits until a job is paused, or is not.
fn is_paused(umbo: &Umbo, name: &str, wanted: bool) {
    until("the job is as it should be", || {
        let job = umbo.jobs().into_iter().find(|job| job["name"] == name).unwrap();
        (job["reason"] == "paused") == wanted
    });
}

#[test]
fn ctrl_z_pauses_the_command_and_gives_the_prompt_back_and_fg_goes_on() {
    let umbo = Umbo::new();
    let gate = umbo.fifo("gate");
    let seat = Seat::with_shell(&umbo);
    // What is typed is echoed: only what is computed was printed by the command.
    let line = format!(
        "'{UMBO}' exec --name held 'echo begun-$((40 + 2)); read x < gate; echo read-$x; exit 7'"
    );
    seat.types(&line);
    seat.sees("begun-42");
    is_paused(&umbo, "held", false);
    seat.presses("ctrl-z");
    seat.sees("Stopped");
    is_paused(&umbo, "held", true);
    seat.types("echo prompt-$((1 + 1))");
    seat.sees("prompt-2");
    seat.types("fg");
    is_paused(&umbo, "held", false);
    fs::write(&gate, "it\n").unwrap();
    seat.sees("read-it");
    seat.types("echo code-$?");
    seat.sees("code-7");
    // In the background it goes on as well.
    seat.types(&line.replace("held", "sent"));
    is_started(&umbo, "sent");
    seat.presses("ctrl-z");
    is_paused(&umbo, "sent", true);
    seat.types("bg");
    is_paused(&umbo, "sent", false);
    fs::write(&gate, "again\n").unwrap();
    seat.sees("read-again");
}

/// Waits until the command of a job runs and has printed something.
fn is_started(umbo: &Umbo, name: &str) {
    until("the command runs", || {
        umbo.jobs().iter().any(|job| job["name"] == name && job["state"] == "started")
    });
    umbo.wait_for(name, "begun-42");
}

#[test]
fn where_no_shell_could_let_it_go_on_ctrl_z_stops_nothing() {
    let umbo = Umbo::new();
    let gate = umbo.fifo("gate");
    let seat =
        Seat::take(&umbo, &format!("'{UMBO}' exec 'echo begun; read x < gate; echo read-$x'"));
    seat.sees("begun");
    seat.presses("ctrl-z");
    fs::write(&gate, "it\n").unwrap();
    seat.sees("read-it");
    assert_eq!(seat.person.outcome(&seat.seat)["code"], 0);
}

#[test]
fn ctrl_backslash_reaches_the_command_and_umbo_stays_for_its_end() {
    let umbo = Umbo::new();
    let seat = Seat::with_shell(&umbo);
    seat.types(&format!(
        "'{UMBO}' exec 'trap \"echo quit-\\$((40 + 2)); exit 9\" QUIT; echo begun-$((1 + 1)); {} & wait'",
        umbo.nap()
    ));
    seat.sees("begun-2");
    seat.presses("ctrl-\\");
    seat.sees("quit-42");
    seat.types("echo code-$?");
    seat.sees("code-9");
    umbo.wait_nappers(0);
}

#[test]
fn a_task_of_several_runners_is_asked_about_at_a_terminal_and_refused_elsewhere() {
    let umbo = Umbo::new();
    let bin = umbo.path().join("bin");
    fs::create_dir(&bin).unwrap();
    // Which of them is installed here does not matter: both are.
    for runner in ["npm", "make"] {
        let program = bin.join(runner);
        fs::write(&program, format!("#!/bin/sh\necho by-{runner}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::write(umbo.path().join("package.json"), "{\"scripts\": {\"build\": \"true\"}}").unwrap();
    fs::write(umbo.path().join("Makefile"), "build:\n\t@true\nclean:\n\t@true\n").unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let said = umbo.call(["run", "build"]).env("PATH", &path).refused();
    assert!(said.contains("npm:build") && said.contains("make:build"), "{said}");
    let said = umbo.call(["run", "--json", "build"]).env("PATH", &path).status(125).json();
    assert_eq!(said["error"]["field"], "op", "{said}");
    let seat = Seat::take(&umbo, &format!("PATH='{path}' '{UMBO}' run build"));
    seat.sees("make:build");
    let screen = seat.person.call(["screen", &seat.seat]).answer().text();
    assert!(!screen.contains("make:clean"), "only what was meant: {screen}");
    seat.person.type_into(&seat.seat, "make", &["enter"]);
    seat.sees("by-make");
    assert_eq!(seat.person.outcome(&seat.seat)["code"], 0);
}

#[test]
fn words_are_named_as_they_were_typed() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--name", "web"], "$NAP");
    let refused: [(&[&str], &str); 8] = [
        (&["signal", "web", "FOO"], "umbo: SIGNAL: \"FOO\""),
        (&["groups", "a/b", "--limit", "2"], "umbo: GROUP: \"a/b\""),
        (&["shells", "reset", "nope"], "umbo: NAME: there is no session \"nope\""),
        (&["shells", "end", "a/b"], "umbo: NAME: \"a/b\""),
        (&["exec", "--session", "a/b", "true"], "umbo: --session: \"a/b\""),
        (&["exec", "--group", "a/b", "true"], "umbo: --group: \"a/b\""),
        (&["start", "--after", "web:bad", "true"], "write web:ok to start only if it ends well"),
        (&["start", "--after", "nobody:ok", "true"], "no job \"nobody\""),
    ];
    for (words, expected) in refused {
        let said = umbo.call(words).refused();
        assert!(said.contains(expected), "{words:?}: {said}");
    }
    umbo.stop(&job, &["--kill"]);
}

#[test]
fn what_takes_over_a_second_shows_that_it_works_and_only_to_a_person() {
    let umbo = Umbo::new();
    let deaf = "trap '' TERM; echo on; $NAP & wait; wait";
    let job = umbo.start(deaf);
    umbo.wait_for(&job, "on");
    let mut command = umbo.call(["stop", "--grace", "4s", &job]).into_command();
    command.env("TERM", "xterm").env_remove("UMBO_RUN");
    let shown = at_terminal(command, Some(80), "");
    assert!(shown.contains("stopping; killed after 4s, "), "{shown:?}");
    let last = shown.rsplit("\r\x1b[K").next().unwrap();
    assert!(last.contains("stopped: nothing left"), "the line is taken away: {shown:?}");
    let job = umbo.start(deaf);
    umbo.wait_for(&job, "on");
    let answer = umbo.call(["stop", "--grace", "2s", &job]).answer();
    assert!(answer.stderr.is_empty(), "{answer:?}");
}

#[test]
fn a_filter_finds_old_jobs_and_a_short_id_is_enough_for_an_approval() {
    let umbo = Umbo::new();
    umbo.call(["exec", "--name", "early", "exit 3"]).status(3).answer();
    let listed = umbo.call(["jobs", "--name", "earl", "--json"]).json();
    assert_eq!(listed["jobs"][0]["name"], "early", "{listed}");
    let said = String::from_utf8(umbo.call(["jobs", "--name", "late"]).answer().stderr).unwrap();
    assert_eq!(said, "no such jobs\n");
    let asked = umbo.call(["exec", "--json", "--mode", "default", "touch x"]).status(125).json();
    let id = asked["error"]["id"].as_str().unwrap();
    let short = &id[id.len() - 6..];
    let listed = umbo.call(["approvals"]).answer().text();
    assert!(listed.contains(short) && !listed.contains(id), "{listed}");
    let mut command = umbo.call(["approve", short]).into_command();
    command.env("TERM", "xterm").env_remove("UMBO_RUN");
    let shown = at_terminal(command, Some(80), "y\n");
    assert!(shown.contains("touch x"), "{shown}");
    umbo.call(["exec", "--mode", "default", "touch x"]).status(0).answer();
    assert!(umbo.path().join("x").exists());
}

#[test]
fn umbo_alone_shows_the_first_verbs_and_help_shows_all_in_groups() {
    let umbo = Umbo::new();
    let alone = lines(&umbo, &[]);
    assert!(alone.len() <= 24, "{alone:#?}");
    assert!(alone.iter().any(|line| line.starts_with("  start ")), "{alone:#?}");
    let help = lines(&umbo, &["--help"]);
    for group in ["Run:", "See:", "Steer:", "Files:", "Decide:", "Agents:", "Options:"] {
        assert!(help.iter().any(|line| line == group), "{group}: {help:#?}");
    }
}
