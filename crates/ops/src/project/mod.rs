//! The tasks of a project, for whoever lists or runs them: the folder they are found in, what each
//! would do at worst, how it last ended, and the request that runs it.

mod calls;
mod listing;
mod risk;
mod runs;
mod scripts;

use std::path::{Path, PathBuf};

use umbo_engine::{Command, Login, Request, Shell};
use umbo_recipes::select::Selection;
use umbo_recipes::{Cache, Error, Options, Program, Project, Task};

pub use listing::{RunnerAnswer, TaskAnswer};
pub use risk::Risks;
pub(crate) use runs::TASK;
pub use runs::{Runs, job_name};

/// A folder with its tasks.
#[derive(Debug)]
pub struct Folder {
    /// Where it is: absolute, without links.
    pub root: PathBuf,
    /// Its runners and tasks.
    pub project: Project,
}

impl Folder {
    /// The tasks of a folder.
    pub fn open(root: &Path, options: &Options, cache: &Cache) -> Result<Self, Error> {
        let root = real(root)?;
        let project = umbo_recipes::detect(&root, options, Some(cache))?;
        Ok(Self { root, project })
    }

    /// The nearest folder with a task runner, from `start` up to the top of its repository, and
    /// never above `top`.
    pub fn find(start: &Path, top: &Path, options: &Options, cache: &Cache) -> Result<Self, Error> {
        let (start, top) = (real(start)?, real(top)?);
        let mut place = start.as_path();
        loop {
            let project = umbo_recipes::detect(place, options, Some(cache))?;
            let is_top = place == top || place.join(".git").exists();
            match place.parent().filter(|_| project.runners.is_empty() && !is_top) {
                Some(parent) => place = parent,
                None => return Ok(Self { root: place.to_owned(), project }),
            }
        }
    }

    /// Where a task runs.
    pub fn directory(&self, task: &Task) -> PathBuf {
        self.place(&task.directory)
    }

    /// A directory of the project, which calls itself `.`.
    pub fn place(&self, relative: &str) -> PathBuf {
        if relative == "." { self.root.clone() } else { self.root.join(relative) }
    }

    /// What stands in the way of what was selected: its runner's program is not there.
    pub fn missing(&self, selection: &Selection) -> Option<String> {
        match &self.project.runner(&selection.runner)?.program {
            Program::Found(_) => None,
            Program::Missing { name, get } => {
                Some(format!("{} needs {name}, which is not installed; {get}", selection.runner))
            }
        }
    }

    /// The request that runs what was selected, in the environment of nobody yet. Its job has the
    /// name by which its outcome is found again.
    pub fn request(&self, selection: &Selection) -> Request {
        let command = match &selection.argv {
            Some(words) => Command::Argv(words.iter().map(Into::into).collect()),
            None => Command::Shell {
                text: selection.command.clone(),
                shell: Shell::Sh,
                login: Login::No,
            },
        };
        let mut request = Request::new(command, self.place(&selection.directory));
        request.name = selection.task.as_ref().map(job_name);
        request
    }
}

fn real(path: &Path) -> Result<PathBuf, Error> {
    path.canonicalize().map_err(|source| Error::Folder { path: path.to_owned(), source })
}
