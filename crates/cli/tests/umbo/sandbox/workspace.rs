//! What a command in the workspace can do, and what happens to it.

use std::fs;
use std::process::Command;
use std::time::Duration;

use umbo_engine::sandbox::{Plan, Profile, Rung};
use umbo_engine::{
    Condition, Containment, End, Ladder, Met, Request, Session, SessionDirectory, Shell, Size,
};

use super::{Machine, Who, Yard, denied, every_rung};
use crate::harness::{dies, signal};

/// Both ways to enforce it, as whoever runs the tests.
fn plans(yard: &Yard) -> Vec<Plan> {
    every_rung()
        .into_iter()
        .map(|rung| Plan { rungs: vec![rung], ..yard.plan(Profile::Workspace) })
        .collect()
}

#[test]
fn the_project_is_written_and_the_home_and_its_secrets_are_not() {
    for machine in [Machine::Usual, Machine::WithoutNamespaces] {
        let yard = Yard::new(Who::Ordinary, machine);
        let line = "mkdir -p a/b && echo text > a/b/c && mv a/b/c d && ln -s d e && chmod 600 d && cat e; \
                    touch ~/.bashrc; cat ~/.ssh/id; echo cache > ~/.cache/x && cat ~/.cache/x";
        let answer = yard.exec("workspace", &[], line);
        assert_eq!(answer["stdout"], "text\ncache\n", "{answer}");
        let home = yard.path("home").display().to_string();
        let expected = [format!("create {home}/.bashrc"), format!("read {home}/.ssh/id")];
        assert_eq!(denied(&answer), expected);
        assert_eq!(fs::read_to_string(yard.project().join("d")).unwrap(), "text\n");
    }
}

#[test]
fn umbos_own_state_cannot_be_read() {
    for machine in [Machine::Usual, Machine::WithoutNamespaces] {
        let yard = Yard::new(Who::Ordinary, machine);
        let state = yard.umbo.state().display().to_string();
        let line = format!("cat {state}/events {state}/jobs/*/request; ls {state}/jobs | wc -l");
        let answer = yard.exec("workspace", &[], &line);
        assert_eq!(answer["stdout"], "0\n", "{answer}");
        assert!(denied(&answer).contains(&format!("read {state}/jobs")), "{answer}");
    }
}

#[test]
fn git_works_and_its_hooks_and_settings_stay() {
    for machine in [Machine::Usual, Machine::WithoutNamespaces] {
        let yard = Yard::new(Who::Ordinary, machine);
        let project = yard.project();
        let git = |words: &[&str]| {
            let mut command = Command::new("git");
            command.args(["-c", "safe.directory=*"]).current_dir(&project).args(words);
            let status = command.status().unwrap();
            assert!(status.success(), "git {words:?}");
        };
        git(&["init", "-q"]);
        git(&["config", "user.email", "a@example.com"]);
        git(&["config", "user.name", "a"]);
        yard.give(&project);
        let settings = fs::read_to_string(project.join(".git/config")).unwrap();
        let line = "set -e; echo 1 > f; git add f; git commit -qm one; git branch b; echo 2 > f; \
                    git commit -qam two; git checkout -q b; echo 3 > g; git add g; git commit -qm three; \
                    git rebase -q master 2>/dev/null || git rebase -q main; git log --oneline | wc -l; \
                    git clone -q . ../project/copy; git stash list; git gc -q";
        let answer = yard.exec("workspace", &[], line);
        assert_eq!(answer["stdout"].as_str().unwrap().trim(), "3", "{answer}");
        let line = "echo x > .git/hooks/pre-commit; echo x >> .git/config; mv .git .git2; \
                    rm -rf .git/hooks; mkdir .vscode; ln .git/config c && echo x >> c; \
                    git config alias.x '!sh'; ls -d .git .git/hooks";
        let answer = yard.exec("workspace", &[], line);
        assert_eq!(answer["stdout"], ".git\n.git/hooks\n", "{answer}");
        let told = denied(&answer);
        let has = |end: &str| told.iter().any(|one| one.ends_with(end));
        assert!(
            has("/.git/hooks/pre-commit") && has("/.git/config") && has("/.vscode"),
            "{told:?}"
        );
        assert!(!project.join(".git/hooks/pre-commit").exists());
        assert_eq!(fs::read_to_string(project.join(".git/config")).unwrap(), settings);
    }
}

#[test]
fn a_work_tree_of_git_can_commit() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let main = yard.path("outside/main");
    let run = |line: &str| {
        let status = Command::new("sh").args(["-ec", line]).current_dir(yard.umbo.path()).status();
        assert!(status.unwrap().success(), "{line}");
    };
    run("git init -q outside/main; cd outside/main; git config user.email a@example.com; \
         git config user.name a; git commit -q --allow-empty -m zero; \
         rmdir ../../project; git worktree add -q ../../project");
    yard.give(&main);
    yard.give(&yard.project());
    let line = "git config --global --add safe.directory '*'; echo 1 > f; git add f && git commit -qm one \
                && git log --oneline | wc -l; echo x > $(git rev-parse --git-common-dir)/hooks/pre-push";
    let answer = yard.exec("workspace", &["--env", "GIT_CONFIG_GLOBAL=/tmp/gitconfig"], line);
    assert_eq!(answer["stdout"].as_str().unwrap().trim(), "2", "{answer}");
    assert!(denied(&answer).iter().any(|one| one.ends_with("/hooks/pre-push")), "{answer}");
}

#[test]
fn the_commands_of_a_project_share_a_tmp_that_nobody_else_sees() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let name = format!("umbo-test-{}", std::process::id());
    let answer = yard.exec("workspace", &[], &format!("echo kept > /tmp/{name}; ls /tmp"));
    assert_eq!(answer["stdout"], format!("{name}\n"));
    let answer = yard.exec("workspace", &[], &format!("cat /tmp/{name}"));
    assert_eq!(answer["stdout"], "kept\n");
    assert!(!std::path::Path::new("/tmp").join(&name).exists());
    let answer = yard.exec("read-only", &[], "ls /tmp; echo x > /tmp/y && cat /tmp/y");
    assert_eq!(answer["stdout"], "x\n", "a command that may write nothing has a /tmp of its own");
}

#[test]
fn read_only_writes_nothing() {
    for machine in [Machine::Usual, Machine::WithoutNamespaces] {
        let yard = Yard::new(Who::Ordinary, machine);
        fs::write(yard.project().join("f"), "text").unwrap();
        yard.give(&yard.project());
        let answer =
            yard.exec("read-only", &[], "cat f; echo x > f; echo x > new; rm f; chmod 777 f");
        assert_eq!(answer["stdout"], "text");
        assert_eq!(denied(&answer).len(), 4, "{answer}");
        assert_eq!(fs::read_dir(yard.project()).unwrap().count(), 1);
    }
}

#[test]
fn what_is_granted_is_granted_and_no_more() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let directory = yard.path("outside/dir").display().to_string();
    let secret = yard.path("home/.ssh/id").display().to_string();
    fs::write(yard.path("home/.ssh/other"), "other").unwrap();
    yard.give(&yard.path("home"));
    let line = format!(
        "echo x > {directory}/x && cat {directory}/x; cat {secret}; cat ~/.ssh/other; touch {directory}/../y"
    );
    let options = ["--allow-write", &directory, "--allow-read", &secret];
    let answer = yard.exec("workspace", &options, &line);
    assert_eq!(answer["stdout"], "x\nsecret\n", "{answer}");
    let hidden = yard.path("home/.ssh/other");
    let expected = [
        format!("read {}", hidden.display()),
        format!("create {}", yard.path("outside/y").display()),
    ];
    assert_eq!(denied(&answer), expected);
}

#[test]
fn secrets_in_variables_stay_outside() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let words = ["exec", "--json", "--sandbox", "workspace", "--env", "MY_TOKEN=given", "env"];
    let call = yard.umbo.call(words).current_dir(&yard.project());
    let call = call.env("GITHUB_TOKEN", "t").env("SSH_AUTH_SOCK", "/x").env("PLAIN", "p");
    let answer = call.json();
    let output = answer["stdout"].as_str().unwrap();
    assert!(!output.contains("GITHUB_TOKEN") && !output.contains("SSH_AUTH_SOCK"), "{output}");
    assert!(output.contains("PLAIN=p") && output.contains("MY_TOKEN="), "{output}");
}

#[test]
fn a_terminal_is_one_inside() {
    for plan in plans(&Yard::new(Who::Tester, Machine::Usual)) {
        let yard = Yard::new(Who::Tester, Machine::Usual);
        let plan = Plan { rungs: plan.rungs, ..yard.plan(Profile::Workspace) };
        let mut request = yard.request(
            plan,
            "test -t 0 && tty && stty size && echo typed > /dev/tty && echo out > /dev/stdout",
        );
        request.terminal = Some(Size { columns: 33, rows: 7 });
        let (job, outcome) = yard.umbo.engine().run(&request).unwrap();
        let output = fs::read_to_string(job.output_path()).unwrap();
        assert!(outcome.success(), "{output} {outcome:?}");
        assert!(
            output.contains("/dev/pts/") && output.contains("7 33") && output.contains("typed")
        );
    }
}

#[test]
fn a_session_goes_on_in_a_sandbox() {
    for plan in plans(&Yard::new(Who::Tester, Machine::Usual)) {
        let yard = Yard::new(Who::Tester, Machine::Usual);
        let engine = yard.umbo.engine();
        let session = Session { name: "s".into(), directory: SessionDirectory::Continue };
        let line = |text: &str| {
            let plan = Plan { rungs: plan.rungs.clone(), ..yard.plan(Profile::Workspace) };
            let mut request: Request = yard.request(plan, text);
            if let umbo_engine::Command::Shell { shell, .. } = &mut request.command {
                *shell = Shell::Bash;
            }
            request.session = Some(session.clone());
            engine.run(&request).unwrap()
        };
        let (_, outcome) = line("mkdir -p sub && cd sub && kept=value");
        assert!(outcome.success() && outcome.notes.is_empty(), "{outcome:?}");
        let (job, outcome) = line("echo $kept; basename $PWD");
        let output = fs::read_to_string(job.output_path()).unwrap();
        assert_eq!(output, "value\nsub\n", "{outcome:?}");
    }
}

#[test]
fn what_outlives_the_command_is_killed_and_listed() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let line = "setsid sh -c \"$NAP\" >/dev/null 2>&1 & (setsid sh -c \"$NAP\" >/dev/null 2>&1 &); \
                while [ $(ps ax | grep -c '[s]leep') -lt 2 ]; do :; done; echo started";
    let answer = yard.exec("workspace", &["--leaks", "leave"], line);
    assert_eq!(answer["stdout"], "started\n", "{answer}");
    assert_eq!(answer["contained_by"], "namespace", "{answer}");
    assert!(answer["leaked_count"].as_u64().unwrap() >= 2, "{answer}");
    assert!(yard.umbo.nappers().is_empty(), "nobody answers for what is left: it is not left");
}

#[test]
fn an_orphan_that_ends_by_itself_is_waited_for() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let line = "mkfifo f; (setsid sh -c 'read x < f; echo late' &); (setsid sh -c 'echo go > f' &); exit 0";
    let answer = yard.exec("workspace", &[], line);
    assert_eq!(answer["stdout"], "late\n", "{answer}");
    assert_eq!(answer["leaked_count"], 0, "{answer}");
}

#[test]
fn stopping_a_job_ends_all_in_its_sandbox() {
    for plan in plans(&Yard::new(Who::Tester, Machine::Usual)) {
        let yard = Yard::new(Who::Tester, Machine::Usual);
        let plan = Plan { rungs: plan.rungs, ..yard.plan(Profile::Workspace) };
        let nap = yard.umbo.nap();
        let line = format!(
            "trap '' TERM INT; (setsid {nap} &) ; (setsid sh -c 'trap \"\" TERM; {nap}' &); {nap}"
        );
        let job = yard.umbo.engine().start(&yard.request(plan, &line)).unwrap();
        yard.umbo.wait_nappers(3);
        let outcome = job.stop(Ladder::KILL).unwrap();
        assert!(matches!(outcome.end, End::Stopped { .. }), "{outcome:?}");
        assert!(outcome.contained_by.is_some(), "{outcome:?}");
        assert!(yard.umbo.nappers().is_empty());
    }
}

#[test]
fn nothing_of_a_sandbox_is_left_when_its_supervisor_is_killed() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    let nap = yard.umbo.nap();
    let plan = yard.plan(Profile::WorkspaceNet);
    let line = format!("(setsid {nap} &); (echo > /dev/tcp/127.0.0.1/3128) 2>/dev/null; {nap}");
    let job = yard.umbo.engine().start(&yard.request(plan, &line)).unwrap();
    yard.umbo.wait_nappers(2);
    let supervisor = yard.umbo.supervisor(job.id().as_str());
    signal(supervisor, rustix::process::Signal::KILL);
    assert!(dies(supervisor));
    let outcome = yard.umbo.outcome(job.id().as_str());
    assert_eq!(outcome["state"], "lost");
    yard.umbo.wait_nappers(0);
}

#[test]
fn the_outcome_says_which_way_it_was_enforced_and_what_proves_its_end() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let answer = yard.exec("workspace", &[], "true");
    assert_eq!(answer["sandbox"]["profile"], "workspace");
    assert_eq!(answer["sandbox"]["rung"], "namespaces");
    assert_eq!(answer["contained_by"], "namespace");
    let yard = Yard::new(Who::Ordinary, Machine::WithoutNamespaces);
    let answer = yard.exec("workspace", &[], "true");
    assert_eq!(answer["sandbox"]["rung"], "landlock");
    assert!(answer["sandbox"]["weaknesses"][0].as_str().unwrap().contains("names"), "{answer}");
    assert_eq!(answer["contained_by"], "subreaper");
}

#[test]
fn where_no_sandbox_can_be_made_nothing_runs() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    for rungs in [vec![], vec![Rung::Namespaces]] {
        let mut plan = yard.plan(Profile::Workspace);
        plan.rungs = rungs;
        // A directory that is no mount cannot be one of the job's.
        plan.temporary = Some(yard.path("none"));
        let (_, outcome) = yard.umbo.engine().run(&yard.request(plan, "touch ran")).unwrap();
        let End::FailedToStart { why } = &outcome.end else { panic!("{outcome:?}") };
        assert!(
            why.contains("no sandbox can be made here") && why.contains("umbo doctor"),
            "{why}"
        );
        assert!(!yard.project().join("ran").exists());
    }
}

#[test]
fn umbo_runs_in_a_sandbox_of_umbo_and_makes_none_inside() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let umbo = yard.umbo.call(["exec", "true"]).into_command();
    let words: Vec<_> = std::iter::once(umbo.get_program()).chain(umbo.get_args()).collect();
    let program = words[words.len() - 3].to_str().unwrap();
    let line = format!("{program} --state-dir $PWD/inner exec 'echo inner; exit 3'");
    let answer = yard.exec("workspace", &[], &line);
    assert_eq!(
        (&answer["stdout"], &answer["exit_code"]),
        (&"inner\n".into(), &3.into()),
        "{answer}"
    );
    let line = format!("{program} --state-dir $PWD/inner exec --sandbox workspace 'touch ran'; ls");
    let answer = yard.exec("workspace", &[], &line);
    assert_eq!(answer["stdout"], "inner\n", "{answer}");
}

#[test]
fn contained_by_a_namespace_is_a_proof_of_the_engine() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    let plan = yard.plan(Profile::Workspace);
    let (_, outcome) = yard.umbo.engine().run(&yard.request(plan, "true")).unwrap();
    assert!(matches!(outcome.contained_by, Some(Containment::Cgroup | Containment::Namespace)));
}

#[test]
fn what_is_made_later_beside_what_is_lent_stays_hidden() {
    const TIMEOUT: Duration = Duration::from_mins(1);
    for rung in every_rung() {
        let yard = Yard::new(Who::Tester, Machine::Usual);
        let own = yard.path("own");
        let lent = own.join("outputs/here");
        fs::create_dir_all(&lent).unwrap();
        fs::write(lent.join("output"), "lent\n").unwrap();
        let mut plan = yard.plan(Profile::Workspace);
        plan.rungs = vec![rung];
        plan.hide.push(own.clone());
        plan.show.push(lent.clone());
        let line = "mkfifo made; echo ready; read go < made; exec 2>/dev/null; cd ../own/outputs/here && cat output; \
                    cat ../../later; cat ../later; ls ../..; ls ..; echo x > output; echo x > new; true";
        let engine = yard.umbo.engine();
        let job = engine.start(&yard.request(plan, line)).unwrap();
        let ready = Condition::Match { pattern: "ready".parse().unwrap(), from: 0 };
        assert!(matches!(job.wait(&[ready], Some(TIMEOUT)).unwrap(), Met::Match { .. }));
        fs::write(own.join("later"), "secret").unwrap();
        fs::write(own.join("outputs/later"), "secret").unwrap();
        fs::write(yard.project().join("made"), "go\n").unwrap();
        job.wait(&[Condition::Exit], Some(TIMEOUT)).unwrap();
        let outcome = job.outcome().unwrap().unwrap();
        assert_eq!(fs::read_to_string(job.output_path()).unwrap(), "ready\nlent\n", "{rung:?}");
        let told: Vec<String> = outcome
            .denied
            .iter()
            .map(|one| format!("{} {}", one.operation.name(), one.target))
            .collect();
        let told = told.join("; ");
        let at = |operation: &str, path: &str| format!("{operation} {}", own.join(path).display());
        for wanted in [
            at("read", "later"),
            at("read", "outputs/later"),
            at("read", "outputs"),
            at("write", "outputs/here/output"),
            at("create", "outputs/here/new"),
        ] {
            assert!(told.contains(&wanted), "{rung:?}: no {wanted} in {told}");
        }
        assert_eq!(fs::read_to_string(lent.join("output")).unwrap(), "lent\n");
    }
}

/// Work on files in every way, with masks and users that change, and then a list of what it left.
const WORK_ON_FILES: &str = r#"
umask 027; echo a > a; mkdir -p d/e; echo b > d/e/b; ln -s d link; echo c > link/c; ln -s none dangling; echo n > dangling
(umask 077; echo s > s; mkdir closed; mkfifo closed/pipe); echo again > again
ln a hard; mv d/e/b d/moved; mv -T d/e d/f; cp -p s copy; chmod 4711 again; chmod u+x link/c; truncate -s 7 a
echo more >> a; touch -d @1000000000 d/moved; touch -h -d @1000000000 link; install -m 640 s installed
cd d; echo up > ../up; mkdir ./x; echo y > .//x/./y; cd f; rmdir "$PWD"; cd ../..
mkdir t; echo 1 > t/1; echo 2 > t/2; chmod 600 t/1; tar cf t.tar t; rm -r t; umask 002; tar xf t.tar; rm t.tar
rm -f missing; rmdir missing 2>/dev/null; mkdir d 2>/dev/null; (echo x > d) 2>/dev/null
(set -C; echo x > a) 2>/dev/null; echo done > /dev/null; dd if=/dev/zero of=block bs=512 count=2 2>/dev/null
if [ "$(id -u)" = 0 ]; then
  chmod 777 .; chown 1:1 copy; chgrp 5 installed
  if [ -z "$ALONE" ]; then
    setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'umask 022; echo x > mine; rm -f a; echo x > d/no' 2>/dev/null
  fi
  echo root > root
fi
(echo p1 > p1 & umask 0; echo p2 > p2; wait)
mkfifo q; for i in 1 2 3 4 5; do echo "written before it is read: $i" > q & cat q; wait; done; rm q
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'; (echo x > socket) 2>/dev/null || echo a socket is no pipe; rm socket
find . -printf '%P %y %m %U:%G %s %l\n' | sort; stat -c '%n %Y' d/moved link; cat a d/moved c s x/y 2>/dev/null; true
"#;

#[test]
fn the_same_work_leaves_the_same_files_with_and_without_a_sandbox() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    let leaves = |name: &str, alone: &str, rung: Option<Rung>| {
        let directory = yard.project().join(name);
        fs::create_dir(&directory).unwrap();
        let mut plan = yard.plan(Profile::Workspace);
        plan.rungs = rung.into_iter().collect();
        let mut request = yard.request(plan, &format!("ALONE={alone}\n{WORK_ON_FILES}"));
        request.cwd = directory;
        if rung.is_none() {
            request.sandbox = None;
        }
        let (job, outcome) = yard.umbo.engine().run(&request).unwrap();
        assert!(outcome.success() && outcome.denied.is_empty(), "{rung:?}: {outcome:?}");
        fs::read_to_string(job.output_path()).unwrap()
    };
    let expected = leaves("without", "", None);
    assert!(expected.lines().count() > 20, "{expected}");
    assert_eq!(leaves("namespaces", "", Some(Rung::Namespaces)), expected);
    // Without namespaces the supervisor makes the files, and it does so for its own user alone.
    let expected = leaves("without-alone", "yes", None);
    assert_eq!(leaves("landlock", "yes", Some(Rung::Landlock)), expected);
    let others = leaves("landlock-others", "", Some(Rung::Landlock));
    assert_eq!(others, expected, "another user makes and removes nothing there");
}
