//! Measures the readings against commands that others wrote: `corpora DIR [FAILURES]`.
//!
//! DIR holds files of JSON lines, one command each, with the verdict that its collector expects or with
//! a description of what it does. For each file a row says how often which verdict was given; what
//! contradicts the collection goes to the file FAILURES, a line each, to be read by a person: the
//! collections are wrong in places too. `corpus/answers.txt` has an answer for each class of
//! contradictions in which the reading stays as it is. A contradiction about danger without an answer
//! ends the run with an error.

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;
use umbo_command::{Risk, Shell, read};

/// What a collection says of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    /// It only looks.
    Reads,
    /// It is not to be stopped, but may change something.
    Harmless,
    /// It changes something or is to be asked about.
    Acts,
    /// It is to be stopped.
    Danger,
    /// Nothing certain.
    Unsaid,
}

impl Label {
    fn name(self) -> &'static str {
        match self {
            Self::Reads => "only looks",
            Self::Harmless => "is harmless",
            Self::Acts => "acts",
            Self::Danger => "is dangerous",
            Self::Unsaid => "says nothing",
        }
    }
}

/// The answers: for each class of contradictions, why the reading stays as it is. A line has the
/// collections, the fault, a shape of commands (`*` is any text; after a `~` a shape of what the
/// collection says) and the reason, separated by ` | `.
const ANSWERS: &str = include_str!("../corpus/answers.txt");

struct Answer {
    collections: &'static str,
    faults: &'static str,
    shape: &'static str,
}

fn answers() -> Vec<Answer> {
    let lines = ANSWERS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parts = lines.filter_map(|line| {
        let mut parts = line.splitn(4, " | ");
        let (collections, faults, shape) = (parts.next()?, parts.next()?, parts.next()?);
        parts.next().map(|_reason| Answer { collections, faults, shape })
    });
    parts.collect()
}

/// Whether a text has a shape in which `*` is any text.
fn has_shape(shape: &str, text: &str) -> bool {
    let Some((head, rest)) = shape.split_once('*') else { return shape == text };
    let Some(text) = text.strip_prefix(head) else { return false };
    rest.is_empty()
        || (0..=text.len()).any(|at| text.is_char_boundary(at) && has_shape(rest, &text[at..]))
}

impl Answer {
    fn answers(&self, corpus: &str, fault: &str, command: &str, said: &str) -> bool {
        let among = |list: &str, one: &str| list == "*" || list.split(' ').any(|it| it == one);
        let fits = match self.shape.strip_prefix('~') {
            Some(shape) => has_shape(shape, said),
            None => has_shape(self.shape, command),
        };
        among(self.collections, corpus) && among(self.faults, fault) && fits
    }
}

/// What a description begins with where the command only looks.
const LOOKS: &str = "list show display print check search view get find count query describe compare calculate watch monitor inspect read examine verify validate";
/// And where it does more.
const CHANGES: &str = "add append apply archive attach back build change clean clear clone commit compile compress configure connect convert copy create decompress decrypt delete deploy detach disable download edit enable encrypt erase execute export extract fetch fix flush force format generate import initialize insert install interactively kill launch link load lock log make mark merge modify mount move open overwrite pack patch perform publish pull push put reboot rebuild recover record recursively-delete redo refresh register reload remove rename replace reset resize restart restore resume revert rotate run save schedule send serve set shutdown sign spawn split stage start stop submit switch sync synchronize tag terminate toggle truncate undo unlock unmount unpack update upgrade upload use write";
/// Words in a description that say that a look is more than one.
const BUT: &str = "save saving write writing store edit editing modify delete deleting remove removing update updating browser interactive interactively upload create creating execute executing file:  kill install downloading download copy copying clipboard replace replacing exec change changing overwrite record start run running open opening set setting append prompt sudo root password secret key token editor";

fn label(corpus: &str, row: &Value) -> Label {
    let expected = row["expected"].as_str().unwrap_or_default();
    match (corpus, expected.to_ascii_lowercase().as_str()) {
        ("dippy", "approve") => Label::Reads,
        ("dippy", "ask") => Label::Acts,
        (_, "allow" | "none") => Label::Harmless,
        (_, "") => match row["function"].as_str() {
            Some("file-read") => Label::Unsaid,
            Some(_) => Label::Acts,
            None => described(row["description"].as_str().unwrap_or_default()),
        },
        _ => Label::Danger,
    }
}

fn described(text: &str) -> Label {
    let lower = text.to_ascii_lowercase();
    let mut words =
        lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let among = |list: &str, word: &str| list.split(' ').any(|one| one == word);
    if among(LOOKS, first) && !words.any(|word| among(BUT, word)) {
        Label::Reads
    } else if among(CHANGES, first) {
        Label::Acts
    } else {
        Label::Unsaid
    }
}

/// What a verdict has against a label.
fn fault(label: Label, risk: Risk) -> Option<&'static str> {
    match (label, risk) {
        (Label::Acts | Label::Danger, Risk::ReadOnly) => Some("UNSAFE"),
        (Label::Danger, Risk::Mutate | Risk::Unknown) => Some("missed"),
        (Label::Reads | Label::Harmless, Risk::Dangerous) => Some("alarm"),
        (Label::Reads, Risk::Mutate | Risk::Unknown) => Some("unrecognised"),
        _ => None,
    }
}

/// How the commands with one label were read.
#[derive(Clone, Copy, Default)]
struct Tally {
    risks: [usize; 4],
    faults: usize,
    answered: usize,
}

/// Measures one collection; how many contradictions about danger have no answer.
fn measure(
    path: &Path,
    answers: &[Answer],
    failures: &mut String,
) -> Result<usize, Box<dyn Error>> {
    let corpus = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let mut table: BTreeMap<Label, Tally> = BTreeMap::new();
    let mut open = 0;
    for line in fs::read_to_string(path)?.lines() {
        let row: Value = serde_json::from_str(line)?;
        let Some(command) = row["command"].as_str() else { continue };
        let label = label(corpus, &row);
        let reading = read(command, Shell::Bash);
        let tally = table.entry(label).or_default();
        tally.risks[reading.risk as usize] += 1;
        if let Some(fault) = fault(label, reading.risk) {
            let said = [&row["expected"], &row["function"], &row["description"]];
            let said = said.iter().find_map(|said| said.as_str()).unwrap_or_default();
            tally.faults += 1;
            let plain = command.split_whitespace().collect::<Vec<_>>().join(" ");
            let answered = answers.iter().any(|it| it.answers(corpus, fault, &plain, said));
            tally.answered += usize::from(answered);
            open += usize::from(!answered && fault != "unrecognised");
            let answer = if answered { "answered" } else { "open" };
            let fields =
                [fault, corpus, reading.risk.as_str(), command, said, &reading.reason, answer];
            let fields = fields.map(|field| field.replace('\t', " ").replace('\n', "␤"));
            writeln!(failures, "{}", fields.join("\t"))?;
        }
    }
    for (label, Tally { risks: [read_only, mutate, unknown, dangerous], faults, answered }) in table
    {
        let all = read_only + mutate + unknown + dangerous;
        let name = label.name();
        // Of those without an answer: how many are read as the collection says.
        let agree = (all - faults) * 1000 / (all - answered).max(1);
        println!(
            "| {corpus} | {name} | {all} | {read_only} | {mutate} | {unknown} | {dangerous} | {answered} | {}.{} % |",
            agree / 10,
            agree % 10
        );
    }
    Ok(open)
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [directory, rest @ ..] = &words[..] else {
        return Err("corpora DIR [FAILURES]".into());
    };
    let mut files: Vec<_> =
        fs::read_dir(directory)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    println!(
        "| collection | its label | count | read_only | mutate | unknown | dangerous | answered | agree |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|");
    let answers = answers();
    let mut failures = String::new();
    let mut open = 0;
    for file in files {
        open += measure(&file, &answers, &mut failures)?;
    }
    if let Some(path) = rest.first() {
        fs::write(path, failures)?;
    }
    if open > 0 {
        return Err(format!("{open} contradictions about danger have no answer").into());
    }
    Ok(())
}
