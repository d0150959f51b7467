//! Selectors at the end of a path: `:50`, `:50-80`, `:50+10`, `:raw`, and both.

use crate::Error;

/// Lines, counted from 1, both ends included.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
pub struct LineRange {
    /// The first line.
    pub start: u64,
    /// The last line; `None` is the end of the file.
    pub end: Option<u64>,
}

/// What of a file is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// These lines; `None` is all of it.
    pub lines: Option<LineRange>,
    /// As it is: no anchors, no summary, nothing converted.
    pub raw: bool,
}

/// Splits a selector off. What does not look like one stays part of the path.
pub fn split(input: &str) -> Result<(&str, Selector), Error> {
    let mut selector = Selector::default();
    let mut path = input;
    while let Some((before, last)) = path.rsplit_once(':') {
        if before.is_empty() {
            break;
        }
        if last == "raw" && !selector.raw {
            selector.raw = true;
        } else if let (Some(shape), None) = (shape(last), selector.lines) {
            selector.lines = Some(range(last, &shape)?);
        } else {
            break;
        }
        path = before;
    }
    Ok((path, selector))
}

/// Numbers and what is between them.
struct Shape {
    first: String,
    second: Option<(char, String)>,
}

fn shape(text: &str) -> Option<Shape> {
    let (first, rest) = number(text)?;
    if rest.is_empty() {
        return Some(Shape { first, second: None });
    }
    let sign = rest.chars().next().filter(|sign| matches!(sign, '-' | '+'))?;
    let (second, rest) = number(&rest[1..])?;
    rest.is_empty().then_some(Shape { first, second: Some((sign, second)) })
}

/// Digits, perhaps behind an `L`, and what follows them.
fn number(text: &str) -> Option<(String, &str)> {
    let digits = text.strip_prefix('L').unwrap_or(text);
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    (count > 0).then(|| (digits[..count].to_owned(), &digits[count..]))
}

fn range(text: &str, shape: &Shape) -> Result<LineRange, Error> {
    let bad = |problem: String| Error::bad("path", &format!(":{text}"), problem);
    let parse = |digits: &str| {
        digits.parse::<u64>().map_err(|_| bad("no file has so many lines".to_owned()))
    };
    let start = parse(&shape.first)?;
    if start == 0 {
        return Err(bad("Line selector 0 is invalid; lines are 1-indexed. Use :1.".to_owned()));
    }
    let end = match &shape.second {
        None => None,
        Some(('+', count)) => match parse(count)? {
            0 => return Err(bad(format!("a count is at least 1, as in :{start}+1"))),
            count => Some(start.saturating_add(count - 1)),
        },
        Some((_, end)) => match parse(end)? {
            end if end < start => {
                return Err(bad(format!(
                    "a range ends where it starts or later, as in :{start}-{start}"
                )));
            }
            end => Some(end),
        },
    };
    Ok(LineRange { start, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(input: &str) -> (String, Option<(u64, Option<u64>)>, bool) {
        let (path, selector) = split(input).unwrap();
        (path.to_owned(), selector.lines.map(|range| (range.start, range.end)), selector.raw)
    }

    #[test]
    fn selectors_are_split_off() {
        assert_eq!(parsed("a.rs"), ("a.rs".into(), None, false));
        assert_eq!(parsed("a.rs:7"), ("a.rs".into(), Some((7, None)), false));
        assert_eq!(parsed("a.rs:L7-L9"), ("a.rs".into(), Some((7, Some(9))), false));
        assert_eq!(parsed("a.rs:7+3"), ("a.rs".into(), Some((7, Some(9))), false));
        assert_eq!(parsed("a.rs:raw"), ("a.rs".into(), None, true));
        assert_eq!(parsed("a.rs:raw:7"), ("a.rs".into(), Some((7, None)), true));
        assert_eq!(parsed("a.rs:7-9:raw"), ("a.rs".into(), Some((7, Some(9))), true));
    }

    #[test]
    fn what_is_no_selector_stays_in_the_path() {
        for path in ["a.zip:b/c.txt", "db.sqlite:users:x1", "a:7-", "a:-7", "a:7+", ":7", "a:b:"] {
            assert_eq!(parsed(path), (path.to_owned(), None, false));
        }
        assert_eq!(parsed("a:1:2"), ("a:1".into(), Some((2, None)), false));
    }

    #[test]
    fn impossible_ranges_are_refused_with_the_way_out() {
        let error = |input: &str| split(input).unwrap_err().to_string();
        assert!(error("a:0").contains("lines are 1-indexed. Use :1."));
        assert!(error("a:5-3").contains(":5-5"));
        assert!(error("a:5+0").contains(":5+1"));
        assert!(error("a:99999999999999999999").contains("no file has so many lines"));
    }
}
