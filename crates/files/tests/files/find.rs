use std::fs;
use std::time::{Duration, SystemTime};

use umbo_files::{Call, Error, FindKind, FindRequest, Stop, StopReason};

use crate::Project;

fn find(project: &Project, paths: &[&str]) -> Vec<String> {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    let request = FindRequest { paths, ..FindRequest::default() };
    let answer = umbo_files::find(&project.session, &request, &Call::default()).unwrap();
    let mut files: Vec<String> = answer.files.into_iter().map(|file| file.path).collect();
    files.sort();
    files
}

#[test]
fn a_glob_in_the_first_part_holds_at_any_depth_and_later_where_it_stands() {
    let project = Project::new();
    for name in ["a.rs", "src/b.rs", "src/deep/c.rs", "src/d.txt"] {
        project.put(name, "");
    }
    assert_eq!(find(&project, &["*.rs"]), ["a.rs", "src/b.rs", "src/deep/c.rs"]);
    assert_eq!(find(&project, &["./*.rs"]), ["a.rs"]);
    assert_eq!(find(&project, &["src/*.rs"]), ["src/b.rs"]);
    assert_eq!(find(&project, &["src/**/*.rs"]), ["src/b.rs", "src/deep/c.rs"]);
    assert_eq!(find(&project, &["src"]), ["src/b.rs", "src/d.txt", "src/deep/c.rs"]);
    assert_eq!(find(&project, &["src/{b.rs,deep/*}"]), ["src/b.rs", "src/deep/c.rs"]);
    assert_eq!(find(&project, &["a.rs", "src", "*.rs", "none"]).len(), 4, "nothing counts twice");
    project.put("odd[1].rs", "");
    assert_eq!(find(&project, &["odd[1].rs"]), ["odd[1].rs"]);
}

#[test]
fn the_newest_are_found_however_many_there_are() {
    let project = Project::new();
    let now = SystemTime::now();
    for number in 0..300u64 {
        let path = project.put(&format!("{}/f{number}", number % 7), "");
        let age = Duration::from_secs((number * 37) % 300);
        fs::File::options().write(true).open(path).unwrap().set_modified(now - age).unwrap();
    }
    let request = FindRequest { limit: 5, ..FindRequest::default() };
    let answer = umbo_files::find(&project.session, &request, &Call::default()).unwrap();
    assert_eq!(answer.total, 300);
    let names: Vec<&str> =
        answer.files.iter().map(|file| file.path.rsplit('/').next().unwrap()).collect();
    let newest: Vec<String> = (0..5u64)
        .map(|age| format!("f{}", (0..300u64).find(|number| (number * 37) % 300 == age).unwrap()))
        .collect();
    assert_eq!(names, newest);
}

#[test]
fn a_deadline_gives_what_was_found_and_says_so_and_a_cancellation_is_an_error() {
    let project = Project::new();
    project.put("a", "");
    let request = FindRequest { timeout_ms: 0, ..FindRequest::default() };
    let answer = umbo_files::find(&project.session, &request, &Call::default()).unwrap();
    assert_eq!(answer.stopped, Some(StopReason::Deadline));
    let call = Call { stop: Stop::never(), ..Call::default() };
    call.stop.cancel();
    let error = umbo_files::find(&project.session, &FindRequest::default(), &call).unwrap_err();
    assert!(matches!(error, Error::Stopped { reason: StopReason::Cancelled }));
}

#[test]
fn missing_paths_are_said_and_bad_requests_refused() {
    let project = Project::new();
    project.put("a/x", "");
    let request = FindRequest { paths: vec!["a".into(), "b".into()], ..FindRequest::default() };
    let answer = umbo_files::find(&project.session, &request, &Call::default()).unwrap();
    assert_eq!(answer.missing, ["b"]);
    let error = |request: &FindRequest| {
        umbo_files::find(&project.session, request, &Call::default()).unwrap_err().to_string()
    };
    let request = FindRequest { paths: vec!["b".into()], ..FindRequest::default() };
    assert!(error(&request).contains("path not found: b"));
    let request = FindRequest { paths: vec![" ".into()], ..FindRequest::default() };
    assert!(error(&request).contains("non-empty"));
    let request = FindRequest { limit: 0, ..FindRequest::default() };
    assert!(error(&request).contains("positive"));
    let request = FindRequest { kind: FindKind::Directories, ..FindRequest::default() };
    let answer = umbo_files::find(&project.session, &request, &Call::default()).unwrap();
    assert_eq!(answer.files[0].path, "a");
}
