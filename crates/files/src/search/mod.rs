//! Searching in files, with the crates of ripgrep.
//!
//! Every file is searched to its end, so the counts are exact. Matches have one order: the first of
//! each file in order of paths, then the second of each, and so on. A page is a part of that order,
//! so pages never overlap, and no file fills a page alone.

mod collect;
mod pattern;
mod sink;

use std::fmt::Write as _;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::WalkState;
use ignore::overrides::OverrideBuilder;
use ignore::types::TypesBuilder;
use serde::{Deserialize, Serialize};

use crate::anchor::Anchor;
use crate::call::{Stop, StopReason};
use crate::guard::AccessKind;
use crate::scope::{Scope, Scopes};
use crate::walk::Walk;
use crate::{Call, Error, Session};

use collect::Collection;
use pattern::Pattern;
use sink::FileSink;

/// Asks for text in files.
#[expect(clippy::struct_excessive_bools, reason = "a request in JSON has yes and no")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchRequest {
    /// A regular expression.
    pub pattern: String,
    /// Files, directories and globs.
    pub paths: Vec<String>,
    /// Upper and lower case are the same.
    pub ignore_case: bool,
    /// The pattern is plain text.
    pub literal: bool,
    /// Only whole words match.
    pub word: bool,
    /// A match may go over lines; unless said, where the pattern has a line break.
    pub multiline: Option<bool>,
    /// In such a match `.` matches a line break too.
    pub dot_matches_newline: bool,
    /// Globs that files must match, or with `!` must not.
    pub globs: Vec<String>,
    /// A kind of files as ripgrep knows it, such as `rust` or `py`.
    pub file_type: Option<String>,
    /// With names that begin with a dot.
    pub hidden: bool,
    /// Without what `.gitignore` excludes.
    pub gitignore: bool,
    /// Names of directories that are not entered.
    pub prune: Vec<String>,
    /// So many lines before a match.
    pub before: usize,
    /// So many lines after a match.
    pub after: usize,
    /// What is answered.
    pub output: SearchOutput,
    /// At most so many matches, or files.
    pub limit: usize,
    /// Without so many of the first.
    pub skip: usize,
}

impl Default for SearchRequest {
    fn default() -> Self {
        Self {
            pattern: String::new(),
            paths: vec![".".to_owned()],
            ignore_case: false,
            literal: false,
            word: false,
            multiline: None,
            dot_matches_newline: false,
            globs: Vec::new(),
            file_type: None,
            hidden: true,
            gitignore: true,
            prune: Vec::new(),
            before: 1,
            after: 3,
            output: SearchOutput::Lines,
            limit: 100,
            skip: 0,
        }
    }
}

/// What a search answers.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SearchOutput {
    /// The matching lines with their context.
    #[default]
    Lines,
    /// The files with a match, in order of paths.
    Files,
    /// How many matches each file has, in order of paths.
    Counts,
}

/// A line of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MatchLine {
    /// Its number, from 1.
    pub number: usize,
    /// Its anchor for edits.
    pub anchor: Anchor,
    /// Its text.
    pub text: String,
    /// It is a match of this page; else it is context.
    pub is_match: bool,
    /// Its end was cut off.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_clamped: bool,
}

/// The matches of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FileMatches {
    /// The file.
    pub path: String,
    /// How many matches it has in all; for `files` at least 1.
    pub total: u64,
    /// Those on this page, with context.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub lines: Vec<MatchLine>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SearchAnswer {
    /// By file, in order of paths.
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
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_skip: Option<usize>,
    /// The pattern that was searched for, if it had to be repaired.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repaired_pattern: Option<String>,
    /// Paths that do not exist and were left out.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub missing: Vec<String>,
    /// How many files are not text and were searched only up to their first zero byte.
    pub binary_files: u64,
    /// How many files could not be read.
    pub unreadable_files: u64,
    /// Why not everything was searched.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stopped: Option<StopReason>,
}

/// Searches. A deadline ends it early and is said; a cancellation is an error.
pub fn search(
    session: &Session,
    request: &SearchRequest,
    call: &Call,
) -> Result<SearchAnswer, Error> {
    if request.limit == 0 {
        return Err(Error::bad("limit", "0", "a limit is at least 1"));
    }
    let pattern = Pattern::new(request)?;
    let scopes = Scopes::new(session, &request.paths, AccessKind::Read)?;
    let run = Search {
        session,
        request,
        pattern: &pattern,
        collection: Collection::new(request),
        stop: &call.stop,
        stopped: Mutex::new(None),
    };
    for scope in &scopes.found {
        if scope.is_directory() {
            run.directory(scope, &scopes)?;
        } else if scopes.is_first(scope, scope.base()) {
            let mut searcher = run.searcher();
            run.file(&mut searcher, scope.base(), scope.located.open());
        }
    }
    let stopped = run.stopped.into_inner().unwrap_or_else(PoisonError::into_inner);
    if stopped == Some(StopReason::Cancelled) {
        call.stop.check()?;
    }
    let mut answer = run.collection.page(session);
    answer.repaired_pattern = pattern.repaired;
    answer.missing = scopes.missing;
    answer.stopped = stopped;
    Ok(answer)
}

/// A file is read so much at a time, between looks at the deadline.
const MULTILINE_BYTES: usize = 256 << 20;

struct Search<'a> {
    session: &'a Session,
    request: &'a SearchRequest,
    pattern: &'a Pattern,
    collection: Collection<'a>,
    stop: &'a Stop,
    stopped: Mutex<Option<StopReason>>,
}

impl Search<'_> {
    fn searcher(&self) -> Searcher {
        let wants_lines = self.request.output == SearchOutput::Lines;
        let mut builder = SearcherBuilder::new();
        builder
            .line_number(wants_lines)
            .multi_line(self.pattern.multiline)
            .heap_limit(self.pattern.multiline.then_some(MULTILINE_BYTES))
            .binary_detection(BinaryDetection::quit(0));
        if wants_lines {
            builder.before_context(self.request.before).after_context(self.request.after);
        }
        builder.build()
    }

    fn directory(&self, scope: &Scope, scopes: &Scopes) -> Result<(), Error> {
        let mut walk = Walk::new(scope.base());
        walk.hidden = self.request.hidden;
        walk.gitignore = self.request.gitignore;
        walk.prune.clone_from(&self.request.prune);
        walk.overrides = self.overrides(scope.base())?;
        walk.types = self.types()?;
        walk.builder().threads(crate::walk::threads()).build_parallel().run(|| {
            let mut searcher = self.searcher();
            Box::new(move |entry| {
                if let Some(reason) = self.stop.reason() {
                    self.end(reason);
                    return WalkState::Quit;
                }
                if let Ok(entry) = entry
                    && entry.file_type().is_some_and(|kind| kind.is_file())
                    && scope.matches(entry.path())
                    && scopes.is_first(scope, entry.path())
                    && self.session.may_see(entry.path())
                {
                    let file = scope.located.open_beneath(entry.path());
                    let shown = || self.session.workspace.shown(entry.path());
                    self.file(
                        &mut searcher,
                        entry.path(),
                        file.map_err(|e| Error::io("open", shown())(e)),
                    );
                }
                WalkState::Continue
            })
        });
        Ok(())
    }

    fn file(&self, searcher: &mut Searcher, path: &Path, file: Result<std::fs::File, Error>) {
        let Ok(file) = file else {
            self.collection.unreadable();
            return;
        };
        let stamp = rustix::fs::fstat(&file).ok();
        let mut sink = FileSink::new(self.request, self.collection.rounds());
        let reader = StoppingReader { file, stop: self.stop };
        let outcome = searcher.search_reader(&self.pattern.matcher, reader, &mut sink);
        match (outcome, self.stop.reason()) {
            // What was found in a file up to the deadline is not thrown away.
            (Err(_), Some(reason)) => {
                self.end(reason);
                self.collection.add(path, sink, stamp.as_ref());
            }
            (Err(_), None) => self.collection.unreadable(),
            (Ok(()), _) => self.collection.add(path, sink, stamp.as_ref()),
        }
    }

    fn end(&self, reason: StopReason) {
        *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    }

    fn overrides(&self, base: &Path) -> Result<Option<ignore::overrides::Override>, Error> {
        if self.request.globs.is_empty() {
            return Ok(None);
        }
        let mut builder = OverrideBuilder::new(base);
        for glob in &self.request.globs {
            builder.add(glob).map_err(|e| Error::bad("globs", glob, e.to_string()))?;
        }
        let built = builder.build();
        built
            .map(Some)
            .map_err(|e| Error::bad("globs", &self.request.globs.join(", "), e.to_string()))
    }

    fn types(&self) -> Result<Option<ignore::types::Types>, Error> {
        let Some(name) = &self.request.file_type else { return Ok(None) };
        let mut builder = TypesBuilder::new();
        builder.add_defaults().select(name);
        let problem =
            "ripgrep knows no such type; `rust`, `py`, `js`, `ts`, `go` are some it knows";
        builder.build().map(Some).map_err(|_| Error::bad("file_type", name, problem))
    }
}

/// A file that stops to be read when the call is to stop, so that one huge file cannot hold it.
struct StoppingReader<'a> {
    file: std::fs::File,
    stop: &'a Stop,
}

impl Read for StoppingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.reason().is_some() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "stopped"));
        }
        self.file.read(buffer)
    }
}

impl SearchAnswer {
    /// The answer as text: `*5th|text` is a match, ` 6ab|text` its context; files under `# path`.
    pub fn text(&self) -> String {
        if self.files.is_empty() {
            return "No matches found\n".to_owned();
        }
        let mut text = String::new();
        for (at, file) in self.files.iter().enumerate() {
            if at > 0 {
                text.push('\n');
            }
            let _ = writeln!(text, "# {}", file.path);
            let mut last = None;
            for line in &file.lines {
                if last.is_some_and(|last| line.number > last + 1) {
                    text.push_str("…\n");
                }
                last = Some(line.number);
                let mark = if line.is_match { '*' } else { ' ' };
                let _ = writeln!(text, "{mark}{}|{}", line.anchor, line.text);
            }
        }
        text
    }
}
