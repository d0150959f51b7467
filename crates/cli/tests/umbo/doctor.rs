//! `umbo doctor`: what this machine allows.

use crate::harness::Umbo;

#[test]
fn it_tries_all_that_jobs_rely_on_and_leaves_nothing() {
    let umbo = Umbo::new();
    let findings = umbo.call(["doctor", "--json"]).json();
    let names: Vec<&str> = findings
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["name"].as_str().unwrap())
        .collect();
    for name in ["cgroup", "subreaper", "pty", "shell sh", "shell bash", "shell nu"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for finding in findings.as_array().unwrap() {
        assert!(finding["works"].is_boolean(), "{finding}");
        assert!(!finding["meaning"].as_str().unwrap().is_empty(), "{finding}");
    }
    let text = umbo.call(["doctor"]).answer().text();
    assert!(text.contains(&umbo.state().display().to_string()), "{text}");
}

#[test]
fn what_it_says_about_containment_is_what_jobs_do() {
    for umbo in [Umbo::new(), Umbo::unprivileged()] {
        let findings = umbo.call(["doctor", "--json"]).json();
        let cgroup =
            findings.as_array().unwrap().iter().find(|found| found["name"] == "cgroup").unwrap();
        let expected = if cgroup["works"] == true { "cgroup" } else { "subreaper" };
        assert_eq!(umbo.exec_json(&[], "true")["contained_by"], expected, "{cgroup}");
    }
}

#[test]
fn a_missing_shell_is_said_with_how_to_get_it() {
    let umbo = Umbo::new();
    let findings = umbo.call(["doctor", "--json"]).env("PATH", "/nowhere").json();
    let fish = findings.as_array().unwrap().iter().find(|found| found["name"] == "shell fish");
    let fish = fish.unwrap();
    assert_eq!(fish["works"], false);
    assert!(fish["detail"].as_str().unwrap().contains("install the package fish"), "{fish}");
}
