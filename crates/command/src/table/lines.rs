//! The lines of `looks.txt`, as far as who sorts them reads them: the build script has this, too.

/// A line's names, which sign follows them, and what follows that.
pub(super) fn head(line: &str) -> Option<(&str, u8, &str)> {
    let is_sign = |window: &[u8]| window[0] == b' ' && b":>=".contains(&window[1]);
    let is_last = |at: usize| at + 2 == line.len() && line.as_bytes()[at + 1] != b'=';
    let ends = |at: usize| is_last(at) || line.as_bytes().get(at + 2) == Some(&b' ');
    let mut signs = line.as_bytes().windows(2).enumerate().filter(|(_, window)| is_sign(window));
    let (at, _) = signs.find(|(at, _)| ends(*at))?;
    Some((&line[..at], line.as_bytes()[at + 1], line[at + 2..].trim()))
}

/// The program of a name that may have sub-commands.
pub(super) fn program(name: &str) -> &str {
    name.split(' ').next().unwrap_or(name)
}
