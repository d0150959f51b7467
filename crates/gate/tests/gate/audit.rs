//! The audit: whatever is done to it is found, and where.

use std::fs::{self, OpenOptions};
use std::io::Write;

use proptest::prelude::*;
use umbo_gate::{Audit, Event, Report};

use crate::project::{NOW, Project};

fn event(number: u64) -> Event {
    Event::Started { job: format!("job {number}"), verdict: None }
}

fn filled(project: &Project, count: u64) -> Audit {
    let audit = Audit::new(&project.state(), project.key());
    for number in 1..=count {
        let appended = audit.append(&event(number), NOW + number).unwrap();
        assert_eq!((appended.seq, appended.notices), (number, vec![]));
    }
    audit
}

fn lines(audit: &Audit) -> Vec<String> {
    fs::read_to_string(audit.path()).unwrap().lines().map(str::to_owned).collect()
}

fn write(audit: &Audit, lines: &[String]) {
    fs::write(audit.path(), lines.join("\n") + "\n").unwrap();
}

fn problems(report: &Report) -> Vec<(u64, &str)> {
    report.findings.iter().map(|finding| (finding.line, finding.problem.as_str())).collect()
}

#[test]
fn an_untouched_chain_is_sound_and_so_is_none() {
    let project = Project::new();
    let empty = Audit::new(&project.state(), project.key());
    assert!(empty.verify().unwrap().sound);
    let audit = filled(&project, 5);
    let report = audit.verify().unwrap();
    assert!(report.sound && report.notes.is_empty(), "{report:?}");
    assert_eq!((report.records, report.seq), (5, 5));
}

#[test]
fn a_cut_end_is_found_and_stays_visible_after_more_was_written() {
    let project = Project::new();
    let audit = filled(&project, 5);
    let all = lines(&audit);
    write(&audit, &all[..3]);
    let report = audit.verify().unwrap();
    assert_eq!(
        problems(&report),
        [(4, "the end is cut: the head is record 5, the last here is 3")]
    );
    let appended = audit.append(&event(6), NOW).unwrap();
    assert_eq!(appended.notices, [Event::Gap { expected: 5, found: 3 }]);
    let report = audit.verify().unwrap();
    assert_eq!(
        problems(&report),
        [
            (4, "records 4 to 5 are missing before record 6"),
            (4, "record 6 says that the chain broke off at 3 of 5"),
        ]
    );
    fs::remove_file(audit.path()).unwrap();
    assert!(!audit.verify().unwrap().sound, "the whole file is gone");
}

#[test]
fn a_removed_a_swapped_and_a_doubled_record_are_found_where_they_are() {
    let project = Project::new();
    let audit = filled(&project, 5);
    let all = lines(&audit);
    let mut removed = all.clone();
    removed.remove(1);
    write(&audit, &removed);
    assert_eq!(problems(&audit.verify().unwrap())[0], (2, "record 2 is missing before record 3"));
    let mut swapped = all.clone();
    swapped.swap(1, 2);
    write(&audit, &swapped);
    let report = audit.verify().unwrap();
    assert_eq!(problems(&report)[0], (2, "record 2 is missing before record 3"));
    assert_eq!(problems(&report)[1], (3, "record 2 stands after record 3"));
    let mut doubled = all.clone();
    doubled.insert(3, all[2].clone());
    write(&audit, &doubled);
    assert_eq!(problems(&audit.verify().unwrap())[0], (4, "record 3 stands after record 3"));
    write(&audit, &all);
    assert!(audit.verify().unwrap().sound);
}

#[test]
fn a_chain_rewritten_without_the_key_is_found() {
    let project = Project::new();
    let audit = filled(&project, 3);
    let stranger = Project::new();
    let forged = filled(&stranger, 3);
    fs::copy(forged.path(), audit.path()).unwrap();
    let changed = Event::Started { job: "another".into(), verdict: None };
    let rewritten = Audit::new(&stranger.state(), stranger.key());
    rewritten.append(&changed, NOW).unwrap();
    fs::copy(rewritten.path(), audit.path()).unwrap();
    // Its first three records are the same; the fourth is not covered by a head of ours.
    assert!(audit.verify().unwrap().notes[0].contains("not covered"));
    fs::copy(stranger.state().join("audit.head"), project.state().join("audit.head")).unwrap();
    let report = audit.verify().unwrap();
    assert_eq!(problems(&report), [(5, "the head is forged or damaged: the end may be cut")]);
    fs::remove_file(project.state().join("audit.head")).unwrap();
    assert!(!audit.verify().unwrap().sound);
    audit.append(&event(9), NOW).unwrap();
    assert!(!audit.verify().unwrap().sound, "that it was missing stays visible");
}

#[test]
fn a_writer_killed_at_any_byte_leaves_a_chain_that_goes_on() {
    let project = Project::new();
    let audit = filled(&project, 2);
    let (two, head) =
        (fs::read(audit.path()).unwrap(), fs::read(project.state().join("audit.head")).unwrap());
    audit.append(&event(3), NOW).unwrap();
    let three = fs::read(audit.path()).unwrap();
    for length in two.len()..=three.len() {
        fs::write(audit.path(), &three[..length]).unwrap();
        fs::write(project.state().join("audit.head"), &head).unwrap();
        let before = audit.verify().unwrap();
        // All but the newline is a whole record: who cuts that was no killed writer's write.
        let whole_but_newline = length + 1 == three.len();
        assert_eq!(before.sound, !whole_but_newline, "{length}: {before:?}");
        let appended = audit.append(&event(4), NOW).unwrap();
        let torn = length > two.len() && length < three.len();
        assert_eq!(!appended.notices.is_empty(), torn, "{length}: a repair is said");
        let after = audit.verify().unwrap();
        assert!(after.sound, "{length}: {after:?}");
        assert_eq!(after.notes.is_empty(), !torn);
    }
}

#[test]
fn a_killed_process_does_not_lock_the_others_out() {
    let project = Project::new();
    let audit = filled(&project, 1);
    let holder = OpenOptions::new().append(true).open(audit.path()).unwrap();
    rustix::fs::flock(&holder, rustix::fs::FlockOperation::LockExclusive).unwrap();
    (&holder).write_all(b"{\"seq\":2,").unwrap();
    drop(holder);
    assert!(matches!(
        audit.append(&event(2), NOW).unwrap().notices[..],
        [Event::Repaired { bytes: 9, .. }]
    ));
}

#[test]
fn many_writers_make_one_chain() {
    let project = Project::new();
    let audit = Audit::new(&project.state(), project.key());
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let audit = audit.clone();
            scope.spawn(move || {
                for number in 0..25 {
                    audit.append(&event(writer * 100 + number), NOW).unwrap();
                }
            });
        }
    });
    let report = audit.verify().unwrap();
    assert!(report.sound && report.records == 100, "{report:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_flipped_bit_is_found(place in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let project = Project::new();
        let audit = filled(&project, 3);
        for path in [audit.path().to_owned(), project.state().join("audit.head")] {
            let sound = fs::read(&path).unwrap();
            let mut bytes = sound.clone();
            let at = place.index(bytes.len());
            bytes[at] ^= 1 << bit;
            fs::write(&path, &bytes).unwrap();
            let report = audit.verify().unwrap();
            prop_assert!(!report.sound, "byte {at} bit {bit} of {}", path.display());
            let line = sound[..at].split(|byte| *byte == b'\n').count() as u64;
            if path == audit.path() {
                prop_assert!(report.findings[0].line <= line + 1, "{line}: {report:?}");
            }
            fs::write(&path, &sound).unwrap();
        }
    }
}
