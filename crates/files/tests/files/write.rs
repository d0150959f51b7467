use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::Arc;

use umbo_files::{
    Access, Call, Decision, Error, FileOp, Guard, Overwrite, Session, WriteAnswer, WriteRequest,
};

use crate::Project;

fn write(project: &Project, request: WriteRequest) -> Result<WriteAnswer, Error> {
    umbo_files::write(&project.session, &request, &Call::default())
}

fn request(path: &str, content: &str) -> WriteRequest {
    WriteRequest { path: path.to_owned(), content: content.to_owned(), ..WriteRequest::default() }
}

#[test]
fn a_new_file_gets_its_directories_by_choice() {
    let project = Project::new();
    let without = WriteRequest { create_parents: false, ..request("a/b/c.txt", "x") };
    assert!(write(&project, without).unwrap_err().to_string().contains("directory does not exist"));
    let answer = write(&project, request("a/b/c.txt", "x\ny")).unwrap();
    assert_eq!((answer.op, answer.bytes, answer.lines), (FileOp::Create, 3, 2));
    assert_eq!(project.text("a/b/c.txt"), "x\ny");
    let error = write(&project, request("a/b/../none/../x/c.txt", "x")).unwrap_err();
    assert!(error.to_string().contains("leads nowhere"), "{error}");
    assert!(write(&project, request("dir/", "x")).is_err());
    assert!(write(&project, request("a/b/c.txt/d", "x")).is_err());
}

#[test]
fn what_was_not_read_is_not_overwritten() {
    let project = Project::new();
    project.put("a", "old\n");
    assert!(matches!(write(&project, request("a", "new\n")), Err(Error::NotRead { .. })));
    let never = WriteRequest { overwrite: Overwrite::Never, ..request("a", "new\n") };
    assert!(matches!(write(&project, never), Err(Error::Exists { .. })));
    project.page("a");
    let answer = write(&project, request("a", "new\n")).unwrap();
    assert!(answer.diff.contains("-old\n+new\n"), "{}", answer.diff);
    write(&project, request("a", "newer\n")).unwrap();
    assert_eq!(project.text("a"), "newer\n");
}

#[test]
fn what_somebody_changed_since_it_was_read_is_refused_with_the_difference() {
    let project = Project::new();
    project.put("a", "one\ntwo\nthree\n");
    project.page("a");
    project.put("a", "one\nTWO\nthree\n");
    let error = write(&project, request("a", "mine\n")).unwrap_err();
    assert!(matches!(error, Error::ChangedSinceRead { .. }));
    assert!(error.to_string().contains("-two\n+TWO\n"), "{error}");
    assert_eq!(project.text("a"), "one\nTWO\nthree\n");
    // The same bytes written again are no change.
    project.put("a", "one\ntwo\nthree\n");
    write(&project, request("a", "mine\n")).unwrap();
    // Only a part was read, and another part changed.
    project.put("b", "one\ntwo\nthree\n");
    project.page("b:1-1");
    project.put("b", "one\ntwo\nTHREE!\n");
    let error = write(&project, request("b", "mine\n")).unwrap_err();
    assert!(error.to_string().contains("only lines that were not shown"), "{error}");
}

#[test]
fn permissions_are_kept_and_nothing_is_left_behind() {
    let project = Project::new();
    let path = project.put("tool.sh", "#!/bin/sh\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
    let inode = fs::metadata(&path).unwrap().ino();
    let always =
        WriteRequest { overwrite: Overwrite::Always, ..request("tool.sh", "#!/bin/bash\n") };
    write(&project, always).unwrap();
    let now = fs::metadata(&path).unwrap();
    assert_eq!(now.mode() & 0o7777, 0o751);
    assert_ne!(now.ino(), inode, "it is replaced, not written into");
    let request = WriteRequest { executable: Some(true), ..request("new.sh", "") };
    write(&project, request).unwrap();
    assert_eq!(fs::metadata(project.path("new.sh")).unwrap().mode() & 0o111, 0o111);
    assert_eq!(fs::read_dir(project.root()).unwrap().count(), 2);
}

/// Hides a word on its way out, and puts it back on its way in.
struct Masker;

impl Guard for Masker {
    fn access(&self, _: &Access<'_>) -> Decision {
        Decision::Allow
    }

    fn mask(&self, _: &std::path::Path, text: String) -> String {
        text.replace("hunter2", "#AB12#")
    }

    fn restore(&self, _: &std::path::Path, text: String) -> Result<String, String> {
        if text.contains("#ZZ99#") {
            return Err("the placeholder #ZZ99# stands for nothing".to_owned());
        }
        Ok(text.replace("#AB12#", "hunter2"))
    }
}

#[test]
fn secrets_are_masked_on_the_way_out_and_restored_on_the_way_in() {
    let project = Project::with(|workspace| Session::new(workspace).with_guard(Arc::new(Masker)));
    project.put("config", "user = me\npassword = hunter2\nport = 1\n");
    let page = project.page("config");
    assert_eq!(page.lines[1].text, "password = #AB12#");
    let found = umbo_files::SearchRequest { pattern: "password".into(), ..Default::default() };
    let found = umbo_files::search(&project.session, &found, &Call::default()).unwrap();
    assert!(!found.text().contains("hunter2") && found.text().contains("#AB12#"));
    // The anchor is that of the line as it is, so that an edit finds it.
    let anchor = page.lines[1].anchor.unwrap();
    let input = format!("@@ config\n= {anchor}..{anchor}\n~pass = #AB12#\n");
    let answer = project.hashline(&input).unwrap();
    assert_eq!(project.text("config"), "user = me\npass = hunter2\nport = 1\n");
    assert!(!answer.files[0].diff.contains("hunter2"), "{}", answer.files[0].diff);
    project.replace("config", "pass = #AB12#", "secret = #AB12#").unwrap();
    assert_eq!(project.text("config"), "user = me\nsecret = hunter2\nport = 1\n");
    let stale = project.hashline(&input).unwrap_err().to_string();
    assert!(!stale.contains("hunter2"), "{stale}");
    let error = project.replace("config", "port = 1", "port = #ZZ99#").unwrap_err();
    assert!(error.to_string().contains("stands for nothing"));
    let always = WriteRequest { overwrite: Overwrite::Always, ..request("config", "#AB12#\n") };
    let answer = write(&project, always).unwrap();
    assert_eq!(project.text("config"), "hunter2\n");
    assert!(!answer.diff.contains("hunter2"));
}
