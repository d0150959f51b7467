//! The keys by which a terminal signals this process: ctrl-z and ctrl-\.
#![expect(unsafe_code, reason = "handlers of signals have no safe wrapper")]

use std::io;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};

use libc::c_int;
use rustix::pipe::{PipeFlags, pipe_with};

/// Where the handler writes which signal came; -1 until somebody listens.
static BELL: AtomicI32 = AtomicI32::new(-1);

const HEARD: [c_int; 2] = [libc::SIGTSTP, libc::SIGQUIT];

extern "C" fn ring(signal: c_int) {
    let byte = u8::try_from(signal).unwrap_or(0);
    // SAFETY: `write` may be called in a handler; the descriptor is one end of a pipe that is never
    // closed, and the errno of what was interrupted is put back.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        libc::write(BELL.load(Ordering::Relaxed), (&raw const byte).cast(), 1);
        *errno = before;
    }
}

/// Hears both signals from now on, instead of obeying them. Where whoever started this process had one
/// of them ignored, it stays so.
pub(crate) fn listen() -> io::Result<OwnedFd> {
    let (heard, bell) = pipe_with(PipeFlags::CLOEXEC)?;
    // The handler may write as long as this process lives: it is never closed.
    BELL.store(bell.into_raw_fd(), Ordering::Relaxed);
    for signal in HEARD {
        if disposition(signal, None)?.sa_sigaction != libc::SIG_IGN {
            disposition(signal, Some(ring as *const () as libc::sighandler_t))?;
        }
    }
    Ok(heard)
}

/// Stops this process as its terminal wanted it, and returns when somebody lets it go on: at once where
/// no shell could.
pub(crate) fn suspend() -> io::Result<()> {
    let before = disposition(libc::SIGTSTP, Some(libc::SIG_DFL))?;
    // SAFETY: sends a signal to this thread, which no longer lets it wait; all-zero is a valid set, and it
    // lives through the calls.
    unsafe {
        let mut own: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut own);
        libc::sigaddset(&raw mut own, libc::SIGTSTP);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const own, std::ptr::null_mut());
        libc::raise(libc::SIGTSTP);
    }
    disposition(libc::SIGTSTP, Some(before.sa_sigaction)).map(drop)
}

/// The signals by which a person ends, leaves or suspends a program.
const HELD: [c_int; 5] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGTSTP];

/// Which signals a thread lets wait.
pub(crate) struct SignalMask(libc::sigset_t);

fn held() -> libc::sigset_t {
    // SAFETY: all-zero is a valid set, and it lives through the calls.
    unsafe {
        let mut held: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut held);
        for signal in HELD {
            libc::sigaddset(&raw mut held, signal);
        }
        held
    }
}

/// Lets the signals of the terminal wait, in this thread; returns which waited before.
pub(crate) fn hold() -> SignalMask {
    let held = held();
    // SAFETY: all-zero is a valid set, and both live through the call.
    unsafe {
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const held, &raw mut before);
        SignalMask(before)
    }
}

/// Forgets which of the held signals came meanwhile.
pub(crate) fn forget_held() {
    let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let held = held();
    // SAFETY: both live through the calls; without a place for it nothing is told of the signal.
    while unsafe { libc::sigtimedwait(&raw const held, std::ptr::null_mut(), &raw const now) } > 0 {
    }
}

/// Lets those signals of this thread wait, and no others.
pub(crate) fn release(before: &SignalMask) {
    // SAFETY: the set is one that the kernel gave.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before.0, std::ptr::null_mut()) };
}

/// What is done about a signal; with a handler, what was done before it.
fn disposition(signal: c_int, handler: Option<libc::sighandler_t>) -> io::Result<libc::sigaction> {
    // SAFETY: all-zero is a valid `sigaction`; both live through the call, and a handler is a default,
    // or `ring`, which calls only what a handler may.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        let mut wanted: libc::sigaction = std::mem::zeroed();
        libc::sigemptyset(&raw mut wanted.sa_mask);
        wanted.sa_flags = libc::SA_RESTART;
        wanted.sa_sigaction = handler.unwrap_or(libc::SIG_DFL);
        let new = handler.map_or(std::ptr::null(), |_| &raw const wanted);
        if libc::sigaction(signal, new, &raw mut before) == -1 {
            return Err(io::Error::last_os_error());
        }
        Ok(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_while_it_was_held_is_forgotten() {
        let before = hold();
        for signal in HELD {
            // SAFETY: sends a signal to this thread, which lets it wait.
            unsafe { libc::raise(signal) };
        }
        forget_held();
        release(&before);
        // Whoever is here was not ended by any of them.
    }
}
