//! The answer: what a command would do, and how sure we are.

use crate::hash::HashSet;

use serde::{Deserialize, Serialize};

use crate::effect::{Effect, Kind, LISTEN};
use crate::path;
use crate::risk::Risk;
use crate::supposition::Supposed;
use crate::walk::{Finding, Walk};
use crate::word::Word;

/// One program that would be run, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimpleCommand {
    /// The program and its arguments, without redirections and assignments.
    pub argv: Vec<Word>,
    /// The wrappers it is run through, outermost first (`sudo`, `xargs`, `bash -c`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<String>,
}

impl SimpleCommand {
    /// The leading arguments that are exactly known: what an allow rule may be matched against.
    pub fn exact_prefix(&self) -> Vec<&str> {
        self.argv.iter().map_while(Word::exact).collect()
    }

    /// The arguments as they most likely are: what a deny rule is matched against.
    pub fn likely_argv(&self) -> Vec<String> {
        self.argv.iter().map(|word| word.likely().to_owned()).collect()
    }
}

/// What a command would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The verdict: the worst of everything found.
    pub risk: Risk,
    /// The part of the command that decided it.
    pub matched: String,
    /// Whether everything that changes something is `mkdir touch mv cp rmdir ln chmod chown`.
    pub common_fs: bool,
    /// One sentence saying why.
    pub reason: String,
    /// What would be done, in the order found.
    pub effects: Vec<Effect>,
    /// What would be run, in the order found.
    pub commands: Vec<SimpleCommand>,
    /// Whether the text was understood completely.
    pub exact: bool,
    /// Every command the text may contain, for deny rules: the commands found, and where the text was
    /// not understood, everything in it that could be one.
    #[serde(skip)]
    pub possible: Vec<Vec<String>>,
    /// Whether something in it runs what it finds on standard input.
    #[serde(skip)]
    pub runs_input: bool,
    /// Files that would be run as scripts, as the text names them. Given their texts
    /// ([`crate::Given::files`]), a second reading says what is in them.
    #[serde(skip)]
    pub scripts: Vec<String>,
    /// What the verdict supposes of the directories that the command may run in. Who has them looks, and
    /// calls [`Reading::distrust`] if it is otherwise.
    #[serde(skip)]
    pub supposes: Vec<Supposed>,
}

/// The programs an `accept_edits` mode runs without asking.
const COMMON_FS: [&str; 8] = ["mkdir", "touch", "mv", "cp", "rmdir", "ln", "chmod", "chown"];

/// Whether the program is one of the everyday file tools.
pub(crate) fn is_common_fs(program: &str) -> bool {
    COMMON_FS.contains(&program)
}

impl Reading {
    /// A reading of something that is not understood at all.
    pub(crate) fn unknown(reason: &str) -> Self {
        Self {
            risk: Risk::Unknown,
            matched: String::new(),
            common_fs: false,
            reason: sentence(reason),
            effects: Vec::new(),
            commands: Vec::new(),
            exact: false,
            possible: Vec::new(),
            runs_input: false,
            scripts: Vec::new(),
            supposes: Vec::new(),
        }
    }

    /// The same after a look at the directory that shows that the verdict does not hold there.
    pub fn distrust(&mut self, reason: &str) {
        if self.risk < Risk::Unknown {
            self.risk = Risk::Unknown;
            self.common_fs = false;
            self.reason = sentence(reason.trim_end_matches('.'));
        }
        self.exact = false;
    }

    /// Draws the conclusion from a walk.
    pub(crate) fn of(mut walk: Walk) -> Self {
        code_from_elsewhere(&mut walk);
        let worst = walk.found.iter().rev().max_by_key(|finding| finding.does.risk).cloned();
        let found = worst.as_ref().map_or(Risk::ReadOnly, |finding| finding.does.risk);
        let risk = if walk.stop.is_some() { found.and(Risk::Unknown) } else { found };
        let (matched, reason) = match (worst, walk.stop) {
            (Some(worst), stop) if stop.is_none() || worst.does.risk >= Risk::Unknown => {
                (worst.what.clone(), describe(&worst, walk.commands.len()))
            }
            (_, Some(why)) => {
                (String::new(), sentence(&format!("{why}, so what it does is not certain")))
            }
            (_, None) => (String::new(), "Nothing is run.".to_owned()),
        };
        let changing: Vec<&Finding> =
            walk.found.iter().filter(|f| f.does.risk > Risk::ReadOnly).collect();
        let common_fs = risk == Risk::Mutate
            && !changing.is_empty()
            && changing.iter().all(|finding| is_common_fs(&finding.program));
        let possible = possible(&walk);
        let effects = effects(&walk.found);
        Self {
            risk,
            matched,
            common_fs,
            reason,
            effects,
            commands: walk.commands,
            exact: walk.stop.is_none(),
            possible,
            runs_input: walk.runs_input,
            scripts: walk.scripts,
            supposes: walk.supposes,
        }
    }
}

/// Code that comes over the network is run: nothing can be said about it, and everything is possible.
fn code_from_elsewhere(walk: &mut Walk) {
    if !walk.found.iter().any(|finding| finding.does.kind == Kind::Network) {
        return;
    }
    let written: HashSet<String> = walk
        .found
        .iter()
        .filter(|finding| finding.does.kind == Kind::Overwrite)
        .filter_map(|finding| finding.target.as_deref().map(path::normal))
        .collect();
    // What was fetched into a file is run from there.
    let fetched = |finding: &&Finding| {
        finding.does.risk == Risk::Unknown
            && finding.what.split(' ').any(|word| written.contains(&path::normal(word)))
    };
    let found = walk.found.iter().find(|finding| finding.foreign);
    let Some(run) = found.or_else(|| walk.found.iter().find(fetched)).cloned() else { return };
    let does = crate::effect::Does {
        kind: Kind::Execute,
        direction: None,
        phrase: "runs code from another machine",
        ..LISTEN
    };
    walk.found.push(Finding { does, ..run });
}

/// So many are compared one by one, which is quicker than a set.
const FEW_EFFECTS: usize = 16;

fn effects(found: &[Finding]) -> Vec<Effect> {
    let mut effects: Vec<Effect> = Vec::new();
    let mut seen: HashSet<Effect> = HashSet::default();
    for finding in found {
        let effect = Effect {
            kind: finding.does.kind,
            risk: finding.does.risk,
            target: finding.target.clone(),
            guess: finding.guess.clone(),
            direction: finding.does.direction,
            program: finding.program.clone(),
        };
        let is_new = if found.len() <= FEW_EFFECTS {
            !effects.contains(&effect)
        } else {
            seen.insert(effect.clone())
        };
        if is_new {
            effects.push(effect);
        }
    }
    effects
}

fn possible(walk: &Walk) -> Vec<Vec<String>> {
    let mut possible: Vec<Vec<String>> =
        walk.commands.iter().map(SimpleCommand::likely_argv).collect();
    for text in &walk.opaque {
        possible.extend(crate::scan::possible(text));
    }
    possible.dedup();
    possible
}

fn describe(worst: &Finding, commands: usize) -> String {
    if worst.does.risk == Risk::ReadOnly {
        return if commands > 1 {
            "Every command in it only reads.".to_owned()
        } else {
            format!("`{}` {}.", worst.what, worst.does.phrase)
        };
    }
    match &worst.target {
        Some(target) if !worst.what.contains(target.as_str()) => {
            format!("`{}` {} ({target}).", worst.what, worst.does.phrase)
        }
        _ => format!("`{}` {}.", worst.what, worst.does.phrase),
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), chars.as_str()),
        None => String::new(),
    }
}
