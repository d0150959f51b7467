//! The cache: right when nothing changed, never wrong when something did.

use std::time::Duration;

use umbo_recipes::{Asking, Cache, Options, Project, detect};

use crate::harness::Folder;

fn options(folder: &Folder) -> Options {
    Options { path: vec![folder.path().join("bin")], asking: Asking::Never, ..Options::default() }
}

fn look(folder: &Folder, cache: &Cache) -> Project {
    detect(folder.path(), &options(folder), Some(cache)).unwrap()
}

/// The cached answer must be what a fresh look says.
#[track_caller]
fn agrees(folder: &Folder, cache: &Cache) -> Project {
    let cached = look(folder, cache);
    assert_eq!(cached, detect(folder.path(), &options(folder), None).unwrap());
    cached
}

fn project() -> Folder {
    Folder::new(&[
        ("package.json", r#"{"workspaces": ["p/*"], "scripts": {"t": "x"}}"#),
        ("p/a/package.json", r#"{"name": "a", "scripts": {"t": "x"}}"#),
        ("Makefile", "include more/*.mk\na:\n\tx\n"),
        ("more/one.mk", "b:\n\tx\n"),
    ])
}

#[test]
fn every_change_that_matters_is_seen() {
    let folder = project();
    let cache = Cache::in_memory();
    agrees(&folder, &cache);
    let changes: [(&str, &str); 7] = [
        ("p/a/package.json", r#"{"name": "a", "scripts": {"u": "x"}}"#),
        ("p/b/package.json", r#"{"name": "b", "scripts": {"t": "x"}}"#),
        ("more/two.mk", "c:\n\tx\n"),
        ("pnpm-lock.yaml", ""),
        ("GNUmakefile", "z:\n\tx\n"),
        ("justfile", "j:\n    x\n"),
        ("bin/just", "#!/bin/sh\n"),
    ];
    let mut before = agrees(&folder, &cache);
    for (file, text) in changes {
        folder.write(file, text.as_bytes());
        if file.starts_with("bin/") {
            folder.make_executable(file);
        }
        let after = agrees(&folder, &cache);
        assert_ne!(before, after, "{file}");
        before = after;
    }
    std::fs::remove_file(folder.path().join("GNUmakefile")).unwrap();
    assert_ne!(before, agrees(&folder, &cache));
}

#[test]
fn a_change_of_the_same_size_and_time_is_seen() {
    let folder = project();
    let cache = Cache::in_memory();
    agrees(&folder, &cache);
    let file = folder.path().join("Makefile");
    let time = std::fs::metadata(&file).unwrap().modified().unwrap();
    folder.write("Makefile", b"include more/*.mk\nq:\n\tx\n");
    std::fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    assert!(agrees(&folder, &cache).tasks().any(|task| task.name == "q"));
}

#[test]
fn a_directory_keeps_answers_for_the_next_process() {
    let folder = project();
    let place = tempfile::tempdir().unwrap();
    let first = look(&folder, &Cache::in_directory(place.path().join("new")));
    let file = std::fs::read_dir(place.path().join("new")).unwrap().next().unwrap().unwrap().path();
    // A marked answer shows that the second cache really read it.
    let text =
        std::fs::read_to_string(&file).unwrap().replace("\"label\":\"Make\"", "\"label\":\"MARK\"");
    std::fs::write(&file, text).unwrap();
    let second = look(&folder, &Cache::in_directory(place.path().join("new")));
    assert_eq!(second.runner("make").unwrap().label, "MARK");
    // Half a file is no answer.
    std::fs::write(&file, "{\"looks\":[").unwrap();
    assert_eq!(look(&folder, &Cache::in_directory(place.path().join("new"))), first);
}

#[test]
fn a_cache_that_cannot_be_written_changes_nothing() {
    let folder = project();
    let place = tempfile::NamedTempFile::new().unwrap();
    agrees(&folder, &Cache::in_directory(place.path().join("below-a-file")));
}

#[test]
fn an_answer_cut_short_by_a_deadline_is_not_kept() {
    let tools = Folder::new(&[("just", "#!/bin/sh\nexec sleep 60\n")]);
    tools.make_executable("just");
    let folder = Folder::new(&[("justfile", "a:\n    x\n")]);
    let options = Options {
        path: vec![tools.path().to_owned(), "/usr/bin".into(), "/bin".into()],
        asking: Asking::Within(Duration::from_millis(50)),
        ..Options::default()
    };
    let cache = Cache::in_memory();
    let slow = detect(folder.path(), &options, Some(&cache)).unwrap();
    let just = slow.runner("just").unwrap();
    assert!(
        just.problems[0].message.contains("did not answer within 50 ms"),
        "{:?}",
        just.problems
    );
    assert_eq!(just.tasks[0].name, "a", "what can be read is still there");
    let patient = Options { asking: Asking::Within(Duration::from_mins(1)), ..options };
    let answer = "#!/bin/sh\necho '{\"recipes\": {\"b\": {\"name\": \"b\"}}}'\n";
    tools.write("just", answer.as_bytes());
    let fast = detect(folder.path(), &patient, Some(&cache)).unwrap();
    assert_eq!(fast.runner("just").unwrap().tasks[0].name, "b");
}
