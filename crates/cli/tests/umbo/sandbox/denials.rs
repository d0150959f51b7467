//! A denial is a fact: what was denied is in the outcome, and nothing else is.

use std::fs;

use serde_json::json;
use umbo_engine::Request;
use umbo_engine::sandbox::{Operation, Profile};

use super::{Machine, Who, Yard, denied, every_rung};
use crate::mcp::Client;

#[test]
fn a_denied_write_is_in_the_outcome_of_a_command_that_exits_0() {
    for machine in [Machine::Usual, Machine::WithoutNamespaces] {
        let yard = Yard::new(Who::Ordinary, machine);
        let target = yard.path("outside/new");
        let line = format!(
            "(echo x > {0}) 2>/dev/null; (echo x > {0}) 2>/dev/null; true",
            target.display()
        );
        let answer = yard.exec("workspace", &[], &line);
        assert_eq!(answer["exit_code"], 0);
        assert_eq!(denied(&answer), [format!("create {}", target.display())]);
        assert_eq!(answer["denied"][0]["count"], 2);
        assert!(answer["denied"][0]["program"].as_str().unwrap().contains("sh -c"), "{answer}");
        assert!(answer["denied"][0]["at"].as_u64().unwrap() > 1_700_000_000_000_000);
        let record = yard.umbo.record(answer["job"].as_str().unwrap(), "outcome");
        assert_eq!(record["denied"], answer["denied"], "the record on disk says the same");
        assert!(!target.exists());
    }
}

#[test]
fn a_command_that_says_permission_denied_was_not_denied_anything() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let line = "echo 'bash: /etc/shadow: Permission denied' >&2; echo 'Read-only file system'; \
                touch shut; chmod 0 shut; cat shut; exit 1";
    let answer = yard.exec("workspace", &[], line);
    assert_eq!(answer["exit_code"], 1);
    assert_eq!(denied(&answer), [""; 0]);
}

#[test]
fn what_would_fail_without_a_sandbox_too_is_no_denial() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let outside = yard.path("outside");
    let there = outside.display();
    let line = format!(
        "touch /etc/umbo-test; mkdir -p /usr/lib; mkdir {there}/dir; rm {there}/none; rmdir {there}/none; \
         mv {there}/none x; echo x > {there}/none/x; echo x > {there}/dir; chmod 700 {there}/none; \
         chmod 700 /etc/passwd; ln {there}/none x; : > /dev/stderr; : > /dev/null; true"
    );
    let answer = yard.exec("workspace", &[], &line);
    assert_eq!(denied(&answer), [""; 0], "{answer}");
}

#[test]
fn every_kind_of_change_is_told_by_its_name() {
    for rung in every_rung() {
        let yard = Yard::new(Who::Tester, Machine::Usual);
        let mut plan = yard.plan(Profile::Workspace);
        plan.rungs = vec![rung];
        let outside = yard.path("outside");
        let there = outside.display();
        let line = format!(
            "touch own; echo x > {there}/file; echo x > {there}/a; mkdir {there}/b; ln -s x {there}/c; \
             rm -f {there}/file; rmdir {there}/dir; mv {there}/file own2; mv own {there}/d; chmod 0 {there}/file; \
             touch {there}/file; true"
        );
        let (_, outcome) = yard.umbo.engine().run(&yard.request(plan, &line)).unwrap();
        let told: Vec<(Operation, &str)> = outcome
            .denied
            .iter()
            .map(|one| (one.operation, one.target.rsplit('/').next().unwrap()))
            .collect();
        for wanted in [
            (Operation::Write, "file"),
            (Operation::Create, "a"),
            (Operation::Create, "b"),
            (Operation::Create, "c"),
            (Operation::Delete, "file"),
            (Operation::Delete, "dir"),
            (Operation::Rename, "file"),
            (Operation::Rename, "d"),
            (Operation::Change, "file"),
        ] {
            assert!(told.contains(&wanted), "{rung:?}: no {wanted:?} in {told:?}");
        }
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "original");
    }
}

/// Ways to write outside, and what of each is told; `{there}` is the place outside, and beside the project.
const WAYS_OUT: [(&str, &str); 12] = [
    ("ln -s {there} away; echo x > away/a", "create a"),
    ("ln -s {there}/file link; echo x > link", "write file"),
    ("ln -s {there}/new link; echo x > link", "create new"),
    ("ln -s ../outside/file link; chmod 0 link", "change file"),
    ("cd {there}; echo x > a", "create a"),
    ("mkdir d; cd d; echo x > ../../outside/a", "create a"),
    ("echo x > .//./../outside/./a", "create a"),
    ("mkdir r; ln -s {there} r/s; mv r q; echo x > q/s/a", "create a"),
    (
        "mkdir p; mkdir p/dir; echo x > p/dir/a; rm -r p; ln -s {there} p; echo x > p/dir/a",
        "create a",
    ),
    ("find {there} -name file -delete", "delete file"),
    ("perl -e 'open(F, \"<\", shift); chmod 0, *F' {there}/file", "change file"),
    ("perl -e 'open(F, \"<\", shift); utime 1, 1, *F' {there}/file", "change file"),
];

#[test]
fn a_denial_is_told_whatever_the_way_to_it() {
    for rung in every_rung() {
        let yard = Yard::new(Who::Tester, Machine::Usual);
        let engine = yard.umbo.engine();
        for (line, expected) in WAYS_OUT {
            let mut plan = yard.plan(Profile::Workspace);
            plan.rungs = vec![rung];
            let there = yard.path("outside");
            let line =
                format!("({}) 2>/dev/null; true", line.replace("{there}", there.to_str().unwrap()));
            let (_, outcome) = engine.run(&yard.request(plan, &line)).unwrap();
            let told: Vec<String> = outcome
                .denied
                .iter()
                .map(|one| {
                    format!("{} {}", one.operation.name(), one.target.rsplit('/').next().unwrap())
                })
                .collect();
            assert_eq!(told, [expected], "{rung:?}: {line}");
            assert_eq!(fs::read_to_string(there.join("file")).unwrap(), "original", "{line}");
            assert_eq!(fs::read_dir(&there).unwrap().count(), 2, "{line}");
            let (_, cleaned) = engine.run(&Request::shell("rm -rf ./*", yard.project())).unwrap();
            assert!(cleaned.success(), "{cleaned:?}");
        }
    }
}

/// What looks at a hidden thing, and what of it is told.
const LOOKS: [(&str, &str); 7] = [
    ("cat ~/.ssh/id", "home/.ssh/id"),
    ("ls ~/.ssh", "home/.ssh"),
    ("cd ~/.ssh", "home/.ssh"),
    ("stat ~/.ssh/config", "home/.ssh/config"),
    ("cat < ~/.netrc", "home/.netrc"),
    ("test -r ~/.netrc", "home/.netrc"),
    ("exec ~/.ssh/run", "home/.ssh/run"),
];

#[test]
fn every_look_at_what_is_hidden_is_told_with_who_looked() {
    for (who, machine) in [
        (Who::Tester, Machine::Usual),
        (Who::Ordinary, Machine::Usual),
        (Who::Ordinary, Machine::CoveredProcesses),
    ] {
        let yard = Yard::new(who, machine);
        fs::write(yard.path("home/.netrc"), "password").unwrap();
        yard.give(&yard.path("home"));
        for (line, target) in LOOKS {
            let line = format!("bash -c 'exec 2>/dev/null; {line}'; ls -d ~/.ssh ~/.netrc");
            let answer = yard.exec("workspace", &[], &line);
            let told = format!("read {}", yard.path(target).display());
            assert_eq!(denied(&answer), [told], "{line}: {answer}");
            let denial = &answer["denied"][0];
            assert!(denial["pid"].as_u64().unwrap() > 0, "{line}: {denial}");
            assert!(!denial["program"].as_str().unwrap().is_empty(), "{line}: {denial}");
            assert_eq!(
                answer["exit_code"], 0,
                "what is hidden is still seen to be there: {answer}"
            );
        }
    }
}

#[test]
fn without_namespaces_reading_what_is_hidden_is_told_too() {
    let yard = Yard::new(Who::Ordinary, Machine::WithoutNamespaces);
    let answer =
        yard.exec("workspace", &[], "cat ~/.ssh/id; cat /etc/passwd >/dev/null && echo read");
    assert_eq!(answer["stdout"], "read\n", "{answer}");
    assert_eq!(denied(&answer), [format!("read {}", yard.path("home/.ssh/id").display())]);
}

#[test]
fn a_storm_of_looks_is_counted() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let line = "python3 -c \"import os\nfor n in range(3000):\n try: open(os.path.expanduser('~/.ssh/%d' % n))\n except PermissionError: pass\"";
    let answer = yard.exec("workspace", &[], line);
    let listed = answer["denied"].as_array().unwrap().len() as u64;
    assert_eq!(listed + answer["more_denied"].as_u64().unwrap(), 3000, "{answer}");
}

#[test]
fn a_thousand_different_denials_are_counted_and_the_first_listed() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let there = yard.path("outside");
    let line = format!(
        "i=0; while [ $i -lt 1000 ]; do true > {}/$i; i=$((i+1)); done 2>/dev/null; true",
        there.display()
    );
    let answer = yard.exec("workspace", &[], &line);
    assert_eq!(answer["denied"].as_array().unwrap().len(), 50);
    assert_eq!(answer["more_denied"], 950);
}

/// What every dialect runs a command with, and how it is told what became of one in the background.
#[test]
fn every_dialect_says_what_was_denied() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    yard.configure(
        "config.toml",
        "[tools]\nsandbox = 'workspace'\n[tools.shell]\nenabled = true\nshell = 'sh'\n",
    );
    // What a script does the gate cannot see.
    let script = "try:\n    open('../outside/new', 'a')\nexcept OSError:\n    print('said')\n";
    fs::write(yard.project().join("do.py"), script).unwrap();
    let line = "python3 do.py";
    let target = yard.path("outside/new").display().to_string();
    let said = format!("the sandbox denied: python3 may not create {target}");
    for (dialect, tool, field) in [
        ("umbo", "exec", "command"),
        ("claude-code", "Bash", "command"),
        ("codex", "exec_command", "cmd"),
        ("lash", "exec_command", "cmd"),
        ("meerkat", "shell", "command"),
        ("tasks", "Bash", "command"),
        ("omp", "bash", "command"),
        ("recipe", "shell.bash", "command"),
    ] {
        let words = ["mcp", "--dialect", dialect, "--mode", "guard"];
        let mut call = yard.umbo.call(words).current_dir(&yard.project()).into_command();
        let mut client = Client::of(&mut call);
        client.initialize("2025-11-25");
        let answer = client.tool(tool, &json!({field: line}));
        let text = answer["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        assert!(text.contains("said") && text.contains(&said), "{dialect}: {answer}");
        assert!(!text.contains("commands run in"), "nothing was chosen for it: {answer}");
        assert!(!yard.path("outside/new").exists(), "{dialect}");
    }
}

#[test]
fn the_first_answer_of_every_dialect_says_that_there_is_a_sandbox() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    for (dialect, tool, field) in
        [("claude-code", "Bash", "command"), ("codex", "exec_command", "cmd")]
    {
        let words = ["mcp", "--dialect", dialect, "--mode", "guard"];
        let mut call = yard.umbo.call(words).current_dir(&yard.project()).into_command();
        let mut client = Client::of(&mut call);
        client.initialize("2025-11-25");
        let mut is_told = || {
            let answer = client.tool(tool, &json!({field: "touch made"}));
            answer["content"].to_string().contains("commands run in the sandbox workspace+net")
        };
        assert!(is_told() && !is_told(), "{dialect}: once");
    }
}

#[test]
fn a_person_gets_one_line_that_says_it() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let target = yard.path("outside/file");
    let line = format!("echo x > {} || true", target.display());
    let call = yard.umbo.call(["exec", "--sandbox", "workspace", &line]);
    let answer = call.current_dir(&yard.project()).answer();
    let wanted = format!("the sandbox denied: sh may not write {}", target.display());
    assert!(answer.said().contains(&wanted), "{answer:?}");
}
