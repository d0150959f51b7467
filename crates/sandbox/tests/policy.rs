//! What profiles mean, resolved in real directories.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use umbo_sandbox::{Network, Plan, Policy, Profile, Surroundings};

fn around(directory: &Path) -> Surroundings {
    for name in ["home/.ssh", "home/project/.git/hooks", "state/sessions/a", "state/sessions/b"] {
        fs::create_dir_all(directory.join(name)).unwrap();
    }
    fs::write(directory.join("home/.ssh/id"), "").unwrap();
    fs::write(directory.join("home/.ssh/config"), "").unwrap();
    Surroundings {
        project: directory.join("home/project"),
        home: Some(directory.join("home")),
        own: vec![directory.join("state")],
        ..Surroundings::default()
    }
}

fn plan(profile: Profile, around: &Surroundings) -> Plan {
    Policy::of(profile, around).unwrap().unwrap().plan().unwrap()
}

#[test]
fn profiles_are_known_by_their_names() {
    for profile in Profile::ALL {
        assert_eq!(profile.name().parse::<Profile>().unwrap(), profile);
    }
    let error = "workspac".parse::<Profile>().unwrap_err().to_string();
    assert!(error.contains("workspac") && error.contains("workspace+net"), "{error}");
}

#[test]
fn off_is_no_sandbox_and_read_only_writes_nowhere() {
    let directory = tempfile::tempdir().unwrap();
    let around = around(directory.path());
    assert!(Policy::of(Profile::Off, &around).unwrap().is_none());
    let plan = plan(Profile::ReadOnly, &around);
    assert_eq!(plan.write, [""; 0].map(PathBuf::from));
    assert_eq!(plan.network, Network::Off);
}

#[test]
fn a_workspace_has_its_project_and_not_its_hooks_or_secrets() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let plan = plan(Profile::Workspace, &around(&root));
    assert!(plan.write.contains(&root.join("home/project")), "{:?}", plan.write);
    assert!(!plan.write.contains(&root.join("home")));
    assert!(plan.protect.contains(&root.join("home/project/.git/hooks")));
    assert!(plan.protect.contains(&root.join("home/project/.umbo")), "though it is not there yet");
    assert!(plan.hide.contains(&root.join("home/.ssh")) && plan.hide.contains(&root.join("state")));
    assert!(plan.write.contains(&root.join("home/.cache")), "it is made where it is missing");
    assert!(!root.join("home/.npm").exists(), "but not for a program that is not there");
}

#[test]
fn a_project_with_the_home_in_it_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let around = around(directory.path());
    let project = around.home.clone().unwrap();
    let error = Policy::of(Profile::Workspace, &Surroundings { project, ..around }).unwrap_err();
    assert!(error.to_string().contains("home directory"), "{error}");
}

#[test]
fn what_is_shown_is_shown_without_its_neighbours() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let around = around(&root);
    let mut policy = Policy::of(Profile::Workspace, &around).unwrap().unwrap();
    policy.allow_read(&root.join("home/.ssh/config")).unwrap();
    let plan = policy.plan().unwrap();
    let hides = |name: &str| plan.hide.contains(&root.join(name));
    assert!(hides("home/.ssh/id") && !hides("home/.ssh/config") && !hides("home/.ssh"));
}

#[test]
fn a_git_file_that_points_elsewhere_opens_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let around = around(&root);
    fs::remove_dir_all(root.join("home/project/.git")).unwrap();
    fs::create_dir_all(root.join("victim")).unwrap();
    fs::write(root.join("victim/commondir"), "/etc\n").unwrap();
    fs::write(root.join("home/project/.git"), format!("gitdir: {}/victim\n", root.display()))
        .unwrap();
    let plan = plan(Profile::Workspace, &around);
    assert!(!plan.write.iter().any(|path| path.starts_with("/etc") || path.ends_with("victim")));
}

#[test]
fn everything_cannot_be_granted() {
    let directory = tempfile::tempdir().unwrap();
    let mut policy = Policy::of(Profile::Workspace, &around(directory.path())).unwrap().unwrap();
    for path in ["/", "/no/such/path"] {
        let error = policy.allow_write(Path::new(path)).unwrap_err().to_string();
        assert!(error.starts_with("allow-write: "), "{error}");
    }
}

#[test]
fn a_plan_travels_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let mut policy = Policy::of(Profile::WorkspaceNet, &around(directory.path())).unwrap().unwrap();
    policy.allow_host("*.example.com:443").unwrap();
    policy.allow_host("10.0.0.0/8").unwrap();
    let plan = policy.plan().unwrap();
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    assert!(plan.drops("GITHUB_TOKEN") && plan.drops("SSH_AUTH_SOCK") && !plan.drops("PATH"));
    assert!(
        plan.variables()
            .iter()
            .any(|(name, value)| *name == "https_proxy" && value.contains("3128"))
    );
}
