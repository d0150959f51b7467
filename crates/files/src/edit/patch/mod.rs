//! Patches: unified diffs, and the envelope `*** Begin Patch` that Codex's models write.

mod envelope;
mod unified;

use crate::Error;

/// What a patch does to one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FilePatch {
    /// Makes a file of this text; with `replaces` also over one that exists.
    Create { path: String, text: String, mode: Option<u32>, replaces: bool },
    /// Removes a file; a unified diff says what it has.
    Delete { path: String, hunks: Vec<Hunk> },
    /// Changes a file, and perhaps its place.
    Update { path: String, to: Option<String>, hunks: Hunks, mode: Option<u32> },
}

impl FilePatch {
    /// The paths it names.
    pub(crate) fn paths(&self) -> Vec<String> {
        match self {
            Self::Create { path, .. } | Self::Delete { path, .. } => vec![path.clone()],
            Self::Update { path, to, .. } => {
                std::iter::once(path).chain(to.as_ref()).cloned().collect()
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Hunks {
    Unified(Vec<Hunk>),
    Envelope(Vec<envelope::Chunk>),
}

pub(crate) use unified::Hunk;

/// Reads a patch of either kind. `strip` is how many leading parts of paths are not meant; unless
/// said, `a/` and `b/`.
pub(crate) fn parse(patch: &str, strip: Option<usize>) -> Result<Vec<FilePatch>, Error> {
    let is_envelope = patch.lines().any(|line| line.trim() == envelope::BEGIN);
    if is_envelope { envelope::parse(patch) } else { unified::parse(patch, strip) }
}

/// A text after its hunks.
pub(crate) enum Patched {
    /// With the ends of lines as the file has them.
    Exact(String),
    /// With `\n`.
    Plain(String),
}

impl Hunks {
    /// The text after all hunks. A diff is tried on the text as it is first, with its line endings; one
    /// whose line endings are not the file's still means its lines.
    pub(crate) fn apply(
        &self,
        path: &str,
        exact: &str,
        warnings: &mut Vec<String>,
    ) -> Result<Patched, Error> {
        let plain = || exact.replace("\r\n", "\n");
        match self {
            Self::Unified(hunks) => {
                if let Ok(new) = unified::apply(path, exact, hunks, warnings) {
                    return Ok(Patched::Exact(new));
                }
                let hunks = unified::plain(hunks);
                unified::apply(path, &plain(), &hunks, warnings).map(Patched::Plain)
            }
            Self::Envelope(chunks) => envelope::apply(path, &plain(), chunks).map(Patched::Plain),
        }
    }
}

/// The text after the hunks of a deletion, which must be nothing.
pub(crate) fn deletes_all(path: &str, old: &str, hunks: &[Hunk]) -> Result<(), Error> {
    let hunks = unified::plain(hunks);
    if hunks.is_empty() || unified::apply(path, old, &hunks, &mut Vec::new())?.is_empty() {
        return Ok(());
    }
    let problem = "the patch deletes the file but does not remove all its lines".to_owned();
    Err(Error::NoMatch { path: path.to_owned(), problem })
}
