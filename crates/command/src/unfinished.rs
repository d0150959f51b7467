//! Whether a shell would wait for more.

/// Whether a shell that has read this much waits for the rest of a word: the text ends in a continued
/// line, or inside of quotes or a substitution. What comes next is then no command of its own.
///
/// ```
/// use umbo_command::is_unfinished;
/// assert!(is_unfinished("rm \\\n") && is_unfinished("echo 'a\n") && is_unfinished("rm $(\n"));
/// assert!(!is_unfinished("ls\n") && !is_unfinished("echo \"it's\" # don't\n"));
/// ```
pub fn is_unfinished(text: &str) -> bool {
    // What closes each of the things that are open.
    let mut open: Vec<char> = Vec::new();
    let mut continued = false;
    let mut before = '\n';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        continued = false;
        let innermost = open.last().copied();
        let is_quoted = matches!(innermost, Some('\'' | '"'));
        match c {
            _ if innermost == Some(c) => {
                open.pop();
            }
            _ if innermost == Some('\'') => {}
            '\\' => continued = matches!(chars.next(), None | Some('\n')),
            '#' if open.is_empty() && before.is_whitespace() => {
                while chars.next_if(|c| *c != '\n').is_some() {}
            }
            '\'' if !is_quoted => open.push(c),
            '"' | '`' => open.push(c),
            '(' if before == '$' || innermost == Some(')') => open.push(')'),
            '{' if before == '$' => open.push('}'),
            _ => {}
        }
        before = c;
    }
    continued || !open.is_empty()
}
