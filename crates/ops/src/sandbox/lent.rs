//! Outputs that a command in a sandbox can read. The state directory is hidden there, and the outputs of jobs
//! with it; what a caller is told the path of is linked into a directory of its project's, which its commands
//! see and cannot change.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use umbo_engine::JobHandle;

use super::{Sandboxes, place};
use crate::call::Call;

/// Below the state directory; has a directory for each project, and in that one for each job.
const LENT: &str = "outputs";
/// What a job's output is called there, as in the job's own directory.
const LINK: &str = "output";

impl Call<'_> {
    /// The file with all that a job wrote, by a path that the caller's commands can read.
    pub fn output_file(&self, job: &JobHandle) -> PathBuf {
        let output = job.output_path();
        let lent =
            self.caller.sandboxes.lend(&self.caller.directory, &job.id().to_string(), &output);
        lent.unwrap_or(output)
    }
}

impl Sandboxes {
    /// Links an output to where commands in sandboxes see it; none if no command is in one, or if that
    /// cannot be done.
    fn lend(&self, directory: &Path, name: &str, output: &Path) -> Option<PathBuf> {
        self.usual()?;
        let place = self.lent(directory)?;
        let link = place.join(name).join(LINK);
        if link.exists() {
            return Some(link);
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(place.join(name)).ok()?;
        fs::hard_link(output, &link).ok()?;
        return_deleted(&place).ok()?;
        Some(link)
    }

    /// Deletes the links to outputs whose jobs are gone, so that their room is free.
    pub(crate) fn return_lent(&self) {
        let places = self.place.state.as_ref().map(|state| fs::read_dir(state.join(LENT)));
        for place in places.into_iter().flatten().flatten().flatten() {
            // What cannot be deleted now is tried again.
            let _ = return_deleted(&place.path());
        }
    }

    /// Where the outputs are that the commands of a directory's project can read.
    pub(super) fn lent(&self, directory: &Path) -> Option<PathBuf> {
        let project = place::key(&self.project(directory));
        Some(self.place.state.as_deref()?.join(LENT).join(project))
    }
}

fn return_deleted(place: &Path) -> io::Result<()> {
    for entry in fs::read_dir(place)?.flatten() {
        let link = entry.path().join(LINK);
        if fs::metadata(&link).is_ok_and(|link| link.nlink() == 1) {
            fs::remove_file(link)?;
            fs::remove_dir(entry.path())?;
        }
    }
    Ok(())
}
