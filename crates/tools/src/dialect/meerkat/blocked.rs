//! Obvious mistakes, which are blocked whatever the gate's mode is. The contract knows them as four
//! patterns; the gate finds what they stand for.

use std::path::Path;

use umbo_command::{Reading, Shell, Word};
use umbo_gate::{Layer, Mode, Policy, Roots, Subject, Trust, decide};

use umbo_ops::ErrorCode;

use crate::answer::ToolError;

const RULES: &str = include_str!("blocked.toml");

/// The pattern that a line contains.
pub(super) fn pattern(
    line: &str,
    shell: Shell,
    directory: &Path,
    home: Option<&Path>,
) -> Result<Option<String>, ToolError> {
    let roots = Roots::new(directory).home(home);
    let policy = Policy::new(roots)
        .call(Path::new("blocked.toml"), RULES, Trust::Trusted)
        .map_err(|error| ToolError::new(ErrorCode::GateFailed, error.to_string()))?;
    // The patterns are written for sh: what looks like one there is an obvious mistake in any shell.
    let found = [shell, Shell::Posix].into_iter().find_map(|shell| {
        let reading = umbo_command::read(line, shell);
        if let Some(pattern) = removed(&reading) {
            return Some(pattern.to_owned());
        }
        let subject = Subject::new(line, &reading, directory, policy.roots());
        let matched = decide(&subject, &policy, Mode::Open, &[]).matched;
        let matched = matched.into_iter().find(|matched| matched.layer == Layer::Call);
        matched.map(|matched| matched.rule)
    });
    Ok(found)
}

/// The pattern that `rm -rf` of an absolute path or one of a home directory contains.
fn removed(reading: &Reading) -> Option<&'static str> {
    reading.commands.iter().find_map(|command| {
        let (program, words) = command.argv.split_first()?;
        let is_rm = program.likely().rsplit('/').next() == Some("rm");
        let is_flag = |word: &&Word| word.likely().starts_with('-');
        let has = |short: &[char], long: &str| {
            words.iter().filter(is_flag).any(|word| {
                let word = word.likely();
                word == long || !word.starts_with("--") && word.contains(short)
            })
        };
        let paths = || words.iter().filter(|word| !is_flag(word)).map(Word::likely);
        if !is_rm || !has(&['r', 'R'], "--recursive") || !has(&['f'], "--force") {
            return None;
        }
        let of_home = |path: &str| path.starts_with('~') || path.starts_with("$HOME");
        match (paths().any(of_home), paths().any(|path| path.starts_with('/'))) {
            (true, _) => Some("rm -rf ~"),
            (_, true) => Some("rm -rf /"),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str, shell: Shell) -> Option<String> {
        pattern(line, shell, Path::new("/users/u/p"), Some(Path::new("/users/u"))).unwrap()
    }

    #[test]
    fn each_pattern_is_found_in_every_spelling() {
        for (line, name) in [
            ("rm -rf /", "rm -rf /"),
            ("rm -rf / --no-preserve-root", "rm -rf /"),
            ("sudo rm -r  -f /*", "rm -rf /"),
            ("true; rm -fr //", "rm -rf /"),
            ("rm -rf /tmp/x", "rm -rf /"),
            ("rm --recursive --force build /var/x", "rm -rf /"),
            ("rm -rf ~", "rm -rf ~"),
            ("rm -Rf ~/x", "rm -rf ~"),
            ("rm -rf \"$HOME\"/", "rm -rf ~"),
            ("echo x > /dev/sda", "> /dev/sd"),
            ("cat image >/dev/sdb1", "> /dev/sd"),
            ("dd if=/dev/zero", "dd if="),
            ("dd of=x if=y bs=1M", "dd if="),
        ] {
            assert_eq!(found(line, Shell::Posix).as_deref(), Some(name), "{line}");
        }
        for (line, name) in [
            ("rm -rf /", "rm -rf /"),
            ("dd if=x of=y", "dd if="),
            ("echo x > /dev/sda", "> /dev/sd"),
            ("echo x o> /dev/sda", "> /dev/sd"),
            ("'x' | save -f /dev/sda", "> /dev/sd"),
        ] {
            assert_eq!(found(line, Shell::Nu).as_deref(), Some(name), "nu: {line}");
        }
    }

    #[test]
    fn what_only_looks_like_it_passes() {
        for line in [
            "rm -rf ./~",
            "rm -rf build",
            "rm -r /tmp/x",
            "rm -f /tmp/x",
            "echo 'rm -rf /'",
            "grep 'dd if=' notes",
            "ls > /dev/null",
        ] {
            assert_eq!(found(line, Shell::Posix), None, "{line}");
        }
        assert_eq!(found("ls | where size > 10mb", Shell::Nu), None);
    }
}
