//! A project in a temporary directory, what is detected in it, and its commands really run.

use std::{
    ffi::OsString,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;
use umbo_recipes::{
    Asking, Options, Project, Runner,
    select::{Selection, umbo},
};

/// How long one command may take, in seconds.
const DEADLINE: &str = "90";

pub(crate) struct Folder {
    directory: TempDir,
}

impl Folder {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self { directory: tempfile::tempdir().unwrap() };
        for (name, text) in files {
            folder.write(name, text.as_bytes());
        }
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn make_executable(&self, name: &str) {
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.path().join(name), mode).unwrap();
    }

    /// Detection by reading alone, with no program on the path.
    pub(crate) fn read(&self) -> Project {
        let options = Options { asking: Asking::Never, ..Options::default() };
        umbo_recipes::detect(self.path(), &options, None).unwrap()
    }

    /// Detection by reading alone, with programs of these names on the path.
    pub(crate) fn read_with(&self, programs: &[&str]) -> Project {
        let options = Options {
            path: vec![self.programs(programs)],
            asking: Asking::Never,
            ..Options::default()
        };
        umbo_recipes::detect(self.path(), &options, None).unwrap()
    }

    /// A directory outside the project with programs that do nothing.
    fn programs(&self, names: &[&str]) -> PathBuf {
        let place = self.path().with_extension("programs");
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir_all(&place).unwrap();
        for name in names {
            let path = place.join(name);
            std::fs::write(&path, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        place
    }

    /// Detection with the real tools, asking those that can be asked.
    pub(crate) fn detect(&self) -> Project {
        umbo_recipes::detect(self.path(), &real_options(), None).unwrap()
    }

    /// Resolves an operation and really runs it; the output of a success.
    pub(crate) fn run(&self, project: &Project, op: &str) -> String {
        let selection = umbo::resolve(project, op).unwrap();
        self.run_selection(&selection)
    }

    pub(crate) fn run_selection(&self, selection: &Selection) -> String {
        let output = Command::new("timeout")
            .args(["--kill-after=5", DEADLINE, "sh", "-c", &selection.command])
            .current_dir(self.path().join(&selection.directory))
            .env("PATH", std::env::join_paths(search_path()).unwrap())
            .envs(QUIET)
            .env_remove("CARGO_TARGET_DIR")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(
            output.status.success(),
            "`{}` ended {}:\n{text}",
            selection.command,
            output.status
        );
        text
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.path().with_extension("programs"));
    }
}

/// Settings that keep tools from asking, colouring and reporting home.
const QUIET: [(&str, &str); 10] = [
    ("CI", "1"),
    ("NO_COLOR", "1"),
    ("POETRY_VIRTUALENVS_IN_PROJECT", "true"),
    ("PDM_NON_INTERACTIVE", "1"),
    ("PDM_CHECK_UPDATE", "0"),
    ("TURBO_TELEMETRY_DISABLED", "1"),
    ("NX_DAEMON", "false"),
    ("NX_NO_CLOUD", "true"),
    ("COMPOSER_ALLOW_SUPERUSER", "1"),
    ("GOTOOLCHAIN", "local"),
];

/// Where `install-tools.sh` puts the programs.
fn tools() -> PathBuf {
    let given = std::env::var_os("UMBO_TEST_TOOLS").map(PathBuf::from);
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-tools");
    given.unwrap_or(usual).join("bin")
}

pub(crate) fn search_path() -> Vec<PathBuf> {
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    std::iter::once(tools()).chain(std::env::split_paths(&inherited)).collect()
}

pub(crate) fn real_options() -> Options {
    let names = ["HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];
    let environment =
        names.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
    Options {
        path: search_path(),
        environment: environment.collect(),
        asking: Asking::Within(std::time::Duration::from_mins(1)),
        ..Options::default()
    }
}

/// Fails the test when a program it runs is not there.
pub(crate) fn need(program: &str) {
    let is_there = search_path().iter().any(|directory| directory.join(program).is_file());
    assert!(
        is_there,
        "this test runs the real `{program}`, which is not installed: \
         run crates/recipes/tests/install-tools.sh (UMBO_TEST_TOOLS says where)"
    );
}

pub(crate) fn names(runner: &Runner) -> Vec<&str> {
    runner.listed().map(|task| task.name.as_str()).collect()
}

#[track_caller]
pub(crate) fn runner<'a>(project: &'a Project, id: &str) -> &'a Runner {
    let ids: Vec<_> = project.runners.iter().map(|runner| runner.id.as_str()).collect();
    project.runner(id).unwrap_or_else(|| panic!("no {id} among {ids:?}"))
}

/// A runner that was found with its program and without problems.
#[track_caller]
pub(crate) fn healthy<'a>(project: &'a Project, id: &str) -> &'a Runner {
    let runner = runner(project, id);
    assert!(runner.is_available(), "{:?}", runner.program);
    assert!(runner.problems.is_empty(), "{:?}", runner.problems);
    runner
}
