//! `umbo top`, driven through a real terminal.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::harness::{TIMEOUT, UMBO, Umbo};

/// A person who looks at the jobs of an umbo. Their terminal is a job of another one: a real pty and a real
/// emulator.
struct Person {
    umbo: Umbo,
    seat: String,
}

impl Person {
    fn sit(umbo: &Umbo) -> Self {
        let person = Umbo::new();
        let variables = [
            format!("UMBO_STATE_DIR={}", umbo.state().display()),
            format!("HOME={}", umbo.path().join("home").display()),
            "TERM=xterm-256color".to_owned(),
            "PAGER=cat".to_owned(),
        ];
        let mut options = vec!["--pty", "--size", "100x30", "--attended"];
        for variable in &variables {
            options.extend(["--env", variable]);
        }
        let seat = person.start_with(&options, &format!("'{UMBO}' top"));
        Self { umbo: person, seat }
    }

    fn types(&self, text: &str, keys: &[&str]) {
        let mut words = vec!["input", &self.seat];
        if !text.is_empty() {
            words.push(text);
        }
        for key in keys {
            words.extend(["--key", key]);
        }
        self.umbo.call(words).run();
    }

    /// Waits until the screen is as it should be.
    #[track_caller]
    fn sees(&self, what: &str, is_right: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let screen = self.umbo.call(["screen", &self.seat]).answer().text();
            if is_right(&screen) {
                return screen;
            }
            assert!(Instant::now() < deadline, "{what}:\n{screen}");
            std::thread::yield_now();
        }
    }

    fn leaves(self) {
        self.types("q", &[]);
        let outcome = self.umbo.outcome(&self.seat);
        assert_eq!(outcome["code"], 0, "{outcome}");
    }
}

#[test]
fn jobs_are_seen_with_their_tails_searched_paused_and_stopped() {
    let umbo = Umbo::new();
    let web = umbo.start_with(&["--name", "web"], "echo serving on 8080; $NAP");
    let build = umbo.start_with(&["--name", "build"], "seq 100; echo building; $NAP");
    umbo.wait_for(&build, "building");
    let person = Person::sit(&umbo);
    // The newest is selected, and the end of what it wrote is below.
    let screen = person.sees("both jobs", |screen| {
        screen.contains("web") && screen.contains("build") && screen.contains("\nbuilding")
    });
    assert!(screen.contains("umbo top: 2 running, 0 queued, 0 ended"), "{screen}");
    assert!(screen.contains("\n100\n") || screen.contains("\n100 "), "{screen}");
    person.types("", &["down"]);
    person.sees("the other's tail", |screen| screen.contains("\nserving on 8080"));
    person.types("p", &[]);
    person.sees("that it is paused", |screen| screen.contains(" paused "));
    assert_eq!(umbo.listed(&web)["reason"], "paused");
    person.types("x", &[]);
    assert_eq!(umbo.outcome(&web)["state"], "stopped");
    person.sees("that it is stopped", |screen| screen.contains("1 running, 0 queued, 1 ended"));
    person.types("/", &[]);
    person.types("web", &["enter"]);
    person.sees("only what fits", |screen| {
        screen.contains("0 running, 0 queued, 1 ended") && !screen.contains("build")
    });
    // A job that comes while somebody looks.
    person.types("", &["esc"]);
    umbo.start_with(&["--name", "newcomer"], "$NAP");
    person.sees("the new one", |screen| screen.contains("newcomer"));
    person.leaves();
}

#[test]
fn enter_sits_down_at_a_terminal_and_leaving_it_comes_back() {
    let umbo = Umbo::new();
    let line = "echo ready; read line; echo got-$line; $NAP";
    let job = umbo.start_with(&["--name", "repl", "--pty"], line);
    umbo.wait_for(&job, "ready");
    let person = Person::sit(&umbo);
    person.sees("the job", |screen| screen.contains("umbo top:") && screen.contains("repl"));
    person.types("", &["enter"]);
    person.sees("its terminal", |screen| screen.contains("ready") && !screen.contains("umbo top:"));
    person.types("hello", &["enter"]);
    person.sees("its answer", |screen| screen.contains("got-hello"));
    person.types("", &["ctrl-\\"]);
    person.sees("the list again", |screen| screen.contains("umbo top: 1 running"));
    assert_eq!(umbo.listed(&job)["state"], "started");
    person.leaves();
}

#[test]
fn what_a_job_is_called_and_writes_cannot_repaint_it() {
    let umbo = Umbo::new();
    let hostile = "x\u{1b}]0;title\u{7}\u{1b}[2J\rOVER\nFORGED";
    umbo.start(&format!("printf '%s' '{hostile}'; $NAP"));
    let person = Person::sit(&umbo);
    person.sees("the job", |screen| screen.contains("1 running"));
    let drawn = String::from_utf8(person.umbo.output(&person.seat)).unwrap();
    assert!(!drawn.contains("\u{1b}]0;") && !drawn.contains("\u{1b}[2J"), "{drawn:?}");
    person.leaves();
}

#[test]
fn a_question_is_in_the_list_and_approved_from_there() {
    let umbo = Umbo::new();
    let asked = umbo.call(["exec", "--json", "--mode", "default", "touch made"]).status(125).json();
    let id = asked["error"]["id"].as_str().unwrap().to_owned();
    // Not a job of another umbo this time: inside of jobs nobody approves.
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let size = Winsize { ws_col: 100, ws_row: 30, ws_xpixel: 0, ws_ypixel: 0 };
    let name = ptsname(&master, Vec::new()).unwrap();
    let open = || OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let terminal = open();
    tcsetwinsize(&terminal, size).unwrap();
    let mut command: Command = umbo.call(["top"]).into_command();
    command.env("TERM", "xterm").env_remove("UMBO_RUN");
    let [input, output, errors] = [terminal, open(), open()].map(Stdio::from);
    let mut child = command.stdin(input).stdout(output).stderr(errors).spawn().unwrap();
    drop(command);
    let mut keyboard = File::from(master);
    let mut screen = keyboard.try_clone().unwrap();
    let seen: Arc<Mutex<String>> = Arc::default();
    let seeing = Arc::clone(&seen);
    let reading = std::thread::spawn(move || {
        let mut chunk = vec![0; 65536];
        while let Ok(count @ 1..) = screen.read(&mut chunk) {
            seeing.lock().unwrap().push_str(&String::from_utf8_lossy(&chunk[..count]));
        }
    });
    let wait_for = |text: &str| {
        let deadline = Instant::now() + TIMEOUT;
        while !seen.lock().unwrap().contains(text) {
            assert!(Instant::now() < deadline, "{text}: {:?}", seen.lock().unwrap());
            std::thread::yield_now();
        }
        seen.lock().unwrap().clear();
    };
    wait_for("1 waiting for a yes");
    keyboard.write_all(b"a").unwrap();
    wait_for("Let it run? [y/N]");
    keyboard.write_all(b"y\n").unwrap();
    wait_for("umbo top:");
    let approvals = umbo.call(["approvals", "--json"]).json();
    assert_eq!((&approvals[0]["id"], &approvals[0]["state"]), (&id.into(), &"approved".into()));
    keyboard.write_all(b"q").unwrap();
    assert!(child.wait().unwrap().success());
    reading.join().unwrap();
}
