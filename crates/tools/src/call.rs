//! One call of a tool of the dialect `umbo`: the operations of its caller.

use std::ops::Deref;

use umbo_gate::Script;
use umbo_recipes::Task;

pub(crate) use umbo_ops::{Ran, Whose, text};

use umbo_ops::Caller;

/// A call in progress. What it can do with jobs is in [`umbo_ops::Call`].
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) tools: &'a Caller,
    operations: umbo_ops::Call<'a>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(operations: umbo_ops::Call<'a>) -> Self {
        Self { tools: operations.caller, operations }
    }

    /// The same call, for a task of the project that runs these scripts. `word` stands for what is
    /// none.
    pub(crate) fn for_recipe(
        &self,
        word: &'a str,
        task: Option<&'a Task>,
        scripts: &'a [Script],
    ) -> Self {
        Self { tools: self.tools, operations: self.operations.for_recipe(word, task, scripts) }
    }
}

impl<'a> Deref for Call<'a> {
    type Target = umbo_ops::Call<'a>;

    fn deref(&self) -> &Self::Target {
        &self.operations
    }
}
