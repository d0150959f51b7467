//! The envelope that Codex's models write: `*** Begin Patch`, then files to add, delete and update.
//! Its hunks have no line numbers; they are found by their lines, exactly or almost.

use super::{FilePatch, Hunks};
use crate::Error;
use crate::edit::fuzzy;
use crate::text;

pub(super) const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";

/// Lines that are there, and lines that are to be there instead.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Lines above it, by which it is found: a class, then a function of it.
    above: Vec<String>,
    old: Vec<String>,
    new: Vec<String>,
    /// It is the end of the file.
    at_end: bool,
    /// Its line in the patch.
    line: usize,
}

impl Chunk {
    fn is_empty(&self) -> bool {
        self.old.is_empty() && self.new.is_empty()
    }
}

pub(super) fn parse(patch: &str) -> Result<Vec<FilePatch>, Error> {
    let lines: Vec<&str> = patch.lines().collect();
    let begin = lines.iter().position(|line| line.trim() == BEGIN).unwrap_or_default();
    let end = lines.iter().rposition(|line| line.trim() == END);
    let Some(end) = end.filter(|end| *end > begin) else {
        return Err(Error::bad_edit(lines.len(), "the patch must end with \"*** End Patch\""));
    };
    let mut reader = Lines { lines: &lines[..end], at: begin + 1 };
    let mut files = Vec::new();
    while let Some(line) = reader.next_line() {
        let number = reader.at;
        let header = line.trim();
        if header.is_empty() {
            continue;
        }
        let name = |prefix: &str| header.strip_prefix(prefix).map(|path| path.trim().to_owned());
        let file = if let Some(path) = name("*** Add File: ") {
            FilePatch::Create { path, text: added(&mut reader)?, mode: None, replaces: true }
        } else if let Some(path) = name("*** Delete File: ") {
            FilePatch::Delete { path, hunks: Vec::new() }
        } else if let Some(path) = name("*** Update File: ") {
            update(path, &mut reader)?
        } else {
            let problem = format!(
                "{header:?} is no header; use \"*** Add File: PATH\", \"*** Delete File: PATH\" or \
                 \"*** Update File: PATH\""
            );
            return Err(Error::bad_edit(number, problem));
        };
        files.push(file);
    }
    if files.is_empty() {
        return Err(Error::bad_edit(begin + 1, "the patch changes no file"));
    }
    Ok(files)
}

struct Lines<'a> {
    lines: &'a [&'a str],
    /// The next line, from 0; so also the number of the one before it, from 1.
    at: usize,
}

impl<'a> Lines<'a> {
    fn next_line(&mut self) -> Option<&'a str> {
        let line = self.lines.get(self.at)?;
        self.at += 1;
        Some(line)
    }

    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }
}

/// Whether a line begins the next file. Content is never mistaken for one: it has a sign before it.
fn is_header(line: &str) -> bool {
    line.trim_start().starts_with("*** ")
        && line.trim() != END_OF_FILE
        && !line.starts_with(" *** ")
        || line.trim().starts_with("*** Add File: ")
        || line.trim().starts_with("*** Delete File: ")
        || line.trim().starts_with("*** Update File: ")
}

fn added(reader: &mut Lines<'_>) -> Result<String, Error> {
    let mut text = String::new();
    while let Some(line) = reader.peek().filter(|line| !is_header(line)) {
        reader.at += 1;
        match line.strip_prefix('+') {
            Some(content) => {
                text.push_str(content);
                text.push('\n');
            }
            None if line.trim().is_empty() => {}
            None => {
                let problem = "every line of an added file begins with `+`";
                return Err(Error::bad_edit(reader.at, problem));
            }
        }
    }
    Ok(text)
}

fn update(path: String, reader: &mut Lines<'_>) -> Result<FilePatch, Error> {
    let start = reader.at;
    let mut to = None;
    if let Some(target) = reader.peek().and_then(|line| line.trim().strip_prefix("*** Move to: ")) {
        to = Some(target.trim().to_owned());
        reader.at += 1;
    }
    let mut chunks: Vec<Chunk> = Vec::new();
    while let Some(line) = reader.peek().filter(|line| !is_header(line)) {
        reader.at += 1;
        let number = reader.at;
        let fresh = || Chunk { line: number, ..Chunk::default() };
        if line.trim_end() == "@@" || line.starts_with("@@ ") {
            let above = line[2..].trim();
            // Several headers in a row lead to one chunk.
            if chunks.last().is_none_or(|chunk| !chunk.is_empty()) {
                chunks.push(fresh());
            }
            if let (false, Some(chunk)) = (above.is_empty(), chunks.last_mut()) {
                chunk.above.push(above.to_owned());
            }
            continue;
        }
        if chunks.last().is_none_or(|chunk| chunk.at_end) {
            chunks.push(fresh());
        }
        let Some(chunk) = chunks.last_mut() else { continue };
        if line.trim() == END_OF_FILE {
            chunk.at_end = true;
            continue;
        }
        match (line.chars().next(), line.get(1..)) {
            (Some('+'), Some(text)) => chunk.new.push(text.to_owned()),
            (Some('-'), Some(text)) => chunk.old.push(text.to_owned()),
            (Some(' '), Some(text)) => {
                chunk.old.push(text.to_owned());
                chunk.new.push(text.to_owned());
            }
            (None, _) => {
                chunk.old.push(String::new());
                chunk.new.push(String::new());
            }
            _ => {
                let problem = "a line of a hunk begins with ` `, `+` or `-`";
                return Err(Error::bad_edit(number, problem));
            }
        }
    }
    // Blank lines before the next header are not lines of the file.
    if let Some(empty) = chunks.iter().find(|chunk| chunk.is_empty()) {
        return Err(Error::bad_edit(empty.line, "this hunk has no lines"));
    }
    if chunks.is_empty() && to.is_none() {
        return Err(Error::bad_edit(start, format!("the update of {path} has no hunks")));
    }
    Ok(FilePatch::Update { path, to, hunks: Hunks::Envelope(chunks), mode: None })
}

pub(super) fn apply(path: &str, old: &str, chunks: &[Chunk]) -> Result<String, Error> {
    let lines = text::lines(old);
    let mut new: Vec<&str> = Vec::new();
    let mut at = 0;
    for chunk in chunks {
        let (place, wanted, given) = locate(path, &lines, chunk, at)?;
        new.extend(&lines[at..place]);
        new.extend(given.iter().map(String::as_str));
        at = place + wanted;
    }
    new.extend(&lines[at..]);
    let mut joined = new.join("\n");
    if !joined.is_empty() {
        joined.push('\n');
    }
    Ok(joined)
}

/// Where a chunk is, how many lines give way, and to which.
fn locate<'a>(
    path: &str,
    lines: &[&str],
    chunk: &'a Chunk,
    from: usize,
) -> Result<(usize, usize, &'a [String]), Error> {
    let missing = |what: &str| Error::NoMatch {
        path: path.to_owned(),
        problem: format!(
            "the hunk of line {} does not fit: {what:?} is not in the file; read it again",
            chunk.line
        ),
    };
    let mut start = from;
    for above in &chunk.above {
        start = fuzzy::seek(lines, &[above], start, false).ok_or_else(|| missing(above))? + 1;
    }
    if chunk.old.is_empty() {
        // Without anything around them, lines go to the end; below a named line, under it.
        let place = if chunk.above.is_empty() { lines.len() } else { start };
        return Ok((place, 0, &chunk.new));
    }
    let old: Vec<&str> = chunk.old.iter().map(String::as_str).collect();
    if let Some(place) = fuzzy::seek(lines, &old, start, chunk.at_end) {
        return Ok((place, old.len(), &chunk.new));
    }
    // An empty last line may stand for the end of the file.
    if let ([shorter @ .., last], [new @ .., new_last]) = (old.as_slice(), chunk.new.as_slice())
        && last.is_empty()
        && new_last.is_empty()
        && let Some(place) = fuzzy::seek(lines, shorter, start, chunk.at_end)
    {
        return Ok((place, shorter.len(), new));
    }
    Err(missing(&chunk.old.join("\n")))
}
