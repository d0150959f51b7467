use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use umbo_files::{
    Call, ChangesRequest, Error, Overwrite, Session, UndoAnswer, UndoRequest, UndoStore, UndoWhat,
    WriteRequest,
};

use crate::Project;

struct Kept {
    project: Project,
    store: TempDir,
}

fn kept(budget: u64) -> Kept {
    let store = TempDir::new().unwrap();
    let open = UndoStore::open(store.path(), budget).unwrap();
    Kept { project: Project::with(|workspace| Session::new(workspace).with_undo(open)), store }
}

impl Kept {
    fn write(&self, path: &str, content: &str, call: &str, job: &str) {
        let request = WriteRequest {
            path: path.to_owned(),
            content: content.to_owned(),
            overwrite: Overwrite::Always,
            ..WriteRequest::default()
        };
        let call = Call { id: call.to_owned(), job: Some(job.to_owned()), ..Call::default() };
        umbo_files::write(&self.project.session, &request, &call).unwrap();
    }

    fn undo(&self, what: UndoWhat, force: bool) -> Result<UndoAnswer, Error> {
        umbo_files::undo(
            &self.project.session,
            &UndoRequest { what, force, dry_run: false },
            &Call::default(),
        )
    }

    fn changes(&self) -> Vec<umbo_files::Change> {
        umbo_files::changes(&self.project.session, &ChangesRequest::default()).unwrap().changes
    }
}

#[test]
fn changes_are_undone_one_by_one_by_call_and_by_job() {
    let kept = kept(1 << 20);
    let project = &kept.project;
    project.put("a", "original\n");
    fs::set_permissions(project.path("a"), fs::Permissions::from_mode(0o750)).unwrap();
    kept.write("a", "one\n", "call-1", "job-1");
    kept.write("a", "two\n", "call-2", "job-1");
    kept.write("new/b", "b\n", "call-2", "job-1");
    kept.write("c", "c\n", "call-3", "job-2");
    assert_eq!(kept.changes().len(), 4);
    kept.undo(UndoWhat::Last { owner: None }, false).unwrap();
    assert!(!project.path("c").exists());
    let answer = kept.undo(UndoWhat::Call("call-2".into()), false).unwrap();
    assert_eq!(project.text("a"), "one\n");
    assert!(!project.path("new/b").exists());
    assert_eq!(answer.undone.len(), 2);
    // The undoing is a change too.
    kept.undo(UndoWhat::Change(answer.change.unwrap()), false).unwrap();
    assert_eq!(project.text("a"), "two\n");
    assert_eq!(project.text("new/b"), "b\n");
    kept.undo(UndoWhat::Job("job-1".into()), false).unwrap_err();
    kept.undo(UndoWhat::Change(kept.changes().last().unwrap().id.clone()), true).unwrap();
    assert_eq!(project.text("a"), "original\n");
    assert_eq!(fs::metadata(project.path("a")).unwrap().permissions().mode() & 0o777, 0o750);
}

#[test]
fn a_job_is_undone_over_several_changes_of_a_file() {
    let kept = kept(1 << 20);
    kept.project.put("a", "original\n");
    for number in 0..20 {
        kept.write("a", &format!("{number}\n"), &format!("call-{number}"), "job");
    }
    let answer = kept.undo(UndoWhat::Job("job".into()), false).unwrap();
    assert_eq!(kept.project.text("a"), "original\n");
    assert_eq!(answer.undone.len(), 20);
    assert!(answer.files[0].diff.contains("-19\n+original\n"));
}

#[test]
fn what_somebody_changed_since_is_not_undone_unless_forced() {
    let kept = kept(1 << 20);
    kept.write("a", "ours\n", "call", "job");
    kept.project.put("a", "theirs\n");
    let error = kept.undo(UndoWhat::Last { owner: None }, false).unwrap_err();
    assert!(matches!(error, Error::ChangedSinceRead { .. }), "{error}");
    assert_eq!(kept.project.text("a"), "theirs\n");
    let answer = kept.undo(UndoWhat::Last { owner: None }, true).unwrap();
    assert!(!kept.project.path("a").exists());
    kept.undo(UndoWhat::Change(answer.change.unwrap()), false).unwrap();
    assert_eq!(kept.project.text("a"), "theirs\n");
    assert!(matches!(
        kept.undo(UndoWhat::Change("nothing".into()), false),
        Err(Error::NoSuchChange { .. })
    ));
}

#[test]
fn an_edit_of_several_files_is_undone_as_one() {
    let kept = kept(1 << 20);
    let project = &kept.project;
    project.put("a", "a\n");
    project.put("b", "b\n");
    let before = project.snapshot();
    project
        .patch("*** Begin Patch\n*** Update File: a\n@@\n-a\n+A\n*** Delete File: b\n*** Add File: c\n+c\n*** End Patch\n")
        .unwrap();
    assert_ne!(project.snapshot(), before);
    kept.undo(UndoWhat::Last { owner: None }, false).unwrap();
    assert_eq!(project.snapshot(), before);
}

#[test]
fn the_oldest_changes_are_forgotten_when_the_budget_is_spent() {
    let kept = kept(10_000);
    for number in 0..20u8 {
        kept.write("a", &char::from(b'a' + number).to_string().repeat(1000), "call", "job");
        // Contents just written may belong to a change that is being made; these are older.
        age_objects(&kept);
    }
    let changes = kept.changes();
    assert!(changes.len() < 20 && changes.len() >= 9, "{}", changes.len());
    let size: u64 = objects(&kept).iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert!(size <= 11_000, "{size} bytes are kept");
    kept.undo(UndoWhat::Last { owner: None }, false).unwrap();
    assert_eq!(kept.project.text("a"), "s".repeat(1000));
}

fn objects(kept: &Kept) -> Vec<std::path::PathBuf> {
    let groups = fs::read_dir(kept.store.path().join("objects")).unwrap();
    groups
        .flat_map(|group| fs::read_dir(group.unwrap().path()).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect()
}

fn age_objects(kept: &Kept) {
    for path in objects(kept) {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_hours(2)).unwrap();
    }
}

#[test]
fn damaged_content_is_never_written_back() {
    let kept = kept(1 << 20);
    kept.project.put("a", "original\n");
    kept.write("a", "new\n", "call", "job");
    fs::write(&objects(&kept)[0], "garbage").unwrap();
    let error = kept.undo(UndoWhat::Last { owner: None }, false).unwrap_err();
    assert!(error.to_string().contains("is damaged"), "{error}");
    assert_eq!(kept.project.text("a"), "new\n");
    // A record that cannot be read hides no other.
    fs::write(kept.store.path().join("changes/zzz.json"), "{").unwrap();
    assert_eq!(kept.changes().len(), 1);
}
