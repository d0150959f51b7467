//! Modes: what runs unasked when no rule says anything.

use std::os::unix::fs::symlink;

use umbo_command::Risk;
use umbo_gate::{Decision, Mode};

use crate::project::Project;

#[test]
fn each_mode_asks_about_what_it_says() {
    use Decision::{Allow, Ask};
    let project = Project::new();
    let policy = project.policy();
    for (command, expected) in [
        ("git status", [Allow, Allow, Allow, Allow, Allow]),
        ("mkdir sub/new && touch sub/new/x", [Ask, Allow, Ask, Allow, Allow]),
        ("cargo build", [Ask, Ask, Ask, Allow, Allow]),
        ("./run.sh", [Ask, Ask, Ask, Allow, Allow]),
        ("rm x", [Ask, Ask, Ask, Allow, Allow]),
        ("git push --force", [Ask, Ask, Ask, Ask, Allow]),
        ("echo \"", [Ask, Ask, Ask, Allow, Allow]),
    ] {
        for (mode, expected) in Mode::ALL.into_iter().zip(expected) {
            assert_eq!(project.says(&policy, mode, command), expected, "{mode} {command}");
        }
    }
}

#[test]
fn edits_are_accepted_inside_the_project_only() {
    let project = Project::new();
    let policy = project.policy();
    let root = project.root();
    symlink(project.base().join("elsewhere"), root.join("out")).unwrap();
    symlink("../../elsewhere/new", root.join("dangling")).unwrap();
    symlink("/etc/hosts", root.join("sub/hosts")).unwrap();
    let says = |command: &str| project.says(&policy, Mode::AcceptEdits, command);
    for command in [
        "mkdir -p a/b",
        "touch x",
        "cp a b",
        "mv a sub/",
        "chmod +x run.sh",
        "ln -s a b",
        "cd sub && mkdir x",
        "touch a; mkdir b; chmod 755 a",
    ] {
        assert_eq!(says(command), Decision::Allow, "{command}");
    }
    for command in [
        "touch /etc/x",
        "touch ../x",
        "mkdir ~/x",
        "cp a out/b",
        "touch out/x",
        "touch dangling",
        "cp hosts sub",
        "cp -t /etc a",
        "cp --target-directory=/etc a",
        "cp -t/etc a",
        "mv a $X",
        "touch *",
        "touch x > y",
        "cd .. && touch x",
        "cd $X && touch x",
        "cd ~ && touch x",
        "ln -s / r && touch r/x",
        "mv out in && touch in/x",
        "ln -s ../../elsewhere e",
        "touch x; rm x",
        "./touch x",
        "/tmp/touch x",
    ] {
        assert_eq!(says(command), Decision::Ask, "{command}");
    }
}

#[test]
fn writing_outside_the_project_raises_the_risk() {
    let project = Project::new();
    let policy = project.policy();
    symlink(project.base().join("elsewhere"), project.root().join("out")).unwrap();
    let risk = |command: &str| project.explain(&policy, Mode::Guard, command).risk;
    for command in ["echo x > ../x", "rm ../../elsewhere/x", "cp a out/b", "cd /var/tmp && rm x"] {
        assert_eq!(risk(command), Risk::Dangerous, "{command}");
        assert_eq!(project.says(&policy, Mode::Guard, command), Decision::Ask, "{command}");
    }
    for command in ["echo x > x", "rm sub/../x", "ls > /dev/null 2>&1; touch y"] {
        assert_eq!(risk(command), Risk::Mutate, "{command}");
    }
}
