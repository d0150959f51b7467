//! `umbo mcp`: the tools, for an agent at the other end of standard input and output.

use std::process::ExitCode;

use umbo_tools::Owner;

use super::tools;
use crate::args::Mcp;
use crate::context::Context;
use crate::failure::Failure;

pub(crate) fn run(context: &Context, args: &Mcp) -> Result<ExitCode, Failure> {
    let owner = args.owner.clone().map_or(Owner::Fresh, Owner::Named);
    let mode = args.mode.unwrap_or(context.settings.tools.mode);
    let toolset = tools::toolset(context, args.dialect.as_deref(), owner, Some(mode))?;
    umbo_mcp::serve_stdio(toolset).map_err(Failure::new)?;
    Ok(ExitCode::SUCCESS)
}
