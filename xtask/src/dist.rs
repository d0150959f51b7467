//! The binary that runs on any Linux: static, of a guarded size, tried where nothing else is.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Done, Failure};
use crate::workspace::{cargo, execute, root, say};

/// Where it is built.
const DIRECTORY: &str = "target/dist";

/// Named, so that build scripts and macros, which are loaded, are built without it.
fn platform() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

/// Randomness comes from the kernel itself: a static program finds no other way than `/dev/urandom`, which a bare
/// root does not have.
const STATIC: &str = "-C target-feature=+crt-static -C relocation-model=static \
    --cfg getrandom_backend=\"linux_getrandom\"";
/// More than this is asked about in a review: a few percent over what it was when it was last looked at.
const LARGEST_BYTES: u64 = 56 << 20;

/// What it must be able to do in a place where nothing of this machine is.
const TRIAL: &str = "umbo exec 'echo alone' && umbo output @last \
    && umbo start --name nap 'sleep 60' && umbo wait nap --quiet 0.1 && umbo stop nap \
    && umbo exec --pty 'echo at a terminal' \
    && umbo call exec '{\"command\": \"echo by a tool\"}' \
    && umbo classify 'rm -rf /' && umbo jobs --all && umbo doctor";

/// Builds it, looks whether it is static and small enough, and runs it in a root with nothing else, or in
/// the roots of other systems that are named.
pub(crate) fn run(roots: &[&str]) -> Done {
    let built = build()?;
    let binary = root().join(DIRECTORY).join("umbo");
    // Names of functions are a sixth of it, and of no use to who runs it.
    execute(Command::new("strip").arg("--strip-all").arg("-o").arg(&binary).arg(&built))?;
    check(&binary)?;
    alone(&binary)?;
    for place in roots {
        try_in(Path::new(place), &binary)?;
    }
    let size = fs::metadata(&binary).map_err(Failure::at("umbo"))?.len();
    say(format!("{}: static, {} KiB", binary.display(), size >> 10));
    Ok(())
}

/// Builds it, with all names in it.
pub(crate) fn build() -> Done<PathBuf> {
    let directory = root().join(DIRECTORY);
    let words = ["build", "--release", "--locked", "--package", "umbo", "--target", &platform()];
    execute(cargo(&words).env("RUSTFLAGS", STATIC).env("CARGO_TARGET_DIR", &directory))?;
    Ok(directory.join(platform()).join("release/umbo"))
}

/// Static and not too large.
fn check(binary: &Path) -> Done {
    let bytes = fs::read(binary).map_err(Failure::at("umbo"))?;
    if is_dynamic(&bytes) {
        return Err(Failure::new("umbo asks for a loader: it is not static"));
    }
    let size = bytes.len() as u64;
    if size > LARGEST_BYTES {
        return Err(Failure::new(format!("umbo has {size} bytes, more than {LARGEST_BYTES}")));
    }
    Ok(())
}

/// Whether an ELF file of 64 bits names an interpreter.
fn is_dynamic(bytes: &[u8]) -> bool {
    const INTERPRETER: u32 = 3;
    let number = |at: usize, length: usize| {
        let bytes = bytes.get(at..at + length).unwrap_or_default();
        bytes.iter().rev().fold(0_usize, |number, byte| number << 8 | usize::from(*byte))
    };
    let (table, size, count) = (number(32, 8), number(54, 2), number(56, 2));
    (0..count).any(|index| number(table + index * size, 4) == INTERPRETER as usize)
}

/// Tries it in a root that has this program and one shell.
fn alone(binary: &Path) -> Done {
    let shell = static_shell()?;
    let place = std::env::temp_dir().join(format!("umbo-dist-{}", std::process::id()));
    let made = furnish(&place, &shell).and_then(|()| try_in(&place, binary));
    let _ = fs::remove_dir_all(&place);
    made
}

/// Tries it in a root directory, with namespaces of its own: the devices of this machine, its own processes.
fn try_in(place: &Path, binary: &Path) -> Done {
    let enter = "mount --rbind /dev \"$0/dev\" && mount -t proc proc \"$0/proc\" \
                 && exec chroot \"$0\" /bin/sh -c \"$1\"";
    let copy = place.join("tmp/umbo");
    fs::copy(binary, &copy).map_err(Failure::at("tmp/umbo"))?;
    let mut run = Command::new("unshare");
    if !is_root() {
        run.args(["--user", "--map-root-user"]);
    }
    run.args(["--mount", "--pid", "--fork", "sh", "-c", enter]).arg(place).arg(TRIAL);
    run.env_clear().env("PATH", "/tmp:/usr/bin:/bin:/usr/sbin:/sbin");
    let tried = execute(run.env("HOME", "/tmp").env("UMBO_STATE_DIR", "/tmp/umbo-state"));
    let _ = fs::remove_file(&copy);
    let _ = fs::remove_dir_all(place.join("tmp/umbo-state"));
    tried
}

/// Whether this process may do everything.
fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

fn furnish(place: &Path, shell: &Path) -> Done {
    for directory in ["bin", "proc", "tmp", "dev"] {
        fs::create_dir_all(place.join(directory)).map_err(Failure::at(directory))?;
    }
    for name in ["sh", "sleep"] {
        let to = place.join("bin").join(name);
        fs::copy(shell, &to).map_err(Failure::at(name))?;
        fs::set_permissions(&to, fs::Permissions::from_mode(0o755)).map_err(Failure::at(name))?;
    }
    Ok(())
}

/// A shell that needs no library.
fn static_shell() -> Done<PathBuf> {
    let places = ["/bin/busybox", "/usr/bin/busybox"].map(PathBuf::from);
    let is_static = |path: &PathBuf| fs::read(path).is_ok_and(|bytes| !is_dynamic(&bytes));
    places.into_iter().find(is_static).ok_or_else(|| {
        Failure::new("a static busybox is needed to try it: apt-get install busybox-static")
    })
}
