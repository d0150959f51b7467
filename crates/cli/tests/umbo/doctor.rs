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

#[test]
fn a_client_that_does_not_see_umbo_is_told_why_and_one_that_does_with_its_tools() {
    let umbo = Umbo::new();
    let look = || {
        let answer = umbo.call(["doctor", "--client", "zed", "--json"]).answer();
        let findings: Vec<serde_json::Value> = serde_json::from_slice(&answer.stdout).unwrap();
        let found = move |name: &str| {
            let found = findings.iter().find(|found| found["name"] == name);
            found.cloned().unwrap_or_default()
        };
        (answer.status, found)
    };
    let (status, found) = look();
    assert_eq!(status, 1);
    assert_eq!(found("program")["works"], false);
    let settings = found("your settings");
    assert_eq!(settings["works"], false, "{settings}");
    assert!(settings["meaning"].as_str().unwrap().contains("umbo install zed"), "{settings}");
    assert!(found("tools").is_null(), "there is nothing to start");
    umbo.call(["install", "zed", "--yes", "--json"]).answer();
    let (_, found) = look();
    assert_eq!(found("your settings")["works"], true);
    let tools = found("tools");
    let names: Vec<&str> = tools["detail"].as_str().unwrap().split(' ').collect();
    assert!(names.contains(&"exec") && names.contains(&"wait"), "{tools}");
}

#[test]
fn a_client_is_asked_itself_what_it_starts() {
    // A client of that name, which starts what its settings say as the real one does.
    let umbo = Umbo::new();
    let bin = umbo.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let program = bin.join("claude");
    let script = format!(
        "#!/bin/sh\nPATH=/usr/bin:/bin; export PATH\nsleep 60 | {} mcp >/dev/null\n",
        crate::harness::UMBO
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let said = umbo.call(["install", "claude-code", "--yes"]).env("PATH", &path).answer();
    assert!(said.text().contains("it has the tools exec"), "{said:?}");
    assert!(said.text().contains("another PATH"), "{said:?}");
    let answer = umbo.call(["doctor", "--client", "claude-code"]).env("PATH", &path).answer();
    assert_eq!(answer.status, 0, "{answer:?}");
    for name in ["program", "start", "state", "PATH", "tools"] {
        assert!(answer.text().contains(name), "{name}: {answer:?}");
    }
}
