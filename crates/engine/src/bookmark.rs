//! Bookmarks: how far each reader has read a job's log, kept beside it. A reader that shows only what
//! is new goes on there in the next process too.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Seek, Write};

use crate::backend::{BackendJob, Bookmark};
use crate::error::{Error, Result};
use crate::files;
use crate::job::Job;
use crate::sys::lock;

/// A bookmark in a job's directory, locked: reading a log ends by itself.
#[derive(Debug)]
pub(crate) struct FileBookmark {
    file: File,
    offset: u64,
}

impl Job {
    /// Reads on where `reader` stopped. `read` gets the offset, and returns what it read with the
    /// offset it got to. Of two at the same time, the second goes on where the first stopped.
    ///
    /// Where the bookmark cannot be kept, the same is read again next time, which loses nothing.
    pub fn read_on<T, E: From<Error>>(
        &self,
        reader: &str,
        read: impl FnOnce(u64) -> Result<(T, u64), E>,
    ) -> Result<T, E> {
        let job: &dyn BackendJob = self;
        job.read_on(reader, read)
    }

    pub(crate) fn bookmark(&self, reader: &str) -> Result<FileBookmark> {
        let path = self.directory().file(&format!("read-{}", plain(reader)));
        let open = || {
            let mut file = files::open_or_create(&path)?;
            lock::exclusive(&file)?;
            // One that cannot be read says nothing: all is read again.
            let offset = offset(&mut file).unwrap_or(0);
            Ok(FileBookmark { file, offset })
        };
        open().map_err(|source| Error::File { action: "open", path: path.clone(), source })
    }
}

impl Bookmark for FileBookmark {
    fn offset(&self) -> u64 {
        self.offset
    }

    fn advance(&mut self, offset: u64) -> Result<()> {
        turn_to(&mut self.file, offset).map_err(Error::file("write", "bookmark"))?;
        self.offset = offset;
        Ok(())
    }
}

fn offset(file: &mut File) -> io::Result<u64> {
    let mut text = String::new();
    file.take(64).read_to_string(&mut text)?;
    text.trim().parse().map_err(io::Error::other)
}

fn turn_to(file: &mut File, offset: u64) -> io::Result<()> {
    let text = offset.to_string();
    file.rewind()?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

/// A name that no directory minds; two readers have two.
fn plain(reader: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let mut name = String::new();
    for byte in reader.bytes().take(80) {
        if is_plain(byte) {
            name.push(char::from(byte));
        } else {
            let _ = write!(name, "%{byte:02x}");
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_reader_is_one_name_in_one_directory() {
        assert_eq!(plain("caller-01abc"), "caller-01abc");
        assert_eq!(plain("../a b/ü"), "..%2fa%20b%2f%c3%bc");
        assert!(plain(&"%".repeat(500)).len() <= 240);
    }
}
