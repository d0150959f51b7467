//! The language of hashline edits: sections `@@ PATH`, operations `+ < - =` on anchors, and payload
//! lines `~TEXT`.

use crate::Error;
use crate::anchor::Anchor;

/// The edits of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) path: String,
    pub(crate) ops: Vec<Op>,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Op {
    /// Its line in the input, from 1.
    pub(crate) line: usize,
    pub(crate) kind: OpKind,
    pub(crate) payload: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpKind {
    InsertAfter(Position),
    InsertBefore(Position),
    Delete(Anchor, Anchor),
    Replace(Anchor, Anchor),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    Start,
    End,
    At(Anchor),
}

/// All sections; those of one path joined, so that all anchors mean the file as it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parsed {
    pub(crate) sections: Vec<Section>,
    pub(crate) warnings: Vec<String>,
}

const PAYLOAD: char = '~';

/// Reads an input. `fallback` is the path of operations that come before any header.
pub(crate) fn parse(input: &str, fallback: Option<&str>) -> Result<Parsed, Error> {
    let mut parsed = Parsed { sections: Vec::new(), warnings: Vec::new() };
    for (at, line) in input.lines().enumerate() {
        let number = at + 1;
        let line = line.strip_suffix('\r').unwrap_or(line);
        if let Some(text) = line.strip_prefix(PAYLOAD) {
            payload(&mut parsed, number, text)?;
            continue;
        }
        let line = line.trim();
        match line {
            "" | "*** Begin Patch" => continue,
            "*** End Patch" => break,
            "*** Abort" => {
                let warning =
                    "the edit was broken off by *** Abort; what came before it was applied";
                parsed.warnings.push(warning.to_owned());
                break;
            }
            _ => {}
        }
        if line.starts_with('@') {
            let path = line.trim_start_matches('@').trim();
            if path.is_empty() {
                let problem = "Input header \"@@\" is empty; provide a file path.";
                return Err(Error::bad_edit(number, problem));
            }
            parsed.sections.push(Section { path: path.to_owned(), ops: Vec::new() });
            continue;
        }
        if parsed.sections.is_empty() && fallback.is_none() {
            return Err(no_header(number, line));
        }
        let op = operation(number, line)?;
        match (parsed.sections.last_mut(), fallback) {
            (Some(section), _) => section.ops.push(op),
            (None, Some(path)) => {
                parsed.sections.push(Section { path: path.to_owned(), ops: vec![op] });
            }
            (None, None) => {}
        }
    }
    if parsed.sections.is_empty() {
        return Err(no_header(0, input.trim()));
    }
    check_payloads(&parsed.sections)?;
    parsed.sections = joined(parsed.sections);
    Ok(parsed)
}

fn no_header(number: usize, got: &str) -> Error {
    let got: String = got.chars().take(60).collect();
    let problem = format!(
        "input must begin with \"@@ PATH\" on the first non-blank line; got: {got:?}. \
         Example: \"@@ src/foo.ts\" then edit ops."
    );
    Error::bad_edit(number, problem)
}

fn payload(parsed: &mut Parsed, number: usize, text: &str) -> Result<(), Error> {
    let op = parsed.sections.last_mut().and_then(|section| section.ops.last_mut());
    match op {
        Some(op) if !matches!(op.kind, OpKind::Delete(..)) => {
            op.payload.push(text.to_owned());
            Ok(())
        }
        _ => {
            let problem = "payload line has no preceding +, <, or = operation.";
            Err(Error::bad_edit(number, problem))
        }
    }
}

fn operation(number: usize, line: &str) -> Result<Op, Error> {
    let rest = line.get(1..).unwrap_or_default().trim();
    let kind = match line.as_bytes().first() {
        Some(b'+') => OpKind::InsertAfter(position(number, rest)?),
        Some(b'<') => OpKind::InsertBefore(position(number, rest)?),
        Some(b'-') => {
            let (first, last) = range(number, rest)?;
            OpKind::Delete(first, last)
        }
        Some(b'=') => {
            let (first, last) = range(number, rest)?;
            OpKind::Replace(first, last)
        }
        _ => {
            let problem = "unrecognized op. Use < ANCHOR (insert before), + ANCHOR (insert after), \
                           - A..B (delete), = A..B (replace), and ~TEXT for payload lines.";
            return Err(Error::bad_edit(number, problem));
        }
    };
    Ok(Op { line: number, kind, payload: Vec::new() })
}

fn position(number: usize, text: &str) -> Result<Position, Error> {
    match text {
        "BOF" => Ok(Position::Start),
        "EOF" => Ok(Position::End),
        text => anchor(number, text).map(Position::At),
    }
}

fn anchor(number: usize, text: &str) -> Result<Anchor, Error> {
    Anchor::parse(text).ok_or_else(|| {
        let got: String = text.chars().take(40).collect();
        let problem = format!("expected a full anchor such as \"119sr\"; got {got:?}.");
        Error::bad_edit(number, problem)
    })
}

fn range(number: usize, text: &str) -> Result<(Anchor, Anchor), Error> {
    let bad = |problem: String| Err(Error::bad_edit(number, problem));
    let parts: Vec<&str> = text.split("..").map(str::trim).collect();
    let (first, last) = match parts.as_slice() {
        [one] => {
            return bad(format!(
                "explicit ranges are required for delete/replace; for one line write {one}..{one}."
            ));
        }
        [first, last] if !first.is_empty() && !last.is_empty() => {
            (anchor(number, first)?, anchor(number, last)?)
        }
        _ => {
            return bad(
                "range must include exactly two full anchors separated by \"..\".".to_owned()
            );
        }
    };
    if last.line < first.line {
        return bad(format!("range {first}..{last} ends before it starts."));
    }
    if last.line == first.line && last != first {
        return bad(format!("range {first}..{last} uses two different hashes for the same line."));
    }
    Ok((first, last))
}

fn check_payloads(sections: &[Section]) -> Result<(), Error> {
    for op in sections.iter().flat_map(|section| &section.ops) {
        let inserts = matches!(op.kind, OpKind::InsertAfter(_) | OpKind::InsertBefore(_));
        if inserts && op.payload.is_empty() {
            let problem = "+ and < operations require at least one ~TEXT payload line.";
            return Err(Error::bad_edit(op.line, problem));
        }
    }
    Ok(())
}

fn joined(sections: Vec<Section>) -> Vec<Section> {
    let mut all: Vec<Section> = Vec::new();
    for section in sections {
        match all.iter_mut().find(|own| own.path == section.path) {
            Some(own) => own.ops.extend(section.ops),
            None => all.push(section),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(input: &str) -> String {
        parse(input, None).unwrap_err().to_string()
    }

    #[test]
    fn an_input_is_read_into_sections() {
        let input = "*** Begin Patch\n@@ a.rs\n+ 4fb\n~one\n~\n\n@b.rs\n- 1aa..2bb\n@@@ a.rs\n= 9zz..9zz\n*** End Patch\njunk";
        let parsed = parse(input, None).unwrap();
        let paths: Vec<&str> = parsed.sections.iter().map(|s| s.path.as_str()).collect();
        assert_eq!(paths, ["a.rs", "b.rs"]);
        assert_eq!(parsed.sections[0].ops.len(), 2);
        assert_eq!(parsed.sections[0].ops[0].payload, ["one", ""]);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        assert!(error("hello").contains("must begin with \"@@ PATH\""));
        assert!(error("@@ ").contains("is empty; provide a file path"));
        assert_eq!(
            error("@@ a\n+ 4f\n~x"),
            "line 2: expected a full anchor such as \"119sr\"; got \"4f\"."
        );
        assert!(error("@@ a\n- 4fb").contains("explicit ranges are required for delete/replace"));
        assert!(error("@@ a\n- 4fb..").contains("exactly two full anchors"));
        assert!(error("@@ a\n- 4fb..3aa").contains("ends before it starts"));
        assert!(error("@@ a\n- 4fb..4aa").contains("two different hashes"));
        assert!(error("@@ a\n+ 4fb").contains("require at least one ~TEXT"));
        assert!(error("@@ a\n- 4fb..4fb\n~x").contains("payload line has no preceding"));
        assert!(error("@@ a\n~x").contains("payload line has no preceding"));
        assert!(error("@@ a\n? 4fb").contains("unrecognized op"));
    }

    #[test]
    fn an_abort_keeps_what_came_before() {
        let parsed = parse("@@ a\n- 4fb..4fb\n*** Abort\n- 5aa..5aa", None).unwrap();
        assert_eq!(parsed.sections[0].ops.len(), 1);
        assert_eq!(parsed.warnings.len(), 1);
    }
}
