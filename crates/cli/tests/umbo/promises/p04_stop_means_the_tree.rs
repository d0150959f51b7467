//! P4: stop means the whole tree: nobody survives, and the result says which mechanism proved it.

use crate::harness::Umbo;
use crate::hostile::{CORPUS, proof};

fn stop_corpus(umbo: &Umbo, proof: &str) {
    for (name, line) in CORPUS {
        let job = umbo.start(line);
        umbo.wait_for(&job, "ready");
        let ended = umbo.stop(&job, &["--grace", "0.1"]);
        assert_eq!(ended["state"], "stopped", "{name}: {ended}");
        assert_eq!(ended["contained_by"], proof, "{name}: {ended}");
        assert!(umbo.nappers().is_empty(), "{name}: {:?} are left", umbo.nappers());
    }
}

#[test]
fn p04_the_whole_corpus_is_stopped_with_a_control_group() {
    let umbo = Umbo::new();
    stop_corpus(&umbo, proof(&umbo));
}

#[test]
fn p04_the_whole_corpus_is_stopped_by_the_subreaper_alone() {
    stop_corpus(&Umbo::unprivileged(), "subreaper");
}

#[test]
fn p04_the_whole_corpus_is_stopped_at_once_side_by_side() {
    let umbo = Umbo::new();
    let start = |line: &str| {
        let answer = umbo.call(["start", line]).env("UMBO_MAX_RUNNING", "50").answer();
        answer.text().trim().to_owned()
    };
    let jobs: Vec<String> = CORPUS.iter().map(|(_, line)| start(line)).collect();
    for job in &jobs {
        umbo.wait_for(job, "ready");
    }
    let names: Vec<&str> = jobs.iter().map(String::as_str).collect();
    let answer = umbo.call([&["stop", "--grace", "0.2"], &names[..]].concat()).answer();
    assert_eq!(answer.status, 0, "{answer:?}");
    assert!(umbo.nappers().is_empty());
}
