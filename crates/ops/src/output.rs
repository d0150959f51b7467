//! `output`: what a job wrote, read again.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_engine::{JobHandle, Outcome};
use umbo_view::{
    Budget, Comparison, Failure, Find, Page, Part, Reader, Regex, Stream, View, ViewOptions,
    compare,
};

use crate::call::{Call, text};
use crate::error::Error;
use crate::exec::has_terminal;
use crate::job_log::JobLog;
use crate::values::Count;

/// Which job, and which part of its output.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputRequest {
    /// Which job.
    #[schemars(description = "Id, unique prefix, name, or @last")]
    pub job: String,
    /// From this byte on.
    #[schemars(description = "")]
    pub from: Option<Count>,
    /// These lines, counted from 1.
    #[schemars(description = "As 10-20")]
    pub lines: Option<String>,
    /// So many of the last lines; of those that match, if a pattern is given.
    #[schemars(description = "")]
    pub tail: Option<Count>,
    /// Lines that match.
    #[schemars(description = "Regex")]
    pub grep: Option<String>,
    /// Lines that look like errors, the best first; `from` then leaves out as many.
    #[serde(default)]
    #[schemars(description = "Best first; from skips as many")]
    pub errors: bool,
    /// Which failures are new, fixed or still there, compared with an earlier job.
    #[schemars(description = "Earlier job: failures new, fixed, still there")]
    pub compare_to: Option<String>,
    /// Whether the noise of known tools is folded even if all fits, or no line for being like others.
    #[schemars(description = "Fold known noise")]
    pub minimize: Option<bool>,
    /// So many lines around each that matches.
    #[schemars(description = "", range(max = 100))]
    pub context: Option<Count>,
    /// Only one of the two.
    #[schemars(description = "")]
    pub stream: Option<OnlyStream>,
    /// What its terminal shows now.
    #[serde(default)]
    #[schemars(description = "What its terminal shows now")]
    pub screen: bool,
    /// How much the answer may hold.
    #[schemars(description = "", range(min = 1))]
    pub max_output_tokens: Option<Count>,
    /// What a tool call cannot say.
    #[serde(skip)]
    #[schemars(skip)]
    pub options: OutputOptions,
}

/// How output is read, as far as only a command line or a program can say it.
#[derive(Debug, Default)]
pub struct OutputOptions {
    /// Only what came since then, in microseconds since 1970.
    pub since: Option<u64>,
    /// Only what came before then.
    pub until: Option<u64>,
    /// Whether secrets are shown.
    pub unmask: bool,
}

/// One of a command's two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, description = "")]
pub enum OnlyStream {
    /// Standard output.
    #[schemars(description = "")]
    Stdout,
    /// Standard error.
    #[schemars(description = "")]
    Stderr,
}

/// What was read.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct OutputAnswer {
    /// The job.
    pub job: String,
    /// Its state.
    pub state: &'static str,
    /// The exit code, if it has one.
    pub exit_code: Option<i32>,
    /// The text.
    pub output: String,
    /// Where it begins.
    pub offset: Option<u64>,
    /// Where to read on.
    pub next_offset: Option<u64>,
    /// Whether nothing comes after it.
    pub at_end: bool,
    /// Whether something of what was asked for is missing.
    pub truncated: Option<bool>,
    /// What the job has written, whatever part of it this is.
    pub total_bytes: Option<u64>,
    /// Lines of all that was asked for, if they were counted.
    pub total_lines: Option<u64>,
    /// Bytes that were asked for and left out.
    pub omitted_bytes: Option<u64>,
    /// Bytes that nobody has: they were beyond the job's output limit.
    pub lost_bytes: Option<u64>,
    /// How many lines matched.
    pub matches: Option<u64>,
    /// What changed since the job it was compared with.
    pub changes: Option<ChangesAnswer>,
    /// The handle by which all of it can be read, if this is not all.
    pub artifact: Option<String>,
    /// The file with the exact bytes.
    pub full_output_path: String,
    /// The same in parts, for whoever prints it.
    #[serde(skip)]
    #[schemars(skip)]
    pub read: Read,
}

/// Failures of two runs of the same command, each by its line.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ChangesAnswer {
    /// Only the later run has them.
    pub new: Vec<String>,
    /// Only the earlier run had them.
    pub fixed: Vec<String>,
    /// Both have them.
    pub still_failing: Vec<String>,
}

impl From<&Comparison> for ChangesAnswer {
    fn from(changes: &Comparison) -> Self {
        let texts =
            |failures: &[Failure]| failures.iter().map(|failure| failure.text.clone()).collect();
        let (new, fixed) = (texts(&changes.new), texts(&changes.fixed));
        Self { new, fixed, still_failing: texts(&changes.still) }
    }
}

/// What was read, in parts.
#[derive(Debug, Default)]
pub enum Read {
    /// Only a text: what a terminal shows, or what changed.
    #[default]
    Text,
    /// A view of everything.
    View(Box<View>),
    /// What comes from an offset on.
    Page(Page),
    /// Lines that were asked for; what lies before, between and behind them was not.
    Lines(Page),
    /// Lines that matched.
    Found(Page),
    /// The last of the lines that matched.
    Last(Page),
}

impl OutputAnswer {
    /// What a model needs of it.
    #[must_use]
    pub fn brief(self) -> Self {
        let lost_bytes = self.lost_bytes.filter(|lost| *lost > 0);
        // The text names them already.
        Self { artifact: None, changes: None, lost_bytes, ..self }
    }

    /// Whether a line was cut because it is long.
    pub fn has_cut_lines(&self) -> bool {
        match &self.read {
            Read::Text => false,
            Read::View(view) => view.counts.clamped_lines > 0,
            Read::Page(page) | Read::Lines(page) | Read::Found(page) | Read::Last(page) => {
                page.counts.clamped_lines > 0
            }
        }
    }
}

/// Which part is wanted.
enum Selection {
    All,
    Screen,
    From(u64),
    Tail(u64),
    Lines(RangeInclusive<u64>),
    Grep(Regex),
    LastMatches(Regex, u64),
    Errors,
    /// What changed since this other job.
    Compare(String),
}

/// Reads what a job wrote.
pub fn output(call: &Call<'_>, request: &OutputRequest) -> Result<OutputAnswer, Error> {
    let job = call.job(&request.job)?;
    let selection = request.selection()?;
    let status = job.status()?;
    let exit_code = call.ended(&job, &status).and_then(Outcome::exit_code);
    let mut answer = OutputAnswer {
        job: job.id().to_string(),
        state: status.name(),
        exit_code,
        full_output_path: call.output_file(&job).display().to_string(),
        ..OutputAnswer::default()
    };
    let budget = call.budget(request.max_output_tokens.map(|most| most.0));
    match selection {
        Selection::Screen => {
            let screen = job.screen()?;
            answer.at_end = true;
            // Blank rows below the last text carry nothing.
            let written = screen.rows.iter().rposition(|row| !row.is_empty());
            answer.output = screen.rows[..written.map_or(0, |last| last + 1)].join("\n");
        }
        Selection::Compare(earlier) => {
            let before = reader(call, &call.job(&earlier)?, request)?;
            let now = reader(call, &job, request)?;
            let changes = compare(&before, &now, ViewOptions::default().scan_bytes)?;
            answer.at_end = true;
            answer.output = changes.to_text(&budget);
            answer.changes = Some(ChangesAnswer::from(&changes));
        }
        Selection::All => {
            let minimize = request.minimize.unwrap_or(call.caller.minimize);
            let fold = request.minimize != Some(false);
            let options = ViewOptions { budget, minimize, fold, ..ViewOptions::default() };
            answer.show_view(&job, reader(call, &job, request)?.view(&options)?)?;
        }
        part => {
            let reader = reader(call, &job, request)?;
            answer.show_page(&job, part, &reader, request, budget)?;
        }
    }
    Ok(answer)
}

impl OutputAnswer {
    fn show_view(&mut self, job: &JobHandle, view: View) -> Result<(), Error> {
        let counts = view.counts;
        self.output = text(&view);
        self.next_offset = Some(view.parts.last().map_or(0, |part| part.offset().end));
        self.at_end = true;
        self.truncated = Some(view.truncated);
        self.total_lines = counts.total_lines;
        self.omitted_bytes = Some(counts.omitted_bytes);
        self.lost_bytes = Some(counts.lost_bytes);
        self.read = Read::View(Box::new(view));
        self.point_to_all(job, counts.shown_bytes, counts.clamped_bytes)
    }

    fn show_page(
        &mut self,
        job: &JobHandle,
        selection: Selection,
        reader: &Reader<'_, JobLog>,
        request: &OutputRequest,
        budget: Budget,
    ) -> Result<(), Error> {
        let (read, is_cut) = match selection {
            Selection::From(offset) => {
                let page = reader.page(offset, &budget)?;
                let is_cut = !page.at_end;
                (Read::Page(page), is_cut)
            }
            Selection::Tail(lines) => {
                let page = reader.tail(lines, &budget)?;
                let is_cut = page.counts.shown_lines < lines && page.offset.start > 0;
                (Read::Lines(page), is_cut)
            }
            Selection::Lines(range) => {
                let lines = (range.end() - range.start()).saturating_add(1);
                let page = reader.lines(range, &budget)?;
                let is_cut = page.counts.shown_lines < lines && !page.at_end;
                (Read::Lines(page), is_cut)
            }
            Selection::Grep(pattern) => {
                let page = reader.grep(&pattern, &request.find(budget))?;
                let is_cut = !page.at_end;
                (Read::Found(page), is_cut)
            }
            Selection::LastMatches(pattern, most) => {
                let mut page = reader.grep(&pattern, &request.find(Budget::UNLIMITED))?;
                let is_cut = !page.at_end;
                page.parts = last_matches(&page, most);
                (Read::Last(page), is_cut)
            }
            Selection::Errors => {
                let page = reader.errors(&request.find(budget))?;
                let is_cut = !page.at_end;
                (Read::Found(page), is_cut)
            }
            Selection::All | Selection::Screen | Selection::Compare(_) => return Ok(()),
        };
        let (Read::Page(page) | Read::Lines(page) | Read::Found(page) | Read::Last(page)) = &read
        else {
            return Ok(());
        };
        let counts = page.counts;
        self.output = if counts.total_bytes == 0 { String::new() } else { page.to_text() };
        self.offset = Some(page.offset.start);
        self.next_offset = Some(page.next_offset);
        self.at_end = page.at_end;
        self.truncated = Some(is_cut || counts.clamped_lines > 0);
        // What does not match, or was not asked for, is not left out.
        self.omitted_bytes = Some(0);
        self.lost_bytes = Some(counts.lost_bytes);
        if let Read::Found(page) | Read::Last(page) = &read {
            self.matches = Some(page.matches);
        }
        self.read = read;
        self.point_to_all(job, counts.shown_bytes, counts.clamped_bytes)
    }

    fn point_to_all(&mut self, job: &JobHandle, shown: u64, clamped: u64) -> Result<(), Error> {
        let total = job.log()?.length()?;
        self.total_bytes = Some(total);
        let is_all = shown == total && clamped == 0;
        self.artifact = (!is_all).then(|| format!("artifact://{}", job.id()));
        Ok(())
    }
}

/// The last of the lines that matched.
fn last_matches(page: &Page, most: u64) -> Vec<Part> {
    let lines: Vec<&str> = page
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.split_inclusive('\n')),
            _ => None,
        })
        .flatten()
        .collect();
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let text = lines[lines.len().saturating_sub(most)..].concat();
    vec![Part::Text { text, offset: page.offset.clone() }]
}

/// A reader of what is asked for.
pub fn reader<'m>(
    call: &'m Call<'_>,
    job: &JobHandle,
    request: &OutputRequest,
) -> Result<Reader<'m, JobLog>, Error> {
    let mut reader = Reader::new(JobLog::open(job)?);
    if !request.options.unmask {
        reader = reader.mask(&call.caller.masker);
    }
    reader = match request.stream {
        None => reader,
        Some(OnlyStream::Stderr) => reader.stream(Stream::Stderr),
        // A terminal merges both; what it shows is its standard output.
        Some(OnlyStream::Stdout) if has_terminal(job) => reader,
        Some(OnlyStream::Stdout) => reader.stream(Stream::Stdout),
    };
    if let Some(since) = request.options.since {
        reader = reader.since(since)?;
    }
    if let Some(until) = request.options.until {
        reader = reader.until(until)?;
    }
    Ok(reader)
}

impl OutputRequest {
    fn selection(&self) -> Result<Selection, Error> {
        let given: Vec<&str> = [
            ("lines", self.lines.is_some()),
            // Of what matches, the last may be asked for.
            ("tail", self.tail.is_some() && self.grep.is_none()),
            ("grep", self.grep.is_some()),
            ("errors", self.errors),
            ("screen", self.screen),
            ("compare_to", self.compare_to.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, is_given)| is_given.then_some(name))
        .collect();
        if let [first, second, ..] = given[..] {
            let accepted = "accepted: one of lines, tail, grep, errors, screen, compare_to";
            return Err(Error::argument(
                second,
                format!("it was given beside {first}; {accepted}"),
            ));
        }
        Ok(if let Some(pattern) = &self.grep {
            let pattern = pattern_of("grep", pattern)?;
            match self.tail {
                Some(most) => Selection::LastMatches(pattern, most.0),
                None => Selection::Grep(pattern),
            }
        } else if self.errors {
            Selection::Errors
        } else if let Some(earlier) = &self.compare_to {
            Selection::Compare(earlier.clone())
        } else if self.screen {
            Selection::Screen
        } else if let Some(lines) = &self.lines {
            Selection::Lines(line_range(lines)?)
        } else if let Some(lines) = self.tail {
            Selection::Tail(lines.0)
        } else if let Some(offset) = self.from {
            Selection::From(offset.0)
        } else {
            Selection::All
        })
    }

    fn find(&self, budget: Budget) -> Find {
        // `grep` shows no context unless asked; an error is rarely one line.
        let usual = if self.errors { 2 } else { 0 };
        let context = self.context.map_or(usual, Count::to_usize);
        let from = self.from.map_or(0, |from| from.0);
        Find { from, before: context, after: context, budget, ..Find::default() }
    }
}

fn pattern_of(field: &str, pattern: &str) -> Result<Regex, Error> {
    Regex::new(pattern).map_err(|error| Error::argument(field, error))
}

/// Reads `10-20`, `10`, `10-` or `-20`.
fn line_range(given: &str) -> Result<RangeInclusive<u64>, Error> {
    let wrong =
        || Error::argument("lines", format!("{given:?} was given; accepted: A-B, as 10-20"));
    let (first, last) = given.split_once('-').unwrap_or((given, given));
    let number = |digits: &str, default| match digits {
        "" => Ok(default),
        digits => digits.parse::<u64>().map_err(|_| wrong()),
    };
    let (first, last) = (number(first, 1)?, number(last, u64::MAX)?);
    if first == 0 || first > last || given == "-" || given.is_empty() {
        return Err(wrong());
    }
    Ok(first..=last)
}
