//! Finding lines that were copied almost exactly: other white space, other quotes and dashes.

use crate::text;

/// How exactly lines must agree, strictest first.
const LEVELS: [fn(&str) -> String; 4] = [
    |line| line.to_owned(),
    |line| line.trim_end().to_owned(),
    |line| line.trim().to_owned(),
    |line| plain(line.trim()),
];

/// With ASCII quotes, dashes and spaces.
fn plain(line: &str) -> String {
    let ascii = |character: char| match character {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    };
    line.chars().map(ascii).collect()
}

/// Where lines are, from `start` on: the first place at the strictest level that has one. With
/// `at_end`, the last lines come before all others.
pub(super) fn seek(lines: &[&str], wanted: &[&str], start: usize, at_end: bool) -> Option<usize> {
    if wanted.is_empty() {
        return Some(start);
    }
    let last = lines.len().checked_sub(wanted.len())?;
    for level in LEVELS {
        let wanted: Vec<String> = wanted.iter().map(|line| level(line)).collect();
        let is_at = |at: usize| {
            lines[at..].iter().zip(&wanted).all(|(line, wanted)| level(line) == *wanted)
        };
        if at_end && last >= start && is_at(last) {
            return Some(last);
        }
        if let Some(at) = (start..=last).find(|at| is_at(*at)) {
            return Some(at);
        }
    }
    None
}

/// Replaces whole lines that are like the wanted ones, if at one place only; else gives how many
/// places there are.
pub(super) fn replace(text: &str, wanted: &str, new: &str) -> Result<String, usize> {
    let lines = text::lines(text);
    let wanted_lines = text::lines(wanted);
    if wanted_lines.iter().all(|line| line.trim().is_empty()) || lines.len() < wanted_lines.len() {
        return Err(0);
    }
    for level in &LEVELS[1..] {
        let wanted: Vec<String> = wanted_lines.iter().map(|line| level(line)).collect();
        let places: Vec<usize> = lines
            .windows(wanted.len())
            .enumerate()
            .filter(|(_, window)| window.iter().zip(&wanted).all(|(line, own)| level(line) == *own))
            .map(|(at, _)| at)
            .collect();
        match places.as_slice() {
            [] => {}
            [at] => {
                let new_lines = text::lines(new);
                let end = at + wanted.len();
                let all = lines[..*at].iter().chain(&new_lines).chain(&lines[end..]);
                let mut joined = all.copied().collect::<Vec<&str>>().join("\n");
                if text.ends_with('\n') && !joined.is_empty() {
                    joined.push('\n');
                }
                return Ok(joined);
            }
            many => return Err(many.len()),
        }
    }
    Err(0)
}
