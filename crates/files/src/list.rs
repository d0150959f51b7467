//! Listing a directory.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::guard::AccessKind;
use crate::walk::Walk;
use crate::{Call, Error, Session, paths};

/// Asks for the entries of a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListRequest {
    /// The directory.
    pub path: String,
    /// With names that begin with a dot.
    pub hidden: bool,
    /// Without what `.gitignore` excludes.
    pub gitignore: bool,
    /// In which order.
    pub order: Order,
    /// At most so many entries.
    pub limit: usize,
    /// Without so many of the first.
    pub skip: usize,
}

impl Default for ListRequest {
    fn default() -> Self {
        let (path, order) = (".".to_owned(), Order::Name);
        Self { path, hidden: true, gitignore: false, order, limit: 1000, skip: 0 }
    }
}

/// The order of entries.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// By name.
    #[default]
    Name,
    /// Newest first.
    Newest,
    /// Largest first.
    Largest,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Entry {
    /// Its name; what is no text is escaped.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Its size in bytes.
    pub size: u64,
    /// When its content was changed, in seconds since 1970.
    pub modified: i64,
    /// What a link points at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// The entries of a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ListAnswer {
    /// The directory.
    pub path: String,
    /// Its entries.
    pub entries: Vec<Entry>,
    /// How many there are in all.
    pub total: usize,
    /// How many come behind these.
    pub left_out: usize,
}

/// Lists a directory.
pub fn list(session: &Session, request: &ListRequest, call: &Call) -> Result<ListAnswer, Error> {
    let located = session.locate(&request.path, AccessKind::List)?;
    if !located.is_directory() {
        let (path, is) = (located.shown, paths::kind_name(FILE));
        return Err(Error::WrongKind { path, is, wanted: "directory" });
    }
    let listing = Listing {
        hidden: request.hidden,
        gitignore: request.gitignore,
        order: request.order,
        skip: request.skip,
        limit: request.limit,
    };
    let page = listing.page(session, &located.real, call)?;
    let left_out = page.total.saturating_sub(request.skip.saturating_add(page.entries.len()));
    let entries = page.entries.into_iter().map(|(_, entry)| entry).collect();
    Ok(ListAnswer { path: located.shown, entries, total: page.total, left_out })
}

const FILE: rustix::fs::FileType = rustix::fs::FileType::RegularFile;

/// Which entries of a directory, and how many.
pub(crate) struct Listing {
    pub(crate) hidden: bool,
    pub(crate) gitignore: bool,
    pub(crate) order: Order,
    pub(crate) skip: usize,
    pub(crate) limit: usize,
}

pub(crate) struct ListingPage {
    pub(crate) entries: Vec<(PathBuf, Entry)>,
    pub(crate) total: usize,
}

impl Listing {
    /// Entries of a resolved directory. Only those of the page are looked at closer, where the order
    /// does not need all.
    pub(crate) fn page(
        &self,
        session: &Session,
        directory: &Path,
        call: &Call,
    ) -> Result<ListingPage, Error> {
        let shown = session.workspace.shown(directory);
        std::fs::read_dir(directory).map_err(Error::io("list", shown))?;
        let mut walk = Walk::new(directory);
        walk.hidden = self.hidden;
        walk.gitignore = self.gitignore;
        walk.depth = Some(1);
        walk.git_directory = true;
        let mut found: Vec<PathBuf> = Vec::new();
        walk.each(session, &call.stop, &mut |entry| found.push(entry.path().to_path_buf()));
        call.stop.check()?;
        let total = found.len();
        let entries = match self.order {
            Order::Name => {
                found.sort_unstable();
                let page = found.into_iter().skip(self.skip).take(self.limit);
                page.filter_map(|path| entry(&path).map(|entry| (path, entry))).collect()
            }
            order => {
                let mut all = Vec::with_capacity(found.len());
                for path in found {
                    call.stop.check()?;
                    all.extend(entry(&path).map(|entry| (path, entry)));
                }
                all.sort_unstable_by(|(path_a, a), (path_b, b)| {
                    let by_key = match order {
                        Order::Largest => b.size.cmp(&a.size),
                        _ => b.modified.cmp(&a.modified),
                    };
                    by_key.then_with(|| path_a.cmp(path_b))
                });
                all.into_iter().skip(self.skip).take(self.limit).collect()
            }
        };
        Ok(ListingPage { entries, total })
    }
}

/// What is at a path, or nothing if it vanished.
fn entry(path: &Path) -> Option<Entry> {
    let metadata = path.symlink_metadata().ok()?;
    let kind = entry_kind(&metadata);
    let target = match kind {
        EntryKind::Link => path.read_link().ok().map(|target| paths::shown(&target)),
        _ => None,
    };
    let name = paths::shown(Path::new(path.file_name()?));
    Some(Entry { name, kind, size: metadata.size(), modified: metadata.mtime(), target })
}

fn entry_kind(metadata: &Metadata) -> EntryKind {
    let kind = metadata.file_type();
    if kind.is_dir() {
        EntryKind::Directory
    } else if kind.is_symlink() {
        EntryKind::Link
    } else if kind.is_fifo() {
        EntryKind::Pipe
    } else if kind.is_socket() {
        EntryKind::Socket
    } else if kind.is_char_device() || kind.is_block_device() {
        EntryKind::Device
    } else {
        EntryKind::File
    }
}
