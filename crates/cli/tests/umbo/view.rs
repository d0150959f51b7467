//! What a reader gets to see: bounded, sanitised, masked, and honest about the rest.

use serde_json::json;

use crate::harness::Umbo;

#[test]
fn colours_progress_bars_and_bells_do_not_reach_a_reader() {
    let umbo = Umbo::new();
    let line = r"printf '\033[31mred\033[0m\a\n 10%%\r 50%%\r100%%\nab\bc\n\033]0;title\007end\n'";
    let answer = umbo.exec_json(&[], line);
    assert_eq!(answer["stdout"], "red\n100%\nac\nend\n");
    assert_eq!(answer["stderr"], "");
}

#[test]
fn an_error_in_the_middle_of_a_long_output_is_kept() {
    let umbo = Umbo::new();
    let line = "seq 50000; echo 'error: the bolt is loose'; seq 50000";
    let answer = umbo.exec_json(&[], line);
    let text = answer["output"].as_str().unwrap();
    assert!(text.contains("\nerror: the bolt is loose\n"), "{}", text.len());
    assert!(text.starts_with("1\n2\n") && text.ends_with("49999\n50000\n"));
    assert!(text.len() <= 50 << 10 && text.lines().count() <= 2000);
    let found = umbo.call(["output", "@last", "--errors", "--context", "0", "--json"]).json();
    assert!(found["output"].as_str().unwrap().contains("error: the bolt is loose\n"));
}

#[test]
fn a_budget_is_kept_and_the_rest_is_an_artifact() {
    let umbo = Umbo::new();
    let answer = umbo.exec_json(&["--budget", "600t,2k,40l"], "seq 10000");
    let text = answer["output"].as_str().unwrap();
    assert!(text.len() <= 2 << 10 && text.lines().count() <= 40);
    assert!(answer["tokens"].as_u64().unwrap() <= 600);
    assert!(answer["original_token_count"].as_u64().unwrap() > 5000);
    let artifact = answer["artifact"].as_str().unwrap();
    let all = umbo.call(["output", artifact, "--budget", "none"]).answer();
    assert_eq!(all.text().lines().count(), 10_000);
    assert_eq!(
        std::fs::read_to_string(answer["full_output_path"].as_str().unwrap()).unwrap(),
        all.text()
    );
    let wrong = umbo.call(["output", "artifact://nothing"]).status(125).answer();
    assert!(wrong.said().contains(answer["job"].as_str().unwrap()), "{}", wrong.said());
}

#[test]
fn pages_follow_each_other_without_gap_and_asked_twice_are_the_same() {
    let umbo = Umbo::new();
    let job = umbo.start("seq 5000");
    umbo.outcome(&job);
    let mut read = String::new();
    let mut from = 0;
    loop {
        let offset = from.to_string();
        let page =
            || umbo.call(["output", &job, "--from", &offset, "--budget", "4k", "--json"]).json();
        let (first, second) = (page(), page());
        assert_eq!(first, second);
        let text = first["output"].as_str().unwrap();
        read.extend(
            text.lines().filter(|line| !line.starts_with("[umbo: ")).flat_map(|line| [line, "\n"]),
        );
        from = first["next_offset"].as_u64().unwrap();
        if first["at_end"] == true {
            break;
        }
    }
    assert_eq!(read, (1..=5000).fold(String::new(), |text, number| format!("{text}{number}\n")));
}

#[test]
fn secrets_of_the_environment_never_come_out_and_come_back_in_arguments() {
    let umbo = Umbo::new();
    let secret = "correct-horse-battery";
    let call = |words: &[&str]| umbo.call(words.iter().copied()).env("DEPLOY_TOKEN", secret);
    let answer =
        call(&["exec", "--json", "echo it is $DEPLOY_TOKEN; echo $DEPLOY_TOKEN | base64"]).json();
    let text = answer["output"].as_str().unwrap();
    assert!(!text.contains(secret) && !text.contains("Y29ycmVjdC"), "{text}");
    let placeholder = text.strip_prefix("it is ").unwrap().lines().next().unwrap();
    assert!(placeholder.starts_with('#') && placeholder.len() == 6, "{placeholder}");
    // The model passes it on, and the command gets the real one.
    let line = format!("test {placeholder} = $DEPLOY_TOKEN && echo same");
    call(&["exec", &line]).stdout("same\n").run();
    // Not in lists, not in errors, not in what is asked for again; only where it is asked for.
    let listed = call(&["jobs", "--json"]).answer().text();
    assert!(!listed.contains(secret), "{listed}");
    let wrong = call(&["exec", "--cwd", secret, "true"]).status(125).answer();
    assert!(!wrong.said().contains(secret), "{}", wrong.said());
    let job = answer["job"].as_str().unwrap();
    assert!(!call(&["output", job]).answer().text().contains(secret));
    assert!(call(&["output", job, "--unmask"]).answer().text().contains(secret));
    let checked = call(&["secrets", "check", "--json"]).answer().text();
    assert!(checked.contains("DEPLOY_TOKEN") && !checked.contains(secret));
}

#[test]
fn a_secret_is_masked_in_names_matches_remarks_and_lists() {
    let umbo = Umbo::new();
    let secret = "correct-horse-battery";
    let call = |words: &[&str]| umbo.call(words.iter().copied()).env("DEPLOY_TOKEN", secret);
    let quiet = |words: &[&str]| {
        let answer = call(words).answer();
        let all = format!("{}{}", answer.text(), answer.said());
        assert!(!all.contains(secret), "{words:?}: {all}");
        all
    };
    let line = "echo ready $DEPLOY_TOKEN; $NAP";
    let job = call(&["start", "--name", &format!("for {secret}"), line]).answer().text();
    let met = quiet(&["wait", job.trim(), "--match", "ready .*"]);
    assert!(met.contains("match (started): ready #"), "{met}");
    quiet(&["wait", job.trim(), "--match", "ready .*", "--json"]);
    assert!(quiet(&["jobs"]).contains("for #"));
    let leak = format!("(exec -a {secret} $NAP) & sleep 0.1; exit 0");
    let said = quiet(&["exec", "--shell", "bash", &leak]);
    assert!(said.contains("outlived the command") && said.contains('#'), "{said}");
    quiet(&["exec", &format!("/no/such/{secret}"), "x"]);
    quiet(&["exec", "--json", &format!("/no/such/{secret}"), "x"]);
    quiet(&["output", secret]);
    quiet(&["output", secret, "--json"]);
}

#[test]
fn a_placeholder_among_words_is_the_secret_again() {
    let umbo = Umbo::new();
    let secret = "correct-horse-battery";
    let call = |words: &[&str]| umbo.call(words.iter().copied()).env("DEPLOY_TOKEN", secret);
    let shown = call(&["exec", "--json", "echo $DEPLOY_TOKEN"]).json();
    let placeholder = shown["stdout"].as_str().unwrap().trim().to_owned();
    assert!(placeholder.starts_with('#'), "{placeholder}");
    let words = ["exec", "printf", "%s-%s", &placeholder, "x"];
    call(&words).stdout(format!("{secret}-x")).run();
}

#[test]
fn listed_secrets_are_masked_and_a_broken_list_is_told() {
    let umbo = Umbo::new();
    let config = tempfile::tempdir().unwrap();
    let list = config.path().join("secrets.yml");
    let call =
        |words: &[&str]| umbo.call(words.iter().copied()).env("UMBO_CONFIG_DIR", config.path());
    std::fs::write(
        &list,
        "- type: plain\n  content: hunter2\n  mode: replace\n  replacement: '***'\n",
    )
    .unwrap();
    let answer = call(&["exec", "--json", "echo the password is hunter2"]).json();
    assert_eq!(answer["stdout"], "the password is ***\n");
    std::fs::write(&list, "- type: guess\n  content: hunter2\n").unwrap();
    let answer = call(&["secrets", "check"]).status(125).answer();
    assert!(answer.said().contains("secrets.yml, entry 1: `type`"), "{}", answer.said());
}

#[test]
fn a_terminal_s_lines_are_rendered_as_it_showed_them() {
    let umbo = Umbo::new();
    let line = r"printf 'one\ntwo\033[1A\rONE\n\n\033[31mthree\033[0m\n'";
    let answer = umbo.exec_json(&["--pty"], line);
    let job = answer["job"].as_str().unwrap();
    umbo.call(["output", job, "--rendered"]).stdout("ONE\ntwo\nthree\n").run();
}

#[test]
fn output_can_be_cut_by_time() {
    let umbo = Umbo::new();
    let job = umbo.start("echo early; read go; echo late");
    umbo.wait_for(&job, "early");
    umbo.wait(&job, &["--quiet", "0.2"]);
    umbo.call(["input", &job, "\n"]).run();
    umbo.outcome(&job);
    let events = umbo.call(["output", &job, "--since", "100ms", "--until", "0"]).answer();
    assert!(!events.text().contains("early"), "{}", events.text());
    umbo.call(["output", &job, "--since", "1h"]).stdout("early\nlate\n").run();
    let wrong = umbo.call(["output", &job, "--since", "yesterday"]).status(125).answer();
    assert!(wrong.said().contains("yesterday"));
}

#[test]
fn noise_of_known_tools_is_folded_on_request_only() {
    let umbo = Umbo::new();
    let line = "for n in $(seq 60); do echo \"   Compiling crate-$n v1.0.0\"; done; echo 'error[E0308]: mismatched types'";
    let job = umbo.start(line);
    umbo.outcome(&job);
    let plain = umbo.call(["output", &job]).answer().text();
    assert_eq!(plain.lines().count(), 61);
    let folded = umbo.call(["output", &job, "--minimize", "--json"]).json();
    let text = folded["output"].as_str().unwrap();
    assert!(text.lines().count() < 10 && text.contains("error[E0308]"), "{text}");
    assert_eq!(folded["artifact"], json!(format!("artifact://{job}")));
}

#[test]
fn raw_bytes_are_exact_whatever_they_are() {
    let umbo = Umbo::new();
    let answer = umbo.exec_json(&[], r"printf '\000\377\303\050 tail'");
    assert!(answer["stdout"].as_str().unwrap().contains(" tail"));
    let raw = umbo.call(["output", "@last", "--raw"]).answer();
    assert_eq!(raw.stdout, b"\x00\xff\xc3\x28 tail");
}
