//! A place for the jobs of one measurement: a state directory, a release `umbo` to supervise them,
//! and a control group of its own, so that what is left at the end can be told from what others
//! leave.

use std::env;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::time::{Duration, Instant};

use umbo_engine::{Builder, Engine, Environment, Request};

use crate::failure::{Done, Failure};
use crate::proc;
use crate::soak::Seed;
use crate::workspace::{cargo, execute, say};

/// How long the last processes may take to go.
const EXIT_TIMEOUT: Duration = Duration::from_secs(20);

/// What the command line of a measurement says.
pub(crate) struct Options<'a> {
    /// Its number or size.
    pub(crate) amount: Option<&'a str>,
    state: Option<&'a str>,
    seed: Option<&'a str>,
    build: Build,
}

/// Which build is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Build {
    /// For release: what is measured is what people get.
    Release,
    /// As this program itself was built, which is sooner there.
    AsItIs,
}

impl<'a> Options<'a> {
    pub(crate) fn parse(words: &[&'a str]) -> Done<Self> {
        let mut options = Self { amount: None, state: None, seed: None, build: Build::Release };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--state" => {
                    let directory = words.next().ok_or_else(|| Failure::new("--state DIR"))?;
                    options.state = Some(directory);
                }
                "--seed" => {
                    let number = words.next().ok_or_else(|| Failure::new("--seed NUMBER"))?;
                    options.seed = Some(number);
                }
                "--debug" => options.build = Build::AsItIs,
                flag if flag.starts_with('-') => {
                    return Err(Failure::new(format!("no such option: {flag}")));
                }
                amount => options.amount = Some(amount),
            }
        }
        Ok(options)
    }

    pub(crate) fn number(&self, otherwise: usize) -> Done<usize> {
        let Some(text) = self.amount else { return Ok(otherwise) };
        text.parse().map_err(|_| Failure::new(format!("{text:?} is no number")))
    }
}

impl Options<'_> {
    /// The seed of a run that is made again.
    pub(crate) fn seed(&self) -> Done<Option<Seed>> {
        let Some(text) = self.seed else { return Ok(None) };
        let number = text.parse().map_err(|_| Failure::new(format!("{text:?} is no seed")))?;
        Ok(Some(Seed::new(number)))
    }
}

/// The place.
pub(crate) struct Scratch {
    directory: PathBuf,
    umbo: PathBuf,
    group: Option<Group>,
}

impl Scratch {
    /// Makes it, in a release build: a debug build of this program becomes one first.
    pub(crate) fn open(options: &Options<'_>) -> Done<Self> {
        let own = env::current_exe().map_err(Failure::at("this program"))?;
        build(&own, options.build)?;
        if cfg!(debug_assertions) && options.build == Build::Release {
            return Err(become_release(&own));
        }
        say(proc::load());
        let parent = options.state.map_or_else(env::temp_dir, PathBuf::from);
        let directory = parent.join(format!("umbo-xtask-{}", process::id()));
        fs::create_dir_all(&directory).map_err(Failure::at(directory.display()))?;
        let directory = directory.canonicalize().map_err(Failure::at(directory.display()))?;
        Ok(Self { directory, umbo: own.with_file_name("umbo"), group: Group::enter() })
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The state directory `name`.
    pub(crate) fn state(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    pub(crate) fn umbo(&self) -> &Path {
        &self.umbo
    }

    /// An engine over the state directory `name`.
    pub(crate) fn engine(&self, name: &str) -> Builder {
        Engine::builder(self.state(name)).supervisor(&self.umbo)
    }

    /// A request for a line of `sh` with this program's own environment, as a caller makes it.
    pub(crate) fn shell(&self, line: &str) -> Request {
        let mut request = Request::shell(line, &self.directory);
        request.env = Environment { base: env::vars_os().collect(), ..Environment::default() };
        request
    }

    /// What this process and all it started have used of the processors, where somebody counts it.
    pub(crate) fn processor_time(&self) -> Duration {
        self.group.as_ref().and_then(Group::processor_time).unwrap_or_default()
    }

    /// Waits until nothing is left of any job: no supervisor, no spare, no control group. Says so.
    pub(crate) fn prove_empty(&self, state: &str) -> Done {
        let after = self.prove_gone(state)?.as_millis();
        let groups = if self.group.is_some() { "no cgroup" } else { "cgroups not in use" };
        say(format!("left behind: no supervisor, no spare, {groups} (after {after} ms)"));
        Ok(())
    }

    /// The same, silently; how long it took.
    pub(crate) fn prove_gone(&self, state: &str) -> Done<Duration> {
        let start = Instant::now();
        loop {
            let left = self.leftovers(state);
            if left.is_empty() {
                return Ok(start.elapsed());
            }
            if start.elapsed() > EXIT_TIMEOUT {
                return Err(Failure::new(format!("left behind:\n  {}", left.join("\n  "))));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn leftovers(&self, state: &str) -> Vec<String> {
        let state = self.state(state);
        let mut left: Vec<String> = proc::supervisors(&state)
            .into_iter()
            .map(|pid| format!("process {pid}: {}", proc::command_line(pid)))
            .collect();
        left.extend(
            children(&state.join("spares")).into_iter().map(|path| path.display().to_string()),
        );
        left.extend(self.group.iter().flat_map(Group::left));
        left
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// The directory that cargo builds into, from where this program is.
fn target(own: &Path) -> Done<&Path> {
    let found = own.parent().and_then(Path::parent);
    found.ok_or_else(|| Failure::new(format!("{} is in no target directory", own.display())))
}

/// Builds what is measured, and what measures it.
fn build(own: &Path, build: Build) -> Done {
    let mut command = cargo(&["build", "--quiet", "--package", "umbo"]);
    if build == Build::Release || !cfg!(debug_assertions) {
        command.arg("--release");
    }
    if build == Build::Release && cfg!(debug_assertions) {
        command.args(["--package", "xtask"]);
    }
    execute(command.arg("--target-dir").arg(target(own)?))
}

/// Goes on as the release build of this program. Returns only if it cannot.
fn become_release(own: &Path) -> Failure {
    let program = match target(own) {
        Ok(target) => target.join("release/xtask"),
        Err(failure) => return failure,
    };
    let error = Command::new(&program).args(env::args_os().skip(1)).exec();
    Failure::new(format!("{}: {error}", program.display()))
}

/// A control group for this process and all it starts; supervisors make theirs below it.
struct Group {
    path: PathBuf,
    before: PathBuf,
}

impl Group {
    /// Enters a new one; `None` where this user may not.
    fn enter() -> Option<Self> {
        let before = proc::own_group()?;
        let path = before.join(format!("xtask-{}", process::id()));
        fs::create_dir(&path).ok()?;
        let group = Self { path, before };
        fs::write(group.path.join("cgroup.procs"), "0").ok()?;
        Some(group)
    }

    fn processor_time(&self) -> Option<Duration> {
        let stat = fs::read_to_string(self.path.join("cpu.stat")).ok()?;
        let used = stat.lines().find_map(|line| line.strip_prefix("usage_usec "))?;
        Some(Duration::from_micros(used.trim().parse().ok()?))
    }

    /// Everything in it but this process.
    fn left(&self) -> Vec<String> {
        let groups = children(&self.path).into_iter().filter(|path| path.is_dir());
        let mut left: Vec<String> = groups.map(|path| path.display().to_string()).collect();
        let listed = fs::read_to_string(self.path.join("cgroup.procs")).unwrap_or_default();
        let others =
            listed.lines().filter_map(|pid| pid.parse().ok()).filter(|pid| *pid != process::id());
        left.extend(others.map(|pid| format!("process {pid}: {}", proc::command_line(pid))));
        left
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::write(self.before.join("cgroup.procs"), "0");
        let _ = fs::remove_dir(&self.path);
    }
}

fn children(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_in_any_order() -> Done {
        for words in [["7", "--state", "d"], ["--state", "d", "7"]] {
            let options = Options::parse(&words)?;
            assert_eq!((options.number(1)?, options.state), (7, Some("d")));
        }
        assert!(Options::parse(&["--state"]).is_err());
        assert!(Options::parse(&["--other"]).is_err());
        assert!(Options::parse(&["x"])?.number(1).is_err());
        Ok(())
    }
}
