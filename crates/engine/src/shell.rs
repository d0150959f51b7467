//! From a request to what the kernel gets: which program, which words, which environment.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::request::{Login, Shell};

/// A program with its words.
#[derive(Debug)]
pub(crate) struct Invocation {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
}

impl Shell {
    /// Its name, as a person writes it.
    pub fn name(&self) -> String {
        match self {
            Self::Sh => "sh".into(),
            Self::Bash => "bash".into(),
            Self::Zsh => "zsh".into(),
            Self::Fish => "fish".into(),
            Self::Nu => "nu".into(),
            Self::NuOrSh => "nu|sh".into(),
            Self::Path(path) => path.display().to_string(),
        }
    }

    /// The shell a person named: one of the known, or a path.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "sh" => Ok(Self::Sh),
            "bash" => Ok(Self::Bash),
            "zsh" => Ok(Self::Zsh),
            "fish" => Ok(Self::Fish),
            "nu" | "nushell" => Ok(Self::Nu),
            "nu|sh" => Ok(Self::NuOrSh),
            path if path.contains('/') => Ok(Self::Path(path.into())),
            other => Err(Error::invalid(
                "shell",
                format!("{other:?} is not one of sh, bash, zsh, fish, nu, nu|sh, or a path"),
            )),
        }
    }

    /// How to get it.
    fn hint(&self) -> &'static str {
        match self {
            Self::Sh | Self::NuOrSh => "/bin/sh is missing, which every Unix has",
            Self::Bash => "install the package bash",
            Self::Zsh => "install the package zsh",
            Self::Fish => "install the package fish",
            Self::Nu => "install Nushell (the npm package nushell@0.115.1, or see nushell.sh)",
            Self::Path(_) => "give the path of an executable file",
        }
    }

    /// Where it is, looking through `path` as the command itself would.
    pub(crate) fn find(&self, path: &OsStr) -> Result<PathBuf> {
        let missing = || Error::NoShell { name: self.name(), hint: self.hint() };
        let search = |name: &str| search(OsStr::new(name), path);
        match self {
            Self::Sh => Some(PathBuf::from("/bin/sh")).filter(|path| is_executable(path)),
            Self::Bash => search("bash")
                .or_else(|| Some("/bin/bash".into()).filter(|p: &PathBuf| is_executable(p))),
            Self::Zsh => search("zsh"),
            Self::Fish => search("fish"),
            Self::Nu => search("nu"),
            Self::NuOrSh => search("nu").or_else(|| Some("/bin/sh".into())),
            Self::Path(path) => Some(path.clone()).filter(|path| is_executable(path)),
        }
        .ok_or_else(missing)
    }

    /// The words that make it run a line.
    pub(crate) fn invoke(&self, line: &str, login: Login, path: &OsStr) -> Result<Invocation> {
        let program = self.find(path)?;
        let mut arguments: Vec<OsString> = vec![program.clone().into_os_string()];
        match (login, self) {
            (Login::Yes, _) => arguments.push("-l".into()),
            (Login::No, Self::Fish) => arguments.push("--no-config".into()),
            (Login::No, _) => {}
        }
        arguments.push("-c".into());
        arguments.push(line.into());
        Ok(Invocation { program, arguments })
    }
}

/// The program that `words` name, found as a shell would find it.
pub(crate) fn invoke_words(words: &[OsString], cwd: &Path, path: &OsStr) -> Result<Invocation> {
    let name = words
        .first()
        .filter(|word| !word.is_empty())
        .ok_or_else(|| Error::invalid("command", "it is empty; give a program to run"))?;
    let program = if name.as_bytes().contains(&b'/') {
        cwd.join(name)
    } else {
        search(name, path).ok_or_else(|| {
            Error::invalid("command", format!("{} was not found in PATH", name.display()))
        })?
    };
    Ok(Invocation { program, arguments: words.to_vec() })
}

/// Where a program is, looking through `path`.
pub(crate) fn search(name: &OsStr, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|candidate| is_executable(candidate))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// The value of a variable in such a list.
pub(crate) fn lookup<'a, S: AsRef<OsStr>>(
    variables: &'a [(S, S)],
    name: &str,
) -> Option<&'a OsStr> {
    variables
        .iter()
        .rev()
        .find(|(known, _)| known.as_ref() == name)
        .map(|(_, value)| value.as_ref())
}

/// The search path a command has, with the system's own where it has none.
pub(crate) fn search_path<S: AsRef<OsStr>>(variables: &[(S, S)]) -> OsString {
    lookup(variables, "PATH")
        .filter(|path| !path.is_empty())
        .unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"))
        .to_owned()
}
