//! P3: never two copies by our doing.

use std::fs;

use super::{at_a_random_instant, life_of};
use crate::harness::Umbo;

#[test]
fn p03_a_key_runs_once_though_its_callers_are_killed() {
    let umbo = Umbo::new();
    let rounds = 25;
    let span = life_of(&umbo, &["exec", "true"]);
    for round in 0..rounds {
        let (key, line) = (format!("key-{round}"), format!("echo ran >>runs-{round}"));
        let call = || umbo.call(["exec", "--idempotency-key", &key, &line]);
        let client = call().spawn();
        at_a_random_instant(span);
        client.kill();
        let again = call().answer();
        assert_eq!(again.status, 0, "round {round}: {again:?}");
        let runs = fs::read_to_string(umbo.path().join(format!("runs-{round}"))).unwrap();
        assert_eq!(runs, "ran\n", "round {round}");
    }
    assert_eq!(umbo.jobs().len(), rounds + 1);
}

#[test]
fn p03_a_key_whose_job_was_lost_is_not_run_again() {
    let umbo = Umbo::new();
    for point in ["after_record", "after_fork", "after_start"] {
        let line = format!("echo ran >>{point}; $NAP");
        let words = ["start", "--idempotency-key", point, &line];
        umbo.call(words).env("UMBO_FAILPOINT", point).answer();
        let again = umbo.call(words).answer();
        assert_eq!(again.status, 0, "{again:?}");
        let job = again.text().trim().to_owned();
        assert_eq!(umbo.outcome(&job)["state"], "lost", "{point}");
        let runs = fs::read_to_string(umbo.path().join(point)).unwrap_or_default();
        assert!(runs.lines().count() <= 1, "{point}: {runs}");
        assert!(umbo.nappers().is_empty());
    }
    assert_eq!(umbo.jobs().len(), 3);
}

#[test]
fn p03_looking_at_jobs_never_runs_one() {
    let umbo = Umbo::new();
    let job = umbo.start("echo ran >>runs; $NAP");
    umbo.wait(&job, &["--file", "runs"]);
    let looks: Vec<_> = (0..20).map(|_| umbo.call(["jobs", "--all"]).spawn()).collect();
    for look in looks {
        assert_eq!(look.answer().status, 0);
    }
    umbo.wait_nappers(1);
    assert_eq!(fs::read_to_string(umbo.path().join("runs")).unwrap(), "ran\n");
}
