//! `umbo watch`: a command that runs again whenever files change.

use std::fs;

use rustix::process::Signal;

use crate::harness::{Umbo, signal};

#[test]
fn a_change_stops_the_old_run_and_starts_the_next() {
    let umbo = Umbo::new();
    let project = umbo.path().join("project");
    fs::create_dir_all(project.join("src")).unwrap();
    fs::create_dir_all(project.join("ignored")).unwrap();
    fs::write(project.join(".gitignore"), "ignored/\n").unwrap();
    fs::write(project.join("src/a.txt"), "one\n").unwrap();
    let line = "cat src/*.txt; $NAP";
    let mut watch = umbo.call(["watch", "*.txt", line]).current_dir(&project).spawn();
    assert_eq!(watch.line(), "one\n");
    umbo.wait_nappers(1);
    let first = umbo.nappers()[0];
    // What is not meant, or ignored by git, changes nothing.
    fs::write(project.join("src/other.md"), "x").unwrap();
    fs::write(project.join("ignored/b.txt"), "x").unwrap();
    fs::write(project.join("src/a.txt"), "two\n").unwrap();
    assert_eq!(watch.line(), "two\n");
    assert!(crate::harness::dies(first), "the old run is gone with its processes");
    // A directory that is new is watched as well.
    fs::create_dir(project.join("src/deep")).unwrap();
    fs::write(project.join("src/deep/c.txt"), "deep\n").unwrap();
    assert_eq!(watch.line(), "two\n");
    assert_eq!(umbo.jobs().len(), 3, "each change ran it once");
    umbo.wait_nappers(1);
    signal(watch.pid(), Signal::INT);
    let answer = watch.answer();
    assert_eq!(answer.status, 130);
    assert!(answer.said().contains("src/a.txt changed"), "{}", answer.said());
    umbo.wait_nappers(0);
}

#[test]
fn what_has_ended_waits_for_the_next_change_and_tells_how_it_ended() {
    let umbo = Umbo::new();
    let project = umbo.path().join("project");
    fs::create_dir_all(&project).unwrap();
    let mut watch = umbo
        .call(["watch", "--", "src/*.rs", "sh", "-c", "echo ran; exit 3"])
        .current_dir(&project)
        .spawn();
    assert_eq!(watch.line(), "ran\n");
    fs::create_dir(project.join("src")).unwrap();
    fs::write(project.join("src/new.rs"), "x").unwrap();
    assert_eq!(watch.line(), "ran\n");
    signal(watch.pid(), Signal::INT);
    let said = watch.answer().said();
    assert!(said.contains("exited 3") && said.contains("src/new.rs changed"), "{said}");
}
