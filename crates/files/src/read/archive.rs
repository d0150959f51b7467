//! Archives: what is in them, and one member of them. Nothing is unpacked to disk, and nothing that
//! unpacks to more than the limits is read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};

use super::content::{ArchiveEntry, ArchiveListing};
use crate::call::Stop;
use crate::paths::Located;
use crate::{Call, Error};
use flate2::read::MultiGzDecoder;

/// What a path into an archive leads to.
pub(super) enum Found {
    Directory(ArchiveListing),
    File(Vec<u8>),
}

const MOST_LISTED: usize = 500;
const MOST_MEMBERS: usize = 200_000;
/// The largest member that is read.
const MEMBER_BYTES: u64 = 32 << 20;
/// So much of a compressed archive is unpacked to look through it.
const UNPACKED_BYTES: u64 = 4 << 30;

/// Whether a name is that of an archive.
pub(super) fn is_archive(path: &str) -> bool {
    Kind::of(path).is_some()
}

#[derive(Clone, Copy)]
enum Kind {
    Tar,
    TarGz,
    Zip,
}

impl Kind {
    fn of(path: &str) -> Option<Self> {
        let path = path.to_ascii_lowercase();
        let has = |ending: &str| path.ends_with(ending);
        if has(".tar.gz") || has(".tgz") {
            Some(Self::TarGz)
        } else if has(".tar") {
            Some(Self::Tar)
        } else if has(".zip") {
            Some(Self::Zip)
        } else {
            None
        }
    }
}

/// Looks into an archive.
pub(super) fn look(located: &Located, member: &str, call: &Call) -> Result<Found, Error> {
    let member = normal(member).ok_or_else(|| {
        Error::bad("path", member, "a path in an archive does not go up with `..`")
    })?;
    let file = located.open()?;
    let found = match Kind::of(&located.real.to_string_lossy()) {
        Some(Kind::Zip) => zip_member(file, &member, call),
        Some(Kind::TarGz) => {
            let unpacked = MultiGzDecoder::new(BufReader::with_capacity(1 << 16, file));
            tar_member(Bounded::new(unpacked, &call.stop), &member)
        }
        _ => tar_member(Bounded::new(file, &call.stop), &member),
    };
    call.stop.check()?;
    match found {
        Ok(Some(found)) => Ok(found),
        Ok(None) => {
            let path = format!("{}:{member}", located.shown);
            Err(Error::NotFound { path, nearest: Vec::new() })
        }
        Err(problem) => {
            Err(Error::Unreadable { path: located.shown.clone(), problem: problem.to_string() })
        }
    }
}

/// Without `.` and leading `/`; nothing for a path that goes up.
fn normal(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            return None;
        }
        parts.push(part);
    }
    Some(parts.join("/"))
}

/// The members below a directory, as they come.
struct Listing<'a> {
    directory: &'a str,
    children: BTreeMap<String, ArchiveEntry>,
    members: usize,
    is_there: bool,
}

impl<'a> Listing<'a> {
    fn new(directory: &'a str) -> Self {
        Self { directory, children: BTreeMap::new(), members: 0, is_there: directory.is_empty() }
    }

    fn add(&mut self, path: &str, size: u64, is_directory: bool) -> io::Result<()> {
        self.members += 1;
        if self.members > MOST_MEMBERS {
            return Err(too_large(format!("it has more than {MOST_MEMBERS} members")));
        }
        let Some(path) = normal(path) else { return Ok(()) };
        let below = if self.directory.is_empty() {
            Some(path.as_str())
        } else if path == self.directory {
            self.is_there |= is_directory;
            None
        } else {
            path.strip_prefix(self.directory).and_then(|rest| rest.strip_prefix('/'))
        };
        let Some(below) = below.filter(|below| !below.is_empty()) else { return Ok(()) };
        self.is_there = true;
        let (name, is_deeper) = match below.split_once('/') {
            Some((name, _)) => (name, true),
            None => (below, false),
        };
        let fresh = || ArchiveEntry { name: name.to_owned(), size: 0, is_directory: false };
        let entry = self.children.entry(name.to_owned()).or_insert_with(fresh);
        entry.size = entry.size.saturating_add(size);
        entry.is_directory |= is_deeper || is_directory;
        Ok(())
    }

    fn found(self) -> Option<Found> {
        let left_out = self.children.len().saturating_sub(MOST_LISTED);
        let entries = self.children.into_values().take(MOST_LISTED).collect();
        let directory = self.directory.to_owned();
        self.is_there.then_some(Found::Directory(ArchiveListing { directory, entries, left_out }))
    }
}

fn too_large(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, problem)
}

fn content(reader: impl Read, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // The size in the archive may lie: what counts is what comes out.
    let read = reader.take(MEMBER_BYTES + 1).read_to_end(&mut bytes)?;
    if read as u64 > MEMBER_BYTES || size > MEMBER_BYTES {
        let size = crate::render::size(size.max(read as u64));
        let limit = crate::render::size(MEMBER_BYTES);
        return Err(too_large(format!("the member has {size} or more, the limit is {limit}")));
    }
    Ok(bytes)
}

fn zip_member(file: File, member: &str, call: &Call) -> io::Result<Option<Found>> {
    let mut archive = zip::ZipArchive::new(BufReader::new(file))?;
    let mut listing = Listing::new(member);
    for at in 0..archive.len() {
        if call.stop.reason().is_some() {
            return Ok(None);
        }
        let entry = archive.by_index_raw(at)?;
        let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
        let (size, is_directory) = (entry.size(), name.ends_with('/'));
        drop(entry);
        if !is_directory && normal(&name).as_deref() == Some(member) {
            return Ok(Some(Found::File(content(archive.by_index(at)?, size)?)));
        }
        listing.add(&name, size, is_directory)?;
    }
    Ok(listing.found())
}

fn tar_member(reader: impl Read, member: &str) -> io::Result<Option<Found>> {
    let mut archive = tar::Archive::new(reader);
    let mut listing = Listing::new(member);
    let mut found = None;
    for entry in archive.entries()? {
        let entry = entry?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let kind = entry.header().entry_type();
        let size = entry.size();
        if kind.is_file() && normal(&name).as_deref() == Some(member) {
            // Of two members with one name the last counts, as when unpacking.
            found = Some(content(entry, size)?);
            continue;
        }
        listing.add(&name, if kind.is_file() { size } else { 0 }, kind.is_dir())?;
    }
    Ok(found.map(Found::File).or_else(|| listing.found()))
}

/// What is unpacked, up to a limit and until the call is to stop.
struct Bounded<'a, R> {
    reader: R,
    left: u64,
    stop: &'a Stop,
}

impl<'a, R> Bounded<'a, R> {
    fn new(reader: R, stop: &'a Stop) -> Self {
        Self { reader, left: UNPACKED_BYTES, stop }
    }
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.reason().is_some() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "stopped"));
        }
        let count = self.reader.read(buffer)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            too_large(format!("it unpacks to more than {}", crate::render::size(UNPACKED_BYTES)))
        })?;
        Ok(count)
    }
}
