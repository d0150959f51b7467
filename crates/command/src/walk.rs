//! Finding every simple command of a text, and what happens around it.
//!
//! A walk follows the grammar's tree through lists, pipelines, loops, functions, substitutions and
//! here-documents. Whatever it meets it records: findings (what would be done), commands (what would
//! be run), and the first reason why the text is not read exactly. Judging one command is the business
//! of [`crate::judge`]; expanding words that of [`crate::expand`].

use std::rc::Rc;

use brush_parser::ast;

use crate::assignment::{declared_name, is_declaration, separates_a_read};
use crate::effect::{Does, READ};
use crate::grammar;
use crate::lexer::{self, MAX_DEPTH, Stop};
use crate::reading::SimpleCommand;
use crate::scan;
use crate::scope::{self, Value, Variables};
use crate::shell::Shell;
use crate::state::{Directory, Files, Functions};
use crate::supposition::{Supposed, Supposition};
use crate::word::{Expansion, Word};

/// Parsing is the dearest part of a reading.
const STEPS_TO_PARSE_A_BYTE: usize = 8;

/// One thing a command would do.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) does: Does,
    pub(crate) target: Option<String>,
    /// What the target most likely is, where it is not literal.
    pub(crate) guess: Option<String>,
    pub(crate) program: String,
    /// The part of the command that says so.
    pub(crate) what: String,
    /// The code that would run comes from a pipe, a substitution or a file.
    pub(crate) foreign: bool,
}

/// What a command finds on its standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Input {
    /// Whatever the caller has.
    #[default]
    Inherited,
    /// Exactly this text.
    Text(String),
    /// A text like this one, with parts only known at run time: good for a warning only.
    Likely(String),
    /// The output of something that unpacks or decodes.
    Decoded,
    /// Something else.
    Other,
}

/// A walk through a text.
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not states")]
#[derive(Default)]
pub(crate) struct Walk {
    pub(crate) shell: Shell,
    pub(crate) depth: usize,
    /// What is known about variables before the walk.
    pub(crate) known: Rc<Variables>,
    /// What this walk learned.
    pub(crate) learned: Variables,
    pub(crate) functions: Functions,
    pub(crate) directory: Directory,
    pub(crate) files: Files,
    /// Files that are run as scripts.
    pub(crate) scripts: Vec<String>,
    /// What the verdict supposes of directories.
    pub(crate) supposes: Vec<Supposed>,
    /// How many loops without an end, and how many parts that run beside each other, are open.
    pub(crate) endless: usize,
    pub(crate) beside: usize,
    /// How much has been read, and how much may be.
    pub(crate) steps: usize,
    pub(crate) budget: usize,
    /// What the command prints whose redirections are read.
    pub(crate) printing: Option<Input>,
    /// Words are only taken apart; what they would run is read elsewhere.
    pub(crate) shallow: bool,
    pub(crate) found: Vec<Finding>,
    pub(crate) commands: Vec<SimpleCommand>,
    pub(crate) stop: Option<Stop>,
    pub(crate) input: Input,
    /// What the caller gives to whatever inherits its standard input, where that is known.
    pub(crate) fed: Option<String>,
    /// Something runs what it is fed.
    pub(crate) runs_input: bool,
    /// This walk only looks for dangers; it does not look inside unknown arguments again.
    pub(crate) probing: bool,
    /// A program is run whose name nobody can guess.
    pub(crate) hides_program: bool,
    /// Any variable may have been set by something that names none.
    pub(crate) tainted: bool,
    /// Texts that could not be parsed, for the scan.
    pub(crate) opaque: Vec<String>,
}

impl Walk {
    pub(crate) fn new(shell: Shell, known: Rc<Variables>) -> Self {
        Self { shell, known, budget: usize::MAX, ..Self::default() }
    }

    /// Notes work; whether there may be more. The work is bounded by the length of the text, so that no
    /// text takes longer than others of its length.
    pub(crate) fn charge(&mut self, steps: usize) -> bool {
        // What is refused is not done, and does not count.
        if self.steps <= self.budget {
            self.steps = self.steps.saturating_add(steps);
        }
        if self.steps > self.budget {
            self.inexact("there is too much to read");
        }
        self.steps <= self.budget
    }

    /// Notes that the verdict holds only if every directory that this may run in is as supposed.
    pub(crate) fn suppose_of_directory(&mut self, what: Supposition) {
        for directory in self.directory.possible() {
            let supposed = Supposed { what, directory: directory.to_owned() };
            if !self.supposes.contains(&supposed) {
                self.supposes.push(supposed);
            }
        }
    }

    /// Judges something in another directory.
    pub(crate) fn elsewhere(&mut self, directory: Option<&str>, judge: impl FnOnce(&mut Self)) {
        let Some(directory) = directory else { return judge(self) };
        let here = self.directory.clone();
        self.directory.enter(directory);
        judge(self);
        self.directory = here;
    }

    /// What the next command finds on its standard input.
    pub(crate) fn take_input(&mut self) -> Input {
        match (std::mem::take(&mut self.input), self.fed.clone()) {
            (Input::Inherited, Some(text)) => Input::Text(text),
            (input, _) => input,
        }
    }

    /// The text on its standard input, if there is one.
    pub(crate) fn input_text(&self) -> Option<String> {
        match &self.input {
            Input::Text(text) | Input::Likely(text) => Some(text.clone()),
            Input::Inherited => self.fed.clone(),
            Input::Decoded | Input::Other => None,
        }
    }

    /// Notes that the text is not read exactly.
    pub(crate) fn inexact(&mut self, why: Stop) {
        self.stop.get_or_insert(why);
    }

    pub(crate) fn find(&mut self, does: Does, program: &str, what: impl Into<String>) {
        self.find_at(does, program, what, None);
    }

    pub(crate) fn find_at(
        &mut self,
        does: Does,
        program: &str,
        what: impl Into<String>,
        target: Option<String>,
    ) {
        let what = what.into();
        self.found.push(Finding {
            does,
            target,
            guess: None,
            program: program.to_owned(),
            what,
            foreign: false,
        });
    }

    /// As [`Walk::find_at`], for a path that may only be known at run time.
    pub(crate) fn find_path(
        &mut self,
        does: Does,
        program: &str,
        what: impl Into<String>,
        word: &Word,
    ) {
        self.find_at(does, program, what, word.path().map(str::to_owned));
        self.suppose(word);
    }

    /// Says of what was found last where it most likely happens.
    pub(crate) fn suppose(&mut self, word: &Word) {
        if let Some(finding) = self.found.last_mut().filter(|_| word.path().is_none()) {
            finding.guess = Some(word.likely().to_owned());
        }
    }

    /// Reads a text of the walk's own shell, in the current scope.
    pub(crate) fn script(&mut self, text: &str) {
        if self.depth > MAX_DEPTH {
            self.inexact("nested too deeply");
            return;
        }
        if !self.charge(text.len() * STEPS_TO_PARSE_A_BYTE) {
            return;
        }
        let parsed = lexer::tokens(text, self.shell, self.depth).and_then(|read| {
            self.charge_again(read.parse_bytes.saturating_sub(text.len()))?;
            grammar::parse(read.tokens)
        });
        match parsed {
            Ok(program) => {
                for list in &program.complete_commands {
                    self.list(list);
                }
            }
            Err(why) => {
                self.inexact(why);
                self.opaque.push(text.to_owned());
                scan::dangers(self, text);
            }
        }
    }

    /// Notes what the grammar reads more than once, if there may be as much.
    fn charge_again(&mut self, bytes: usize) -> Result<(), Stop> {
        let steps = bytes.saturating_mul(STEPS_TO_PARSE_A_BYTE);
        if steps > self.budget.saturating_sub(self.steps) {
            return Err("nested too deeply");
        }
        self.steps += steps;
        Ok(())
    }

    /// Reads a text that runs in another shell, which has none of this one's functions.
    pub(crate) fn nested(&mut self, text: &str, shell: Shell) {
        let functions = std::mem::take(&mut self.functions);
        let outer = std::mem::replace(&mut self.shell, shell);
        self.depth += 1;
        if shell.is_posix_like() {
            self.script(text);
        } else {
            crate::foreign::read_into(self, text, shell);
        }
        self.depth -= 1;
        self.shell = outer;
        self.functions = functions;
    }

    fn list(&mut self, list: &ast::CompoundList) {
        for ast::CompoundListItem(and_or, separator) in &list.0 {
            let background = matches!(separator, ast::SeparatorOperator::Async);
            let before = self.functions.mark();
            if background {
                self.beside += 1;
                if self.endless > 0 {
                    self.find(FORK_STORM, "&", "an endless loop that starts processes");
                }
            }
            self.pipeline(&and_or.first);
            let unconditional = self.functions.mark();
            for item in &and_or.additional {
                match item {
                    ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline) => self.pipeline(pipeline),
                }
            }
            // A function defined only under a condition may not exist afterwards.
            self.functions.back_to(if background { before } else { unconditional });
            if background {
                self.beside -= 1;
            }
        }
    }

    /// A list whose definitions do not count afterwards, because it may not run.
    fn conditional(&mut self, list: &ast::CompoundList) {
        let mark = self.functions.mark();
        self.list(list);
        self.functions.back_to(mark);
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline) {
        let several = pipeline.seq.len() > 1;
        let mark = several.then(|| self.functions.mark());
        let directory = several.then(|| self.directory.clone());
        self.beside += usize::from(several);
        let outer = self.input.clone();
        for (index, command) in pipeline.seq.iter().enumerate() {
            if index > 0 {
                self.input = self.output_of(&pipeline.seq[index - 1]);
                self.picks_secret_variable(&pipeline.seq[index - 1], command);
            }
            self.command(command);
        }
        self.input = outer;
        self.beside -= usize::from(several);
        if let Some(mark) = mark {
            self.functions.back_to(mark);
        }
        if let Some(directory) = directory {
            self.directory = directory;
        }
    }

    fn command(&mut self, command: &ast::Command) {
        match command {
            ast::Command::Simple(simple) => self.simple(simple),
            ast::Command::Compound(compound, redirects) => {
                self.redirects(redirects.as_ref());
                self.compound(compound);
            }
            ast::Command::Function(function) => self.function(function),
            ast::Command::ExtendedTest(test, redirects) => {
                self.redirects(redirects.as_ref());
                self.extended_test(&test.expr, true);
            }
        }
    }

    fn function(&mut self, function: &ast::FunctionDefinition) {
        let name = function.fname.value.clone();
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c)) {
            self.inexact("a function has an unusual name");
        }
        if scope::changes_what_runs(&name, None) {
            self.inexact("a function takes over a name of the shell");
        }
        self.functions.define(&name);
        self.redirects(function.body.1.as_ref());
        let mark = self.functions.mark();
        let (beside, endless) =
            (std::mem::take(&mut self.beside), std::mem::take(&mut self.endless));
        self.functions.enter(&name);
        self.compound(&function.body.0);
        self.functions.leave();
        (self.beside, self.endless) = (beside, endless);
        self.functions.back_to(mark);
    }

    /// Nesting counts towards the same limit whether it is by brackets or by substitution.
    fn compound(&mut self, compound: &ast::CompoundCommand) {
        self.depth += 1;
        self.inside_compound(compound);
        self.depth -= 1;
    }

    fn inside_compound(&mut self, compound: &ast::CompoundCommand) {
        match compound {
            ast::CompoundCommand::Arithmetic(arithmetic) => self.arithmetic(&arithmetic.expr.value),
            ast::CompoundCommand::ArithmeticForClause(clause) => {
                for part in
                    [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten()
                {
                    self.arithmetic(&part.value);
                }
                let empty = clause.condition.as_ref().is_none_or(|it| it.value.trim().is_empty());
                let endless = usize::from(empty);
                self.endless += endless;
                self.conditional(&clause.body.list);
                self.endless -= endless;
            }
            ast::CompoundCommand::BraceGroup(group) => self.list(&group.list),
            ast::CompoundCommand::Subshell(subshell) => {
                let directory = self.directory.clone();
                self.conditional(&subshell.list);
                self.directory = directory;
            }
            ast::CompoundCommand::ForClause(clause) => self.for_clause(clause),
            ast::CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value.value);
                for item in &clause.cases {
                    for pattern in &item.patterns {
                        self.word(&pattern.value);
                    }
                    if let Some(list) = &item.cmd {
                        self.conditional(list);
                    }
                }
            }
            ast::CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.conditional(&clause.then);
                for branch in clause.elses.iter().flatten() {
                    if let Some(condition) = &branch.condition {
                        self.conditional(condition);
                    }
                    self.conditional(&branch.body);
                }
            }
            ast::CompoundCommand::WhileClause(clause)
            | ast::CompoundCommand::UntilClause(clause) => {
                let until = matches!(compound, ast::CompoundCommand::UntilClause(_));
                let endless = usize::from(is_constant(&clause.0, !until));
                self.list(&clause.0);
                self.endless += endless;
                self.conditional(&clause.1.list);
                self.endless -= endless;
            }
            ast::CompoundCommand::Coprocess(clause) => {
                self.inexact("coproc is not read");
                self.command(&clause.body);
            }
        }
    }

    fn for_clause(&mut self, clause: &ast::ForClauseCommand) {
        let mut value: Option<Value> = None;
        for raw in clause.values.iter().flatten() {
            let word = self.word(&raw.value);
            self.files.secrets_found |= self.is_secret(word.likely());
            let one = if word.literal {
                Value::literal(&word.text)
            } else if word.may_be_option {
                Value::Any
            } else if word.may_split && !word.expansions.contains(&Expansion::Glob) {
                Value::Name
            } else {
                Value::Tame
            };
            value = Some(match value {
                Some(value) => value.or(one),
                None => one,
            });
        }
        self.assign(&clause.variable_name, value.unwrap_or(Value::Any), None);
        self.conditional(&clause.body.list);
    }

    fn simple(&mut self, simple: &ast::SimpleCommand) {
        let outer = self.input.clone();
        self.remember_written(simple);
        let mut argv: Vec<Word> = Vec::new();
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let mut assigned = false;
        for item in prefix {
            match item {
                ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect),
                // `IFS= read`: only for that one builtin, which runs nothing.
                ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, _)
                    if separates_a_read(assignment, simple) => {}
                ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => {
                    assigned = true;
                    self.assignment(assignment);
                }
                _ => self.inexact("an unusual prefix of a command"),
            }
        }
        let declares = simple.word_or_name.as_ref().is_some_and(|name| is_declaration(&name.value));
        if let Some(name) = &simple.word_or_name {
            argv.push(self.word(&name.value));
        }
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect),
                ast::CommandPrefixOrSuffixItem::Word(raw) => argv.push(self.word(&raw.value)),
                ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, raw) => {
                    if declares {
                        self.assignment(assignment);
                        argv.push(Word::literal(declared_name(assignment)));
                    } else if matches!(assignment.value, ast::AssignmentValue::Array(_)) {
                        self.inexact("an array where only some commands take one");
                    } else {
                        argv.push(self.word(&raw.value));
                    }
                }
                ast::CommandPrefixOrSuffixItem::ProcessSubstitution(kind, subshell) => {
                    // What `tee` is fed goes on into it.
                    let fed = matches!(kind, ast::ProcessSubstitutionKind::Write)
                        .then(|| self.input_text().map_or(Input::Other, Input::Text));
                    argv.push(self.process(subshell, fed));
                }
            }
        }
        if argv.is_empty() {
            if assigned {
                self.find(READ, "", "=");
            }
        } else {
            self.judge(&argv, &[]);
        }
        self.input = outer;
    }

    /// What a word most likely is, without reading what it would run.
    pub(crate) fn shallow_word(&mut self, raw: &str) -> String {
        let mut probe = Walk::new(self.shell, Rc::clone(&self.known));
        probe.shallow = true;
        probe.word(raw).likely().to_owned()
    }

    /// The path a process substitution leaves among the arguments.
    pub(crate) fn process(&mut self, subshell: &ast::SubshellCommand, fed: Option<Input>) -> Word {
        if self.shell == Shell::Posix {
            self.inexact("<(…) is not in every sh");
        }
        self.depth += 1;
        let outer = std::mem::replace(&mut self.input, fed.unwrap_or_default());
        self.conditional(&subshell.list);
        self.input = outer;
        self.depth -= 1;
        let mut word = Word::from_input("<(…)");
        word.expansions = vec![Expansion::Process];
        word.may_be_option = false;
        word.may_split = false;
        word
    }
}

/// Processes that start processes.
pub(crate) const FORK_STORM: Does = Does {
    kind: crate::effect::Kind::Execute,
    risk: crate::risk::Risk::Dangerous,
    direction: None,
    phrase: "starts processes without an end",
};

/// Whether the condition of a loop never changes: `true`, `:`, `false`.
fn is_constant(list: &ast::CompoundList, value: bool) -> bool {
    let [ast::CompoundListItem(and_or, _)] = &list.0[..] else { return false };
    let [ast::Command::Simple(simple)] = &and_or.first.seq[..] else { return false };
    let name = simple.word_or_name.as_ref().map_or("", |name| name.value.as_str());
    and_or.additional.is_empty()
        && if value {
            matches!(name, "true" | ":" | "/bin/true")
        } else {
            matches!(name, "false" | "/bin/false")
        }
}
