//! Rules that hold for everybody. They only deny: what is asked about is the mode's business.
//!
//! They are code, and no file of rules, because every command of a person begins by reading them.

use umbo_command::Kind;

use crate::decision::Decision;
use crate::rule::{Rule, WordPattern};

/// A rule of umbo itself: with words, or with what is done to which paths.
struct Builtin {
    name: &'static str,
    reason: &'static str,
    /// As in a file, the alternatives of each word.
    argv: &'static [&'static [&'static str]],
    effects: &'static [Kind],
    paths: &'static [&'static str],
    /// Commands that it is about.
    #[cfg(test)]
    matches: &'static [&'static str],
    /// Commands that it is not about.
    #[cfg(test)]
    not_matches: &'static [&'static str],
}

/// All of them.
pub(crate) fn rules() -> Vec<Rule> {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let word = |alternatives: &&[&str]| match *alternatives {
        ["**"] => WordPattern::Many,
        words => WordPattern::One(owned(words)),
    };
    let rule = |builtin: &Builtin| Rule {
        name: builtin.name.to_owned(),
        decision: Decision::Deny,
        reason: builtin.reason.to_owned(),
        line: 0,
        argv: builtin.argv.iter().map(word).collect(),
        regex: None,
        effects: builtin.effects.to_vec(),
        paths: owned(builtin.paths),
        recipes: Vec::new(),
        hosts: Vec::new(),
        risk: None,
        shown: None,
        sandbox: None,
    };
    BUILTIN.iter().map(rule).collect()
}

const BUILTIN: [Builtin; 9] = [
    Builtin {
        name: "root-or-home",
        reason: "This would remove or change the whole system or a whole home directory. Name the exact files instead.",
        argv: &[],
        effects: &[Kind::Delete],
        paths: &[
            "/",
            "~",
            "/bin",
            "/boot",
            "/dev",
            "/etc",
            "/home",
            "/lib",
            "/lib64",
            "/opt",
            "/proc",
            "/root",
            "/sbin",
            "/srv",
            "/sys",
            "/usr",
            "/var",
            "/Users",
            "/System",
            "/Library",
            "/Applications",
        ],
        #[cfg(test)]
        matches: &[
            "rm -rf /",
            "rm -r -f -- \"/\"",
            "sudo rm -fr /*",
            "rm -rf ~",
            "rm -rf \"$HOME\"/",
            "rm -rf ~/*",
            "bash -c 'rm -rf /'",
            "cd / && rm -rf *",
            "r\"\"m -rf //",
            "rm -rf /etc/../",
            "chmod -R 777 /",
        ],
        #[cfg(test)]
        not_matches: &[
            "echo \"rm -rf /\"",
            "rm -rf ./build",
            "rm -rf ~/.cache/x",
            "grep 'rm -rf /' notes",
        ],
    },
    Builtin {
        name: "find-delete-root",
        reason: "This would delete everything below the root or a home directory. Name a smaller directory.",
        argv: &[&["find"], &["/", "/*", "~", "~/", "$HOME"], &["**"], &["-delete"]],
        effects: &[],
        paths: &[],
        #[cfg(test)]
        matches: &["find / -delete", "find / -name x -delete"],
        #[cfg(test)]
        not_matches: &["find . -delete", "find / -name x"],
    },
    Builtin {
        name: "disk",
        reason: "This writes to a disk or another device. A person has to do that.",
        argv: &[],
        effects: &[Kind::Device, Kind::Write, Kind::Overwrite, Kind::Delete],
        paths: &[
            "/dev/sd*",
            "/dev/hd*",
            "/dev/vd*",
            "/dev/xvd*",
            "/dev/nvme*",
            "/dev/mmcblk*",
            "/dev/disk*",
            "/dev/disk/**",
            "/dev/mapper/**",
            "/dev/dm-*",
            "/dev/md*",
            "/dev/loop*",
            "/dev/mem",
            "/dev/kmem",
            "/dev/port",
        ],
        #[cfg(test)]
        matches: &[
            "echo x > /dev/sda",
            "dd if=/dev/zero of=/dev/sda bs=1M",
            "cat image >/dev/nvme0n1",
            "sudo tee /dev/sdb < image",
        ],
        #[cfg(test)]
        not_matches: &["echo \"> /dev/sda\"", "dd if=a of=b", "ls > /dev/null", "ls /dev/sda"],
    },
    Builtin {
        name: "filesystem",
        reason: "This makes a new file system on a device and loses what is on it. A person has to do that.",
        argv: &[
            &["mkfs", "mkfs.*", "mke2fs", "wipefs", "blkdiscard", "mkswap", "shred"],
            &["**"],
            &["/dev/*"],
        ],
        effects: &[],
        paths: &[],
        #[cfg(test)]
        matches: &["mkfs.ext4 /dev/sda1", "sudo mkfs -t ext4 /dev/sdb", "shred -n 1 /dev/sda"],
        #[cfg(test)]
        not_matches: &["mkfs.ext4 disk.img", "shred -u notes.txt"],
    },
    Builtin {
        name: "umbo-verbs",
        reason: "An agent does not approve itself: ask the person to run this in their own terminal.",
        argv: &[&["umbo"], &["**"], &["approve", "deny", "trust", "rules", "config"]],
        effects: &[],
        paths: &[],
        #[cfg(test)]
        matches: &[
            "umbo approve 01abc",
            "/usr/bin/umbo --json approve x",
            "bash -c 'umbo trust'",
            "env umbo --state-dir /s deny x",
            "x=umbo; $x approve y",
        ],
        #[cfg(test)]
        not_matches: &["umbo jobs", "umbo output @last", "echo umbo approve x"],
    },
    Builtin {
        name: "umbo-install",
        reason: "This changes the settings of the person's agents: ask them to run it in their own terminal. `umbo mcp --print-config` prints what it would write.",
        argv: &[&["umbo"], &["install", "uninstall"], &["*"]],
        effects: &[],
        paths: &[],
        #[cfg(test)]
        matches: &[
            "umbo install codex",
            "./umbo --json uninstall zed --yes",
            "bash -c 'umbo install goose -y'",
            "umbo --state-dir /s install cursor",
        ],
        #[cfg(test)]
        not_matches: &[
            "umbo install",
            "umbo exec npm install left-pad",
            "umbo run install --dry-run",
            "umbo mcp --print-config codex",
            "echo umbo install codex",
        ],
    },
    Builtin {
        name: "umbo-files",
        reason: "Umbo's own rules, keys, approvals and records are not for commands to change.",
        argv: &[],
        effects: &[
            Kind::Write,
            Kind::Delete,
            Kind::Overwrite,
            Kind::Credential,
            Kind::Service,
            Kind::Device,
        ],
        paths: &["{config}/**", "{state}/**"],
        #[cfg(test)]
        matches: &[],
        #[cfg(test)]
        not_matches: &[],
    },
    Builtin {
        name: "umbo-files-unseen",
        reason: "Umbo's own rules, keys, approvals and records are not for commands to change, and nobody knows what this program does with them.",
        argv: &[],
        effects: &[Kind::Unknown, Kind::Execute],
        paths: &["{config}/**", "{state}/approvals/**", "{state}/audit"],
        #[cfg(test)]
        matches: &[],
        #[cfg(test)]
        not_matches: &[],
    },
    Builtin {
        name: "umbo-key",
        reason: "Umbo's key is not for commands to read.",
        argv: &[],
        effects: &[],
        paths: &["{config}/key", "{config}/trust/**"],
        #[cfg(test)]
        matches: &[],
        #[cfg(test)]
        not_matches: &[],
    },
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::place::Roots;
    use crate::policy::Policy;

    #[test]
    fn the_built_in_rules_do_what_their_examples_say() {
        let roots = Roots::new(Path::new("/users/u/project")).home(Some(Path::new("/users/u")));
        let policy = Policy::new(roots);
        let mut examples = 0;
        for (builtin, rule) in BUILTIN.iter().zip(rules()) {
            for (commands, expected) in [(builtin.matches, true), (builtin.not_matches, false)] {
                for command in commands {
                    assert_eq!(policy.fits(&rule, command), expected, "{}: {command}", rule.name);
                    examples += 1;
                }
            }
        }
        assert!(examples > 30);
    }
}
