//! Notebooks as text that can be edited: every cell below a line `# %% [code] cell:0`.
//!
//! On the way back only the sources that changed are written anew; the rest of the file keeps its
//! bytes: outputs, metadata, the order of keys.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::value::RawValue;

/// Why a notebook cannot be handled.
pub(crate) type Problem = String;

#[derive(Deserialize)]
struct Notebook<'a> {
    #[serde(borrow)]
    cells: Vec<&'a RawValue>,
    #[serde(default)]
    nbformat: u32,
    #[serde(default)]
    nbformat_minor: u32,
}

#[derive(Deserialize)]
struct Cell<'a> {
    cell_type: String,
    #[serde(borrow)]
    source: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Source {
    Whole(String),
    Lines(Vec<String>),
}

impl Cell<'_> {
    fn text(&self) -> Result<String, Problem> {
        let source: Source = serde_json::from_str(self.source.get()).map_err(|e| e.to_string())?;
        Ok(match source {
            Source::Whole(text) => text,
            Source::Lines(lines) => lines.concat(),
        })
    }
}

fn parse(json: &str) -> Result<Notebook<'_>, Problem> {
    let problem = |e: serde_json::Error| format!("it is no notebook: {e}");
    let notebook: Notebook<'_> = serde_json::from_str(json).map_err(problem)?;
    if notebook.nbformat < 4 {
        return Err("it is a notebook of a format before 4".to_owned());
    }
    Ok(notebook)
}

fn cell(raw: &RawValue) -> Result<Cell<'_>, Problem> {
    serde_json::from_str(raw.get()).map_err(|e| format!("a cell of it cannot be read: {e}"))
}

/// `# %% [code] cell:3` as kind and number.
fn marker(line: &str) -> Option<(&str, Option<usize>)> {
    let (kind, rest) = line.strip_prefix("# %% [")?.split_once(']')?;
    let number = rest.trim().strip_prefix("cell:").and_then(|number| number.parse().ok());
    (rest.trim().is_empty() || number.is_some()).then_some((kind, number))
}

/// The cells as text.
pub(crate) fn to_text(json: &str) -> Result<String, Problem> {
    let mut text = String::new();
    for (number, raw) in parse(json)?.cells.into_iter().enumerate() {
        let cell = cell(raw)?;
        let _ = writeln!(text, "# %% [{}] cell:{number}", cell.cell_type);
        let source = cell.text()?;
        if source.lines().any(|line| marker(line).is_some()) {
            return Err(format!(
                "cell {number} has a line that looks like the beginning of a cell"
            ));
        }
        if !source.is_empty() {
            text.push_str(&source);
            text.push('\n');
        }
    }
    Ok(text)
}

/// One cell of the text.
struct TextCell {
    kind: String,
    number: Option<usize>,
    source: String,
}

fn text_cells(text: &str) -> Result<Vec<TextCell>, Problem> {
    let mut cells: Vec<(TextCell, Vec<&str>)> = Vec::new();
    for line in crate::text::lines(text) {
        match (marker(line), cells.last_mut()) {
            (Some((kind, number)), _) => {
                if !["code", "markdown", "raw"].contains(&kind) {
                    return Err(format!("a cell is code, markdown or raw, not {kind:?}"));
                }
                let cell = TextCell { kind: kind.to_owned(), number, source: String::new() };
                cells.push((cell, Vec::new()));
            }
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {
                return Err("the text must begin with a line like `# %% [code]`".to_owned());
            }
        }
    }
    let join = |(cell, lines): (TextCell, Vec<&str>)| TextCell { source: lines.join("\n"), ..cell };
    Ok(cells.into_iter().map(join).collect())
}

/// The notebook with the cells of the text.
pub(crate) fn with_text(json: &str, text: &str) -> Result<String, Problem> {
    let notebook = parse(json)?;
    let needs_id = (notebook.nbformat, notebook.nbformat_minor) >= (4, 5);
    let mut cells = Vec::new();
    let mut used = vec![false; notebook.cells.len()];
    for new in text_cells(text)? {
        let old = new.number.filter(|number| used.get(*number) == Some(&false));
        let raw = match old {
            None => new_cell(&new, needs_id),
            Some(number) => {
                used[number] = true;
                let raw = notebook.cells[number];
                let old = cell(raw)?;
                if old.cell_type != new.kind {
                    new_cell(&new, needs_id)
                } else if old.text()? == new.source {
                    raw.get().to_owned()
                } else {
                    let source = source(&new.source, old.source.get());
                    splice(raw.get(), old.source.get(), &source).ok_or("a cell moved")?
                }
            }
        };
        cells.push(raw);
    }
    let (start, end) = cells_span(json, &notebook).ok_or("its cells cannot be found")?;
    let separator = separator(json, &notebook, start);
    let joined = cells.join(&format!(",{separator}"));
    let inside = match (cells.is_empty(), notebook.cells.is_empty()) {
        (true, _) => String::new(),
        (false, true) => format!("\n  {joined}\n "),
        (false, false) => joined,
    };
    Ok(format!("{}{inside}{}", &json[..start], &json[end..]))
}

/// Where a part of a text is in it.
fn offset(whole: &str, part: &str) -> Option<usize> {
    let at = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    (whole.get(at..at + part.len()) == Some(part)).then_some(at)
}

fn splice(whole: &str, part: &str, new: &str) -> Option<String> {
    let at = offset(whole, part)?;
    Some(format!("{}{new}{}", &whole[..at], &whole[at + part.len()..]))
}

/// From the first cell to the last; of no cells, between the brackets.
fn cells_span(json: &str, notebook: &Notebook<'_>) -> Option<(usize, usize)> {
    if let (Some(first), Some(last)) = (notebook.cells.first(), notebook.cells.last()) {
        let end = offset(json, last.get())? + last.get().len();
        return Some((offset(json, first.get())?, end));
    }
    let key = json.find("\"cells\"")?;
    let open = key + json[key..].find('[')?;
    let close = open + json[open..].find(']')?;
    Some((open + 1, close))
}

/// What stands between two cells: the white space before the first.
fn separator(json: &str, notebook: &Notebook<'_>, start: usize) -> String {
    if notebook.cells.is_empty() {
        return "\n  ".to_owned();
    }
    let before = &json[..start];
    before[before.trim_end().len()..].to_owned()
}

/// A source in the way the old one is written.
fn source(text: &str, old: &str) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    if old.starts_with('"') {
        return quoted(text);
    }
    let lines: Vec<String> = text.split_inclusive('\n').map(quoted).collect();
    if lines.is_empty() {
        return "[]".to_owned();
    }
    let inside = old.trim_start_matches('[').trim_end_matches(']');
    let lead = &inside[..inside.len() - inside.trim_start().len()];
    let tail = &inside[inside.trim_end().len()..];
    let (lead, tail) = if inside.trim().is_empty() { ("\n    ", "\n   ") } else { (lead, tail) };
    let between = if lead.is_empty() { " " } else { lead };
    format!("[{lead}{}{tail}]", lines.join(&format!(",{between}")))
}

fn new_cell(new: &TextCell, needs_id: bool) -> String {
    let mut cell = "{\n   \"cell_type\": ".to_owned();
    let _ = write!(cell, "\"{}\",\n   ", new.kind);
    if new.kind == "code" {
        cell.push_str("\"execution_count\": null,\n   ");
    }
    if needs_id {
        let random = ulid::Ulid::generate().to_string().to_lowercase();
        let _ = write!(cell, "\"id\": \"{}\",\n   ", &random[random.len() - 8..]);
    }
    cell.push_str("\"metadata\": {},\n   ");
    if new.kind == "code" {
        cell.push_str("\"outputs\": [],\n   ");
    }
    let _ = write!(cell, "\"source\": {}\n  }}", source(&new.source, "[]"));
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTEBOOK: &str = "{\n \"cells\": [\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"a\",\n   \"metadata\": {},\n   \"source\": [\n    \"# Title\\n\",\n    \"text\"\n   ]\n  },\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 3,\n   \"id\": \"b\",\n   \"metadata\": {},\n   \"outputs\": [{\"z\": 1.0, \"a\": 1e-05}],\n   \"source\": [\n    \"x = 1\"\n   ]\n  }\n ],\n \"metadata\": {},\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n";

    #[test]
    fn cells_become_text_and_unchanged_text_the_same_bytes() {
        let text = to_text(NOTEBOOK).unwrap();
        assert_eq!(text, "# %% [markdown] cell:0\n# Title\ntext\n# %% [code] cell:1\nx = 1\n");
        assert_eq!(with_text(NOTEBOOK, &text).unwrap(), NOTEBOOK);
    }

    #[test]
    fn only_what_changed_is_written() {
        let text = to_text(NOTEBOOK).unwrap().replace("x = 1", "x = \"2\"\ny = 3");
        let new = with_text(NOTEBOOK, &text).unwrap();
        assert_eq!(
            new,
            NOTEBOOK.replace("    \"x = 1\"\n", "    \"x = \\\"2\\\"\\n\",\n    \"y = 3\"\n")
        );
        assert_eq!(to_text(&new).unwrap(), text);
    }

    #[test]
    fn cells_are_added_removed_and_moved() {
        let new = with_text(NOTEBOOK, "# %% [code] cell:1\nx = 1\n# %% [code]\nnew()\n").unwrap();
        let text = to_text(&new).unwrap();
        assert_eq!(text, "# %% [code] cell:0\nx = 1\n# %% [code] cell:1\nnew()\n");
        assert!(new.contains("1e-05"), "outputs stay: {new}");
        let none = with_text(NOTEBOOK, "").unwrap();
        assert_eq!(to_text(&none).unwrap(), "");
        let again = with_text(&none, "# %% [markdown]\nhello\n").unwrap();
        assert_eq!(to_text(&again).unwrap(), "# %% [markdown] cell:0\nhello\n");
    }

    #[test]
    fn what_is_no_notebook_is_said() {
        assert!(to_text("{}").is_err());
        assert!(to_text("[1").is_err());
        assert!(with_text(NOTEBOOK, "no marker\n").is_err());
        assert!(with_text(NOTEBOOK, "# %% [sql]\n").is_err());
    }
}
