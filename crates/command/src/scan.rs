//! Over-approximation: everything in a text that could be a command.
//!
//! Used only where something is not understood, and only to raise a verdict or to match deny rules.
//! Quotes and backslashes are dropped, every separator and bracket ends a command, and a command may
//! begin at any word.

use std::rc::Rc;

use crate::judge::program_name;
use crate::risk::Risk;
use crate::shell::Shell;
use crate::walk::Walk;
use crate::word::Word;
use crate::{table, wrapper};

/// Text beyond this is not scanned; such a text is unknown anyway.
const MAX_SCANNED: usize = 16 * 1024;
/// More possible commands than this are not listed.
const MAX_POSSIBLE: usize = 512;
/// More of them than this are not judged.
const MAX_JUDGED: usize = 256;
/// Arguments kept of each.
const MAX_WORDS: usize = 24;
/// Arguments of one program that are looked at.
const MAX_ARGUMENTS: usize = 64;

/// What ends a command when the text is a shell's.
const SEPARATORS: [char; 12] = [';', '|', '&', '\n', '(', ')', '{', '}', '`', '<', '>', '!'];
/// What else may stand before a command that is the value of something: `ProxyCommand=rm`, `EXEC:rm`.
const BEFORE_VALUES: [char; 4] = ['=', ':', '[', ']'];

/// Every command the text may contain.
pub(crate) fn possible(text: &str) -> Vec<Vec<String>> {
    let mut possible = Vec::new();
    for plain in plain(text) {
        for segment in plain.split(SEPARATORS) {
            let words: Vec<&str> = segment.split_whitespace().collect();
            for start in 0..words.len() {
                if possible.len() >= MAX_POSSIBLE {
                    return possible;
                }
                let argv = &words[start..words.len().min(start + MAX_WORDS)];
                possible.push(argv.iter().map(|&word| word.to_owned()).collect());
            }
        }
    }
    possible
}

/// The text without what only quotes, and with blanks for what stands for them. If lines are
/// continued, also as they are then.
fn plain(text: &str) -> Vec<String> {
    let text = &text[..text.floor_char_boundary(MAX_SCANNED)];
    let bare = |text: &str| -> String {
        let text = text.replace("${IFS}", " ").replace("$IFS", " ");
        // A shell drops zero bytes of a script, wherever they are.
        text.chars().filter(|c| !matches!(c, '\'' | '"' | '\\' | '\0')).collect()
    };
    let continued = text.contains("\\\n").then(|| bare(&text.replace("\\\n", "")));
    std::iter::once(bare(text)).chain(continued).collect()
}

/// Notes the worst danger among the possible commands of a text.
pub(crate) fn dangers(walk: &mut Walk, text: &str) {
    if walk.probing || !walk.charge(text.len().min(MAX_SCANNED)) {
        return;
    }
    for plain in plain(text) {
        if dangers_in_plain(walk, &plain.replace(',', " ")) {
            return;
        }
    }
}

fn dangers_in_plain(walk: &mut Walk, plain: &str) -> bool {
    if crate::reader::sql::deletes_documents(plain) {
        walk.find(crate::reader::sql::DROPS, "code", "code that deletes from a database");
        return true;
    }
    if crate::outbound::is_reverse_shell(plain) {
        let does = crate::effect::Does {
            phrase: "gives a shell to another machine",
            ..crate::effect::LISTEN
        };
        walk.find(does, "code", "code that connects and runs a shell");
        return true;
    }
    let secret = |word: &&str| {
        let rooted = word.starts_with(['/', '~', '$']) || word.contains("/.");
        rooted && word.contains('/') && crate::path::is_secret(word)
    };
    let mut words = plain.split(|c: char| SEPARATORS.contains(&c) || c.is_whitespace());
    if let Some(word) = words.find(secret) {
        walk.find(crate::effect::SECRET, "code", format!("code with {word}"));
        return true;
    }
    let mut judged = 0;
    let ends_value = |c: char| SEPARATORS.contains(&c) || BEFORE_VALUES.contains(&c);
    for segment in plain.split(SEPARATORS).chain(plain.split(ends_value)) {
        let words: Vec<&str> = segment.split_whitespace().collect();
        for start in 0..words.len() {
            if !is_known(words[start]) {
                continue;
            }
            judged += 1;
            let argv = words[start..].iter().take(MAX_WORDS);
            let argv: Vec<Word> = argv.map(|&word| Word::literal(word)).collect();
            if danger(walk, &argv) {
                return true;
            }
            if judged >= MAX_JUDGED {
                return false;
            }
        }
    }
    false
}

/// Notes the dangers among what a program could run of its arguments.
pub(crate) fn dangers_in_arguments(walk: &mut Walk, argv: &[Word]) {
    if walk.probing {
        return;
    }
    for start in 0..argv.len().min(MAX_ARGUMENTS) {
        let word = argv[start].likely();
        if is_known(word) && !is_everyday_word(word) && danger(walk, &argv[start..]) {
            return;
        }
    }
    // A whole command may also hide in one argument.
    let hides = |word: &&Word| word.likely().contains([' ', '\t', '\n', ',', '$', '`']);
    for word in argv.iter().take(MAX_ARGUMENTS).filter(hides) {
        let text = word.likely();
        dangers(walk, text);
        // `-Orm`: an option with its value.
        if let Some(value) = text.strip_prefix('-').and_then(|rest| rest.get(1..)) {
            dangers(walk, value);
        }
    }
}

/// Programs whose names are as often the name of something else.
fn is_everyday_word(word: &str) -> bool {
    const WORDS: &str = "at batch init mount open start write mail install postgres nginx caddy redis-server httpd mongod mysqld service serve security age pass op keyring sops step act render transfer wall iw tc sv b2 mc sg say render route bridge port pkg dump restore hostname history lt skill fsck host link";
    WORDS.split(' ').any(|one| one == word)
}

/// Whether the tables say anything about a program of this name.
fn is_known(word: &str) -> bool {
    program_name(word).is_some_and(|name| {
        table::find(name).is_some() || wrapper::find(name).is_some() || Shell::named(name).is_some()
    })
}

/// Notes what is dangerous about a command that may be run; whether anything is.
pub(crate) fn danger(walk: &mut Walk, argv: &[Word]) -> bool {
    if !walk.charge(argv.iter().map(|word| word.text.len() + 8).sum()) {
        return false;
    }
    let mut probe = Walk::new(walk.shell, Rc::clone(&walk.known));
    (probe.steps, probe.budget) = (walk.steps, walk.budget);
    probe.directory = walk.directory.clone();
    probe.depth = walk.depth + 1;
    probe.probing = true;
    probe.input = walk.input.clone();
    probe.fed.clone_from(&walk.fed);
    probe.judge(argv, &[]);
    walk.steps = probe.steps;
    let dangers = probe.found.into_iter().filter(|finding| finding.does.risk == Risk::Dangerous);
    let before = walk.found.len();
    walk.found.extend(dangers.take(1));
    walk.found.len() > before
}
