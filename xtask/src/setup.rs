//! What the tests need besides cargo: the shells and task runners they try, and clients
//! of the protocol. Installed once, found in no time.

use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::failure::{Done, Failure};
use crate::workspace::{display, execute, has_program, root, say};

/// The variable by which tests find what was installed here.
pub(crate) const VARIABLE: &str = "UMBO_TEST_TOOLS";

/// Programs, and the packages that bring them. Shells, and what files and verdicts are held against.
const PACKAGES: [(&str, &str); 10] = [
    ("zsh", "zsh"),
    ("fish", "fish"),
    ("rg", "ripgrep"),
    ("fdfind", "fd-find"),
    ("jq", "jq"),
    ("sqlite3", "sqlite3"),
    ("strace", "strace"),
    ("xxd", "xxd"),
    ("zip", "zip"),
    ("go", "golang-go"),
];
const NUSHELL: &str = "nushell@0.115.1";
/// The official client of the Model Context Protocol for Python.
const PYTHON_CLIENT: &str = "mcp==2.3.0";
/// The official clients for TypeScript, of both lines of releases, the Inspector, and the suite that
/// tells whether a server conforms. Some of them need a newer Node.js than systems have.
const NODE_CLIENTS: [&str; 4] = [
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
];
/// The vendors' own libraries for models, in versions that are held against ours.
const MODEL_LIBRARIES: [&str; 3] = ["anthropic==2.8.0", "openai==3.49.0", "google-genai==3.1.0"];
/// The official client of the Agent Client Protocol for Python.
const EDITOR: &str = "agent-client-protocol==0.12.1";
const NODE: &str = "24.21.0";

/// Where tools are put that are not the system's.
pub(crate) fn directory() -> PathBuf {
    env::var_os(VARIABLE).map_or_else(|| root().join("target/test-tools"), PathBuf::from)
}

/// Installs what is missing, or says what to do.
pub(crate) fn run() -> Done {
    let done = [
        packages(),
        nushell(),
        runners(),
        python("python", "mcp", &[PYTHON_CLIENT]),
        python("model-sdks", "websockets", &MODEL_LIBRARIES),
        editor(),
        node_clients(),
        file_systems_for_all(),
    ];
    let problems: Vec<String> =
        done.into_iter().filter_map(Result::err).map(|f| f.message().to_owned()).collect();
    if problems.is_empty() { Ok(()) } else { Err(Failure::new(problems.join("\n"))) }
}

pub(crate) fn packages() -> Done {
    let missing: Vec<&str> = PACKAGES
        .into_iter()
        .filter(|(program, _)| !has_program(program))
        .map(|(_, package)| package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let by_hand = format!("install {} by hand", missing.join(" and "));
    if !has_program("apt-get") {
        return Err(Failure::new(format!("{by_hand}: there is no apt-get here")));
    }
    if !is_root() {
        let command = format!("sudo apt-get install --yes {}", missing.join(" "));
        return Err(Failure::new(format!("{by_hand}: {command}")));
    }
    let install = || {
        let mut command = Command::new("apt-get");
        command.args(["install", "--yes", "--no-install-recommends", "-qq"]).args(&missing);
        execute(command.env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null()))
    };
    install()
        .or_else(|_| {
            // The lists may be missing or old, as in a fresh container.
            execute(Command::new("apt-get").args(["update", "-qq"]).stdout(Stdio::null()))?;
            install()
        })
        .map_err(Failure::prefixed(&by_hand))
}

/// Lets every user mount file systems of their own, as the rules of each distribution's udev do: a machine without
/// udev may not. What covers hidden paths in a sandbox is such a one.
fn file_systems_for_all() -> Done {
    const DEVICE: &str = "/dev/fuse";
    const FOR_ALL: u32 = 0o666;
    let mode = fs::metadata(DEVICE).map_err(Failure::at(DEVICE))?.permissions().mode();
    if mode & FOR_ALL == FOR_ALL {
        return Ok(());
    }
    if !is_root() {
        return Err(Failure::new(format!("as root: chmod 666 {DEVICE}")));
    }
    fs::set_permissions(DEVICE, fs::Permissions::from_mode(FOR_ALL)).map_err(Failure::at(DEVICE))
}

/// The task runners that the recipes are tested with.
fn runners() -> Done {
    let script = root().join("crates/recipes/tests/install-tools.sh");
    let mut command = Command::new(&script);
    let by_hand = format!("run {} and see what it lacks", display(&command));
    fs::create_dir_all(directory()).map_err(Failure::at(directory().display()))?;
    execute(command.env(VARIABLE, directory()).stdout(Stdio::null()))
        .map_err(Failure::prefixed(&by_hand))
}

fn nushell() -> Done {
    if nu().is_some() {
        return Ok(());
    }
    let mut command = Command::new("npm");
    command.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]);
    command.arg(directory()).arg(NUSHELL).stdout(Stdio::null());
    let by_hand = format!("install Node.js, then run: {}", display(&command));
    if !has_program("npm") {
        return Err(Failure::new(by_hand));
    }
    fs::create_dir_all(directory()).map_err(Failure::at(directory().display()))?;
    execute(&mut command).map_err(Failure::prefixed(&by_hand))?;
    match nu() {
        Some(path) => {
            say(format!("installed {}", path.display()));
            Ok(())
        }
        None => Err(Failure::new(format!(
            "npm installed {NUSHELL}, but there is no nu below {}",
            directory().display()
        ))),
    }
}

/// The client of editors, in an environment of its own. It brings no program that could say that it is
/// there, so a file does.
fn editor() -> Done {
    let mark = directory().join("acp/installed");
    if fs::read_to_string(&mark).is_ok_and(|text| text == EDITOR) {
        return Ok(());
    }
    python("acp", "none", &[EDITOR])?;
    fs::write(&mark, EDITOR).map_err(Failure::at(mark.display()))
}

/// An environment of its own for some packages; one of the programs that they bring says that they
/// are there.
fn python(name: &str, program: &str, packages: &[&str]) -> Done {
    let home = directory().join(name);
    if home.join("bin").join(program).is_file() {
        return Ok(());
    }
    let mut environment = Command::new("python3");
    environment.args(["-m", "venv"]).arg(&home);
    let mut install = Command::new(home.join("bin/pip"));
    install.args(["install", "--quiet", "--disable-pip-version-check"]).args(packages);
    let by_hand = format!(
        "install Python 3 with venv, then run: {} && {}",
        display(&environment),
        display(&install)
    );
    if !has_program("python3") {
        return Err(Failure::new(by_hand));
    }
    execute(&mut environment).map_err(Failure::prefixed(&by_hand))?;
    execute(&mut install).map_err(Failure::prefixed(&by_hand))?;
    say(format!("installed {} in {}", packages.join(" "), home.display()));
    Ok(())
}

/// Puts the clients into `mcp`, with a Node.js of their own.
fn node_clients() -> Done {
    let home = directory().join("mcp");
    let machine = match env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "x64",
    };
    let node = format!("node-linux-{machine}@{NODE}");
    let wanted: Vec<&str> = NODE_CLIENTS.into_iter().chain([node.as_str()]).collect();
    let stamp = home.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted.join("\n")) {
        return Ok(());
    }
    let mut command = Command::new("npm");
    command.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]);
    command.arg(&home).args(&wanted).stdout(Stdio::null());
    let by_hand = format!("install Node.js, then run: {}", display(&command));
    if !has_program("npm") {
        return Err(Failure::new(by_hand));
    }
    fs::create_dir_all(&home).map_err(Failure::at(home.display()))?;
    execute(&mut command).map_err(Failure::prefixed(&by_hand))?;
    // One name for it, whatever the machine.
    let program = home.join(format!("node_modules/node-linux-{machine}/bin/node"));
    let _ = fs::remove_file(home.join("node"));
    symlink(&program, home.join("node")).map_err(Failure::at(home.display()))?;
    fs::write(&stamp, wanted.join("\n")).map_err(Failure::at(stamp.display()))?;
    say(format!("installed {} in {}", wanted.join(" "), home.display()));
    Ok(())
}

/// The Nushell that was installed here.
fn nu() -> Option<PathBuf> {
    let packages = directory().join("node_modules/@nushell");
    let found = packages.read_dir().ok()?.flatten().map(|entry| entry.path().join("bin/nu"));
    found.into_iter().find(|path| path.is_file())
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").stderr(Stdio::null()).output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
