//! Why a verdict is what it is, command by command, and what would make it less.

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
    let reading = crate::read(text, shell);
    let walk = walk_twice(text, shell, Given::default());
    let commands = reading.commands.iter().map(|command| explained(&walk, command)).collect();
    Explanation { reading, commands }
}

fn explained(walk: &Walk, command: &SimpleCommand) -> Explained {
    let (risk, because) = judged(walk, &command.argv, &command.via);
    let mut less = Vec::new();
    for at in 1..command.argv.len().min(MOST_WORDS) {
        // An option alone, and an option with the word after it.
        let option = command.argv[at].starts_with("-");
        for count in 1..=if option { 2 } else { 1 } {
            let Some(taken) = command.argv.get(at..at + count) else { continue };
            let rest: Vec<Word> = command
                .argv
                .iter()
                .enumerate()
                .filter(|(index, _)| !(at..at + count).contains(index))
                .map(|(_, word)| word.clone())
                .collect();
            let (without, _) = judged(walk, &rest, &command.via);
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
fn judged(walk: &Walk, argv: &[Word], via: &[String]) -> (Risk, Vec<Because>) {
    let mut probe = Walk::new(walk.shell, Rc::clone(&walk.known));
    probe.functions = walk.functions.clone();
    probe.judge(argv, via);
    let mut because: Vec<Because> = Vec::new();
    for finding in &probe.found {
        let one = Because {
            what: finding.what.clone(),
            does: finding.does.phrase.to_owned(),
            kind: finding.does.kind,
            risk: finding.does.risk,
        };
        if !because.contains(&one) {
            because.push(one);
        }
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
