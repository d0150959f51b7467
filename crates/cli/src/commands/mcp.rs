//! `umbo mcp`: the tools, for an agent at the other end of standard input and output.

use std::process::ExitCode;

use umbo_tools::Owner;

use super::tools;
use crate::args::Mcp;
use crate::context::Context;
use crate::failure::Failure;

pub(crate) fn run(context: &Context, args: &Mcp) -> Result<ExitCode, Failure> {
    let owner = args.owner.clone().map_or(Owner::Fresh, Owner::Named);
    let toolset = tools::toolset(context, &args.dialect, owner, Some(args.mode))?;
    umbo_mcp::serve_stdio(toolset).map_err(Failure::new)?;
    Ok(ExitCode::SUCCESS)
}
