//! One call of a tool: the operations of its caller, and the toolset it belongs to.

use std::ops::Deref;
use std::time::Duration;

use umbo_gate::Script;
use umbo_recipes::Task;

pub(crate) use umbo_ops::{Ran, Whose, fresh_name, now, text};

use crate::toolset::Toolset;
use umbo_ops::Ticket;

/// A call in progress. What it can do with jobs is in [`umbo_ops::Call`].
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) tools: &'a Toolset,
    operations: umbo_ops::Call<'a>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(tools: &'a Toolset, ticket: &'a Ticket) -> Self {
        Self { tools, operations: umbo_ops::Call::new(tools, ticket) }
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

/// A span of time for one that is given in milliseconds.
pub(crate) fn millis(number: f64) -> Duration {
    crate::arguments::duration(number / 1000.0).unwrap_or_default()
}
