//! The binary that runs on any Linux: static, of a guarded size, tried where nothing else is.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Done, Failure};
use crate::workspace::{cargo, execute, root, say};

/// Named, so that build scripts and macros, which are loaded, are built without it.
const PLATFORM: &str = concat!("x86_64", "-unknown-linux-gnu");
const STATIC: &str = "-C target-feature=+crt-static -C relocation-model=static";
/// More than this is asked about in a review.
const LARGEST_BYTES: u64 = 40 << 20;

/// Builds it, looks whether it is static and small enough, and runs it in a root with nothing else.
pub(crate) fn run() -> Done {
    let directory = root().join("target/dist");
    let words = ["build", "--release", "--package", "umbo", "--target", PLATFORM];
    execute(cargo(&words).env("RUSTFLAGS", STATIC).env("CARGO_TARGET_DIR", &directory))?;
    let binary = directory.join(PLATFORM).join("release/umbo");
    check(&binary)?;
    alone(&binary)?;
    let size = fs::metadata(&binary).map_err(Failure::at("umbo"))?.len();
    say(format!("{}: static, {} KiB", binary.display(), size >> 10));
    Ok(())
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

/// Runs a command and reads it again, in a root that has this program and one shell.
fn alone(binary: &Path) -> Done {
    let shell = static_shell()?;
    let place = std::env::temp_dir().join(format!("umbo-dist-{}", std::process::id()));
    let made = furnish(&place, binary, &shell).and_then(|()| {
        let line = "/bin/umbo --state-dir /state exec 'echo alone' && /bin/umbo --state-dir /state output @last \
                    && /bin/umbo --state-dir /state start 'sleep 60' && /bin/umbo --state-dir /state stop @last";
        let mut run = Command::new("unshare");
        run.args(["--mount", "--pid", "--fork", "--root"]).arg(&place).args(["/bin/sh", "-c"]);
        execute(run.arg(format!("mount -t proc proc /proc && {line}")).env_clear().env("PATH", "/bin"))
    });
    let _ = fs::remove_dir_all(&place);
    made
}

fn furnish(place: &Path, binary: &Path, shell: &Path) -> Done {
    for directory in ["bin", "proc", "tmp", "state", "dev"] {
        fs::create_dir_all(place.join(directory)).map_err(Failure::at(directory))?;
    }
    for (from, name) in [(binary, "umbo"), (shell, "sh"), (shell, "sleep"), (shell, "mount")] {
        let to = place.join("bin").join(name);
        fs::copy(from, &to).map_err(Failure::at(name))?;
        fs::set_permissions(&to, fs::Permissions::from_mode(0o755)).map_err(Failure::at(name))?;
    }
    // Every program may write there.
    fs::write(place.join("dev/null"), "").map_err(Failure::at("dev/null"))
}

/// A shell that needs no library.
fn static_shell() -> Done<PathBuf> {
    let places = ["/bin/busybox", "/usr/bin/busybox"].map(PathBuf::from);
    let is_static = |path: &PathBuf| fs::read(path).is_ok_and(|bytes| !is_dynamic(&bytes));
    places.into_iter().find(is_static).ok_or_else(|| {
        Failure::new("a static busybox is needed to try it: apt-get install busybox-static")
    })
}
