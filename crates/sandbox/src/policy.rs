//! What a job may touch, and how that becomes a [`Plan`].
//!
//! A policy is made from a profile and a few facts about the machine, changed by what its caller grants,
//! and then resolved: links are followed, what is not there is left out, caches that a tool needs are made.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::hosts::HostRule;
use crate::known;
use crate::plan::{Ask, Network, Plan, Rung, Tell};
use crate::seen::{Seen, Settled};

/// The profiles that have a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// No sandbox.
    Off,
    /// Reads what is not hidden; writes nothing but its own `/tmp`, reaches nothing.
    ReadOnly,
    /// Writes in the project and in the caches of known tools; reaches nothing.
    Workspace,
    /// The same, and reaches public hosts, or those that are listed, through the proxy.
    WorkspaceNet,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Off, Self::ReadOnly, Self::Workspace, Self::WorkspaceNet];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::ReadOnly => "read-only",
            Self::Workspace => "workspace",
            Self::WorkspaceNet => "workspace+net",
        }
    }
}

impl FromStr for Profile {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|profile| profile.name() == name);
        known.ok_or_else(|| Error::Profile(name.to_owned()))
    }
}

/// Why a policy cannot be made or resolved.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody knows that profile.
    #[error("sandbox: {0:?} is no profile; there are off, read-only, workspace and workspace+net")]
    Profile(String),
    /// A host that is none.
    #[error(
        "allow-host: {0:?} is no host; write example.com, *.example.com, 10.0.0.0/8, each with or without :port"
    )]
    Host(String),
    /// A path that cannot be granted.
    #[error("{field}: {}: {problem}", path.display())]
    Path {
        /// The field that has it.
        field: &'static str,
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

impl Error {
    fn path(field: &'static str, path: &Path, problem: &dyn std::fmt::Display) -> Self {
        Self::Path { field, path: path.to_owned(), problem: problem.to_string() }
    }
}

/// The facts about a machine that a policy is made from; a library reads no environment.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The project a job works on.
    pub project: PathBuf,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// What belongs to umbo itself: its state, its configuration. Hidden from every job.
    pub own: Vec<PathBuf>,
    /// A directory that the jobs of this project share as their `/tmp`.
    pub temporary: Option<PathBuf>,
    /// The caller's variables: some of them move the caches of tools.
    pub variables: Vec<(String, PathBuf)>,
    /// Where programs are found: the caches of those that are there are made where they are missing.
    pub search_path: Vec<PathBuf>,
}

/// What a job may touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The name of the profile it came from.
    pub profile: String,
    /// What may be written.
    pub write: Vec<PathBuf>,
    /// What stays read-only inside of that.
    pub protect: Vec<PathBuf>,
    /// What can be neither read nor listed.
    pub hide: Vec<PathBuf>,
    /// What is shown all the same.
    pub reveal: Vec<PathBuf>,
    /// What stays visible though it lies below `/tmp` or `/run`.
    pub show: Vec<PathBuf>,
    /// What the job sees as `/tmp`.
    pub temporary: Option<PathBuf>,
    /// From where programs may be started; without a list, from everywhere.
    pub execute: Option<Vec<PathBuf>>,
    /// What it can reach.
    pub network: Network,
    /// Sockets of the machine's services that may be connected to, or directories of them.
    pub connect: Vec<PathBuf>,
    /// Variables that are taken out of the environment.
    pub drop_variables: Vec<String>,
    /// Variables that are kept all the same, by name.
    pub keep_variables: Vec<String>,
    /// What is asked about instead of denied.
    pub ask: Option<Ask>,
    /// Which calls the supervisor is told of.
    pub tell: Tell,
    /// The ways of enforcing it that are good enough.
    pub rungs: Vec<Rung>,
    /// Caches that are made where they are missing: if there is that program, or in any case.
    caches: Vec<(Option<&'static str>, PathBuf)>,
    cache_files: Vec<PathBuf>,
    /// Where programs are found.
    search_path: Vec<PathBuf>,
}

impl Policy {
    /// The policy of a profile; none for [`Profile::Off`].
    pub fn of(profile: Profile, around: &Surroundings) -> Result<Option<Self>, Error> {
        if profile == Profile::Off {
            return Ok(None);
        }
        let mut policy = Self {
            profile: profile.name().to_owned(),
            write: Vec::new(),
            protect: Vec::new(),
            hide: secrets(around),
            reveal: Vec::new(),
            show: vec![around.project.clone()],
            temporary: None,
            execute: None,
            network: Network::Off,
            connect: Vec::new(),
            drop_variables: known::VARIABLES_DROPPED.iter().map(ToString::to_string).collect(),
            keep_variables: Vec::new(),
            ask: None,
            tell: Tell::Writes,
            rungs: Rung::ALL.to_vec(),
            caches: Vec::new(),
            cache_files: Vec::new(),
            search_path: Vec::new(),
        };
        if profile != Profile::ReadOnly {
            policy.open_workspace(around)?;
        }
        if profile == Profile::WorkspaceNet {
            policy.network = Network::Public;
        }
        Ok(Some(policy))
    }

    /// Lets the project, its repository and the caches of known tools be written.
    fn open_workspace(&mut self, around: &Surroundings) -> Result<(), Error> {
        let project = resolved("project", &around.project)?;
        let home = around.home.as_ref().and_then(|home| fs::canonicalize(home).ok());
        if home.as_ref().is_some_and(|home| home.starts_with(&project)) {
            let problem = "it has the home directory in it, with all settings and keys; \
                           work in a directory below it";
            return Err(Error::path("project", &project, &problem));
        }
        self.protect.extend(known::PROTECTED_IN_PROJECT.iter().map(|name| project.join(name)));
        self.open_repository(&project);
        self.write.push(project);
        self.temporary.clone_from(&around.temporary);
        if let Some(home) = home {
            let join =
                |names: &[&str]| names.iter().map(|name| home.join(name)).collect::<Vec<_>>();
            self.write.extend(join(known::CACHES_IN_HOME));
            self.caches = vec![(None, home.join(".cache"))];
            for (program, caches) in known::CACHES_OF_PROGRAMS {
                self.caches.extend(join(caches).into_iter().map(|cache| (Some(*program), cache)));
            }
            self.search_path.clone_from(&around.search_path);
            self.cache_files = join(known::LOCKS_OF_CARGO);
            self.open_moved_caches(around, &home);
        }
        Ok(())
    }

    /// Lets caches be written that the caller's variables name.
    fn open_moved_caches(&mut self, around: &Surroundings, home: &Path) {
        for (name, parts) in known::CACHES_OF_VARIABLES {
            let value = around.variables.iter().find(|(variable, _)| variable == name);
            let Some((_, directory)) = value else { continue };
            // Of a directory that holds more than a cache only what is one.
            let is_all = parts.is_empty();
            if !directory.is_absolute() || (is_all && home.starts_with(directory)) {
                continue;
            }
            let found: Vec<PathBuf> = if is_all {
                vec![directory.clone()]
            } else {
                parts.iter().map(|part| directory.join(part)).collect()
            };
            let is_lock = |path: &PathBuf| {
                path.file_name().is_some_and(|name| {
                    known::LOCKS_OF_CARGO
                        .iter()
                        .any(|lock| lock.ends_with(&*name.to_string_lossy()))
                })
            };
            let (files, directories): (Vec<_>, Vec<_>) = found.into_iter().partition(is_lock);
            self.write.extend(files.iter().chain(&directories).cloned());
            self.cache_files.extend(files);
            self.caches.extend(directories.into_iter().map(|directory| (None, directory)));
        }
    }

    /// The variables that are looked at for caches.
    pub fn cache_variables() -> impl Iterator<Item = &'static str> {
        known::CACHES_OF_VARIABLES.iter().map(|(name, _)| *name)
    }

    /// What git keeps for a project: its directory, or for a work tree the one it shares with others.
    fn open_repository(&mut self, project: &Path) {
        let git = project.join(".git");
        let keep_hooks = |policy: &mut Self, directory: &Path| {
            let names = known::PROTECTED_IN_GIT.iter();
            policy.protect.extend(names.map(|name| directory.join(name)));
        };
        if git.is_dir() {
            keep_hooks(self, &git);
            return;
        }
        let Ok(text) = fs::read_to_string(&git) else { return };
        let Some(directory) = text.trim().strip_prefix("gitdir: ") else { return };
        let Ok(directory) = fs::canonicalize(project.join(directory)) else { return };
        let shared = fs::read_to_string(directory.join("commondir"))
            .ok()
            .and_then(|path| fs::canonicalize(directory.join(path.trim())).ok());
        // A file that points anywhere else would open whatever it names.
        let Some(shared) = shared.filter(|shared| directory.starts_with(shared.join("worktrees")))
        else {
            return;
        };
        keep_hooks(self, &directory);
        keep_hooks(self, &shared);
        self.protect.push(git);
        self.write.push(shared);
    }

    /// Lets one more path be written.
    pub fn allow_write(&mut self, path: &Path) -> Result<(), Error> {
        self.write.push(resolved("allow-write", path)?);
        Ok(())
    }

    /// Shows a path that would be hidden.
    pub fn allow_read(&mut self, path: &Path) -> Result<(), Error> {
        self.reveal.push(resolved("allow-read", path)?);
        Ok(())
    }

    /// Lets a service be asked through its socket, or through any in a directory, if that is there.
    pub fn allow_connect(&mut self, socket: &Path) {
        self.connect.push(socket.to_owned());
    }

    /// Lets one more host be reached; the first one that is named takes the place of all public ones.
    pub fn allow_host(&mut self, host: &str) -> Result<(), Error> {
        let rule: HostRule = host.parse()?;
        match &mut self.network {
            Network::Hosts(rules) => rules.push(rule),
            Network::On => {}
            Network::Off | Network::Public => self.network = Network::Hosts(vec![rule]),
        }
        Ok(())
    }

    /// Resolves it to what a supervisor needs.
    pub fn plan(self) -> Result<Plan, Error> {
        self.plan_seeing(&mut Seen::new())
    }

    fn make_caches(&self, seen: &mut Seen) {
        let is_there = |seen: &mut Seen, program: &str| {
            self.search_path.iter().any(|place| seen.resolve(&place.join(program)).is_some())
        };
        for (program, cache) in &self.caches {
            let is_wanted = seen.resolve(cache).is_none()
                && program.is_none_or(|program| is_there(seen, program));
            // Where it cannot be made, writing it is denied later, and said.
            if is_wanted && fs::create_dir_all(cache).is_ok() {
                seen.forget(cache);
            }
        }
        for file in &self.cache_files {
            let mut options = fs::OpenOptions::new();
            if seen.resolve(file).is_none()
                && file.parent().is_some_and(Path::is_dir)
                && options.create(true).append(true).open(file).is_ok()
            {
                seen.forget(file);
            }
        }
    }

    fn plan_seeing(self, seen: &mut Seen) -> Result<Plan, Error> {
        self.make_caches(seen);
        let mut present = |paths: Vec<PathBuf>| {
            let mut paths: Vec<_> = paths.iter().filter_map(|path| seen.resolve(path)).collect();
            paths.sort();
            paths.dedup();
            paths
        };
        let mut plan = Plan {
            profile: self.profile,
            write: outermost(present(self.write)),
            protect: self.protect,
            hide: outermost(present(self.hide)),
            show: outermost(present(self.show)),
            temporary: self.temporary,
            execute: self.execute.map(&mut present),
            network: self.network,
            connect: outermost(present(self.connect)),
            drop_variables: self.drop_variables,
            keep_variables: self.keep_variables,
            ask: self.ask,
            tell: self.tell,
            rungs: self.rungs,
        };
        for path in plan.write.clone().iter().chain(&self.reveal) {
            // What is beside it is in the directories on its way.
            seen.resolve(path);
            plan.reveal(path);
        }
        for path in plan.write.iter().chain(&plan.protect).chain(&plan.hide) {
            if path.to_str().is_none() {
                return Err(Error::path("sandbox", path, &"its name is not UTF-8; rename it"));
            }
        }
        Ok(plan)
    }
}

/// Plans that were made, for those who make many: each is good as long as all that was looked at for it is as it was.
#[derive(Debug, Default)]
pub struct Plans(Mutex<VecDeque<Made>>);

#[derive(Debug)]
struct Made {
    policy: Policy,
    plan: Plan,
    seen: Settled,
}

impl Plans {
    /// The plan of a policy, as [`Policy::plan`] makes it.
    pub fn plan(&self, policy: Policy) -> Result<Plan, Error> {
        /// Of different policies: a server has a few projects and profiles in use at a time.
        const MOST_KEPT: usize = 8;
        if let Some(plan) = self.known(&policy) {
            return Ok(plan);
        }
        let mut seen = Seen::new();
        let plan = policy.clone().plan_seeing(&mut seen)?;
        if let Some(seen) = seen.settled() {
            let mut made = self.lock();
            made.push_back(Made { policy, plan: plan.clone(), seen });
            if made.len() > MOST_KEPT {
                made.pop_front();
            }
        }
        Ok(plan)
    }

    fn known(&self, policy: &Policy) -> Option<Plan> {
        let mut made = self.lock();
        let place = made.iter().position(|made| made.policy == *policy)?;
        let found = made.remove(place).filter(|found| found.seen.holds())?;
        let plan = found.plan.clone();
        made.push_back(found);
        Some(plan)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Made>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Plan {
    /// Shows a path below something hidden: its neighbours on the way are hidden one by one instead.
    fn reveal(&mut self, path: &Path) {
        let (above, mut hide): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.hide).into_iter().partition(|hidden| path.starts_with(hidden));
        for hidden in above {
            let mut here = path;
            while here != hidden {
                let Some(parent) = here.parent() else { break };
                let entries = fs::read_dir(parent).into_iter().flatten().flatten();
                // A link is not covered, but what it leads to: that may be anything.
                let is_link =
                    |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
                let entries = entries.filter(|entry| !is_link(entry)).map(|entry| entry.path());
                hide.extend(entries.filter(|entry| entry != here));
                here = parent;
            }
        }
        self.hide = hide;
    }
}

/// Paths that are not below another one.
fn outermost(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::new();
    // They are sorted: what is above comes first.
    for path in paths {
        if !kept.iter().any(|above| path.starts_with(above)) {
            kept.push(path);
        }
    }
    kept
}

fn secrets(around: &Surroundings) -> Vec<PathBuf> {
    let home = around.home.iter().flat_map(|home| {
        [known::SECRETS_IN_HOME, known::AGENTS_IN_HOME]
            .concat()
            .iter()
            .map(|name| home.join(name))
            .collect::<Vec<_>>()
    });
    let system = known::SECRETS_OF_SYSTEM.iter().map(PathBuf::from);
    home.chain(system).chain(around.own.iter().cloned()).collect()
}

fn resolved(field: &'static str, path: &Path) -> Result<PathBuf, Error> {
    let failed = |error: io::Error| Error::path(field, path, &error);
    let path = fs::canonicalize(path).map_err(failed)?;
    if path == Path::new("/") {
        return Err(Error::path(field, &path, &"that is everything; name a directory below it"));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_kept_plan_is_what_a_new_one_would_be() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for name in ["home/project/.git", "home/.config", "home/.cache", "bin", "elsewhere/keys"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        let around = Surroundings {
            project: at("home/project"),
            home: Some(at("home")),
            search_path: vec![at("bin")],
            ..Surroundings::default()
        };
        let policy = || Policy::of(Profile::Workspace, &around).unwrap().unwrap();
        let plans = Plans::default();
        let changes: [(&str, &dyn Fn()); 6] = [
            ("nothing", &|| {}),
            ("a secret comes", &|| fs::create_dir(at("home/.aws")).unwrap()),
            ("one in a directory that was there", &|| {
                fs::create_dir(at("home/.config/gcloud")).unwrap();
            }),
            ("one that is a link", &|| symlink(at("elsewhere/keys"), at("home/.ssh")).unwrap()),
            ("what that leads to goes", &|| fs::remove_dir(at("elsewhere/keys")).unwrap()),
            ("a program comes", &|| fs::write(at("bin/npm"), "").unwrap()),
        ];
        for (name, change) in changes {
            change();
            let kept = plans.plan(policy()).unwrap();
            assert_eq!(kept, policy().plan().unwrap(), "{name}");
            // What changed just now is not kept yet.
            while plans.known(&policy()).is_none() {
                assert_eq!(plans.plan(policy()).unwrap(), kept, "{name}");
            }
        }
        assert!(at("home/.npm").is_dir(), "the cache of a program that came is made");
    }
}
