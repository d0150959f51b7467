//! How tasks ended when they last ran through umbo.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use umbo_engine::{Backend, Outcome, Scope, Status};
use umbo_recipes::Task;

use super::Folder;

/// The label that names the task of a job whose own name is another.
pub(crate) const TASK: &str = "task";

/// The last outcome of every task that ran.
#[derive(Debug, Default)]
pub struct Runs {
    last: HashMap<(String, PathBuf), Outcome>,
}

impl Runs {
    /// Told from the jobs that are kept.
    pub fn of(backend: &dyn Backend) -> umbo_engine::Result<Self> {
        let mut last = HashMap::new();
        // Oldest first: a later run takes the place of an earlier one.
        for job in backend.jobs(Scope::All)? {
            let name = job.labels.get(TASK).cloned().or(job.name);
            if let (Some(name), Status::Ended(outcome)) = (name, job.status) {
                last.insert((name, PathBuf::from(job.cwd)), *outcome);
            }
        }
        Ok(Self { last })
    }

    /// How a task ended when it last ran.
    pub fn last(&self, folder: &Folder, task: &Task) -> Option<&Outcome> {
        let directory: &Path = &folder.directory(task);
        self.last.get(&(job_name(task), directory.to_owned()))
    }
}

/// The name of the jobs of a task.
pub fn job_name(task: &Task) -> String {
    format!("{}:{}", task.runner, task.name)
}
