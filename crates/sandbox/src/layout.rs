//! What a job sees of the file system, arranged in a mount namespace of its own.
//!
//! The namespace starts as a copy of the machine's, and is changed in place: all of it becomes read-only,
//! copies made before that are put back where something may be written, and what is hidden or private is
//! covered. This runs in the [`crate::namespace`]'s first process, which nobody else shares memory with.

use std::ffi::CString;
use std::fmt;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount,
    mount_change, move_mount, open_tree, unmount,
};

use crate::hidden::{self, Node, Role};
use crate::plan::{Plan, is_below};
use crate::sys::namespace::{Reach, make_read_only};

/// Devices that every command may have.
pub(crate) const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Below `/run`, which is covered for the sockets in it: what programs are found through.
const KEPT_OF_RUN: [&str; 4] =
    ["/run/systemd/resolve", "/run/current-system", "/run/booted-system", "/run/opengl-driver"];

/// Places that a job has of its own.
pub(crate) const PRIVATE: [&str; 5] = ["/tmp", "/var/tmp", "/run", "/dev", "/proc"];

/// A step that failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) step: String,
    pub(crate) error: io::Error,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.step, self.error)
    }
}

/// Names the step in an error.
pub(crate) fn at<E: Into<io::Error>>(step: impl Into<String>) -> impl FnOnce(E) -> Failed {
    let step = step.into();
    move |error| Failed { step, error: error.into() }
}

/// Whether a job has processes of its own, and so a `/proc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Processes {
    Own,
    Shared,
}

/// Arranges the mounts of this namespace as a plan wants them. `covers` are the nodes that hide; the device
/// they are answered through is announced before they are needed, and given back if it is used.
pub(crate) fn arrange(
    plan: &Plan,
    processes: Processes,
    covers: &[Node],
    announce: impl FnOnce(&OwnedFd) -> io::Result<()>,
) -> Result<Option<OwnedFd>, Failed> {
    // Modes below are meant as they are written.
    rustix::process::umask(rustix::fs::Mode::empty());
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(at("keep mounts private"))?;
    // Where there is none, hidden things are covered in a simpler way, and looks at them not heard of here.
    let device = if covers.is_empty() { None } else { hidden::open_device().ok() };
    let copies = Copies::take(plan)?;
    make_read_only(c"/", Reach::Tree).map_err(at("make everything read-only"))?;
    cover_run(copies.run)?;
    cover_temporary(copies.temporary)?;
    cover_devices(copies.devices)?;
    if processes == Processes::Own {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        mount("proc", "/proc", "proc", flags, None).map_err(at("mount /proc"))?;
    }
    for (path, copy) in copies.shown {
        put(&copy, &path)?;
        make_read_only(&c_string(&path)?, Reach::Tree).map_err(at(show("protect", &path)))?;
    }
    for (path, copy) in copies.writable {
        put(&copy, &path)?;
    }
    protect(plan)?;
    if let Some(device) = device
        && hide_and_hear(covers, &copies.inside, &device, announce)?
    {
        return Ok(Some(device));
    }
    hide(plan, &copies.inside)?;
    Ok(None)
}

/// Copies of mounts, made while they still are as the machine has them.
struct Copies {
    writable: Vec<(PathBuf, OwnedFd)>,
    shown: Vec<(PathBuf, OwnedFd)>,
    devices: Vec<(PathBuf, OwnedFd)>,
    run: Vec<(PathBuf, OwnedFd)>,
    temporary: Option<OwnedFd>,
    inside: Vec<Inside>,
}

/// What can be seen below something hidden.
struct Inside {
    path: PathBuf,
    copy: OwnedFd,
    is_written: bool,
}

impl Inside {
    fn put(&self) -> Result<(), Failed> {
        put(&self.copy, &self.path)?;
        if self.is_written {
            return Ok(());
        }
        make_read_only(&c_string(&self.path)?, Reach::Tree).map_err(at(show("protect", &self.path)))
    }
}

impl Copies {
    fn take(plan: &Plan) -> Result<Self, Failed> {
        let all = |paths: &mut dyn Iterator<Item = &Path>| -> Result<Vec<_>, Failed> {
            // What went away since the plan was made cannot be written either.
            paths
                .filter(|path| path.exists())
                .map(|path| Ok((path.to_owned(), copy(path)?)))
                .collect()
        };
        let is_covered = |path: &&PathBuf| PRIVATE.iter().any(|place| path.starts_with(place));
        let is_written = |path: &&PathBuf| plan.write.iter().any(|above| path.starts_with(above));
        let inside = plan.shown_inside().filter(|path| path.exists()).map(|path| {
            let is_written = plan.write.iter().any(|written| written == path);
            Ok(Inside { path: path.to_owned(), copy: copy(path)?, is_written })
        });
        let inside = inside.collect::<Result<Vec<_>, Failed>>()?;
        let is_outside =
            |path: &&PathBuf| !plan.shown_inside().any(|inside| inside == path.as_path());
        let shown = plan.show.iter().filter(is_covered).filter(|path| !is_written(path));
        let shown = shown.filter(is_outside);
        Ok(Self {
            inside,
            writable: all(&mut plan.write.iter().filter(is_outside).map(PathBuf::as_path))?,
            shown: all(&mut shown.map(PathBuf::as_path))?,
            devices: all(&mut DEVICES.iter().map(Path::new))?,
            run: all(&mut KEPT_OF_RUN.iter().map(Path::new))?,
            temporary: plan.temporary.as_deref().map(copy).transpose()?,
        })
    }
}

/// A detached copy of what is mounted at a path and below.
fn copy(path: &Path) -> Result<OwnedFd, Failed> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    open_tree(CWD, path, flags).map_err(at(show("copy", path)))
}

/// Puts a copy at a path; where that path lies in a private place it is made there first.
fn put(copy: &OwnedFd, path: &Path) -> Result<(), Failed> {
    if !path.exists() {
        let is_directory = rustix::fs::fstat(copy)
            .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir());
        let made = if is_directory {
            fs::create_dir_all(path)
        } else {
            path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, ""))
        };
        made.map_err(at(show("make", path)))?;
    }
    move_mount(copy, "", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
        .map_err(at(show("mount", path)))
}

fn cover_run(kept: Vec<(PathBuf, OwnedFd)>) -> Result<(), Failed> {
    if !Path::new("/run").is_dir() {
        return Ok(());
    }
    tmpfs("/run", "mode=755")?;
    for (path, copy) in kept {
        put(&copy, &path)?;
    }
    make_read_only(c"/run", Reach::Tree).map_err(at("protect /run"))
}

fn cover_temporary(kept: Option<OwnedFd>) -> Result<(), Failed> {
    match kept {
        Some(copy) => put(&copy, Path::new("/tmp"))?,
        None => tmpfs("/tmp", "mode=1777")?,
    }
    if Path::new("/var/tmp").is_dir() {
        put(&copy(Path::new("/tmp"))?, Path::new("/var/tmp"))?;
    }
    Ok(())
}

fn cover_devices(nodes: Vec<(PathBuf, OwnedFd)>) -> Result<(), Failed> {
    let make = |path: &str| fs::create_dir(path).map_err(at(format!("make {path}")));
    mount("tmpfs", "/dev", "tmpfs", MountFlags::NOSUID, Some(c"mode=755"))
        .map_err(at("mount /dev"))?;
    for (path, copy) in nodes {
        put(&copy, &path)?;
    }
    make("/dev/pts")?;
    make("/dev/shm")?;
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    let options = c"newinstance,ptmxmode=0666,mode=620";
    mount("devpts", "/dev/pts", "devpts", flags, Some(options)).map_err(at("mount /dev/pts"))?;
    tmpfs("/dev/shm", "mode=1777")?;
    let links = [
        ("pts/ptmx", "/dev/ptmx"),
        ("/proc/self/fd", "/dev/fd"),
        ("/proc/self/fd/0", "/dev/stdin"),
        ("/proc/self/fd/1", "/dev/stdout"),
        ("/proc/self/fd/2", "/dev/stderr"),
    ];
    for (target, link) in links {
        symlink(target, link).map_err(at(format!("make {link}")))?;
    }
    Ok(())
}

/// Makes what is protected read-only. Each directory on the way to it becomes a mount of its own, which
/// cannot be renamed: otherwise it could be put aside, and another put in its place.
fn protect(plan: &Plan) -> Result<(), Failed> {
    let mut pinned: Vec<&Path> = Vec::new();
    for path in &plan.protect {
        // Through a link something else would be protected.
        if !fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir() || meta.is_file()) {
            continue;
        }
        let Some(root) = plan.write.iter().find(|root| path.starts_with(root)) else { continue };
        let between: Vec<&Path> =
            path.ancestors().skip(1).take_while(|above| above != root).collect();
        for above in between.into_iter().rev() {
            if !pinned.contains(&above) {
                put(&copy(above)?, above)?;
                pinned.push(above);
            }
        }
        if !pinned.contains(&path.as_path()) {
            put(&copy(path)?, path)?;
            pinned.push(path);
        }
        make_read_only(&c_string(path)?, Reach::Tree).map_err(at(show("protect", path)))?;
    }
    Ok(())
}

/// Something that is mounted where something is hidden.
enum Layer<'a> {
    /// A cover, by its number among those that were given.
    Cover(usize, &'a Path),
    Inside(&'a Inside),
}

/// Covers and what is seen inside of them, the outer before the inner.
fn layers<'a>(
    covered: impl Iterator<Item = (usize, &'a Path)>,
    inside: &'a [Inside],
) -> Vec<Layer<'a>> {
    let covers = covered.map(|(index, path)| Layer::Cover(index, path));
    let mut layers: Vec<Layer<'a>> = covers.chain(inside.iter().map(Layer::Inside)).collect();
    layers.sort_by_key(|layer| match layer {
        Layer::Cover(_, path) => path.as_os_str().len(),
        Layer::Inside(inside) => inside.path.as_os_str().len(),
    });
    layers
}

/// Covers what is hidden with nodes that tell of a look; says whether that can be done here.
fn hide_and_hear(
    nodes: &[Node],
    inside: &[Inside],
    device: &OwnedFd,
    announce: impl FnOnce(&OwnedFd) -> io::Result<()>,
) -> Result<bool, Failed> {
    const NODES: &str = "/dev/.hidden";
    fs::create_dir(NODES).map_err(at("make a place for nodes"))?;
    let options = CString::new(hidden::mount_options(device)).unwrap_or_default();
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    let mounted = mount("umbo", NODES, "fuse", flags, Some(options.as_c_str()));
    if mounted.is_ok() {
        announce(device).map_err(at("announce the nodes"))?;
        let covers = nodes.iter().enumerate().filter(|(_, node)| node.role == Role::Cover);
        for layer in layers(covers.map(|(index, node)| (index, node.path.as_path())), inside) {
            let (index, path) = match layer {
                Layer::Cover(index, path) => (index, path),
                Layer::Inside(inside) => {
                    inside.put()?;
                    continue;
                }
            };
            // Where a private place took its room, nothing is left to hide.
            let kind = fs::symlink_metadata(path).map(|meta| meta.file_type());
            let is_directory = nodes.get(index).is_some_and(|node| node.is_directory);
            if kind.is_ok_and(|kind| kind.is_dir() == is_directory && !kind.is_symlink()) {
                put(&copy(&Path::new(NODES).join(index.to_string()))?, path)?;
            }
        }
        unmount(NODES, UnmountFlags::DETACH).map_err(at("put the nodes away"))?;
    }
    fs::remove_dir(NODES).map_err(at("remove the place for nodes"))?;
    Ok(mounted.is_ok())
}

/// Covers what is hidden with nothing.
fn hide(plan: &Plan, inside: &[Inside]) -> Result<(), Failed> {
    const EMPTY: &str = "/dev/.hidden";
    fs::write(EMPTY, "")
        .and_then(|()| fs::set_permissions(EMPTY, fs::Permissions::from_mode(0o000)))
        .map_err(at("make an empty file"))?;
    let mut covers = Vec::new();
    for layer in layers(plan.hide.iter().map(PathBuf::as_path).enumerate(), inside) {
        let path = match layer {
            Layer::Cover(_, path) => path,
            Layer::Inside(inside) => {
                inside.put()?;
                continue;
            }
        };
        if path.is_dir() {
            // Whoever goes through it to what is inside sees nothing else.
            let leads = inside.iter().any(|inside| is_below(&inside.path, path));
            let options = if leads { c"mode=111,size=4k" } else { c"mode=000,size=4k" };
            let flags = MountFlags::NOSUID | MountFlags::NODEV;
            mount("tmpfs", path, "tmpfs", flags, Some(options)).map_err(at(show("hide", path)))?;
            covers.push(path);
        } else if fs::symlink_metadata(path).is_ok() {
            put(&copy(Path::new(EMPTY))?, path)?;
            covers.push(path);
        }
    }
    for path in covers {
        make_read_only(&c_string(path)?, Reach::Itself).map_err(at(show("hide", path)))?;
    }
    fs::remove_file(EMPTY).map_err(at("remove the empty file"))
}

fn tmpfs(path: &str, options: &str) -> Result<(), Failed> {
    let options = CString::new(options).unwrap_or_default();
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", path, "tmpfs", flags, Some(options.as_c_str()))
        .map_err(at(format!("mount {path}")))
}

fn c_string(path: &Path) -> Result<CString, Failed> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|error| Failed { step: show("name", path), error: error.into() })
}

fn show(what: &str, path: &Path) -> String {
    format!("{what} {}", path.display())
}
