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

/// An audit of a small budget, with so many records.
fn rotated(project: &Project, budget: u64, count: u64) -> Audit {
    let audit = Audit::new(&project.state(), project.key()).with_budget(budget);
    for number in 1..=count {
        let appended = audit.append(&event(number), NOW + number).unwrap();
        assert_eq!((appended.seq, appended.notices), (number, vec![]));
    }
    audit
}

/// The files of records, oldest first.
fn files(project: &Project) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(project.state()).unwrap().flatten().map(|entry| entry.path());
    let is_records = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name == "audit" || name.strip_prefix("audit.").is_some_and(|end| end.parse::<u64>().is_ok())
    };
    let mut files: Vec<_> = entries.filter(is_records).collect();
    files.sort();
    // The newest has no number.
    let newest = files.iter().position(|file| file.ends_with("audit"));
    files.rotate_left(newest.map_or(0, |newest| newest + 1));
    files
}

#[test]
fn a_long_audit_goes_on_in_new_files_and_its_chain_is_one() {
    let project = Project::new();
    let audit = rotated(&project, 1 << 20, 2000);
    assert!(files(&project).len() > 2, "{:?}", files(&project));
    let mut seen = Vec::new();
    let report = audit.read(|record| {
        seen.push(record.seq);
        Ok(())
    });
    let report = report.unwrap();
    assert!(report.sound && report.notes.is_empty(), "{report:?}");
    assert_eq!(seen, (1..=2000).collect::<Vec<_>>());
}

#[test]
fn an_audit_keeps_its_budget_and_says_what_it_let_go() {
    let project = Project::new();
    let budget = 64 << 10;
    let audit = rotated(&project, budget, 3000);
    let used: u64 = files(&project).iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    assert!(used <= budget && used > budget / 2, "{used} bytes");
    let report = audit.verify().unwrap();
    assert!(report.sound, "{report:?}");
    assert_eq!(report.seq, 3000);
    let deleted = 3000 - report.records;
    assert_eq!(report.notes, [format!("records 1 to {deleted} were deleted to keep the budget")]);
}

#[test]
fn whatever_is_done_to_an_older_file_is_found() {
    let project = Project::new();
    let audit = rotated(&project, 64 << 10, 1000);
    let files = files(&project);
    for file in &files[..files.len() - 1] {
        let whole = fs::read(file).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        let mut changed = whole.clone();
        changed[100] ^= 1;
        let cut = &whole[..whole.iter().rposition(|byte| *byte == b'{').unwrap()];
        for bytes in [&changed[..], cut, b""] {
            fs::write(file, bytes).unwrap();
            let report = audit.verify().unwrap();
            assert!(!report.sound, "{name}: {report:?}");
        }
        fs::remove_file(file).unwrap();
        assert!(!audit.verify().unwrap().sound, "{name} is gone");
        fs::write(file, &whole).unwrap();
        assert!(audit.verify().unwrap().sound);
    }
    fs::rename(&files[0], files[1].with_extension("000000999999")).unwrap();
    assert!(!audit.verify().unwrap().sound, "a file in another place");
}

#[test]
fn a_writer_killed_while_it_rotates_breaks_nothing() {
    let budget = 64 << 10;
    // Both moments: the full file is put away, and the new one is there, but the head is the old one.
    for has_new in [false, true] {
        let project = Project::new();
        let audit = rotated(&project, budget, 1);
        let head = project.state().join("audit.head");
        let mut number = 1;
        let (before, count) = loop {
            let before = fs::read(&head).unwrap();
            number += 1;
            audit.append(&event(number), NOW).unwrap();
            if files(&project).len() == 2 {
                break (before, number);
            }
        };
        fs::write(&head, before).unwrap();
        if !has_new {
            // The full file has both names.
            fs::remove_file(audit.path()).unwrap();
            fs::hard_link(&files(&project)[0], audit.path()).unwrap();
        }
        let report = audit.verify().unwrap();
        assert!(report.sound, "{has_new}: {report:?}");
        let appended = audit.append(&event(count + 1), NOW).unwrap();
        let expected = if has_new { count + 1 } else { count };
        assert_eq!((appended.seq, appended.notices), (expected, vec![]), "{has_new}");
        let report = audit.verify().unwrap();
        assert!(report.sound && report.seq == expected, "{has_new}: {report:?}");
    }
}

#[test]
fn writers_that_rotate_at_the_same_time_make_one_chain() {
    let project = Project::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let audit = Audit::new(&project.state(), project.key()).with_budget(64 << 10);
            scope.spawn(move || {
                for number in 0..300 {
                    audit.append(&event(number), NOW).unwrap();
                }
            });
        }
    });
    let report = Audit::new(&project.state(), project.key()).verify().unwrap();
    assert!(report.sound && report.seq == 1200, "{report:?}");
}

#[test]
fn a_writer_that_knows_its_head_sees_what_others_do_to_it() {
    let project = Project::new();
    let head = project.state().join("audit.head");
    let audit = filled(&project, 12);
    let append = |number| audit.append(&event(number), NOW).unwrap();
    // Others write: in turns, and over a head that is longer than theirs.
    let other = Audit::new(&project.state(), project.key());
    assert_eq!(other.append(&event(13), NOW).unwrap().seq, 13);
    assert_eq!((append(14).seq, append(15).seq), (14, 15));
    assert_eq!((other.append(&event(16), NOW).unwrap().seq, append(17).seq), (16, 17));
    assert!(audit.verify().unwrap().sound);
    // The head is changed, cut, made longer, deleted: each time the next record says so.
    let text = fs::read(&head).unwrap();
    let mut forged = text.clone();
    forged[7] ^= 1;
    let longer = [&text[..], &[b'x'; 5000]].concat();
    let changes =
        [(17, Some(forged)), (20, Some(text[..9].to_vec())), (23, Some(longer)), (26, None)];
    for (found, changed) in changes {
        match changed {
            Some(bytes) => fs::write(&head, bytes).unwrap(),
            None => fs::remove_file(&head).unwrap(),
        }
        let appended = append(0);
        assert_eq!(appended.notices, [Event::NoHead { found }]);
        assert_eq!((appended.seq, append(0).notices), (found + 2, vec![]));
    }
    // A last record that was changed where it is.
    let mut all = fs::read(audit.path()).unwrap();
    let last = all.len() - 10;
    all[last] ^= 1;
    fs::write(audit.path(), all).unwrap();
    assert_eq!(append(0).notices, [Event::Gap { expected: 29, found: 28 }]);
}
