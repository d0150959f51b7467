//! What holds when processes are killed at the wrong moment, the disk is full, the state directory
//! goes away, processes multiply, and files are not what they should be.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::mount::{MountFlags, UnmountFlags, unmount};
use rustix::process::{Signal, kill_process};
use umbo_engine::{
    Backend, Condition, Containment, End, FoundBy, Ladder, LostReason, Met, OutputLimit,
    OutputPolicy, Scope, Status, Stdin, Warmth,
};

use crate::backend::client::Remote;
use crate::disk::Disk;
use crate::harness::{Helper, Place, TIMEOUT, command_line, example, until};

/// A command whose supervisor is killed by it, which is as early as can be.
const KILLER: &str = "kill -9 $PPID; echo after; sleep 4000";

#[test]
fn who_loses_its_supervisor_right_after_the_start_is_told_the_truth_and_the_id() {
    let place = Place::new();
    for warmth in [Warmth::Cold, Warmth::Warm] {
        let engine = place.builder().warmth(warmth).open().unwrap();
        for number in 0..10 {
            let (job, outcome) = engine.run(&place.shell(KILLER)).unwrap();
            let lost = End::Lost { reason: LostReason::SupervisorKilled };
            let asked = place.state().join("jobs").join(job.id().as_str()).join("request");
            let asked = fs::read_to_string(asked);
            assert_eq!(outcome.end, lost, "{number}: {outcome:?} {asked:?}");
            assert!(outcome.contained_by.is_some(), "{number}: {outcome:?}");
            assert_eq!(job.outcome().unwrap(), Some(outcome));
            let mut attended = engine.attend(&place.shell(KILLER), TIMEOUT).unwrap();
            let outcome = attended.wait(Some(TIMEOUT)).unwrap().unwrap();
            assert_eq!(outcome.end, lost, "{number}: {outcome:?}");
        }
    }
}

#[test]
fn a_job_of_a_killed_supervisor_runs_once_though_its_caller_would_try_again() {
    let place = Place::new();
    let engine = place.engine();
    let mark = place.path().join("mark");
    let line = format!("echo x >> {}; {KILLER}", mark.display());
    engine.run(&place.shell(&line)).unwrap();
    assert_eq!(fs::read_to_string(&mark).unwrap(), "x\n");
}

#[test]
fn killed_spares_and_a_killed_nursery_cost_the_next_calls_nothing() {
    let place = Place::new();
    let engine = place.builder().warmth(Warmth::Warm).open().unwrap();
    let mark = place.path().join("mark");
    for number in 0..25 {
        // One that waits, its keeper and the nursery. Those that were dying when the last call looked
        // for them are replaced by the next.
        let idle = until(|| {
            let idle = Some(place.supervisors()).filter(|idle| idle.len() >= 3);
            idle.or_else(|| engine.read(&place.shell("true")).err().map(|error| panic!("{error}")))
        });
        for pid in idle.expect("a spare is there") {
            let _ = kill_process(pid, Signal::KILL);
        }
        let line = format!("echo {number} | tee -a {}", mark.display());
        assert_eq!(engine.read(&place.shell(&line)).unwrap(), number.to_string());
    }
    let ran: Vec<String> = (0..25).map(|number| number.to_string()).collect();
    let marks = fs::read_to_string(mark).unwrap();
    assert_eq!(marks.lines().collect::<Vec<_>>(), ran, "each ran once");
}

#[test]
fn last_means_the_last_one_though_the_clock_was_set_back() {
    let place = Place::new();
    let engine = place.engine();
    let (first, _) = engine.run(&place.shell("true").owner("me")).unwrap();
    // As if it had been started by a clock that was a year ahead: its id sorts last.
    let jobs = place.state().join("jobs");
    let ahead = format!("02{}", &first.id().as_str()[2..]);
    let request = fs::read_to_string(jobs.join(first.id().as_str()).join("request")).unwrap();
    fs::rename(jobs.join(first.id().as_str()), jobs.join(&ahead)).unwrap();
    let request = request.replace(first.id().as_str(), &ahead);
    fs::write(jobs.join(&ahead).join("request"), request).unwrap();
    let journal = place.state().join("events");
    let events = fs::read_to_string(&journal).unwrap().replace(first.id().as_str(), &ahead);
    fs::write(&journal, events).unwrap();
    assert_eq!(engine.job("@last").unwrap().id().as_str(), ahead);
    let (second, _) = engine.run(&place.shell("true").owner("me")).unwrap();
    assert!(second.id().as_str() < ahead.as_str());
    assert_eq!(engine.job("@last").unwrap().id(), second.id());
    assert_eq!(engine.job_of("me", "@last").unwrap().id(), second.id());
}

/// A place with its state on a disk of its own.
fn place_on(disk: &Disk) -> Place {
    let directory = tempfile::Builder::new().prefix("umbo-engine-").tempdir().unwrap();
    Place::with_state(directory, disk.state())
}

#[test]
fn on_a_disk_with_a_few_kilobytes_left_a_job_with_a_time_limit_ends_and_says_what_was_not_kept() {
    let disk = Disk::new("4m");
    let place = place_on(&disk);
    let engine = place.engine();
    // It ends by itself: what it wrote waits in the supervisor's hands.
    let line = "read x; head -c 60000 /dev/zero | tr '\\0' x; exit 3";
    let limit = Duration::from_secs(3);
    let request = place.shell(line).stdin(Stdin::Open).timeout(limit);
    let job = engine.start(&request).unwrap();
    disk.fill_but(8192);
    job.input(b"\n").unwrap();
    assert_eq!(job.wait(&[Condition::Exit], Some(TIMEOUT)).unwrap(), Met::Exit);
    let outcome = job.outcome().unwrap().unwrap();
    assert_eq!(outcome.end, End::Exited { code: 3 });
    assert!(outcome.dropped_bytes > 0, "{outcome:?}");
    assert_eq!(outcome.total_bytes + outcome.dropped_bytes, 60_000, "{outcome:?}");
    assert_eq!(job.log().unwrap().length().unwrap(), outcome.total_bytes);
    let said = outcome.notes.iter().any(|note| note.contains("were not kept"));
    assert!(said, "{outcome:?}");
}

#[test]
fn output_that_waited_for_a_full_disk_is_kept_to_its_last_byte_though_its_command_has_ended() {
    let disk = Disk::new("4m");
    let place = place_on(&disk);
    let engine = place.engine();
    // As much as a pipe holds: what is not read lies there when the command ends.
    let line = "read x; head -c 60000 /dev/zero | tr '\\0' x; exit 3";
    let job = engine.start(&place.shell(line).stdin(Stdin::Open)).unwrap();
    let Status::Started { pid, .. } = job.status().unwrap() else { panic!("it runs") };
    disk.fill_but(0);
    job.input(b"\n").unwrap();
    until(|| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        (stat.is_empty() || stat.contains(") Z")).then_some(())
    })
    .expect("the command has ended");
    // Longer than any silence that would count as the end of an output.
    let quiet = [Condition::Quiet(Duration::from_millis(1500)), Condition::Exit];
    job.wait(&quiet, Some(TIMEOUT)).unwrap();
    disk.free();
    assert_eq!(job.wait(&[Condition::Exit], Some(TIMEOUT)).unwrap(), Met::Exit);
    let outcome = job.outcome().unwrap().unwrap();
    assert_eq!(outcome.end, End::Exited { code: 3 });
    assert_eq!((outcome.total_bytes, outcome.dropped_bytes), (60_000, 0), "{outcome:?}");
}

#[test]
fn on_a_full_disk_a_job_that_is_stopped_ends_and_its_record_is_kept() {
    let disk = Disk::new("4m");
    let place = place_on(&disk);
    let engine = place.engine();
    let request = place.shell("read x; yes | head -c 10000000; sleep 4000").stdin(Stdin::Open);
    let job = engine.start(&request).unwrap();
    disk.fill_but(0);
    job.input(b"\n").unwrap();
    until(|| {
        let events = engine.events(0, 1000).unwrap_or_default();
        (job.log().unwrap().length().unwrap() > 0 || !events.is_empty()).then_some(())
    })
    .expect("the job was seen");
    let outcome = job.stop(Ladder::KILL).unwrap();
    assert!(matches!(outcome.end, End::Stopped { .. }), "{outcome:?}");
    assert!(outcome.contained_by.is_some(), "{outcome:?}");
    assert!(place.state().join("jobs").join(job.id().as_str()).join("outcome").exists());
}

#[test]
fn a_supervisor_killed_on_a_full_disk_leaves_a_record() {
    let disk = Disk::new("4m");
    let place = place_on(&disk);
    let engine = place.engine();
    let job = engine.start(&place.shell(&format!("read x; {KILLER}")).stdin(Stdin::Open)).unwrap();
    disk.fill_but(0);
    job.input(b"\n").unwrap();
    assert_eq!(job.wait(&[Condition::Exit], Some(TIMEOUT)).unwrap(), Met::Exit);
    let path = place.state().join("jobs").join(job.id().as_str()).join("outcome");
    let record = until(|| fs::read_to_string(&path).ok()).expect("there was room for it");
    assert!(record.contains("supervisor_killed"), "{record}");
}

#[test]
fn retention_in_bytes_is_a_bound() {
    let place = Place::new();
    let (most, each) = (1_u64 << 20, 100_u64 << 10);
    let engine = place.builder().retention(1000, most).open().unwrap();
    let used = || -> u64 {
        let jobs = engine.jobs(Scope::All).unwrap();
        jobs.iter().map(|job| job.total_bytes).sum()
    };
    for number in 0..40 {
        let line = format!("head -c {each} /dev/zero");
        engine.run(&place.shell(&line)).unwrap();
        // Room is made after the end was told.
        let fits = until(|| (used() <= most + each).then_some(()));
        assert!(fits.is_some(), "after {number} jobs there are {} bytes", used());
    }
    assert!(engine.jobs(Scope::All).unwrap().len() >= 8, "no more is deleted than must be");
}

#[test]
fn retention_in_jobs_is_a_bound() {
    let place = Place::new();
    let engine = place.builder().retention(4, u64::MAX).open().unwrap();
    for _ in 0..12 {
        engine.run(&place.shell("true")).unwrap();
        let fits = until(|| (engine.jobs(Scope::All).unwrap().len() <= 5).then_some(()));
        assert!(fits.is_some());
    }
}

#[test]
fn those_that_leave_by_themselves_are_the_oldest() {
    let place = Place::new();
    let engine = place.builder().retention(32, u64::MAX).open().unwrap();
    let mut all = Vec::new();
    for _ in 0..80 {
        all.push(engine.run(&place.shell("true")).unwrap().0.id().to_string());
    }
    let left = || -> Vec<String> {
        let mut jobs: Vec<String> =
            engine.jobs(Scope::All).unwrap().iter().map(|job| job.job.to_string()).collect();
        jobs.sort();
        jobs
    };
    assert!(until(|| (left().len() <= 33).then_some(())).is_some(), "{}", left().len());
    let left = left();
    assert!(left.len() >= 30, "{}", left.len());
    assert_eq!(left, all[all.len() - left.len()..]);
}

#[test]
fn those_that_are_too_old_leave_by_themselves() {
    let place = Place::new();
    let engine = place.builder().retention_age(Some(Duration::ZERO)).open().unwrap();
    let nap = engine.start(&place.shell("sleep 600")).unwrap();
    for _ in 0..70 {
        engine.run(&place.shell("true")).unwrap();
    }
    // They are looked for after every 32nd.
    let left = || engine.jobs(Scope::All).unwrap().len();
    assert!(until(|| (left() <= 40).then_some(())).is_some(), "{}", left());
    assert!(nap.outcome().unwrap().is_none(), "one that runs is not old");
    // Once it is over it is too old as well, and may be gone before anybody reads of it.
    let _ = nap.stop(Ladder::KILL);
}

#[test]
fn without_a_catalog_room_is_made_all_the_same() {
    let place = Place::new();
    let engine = place.builder().retention(8, u64::MAX).open().unwrap();
    for _ in 0..8 {
        engine.run(&place.shell("true")).unwrap();
    }
    fs::remove_file(place.state().join("catalog")).unwrap();
    let jobs = || fs::read_dir(place.state().join("jobs")).unwrap().count();
    for _ in 0..8 {
        engine.run(&place.shell("true")).unwrap();
        assert!(until(|| (jobs() <= 9).then_some(())).is_some(), "{}", jobs());
    }
}

#[test]
fn what_somebody_else_deleted_is_no_reason_to_delete_more() {
    let place = Place::new();
    let engine = place.builder().retention(10, u64::MAX).open().unwrap();
    let run = || engine.run(&place.shell("true")).unwrap().0.id().to_string();
    let mut all: Vec<String> = (0..10).map(|_| run()).collect();
    let jobs = place.state().join("jobs");
    for job in all.drain(..6) {
        fs::remove_dir_all(jobs.join(job)).unwrap();
    }
    // By what was counted there are too many from the next one on.
    all.extend((0..4).map(|_| run()));
    // A supervisor that makes room takes no other job: when all are gone, all is done.
    drop(engine);
    let is_idle = || fs::read_dir(place.state().join("spares")).unwrap().next().is_none();
    assert!(until(|| is_idle().then_some(())).is_some());
    let mut left: Vec<String> = fs::read_dir(jobs)
        .unwrap()
        .map(|job| job.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, all);
}

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// The ways in which a file can be something else.
const STRANGE: &[&str] = &["fifo", "device", "link", "socket", "sparse giant", "somebody else's"];

fn replace(path: &Path, with: &str) {
    if with == "somebody else's" {
        if path.exists() {
            std::os::unix::fs::chown(path, Some(65534), Some(65534)).unwrap();
        }
        return;
    }
    let _ = fs::remove_file(path);
    match with {
        "fifo" => fifo(path),
        "device" => mknodat(CWD, path, FileType::CharacterDevice, Mode::RUSR, 0x0501).unwrap(),
        "link" => symlink("/etc/passwd", path).unwrap(),
        "socket" => drop(std::os::unix::net::UnixListener::bind(path).unwrap()),
        _ => fs::File::create(path).unwrap().set_len(1 << 42).unwrap(),
    }
}

#[test]
fn no_strange_file_of_a_job_blocks_or_is_followed() {
    let place = Place::new();
    let engine = place.engine();
    for file in ["request", "outcome", "index", "gap", "groups", "lock", "read-me", "output"] {
        for with in STRANGE {
            let (job, _) = engine.run(&place.shell("echo text; exit 3")).unwrap();
            // Its supervisor has told of the end, and then goes.
            until(|| place.supervisors().is_empty().then_some(())).unwrap();
            replace(&place.state().join("jobs").join(job.id().as_str()).join(file), with);
            let listed = engine.jobs(Scope::All).unwrap();
            assert!(listed.iter().any(|summary| summary.job == *job.id()), "{file} {with}");
            assert!(matches!(job.status().unwrap(), Status::Ended(_)), "{file} {with}");
            if let Ok(log) = job.log() {
                let mut bytes = [0; 100];
                let read = log.read_at(0, &mut bytes);
                let text = String::from_utf8_lossy(&bytes).into_owned();
                assert!(!text.contains("root"), "{file} {with}: {read:?} {text}");
                log.runs(0..5).unwrap();
            }
            let _ = job.read_on("me", |from| Ok::<_, umbo_engine::Error>((from, from + 1)));
            let _ = job.stop(Ladder::KILL);
            engine.prune(Some(Duration::ZERO)).unwrap();
        }
    }
    assert!(fs::read_to_string("/etc/passwd").unwrap().contains("root"));
}

#[test]
fn no_strange_file_around_the_jobs_blocks_or_is_followed() {
    let place = Place::new();
    let engine = place.engine();
    for file in ["events", "prune.lock", "retained", "cursors/c", "slots/0"] {
        for with in STRANGE {
            engine.drain_completed("c", None).unwrap();
            engine.run(&place.shell("true")).unwrap();
            let path = place.state().join(file);
            until(|| place.supervisors().is_empty().then_some(())).unwrap();
            replace(&path, with);
            // It works or says why not, and never waits.
            let works = engine.read(&place.shell("echo fine"));
            match works {
                Ok(text) => assert_eq!(text, "fine"),
                Err(error) => assert!(error.to_string().contains("slot"), "{file} {with}: {error}"),
            }
            let drained = engine.drain_completed("c", None);
            if let Err(error) = drained {
                assert!(error.to_string().contains(file), "{file} {with}: {error}");
            }
            let _ = engine.prune(Some(Duration::ZERO));
            let _ = fs::remove_file(&path);
        }
    }
}

#[test]
fn a_state_directory_of_somebody_else_is_refused_with_words() {
    for (name, spoil) in [
        (
            "owned",
            (|path| {
                std::os::unix::fs::chown(path, Some(65534), None).unwrap();
            }) as fn(&Path),
        ),
        ("writable", |path| fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap()),
        ("grouped", |path| fs::set_permissions(path, fs::Permissions::from_mode(0o770)).unwrap()),
    ] {
        for inside in ["", "jobs", "spares", "sessions"] {
            let place = Place::new();
            place.engine();
            let path = place.state().join(inside);
            spoil(&path);
            let error = place.builder().open().unwrap_err().to_string();
            assert!(error.contains("state directory"), "{name} {inside}: {error}");
            let words = ["owns it", "can write it"];
            assert!(words.iter().any(|word| error.contains(word)), "{name} {inside}: {error}");
            std::os::unix::fs::chown(&path, Some(0), None).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        }
    }
    let place = Place::new();
    place.engine();
    fs::remove_dir(place.state().join("keys")).unwrap();
    symlink("/tmp", place.state().join("keys")).unwrap();
    let error = place.builder().open().unwrap_err().to_string();
    assert!(error.contains("not a directory"), "{error}");
    fs::remove_file(place.state().join("keys")).unwrap();
}

#[test]
fn a_link_among_the_jobs_is_no_job() {
    let place = Place::new();
    let engine = place.engine();
    let (job, _) = engine.run(&place.shell("true")).unwrap();
    let jobs = place.state().join("jobs");
    let aside = place.path().join("aside");
    fs::rename(jobs.join(job.id().as_str()), &aside).unwrap();
    symlink(&aside, jobs.join(job.id().as_str())).unwrap();
    assert!(engine.jobs(Scope::All).unwrap().is_empty());
    assert!(engine.prune(Some(Duration::ZERO)).unwrap().is_empty());
    assert!(aside.join("request").exists());
}

#[test]
fn an_output_limit_and_a_full_disk_are_told_apart() {
    let place = Place::new();
    let mut request = place.shell("head -c 100000 /dev/zero");
    request.limits.output = Some(OutputLimit { bytes: 1000, policy: OutputPolicy::KeepEnds });
    let (_, outcome) = place.engine().run(&request).unwrap();
    assert_eq!((outcome.omitted_bytes, outcome.dropped_bytes), (99_000, 0));
    assert!(matches!(outcome.contained_by, Some(Containment::Cgroup | Containment::Subreaper)));
}

#[test]
fn jobs_of_a_deleted_state_directory_are_listed_and_can_be_stopped() {
    let place = Place::new();
    let engine = place.engine();
    let ready = Condition::Match { pattern: regex::bytes::Regex::new("ready").unwrap(), from: 0 };
    for line in ["echo ready; sleep 4000", "setsid sleep 4000 & echo ready; exec sleep 4000"] {
        let job = engine.start(&place.shell(line)).unwrap();
        job.wait(std::slice::from_ref(&ready), Some(TIMEOUT)).unwrap();
        fs::remove_dir_all(place.state()).unwrap();
        // Another process, which sees an empty state.
        let engine = place.engine();
        let listed = engine.jobs(Scope::Recent).unwrap();
        assert_eq!(listed.len(), 1, "{listed:?}");
        assert_eq!((&listed[0].job, listed[0].found_by), (job.id(), FoundBy::Processes));
        assert!(matches!(listed[0].status, Status::Started { .. }));
        assert!(listed[0].command.contains("4000"), "{listed:?}");
        let found = engine.job(&job.id().as_str()[..20]).unwrap();
        assert!(matches!(found.status().unwrap(), Status::Started { .. }));
        let outcome = found.stop(Ladder::default()).unwrap();
        assert!(matches!(outcome.end, End::Stopped { .. }), "{outcome:?}");
        assert!(outcome.contained_by.is_some(), "{outcome:?}");
        assert!(engine.jobs(Scope::Recent).unwrap().is_empty());
        assert!(place.processes().is_empty(), "nothing is left");
        assert_eq!(engine.read(&place.shell("echo fine")).unwrap(), "fine");
        engine.prune(Some(Duration::ZERO)).unwrap();
    }
}

#[test]
fn what_is_left_of_a_job_without_files_and_without_supervisor_can_be_stopped() {
    let place = Place::new();
    let engine = place.engine();
    let line = "setsid sleep 4000 & setsid sleep 4000 & echo ready; wait";
    let job = engine.start(&place.shell(line)).unwrap();
    let ready = Condition::Match { pattern: regex::bytes::Regex::new("ready").unwrap(), from: 0 };
    job.wait(&[ready], Some(TIMEOUT)).unwrap();
    fs::remove_dir_all(place.state()).unwrap();
    // The keeper first, which would clean up.
    let mut supervisors = place.supervisors();
    supervisors.sort_by_key(|pid| pid.as_raw_nonzero());
    for pid in supervisors {
        let _ = kill_process(pid, Signal::KILL);
    }
    until(|| place.supervisors().is_empty().then_some(())).unwrap();
    assert!(!place.processes().is_empty(), "nobody was there to end them");
    let outcome = place.engine().job(job.id().as_str()).unwrap().stop(Ladder::KILL).unwrap();
    assert!(outcome.contained_by.is_some(), "{outcome:?}");
    assert!(until(|| place.processes().is_empty().then_some(())).is_some());
}

#[test]
fn jobs_of_a_state_directory_that_became_read_only_are_listed_and_can_be_stopped() {
    let place = Place::new();
    let engine = place.engine();
    let job = engine.start(&place.shell("sleep 4000")).unwrap();
    let path = place.state();
    rustix::mount::mount_bind(path, path).expect("this test mounts: run the suite as root");
    rustix::mount::mount_remount(path, MountFlags::BIND | MountFlags::RDONLY, "").unwrap();
    let engine = place.builder().open();
    let result = engine.and_then(|engine| {
        let listed = engine.jobs(Scope::Recent)?;
        assert_eq!(listed.len(), 1, "{listed:?}");
        assert!(matches!(listed[0].status, Status::Started { .. }), "{listed:?}");
        engine.job(job.id().as_str())?.stop(Ladder::KILL)
    });
    unmount(path, UnmountFlags::DETACH).unwrap();
    let outcome = result.unwrap();
    assert!(matches!(outcome.end, End::Stopped { .. } | End::Lost { .. }), "{outcome:?}");
    assert!(until(|| place.processes().is_empty().then_some(())).is_some());
}

/// A backend of a user who may make no control group and no more than so many processes.
fn without_groups(place: &Place, processes: u32) -> (Remote, Helper) {
    let (socket, state) = (place.path().join("socket"), place.path().join("theirs"));
    // The build directory may be closed to others: the program goes where they can run it.
    let program = place.path().join("remote");
    fs::copy(example("remote"), &program).unwrap();
    fs::create_dir(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
    for path in [place.path(), &state] {
        std::os::unix::fs::chown(path, Some(65534), Some(65534)).unwrap();
    }
    let mut command = Command::new("prlimit");
    command.arg(format!("--nproc={processes}"));
    command.args(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]);
    let server = Helper::start(command.arg(program).arg(&socket).arg(state));
    let backend = Remote::new(socket);
    until(|| backend.newest_event().ok()).expect("the server answers");
    (backend, server)
}

/// Each goes on in a child with a session of its own, and ends: there is always another one.
const CHAINS: &str = r#"
    export STEP='setsid sh -c "$STEP" 2>/dev/null & exit'
    n=0; while [ $n -lt 50 ]; do n=$((n + 1)); setsid sh -c "$STEP" & done
    exit 0"#;

/// Each makes two more, as long as it can.
const BOMB: &str = r#"
    export STEP='sh -c "$STEP" 2>/dev/null & setsid sh -c "$STEP" 2>/dev/null & wait'
    sh -c "$STEP" 2>/dev/null & sleep 0.3; exit 0"#;

#[test]
fn a_storm_without_control_groups_is_ended_to_the_last_process_before_the_job_is_over() {
    let place = Place::new();
    let (backend, _server) = without_groups(&place, 400);
    for (name, line) in [("chains", CHAINS), ("bomb", BOMB)] {
        let (job, outcome) = backend.run(&place.shell(line)).unwrap();
        assert_eq!(outcome.contained_by, Some(Containment::Subreaper), "{name}: {outcome:?}");
        assert!(outcome.leaked_count() > 0, "{name}: {outcome:?}");
        let left: Vec<String> = place.processes().into_iter().map(command_line).collect();
        let left: Vec<&String> = left.iter().filter(|line| line.contains("STEP")).collect();
        assert!(left.is_empty(), "{name}: {left:?}");
        let running = backend.start(&place.shell(&format!("{line}; sleep 4000"))).unwrap();
        let outcome = running.stop(Ladder::KILL).unwrap();
        assert_eq!(outcome.contained_by, Some(Containment::Subreaper), "{name}: {outcome:?}");
        drop(job);
    }
}
