//! A new session from a part of another one.

use std::collections::HashSet;
use std::path::Path;

use super::{Name, Session, SessionError};
use crate::entry::EntryKind;

impl Session {
    /// A new session in a directory with all entries up to one of them, or up to the leaf. Names and
    /// remarks go along; the old session stays as it is.
    pub fn fork(&self, directory: &Path, id: Option<&str>) -> Result<Self, SessionError> {
        let at = id.map(|id| self.index(id)).transpose()?.or(self.leaf);
        let way = self.way(at);
        let kept: HashSet<usize> = way.iter().copied().collect();
        let parent = Some(self.header.id.clone());
        let mut fork = Self::create(directory, &self.header.cwd, parent)?;
        let mut lines = String::new();
        let mut add = |at: usize| {
            lines.push_str(&String::from_utf8_lossy(self.line(at)));
            lines.push('\n');
        };
        for (at, slot) in self.slots.iter().enumerate() {
            let is_wanted = match slot.name {
                Name::Remark => self.is_about(at, &kept),
                _ => kept.contains(&at),
            };
            if is_wanted {
                add(at);
            }
        }
        fork.write(&lines, true)?;
        let path = fork.path.clone();
        // Read it again, as everybody else will.
        match path {
            Some(path) => {
                drop(fork);
                let mut fork = Self::open(&path)?;
                if let Some(title) = self.title() {
                    fork.append(EntryKind::Title { title: title.to_owned() })?;
                }
                Ok(fork)
            }
            None => Ok(fork),
        }
    }

    /// Whether a remark is about an entry that is kept. Moves of the leaf are not.
    fn is_about(&self, at: usize, kept: &HashSet<usize>) -> bool {
        let is_kept = |id: &str| self.by_id.get(id).is_some_and(|at| kept.contains(at));
        match self.parse(at).kind {
            EntryKind::Label { target_id, .. } | EntryKind::ToolPruned { target_id, .. } => {
                is_kept(&target_id)
            }
            EntryKind::ToolStart { .. } => {
                self.slots[at].parent.is_some_and(|parent| kept.contains(&parent))
            }
            _ => false,
        }
    }
}
