//! Why a verdict is what it is, command by command, and what would make it less.

use crate::hash::HashSet;
use std::rc::Rc;

use serde::Serialize;

use crate::effect::Kind;
use crate::reading::{Reading, SimpleCommand};
use crate::risk::Risk;
use crate::shell::Shell;
use crate::table;
use crate::walk::Walk;
use crate::word::Word;
use crate::{Given, walk_twice};

/// A verdict with its reasons.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The verdict.
    pub reading: Reading,
    /// Each command of the text.
    pub commands: Vec<Explained>,
}

/// One command, and why it is judged as it is.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// The command.
    pub command: SimpleCommand,
    /// The verdict on it alone.
    pub risk: Risk,
    /// The row of the tables that it was looked up in, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// What it would do, with the words that say so.
    pub because: Vec<Because>,
    /// Words without which the verdict would be less.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub less: Vec<Less>,
}

/// One reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Because {
    /// The part of the command that says so.
    pub what: String,
    /// What that does.
    pub does: String,
    /// Its nature.
    pub kind: Kind,
    /// How bad it is.
    pub risk: Risk,
}

/// A word that could be left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Less {
    /// The word.
    pub without: String,
    /// The verdict then.
    pub risk: Risk,
}

/// Words of a command that are tried without.
const MOST_WORDS: usize = 32;
/// So many bytes are judged again without one of their words; what is longer is explained without
/// saying what would make it less. It keeps the cost linear in the text.
const MOST_TRIED_BYTES: usize = 1 << 14;

/// Reads a command and says of each part why.
///
/// ```
/// use umbo_command::{Risk, Shell, explain};
/// let explained = explain("sort -o out in", Shell::Bash);
/// assert_eq!(explained.commands[0].row.as_deref(), Some("sort"));
/// assert_eq!(explained.commands[0].less[0].without, "-o");
/// assert_eq!(explained.commands[0].less[0].risk, Risk::ReadOnly);
/// ```
pub fn explain(text: &str, shell: Shell) -> Explanation {
    explain_counted(text, shell).0
}

/// How much work an explanation was: for tests that the work grows with the text and not faster.
#[doc(hidden)]
pub fn explain_steps(text: &str, shell: Shell) -> usize {
    explain_counted(text, shell).1
}

/// An explanation, and how much work it was.
fn explain_counted(text: &str, shell: Shell) -> (Explanation, usize) {
    let reading = crate::read(text, shell);
    let walk = walk_twice(text, shell, Given::default());
    let mut effort = Effort { bytes_to_try: MOST_TRIED_BYTES, steps: walk.steps };
    let explain_one = |command| explained(&walk, command, &mut effort);
    let commands = reading.commands.iter().map(explain_one).collect();
    (Explanation { reading, commands }, effort.steps)
}

/// What an explanation may still cost, and what it has cost.
struct Effort {
    /// So many bytes may still be tried without one of their words.
    bytes_to_try: usize,
    steps: usize,
}

fn explained(walk: &Walk, command: &SimpleCommand, effort: &mut Effort) -> Explained {
    let (risk, because) = judged(walk, &command.argv, &command.via, effort);
    let mut less = Vec::new();
    let bytes = command.argv.iter().map(|word| word.text.len() + 1).sum::<usize>();
    // Nothing is less than reading.
    let most = if risk == Risk::ReadOnly { 0 } else { MOST_WORDS };
    for at in 1..command.argv.len().min(most) {
        // An option alone, and an option with the word after it.
        let option = command.argv[at].starts_with("-");
        for count in 1..=if option { 2 } else { 1 } {
            let Some(taken) = command.argv.get(at..at + count) else { continue };
            let Some(left) = effort.bytes_to_try.checked_sub(bytes) else { continue };
            effort.bytes_to_try = left;
            let rest: Vec<Word> = command
                .argv
                .iter()
                .enumerate()
                .filter(|(index, _)| !(at..at + count).contains(index))
                .map(|(_, word)| word.clone())
                .collect();
            let (without, _) = judged(walk, &rest, &command.via, effort);
            if without < risk && !less.iter().any(|one: &Less| one.risk <= without) {
                let words: Vec<&str> = taken.iter().map(|word| word.text.as_str()).collect();
                less.push(Less { without: words.join(" "), risk: without });
            }
        }
    }
    less.sort_by_key(|one| one.risk);
    Explained { command: command.clone(), risk, row: row_of(&command.argv), because, less }
}

/// The verdict on one command, in the state of the text it is part of.
fn judged(walk: &Walk, argv: &[Word], via: &[String], effort: &mut Effort) -> (Risk, Vec<Because>) {
    let mut probe = Walk::new(walk.shell, Rc::clone(&walk.known));
    // Of the functions of the text those that the command may call.
    for name in argv.iter().filter_map(Word::exact).filter(|name| walk.functions.has(name)) {
        probe.functions.define(name);
    }
    probe.judge(argv, via);
    effort.steps += probe.steps;
    let mut because: Vec<Because> = Vec::new();
    let mut seen = HashSet::default();
    for finding in &probe.found {
        if !seen.insert((finding.what.as_str(), finding.does.phrase)) {
            continue;
        }
        because.push(Because {
            what: finding.what.clone(),
            does: finding.does.phrase.to_owned(),
            kind: finding.does.kind,
            risk: finding.does.risk,
        });
    }
    (Reading::of(probe).risk, because)
}

/// The longest name of the tables that the command begins with.
fn row_of(argv: &[Word]) -> Option<String> {
    let words: Vec<&str> = argv.iter().map_while(Word::exact).take(4).collect();
    let first = words.first().and_then(|word| crate::judge::program_name(word))?;
    let named = |count: usize| {
        let mut name = vec![first];
        name.extend(&words[1..count]);
        name.join(" ")
    };
    (1..=words.len()).rev().map(named).find(|name| table::find(name).is_some())
}
