//! A program that tries to get out in more than a hundred ways, and what is outside afterwards.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use serde_json::Value;
use umbo_engine::Command as Words;
use umbo_engine::sandbox::{Profile, Rung};

use super::{Machine, NOBODY, Who, Yard};

/// What is outside: each thing has to be as it was.
struct Outside {
    directory: PathBuf,
    before: Vec<String>,
    host: Child,
    stream: UnixListener,
    datagram: UnixDatagram,
    tcp: TcpListener,
    udp: UdpSocket,
    _abstract: UnixListener,
}

impl Outside {
    fn new(yard: &Yard) -> Self {
        let directory = yard.path("outside");
        let stream = UnixListener::bind(directory.join("sock")).unwrap();
        let datagram = UnixDatagram::bind(directory.join("gram")).unwrap();
        stream.set_nonblocking(true).unwrap();
        datagram.set_nonblocking(true).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        yard.give(&directory);
        let is_root = rustix::process::geteuid().is_root();
        let mut host = if yard.who == Who::Ordinary && is_root {
            let mut command = Command::new("setpriv");
            command.arg(format!("--reuid={NOBODY}")).arg(format!("--regid={NOBODY}"));
            command.args(["--clear-groups", "--", "sleep"]);
            command
        } else {
            Command::new("sleep")
        };
        let host = host.arg("600").current_dir(&directory).spawn().unwrap();
        let name = SocketAddr::from_abstract_name(format!("umbo-attempts-{}", host.id())).unwrap();
        let listener = UnixListener::bind_addr(&name).unwrap();
        let before = snapshot(&directory);
        Self { directory, before, host, stream, datagram, tcp, udp, _abstract: listener }
    }

    /// The words of the program that tries.
    fn words(&self, yard: &Yard) -> Vec<String> {
        let program = yard.path("attempts");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/umbo/sandbox/attempts.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-O1", "-pthread", "-w", "-o"]).arg(&program).arg(&source);
        assert!(compiler.status().unwrap().success(), "no C compiler, without which nothing links");
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        vec![
            text(program),
            text(self.directory.clone()),
            text(yard.project()),
            text(yard.path("home/.ssh/id")),
            self.host.id().to_string(),
            self.tcp.local_addr().unwrap().port().to_string(),
            self.udp.local_addr().unwrap().port().to_string(),
            "0".to_owned(),
        ]
    }

    /// Looks whether anything is different.
    fn check(mut self) {
        assert_eq!(snapshot(&self.directory), self.before, "something outside was changed");
        assert!(self.stream.accept().is_err(), "a unix socket was reached");
        assert!(self.tcp.accept().is_err(), "a TCP port was reached");
        assert!(self.datagram.recv(&mut [0; 8]).is_err(), "a unix datagram came");
        assert!(self.udp.recv(&mut [0; 8]).is_err(), "a UDP datagram came");
        assert!(self.host.try_wait().unwrap().is_none(), "a process outside was ended");
        let number = rustix::process::Pid::from_child(&self.host);
        let nice = rustix::process::getpriority_process(Some(number)).unwrap();
        assert_eq!(nice, rustix::process::getpriority_process(None).unwrap());
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.host.kill();
        let _ = self.host.wait();
    }
}

/// Everything in a directory with content, mode, owner and time of change.
fn snapshot(directory: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(directory).unwrap().flatten().collect();
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let meta = entry.metadata().unwrap();
        let text =
            if meta.is_file() { fs::read_to_string(entry.path()).unwrap() } else { String::new() };
        let (mode, owner) = (meta.permissions().mode(), meta.uid());
        let changed = (meta.ctime(), meta.ctime_nsec());
        lines.push(format!("{} {mode:o} {owner} {changed:?} {text}", entry.path().display()));
    }
    lines
}

/// The attempts that got out.
fn escaped(output: &str) -> Vec<&str> {
    assert!(output.contains("all tried"), "{output}");
    assert!(output.matches(" refused ").count() > 50 || output.contains("ESCAPED"), "{output}");
    output.lines().filter(|line| line.contains("ESCAPED")).collect()
}

fn nothing_gets_out(who: Who, machine: Machine, rung: &str) {
    let yard = Yard::new(who, machine);
    let outside = Outside::new(&yard);
    let words = outside.words(&yard);
    let mut call = vec!["exec", "--json", "--budget", "1m", "--sandbox", "workspace"];
    call.extend(words.iter().map(String::as_str));
    let answer = yard.umbo.call(call).current_dir(&yard.project()).json();
    assert_eq!(answer["sandbox"]["rung"], rung, "{answer}");
    let output = answer["output"].as_str().unwrap();
    assert_eq!(escaped(output), Vec::<&str>::new(), "{output}");
    assert!(answer["denied"].as_array().unwrap().len() > 10, "{answer}");
    outside.check();
}

#[test]
fn nothing_gets_out_of_an_ordinary_users_namespaces() {
    nothing_gets_out(Who::Ordinary, Machine::Usual, "namespaces");
}

#[test]
fn nothing_gets_out_of_roots_namespaces() {
    nothing_gets_out(Who::Tester, Machine::Usual, "namespaces");
}

#[test]
fn nothing_gets_out_where_processes_are_shared() {
    nothing_gets_out(Who::Ordinary, Machine::CoveredProcesses, "shared_processes");
}

#[test]
fn nothing_gets_out_of_an_ordinary_users_landlock_alone() {
    nothing_gets_out(Who::Ordinary, Machine::WithoutNamespaces, "landlock");
}

#[test]
fn nothing_gets_out_of_roots_landlock_alone() {
    let yard = Yard::new(Who::Tester, Machine::Usual);
    let outside = Outside::new(&yard);
    let words = outside.words(&yard).into_iter().map(Into::into).collect();
    let mut plan = yard.plan(Profile::Workspace);
    plan.rungs = vec![Rung::Landlock];
    let mut request = yard.request(plan, "true");
    request.command = Words::Argv(words);
    let (job, outcome) = yard.umbo.engine().run(&request).unwrap();
    let output = fs::read_to_string(job.output_path()).unwrap();
    assert_eq!(escaped(&output), Vec::<&str>::new(), "{output}\n{outcome:?}");
    outside.check();
}

/// A library that says outside which program loaded it, and that it did.
const PRELOADED: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void loaded(void) {
    char path[4096], name[64] = {0};
    int comm = open("/proc/self/comm", O_RDONLY);
    long length = read(comm, name, 60);
    if (length > 0) name[length - 1] = 0;
    snprintf(path, sizeof path, OUTSIDE "/loaded-by-%s", name);
    close(open(path, O_CREAT | O_WRONLY, 0666));
}
"#;

#[test]
fn a_library_that_a_command_preloads_is_loaded_by_nothing_of_umbo() {
    for (who, machine) in
        [(Who::Tester, Machine::Usual), (Who::Ordinary, Machine::WithoutNamespaces)]
    {
        let yard = Yard::new(who, machine);
        let outside = yard.path("outside");
        let (source, library) = (yard.project().join("l.c"), yard.project().join("l.so"));
        fs::write(&source, PRELOADED).unwrap();
        let mut compiler = Command::new("cc");
        compiler
            .args(["-shared", "-fPIC", "-w"])
            .arg(format!("-DOUTSIDE=\"{}\"", outside.display()));
        assert!(compiler.arg("-o").arg(&library).arg(&source).status().unwrap().success());
        yard.give(&yard.project());
        let before = snapshot(&outside);
        let preload = format!("LD_PRELOAD={}", library.display());
        let loads = |answer: &Value| {
            let by: Vec<String> = super::denied(answer);
            by.iter().any(|denied| denied.contains("/loaded-by-"))
        };
        // As a variable of the request, which passes through the supervisor.
        let request = yard.exec("workspace", &["--env", &preload], "true; /bin/true");
        assert!(loads(&request), "it is loaded where it may be: {request}");
        // As a variable that a session keeps, whose shell is asked by umbo for its state after each command.
        for line in [format!("export {preload}"), "/bin/true".to_owned()] {
            let _ = yard.exec("workspace", &["--session", "s"], &line);
        }
        // And left where a later umbo, in the same project, could find it.
        let _ = yard.exec(
            "workspace",
            &[],
            &format!("echo {} > .env; echo '{preload}' > .envrc", library.display()),
        );
        let later = yard.exec("workspace", &[], "true");
        assert_eq!(later["exit_code"], 0, "{later}");
        assert!(!loads(&later), "{later}");
        assert_eq!(snapshot(&outside), before, "a process outside of the sandbox loaded it");
    }
}

#[test]
fn a_setuid_program_gains_nothing() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    for machine in [Machine::Usual, Machine::WithoutNamespaces] {
        let yard = Yard::new(Who::Ordinary, machine);
        let program = yard.path("outside/id");
        fs::copy("/usr/bin/id", &program).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
        let line = format!("{} -u", program.display());
        let plain = yard.umbo.call(["exec", &line]).current_dir(&yard.project()).answer().text();
        // In a namespace of users that has no root there is nothing to gain.
        if machine == Machine::Usual {
            assert_eq!(plain.trim(), "0", "without a sandbox it is root's");
        }
        let inside = yard.exec("workspace", &[], &line);
        assert_eq!(inside["output"].as_str().unwrap().trim(), NOBODY.to_string(), "{inside}");
    }
}

/// Without this the tests above would prove nothing. Never as root: these attempts would succeed.
#[test]
fn without_a_sandbox_the_same_attempts_get_out() {
    let yard = Yard::new(Who::Ordinary, Machine::Usual);
    let outside = Outside::new(&yard);
    let words = outside.words(&yard);
    let mut call = vec!["exec", "--json", "--budget", "1m"];
    call.extend(words.iter().map(String::as_str));
    let answer = yard.umbo.call(call).current_dir(&yard.project()).json();
    let output = answer["output"].as_str().unwrap();
    assert!(escaped(output).len() > 40, "{output}");
}
