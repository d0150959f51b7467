//! A frame of `umbo top`: the list above, the end of the selected job's output below.

use std::fmt::Write as _;

use umbo_engine::{Status, Summary};
use umbo_view::visible_line;
use unicode_width::UnicodeWidthStr;

use super::super::jobs::{since, state};
use super::usage::Used;
use super::{Entry, Row};
use crate::output::{self, Cell, Tone};
use crate::time::show_duration;

/// Whole frames appear at once.
const BEGIN: &str = "\x1b[?2026h\x1b[H";
const END: &str = "\x1b[J\x1b[?2026l";
const LINE_END: &str = "\x1b[K\r\n";
const RESET: &str = "\x1b[0m";
const REVERSE: &str = "\x1b[7m";
/// So wide are the columns before the command at most; those of words are no wider than their words.
const WIDTHS: [usize; 6] = [6, 11, 7, 6, 6, 16];
const STATE: usize = 1;
const NAME: usize = 5;
/// On a terminal that is narrower, a name leaves more of its line to the command.
const WIDE: usize = 100;
const SHORT_NAME: usize = 10;
const HEADS: [&str; 6] = ["JOB", "STATE", "TIME", "CPU", "MEMORY", "NAME"];
const KEYS: &str = "enter attach  x stop  p pause  a approve  / search  q leave";

/// What a frame shows.
pub(super) struct Picture<'a> {
    pub(super) size: (usize, usize),
    pub(super) rows: &'a [&'a Row],
    pub(super) selected: usize,
    pub(super) tail: &'a [String],
    /// What is said at the bottom instead of the keys.
    pub(super) said: Option<&'a str>,
    /// What is being searched for, and whether it is being typed.
    pub(super) search: (&'a str, bool),
}

/// How many rows of the list there is room for.
pub(super) fn list_height(rows: usize) -> usize {
    (rows.saturating_sub(4) / 2).max(1)
}

/// How many lines of output there is room for.
pub(super) fn tail_height(rows: usize, listed: usize) -> usize {
    rows.saturating_sub(4 + listed.min(list_height(rows)).max(1))
}

pub(super) fn frame(picture: &Picture<'_>) -> String {
    let (columns, rows) = picture.size;
    let has_colour = output::has_colour();
    let mut out = String::from(BEGIN);
    let mut line = |text: &str| {
        out.push_str(text);
        out.push_str(LINE_END);
    };
    line(&output::cut(&summary(picture.rows), columns));
    let widths = widths(picture.rows, columns);
    line(&toned(&output::cut(&heads(&widths), columns), Tone::Faint, has_colour));
    let room = list_height(rows);
    let first = (picture.selected + 1).saturating_sub(room);
    if picture.rows.is_empty() {
        line("  nothing runs");
    }
    for (at, row) in picture.rows.iter().enumerate().skip(first).take(room) {
        if at == picture.selected {
            let plain: String = cells(row, &widths).iter().map(|(text, _)| text.as_str()).collect();
            let plain = output::cut(&plain, columns);
            let gap = " ".repeat(columns.saturating_sub(plain.width()));
            line(&format!("{REVERSE}{plain}{gap}{RESET}"));
        } else {
            line(&fitted(&cells(row, &widths), columns, has_colour));
        }
    }
    let title = picture.rows.get(picture.selected).map_or_else(String::new, |row| title(row));
    let rule = "─".repeat(columns.saturating_sub(title.width() + 1));
    line(&toned(&output::cut(&format!("{title} {rule}"), columns), Tone::Faint, has_colour));
    let height = tail_height(rows, picture.rows.len());
    for at in 0..height {
        line(&picture.tail.get(at).map_or_else(String::new, |text| output::cut(text, columns)));
    }
    let (text, is_typed) = picture.search;
    let bottom = match (picture.said, is_typed) {
        (_, true) => format!("/{text}"),
        (Some(said), false) => said.to_owned(),
        (None, false) if text.is_empty() => KEYS.to_owned(),
        (None, false) => format!("/{text}  (esc shows all)  {KEYS}"),
    };
    out.push_str(&output::cut(&visible_line(&bottom), columns));
    out.push_str(END);
    out
}

fn summary(rows: &[&Row]) -> String {
    let count = |is_one: fn(&Summary) -> bool| {
        rows.iter().filter(|row| matches!(&row.entry, Entry::Job(job) if is_one(job))).count()
    };
    let running = count(|job| matches!(job.status, Status::Started { .. }));
    let queued = count(|job| matches!(job.status, Status::Created));
    let ended = count(|job| matches!(job.status, Status::Ended(_)));
    let mut text = format!("umbo top: {running} running, {queued} queued, {ended} ended");
    match rows.iter().filter(|row| matches!(row.entry, Entry::Question { .. })).count() {
        0 => {}
        waiting => {
            let _ = write!(text, "; {waiting} waiting for a yes");
        }
    }
    text
}

/// The widths of the columns before the command.
fn widths(rows: &[&Row], columns: usize) -> [usize; 6] {
    let mut widths = WIDTHS;
    if columns < WIDE {
        widths[NAME] = SHORT_NAME;
    }
    for column in [STATE, NAME] {
        let texts = rows.iter().map(|row| texts(row)[column].text().width());
        let widest = texts.chain([HEADS[column].len()]).max().unwrap_or_default();
        widths[column] = widths[column].min(widest);
    }
    widths
}

fn heads(widths: &[usize; 6]) -> String {
    let mut text = String::new();
    for (head, width) in HEADS.iter().zip(*widths) {
        let _ = write!(text, "{head:width$}  ");
    }
    text + "COMMAND"
}

/// The parts of a row, each as wide as its column.
fn cells(row: &Row, widths: &[usize; 6]) -> Vec<(String, Tone)> {
    let command = match &row.entry {
        Entry::Job(job) => &job.command,
        Entry::Question { command, .. } => command,
    };
    let mut cells: Vec<(String, Tone)> = texts(row)
        .into_iter()
        .zip(*widths)
        .map(|(cell, width)| {
            let text = output::cut(&visible_line(cell.text()), width);
            let gap = " ".repeat(width.saturating_sub(text.width()) + 2);
            (text + &gap, cell.tone())
        })
        .collect();
    let first = command.lines().next().unwrap_or_default();
    cells.push((visible_line(first).into_owned(), Tone::Plain));
    cells
}

fn texts(row: &Row) -> [Cell; 6] {
    match &row.entry {
        Entry::Job(job) => job_cells(job, row.used.as_ref()),
        Entry::Question { risk, age, .. } => {
            let asks = Cell::toned("asks", Tone::Bad);
            let age = show_duration(*age);
            [row.short().into(), asks, age.into(), "".into(), "".into(), risk.clone().into()]
        }
    }
}

fn job_cells(job: &Summary, used: Option<&Used>) -> [Cell; 6] {
    let time = match &job.status {
        Status::Created => String::new(),
        Status::Started { at, .. } => show_duration(since(*at)),
        Status::Ended(outcome) => show_duration(outcome.duration()),
    };
    let percent = used.and_then(|used| used.percent).map(|percent| format!("{percent:.0} %"));
    let memory = used.map(|used| format!("{} M", used.memory >> 20));
    [
        job.job.short().into(),
        state(job),
        time.into(),
        percent.unwrap_or_default().into(),
        memory.unwrap_or_default().into(),
        job.name.clone().unwrap_or_default().into(),
    ]
}

fn title(row: &Row) -> String {
    match &row.entry {
        Entry::Job(job) => {
            let processes = row.used.map(|used| format!(", {} processes", used.processes));
            let name = job.name.as_deref().unwrap_or(job.job.short());
            let cwd = &job.cwd;
            let text = format!("{name} in {cwd}{}", processes.unwrap_or_default());
            visible_line(&text).into_owned()
        }
        Entry::Question { why, .. } => visible_line(why).into_owned(),
    }
}

/// Parts side by side, as far as there is room.
fn fitted(cells: &[(String, Tone)], columns: usize, has_colour: bool) -> String {
    let mut left = columns;
    let mut text = String::new();
    for (cell, tone) in cells {
        let shown = output::cut(cell, left);
        left = left.saturating_sub(shown.width());
        text.push_str(&toned(&shown, *tone, has_colour));
    }
    text
}

fn toned(text: &str, tone: Tone, has_colour: bool) -> String {
    match tone {
        Tone::Plain => text.to_owned(),
        tone if has_colour => format!("{}{text}{RESET}", tone.begin()),
        _ => text.to_owned(),
    }
}
