use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;
use umbo_files::{
    Access, AccessKind, Call, Decision, Error, Guard, Overwrite, Place, Policy, Session,
    WriteRequest,
};

use crate::Project;

/// Allows nothing outside, and remembers what it was asked.
#[derive(Default)]
struct Recorder {
    asked: Mutex<Vec<(AccessKind, std::path::PathBuf, bool)>>,
    allows_outside: AtomicBool,
}

impl Guard for Recorder {
    fn access(&self, access: &Access<'_>) -> Decision {
        let inside = matches!(access.place, Place::Inside(_));
        self.asked.lock().unwrap().push((access.kind, access.path.to_path_buf(), inside));
        if inside || self.allows_outside.load(Ordering::Relaxed) {
            Decision::Allow
        } else {
            Decision::Deny("not yours".to_owned())
        }
    }
}

fn write(project: &Project, path: &str) -> Result<umbo_files::WriteAnswer, Error> {
    let request = WriteRequest {
        path: path.to_owned(),
        content: "new\n".to_owned(),
        overwrite: Overwrite::Always,
        ..WriteRequest::default()
    };
    umbo_files::write(&project.session, &request, &Call::default())
}

#[test]
fn every_way_out_of_the_project_is_asked_by_its_resolved_path() {
    let outside = TempDir::new().unwrap();
    let secret = outside.path().canonicalize().unwrap().join("secret");
    fs::write(&secret, "s\n").unwrap();
    let guard = Arc::new(Recorder::default());
    let project = Project::with(|workspace| Session::new(workspace).with_guard(guard.clone()));
    symlink(outside.path(), project.path("link")).unwrap();
    symlink(&secret, project.path("file-link")).unwrap();
    let up = format!("{}/secret", "../".repeat(40) + &outside.path().display().to_string()[1..]);
    let absolute = secret.display().to_string();
    let magic = format!("/proc/self/root{absolute}");
    for path in ["link/secret", "file-link", &up, &absolute, &magic] {
        let error = project.read(path).unwrap_err();
        assert!(matches!(error, Error::Denied { .. }), "{path}: {error}");
        let last = guard.asked.lock().unwrap().last().cloned().unwrap();
        assert_eq!(last, (AccessKind::Read, secret.clone(), false), "{path}");
        assert!(matches!(write(&project, path), Err(Error::Denied { .. })), "{path}");
    }
    assert!(matches!(write(&project, "link/new"), Err(Error::Denied { .. })));
    symlink(outside.path().join("dangling"), project.path("dangling")).unwrap();
    assert!(matches!(write(&project, "dangling"), Err(Error::Denied { .. })));
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(&secret).unwrap(), "s\n");
    guard.allows_outside.store(true, Ordering::Relaxed);
    assert_eq!(project.page("file-link").lines[0].text, "s");
}

#[test]
fn whether_a_path_outside_exists_is_not_told_without_asking() {
    let project = Project::new();
    let error = project.read("/nonexistent-directory/x").unwrap_err();
    assert!(matches!(error, Error::Denied { .. }), "{error}");
}

#[test]
fn a_link_inside_the_project_is_followed_and_stays_a_link() {
    let project = Project::new();
    project.put("real/a.txt", "old\n");
    symlink("real/a.txt", project.path("link")).unwrap();
    write(&project, "link").unwrap();
    assert_eq!(project.text("real/a.txt"), "new\n");
    assert!(project.path("link").is_symlink());
    symlink("real/made.txt", project.path("dangling")).unwrap();
    write(&project, "dangling").unwrap();
    assert_eq!(project.text("real/made.txt"), "new\n");
    assert!(project.path("dangling").is_symlink());
    symlink("loop", project.path("loop")).unwrap();
    assert!(project.read("loop").is_err());
    assert!(write(&project, "loop").is_err());
}

/// A directory is exchanged for a link to the outside again and again while files are written
/// through it: nothing ever arrives outside.
#[test]
fn a_link_that_is_exchanged_between_check_and_use_leads_nowhere() {
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("a"), "outside\n").unwrap();
    let project = Project::new();
    project.put("door/a", "inside\n");
    let done = AtomicBool::new(false);
    let (door, spare, link) = (project.path("door"), project.path("spare"), project.path("link"));
    symlink(outside.path(), &link).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let exchange = |a: &Path, b: &Path| {
                    fs::rename(a, &spare).unwrap();
                    fs::rename(b, a).unwrap();
                    fs::rename(&spare, b).unwrap();
                };
                exchange(&door, &link);
                exchange(&link, &door);
            }
        });
        for _ in 0..400 {
            for path in ["door/a", "door/b"] {
                let request = WriteRequest {
                    path: path.to_owned(),
                    content: "new\n".to_owned(),
                    create_parents: false,
                    overwrite: Overwrite::Always,
                    executable: None,
                    dry_run: false,
                };
                let _ = umbo_files::write(&project.session, &request, &Call::default());
            }
            if let Ok(answer) = project.read("door/a") {
                let umbo_files::Content::Text(page) = answer.content else { unreachable!() };
                assert_ne!(page.lines[0].text, "outside");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(fs::read_to_string(outside.path().join("a")).unwrap(), "outside\n");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn names_that_are_no_text_are_written_with_escapes_and_read_again() {
    let project = Project::new();
    for name in [&b"with\nnewline"[..], b"bad\xff\xfeutf8", b"tab\there", b"back\\slash\xff"] {
        fs::write(project.root().join(OsStr::from_bytes(name)), "x\n").unwrap();
    }
    let request = umbo_files::FindRequest::default();
    let found = umbo_files::find(&project.session, &request, &Call::default()).unwrap();
    assert_eq!(found.files.len(), 4);
    for file in found.files {
        assert!(!file.path.contains('\n'), "{:?}", file.path);
        assert_eq!(project.page(&file.path).lines[0].text, "x", "{:?}", file.path);
        write(&project, &file.path).unwrap();
    }
    assert_eq!(fs::read_dir(project.root()).unwrap().count(), 4, "no other files were made");
}

#[test]
fn other_spellings_of_a_name_find_it() {
    let project = Project::new();
    project.put("My File (1).txt", "x\n");
    project.put("Screenshot 9.41\u{202f}AM.png.txt", "x\n");
    project.put("cafe\u{301}.txt", "x\n");
    for path in
        ["My\\ File\\ \\(1\\).txt", "'My File (1).txt'", " My File (1).txt ", "caf\u{e9}.txt"]
    {
        assert_eq!(
            project.read(path).unwrap().found_by,
            Some(umbo_files::paths::FoundBy::Spelling),
            "{path}"
        );
    }
}

#[test]
fn the_only_file_that_ends_so_is_found_and_said() {
    let project = Project::new();
    project.put("deep/er/src/lib.rs", "x\n");
    project.put("a/same.rs", "x\n");
    project.put("b/same.rs", "x\n");
    let answer = project.read("src/lib.rs").unwrap();
    assert_eq!(answer.path, "deep/er/src/lib.rs");
    assert_eq!(answer.found_by, Some(umbo_files::paths::FoundBy::Suffix));
    let Err(Error::NotFound { nearest, .. }) = project.read("same.rs") else { panic!() };
    assert_eq!(nearest, ["a/same.rs", "b/same.rs"]);
    let Err(Error::NotFound { nearest, .. }) = project.read("sam.rs") else { panic!() };
    assert_eq!(nearest, ["a/same.rs", "b/same.rs"], "names that are alike are suggested");
}

#[test]
fn home_and_file_urls_are_understood() {
    let home = TempDir::new().unwrap();
    let home_path = home.path().canonicalize().unwrap();
    fs::write(home_path.join("my notes"), "n\n").unwrap();
    let project = Project::with(|workspace| {
        let workspace = workspace.with_home(&home_path).with_root("home", &home_path).unwrap();
        Session::new(workspace)
    });
    assert_eq!(project.page("~/my notes").lines[0].text, "n");
    let url = format!("file://{}/my%20notes", home_path.display());
    assert_eq!(project.page(&url).lines[0].text, "n");
}

#[test]
fn what_the_policy_hides_or_protects_is_hidden_or_protected() {
    let policy = Policy {
        hidden: vec![".env".to_owned(), "secrets/".to_owned()],
        protected: vec![".umbo".to_owned()],
    };
    let project = Project::with(|workspace| Session::new(workspace.with_policy(&policy).unwrap()));
    project.put("sub/.env", "KEY=1\n");
    project.put("secrets/deep/key", "KEY=1\n");
    project.put(".umbo/rules.toml", "KEY=1\n");
    project.put("open", "KEY=1\n");
    for path in ["sub/.env", "secrets/deep/key", "secrets"] {
        assert!(matches!(project.read(path), Err(Error::Denied { .. })), "{path}");
    }
    assert!(matches!(write(&project, "secrets/new"), Err(Error::Denied { .. })));
    assert!(matches!(write(&project, ".umbo/rules.toml"), Err(Error::Denied { .. })));
    assert!(matches!(write(&project, ".umbo/new.toml"), Err(Error::Denied { .. })));
    assert_eq!(project.page(".umbo/rules.toml").lines.len(), 1);
    let request = umbo_files::SearchRequest { pattern: "KEY".into(), ..Default::default() };
    let found = umbo_files::search(&project.session, &request, &Call::default()).unwrap();
    let paths: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, [".umbo/rules.toml", "open"]);
    let found = umbo_files::find(&project.session, &Default::default(), &Call::default()).unwrap();
    assert_eq!(found.files.len(), 2);
    // A link to it does not help.
    symlink("sub/.env", project.path("plain")).unwrap();
    assert!(matches!(project.read("plain"), Err(Error::Denied { .. })));
}

#[test]
fn pipes_and_devices_are_refused_at_once() {
    let project = Project::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, project.path("pipe"), rustix::fs::Mode::RWXU).unwrap();
    let error = project.read("pipe").unwrap_err();
    assert!(error.to_string().contains("is a named pipe, not a regular file"), "{error}");
    assert!(write(&project, "pipe").is_err());
    let guard = Arc::new(Recorder::default());
    guard.allows_outside.store(true, Ordering::Relaxed);
    let project = Project::with(|workspace| Session::new(workspace).with_guard(guard));
    let error = project.read("/dev/zero").unwrap_err();
    assert!(error.to_string().contains("is a device, not a regular file"), "{error}");
}
