//! The facts about a machine that a sandbox is made from.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use umbo_engine::sandbox::Surroundings;

use crate::error::{Error, ErrorCode};

/// Where a caller's commands run.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) home: Option<PathBuf>,
    pub(super) search_path: Vec<PathBuf>,
    /// Variables that move the caches of tools.
    pub(super) variables: Vec<(String, PathBuf)>,
    /// Variables that say where services are.
    pub(super) services: Vec<(&'static str, String)>,
    /// Where umbo keeps its state, if that is on this machine.
    pub(super) state: Option<PathBuf>,
    /// What else belongs to umbo.
    pub(super) hidden: Vec<PathBuf>,
    /// The project, wherever a command runs.
    pub(super) project: Option<PathBuf>,
}

impl Place {
    /// What a policy for a command in a directory is made from.
    pub(super) fn surroundings(&self, directory: &Path) -> Result<Surroundings, Error> {
        let project = self.project(directory);
        let temporary = self.temporary(&project)?;
        let own = self.state.iter().chain(&self.hidden).cloned().collect();
        let (search_path, variables) = (self.search_path.clone(), self.variables.clone());
        Ok(Surroundings {
            project,
            home: self.home.clone(),
            own,
            temporary,
            variables,
            search_path,
        })
    }

    /// The variable that says where a service is, if it is set.
    pub(super) fn service(&self, name: &str) -> Option<&str> {
        let found = self.services.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The nearest directory above that is a repository or has settings of umbo; else the directory itself.
    pub(super) fn project(&self, directory: &Path) -> PathBuf {
        let directory = self.project.as_deref().unwrap_or(directory);
        let is_project = |path: &&Path| {
            self.fits(path) && (path.join(".git").exists() || path.join(".umbo").exists())
        };
        directory.ancestors().find(is_project).unwrap_or(directory).to_owned()
    }

    /// Whether a directory can be opened to commands: not if the home directory is in it.
    pub(super) fn fits(&self, directory: &Path) -> bool {
        let holds = |path: &PathBuf| path.starts_with(directory);
        directory != Path::new("/") && !self.home.as_ref().is_some_and(holds)
    }

    /// A directory that the commands of a project share as their `/tmp`, and nobody else does.
    fn temporary(&self, project: &Path) -> Result<Option<PathBuf>, Error> {
        let Some(state) = &self.state else { return Ok(None) };
        let temporary = state.join("tmp").join(key(project));
        if !temporary.is_dir() {
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&temporary);
            made.map_err(|error| {
                let message = format!("cannot make {}: {error}", temporary.display());
                Error::new(ErrorCode::FailedToStart, message)
            })?;
            // As open as any /tmp for whoever the job becomes; the state above it is its owner's alone.
            let _ = fs::set_permissions(&temporary, fs::Permissions::from_mode(0o1777));
        }
        Ok(Some(temporary))
    }

    /// A path as somebody wrote it, who may mean the home by `~`.
    pub(super) fn absolute(&self, path: &Path, directory: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => directory.join(path),
        }
    }
}

/// The name of a project's own directory in the state.
pub(super) fn key(project: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    project.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
