//! `search`: text in files.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_files::{MatchLine, SearchOutput};

use super::access::{self, Named};
use super::{Paths, stopped};
use crate::call::Call;
use crate::error::Error;
use crate::values::Count;

/// What to look for, and where.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "a request in JSON has yes and no")]
pub struct SearchRequest {
    /// A regular expression.
    #[schemars(description = "Regex", length(min = 1))]
    pub pattern: String,
    /// Files, directories and globs; the working directory unless given.
    #[serde(default)]
    #[schemars(description = "Files, directories, globs [.]")]
    pub paths: Paths,
    /// Upper and lower case are the same.
    #[serde(default)]
    #[schemars(description = "")]
    pub ignore_case: bool,
    /// The pattern is plain text.
    #[serde(default)]
    #[schemars(description = "Plain text")]
    pub literal: bool,
    /// Only whole words.
    #[serde(default)]
    #[schemars(description = "")]
    pub word: bool,
    /// A match may go over lines; unless said, where the pattern has a line break.
    #[schemars(description = "")]
    pub multiline: Option<bool>,
    /// So many lines before and after a match; one before and three after unless given.
    #[schemars(description = "Lines around [1 before, 3 after]")]
    pub context: Option<Count>,
    /// What is answered.
    #[schemars(description = "")]
    pub output: Option<WantedOutput>,
    /// Also what `.gitignore` excludes.
    #[serde(default)]
    #[schemars(description = "Also what .gitignore excludes")]
    pub ignored: bool,
    /// At most so many matches, or files.
    #[schemars(description = "[100]", range(min = 1))]
    pub limit: Option<Count>,
    /// Without so many of the first.
    #[schemars(description = "For the next page")]
    pub skip: Option<Count>,
    /// What a tool call cannot say.
    #[serde(skip)]
    #[schemars(skip)]
    pub options: SearchOptions,
}

/// What a search answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, description = "")]
pub enum WantedOutput {
    /// The matching lines with their context.
    #[schemars(description = "")]
    Lines,
    /// The files with a match.
    #[schemars(description = "")]
    Files,
    /// How many matches each file has.
    #[schemars(description = "")]
    Counts,
}

impl From<WantedOutput> for SearchOutput {
    fn from(wanted: WantedOutput) -> Self {
        match wanted {
            WantedOutput::Lines => Self::Lines,
            WantedOutput::Files => Self::Files,
            WantedOutput::Counts => Self::Counts,
        }
    }
}

/// How files are searched, as far as only a command line, a program or another contract can say it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchOptions {
    /// Globs that files must match, or with `!` must not.
    pub globs: Vec<String>,
    /// A kind of files as ripgrep knows it.
    pub file_type: Option<String>,
    /// Without names that begin with a dot.
    pub no_hidden: bool,
    /// Names of directories that are not entered.
    pub prune: Vec<String>,
    /// In a match over lines `.` matches a line break.
    pub dot_matches_newline: bool,
    /// Lines before a match, where that is not `context`.
    pub before: Option<usize>,
    /// Lines after it.
    pub after: Option<usize>,
}

/// What was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SearchAnswer {
    /// The files of this page, in order of paths.
    pub files: Vec<FileMatches>,
    /// How many matches, or files, are on this page.
    pub shown: usize,
    /// How many matches there are in all, as far as was looked.
    pub total_matches: u64,
    /// How many files have one.
    pub total_files: u64,
    /// How many files were searched.
    pub searched_files: u64,
    /// The `skip` of the next page, if there is one.
    pub next_skip: Option<usize>,
    /// The pattern that was searched for, if it had to be repaired.
    pub repaired_pattern: Option<String>,
    /// Paths that do not exist.
    pub missing: Vec<String>,
    /// How many files could not be read.
    pub unreadable_files: Option<u64>,
    /// Why not everything was searched: `deadline` or `cancelled`.
    pub stopped: Option<&'static str>,
    /// The matches: `*5th|text` is one, ` 6ab|text` its context; files under `# path`.
    pub text: String,
}

/// A file with matches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FileMatches {
    /// The file.
    pub path: String,
    /// How many matches it has in all.
    pub matches: u64,
    /// Those on this page, for whoever writes them in other words.
    #[serde(skip)]
    #[schemars(skip)]
    pub lines: Vec<MatchLine>,
}

/// Searches files.
pub fn search(call: &Call<'_>, request: &SearchRequest) -> Result<SearchAnswer, Error> {
    let paths = request.paths.or_here();
    let wanted = request.library(&paths);
    let output = wanted.output;
    let named = Named { verb: "search", paths: &paths, content: "" };
    let found =
        access::look(call, named, |session, call| umbo_files::search(session, &wanted, call))?;
    Ok(SearchAnswer::new(found, output))
}

impl SearchRequest {
    fn library(&self, paths: &[String]) -> umbo_files::SearchRequest {
        let usual = umbo_files::SearchRequest::default();
        let options = &self.options;
        let context = self.context.map(Count::to_usize);
        umbo_files::SearchRequest {
            pattern: self.pattern.clone(),
            paths: paths.to_vec(),
            ignore_case: self.ignore_case,
            literal: self.literal,
            word: self.word,
            multiline: self.multiline,
            dot_matches_newline: options.dot_matches_newline,
            globs: options.globs.clone(),
            file_type: options.file_type.clone(),
            hidden: !options.no_hidden,
            gitignore: !self.ignored,
            prune: options.prune.clone(),
            before: options.before.or(context).unwrap_or(usual.before),
            after: options.after.or(context).unwrap_or(usual.after),
            output: self.output.map_or(SearchOutput::Lines, SearchOutput::from),
            limit: self.limit.map_or(usual.limit, Count::to_usize),
            skip: self.skip.map_or(0, Count::to_usize),
        }
    }
}

impl SearchAnswer {
    fn new(found: umbo_files::SearchAnswer, output: SearchOutput) -> Self {
        let mut text = match output {
            SearchOutput::Lines => found.text(),
            SearchOutput::Files => lines(found.files.iter().map(|file| file.path.clone())),
            SearchOutput::Counts => {
                lines(found.files.iter().map(|file| format!("{}:{}", file.path, file.total)))
            }
        };
        if text.is_empty() {
            text.push_str("No matches found\n");
        }
        let files = found.files.into_iter().map(|file| FileMatches {
            path: file.path,
            matches: file.total,
            lines: file.lines,
        });
        Self {
            files: files.collect(),
            shown: found.shown,
            total_matches: found.total_matches,
            total_files: found.total_files,
            searched_files: found.searched_files,
            next_skip: found.next_skip,
            repaired_pattern: found.repaired_pattern,
            missing: found.missing,
            unreadable_files: Some(found.unreadable_files).filter(|count| *count > 0),
            stopped: stopped(found.stopped),
            text,
        }
    }
}

fn lines(items: impl Iterator<Item = String>) -> String {
    items.fold(String::new(), |mut text, item| {
        let _ = writeln!(text, "{item}");
        text
    })
}
