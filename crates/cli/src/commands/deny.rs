//! `umbo deny`: a person refuses a command.

use std::process::ExitCode;

use serde_json::json;
use umbo_engine::sandbox::Decision;
use umbo_gate::Reply;

use crate::args::Deny;
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::held;
use crate::output;

/// What the model reads when the person gave no reason.
const NO_REASON: &str = "The person said no and gave no reason.";

pub(crate) fn run(context: &Context, args: Deny) -> Result<ExitCode, Failure> {
    gate::only_for_a_person("deny")?;
    if let Some(held) = held::find(context, &args.id)? {
        held.decide(context, Decision::Deny)?;
        let answered = json!({ "id": held.id(), "state": "denied" });
        gate::answer(context.format, &answered, || {
            output::line(format_args!("denied {}", held.id()))
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let now = umbo_ops::now();
    let approvals = gate::paths(context)?.approvals()?;
    let id = approvals.find(&args.id, now)?.question.id;
    let reason = args.reason.unwrap_or_else(|| NO_REASON.to_owned());
    let reply = Reply::Deny { reason: reason.clone() };
    umbo_gate::answer(
        &approvals,
        &gate::paths(context)?.audit()?,
        &id,
        reply,
        &gate::person(),
        now,
    )?;
    gate::answer(
        context.format,
        &json!({ "id": id, "state": "denied", "reason": reason }),
        || output::line(format_args!("denied {id}")),
    )?;
    Ok(ExitCode::SUCCESS)
}
