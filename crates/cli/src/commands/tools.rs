//! `umbo tools`: what a dialect offers.

use std::env;
use std::process::ExitCode;

use umbo_gate::Mode;
use umbo_tools::{Owner, ShellSettings, Toolset};

use crate::args::Tools;
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::output::{self, Format};
use crate::secrets;

pub(crate) fn run(context: &Context, args: &Tools) -> Result<ExitCode, Failure> {
    let toolset = toolset(context, &args.dialect, Owner::Everybody, None)?;
    if context.format == Format::Json {
        output::json(&toolset.tools())?;
        return Ok(ExitCode::SUCCESS);
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
    dialect: &str,
    owner: Owner,
    mode: Option<Mode>,
) -> Result<Toolset, Failure> {
    Toolset::builder()
        .gate(gate::keeper(context, mode)?)
        .engine(context.engine.clone())
        .masker(secrets::masker()?)
        .dialect(dialect)
        .directory(Context::directory()?)
        .environment(env::vars_os())
        .owner(owner)
        .shell_settings(settings()?)
        .build()
        .map_err(Failure::new)
}

/// What the environment says about shell tools.
fn settings() -> Result<ShellSettings, Failure> {
    let mut settings = ShellSettings::default();
    let wrong = |name: &str, text: &str, accepted: &str| {
        Failure::new(format!("{name}: {text:?} was given; accepted: {accepted}"))
    };
    let flag = |name: &str| match env::var(name).as_deref() {
        Err(_) => Ok(None),
        Ok("true" | "1") => Ok(Some(true)),
        Ok("false" | "0") => Ok(Some(false)),
        Ok(other) => Err(wrong(name, other, "true or false")),
    };
    settings.enabled = flag("UMBO_TOOLS_SHELL_ENABLED")?.unwrap_or(settings.enabled);
    settings.restrict_to_project =
        flag("UMBO_TOOLS_SHELL_RESTRICT_TO_PROJECT")?.unwrap_or(settings.restrict_to_project);
    if let Ok(text) = env::var("UMBO_TOOLS_SHELL_DEFAULT_TIMEOUT_SECS") {
        let name = "UMBO_TOOLS_SHELL_DEFAULT_TIMEOUT_SECS";
        settings.default_timeout_secs =
            text.parse().map_err(|_| wrong(name, &text, "a number of seconds"))?;
    }
    if let Ok(shell) = env::var("UMBO_TOOLS_SHELL_SHELL") {
        settings.shell = shell;
    }
    Ok(settings)
}
