//! Persistent shell sessions: what one command leaves behind, the next one finds.

use std::fs;

use rustix::process::Signal;
use serde_json::json;

use crate::harness::{Call, UMBO, Umbo, pid, signal, words};

fn say<'a>(umbo: &'a Umbo, line: &'a str) -> Call<'a> {
    umbo.call(["exec", "--session", "s", line])
}

#[test]
fn directory_variables_functions_and_aliases_persist() {
    let umbo = Umbo::new();
    fs::create_dir(umbo.path().join("sub dir")).unwrap();
    say(&umbo, "cd 'sub dir'").run();
    let here = fs::canonicalize(umbo.path().join("sub dir")).unwrap();
    say(&umbo, "pwd").stdout(format!("{}\n", here.display())).run();
    say(&umbo, "export SEEN=1; hidden='two words'; list=(a 'b c' d); declare -A map=([k]=v)").run();
    say(
        &umbo,
        "echo $hidden; printenv SEEN; printenv hidden; printf '%s|' \"${list[@]}\" ${map[k]}",
    )
    .stdout("two words\n1\na|b c|d|v|")
    .run();
    say(&umbo, "greet() { echo \"hello $1\"; return 4; }; alias again='greet again'").run();
    say(&umbo, "greet you").stdout("hello you\n").status(4).run();
    say(&umbo, "again").stdout("hello again\n").status(4).run();
    say(&umbo, "unset hidden; unset -f greet; cd ..").run();
    say(&umbo, "echo \"[$hidden]\"; type greet 2>/dev/null").stdout("[]\n").status(1).run();
}

#[test]
fn every_name_persists_whatever_it_is() {
    let umbo = Umbo::new();
    say(&umbo, "name=bob; status=5; x=1; line='a\nb'; quote=\"it's \\\"x\\\" \\$y\"; empty=").run();
    let line = "echo \"$name|$status|$x|$line|$quote|${empty-unset}\"";
    say(&umbo, line).stdout("bob|5|1|a\nb|it's \"x\" $y|\n").run();
}

#[test]
fn exit_codes_are_exact() {
    let umbo = Umbo::new();
    for code in [0, 1, 2, 42, 127, 255] {
        say(&umbo, &format!("(exit {code})")).status(code).run();
        say(&umbo, &format!("exit {code}")).status(code).run();
    }
    say(&umbo, "false | true").run();
    say(&umbo, "no-such-command-here 2>/dev/null").status(127).run();
    say(&umbo, "X=after; exit 3").status(3).run();
    say(&umbo, "echo $X").stdout("after\n").run();
    let answer = say(&umbo, "kill -TERM $$").answer();
    assert_eq!(answer.status, 143, "{answer:?}");
}

#[test]
fn options_persist() {
    let umbo = Umbo::new();
    say(&umbo, "set -e; shopt -s nullglob; umask 027").run();
    say(&umbo, "umask; echo none-*; false; echo not reached").stdout("0027\n\n").status(1).run();
    say(&umbo, "set +e").run();
    say(&umbo, "false; echo reached").stdout("reached\n").run();
    say(&umbo, "set -u").run();
    let answer = say(&umbo, "echo $no_such_variable; echo not reached").answer();
    assert!(answer.status != 0 && answer.stdout.is_empty(), "{answer:?}");
    say(&umbo, "set +u; set -o pipefail").run();
    say(&umbo, "false | true").status(1).run();
}

#[test]
fn a_syntax_error_costs_only_itself() {
    let umbo = Umbo::new();
    say(&umbo, "KEPT=yes").run();
    let answer = say(&umbo, "if then (").answer();
    assert!(answer.status != 0 && answer.said().contains("syntax error"), "{answer:?}");
    say(&umbo, "echo $KEPT").stdout("yes\n").run();
}

#[test]
fn env_overrides_and_persists() {
    let umbo = Umbo::new();
    say(&umbo, "export A=session B=session").run();
    umbo.call(["exec", "--session", "s", "--env", "A=given", "echo $A $B; printenv A"])
        .stdout("given session\ngiven\n")
        .run();
    say(&umbo, "echo $A").stdout("given\n").run();
}

#[test]
fn cwd_moves_the_session() {
    let umbo = Umbo::new();
    fs::create_dir(umbo.path().join("there")).unwrap();
    umbo.call(["exec", "--session", "s", "--cwd", "there", "true"]).run();
    let there = fs::canonicalize(umbo.path().join("there")).unwrap();
    say(&umbo, "pwd; echo $PWD").stdout(format!("{0}\n{0}\n", there.display())).run();
}

#[test]
fn a_killed_command_keeps_the_session() {
    let umbo = Umbo::new();
    say(&umbo, "A=1").run();
    let answer = umbo.call(["exec", "--session", "s", "--timeout", "0.3", "A=2; $NAP"]).answer();
    assert_eq!(answer.status, 124);
    let job = umbo.start_with(&["--session", "s"], "A=3; echo ready; $NAP");
    umbo.wait_for(&job, "ready");
    umbo.stop(&job, &["--kill"]);
    let job = umbo.start_with(&["--session", "s"], "A=4; echo ready; $NAP");
    umbo.wait_for(&job, "ready");
    signal(umbo.supervisor(&job), Signal::KILL);
    umbo.outcome(&job);
    let answer = say(&umbo, "echo $A").answer();
    assert_eq!((answer.status, answer.said()), (0, String::new()));
    assert!(["1\n", "2\n"].contains(&answer.text().as_str()), "a state it really had: {answer:?}");
}

#[test]
fn calls_at_the_same_time_come_one_after_the_other() {
    let umbo = Umbo::new();
    say(&umbo, "n=0").run();
    let line = "m=$n; sleep 0.02; n=$((m + 1))";
    let calls: Vec<_> = (0..8).map(|_| say(&umbo, line).spawn()).collect();
    for call in calls {
        let answer = call.answer();
        assert_eq!(answer.status, 0, "{answer:?}");
    }
    say(&umbo, "echo $n").stdout("8\n").run();
}

#[test]
fn a_session_in_use_is_waited_for_though_its_job_was_pruned_meanwhile() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--session", "s"], "read x; A=first");
    let next = say(&umbo, "echo got $A").spawn();
    umbo.call(["input", &job, "\n"]).run();
    umbo.call(["prune", "--all"]).answer();
    let answer = next.answer();
    assert_eq!((answer.status, answer.text()), (0, "got first\n".into()), "{answer:?}");
}

#[test]
fn sessions_do_not_see_each_other() {
    let umbo = Umbo::new();
    umbo.call(["exec", "--session", "one", "A=1; cd /"]).run();
    umbo.call(["exec", "--session", "two", "echo [$A]"]).stdout("[]\n").run();
    assert_eq!(umbo.jobs()[0]["session"], "one");
}

#[test]
fn a_trap_of_the_command_does_not_cost_the_session() {
    let umbo = Umbo::new();
    say(&umbo, "trap 'echo bye' EXIT; A=kept").stdout("bye\n").run();
    say(&umbo, "echo $A").stdout("kept\n").run();
    say(&umbo, "trap 'echo bye; exit 4' EXIT; A=end").stdout("bye\n").status(4).run();
    say(&umbo, "echo $A").stdout("end\n").run();
    say(&umbo, "trap 'echo bye' EXIT; A=left; exit 5").stdout("bye\n").status(5).run();
    say(&umbo, "echo $A").stdout("left\n").run();
    say(&umbo, "trap 'exit 6' EXIT; f() { A=deep; false || exit; }; f").status(6).run();
    say(&umbo, "echo $A; (A=sub; exit 3); echo $? $A").stdout("deep\n3 deep\n").run();
}

#[test]
fn a_shell_that_could_not_save_is_told_of() {
    let umbo = Umbo::new();
    say(&umbo, "A=1").run();
    let answer = umbo.exec_json(&["--session", "s"], "A=2; exec true");
    assert_eq!(answer["exit_code"], 0);
    let note = answer["notes"][0].as_str().unwrap();
    assert!(note.contains("session s is as it was before"), "{note}");
    let answer = umbo.exec_json(&["--session", "s"], "echo $A");
    assert_eq!((&answer["stdout"], &answer["notes"]), (&json!("1\n"), &json!([])));
}

#[test]
fn tracing_shows_the_command_and_nothing_of_umbo() {
    let umbo = Umbo::new();
    say(&umbo, "set -x; A=1").stderr("++ A=1\n").run();
    say(&umbo, "echo $A").stdout("1\n").stderr("++ echo 1\n").run();
    say(&umbo, "trap 'exit 4' EXIT; exit 3")
        .stderr("++ trap 'exit 4' EXIT\n++ exit 3\n")
        .status(4)
        .run();
    say(&umbo, "set +x").stderr("++ set +x\n").run();
    say(&umbo, "exec 7>trace; BASH_XTRACEFD=7; set -x; :").run();
    assert_eq!(fs::read_to_string(umbo.path().join("trace")).unwrap(), "++ :\n");
    say(&umbo, "set +x").answer();
    let line = "trap 'echo \"> $BASH_COMMAND\"' DEBUG; echo one; exit 3";
    say(&umbo, line).stdout("> echo one\none\n> exit 3\n").status(3).run();
    say(&umbo, "trap 'echo \"> $BASH_COMMAND\"' DEBUG; echo two").stdout("> echo two\ntwo\n").run();
}

#[test]
fn messages_of_bash_name_the_line_of_the_command() {
    let umbo = Umbo::new();
    let answer = say(&umbo, "\nno-such-command-here").answer();
    assert_eq!(answer.said(), "umbo: line 2: no-such-command-here: command not found\n");
}

#[test]
fn values_given_to_a_session_are_in_no_command_line() {
    let umbo = Umbo::new();
    let options = ["--session", "s", "--env", "GIVEN=hunter2-hunter2", "--env", "a.b=dotted"];
    let job = umbo.start_with(&options, "echo \"got $GIVEN\"; printenv a.b; $NAP");
    umbo.wait_for(&job, "got hunter2-hunter2\ndotted");
    let command = pid(umbo.listed(&job)["pid"].as_i64().unwrap());
    let line = words(command).join(" ");
    assert!(line.contains("GIVEN") && !line.contains("hunter2"), "{line}");
}

#[test]
fn a_leak_of_a_session_is_called_by_its_command() {
    let umbo = Umbo::new();
    let line = "(echo ready; $NAP; echo done) & sleep 0.05; exit 0";
    let answer = umbo.exec_json(&["--session", "s"], line);
    let commands: Vec<_> =
        answer["leaked"].as_array().unwrap().iter().map(|leak| &leak["command"]).collect();
    assert_eq!(commands, [&json!(line), &json!(umbo.nap())], "{answer}");
}

#[test]
fn stdin_and_a_terminal_work_in_a_session() {
    let umbo = Umbo::new();
    umbo.call(["exec", "--session", "s", "--stdin", "typed", "read -r A; echo $A"])
        .stdout("typed\n")
        .run();
    say(&umbo, "echo $A").stdout("typed\n").run();
    umbo.call(["exec", "--session", "s", "--pty", "test -t 1 && echo $A"])
        .stdout("typed\r\n")
        .run();
}

#[test]
fn a_damaged_session_file_is_no_end() {
    let umbo = Umbo::new();
    say(&umbo, "A=1").run();
    let file = umbo.state().join("sessions/s/state.sh");
    fs::write(&file, "garbage ((( 'unfinished").unwrap();
    let answer = say(&umbo, "echo works").answer();
    assert_eq!((answer.status, answer.text()), (0, "works\n".into()), "{answer:?}");
    say(&umbo, "B=2").answer();
    say(&umbo, "echo $B").stdout("2\n").run();
}

#[test]
fn only_bash_keeps_sessions() {
    let umbo = Umbo::new();
    let said = umbo.call(["exec", "--session", "s", "--shell", "fish", "true"]).refused();
    assert!(said.contains("kept by bash"), "{said}");
    let said = umbo.call(["exec", "--session", "s", "--login", "true"]).refused();
    assert!(said.contains("login"), "{said}");
}

#[test]
fn a_home_without_login_files_has_its_rc_read() {
    let umbo = Umbo::new();
    fs::write(umbo.path().join("home/.bashrc"), "fun() { echo fun $1; }\n").unwrap();
    assert_eq!(umbo.call(["exec", "--profile", "fun x"]).answer().text(), "fun x\n");
}

#[test]
fn the_profile_brings_the_users_aliases_functions_and_exports() {
    let umbo = Umbo::new();
    let rc = umbo.path().join("home/.bashrc");
    fs::write(&rc, "alias hi='echo hi from alias'\nfun() { echo fun $1; }\nexport RC=read\n")
        .unwrap();
    fs::write(umbo.path().join("home/.bash_profile"), ". ~/.bashrc\n").unwrap();
    let ask = |line: &str| umbo.call(["exec", "--profile", line]).answer();
    assert_eq!(ask("hi; fun x; echo $RC").text(), "hi from alias\nfun x\nread\n");
    // Read once: a second call makes no second snapshot, until the files change.
    let snapshots = || umbo.jobs().iter().filter(|job| job["name"] == "profile snapshot").count();
    assert_eq!(ask("fun y").text(), "fun y\n");
    assert_eq!(snapshots(), 1);
    fs::write(&rc, "fun() { echo new $1; }\n# longer than before, and so another file\n").unwrap();
    assert_eq!(ask("fun z").text(), "new z\n");
    assert_eq!(snapshots(), 2);
    // Without it nothing of this is there.
    let answer = umbo.exec("command -v fun; echo \"[$RC]\"").answer();
    assert_eq!(answer.text(), "[]\n");
}

#[test]
fn a_profile_that_hangs_or_fails_is_an_error_that_names_its_job() {
    let umbo = Umbo::new();
    fs::write(umbo.path().join("home/.bash_profile"), "kill -9 $$\n").unwrap();
    let said = umbo.call(["exec", "--profile", "true"]).refused();
    let job = &umbo.jobs()[0];
    assert!(
        said.contains("start-up files") && said.contains(job["job"].as_str().unwrap()),
        "{said}"
    );
    assert_eq!(job["state"], json!("signaled"));
}

#[test]
fn a_busy_session_is_a_line_that_nobody_hangs_in() {
    let umbo = Umbo::new();
    let holder = umbo.start_with(&["--session", "s"], "echo ready; read x; A=first");
    umbo.wait_for(&holder, "ready");
    // `start` answers at once, with a job that waits.
    let second = umbo.start_with(&["--session", "s"], "echo second $A; A=second");
    let third = umbo.start_with(&["--session", "s"], "echo third $A");
    let listed = umbo.listed(&second);
    assert_eq!((&listed["state"], &listed["queue_position"]), (&json!("queued"), &json!(1)));
    assert_eq!(listed["reason"], format!("session s is busy with job {holder}"));
    assert_eq!(umbo.listed(&third)["queue_position"], 2);
    // A call answers after its yield.
    let arguments = json!({"command": "echo x", "session": "s", "yield": 0.2}).to_string();
    let answer = umbo.call(["call", "exec", &arguments]).json();
    assert_eq!((&answer["state"], &answer["queue_position"]), (&json!("queued"), &json!(3)));
    assert!(answer["reason"].as_str().unwrap().contains(&holder), "{answer}");
    umbo.stop(answer["job"].as_str().unwrap(), &[]);
    // Who does not want to wait is refused, with the job that has it.
    let refused = umbo.call(["exec", "--no-queue", "--session", "s", "true"]).refused();
    assert!(refused.contains(&holder), "{refused}");
    umbo.call(["input", &holder, "\n"]).run();
    assert_eq!(umbo.outcome(&third)["state"], "exited");
    assert_eq!(umbo.output(&second), b"second first\n");
    assert_eq!(umbo.output(&third), b"third second\n", "one after the other, in order");
}

#[test]
fn a_job_that_waits_for_its_session_holds_no_slot() {
    let umbo = Umbo::new();
    let holder = umbo.start_with(&["--session", "s"], "echo ready; read x");
    umbo.wait_for(&holder, "ready");
    let waits = umbo.start_with(&["--session", "s"], "echo after");
    let other = umbo.call(["exec", "echo other"]).env("UMBO_MAX_RUNNING", "2").answer();
    assert_eq!(other.text(), "other\n", "{other:?}");
    // A killed supervisor leaves the line and the session.
    signal(umbo.supervisor(&holder), Signal::KILL);
    assert_eq!(umbo.outcome(&waits)["state"], "exited");
}

#[test]
fn a_job_never_waits_for_a_session_that_its_own_ancestor_has() {
    let umbo = Umbo::new();
    let answer = say(&umbo, "$UMBO exec --session s true").env("UMBO", UMBO).answer();
    assert!(answer.status != 0 && answer.said().contains("session"), "{answer:?}");
}

#[test]
fn a_job_in_a_session_is_listed_where_it_ran() {
    let umbo = Umbo::new();
    fs::create_dir(umbo.path().join("below")).unwrap();
    say(&umbo, "cd below").run();
    say(&umbo, "true").run();
    let below = fs::canonicalize(umbo.path().join("below")).unwrap();
    assert_eq!(umbo.jobs().last().unwrap()["cwd"], below.to_str().unwrap());
    assert_ne!(umbo.jobs()[0]["cwd"], below.to_str().unwrap(), "it began outside");
}

#[test]
fn shells_are_listed_reset_and_ended_but_not_under_a_job() {
    let umbo = Umbo::new();
    assert_eq!(umbo.call(["shells", "--json"]).json(), json!([]));
    say(&umbo, "cd /; word=kept").run();
    let busy = umbo.start_with(&["--session", "busy"], "echo on; $NAP");
    umbo.wait_for(&busy, "on");
    let listed = umbo.call(["shells", "--json"]).json();
    assert_eq!((&listed[0]["name"], &listed[0]["job"]), (&json!("busy"), &json!(busy)));
    assert_eq!((&listed[1]["name"], &listed[1]["directory"]), (&json!("s"), &json!("/")));
    assert_eq!(listed[1]["job"], json!(null));
    let table = umbo.call(["shells"]).answer().text();
    assert!(table.contains("busy ") && table.contains("free"), "{table}");
    umbo.call(["shells", "reset", "s"]).stdout("s begins anew\n").run();
    say(&umbo, "echo \"[$word]\"").stdout("[]\n").run();
    let said = umbo.call(["shells", "reset", "busy"]).refused();
    assert!(said.contains(&busy), "{said}");
    assert_eq!(umbo.listed(&busy)["state"], "started");
    umbo.call(["shells", "end", "--stop", "busy", "s"]).stdout("busy is gone\ns is gone\n").run();
    assert_eq!(umbo.listed(&busy)["state"], "stopped");
    assert_eq!(umbo.call(["shells", "--json"]).json(), json!([]));
    assert!(umbo.call(["shells", "end", "nobody"]).refused().contains("no session"));
}
