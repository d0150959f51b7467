//! Who may start now. A running job holds the lock of one file in `slots/`, and a job in a session
//! holds that session's: locks that no crash leaves behind, so the count is always true.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use crate::sys::lock;
use crate::sys::watch::Watch;

/// The files of which a running job holds one.
pub(super) struct Slots {
    files: Vec<File>,
    watch: Watch,
}

impl Slots {
    /// Opens them. They stay open while this job waits: closing one is what wakes other waiters.
    pub(super) fn open(directory: &Path, most: usize) -> io::Result<Self> {
        let watch = Watch::new()?;
        watch.closing_in(directory)?;
        let files = (0..most.max(1))
            .map(|number| open(&directory.join(number.to_string())))
            .collect::<io::Result<_>>()?;
        Ok(Self { files, watch })
    }

    /// Takes one without waiting. The other files are closed with `self`.
    pub(super) fn take(&mut self) -> io::Result<Option<File>> {
        for number in 0..self.files.len() {
            if lock::try_exclusive(&self.files[number])? {
                return Ok(Some(self.files.swap_remove(number)));
            }
        }
        Ok(None)
    }

    /// Becomes readable when a slot may have become free.
    pub(super) fn watch(&self) -> &Watch {
        &self.watch
    }
}

/// The first free slot, or `None` when as many jobs run as may.
pub(super) fn take_slot(directory: &Path, most: usize) -> io::Result<Option<File>> {
    for number in 0..most.max(1) {
        let file = open(&directory.join(number.to_string()))?;
        if lock::try_exclusive(&file)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// Takes a session for a job, or says which job has it.
pub(super) fn take_session(directory: &Path, job: &str) -> io::Result<Result<File, String>> {
    fs::create_dir_all(directory)?;
    let mut file = open(&directory.join("lock"))?;
    if lock::try_exclusive(&file)? {
        file.set_len(0)?;
        file.write_all(job.as_bytes())?;
        return Ok(Ok(file));
    }
    let mut holder = String::new();
    file.rewind()?;
    file.read_to_string(&mut holder)?;
    Ok(Err(holder))
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)
}
