//! Reads a shell command and says what it would do, without running it.
//!
//! [`read`] parses the text with a real grammar, finds every simple command in it (in lists, pipelines,
//! substitutions, functions, here-documents, and inside wrappers such as `sudo`, `xargs` and
//! `bash -c`), looks each one up in tables of what programs do, and draws a conclusion: a [`Risk`], the
//! typed [`Effect`]s with their literal targets, and whether the text was understood completely.
//!
//! Two rules hold everywhere. *Allow only on an exact parse*: `read_only` is said only when every word
//! that matters was understood. *Deny on an over-approximation*: where the grammar gives up, everything
//! in the text that could be a command is still looked at, and offered in [`Reading::possible`].
//!
//! The library is pure: no I/O, no environment, no printing.

mod argv;
mod arity;
mod assignment;
mod condition;
pub mod corpus;
mod cursor;
mod disclosure;
mod effect;
mod expand;
mod explain;
mod foreign;
mod framework;
mod grammar;
mod hash;
mod help;
mod judge;
mod lexer;
mod look;
mod outbound;
mod output;
mod path;
#[doc(hidden)]
pub mod proof;
mod reader;
mod reading;
mod redirect;
mod risk;
mod row;
mod scan;
mod scope;
mod shell;
mod spec;
mod state;
mod supposition;
mod table;
pub mod tasks;
mod unfinished;
mod unwrap;
mod walk;
mod word;
mod wrapper;

pub use arity::{arity, prefix};
pub use effect::{Direction, Effect, Kind};
pub use explain::{Because, Explained, Explanation, Less, explain, explain_steps};
pub use reading::{Reading, SimpleCommand};
pub use risk::Risk;
pub use shell::Shell;
pub use supposition::{Supposed, Supposition, Tool};
pub use unfinished::is_unfinished;
pub use word::{Expansion, Word};

use std::rc::Rc;

use scope::{Value, Variables};
use walk::Walk;

/// Reads a command written for a shell.
///
/// ```
/// use umbo_command::{Risk, Shell, read};
/// assert_eq!(read("git log --oneline | head", Shell::Bash).risk, Risk::ReadOnly);
/// assert_eq!(read("find . -name '*.o' | xargs rm -f", Shell::Bash).risk, Risk::Dangerous);
/// assert_eq!(read("./run.sh", Shell::Bash).risk, Risk::Unknown);
/// ```
pub fn read(command: &str, shell: Shell) -> Reading {
    read_given(command, shell, Given::default())
}

/// What a command is given beside its text.
#[derive(Clone, Copy, Default)]
pub struct Given<'a> {
    /// The text on its standard input, where that is known.
    pub input: Option<&'a str>,
    /// Variables that are set for it.
    pub variables: &'a [(String, String)],
    /// Texts of files that it may run, by the names that [`Reading::scripts`] has for them.
    pub files: &'a [(String, String)],
}

impl std::fmt::Debug for Given<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Both may be secrets.
        let bytes = self.input.map(str::len);
        f.debug_struct("Given")
            .field("input", &bytes)
            .field("variables", &self.variables.len())
            .field("files", &self.files.len())
            .finish()
    }
}

/// Reads a command that is given something: a shell or an interpreter that has nothing else to run
/// runs what is on its standard input, and a variable may be a command or change what one does.
///
/// ```
/// use umbo_command::{Given, Risk, Shell, read_given};
/// let input = |text| Given { input: Some(text), ..Given::default() };
/// assert_eq!(read_given("sh", Shell::Posix, input("rm -rf x")).risk, Risk::Dangerous);
/// assert_eq!(read_given("wc -l", Shell::Posix, input("rm -rf x")).risk, Risk::ReadOnly);
/// let variables = [("WHAT".to_owned(), "rm -rf x".to_owned())];
/// let given = Given { variables: &variables, ..Given::default() };
/// assert_eq!(read_given("$WHAT", Shell::Posix, given).risk, Risk::Dangerous);
/// ```
pub fn read_given(command: &str, shell: Shell, given: Given<'_>) -> Reading {
    if command.trim().is_empty() {
        return Reading::unknown("the command is empty");
    }
    if command.len() > lexer::MAX_BYTES {
        return Reading::unknown("the text is too long");
    }
    Reading::of(walk_twice(command, shell, given))
}

/// How much work a reading was: for tests that the work grows with the text and not faster.
#[doc(hidden)]
pub fn steps(command: &str, shell: Shell) -> usize {
    walk_twice(command, shell, Given::default()).steps
}

fn walk_twice(command: &str, shell: Shell, given: Given<'_>) -> Walk {
    let budget = budget(command.len() + given.input.map_or(0, str::len));
    let first = walk(command, shell, Rc::default(), given, budget);
    if first.learned.is_empty() {
        return first;
    }
    // Variables were set: read again, knowing all values each of them may have.
    let left = budget.saturating_sub(first.steps);
    let mut second = walk(command, shell, Rc::new(first.learned), given, left);
    second.steps += first.steps;
    second
}

/// How much work a text of a length may be. A step is some 20 ns, so that the longest text is read in
/// some 30 ms or called unknown.
fn budget(bytes: usize) -> usize {
    STEPS_AT_LEAST + bytes.saturating_mul(STEPS_FOR_A_BYTE)
}

const STEPS_AT_LEAST: usize = 400_000;
const STEPS_FOR_A_BYTE: usize = 8;

/// Reads text that is typed into a running program, of which nobody knows what it is: never certain,
/// and dangerous if any part of it would be to a shell, an interpreter or a database.
pub fn read_typed(text: &str) -> Reading {
    if text.len() > lexer::MAX_BYTES {
        return Reading::unknown("the text is too long");
    }
    let mut walk = Walk::new(Shell::Bash, Rc::default());
    walk.budget = budget(text.len());
    walk.script(text);
    walk.inexact("what reads the text is not known");
    scan::dangers(&mut walk, text);
    walk.typed(text);
    Reading::of(walk)
}

fn walk(
    command: &str,
    shell: Shell,
    known: Rc<Variables>,
    given: Given<'_>,
    budget: usize,
) -> Walk {
    let mut walk = Walk::new(shell, known);
    walk.budget = budget;
    for (name, text) in given.files {
        walk.files.write(name, text, false);
    }
    walk.fed = given.input.map(str::to_owned);
    for (name, value) in given.variables {
        walk.assign(name, Value::literal(value), Some(value));
        if !scope::is_name(name) {
            // A function that bash takes over, for one.
            scan::dangers(&mut walk, value);
        }
    }
    if shell.is_posix_like() {
        walk.script(command);
        // Where something is not certain, what the text might run counts. `<((x))` is a command in a
        // substitution to bash, and arithmetic to the grammar.
        let differs = command.contains("<((") || command.contains(">((");
        if differs || walk.stop.is_some() || walk.hides_program {
            scan::dangers(&mut walk, command);
        }
    } else {
        foreign::read_into(&mut walk, command, shell);
    }
    walk
}
