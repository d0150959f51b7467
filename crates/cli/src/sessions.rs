//! Where the sessions of agents are, and how they are found.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use umbo_agent::{Session, SessionError, SessionInfo, list, session_directory};

use crate::context::Context;
use crate::failure::Failure;

/// The word for the session of this directory that was used last.
pub(crate) const LAST: &str = "@last";
/// The directory of all sessions, in the state directory.
const DIRECTORY: &str = "agent-sessions";

/// Where all sessions are.
pub(crate) fn root(context: &Context) -> PathBuf {
    context.state.join(DIRECTORY)
}

/// Makes a directory that only the user can read: a conversation may have anything in it.
pub(crate) fn make_private(place: &Path) -> Result<(), Failure> {
    DirBuilder::new().recursive(true).mode(0o700).create(place).map_err(|error| {
        Failure::new(format!("cannot make {} for sessions: {error}", place.display()))
    })
}

/// The sessions of this directory, the last one used first.
pub(crate) fn here(context: &Context) -> Result<Vec<SessionInfo>, Failure> {
    let cwd = context.place()?.display().to_string();
    Ok(list(&session_directory(&root(context), &cwd))?)
}

/// The sessions of all directories, the last one used first.
pub(crate) fn everywhere(context: &Context) -> Result<Vec<SessionInfo>, Failure> {
    let entries = match fs::read_dir(root(context)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut all = Vec::new();
    for entry in entries.flatten() {
        all.extend(list(&entry.path()).unwrap_or_default());
    }
    all.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| b.path.cmp(&a.path)));
    Ok(all)
}

/// The file of a session: by its id, the beginning of it, its file, or `@last`.
pub(crate) fn find(context: &Context, name: &str) -> Result<PathBuf, Failure> {
    if name == LAST {
        let newest = here(context)?.into_iter().next();
        return newest.map(|info| info.path).ok_or_else(|| {
            Failure::invalid("SESSION", "this directory has none; `umbo sessions --all` lists all")
        });
    }
    if name.contains('/') {
        return Ok(PathBuf::from(name));
    }
    let mut found: Vec<SessionInfo> =
        everywhere(context)?.into_iter().filter(|info| info.id.starts_with(name)).collect();
    if let Some(exact) = found.iter().position(|info| info.id == name) {
        return Ok(found.swap_remove(exact).path);
    }
    match found.len() {
        1 => Ok(found.swap_remove(0).path),
        0 => Err(Failure::invalid(
            "SESSION",
            format!("there is none with the id {name:?}; `umbo sessions --all` lists all"),
        )),
        _ => {
            let ids: Vec<&str> = found.iter().take(10).map(|info| info.id.as_str()).collect();
            Err(Failure::invalid("SESSION", format!("{name:?} may be {}", ids.join(", "))))
        }
    }
}

/// Deletes a session, unless another process works on it; its id.
pub(crate) fn remove(path: &Path) -> Result<String, Failure> {
    let session = Session::open(path).map_err(failure)?;
    fs::remove_file(path)
        .map_err(|error| Failure::new(format!("cannot delete {}: {error}", path.display())))?;
    Ok(session.header().id.clone())
}

/// An error of a session, with its cause.
#[expect(clippy::needless_pass_by_value, reason = "it is what map_err has")]
pub(crate) fn failure(error: SessionError) -> Failure {
    let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
    Failure::new(format!("{error}{}", cause.unwrap_or_default()))
}
