//! A supervisor that is begun before the words of the command line are read, as a copy of `umbo exec`:
//! nobody can tell it from one that was started.

use std::fs;

use crate::harness::{Umbo, words};

/// All that a process can see of what it was given, without what names the job.
const LOOK: &str = r#"
    env | sort | grep -v -e '^UMBO_JOB=' -e '^_='
    pwd
    umask
    for fd in /proc/self/fd/*; do n=${fd##*/}; [ "$n" -gt 2 ] && readlink "$fd"; done 2>/dev/null
    grep -E '^(Sig|Shd|Cpus_allowed|Mems_allowed|NoNewPrivs|Seccomp|Cap)' /proc/self/status | grep -v SigQ
    cat /proc/self/limits
    nice
    cat /proc/self/oom_score_adj
    ps -o sid= -o pgid= -p $$ | tr -s ' ' '\n' | grep -v "^$$\$" | grep -c .
    exit 3
"#;

/// Runs a line of a shell that has `umbo` as its first word.
fn from_a_shell(umbo: &Umbo, line: &str) -> (String, Option<i32>) {
    let call = umbo.call(["exec", LOOK]).into_command();
    let program = call.get_program().to_owned();
    let mut command = std::process::Command::new("sh");
    for (name, value) in call.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir(umbo.path()).args(["-c", line, "sh"]).arg(program).arg(LOOK);
    let output = command.output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

#[test]
fn a_command_cannot_tell_a_copied_supervisor_from_one_that_was_started() {
    let umbo = Umbo::new();
    let elsewhere = umbo.path().join("elsewhere");
    // The state directory behind the verb is found too late: a supervisor is started for it.
    let started = format!("\"$1\" exec --state-dir {} \"$2\"", elsewhere.display());
    let copied = "\"$1\" exec \"$2\"";
    for around in [
        "",
        "umask 027; ",
        "trap '' INT QUIT TERM HUP PIPE USR1; ",
        "exec 7>/dev/null 8</dev/null; ",
        "ulimit -n 100; ulimit -c 0; ",
        "taskset -p -c 0 $$ >/dev/null; ",
        "exec </dev/null 2>&-; ",
        "cd /; ",
        "exec nice -n 3 setsid ",
    ] {
        let (by_copy, code) = from_a_shell(&umbo, &format!("{around}{copied}"));
        assert_eq!(code, Some(3), "{around}: {by_copy}");
        assert!(by_copy.contains("SigIgn"), "{around}: {by_copy}");
        let (by_start, code) = from_a_shell(&umbo, &format!("{around}{started}"));
        assert_eq!(code, Some(3), "{around}: {by_start}");
        assert_eq!(by_copy, by_start, "{around}");
    }
}

#[test]
fn a_copied_supervisor_shows_its_own_words_and_no_variables() {
    let umbo = Umbo::new();
    let job = umbo.start(&umbo.nap());
    for process in [umbo.supervisor(&job), umbo.keeper(&job)] {
        let shown = words(process);
        let state = umbo.state().to_string_lossy();
        assert_eq!(shown[1..3], ["--umbo-supervisor", &*state], "{shown:?}");
        let variables = fs::read(format!("/proc/{}/environ", process.as_raw_nonzero())).unwrap();
        assert!(variables.is_empty(), "{}", String::from_utf8_lossy(&variables));
    }
    umbo.stop(&job, &["--kill"]);
}

#[test]
fn a_supervisor_that_was_begun_in_vain_leaves_nothing() {
    let umbo = Umbo::new();
    umbo.exec("true").run();
    let spares = umbo.state().join("spares");
    umbo.call(["exec", "--no-such-option", "true"]).answer().expect_status(125);
    umbo.call(["exec"]).answer().expect_status(125);
    umbo.call(["start", "--help"]).answer().expect_status(0);
    assert_eq!(fs::read_dir(spares).unwrap().count(), 0);
    let elsewhere = umbo.path().join("elsewhere");
    let named = format!("--state-dir={}", elsewhere.display());
    umbo.call([&named, "exec", "--no-such-option", "true"]).answer().expect_status(125);
    umbo.call(["--state-dir=", "exec", "true"]).answer().expect_status(125);
    assert!(!elsewhere.exists());
    assert!(!umbo.path().join("jobs").exists());
}
