//! Tasks: what their scripts add to a verdict.

use umbo_command::{Risk, Shell};
use umbo_gate::{
    Admission, Call, Covers, Decision, Gate, Lasts, Mode, Policy, Recipe, Reply, Script,
};

use crate::project::{NOW, Project, call, required};

fn scripts(project: &Project, texts: &[&str]) -> Vec<Script> {
    let script =
        |text: &&str| Script { text: (*text).to_owned(), shell: Shell::Posix, cwd: project.root() };
    texts.iter().map(script).collect()
}

/// What is said of a task that runs these, and how bad it is.
fn says(project: &Project, policy: &Policy, mode: Mode, texts: &[&str]) -> (Decision, Risk) {
    let (root, scripts) = (project.root(), scripts(project, texts));
    let recipe = Some(Recipe { name: "task", scripts: &scripts });
    let explained = Call { recipe, ..call("npm run task", &root) }.explain(policy, mode);
    (explained.verdict.decision(), explained.risk)
}

#[test]
fn the_strictest_of_a_task_and_its_scripts_counts() {
    let project = Project::new();
    let policy = project.policy();
    let says = |mode, texts: &[&str]| says(&project, &policy, mode, texts).0;
    assert_eq!(says(Mode::Guard, &[]), Decision::Allow);
    assert_eq!(says(Mode::Guard, &["ls", "touch x", "./build.sh"]), Decision::Allow);
    assert_eq!(says(Mode::Guard, &["ls", "rm -rf x"]), Decision::Ask);
    assert_eq!(says(Mode::Guard, &["touch ../x"]), Decision::Ask);
    assert_eq!(says(Mode::Open, &["rm -rf x"]), Decision::Allow);
    assert_eq!(says(Mode::Open, &["ls", "rm -rf /", "ls"]), Decision::Deny);
    assert_eq!(says(Mode::Default, &["ls"]), Decision::Ask, "it is not the script alone that runs");
}

#[test]
fn who_allows_a_task_allows_what_it_does_unless_that_is_dangerous() {
    let project = Project::new();
    let rule = "[[rule]]\ndecision = 'allow'\nreason = 'x'\nrecipe = ['task']\n";
    let policy = project.with(rule);
    for mode in [Mode::Default, Mode::Guard] {
        let says = |texts: &[&str]| says(&project, &policy, mode, texts).0;
        assert_eq!(says(&["touch x", "./build.sh", "echo $("]), Decision::Allow);
        assert_eq!(says(&["rm -rf x"]), Decision::Ask);
        assert_eq!(says(&["rm -rf /"]), Decision::Deny);
    }
    let asks = format!("{rule}[[rule]]\ndecision = 'ask'\nreason = 'y'\nargv = ['touch']\n");
    let says = says(&project, &project.with(&asks), Mode::Guard, &["touch x"]);
    assert_eq!(says.0, Decision::Ask, "a rule about what it runs holds");
}

#[test]
fn a_grant_is_for_the_scripts_that_were_shown() {
    let project = Project::new();
    let (gate, root): (Gate, _) = (project.gate(Mode::Guard), project.root());
    let admit = |texts: &[&str]| {
        let scripts = scripts(&project, texts);
        let recipe = Some(Recipe { name: "task", scripts: &scripts });
        gate.admit(&Call { recipe, ..call("npm run task", &root) }, NOW).unwrap()
    };
    let id = required(&admit(&["rm -rf x"]));
    let reply = Reply::approve(Covers::Prefix, Lasts::Until(NOW + 1000));
    gate.answer(&id, reply, "me", NOW).unwrap();
    let is_admitted = |texts: &[&str]| matches!(admit(texts), Admission::Admitted { .. });
    assert!(is_admitted(&["rm -rf x"]) && is_admitted(&["rm -rf x"]));
    assert_ne!(required(&admit(&["rm -rf x y"])), id);
    assert!(is_admitted(&["ls"]));
}
