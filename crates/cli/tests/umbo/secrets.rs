//! Secrets that a command is given: masked for whoever reads, and nowhere on disk in plain text.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::harness::Umbo;

const SECRET: &str = "correct-horse-battery-9";

/// Every file below a directory that holds a text, but for the output of jobs.
fn holding(directory: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else if path.file_name().unwrap() != "output" {
            let bytes = fs::read(&path).unwrap_or_default();
            if String::from_utf8_lossy(&bytes).contains(text) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn a_variable_given_with_the_call_is_masked_for_its_caller_and_for_every_other_reader() {
    let umbo = Umbo::new();
    let variable = format!("DEPLOY_TOKEN={SECRET}");
    let line = "echo \"got $DEPLOY_TOKEN\"; printf %s \"$DEPLOY_TOKEN\" | base64; exit 3";
    let ran = umbo.exec_json(&["--env", &variable], line);
    let stdout = ran["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("got #") && !stdout.contains("Y29ycmVjdC"), "{ran}");
    let job = ran["job"].as_str().unwrap();
    // Another process, which has no such variable.
    for words in [
        &["output", job][..],
        &["output", "--json", job],
        &["output", "--errors", job],
        &["output", "--grep", "got", job],
        &["output", "--tail", "5", job],
        &["wait", "--json", job],
        &["call", "output", &json!({"job": job}).to_string()],
    ] {
        let shown = umbo.call(words).answer();
        let text = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(!text.contains(SECRET) && !text.contains("Y29ycmVjdC"), "{words:?}: {text}");
    }
    let shown = umbo.call(["output", job]).answer().text();
    assert!(shown.starts_with("got #"), "{shown}");
    assert_eq!(
        umbo.call(["output", "--unmask", job]).answer().text().lines().next(),
        Some(&*format!("got {SECRET}"))
    );
    assert_eq!(holding(umbo.state(), SECRET), [] as [&str; 0], "it is in plain text nowhere");
}

#[test]
fn a_variable_of_one_callers_environment_is_masked_for_readers_who_lack_it() {
    let umbo = Umbo::new();
    let words = ["exec", "--json", "echo \"got $DEPLOY_TOKEN\""];
    let ran = umbo.call(words).env("DEPLOY_TOKEN", SECRET).json();
    let shown = umbo.call(["output", ran["job"].as_str().unwrap()]).answer().text();
    assert!(shown.starts_with("got #"), "{shown}");
    assert_eq!(holding(umbo.state(), SECRET), [] as [&str; 0]);
}

#[test]
fn a_tool_that_is_given_a_secret_never_shows_it_again() {
    let umbo = Umbo::new();
    let line = format!("echo \"got $API_KEY {SECRET}\"");
    let call = json!({"command": line, "env": {"API_KEY": SECRET}}).to_string();
    let ran = umbo.call(["call", "exec", &call]).json();
    assert!(!ran.to_string().contains(SECRET), "{ran}");
    let listed = umbo.call(["jobs", "--all", "--json"]).json();
    assert!(!listed.to_string().contains(SECRET), "the command names it: {listed}");
    let table = umbo.call(["jobs", "--all"]).answer().text();
    assert!(!table.contains(SECRET), "{table}");
}

#[test]
fn a_label_that_was_tampered_with_is_no_label_and_breaks_nothing() {
    let umbo = Umbo::new();
    let ran = umbo.exec_json(&["--env", &format!("A_TOKEN={SECRET}")], "echo $A_TOKEN");
    let job = ran["job"].as_str().unwrap();
    let request = umbo.job(job).join("request");
    let text = fs::read_to_string(&request).unwrap();
    let (before, rest) = text.split_once("umbo.secrets\":\"").unwrap();
    let label: String = rest.chars().take_while(|c| *c != '"').collect();
    let broken =
        format!("{before}umbo.secrets\":\"{}{}", "0".repeat(label.len()), &rest[label.len()..]);
    fs::write(&request, broken).unwrap();
    assert_eq!(umbo.call(["output", job]).answer().status, 0);
}

#[test]
fn the_files_in_which_agents_of_omp_list_secrets_count_in_their_dialect() {
    let umbo = Umbo::new();
    let write = |file: &str, text: &str| {
        let path = umbo.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("home/.omp/agent/secrets.yml", "- {type: plain, content: of-the-user}\n");
    let block = r"/----BEGIN X----[\s\S]+?----END X----/";
    write(".omp/secrets.yml", &format!("- {{type: regex, content: '{block}'}}\n"));
    let call = |dialect: &str, tool: &str| {
        let line = "echo of-the-user; printf -- '----BEGIN X----\\nabc\\n----END X----\\n'";
        let arguments = json!({"command": line}).to_string();
        let words = ["call", "--dialect", dialect, tool, &arguments];
        umbo.call(words).current_dir(umbo.path()).json().to_string()
    };
    let hidden = call("omp", "bash");
    assert!(!hidden.contains("of-the-user") && !hidden.contains("abc"), "{hidden}");
    let shown = call("umbo", "exec");
    assert!(shown.contains("of-the-user") && shown.contains("abc"), "{shown}");
    // What cannot be read is refused, not skipped.
    write(".omp/secrets.yml", "- {type: regex, content: '(?<!a)b'}\n");
    let arguments = json!({"command": "true"}).to_string();
    let words = ["call", "--dialect", "omp", "bash", &arguments];
    let said = umbo.call(words).current_dir(umbo.path()).refused();
    assert!(said.contains(".omp/secrets.yml, entry 1") && said.contains("look-around"), "{said}");
}
