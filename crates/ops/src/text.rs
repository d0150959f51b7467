//! Texts that every entry point writes the same way.

/// The first line of a command, as much of it as a list has room for.
pub fn first_line(command: &str) -> String {
    let line = command.lines().next().unwrap_or_default();
    let cut = line.floor_char_boundary(120);
    if cut < command.len() { format!("{}…", &line[..cut]) } else { line.to_owned() }
}
