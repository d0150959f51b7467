//! A small disk, which only root can make.

use std::ffi::CString;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

/// The disk; it goes with the test.
pub(crate) struct Disk {
    path: PathBuf,
    _directory: tempfile::TempDir,
}

impl Disk {
    pub(crate) fn new(size: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("disk");
        fs::create_dir(&path).unwrap();
        let options = CString::new(format!("size={size},mode=700")).unwrap();
        mount("tmpfs", &path, "tmpfs", MountFlags::empty(), Some(options.as_c_str()))
            .expect("this test mounts a small tmpfs: run the suite as root");
        Self { path, _directory: directory }
    }

    /// A state directory on it.
    pub(crate) fn state(&self) -> PathBuf {
        self.path.join("state")
    }

    /// Leaves so many free bytes.
    pub(crate) fn fill_but(&self, left: u64) {
        let mut file = OpenOptions::new().create(true).append(true).open(self.filler()).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
        let length = file.metadata().unwrap().len();
        file.set_len(length.saturating_sub(left)).unwrap();
    }

    /// Frees what was filled.
    pub(crate) fn free(&self) {
        fs::remove_file(self.filler()).unwrap();
    }

    fn filler(&self) -> PathBuf {
        self.path.join("filler")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = unmount(&self.path, UnmountFlags::DETACH);
    }
}
