//! What rules are matched against: a reading, in a place.
//!
//! Here the text of targets becomes paths. A `cd` in the command makes every relative target possible
//! in each of the directories it may then mean; where one of those is only known at run time, the
//! target is not certain.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use umbo_command::{Effect, Expansion, Kind, Reading, Risk, SimpleCommand};

use crate::files::{self, FileEffect};
use crate::place::{Roots, normal, resolve};

/// A command that changes to more directories than this is not followed further.
const MOST_DIRECTORIES: usize = 16;
/// A text that is not understood and longer than this may hide anything: not all of it was searched.
const LONGEST_UNREAD_BYTES: usize = 16 * 1024;
/// Hidden commands beyond these are not looked for.
const MOST_HIDDEN_COMMANDS: usize = 512;
/// Words looked at of each.
const MOST_HIDDEN_WORDS: usize = 24;

/// A command and its circumstances.
#[derive(Debug)]
pub struct Subject<'a> {
    pub(crate) text: &'a str,
    pub(crate) reading: &'a Reading,
    pub(crate) roots: &'a Roots,
    /// The recipe it is run as, if it is one.
    pub(crate) recipe: Option<&'a str>,
    /// The sandbox it would run in, if in one.
    pub(crate) contained: Option<&'a str>,
    /// The reading's effects, in its order.
    pub(crate) located_effects: Vec<LocatedEffect<'a>>,
    /// Commands that the arguments of unknown programs could make them run.
    pub(crate) hidden: Vec<Vec<String>>,
    directories: Directories,
    /// The variables the command gets.
    environment: &'a [(OsString, OsString)],
}

/// An effect, with where it happens and what that makes of its risk.
#[derive(Debug)]
pub(crate) struct LocatedEffect<'a> {
    pub(crate) effect: &'a Effect,
    /// At least the effect's own.
    pub(crate) risk: Risk,
    pub(crate) place: Option<PathCandidates>,
    /// Where it may be when it names no target: anything its command names.
    pub(crate) guesses: Vec<PathCandidates>,
}

/// The paths a target may mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathCandidates {
    /// As written, made absolute.
    pub(crate) written: Vec<PathBuf>,
    /// As the kernel would resolve it.
    pub(crate) resolved: Vec<PathBuf>,
    /// Whether it is certainly one of those.
    pub(crate) certain: bool,
}

/// The directories a relative path may be relative to.
#[derive(Debug)]
struct Directories {
    paths: Vec<PathBuf>,
    certain: bool,
}

impl<'a> Subject<'a> {
    /// A command that would run in `cwd`.
    pub fn new(text: &'a str, reading: &'a Reading, cwd: &Path, roots: &'a Roots) -> Self {
        Self::in_environment(text, reading, cwd, roots, &[])
    }

    /// The same, with some variables.
    pub fn in_environment(
        text: &'a str,
        reading: &'a Reading,
        cwd: &Path,
        roots: &'a Roots,
        environment: &'a [(OsString, OsString)],
    ) -> Self {
        let directories = Directories::of(reading, cwd, roots);
        let mut subject = Self {
            text,
            reading,
            roots,
            recipe: None,
            contained: None,
            located_effects: Vec::new(),
            hidden: Vec::new(),
            directories,
            environment,
        };
        subject.located_effects =
            reading.effects.iter().map(|effect| subject.located(effect)).collect();
        subject.hidden = subject.hidden_commands();
        subject
    }

    /// A file operation.
    pub(crate) fn of_files(
        text: &'a str,
        reading: &'a Reading,
        effects: &[FileEffect],
        roots: &'a Roots,
    ) -> Self {
        Self {
            text,
            reading,
            roots,
            recipe: None,
            contained: None,
            located_effects: files::located(effects, reading, roots),
            hidden: Vec::new(),
            directories: Directories { paths: vec![roots.project.clone()], certain: true },
            environment: &[],
        }
    }

    /// Whether it is a file operation that changes nothing but files of the project.
    pub(crate) fn edits_project_files(&self) -> bool {
        let inside = |located: &LocatedEffect<'_>| {
            located.risk == Risk::ReadOnly
                || located.place.as_ref().is_some_and(|place| {
                    place.certain && place.resolved.iter().all(|path| self.roots.in_project(path))
                })
        };
        self.reading.commands.is_empty()
            && self.risk() == Risk::Mutate
            && self.located_effects.iter().all(inside)
    }

    /// The same, run as a recipe.
    #[must_use]
    pub fn recipe(mut self, name: Option<&'a str>) -> Self {
        self.recipe = name;
        self
    }

    /// The same, in a sandbox if one is named.
    #[must_use]
    pub fn contained(mut self, profile: Option<&'a str>) -> Self {
        self.contained = profile;
        self
    }

    /// The risk here: the reading's, or worse for what reaches out of the project.
    pub fn risk(&self) -> Risk {
        let unread = if self.reading.exact {
            Risk::ReadOnly
        } else if self.text.len() > LONGEST_UNREAD_BYTES {
            Risk::Dangerous
        } else {
            Risk::Unknown
        };
        self.located_effects
            .iter()
            .map(|located| located.risk)
            .fold(self.reading.risk.and(unread), Risk::and)
    }

    /// The first target that raised the risk, for the reason shown.
    pub(crate) fn reach(&self) -> Option<PathBuf> {
        let raised =
            self.located_effects.iter().find(|located| located.risk > located.effect.risk)?;
        let candidates = raised.place.iter().chain(&raised.guesses);
        let paths = candidates.flat_map(|candidates| candidates.resolved.clone());
        paths.chain(self.directories.resolved()).find(|path| self.roots.is_outside(path))
    }

    fn located(&self, effect: &'a Effect) -> LocatedEffect<'a> {
        let place = is_path(effect.kind)
            .then(|| effect.target.as_deref().and_then(|target| self.candidates(target)))
            .flatten();
        let changes = matches!(effect.kind, Kind::Write | Kind::Delete | Kind::Overwrite);
        let likely = effect.guess.as_deref().and_then(|guess| self.candidates(guess));
        let named = place.is_some() || !is_path(effect.kind) || self.is_named_elsewhere(effect);
        let is_outside = |paths: &[PathBuf]| paths.iter().any(|p| self.roots.is_outside(p));
        let elsewhere = || {
            place.iter().chain(&likely).any(|candidates| is_outside(&candidates.resolved))
            // What names nothing is about where it runs.
            || (!named && effect.guess.is_none() && is_outside(&self.directories.resolved()))
        };
        let risk = match effect.risk {
            Risk::Mutate | Risk::Unknown if changes && elsewhere() => Risk::Dangerous,
            risk => risk,
        };
        let mut guesses = if named { Vec::new() } else { self.guesses(effect, changes) };
        // First, for the reason that is shown.
        guesses.splice(0..0, likely);
        LocatedEffect { effect, risk, place, guesses }
    }

    /// The paths among the words of the commands an effect may come from. Of those that only read,
    /// only patterns count: the rest are named by effects, or are no paths.
    fn guesses(&self, effect: &Effect, changes: bool) -> Vec<PathCandidates> {
        let authors = self.authors(effect);
        let runs = matches!(effect.kind, Kind::Unknown | Kind::Execute);
        let words = authors.iter().flat_map(|author| author.argv.iter().skip(1));
        words
            .filter(|word| changes || runs || word.expansions.contains(&Expansion::Glob))
            .map(umbo_command::Word::likely)
            .map(|word| word.split_once('=').map_or(word, |(_, value)| value))
            .filter(|word| !word.starts_with('-') && word.len() < LONGEST_UNREAD_BYTES)
            .take(MOST_HIDDEN_WORDS)
            .filter_map(|word| self.candidates(word))
            .collect()
    }

    /// Where the text of a path may lead.
    pub(crate) fn candidates(&self, text: &str) -> Option<PathCandidates> {
        let home = self.roots.home.as_deref();
        let text = self.with_variables(text);
        let path = expand(&text, home, self.directories.paths.first().map(PathBuf::as_path))?;
        let pattern = path.clone();
        // All of a directory is the directory.
        let path = ["/*", "/.*", "/.", "/{*,.*}"]
            .iter()
            .find_map(|all| path.strip_suffix(all))
            .map_or(path.as_str(), |rest| if rest.is_empty() { "/" } else { rest });
        let absolute = path.starts_with('/');
        let path = if path == "*" { "." } else { path };
        let written: Vec<PathBuf> = if absolute {
            vec![PathBuf::from(path)]
        } else {
            self.directories.paths.iter().map(|base| base.join(path)).collect()
        };
        let resolved = written.iter().map(|path| resolve(path)).collect();
        let mut written: Vec<PathBuf> = written.iter().map(|path| normal(path)).collect();
        if pattern.contains('*') {
            // And also each of the things in it.
            let inside = self.directories.paths.iter().map(|base| normal(&base.join(&pattern)));
            written.extend(inside);
        }
        let certain =
            (absolute || self.directories.certain) && !path.contains(['*', '?', '[', '{']);
        Some(PathCandidates { written, resolved, certain })
    }

    /// The text with the values of the variables that the command gets. Those of the shell itself
    /// change while it runs.
    fn with_variables<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some((before, rest)) = text.split_once('$') else { return Cow::Borrowed(text) };
        let (before, rest) = (before.replace('"', ""), rest.replace('"', ""));
        let braced = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let (name, after) = braced.unwrap_or_else(|| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()))
        });
        let found = self.environment.iter().rev().find(|(variable, _)| variable == name);
        match found.and_then(|(_, value)| value.to_str()) {
            Some(value) if !matches!(name, "HOME" | "PWD" | "OLDPWD") => {
                Cow::Owned(format!("{before}{value}{}", self.with_variables(after)))
            }
            _ => Cow::Borrowed(text),
        }
    }

    /// The commands an effect may come from.
    pub(crate) fn authors(&self, effect: &Effect) -> Vec<&'a SimpleCommand> {
        let mut words = effect.program.split(' ');
        let program = words.next().unwrap_or("");
        let rest: Vec<&str> = words.collect();
        self.reading
            .commands
            .iter()
            .filter(|command| {
                let argv: Vec<&str> = command.argv.iter().map(umbo_command::Word::likely).collect();
                let name = argv.first().copied().unwrap_or("");
                !program.is_empty()
                    && (name == program || base_name(name) == program)
                    && rest.iter().all(|word| argv.contains(word))
            })
            .collect()
    }

    /// Everything in the arguments of unknown programs that could be a command: they may run it.
    fn hidden_commands(&self) -> Vec<Vec<String>> {
        let unknown = self.reading.effects.iter().filter(|effect| {
            matches!(effect.kind, Kind::Unknown | Kind::Execute) && effect.risk >= Risk::Unknown
        });
        let mut hidden = Vec::new();
        for author in unknown.flat_map(|effect| self.authors(effect)) {
            let words: Vec<&str> = author.argv.iter().map(umbo_command::Word::likely).collect();
            suffixes(&words[1..], &mut hidden);
            for word in words.iter().skip(1).filter(|word| word.contains(char::is_whitespace)) {
                for part in word.split(SEPARATORS) {
                    suffixes(&part.split_whitespace().collect::<Vec<_>>(), &mut hidden);
                }
            }
        }
        hidden
    }

    /// Whether all words of the commands an effect may come from are known.
    pub(crate) fn is_literal(&self, effect: &Effect) -> bool {
        let authors = self.authors(effect);
        let known = |author: &&SimpleCommand| author.argv.iter().all(|word| word.exact().is_some());
        !authors.is_empty() && authors.iter().all(known)
    }

    /// Whether an effect without a target is one whose targets other effects name: every word of its
    /// command is known, and the same program has effects of the same kind with targets.
    pub(crate) fn is_named_elsewhere(&self, effect: &Effect) -> bool {
        effect.target.is_none()
            && self.is_literal(effect)
            && self.reading.effects.iter().any(|other| {
                other.kind == effect.kind
                    && other.program == effect.program
                    && other.target.is_some()
            })
    }
}

impl Directories {
    fn of(reading: &Reading, cwd: &Path, roots: &Roots) -> Self {
        let mut directories = Self { paths: vec![cwd.to_owned()], certain: true };
        for command in &reading.commands {
            let name = command.argv.first().map_or("", |word| word.likely());
            let mut words = command.argv.iter().skip(1);
            if matches!(base_name(name), "cd" | "pushd" | "popd" | "chdir") {
                match words.find(|word| !word.likely().starts_with('-') || word.likely() == "-") {
                    Some(word) => directories.enter(word.literal, word.likely(), roots),
                    None if base_name(name) == "cd" => directories.enter(true, "~", roots),
                    None => directories.certain = false,
                }
            } else {
                while let Some(word) = words.next() {
                    let word = word.likely();
                    if matches!(word, "-C" | "--directory" | "--chdir" | "--work-tree") {
                        let Some(to) = words.next() else { break };
                        directories.enter(to.literal, to.likely(), roots);
                    } else if let Some(to) = word
                        .strip_prefix("--directory=")
                        .or_else(|| word.strip_prefix("--chdir="))
                        .or_else(|| word.strip_prefix("--work-tree="))
                    {
                        directories.enter(true, to, roots);
                    }
                }
            }
        }
        directories
    }

    fn resolved(&self) -> Vec<PathBuf> {
        self.paths.iter().map(|path| resolve(path)).collect()
    }

    fn enter(&mut self, literal: bool, text: &str, roots: &Roots) {
        let expanded = expand(text, roots.home.as_deref(), None);
        match expanded {
            Some(path) if literal || text.starts_with('~') => {
                let found: Vec<PathBuf> = self.paths.iter().map(|base| base.join(&path)).collect();
                for path in found {
                    if !self.paths.contains(&path) {
                        self.paths.push(path);
                    }
                }
            }
            _ => self.certain = false,
        }
        self.certain &= text != "-" && self.paths.len() <= MOST_DIRECTORIES;
        self.paths.truncate(MOST_DIRECTORIES);
    }
}

/// What ends a command or the text of one inside an argument.
const SEPARATORS: [char; 14] =
    [';', '|', '&', '\n', '(', ')', '{', '}', '\'', '"', '`', '<', '>', ','];

/// Every command that could begin at any of the words.
fn suffixes(words: &[&str], found: &mut Vec<Vec<String>>) {
    for start in 0..words.len() {
        if found.len() >= MOST_HIDDEN_COMMANDS {
            return;
        }
        let end = words.len().min(start + MOST_HIDDEN_WORDS);
        found.push(words[start..end].iter().map(|word| (*word).to_owned()).collect());
    }
}

/// The path with its home directory, or nothing if it has parts only known at run time.
fn expand(text: &str, home: Option<&Path>, cwd: Option<&Path>) -> Option<String> {
    let bare = text.replace(['"', '\''], "");
    let under = |root: Option<&Path>, rest: &str| {
        root.map(|root| format!("{}{rest}", root.display())).filter(|path| !path.contains('$'))
    };
    for name in ["~", "$HOME", "${HOME}"] {
        match bare.strip_prefix(name) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => return under(home, rest),
            _ => {}
        }
    }
    for name in ["$PWD", "${PWD}"] {
        match bare.strip_prefix(name) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => return under(cwd, rest),
            _ => {}
        }
    }
    if bare.starts_with('~') || bare.contains(['$', '`']) {
        return None;
    }
    // Quotes that are part of a name are rare; with them the name itself is meant.
    Some(text.to_owned())
}

/// Whether the targets of such effects are paths.
fn is_path(kind: Kind) -> bool {
    !matches!(kind, Kind::Network | Kind::Publish | Kind::Install | Kind::Signal)
}

/// The last name of a program's path.
pub(crate) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
