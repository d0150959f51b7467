//! Bookmarks: how far each reader has read a job's log, kept beside it. Who is told only what is new
//! is told that by the next process too.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};

use crate::error::Error;
use crate::job::Job;
use crate::sys::lock;

impl Job {
    /// Reads on where `reader` stopped. `read` gets the offset, and returns what it read with the
    /// offset it got to. Of two at the same time, the second goes on where the first stopped.
    ///
    /// Where the bookmark cannot be kept, the same is read again next time, which loses nothing.
    pub fn read_on<T, E>(
        &self,
        reader: &str,
        read: impl FnOnce(u64) -> Result<(T, u64), E>,
    ) -> Result<T, E>
    where
        E: From<Error>,
    {
        let mut bookmark = self.bookmark(reader).ok();
        let from = bookmark.as_mut().and_then(|file| offset(file).ok()).unwrap_or(0);
        let (value, end) = read(from)?;
        if let Some(mut file) = bookmark
            && end != from
        {
            let _ = turn_to(&mut file, end);
        }
        Ok(value)
    }

    /// The file, locked: reading a log ends by itself.
    fn bookmark(&self, reader: &str) -> io::Result<File> {
        let path = self.directory().file(&format!("read-{}", plain(reader)));
        let file =
            OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)?;
        lock::exclusive(&file)?;
        Ok(file)
    }
}

fn offset(file: &mut File) -> io::Result<u64> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
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
