//! The contract of the `tasks` dialect, kept exactly as its callers know it.
//!
//! Much coarser than [`crate::read`]: the text is split on `|` and `&&`; any of `;`, `||`, `>`, `>>`
//! and `<` makes it unknown; leading `NAME=value` words are dropped; then the words are compared with a
//! list of dangerous prefixes and the first word with a list of read-only programs. The whole is as bad
//! as its worst part. Empty input is unknown.

use serde::{Deserialize, Serialize};

use crate::reading::is_common_fs;
use crate::risk::Risk;
use crate::scope;

/// The result of [`classify`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classification {
    /// The verdict.
    pub risk: Risk,
    /// The entry that decided it: a program for `read_only`, a prefix for `dangerous`.
    pub matched: String,
    /// Whether the program is one of `mkdir touch mv cp rmdir ln chmod chown`.
    #[serde(rename = "is_common_fs")]
    pub is_common_fs: bool,
}

/// Word prefixes that are dangerous.
const DANGEROUS: &[&str] = &[
    "rm -rf",
    "rm -fr",
    "rm -r",
    "rm -f",
    "sudo",
    "doas",
    "su",
    "dd",
    "mkfs",
    "fdisk",
    "parted",
    "shred",
    "wipefs",
    "shutdown",
    "reboot",
    "halt",
    "poweroff",
    "init",
    "kill -9",
    "killall",
    "pkill",
    "chmod -R 777",
    "chmod 777",
    "chown -R",
    "git push --force",
    "git push -f",
    "git reset --hard",
    "git clean -f",
    "git clean -fd",
    "git clean -fdx",
    "git checkout --",
    "git checkout .",
    "git restore",
    "git branch -D",
    "git rebase",
    "git filter-branch",
    "git stash drop",
    "git stash clear",
    "npm publish",
    "cargo publish",
    "docker system prune",
    "docker volume prune",
    "docker rm -f",
    "kubectl delete",
    "terraform destroy",
    "terraform apply",
    "eval",
    "exec",
    "source",
    "bash",
    "sh",
    "zsh",
    "curl -d",
    "curl -X",
    "nc",
    "ssh",
    "crontab",
    "systemctl stop",
    "systemctl disable",
    "iptables",
    "mount",
    "umount",
    "useradd",
    "userdel",
    "passwd",
    "apt remove",
    "apt purge",
    "apt-get remove",
    "apt-get purge",
    "find -delete",
    "find -exec",
    "xargs rm",
    "truncate",
];

/// Programs that only read, whatever their arguments.
const READ_ONLY: &[&str] = &[
    "ls",
    "cat",
    "head",
    "tail",
    "wc",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "pwd",
    "echo",
    "printf",
    "which",
    "whereis",
    "whoami",
    "id",
    "date",
    "uname",
    "hostname",
    "df",
    "du",
    "free",
    "ps",
    "uptime",
    "stat",
    "file",
    "tree",
    "diff",
    "cmp",
    "sort",
    "uniq",
    "cut",
    "tr",
    "nl",
    "tac",
    "rev",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "printenv",
    "true",
    "false",
    "test",
    "man",
    "type",
    "jq",
    "column",
    "md5sum",
    "sha256sum",
    "less",
    "more",
    "cd",
];

/// Sub-commands that only read.
const READ_ONLY_PREFIXES: &[&str] = &[
    "git status",
    "git log",
    "git diff",
    "git show",
    "git blame",
    "git rev-parse",
    "git ls-files",
    "git describe",
    "go version",
    "go env",
    "go list",
    "node --version",
    "npm --version",
    "npm ls",
    "npm list",
    "cargo --version",
    "cargo tree",
    "cargo metadata",
    "python --version",
    "python3 --version",
    "docker ps",
    "docker images",
    "docker logs",
    "kubectl get",
    "kubectl describe",
    "kubectl logs",
];

/// Classifies a command the way the `tasks` dialect promises.
///
/// ```
/// use umbo_command::{Risk, tasks};
/// assert_eq!(tasks::classify("FOO=1 ls -la | wc -l").risk, Risk::ReadOnly);
/// assert_eq!(tasks::classify("ls; ls").risk, Risk::Unknown);
/// ```
pub fn classify(command: &str) -> Classification {
    let none = Classification { risk: Risk::Unknown, matched: String::new(), is_common_fs: false };
    if command.trim().is_empty() {
        return none;
    }
    let spread = command.replace("&&", "\u{1}");
    if spread.contains("||") || spread.contains([';', '>', '<']) {
        return none;
    }
    let mut worst: Option<Classification> = None;
    let mut common = true;
    for segment in spread.split(['|', '\u{1}']) {
        let verdict = classify_segment(segment);
        common &= verdict.is_common_fs || verdict.risk == Risk::ReadOnly;
        if worst.as_ref().is_none_or(|worst| verdict.risk > worst.risk) {
            worst = Some(verdict);
        }
    }
    let mut worst = worst.unwrap_or(none);
    worst.is_common_fs &= common;
    worst
}

fn classify_segment(segment: &str) -> Classification {
    let words: Vec<&str> = segment
        .split_whitespace()
        .skip_while(|word| word.split_once('=').is_some_and(|(name, _)| scope::is_name(name)))
        .collect();
    let is = |risk, matched: &str, is_common_fs| Classification {
        risk,
        matched: matched.to_owned(),
        is_common_fs,
    };
    let Some(first) = words.first() else { return is(Risk::Unknown, "", false) };
    // Text the shell would expand or run is beyond a comparison of words.
    if segment.contains(['`', '\n', '&', '\\']) || segment.contains("$(") {
        return is(Risk::Unknown, "", false);
    }
    let begins = |prefix: &&&str| {
        let mut prefix = prefix.split(' ');
        let mut words = words.iter();
        prefix.all(|part| words.next().is_some_and(|word| *word == part))
    };
    if let Some(prefix) = DANGEROUS.iter().find(begins) {
        return is(Risk::Dangerous, prefix, false);
    }
    if is_common_fs(first) {
        return is(Risk::Mutate, first, true);
    }
    if READ_ONLY_PREFIXES.iter().any(|prefix| begins(&prefix)) {
        return is(Risk::ReadOnly, first, false);
    }
    if let Some(program) = READ_ONLY.iter().find(|program| *program == first) {
        return is(Risk::ReadOnly, program, false);
    }
    if matches!(
        *first,
        "rm" | "tee"
            | "sed"
            | "git"
            | "npm"
            | "pip"
            | "cargo"
            | "go"
            | "make"
            | "docker"
            | "kubectl"
            | "yarn"
            | "pnpm"
    ) {
        return is(Risk::Mutate, first, false);
    }
    is(Risk::Unknown, "", false)
}

#[cfg(test)]
mod tests {
    use super::classify;
    use crate::risk::Risk;

    #[test]
    fn the_contract_holds_word_for_word() {
        for (command, risk) in [
            ("", Risk::Unknown),
            ("   ", Risk::Unknown),
            ("ls", Risk::ReadOnly),
            ("ls | grep x && pwd", Risk::ReadOnly),
            ("ls ; pwd", Risk::Unknown),
            ("ls || pwd", Risk::Unknown),
            ("echo x > f", Risk::Unknown),
            ("echo x >> f", Risk::Unknown),
            ("cat < f", Risk::Unknown),
            ("A=1 B=2 ls", Risk::ReadOnly),
            ("A=1", Risk::Unknown),
            ("ls && rm -rf x", Risk::Dangerous),
            ("mkdir x && touch x/y", Risk::Mutate),
            ("frobnicate", Risk::Unknown),
            ("env A=1 ls", Risk::Unknown),
        ] {
            assert_eq!(classify(command).risk, risk, "{command}");
        }
    }

    #[test]
    fn what_matched_is_the_program_or_the_prefix() {
        assert_eq!(classify("ls -la").matched, "ls");
        assert_eq!(classify("git status -s").matched, "git");
        assert_eq!(classify("A=1 rm -rf x").matched, "rm -rf");
        assert!(classify("mkdir x").is_common_fs);
        assert!(classify("ls && mkdir x").is_common_fs);
        assert!(!classify("ls").is_common_fs);
    }

    #[test]
    fn danger_and_not_knowing_combine_by_the_worst() {
        assert_eq!(classify("frobnicate | sudo ls").risk, Risk::Dangerous);
        assert_eq!(classify("frobnicate | mkdir x").risk, Risk::Unknown);
    }
}
