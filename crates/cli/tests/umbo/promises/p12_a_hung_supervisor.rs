//! P12: one hung supervisor never blocks a list.

use umbo_engine::{Ladder, Request, Warmth};

use crate::harness::Umbo;

#[test]
fn p12_one_hung_supervisor_among_a_hundred_blocks_nobody() {
    let umbo = Umbo::new();
    let engine = umbo.library().warmth(Warmth::Warm).max_running(120).open().unwrap();
    let request = Request::shell(format!("exec {}", umbo.nap()), umbo.path());
    let jobs: Vec<_> = (0..100).map(|_| engine.start(&request).unwrap()).collect();
    let hung = umbo.supervisor(jobs[50].id().as_str());
    let hung = umbo.hang(&[hung]);
    let listed = umbo.jobs();
    assert_eq!(listed.len(), 100);
    assert!(listed.iter().all(|job| job["state"] == "started"), "it is alive, and so said");
    assert_eq!(umbo.events(0).len(), 200);
    umbo.call(["exec", "echo fine"]).env("UMBO_MAX_RUNNING", "120").stdout("fine\n").run();
    umbo.call(["prune", "--older-than", "0"]).stdout("1 jobs deleted\n").run();
    umbo.call(["output", jobs[50].id().as_str()]).run();
    let met = umbo.wait(jobs[50].id().as_str(), &["--timeout", "0.1"]);
    assert_eq!(met["reason"], "timeout", "every wait has its deadline");
    drop(hung);
    std::thread::scope(|scope| {
        for job in &jobs {
            scope.spawn(|| job.stop(Ladder::KILL).unwrap());
        }
    });
    assert!(umbo.nappers().is_empty());
}
