//! Where files may be: the project, further roots, and what in them is hidden or protected.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::guard::{Access, AccessKind, Decision, Guard, InsideOnly, Place};
use crate::seen::Seen;
use crate::undo::UndoStore;
use crate::{Error, paths};

/// A directory in which files may be read and changed.
#[derive(Clone, Debug)]
struct Root {
    name: String,
    path: PathBuf,
}

/// Globs of paths that are treated specially. A pattern without `/` holds at any depth, one with
/// `/` from the top of each root, one that begins with `/` or `~/` for the whole machine. What
/// holds for a directory holds for everything in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Policy {
    /// Never listed, found, searched, read or written.
    pub hidden: Vec<String>,
    /// Read as anything else, but never written or deleted.
    pub protected: Vec<String>,
}

/// The roots, the working directory and the policy.
#[derive(Clone, Debug)]
pub struct Workspace {
    roots: Vec<Root>,
    cwd: PathBuf,
    home: Option<PathBuf>,
    hidden: GlobSet,
    protected: GlobSet,
}

/// The name of the first root.
const PROJECT: &str = "project";

impl Workspace {
    /// A workspace of one root, the project, which is also the working directory.
    pub fn new(project: &Path) -> Result<Self, Error> {
        let path = directory(project)?;
        let root = Root { name: PROJECT.to_owned(), path: path.clone() };
        let (hidden, protected) = (GlobSet::empty(), GlobSet::empty());
        Ok(Self { roots: vec![root], cwd: path, home: None, hidden, protected })
    }

    /// Adds a root.
    pub fn with_root(mut self, name: &str, path: &Path) -> Result<Self, Error> {
        self.roots.push(Root { name: name.to_owned(), path: directory(path)? });
        Ok(self)
    }

    /// Sets the directory that relative paths start from and answers are relative to.
    pub fn with_cwd(mut self, path: &Path) -> Result<Self, Error> {
        self.cwd = directory(&self.roots[0].path.join(path))?;
        Ok(self)
    }

    /// Sets what `~` means.
    #[must_use]
    pub fn with_home(mut self, path: &Path) -> Self {
        self.home = Some(path.to_path_buf());
        self
    }

    /// Sets what is hidden and protected; `~` must be set before.
    pub fn with_policy(mut self, policy: &Policy) -> Result<Self, Error> {
        self.hidden = self.globs("policy.hidden", &policy.hidden)?;
        self.protected = self.globs("policy.protected", &policy.protected)?;
        Ok(self)
    }

    /// The project's directory, resolved.
    pub fn project(&self) -> &Path {
        &self.roots[0].path
    }

    /// The directory that relative paths start from.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The root that a resolved path lies in: the innermost.
    pub(crate) fn place(&self, path: &Path) -> Place<'_> {
        let containing = self.roots.iter().filter(|root| path.starts_with(&root.path));
        containing
            .max_by_key(|root| root.path.as_os_str().len())
            .map_or(Place::Outside, |root| Place::Inside(&root.name))
    }

    pub(crate) fn is_hidden(&self, path: &Path) -> bool {
        !self.hidden.is_empty() && self.hidden.is_match(path)
    }

    fn is_protected(&self, path: &Path) -> bool {
        !self.protected.is_empty() && self.protected.is_match(path)
    }

    /// A path as answers name it: relative to the working directory where it lies in it.
    pub fn shown(&self, path: &Path) -> String {
        let shorter = path.strip_prefix(&self.cwd).unwrap_or(path);
        if shorter.as_os_str().is_empty() { ".".to_owned() } else { paths::shown(shorter) }
    }

    fn globs(&self, field: &'static str, patterns: &[String]) -> Result<GlobSet, Error> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            for absolute in self.absolute_globs(pattern) {
                let glob = GlobBuilder::new(&absolute).literal_separator(true).build();
                let glob = glob.map_err(|e| Error::bad(field, pattern, e.kind().to_string()))?;
                set.add(glob);
            }
        }
        set.build().map_err(|e| Error::bad(field, "", e.to_string()))
    }

    fn absolute_globs(&self, pattern: &str) -> Vec<String> {
        let pattern = pattern.trim_end_matches('/');
        let homely = pattern.strip_prefix("~/").zip(self.home.as_deref());
        let starts = if let Some((rest, home)) = homely {
            vec![format!("{}/{rest}", escaped(home))]
        } else if pattern.starts_with('/') {
            vec![pattern.to_owned()]
        } else if pattern.contains('/') {
            self.roots.iter().map(|root| format!("{}/{pattern}", escaped(&root.path))).collect()
        } else {
            vec![format!("**/{pattern}")]
        };
        starts.into_iter().flat_map(|start| [format!("{start}/**"), start]).collect()
    }
}

/// A path as a glob that matches it alone.
fn escaped(path: &Path) -> String {
    globset::escape(&path.to_string_lossy()).trim_end_matches('/').to_owned()
}

fn directory(path: &Path) -> Result<PathBuf, Error> {
    let shown = paths::shown(path);
    let resolved = path.canonicalize().map_err(Error::io("open the directory", &shown))?;
    let is_directory = resolved.is_dir();
    if is_directory && resolved.components().all(|part| !matches!(part, Component::ParentDir)) {
        return Ok(resolved);
    }
    Err(Error::WrongKind { path: shown, is: "file", wanted: "directory" })
}

/// A caller's workspace together with what it decides, what it has seen and what it can undo. Clones
/// share what was seen, so a caller may have a guard of its own for every call.
#[derive(Clone)]
pub struct Session {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) guard: Arc<dyn Guard>,
    pub(crate) seen: Arc<Seen>,
    pub(crate) undo: Option<Arc<UndoStore>>,
    pub(crate) resources: Option<Arc<dyn Resources>>,
    #[cfg(feature = "web")]
    pub(crate) web: Option<Arc<crate::web::Web>>,
}

/// Something that a URL of the caller's own stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// This text.
    Text(String),
    /// The content of this file, wherever it lies.
    File(PathBuf),
}

/// Resolves URLs of the caller's own, such as `artifact://3` or `umbo://jobs/…/output`.
pub trait Resources: Send + Sync {
    /// What a URL stands for; `None` for a scheme that is not known.
    ///
    /// # Errors
    /// Why there is nothing, and what there would be.
    fn resolve(&self, url: &str) -> Result<Option<Resource>, String>;
}

impl Session {
    /// A session that allows what lies inside the roots, and keeps nothing for undo.
    pub fn new(workspace: Workspace) -> Self {
        Self {
            workspace: Arc::new(workspace),
            guard: Arc::new(InsideOnly),
            seen: Arc::default(),
            undo: None,
            resources: None,
            #[cfg(feature = "web")]
            web: None,
        }
    }

    /// Knows URLs of the caller's own.
    #[must_use]
    pub fn with_resources(mut self, resources: Arc<dyn Resources>) -> Self {
        self.resources = Some(resources);
        self
    }

    /// May fetch web pages; without this, none are fetched.
    #[cfg(feature = "web")]
    #[must_use]
    pub fn with_web(mut self, policy: crate::web::WebPolicy) -> Self {
        self.web = Some(Arc::new(crate::web::Web::new(policy)));
        self
    }

    /// Lets somebody else decide.
    #[must_use]
    pub fn with_guard(mut self, guard: Arc<dyn Guard>) -> Self {
        self.guard = guard;
        self
    }

    /// Keeps what is changed.
    #[must_use]
    pub fn with_undo(mut self, store: UndoStore) -> Self {
        self.undo = Some(Arc::new(store));
        self
    }

    /// The workspace.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The lines this caller has been shown.
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    /// Lets a resolved path through, or not.
    pub(crate) fn permit(&self, kind: AccessKind, path: &Path) -> Result<(), Error> {
        let deny = |reason: String| Error::Denied { path: self.workspace.shown(path), reason };
        if self.workspace.is_hidden(path) {
            return Err(deny("the policy hides it".to_owned()));
        }
        let changes = matches!(kind, AccessKind::Write | AccessKind::Delete);
        if changes && self.workspace.is_protected(path) {
            return Err(deny("the policy protects it against changes".to_owned()));
        }
        let place = self.workspace.place(path);
        match self.guard.access(&Access { kind, path, place }) {
            Decision::Allow => Ok(()),
            Decision::Deny(reason) => Err(deny(reason)),
        }
    }

    /// Whether an entry of a walked directory may be named.
    pub(crate) fn may_see(&self, path: &Path) -> bool {
        !self.workspace.is_hidden(path) && self.guard.may_see(path)
    }

    /// Lines on their way to the reader. Masked as one text, so that a secret across lines is seen.
    pub(crate) fn mask(&self, path: &Path, lines: Vec<String>) -> Vec<String> {
        if lines.is_empty() {
            return lines;
        }
        let count = lines.len();
        let masked = self.guard.mask(path, lines.join("\n"));
        let masked: Vec<String> = masked.split('\n').map(str::to_owned).collect();
        if masked.len() == count { masked } else { vec!["[masked]".to_owned(); count] }
    }

    /// Text on its way into a file.
    pub(crate) fn restore(&self, path: &Path, text: String) -> Result<String, Error> {
        let deny = |reason| Error::Denied { path: self.workspace.shown(path), reason };
        self.guard.restore(path, text).map_err(deny)
    }
}
