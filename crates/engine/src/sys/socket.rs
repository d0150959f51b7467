//! Unix sockets inside job directories.
//!
//! Addresses go through `/proc/self/fd/N/name`: a socket address holds 108 bytes, a path to a
//! state directory may be longer.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use rustix::fs::AtFlags;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind, connect,
    listen, recvmsg, sendmsg, socket_with, socketpair,
};

fn address(directory: impl AsFd, name: &str) -> io::Result<SocketAddrUnix> {
    let fd = directory.as_fd().as_raw_fd();
    Ok(SocketAddrUnix::new(format!("/proc/self/fd/{fd}/{name}"))?)
}

fn stream() -> io::Result<OwnedFd> {
    Ok(socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
}

/// A listening socket `name` in `directory`.
pub(crate) fn listen_at(directory: impl AsFd, name: &str) -> io::Result<OwnedFd> {
    let socket = stream()?;
    bind(&socket, &address(directory, name)?)?;
    listen(&socket, 64)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    Ok(socket)
}

/// A connection to the socket `name` in `directory`. When as many wait at its door as may, it is
/// waited for at most for `timeout`.
pub(crate) fn connect_at(
    directory: impl AsFd,
    name: &str,
    timeout: Option<Duration>,
) -> io::Result<OwnedFd> {
    let socket = stream()?;
    match timeout {
        Some(timeout) => set_socket_timeout(&socket, Timeout::Send, Some(timeout))?,
        None => rustix::io::ioctl_fionbio(&socket, true)?,
    }
    connect(&socket, &address(&directory, name)?)?;
    // It may have gone on to another directory between the finding and the connecting: whoever listens there
    // would take this for a call to another job. As long as it is here, all calls before are sent away first.
    rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    rustix::io::ioctl_fionbio(&socket, false)?;
    Ok(socket)
}

/// Two connected sockets.
pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
}

/// Hands a descriptor to the process at the other end.
pub(crate) fn send_fd(socket: impl AsFd, fd: impl AsFd) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds = [fd.as_fd()];
    control.push(SendAncillaryMessage::ScmRights(&fds));
    sendmsg(socket, &[IoSlice::new(b".")], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Takes a descriptor from the process at the other end; `None` when that has closed.
pub(crate) fn receive_fd(socket: impl AsFd) -> io::Result<Option<OwnedFd>> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC;
    recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, flags)?;
    Ok(control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    }))
}
