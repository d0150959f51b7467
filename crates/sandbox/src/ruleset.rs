//! Landlock: which paths a job may read, write and execute, enforced by the kernel for as long as it and
//! its descendants live. Inside of namespaces it is a second wall; without them it is the first.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};

use crate::layout::{DEVICES, PRIVATE};
use crate::plan::{Network, Plan, Rung, is_below};

/// The newest version of Landlock whose rights are asked for; an older kernel gives what it has.
const VERSION: ABI = ABI::V7;

/// Programs load others through these; a list of what may be executed has them always.
const LOADERS: [&str; 5] = [
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
];

/// Makes the ruleset of a plan. `root` is where the job's root directory is seen from here.
pub(crate) fn build(plan: &Plan, rung: Rung, root: &Path) -> Result<OwnedFd, String> {
    let failed = |error: RulesetError| error.to_string();
    let handled = handled(plan, rung);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(handled)
        .map_err(failed)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)
        .map_err(failed)?;
    if rung == Rung::Landlock && plan.network != Network::On {
        ruleset = ruleset.handle_access(AccessNet::ConnectTcp).map_err(failed)?;
    }
    let created = ruleset.create().map_err(failed)?;
    let inside = plan.shown_inside().collect();
    let mut rules = Rules { created, root, handled, inside };
    rules.read(plan, rung)?;
    rules.execute(plan)?;
    rules.write(plan, rung)?;
    let fd: Option<OwnedFd> = rules.created.into();
    fd.ok_or_else(|| "this kernel has no Landlock, or it is switched off".to_owned())
}

/// What Landlock decides about. Where mounts cover what is hidden and keep the rest from being written, it
/// has nothing to say about reading, and cutting a file short needs a right to write: not asking it spares
/// the walk up to the root at every file that is opened.
fn handled(plan: &Plan, rung: Rung) -> BitFlags<AccessFs> {
    let all = AccessFs::from_all(VERSION);
    match (rung, &plan.execute) {
        (Rung::Landlock, _) => all,
        (_, Some(_)) => all & !(AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Truncate),
        (_, None) => all & !(AccessFs::from_read(VERSION) | AccessFs::Truncate),
    }
}

struct Rules<'a> {
    created: RulesetCreated,
    root: &'a Path,
    /// What the rules are about; any other right is no matter for Landlock.
    handled: BitFlags<AccessFs>,
    /// What the job sees below something hidden: the way there is closed to us, but on the machine it is the
    /// same.
    inside: Vec<&'a Path>,
}

impl Rules<'_> {
    fn add(&mut self, path: &Path, rights: BitFlags<AccessFs>) -> Result<(), String> {
        let path = if self.inside.contains(&path) {
            path.to_owned()
        } else {
            self.root.join(path.strip_prefix("/").unwrap_or(path))
        };
        // What is not there, or cannot be looked at, needs no rule.
        let Ok(fd) = PathFd::new(&path) else { return Ok(()) };
        let is_directory = fs::metadata(&path).is_ok_and(|meta| meta.is_dir());
        let rights = if is_directory { rights } else { rights & AccessFs::from_file(VERSION) };
        let rights = rights & self.handled;
        if rights.is_empty() {
            return Ok(());
        }
        let rule = PathBeneath::new(fd, rights);
        (&mut self.created)
            .add_rule(rule)
            .map(|_| ())
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    fn read(&mut self, plan: &Plan, rung: Rung) -> Result<(), String> {
        let rights = match plan.execute {
            None => AccessFs::from_read(VERSION),
            Some(_) => AccessFs::ReadFile | AccessFs::ReadDir,
        };
        if rung != Rung::Landlock {
            return self.add(Path::new("/"), rights);
        }
        // The machine's devices are there too, its terminals and disks; the few that are for everybody get
        // rules of their own.
        let hide: Vec<&Path> =
            plan.hide.iter().map(PathBuf::as_path).chain([Path::new("/dev")]).collect();
        // A rule cannot be taken back further down: every neighbour of what is hidden has its own.
        let mut open = vec![PathBuf::from("/")];
        for path in plan.shown_inside() {
            if hide.iter().any(|hidden| is_below(hidden, path)) {
                open.push(path.to_owned());
            } else {
                self.add(path, rights)?;
            }
        }
        while let Some(directory) = open.pop() {
            self.add(&directory, AccessFs::ReadDir.into())?;
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                let path = entry.path();
                if hide.contains(&path.as_path()) {
                    continue;
                }
                if hide.iter().any(|hidden| hidden.starts_with(&path)) {
                    open.push(path);
                } else if !entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                    self.add(&path, rights)?;
                }
            }
        }
        Ok(())
    }

    fn execute(&mut self, plan: &Plan) -> Result<(), String> {
        let Some(paths) = &plan.execute else { return Ok(()) };
        let rights = AccessFs::from_read(VERSION);
        for path in LOADERS.iter().filter_map(|path| fs::canonicalize(path).ok()) {
            self.add(&path, rights)?;
        }
        paths.iter().try_for_each(|path| self.add(path, rights))
    }

    fn write(&mut self, plan: &Plan, rung: Rung) -> Result<(), String> {
        let device =
            AccessFs::WriteFile | AccessFs::ReadFile | AccessFs::Truncate | AccessFs::IoctlDev;
        for path in DEVICES.iter().chain(&["/dev/ptmx"]) {
            self.add(Path::new(path), device)?;
        }
        let mut all = AccessFs::from_all(VERSION) & !(AccessFs::MakeBlock | AccessFs::MakeChar);
        if plan.execute.is_some() {
            all &= !BitFlags::from(AccessFs::Execute);
        }
        self.add(Path::new("/dev/shm"), all)?;
        if rung == Rung::Landlock {
            // Only what nobody has to look into before it is written; the rest the supervisor writes.
            return plan.temporary.as_deref().map_or(Ok(()), |path| self.add(path, all));
        }
        for path in ["/tmp", "/var/tmp", "/dev/pts"] {
            self.add(Path::new(path), all)?;
        }
        plan.write.iter().try_for_each(|path| self.add(path, all))
    }
}

/// Whether a job on a rung with mounts of its own has this path for itself.
pub(crate) fn is_private(path: &Path) -> bool {
    PRIVATE.iter().any(|place| path.starts_with(place))
}
