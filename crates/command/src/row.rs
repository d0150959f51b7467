//! The shape of the tables: one row per program or sub-command.
//!
//! A row says what the program does by default, which options change that, and which options take a
//! value (so that a value is not mistaken for an operand). Rows are plain data, built by `const`
//! functions; the few programs whose arguments are a language of their own name a [`Reader`].
//!
//! Option lists are strings separated by blanks, as one would write them in a manual.

use crate::effect::Does;

/// What the operands of a program are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Text: nothing is opened.
    Text,
    /// Paths that are looked at from outside (`ls`, `stat`), not opened.
    Names,
    /// Paths that are opened.
    Paths,
    /// A pattern first, then paths.
    PatternThenPaths,
    /// Paths, the last of which is written to.
    LastWritten,
    /// Addresses of other machines.
    Hosts,
}

/// Programs whose arguments are read by code of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// By the row alone.
    Row,
    Ansible,
    Awk,
    Chmod,
    Code,
    Curl,
    Date,
    Dc,
    Dd,
    Echo,
    Fd,
    Find,
    Fzf,
    GhApi,
    GitConfig,
    GitDiscard,
    GitPush,
    Jq,
    Kill,
    Netcat,
    Redis,
    Rm,
    Sed,
    Server,
    Sql,
    Statements,
    Tar,
    Test,
    Wget,
    Builtin,
}

/// One row.
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not states")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// The program, or program and sub-commands; several spellings separated by `|`.
    pub(crate) names: &'static str,
    pub(crate) does: Does,
    pub(crate) takes: Takes,
    /// The options it knows, as [`crate::spec`] reads them. A program that only reads does so only with
    /// options that one of these lists knows.
    pub(crate) options: &'static str,
    /// Options that take the next argument as their value.
    pub(crate) valued: &'static str,
    /// Options without a value that may stand before a sub-command. Any other one could take the
    /// sub-command for its value.
    pub(crate) flags: &'static str,
    /// Options that change what it does.
    pub(crate) rules: &'static [(&'static str, Does)],
    /// When given, the only other options it may have.
    pub(crate) only: Option<&'static str>,
    /// With more operands than this it does that, unless one of the options is there.
    pub(crate) operands: Option<(usize, Does, &'static str)>,
    /// Options or operands of such a shape make it do that; `*` stands for any text.
    pub(crate) shapes: &'static [(&'static str, Does)],
    /// When its first argument has one of these shapes, it does that instead.
    pub(crate) begins: &'static [(&'static str, Does)],
    /// Its first operand is a sub-command.
    pub(crate) subs: bool,
    /// Its options may also come after its sub-commands.
    pub(crate) anywhere: bool,
    /// What reading, changing and destroying is, for sub-commands that are named by a verb.
    pub(crate) verbs: Option<[Does; 3]>,
    /// Whether things are named before the verb: `compute instances list`.
    pub(crate) things_first: bool,
    /// What sub-commands without a row do.
    pub(crate) other: Option<Does>,
    /// Options are whole words after one dash (`-delete`), not bundles of letters.
    pub(crate) single_dash: bool,
    pub(crate) reader: Reader,
}

/// A row without options worth naming.
pub(crate) const fn row(names: &'static str, does: Does) -> Row {
    Row {
        names,
        does,
        takes: Takes::Text,
        options: "",
        valued: "",
        flags: "",
        rules: &[],
        only: None,
        operands: None,
        shapes: &[],
        begins: &[],
        subs: false,
        anywhere: false,
        other: None,
        verbs: None,
        things_first: false,
        single_dash: false,
        reader: Reader::Row,
    }
}

impl Row {
    pub(crate) const fn takes(mut self, takes: Takes) -> Self {
        self.takes = takes;
        self
    }

    pub(crate) const fn options(mut self, spec: &'static str) -> Self {
        self.options = spec;
        self
    }

    /// Its options may also come after its sub-commands.
    pub(crate) const fn anywhere(mut self) -> Self {
        self.anywhere = true;
        self
    }

    pub(crate) const fn valued(mut self, options: &'static str) -> Self {
        self.valued = options;
        self
    }

    pub(crate) const fn flags(mut self, options: &'static str) -> Self {
        self.flags = options;
        self
    }

    pub(crate) const fn when(mut self, rules: &'static [(&'static str, Does)]) -> Self {
        self.rules = rules;
        self
    }

    pub(crate) const fn only(mut self, options: &'static str) -> Self {
        self.only = Some(options);
        self
    }

    pub(crate) const fn beyond(
        mut self,
        operands: usize,
        does: Does,
        unless: &'static str,
    ) -> Self {
        self.operands = Some((operands, does, unless));
        self
    }

    pub(crate) const fn shaped(mut self, shapes: &'static [(&'static str, Does)]) -> Self {
        self.shapes = shapes;
        self
    }

    pub(crate) const fn begins(mut self, shapes: &'static [(&'static str, Does)]) -> Self {
        self.begins = shapes;
        self
    }

    pub(crate) const fn subs(mut self) -> Self {
        self.subs = true;
        self
    }

    pub(crate) const fn other(mut self, does: Does) -> Self {
        self.other = Some(does);
        self
    }

    /// As [`Row::verbs`], where things are named before the verb.
    pub(crate) const fn things(mut self, reads: Does, changes: Does, destroys: Does) -> Self {
        self.things_first = true;
        self.verbs(reads, changes, destroys)
    }

    /// Sub-commands without a row are judged by their verb.
    pub(crate) const fn verbs(mut self, reads: Does, changes: Does, destroys: Does) -> Self {
        self.subs = true;
        self.anywhere = true;
        self.verbs = Some([reads, changes, destroys]);
        self
    }

    pub(crate) const fn single_dash(mut self) -> Self {
        self.single_dash = true;
        self
    }

    pub(crate) const fn reader(mut self, reader: Reader) -> Self {
        self.reader = reader;
        self
    }
}
