//! Connections: judged by an address that was read once, and made by us on the process's own socket. A
//! process could change address and descriptor after we looked; what we hold it cannot.

use std::ffi::OsStr;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::sys::socket;

/// The family of the kernel's own sockets, of which only the one that lists routes can be made.
pub(super) const NETLINK: u16 = 16;

/// An address as a process gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    Inet(SocketAddr),
    /// A socket with a path.
    Path(PathBuf),
    /// A unix socket with a name that is no path.
    Abstract(Vec<u8>),
    /// A unix socket without a name, or the wish to be connected to nobody.
    Nobody,
    /// Of a family that is none of these.
    Other(u16),
}

impl Address {
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let Some((family, rest)) = bytes.split_first_chunk::<2>() else { return Self::Nobody };
        let family = u16::from_ne_bytes(*family);
        match i32::from(family) {
            libc::AF_UNSPEC => Self::Nobody,
            libc::AF_INET => Self::inet4(rest).unwrap_or(Self::Other(family)),
            libc::AF_INET6 => Self::inet6(rest).unwrap_or(Self::Other(family)),
            libc::AF_UNIX => match rest {
                [] => Self::Nobody,
                [0, name @ ..] => Self::Abstract(name.to_vec()),
                // The path ends with its NUL, whatever length was given.
                _ => {
                    let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
                    let path = rest.get(..end).unwrap_or(rest);
                    Self::Path(PathBuf::from(OsStr::from_bytes(path)))
                }
            },
            _ => Self::Other(family),
        }
    }

    fn inet4(rest: &[u8]) -> Option<Self> {
        let (port, rest) = rest.split_first_chunk::<2>()?;
        let address = Ipv4Addr::from(*rest.first_chunk::<4>()?);
        Some(Self::Inet(SocketAddr::new(IpAddr::V4(address), u16::from_be_bytes(*port))))
    }

    fn inet6(rest: &[u8]) -> Option<Self> {
        let (port, rest) = rest.split_first_chunk::<2>()?;
        let address = Ipv6Addr::from(*rest.get(4..)?.first_chunk::<16>()?);
        Some(Self::Inet(SocketAddr::new(IpAddr::V6(address), u16::from_be_bytes(*port))))
    }

    /// Whether it is the machine itself; in a network namespace, the job.
    pub(super) fn is_local(address: &SocketAddr) -> bool {
        let ip = match address.ip() {
            IpAddr::V6(six) => six.to_ipv4_mapped().map_or(IpAddr::V6(six), IpAddr::V4),
            four @ IpAddr::V4(_) => four,
        };
        ip.is_loopback() || ip.is_unspecified()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inet(address) => write!(f, "{address}"),
            Self::Path(path) => write!(f, "unix:{}", path.display()),
            Self::Abstract(name) => write!(f, "unix:@{}", String::from_utf8_lossy(name)),
            Self::Nobody => f.write_str("unix:"),
            Self::Other(family) => write!(f, "family {family}"),
        }
    }
}

/// The kernel's form of an address of version 4 on this machine.
pub(super) fn loopback(port: u16) -> Vec<u8> {
    let mut bytes = vec![0; 16];
    let family = u16::try_from(libc::AF_INET).unwrap_or(0);
    bytes.splice(0..2, family.to_ne_bytes());
    bytes.splice(2..4, port.to_be_bytes());
    bytes.splice(4..8, [127, 0, 0, 1]);
    bytes
}

/// The kernel's form of a unix socket's path that is short whatever the path: through what is held.
pub(super) fn held_socket(held: &OwnedFd, name: Option<&OsStr>) -> Vec<u8> {
    let mut path = format!("/proc/self/fd/{}", held.as_raw_fd()).into_bytes();
    if let Some(name) = name {
        path.push(b'/');
        path.extend_from_slice(name.as_bytes());
    }
    unix(Path::new(OsStr::from_bytes(&path)))
}

fn unix(path: &Path) -> Vec<u8> {
    let family = u16::try_from(libc::AF_UNIX).unwrap_or(0);
    let mut bytes = family.to_ne_bytes().to_vec();
    bytes.extend_from_slice(path.as_os_str().as_bytes());
    bytes.push(0);
    bytes
}

/// A connection that is being made for a process which waits for it.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) id: u64,
    socket: OwnedFd,
    flags: OFlags,
}

impl Pending {
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// What became of it: 0 or the number of an error.
    pub(super) fn result(&self) -> i32 {
        let _ = rustix::fs::fcntl_setfl(&self.socket, self.flags);
        match rustix::net::sockopt::socket_error(&self.socket) {
            Ok(Ok(())) => 0,
            Ok(Err(error)) | Err(error) => error.raw_os_error(),
        }
    }
}

/// How connecting went.
pub(super) enum Connected {
    /// It is, or it failed.
    Now(Result<(), i32>),
    /// The process waits until it is.
    Later(Pending),
}

/// Connects a socket of a process without ever waiting for it here.
pub(super) fn connect(id: u64, socket: OwnedFd, address: &[u8]) -> Connected {
    let flags = match rustix::fs::fcntl_getfl(&socket) {
        Ok(flags) => flags,
        Err(error) => return Connected::Now(Err(error.raw_os_error())),
    };
    let waits = !flags.contains(OFlags::NONBLOCK);
    if waits && let Err(error) = rustix::fs::fcntl_setfl(&socket, flags | OFlags::NONBLOCK) {
        return Connected::Now(Err(error.raw_os_error()));
    }
    let result = socket::connect(socket.as_fd(), address);
    if waits && result == Err(Errno::INPROGRESS.raw_os_error()) {
        return Connected::Later(Pending { id, socket, flags });
    }
    if waits {
        let _ = rustix::fs::fcntl_setfl(&socket, flags);
    }
    Connected::Now(result)
}
