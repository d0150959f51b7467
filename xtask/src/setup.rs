//! What the tests need besides cargo: the shells and task runners they try, and a client of the
//! protocol. Installed once, found in no time.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::failure::{Done, Failure};
use crate::workspace::{display, execute, has_program, root, say};

/// The variable by which tests find what was installed here.
pub(crate) const VARIABLE: &str = "UMBO_TEST_TOOLS";

const PACKAGES: [&str; 2] = ["zsh", "fish"];
const NUSHELL: &str = "nushell@0.115.1";
/// The official client of the Model Context Protocol for Python.
const PYTHON_CLIENT: &str = "mcp==2.3.0";

/// Where tools are put that are not the system's.
pub(crate) fn directory() -> PathBuf {
    env::var_os(VARIABLE).map_or_else(|| root().join("target/test-tools"), PathBuf::from)
}

/// Installs what is missing, or says what to do.
pub(crate) fn run() -> Done {
    let problems: Vec<String> = [packages(), nushell(), runners(), python_client()]
        .into_iter()
        .filter_map(Result::err)
        .map(|f| f.message().to_owned())
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(Failure::new(problems.join("\n"))) }
}

fn packages() -> Done {
    let missing: Vec<&str> = PACKAGES.into_iter().filter(|name| !has_program(name)).collect();
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

/// The task runners that the recipes are tested with.
fn runners() -> Done {
    let script = root().join("crates/recipes/tests/install-tools.sh");
    let mut command = Command::new(&script);
    let by_hand = format!("run {} and see what it lacks", display(&command));
    std::fs::create_dir_all(directory()).map_err(Failure::at(directory().display()))?;
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
    std::fs::create_dir_all(directory()).map_err(Failure::at(directory().display()))?;
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

fn python_client() -> Done {
    let home = directory().join("python");
    if home.join("bin/mcp").is_file() {
        return Ok(());
    }
    let mut environment = Command::new("python3");
    environment.args(["-m", "venv"]).arg(&home);
    let mut install = Command::new(home.join("bin/pip"));
    install.args(["install", "--quiet", "--disable-pip-version-check", PYTHON_CLIENT]);
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
    say(format!("installed {PYTHON_CLIENT} in {}", home.display()));
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
