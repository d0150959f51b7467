//! Approvals: what they are bound to, how often they hold, and what forgery gets.

use std::ffi::OsString;
use std::fs;
use std::time::{Duration, Instant};

use umbo_gate::{
    APPROVAL_LIFETIME_MICROS, Admission, Approver, Covers, Declined, Error, Event, Lasts, Mode,
    Question, Refusal, Reply, UsableBy,
};

use crate::project::{NOW, Project, call, required};

const ONCE: Reply =
    Reply::Approve { covers: Covers::Command, lasts: Lasts::Once, usable_by: UsableBy::Asker };

fn is_admitted(admission: &Admission) -> bool {
    matches!(admission, Admission::Admitted { .. })
}

#[test]
fn an_approved_command_runs_once() {
    let project = Project::new();
    let (gate, root) = (project.gate(Mode::Default), project.root());
    let call = call("cargo build", &root);
    let id = required(&gate.admit(&call, NOW).unwrap());
    assert_eq!(required(&gate.admit(&call, NOW).unwrap()), id, "the same question is put once");
    gate.answer(&id, ONCE, "me", NOW).unwrap();
    let admission = gate.admit(&call, NOW).unwrap();
    assert!(is_admitted(&admission), "{admission:?}");
    assert_ne!(required(&gate.admit(&call, NOW).unwrap()), id, "it is used up");
}

#[test]
fn it_holds_for_nothing_else() {
    let project = Project::new();
    let (gate, root) = (project.gate(Mode::Default), project.root());
    let path = |value: &str| vec![(OsString::from("PATH"), OsString::from(value))];
    let (usual, evil) = (path("/bin"), path("/evil"));
    let asked = umbo_gate::Call { environment: &usual, ..call("make", &root) };
    let id = required(&gate.admit(&asked, NOW).unwrap());
    gate.answer(&id, ONCE, "me", NOW).unwrap();
    let sub = root.join("sub");
    for other in [
        umbo_gate::Call { command: "make ", ..asked },
        umbo_gate::Call { cwd: &sub, ..asked },
        umbo_gate::Call { environment: &evil, ..asked },
        umbo_gate::Call { environment: &[], ..asked },
        umbo_gate::Call { shell: umbo_command::Shell::Posix, ..asked },
    ] {
        required(&gate.admit(&other, NOW).unwrap());
    }
    let rules = "[[rule]]\ndecision='ask'\nreason='r'\nargv=['x']\n";
    let stricter =
        umbo_gate::Gate::open(project.with(rules), Mode::Default, &project.state(), project.key());
    required(&stricter.unwrap().admit(&asked, NOW).unwrap());
    assert!(is_admitted(&gate.admit(&asked, NOW).unwrap()), "it was not used up by the others");
}

#[test]
fn a_link_that_leads_elsewhere_now_is_another_directory() {
    let project = Project::new();
    let (gate, link) = (project.gate(Mode::Default), project.root().join("link"));
    std::os::unix::fs::symlink("sub", &link).unwrap();
    let call = call("make", &link);
    let id = required(&gate.admit(&call, NOW).unwrap());
    gate.answer(&id, ONCE, "me", NOW).unwrap();
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("../../elsewhere", &link).unwrap();
    assert!(!is_admitted(&gate.admit(&call, NOW).unwrap()));
}

#[test]
fn values_of_the_environment_are_nowhere_on_disk() {
    let project = Project::new();
    let (gate, root) = (project.gate(Mode::Default), project.root());
    let secret = vec![(OsString::from("TOKEN"), OsString::from("hunter2"))];
    let asked = umbo_gate::Call { environment: &secret, ..call("make", &root) };
    gate.admit(&asked, NOW).unwrap();
    for entry in fs::read_dir(project.state().join("approvals")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!text.contains("hunter2") && !text.contains("TOKEN"), "{text}");
    }
}

fn no(reason: &str) -> Reply {
    Reply::Deny { reason: reason.into() }
}

/// The refusal that a no to a question means.
fn declined(by: &str, reason: &str, id: &str) -> Admission {
    let question = Some(Declined { id: id.into(), expires_at: NOW + APPROVAL_LIFETIME_MICROS });
    Admission::Refused(Refusal::Denied { by: by.into(), reason: reason.into(), question })
}

#[test]
fn a_question_is_answered_once() {
    let project = Project::new();
    let (gate, root) = (project.gate(Mode::Default), project.root());
    let call = call("make", &root);
    let id = required(&gate.admit(&call, NOW).unwrap());
    gate.answer(&id, no("not today"), "me", NOW).unwrap();
    assert!(matches!(gate.answer(&id, ONCE, "agent", NOW), Err(Error::Declined(_))));
    assert_eq!(gate.admit(&call, NOW).unwrap(), declined("me", "not today", &id));
    required(&gate.admit(&call, NOW + APPROVAL_LIFETIME_MICROS + 1).unwrap());
}

#[test]
fn a_question_is_told_by_the_end_of_its_id_which_answers_it() {
    let project = Project::new();
    let (gate, root) = (project.gate(Mode::Default), project.root());
    let call = call("make", &root);
    let Admission::Refused(refusal) = gate.admit(&call, NOW).unwrap() else { panic!("admitted") };
    let told = refusal.to_string();
    let end = told.split("umbo approve ").nth(1).unwrap().split('`').next().unwrap();
    assert_eq!(end.len(), 6, "{told}");
    assert!(matches!(gate.answer("zz", ONCE, "me", NOW), Err(Error::UnknownApproval(_))));
    gate.answer(end, ONCE, "me", NOW).unwrap();
    assert!(is_admitted(&gate.admit(&call, NOW).unwrap()));
}

#[test]
fn a_no_holds_for_the_run_that_asked_and_says_so() {
    let project = Project::new();
    let (gate, root) = (project.gate(Mode::Default), project.root());
    let asked = call("make", &root);
    let id = required(&gate.admit(&asked, NOW).unwrap());
    gate.answer(&id, no("not today"), "me", NOW).unwrap();
    let Admission::Refused(refusal) = gate.admit(&asked, NOW).unwrap() else { panic!("it ran") };
    let said = refusal.to_string();
    let until = umbo_gate::show_time(NOW + APPROVAL_LIFETIME_MICROS);
    for part in ["me: not today", &id, &until, &format!("umbo approve --overturn {id}")] {
        assert!(said.contains(part), "{part} in {said}");
    }
    for run in [Some("run 2"), None] {
        let other = umbo_gate::Call { run, ..asked };
        let anew = required(&gate.admit(&other, NOW).unwrap());
        assert_ne!(anew, id);
        // A yes to the other is none to who was told no.
        gate.answer(&anew, ONCE, "me", NOW).unwrap();
        assert_eq!(gate.admit(&asked, NOW).unwrap(), declined("me", "not today", &id));
        assert!(is_admitted(&gate.admit(&other, NOW).unwrap()));
    }
}

#[test]
fn a_person_can_overturn_a_no_once_and_the_audit_tells() {
    let project = Project::new();
    let (gate, root) = (project.gate(Mode::Default), project.root());
    let call = call("make", &root);
    let id = required(&gate.admit(&call, NOW).unwrap());
    let overturn =
        |now| umbo_gate::overturn(gate.approvals(), gate.audit(), &id, ONCE, "you", now).map(drop);
    assert!(matches!(overturn(NOW), Err(Error::NotDeclined(_))), "nobody said anything yet");
    gate.answer(&id, no("not today"), "me", NOW).unwrap();
    assert!(matches!(overturn(NOW + APPROVAL_LIFETIME_MICROS), Err(Error::Expired(_))));
    assert!(!is_admitted(&gate.admit(&call, NOW).unwrap()));
    overturn(NOW).unwrap();
    assert!(matches!(overturn(NOW), Err(Error::Answered(_))), "a yes is final");
    assert!(is_admitted(&gate.admit(&call, NOW).unwrap()));
    assert!(matches!(overturn(NOW), Err(Error::Answered(_))), "and what was used stays used");
    assert_ne!(required(&gate.admit(&call, NOW).unwrap()), id, "once is once");
    let mut answers = Vec::new();
    let report = gate.audit().read(|record| {
        if let Event::Answer { answer, by, .. } = record.event {
            answers.push((answer, by));
        }
        Ok(())
    });
    assert!(report.unwrap().sound);
    let expected = [
        ("deny: not today", "me"),
        ("approve command once; overturns deny: not today, by me", "you"),
    ];
    assert_eq!(answers, expected.map(|(said, by)| (said.to_owned(), by.to_owned())));
}

#[test]
fn a_forged_overturning_counts_for_nothing() {
    let project = Project::new();
    let (gate, root) = (project.gate(Mode::Default), project.root());
    let call = call("make", &root);
    let id = required(&gate.admit(&call, NOW).unwrap());
    gate.answer(&id, no("not today"), "me", NOW).unwrap();
    let other = umbo_gate::Call { command: "make other", ..call };
    let yes = required(&gate.admit(&other, NOW).unwrap());
    gate.answer(&yes, ONCE, "me", NOW).unwrap();
    let file = |id: &str, kind: &str| project.state().join(format!("approvals/{id}.{kind}"));
    fs::copy(file(&yes, "answer"), file(&id, "change")).unwrap();
    assert!(!is_admitted(&gate.admit(&call, NOW).unwrap()));
}

#[test]
fn what_waits_too_long_expires() {
    let project = Project::new();
    let (gate, root) = (project.gate(Mode::Default), project.root());
    let call = call("make", &root);
    let id = required(&gate.admit(&call, NOW).unwrap());
    let late = NOW + APPROVAL_LIFETIME_MICROS;
    assert!(matches!(gate.answer(&id, ONCE, "me", late), Err(Error::Expired(_))));
    assert_eq!(
        gate.admit_with(&call, &id, late).unwrap(),
        Admission::Refused(Refusal::Expired { id: id.clone() })
    );
    let again = required(&gate.admit(&call, late).unwrap());
    assert_ne!(again, id);
    gate.answer(&again, ONCE, "me", late).unwrap();
    required(&gate.admit(&call, late + APPROVAL_LIFETIME_MICROS).unwrap());
}

#[test]
fn a_prefix_covers_its_kind_up_to_the_risk_that_was_shown() {
    let project = Project::new();
    let (gate, root) = (project.gate(Mode::Default), project.root());
    let id = required(&gate.admit(&call("git push origin a", &root), NOW).unwrap());
    let reply = Reply::approve(Covers::Prefix, Lasts::Until(NOW + 1000));
    gate.answer(&id, reply, "me", NOW).unwrap();
    for command in ["git push origin b", "git push && git status", "git push"] {
        assert!(is_admitted(&gate.admit(&call(command, &root), NOW).unwrap()), "{command}");
    }
    for command in [
        "git push --force",
        "git pull",
        "git push && rm x",
        "git push > x",
        "sudo git push",
        "git -C x push",
        "git push \"",
        "git push $(rm x)",
    ] {
        assert!(!is_admitted(&gate.admit(&call(command, &root), NOW).unwrap()), "{command}");
    }
    assert!(!is_admitted(&gate.admit(&call("git push x", &root), NOW + 1000).unwrap()));
}

#[test]
fn a_grant_for_a_run_holds_in_that_run() {
    let project = Project::new();
    let (gate, root) = (project.gate(Mode::Default), project.root());
    let call = call("make", &root);
    let id = required(&gate.admit(&call, NOW).unwrap());
    let reply = Reply::approve(Covers::Command, Lasts::Run);
    gate.answer(&id, reply, "me", NOW).unwrap();
    for _ in 0..3 {
        assert!(is_admitted(&gate.admit(&call, NOW).unwrap()));
    }
    for run in [None, Some("run 2")] {
        required(&gate.admit(&umbo_gate::Call { run, ..call }, NOW).unwrap());
    }
}

#[test]
fn a_command_without_a_safe_prefix_gets_none() {
    let project = Project::new();
    let (gate, root) = (project.gate(Mode::Default), project.root());
    for command in ["bash x.sh", "rm x", "$X y", "touch a > b"] {
        let id = required(&gate.admit(&call(command, &root), NOW).unwrap());
        let reply = Reply::approve(Covers::Prefix, Lasts::Once);
        let refused = gate.answer(&id, reply, "me", NOW);
        assert!(matches!(refused, Err(Error::NoPrefix(..))), "{command}: {refused:?}");
    }
}

#[test]
fn an_approval_does_not_overrule_a_denial() {
    let project = Project::new();
    let root = project.root();
    let open = project.gate(Mode::Default);
    let id = required(&open.admit(&call("make", &root), NOW).unwrap());
    let reply = Reply::approve(Covers::Prefix, Lasts::Until(u64::MAX));
    // `make` alone runs anything, so it has no prefix; approve the command itself for ever.
    assert!(open.answer(&id, reply, "me", NOW).is_err());
    let reply = Reply::approve(Covers::Command, Lasts::Until(u64::MAX));
    open.answer(&id, reply, "me", NOW).unwrap();
    let rules = "[[rule]]\ndecision='deny'\nreason='r'\nargv=['make']\n";
    let strict =
        umbo_gate::Gate::open(project.with(rules), Mode::Default, &project.state(), project.key());
    let said = strict.unwrap().admit(&call("make", &root), NOW).unwrap();
    assert!(matches!(said, Admission::Refused(Refusal::Denied { .. })), "{said:?}");
}

#[test]
fn forged_and_altered_files_count_for_nothing() {
    let project = Project::new();
    let (gate, root) = (project.gate(Mode::Default), project.root());
    let call = call("make", &root);
    let id = required(&gate.admit(&call, NOW).unwrap());
    let file = |id: &str, kind: &str| project.state().join(format!("approvals/{id}.{kind}"));
    // An answer signed with another key.
    let other = Project::new();
    let stranger = umbo_gate::Approvals::open(&project.state(), other.key()).unwrap();
    assert!(matches!(stranger.answer(&id, ONCE, "agent", NOW), Err(Error::Tampered { .. })));
    let forged = format!(
        "{{\"answer\":\"approve\",\"by\":\"me\",\"at\":1,\"holds_until\":{}}}\n{}\n",
        u64::MAX,
        "0".repeat(64)
    );
    fs::write(file(&id, "answer"), forged).unwrap();
    assert!(matches!(gate.approvals().find(&id, NOW), Err(Error::Tampered { .. })));
    let second = required(&gate.admit(&call, NOW).unwrap());
    assert_ne!(second, id);
    // The answer to one question, copied to another.
    gate.answer(&second, ONCE, "me", NOW).unwrap();
    let harmful = umbo_gate::Call { command: "make harm", ..call };
    let third = required(&gate.admit(&harmful, NOW).unwrap());
    fs::copy(file(&second, "answer"), file(&third, "answer")).unwrap();
    assert!(!is_admitted(&gate.admit(&harmful, NOW).unwrap()));
    // The question, altered after it was answered.
    let text = fs::read_to_string(file(&second, "ask")).unwrap();
    fs::write(file(&second, "ask"), text.replace("\"make\"", "\"rm x\"")).unwrap();
    assert!(!is_admitted(&gate.admit(&call, NOW).unwrap()));
    // Links and directories in the place of files.
    fs::remove_file(file(&third, "answer")).unwrap();
    std::os::unix::fs::symlink(file(&second, "answer"), file(&third, "answer")).unwrap();
    assert!(!is_admitted(&gate.admit(&harmful, NOW).unwrap()));
}

struct Host(Option<Reply>);

impl Approver for Host {
    fn ask(&self, question: &Question) -> Option<(Reply, String)> {
        assert_eq!(question.command, "make");
        self.0.clone().map(|reply| (reply, "host".to_owned()))
    }
}

#[test]
fn a_host_can_answer_at_once_and_silence_is_no_denial() {
    let project = Project::new();
    let root = project.root();
    let call = call("make", &root);
    let says = |reply| project.gate(Mode::Default).approver(Host(reply)).admit(&call, NOW).unwrap();
    required(&says(None));
    assert!(is_admitted(&says(Some(ONCE))));
    let Admission::Refused(Refusal::Denied { by, reason, .. }) = says(Some(no("no"))) else {
        panic!("it was not denied")
    };
    assert_eq!((by.as_str(), reason.as_str()), ("host", "no"));
}

#[test]
fn whoever_waits_hears_the_answer() {
    let project = Project::new();
    let (gate, root) = (project.gate(Mode::Default), project.root());
    let id = required(&gate.admit(&call("make", &root), NOW).unwrap());
    assert_eq!(gate.approvals().wait(&id, Some(Instant::now())).unwrap(), None);
    let answer = std::thread::scope(|scope| {
        let deadline = Instant::now() + Duration::from_secs(20);
        let (approvals, asked) = (gate.approvals(), &id);
        let waiter = scope.spawn(move || approvals.wait(asked, Some(deadline)).unwrap());
        gate.answer(&id, ONCE, "me", NOW).unwrap();
        waiter.join().unwrap()
    });
    assert_eq!(answer.unwrap().by, "me");
}

#[test]
fn many_at_once_use_a_single_approval_only_once() {
    let project = Project::new();
    let (gate, root) = (project.gate(Mode::Default), project.root());
    let call = call("make", &root);
    let id = required(&gate.admit(&call, NOW).unwrap());
    gate.answer(&id, ONCE, "me", NOW).unwrap();
    let admitted = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|_| scope.spawn(|| is_admitted(&gate.admit(&call, NOW).unwrap()))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|yes| *yes).count()
    });
    assert_eq!(admitted, 1);
    assert!(gate.audit().verify().unwrap().sound);
}

#[test]
fn the_environment_and_the_shell_can_make_a_reading_uncertain() {
    let project = Project::new();
    let (gate, root) = (project.gate(Mode::Default), project.root());
    let plain = call("ls", &root);
    assert!(is_admitted(&gate.admit(&plain, NOW).unwrap()));
    let pair = |name: &str| vec![(OsString::from(name), OsString::from("/evil"))];
    let (path, preload, function) = (pair("PATH"), pair("LD_PRELOAD"), pair("BASH_FUNC_ls%%"));
    for asked in [
        umbo_gate::Call { set: &path, ..plain },
        umbo_gate::Call { set: &preload, ..plain },
        umbo_gate::Call { environment: &function, ..plain },
        umbo_gate::Call { shell_state: umbo_gate::ShellState::Carried, ..plain },
    ] {
        required(&gate.admit(&asked, NOW).unwrap());
    }
}

#[test]
fn an_approval_is_for_the_caller_that_asked_unless_the_person_says_otherwise() {
    let project = Project::new();
    let (gate, root) = (project.gate(Mode::Default), project.root());
    let asked = umbo_gate::Call { run: Some("run 1"), ..call("make", &root) };
    for (covers, lasts) in [
        (Covers::Command, Lasts::Once),
        (Covers::Command, Lasts::Run),
        (Covers::Command, Lasts::Until(NOW + 1000)),
    ] {
        let id = required(&gate.admit(&asked, NOW).unwrap());
        gate.answer(&id, Reply::approve(covers, lasts), "me", NOW).unwrap();
        for run in [None, Some("run 2")] {
            required(&gate.admit(&umbo_gate::Call { run, ..asked }, NOW).unwrap());
        }
        let late = NOW + 2000;
        assert!(is_admitted(&gate.admit(&asked, NOW).unwrap()), "{lasts:?}");
        if lasts == Lasts::Run {
            break;
        }
        required(&gate.admit(&asked, late).unwrap());
    }
    let other = umbo_gate::Call { run: Some("run 1"), ..call("make other", &root) };
    let id = required(&gate.admit(&other, NOW).unwrap());
    let (covers, lasts) = (Covers::Command, Lasts::Until(NOW + 1000));
    let reply = Reply::Approve { covers, lasts, usable_by: UsableBy::Anyone };
    gate.answer(&id, reply, "me", NOW).unwrap();
    for run in [None, Some("run 1"), Some("run 2")] {
        let admission = gate.admit(&umbo_gate::Call { run, ..other }, NOW).unwrap();
        assert!(is_admitted(&admission), "{run:?}");
    }
}

#[test]
fn a_prefix_never_covers_an_option_that_runs_a_program() {
    for (approved, same_kind, others) in [
        (
            "git push origin a",
            "git push origin b",
            &[
                "git push --receive-pack=evil origin a",
                "git push --exec=evil origin",
                "git push --rec evil origin",
                "git push ext::evil",
            ][..],
        ),
        (
            "git rebase main",
            "git rebase other",
            &["git rebase -x evil main", "git rebase --exec=evil main"],
        ),
        ("git fetch origin", "git fetch upstream", &["git fetch --upload-pack=evil origin"]),
        (
            "tar xf a.tar",
            "tar xf b.tar",
            &[
                "tar xf a.tar --to-command=evil",
                "tar xf a.tar --use-compress-program=evil",
                "tar cf a.tar . --checkpoint-action=exec=evil",
                "tar xf a.tar -I evil",
            ],
        ),
        ("rsync a b", "rsync c d", &["rsync -e evil a host:b", "rsync --rsync-path=evil a host:b"]),
        (
            "scp a host:b",
            "scp c host:d",
            &["scp -S evil a host:b", "scp -o ProxyCommand=evil a host:b"],
        ),
        (
            "cargo build",
            "cargo build -p x",
            &["cargo build --config build.rustc-wrapper='\"evil\"'"],
        ),
        ("npm install x", "npm install y", &["npm install --script-shell=evil x"]),
        ("sort -o b a", "sort -o d c", &["sort --compress-program=evil -o b a"]),
        ("apt install x", "apt install y", &["apt install -o DPkg::Pre-Invoke::=evil x"]),
        (
            "frobnicate new x",
            "frobnicate new y",
            &["frobnicate new --exec=evil x", "frobnicate new -x evil"],
        ),
        (
            "frobnicate old --fast",
            "frobnicate old --fast y",
            &["frobnicate old --fast --hook evil"],
        ),
    ] {
        let project = Project::new();
        let (gate, root) = (project.gate(Mode::Default), project.root());
        let id = required(&gate.admit(&call(approved, &root), NOW).unwrap());
        gate.answer(&id, Reply::approve(Covers::Prefix, Lasts::Until(u64::MAX)), "me", NOW)
            .unwrap();
        assert!(is_admitted(&gate.admit(&call(same_kind, &root), NOW).unwrap()), "{same_kind}");
        for other in others {
            assert!(!is_admitted(&gate.admit(&call(other, &root), NOW).unwrap()), "{other}");
        }
    }
}

#[test]
fn the_rule_that_is_suggested_covers_no_option_that_runs_a_program() {
    let project = Project::new();
    let root = project.root();
    let reading = umbo_command::read("git push origin a", umbo_command::Shell::Bash);
    let rules = umbo_gate::suggest(&reading).unwrap().toml;
    let gate =
        umbo_gate::Gate::open(project.with(&rules), Mode::Default, &project.state(), project.key());
    let gate = gate.unwrap();
    assert!(is_admitted(&gate.admit(&call("git push origin b", &root), NOW).unwrap()), "{rules}");
    required(&gate.admit(&call("git push --receive-pack=evil origin", &root), NOW).unwrap());
}

#[test]
fn what_runs_another_program_each_time_has_no_prefix() {
    let project = Project::new();
    let (gate, root) = (project.gate(Mode::Default), project.root());
    for command in ["vim notes", "tar xf a.tar --to-command=x", "rsync -e x a host:b"] {
        let id = required(&gate.admit(&call(command, &root), NOW).unwrap());
        let refused = gate.answer(&id, Reply::approve(Covers::Prefix, Lasts::Once), "me", NOW);
        assert!(matches!(refused, Err(Error::NoPrefix(..))), "{command}: {refused:?}");
    }
}
