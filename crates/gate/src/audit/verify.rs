//! Reading the audit, and finding where it was changed, cut or put in another order.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Serialize;

use super::Audit;
use super::record::{Event, Record, parse};
use crate::digest::Digest;
use crate::error::{Error, Result};

/// More findings than this are only counted.
const MOST_FINDINGS: usize = 100;

/// Something wrong with the chain, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The line in the file, from 1; one past the last for what is missing at the end.
    pub line: u64,
    /// What is wrong.
    pub problem: String,
}

/// What a check of the chain found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whether nothing is wrong.
    pub sound: bool,
    /// How many records there are.
    pub records: u64,
    /// The last record's number.
    pub seq: u64,
    /// The last record's hash.
    pub head: Digest,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// What is not wrong and worth knowing: repairs, a torn end, records the head does not cover yet.
    pub notes: Vec<String>,
}

/// A check under way.
struct Check {
    report: Report,
    line: u64,
    bytes: u64,
    /// Whether the head's record was met, at its place.
    met_head: bool,
    head: Option<super::append::Head>,
    /// The name of the file, if it is not the newest.
    file: Option<String>,
}

impl Audit {
    /// Checks the whole chain.
    pub fn verify(&self) -> Result<Report> {
        self.read(|_| Ok(()))
    }

    /// All sound records, oldest first, each given to `take`; and the check of the whole chain.
    pub fn read(&self, mut take: impl FnMut(Record) -> std::io::Result<()>) -> Result<Report> {
        let has_head = self.head_path().symlink_metadata().is_ok();
        // The lock keeps the head and the records consistent with each other.
        let newest = self.share_newest()?;
        let mut check = Check::new(self.head()?);
        for (first, path) in self.full_files() {
            if check.is_deleted(first) {
                continue;
            }
            check.begin_file(&path);
            let file = File::open(&path).map_err(Error::file("read", &path))?;
            self.read_file(file, &mut check, &mut take)?;
        }
        if let Some(file) = newest {
            check.begin_file(&self.path);
            self.read_file(file, &mut check, &mut take)?;
        }
        check.end(has_head);
        Ok(check.report)
    }

    fn read_file(
        &self,
        file: File,
        check: &mut Check,
        take: &mut impl FnMut(Record) -> std::io::Result<()>,
    ) -> Result<()> {
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let count =
                reader.read_until(b'\n', &mut line).map_err(Error::file("read", &self.path))?;
            if count == 0 {
                return Ok(());
            }
            if let Some(record) = check.line(&line) {
                take(record).map_err(Error::file("pass on", &self.path))?;
            }
        }
    }
}

impl Check {
    fn new(head: Option<super::append::Head>) -> Self {
        let start = head.as_ref().and_then(|head| head.start.clone());
        let deleted = start.as_ref().map_or(0, |start| start.seq - 1);
        let note = format!("records 1 to {deleted} were deleted to keep the budget");
        let report = Report {
            sound: true,
            records: 0,
            seq: deleted,
            head: start.map_or_else(Digest::zero, |start| start.prev),
            findings: Vec::new(),
            notes: Some(note).filter(|_| deleted > 0).into_iter().collect(),
        };
        Self { report, line: 0, bytes: 0, met_head: false, head, file: None }
    }

    /// Whether a file with this first record is one that the head calls deleted.
    fn is_deleted(&self, first: u64) -> bool {
        let start = self.head.as_ref().and_then(|head| head.start.as_ref());
        start.is_some_and(|start| first < start.seq)
    }

    /// Lines are counted in each file.
    fn begin_file(&mut self, path: &Path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.file = Some(name.into_owned()).filter(|name| name != "audit");
        self.line = 0;
        self.bytes = 0;
    }

    fn wrong(&mut self, problem: impl Into<String>) {
        self.report.sound = false;
        if self.report.findings.len() < MOST_FINDINGS {
            let problem = match &self.file {
                Some(file) => format!("{file}: {}", problem.into()),
                None => problem.into(),
            };
            self.report.findings.push(Finding { line: self.line, problem });
        }
    }

    fn line(&mut self, line: &[u8]) -> Option<Record> {
        self.line += 1;
        self.bytes += line.len() as u64;
        if !line.ends_with(b"\n") {
            let covered = self.head.as_ref().is_some_and(|head| self.bytes <= head.bytes);
            if covered || parse(&[line, b"\n"].concat()).is_ok() {
                self.wrong("the last record was cut");
            } else {
                let count = line.len();
                self.report.notes.push(format!(
                    "line {}: {count} bytes of a record whose writer was killed; the next record repairs it",
                    self.line
                ));
            }
            return None;
        }
        let record = match parse(line) {
            Ok(record) => record,
            Err(problem) => {
                self.wrong(problem);
                return None;
            }
        };
        self.link(&record);
        self.note(&record);
        self.report.records += 1;
        self.report.seq = record.seq;
        self.report.head = record.hash.clone();
        if let Some(head) = &self.head
            && head.seq == record.seq
        {
            self.met_head = head.hash == record.hash && head.bytes == self.bytes;
        }
        Some(record)
    }

    fn link(&mut self, record: &Record) {
        let (last, hash) = (self.report.seq, self.report.head.clone());
        if record.seq == last + 1 && record.prev == hash {
            return;
        }
        if record.seq <= last {
            self.wrong(format!("record {} stands after record {last}", record.seq));
        } else if record.seq > last + 1 {
            let (from, to) = (last + 1, record.seq - 1);
            let missing = if from == to {
                format!("record {from} is missing")
            } else {
                format!("records {from} to {to} are missing")
            };
            self.wrong(format!("{missing} before record {}", record.seq));
        } else {
            self.wrong(format!("record {} does not follow from the one before it", record.seq));
        }
    }

    fn note(&mut self, record: &Record) {
        match &record.event {
            Event::Repaired { bytes, .. } => self.report.notes.push(format!(
                "record {}: {bytes} bytes of a record whose writer was killed were taken away",
                record.seq
            )),
            Event::Gap { expected, found } => self.wrong(format!(
                "record {} says that the chain broke off at {found} of {expected}",
                record.seq
            )),
            Event::NoHead { found } => self.wrong(format!(
                "record {} says that the head was missing or forged after record {found}: what followed it may be cut",
                record.seq
            )),
            _ => {}
        }
    }

    fn end(&mut self, has_head: bool) {
        self.line += 1;
        match &self.head {
            None if has_head => self.wrong("the head is forged or damaged: the end may be cut"),
            None if self.line > 1 || self.report.records > 0 => {
                self.wrong("the head is missing: the end may be cut");
            }
            None => {}
            Some(head) if self.met_head => {
                let ahead = self.report.seq - head.seq;
                if ahead > 0 {
                    self.report.notes.push(format!(
                        "the last {ahead} records are not covered by the head yet: a writer was killed"
                    ));
                }
            }
            Some(head) => {
                let (seq, last) = (head.seq, self.report.seq);
                self.wrong(if last < seq {
                    format!("the end is cut: the head is record {seq}, the last here is {last}")
                } else {
                    format!("record {seq} is not the one the head was signed for")
                });
            }
        }
    }
}
