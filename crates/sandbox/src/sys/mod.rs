//! The kernel calls that no safe wrapper has. The only place of this crate with `unsafe`.

#[cfg(not(target_os = "linux"))]
compile_error!("umbo-sandbox is made of Linux facilities; other systems have none of them yet");

pub(crate) mod calls;
pub(crate) mod handle;
pub(crate) mod memory;
pub(crate) mod namespace;
pub(crate) mod seccomp;
pub(crate) mod socket;
