//! Doing a call for a process: where no wall of the kernel stands behind a yes, and after somebody gave one.
//!
//! It is done on the directory that was looked at and judged, opened once, and not by the path again.

use std::ffi::{CString, OsStr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Timespec, Timestamps, Uid, XattrFlags,
};
use rustix::io::Errno;

use super::call::{Call, Change};
use super::caller::Caller;
use super::resolve::{Resolver, hold_outside, hold_parent, same};

/// What a call that was done gives back.
#[derive(Debug)]
pub(super) enum Done {
    Value(i64),
    Descriptor { fd: OwnedFd, close_on_exec: bool },
}

/// The paths of a call without links: one, or for a rename and a link two.
pub(super) struct Paths<'a> {
    pub(super) first: &'a Path,
    pub(super) second: Option<&'a Path>,
}

/// Does a call at paths that were judged.
pub(super) fn perform(
    call: &Call,
    paths: &Paths<'_>,
    resolver: &Resolver,
    caller: &Caller,
) -> Result<Done, Errno> {
    if !caller.is_this_user() {
        return Err(Errno::ACCESS);
    }
    let makes = match call {
        Call::Open { flags, .. } => flags & libc::O_CREAT.cast_unsigned() != 0,
        Call::MakeDirectory { .. } | Call::MakeNode { .. } => true,
        _ => false,
    };
    if !makes {
        return perform_masked(call, paths, resolver, caller);
    }
    let before = rustix::process::umask(caller.umask());
    let done = perform_masked(call, paths, resolver, caller);
    rustix::process::umask(before);
    done
}

fn perform_masked(
    call: &Call,
    paths: &Paths<'_>,
    resolver: &Resolver,
    caller: &Caller,
) -> Result<Done, Errno> {
    let parent = |path: &Path| hold_parent(resolver, path);
    let nothing = |()| Done::Value(0);
    match call {
        Call::Open { flags, mode, .. } => {
            let (directory, name) = parent(paths.first)?;
            open(&directory, &name, *flags, *mode)
        }
        Call::MakeDirectory { mode, .. } => {
            let (directory, name) = parent(paths.first)?;
            rustix::fs::mkdirat(directory, name, Mode::from_raw_mode(*mode)).map(nothing)
        }
        Call::MakeNode { mode, .. } => {
            let kind = FileType::from_raw_mode(*mode);
            if matches!(kind, FileType::BlockDevice | FileType::CharacterDevice) {
                return Err(Errno::PERM);
            }
            let (directory, name) = parent(paths.first)?;
            let kind = if *mode & libc::S_IFMT == 0 { FileType::RegularFile } else { kind };
            rustix::fs::mknodat(directory, name, kind, Mode::from_raw_mode(*mode), 0).map(nothing)
        }
        Call::Symlink { target, .. } => {
            let (directory, name) = parent(paths.first)?;
            rustix::fs::symlinkat(OsStr::from_bytes(target), directory, name).map(nothing)
        }
        Call::Remove { directory: is_directory, .. } => {
            let (directory, name) = parent(paths.first)?;
            let flags = if *is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
            rustix::fs::unlinkat(directory, name, flags).map(nothing)
        }
        Call::Rename { flags, .. } => {
            let (from, from_name) = parent(paths.first)?;
            let (to, to_name) = parent(paths.second.ok_or(Errno::INVAL)?)?;
            let flags = RenameFlags::from_bits_retain(*flags);
            rustix::fs::renameat_with(from, from_name, to, to_name, flags).map(nothing)
        }
        Call::Link { .. } => {
            let (from, from_name) = parent(paths.first)?;
            let (to, to_name) = parent(paths.second.ok_or(Errno::INVAL)?)?;
            rustix::fs::linkat(from, from_name, to, to_name, AtFlags::empty()).map(nothing)
        }
        Call::Truncate { length, .. } => {
            let (directory, name) = parent(paths.first)?;
            let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let file = rustix::fs::openat(directory, name, flags, Mode::empty())?;
            rustix::fs::ftruncate(file, *length).map(nothing)
        }
        Call::Change { change, .. } => {
            let held = hold_outside(paths.first)?;
            same(
                std::os::fd::AsFd::as_fd(&resolver.hold(paths.first)?),
                std::os::fd::AsFd::as_fd(&held),
            )?;
            apply(&held, change).map(nothing)
        }
        Call::ChangeOpen { descriptor, change } => {
            let file = caller.descriptor(*descriptor)?;
            apply(&file, change).map(nothing)
        }
        Call::Execute { .. } | Call::Connect { .. } | Call::Bind { .. } | Call::SendTo { .. } => {
            Err(Errno::ACCESS)
        }
    }
}

fn open(directory: &OwnedFd, name: &OsStr, flags: u32, mode: u32) -> Result<Done, Errno> {
    let asked = OFlags::from_bits_retain(flags);
    // Without waiting: a pipe without a reader must not keep everybody else waiting.
    let safe = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(directory, name, asked | safe, Mode::from_raw_mode(mode))?;
    if !asked.contains(OFlags::NONBLOCK) && !asked.contains(OFlags::PATH) {
        // The kernel takes from this only what can be changed.
        rustix::fs::fcntl_setfl(&fd, asked)?;
    }
    Ok(Done::Descriptor { fd, close_on_exec: asked.contains(OFlags::CLOEXEC) })
}

/// Changes a file that is held: no path is followed again.
fn apply(file: &OwnedFd, change: &Change) -> rustix::io::Result<()> {
    match apply_open(file, change) {
        Err(Errno::BADF) => apply_held(file, change),
        done => done,
    }
}

/// The same where the descriptor may be used for it.
fn apply_open(file: &OwnedFd, change: &Change) -> rustix::io::Result<()> {
    match change {
        Change::Mode(mode) => rustix::fs::fchmod(file, Mode::from_raw_mode(*mode)),
        Change::Owner { user, group } => {
            let (user, group) = owner(*user, *group);
            rustix::fs::fchown(file, user, group)
        }
        Change::Times(times) => rustix::fs::futimens(file, &timestamps(times)),
        Change::SetAttribute { .. } | Change::RemoveAttribute { .. } => Err(Errno::BADF),
    }
}

fn owner(user: u32, group: u32) -> (Option<Uid>, Option<Gid>) {
    let known = |id: u32| (id != u32::MAX).then_some(id);
    (known(user).map(Uid::from_raw), known(group).map(Gid::from_raw))
}

fn timestamps(&[access, modification]: &[(i64, i64); 2]) -> Timestamps {
    let time = |(tv_sec, tv_nsec): (i64, i64)| Timespec { tv_sec, tv_nsec };
    Timestamps { last_access: time(access), last_modification: time(modification) }
}

/// Changes what is held without the right to use it, by the kernel's name for it.
fn apply_held(file: &OwnedFd, change: &Change) -> rustix::io::Result<()> {
    let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap_or_default();
    let here = rustix::fs::CWD;
    match change {
        Change::Mode(mode) => rustix::fs::chmod(&path, Mode::from_raw_mode(*mode)),
        Change::Owner { user, group } => {
            let (user, group) = owner(*user, *group);
            rustix::fs::chownat(here, &path, user, group, AtFlags::empty())
        }
        Change::Times(times) => {
            rustix::fs::utimensat(here, &path, &timestamps(times), AtFlags::empty())
        }
        Change::SetAttribute { name, value, flags } => {
            let flags = XattrFlags::from_bits_retain(*flags);
            rustix::fs::setxattr(&path, OsStr::from_bytes(name), value, flags)
        }
        Change::RemoveAttribute { name } => rustix::fs::removexattr(&path, OsStr::from_bytes(name)),
    }
}
