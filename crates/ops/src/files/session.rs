//! What a caller's file operations share: where files may be, which lines were shown, what can be
//! undone.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use umbo_engine::sandbox::SECRETS_IN_HOME;
use umbo_files::{Policy, Session, UndoStore, WebPolicy, Workspace};

use super::places;
use super::urls::JobUrls;
use crate::caller::Caller;
use crate::error::Error;

/// How a caller's file operations are to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSettings {
    /// Directories beside the project in which files may be read and changed.
    pub roots: Vec<PathBuf>,
    /// Globs of paths that are hidden, beside those that always are.
    pub hidden: Vec<String>,
    /// Globs of paths that are not changed, beside those that never are.
    pub protected: Vec<String>,
    /// How much old content is kept for undo, in bytes; with 0 none is.
    pub undo_bytes: u64,
    /// How web pages are fetched, if they are.
    pub web: Option<WebPolicy>,
}

impl Default for FileSettings {
    fn default() -> Self {
        Self {
            roots: Vec::new(),
            hidden: Vec::new(),
            protected: Vec::new(),
            undo_bytes: 256 << 20,
            web: None,
        }
    }
}

/// What a caller's file operations share, made when the first of them comes.
pub(crate) struct FileState {
    settings: FileSettings,
    /// Where old contents are kept.
    state: Option<PathBuf>,
    session: Mutex<Option<Session>>,
}

impl FileState {
    pub(crate) fn new(settings: FileSettings, state: Option<PathBuf>) -> Self {
        Self { settings, state, session: Mutex::default() }
    }

    /// Whether web pages may be fetched at all.
    pub(super) fn fetches(&self) -> bool {
        self.settings.web.is_some()
    }

    /// The caller's session, which allows nothing by itself.
    pub(super) fn session(&self, caller: &Caller) -> Result<Session, Error> {
        let mut kept = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = &*kept {
            return Ok(session.clone());
        }
        let session = self.open(caller)?;
        *kept = Some(session.clone());
        Ok(session)
    }

    fn open(&self, caller: &Caller) -> Result<Session, Error> {
        let directory = std::path::absolute(&caller.directory).unwrap_or_default();
        let mut workspace =
            Workspace::new(&umbo_gate::project_of(&directory))?.with_cwd(&directory)?;
        for root in &self.settings.roots {
            let name = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy();
            workspace = workspace.with_root(&name, root)?;
        }
        let home = caller.variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        if let Some(home) = &home {
            workspace = workspace.with_home(home);
        }
        let workspace = workspace.with_policy(&self.policy(home.is_some()))?;
        let mut session = Session::new(workspace)
            .with_resources(Arc::new(JobUrls::new(Arc::clone(&caller.backend))));
        if let Some(state) = self.state.as_ref().filter(|_| self.settings.undo_bytes > 0) {
            let directory = state.join("undo");
            session = session.with_undo(UndoStore::open(&directory, self.settings.undo_bytes)?);
        }
        if let Some(web) = self.settings.web {
            session = session.with_web(web);
        }
        Ok(session)
    }

    fn policy(&self, has_home: bool) -> Policy {
        let at_home = |names: &[&str]| -> Vec<String> {
            let names = names.iter().filter(|_| has_home);
            names.map(|name| format!("~/{name}")).collect()
        };
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        Policy {
            hidden: [
                words(places::HIDDEN),
                at_home(SECRETS_IN_HOME),
                at_home(places::HIDDEN_OF_AGENTS),
                self.settings.hidden.clone(),
            ]
            .concat(),
            protected: [
                words(places::PROTECTED),
                at_home(places::PROTECTED_AT_HOME),
                self.settings.protected.clone(),
            ]
            .concat(),
        }
    }
}
