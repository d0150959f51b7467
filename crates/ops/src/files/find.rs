//! `find`: files by their names, newest first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_files::{FindKind, FoundFile};

use super::access::{self, Named};
use super::{Paths, stopped};
use crate::call::Call;
use crate::error::Error;
use crate::values::{Count, Seconds};

/// Which files to find.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindRequest {
    /// Globs, files and directories.
    #[schemars(
        description = "Globs: *.rs at any depth, src/*.rs, src/**/*.rs; or directories [.]"
    )]
    #[serde(default)]
    pub paths: Paths,
    /// What is found; files unless given.
    #[schemars(description = "")]
    pub kind: Option<WantedKind>,
    /// Without names that begin with a dot.
    #[serde(default)]
    #[schemars(description = "Without names that begin with a dot")]
    pub no_hidden: bool,
    /// Also what `.gitignore` excludes.
    #[serde(default)]
    #[schemars(description = "Also what .gitignore excludes")]
    pub ignored: bool,
    /// At most so many.
    #[schemars(description = "[1000]", range(min = 1))]
    pub limit: Option<Count>,
    /// At most so long, in seconds.
    #[schemars(description = "Seconds [5]")]
    pub timeout: Option<Seconds>,
}

/// What is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, description = "")]
pub enum WantedKind {
    /// Everything but directories.
    #[schemars(description = "")]
    Files,
    /// Directories.
    #[schemars(description = "")]
    Directories,
    /// Both.
    #[schemars(description = "")]
    Any,
}

/// The files that were found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FindAnswer {
    /// Their paths, newest first.
    pub files: Vec<String>,
    /// How many match in all, as far as was looked.
    pub total: u64,
    /// Paths that do not exist.
    pub missing: Vec<String>,
    /// Why not everything was looked at: `deadline` or `cancelled`.
    pub stopped: Option<&'static str>,
    /// Sizes and times, for whoever shows them.
    #[serde(skip)]
    #[schemars(skip)]
    pub found: Vec<FoundFile>,
}

/// Finds files.
pub fn find(call: &Call<'_>, request: &FindRequest) -> Result<FindAnswer, Error> {
    let paths = request.paths.or_here();
    let usual = umbo_files::FindRequest::default();
    let wanted = umbo_files::FindRequest {
        paths: paths.clone(),
        hidden: !request.no_hidden,
        gitignore: !request.ignored,
        kind: match request.kind {
            None | Some(WantedKind::Files) => FindKind::Files,
            Some(WantedKind::Directories) => FindKind::Directories,
            Some(WantedKind::Any) => FindKind::Any,
        },
        limit: request.limit.map_or(usual.limit, Count::to_usize),
        timeout_ms: request.timeout.map_or(usual.timeout_ms, |timeout| {
            u64::try_from(timeout.0.as_millis()).unwrap_or(u64::MAX)
        }),
        ..usual
    };
    let named = Named { verb: "find", paths: &paths, content: "" };
    let found =
        access::look(call, named, |session, call| umbo_files::find(session, &wanted, call))?;
    Ok(FindAnswer {
        files: found.files.iter().map(|file| file.path.clone()).collect(),
        total: found.total,
        missing: found.missing,
        stopped: stopped(found.stopped),
        found: found.files,
    })
}
