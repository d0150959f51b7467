//! A leading `cd PATH && …` is a directory and a command.

/// Splits it off, if the path is a plain word that no shell has to read.
pub(super) fn split(command: &str) -> Option<(String, &str)> {
    let rest = command.trim_start().strip_prefix("cd")?;
    if !rest.starts_with([' ', '\t']) {
        return None;
    }
    let rest = rest.trim_start();
    let first = rest.chars().next()?;
    let (path, rest) = if matches!(first, '\'' | '"') {
        let (path, rest) = rest[1..].split_once(first)?;
        let is_plain = first == '\'' || !path.contains(['$', '`', '\\']);
        is_plain.then_some((path, rest))?
    } else {
        let end = rest.find([' ', '\t', '\n', '&', ';', '|'])?;
        let path = &rest[..end];
        let needs_shell = path.contains(['$', '`', '\\', '*', '?', '[', '{', '~', '\'', '"']);
        (!needs_shell && first != '-').then_some((path, &rest[end..]))?
    };
    let command = rest.trim_start().strip_prefix("&&")?.trim_start();
    (!path.is_empty() && !command.is_empty()).then(|| (path.to_owned(), command))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn a_plain_directory_is_split_off() {
        for (command, path, rest) in [
            ("cd src && ls", "src", "ls"),
            ("  cd  ../x&&make -j2 && make test", "../x", "make -j2 && make test"),
            ("cd 'a b' && pwd", "a b", "pwd"),
            ("cd \"a b\" && pwd", "a b", "pwd"),
        ] {
            assert_eq!(split(command), Some((path.to_owned(), rest)), "{command}");
        }
    }

    #[test]
    fn what_a_shell_must_read_is_left_to_it() {
        for command in [
            "cd $HOME && ls",
            "cd ~/x && ls",
            "cd - && ls",
            "cd src; ls",
            "cd src || ls",
            "cd src",
            "cd a b && ls",
            "cdx && ls",
            "cd && ls",
            "cd src &&",
            "cd \"$x\" && ls",
            "cd a* && ls",
            "cd src & ls",
        ] {
            assert_eq!(split(command), None, "{command}");
        }
    }
}
