//! The conversations on disk.

use std::fs;

use serde_json::Value;
use umbo_model::server::{Gate, Reply};

use super::{CASES, DEADLINE, Scene};

#[test]
fn a_session_is_listed_searched_shown_named_exported_copied_and_deleted() {
    let case = CASES[0];
    let scene = Scene::new(vec![
        Reply::answer(case.command("call_1", "echo <b>needle</b>")),
        Reply::text("There it is."),
        Reply::text("Nothing here."),
    ]);
    scene.agent(case.model, &[], "find the haystack").answer().expect_status(0);
    scene.agent(case.model, &[], "another one").answer().expect_status(0);
    let umbo = &scene.umbo;
    let listed = umbo.call(["sessions", "--json"]).json_lines();
    assert_eq!(listed.len(), 2);
    assert_eq!(listed[1]["first_prompt"], "find the haystack");
    let id = listed[1]["id"].as_str().unwrap();
    let found = umbo.call(["sessions", "search", "NEEDLE", "--json"]).json_lines();
    assert!(!found.is_empty() && found.iter().all(|hit| hit["session"] == id), "{found:?}");

    umbo.call(["sessions", "label", id, "The haystack"]).run();
    let entries = umbo.call(["sessions", "show", id, "--json"]).json_lines();
    let prompt = entries.iter().find(|entry| entry["entry"]["message"]["role"] == "user").unwrap();
    let prompt = prompt["id"].as_str().unwrap();
    umbo.call(["sessions", "label", id, "here", "--entry", prompt]).run();
    let list = umbo.call(["sessions"]).answer().text();
    assert!(list.contains("The haystack"), "{list}");
    let tree = umbo.call(["sessions", "tree", id]).answer().text();
    assert!(tree.contains("[here] user: find the haystack"), "{tree}");
    assert!(tree.lines().last().unwrap().starts_with("* "), "{tree}");

    let markdown = umbo.call(["sessions", "export", id]).answer().text();
    assert!(markdown.starts_with("# The haystack\n") && markdown.contains("<b>needle</b>"));
    let html = umbo.call(["sessions", "export", id, "--format", "html"]).answer().text();
    assert!(html.contains("&lt;b&gt;needle") && !html.contains("<b>needle"), "{html}");

    let copy = umbo.call(["sessions", "fork", id, "--at", prompt, "--json"]).json();
    let copied = fs::read_to_string(copy["path"].as_str().unwrap()).unwrap();
    assert!(copied.contains("find the haystack") && !copied.contains("There it is."));
    assert_eq!(umbo.call(["sessions", "--json"]).json_lines().len(), 3);
    umbo.call(["sessions", "delete", id]).stdout(format!("deleted {id}\n")).run();
    let left = umbo.call(["sessions", "--json"]).json_lines();
    assert!(left.len() == 2 && left.iter().all(|session| session["id"] != id));
    let gone = umbo.call(["sessions", "show", id]).refused();
    assert!(gone.contains("`umbo sessions --all` lists all"), "{gone}");
}

#[test]
fn sessions_of_other_directories_are_found_by_their_id_and_only_the_user_can_read_them() {
    use std::os::unix::fs::PermissionsExt;

    let scene = Scene::new(vec![Reply::text("yes")]);
    let elsewhere = scene.umbo.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    scene
        .agent(CASES[0].model, &[], "are you there?")
        .current_dir(&elsewhere)
        .answer()
        .expect_status(0);
    assert!(scene.umbo.call(["sessions", "--json"]).json_lines().is_empty());
    let all: Value = scene.umbo.call(["sessions", "--all", "--json"]).json();
    let id = all["id"].as_str().unwrap();
    let shown = scene.umbo.call(["sessions", "show", &id[..12]]).answer().text();
    assert!(shown.contains("are you there?"));
    let folder = scene.session_file().parent().unwrap().to_owned();
    assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o077, 0);
}

#[test]
fn a_damaged_line_costs_that_line_and_a_damaged_header_nothing() {
    let scene = Scene::new(vec![Reply::text("one"), Reply::text("two"), Reply::text("three")]);
    let model = CASES[0].model;
    scene.agent(model, &[], "the first").answer().expect_status(0);
    scene.agent(model, &["-c"], "the second").answer().expect_status(0);
    let file = scene.session_file();
    let text = fs::read_to_string(&file).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[0] = "{\"type\":\"sess".to_owned();
    let at = lines.iter().position(|line| line.contains("\"one\"")).unwrap();
    lines[at].truncate(20);
    fs::write(&file, lines.join("\n") + "\n{\"type\":\"mess").unwrap();
    let answer = scene.agent(model, &["-c"], "the third").answer();
    answer.expect_status(0);
    let said = answer.said();
    assert!(said.contains("line 1 of the session cannot be read"), "{said}");
    let last = scene.server.requests().pop().unwrap().text;
    for kept in ["the first", "the second", "two", "the third"] {
        assert!(last.contains(kept), "{kept}: {last}");
    }
    scene.check();
}

#[test]
fn a_session_in_use_is_read_and_copied_but_not_named_or_deleted() {
    let gate = Gate::new();
    let scene = Scene::new(vec![Reply::text("late").wait_after(0, &gate), Reply::text("copied")]);
    let model = CASES[0].model;
    let client = scene.agent(model, &[], "the first words").spawn();
    assert!(scene.server.wait_for_requests(1, DEADLINE));
    let umbo = &scene.umbo;
    let id = umbo.call(["sessions", "--json"]).json()["id"].as_str().unwrap().to_owned();
    let shown = umbo.call(["sessions", "show", &id]).answer().text();
    assert!(shown.contains("the first words"), "{shown}");
    for words in [&["label", &id, "mine"][..], &["delete", &id]] {
        let said = umbo.call([&["sessions"], words].concat()).refused();
        assert!(said.contains("in use by another process"), "{said}");
    }
    // The way out that is offered works.
    let words = ["agent", "--resume", &id, "--fork", "-p", "and on"];
    scene.call(&words).stdout("copied\n").run();
    let sent = &scene.server.requests()[1].text;
    assert!(sent.contains("the first words") && sent.contains("and on"), "{sent}");
    gate.open();
    client.answer().expect_status(0);
    umbo.call(["sessions", "delete", &id]).stdout(format!("deleted {id}\n")).run();
}
