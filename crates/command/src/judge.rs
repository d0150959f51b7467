//! What one simple command would do.
//!
//! A command is looked up in the tables; wrappers are unwrapped and what they run is judged in turn;
//! anything without a row is unknown. An unknown program may run its arguments, so those are looked
//! through for dangers.

use crate::argv::{self, Options};
use crate::effect::{DESTROY, Does, KILL, Kind, READ, RUN, SECRET, UNKNOWN};
use crate::framework::drops_database;
use crate::help::{asks_for_help, asks_unknown_for_help};
use crate::path;
use crate::reader::sql;
use crate::reader::verbs::tells_to_destroy;
use crate::reading::SimpleCommand;
use crate::risk::Risk;
use crate::row::{Reader, Row, Takes};
use crate::scan;
use crate::shell::Shell;
use crate::supposition::{Supposition, Tool, directory_named};
use crate::table;
use crate::unwrap::find_wrapper;
use crate::walk::{FORK_STORM, Walk};
use crate::word::{Expansion, Word};
use crate::wrapper;

/// Wrappers around wrappers beyond this are refused.
pub(crate) const MAX_WRAPPERS: usize = 16;

/// Directories whose programs are the ones the tables describe.
const SYSTEM_BINS: [&str; 7] = [
    "/bin",
    "/usr/bin",
    "/sbin",
    "/usr/sbin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/usr/local/sbin",
];

/// The name under which the tables know a program.
pub(crate) fn program_name(word: &str) -> Option<&str> {
    match word.rsplit_once('/') {
        None => Some(word),
        Some((directory, name)) => SYSTEM_BINS.contains(&directory).then_some(name),
    }
}

impl Walk {
    /// Judges a command that is run through the wrappers `via`.
    pub(crate) fn judge(&mut self, argv: &[Word], via: &[String]) {
        // Each word may be a path, and is looked at from where the text has gone.
        let path = self.directory.bytes();
        if !self.charge(16 + argv.iter().map(|word| word.text.len() + path + 4).sum::<usize>()) {
            return;
        }
        let before = self.found.len();
        self.judge_as_written(argv, via);
        self.outbound(argv, before);
        if !self.probing {
            self.suspect(argv, before);
        }
    }

    /// Looks for dangers in what is not understood, and in what variables set nearby would make of it.
    fn suspect(&mut self, argv: &[Word], before: usize) {
        let risk = self.found[before..].iter().map(|finding| finding.does.risk).max();
        if risk == Some(Risk::Dangerous) {
            return;
        }
        let guessed = || {
            let words = argv.iter().flat_map(|word| word.likely().split_whitespace());
            words.map(Word::literal).collect::<Vec<Word>>()
        };
        if argv.iter().any(|word| word.guess.is_some()) && scan::danger(self, &guessed()) {
            return;
        }
        // A program that is known and has an option that is not still runs none of its arguments.
        let only_options = self.found[before..]
            .iter()
            .filter(|finding| finding.does.risk == Risk::Unknown)
            .all(|finding| {
                [UNKNOWN_TO_ROW.phrase, UNKNOWN_OPTION.phrase].contains(&finding.does.phrase)
            });
        if risk == Some(Risk::Unknown) && !only_options {
            let named_like =
                argv.first().and_then(Word::exact).and_then(|name| name.rsplit('/').next());
            let named_like = named_like.map(|name| {
                let name = std::iter::once(Word::literal(name));
                name.chain(argv.iter().skip(1).cloned()).collect::<Vec<Word>>()
            });
            if named_like.is_some_and(|argv| scan::danger(self, &argv)) {
                return;
            }
            scan::dangers_in_arguments(self, argv.get(1..).unwrap_or(&[]));
            // It may run what it is fed, also what comes to it through others.
            for text in [self.input_text(), self.fed.clone()].into_iter().flatten() {
                scan::dangers(self, &text);
            }
            if argv.first().is_some_and(|word| !word.literal) {
                scan::dangers_in_arguments(self, &guessed());
            }
        }
    }

    fn judge_as_written(&mut self, argv: &[Word], via: &[String]) {
        let Some(first) = argv.first() else { return };
        self.commands.push(SimpleCommand { argv: argv.to_vec(), via: via.to_vec() });
        if via.len() > MAX_WRAPPERS || self.depth > crate::lexer::MAX_DEPTH {
            self.inexact("wrapped too deeply");
            return;
        }
        let Some(command) = first.exact() else {
            self.unknown_program(argv, "a program whose name is only known at run time");
            return;
        };
        if command.is_empty() {
            self.unknown_program(argv, "an empty program name");
            return;
        }
        // Functions are the shell's own: whatever runs a command for somebody else does not see them.
        if via.is_empty() && self.functions.has(command) {
            if self.functions.is_open(command) {
                let does = if self.beside > 0 { FORK_STORM } else { RECURSION };
                self.find(does, command, command);
            }
            self.find(READ, command, command);
            if table::find(command).is_none() {
                return;
            }
        }
        // The tables name sub-commands with a blank; a program with one in its name is another.
        let Some(name) = program_name(command).filter(|name| !name.contains([' ', '*'])) else {
            self.unknown_program(argv, command);
            self.run_file(command, Shell::Posix);
            return;
        };
        self.discloses(name, argv);
        self.frameworks(name, argv);
        self.kept_by_tee(name, argv);
        self.moves_everything(name, argv);
        self.stops_everything(name, argv);
        if matches!(name, "source" | ".") {
            let file = argv.get(1).map_or("", |word| word.likely()).to_owned();
            self.foreign(name, format!("{name} {file}"));
            self.run_file(&file, self.shell);
        } else if let Some(shell) = Shell::named(name).filter(|_| name != "busybox") {
            self.shell_program(name, shell, argv, via);
        } else if let Some((wrapper, rest)) = find_wrapper(name, argv) {
            self.wrapped(name, wrapper, rest, via);
        } else if let Some(row) = table::find(name) {
            self.by_row(row, name, &argv[1..]);
        } else if asks_unknown_for_help(name, &argv[1..]) && !command.contains('/') {
            self.find(ASKS_HELP, name, name);
        } else {
            self.unknown_program(argv, name);
        }
    }

    /// A program nothing is known about: it may do anything, also with its arguments.
    fn unknown_program(&mut self, argv: &[Word], what: &str) {
        let foreign = argv.first().is_some_and(|word| !word.literal);
        self.hides_program |=
            argv.first().is_some_and(|word| !word.literal && word.guess.is_none());
        self.find(UNKNOWN, what, what);
        if let Some(finding) = self.found.last_mut() {
            finding.foreign = foreign;
        }
        if tells_to_destroy(argv.get(1..).unwrap_or(&[])) {
            self.find(DESTROYS, what, what);
        }
        // A statement is no command, but somebody meant it for a database.
        let words: Vec<&str> = argv.iter().map(Word::likely).collect();
        let flushes = matches!(what.to_ascii_lowercase().as_str(), "flushall" | "flushdb");
        let typed = flushes || what == "SHUTDOWN";
        if typed || sql::statement(&words.join(" ")).risk == Risk::Dangerous {
            self.find(sql::DROPS, what, words.join(" "));
        }
    }

    /// `mv * elsewhere`: all of a directory at once.
    fn moves_everything(&mut self, name: &str, argv: &[Word]) {
        let all = |word: &Word| {
            !word.literal
                && matches!(word.text.as_str(), "*" | "./*" | "../*" | "~/*" | "/*" | "$HOME/*")
        };
        if name == "mv" && argv.iter().skip(1).any(all) {
            self.find(MOVES_ALL, name, format!("{name} *"));
        }
    }

    /// `docker stop $(docker ps -q)`: whatever runs at that moment, whoever started it.
    fn stops_everything(&mut self, name: &str, argv: &[Word]) {
        let engine = matches!(name, "docker" | "podman" | "nerdctl");
        let subs: Vec<&str> = argv.iter().skip(1).take(2).filter_map(Word::exact).collect();
        let stops = matches!(subs[..], ["stop" | "kill" | "pause" | "restart", ..])
            || matches!(subs[..], ["container", "stop" | "kill" | "pause" | "restart"]);
        let from_list = |word: &Word| {
            let listed = |it: &Expansion| matches!(it, Expansion::Input | Expansion::Substitution);
            word.expansions.iter().any(listed)
        };
        if engine && stops && argv.iter().any(from_list) {
            self.find(STOPS_ALL, name, format!("{name} {}", subs.join(" ")));
        }
    }

    /// Frameworks name what they do to a database in words of their own: `db:drop`, `migrate:fresh`.
    fn frameworks(&mut self, name: &str, argv: &[Word]) {
        let words: Vec<&str> = argv.iter().skip(1).map(Word::likely).collect();
        if !matches!(name, "echo" | "printf" | "grep" | "rg" | "git" | "man")
            && drops_database(name, &words)
        {
            self.find(sql::DROPS, name, format!("{name} {}", words.join(" ")));
        }
        // A program in a jar is one that nobody knows.
        let jar = argv.iter().position(|word| word.text == "-jar").filter(|_| name == "java");
        if jar.and_then(|at| argv.get(at + 2..)).is_some_and(tells_to_destroy) {
            self.find(DESTROYS, name, format!("{name} -jar"));
        }
    }

    /// Judges by a row, following sub-commands, where the arguments say that it is to run.
    pub(crate) fn by_row(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        let there = directory_named(name, args);
        self.elsewhere(there.as_deref(), |walk| walk.by_row_here(row, name, args));
    }

    fn by_row_here(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        if asks_for_help(row, name, args) {
            self.suppose_for(name);
            self.find(ASKS_HELP, name, name);
            return;
        }
        if table::has_looks(name) {
            if self.by_look(name, args) {
                return;
            }
            // A line that knows less than what is given here.
            if row.does.risk == Risk::ReadOnly
                && table::find_look(name).is_some_and(|look| std::ptr::eq(look, row))
            {
                self.find(UNKNOWN_TO_ROW, name, format!("{name} with more than its line knows"));
            }
        }
        if row.subs
            && let Some(at) = argv::first_operand(row, args)
        {
            self.globals(row, name, &args[..at]);
            let Some(sub) = args[at].exact().filter(|sub| !sub.contains([' ', '*'])) else {
                let shown = format!("{name} with a sub-command only known at run time");
                self.find(UNKNOWN, name, shown);
                return;
            };
            self.late_globals(row, name, &args[at + 1..]);
            let full = format!("{name} {sub}");
            if let Some(found) = table::find(&full) {
                self.by_row(found, &full, &args[at + 1..]);
            } else if let Some((wrapper, rest)) = wrapper::find(&full).map(|w| (w, &args[at + 1..]))
            {
                self.wrapped(&full, wrapper, rest, &[]);
            } else if let Some(verbs) = row.verbs {
                self.by_verb(row, verbs, name, args);
            } else if row.other.is_some_and(|does| does.risk == Risk::ReadOnly) {
                // The operand is no sub-command; the program's own options still count.
                self.plain(row, name, args);
            } else {
                self.find(row.other.unwrap_or(UNKNOWN), name, full);
            }
            return;
        }
        let first = args.first().and_then(Word::exact).unwrap_or_default();
        let begins = |(shapes, _): &&(&str, Does)| {
            shapes.split(' ').any(|shape| argv::has_shape(shape, first))
        };
        if let Some((_, does)) = row.begins.iter().find(begins)
            && args.iter().all(|word| word.literal || !word.may_be_option)
            && Options::of(row, args.get(1..).unwrap_or(&[])).outside(row, "").is_none()
        {
            self.find(*does, name, format!("{name} {first}"));
            return;
        }
        match row.reader {
            Reader::Row => self.plain(row, name, args),
            reader => self.read_by(reader, row, name, args),
        }
    }

    /// Options before a sub-command.
    fn globals(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        let options = Options::of(row, args);
        for (option, does) in options.rules(row) {
            if does.risk > Risk::ReadOnly && !harmless_git_setting(name, &option, args) {
                self.find(does, name, format!("{name} {option}"));
            }
        }
        let is_value = |at: usize| at > 0 && argv::takes_value(row, &args[at - 1].text);
        let hides = |at: usize| {
            let word = &args[at];
            let is_one_value = is_value(at) && !word.may_split;
            !word.literal && word.may_be_option && !is_one_value
        };
        if (0..args.len()).any(hides) {
            self.find(UNKNOWN, name, format!("{name} with an option only known at run time"));
        }
        self.before_sub(row, name, args);
    }

    /// Options that may take a sub-command for their value. git has none that are not listed.
    fn before_sub(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        if let Some(option) = argv::unknown_before_sub(row, args)
            && !name.starts_with("git")
        {
            self.find(UNKNOWN, name, format!("{name} {option}"));
        }
    }

    /// What the rules of a program say of options after its sub-commands.
    pub(crate) fn late_rules(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        for (option, does) in Options::of(row, args).rules(row) {
            if does.risk > Risk::ReadOnly {
                self.find(does, name, format!("{name} {option}"));
            }
        }
    }

    /// Long options that many programs also take after the sub-command. git does not.
    fn late_globals(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        if row.rules.is_empty() || name == "git" {
            return;
        }
        let short_too = matches!(name, "apt" | "apt-get" | "apt-cache" | "kubectl");
        for (option, does) in Options::of(row, args).rules(row) {
            if (short_too || option.starts_with("--")) && does.risk > Risk::ReadOnly {
                self.find(does, name, format!("{name} {option}"));
            }
        }
    }

    /// Notes what a verdict on this program supposes of the directory it is run in.
    fn suppose_for(&mut self, name: &str) {
        if name.starts_with("git ") {
            self.suppose_of_directory(Supposition::GitHasNoHelpers);
        } else if name.starts_with("cargo ") {
            self.suppose_of_directory(Supposition::CargoHasNoConfig);
        }
        if let Some(tool) = Tool::of(name) {
            self.suppose_of_directory(Supposition::ProjectBringsNo(tool));
        }
    }

    /// Judges by what the row says, and nothing else.
    pub(crate) fn plain(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        let options = Options::of(row, args);
        self.suppose_for(name);
        let before = self.found.len();
        let mut base = row.does;
        let softer = options.softening(row);
        if let Some(does) = softer {
            base = does;
        }
        self.by_rules(row, name, &options);
        if softer.is_none() {
            self.by_shapes(row, name, args, &options);
        }
        if let Some((most, does, unless)) = row.operands {
            let excused = unless.split_ascii_whitespace().any(|option| options.has(option));
            if options.count() > most && !excused {
                match options.operands.get(most) {
                    Some(operand) => self.path_target(does, name, operand),
                    None => self.find(does, name, name),
                }
            }
        }
        let reads = row.does.risk == Risk::ReadOnly;
        if (reads || row.only.is_some())
            && softer.is_none()
            && let Some(option) = options.outside(row, row.only.unwrap_or_default())
        {
            self.find(UNKNOWN_TO_ROW, name, format!("{name} {option}"));
        }
        if row.subs {
            self.before_sub(row, name, args);
        }
        let sensitive = !row.rules.is_empty() || row.only.is_some();
        if base.risk == Risk::ReadOnly && sensitive && options.may_hide_option() {
            self.find(
                UNKNOWN_OPTION,
                name,
                format!("{name} with an argument only known at run time"),
            );
        }
        if self.found.len() == before || base.risk > Risk::ReadOnly {
            self.targets(row, base, name, &options);
        }
    }

    /// What the options say. Those that write say where.
    fn by_rules(&mut self, row: &'static Row, name: &str, options: &Options<'_>) {
        for (option, does) in options.rules(row) {
            let what = format!("{name} {option}");
            match options.value_of(&option) {
                Some(target) if does.kind == Kind::Overwrite => {
                    self.writes(name, what, Some(&target));
                }
                _ if does.risk > Risk::ReadOnly => self.find(does, name, what),
                _ => {}
            }
        }
    }

    /// What the shapes of options and operands say.
    fn by_shapes(&mut self, row: &'static Row, name: &str, args: &[Word], options: &Options<'_>) {
        let dashed = args.iter().filter(|word| word.starts_with("-"));
        let words = options.operands.iter().chain(&options.values).copied().chain(dashed);
        let words: Vec<&Word> = words.collect();
        for (shapes, does) in row.shapes {
            let is_so = |word: &&&Word| {
                shapes.split_ascii_whitespace().any(|shape| argv::has_shape(shape, word.likely()))
            };
            if let Some(word) = words.iter().find(is_so) {
                self.find(*does, name, format!("{name} {}", word.text));
            }
        }
    }

    /// The base effect, one per operand where operands are paths or hosts.
    pub(crate) fn targets(&mut self, row: &Row, base: Does, name: &str, options: &Options<'_>) {
        self.secrets_among(row, name, options);
        let skip = usize::from(
            row.takes == Takes::PatternThenPaths && !options.has("-e") && !options.has("-f"),
        );
        let operands = options.operands.get(skip..).unwrap_or(&[]);
        let mut any = false;
        match row.takes {
            Takes::Text => {}
            Takes::Names => {
                for word in operands {
                    any = true;
                    self.files.secrets_listed |= name == "ls" && self.is_secret(word.likely());
                    self.find_at(base, name, name, word.path().map(str::to_owned));
                }
            }
            Takes::Paths | Takes::PatternThenPaths | Takes::LastWritten => {
                for (index, word) in operands.iter().enumerate() {
                    any = true;
                    let reads = row.takes == Takes::LastWritten && index + 1 < operands.len();
                    let does = if reads { READ } else { base };
                    self.path_target(does, name, word);
                }
                if row.takes == Takes::LastWritten {
                    self.find(base, name, name);
                }
            }
            Takes::Hosts => {
                for word in operands {
                    any = true;
                    let host = argv::host(word.likely());
                    let local = host.as_deref().is_some_and(argv::is_local);
                    if self.is_secret(word.likely()) && !word.likely().contains("://") {
                        self.find(SECRET, name, format!("{name} {}", word.text));
                    }
                    // `ext::sh -c …` names a program, not a machine.
                    if word.likely().contains("::") && !word.likely().starts_with(['[', ':']) {
                        self.find(RUN, name, format!("{name} {}", word.text));
                    }
                    if !word.literal
                        && !local
                        && base.risk == Risk::ReadOnly
                        && base.kind == Kind::Network
                    {
                        self.find(UNKNOWN_HOST, name, name);
                    }
                    self.find_at(base, name, name, host);
                }
            }
        }
        if !any {
            self.find(base, name, name);
        }
    }

    /// Secrets named by the values of options, or asked for by their kind.
    fn secrets_among(&mut self, row: &Row, name: &str, options: &Options<'_>) {
        if !matches!(row.takes, Takes::Text | Takes::Names) {
            // A pattern with a slash may be a path after all, where an option took two values.
            let first = options.operands.first().filter(|word| word.text.contains('/'));
            let named: Vec<&&Word> = options.values.iter().chain(first).collect();
            for word in named {
                if !self.is_secret(word.likely()) {
                    continue;
                }
                self.find_at(
                    SECRET,
                    name,
                    format!("{name} {}", word.text),
                    Some(word.text.clone()),
                );
            }
        }
        let asks = name.ends_with(" get") || name.ends_with(" describe");
        if asks && options.operands.iter().any(|word| word.likely().contains("secret")) {
            self.find(SECRET, name, format!("{name} secret"));
        }
    }

    /// One path among the operands.
    pub(crate) fn path_target(&mut self, does: Does, name: &str, word: &Word) {
        let likely = word.likely();
        // What a search for secrets found is one.
        let found = |it: &Expansion| {
            matches!(it, Expansion::Input | Expansion::Substitution | Expansion::Variable)
        };
        let from_search = self.files.secrets_found && word.expansions.iter().any(found)
            || self.files.secrets_listed && word.expansions.contains(&Expansion::Input);
        if from_search || self.is_secret(likely) {
            self.find_at(SECRET, name, format!("{name} {}", word.text), Some(word.text.clone()));
        }
        if does.kind == Kind::Read {
            self.opens_everything(name, word);
        }
        let worse = match does.kind {
            Kind::Read | Kind::Network => None,
            Kind::Delete => self.danger_of_losing(likely),
            Kind::Write if name == "sed" => self.danger_of_losing(likely),
            _ => self.danger_of_writing(likely),
        };
        if does.kind == Kind::Write && name == "mv" && likely == "/dev/null" {
            self.find_path(DESTROY, name, format!("{name} {}", word.text), word);
            return;
        }
        if likely.starts_with("/dev/tcp/")
            || (does.kind == Kind::Overwrite && path::is_harmless_device(likely))
        {
            return;
        }
        match worse {
            Some(worse) => self.find_path(worse, name, format!("{name} {}", word.text), word),
            None => self.find_path(does, name, name, word),
        }
    }
}

/// An option may be hidden in what is only known at run time.
const UNKNOWN_OPTION: Does =
    Does { phrase: "could turn out to be an option that does more", ..UNKNOWN };
/// Everything that is somewhere is moved.
const MOVES_ALL: Does = Does { phrase: "moves everything of a directory", ..DESTROY };
/// Whatever runs is stopped.
const STOPS_ALL: Does = Does { phrase: "stops whatever runs at that moment", ..KILL };
/// A function that calls itself.
const RECURSION: Does = Does { phrase: "calls itself", ..UNKNOWN };
/// A program that is not known is told to take something away.
const DESTROYS: Does = Does { phrase: "is told to delete or destroy something", ..DESTROY };
/// A program is asked what it is.
const ASKS_HELP: Does = Does { phrase: "only says what it is", ..READ };
/// An option that the tables do not know.
const UNKNOWN_TO_ROW: Does = Does { phrase: "has an option that is not known", ..UNKNOWN };
/// The address, and so what is sent, is only known at run time.
const UNKNOWN_HOST: Does = Does { phrase: "asks for an address only known at run time", ..UNKNOWN };

/// `git -c color.ui=false` and the like.
fn harmless_git_setting(name: &str, option: &str, args: &[Word]) -> bool {
    const SAFE: [&str; 14] = [
        "color.",
        "core.quotepath=",
        "log.",
        "diff.renames=",
        "diff.renamelimit=",
        "diff.algorithm=",
        "column.",
        "advice.",
        "pager.",
        "core.pager=cat",
        "user.name=",
        "user.email=",
        "diff.context=",
        "status.",
    ];
    if name != "git" || option != "-c" {
        return false;
    }
    let values = args.windows(2).filter(|pair| pair[0].text == "-c").map(|pair| &pair[1]);
    let bundled = args.iter().any(|word| word.text.starts_with("-c") && word.text != "-c");
    !bundled
        && values.into_iter().all(|value| {
            value.exact().map(str::to_ascii_lowercase).is_some_and(|setting| {
                let pager_is_safe = !setting.starts_with("pager.")
                    || setting.ends_with("=false")
                    || setting.ends_with("=cat");
                let core_is_safe =
                    !setting.starts_with("core.pager") || setting == "core.pager=cat";
                pager_is_safe && core_is_safe && SAFE.iter().any(|safe| setting.starts_with(safe))
            })
        })
}

/// Whether a word came from a process substitution.
pub(crate) fn is_process(word: &Word) -> bool {
    word.expansions.contains(&Expansion::Process)
}
