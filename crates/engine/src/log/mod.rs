//! A job's output on disk: `output` holds the exact bytes in the order they came, `index` says
//! which stream each run of bytes came from and when.
//!
//! An index record is written *before* the bytes it describes, so every byte in `output` has one,
//! whenever the writer dies. Offsets never change. When an output is longer than its limit the
//! middle is punched out of the file as a hole: offsets stay, the disk space returns, and `gap`
//! (written before the hole is) says which range reads as nothing.

mod file;
mod reader;
mod short;
mod writer;

use std::ops::Range;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::clock;
use crate::request::Size;

pub use reader::{Log, LogSource};
pub(crate) use short::ShortLog;
pub(crate) use writer::{LogWriter, Slack};

/// The name of the file with the bytes.
pub(crate) const OUTPUT: &str = "output";
/// The name of the file with the runs.
pub(crate) const INDEX: &str = "index";
/// The name of the file with the omitted range.
pub(crate) const GAP: &str = "gap";
/// The first bytes of an index: its format and version.
pub(crate) const INDEX_MAGIC: &[u8; 24] = b"umbo index 1\n\0\0\0\0\0\0\0\0\0\0\0";

/// The length of an index entry.
pub(crate) const RECORD: usize = 24;

/// Where bytes came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// A terminal, which merges the two.
    Pty,
}

/// What one index record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mark {
    /// Bytes of a stream begin here.
    Bytes(Stream),
    /// The terminal had a new size from here on.
    Resized(Size),
}

/// One entry of the index: from `start` until the next entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The offset of its first byte.
    pub start: u64,
    /// When it came, in microseconds since 1970.
    pub at: u64,
    /// What it is.
    pub mark: Mark,
}

impl Run {
    /// When it came.
    pub fn time(&self) -> SystemTime {
        clock::time(self.at)
    }

    pub(super) fn encode(self) -> [u8; RECORD] {
        let mut record = [0; RECORD];
        record[..8].copy_from_slice(&self.start.to_le_bytes());
        record[8..16].copy_from_slice(&self.at.to_le_bytes());
        let (kind, size) = match self.mark {
            Mark::Bytes(Stream::Stdout) => (1, None),
            Mark::Bytes(Stream::Stderr) => (2, None),
            Mark::Bytes(Stream::Pty) => (3, None),
            Mark::Resized(size) => (4, Some(size)),
        };
        record[16] = kind;
        if let Some(size) = size {
            record[20..22].copy_from_slice(&size.columns.to_le_bytes());
            record[22..24].copy_from_slice(&size.rows.to_le_bytes());
        }
        record
    }

    pub(super) fn decode(record: &[u8]) -> Option<Self> {
        let number = |range: Range<usize>| -> Option<u64> {
            Some(u64::from_le_bytes(record.get(range)?.try_into().ok()?))
        };
        let short = |range: Range<usize>| -> Option<u16> {
            Some(u16::from_le_bytes(record.get(range)?.try_into().ok()?))
        };
        let mark = match record.get(16)? {
            1 => Mark::Bytes(Stream::Stdout),
            2 => Mark::Bytes(Stream::Stderr),
            3 => Mark::Bytes(Stream::Pty),
            4 => Mark::Resized(Size { columns: short(20..22)?, rows: short(22..24)? }),
            _ => return None,
        };
        Some(Self { start: number(0..8)?, at: number(8..16)?, mark })
    }
}

/// The writer of a new log in a directory, as a supervisor has it.
#[cfg(test)]
fn new_log(directory: &std::path::Path, limit: Option<crate::request::OutputLimit>) -> LogWriter {
    use std::fs::{File, OpenOptions};
    use std::io::Write;
    use std::os::fd::OwnedFd;

    let create =
        |name| OpenOptions::new().create_new(true).append(true).open(directory.join(name)).unwrap();
    let mut index = create(INDEX);
    index.write_all(INDEX_MAGIC).unwrap();
    let directory = OwnedFd::from(File::open(directory).unwrap());
    LogWriter::new(create(OUTPUT).into(), index.into(), directory.into(), limit)
}
