//! A tool whose contract is a file beside it.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;
use crate::tool::{Annotations, Tool};

type Run = fn(&Call<'_>, &Arguments) -> Result<Answer, ToolError>;

/// A tool as its dialect writes it down.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    /// The words for the model, from the `.md` file beside the tool.
    pub(crate) words: &'static str,
    /// Schemas and hints, from the `.json` file beside the tool.
    pub(crate) contract: &'static str,
    pub(crate) run: Run,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contract {
    annotations: Annotations,
    input: Value,
    output: Option<Value>,
}

impl Definition {
    pub(crate) fn load(&self) -> Tool {
        let contract: Contract = serde_json::from_str(self.contract).unwrap_or(Contract {
            annotations: Annotations::RUNS,
            input: Value::Null,
            output: None,
        });
        let run = self.run;
        Tool::untyped(
            self.name,
            self.words,
            contract.input,
            contract.output,
            Arc::new(move |call: &umbo_ops::Call<'_>, arguments| {
                run(&Call::new(*call), &Arguments::new(arguments))
            }),
        )
        .hints(contract.annotations)
    }
}
