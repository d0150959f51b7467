//! `umbo start`: a job in the background, and how it is found again.

use std::fs;

use serde_json::json;

use crate::harness::{Umbo, is_alive, parent, pid};

#[test]
fn it_prints_a_ulid_in_lower_case_and_the_job_outlives_it() {
    let umbo = Umbo::new();
    let job = umbo.start("echo hi; read line; echo got $line");
    assert_eq!(job.len(), 26);
    assert!(job.bytes().all(|byte| b"0123456789abcdefghjkmnpqrstvwxyz".contains(&byte)), "{job}");
    assert_eq!(umbo.listed(&job)["state"], "started");
    umbo.wait_for(&job, "hi");
    umbo.call(["input", &job, "you\n"]).run();
    assert_eq!(umbo.outcome(&job)["code"], 0);
    assert_eq!(umbo.output(&job), b"hi\ngot you\n");
}

#[test]
fn json_has_the_job_and_its_state() {
    let umbo = Umbo::new();
    let started = umbo.call(["start", "--json", "$NAP"]).json();
    assert_eq!(started["job"].as_str().unwrap().len(), 26);
    assert_eq!(started["state"], "started");
}

#[test]
fn a_job_is_found_by_prefix_name_and_last() {
    let umbo = Umbo::new();
    let first = umbo.start_with(&["--name", "server"], "echo first");
    umbo.outcome(&first);
    let second = umbo.start("echo second");
    umbo.outcome(&second);
    umbo.call(["output", "@last"]).stdout("second\n").run();
    umbo.call(["output", "server"]).stdout("first\n").run();
    umbo.call(["output", &first]).stdout("first\n").run();
    umbo.call(["output", &first.to_ascii_uppercase()]).stdout("first\n").run();
    let common = first.bytes().zip(second.bytes()).take_while(|(a, b)| a == b).count();
    umbo.call(["output", &first[..=common]]).stdout("first\n").run();
    let said = umbo.call(["output", &first[..common]]).refused();
    assert!(said.contains("fits 2 jobs") && said.contains(&second), "{said}");
}

#[test]
fn the_newest_job_of_a_name_is_meant() {
    let umbo = Umbo::new();
    for text in ["old", "new"] {
        umbo.outcome(&umbo.start_with(&["--name", "build"], &format!("echo {text}")));
    }
    umbo.call(["output", "build"]).stdout("new\n").run();
}

#[test]
fn neither_job_nor_supervisor_is_a_child_of_the_caller() {
    let umbo = Umbo::new();
    let job = umbo.start("$NAP");
    let supervisor = umbo.supervisor(&job);
    let command = pid(umbo.listed(&job)["pid"].as_i64().unwrap());
    assert_eq!(parent(command), Some(supervisor));
    assert_ne!(parent(umbo.keeper(&job)), Some(rustix::process::getpid()));
    assert!(is_alive(command));
}

#[test]
fn the_command_has_a_session_and_group_of_its_own_and_no_stray_descriptors() {
    let umbo = Umbo::new();
    let answer = umbo.exec_json(&[], "ps -o pid=,pgid=,sid= -p $$; ls /proc/$$/fd");
    let text = answer["stdout"].as_str().unwrap().to_owned();
    let mut lines = text.lines();
    let ids: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    assert!(ids[0] == ids[1] && ids[1] == ids[2], "{text}");
    let open: Vec<&str> = lines.collect();
    assert_eq!(open, ["0", "1", "2"]);
}

#[test]
fn secrets_in_the_environment_reach_the_command_and_no_file() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--env", "TOKEN=s3cr3t-value"], "test \"$TOKEN\" = s3cr3t-value");
    assert_eq!(umbo.outcome(&job)["code"], 0);
    for entry in fs::read_dir(umbo.job(&job)).unwrap().flatten() {
        let bytes = fs::read(entry.path()).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        // The command line itself is the caller's to show.
        let text = text.replace("= s3cr3t-value", "");
        assert!(!text.contains("s3cr3t-value"), "{} has it: {text}", entry.path().display());
    }
    assert_eq!(umbo.record(&job, "request")["env"], json!(["TOKEN"]));
}

#[test]
fn the_state_is_closed_to_other_users() {
    use std::os::unix::fs::PermissionsExt;
    let umbo = Umbo::new();
    let job = umbo.start("echo hi");
    umbo.outcome(&job);
    let mode = |path: std::path::PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(umbo.state().join("jobs")) & 0o077, 0);
    assert_eq!(mode(umbo.job(&job).join("output")), 0o600);
    assert_eq!(mode(umbo.job(&job)) & 0o077, 0);
}

#[test]
fn the_callers_umask_is_the_commands() {
    let umbo = Umbo::new();
    let line = format!("umask 027; {} exec umask", crate::harness::UMBO);
    umbo.exec(&line).stdout("0027\n").run();
}

#[test]
fn one_key_starts_one_job_however_many_ask_at_once() {
    let umbo = Umbo::new();
    let line = "echo ran >>runs; $NAP";
    let clients: Vec<_> = (0..20)
        .map(|_| umbo.call(["start", "--idempotency-key", "deploy 7/é", line]).spawn())
        .collect();
    let mut ids: Vec<String> = clients
        .into_iter()
        .map(|client| {
            let answer = client.answer();
            assert_eq!(answer.status, 0, "{answer:?}");
            answer.text()
        })
        .collect();
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert_eq!(umbo.jobs().len(), 1);
    umbo.wait(ids[0].trim(), &["--file", "runs"]);
    umbo.wait_nappers(1);
    umbo.stop(ids[0].trim(), &["--kill"]);
    assert_eq!(fs::read_to_string(umbo.path().join("runs")).unwrap(), "ran\n");
    // Over now, and still the same.
    let again = umbo.start_with(&["--idempotency-key", "deploy 7/é"], line);
    assert_eq!(again, ids[0].trim());
}

#[test]
fn one_key_for_another_command_is_refused() {
    let umbo = Umbo::new();
    let job = umbo.start_with(&["--idempotency-key", "k"], "echo one");
    umbo.outcome(&job);
    for other in [&["echo two"][..], &["--env", "A=1", "echo one"], &["--cwd", "/", "echo one"]] {
        let said = umbo.call([&["start", "--idempotency-key", "k"], other].concat()).refused();
        assert!(said.contains("another request") && said.contains(&job), "{said}");
    }
    umbo.call(["exec", "--idempotency-key", "k", "echo one"]).stdout("one\n").run();
    assert_eq!(umbo.jobs().len(), 1);
}

#[test]
fn a_job_started_inside_a_job_dies_with_it_and_says_so() {
    let umbo = Umbo::new();
    let line = format!("{} start '$NAP'; echo $? >&2", crate::harness::UMBO);
    let outer = umbo.exec_json(&[], &line);
    assert_eq!(outer["stderr"], "0\n");
    let inner = outer["stdout"].as_str().unwrap().trim().to_owned();
    assert!(umbo.nappers().is_empty(), "the tree of a job ends with the job");
    assert_eq!(umbo.outcome(&inner)["state"], "lost");
    assert!(!outer["leaked"].as_array().unwrap().is_empty(), "{outer}");
}
