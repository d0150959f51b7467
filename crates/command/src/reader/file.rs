//! rm, chmod, dd, tar and the kill family.

use crate::argv::Options;
use crate::effect::{
    DELETE, DESTROY, DEVICE, Does, KILL, READ, RUN, SERVICE, SIGNAL, UNKNOWN, WRITE,
};
use crate::path;
use crate::row::Row;
use crate::walk::Walk;
use crate::word::{Expansion, Word};

/// Removing with force or in depth.
const FORCED: Does = Does { phrase: "removes without asking or in depth", ..DESTROY };
const WHATEVER: Does = Does { phrase: "removes whatever it is given at run time", ..DESTROY };
const EVERYTHING: Does =
    Does { phrase: "would remove or change a whole system, home or project", ..DESTROY };

/// Whether a word that looks like an option takes permissions or attributes away.
fn is_mode(word: &str) -> bool {
    word.len() > 1
        && word.starts_with('-')
        && word[1..].chars().all(|c| "rwxXstaiudejmcCDSAFPT".contains(c))
        && !matches!(word, "-c" | "-f")
}

/// Options of tar that leave a list what it is.
const TAR_LIST: &str = "tvf:zjJaZRnC:X: --list --verbose --file= --gzip --gunzip --bzip2 --xz --zstd --lzma --lzip --auto-compress --directory= --exclude= --exclude-from= --wildcards --no-wildcards --ignore-case --no-ignore-case --anchored --no-anchored --strip-components= --show-transformed-names --show-stored-names --numeric-owner --full-time --utc --no-recursion --recursion --occurrence? --totals --block-number --force-local --null --quoting-style= --ignore-zeros --warning=";

/// Whether tar is told to list an archive, with nothing that does more.
fn lists_archive(args: &[Word]) -> bool {
    let Some(first) = args.first().and_then(Word::exact) else { return false };
    // The first bundle needs no dash: `tar tf x.tar`.
    let mut words = args.to_vec();
    if !first.starts_with('-') {
        words[0] = Word::literal(format!("-{first}"));
    }
    let row = Row { options: TAR_LIST, valued: "", flags: "", rules: &[], only: None, ..TAR_ROW };
    let options = Options::of(&row, &words);
    (options.has("-t") || options.has("--list"))
        && options.all_listed(&row)
        && !options.may_hide_option()
}

const TAR_ROW: Row = crate::row::row("tar", READ);

impl Walk {
    pub(super) fn rm(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        let options = Options::of(row, args);
        let long = |prefix: &str| {
            args.iter().any(|word| word.text.len() > 2 && prefix.starts_with(word.text.as_str()))
        };
        let deep = options.has("-r")
            || options.has("-R")
            || options.has("-d")
            || long("--recursive")
            || long("--dir");
        let forced = options.has("-f") || long("--force") || long("--no-preserve-root");
        let mut what = name.to_owned();
        if deep || forced {
            what.push_str(match (deep, forced) {
                (true, true) => " -rf",
                (true, false) => " -r",
                _ => " -f",
            });
        }
        if options.may_hide_option() {
            self.find(UNKNOWN, name, format!("{name} with an argument only known at run time"));
        }
        for word in &options.operands {
            let target = word.path().map(str::to_owned).or_else(|| Some(word.text.clone()));
            let whatever = word
                .expansions
                .iter()
                .any(|it| matches!(it, Expansion::Input | Expansion::Substitution));
            let does = if self.is_everything(word.likely()) {
                EVERYTHING
            } else if whatever {
                WHATEVER
            } else if deep || forced {
                FORCED
            } else {
                self.danger_of_losing(word.likely()).unwrap_or(DELETE)
            };
            self.find_at(does, name, what.clone(), target);
            self.suppose(word);
        }
        if options.operands.is_empty() {
            self.find(if deep || forced { FORCED } else { DELETE }, name, what);
        }
    }

    pub(super) fn chmod(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        let options = Options::of(row, args);
        let deep = options.has("-R") || options.has("--recursive");
        let dashed = args.first().map(Word::likely).filter(|word| is_mode(word));
        let mode =
            dashed.unwrap_or_else(|| options.operands.first().map_or("", |word| word.likely()));
        let opens =
            matches!(mode, "777" | "0777" | "a+rwx" | "ugo+rwx" | "o+w" | "a+w" | "666" | "a=rwx");
        let setuid = name == "chmod"
            && ((mode.contains('s') && mode.contains(['+', '=']))
                || (mode.len() == 4
                    && mode.starts_with(['2', '4', '6'])
                    && mode.bytes().all(|b| b.is_ascii_digit())));
        // `chmod -x file`: the mode looks like an option.
        let modes = usize::from(!args.first().is_some_and(|word| is_mode(word.likely())));
        let mass = options
            .operands
            .iter()
            .take(modes)
            .find(|word| deep && self.is_everything(word.likely()));
        if let Some(word) = mass {
            self.find_path(EVERYTHING, name, format!("{name} -R"), word);
        }
        for word in options.operands.iter().skip(modes) {
            let everything = deep && self.is_everything(word.likely());
            let does = if everything {
                EVERYTHING
            } else if setuid || opens || (name == "chattr" && mode.contains('i')) {
                SERVICE
            } else {
                self.danger_of_losing(word.likely()).unwrap_or(WRITE)
            };
            self.find_path(does, name, format!("{name} {mode}"), word);
        }
        if options.operands.len() <= modes {
            self.find(WRITE, name, name);
        }
    }

    pub(super) fn dd(&mut self, name: &str, args: &[Word]) {
        let mut writes = false;
        for word in args {
            let text = word.likely();
            if let Some(target) = text.strip_prefix("of=") {
                if path::is_harmless_device(target) {
                    continue;
                }
                writes = true;
                let does = self.danger_of_writing(target).unwrap_or(WRITE);
                self.find_at(does, name, format!("{name} of={target}"), Some(target.to_owned()));
            } else if let Some(source) = text.strip_prefix("if=") {
                if self.is_secret(source) {
                    self.find(crate::effect::SECRET, name, format!("{name} if={source}"));
                } else if source.starts_with("/dev/")
                    && !matches!(
                        source,
                        "/dev/zero" | "/dev/urandom" | "/dev/random" | "/dev/null" | "/dev/stdin"
                    )
                {
                    self.find(DEVICE, name, format!("{name} if={source}"));
                }
            } else if !word.literal {
                self.find(UNKNOWN, name, format!("{name} with an argument only known at run time"));
            }
        }
        if !writes {
            self.find(READ, name, name);
        }
    }

    pub(super) fn tar(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        const RUNS: [&str; 9] = [
            "--to-command",
            "--checkpoint-action",
            "--use-compress-program",
            "--rsh-command",
            "--rmt-command",
            "--info-script",
            "--new-volume-script",
            "--compress-program",
            "-I",
        ];
        // `-I` and `-F` name a program, also in a bundle.
        let bundled = args.iter().enumerate().any(|(at, word)| {
            let text = word.text.as_str();
            let is_bundle = at == 0 || (text.starts_with('-') && !text.starts_with("--"));
            is_bundle && !text.starts_with("--") && text.contains(['I', 'F'])
        });
        let runs = bundled
            || args.iter().any(|word| {
                let option = word.text.split('=').next().unwrap_or("");
                RUNS.iter().any(|bad| {
                    option == *bad
                        || (option.len() > 4 && option.starts_with("--") && bad.starts_with(option))
                })
            });
        if runs {
            self.find(RUN, name, format!("{name} with a program to run"));
            return;
        }
        if args
            .iter()
            .any(|word| word.text.starts_with("--remove") || word.text.starts_with("--delete"))
        {
            self.find(DESTROY, name, format!("{name} --remove-files"));
        }
        // `host:archive` is fetched with a remote shell.
        let remote = |word: &Word| {
            let name = word.likely().rsplit('=').next().unwrap_or("");
            name.split('/').next().is_some_and(|first| first.contains(':'))
        };
        if args.iter().any(remote) && !args.iter().any(|word| word.text == "--force-local") {
            self.find(UNKNOWN, name, format!("{name} of an archive on another machine"));
        }
        if lists_archive(args) {
            self.find(READ, name, format!("{name} {}", args[0].text));
            return;
        }
        if args.iter().any(|word| {
            matches!(word.text.as_str(), "-P" | "--absolute-names") || self.is_secret(word.likely())
        }) {
            self.find(
                if args.iter().any(|w| self.is_secret(w.likely())) {
                    crate::effect::SECRET
                } else {
                    SERVICE
                },
                name,
                name,
            );
        }
        if let Some(at) =
            args.iter().position(|word| matches!(word.text.as_str(), "-C" | "--directory"))
            && let Some(target) = args.get(at + 1)
            && let Some(does) = self.danger_of_writing(target.likely())
        {
            self.find(does, name, format!("{name} -C {}", target.text));
        }
        let options = Options::of(row, args);
        self.targets(&Row { takes: crate::row::Takes::Text, ..*row }, WRITE, name, &options);
    }

    pub(super) fn kill(&mut self, name: &str, args: &[Word]) {
        let texts: Vec<&str> = args.iter().map(Word::likely).collect();
        if matches!(texts.as_slice(), ["-l" | "-L" | "--list" | "-0", ..]) && name == "kill" {
            self.find(READ, name, format!("{name} {}", texts[0]));
            return;
        }
        if name == "fuser" && !texts.iter().any(|text| text.starts_with('-') && text.contains('k'))
        {
            self.find(READ, name, name);
            return;
        }
        let all = texts.iter().any(|text| matches!(*text, "-1")) && texts.len() > 1
            || texts.contains(&"-1") && name == "kill";
        let forced = texts.iter().any(|text| {
            matches!(*text, "-9" | "-KILL" | "-SIGKILL" | "-s9" | "KILL" | "SIGKILL" | "9" | "-k")
        });
        let by_name = name != "kill";
        let init = name == "kill" && texts.iter().any(|text| matches!(*text, "1"));
        let does = if forced || all || by_name || init { KILL } else { SIGNAL };
        let target = args.last().and_then(Word::exact).map(str::to_owned);
        self.find_at(does, name, name, target);
    }
}
