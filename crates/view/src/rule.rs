//! A row of the table of errors ([`crate::rules`]).
//!
//! A rule is a pattern for one line, without what stands before its message and without its
//! indentation. The first rule that matches names the line, so the special stand before the
//! general. Each rule names words of which a matching line has at least one; lines without any of
//! them are not looked at further.

/// What a finding is worth beside others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Worth {
    /// Says what went wrong.
    Cause,
    /// Uses the words of errors, in no form that is known.
    General,
    /// Says that something went wrong before.
    Consequence,
    /// Says that all went well.
    Success,
}

/// How far an error goes on after the line that gives it away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    /// Just the line.
    Line,
    /// The indented lines after it, and the line that ends them.
    Indented,
    /// Up to the next empty line.
    Paragraph,
}

pub(crate) struct Rule {
    pub(crate) id: &'static str,
    pub(crate) worth: Worth,
    pub(crate) block: Block,
    /// A matching line has one of these, whatever their case.
    pub(crate) words: &'static [&'static str],
    pub(crate) pattern: &'static str,
}

/// A row of the table.
pub(crate) const fn rule(
    id: &'static str,
    worth: Worth,
    block: Block,
    words: &'static [&'static str],
    pattern: &'static str,
) -> Rule {
    Rule { id, worth, block, words, pattern }
}
