//! `[[ … ]]`: conditions that may evaluate what they compare.

use brush_parser::ast;

use crate::scope;
use crate::shell::Shell;
use crate::walk::Walk;

impl Walk {
    pub(crate) fn extended_test(&mut self, test: &ast::ExtendedTestExpr, outermost: bool) {
        use ast::ExtendedTestExpr as T;
        // Where `[[` is not a keyword, `&&` inside it ends a command.
        if self.shell == Shell::Posix && !outermost {
            self.inexact("[[ with operators is not in every sh");
        }
        match test {
            T::And(one, two) | T::Or(one, two) => {
                self.extended_test(one, false);
                self.extended_test(two, false);
            }
            T::Not(inner) | T::Parenthesized(inner) => self.extended_test(inner, false),
            T::UnaryTest(predicate, raw) => {
                let word = self.word(&raw.value);
                let evaluates = matches!(
                    predicate,
                    ast::UnaryPredicate::ShellVariableIsSetAndAssigned
                        | ast::UnaryPredicate::ShellVariableIsSetAndNameRef
                );
                if evaluates && !word.exact().is_some_and(scope::is_name) {
                    self.inexact("-v evaluates its operand");
                }
            }
            T::BinaryTest(predicate, left, right) => {
                self.binary_test(predicate, &left.value, &right.value);
            }
        }
    }

    pub(crate) fn binary_test(
        &mut self,
        predicate: &ast::BinaryPredicate,
        left: &str,
        right: &str,
    ) {
        use ast::BinaryPredicate as P;
        let words = [self.word(left), self.word(right)];
        let compares_numbers = matches!(
            predicate,
            P::ArithmeticEqualTo
                | P::ArithmeticNotEqualTo
                | P::ArithmeticLessThan
                | P::ArithmeticLessThanOrEqualTo
                | P::ArithmeticGreaterThan
                | P::ArithmeticGreaterThanOrEqualTo
        );
        if compares_numbers {
            for (raw, word) in [left, right].into_iter().zip(&words) {
                if !self.value_of(raw, word).is_number() && !self.is_free_variable(raw) {
                    self.inexact("arithmetic on a value that may not be a number");
                }
            }
        }
        if self.shell == Shell::Posix
            && matches!(predicate, P::LeftSortsBeforeRight | P::LeftSortsAfterRight)
        {
            self.inexact("[[ with < is not in every sh");
        }
    }
}
