//! A person at a terminal. The terminal is a job of another umbo: a real pty and a real emulator.

use std::fs;

use serde_json::json;
use umbo_model::server::{Answer, Gate, Reply};

use super::{CASES, DEADLINE, Scene};
use crate::harness::{UMBO, Umbo};

/// A person who sits before the agent of a scene.
struct Person<'a> {
    umbo: Umbo,
    scene: &'a Scene,
    seat: String,
}

impl<'a> Person<'a> {
    fn sit(scene: &'a Scene, size: &str, words: &str) -> Self {
        Self::runs(scene, size, &format!("agent --model {} {words}", CASES[0].model))
    }

    /// Any command that opens a conversation.
    fn runs(scene: &'a Scene, size: &str, words: &str) -> Self {
        let umbo = Umbo::with_deadline(DEADLINE);
        let url = scene.server.url();
        let variables = [
            format!("UMBO_STATE_DIR={}", scene.umbo.state().display()),
            format!("HOME={}", scene.umbo.path().join("home").display()),
            format!("ANTHROPIC_BASE_URL={url}"),
            "ANTHROPIC_API_KEY=key-of-the-test-1234567890".to_owned(),
            "TERM=xterm-256color".to_owned(),
            "NO_COLOR=1".to_owned(),
        ];
        let directory = scene.umbo.path().display().to_string();
        let mut options = vec!["--pty", "--size", size, "--attended", "--cwd", &directory];
        for variable in &variables {
            options.extend(["--env", variable]);
        }
        let seat = umbo.start_with(&options, &format!("'{UMBO}' {words}"));
        let person = Self { umbo, scene, seat };
        person.sees("claude-sonnet-5 ·");
        person
    }

    /// Waits until the terminal was sent a text.
    fn sees(&self, text: &str) {
        self.umbo.wait_for(&self.seat, text);
    }

    fn types(&self, text: &str, keys: &[&str]) {
        self.umbo.type_into(&self.seat, text, keys);
    }

    /// What the screen shows, line by line.
    fn screen(&self) -> Vec<String> {
        let screen = self.umbo.call(["screen", &self.seat]).answer().text();
        screen.lines().map(|line| line.trim_end().to_owned()).collect()
    }

    /// Waits until the screen is as it should be.
    fn waits_for(&self, is_right: impl Fn(&[String]) -> bool) -> Vec<String> {
        loop {
            let screen = self.screen();
            if is_right(&screen) {
                return screen;
            }
            let state = self.umbo.listed(&self.seat)["state"].clone();
            assert_eq!(state, "started", "{screen:#?}");
            std::thread::yield_now();
        }
    }

    /// All that was ever shown, from the scrollback on.
    fn transcript(&self) -> String {
        self.umbo.call(["output", "--rendered", "--budget", "none", &self.seat]).answer().text()
    }

    fn leaves(self) {
        self.types("", &["ctrl-d"]);
        assert_eq!(self.umbo.outcome(&self.seat)["code"], 0, "{}", self.transcript());
    }
}

#[test]
fn a_person_asks_sees_the_command_and_the_answer_and_leaves() {
    let scene = Scene::new(vec![
        Reply::answer(CASES[0].and_command(
            Answer::new().and_thinking("let me think about it", "sig"),
            "call_1",
            "echo found it",
        )),
        Reply::text("# Result\nIt is **here**:\n\n```\nlet x = 1;\n```\nDone.\n"),
    ]);
    let person = Person::sit(&scene, "80x24", "");
    person.types("where is it?", &["enter"]);
    person.sees("Done.");
    let screen = person.waits_for(|screen| {
        screen.iter().any(|line| line == "Done.")
            && !screen.iter().any(|line| line.starts_with("working"))
    });
    let text = screen.join("\n");
    for shown in [
        "> where is it?",
        "thought, 21 characters",
        "- Bash echo found it",
        "  found it",
        "Result",
        "It is here:",
        "let x = 1;",
    ] {
        assert!(text.contains(shown), "{shown}:\n{text}");
    }
    assert!(!text.contains("let me think about it"), "thinking is folded:\n{text}");
    assert!(!text.contains("**"), "{text}");
    person.leaves();
}

#[test]
fn what_is_said_while_the_agent_works_steers_it_or_waits_and_esc_gives_it_back() {
    let gate = Gate::new();
    let scene = Scene::new(vec![
        Reply::answer(CASES[0].command("call_1", "echo one")).wait_after(0, &gate),
        Reply::text("heard you"),
        Reply::text("and now the rest"),
        Reply::text("never").wait_after(0, &Gate::new()),
    ]);
    let person = Person::sit(&scene, "80x24", "");
    person.types("start", &["enter"]);
    assert!(scene.server.wait_for_requests(1, DEADLINE));
    person.types("not like this", &["enter"]);
    person.sees("1 queued");
    // Alt-enter is escape and enter in one.
    person.types("afterwards\u{1b}\r", &[]);
    person.sees("2 queued");
    gate.open();
    person.sees("and now the rest");
    let requests = scene.server.requests();
    let said = |at: usize| requests[at].body["messages"].to_string();
    assert!(said(1).contains("not like this") && !said(1).contains("afterwards"), "{}", said(1));
    assert!(said(2).contains("afterwards"), "{}", said(2));
    person.waits_for(|screen| !screen.iter().any(|line| line.contains("working")));
    person.types("hang", &["enter"]);
    assert!(scene.server.wait_for_requests(4, DEADLINE));
    person.types("a thought", &["enter"]);
    person.sees("1 queued");
    person.types(" typed", &[]);
    person.types("", &["esc"]);
    let screen =
        person.waits_for(|screen| screen.iter().any(|line| line.starts_with("interrupted")));
    let text = screen.join("\n");
    assert!(text.contains("> a thought\n   typed"), "{text}");
    person.types("", &["ctrl-c"]);
    person.leaves();
    scene.check();
}

#[test]
fn a_question_is_answered_in_place_and_what_is_typed_stays() {
    let scene = Scene::new(vec![
        Reply::answer(CASES[0].command("call_1", "rm -rf precious")),
        Reply::answer(CASES[0].command("call_2", "rm -rf other")),
        Reply::text("both asked"),
    ]);
    for name in ["precious", "other"] {
        fs::create_dir(scene.umbo.path().join(name)).unwrap();
    }
    let person = Person::sit(&scene, "80x24", "--gate default");
    person.types("clean up", &["enter"]);
    person.sees("May this run?");
    person.types("n", &[]);
    person.sees("rm -rf other");
    assert!(scene.umbo.path().join("precious").exists());
    person.types("y", &[]);
    person.sees("both asked");
    assert!(scene.umbo.path().join("precious").exists());
    assert!(!scene.umbo.path().join("other").exists());
    let denied = &scene.server.requests()[1].text;
    assert!(denied.contains("the user said no"), "{denied}");
    person.leaves();
}

#[test]
fn a_change_is_shown_to_whoever_is_asked_about_it() {
    let write = json!({"path": "note.txt", "content": "one\ntwo\n"});
    let edit = json!({"path": "note.txt", "edits": [{"old": "two", "new": "zwei"}]});
    let scene = Scene::new(vec![
        Reply::answer(Answer::call("call_1", "write", &write)),
        Reply::answer(Answer::call("call_2", "edit", &edit)),
        Reply::text("changed"),
    ]);
    let person = Person::sit(&scene, "80x24", "--gate default --dialect umbo");
    person.types("write it", &["enter"]);
    for line in ["  +two", "  +zwei"] {
        let screen = person.waits_for(|screen| {
            let is_there = |text: &str| screen.iter().any(|shown| shown == text);
            is_there(line) && is_there("May this run?")
        });
        assert!(screen.len() <= 24, "{screen:#?}");
        person.types("y", &[]);
    }
    person.sees("changed");
    let written = fs::read_to_string(scene.umbo.path().join("note.txt")).unwrap();
    assert_eq!(written, "one\nzwei\n");
    person.leaves();
}

#[test]
fn nothing_is_lost_or_stale_after_a_resize_and_history_is_kept_by_the_terminal() {
    let lines: Vec<String> = (1..=60).map(|n| format!("line number {n} of the answer\n")).collect();
    let long = lines.concat();
    let scene = Scene::new(vec![Reply::text(&long), Reply::text("the end")]);
    let person = Person::sit(&scene, "80x24", "");
    person.types("tell me much", &["enter"]);
    person.sees("line number 60");
    let half = "a text that is not sent yet and is longer than the half of a line";
    person.types(half, &[]);
    person.sees("half of a line");
    for size in ["40x20", "100x30", "33x12", "80x24"] {
        let drawn = person.umbo.output(&person.seat).len().to_string();
        person.umbo.call(["input", &person.seat, "--resize", size]).run();
        // No terminal can say what it shows while it takes two sizes at once: each is drawn for.
        let frame = ["wait", &person.seat, "--match", r"\?2026l", "--from", &drawn];
        assert_eq!(person.umbo.call(frame).answer().status, 0);
        let columns: usize = size.split('x').next().unwrap().parse().unwrap();
        let screen = person.waits_for(|screen| {
            let joined: String =
                screen.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
            let squeezed = joined.replace(' ', "");
            squeezed.matches(&half.replace(' ', "")).count() == 1
        });
        assert!(screen.iter().all(|line| line.chars().count() <= columns), "{screen:#?}");
        let status = screen.iter().filter(|line| line.contains("claude-sonnet-5")).count();
        assert_eq!(status, 1, "{size}: {screen:#?}");
    }
    person.types("", &["enter"]);
    person.sees("the end");
    assert!(scene.server.requests()[1].text.contains(half));
    let transcript = person.transcript();
    for n in 1..=60 {
        let line = format!("line number {n} of the answer");
        assert_eq!(transcript.matches(&line).count(), 1, "{line}:\n{transcript}");
    }
    person.leaves();
}

#[test]
fn what_was_typed_is_there_again_after_a_kill() {
    let scene = Scene::new(vec![Reply::text("yes")]);
    let person = Person::sit(&scene, "80x24", "");
    person.types("hello", &["enter"]);
    person.sees("yes");
    person.types("half a thou", &[]);
    person.sees("half a thou");
    let draft = || {
        let files = fs::read_dir(scene.umbo.state().join("agent-sessions")).unwrap().flatten();
        let mut drafts = files.filter(|file| file.path().extension().is_some_and(|e| e == "draft"));
        drafts.next().and_then(|file| fs::read_to_string(file.path()).ok()).unwrap_or_default()
    };
    while draft() != "half a thou" {
        std::thread::yield_now();
    }
    person.umbo.stop(&person.seat, &["--kill"]);
    let again = Person::sit(person.scene, "80x24", "-c");
    let screen = again.waits_for(|screen| screen.iter().any(|line| line == "> half a thou"));
    assert!(screen.iter().any(|line| line == "> hello"), "{screen:#?}");
    again.types("", &["ctrl-c"]);
    again.types("", &["up"]);
    again.waits_for(|screen| screen.iter().any(|line| line == "> half a thou"));
    again.types("", &["ctrl-c"]);
    again.leaves();
}

#[test]
fn commands_of_the_terminal_do_what_they_say() {
    let scene = Scene::new(vec![
        Reply::answer(Answer::call(
            "call_1",
            "Bash",
            &json!({"command": "read line < go", "run_in_background": true}),
        )),
        Reply::text("started"),
        Reply::text("ended"),
        Reply::text("the summary of it all"),
        Reply::text("over there"),
    ]);
    let go = scene.umbo.fifo("go");
    let person = Person::sit(&scene, "100x40", "");
    person.types("run it", &["enter"]);
    person.sees("waiting for 1 jobs");
    fs::write(go, "\n").unwrap();
    person.sees("Background job ended");
    person.waits_for(|screen| !screen.iter().any(|line| line.contains("working")));
    person.types("/jobs", &["enter"]);
    person.sees("exited 0  read line < go");
    person.types("/cost", &["enter"]);
    person.sees("tokens read");
    person.types("/tree", &["enter"]);
    person.sees("user: run it");
    person.types("/he", &["tab"]);
    person.types("", &["enter"]);
    person.sees("alt-enter  say it when");
    person.types("/handoff carry on", &["enter"]);
    person.sees("New session started with handoff context");
    person.types("/modle", &["enter"]);
    person.sees("there is no /modle");
    person.types("", &["ctrl-c"]);
    person.types("where are we?", &["enter"]);
    person.sees("over there");
    assert!(scene.server.requests()[4].text.contains("the summary of it all"));
    person.waits_for(|screen| !screen.iter().any(|line| line.contains("working")));
    person.types("/undo", &["enter"]);
    let screen = person.waits_for(|screen| {
        let prompts = screen.iter().filter(|line| line.starts_with("> where are we?")).count();
        prompts == 2 && !screen.iter().any(|line| line.contains("working"))
    });
    assert!(screen.iter().any(|line| line.contains("going on at")), "{screen:#?}");
    person.types("", &["ctrl-c"]);
    person.leaves();
}

#[test]
fn without_a_cursor_to_move_all_is_written_below() {
    let scene = Scene::new(vec![
        Reply::answer(CASES[0].command("call_1", "echo plain")),
        Reply::text("plainly"),
    ]);
    let umbo = Umbo::with_deadline(DEADLINE);
    let url = format!("ANTHROPIC_BASE_URL={}", scene.server.url());
    let state = format!("UMBO_STATE_DIR={}", scene.umbo.state().display());
    let options = ["--pty", "--env", &url, "--env", &state, "--env", "ANTHROPIC_API_KEY=k"];
    let seat =
        umbo.start_with(&options, &format!("'{UMBO}' agent --plain --model {}", CASES[0].model));
    umbo.wait_for(&seat, "you: ");
    umbo.call(["input", &seat, "say it\n"]).run();
    umbo.wait_for(&seat, "agent: plainly");
    umbo.call(["input", &seat, "\n"]).run();
    assert_eq!(umbo.outcome(&seat)["code"], 0);
    let written = String::from_utf8(umbo.output(&seat)).unwrap();
    assert!(!written.contains('\x1b'), "{written:?}");
    assert!(written.contains("tool: Bash") && written.contains("result: plain"), "{written}");
}

#[test]
fn the_model_asks_and_a_person_chooses_types_or_does_not_answer() {
    let options = json!([{"label": "red"}, {"label": "blue"}]);
    let question = |id: &str, text: &str| {
        let one = json!({"id": "c", "question": text, "options": options, "recommended": 1});
        Reply::answer(Answer::call(id, "ask", &json!({"questions": [one]})))
    };
    let list = json!({"todos": [
        {"content": "look", "status": "completed"}, {"content": "mend", "status": "in_progress"}]});
    let scene = Scene::new(vec![
        question("call_1", "Which first?"),
        question("call_2", "Which second?"),
        Reply::answer(Answer::call("call_3", "TodoWrite", &list)),
        question("call_4", "Which third?"),
        Reply::text("never"),
    ]);
    let person = Person::sit(&scene, "80x24", "");
    person.types("go", &["enter"]);
    person.sees("Which first?");
    let screen = person.waits_for(|screen| screen.iter().any(|l| l == "> 2 blue (Recommended)"));
    assert!(screen.iter().any(|line| line == "  3 Other (type your own)"), "{screen:#?}");
    person.types("", &["up"]);
    person.waits_for(|screen| screen.iter().any(|line| line == "> 1 red"));
    person.types("", &["enter"]);
    person.sees("User selected: red");
    person.sees("Which second?");
    person.types("3", &[]);
    person.sees("type your answer");
    person.types("a light green", &["enter"]);
    person.sees("User provided custom input: a light green");
    person.sees("Which third?");
    let screen = person.waits_for(|s| s.iter().any(|line| line.contains("todo 1/2: mend")));
    assert!(screen.iter().any(|line| line.contains("[>] mend")), "{screen:#?}");
    person.types("", &["esc"]);
    person.sees("interrupted");
    person.waits_for(|screen| !screen.iter().any(|line| line.contains("working")));
    assert_eq!(scene.server.requests().len(), 4, "it does not go on");
    person.types("/todo", &["enter"]);
    person.sees("Todo: 1 of 2 done");
    person.leaves();
}

#[test]
fn paths_and_commands_are_completed_history_is_searched_and_a_paste_stays_whole() {
    let scene = Scene::new(vec![Reply::text("fine"), Reply::text("again")]);
    for name in ["alpha.txt", "alphabet.md"] {
        fs::write(scene.umbo.path().join(name), "").unwrap();
    }
    let person = Person::sit(&scene, "80x24", "");
    let has = |text: &'static str| {
        move |screen: &[String]| screen.iter().any(|line| line.as_str() == text)
    };
    person.types("look at al", &["tab"]);
    person.waits_for(has("> look at alpha"));
    person.types("", &["tab"]);
    person.waits_for(|screen| screen.iter().any(|l| l.starts_with("alpha.txt  alphabet.md")));
    person.types("b", &["tab"]);
    person.waits_for(has("> look at alphabet.md"));
    person.types("", &["enter"]);
    person.sees("fine");
    // All of them, though they do not fit in a line.
    person.types("/", &["tab"]);
    person.waits_for(|screen| {
        let text = screen.join(" ");
        ["/branch", "/model", "/quit", "/undo"].iter().all(|name| text.contains(name))
    });
    person.types("", &["ctrl-u"]);

    // Its lines are one text: none of them is sent by the line end before it.
    person.types("\x1b[200~one pasted\r\ntwo pasted\x1b[201~", &[]);
    person.waits_for(|screen| has("> one pasted")(screen) && has("  two pasted")(screen));
    assert_eq!(scene.server.requests().len(), 1);
    person.types("", &["ctrl-r"]);
    person.types("look", &[]);
    let screen = person.waits_for(has("> look at alphabet.md"));
    assert!(screen.iter().any(|line| line == "history: look"), "{screen:#?}");
    person.types("", &["esc"]);
    person.waits_for(|screen| has("> one pasted")(screen) && has("  two pasted")(screen));
    person.types("", &["enter"]);
    person.sees("again");
    let said = &scene.server.requests()[1].text;
    assert!(said.contains("one pasted\\ntwo pasted"), "{said}");
    person.leaves();
}

#[test]
fn a_session_of_the_list_goes_on_in_the_terminal() {
    let scene = Scene::new(vec![Reply::text("yes"), Reply::text("still here")]);
    scene.agent(CASES[0].model, &[], "are you there?").answer().expect_status(0);
    let id = scene.umbo.call(["sessions", "--json"]).json()["id"].as_str().unwrap().to_owned();
    let person = Person::runs(&scene, "80x24", &format!("sessions resume {id}"));
    person.waits_for(|screen| screen.iter().any(|line| line == "> are you there?"));
    person.types("and now?", &["enter"]);
    person.sees("still here");
    person.waits_for(|screen| !screen.iter().any(|line| line.contains("working")));
    assert!(scene.server.requests()[1].text.contains("are you there?"));
    person.leaves();
}
