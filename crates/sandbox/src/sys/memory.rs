//! Reading the memory of a process that waits for our answer.
#![expect(unsafe_code, reason = "process_vm_readv has no safe wrapper")]

/// The longest path the kernel takes, with its NUL.
pub(crate) const LONGEST_PATH: usize = 4096;
const PAGE: usize = 4096;

/// Reads from `address` as much as there is, at most `buffer`. Returns how much was read.
pub(crate) fn read(thread: u32, address: u64, buffer: &mut [u8]) -> usize {
    let Ok(start) = usize::try_from(address) else { return 0 };
    // A string may end before a page that is not there: what lies before it is read all the same.
    let first = buffer.len().min(PAGE - start % PAGE);
    let (head, tail) = buffer.split_at_mut(first);
    let local = [
        libc::iovec { iov_base: head.as_mut_ptr().cast(), iov_len: head.len() },
        libc::iovec { iov_base: tail.as_mut_ptr().cast(), iov_len: tail.len() },
    ];
    let remote = [
        libc::iovec { iov_base: start as *mut _, iov_len: head.len() },
        libc::iovec { iov_base: start.wrapping_add(first) as *mut _, iov_len: tail.len() },
    ];
    let parts = if tail.is_empty() { 1 } else { 2 };
    // SAFETY: the local parts are two halves of a live buffer; the remote ones are only read.
    let count = unsafe {
        libc::process_vm_readv(
            thread.cast_signed(),
            local.as_ptr(),
            parts,
            remote.as_ptr(),
            parts,
            0,
        )
    };
    usize::try_from(count).unwrap_or(0)
}

/// A string that ends with NUL, as a path does.
pub(crate) fn read_path(thread: u32, address: u64) -> Option<Vec<u8>> {
    let mut buffer = [0; LONGEST_PATH];
    read_path_into(thread, address, &mut buffer).map(<[u8]>::to_vec)
}

/// The same without allocating.
pub(crate) fn read_path_into(
    thread: u32,
    address: u64,
    buffer: &mut [u8; LONGEST_PATH],
) -> Option<&[u8]> {
    /// Most paths are no longer, and so lie on one page.
    const USUAL_PATH: usize = 256;
    let start = usize::try_from(address).ok().filter(|start| *start != 0)?;
    let usual = USUAL_PATH.min(PAGE - start % PAGE);
    for most in [usual, LONGEST_PATH] {
        let count = read(thread, address, buffer.get_mut(..most)?);
        if let Some(end) = buffer.get(..count)?.iter().position(|byte| *byte == 0) {
            return buffer.get(..end);
        }
    }
    None
}
