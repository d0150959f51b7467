//! A path that does not exist, but that exactly one file of the project ends with.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::walk::{Walk, Walked};
use crate::{Call, Error, Session};

const SEARCH_TIME: Duration = Duration::from_secs(5);
const MOST_NEAREST: usize = 5;

pub(super) enum Found {
    One(PathBuf),
    /// More than one ends so, or none and these are alike.
    Several(Vec<String>),
}

pub(super) fn find(session: &Session, input: &str, call: &Call) -> Result<Found, Error> {
    let wanted: PathBuf = Path::new(input.trim())
        .components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .collect();
    let Some(name) = wanted.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return Ok(Found::Several(Vec::new()));
    };
    let (mut ends_so, mut alike) = (Vec::new(), Vec::new());
    let stop = call.stop.at_most(SEARCH_TIME);
    let walk = Walk::new(session.workspace.project());
    let ended = walk.each(session, &stop, &mut |entry: &Walked<'_>| {
        if entry.is_directory() {
            return;
        }
        let path = entry.path();
        if path.ends_with(&wanted) {
            ends_so.push(path.to_path_buf());
        } else if let Some(own) = path.file_name() {
            let distance = umbo_text::distance(&name, &own.to_string_lossy());
            alike.extend(distance.map(|distance| (distance, path.to_path_buf())));
        }
    });
    // An incomplete walk cannot say "the only one".
    if let ([only], None) = (ends_so.as_slice(), ended) {
        return Ok(Found::One(only.clone()));
    }
    call.stop.check()?;
    ends_so.sort();
    alike.sort();
    let candidates = ends_so.into_iter().chain(alike.into_iter().map(|(_, path)| path));
    Ok(Found::Several(
        candidates.take(MOST_NEAREST).map(|path| session.workspace.shown(&path)).collect(),
    ))
}
