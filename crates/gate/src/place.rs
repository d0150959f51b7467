//! Where things are: the roots a decision is made against, and paths as the kernel would resolve them.
//!
//! A path is resolved name by name, through links that lead somewhere and links that lead nowhere
//! yet, for writing through a dangling link makes the file it points to. What does not exist is taken
//! as it is written. Case is left alone. The answer is true when it is given: a process that
//! changes links afterwards can make it wrong, which only an OS sandbox prevents.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;

/// The directories a decision depends on. All are resolved when the roots are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// The project: what an agent may change without being told apart from an attacker.
    pub project: PathBuf,
    /// The user's home, for `~`.
    pub home: Option<PathBuf>,
    /// Umbo's configuration: rules, key and trust.
    pub config: Option<PathBuf>,
    /// Umbo's state: jobs, approvals and the audit.
    pub state: Option<PathBuf>,
    /// Directories for passing files, such as `/tmp`: writing there does not raise the risk.
    pub scratch: Vec<PathBuf>,
}

impl Roots {
    /// Roots for a project.
    pub fn new(project: &Path) -> Self {
        Self { project: resolve(project), ..Self::default() }
    }

    /// With the user's home.
    #[must_use]
    pub fn home(mut self, path: Option<&Path>) -> Self {
        self.home = path.map(resolve);
        self
    }

    /// With umbo's own directories, which commands may not change.
    #[must_use]
    pub fn umbo(mut self, config: &Path, state: &Path) -> Self {
        self.config = Some(resolve(config));
        self.state = Some(resolve(state));
        self
    }

    /// With a directory for passing files.
    #[must_use]
    pub fn scratch(mut self, path: &Path) -> Self {
        self.scratch.push(resolve(path));
        self
    }

    /// Whether a resolved path is the project or in it. A whole file system or a whole home is no
    /// project: nothing is in it.
    pub fn in_project(&self, resolved: &Path) -> bool {
        resolved.starts_with(&self.project) && !is_too_wide(&self.project, self.home.as_deref())
    }

    /// Whether writing to a resolved path reaches out of what the agent works on.
    pub(crate) fn is_outside(&self, resolved: &Path) -> bool {
        let harmless = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero"]
            .iter()
            .any(|device| resolved == Path::new(device));
        !harmless
            && !self.in_project(resolved)
            && !self.scratch.iter().any(|scratch| resolved.starts_with(scratch))
    }
}

/// The nearest directory from `start` upwards that has a `.umbo` or a `.git`; else `start`.
pub fn project_of(start: &Path) -> PathBuf {
    Marks::default().project_of(start).to_owned()
}

/// What holds for a caller that works in one directory and runs a command in another.
pub(crate) struct Around {
    /// The project.
    pub(crate) project: PathBuf,
    /// The directories from the two upwards that have a `.umbo`, outermost first. All of them count: an inner
    /// file does not replace an outer one.
    pub(crate) with_rules: Vec<PathBuf>,
}

impl Around {
    /// Looks upwards from `base` and `cwd`, at each directory once. The project is that of `base`: running
    /// a command elsewhere does not change what counts as the project. Only if `base` is in no project, that
    /// of `cwd` counts.
    pub(crate) fn look(base: &Path, cwd: &Path, home: Option<&Path>) -> Self {
        let mut marks = Marks::default();
        let of_base = marks.project_of(base);
        // Most commands run where their caller works.
        let other = Some(cwd).filter(|cwd| cwd.as_os_str() != base.as_os_str());
        let of_cwd = other.map_or(of_base, |cwd| marks.project_of(cwd));
        let is_wide = |project: &Path| is_too_wide(&resolve(project), home);
        let is_elsewhere = of_base != of_cwd
            && (!marks.is_project(of_base) || is_wide(of_base))
            && (marks.is_project(of_cwd) && !is_wide(of_cwd));
        let project = if is_elsewhere { of_cwd } else { of_base }.to_owned();
        let mut with_rules: Vec<PathBuf> = Vec::new();
        for directory in base.ancestors().chain(other.into_iter().flat_map(Path::ancestors)) {
            if marks.of(directory).umbo && !with_rules.iter().any(|known| known == directory) {
                with_rules.push(directory.to_owned());
            }
        }
        with_rules.sort_by_key(|directory| directory.components().count());
        Self { project, with_rules }
    }
}

/// Which directories have a `.umbo` or a `.git`, each looked at once.
#[derive(Default)]
struct Marks<'a> {
    looked_at: Vec<(&'a Path, Mark)>,
    /// For the paths of what is looked for.
    path: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Mark {
    umbo: bool,
    /// Nobody has asked before it is some.
    git: Option<bool>,
}

impl<'a> Marks<'a> {
    fn of(&mut self, directory: &'a Path) -> &mut Mark {
        // One that is spelled in two ways is looked at twice.
        let is_known = |(known, _): &(&Path, Mark)| known.as_os_str() == directory.as_os_str();
        let index = self.looked_at.iter().position(is_known).unwrap_or_else(|| {
            let umbo = has(&mut self.path, directory, b".umbo");
            self.looked_at.push((directory, Mark { umbo, git: None }));
            self.looked_at.len() - 1
        });
        &mut self.looked_at[index].1
    }

    fn is_project(&mut self, directory: &'a Path) -> bool {
        let Mark { umbo, git } = *self.of(directory);
        umbo || git.unwrap_or_else(|| {
            let git = has(&mut self.path, directory, b".git");
            self.of(directory).git = Some(git);
            git
        })
    }

    /// As [`project_of`].
    fn project_of(&mut self, start: &'a Path) -> &'a Path {
        start.ancestors().find(|directory| self.is_project(directory)).unwrap_or(start)
    }
}

/// Whether a directory has this entry and is not writable by everybody: in `/tmp` any user could have made
/// it.
fn has(path: &mut Vec<u8>, directory: &Path, name: &[u8]) -> bool {
    path.clear();
    path.extend_from_slice(directory.as_os_str().as_bytes());
    if !path.is_empty() && !path.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    rustix::fs::lstat(path.as_slice()).is_ok()
        && std::fs::metadata(directory).is_ok_and(|facts| facts.mode() & 0o002 == 0)
}

fn is_too_wide(project: &Path, home: Option<&Path>) -> bool {
    project == Path::new("/") || home.is_some_and(|home| home.starts_with(project))
}

/// A working directory that must be in the project: its resolved path.
pub fn restrict_to_project(directory: &Path, project: &Path) -> Result<PathBuf> {
    let shown = || directory.display().to_string();
    let absolute = project.join(directory);
    let resolved = resolve(&absolute);
    // Checked first: the caller should not learn whether a path outside the project exists.
    if !resolved.starts_with(resolve(project)) {
        return Err(Error::OutsideProject(shown()));
    }
    match std::fs::metadata(&resolved) {
        Ok(facts) if facts.is_dir() => Ok(resolved),
        Ok(_) => Err(Error::NotDirectory(shown())),
        Err(_) => Err(Error::NoDirectory(shown())),
    }
}

/// The path without links, `.` and `..`. Relative paths stay relative to `/`: give absolute ones.
pub fn resolve(path: &Path) -> PathBuf {
    let mut rest: VecDeque<OsString> = names(path);
    let mut resolved = PathBuf::from("/");
    let mut links = 0;
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            resolved.pop();
            continue;
        }
        let next = resolved.join(&name);
        match std::fs::read_link(&next) {
            Ok(target) if links < MOST_LINKS => {
                links += 1;
                if target.is_absolute() {
                    resolved = PathBuf::from("/");
                }
                for name in names(&target).into_iter().rev() {
                    rest.push_front(name);
                }
            }
            _ => resolved = next,
        }
    }
    resolved
}

/// The path without `.` and `..`, by its text alone.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::from("/");
    for name in names(path) {
        if name == ".." {
            normal.pop();
        } else {
            normal.push(name);
        }
    }
    normal
}

fn names(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some(OsString::from("..")),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn project() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let project = directory.path().canonicalize().unwrap().join("project");
        fs::create_dir_all(project.join("sub")).unwrap();
        (directory, project)
    }

    #[test]
    fn links_dots_and_missing_tails_are_resolved() {
        let (_keep, project) = project();
        symlink("/etc", project.join("out")).unwrap();
        symlink("sub/../missing", project.join("dangling")).unwrap();
        symlink("loop", project.join("loop")).unwrap();
        let at = |path: &str| resolve(&project.join(path));
        assert_eq!(at("sub/../x/y/"), project.join("x/y"));
        assert_eq!(at("out/passwd"), Path::new("/etc/passwd"));
        assert_eq!(at("out/../x"), Path::new("/x"), "`..` after a link is the link's parent");
        assert_eq!(at("dangling/z"), project.join("missing/z"));
        assert_eq!(at("../../../../../../../.."), Path::new("/"));
        assert!(at("loop/x").starts_with(&project), "a loop ends");
    }

    #[test]
    fn a_directory_outside_the_project_is_refused_in_the_words_of_the_seed() {
        let (_keep, project) = project();
        symlink("/", project.join("root")).unwrap();
        fs::write(project.join("file"), "").unwrap();
        let refused = |path: &str| restrict_to_project(Path::new(path), &project).unwrap_err();
        assert_eq!(restrict_to_project(Path::new("sub/"), &project).unwrap(), project.join("sub"));
        assert_eq!(restrict_to_project(&project, &project).unwrap(), project);
        for path in ["../../../etc", "/etc", "root/etc", "..", "/no/such/place", "sub/../.."] {
            assert_eq!(
                refused(path).to_string(),
                format!("Working directory '{path}' is outside project root")
            );
        }
        assert_eq!(refused("nowhere").to_string(), "Working directory does not exist: nowhere");
        assert_eq!(refused("file").to_string(), "Working directory is not a directory: file");
        let sibling = format!("{}-two", project.display());
        fs::create_dir(&sibling).unwrap();
        assert!(
            matches!(refused(&sibling), Error::OutsideProject(_)),
            "a longer name is not inside"
        );
    }

    #[test]
    fn the_project_is_the_nearest_directory_with_a_mark() {
        let (_keep, project) = project();
        fs::create_dir(project.join(".git")).unwrap();
        assert_eq!(project_of(&project.join("sub")), project);
        fs::create_dir(project.join("sub/.umbo")).unwrap();
        assert_eq!(project_of(&project.join("sub")), project.join("sub"));
    }
}
