//! P2: a status never lies: `started` only if identity is proven, else `lost`; a reused pid is never
//! signalled.

use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal};
use serde_json::json;

use super::plant;
use crate::harness::{Umbo, dies, is_alive, signal, stat};

const PLANTED: &str = "01k0000000000000000000000a";

#[test]
fn p02_a_reused_pid_is_neither_believed_nor_signalled() {
    let umbo = Umbo::new();
    // An innocent process that has the pid of a supervisor of old, even its start time.
    let mut innocent = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
    let pid = Pid::from_child(&innocent);
    let start: u64 = stat(pid).unwrap()[19].parse().unwrap();
    plant(&umbo, PLANTED, |record| {
        record["supervisor"]["pid"] = json!(pid.as_raw_nonzero().get());
        record["supervisor"]["start_time"] = json!(start);
    });
    assert_eq!(umbo.listed(PLANTED)["state"], "lost");
    assert_eq!(umbo.record(PLANTED, "outcome")["reason"], "supervisor_killed");
    for verb in [&["stop", PLANTED, "--kill"][..], &["wait", PLANTED], &["output", PLANTED]] {
        umbo.call(verb).answer();
    }
    assert!(is_alive(pid), "the innocent was not touched");
    innocent.kill().unwrap();
    innocent.wait().unwrap();
}

#[test]
fn p02_started_is_said_only_while_the_supervisor_is_proven_alive() {
    let umbo = Umbo::new();
    let job = umbo.start("$NAP");
    let (supervisor, keeper) = (umbo.supervisor(&job), umbo.keeper(&job));
    assert_eq!(umbo.listed(&job)["state"], "started");
    signal(keeper, Signal::KILL);
    assert!(dies(keeper));
    assert_eq!(umbo.listed(&job)["state"], "started");
    signal(supervisor, Signal::KILL);
    assert!(dies(supervisor));
    let listed = umbo.listed(&job);
    assert_eq!((&listed["state"], &listed["exit_code"]), (&json!("lost"), &json!(null)));
    assert!(umbo.nappers().is_empty(), "what is called lost does not run on");
}

#[test]
fn p02_a_hung_supervisor_is_alive_and_its_job_not_lost() {
    let umbo = Umbo::new();
    let job = umbo.start("$NAP");
    let hung = umbo.hang(&[umbo.supervisor(&job)]);
    assert_eq!(umbo.listed(&job)["state"], "started");
    umbo.wait_nappers(1);
    drop(hung);
}
