//! One rule, and how it fits a command.
//!
//! A rule for `deny` or `ask` fits if anything the command may be fits: it looks at every possible
//! reading. A rule for `allow` never fits a command as a whole. It covers single effects, and only
//! those it certainly fits; a command is allowed when all its effects are covered. So
//! `git status && rm x` is not allowed by a rule for `git status`.

use std::path::Path;

use regex::Regex;
use umbo_command::{Expansion, Kind, Risk, SimpleCommand, Word};

use crate::approval::Shown;
use crate::decision::Decision;
use crate::glob;
use crate::place::{Roots, resolve};
use crate::sandbox::RuleSandbox;
use crate::subject::{LocatedEffect, PathCandidates, Subject, base_name};

/// A rule. All the conditions it has must hold.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its name, or its line.
    pub name: String,
    /// What it decides.
    pub decision: Decision,
    /// Why, for the model to read.
    pub reason: String,
    /// The line it stands on, counted from 1; 0 if it is in no file.
    pub line: usize,
    pub(crate) argv: Vec<WordPattern>,
    pub(crate) regex: Option<TextPattern>,
    pub(crate) effects: Vec<Kind>,
    pub(crate) paths: Vec<String>,
    pub(crate) recipes: Vec<String>,
    pub(crate) hosts: Vec<String>,
    /// For `allow` the worst it covers; else the least it concerns.
    pub(crate) risk: Option<Risk>,
    /// For an approved prefix: what the approved command did.
    pub(crate) shown: Option<Shown>,
    /// The sandbox of the commands it is about.
    pub(crate) sandbox: Option<RuleSandbox>,
}

/// One place in a pattern of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WordPattern {
    /// One word, by any of these patterns.
    One(Vec<String>),
    /// Any number of words.
    Many,
}

/// A regular expression, to be found anywhere or to be all there is.
#[derive(Debug, Clone)]
pub(crate) struct TextPattern {
    pub(crate) anywhere: Regex,
    pub(crate) whole: Regex,
}

impl Rule {
    /// A rule that allows commands that begin with these words and do no more than what was shown.
    pub fn allow_prefix(name: &str, words: &[String], shown: Shown) -> Self {
        Self {
            name: name.to_owned(),
            decision: Decision::Allow,
            reason: format!("`{}` was approved.", words.join(" ")),
            line: 0,
            argv: words.iter().map(|word| WordPattern::One(vec![word.clone()])).collect(),
            regex: None,
            effects: Vec::new(),
            paths: Vec::new(),
            recipes: Vec::new(),
            hosts: Vec::new(),
            risk: Some(Risk::Dangerous),
            shown: Some(shown),
            sandbox: None,
        }
    }

    /// Makes paths that are not absolute those of a directory.
    pub(crate) fn place_in(&mut self, directory: &Path) {
        let directory = resolve(directory);
        for pattern in &mut self.paths {
            if !pattern.starts_with(['/', '~', '{']) {
                let below = pattern.strip_prefix("./").unwrap_or(pattern);
                *pattern = format!("{}/{below}", directory.display());
            }
        }
    }

    /// Whether a rule for `deny` or `ask` concerns the command.
    pub(crate) fn concerns(&self, subject: &Subject<'_>) -> bool {
        self.risk.is_none_or(|least| subject.risk() >= least)
            && (self.argv.is_empty() || self.possible_words(subject))
            && self.regex.as_ref().is_none_or(|regex| {
                regex.anywhere.is_match(subject.text)
                    || subject
                        .reading
                        .possible
                        .iter()
                        .any(|argv| regex.anywhere.is_match(&argv.join(" ")))
            })
            && (self.recipes.is_empty() || self.fits_recipe(subject))
            && (!self.looks_at_effects()
                || subject
                    .located_effects
                    .iter()
                    .any(|located| self.possible_effect(subject, located))
                || (self.is_about_hosts_only() && self.possible_host_word(subject)))
    }

    /// Whether a rule for `allow` certainly covers one effect.
    pub(crate) fn covers(&self, subject: &Subject<'_>, located: &LocatedEffect<'_>) -> bool {
        if self.decision != Decision::Allow || located.risk > self.risk.unwrap_or(Risk::Unknown) {
            return false;
        }
        if !self.recipes.is_empty() && !self.fits_recipe(subject) {
            return false;
        }
        if !self.argv.is_empty() || self.regex.is_some() {
            let authors = subject.authors(located.effect);
            if authors.is_empty() || !authors.iter().all(|author| self.exact_words(author)) {
                return false;
            }
        }
        // An argument only known at run time may be an option.
        if located.effect.kind == Kind::Unknown && !subject.is_literal(located.effect) {
            return false;
        }
        self.shown.as_ref().is_none_or(|shown| shown.covers(subject, located))
            && (self.effects.is_empty() || self.effects.contains(&located.effect.kind))
            && (self.hosts.is_empty() || self.exact_host(located))
            && (self.paths.is_empty() || self.exact_path(subject, located))
    }

    /// Whether it keeps paths from every reader.
    pub(crate) fn hides(&self) -> bool {
        self.decision > Decision::Allow
            && !self.paths.is_empty()
            && (self.effects.is_empty() || self.effects.contains(&Kind::Read))
            && self.argv.is_empty()
            && self.regex.is_none()
            && self.recipes.is_empty()
            && self.hosts.is_empty()
            && self.risk.is_none_or(|least| least == Risk::ReadOnly)
    }

    /// Its path patterns, absolute.
    pub(crate) fn absolute_paths(&self, roots: &Roots) -> Vec<String> {
        self.paths.iter().filter_map(|pattern| absolute(pattern, roots)).collect()
    }

    fn looks_at_effects(&self) -> bool {
        !(self.effects.is_empty() && self.paths.is_empty() && self.hosts.is_empty())
    }

    fn is_about_hosts_only(&self) -> bool {
        !self.hosts.is_empty() && self.effects.is_empty() && self.paths.is_empty()
    }

    fn fits_recipe(&self, subject: &Subject<'_>) -> bool {
        subject
            .recipe
            .is_some_and(|name| self.recipes.iter().any(|pattern| glob::matches(pattern, name)))
    }

    fn possible_words(&self, subject: &Subject<'_>) -> bool {
        let names_a_path = matches!(self.argv.first(), Some(WordPattern::One(names)) if names.iter().any(|name| name.contains('/')));
        subject.reading.possible.iter().chain(&subject.hidden).any(|argv| {
            let mut first = argv.first().map_or("", String::as_str);
            if !names_a_path {
                first = base_name(first);
            }
            // Most rules are about another program.
            if let Some(WordPattern::One(names)) = self.argv.first()
                && !names.iter().any(|name| glob::matches(name, first))
            {
                return false;
            }
            let mut words: Vec<&str> = argv.iter().map(String::as_str).collect();
            words.iter_mut().take(1).for_each(|word| *word = first);
            fits(&self.argv, &words, Skipping::Options)
        })
    }

    fn exact_words(&self, command: &SimpleCommand) -> bool {
        let words = command.exact_prefix();
        let by_words = self.argv.is_empty() || fits(&self.argv, &words, Skipping::Nothing);
        let by_text = self.regex.as_ref().is_none_or(|regex| {
            let all = words.len() == command.argv.len();
            all && regex.whole.is_match(&words.join(" "))
        });
        by_words && by_text && command.argv.iter().all(is_operand_or_known)
    }

    fn possible_effect(&self, subject: &Subject<'_>, located: &LocatedEffect<'_>) -> bool {
        (self.effects.is_empty() || self.effects.contains(&located.effect.kind))
            && (self.hosts.is_empty() || self.exact_host(located))
            && (self.paths.is_empty()
                || located.place.iter().chain(&located.guesses).any(|candidates| {
                    self.possible_path(
                        candidates,
                        located.effect.kind == Kind::Delete,
                        subject.roots,
                    )
                }))
    }

    fn possible_path(&self, candidates: &PathCandidates, removes: bool, roots: &Roots) -> bool {
        let candidates = || candidates.written.iter().chain(&candidates.resolved);
        self.paths.iter().filter_map(|pattern| absolute(pattern, roots)).any(|pattern| {
            candidates().any(|path| {
                let text = path.to_string_lossy();
                // Who removes a directory removes what the pattern protects in it.
                glob::path_matches(&pattern, &text)
                    || (text.contains(['*', '?', '[', '{']) && glob::may_meet(&pattern, &text))
                    || (removes
                        && std::path::Path::new(&glob::literal_base(&pattern)).starts_with(path))
            })
        })
    }

    fn exact_path(&self, subject: &Subject<'_>, located: &LocatedEffect<'_>) -> bool {
        let Some(candidates) = &located.place else {
            return subject.is_named_elsewhere(located.effect);
        };
        let patterns: Vec<String> =
            self.paths.iter().filter_map(|pattern| absolute(pattern, subject.roots)).collect();
        candidates.certain
            && candidates.resolved.iter().all(|path| {
                let text = path.to_string_lossy();
                patterns.iter().any(|pattern| glob::path_matches(pattern, &text))
            })
    }

    fn exact_host(&self, located: &LocatedEffect<'_>) -> bool {
        matches!(located.effect.kind, Kind::Network | Kind::Publish)
            && located.effect.target.as_deref().is_some_and(|target| self.fits_host(target))
    }

    fn fits_host(&self, target: &str) -> bool {
        let host = host_of(target).to_ascii_lowercase();
        self.hosts.iter().any(|pattern| glob::matches(&pattern.to_ascii_lowercase(), &host))
    }

    /// Any word that is an address, for hosts that no effect names.
    fn possible_host_word(&self, subject: &Subject<'_>) -> bool {
        let words = subject.reading.possible.iter().flatten();
        words.filter(|word| word.contains("://")).any(|word| self.fits_host(word))
    }
}

/// Whether a word is known, or is certainly not an option: an argument only known at run time may be one.
fn is_operand_or_known(word: &Word) -> bool {
    let names = word.expansions.iter().all(|e| matches!(e, Expansion::Glob | Expansion::Tilde));
    word.literal || (names && !word.text.starts_with(['-', '*', '?', '[', '"', '\'']))
}

/// The host in `user@host:path`, `scheme://user@host:port/path`, or a bare host.
pub fn host_of(text: &str) -> &str {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let rest = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let rest = rest.rsplit('@').next().unwrap_or(rest);
    rest.split(':').next().unwrap_or(rest)
}

/// A path pattern made absolute; `None` if it is about a root that was not given.
fn absolute(pattern: &str, roots: &Roots) -> Option<String> {
    let under = |root: Option<&std::path::Path>, rest: &str| {
        root.map(|root| format!("{}{rest}", root.display()))
    };
    if let Some(rest) = pattern.strip_prefix('~') {
        return under(roots.home.as_deref(), rest);
    }
    if let Some(rest) = pattern.strip_prefix("{config}") {
        return under(roots.config.as_deref(), rest);
    }
    if let Some(rest) = pattern.strip_prefix("{state}") {
        return under(roots.state.as_deref(), rest);
    }
    if pattern.starts_with('/') {
        return Some(pattern.to_owned());
    }
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    under(Some(&roots.project), &format!("/{pattern}"))
}

/// What may stand between the words of a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Skipping {
    Nothing,
    /// Options and a value after each: `git -C x push` is `git push` to a deny rule.
    Options,
}

/// Whether a command begins as the pattern says. Every pair of positions is looked at once.
fn fits(pattern: &[WordPattern], words: &[&str], skipping: Skipping) -> bool {
    let mut reachable = vec![false; words.len() + 1];
    reachable[0] = true;
    for (index, element) in pattern.iter().enumerate() {
        if skipping == Skipping::Options && index > 0 {
            for at in 0..words.len() {
                if reachable[at] && words[at].starts_with('-') {
                    reachable[at + 1] = true;
                    if at + 2 <= words.len() {
                        reachable[at + 2] = true;
                    }
                }
            }
        }
        let mut next = vec![false; words.len() + 1];
        match element {
            WordPattern::Many => {
                let first = reachable.iter().position(|at| *at).unwrap_or(words.len() + 1);
                next.iter_mut().skip(first).for_each(|at| *at = true);
            }
            WordPattern::One(names) => {
                for at in 0..words.len() {
                    next[at + 1] =
                        reachable[at] && names.iter().any(|name| glob::matches(name, words[at]));
                }
            }
        }
        reachable = next;
    }
    reachable.contains(&true)
}

/// The words that an "always allow" may remember, or why there are none.
pub(crate) fn prefix_of(command: &SimpleCommand) -> Result<Vec<String>, &'static str> {
    let words: Vec<&str> = command.argv.iter().map_while(Word::exact).collect();
    let prefix = umbo_command::prefix(&words);
    let Some(program) = prefix.first() else {
        return Err("the program is only known at run time");
    };
    if prefix.iter().any(|word| word.contains(['*', '?'])) {
        return Err("a word of it would be a pattern in a rule");
    }
    // A rule for one of these alone would be a rule for everything.
    if prefix.len() == 1 && RUNS_ANYTHING.contains(&base_name(program)) {
        return Err("this program runs whatever it is told, so its name alone says nothing");
    }
    // `git -C x push` has no subcommand in the place where a rule would look for it.
    if prefix.len() < umbo_command::arity(&[program.as_str()]) && words.len() > prefix.len() {
        return Err("options stand before the words that name what it does");
    }
    Ok(prefix)
}

const RUNS_ANYTHING: [&str; 52] = [
    "sh", "bash", "dash", "zsh", "fish", "ksh", "nu", "pwsh", "busybox", "sudo", "doas", "su",
    "env", "nice", "nohup", "timeout", "setsid", "stdbuf", "time", "command", "builtin", "exec",
    "eval", "source", ".", "xargs", "parallel", "find", "watch", "ssh", "python", "python3",
    "node", "deno", "perl", "ruby", "php", "lua", "awk", "gawk", "sed", "rm", "dd", "make",
    "docker", "kubectl", "chroot", "unshare", "script", "strace", "gdb", "umbo",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn one(names: &[&str]) -> WordPattern {
        WordPattern::One(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn words_are_a_prefix_and_options_hide_nothing_from_a_deny_rule() {
        let pattern = [one(&["git"]), one(&["push", "fetch"])];
        assert!(fits(&pattern, &["git", "push", "origin"], Skipping::Nothing));
        assert!(!fits(&pattern, &["git", "-C", "x", "push"], Skipping::Nothing));
        assert!(fits(&pattern, &["git", "-C", "x", "push"], Skipping::Options));
        assert!(fits(&pattern, &["git", "--no-pager", "push"], Skipping::Options));
        assert!(!fits(&pattern, &["git", "log", "push"], Skipping::Options));
        assert!(!fits(&pattern, &["git"], Skipping::Options));
    }

    #[test]
    fn two_stars_are_any_number_of_words() {
        let pattern = [one(&["umbo"]), WordPattern::Many, one(&["approve"])];
        for words in [&["umbo", "approve"][..], &["umbo", "--json", "--state-dir", "x", "approve"]]
        {
            assert!(fits(&pattern, words, Skipping::Nothing), "{words:?}");
        }
        assert!(!fits(&pattern, &["umbo", "jobs"], Skipping::Nothing));
    }

    #[test]
    fn hosts_are_found_in_addresses() {
        for text in ["a.example", "git@a.example:x/y", "https://u:p@a.example:8080/x?y"] {
            assert_eq!(host_of(text), "a.example", "{text}");
        }
    }
}
