//! Assignments: what they set, and what that changes of what runs later.

use brush_parser::ast;

use crate::effect::{Does, UNKNOWN};
use crate::scan;
use crate::scope::{self, Value};
use crate::shell::Shell;
use crate::walk::Walk;

/// Setting a variable that other programs read.
const UNKNOWN_VARIABLE: Does = Does { phrase: "changes what later commands run", ..UNKNOWN };

impl Walk {
    /// Notes that a variable is set; `text` is its exact value where there is one.
    pub(crate) fn assign(&mut self, name: &str, value: Value, text: Option<&str>) {
        if !self.charge(32) {
            return;
        }
        if !scope::is_name(name) {
            self.inexact("a variable has an unusual name");
            return;
        }
        let takes_over = scope::changes_what_runs(name, text)
            || (self.shell == Shell::Zsh && scope::is_zsh_table(name));
        if scope::is_evaluated(name) && !value.is_number() {
            self.inexact("what is assigned to a number of the shell is evaluated");
        }
        if takes_over {
            self.find(UNKNOWN_VARIABLE, name, format!("{name}="));
            scan::dangers(self, text.unwrap_or_default());
        }
        self.learned.set(name, value);
    }

    /// The assignments in front of a command, or alone.
    pub(crate) fn assignment(&mut self, assignment: &ast::Assignment) {
        let name = match &assignment.name {
            ast::AssignmentName::VariableName(name) => name.clone(),
            ast::AssignmentName::ArrayElementName(name, index) => {
                self.subscript(index);
                name.clone()
            }
        };
        match &assignment.value {
            ast::AssignmentValue::Scalar(raw) => {
                let word = self.word(&raw.value);
                let value =
                    if assignment.append { Value::Any } else { self.value_of(&raw.value, &word) };
                let text = word.exact().filter(|_| !assignment.append).map(str::to_owned);
                self.assign(&name, value, text.as_deref());
            }
            ast::AssignmentValue::Array(elements) => {
                for (key, raw) in elements {
                    if let Some(key) = key {
                        self.subscript(&key.value);
                    }
                    self.word(&raw.value);
                }
                self.assign(&name, Value::Any, None);
            }
        }
    }
}

/// Whether an assignment says how a `read` splits its line, and is plain text.
pub(crate) fn separates_a_read(assignment: &ast::Assignment, simple: &ast::SimpleCommand) -> bool {
    let named =
        matches!(&assignment.name, ast::AssignmentName::VariableName(name) if name == "IFS");
    let reads = simple
        .word_or_name
        .as_ref()
        .is_some_and(|name| matches!(name.value.as_str(), "read" | "mapfile" | "readarray"));
    let plain = matches!(&assignment.value, ast::AssignmentValue::Scalar(raw) if !raw.value.contains(['`', '(']));
    named && reads && plain
}

/// Builtins whose arguments may be assignments.
pub(crate) fn is_declaration(name: &str) -> bool {
    matches!(name, "declare" | "typeset" | "local" | "export" | "readonly")
}

pub(crate) fn declared_name(assignment: &ast::Assignment) -> String {
    match &assignment.name {
        ast::AssignmentName::VariableName(name)
        | ast::AssignmentName::ArrayElementName(name, _) => name.clone(),
    }
}
