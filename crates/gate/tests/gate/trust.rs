//! Trust: what was looked at counts, and nothing else.

use std::fs;
use std::os::unix::fs::symlink;

use umbo_gate::{FileState, Snapshot, Trust, TrustStore};

use crate::project::{NOW, Project};

fn states(store: &TrustStore, project: &Project) -> Vec<(String, FileState)> {
    let snapshot = Snapshot::read(&project.root()).unwrap();
    let states = store.file_states(&project.root(), &snapshot).unwrap();
    states.into_iter().map(|file| (file.file, file.state)).collect()
}

fn project() -> (Project, TrustStore) {
    let project = Project::new();
    fs::create_dir_all(project.root().join(".umbo/more")).unwrap();
    fs::write(project.root().join(".umbo/rules.toml"), "# rules").unwrap();
    fs::write(project.root().join(".umbo/more/x"), "x").unwrap();
    let store = TrustStore::open(&project.config(), project.key());
    (project, store)
}

#[test]
fn a_changed_a_new_and_a_missing_file_are_told_apart() {
    use FileState::{Changed, Missing, New, Trusted};
    let (project, store) = project();
    let both = |more, rules| vec![("more/x".to_owned(), more), ("rules.toml".to_owned(), rules)];
    assert_eq!(states(&store, &project), both(New, New));
    let snapshot = Snapshot::read(&project.root()).unwrap();
    store.pin(&project.root(), &snapshot, NOW).unwrap();
    assert_eq!(states(&store, &project), both(Trusted, Trusted));
    fs::write(project.root().join(".umbo/rules.toml"), "# rules!").unwrap();
    assert_eq!(states(&store, &project), both(Trusted, Changed));
    fs::write(project.root().join(".umbo/rules.toml"), "# rules").unwrap();
    assert_eq!(
        states(&store, &project),
        both(Trusted, Trusted),
        "the same content is the same file"
    );
    fs::remove_file(project.root().join(".umbo/more/x")).unwrap();
    assert!(states(&store, &project).contains(&("more/x".to_owned(), Missing)));
}

#[test]
fn what_is_changed_while_the_person_reads_is_not_trusted() {
    let (project, store) = project();
    let shown = Snapshot::read(&project.root()).unwrap();
    fs::write(project.root().join(".umbo/rules.toml"), "# evil").unwrap();
    store.pin(&project.root(), &shown, NOW).unwrap();
    assert!(states(&store, &project).contains(&("rules.toml".to_owned(), FileState::Changed)));
    let states = store.file_states(&project.root(), &shown).unwrap();
    let (bytes, trust) = shown.file("rules.toml", &states).unwrap();
    assert_eq!(
        (bytes, trust),
        (&b"# rules"[..], Trust::Trusted),
        "what is used is what was hashed"
    );
}

#[test]
fn links_pipes_and_huge_files_are_never_read() {
    let (project, store) = project();
    let umbo = project.root().join(".umbo");
    symlink("/etc/passwd", umbo.join("link")).unwrap();
    symlink("/etc", umbo.join("directory")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        umbo.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    fs::File::create(umbo.join("huge")).unwrap().set_len(1 << 40).unwrap();
    let snapshot = Snapshot::read(&project.root()).unwrap();
    store.pin(&project.root(), &snapshot, NOW).unwrap();
    let unfit: Vec<String> = states(&store, &project)
        .into_iter()
        .filter(|(_, state)| *state == FileState::Unfit)
        .map(|(file, _)| file)
        .collect();
    assert_eq!(unfit, ["directory", "huge", "link", "pipe"]);
}

#[test]
fn a_directory_that_is_a_link_does_not_count() {
    let (project, store) = project();
    let umbo = project.root().join(".umbo");
    let snapshot = Snapshot::read(&project.root()).unwrap();
    store.pin(&project.root(), &snapshot, NOW).unwrap();
    fs::rename(&umbo, project.base().join("elsewhere/umbo")).unwrap();
    symlink(project.base().join("elsewhere/umbo"), &umbo).unwrap();
    let states = states(&store, &project);
    assert!(states.iter().all(|(_, state)| *state != FileState::Trusted), "{states:?}");
}

#[test]
fn a_forged_pin_is_no_pin() {
    let (project, store) = project();
    let snapshot = Snapshot::read(&project.root()).unwrap();
    let stranger = TrustStore::open(&project.config(), Project::new().key());
    stranger.pin(&project.root(), &snapshot, NOW).unwrap();
    let states = store.file_states(&project.root(), &snapshot).unwrap();
    assert!(states.iter().all(|file| file.state != FileState::Trusted), "{states:?}");
    assert!(states.iter().any(|file| file.meaning.contains("forged")), "{states:?}");
    // The pin of one project, put in the place of another's.
    store.pin(&project.root(), &snapshot, NOW).unwrap();
    let pin = fs::read_dir(project.config().join("trust")).unwrap().next().unwrap().unwrap().path();
    let other = Project::new();
    store.pin(&other.root(), &Snapshot::default(), NOW).unwrap();
    for entry in fs::read_dir(project.config().join("trust")).unwrap() {
        let path = entry.unwrap().path();
        if path != pin {
            fs::copy(&pin, &path).unwrap();
        }
    }
    let states = store.file_states(&other.root(), &snapshot).unwrap();
    assert!(states.iter().all(|file| file.state != FileState::Trusted), "{states:?}");
}
