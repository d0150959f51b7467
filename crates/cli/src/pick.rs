//! Asks a person which task: a line to type some letters of its name into, and under it the tasks
//! that fit, best first.

use std::env;
use std::io::{self, IsTerminal};

use umbo_ops::project::Folder;
use umbo_recipes::{Task, Visibility};
use umbo_view::visible_line;
use unicode_width::UnicodeWidthStr;

use crate::failure::Failure;
use crate::output::{self, Stroke};
use crate::terminal::{self, Raw};

/// As many tasks as are shown at once.
const SHOWN: usize = 12;

const PROMPT: &str = "task> ";

/// The task that the person chooses, as `runner:task`.
pub(crate) fn task(folder: &Folder) -> Result<String, Failure> {
    if !can_ask() {
        return Err(Failure::new("name a task; `umbo recipes` lists them"));
    }
    let tasks = folder.project.tasks().filter(|task| task.visibility == Visibility::Listed);
    let entries: Vec<Entry> = tasks.map(Entry::new).collect();
    if entries.is_empty() {
        return Err(Failure::new("there is no task here; `umbo recipes` says why"));
    }
    choose(&entries)
}

/// Which of the tasks with these names, as `runner:task`, the person chooses.
pub(crate) fn task_of(folder: &Folder, names: &[String]) -> Result<String, Failure> {
    let tasks = folder.project.tasks().map(Entry::new);
    choose(&tasks.filter(|entry| names.contains(&entry.name)).collect::<Vec<_>>())
}

/// Whether there is somebody to ask, at a terminal that can be drawn on.
pub(crate) fn can_ask() -> bool {
    let is_dumb = env::var_os("TERM").is_none_or(|term| term == "dumb");
    io::stdin().is_terminal() && output::is_error_terminal() && !is_dumb
}

fn choose(entries: &[Entry]) -> Result<String, Failure> {
    let mut pick = Pick { entries, line: String::new(), chosen: 0 };
    let raw = Raw::enter()?;
    let chosen = pick.ask();
    drop(raw);
    match chosen {
        Some(entry) => {
            output::talk(format_args!("umbo run {}", entry.name));
            Ok(entry.name.clone())
        }
        None => Err(Failure::new("no task was chosen")),
    }
}

struct Entry {
    name: String,
    what: String,
}

impl Entry {
    fn new(task: &Task) -> Self {
        let script = || task.script.as_ref().and_then(|script| script.steps.first().cloned());
        let what = task.doc.clone().or_else(script).unwrap_or_else(|| task.command());
        let what = what.lines().next().unwrap_or_default().to_owned();
        Self { name: format!("{}:{}", task.runner, task.name), what }
    }
}

/// What a key means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Letter(char),
    Erase,
    EraseWord,
    EraseLine,
    Up,
    Down,
    Enter,
    Leave,
}

struct Pick<'a> {
    entries: &'a [Entry],
    line: String,
    chosen: usize,
}

impl<'a> Pick<'a> {
    fn ask(&mut self) -> Option<&'a Entry> {
        let mut buffer = [0; 256];
        loop {
            let fitting = self.fitting();
            self.chosen = self.chosen.min(fitting.len().saturating_sub(1));
            self.draw(&fitting);
            let typed = terminal::typed(&mut buffer);
            if typed.is_empty() {
                return None;
            }
            for key in keys(typed) {
                match key {
                    Key::Letter(letter) => self.line.push(letter),
                    Key::Erase => drop(self.line.pop()),
                    Key::EraseLine => self.line.clear(),
                    Key::EraseWord => {
                        let kept = self.line.trim_end().rfind(' ').map_or(0, |at| at + 1);
                        self.line.truncate(kept);
                    }
                    Key::Up => self.chosen = self.chosen.saturating_sub(1),
                    Key::Down => self.chosen += 1,
                    Key::Leave => {
                        clear();
                        return None;
                    }
                    Key::Enter => {
                        clear();
                        return self.fitting().get(self.chosen).copied();
                    }
                }
                if matches!(key, Key::Letter(_) | Key::Erase | Key::EraseLine | Key::EraseWord) {
                    self.chosen = 0;
                }
            }
        }
    }

    /// The tasks that have what was typed, best first.
    fn fitting(&self) -> Vec<&'a Entry> {
        let mut ranked: Vec<(usize, &Entry)> = self
            .entries
            .iter()
            .filter_map(|entry| Some((rank(&self.line, entry)?, entry)))
            .collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.into_iter().map(|(_, entry)| entry).collect()
    }

    /// Draws below where the line is, and comes back to it.
    fn draw(&self, fitting: &[&Entry]) {
        let (columns, rows) = size();
        let room = SHOWN.min(rows.saturating_sub(2)).max(1);
        let first = (self.chosen + 1).saturating_sub(room);
        let widest = fitting.iter().skip(first).take(room).map(|entry| entry.name.width());
        let widest = widest.max().unwrap_or(0);
        let typed = cut(&format!("{PROMPT}{}", self.line), columns);
        let mut lines: Vec<(String, &'static str)> = Vec::new();
        for (at, entry) in fitting.iter().enumerate().skip(first).take(room) {
            let is_chosen = at == self.chosen;
            let (mark, look) = if is_chosen { ('>', "\r\n\x1b[7m") } else { (' ', "\r\n") };
            let gap = " ".repeat(widest - entry.name.width());
            let line = format!("{mark} {}{gap}  {}", entry.name, entry.what);
            lines.push((cut(&visible_line(&line), columns), look));
        }
        let (count, all) = (fitting.len(), self.entries.len());
        let help = format!("  {count} of {all}; letters to search, arrows, enter, escape");
        lines.push((cut(&help, columns), "\r\n\x1b[2m"));
        let mut strokes = vec![Stroke::Control("\r\x1b[J"), Stroke::Text(&typed)];
        for (line, look) in &lines {
            strokes.extend([Stroke::Control(look), Stroke::Text(line), Stroke::Control("\x1b[0m")]);
        }
        // Back to where the person types.
        let column = PROMPT.len() + self.line.width();
        let column = column.min(columns.saturating_sub(1));
        strokes.extend([Stroke::Up(lines.len()), Stroke::Control("\r"), Stroke::Right(column)]);
        output::draw(&strokes);
    }
}

fn clear() {
    output::draw(&[Stroke::Control("\r\x1b[J")]);
}

fn size() -> (usize, usize) {
    output::size(output::Stream::Errors).unwrap_or((80, 24))
}

/// A line that ends before the terminal does.
fn cut(line: &str, columns: usize) -> String {
    output::cut(line, columns.saturating_sub(1))
}

/// How well a task fits what was typed; none if it does not. Every word must fit.
fn rank(line: &str, entry: &Entry) -> Option<usize> {
    let name = entry.name.to_lowercase();
    let own = name.split_once(':').map_or(name.as_str(), |(_, own)| own);
    let what = entry.what.to_lowercase();
    let fit = |word: &str| {
        let begins = |at: usize| at == 0 || !name.as_bytes()[at - 1].is_ascii_alphanumeric();
        if own == word || name == word {
            Some(0)
        } else if own.starts_with(word) || name.starts_with(word) {
            Some(1)
        } else if name.match_indices(word).any(|(at, _)| begins(at)) {
            Some(2)
        } else if name.contains(word) {
            Some(3)
        } else if is_scattered(word, &name) {
            Some(4)
        } else {
            what.contains(word).then_some(5)
        }
    };
    line.to_lowercase()
        .split_whitespace()
        .map(fit)
        .try_fold(0, |worst, rank| Some(worst.max(rank?)))
}

/// Whether the letters of a word occur in this order.
fn is_scattered(word: &str, name: &str) -> bool {
    let mut letters = name.chars();
    word.chars().all(|wanted| letters.any(|letter| letter == wanted))
}

/// The keys that bytes of a terminal mean.
pub(crate) fn keys(bytes: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    let text = String::from_utf8_lossy(bytes);
    let mut rest = text.as_ref();
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        if let Some(sequence) = rest.strip_prefix(['[', 'O']).filter(|_| first == '\x1b') {
            let is_end = |c: char| c.is_ascii_alphabetic() || c == '~';
            let end = sequence.find(is_end).map_or(sequence.len(), |at| at + 1);
            match &sequence[..end] {
                "A" => keys.push(Key::Up),
                "B" => keys.push(Key::Down),
                _ => {}
            }
            rest = &sequence[end..];
            continue;
        }
        match first {
            '\r' | '\n' => keys.push(Key::Enter),
            '\x7f' | '\x08' => keys.push(Key::Erase),
            '\x17' => keys.push(Key::EraseWord),
            '\x15' => keys.push(Key::EraseLine),
            '\x10' => keys.push(Key::Up),
            '\x0e' | '\t' => keys.push(Key::Down),
            '\x1b' | '\x03' | '\x04' => keys.push(Key::Leave),
            letter if !letter.is_control() => keys.push(Key::Letter(letter)),
            _ => {}
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, what: &str) -> Entry {
        Entry { name: name.to_owned(), what: what.to_owned() }
    }

    #[test]
    fn the_best_fit_comes_first() {
        let entries = [
            entry("npm:build:test", "x"),
            entry("npm:latest", "x"),
            entry("npm:lint", "runs the tests of style"),
            entry("npm:test", "x"),
            entry("npm:test:unit", "x"),
            entry("npm:clean", "x"),
        ];
        let fitting = |line: &str| -> Vec<String> {
            let pick = Pick { entries: &entries, line: line.to_owned(), chosen: 0 };
            pick.fitting().iter().map(|entry| entry.name.clone()).collect()
        };
        assert_eq!(
            fitting("test"),
            ["npm:test", "npm:test:unit", "npm:build:test", "npm:latest", "npm:lint"]
        );
        assert_eq!(fitting("tst unit"), ["npm:test:unit"]);
        assert_eq!(fitting("cln"), ["npm:clean"]);
        assert_eq!(fitting("").len(), 6);
        assert!(fitting("zzz").is_empty());
    }

    #[test]
    fn keys_are_told_from_bytes() {
        assert_eq!(
            keys(b"a\x1b[A\x1b[B\x7f\r"),
            [Key::Letter('a'), Key::Up, Key::Down, Key::Erase, Key::Enter]
        );
        assert_eq!(keys(b"\x1b"), [Key::Leave]);
        assert_eq!(keys(b"\x1b[3~x\x1b[1;5Cy"), [Key::Letter('x'), Key::Letter('y')]);
        assert_eq!(keys("ü".as_bytes()), [Key::Letter('ü')]);
    }
}
