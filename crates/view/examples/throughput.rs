//! How fast text goes through: sanitise, mask, view and search beside a plain copy, in one run,
//! and a tail of 4 GiB beside one of 4 KiB.
//!
//! `cargo run --release -p umbo-view --example throughput [MiB]`

#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::cast_precision_loss, missing_docs)]

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use umbo_view::mask::{MaskStream, Masker};
use umbo_view::sanitize::Sanitizer;
use umbo_view::{Budget, Find, Memory, Reader, Regex, Run, Source, Stream, ViewOptions};

const ROUNDS: usize = 5;

fn main() {
    let mib: usize = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(64);
    let started = Instant::now();
    let masker = masker();
    println!("masker with 20 values and all formats built in {:?}", started.elapsed());
    let started = Instant::now();
    let known =
        umbo_view::error_rule("error: x").is_some() && umbo_view::noise_group("x").is_none();
    println!("error and noise tables compiled in {:?} ({known})", started.elapsed());
    println!(
        "{:<10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  MB/s, best of {ROUNDS}",
        "corpus", "memcpy", "sanitise", "mask", "errors", "grep", "view"
    );
    for (name, line) in CORPORA {
        let text: Vec<u8> = line.bytes().cycle().take(mib << 20).collect();
        measure(name, &text, &masker);
    }
    measure("names", &names(mib << 20), &masker);
    measure("alarms", &alarms(mib << 20), &masker);
    tails(&masker);
}

const CORPORA: [(&str, &str); 5] = [
    ("plain", "2026-11-15 04:00:00 INFO worker 7: handled request 48151623 in 42 ms, status ok\n"),
    (
        "colour",
        "\x1b[2m04:00:00\x1b[0m \x1b[32mINFO\x1b[0m \x1b[1mworker\x1b[0m handled in \x1b[36m42\x1b[0m ms\n",
    ),
    ("progress", "\r 10% [#         ]\r 50% [#####     ]\r100% [##########]\n"),
    ("unicode", "проверка — 漢字とかな, naïve façade, done ✓ и ещё немного текста\n"),
    ("crlf", "Reading package lists... Done, nothing to be done here at all\r\n"),
];

/// Lines that differ in a name each, so that every one has to be split into words.
fn names(bytes: usize) -> Vec<u8> {
    let name = |n: usize| -> String {
        (0..5).map(|at| char::from(b'a' + u8::try_from(n >> (4 * at) & 15).unwrap())).collect()
    };
    let lines = (0..).map(|n| format!("test parser::{}_{} ... ok\n", name(n), name(n * 7)));
    lines.flat_map(String::into_bytes).take(bytes).collect()
}

/// Lines that use the words of errors, so that every one has to be judged.
fn alarms(bytes: usize) -> Vec<u8> {
    let line =
        "2026-11-15 04:00:00 INFO error handler 7 reports: lookups failed before are served\n";
    line.bytes().cycle().take(bytes).collect()
}

fn masker() -> Masker {
    let values =
        (0..20).map(|n| (format!("SERVICE_{n}_TOKEN"), format!("not-a-real-value-{n:04}")));
    Masker::builder().environment(values).build().unwrap()
}

fn best(bytes: usize, mut work: impl FnMut()) -> f64 {
    let mut shortest = Duration::MAX;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        work();
        shortest = shortest.min(started.elapsed());
    }
    bytes as f64 / 1e6 / shortest.as_secs_f64()
}

fn measure(name: &str, text: &[u8], masker: &Masker) {
    let mut copy = vec![0; text.len()];
    let copied = best(text.len(), || copy.copy_from_slice(std::hint::black_box(text)));
    std::hint::black_box(&copy);
    let mut out = String::with_capacity(text.len() * 2);
    let sanitised = best(text.len(), || {
        out.clear();
        let mut sanitizer = Sanitizer::new();
        for chunk in text.chunks(256 * 1024) {
            sanitizer.feed(chunk, &mut out);
        }
        sanitizer.finish(&mut out);
    });
    let hiding = best(out.len(), || {
        let mut stream = MaskStream::new(masker);
        let mut length = 0;
        let mut rest = out.as_str();
        while !rest.is_empty() {
            let (chunk, later) = rest.split_at(rest.floor_char_boundary(256 * 1024).max(1));
            length += stream.push(chunk).len();
            rest = later;
        }
        std::hint::black_box(length);
    });
    let memory = Memory::new(text.to_vec());
    let reader = Reader::new(&memory).mask(masker);
    let find = Find { scan_bytes: u64::MAX, ..Find::default() };
    let errors = best(text.len(), || drop(reader.errors(&find).unwrap()));
    let pattern = Regex::new("no such text").unwrap();
    let grep = best(text.len(), || drop(reader.grep(&pattern, &find).unwrap()));
    let options =
        ViewOptions { scan_bytes: u64::MAX, count_bytes: u64::MAX, ..ViewOptions::default() };
    let view = best(text.len(), || drop(reader.view(&options).unwrap()));
    println!(
        "{name:<10} {copied:>9.0} {sanitised:>9.0} {hiding:>9.0} {errors:>9.0} {grep:>9.0} {view:>9.0}"
    );
}

/// A log of lines of any length, that costs no disk: a file of 16 MiB, over and over.
struct OverAndOver(File, u64);

const PERIOD: u64 = 80 * (1 << 18);

impl Source for OverAndOver {
    fn len(&self) -> u64 {
        self.1
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let start = offset % PERIOD;
        let room = (PERIOD - start).min(self.1.saturating_sub(offset));
        let length = buf.len().min(usize::try_from(room).unwrap());
        FileExt::read_at(&self.0, &mut buf[..length], start)
    }

    fn runs(&self, _from: u64, _to: u64) -> io::Result<Vec<Run>> {
        Ok(vec![Run { start: 0, stream: Stream::Stdout, time: 0 }])
    }
}

fn on_disk(len: u64) -> OverAndOver {
    let path =
        std::env::temp_dir().join(format!("umbo-view-throughput-{len}-{}", std::process::id()));
    let file =
        File::options().create(true).truncate(true).read(true).write(true).open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let lines: Vec<u8> =
        CORPORA[0].1.bytes().cycle().take(usize::try_from(PERIOD).unwrap()).collect();
    file.write_all_at(&lines, 0).unwrap();
    OverAndOver(file, len)
}

fn tails(masker: &Masker) {
    let options =
        ViewOptions { shape: umbo_view::Shape::Tail, count_bytes: 0, ..ViewOptions::default() };
    for (name, len) in [("4 KiB", 4096_u64), ("64 KiB", 65_536), ("4 GiB", 4 << 30)] {
        let log = on_disk(len);
        let time = |work: &dyn Fn()| {
            let mut times: Vec<Duration> = (0..201)
                .map(|_| {
                    let started = Instant::now();
                    work();
                    started.elapsed()
                })
                .collect();
            times.sort();
            times[100]
        };
        let plain = Reader::new(&log);
        let hiding = Reader::new(&log).mask(masker);
        let tail = time(&|| drop(plain.tail(20, &Budget::default()).unwrap()));
        let tail_masked = time(&|| drop(hiding.tail(20, &Budget::default()).unwrap()));
        let view = time(&|| drop(hiding.view(&options).unwrap()));
        println!(
            "tail of {name}: 20 lines {tail:?}, masked {tail_masked:?}, view of the end {view:?}"
        );
    }
}
