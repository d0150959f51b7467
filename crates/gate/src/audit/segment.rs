//! The files of an audit: the newest, and those before it.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::Audit;
use super::append::{Head, Start, ends_in};
use super::record::parse;
use crate::error::{Error, Result};
use crate::store::make_directory;

/// A budget is divided into so many files.
const FILES_PER_BUDGET: u64 = 8;
/// How many digits a number has in the name of a file: names sort by it.
const NUMBER_DIGITS: usize = 12;

impl Audit {
    /// How long a file is to be.
    pub(super) fn segment_bytes(&self) -> u64 {
        self.budget / FILES_PER_BUDGET
    }

    /// Opens the newest file, making it where it is missing, as the only writer, and says how long it is. One
    /// that was the newest before is tried first.
    pub(super) fn lock_newest(&self, mut held: Option<File>) -> Result<(File, u64)> {
        let failed = || Error::file("append to", &self.path);
        loop {
            let file = match held.take() {
                Some(file) => file,
                None => self.open_newest()?,
            };
            flock(&file, FlockOperation::LockExclusive).map_err(|error| failed()(error.into()))?;
            if let Some(length) = self.length_of_newest(&file) {
                return Ok((file, length));
            }
            // Another writer put it away meanwhile.
        }
    }

    fn open_newest(&self) -> Result<File> {
        if let Some(directory) = self.path.parent() {
            make_directory(directory)?;
        }
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true).mode(0o600);
        options.open(&self.path).map_err(Error::file("append to", &self.path))
    }

    /// Opens the newest file, if there is one, so that no writer changes anything.
    pub(super) fn share_newest(&self) -> Result<Option<File>> {
        let failed = || Error::file("read", &self.path);
        loop {
            let file = match File::open(&self.path) {
                Ok(file) => file,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(failed()(error)),
            };
            flock(&file, FlockOperation::LockShared).map_err(|error| failed()(error.into()))?;
            if self.length_of_newest(&file).is_some() {
                return Ok(Some(file));
            }
        }
    }

    /// The length of a file, if it is the newest.
    fn length_of_newest(&self, file: &File) -> Option<u64> {
        let (open, named) = (file.metadata().ok()?, fs::metadata(&self.path).ok()?);
        ((open.dev(), open.ino()) == (named.dev(), named.ino())).then_some(open.len())
    }

    fn is_same_as_newest(&self, path: &Path) -> bool {
        let identity = |path: &Path| fs::metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
        identity(path).is_some_and(|found| Some(found) == identity(&self.path))
    }

    /// Where the file with these records is once it is full.
    fn full_path(&self, first: u64) -> PathBuf {
        self.path.with_extension(format!("{first:0NUMBER_DIGITS$}"))
    }

    /// The files before the newest one, with the numbers of their first records, oldest first.
    pub(super) fn full_files(&self) -> Vec<(u64, PathBuf)> {
        let Some(entries) = self.path.parent().and_then(|state| fs::read_dir(state).ok()) else {
            return Vec::new();
        };
        let mut files: Vec<(u64, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name();
                let digits = name.to_str()?.strip_prefix("audit.")?;
                (digits.len() == NUMBER_DIGITS).then_some(())?;
                // A writer was killed before it could begin a new one: this is the newest still.
                (!self.is_same_as_newest(&entry.path())).then_some(())?;
                Some((digits.parse().ok()?, entry.path()))
            })
            .collect();
        files.sort();
        files
    }

    /// Puts the newest file away and begins another one with these bytes. Returns the new one, locked,
    /// and where the chain begins from now on.
    pub(super) fn rotate(
        &self,
        first: u64,
        bytes: &[u8],
        start: Option<Start>,
    ) -> Result<(File, Option<Start>)> {
        let failed = || Error::file("rotate", &self.path);
        let draft = self.path.with_extension("next");
        let _ = fs::remove_file(&draft);
        let mut file = OpenOptions::new();
        let mut file =
            file.append(true).create_new(true).mode(0o600).open(&draft).map_err(failed())?;
        // Nobody appends to it before the head names it.
        flock(&file, FlockOperation::LockExclusive).map_err(|error| failed()(error.into()))?;
        file.write_all(bytes).map_err(failed())?;
        // A second name, then the new file in the place of the first: there is a newest file at any time.
        match fs::hard_link(&self.path, self.full_path(first)) {
            // A writer before this one was killed in between.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            linked => linked.map_err(failed())?,
        }
        fs::rename(&draft, &self.path).map_err(failed())?;
        Ok((file, self.start_within_budget().or(start)))
    }

    /// Where the chain begins if the oldest files go; `None` if all fit.
    fn start_within_budget(&self) -> Option<Start> {
        let files = self.full_files();
        let mut room = self.budget - self.segment_bytes();
        let mut oldest = None;
        for (_, path) in files.iter().rev() {
            let length = fs::metadata(path).map_or(0, |meta| meta.len());
            if length > room {
                break;
            }
            room -= length;
            oldest = Some(path);
        }
        let is_first = |path: &PathBuf| files.first().is_some_and(|(_, first)| first == path);
        let oldest = oldest.or_else(|| files.last().map(|(_, path)| path))?;
        if is_first(oldest) {
            return None;
        }
        let mut line = Vec::new();
        BufReader::new(File::open(oldest).ok()?).read_until(b'\n', &mut line).ok()?;
        let record = parse(&line).ok()?;
        Some(Start { seq: record.seq, prev: record.prev })
    }

    /// Deletes the files before the one that begins with this record.
    pub(super) fn delete_before(&self, first: u64) {
        for (number, path) in self.full_files() {
            if number < first {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// Whether the file that a head was signed for is a full one.
    pub(super) fn is_put_away(&self, head: &Head) -> std::io::Result<bool> {
        match File::open(self.full_path(head.first)) {
            Ok(file) => {
                let length = file.metadata()?.len();
                Ok(length == head.bytes && ends_in(&file, head, length)?)
            }
            Err(_) => Ok(false),
        }
    }
}
