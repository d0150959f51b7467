//! P9: a reboot gives `lost{reboot}`; nothing runs again by itself.

use serde_json::json;

use super::{ends, plant};
use crate::harness::{Umbo, dies};

const PLANTED: &str = "01k0000000000000000000000b";

#[test]
fn p09_a_job_of_another_boot_is_lost_and_does_not_run_again() {
    let umbo = Umbo::new();
    plant(&umbo, PLANTED, |record| {
        record["supervisor"]["boot_id"] = json!("00000000-0000-0000-0000-000000000000");
    });
    let listed = umbo.listed(PLANTED);
    assert_eq!((&listed["state"], &listed["exit_code"]), (&json!("lost"), &json!(null)));
    let ended = umbo.stop(PLANTED, &[]);
    assert_eq!((&ended["reason"], &ended["effects"]), (&json!("reboot"), &json!("unknown")));
    umbo.call(["output", PLANTED]).stdout("kept\n").run();
    assert_eq!(umbo.call(["wait", PLANTED]).answer().status, 125);
    assert_eq!(ends(&umbo, PLANTED), 1);
    for _ in 0..3 {
        umbo.jobs();
    }
    assert_eq!(ends(&umbo, PLANTED), 1);
    assert!(umbo.nappers().is_empty(), "nothing was run again");
}

#[test]
fn p09_a_key_of_a_job_that_a_reboot_ended_does_not_run_it_again() {
    let umbo = Umbo::new();
    let line = "echo ran >>runs; $NAP";
    let job = umbo.start_with(&["--idempotency-key", "k"], line);
    umbo.wait(&job, &["--file", "runs"]);
    let (supervisor, keeper) = (umbo.supervisor(&job), umbo.keeper(&job));
    umbo.stop(&job, &["--kill"]);
    assert!(dies(supervisor) && dies(keeper));
    // The machine went down before the record was written.
    let path = umbo.job(&job).join("request");
    let request = std::fs::read_to_string(&path).unwrap();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    std::fs::write(path, request.replace(boot.trim(), "another boot")).unwrap();
    std::fs::remove_file(umbo.job(&job).join("outcome")).unwrap();
    assert_eq!(umbo.start_with(&["--idempotency-key", "k"], line), job);
    assert_eq!(umbo.record(&job, "outcome")["reason"], "reboot");
    assert_eq!(std::fs::read_to_string(umbo.path().join("runs")).unwrap(), "ran\n");
}
