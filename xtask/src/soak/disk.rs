//! A small disk for the state directory, which can be filled and emptied.

use std::ffi::CString;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

/// The disk.
pub(super) struct Disk {
    path: PathBuf,
}

impl Disk {
    /// Mounts one; `None` where this user may not.
    pub(super) fn mount(path: &Path, size: &str) -> Option<Self> {
        fs::create_dir_all(path).ok()?;
        let options = CString::new(format!("size={size},mode=700")).ok()?;
        mount("tmpfs", path, "tmpfs", MountFlags::empty(), Some(options.as_c_str())).ok()?;
        Some(Self { path: path.to_owned() })
    }

    fn filler(&self) -> PathBuf {
        self.path.join("filler")
    }

    /// Leaves so many free bytes.
    pub(super) fn fill_but(&self, left: u64) {
        let Ok(mut file) = OpenOptions::new().create(true).append(true).open(self.filler()) else {
            return;
        };
        while file.write_all(&[0; 4096]).is_ok() {}
        let length = file.metadata().map_or(0, |meta| meta.len());
        let _ = file.set_len(length.saturating_sub(left));
    }

    /// Makes room again.
    pub(super) fn free(&self) {
        let _ = fs::remove_file(self.filler());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = unmount(&self.path, UnmountFlags::DETACH);
    }
}
