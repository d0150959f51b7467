//! `find`: its expression can run, write and delete.

use crate::effect::{DESTROY, Does, READ, SECRET, UNKNOWN};
use crate::path;
use crate::walk::Walk;
use crate::word::{Expansion, Word};

/// Actions that do more than print.
const ACTIONS: [&str; 9] =
    ["-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fls", "-fprintf"];

/// Whether the value of a test may turn out to be several words, one of them an action.
fn may_act(word: &Word) -> bool {
    let computed = word.expansions.iter().any(|expansion| *expansion != Expansion::Glob);
    let named = || ACTIONS.iter().any(|action| path::matches_glob(&word.text, action));
    word.may_add_options() && (computed || named())
}

const DELETES: Does = Does { phrase: "deletes everything it finds", ..DESTROY };

/// Tests and actions without an operand.
const ALONE: &[&str] = &[
    "-print",
    "-print0",
    "-ls",
    "-prune",
    "-quit",
    "-empty",
    "-readable",
    "-writable",
    "-executable",
    "-true",
    "-false",
    "-depth",
    "-d",
    "-mount",
    "-xdev",
    "-noleaf",
    "-follow",
    "-daystart",
    "-nouser",
    "-nogroup",
    "-not",
    "-a",
    "-and",
    "-o",
    "-or",
    "-H",
    "-L",
    "-P",
    "-E",
    "-X",
    "-x",
    "-s",
    "!",
    "(",
    ")",
    ",",
    "-warn",
    "-nowarn",
    "-ignore_readdir_race",
    "-noignore_readdir_race",
];

/// Tests and actions with one.
const VALUED: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-type",
    "-xtype",
    "-size",
    "-mtime",
    "-atime",
    "-ctime",
    "-mmin",
    "-amin",
    "-cmin",
    "-newer",
    "-anewer",
    "-cnewer",
    "-newermt",
    "-newerct",
    "-neweram",
    "-maxdepth",
    "-mindepth",
    "-perm",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-links",
    "-inum",
    "-samefile",
    "-lname",
    "-ilname",
    "-fstype",
    "-used",
    "-context",
    "-printf",
    "-flags",
    "-Bmin",
    "-D",
    "-f",
];

/// `-newermt` and the like.
fn is_newer(text: &str) -> bool {
    text.strip_prefix("-newer").is_some_and(|rest| {
        rest.len() == 2
            && rest.starts_with(['a', 'B', 'c', 'm'])
            && rest.ends_with(['a', 'B', 'c', 'm', 't'])
    })
}

/// Where it looks: what comes before the first test.
fn roots(args: &[Word]) -> impl Iterator<Item = &str> {
    let is_option = |word: &&Word| matches!(word.text.as_str(), "-H" | "-L" | "-P");
    let args = args.iter().skip_while(is_option);
    args.map(Word::likely).take_while(|text| !text.starts_with(['-', '(', '!']))
}

impl Walk {
    pub(super) fn find_program(&mut self, name: &str, args: &[Word]) {
        let mut at = 0;
        let mut runs = false;
        while let Some(word) = args.get(at) {
            at += 1;
            let text = word.text.as_str();
            if !word.literal {
                if self.is_secret(word.likely()) {
                    self.find_at(SECRET, name, name, Some(text.to_owned()));
                }
                // Where it looks may be a variable of the environment, as everybody writes it: `"$ROOT"`.
                let is_root = at == 1
                    && word.free
                    && !word.may_split
                    && !text.contains(|c: char| c.is_ascii_lowercase());
                if word.may_be_option && !is_root {
                    self.find(
                        UNKNOWN,
                        name,
                        format!("{name} with an argument only known at run time"),
                    );
                }
                continue;
            }
            match text {
                "-delete" => self.find(DELETES, name, "find -delete"),
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    runs = true;
                    // In the directory of each file that it finds.
                    let there = text.ends_with("dir").then_some("$");
                    let start = at;
                    self.elsewhere(there, |walk| at = walk.find_exec(name, args, start));
                }
                "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                    self.writes(name, format!("{name} {text}"), args.get(at));
                    at += if text == "-fprintf" { 2 } else { 1 };
                }
                _ if ALONE.contains(&text) => {}
                _ if VALUED.contains(&text) => {
                    let names =
                        matches!(text, "-name" | "-iname" | "-path" | "-ipath" | "-wholename");
                    if names && args.get(at).is_some_and(|it| self.is_secret(it.likely())) {
                        self.files.secrets_found = true;
                    }
                    if args.get(at).is_some_and(may_act) {
                        let what = format!("{name} {text} with a value only known at run time");
                        self.find(UNKNOWN, name, what);
                    }
                    at += 1;
                }
                _ if is_newer(text) => at += 1,
                _ if text.starts_with("-O") && text[2..].bytes().all(|b| b.is_ascii_digit()) => {}
                _ if text.starts_with('-') => {
                    self.find(UNKNOWN, name, format!("{name} {text}"));
                    return;
                }
                _ => {
                    let does = if self.is_secret(text) { SECRET } else { READ };
                    self.find_at(does, name, name, Some(text.to_owned()));
                }
            }
        }
        if runs
            && args.iter().any(|word| self.is_secret(word.likely()) || word.text.contains("id_rsa"))
        {
            self.find(SECRET, name, format!("{name} -exec on secrets"));
        }
        self.find(READ, name, name);
    }

    /// The command after `-exec`; returns where the expression goes on.
    fn find_exec(&mut self, name: &str, args: &[Word], start: usize) -> usize {
        let rest = &args[start.min(args.len())..];
        // A `+` ends it only after `{}`.
        let ends = |at: &usize| {
            let text = rest[*at].exact();
            text == Some(";")
                || (text == Some("+") && *at > 0 && rest[at - 1].exact() == Some("{}"))
        };
        let length = (0..rest.len()).find(ends).unwrap_or(rest.len());
        let mut command = args[start..start + length].to_vec();
        for word in &mut command {
            if word.text.contains("{}") {
                let text = std::mem::take(&mut word.text);
                *word = Word::from_input(&text);
                // What find puts there begins with the path it was given.
                word.may_be_option = false;
                word.may_split = false;
            }
        }
        if command.is_empty() {
            self.find(UNKNOWN, name, "find -exec");
        } else {
            let before = self.found.len();
            self.judge(&command, &["find -exec".to_owned()]);
            // Of several roots, the one that is most likely elsewhere.
            let root = roots(args).max_by_key(|root| root.starts_with(['/', '~', '$', '.']));
            let inside = format!("{}/…", root.unwrap_or("."));
            for guess in self.found[before..].iter_mut().filter_map(|it| it.guess.as_mut()) {
                *guess = guess.replace("{}", &inside);
            }
        }
        start + length + 1
    }
}
