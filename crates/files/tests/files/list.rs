use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use umbo_files::{Call, EntryKind, ListRequest, Order, TreeRequest};

use crate::Project;

fn list(project: &Project, request: &ListRequest) -> umbo_files::ListAnswer {
    umbo_files::list(&project.session, request, &Call::default()).unwrap()
}

fn age(project: &Project, name: &str, seconds: u64) {
    let file = fs::File::options().write(true).open(project.path(name)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
}

#[test]
fn entries_have_kind_size_time_and_target() {
    let project = Project::new();
    project.put("file", "12345");
    project.put("dir/x", "");
    symlink("file", project.path("link")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, project.path("pipe"), rustix::fs::Mode::RWXU).unwrap();
    age(&project, "file", 1000);
    let answer = list(&project, &ListRequest::default());
    let kinds: Vec<_> =
        answer.entries.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect();
    use EntryKind::{Directory, File, Link, Pipe};
    assert_eq!(kinds, [("dir", Directory), ("file", File), ("link", Link), ("pipe", Pipe)]);
    assert_eq!(answer.entries[1].size, 5);
    assert_eq!(answer.entries[2].target.as_deref(), Some("file"));
    let newest = list(&project, &ListRequest { order: Order::Newest, ..Default::default() });
    assert_eq!(newest.entries.last().unwrap().name, "file");
    let largest = list(&project, &ListRequest { order: Order::Largest, ..Default::default() });
    assert!(largest.entries.iter().position(|entry| entry.name == "file") < Some(3));
    let error = umbo_files::list(
        &project.session,
        &ListRequest { path: "file".into(), ..Default::default() },
        &Call::default(),
    );
    assert!(error.unwrap_err().to_string().contains("not a directory"));
}

#[test]
fn hidden_and_ignored_names_are_left_out_by_choice() {
    let project = Project::new();
    for name in [".hidden", "build/out", "src/a", ".git/config"] {
        project.put(name, "");
    }
    project.put(".gitignore", "build/\n");
    let names = |hidden: bool, gitignore: bool| -> Vec<String> {
        let answer = list(&project, &ListRequest { hidden, gitignore, ..Default::default() });
        answer.entries.into_iter().map(|entry| entry.name).collect()
    };
    assert_eq!(names(true, false), [".git", ".gitignore", ".hidden", "build", "src"]);
    assert_eq!(names(false, false), ["build", "src"]);
    assert_eq!(names(false, true), ["src"]);
}

#[test]
fn pages_of_a_large_directory_are_the_directory() {
    let project = Project::new();
    for number in 0..2500 {
        fs::write(project.path(&format!("f{number:05}")), "").unwrap();
    }
    let mut names = Vec::new();
    loop {
        let answer = list(&project, &ListRequest { skip: names.len(), ..Default::default() });
        assert_eq!(answer.total, 2500);
        names.extend(answer.entries.into_iter().map(|entry| entry.name));
        if answer.left_out == 0 {
            break;
        }
    }
    let expected: Vec<String> = (0..2500).map(|number| format!("f{number:05}")).collect();
    assert_eq!(names, expected);
}

#[test]
fn a_tree_goes_to_its_depth_and_counts_what_it_leaves_out() {
    let project = Project::new();
    project.put("a/b/c/d", "");
    for number in 0..5 {
        project.put(&format!("wide/{number}"), "");
    }
    // A link to what is above is no way down.
    symlink("..", project.path("a/up")).unwrap();
    let request =
        TreeRequest { depth: 3, per_directory: 2, order: Order::Name, ..TreeRequest::default() };
    let tree = umbo_files::tree(&project.session, &request, &Call::default()).unwrap();
    let text = tree.text();
    assert!(
        text.ends_with("./\n") || text.contains("  a/\n    b/\n      c/\n    up -> ..\n  wide/\n"),
        "{text}"
    );
    assert!(text.contains("    … 3 more\n"), "{text}");
    let small = TreeRequest { limit: 3, ..request };
    let tree = umbo_files::tree(&project.session, &small, &Call::default()).unwrap();
    assert_eq!(tree.shown, 3);
}
