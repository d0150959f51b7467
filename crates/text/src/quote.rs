//! Words and shell text: quoting words so that a POSIX shell reads them back unchanged, and
//! splitting text into words without ever running anything.

/// Characters that need no quotes anywhere in a word.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c)
}

/// The word, quoted if a shell would read it as anything but itself.
pub fn word(text: &str) -> String {
    // A leading `NAME=` would be an assignment in front of a command.
    if !text.is_empty() && text.chars().all(is_plain) && !text.starts_with('=') {
        text.to_owned()
    } else {
        always(text)
    }
}

/// The word in single quotes, whatever it is.
pub fn always(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The words as one command line.
pub fn join<S: AsRef<str>>(words: &[S]) -> String {
    let mut line = String::new();
    for (index, text) in words.iter().enumerate() {
        let text = text.as_ref();
        if index > 0 {
            line.push(' ');
        }
        // The first word is a program: `a=b` there would be an assignment.
        if index == 0 && text.contains('=') {
            line.push_str(&always(text));
        } else {
            line.push_str(&word(text));
        }
    }
    line
}

/// Splits text into words by the quoting rules of a POSIX shell. No character has any other
/// meaning: `$`, `;` and `|` are ordinary. `None` when a quote is left open.
pub fn split(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut current: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(current.take()),
            '\'' => {
                let word = current.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '"' => {
                let word = current.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            escaped @ ('"' | '\\' | '$' | '`') => word.push(escaped),
                            '\n' => {}
                            other => word.extend(['\\', other]),
                        },
                        inner => word.push(inner),
                    }
                }
            }
            '\\' => match chars.next()? {
                '\n' => {}
                escaped => current.get_or_insert_default().push(escaped),
            },
            other => current.get_or_insert_default().push(other),
        }
    }
    words.extend(current);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_stay_bare_and_others_are_quoted() {
        assert_eq!(word("build:all"), "build:all");
        assert_eq!(word(""), "''");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word("~root"), "'~root'");
        assert_eq!(join(&["A=b", "A=b"]), "'A=b' A=b");
    }

    proptest::proptest! {
        #[test]
        fn split_undoes_join_for_any_words(words: Vec<String>) {
            assert_eq!(split(&join(&words)).unwrap(), words);
        }
    }

    #[test]
    fn a_shell_reads_back_what_was_joined() {
        let words =
            ["printf", "%s\\n", "a b", "", "'", "\"", "\\", "$(x)", "`y`", "*", "~", "é", "=ls"];
        for shell in ["sh", "bash"] {
            let run =
                std::process::Command::new(shell).args(["-c", &join(&words)]).output().unwrap();
            let lines = String::from_utf8(run.stdout).unwrap();
            assert_eq!(lines.lines().collect::<Vec<_>>(), words[2..], "{shell}");
        }
    }

    #[test]
    fn an_open_quote_is_no_word() {
        assert_eq!(split("a 'b"), None);
        assert_eq!(split("a \"b"), None);
        assert_eq!(split("a \\"), None);
    }
}
