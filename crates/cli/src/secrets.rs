//! Which secrets are masked here: those of the environment, of the user's and of the project's
//! `secrets.yml`, of files that the agents of a dialect have for that, and well-known formats.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use umbo_gate::{Change, UserFile};
use umbo_tools::SecretsFile;
use umbo_view::mask::{Entry, Masker, merge_secrets, parse_secrets};

use crate::context::Context;
use crate::failure::Failure;

/// Variables that commands get and the caller does not have.
static LEARNT: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// Takes variables into account that the configuration gives to commands.
pub(crate) fn learn(variables: &[(String, String)]) {
    learnt().extend_from_slice(variables);
}

fn learnt() -> MutexGuard<'static, Vec<(String, String)>> {
    LEARNT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The masker for a caller in a directory.
pub(crate) fn masker(directory: Option<&Path>) -> Result<Masker, Failure> {
    masker_with(&[], directory)
}

/// The masker for the tools of a dialect, whose agents may list secrets in files of their own.
pub(crate) fn masker_of(dialect: &str, directory: &Path) -> Result<Masker, Failure> {
    masker_with(umbo_tools::secrets_files(dialect), Some(directory))
}

fn masker_with(files: &[SecretsFile], directory: Option<&Path>) -> Result<Masker, Failure> {
    let variables = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .chain(learnt().clone());
    let mut user = match Context::config_directory() {
        Some(directory) => own_list(&directory)?,
        None => Vec::new(),
    };
    let mut project = match directory.and_then(project_file) {
        Some(file) => listed(&file)?,
        None => Vec::new(),
    };
    for file in files {
        match file {
            SecretsFile::Home(path) => {
                let home = Context::home().unwrap_or_default();
                user.extend(listed(&home.join(path))?);
            }
            SecretsFile::Directory(path) => {
                let directory = directory.unwrap_or(Path::new(""));
                project.extend(listed(&directory.join(path))?);
            }
            _ => {}
        }
    }
    Masker::builder()
        .environment(variables)
        .entries(merge_secrets(user, project))
        .build()
        .map_err(Failure::new)
}

/// The same, made once for all that this process prints.
pub(crate) fn shared() -> Result<&'static Arc<Masker>, Failure> {
    static SHARED: OnceLock<Result<Arc<Masker>, String>> = OnceLock::new();
    let make = || {
        let directory = Context::directory().ok();
        masker(directory.as_deref()).map(Arc::new).map_err(|failure| failure.to_string())
    };
    SHARED.get_or_init(make).as_ref().map_err(Failure::new)
}

/// A text for a person, without secrets. What cannot be masked is said all the same: it may be the
/// reason why.
pub(crate) fn hidden(text: &str) -> String {
    shared().map_or_else(|_| text.to_owned(), |masker| masker.mask_text(text))
}

/// The nearest `.umbo/secrets.yml` above a directory.
fn project_file(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().map(|place| place.join(".umbo/secrets.yml")).find(|file| file.is_file())
}

/// The user's list: what was confirmed of it, and what was added since.
fn own_list(directory: &Path) -> Result<Vec<Entry>, Failure> {
    let UserFile { path, confirmed, change } = UserFile::read(directory, "secrets.yml")?;
    let changed = match change {
        Some(Change::Written(bytes)) => Some(bytes),
        Some(Change::Removed) | None => None,
    };
    let mut entries = Vec::new();
    for bytes in confirmed.into_iter().chain(changed) {
        let name = path.display().to_string();
        let text = String::from_utf8(bytes)
            .map_err(|_| Failure::new(format!("cannot read {name}: it is not UTF-8")))?;
        entries = merge_secrets(entries, parse_secrets(&name, &text).map_err(Failure::new)?);
    }
    Ok(entries)
}

fn listed(file: &Path) -> Result<Vec<Entry>, Failure> {
    match fs::read_to_string(file) {
        Ok(text) => parse_secrets(&file.display().to_string(), &text).map_err(Failure::new),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Failure::new(format!("cannot read {}: {error}", file.display()))),
    }
}

/// A text in which placeholders that stand for secrets are the secrets again.
pub(crate) fn restored(text: String) -> Result<String, Failure> {
    // Most texts have no placeholder, and a masker costs more than most commands.
    if text.matches('#').count() < 2 {
        return Ok(text);
    }
    Ok(shared()?.restore(&text))
}
