//! Descriptors handed from process to process, and connecting for another.
#![expect(unsafe_code, reason = "a raw address and a message without allocation have no wrapper")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// Room for one descriptor beside a message.
#[repr(C, align(8))]
struct Control([u8; 24]);

/// Sends a descriptor. Allocates nothing.
pub(crate) fn send_fd(socket: BorrowedFd<'_>, fd: BorrowedFd<'_>) -> io::Result<()> {
    let mut byte = 1_u8;
    let mut control = Control([0; 24]);
    // SAFETY: the message names a live byte and a control buffer with room for one descriptor.
    unsafe {
        let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = (&raw mut control).cast();
        message.msg_controllen = std::mem::size_of::<Control>();
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(4) as usize;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(fd.as_raw_fd());
        match libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) {
            1 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Connects a socket to an address in the form the kernel has it. Returns the error's number.
pub(crate) fn connect(socket: BorrowedFd<'_>, address: &[u8]) -> Result<(), i32> {
    let length = u32::try_from(address.len()).unwrap_or(0);
    // SAFETY: the address is a live buffer of the given length; the kernel judges what is in it.
    let result = unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), length) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL))
    }
}

/// Gives a socket a name in the form the kernel has it. Returns the error's number.
pub(crate) fn bind(socket: BorrowedFd<'_>, address: &[u8]) -> Result<(), i32> {
    let length = u32::try_from(address.len()).unwrap_or(0);
    // SAFETY: the address is a live buffer of the given length; the kernel judges what is in it.
    let result = unsafe { libc::bind(socket.as_raw_fd(), address.as_ptr().cast(), length) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL))
    }
}
