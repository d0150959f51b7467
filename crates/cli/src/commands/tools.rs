//! `umbo tools`: what a dialect offers.

use std::process::ExitCode;

use umbo_gate::Mode;
use umbo_tools::{Owner, Toolset};

use crate::args::Tools;
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::output::{self, Format};
use crate::secrets;

pub(crate) fn run(context: &Context, args: &Tools) -> Result<ExitCode, Failure> {
    let toolset = toolset(context, args.dialect.as_deref(), Owner::Everybody, None)?;
    if context.format == Format::Json {
        output::json(&toolset.tools())?;
        return Ok(ExitCode::SUCCESS);
    }
    if toolset.tools().is_empty() {
        output::talk(format_args!("umbo: {}", toolset.instructions()));
    }
    for tool in toolset.tools() {
        let names = |name: &str| -> Vec<&str> {
            let schema = &tool.input_schema[name];
            let listed = schema.as_array().into_iter().flatten().filter_map(|name| name.as_str());
            let named = schema.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
            listed.chain(named).collect()
        };
        let required = names("required");
        let fields = names("properties").into_iter().map(|name| {
            if required.contains(&name) { name.to_owned() } else { format!("[{name}]") }
        });
        output::line(format_args!("{} {}", tool.name, fields.collect::<Vec<_>>().join(" ")))?;
        for line in tool.description.lines() {
            output::line(format_args!("    {line}"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The tools of a dialect, for this caller.
pub(super) fn toolset(
    context: &Context,
    dialect: Option<&str>,
    owner: Owner,
    mode: Option<Mode>,
) -> Result<Toolset, Failure> {
    toolset_of(context, dialect, owner, mode, Context::run())
}

/// The tools of a dialect, for a caller that belongs to a run.
pub(super) fn toolset_of(
    context: &Context,
    dialect: Option<&str>,
    owner: Owner,
    mode: Option<Mode>,
    run: Option<String>,
) -> Result<Toolset, Failure> {
    let settings = &context.settings;
    let caller = context
        .agent()
        .gate(gate::keeper(context, mode)?.run_id(run))
        .masker(secrets::masker()?)
        .directory(Context::directory()?)
        .longest_wait(settings.tools.longest_wait)
        .owner(owner);
    Toolset::builder(caller)
        .dialect(dialect.unwrap_or(&settings.tools.dialect))
        .project(context.config.project.clone())
        .settings(settings.tools.dialects.clone())
        .beside(settings.tools.beside.clone())
        .build()
        .map_err(Failure::new)
}
