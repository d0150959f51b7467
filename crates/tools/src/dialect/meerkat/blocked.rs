//! Obvious mistakes, which are blocked whatever the gate's mode is. The contract knows them as four
//! patterns; the gate finds what they stand for.

use std::path::Path;

use umbo_command::Shell;
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
        .and_then(|policy| policy.call(Path::new("blocked.toml"), RULES, Trust::Trusted))
        .map_err(|error| ToolError::new(ErrorCode::GateFailed, error.to_string()))?;
    // The patterns are written for sh: what looks like one there is an obvious mistake in any shell.
    let found = [shell, Shell::Posix].into_iter().find_map(|shell| {
        let reading = umbo_command::read(line, shell);
        let subject = Subject::new(line, &reading, directory, policy.roots());
        let matched = decide(&subject, &policy, Mode::Open, &[], &[]).matched;
        matched.into_iter().find(|matched| matched.layer == Layer::Call)
    });
    Ok(found.map(|matched| matched.rule))
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
            ("rm -rf ~", "rm -rf ~"),
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
            "rm -rf /tmp/x",
            "rm -rf ./~",
            "echo 'rm -rf /'",
            "grep 'dd if=' notes",
            "ls > /dev/null",
        ] {
            assert_eq!(found(line, Shell::Posix), None, "{line}");
        }
        assert_eq!(found("ls | where size > 10mb", Shell::Nu), None);
    }
}
