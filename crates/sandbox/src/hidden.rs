//! What a look at something hidden runs into: a file system of our own that refuses it and tells of it.
//!
//! A seccomp filter sees no paths, so to hear of every look at a hidden file the supervisor would have to
//! be asked about every file that is opened. Here the kernel asks about the hidden ones alone: they are
//! covered with nodes of a FUSE mount, which the [`crate::namespace`]'s first process answers for. Its
//! root has one node for each hidden path, called by its number.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::plan::Plan;

/// The kernel reads no request into less.
const BUFFER_BYTES: usize = 8192;
const HEADER_BYTES: usize = 40;
/// For as long as a job may run: what is covered does not change.
const VALID_SECONDS: u64 = 1 << 30;
/// The version of the protocol that is spoken: any kernel with user namespaces knows it.
const VERSION: (u32, u32) = (7, 31);

const ROOT: u64 = 1;
/// The node of the first hidden path.
const FIRST: u64 = 2;

/// The requests that are answered with more than a refusal (`linux/fuse.h`).
mod request {
    pub(super) const LOOKUP: u32 = 1;
    pub(super) const FORGET: u32 = 2;
    pub(super) const GETATTR: u32 = 3;
    pub(super) const READLINK: u32 = 5;
    pub(super) const OPEN: u32 = 14;
    pub(super) const STATFS: u32 = 17;
    pub(super) const INIT: u32 = 26;
    pub(super) const OPENDIR: u32 = 27;
    pub(super) const ACCESS: u32 = 34;
    pub(super) const INTERRUPT: u32 = 36;
    pub(super) const DESTROY: u32 = 38;
    pub(super) const BATCH_FORGET: u32 = 42;
    pub(super) const STATX: u32 = 52;
    /// Extended attributes: setting, getting, listing and removing them.
    pub(super) const ATTRIBUTES: std::ops::RangeInclusive<u32> = 21..=24;
}

/// Something that is hidden, or lies on the way to what is shown below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) path: PathBuf,
    pub(crate) is_directory: bool,
    pub(crate) role: Role,
}

/// What a node is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It covers what is hidden.
    Cover,
    /// It is found by its name in the node above it, and leads to what is shown.
    Way,
}

/// A look at something hidden.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) path: PathBuf,
    /// The thread that looked, as the process that made the mount numbers it; 0 for one that it does not
    /// see.
    pub(crate) thread: u32,
}

/// The nodes that cover what is hidden.
#[derive(Debug)]
pub(crate) struct Covers {
    device: OwnedFd,
    nodes: Vec<Node>,
}

/// What is there of the paths that a plan hides, and the ways to what it shows below them.
pub(crate) fn nodes(plan: &Plan) -> Vec<Node> {
    let node = |path: &Path, role: Role| {
        let kind = fs::symlink_metadata(path).ok()?.file_type();
        Some(Node { path: path.to_owned(), is_directory: kind.is_dir(), role })
    };
    let mut nodes: Vec<Node> =
        plan.hide.iter().filter_map(|path| node(path, Role::Cover)).collect();
    for shown in plan.shown_inside() {
        // As far up as what is above it is hidden, and not shown itself.
        let is_on_way = |path: &&Path| path.parent().is_some_and(|above| plan.hides(above));
        for path in shown.ancestors().take_while(is_on_way) {
            if !nodes.iter().any(|known| known.path == path) {
                nodes.extend(node(path, Role::Way));
            }
        }
    }
    nodes
}

/// Opens the device through which the kernel asks. To be called in the namespaces that it is for.
pub(crate) fn open_device() -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open("/dev/fuse", flags, Mode::empty())?)
}

/// The options of the mount.
pub(crate) fn mount_options(device: &OwnedFd) -> String {
    use std::os::fd::AsRawFd;
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    // For whoever is in the namespace, and for nobody outside: the supervisor must never wait for this.
    format!("fd={},rootmode=40000,user_id={user},group_id={group},allow_other", device.as_raw_fd())
}

impl Covers {
    pub(crate) fn new(device: OwnedFd, nodes: Vec<Node>) -> Self {
        Self { device, nodes }
    }

    /// Readable when the kernel asks something.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }

    /// Answers one question, if there is one; says who looked at what, before the answer is given.
    pub(crate) fn answer(&self, tell: &mut dyn FnMut(&Look)) {
        let mut buffer = [0; BUFFER_BYTES];
        let Ok(count) = rustix::io::read(&self.device, &mut buffer) else { return };
        let Some(asked) = Request::parse(buffer.get(..count).unwrap_or_default()) else { return };
        if let Some(look) = self.look(&asked) {
            tell(&look);
        }
        if let Some(reply) = self.reply(&asked) {
            // Whoever asked may be gone.
            let _ = rustix::io::write(&self.device, &reply.bytes(asked.unique));
        }
    }

    /// What a request looks at, if that is hidden.
    fn look(&self, asked: &Request<'_>) -> Option<Look> {
        const ANY_ACCESS: u8 = 0b111;
        let node = self.node(asked.node)?;
        let path = match asked.code {
            request::LOOKUP if self.way(asked).is_some() => return None,
            request::LOOKUP => node.path.join(name(asked.body)),
            request::ACCESS if asked.body.first().is_some_and(|mask| mask & ANY_ACCESS == 0) => {
                return None;
            }
            request::OPEN | request::OPENDIR | request::ACCESS | request::READLINK => {
                node.path.clone()
            }
            _ => return None,
        };
        Some(Look { path, thread: asked.thread })
    }

    fn node(&self, number: u64) -> Option<&Node> {
        self.nodes.get(usize::try_from(number.checked_sub(FIRST)?).ok()?)
    }

    /// The node that a name leads to from the node above it.
    fn way(&self, asked: &Request<'_>) -> Option<u64> {
        let path = self.node(asked.node)?.path.join(name(asked.body));
        let is_it = |node: &Node| node.role == Role::Way && node.path == path;
        u64::try_from(self.nodes.iter().position(is_it)?).ok()?.checked_add(FIRST)
    }

    fn reply(&self, asked: &Request<'_>) -> Option<Reply> {
        Some(match asked.code {
            request::FORGET | request::BATCH_FORGET | request::INTERRUPT => return None,
            request::INIT => Reply::Data(initial()),
            request::DESTROY => Reply::Data(Vec::new()),
            request::STATFS => Reply::Data(empty_file_system()),
            request::GETATTR => Reply::Data(self.attributes_answer(asked.node)),
            request::LOOKUP if asked.node == ROOT => {
                let number = std::str::from_utf8(name(asked.body).as_os_str().as_bytes())
                    .ok()
                    .and_then(|text| text.parse::<u64>().ok())
                    .and_then(|index| index.checked_add(FIRST))
                    .filter(|number| self.node(*number).is_some());
                match number {
                    Some(number) => Reply::Data(self.entry(number)),
                    None => Reply::Error(libc::ENOENT),
                }
            }
            request::LOOKUP if self.way(asked).is_some() => {
                Reply::Data(self.entry(self.way(asked).unwrap_or_default()))
            }
            request::ACCESS if asked.body.first() == Some(&0) => Reply::Data(Vec::new()),
            // The kernel asks for the attributes in the other way then.
            request::STATX => Reply::Error(libc::ENOSYS),
            code if request::ATTRIBUTES.contains(&code) => Reply::Error(libc::EOPNOTSUPP),
            _ => Reply::Error(libc::EACCES),
        })
    }

    /// `struct fuse_entry_out`.
    fn entry(&self, number: u64) -> Vec<u8> {
        let mut data = Data::default();
        data.longs(&[number, 0, VALID_SECONDS, VALID_SECONDS]).words(&[0, 0]);
        self.attributes(&mut data, number);
        data.0
    }

    /// `struct fuse_attr_out`.
    fn attributes_answer(&self, number: u64) -> Vec<u8> {
        let mut data = Data::default();
        data.longs(&[VALID_SECONDS]).words(&[0, 0]);
        self.attributes(&mut data, number);
        data.0
    }

    /// `struct fuse_attr`: empty, and nobody may do anything with it.
    fn attributes(&self, data: &mut Data, number: u64) {
        let is_directory = self.node(number).is_none_or(|node| node.is_directory);
        let mode = if is_directory { libc::S_IFDIR } else { libc::S_IFREG };
        let user = rustix::process::geteuid().as_raw();
        let group = rustix::process::getegid().as_raw();
        data.longs(&[number, 0, 0, 0, 0, 0]).words(&[0, 0, 0, mode, 1, user, group, 0, 4096, 0]);
    }
}

/// The answer to the first request, `struct fuse_init_out`: nothing beyond the plainest is wanted.
fn initial() -> Vec<u8> {
    const MOST_WRITTEN_BYTES: u32 = 4096;
    let mut data = Data::default();
    data.words(&[VERSION.0, VERSION.1, 0, 0, 0, MOST_WRITTEN_BYTES, 1]).words(&[0; 9]);
    data.0
}

/// `struct fuse_kstatfs`.
fn empty_file_system() -> Vec<u8> {
    const LONGEST_NAME: u32 = 255;
    let mut data = Data::default();
    data.longs(&[0; 5]).words(&[4096, LONGEST_NAME, 4096, 0]).words(&[0; 6]);
    data.0
}

/// A name in a request, which ends with NUL.
fn name(body: &[u8]) -> &Path {
    let end = body.iter().position(|byte| *byte == 0).unwrap_or(body.len());
    Path::new(std::ffi::OsStr::from_bytes(body.get(..end).unwrap_or_default()))
}

/// A request, after `struct fuse_in_header`.
struct Request<'a> {
    code: u32,
    unique: u64,
    node: u64,
    thread: u32,
    body: &'a [u8],
}

impl<'a> Request<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let long = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        Some(Self {
            code: word(4)?,
            unique: long(8)?,
            node: long(16)?,
            thread: word(32)?,
            body: bytes.get(HEADER_BYTES..)?,
        })
    }
}

enum Reply {
    Data(Vec<u8>),
    Error(i32),
}

impl Reply {
    /// With `struct fuse_out_header` before it.
    fn bytes(&self, unique: u64) -> Vec<u8> {
        const OUT_HEADER_BYTES: usize = 16;
        let (error, body) = match self {
            Self::Data(body) => (0, body.as_slice()),
            Self::Error(errno) => (-errno, &[][..]),
        };
        let length = u32::try_from(OUT_HEADER_BYTES + body.len()).unwrap_or(u32::MAX);
        let mut data = Data::default();
        data.words(&[length, error.cast_unsigned()]).longs(&[unique]);
        data.0.extend_from_slice(body);
        data.0
    }
}

#[derive(Default)]
struct Data(Vec<u8>);

impl Data {
    fn longs(&mut self, values: &[u64]) -> &mut Self {
        self.0.extend(values.iter().flat_map(|value| value.to_ne_bytes()));
        self
    }

    fn words(&mut self, values: &[u32]) -> &mut Self {
        self.0.extend(values.iter().flat_map(|value| value.to_ne_bytes()));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers() -> Covers {
        let null = fs::File::open("/dev/null").unwrap();
        let node = |path: &str, is_directory, role| Node { path: path.into(), is_directory, role };
        let nodes = vec![
            node("/h/.ssh", true, Role::Cover),
            node("/h/.netrc", false, Role::Cover),
            node("/h/.ssh/way", true, Role::Way),
        ];
        Covers::new(null.into(), nodes)
    }

    fn asked(code: u32, node: u64, body: &[u8]) -> Request<'_> {
        Request { code, unique: 7, node, thread: 42, body }
    }

    #[test]
    fn a_look_into_a_hidden_directory_names_what_was_looked_at() {
        let covers = covers();
        let look = covers.look(&asked(request::LOOKUP, FIRST, b"id_rsa\0")).unwrap();
        assert_eq!(look, Look { path: "/h/.ssh/id_rsa".into(), thread: 42 });
        let refused = covers.reply(&asked(request::LOOKUP, FIRST, b"id_rsa\0"));
        assert!(matches!(refused, Some(Reply::Error(libc::EACCES))));
    }

    #[test]
    fn the_way_to_what_is_shown_is_found_and_nothing_beside_it() {
        let covers = covers();
        let way = asked(request::LOOKUP, FIRST, b"way\0");
        assert_eq!(covers.look(&way), None);
        assert!(matches!(covers.reply(&way), Some(Reply::Data(_))));
        let listed = asked(request::OPENDIR, FIRST + 2, &[0; 8]);
        assert!(covers.look(&listed).is_some());
        assert!(matches!(covers.reply(&listed), Some(Reply::Error(libc::EACCES))));
        let beside = asked(request::LOOKUP, FIRST + 2, b"x\0");
        assert_eq!(covers.look(&beside).unwrap().path, Path::new("/h/.ssh/way/x"));
        assert!(matches!(covers.reply(&beside), Some(Reply::Error(libc::EACCES))));
    }

    #[test]
    fn what_only_asks_whether_it_is_there_is_no_look() {
        let covers = covers();
        assert_eq!(covers.look(&asked(request::GETATTR, FIRST + 1, &[])), None);
        assert_eq!(covers.look(&asked(request::ACCESS, FIRST + 1, &[0; 8])), None);
        let opened = covers.look(&asked(request::OPEN, FIRST + 1, &[0; 8])).unwrap();
        assert_eq!(opened.path, Path::new("/h/.netrc"));
    }

    #[test]
    fn answers_have_the_size_that_the_kernel_wants() {
        let covers = covers();
        let size = |code, node, body: &[u8]| match covers.reply(&asked(code, node, body)) {
            Some(Reply::Data(data)) => data.len(),
            _ => usize::MAX,
        };
        assert_eq!(size(request::INIT, 0, &[0; 64]), 64);
        assert_eq!(size(request::LOOKUP, ROOT, b"1\0"), 128);
        assert_eq!(size(request::GETATTR, FIRST, &[0; 16]), 104);
        assert_eq!(size(request::STATFS, FIRST, &[]), 80);
        let unknown = covers.reply(&asked(request::LOOKUP, ROOT, b"3\0"));
        assert!(matches!(unknown, Some(Reply::Error(libc::ENOENT))));
    }

    #[test]
    fn a_request_that_is_cut_is_none() {
        assert!(Request::parse(&[0; HEADER_BYTES - 1]).is_none());
        assert!(Request::parse(&[0; HEADER_BYTES]).is_some());
    }
}
