//! git sub-commands whose operands decide.

use crate::argv::Options;
use crate::effect::{Does, READ, REMOTE, RUN, SERVICE, UNKNOWN, WRITE};
use crate::row::Row;
use crate::walk::Walk;
use crate::word::Word;

const DISCARDS: Does = Does { phrase: "throws uncommitted work away", ..crate::effect::REWRITE };
const FORCES: Does = Does { phrase: "overwrites or deletes what others have", ..REMOTE };

/// Settings that name a program, or files that do.
fn names_a_program(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let exact = [
        "core.pager",
        "core.editor",
        "core.sshcommand",
        "core.fsmonitor",
        "core.hookspath",
        "core.askpass",
        "core.gitproxy",
        "core.alternaterefscommand",
        "sequence.editor",
        "diff.external",
        "gpg.program",
        "core.worktree",
        "init.templatedir",
        "core.attributesfile",
        "credential.helper",
        "http.proxy",
        "help.browser",
        "web.browser",
        "protocol.allow",
        "uploadpack.packobjectshook",
        "receive.procreceiverefs",
        "safe.directory",
        "commit.template",
    ];
    let starts = [
        "alias.",
        "filter.",
        "pager.",
        "include",
        "url.",
        "man.",
        "browser.",
        "difftool.",
        "mergetool.",
        "gpg.",
        "remote.",
        "submodule.",
        "interactive.",
        "trailer.",
        "hook",
        "ssh.",
    ];
    let ends = [
        ".textconv",
        ".command",
        ".cmd",
        ".helper",
        ".program",
        ".driver",
        ".path",
        ".process",
        ".clean",
        ".smudge",
        ".proxy",
    ];
    exact.contains(&key.as_str())
        || starts.iter().any(|start| key.starts_with(start))
        || ends.iter().any(|end| key.ends_with(end))
}

impl Walk {
    pub(super) fn git_config(&mut self, name: &str, args: &[Word]) {
        const READS: [&str; 10] = [
            "--get",
            "--get-all",
            "--get-regexp",
            "--get-urlmatch",
            "--list",
            "-l",
            "get",
            "list",
            "--get-color",
            "--get-colorbool",
        ];
        const PLAIN: [&str; 14] = [
            "--global",
            "--local",
            "--system",
            "--worktree",
            "--show-origin",
            "--show-scope",
            "--name-only",
            "-z",
            "--null",
            "--bool",
            "--int",
            "--path",
            "--includes",
            "--type=bool",
        ];
        if args.iter().any(|word| word.may_be_option) {
            self.find(UNKNOWN, name, format!("{name} with an argument only known at run time"));
            return;
        }
        let mut reads = false;
        let mut changes = false;
        let mut operands: Vec<&Word> = Vec::new();
        let mut skip = false;
        for word in args {
            let text = word.text.as_str();
            if std::mem::take(&mut skip) {
                continue;
            }
            if READS.contains(&text) && operands.is_empty() {
                reads = true;
            } else if PLAIN.contains(&text) {
            } else if matches!(text, "-f" | "--file" | "--blob" | "--default" | "--type") {
                skip = true;
            } else if text.starts_with('-')
                || matches!(text, "set" | "unset" | "edit" | "rename-section" | "remove-section")
            {
                changes = true;
            } else {
                operands.push(word);
            }
        }
        if !changes && (reads || operands.len() <= 1) {
            let secret = operands.iter().any(|word| crate::path::is_secret_name(&word.text));
            self.find(if secret { crate::effect::SECRET } else { READ }, name, name);
            return;
        }
        let program = operands.iter().any(|word| names_a_program(word.likely()))
            || args.iter().any(|word| word.text == "-e" || word.text == "--edit");
        let system = args.iter().any(|word| word.text == "--system");
        let does = if program || system { SERVICE } else { WRITE };
        self.find_at(does, name, name, operands.first().map(|word| word.text.clone()));
    }

    /// `git checkout` and `git restore`: a branch to go to, or files to throw away.
    pub(super) fn git_discard(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        let options = Options::of(row, args);
        let only_index = name == "git restore"
            && (options.has("--staged") || options.has("-S"))
            && !(options.has("--worktree") || options.has("-W"));
        let creates = options.has("-b")
            || options.has("-c")
            || options.has("--orphan")
            || options.has("--create");
        let path_like = options.operands.iter().any(|word| {
            matches!(word.text.as_str(), "." | ":/" | "*" | "..")
                || word.text.ends_with('/')
                || word.text.starts_with(":(")
                || word.text.starts_with("./")
        });
        let discards = !only_index
            && !creates
            && (name == "git restore"
                || path_like
                || (options.has("--") && !options.operands.is_empty()));
        if discards {
            let target = options.operands.first().map(|word| word.text.clone());
            self.find_at(DISCARDS, name, format!("{name} of files"), target);
            return;
        }
        self.plain(row, name, args);
    }

    pub(super) fn git_push(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        const FORCED: [&str; 8] = [
            "--force",
            "-f",
            "--mirror",
            "--delete",
            "-d",
            "--prune",
            "--force-with-lease",
            "--force-if-includes",
        ];
        for word in args {
            let text = word.likely();
            let option = text.split('=').next().unwrap_or(text);
            let bundle = option.starts_with('-')
                && !option.starts_with("--")
                && option[1..].contains(['f', 'd']);
            let forced = bundle
                || option.starts_with("--force")
                || FORCED
                    .iter()
                    .any(|bad| option == *bad || (option.len() > 4 && bad.starts_with(option)));
            // `+main` forces, `:main` deletes.
            let refspec = !text.starts_with('-')
                && (text.starts_with('+') || text.starts_with(':') && text.len() > 1);
            if forced || refspec {
                self.find(FORCES, name, format!("{name} {text}"));
            }
            if option.len() > 3
                && ("--receive-pack".starts_with(option) || "--exec".starts_with(option))
            {
                self.find(RUN, name, format!("{name} {text}"));
            }
        }
        if args.iter().any(|word| word.may_be_option) {
            self.find(UNKNOWN, name, format!("{name} with an argument only known at run time"));
        }
        if args.iter().any(|word| matches!(word.text.as_str(), "-n" | "--dry-run")) {
            self.find(crate::effect::FETCH, name, format!("{name} --dry-run"));
            return;
        }
        let options = Options::of(row, args);
        self.targets(row, row.does, name, &options);
    }
}
