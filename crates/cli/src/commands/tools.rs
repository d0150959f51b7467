//! `umbo tools`: what a dialect offers.

use std::process::ExitCode;

use umbo_gate::Mode;
use umbo_tools::{Owner, Tool, ToolSet, Toolset};

use crate::args::Tools;
use crate::context::{Context, WorksFor};
use crate::failure::Failure;
use crate::gate;
use crate::output::{self, Format};
use crate::sandbox;
use crate::secrets;

pub(crate) fn run(context: &Context, args: &Tools) -> Result<ExitCode, Failure> {
    let sets = sets(context, &args.sets)?;
    let dialect = args.dialect.as_deref();
    let person = Caller { mode: None, run: Context::run(), works_for: WorksFor::Person };
    let toolset = toolset_of(context, dialect, Some(sets), Owner::Everybody, person)?;
    if context.format == Format::Json {
        if args.full {
            let tools: Vec<Tool> = toolset.tools().iter().map(Tool::in_full).collect();
            output::json(&tools)?;
        } else {
            output::json(&toolset.tools())?;
        }
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
        let fields = fields.collect::<Vec<_>>().join(" ");
        output::paragraph(&format!("{} {fields}", tool.name), 0)?;
        for line in tool.description.lines() {
            output::paragraph(line, INDENT)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// So far to the right a tool's description stands.
const INDENT: usize = 4;

/// All tools of a dialect, for this caller.
pub(super) fn toolset(
    context: &Context,
    dialect: Option<&str>,
    owner: Owner,
    mode: Option<Mode>,
) -> Result<Toolset, Failure> {
    let caller = Caller { mode, run: Context::run(), works_for: WorksFor::Person };
    toolset_of(context, dialect, None, owner, caller)
}

/// Who calls tools, and how they are judged.
pub(super) struct Caller {
    pub(super) mode: Option<Mode>,
    /// The run it belongs to.
    pub(super) run: Option<String>,
    /// Whether it is one, or a person who calls a tool.
    pub(super) works_for: WorksFor,
}

/// The sets of tools that words name, or else the settings.
pub(super) fn sets(context: &Context, words: &[String]) -> Result<Vec<ToolSet>, Failure> {
    let names = if words.is_empty() { &context.settings.tools.sets } else { words };
    let set = |name: &String| {
        ToolSet::named(name.trim()).ok_or_else(|| {
            let known: Vec<&str> = ToolSet::ALL.iter().map(|set| set.as_str()).collect();
            let known = known.join(", ");
            Failure::invalid(
                "--tools",
                format_args!("there is no set {name:?}; there are: {known}"),
            )
        })
    };
    names.iter().map(set).collect()
}

/// The tools of a dialect, for a caller that belongs to a run.
pub(super) fn toolset_of(
    context: &Context,
    dialect: Option<&str>,
    sets: Option<Vec<ToolSet>>,
    owner: Owner,
    caller: Caller,
) -> Result<Toolset, Failure> {
    let Caller { mode, run, works_for } = caller;
    let settings = &context.settings;
    let dialect = dialect.unwrap_or(&settings.tools.dialect);
    let caller = context
        .agent()
        .gate(gate::keeper(context, mode)?.run_id(run))
        .sandbox(sandbox::settings(context, works_for, mode))
        .masker(secrets::masker_of(dialect, &context.place()?)?)
        .directory(context.place()?)
        .longest_wait(settings.tools.longest_wait)
        .owner(owner);
    let mut builder = Toolset::builder(caller);
    if let Some(sets) = sets {
        builder = builder.sets(sets);
    }
    builder
        .dialect(dialect)
        .project(context.config.project.clone())
        .settings(settings.tools.dialects.clone())
        .beside(settings.tools.beside.clone())
        .build()
        .map_err(Failure::new)
}
