//! Running commands where they can do no harm, and hearing from the kernel what they tried.

use std::collections::HashSet;
use std::io::Write;
use std::process::{Command, Stdio};

/// Makes the world read-only but for a directory of its own, then runs each command under `strace`.
const DRIVER: &str = r#"
set -u
mount -t tmpfs scratch "$1" || exit 90
cp -r "$2/." "$1/" || exit 91
mount -o remount,bind,ro / || exit 92
for place in /tmp /var /home /root /run; do mount -o remount,bind,ro "$place" 2>/dev/null; done
cd "$1" || exit 93
export HOME="$1/home" TERM=dumb LC_ALL=C PAGER=cat GIT_CONFIG_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0
calls=open,openat,creat,execve,connect,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,link,linkat,symlink,symlinkat,truncate,mknod,mknodat,utimensat,utime,utimes,setxattr,settimeofday,clock_settime,sethostname,kill,mount,clone,clone3,fork,vfork
for file in commands/*; do
  timeout -k 1 5 strace -f -y -qq -s 400 -e trace=$calls -e signal=none -o .trace bash --norc "$file" </dev/null >/dev/null 2>&1
  echo "== $file"
  # A database is opened for writing even where it is only read: what counts is whether it changed.
  cmp -s in.db "$2/in.db" || { echo "0 truncate(\"in.db has changed\")"; cp "$2/in.db" in.db; }
  grep -oE '(clone|fork).* = [0-9]+$' .trace 2>/dev/null | sed 's/.* = /0 began /'
  grep -vE ' open(at)?\([^)]*O_RDONLY| (clone3?|v?fork)\(' .trace 2>/dev/null | grep -v resumed | head -n 60
done
"#;

/// The files that commands find.
const FILES: &[(&str, &str)] = &[
    ("in", "a b\nb c 3\n\"x\" 4\n"),
    ("in.txt", "one\ntwo\nthree\n"),
    ("in.json", "{\"a\": [1, 2, {\"b\": null}]}\n"),
    ("in.csv", "a,b\n1,2\n3,4\n"),
    ("in.xml", "<a><b c=\"1\"/></a>\n"),
    ("in.sh", "echo hello\n"),
    ("dir/x", "x\n"),
    ("home/.keep", ""),
];

/// What each of the commands did, as `strace` says it.
pub(crate) fn run(commands: &[String]) -> Vec<Vec<String>> {
    for tool in ["strace", "unshare", "sqlite3"] {
        let found = Command::new("sh").args(["-c", &format!("command -v {tool}")]).output();
        assert!(
            found.is_ok_and(|found| found.status.success()),
            "{tool} is missing: cargo xtask setup"
        );
    }
    let place = std::env::temp_dir()
        .join(format!("umbo-differential-{}", std::process::id()))
        .join(format!("{:?}", std::thread::current().id()).replace(['(', ')'], "-"));
    let (world, scratch) = (place.join("world"), place.join("scratch"));
    std::fs::create_dir_all(world.join("commands")).unwrap();
    std::fs::create_dir_all(&scratch).unwrap();
    for (name, text) in FILES {
        let path = world.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let database = Command::new("sqlite3")
        .arg(world.join("in.db"))
        .arg("create table t (a, b); insert into t values (1, 'x'), (2, 'y');")
        .status();
    assert!(database.is_ok_and(|status| status.success()));
    for (at, command) in commands.iter().enumerate() {
        std::fs::write(world.join(format!("commands/{at:06}")), command).unwrap();
    }
    let mut child = Command::new("unshare")
        .args([
            "--user",
            "--map-root-user",
            "--mount",
            "--pid",
            "--fork",
            "--net",
            "--uts",
            "--ipc",
            "--kill-child",
            "--mount-proc",
            "bash",
            "-s",
        ])
        .arg(&scratch)
        .arg(&world)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(DRIVER.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    std::fs::remove_dir_all(&place).unwrap();
    // The last of the tests takes the place of all of them away.
    let _ = place.parent().map(std::fs::remove_dir);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "no namespace to run commands in: {}: {said}", output.status);
    let mut seen: Vec<Vec<String>> = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        match (line.strip_prefix("== "), seen.last_mut()) {
            (Some(_), _) => seen.push(Vec::new()),
            (None, Some(last)) => last.push(line.to_owned()),
            (None, None) => {}
        }
    }
    seen.into_iter().map(without_own_processes).collect()
}

/// Leaves out the signals to processes that the command began itself, as one does whose time is over.
fn without_own_processes(mut traces: Vec<String>) -> Vec<String> {
    let began = |trace: &String| Some(trace.strip_prefix("0 began ")?.to_owned());
    let own: HashSet<String> = traces.iter().filter_map(began).collect();
    traces.retain(|trace| {
        let target = trace.split_once("kill(").and_then(|(_, target)| target.split(',').next());
        began(trace).is_none() && target.is_none_or(|target| !own.contains(target))
    });
    traces
}

/// Whether a line of a trace shows more than reading. `starts` are the programs that may be started.
pub(crate) fn contradicts(trace: &str, starts: &[&str]) -> bool {
    let Some((_, call)) = trace.split_once(' ') else { return false };
    let call = call.trim_start();
    let quoted = |nth: usize| call.split('"').nth(nth * 2 + 1).unwrap_or_default();
    if call.starts_with("open") || call.starts_with("creat") {
        let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "creat("]
            .iter()
            .any(|flag| call.contains(flag));
        // A directory that is opened as if it were a file, not to make one.
        let directory =
            call.contains("= -1 EISDIR") && !call.contains("O_CREAT") && !call.contains("O_TRUNC");
        // A file without a name is gone when it is closed.
        return writes && !directory && !call.contains("O_TMPFILE") && !is_harmless(quoted(0));
    }
    if call.starts_with("execve(") {
        let program = quoted(0).rsplit('/').next().unwrap_or_default();
        // A program that is looked for along the path is not started where it is not found.
        let own = starts.last().is_some_and(|own| program.starts_with(&format!("{own}-")));
        // The interpreter may be chosen by scripts of its own.
        let chooses = program.starts_with("pyenv-");
        return call.ends_with("= 0")
            && program != "bash"
            && !own
            && !chooses
            && !starts.contains(&program);
    }
    if call.starts_with("connect(") {
        // What is asked on this machine stays here.
        let here = ["inet_addr(\"127.", "\"::1\""].iter().any(|address| call.contains(address));
        return call.contains("AF_INET") && !here;
    }
    if call.starts_with("kill(") {
        return !call.contains(", 0)");
    }
    // What was there already is not changed.
    if call.contains("= -1 EEXIST") {
        return false;
    }
    // Anything else that was traced changes something.
    [
        "unlink",
        "rename",
        "mkdir",
        "rmdir",
        "chmod",
        "fchmod",
        "chown",
        "fchown",
        "lchown",
        "link",
        "symlink",
        "truncate",
        "mknod",
        "utime",
        "setxattr",
        "settimeofday",
        "clock_settime",
        "sethostname",
        "mount",
    ]
    .iter()
    .any(|name| call.starts_with(name))
}

/// Whether a line of a trace is about something that a program keeps for itself: at home, in the place for
/// temporary files, or under its own name where the system keeps what can be made again.
pub(crate) fn is_own_state(trace: &str, program: &str) -> bool {
    const KEPT: [&str; 4] = ["/run/", "/var/cache/", "/var/lib/", "/var/log/"];
    let own = |path: &str| {
        path.contains("/scratch/home/")
            || path.ends_with("/scratch/home")
            || path.starts_with("/tmp/") && !path.contains("/scratch")
            || path.starts_with("/var/tmp/")
            || path.starts_with("/dev/shm/")
            || program == "podman" && path.starts_with("/var/lib/containers/")
            || KEPT.iter().any(|place| path.starts_with(place)) && path.contains(program)
    };
    let quoted: Vec<&str> = trace.split('"').skip(1).step_by(2).collect();
    let mut absolute = quoted.iter().filter(|path| path.starts_with('/'));
    // Where a path is relative, the trace names the directory it is in.
    let directory = trace.split_once('<').and_then(|(_, rest)| rest.split('>').next());
    let relative = quoted.iter().any(|path| !path.starts_with('/'));
    // `fchown(4</path>, …)`: no name, but the path of what is open.
    if quoted.is_empty() {
        return directory.is_some_and(own);
    }
    absolute.all(|path| own(path)) && (!relative || directory.is_some_and(own))
}

/// Whether a line of a trace shows a question to another machine.
pub(crate) fn asks(trace: &str) -> bool {
    trace.split_once(' ').is_some_and(|(_, call)| call.trim_start().starts_with("connect("))
}

/// Terminals, and what every program of the system opens for itself.
fn is_harmless(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/tty" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/zero" | "/dev/full" | "/dev/ptmx")
        || path.starts_with("/dev/pts/")
        || path.starts_with("/dev/fd/")
        || path.starts_with("/proc/self/")
        || path.ends_with("/in.db")
        // A lock on who is logged in.
        || path.ends_with("/utmp") || path.ends_with("/wtmp")
        // A lock on the list of users, and one that processes share.
        || path == "/var/lib/libuuid/clock.txt"
        || path == "/etc/.pwd.lock" || path.starts_with("/dev/shm/sem.")
}
