//! The promises of the design, one file each. A test named `pNN_…` proves promise NN.

mod p01_no_job_is_lost;
mod p02_no_status_lies;
mod p03_no_second_copy;
mod p04_stop_means_the_tree;
mod p05_a_killed_supervisor;
mod p06_bytes_before_readers;
mod p07_record_before_news;
mod p08_numbered_events;
mod p09_reboot;
mod p10_older_formats;
mod p11_any_wreck;
mod p12_a_hung_supervisor;
mod p13_bounded_waits;
mod p14_no_lost_byte;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::Umbo;

/// A number that is different every time: the same random instant twice proves nothing.
fn random(below: u64) -> u64 {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).unwrap();
    u64::from_le_bytes(bytes) % below
}

/// Goes on at a random instant within a span.
fn at_a_random_instant(within: Duration) {
    let span = Duration::from_micros(random(u64::try_from(within.as_micros()).unwrap()));
    let begin = Instant::now();
    while begin.elapsed() < span {
        std::hint::spin_loop();
    }
}

/// How long a call takes on this machine, now: the span in which it can be killed.
fn life_of(umbo: &Umbo, words: &[&str]) -> Duration {
    let begin = Instant::now();
    assert_eq!(umbo.call(words).answer().status, 0);
    begin.elapsed()
}

/// A job that prints numbered lines and exits with a code.
fn numbered(lines: u32, code: i32) -> String {
    format!("n=0; while [ $n -lt {lines} ]; do n=$((n + 1)); echo line $n; done; exit {code}")
}

/// What such a job prints.
fn numbered_lines(lines: u32) -> String {
    crate::harness::numbered("line ", 1..=lines)
}

/// How many times the journal says that a job is over.
fn ends(umbo: &Umbo, job: &str) -> usize {
    let is_end = |event: &&Value| event["job"] == job && event["kind"] == "exited";
    umbo.events(0).iter().filter(is_end).count()
}

/// Puts a job on disk that no supervisor has: a record changed from a real one.
fn plant(umbo: &Umbo, id: &str, change: impl FnOnce(&mut Value)) {
    let model = umbo.start("echo kept; $NAP");
    umbo.wait_for(&model, "kept");
    let (from, to) = (umbo.job(&model), umbo.job(id));
    fs::create_dir(&to).unwrap();
    for file in ["output", "index"] {
        fs::copy(from.join(file), to.join(file)).unwrap();
    }
    let mut record = umbo.record(&model, "request");
    record["job"] = id.into();
    record["supervisor"]["cgroup"].take();
    change(&mut record);
    record["supervisor"].as_object_mut().unwrap().retain(|_, value| !value.is_null());
    let started = fs::read_to_string(from.join("request")).unwrap();
    let started = started.lines().nth(1).unwrap_or_default();
    fs::write(to.join("request"), format!("{record}\n{started}\n")).unwrap();
    fs::write(to.join("lock"), "").unwrap();
    fs::write(to.join("sock"), "").unwrap();
    umbo.stop(&model, &["--kill"]);
}

/// Copies a directory with all in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().unwrap().is_dir() {
            copy(&from, &to);
        } else if entry.file_type().unwrap().is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(from).unwrap(), to).unwrap();
        } else if entry.file_type().unwrap().is_file() {
            fs::copy(from, to).unwrap();
        }
    }
}
