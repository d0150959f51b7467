//! Which process of a job holds the other end of a connection.

use std::fs;
use std::path::Path;

use crate::notify::program_of;
use crate::walls::Walls;

/// The process that has a connection from this port, and its command line; nothing where it is gone.
pub(super) fn is_at(walls: &Walls, port: u16) -> (u32, String) {
    let found = inode(walls, port).and_then(|inode| holder(&format!("socket:[{inode}]")));
    found.map_or_else(|| (0, String::new()), |pid| (pid, program_of(pid)))
}

/// The number of the socket with a local port, in the job's network.
fn inode(walls: &Walls, port: u16) -> Option<String> {
    let base = match walls.namespace() {
        Some(namespace) => format!("/proc/{}/net", namespace.first().as_raw_nonzero()),
        None => "/proc/self/net".to_owned(),
    };
    let end = format!(":{port:04X}");
    ["tcp", "tcp6"].iter().find_map(|table| {
        let text = fs::read_to_string(Path::new(&base).join(table)).ok()?;
        text.lines().skip(1).find_map(|line| {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let is_it = fields.get(1).is_some_and(|local| local.ends_with(&end));
            // An inode of 0 is a connection that nobody holds any more.
            let inode = fields.get(9).filter(|inode| **inode != "0")?;
            is_it.then(|| (*inode).to_owned())
        })
    })
}

/// Who has something open that the kernel calls so.
fn holder(name: &str) -> Option<u32> {
    fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let mut open = fs::read_dir(entry.path().join("fd")).ok()?.flatten();
        open.any(|fd| fs::read_link(fd.path()).is_ok_and(|link| link == Path::new(name)))
            .then_some(pid)
    })
}
